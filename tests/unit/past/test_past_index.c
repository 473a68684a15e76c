/* SPDX-License-Identifier: MIT */
/* Related events in short pasts: the attempts of a packet, the fate of a frame, answers, posts. */
#include "testing.h"

#include <stdlib.h>

#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/opcode.h"
#include "emu/past/past_index.h"
#include "emu/trace/event.h"
#include "past/written.h"

enum { H1, H2 };

/* h1 sends PSN 100 from QP 2 to QP 3 of h2; events are of these kinds. */
#define TX(id_, n)                                                                                 \
    {                                                                                              \
        .id = id_, .kind = EV_tx, .u.tx = {                                                        \
            .host = H1,                                                                            \
            .qpn = 2,                                                                              \
            .psn = 100,                                                                            \
            .wr_id = 1,                                                                            \
            .attempt = n                                                                           \
        }                                                                                          \
    }
#define LOST(id_, tx_)                                                                             \
    {                                                                                              \
        .id = id_, .kind = EV_lost, .u.lost = {.host = H1, .tx = tx_ }                             \
    }
#define RX(id_, tx_, act_)                                                                         \
    {                                                                                              \
        .id = id_, .kind = EV_rx, .u.rx = {                                                        \
            .host = H2,                                                                            \
            .qpn = 3,                                                                              \
            .psn = 100,                                                                            \
            .act = act_,                                                                           \
            .tx = tx_                                                                              \
        }                                                                                          \
    }
#define ACK(id_, cause_)                                                                           \
    {                                                                                              \
        .id = id_, .cause = cause_, .kind = EV_tx, .u.tx = {                                       \
            .host = H2,                                                                            \
            .qpn = 3,                                                                              \
            .psn = 100,                                                                            \
            .syndrome = SYN_ACK                                                                    \
        }                                                                                          \
    }

/* An index of @w, whose past is *@p. */
static struct past_index *indexed(const struct written *w, struct past *p)
{
    struct past_index *x = NULL;

    *p = past_of_written(w, NULL);
    assert_int_equal(past_index_new(p, &x), RDL_OK);
    return x;
}

/* Events by their numbers; NULL for PAST_NONE. */
static const struct ev *at(const struct past_index *x, uint32_t i)
{
    return i == PAST_NONE ? NULL : past_at(x->past, i);
}

static const struct ev *after(const struct past_index *x, uint32_t i)
{
    return at(x, x->after[i]);
}

static const struct ev *before(const struct past_index *x, uint32_t i)
{
    return at(x, x->before[i]);
}

/* Sent three times: lost, then acknowledged by an ACK that is lost, then a duplicate. */
static const struct ev thrice[] = {
    /* 0 */ TX(ID(1, 1), 0),
    /* 1 */ LOST(ID(2, 1), ID(1, 1)),
    /* 2 */ TX(ID(3, 1), 2),
    /* 3 */ RX(ID(4, 1), ID(3, 1), ACT_ACCEPT),
    /* 4 */ ACK(ID(4, 2), ID(4, 1)),
    /* 5 */ {.id = ID(5, 1), .kind = EV_lost, .u.lost = {.host = H2, .tx = ID(4, 2)}},
    /* 6 */ TX(ID(6, 1), 3),
    /* 7 */ RX(ID(7, 1), ID(6, 1), ACT_DUPLICATE),
    /* 8 */ ACK(ID(8, 1), ID(7, 1)), /* when its port was free */
};
static const struct written sent_thrice = {.events = thrice, .n = ARRAY_LEN(thrice)};

static void the_attempts_of_a_packet_are_on_one_thread(void **state)
{
    struct past p;
    struct past_index *x = indexed(&sent_thrice, &p);

    (void)state;
    assert_ptr_equal(at(x, past_first_tx(x, &thrice[6])), &thrice[0]);
    assert_ptr_equal(after(x, 0), &thrice[2]);
    assert_ptr_equal(after(x, 2), &thrice[6]);
    assert_null(after(x, 6));
    assert_ptr_equal(before(x, 6), &thrice[2]);
    assert_null(before(x, 0));
    assert_ptr_equal(past_last_tx(x, H1, 2, 100, ID(6, 1)), &thrice[2]);
    assert_ptr_equal(past_last_tx(x, H1, 2, 100, ID(9, 1)), &thrice[6]);
    assert_null(past_last_tx(x, H1, 2, 100, ID(1, 1)));
    assert_null(past_last_tx(x, H1, 2, 101, ID(9, 1)));
    assert_null(past_last_tx(x, H2, 3, 100, ID(9, 1))); /* an ACK is no attempt */
    past_index_free(x);
}

static void a_frame_leads_to_its_end_and_an_rx_to_its_answer(void **state)
{
    struct past p;
    struct past_index *x = indexed(&sent_thrice, &p);

    (void)state;
    assert_ptr_equal(at(x, past_first_of_frame(x, ID(1, 1))), &thrice[1]);
    assert_ptr_equal(at(x, past_first_of_frame(x, ID(3, 1))), &thrice[3]);
    assert_ptr_equal(at(x, past_first_of_frame(x, ID(4, 2))), &thrice[5]);
    assert_null(at(x, past_first_of_frame(x, ID(8, 1)))); /* under way */
    assert_null(after(x, 1));
    assert_ptr_equal(past_answer_to(x, &thrice[3]), &thrice[4]);
    assert_ptr_equal(past_answer_to(x, &thrice[7]), &thrice[8]);
    past_index_free(x);
}

/* Answers leave in order: one that leaves later, by another cause, is not this packet's. */
static void an_answer_to_another_packet_is_none(void **state)
{
    static const struct ev events[] = {
        RX(ID(4, 1), 0, ACT_ACCEPT),
        RX(ID(5, 1), 0, ACT_ACCEPT),
        ACK(ID(6, 1), ID(5, 1)),
        ACK(ID(7, 1), ID(4, 1)),
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_null(past_answer_to(x, &events[0]));
    assert_ptr_equal(past_answer_to(x, &events[1]), &events[2]);
    past_index_free(x);
}

/* Both hosts answer in one tick: that of the other host does not stand between. */
static void each_host_answers_for_itself(void **state)
{
    static const struct ev events[] = {
        RX(ID(4, 1), 0, ACT_ACCEPT),
        {.id = ID(4, 2), .kind = EV_rx, .u.rx = {.host = H1, .qpn = 2}},
        {.id = ID(4, 3), .kind = EV_tx, .u.tx = {.host = H1, .qpn = 2, .syndrome = SYN_ACK}},
        ACK(ID(4, 4), 0),
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_answer_to(x, &events[0]), &events[3]);
    assert_ptr_equal(past_answer_to(x, &events[1]), &events[2]);
    past_index_free(x);
}

/* A trace may be nonsense: what tells of a frame before it was sent does not tell of it. */
static void a_frame_does_not_end_before_it_begins(void **state)
{
    static const struct ev events[] = {
        RX(ID(1, 1), ID(3, 1), ACT_ACCEPT),
        {.id = ID(2, 1), .kind = EV_fault, .u.fault = {.by = FLT_CORRUPT, .tx = ID(2, 1)}},
        TX(ID(3, 1), 0),
        RX(ID(4, 1), ID(2, 1), ACT_ACCEPT), /* of a fault that names itself */
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_null(at(x, past_first_of_frame(x, ID(3, 1))));
    assert_ptr_equal(at(x, past_first_of_frame(x, ID(2, 1))), &events[3]);
    past_index_free(x);
}

/* The network delivers a frame twice, and damages it twice before that: all names are one frame. */
static void copies_and_damage_belong_to_one_frame(void **state)
{
    static const struct ev events[] = {
        TX(ID(1, 1), 0),
        {.id = ID(1, 2), .kind = EV_fault, .u.fault = {.by = FLT_DUPLICATE, .tx = ID(1, 1)}},
        {.id = ID(1, 3), .kind = EV_fault, .u.fault = {.by = FLT_CORRUPT, .tx = ID(1, 1)}},
        {.id = ID(1, 4), .kind = EV_fault, .u.fault = {.by = FLT_CORRUPT, .tx = ID(1, 3)}},
        {.id = ID(2, 1), .kind = EV_drop, .u.drop = {.host = H2, .tx = ID(1, 4)}},
        RX(ID(3, 1), ID(1, 1), ACT_ACCEPT),
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);
    uint32_t next = past_first_of_frame(x, ID(1, 1));

    (void)state;
    for (uint32_t i = 1; i < ARRAY_LEN(events); i++) {
        assert_int_equal(next, i);
        next = x->after[next];
    }
    assert_int_equal(next, PAST_NONE);
    past_index_free(x);
}

/* What is before the third attempt is forgotten: the thread begins there, and says so. */
static void a_forgotten_beginning_leaves_the_rest(void **state)
{
    const struct written w = {.events = thrice + 5, .n = ARRAY_LEN(thrice) - 5};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    p.forgotten = 5;
    assert_ptr_equal(at(x, past_first_tx(x, &thrice[6])), &thrice[6]);
    assert_int_equal(at(x, past_first_tx(x, &thrice[6]))->u.tx.attempt, 3);
    assert_null(past_last_tx(x, H1, 2, 100, ID(6, 1)));
    /* The ACK is not there, but what became of it. */
    assert_ptr_equal(at(x, past_first_of_frame(x, ID(4, 2))), &thrice[5]);
    past_index_free(x);
}

static const struct ev before_a_gap[] = {
    {.id = ID(5, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 7}},
    {.id = ID(6, 1), .kind = EV_post_send, .u.post_send = {.qpn = 2, .desc = 3}},
    {.id = ID(7, 1), .kind = EV_qp_state, .u.qp_state = {.qpn = 2, .to = QPS_ERR}},
    {.id = ID(8, 1), .kind = EV_fetch, .u.fetch = {.qpn = 2, .desc = 4, .wr_id = 9}},
    {.id = ID(8, 2), .kind = EV_key, .u.key = {.qpn = 2, .rule = 1}},
    {.id = ID(8, 3), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 8, .wr_id = 9}},
    {.id = ID(20, 1), .kind = EV_fetch, .u.fetch = {.qpn = 2, .desc = 3}},
    {.id = ID(20, 2), .kind = EV_cqe, .u.cqe = {.qpn = 2, .wr_id = 9, .status = WCS_RETRY_EXC_ERR}},
};

/* The same question about an event that was repeated has no wrong answer from before the gap. */
static void nothing_is_taken_for_what_was_not_recorded(void **state)
{
    const struct written w = {.events = before_a_gap, .n = ARRAY_LEN(before_a_gap)};
    struct past p;
    struct past_index *x = indexed(&w, &p);
    const struct ev *cqe = &before_a_gap[ARRAY_LEN(before_a_gap) - 1], *fetch = cqe - 1;

    (void)state;
    for (int gap = 0; gap < 2; gap++) {
        p.gap_from = gap ? 10 : 0;
        p.gap_to = gap ? 12 : 0;
        assert_int_equal(past_last_tx(x, 0, 2, 7, ID(20, 1)) == NULL, gap);
        assert_int_equal(past_post_of(x, fetch) == NULL, gap);
        assert_int_equal(past_fetch_of(x, cqe) == NULL, gap);
        assert_int_equal(past_last_tx_of_request(x, cqe) == NULL, gap);
        assert_int_equal(past_refused_key(x, 0, 2, ID(20, 2), false) == NULL, gap);
        assert_int_equal(past_error_state(x, 0, 2, ID(20, 1)) == NULL, gap);
    }
    p.gap_from = 3;
    p.gap_to = 7; /* recording went on in the tick of the state, before it */
    assert_non_null(past_error_state(x, 0, 2, ID(20, 1)));
    past_index_free(x);
}

/* A descriptor is used again and again: a fetch is about its newest post. */
static void a_fetch_is_about_the_newest_post_of_its_descriptor(void **state)
{
    static const struct ev events[] = {
        {.id = ID(1, 1), .kind = EV_post_send, .u.post_send = {.queue = 19, .desc = 3, .wr_id = 1}},
        {.id = ID(2, 1), .kind = EV_fetch, .u.fetch = {.queue = 19, .desc = 3, .wr_id = 1}},
        {.id = ID(3, 1), .kind = EV_post_send, .u.post_send = {.queue = 19, .desc = 3, .wr_id = 2}},
        {.id = ID(4, 1), .kind = EV_fetch, .u.fetch = {.queue = 19, .desc = 3, .wr_id = 2}},
        {.id = ID(5, 1), .kind = EV_fetch, .u.fetch = {.queue = 19, .desc = 4, .wr_id = 3}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_post_of(x, &events[1]), &events[0]);
    assert_ptr_equal(past_post_of(x, &events[3]), &events[2]);
    assert_null(past_post_of(x, &events[4]));
    past_index_free(x);
}

/* A request of two packets is given up: it leads to its last packet, and to its fetch. */
static void a_failed_completion_leads_to_its_request(void **state)
{
    static const struct ev events[] = {
        {.id = ID(1, 1), .kind = EV_fetch, .u.fetch = {.qpn = 2, .wr_id = 5}},
        {.id = ID(1, 2), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 7, .wr_id = 5}},
        {.id = ID(2, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 8, .wr_id = 5}},
        {.id = ID(2, 2), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = 9, .wr_id = 6}},
        {.id = ID(3, 1),
         .kind = EV_cqe,
         .u.cqe = {.qpn = 2, .wr_id = 5, .status = WCS_RETRY_EXC_ERR}},
        {.id = ID(3, 2), .kind = EV_qp_state, .u.qp_state = {.qpn = 2, .to = QPS_ERR}},
        {.id = ID(3, 3), .kind = EV_cqe, .u.cqe = {.qpn = 2, .status = WCS_WR_FLUSH_ERR}},
        {.id = ID(3, 4), .kind = EV_cqe, .u.cqe = {.qpn = 2, .status = WCS_WR_FLUSH_ERR}},
        {.id = ID(9, 1), .kind = EV_qp_state, .u.qp_state = {.qpn = 2, .to = QPS_ERR}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_last_tx_of_request(x, &events[4]), &events[2]);
    assert_ptr_equal(past_fetch_of(x, &events[4]), &events[0]);
    assert_ptr_equal(past_failure_of(x, &events[5]), &events[4]);
    assert_null(past_failure_of(x, &events[8])); /* this time by somebody's order */
    assert_ptr_equal(past_error_state(x, 0, 2, ID(3, 3)), &events[5]);
    past_index_free(x);
}

/* The refusal may be told before the packet that it refuses, or after it, in one tick. */
static void a_refused_key_is_found_on_both_sides(void **state)
{
    static const struct ev events[] = {
        {.id = ID(1, 1), .kind = EV_key, .u.key = {.qpn = 3, .rule = 1}},
        {.id = ID(2, 1), .kind = EV_key, .u.key = {.qpn = 3}}, /* not refused */
        {.id = ID(2, 2), .kind = EV_rx, .u.rx = {.qpn = 3}},
        {.id = ID(2, 3), .kind = EV_key, .u.key = {.qpn = 3, .rule = 1}},
        {.id = ID(3, 1), .kind = EV_rx, .u.rx = {.qpn = 3}},
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_refused_key(x, 0, 3, ID(1, 2), true), &events[0]);
    assert_ptr_equal(past_refused_key(x, 0, 3, ID(2, 2), true), &events[3]);
    assert_ptr_equal(past_refused_key(x, 0, 3, ID(2, 2), false), &events[0]);
    assert_null(past_refused_key(x, 0, 3, ID(3, 1), true));
    assert_ptr_equal(past_refused_key(x, 0, 3, ID(3, 1), false), &events[3]);
    past_index_free(x);
}

/* More packets than the table has places at first; each has two attempts. */
static void many_threads_stay_apart(void **state)
{
    const uint32_t n = 5000;
    struct ev *events = calloc(2 * n, sizeof(*events));
    const struct written w = {.events = events, .n = 2 * n};
    struct past_index *x;
    struct past p;

    (void)state;
    assert_non_null(events);
    for (uint32_t i = 0; i < 2 * n; i++)
        events[i] =
            (struct ev){.id = ID(i + 1, 1), .kind = EV_tx, .u.tx = {.qpn = 2, .psn = i % n}};
    x = indexed(&w, &p);
    for (uint32_t i = 0; i < n; i++) {
        assert_ptr_equal(at(x, past_first_tx(x, &events[n + i])), &events[i]);
        assert_ptr_equal(after(x, i), &events[n + i]);
        assert_null(before(x, i));
        assert_null(after(x, n + i));
    }
    past_index_free(x);
    free(events);
}

/* h1 reads: its PSNs 100 to 102 are answered by h2, which also reads something itself with PSN 101,
 * and answers another request while it answers the READ.
 */
#define SENT(id_, cause_, host_, qpn_, opcode_, psn_, syndrome_)                                   \
    {                                                                                              \
        .id = id_, .cause = cause_, .kind = EV_tx, .u.tx = {                                       \
            .host = host_,                                                                         \
            .qpn = qpn_,                                                                           \
            .opcode = opcode_,                                                                     \
            .psn = psn_,                                                                           \
            .syndrome = syndrome_                                                                  \
        }                                                                                          \
    }
static const struct ev reading[] = {
    /* 0 */ SENT(ID(1, 1), 0, H1, 2, OP_RC_RDMA_READ_REQUEST, 100, SYN_NONE),
    /* 1 */ RX(ID(2, 1), ID(1, 1), ACT_ACCEPT),
    /* 2 */ SENT(ID(2, 2), ID(2, 1), H2, 3, OP_RC_RDMA_READ_RESPONSE_FIRST, 100, SYN_ACK),
    /* 3 */ RX(ID(3, 1), 0, ACT_ACCEPT),
    /* 4 */ SENT(ID(4, 1), ID(2, 1), H2, 3, OP_RC_RDMA_READ_RESPONSE_MIDDLE, 101, SYN_NONE),
    /* 5 */ SENT(ID(5, 1), 0, H2, 3, OP_RC_RDMA_READ_REQUEST, 101, SYN_NONE),
    /* 6 */ SENT(ID(6, 1), ID(2, 1), H2, 3, OP_RC_RDMA_READ_RESPONSE_LAST, 102, SYN_ACK),
    /* 7 */ SENT(ID(7, 1), ID(3, 1), H2, 3, OP_RC_ACKNOWLEDGE, 103, SYN_ACK),
    /* 8 */ SENT(ID(8, 1), 0, H1, 2, OP_RC_RDMA_READ_REQUEST, 101, SYN_NONE),
};

static void responses_are_apart_from_requests_and_acknowledges(void **state)
{
    const struct written w = {.events = reading, .n = ARRAY_LEN(reading)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_answer_to(x, &reading[1]), &reading[2]); /* the first of three */
    assert_ptr_equal(past_answer_to(x, &reading[3]), &reading[7]);
    assert_ptr_equal(past_last_response(x, H2, 3, 101, ID(9, 1)), &reading[4]);
    assert_ptr_equal(past_last_response(x, H2, 3, 102, ID(9, 1)), &reading[6]);
    assert_null(past_last_response(x, H2, 3, 102, ID(6, 1)));
    assert_null(past_last_response(x, H2, 3, 103, ID(9, 1))); /* an acknowledge */
    assert_ptr_equal(past_last_tx(x, H2, 3, 101, ID(9, 1)), &reading[5]);
    assert_null(past_last_tx(x, H2, 3, 102, ID(9, 1)));
    past_index_free(x);
}

static void a_psn_within_a_read_leads_to_its_request(void **state)
{
    const struct written w = {.events = reading, .n = ARRAY_LEN(reading)};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_last_asked(x, H1, 2, 100, ID(9, 1)), &reading[0]);
    assert_ptr_equal(past_last_asked(x, H1, 2, 101, ID(8, 1)), &reading[0]);
    assert_ptr_equal(past_last_asked(x, H1, 2, 101, ID(9, 1)), &reading[8]);
    assert_ptr_equal(past_last_asked(x, H1, 2, 102, ID(8, 1)), &reading[0]);
    assert_ptr_equal(past_last_asked(x, H1, 2, 102, ID(9, 1)), &reading[8]); /* asked again */
    assert_null(past_last_asked(x, H1, 2, 99, ID(9, 1)));
    assert_null(past_last_asked(x, H1, 7, 102, ID(9, 1)));
    past_index_free(x);
}

/* Three packets of a message, and the ACK of the last one; then a NAK of a later PSN. */
static void what_covers_a_psn_is_the_first_answer_behind_it(void **state)
{
    static const struct ev events[] = {
        /* 0 */ SENT(ID(1, 1), 0, H2, 3, OP_RC_ACKNOWLEDGE, 102, SYN_ACK), /* too early */
        /* 1 */ {.id = ID(2, 1), .kind = EV_rx, .u.rx = {.host = H2, .qpn = 3, .psn = 100}},
        /* 2 */ SENT(ID(3, 1), 0, H2, 4, OP_RC_ACKNOWLEDGE, 102, SYN_ACK), /* of others */
        /* 3 */ SENT(ID(3, 2), 0, H1, 3, OP_RC_ACKNOWLEDGE, 102, SYN_ACK),
        /* 4 */ SENT(ID(3, 3), 0, H2, 3, OP_RC_SEND_ONLY, 103, SYN_NONE),
        /* 5 */ SENT(ID(4, 1), 0, H2, 3, OP_RC_ACKNOWLEDGE, 99, SYN_ACK),
        /* 6 */ SENT(ID(5, 1), 0, H2, 3, OP_RC_ACKNOWLEDGE, 102, SYN_ACK),
        /* 7 */ SENT(ID(6, 1), 0, H2, 3, OP_RC_ACKNOWLEDGE, 104, SYN_NAK_PSN_SEQUENCE),
    };
    const struct written w = {.events = events, .n = ARRAY_LEN(events)};
    const struct ev other = {.id = ID(7, 1), .kind = EV_tx};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_ptr_equal(past_covering(x, &events[1], 0), &events[6]);
    assert_ptr_equal(past_covering(x, &events[1], ID(6, 1)), &events[6]);
    assert_null(past_covering(x, &events[1], ID(5, 1)));
    assert_ptr_equal(at(x, past_before(x, &events[7])), &events[6]);
    assert_ptr_equal(at(x, past_before(x, &events[5])), &events[0]);
    assert_int_equal(past_before(x, &events[0]), PAST_NONE);
    assert_int_equal(past_before(x, &other), PAST_NONE);
    p.gap_from = p.gap_to = 4;
    assert_null(past_covering(x, &events[1], 0)); /* there may have been another */
    past_index_free(x);
}

static void of_nothing_nothing_is_known(void **state)
{
    const struct written w = {.n = 0};
    struct past p;
    struct past_index *x = indexed(&w, &p);

    (void)state;
    assert_null(at(x, past_first_of_frame(x, ID(1, 1))));
    assert_null(past_last_tx(x, H1, 2, 100, ID(9, 1)));
    past_index_free(x);
    past_index_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_attempts_of_a_packet_are_on_one_thread),
        cmocka_unit_test(a_frame_leads_to_its_end_and_an_rx_to_its_answer),
        cmocka_unit_test(an_answer_to_another_packet_is_none),
        cmocka_unit_test(each_host_answers_for_itself),
        cmocka_unit_test(a_frame_does_not_end_before_it_begins),
        cmocka_unit_test(copies_and_damage_belong_to_one_frame),
        cmocka_unit_test(a_forgotten_beginning_leaves_the_rest),
        cmocka_unit_test(nothing_is_taken_for_what_was_not_recorded),
        cmocka_unit_test(a_fetch_is_about_the_newest_post_of_its_descriptor),
        cmocka_unit_test(a_failed_completion_leads_to_its_request),
        cmocka_unit_test(a_refused_key_is_found_on_both_sides),
        cmocka_unit_test(many_threads_stay_apart),
        cmocka_unit_test(responses_are_apart_from_requests_and_acknowledges),
        cmocka_unit_test(a_psn_within_a_read_leads_to_its_request),
        cmocka_unit_test(what_covers_a_psn_is_the_first_answer_behind_it),
        cmocka_unit_test(of_nothing_nothing_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
