/* SPDX-License-Identifier: MIT */
/* Calls of programs in a ladder, and the queue pair of the kernel's connection manager. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/trace/event.h"
#include "golden.h"
#include "past/written.h"
#include "traces.h"
#include "viz/ladder_model.h"

#define KERNEL_QPN 1u

/* h1 asks, and the kernel of h2 tells its program. */
static const struct ev events[] = {
    WRITTEN_HOST(1, 0, "h1", "10.0.0.1"),
    WRITTEN_HOST(2, 1, "h2", "10.0.0.2"),
    {.id = ID(3, 1),
     .kind = EV_named,
     .u.named = {.host = 0, .object = OBJ_CM_ID, .number = 1, .name = {"id"}}},
    {.id = ID(4, 1),
     .kind = EV_named,
     .u.named = {.host = 1, .object = OBJ_CM_ID, .number = 2, .name = {"id"}}},
    {.id = ID(5, 1),
     .at_ns = 1000,
     .kind = EV_post_recv,
     .u.post_recv = {.host = 1, .qpn = KERNEL_QPN, .wr_id = 7, .bytes = 296}},
    {.id = ID(6, 1),
     .at_ns = 2000,
     .kind = EV_qp_state,
     .u.qp_state = {.host = 0, .qpn = 2, .from = QPS_RESET, .to = QPS_INIT}},
    {.id = ID(7, 1),
     .at_ns = 3000,
     .kind = EV_cm_sent,
     .u.cm_sent = {.host = 0, .message = CM_REQ, .port = 7471, .qpn = 2, .psn = 100}},
    {.id = ID(7, 2),
     .at_ns = 3000,
     .kind = EV_post_send,
     .u.post_send = {.host = 0, .qpn = KERNEL_QPN, .op = WR_SEND, .wr_id = 9, .bytes = 256}},
    {.id = ID(8, 1),
     .at_ns = 3100,
     .kind = EV_tx,
     .u.tx = {.host = 0,
              .peer = 1,
              .qpn = KERNEL_QPN,
              .opcode = OP_UD_SEND_ONLY,
              .attempt = 1,
              .cm = CM_REQ}},
    {.id = ID(8, 2),
     .at_ns = 3100,
     .kind = EV_cqe,
     .u.cqe = {.host = 0, .qpn = KERNEL_QPN, .wr_id = 9, .status = WCS_SUCCESS, .op = WC_SEND}},
    {.id = ID(9, 1),
     .at_ns = 4100,
     .kind = EV_rx,
     .u.rx = {.host = 1,
              .qpn = KERNEL_QPN,
              .opcode = OP_UD_SEND_ONLY,
              .act = ACT_ACCEPT,
              .tx = ID(8, 1),
              .cm = CM_REQ}},
    {.id = ID(9, 2),
     .at_ns = 4100,
     .kind = EV_cqe,
     .u.cqe = {.host = 1, .qpn = KERNEL_QPN, .wr_id = 8, .status = WCS_LOC_LEN_ERR}},
    {.id = ID(10, 1),
     .at_ns = 4200,
     .kind = EV_cm_received,
     .u.cm_received = {.host = 1, .message = CM_REQ, .psn = 100}},
    {.id = ID(10, 2),
     .at_ns = 4200,
     .kind = EV_cm_event,
     .u.cm_event =
         {.host = 1, .object = OBJ_CM_ID, .number = 2, .event = RDMA_CM_EVENT_CONNECT_REQUEST}},
    {.id = ID(11, 1),
     .at_ns = 6000,
     .kind = EV_qp_state,
     .u.qp_state = {.host = 1, .qpn = 3, .from = QPS_RESET, .to = QPS_INIT}},
};

static const struct past_call calls[] = {
    {.id = ID(7, 0), .at_ns = 3000, .call = CM_CALL_rdma_connect, .host = 0, .cm_id = 1},
    {.id = ID(10, EV_ROW_MAX),
     .at_ns = 5000,
     .call = CM_CALL_rdma_get_cm_event,
     .host = 1,
     .cm_id = 2,
     .event = RDMA_CM_EVENT_CONNECT_REQUEST},
    {.id = ID(12, 0),
     .at_ns = 6000,
     .call = CM_CALL_rdma_accept,
     .host = 1,
     .cm_id = 2,
     .error = 22},
};

static struct past_call call_at(const void *ctx, size_t i)
{
    (void)ctx;
    return calls[i];
}

/* A call that a stranger has written: its time is that of no event near it. */
static struct past_call wrong_call_at(const void *ctx, size_t i)
{
    struct past_call c = calls[i];

    (void)ctx;
    c.at_ns = i == 0 ? UINT64_MAX : 0;
    return c;
}

static struct ladder *draw(size_t n_events, const struct picture_options *options)
{
    struct ev_names *names = ev_names_new();
    const struct written all = {events, ARRAY_LEN(events), 0, NULL, 0};
    struct past past = past_of_written(&all, names);
    struct ladder *l = NULL;

    assert_non_null(names);
    past.n = n_events;
    past.call = call_at;
    past.n_calls = ARRAY_LEN(calls);
    assert_int_equal(ladder_new(&past, options, &l), RDL_OK);
    ev_names_free(names);
    return l;
}

static void each_call_stands_before_what_it_does(void **state)
{
    const struct picture_options options = {.width = 100};
    struct ladder *l = draw(ARRAY_LEN(events), &options);
    struct collected c;
    const struct viz_sink sink = collect(&c);

    (void)state;
    assert_int_equal(ladder_text(l, &sink), RDL_OK);
    assert_golden("calls", c.s);
    free(c.s);
    ladder_free(l);
}

static void calls_have_a_class_of_their_own_in_svg(void **state)
{
    struct ladder *l = draw(ARRAY_LEN(events), &(struct picture_options){0});
    struct collected c;
    const struct viz_sink sink = collect(&c);

    (void)state;
    assert_int_equal(ladder_svg(l, &sink), RDL_OK);
    assert_in_order(c.s, "class=\"call\"><title>h1: rdma_connect(id)</title> tone-call "
                         "rdma_get_cm_event: CONNECT_REQUEST");
    free(c.s);
    ladder_free(l);
}

static uint32_t n_calls(const struct ladder *l)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_stops; i++)
        n += l->stops[i].tone == TONE_CALL;
    return n;
}

/* Each belongs to the part that has what it does, or what it has got. */
static void a_part_has_the_calls_of_its_ticks(void **state)
{
    static const struct {
        ev_id from, to;
        uint32_t n;
    } rows[] = {{0, 0, 3},         {ID(7, 0), 0, 3},         {ID(7, 1), 0, 2},
                {0, ID(7, 0), 1},  {0, ID(6, 0), 0},         {ID(8, 0), ID(9, 0), 0},
                {0, ID(10, 2), 1}, {ID(9, 0), ID(10, 0), 1}, {ID(11, 0), ID(11, 0), 0},
                {ID(11, 0), 0, 1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct picture_options options = {.from = rows[i].from, .to = rows[i].to};
        struct ladder *l = draw(ARRAY_LEN(events), &options);

        assert_int_equal(n_calls(l), rows[i].n);
        ladder_free(l);
    }
}

/* Without a message of a connection manager QPN 1 may be a program's. */
static void qpn_1_is_hidden_only_where_it_is_the_kernels(void **state)
{
    struct ladder *l = draw(6, &(struct picture_options){0});

    (void)state;
    assert_int_equal(l->stops[0].kind, EV_post_recv);
    ladder_free(l);
    l = draw(ARRAY_LEN(events), &(struct picture_options){0});
    assert_int_equal(l->stops[0].kind, EV_qp_state);
    ladder_free(l);
}

static void a_wrong_time_of_a_call_makes_no_pause_of_the_next_event(void **state)
{
    const struct written all = {events, ARRAY_LEN(events), 0, NULL, 0};
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(&all, names);
    struct ladder *l = NULL;

    (void)state;
    past.call = wrong_call_at;
    past.n_calls = ARRAY_LEN(calls);
    assert_int_equal(ladder_new(&past, &(struct picture_options){0}, &l), RDL_OK);
    assert_int_equal(n_calls(l), ARRAY_LEN(calls));
    for (uint32_t i = 1; i < l->n_stops; i++) {
        if (l->stops[i].at_ns < l->stops[i - 1].at_ns)
            assert_int_equal(l->stops[i].gap_ns, 0);
    }
    ladder_free(l);
    ev_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_stands_before_what_it_does),
        cmocka_unit_test(calls_have_a_class_of_their_own_in_svg),
        cmocka_unit_test(a_part_has_the_calls_of_its_ticks),
        cmocka_unit_test(a_wrong_time_of_a_call_makes_no_pause_of_the_next_event),
        cmocka_unit_test(qpn_1_is_hidden_only_where_it_is_the_kernels),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
