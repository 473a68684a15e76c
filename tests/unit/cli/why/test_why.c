/* SPDX-License-Identifier: MIT */
/* Tests of `why` on traces written by hand: the chain of causes goes back across hosts to what the
 * user did.
 */
#include "testing.h"

#include "cli/printed.h"
#include "cli/why/why.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rules.h"
#include "golden.h"

enum { H1, H2 };

/* Two hosts with QPs 2 and 3, a SEND of PSN 100 whose first transmission was lost. */
static const struct ev lost_once[] = {
    {.id = ID(1, 1), .kind = EV_host_up, .u.host_up = {.host = H1, .name = {"h1"}}},
    {.id = ID(2, 1), .kind = EV_host_up, .u.host_up = {.host = H2, .name = {"h2"}}},
    {.id = ID(3, 1), .kind = EV_named, .u.named = {H1, OBJ_QP, 2, {"qp"}}},
    {.id = ID(3, 2), .kind = EV_named, .u.named = {H2, OBJ_QP, 3, {"qp"}}},
    {.id = ID(3, 3), .kind = EV_named, .u.named = {H1, OBJ_CQ, 1, {"cq"}}},
    {.id = ID(32, 1),
     .kind = EV_post_send,
     .u.post_send = {.host = H1, .qpn = 2, .queue = 19, .wr_id = 1, .op = WR_SEND, .bytes = 64}},
    {.id = ID(33, 1), .kind = EV_kick, .u.kick = {.host = H1, .queue = 19, .avail_idx = 1}},
    {.id = ID(34, 1),
     .cause = ID(33, 1),
     .kind = EV_fetch,
     .u.fetch = {.host = H1, .qpn = 2, .queue = 19, .wr_id = 1, .op = WR_SEND}},
    {.id = ID(34, 2), .cause = ID(34, 1), .kind = EV_key, .u.key = {.host = H1, .qpn = 2}},
    {.id = ID(34, 3),
     .cause = ID(34, 1),
     .kind = EV_tx,
     .u.tx = {.host = H1, .qpn = 2, .opcode = 4, .psn = 100, .dest_qpn = 3, .wr_id = 1}},
    {.id = ID(34, 4), .cause = ID(34, 3), .kind = EV_timer, .u.timer = {.host = H1, .qpn = 2}},
    {.id = ID(35, 1),
     .cause = ID(34, 3),
     .kind = EV_lost,
     .u.lost = {.host = H1, .psn = 100, .by = FLT_DROP, .name = {"f1"}, .tx = ID(34, 3)}},
    {.id = ID(36, 1),
     .cause = ID(34, 4),
     .kind = EV_timeout,
     .u.timeout = {.host = H1, .qpn = 2, .timer = TMR_ACK, .psn = 100, .retry = 1, .limit = 7}},
    {.id = ID(37, 1),
     .cause = ID(36, 1),
     .kind = EV_tx,
     .u.tx = {.host = H1, .qpn = 2, .opcode = 4, .psn = 100, .wr_id = 1, .attempt = 2}},
    {.id = ID(38, 1),
     .cause = ID(37, 1),
     .kind = EV_rx,
     .u.rx = {.host = H2, .qpn = 3, .opcode = 4, .psn = 100, .tx = ID(37, 1)}},
    {.id = ID(38, 4),
     .cause = ID(38, 1),
     .kind = EV_tx,
     .u.tx = {.host = H2, .qpn = 3, .opcode = 0x11, .psn = 100, .syndrome = SYN_ACK, .msn = 1}},
    {.id = ID(39, 1),
     .cause = ID(38, 4),
     .kind = EV_rx,
     .u.rx = {.host = H1,
              .qpn = 2,
              .opcode = 0x11,
              .psn = 100,
              .syndrome = SYN_ACK,
              .act = ACT_ACKS,
              .tx = ID(38, 4)}},
    {.id = ID(39, 2),
     .cause = ID(39, 1),
     .kind = EV_cqe,
     .u.cqe = {.host = H1, .cqn = 1, .qpn = 2, .wr_id = 1, .op = WC_SEND}},
};

/* Writes what `why` prints for event @id of @w to @ret. */
static enum rdl_status ask(struct printed *ret, const struct written *w, ev_id id,
                           uint64_t forgotten)
{
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(w, names);
    enum rdl_status st;

    past.forgotten = forgotten;
    st = why(printed_begin(ret)->out, &past, id);
    printed_text(ret);
    ev_names_free(names);
    return st;
}

/* Fails unless `why` of event @id of @w prints the golden section @name, fits the width, and has
 * each of @words in order.
 */
static void assert_why(const char *name, const struct written *w, ev_id id, const char *words)
{
    struct printed p;

    assert_int_equal(ask(&p, w, id, 0), RDL_OK);
    assert_in_order(printed_text(&p), words);
    assert_lines_fit(&p);
    assert_golden(name, printed_text(&p));
    printed_end(&p);
}

static void a_completion_leads_back_to_its_posting(void **state)
{
    const struct written w = {.events = lost_once, .n = ARRAY_LEN(lost_once)};

    (void)state;
    assert_why("a completion", &w, ID(39, 2),
               "#39.2 #39.1 #38.4 #38.1 #37.1 #36.1 #34.3 #35.1 f1 #34.1 #33.1 #32.1");
}

static void a_timeout_is_told_in_words(void **state)
{
    const struct written w = {.events = lost_once, .n = ARRAY_LEN(lost_once)};

    (void)state;
    assert_why("a timeout", &w, ID(36, 1), "#36.1 #34.4 #34.3 #35.1 f1 #34.1 #33.1 #32.1");
}

/* A lab that was late has extended the timer twice before it ran out. */
static void extensions_of_a_timer_are_counted(void **state)
{
    struct ev late[ARRAY_LEN(lost_once) + 2];
    struct written w = {.events = late, .n = ARRAY_LEN(late)};
    struct printed p;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lost_once); i++) {
        late[n] = lost_once[i];
        if (late[n].kind == EV_timeout && late[n].cause == ID(34, 4)) {
            for (unsigned row = 2; row < 4; row++)
                late[n++] = (struct ev){.id = ID(35, row),
                                        .cause = row == 2 ? ID(34, 4) : ID(35, 2),
                                        .kind = EV_timer,
                                        .u.timer = {.host = H1, .qpn = 2}};
            late[n] = lost_once[i];
            late[n].cause = ID(35, 3);
        }
        n++;
    }
    assert_int_equal(n, ARRAY_LEN(late));
    assert_int_equal(ask(&p, &w, ID(36, 1), 0), RDL_OK);
    assert_prints(
        &p, "h1.qp's ack timeout armed in #34.4 ran out, extended 2 times because the lab was "
            "late\n");
    printed_end(&p);
}

static void what_is_forgotten_is_said(void **state)
{
    /* From the timeout on; the fetch and all events before it are dropped. */
    const struct written w = {.events = lost_once + 12, .n = ARRAY_LEN(lost_once) - 12};
    struct printed p;

    (void)state;
    assert_int_equal(ask(&p, &w, ID(39, 2), 12), RDL_OK);
    assert_in_order(printed_text(&p), "#34.4");
    assert_golden("a cause that is forgotten", printed_text(&p));
    printed_end(&p);
    assert_int_equal(ask(&p, &w, ID(3, 1), 12), RDL_ERR_NOT_FOUND);
    printed_end(&p);
}

/* PSN 7 sent twice, lost both times, then given up; the next request is flushed. */
static const struct ev given_up[] = {
    {.id = ID(4, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 7, .wr_id = 5}},
    {.id = ID(4, 2), .kind = EV_lost, .u.lost = {.name = {"f1"}, .tx = ID(4, 1)}},
    {.id = ID(5, 1), .kind = EV_timeout, .u.timeout = {.qpn = 2, .psn = 7, .retry = 1}},
    {.id = ID(5, 2),
     .cause = ID(5, 1),
     .kind = EV_tx,
     .u.tx = {.qpn = 2, .psn = 7, .wr_id = 5, .attempt = 2}},
    {.id = ID(6, 1),
     .kind = EV_drop,
     .u.drop = {.host = 1, .reason = DROP_BAD_ICRC, .tx = ID(5, 2)}},
    {.id = ID(7, 1), .kind = EV_timeout, .u.timeout = {.qpn = 2, .psn = 7}},
    {.id = ID(7, 2),
     .cause = ID(7, 1),
     .kind = EV_cqe,
     .u.cqe = {.qpn = 2, .wr_id = 5, .status = WCS_RETRY_EXC_ERR, .rule = 22}},
    {.id = ID(7, 3),
     .cause = ID(7, 1),
     .kind = EV_qp_state,
     .u.qp_state = {.qpn = 2, .from = QPS_RTS, .to = QPS_ERR}},
    {.id = ID(7, 4),
     .cause = ID(7, 1),
     .kind = EV_cqe,
     .u.cqe = {.qpn = 2, .wr_id = 6, .status = WCS_WR_FLUSH_ERR}},
    /* The queue pair was used again until a user ended that. */
    {.id = ID(9, 1), .kind = EV_qp_state, .u.qp_state = {.qpn = 2, .from = QPS_RTS, .to = QPS_ERR}},
    {.id = ID(9, 2), .kind = EV_cqe, .u.cqe = {.qpn = 2, .wr_id = 7, .status = WCS_WR_FLUSH_ERR}},
};

static void giving_up_lists_the_fate_of_every_transmission(void **state)
{
    const struct written w = {.events = given_up, .n = ARRAY_LEN(given_up)};

    (void)state;
    assert_why("giving up", &w, ID(7, 2),
               "#4.1 lost #4.2 f1 #5.2 #6.1 BAD_ICRC RETRY_EXC_ERR RETRY_LIMIT");
}

/* The receiver was given another PSN, ahead or behind; or it waits for one that was sent and lost.
 */
static void ends_that_disagree_about_psns_are_found_out(void **state)
{
    static const struct {
        uint32_t sent, lost, expected;
        const char *name, *words;
    } rows[] = {
        {7, 0, 3, "ends that disagree: the receiver is behind",
         "host1.qpn3 psn=3 psn=7 sq_psn rq_psn"},
        {7, 0, 9, "ends that disagree: the receiver is ahead",
         "host1.qpn3 psn=9 psn=7 sq_psn rq_psn"},
        {7, 6, 6, "ends that agree: a packet was lost", "#5.1 psn=6 psn=7 RETRY_EXC_ERR"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ev events[] = {
            {.id = ID(3, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = rows[i].lost, .wr_id = 5}},
            {.id = ID(4, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = rows[i].sent, .wr_id = 5}},
            {.id = ID(5, 1),
             .kind = EV_rx,
             .u.rx = {.host = 1,
                      .qpn = 3,
                      .psn = rows[i].sent,
                      .rule = RULE_RESP_PSN,
                      .tx = ID(4, 1),
                      .least = rows[i].expected,
                      .most = rows[i].expected,
                      .found = rows[i].sent}},
            {.id = ID(7, 1), .kind = EV_timeout, .u.timeout = {.qpn = 2, .psn = rows[i].sent}},
            {.id = ID(7, 2),
             .cause = ID(7, 1),
             .kind = EV_cqe,
             .u.cqe = {.qpn = 2, .wr_id = 5, .status = WCS_RETRY_EXC_ERR, .rule = 22}},
        };
        const struct written w = {.events = events, .n = ARRAY_LEN(events)};

        assert_why(rows[i].name, &w, ID(7, 2), rows[i].words);
    }
}

/* The device refuses wr_id 6 when it fetches it.  The ACK of wr_id 5 lets it complete. */
static void a_refused_request_stops_its_queue_pair_and_not_the_ack_before_it(void **state)
{
    static const struct ev events[] = {
        {.id = ID(4, 1), .kind = EV_fetch, .u.fetch = {.qpn = 2, .wr_id = 6}},
        {.id = ID(6, 1), .kind = EV_rx, .u.rx = {.qpn = 2, .psn = 7}},
        {.id = ID(6, 2),
         .cause = ID(6, 1),
         .kind = EV_cqe,
         .u.cqe = {.qpn = 2, .wr_id = 6, .status = WCS_LOC_PROT_ERR}},
        {.id = ID(6, 3),
         .cause = ID(6, 1),
         .kind = EV_qp_state,
         .u.qp_state = {.qpn = 2, .from = QPS_RTS, .to = QPS_ERR}},
        {.id = ID(6, 4),
         .cause = ID(6, 1),
         .kind = EV_cqe,
         .u.cqe = {.qpn = 2, .wr_id = 8, .status = WCS_WR_FLUSH_ERR}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    static const struct {
        ev_id id;
        const char *name;
    } rows[] = {{ID(6, 3), "the error of a queue pair after a refused request"},
                {ID(6, 4), "a request that is flushed after a refused one"}};
    struct printed p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(ask(&p, &w, rows[i].id, 0), RDL_OK);
        assert_in_order(printed_text(&p), "#6.2 #4.1");
        assert_null(strstr(printed_text(&p), "#6.1"));
        assert_golden(rows[i].name, printed_text(&p));
        printed_end(&p);
    }
}

/* Two faults damage one frame; each names the frame as it found it. */
static void a_frame_that_was_damaged_twice_is_known_by_its_sending(void **state)
{
    static const struct ev events[] = {
        {.id = ID(3, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 7, .wr_id = 5}},
        {.id = ID(3, 2),
         .kind = EV_fault,
         .u.fault = {.by = FLT_CORRUPT, .name = {"f1"}, .tx = ID(3, 1)}},
        {.id = ID(3, 3),
         .kind = EV_fault,
         .u.fault = {.by = FLT_CORRUPT, .name = {"f2"}, .tx = ID(3, 2)}},
        {.id = ID(4, 1),
         .kind = EV_drop,
         .u.drop = {.host = 1, .reason = DROP_BAD_ICRC, .tx = ID(3, 3)}},
        {.id = ID(5, 1), .kind = EV_timeout, .u.timeout = {.qpn = 2, .psn = 7, .retry = 1}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};

    (void)state;
    assert_why("the drop of a frame that was damaged twice", &w, ID(4, 1),
               "#3.1 RC_SEND_FIRST psn=7 f1 f2");
    assert_why("the timeout of a frame that was damaged twice", &w, ID(5, 1),
               "#3.1 dropped host1 #4.1 BAD_ICRC");
}

static void a_flushed_request_names_the_one_that_failed(void **state)
{
    const struct written w = {.events = given_up, .n = ARRAY_LEN(given_up)};
    struct printed p;

    (void)state;
    assert_why("a flushed request", &w, ID(7, 4), "wr_id=5 RETRY_EXC_ERR #7.3 host0.qpn2 RTS ERR");
    assert_int_equal(ask(&p, &w, ID(9, 2), 0), RDL_OK);
    assert_in_order(printed_text(&p), "#9.1 host0.qpn2 RTS ERR");
    assert_null(strstr(printed_text(&p), "RETRY_EXC_ERR"));
    assert_golden("a flushed request of which none failed first", printed_text(&p));
    printed_end(&p);
}

static void a_refused_key_is_shown_with_its_bytes(void **state)
{
    static const struct ev events[] = {
        {.id = ID(3, 1),
         .kind = EV_key,
         .u.key = {.qpn = 2, .key = 0xbad, .addr = 0x1000, .bytes = 64, .rule = 1}},
        {.id = ID(3, 2),
         .kind = EV_cqe,
         .u.cqe = {.qpn = 2, .wr_id = 5, .status = WCS_LOC_PROT_ERR, .rule = 1}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};

    (void)state;
    assert_why("a refused key", &w, ID(3, 2), "0xbad 64 0x1000 MR_KEY LOC_PROT_ERR MR_KEY");
}

/* A responder with a wrong rq_psn answers, and its response is ignored. */
static void a_wrong_psn_is_said_with_the_one_that_was_expected(void **state)
{
    static const struct ev events[] = {
        {.id = ID(3, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 100, .wr_id = 5}},
        {.id = ID(4, 1),
         .cause = ID(3, 1),
         .kind = EV_rx,
         .u.rx = {.host = 1,
                  .psn = 100,
                  .act = ACT_NAK_SEQUENCE,
                  .rule = RULE_RESP_PSN,
                  .tx = ID(3, 1),
                  .least = 50,
                  .most = 50,
                  .found = 100}},
        {.id = ID(4, 2),
         .cause = ID(4, 1),
         .kind = EV_tx,
         .u.tx = {.host = 1, .psn = 50, .syndrome = SYN_NAK_PSN_SEQUENCE}},
        {.id = ID(5, 1),
         .cause = ID(4, 2),
         .kind = EV_rx,
         .u.rx = {.qpn = 2,
                  .psn = 50,
                  .syndrome = SYN_NAK_PSN_SEQUENCE,
                  .act = ACT_DROP,
                  .rule = RULE_COMP_WINDOW,
                  .tx = ID(4, 2),
                  .least = 100,
                  .most = 103,
                  .found = 50}},
        {.id = ID(5, 2),
         .cause = ID(5, 1),
         .kind = EV_drop,
         .u.drop = {.qpn = 2,
                    .psn = 50,
                    .reason = DROP_GHOST_ACK,
                    .tx = ID(4, 2),
                    .least = 100,
                    .most = 103,
                    .found = 50}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};

    (void)state;
    assert_why("a wrong PSN at the responder", &w, ID(4, 1),
               "NAK_SEQUENCE RESP_PSN psn=50 psn=100 RESP_PSN");
    assert_why("a wrong PSN at the requester", &w, ID(5, 1),
               "#5.1 COMP_WINDOW psn=100 103 psn=50 COMP_WINDOW");
}

/* UC: the packet after the lost one is dropped. */
static void a_packet_behind_a_gap_names_the_one_that_was_lost(void **state)
{
    static const struct ev events[] = {
        {.id = ID(3, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 101, .dest_qpn = 3}},
        {.id = ID(4, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 102, .dest_qpn = 3}},
        {.id = ID(5, 1),
         .cause = ID(3, 1),
         .kind = EV_lost,
         .u.lost = {.psn = 101, .by = FLT_DROP, .name = {"f1"}, .tx = ID(3, 1)}},
        {.id = ID(6, 1),
         .cause = ID(4, 1),
         .kind = EV_rx,
         .u.rx = {.host = 1,
                  .qpn = 3,
                  .psn = 102,
                  .act = ACT_DROP,
                  .rule = RULE_RESP_PSN,
                  .tx = ID(4, 1)}},
        {.id = ID(6, 2),
         .cause = ID(6, 1),
         .kind = EV_drop,
         .u.drop = {.host = 1,
                    .qpn = 3,
                    .psn = 102,
                    .reason = DROP_OUT_OF_SEQUENCE,
                    .tx = ID(4, 1),
                    .least = 101,
                    .most = 101,
                    .found = 102}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};

    (void)state;
    assert_why("a packet behind a gap", &w, ID(6, 2),
               "RESP_PSN psn=101 #3.1 lost #5.1 f1 RESP_PSN #4.1");
}

/* A service without NAKs: only the trace knows the rule and the key. */
static void a_refusal_that_nobody_is_told_names_its_rule(void **state)
{
    static const struct ev events[] = {
        {.id = ID(4, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 7, .dest_qpn = 3}},
        {.id = ID(6, 1),
         .cause = ID(4, 1),
         .kind = EV_rx,
         .u.rx =
             {.host = 1, .qpn = 3, .psn = 7, .act = ACT_DROP, .rule = RULE_MR_KEY, .tx = ID(4, 1)}},
        {.id = ID(6, 2),
         .cause = ID(6, 1),
         .kind = EV_key,
         .u.key = {.host = 1, .qpn = 3, .key = 0xbad, .bytes = 64, .rule = RULE_MR_KEY}},
        {.id = ID(6, 3),
         .cause = ID(6, 1),
         .kind = EV_drop,
         .u.drop = {.host = 1, .qpn = 3, .psn = 7, .reason = DROP_REFUSED, .tx = ID(4, 1)}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};

    (void)state;
    assert_why("a refusal that nobody is told", &w, ID(6, 3),
               "REFUSED MR_KEY 0xbad 64 0x0 MR_KEY MR_KEY");
}

/* A device that has not yet found the queue empty needs no kick, so a suppressed one is not
 * missing.
 */
static void a_kick_before_the_post_is_told_as_what_it_is(void **state)
{
    static const struct ev events[] = {
        {.id = ID(2, 1), .kind = EV_kick, .u.kick = {.queue = 19, .avail_idx = 1}},
        {.id = ID(3, 1), .kind = EV_post_send, .u.post_send = {.qpn = 2, .queue = 19, .desc = 1}},
        {.id = ID(3, 2), .kind = EV_no_kick, .u.no_kick = {.queue = 19, .avail_idx = 2}},
        {.id = ID(4, 1),
         .cause = ID(2, 1),
         .kind = EV_fetch,
         .u.fetch = {.qpn = 2, .queue = 19, .desc = 1, .op = WR_SEND}},
        {.id = ID(5, 1), .kind = EV_post_send, .u.post_send = {.qpn = 2, .queue = 19, .desc = 2}},
        {.id = ID(5, 2), .kind = EV_no_kick, .u.no_kick = {.queue = 20, .avail_idx = 1}},
        {.id = ID(6, 1),
         .cause = ID(2, 1),
         .kind = EV_fetch,
         .u.fetch = {.qpn = 2, .queue = 19, .desc = 2, .op = WR_SEND}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};

    (void)state;
    assert_why("a post that needed no kick", &w, ID(4, 1), "#3.1 #2.1");
    assert_why("a post without a kick", &w, ID(6, 1), "#5.1 #2.1");
}

static void causes_in_a_circle_end(void **state)
{
    static const struct ev events[] = {
        {.id = ID(3, 1), .cause = ID(3, 2), .kind = EV_used},
        {.id = ID(3, 2), .cause = ID(3, 1), .kind = EV_irq},
        {.id = ID(4, 1), .cause = ID(4, 1), .kind = EV_kick},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct printed p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        assert_int_equal(ask(&p, &w, events[i].id, 0), RDL_OK);
        printed_end(&p);
    }
}

static void targets_without_a_lab(void **state)
{
    static const struct {
        const char *target;
        enum rdl_status st;
        ev_id id;
    } rows[] = {
        {"#5.1", RDL_OK, ID(5, 1)},     {"#5", RDL_OK, ID(5, 0)},
        {"5.1", RDL_OK, ID(5, 1)},      {"8.1", RDL_ERR_NOT_FOUND, 0},
        {"#8.1", RDL_ERR_NOT_FOUND, 0}, {"#x", RDL_ERR_INVAL, 0},
        {"#5.1 ", RDL_ERR_INVAL, 0},    {"h1.cq.wc[0]", RDL_ERR_NOT_FOUND, 0},
        {NULL, RDL_OK, ID(7, 2)}, /* the last failure, apart from flushes */
    };
    const struct written w = {.events = given_up, .n = ARRAY_LEN(given_up)};
    const struct past past = past_of_written(&w, NULL);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ev_id id = 0;
        size_t at;

        assert_int_equal(why_find(NULL, &past, rows[i].target, &id, &at), rows[i].st);
        assert_int_equal(id, rows[i].id);
    }
}

/* A switch also delivered a frame for host 1 to host 2, which has another MAC. */
#define FLOODED                                                                                    \
    {.id = ID(3, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 7, .wr_id = 5}},                     \
    {                                                                                              \
        .id = ID(4, 1), .kind = EV_drop, .u.drop = {                                               \
            .host = 2,                                                                             \
            .reason = DROP_NOT_FOR_US,                                                             \
            .tx = ID(3, 1)                                                                         \
        }                                                                                          \
    }

struct choice {
    struct written w;
    ev_id want; /* the event that why explains if the user names none */
};

static void assert_choice(const struct choice *c)
{
    const struct past past = past_of_written(&c->w, NULL);
    ev_id id = 0;
    size_t at;

    assert_int_equal(why_find(NULL, &past, NULL, &id, &at), RDL_OK);
    assert_int_equal(id, c->want);
}

static void what_is_asked_about_when_nothing_is_named(void **state)
{
    static const struct ev arrived[] = {
        FLOODED,
        {.id = ID(4, 2), .kind = EV_rx, .u.rx = {.host = 1, .psn = 7, .tx = ID(3, 1)}},
        {.id = ID(5, 1), .kind = EV_cqe, .u.cqe = {.qpn = 2, .wr_id = 5}},
        {.id = ID(6, 1), .kind = EV_timer_off},
    };
    static const struct ev astray[] = {FLOODED, {.id = ID(6, 1), .kind = EV_timer_off}};
    static const struct ev waiting[] = {
        {.id = ID(3, 1), .kind = EV_post_send, .u.post_send = {.qpn = 2}},
        {.id = ID(3, 2), .kind = EV_no_kick},
    };
    /* Refused for good; the request is flushed later, and nothing else fails. */
    static const struct ev refused[] = {
        {.id = ID(3, 1), .kind = EV_lost, .u.lost = {.tx = ID(2, 1)}},
        {.id = ID(4, 1), .kind = EV_rx, .u.rx = {.host = 1, .act = ACT_NAK_INVALID}},
        {.id = ID(5, 1), .kind = EV_cqe, .u.cqe = {.qpn = 2, .status = WCS_WR_FLUSH_ERR}},
    };
    static const struct ev late_ack[] = {
        {.id = ID(3, 1), .kind = EV_lost, .u.lost = {.tx = ID(2, 1)}},
        {.id = ID(5, 1), .kind = EV_cqe, .u.cqe = {.qpn = 2}},
        {.id = ID(6, 1), .kind = EV_drop, .u.drop = {.host = 1, .reason = DROP_NO_SUCH_QP}},
    };
    static const struct choice rows[] = {
        {{.events = refused, .n = ARRAY_LEN(refused)}, ID(4, 1)},
        {{.events = late_ack, .n = ARRAY_LEN(late_ack)}, ID(3, 1)},
        {{.events = arrived, .n = ARRAY_LEN(arrived)}, ID(5, 1)},
        {{.events = astray, .n = ARRAY_LEN(astray)}, ID(4, 1)},
        {{.events = waiting, .n = ARRAY_LEN(waiting)}, ID(3, 1)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_choice(&rows[i]);
}

static void a_frame_that_is_astray_is_a_problem_like_others(void **state)
{
    static const struct ev older_loss[] = {
        {.id = ID(2, 2), .kind = EV_lost, .u.lost = {.tx = ID(2, 1)}},
        FLOODED,
        {.id = ID(6, 1), .kind = EV_timer_off},
    };
    /* A ping into another VLAN, which a host behind the cable dropped. */
    static const struct ev older_ping[] = {
        {.id = ID(2, 2), .kind = EV_lost, .u.lost = {.tx = ID(2, 1)}},
        {.id = ID(3, 1), .kind = EV_eth_tx, .u.eth_tx = {.host = 1}},
        {.id = ID(4, 1),
         .kind = EV_drop,
         .u.drop = {.host = 2, .reason = DROP_NOT_FOR_US, .tx = ID(3, 1)}},
        {.id = ID(5, 1), .kind = EV_ping_lost, .u.ping_lost = {.host = 1}},
    };
    /* A switch flooded the ping.  The station that it is for is in another VLAN. */
    static const struct ev other_vlan[] = {
        {.id = ID(3, 1), .kind = EV_eth_tx, .u.eth_tx = {.host = 1}},
        {.id = ID(4, 1),
         .kind = EV_drop,
         .u.drop = {.host = 2, .reason = DROP_NOT_FOR_US, .tx = ID(3, 1)}},
        {.id = ID(4, 2),
         .kind = EV_drop,
         .u.drop = {.host = 3, .reason = DROP_OTHER_VLAN, .tx = ID(3, 1)}},
        {.id = ID(4, 3),
         .kind = EV_drop,
         .u.drop = {.host = 4, .reason = DROP_NOT_FOR_US, .tx = ID(3, 1)}},
    };
    static const struct choice rows[] = {
        {{.events = older_loss, .n = ARRAY_LEN(older_loss)}, ID(4, 1)},
        {{.events = older_ping, .n = ARRAY_LEN(older_ping)}, ID(4, 1)},
        {{.events = other_vlan, .n = ARRAY_LEN(other_vlan)}, ID(4, 2)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_choice(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_leads_back_to_its_posting),
        cmocka_unit_test(a_timeout_is_told_in_words),
        cmocka_unit_test(extensions_of_a_timer_are_counted),
        cmocka_unit_test(what_is_forgotten_is_said),
        cmocka_unit_test(giving_up_lists_the_fate_of_every_transmission),
        cmocka_unit_test(ends_that_disagree_about_psns_are_found_out),
        cmocka_unit_test(a_refused_request_stops_its_queue_pair_and_not_the_ack_before_it),
        cmocka_unit_test(a_frame_that_was_damaged_twice_is_known_by_its_sending),
        cmocka_unit_test(a_flushed_request_names_the_one_that_failed),
        cmocka_unit_test(a_refused_key_is_shown_with_its_bytes),
        cmocka_unit_test(a_wrong_psn_is_said_with_the_one_that_was_expected),
        cmocka_unit_test(a_packet_behind_a_gap_names_the_one_that_was_lost),
        cmocka_unit_test(a_refusal_that_nobody_is_told_names_its_rule),
        cmocka_unit_test(a_kick_before_the_post_is_told_as_what_it_is),
        cmocka_unit_test(causes_in_a_circle_end),
        cmocka_unit_test(what_is_asked_about_when_nothing_is_named),
        cmocka_unit_test(a_frame_that_is_astray_is_a_problem_like_others),
        cmocka_unit_test(targets_without_a_lab),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
