/* SPDX-License-Identifier: MIT */
/* Answers: which requests get one, which ones ask for it, and how answers are counted. */
#include "testing.h"

#include "emu/facts/aeth.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/trace/event.h"
#include "rig.h"

static struct rig *rig_default(void)
{
    const struct rig_config c = rig_defaults();

    return rig_new(&c);
}

/* A message of no bytes comes to host 1, and the device has time to answer. */
static void receive(struct rig *r, uint32_t psn, bool ack_req)
{
    struct packet p = rig_packet(r, 1, OP_RC_SEND_ONLY, psn);

    p.bth.ack_req = ack_req;
    rig_inject(r, 1, &p);
    rig_run(r);
}

/* Shows B55. */
static void only_a_packet_that_asks_for_an_acknowledge_gets_one(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        rig_recv(r, i, 0, 64);
    receive(r, 100, false);
    receive(r, 101, false);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 2);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 0);
    receive(r, 102, true); /* it speaks for those before it, too */
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.psn, 102);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.msn, 3);
    receive(r, 103, false);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
    rig_free(r);
}

/* What a requester has not asked to be acknowledged it may send again, to ask then.  Shows B49. */
static void a_repeated_packet_is_acknowledged_whether_it_asks_or_not(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 0, 64);
    receive(r, 100, false);
    receive(r, 100, false);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
    assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.psn, 100);
    rig_free(r);
}

/* Both ends send: an answer leaves between requests whose bits are not its own.  The rig looks at
 * each answer.
 */
static void an_answer_among_requests_asks_for_nothing(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    for (uint32_t host = 0; host < 2; host++) {
        for (uint32_t i = 0; i < 8; i++) {
            rig_prepare(r, host, WQ_RECV, i, 8192 + 512 * i, 512);
            rig_post(r, host, WQ_RECV);
        }
    }
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t host = 0; host < 2; host++) {
            rig_prepare(r, host, WQ_SEND, i, 512 * i, 512)->flags |= SF_SOLICITED;
            rig_post(r, host, WQ_SEND);
        }
    }
    rig_run(r);
    for (uint32_t host = 0; host < 2; host++) {
        assert_int_equal(r->host[host].n_wc[WQ_SEND], 8);
        assert_true(rig_count(r, EV_tx, host, "opcode", OP_RC_ACKNOWLEDGE) > 0);
    }
    assert_int_equal(r->n_solicited, 16);
    rig_free(r);
}

/* A packet that comes to host 1, which has no time to answer. */
static void arrive(struct rig *r, uint32_t psn, bool ack_req)
{
    struct packet p = rig_packet(r, 1, OP_RC_SEND_ONLY, psn);

    p.bth.ack_req = ack_req;
    rig_inject(r, 1, &p);
    assert_null(xport_invariant(r->host[1].qp));
}

/* Packets come while the port is busy, the first at PSN 100, each with `!` if it asks for an
 * acknowledge. What leaves then is one answer, or none.  Shows B47.
 */
static void a_nak_that_waits_asks_for_what_is_missing_when_it_leaves(void **state)
{
    static const struct {
        const char *come; /* '0' is PSN 100; '+' posts a receive */
        enum syndrome kind;
        uint32_t psn, msn;
    } rows[] = {
        {"++++1", SYN_NAK_PSN_SEQUENCE, 100, 0}, /* it waits, and nothing changes */
        /* The packet comes late: what came before it was thrown away. */
        {"++++10", SYN_NAK_PSN_SEQUENCE, 101, 1},
        {"++++10!", SYN_NAK_PSN_SEQUENCE, 101, 1},
        {"++++1230", SYN_NAK_PSN_SEQUENCE, 101, 1},
        /* All come again: there is nothing to ask for. */
        {"++++101", SYN_NONE, 0, 0},
        {"++++101!", SYN_ACK, 101, 2},
        {"++++1!01", SYN_NONE, 0, 0},
        {"++++13012", SYN_NAK_PSN_SEQUENCE, 103, 3},
        {"++++130123", SYN_NONE, 0, 0},
        {"++++130123!", SYN_ACK, 103, 4},
        /* An acknowledge that the NAK replaced, or kept from taking its place, is still owed. */
        {"++++0!2", SYN_NAK_PSN_SEQUENCE, 101, 1},
        {"++++0!21", SYN_NAK_PSN_SEQUENCE, 102, 2},
        {"++++0!212", SYN_ACK, 102, 3},
        {"++++0!12", SYN_ACK, 100, 1},
        {"++++020!12", SYN_ACK, 102, 3},
        {"++++0212", SYN_NONE, 0, 0},
        /* A receive is missing, and posted before the packet comes again. */
        {"0", SYN_RNR_NAK, 100, 0},
        {"0+0", SYN_NONE, 0, 0},
        {"0!+0!", SYN_ACK, 100, 1},
        {"01+0", SYN_NAK_PSN_SEQUENCE, 101, 1},
        {"012++01", SYN_NAK_PSN_SEQUENCE, 102, 2},
        {"012+++012!", SYN_ACK, 102, 3},
        {"+0!1+1", SYN_ACK, 101, 2}, /* owed for the first */
        {"+101", SYN_RNR_NAK, 101, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        const struct ev *tx;

        for (const char *c = rows[i].come; *c; c++) {
            if (*c == '+')
                rig_recv(r, 7, 0, 64);
            else if (*c != '!')
                arrive(r, 100 + (uint32_t)(*c - '0'), c[1] == '!');
        }
        rig_run(r);
        assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), rows[i].kind != SYN_NONE);
        if (rows[i].kind != SYN_NONE) {
            tx = rig_event(r, EV_tx, 1, 0);
            assert_int_equal(tx->u.tx.syndrome, rows[i].kind);
            assert_int_equal(tx->u.tx.psn, rows[i].psn);
            assert_int_equal(tx->u.tx.msn, rows[i].msn);
        }
        rig_free(r);
    }
}

/* A NAK that left is followed by the next one as soon as something else is missing. */
static void a_nak_that_left_is_not_taken_back(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        rig_recv(r, i, 0, 64);
    receive(r, 101, true);
    receive(r, 100, false);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
    receive(r, 102, true);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_PSN_SEQUENCE), 2);
    assert_int_equal(rig_event(r, EV_tx, 1, 1)->u.tx.psn, 101);
    rig_free(r);
}

/* The queue pair goes to ERR while its port is busy: an acknowledge that waits leaves all the same,
 * but not if it has to wait for the response of a READ, which is forgotten.  Shows B56.
 */
static void an_acknowledge_does_not_overtake_a_response_that_never_leaves(void **state)
{
    static const struct {
        const char *come; /* a message that asks for an acknowledge, or a READ */
        uint32_t acks, psn;
    } rows[] = {
        {"m", 1, 100}, {"mm", 1, 101}, {"r", 0, 0},  {"rm", 0, 0},
        {"mrm", 0, 0}, {"rmm", 0, 0},  {"mr", 0, 0}, /* the response would have said it */
    };
    struct rig_config c = rig_defaults();

    (void)state;
    c.rd_atomic = 4;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_new(&c);

        for (uint32_t k = 0; rows[i].come[k]; k++) {
            struct packet read = rig_packet(r, 1, OP_RC_RDMA_READ_REQUEST, 100 + k);

            read.reth = (struct reth){RIG_ADDR, r->host[1].mr->key, 64};
            rig_recv(r, k, 0, 64);
            if (rows[i].come[k] == 'r')
                rig_inject(r, 1, &read);
            else
                arrive(r, 100 + k, true);
        }
        rig_move(r, 1, QPS_ERR);
        rig_run(r);
        assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), rows[i].acks);
        if (rows[i].acks > 0)
            assert_int_equal(rig_event(r, EV_tx, 1, 0)->u.tx.psn, rows[i].psn);
        rig_free(r);
    }
}

/* The receiver's program will never see the message: nobody is told that it was received. What
 * was acknowledged before stays so.  Shows B91.
 */
static void a_message_whose_completion_is_lost_is_not_acknowledged(void **state)
{
    static const char *const come[] = {"0!1!", "021!", "0!21!", "0211!"};
    static const uint32_t acks[] = {1, 0, 1, 0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(come); i++) {
        struct rig *r = rig_default();

        for (uint32_t k = 0; k < 4; k++)
            rig_recv(r, k, 0, 64);
        for (const char *c = come[i]; *c; c++) {
            r->host[1].cq_failed |= *c == '1';
            if (*c != '!')
                arrive(r, 100 + (uint32_t)(*c - '0'), c[1] == '!');
        }
        rig_run(r);
        assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), acks[i]);
        assert_int_equal(rig_count(r, EV_tx, 1, "psn", 100), acks[i]);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        rig_expect(r, 1, WQ_RECV, 0, 0, WCS_SUCCESS);
        assert_int_equal(r->host[1].n_wc[WQ_RECV], 1);
        rig_free(r);
    }
}

/* Shows B43. */
static void a_requester_whose_message_found_no_completion_runs_out_of_retries(void **state)
{
    struct rig *r = rig_default();

    (void)state;
    rig_recv(r, 7, 4096, 64);
    r->host[1].cq_failed = true;
    rig_send(r, 1, 0, 64);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 0);
    assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_QP_NOT_READY), 3);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_RETRY_EXC_ERR);
    assert_true(rig_same(r, 0, 4096, 64)); /* the bytes are there all the same */
    rig_free(r);
}

/* PSNs 100 to 102 are outstanding when one answer comes.  Each row: what rises by one. */
static void each_answer_is_counted_as_what_it_is(void **state)
{
    static const struct {
        uint32_t psn;
        enum syndrome kind;
        struct xport_counters rise;
    } rows[] = {
        {100, SYN_ACK, {.rcvd_pkts = 1, .rdma_sends = 1}},
        {100, SYN_RNR_NAK, {.rcvd_pkts = 1, .rcvd_rnr = 1}},
        {100, SYN_NAK_PSN_SEQUENCE, {.rcvd_pkts = 1, .rcvd_seq_err = 1, .retries = 1}},
        {100, SYN_NAK_INVALID_REQUEST, {.rcvd_pkts = 1}},
        {100, SYN_NAK_REMOTE_ACCESS, {.rcvd_pkts = 1}},
        {100, SYN_NAK_REMOTE_OPERATIONAL, {.rcvd_pkts = 1}},
        {103, SYN_ACK, {.rcvd_pkts = 1, .ghost_acks = 1}},
        {103, SYN_RNR_NAK, {.rcvd_pkts = 1, .ghost_acks = 1}},
        {99, SYN_NAK_PSN_SEQUENCE, {.rcvd_pkts = 1, .ghost_acks = 1}},
        {103, SYN_NAK_INVALID_REQUEST, {.rcvd_pkts = 1, .ghost_acks = 1}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_default();
        struct xport_counters want;
        struct packet p;

        rig_rule(r, 0, ANY, ANY, ANY, RIG_LOSE);
        for (uint32_t k = 0; k < 3; k++)
            rig_send(r, k, 0, 64);
        rig_run_until(r, 5000);
        want = rig_rc(r, 0)->count;
#define COUNTER(name, text) want.name += rows[i].rise.name;
#include "emu/facts/counters.def"
#undef COUNTER
        p = rig_packet(r, 0, OP_RC_ACKNOWLEDGE, rows[i].psn);
        p.aeth.syndrome = aeth_pack(rows[i].kind, rows[i].kind == SYN_ACK ? AETH_NO_CREDITS : 1);
        rig_inject(r, 0, &p);
#define COUNTER(name, text) assert_int_equal(rig_rc(r, 0)->count.name, want.name);
#include "emu/facts/counters.def"
#undef COUNTER
        assert_memory_equal(&r->host[0].x.count, &want, sizeof(want)); /* the device's */
        rig_free(r);
    }
}

/* Only a lab that follows a clock is late: its floor is ahead of what is due.  The answer may wait
 * outside, so the timer runs a little longer.
 */
static void a_timer_that_is_late_waits_for_what_has_come_meanwhile(void **state)
{
    static const uint64_t late_ns = 50000000, more_ns = 5000000;
    struct packet ack;
    struct rig *r;

    (void)state;
    for (unsigned answered = 0; answered < 2; answered++) {
        r = rig_default();
        rig_recv(r, 7, 0, 64);
        rig_rule(r, 0, ANY, 100, 1, RIG_LOSE);
        rig_send(r, 1, 0, 64);
        rig_run_until(r, RIG_WIRE_NS);
        r->sim.floor_ns = late_ns;
        rig_run_until(r, late_ns + more_ns / 2);
        assert_int_equal(rig_count(r, EV_timeout, 0, NULL, 0), 0);
        ack = rig_packet(r, 0, OP_RC_ACKNOWLEDGE, 100);
        if (answered)
            rig_inject(r, 0, &ack);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        assert_int_equal(rig_count(r, EV_timeout, 0, NULL, 0), answered ? 0 : 1);
        if (!answered)
            assert_int_equal(rig_event(r, EV_timeout, 0, 0)->at_ns, late_ns + more_ns);
        rig_free(r);
    }
}

/* The answer may be behind many frames, which take a late lab long: the timer runs longer again and
 * again while the lab is late.  After a second it runs out all the same.
 */
static void a_timer_that_stays_late_runs_longer_for_a_second(void **state)
{
    static const uint64_t late_ns = 50000000, later_ns = 300000000, most_ns = 1000000000;
    struct rig *r = rig_default();
    uint64_t floor = late_ns;

    (void)state;
    rig_rule(r, 0, ANY, 100, 1, RIG_LOSE);
    rig_recv(r, 7, 0, 64);
    rig_send(r, 1, 0, 64);
    rig_run_until(r, RIG_WIRE_NS);
    for (; floor < late_ns + most_ns; floor += later_ns) {
        r->sim.floor_ns = floor;
        rig_run_until(r, floor);
        assert_int_equal(rig_count(r, EV_timeout, 0, NULL, 0), 0);
    }
    r->sim.floor_ns = floor;
    rig_run_until(r, floor);
    assert_int_equal(rig_event(r, EV_timeout, 0, 0)->at_ns, floor);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_packet_that_asks_for_an_acknowledge_gets_one),
        cmocka_unit_test(a_repeated_packet_is_acknowledged_whether_it_asks_or_not),
        cmocka_unit_test(an_answer_among_requests_asks_for_nothing),
        cmocka_unit_test(a_nak_that_waits_asks_for_what_is_missing_when_it_leaves),
        cmocka_unit_test(a_nak_that_left_is_not_taken_back),
        cmocka_unit_test(an_acknowledge_does_not_overtake_a_response_that_never_leaves),
        cmocka_unit_test(a_message_whose_completion_is_lost_is_not_acknowledged),
        cmocka_unit_test(a_requester_whose_message_found_no_completion_runs_out_of_retries),
        cmocka_unit_test(each_answer_is_counted_as_what_it_is),
        cmocka_unit_test(a_timer_that_is_late_waits_for_what_has_come_meanwhile),
        cmocka_unit_test(a_timer_that_stays_late_runs_longer_for_a_second),
    };

    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
