/* SPDX-License-Identifier: MIT */
/* End-to-end credits: who may send how much, and how news of posted receives reaches the requester.
 */
#include "emu/facts/aeth.h"
#include "emu/facts/enum/opcode.h"
#include "emu/xport/credit.h"
#include "rig.h"
#include "testing.h"

#define REMOTE 65536u

/* Shows B59. */
static void codes_grow_by_halves(void **state)
{
    static const struct {
        uint32_t n;
        uint8_t code;
        uint32_t means;
    } rows[] = {{0, 0, 0},          {1, 1, 1},          {4, 4, 4},         {5, 4, 4},
                {6, 5, 6},          {11, 6, 8},         {12, 7, 12},       {64, 12, 64},
                {32767, 29, 24576}, {32768, 30, 32768}, {99999, 30, 32768}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(aeth_credit_code(rows[i].n), rows[i].code);
        assert_int_equal(aeth_credits(rows[i].code), rows[i].means);
    }
}

static struct rig *rig_with(bool one, bool other)
{
    struct rig_config c = rig_defaults();

    c.credits[0] = one;
    c.credits[1] = other;
    c.rnr_retry = 7;
    c.min_rnr_timer = 20;
    return rig_new(&c);
}

/* With three receives there, three messages leave, and the first packet of a fourth: never more.
 * Shows B59, I13.
 */
static void nothing_leaves_without_a_receive_but_a_probe(void **state)
{
    struct rig *r = rig_with(true, true);

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        rig_recv(r, i, REMOTE + 1000 * i, 1000);
    for (uint32_t i = 0; i < 6; i++)
        rig_send(r, i, 1000 * i, 1000);
    rig_run_until(r, 50 * RIG_WIRE_NS);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 3);
    assert_int_equal(rig_rc(r, 0)->req.ssn, 4);
    assert_int_equal(rig_count(r, EV_tx, 0, "opcode", OP_RC_SEND_LAST), 3);
    assert_int_equal(rig_count(r, EV_tx, 0, "opcode", OP_RC_SEND_FIRST), 4);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 1);

    for (uint32_t i = 3; i < 6; i++)
        rig_recv(r, i, REMOTE + 1000 * i, 1000);
    rig_run(r);
    for (uint32_t i = 0; i < 6; i++)
        rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
    assert_true(rig_same(r, 0, REMOTE, 6000));
    rig_free(r);
}

/* Twenty messages, for each of which a receive is posted behind it, over a link that loses @loss
 * frames in a thousand.
 */
static void get_through(enum wr_opcode opcode, uint32_t bytes, uint32_t loss, uint64_t seed)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    c.credits[0] = c.credits[1] = true;
    c.rnr_retry = c.retry_cnt = 7;
    r = rig_new(&c);
    r->chance = prng_stream(seed, 3);
    r->loss = loss;
    for (uint32_t i = 0; i < 20; i++) {
        if (opcode == WR_SEND) {
            rig_send(r, i, bytes * i, bytes);
        } else {
            rig_prepare_remote(r, opcode, i, bytes * i, bytes, REMOTE + bytes * i);
            rig_post(r, 0, WQ_SEND);
        }
        rig_run_until(r, sim_now(&r->sim) + (1 + seed % 7) * RIG_WIRE_NS);
        rig_recv(r, i, REMOTE + bytes * i, bytes);
    }
    rig_run(r);
    assert_int_equal(r->host[0].n_wc[WQ_SEND], 20);
    for (uint32_t i = 0; i < 20; i++)
        rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
    assert_true(rig_same(r, 0, REMOTE, 20 * bytes));
    rig_free(r);
}

/* Whatever is lost, the messages get through: the probe does not need the word of the far side, nor
 * does it when it is sent again, nor that of a WRITE, whose first packet finds nothing to refuse.
 * Shows L2.
 */
static void a_lost_word_about_receives_is_no_deadlock(void **state)
{
    static const struct {
        enum wr_opcode opcode;
        uint32_t bytes;
    } rows[] = {{WR_SEND, 500}, {WR_SEND, 900}, {WR_RDMA_WRITE_WITH_IMM, 900}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (uint32_t seed = 0; seed < 60; seed++)
            get_through(rows[i].opcode, rows[i].bytes, seed % 2 ? 100 : 30, seed);
    }
}

/* What needs no receive is not limited; nor is anything where one side knows no credits.  Shows
 * I13.
 */
static void who_is_limited(void **state)
{
    static const struct {
        bool one, other;
        enum wr_opcode opcode;
        uint32_t sent; /* of three messages without any receive */
    } rows[] = {
        {true, true, WR_SEND, 1},      {true, true, WR_RDMA_WRITE, 3},
        {true, true, WR_RDMA_READ, 3}, {true, true, WR_RDMA_WRITE_WITH_IMM, 1},
        {false, true, WR_SEND, 3},     {false, false, WR_SEND, 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_with(rows[i].one, rows[i].other);

        for (uint32_t n = 0; n < 3; n++) {
            rig_prepare_remote(r, rows[i].opcode, n, 0, 100, 0);
            rig_post(r, 0, WQ_SEND);
        }
        rig_run_until(r, RIG_WIRE_NS);
        assert_int_equal(rig_rc(r, 0)->req.ssn, rows[i].sent);
        assert_int_equal(rig_count(r, EV_tx, 0, NULL, 0), rows[i].sent);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_grow_by_halves),
        cmocka_unit_test(nothing_leaves_without_a_receive_but_a_probe),
        cmocka_unit_test(a_lost_word_about_receives_is_no_deadlock),
        cmocka_unit_test(who_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
