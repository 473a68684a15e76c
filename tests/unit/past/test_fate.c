/* SPDX-License-Identifier: MIT */
/* The fate of a frame, for each way in which it can end. */
#include "testing.h"

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/past/fate.h"
#include "emu/trace/event.h"
#include "past/written.h"

#define TX                                                                                         \
    {                                                                                              \
        .id = ID(1, 1), .kind = EV_tx, .u.tx = {.host = 0, .qpn = 2, .psn = 100 }                  \
    }
#define FAULT(by_)                                                                                 \
    {                                                                                              \
        .id = ID(1, 2), .kind = EV_fault, .u.fault = {.by = by_, .tx = ID(1, 1) }                  \
    }
#define RX(id_)                                                                                    \
    {                                                                                              \
        .id = id_, .kind = EV_rx, .u.rx = {.host = 1, .qpn = 3, .psn = 100, .tx = ID(1, 1) }       \
    }
#define DROP(id_, reason_, tx_)                                                                    \
    {                                                                                              \
        .id = id_, .kind = EV_drop, .u.drop = {.host = 1, .reason = reason_, .tx = tx_ }           \
    }
#define ETH_RX(id_, tx_)                                                                           \
    {                                                                                              \
        .id = id_, .kind = EV_eth_rx, .u.eth_rx = {.host = 1, .tx = tx_ }                          \
    }
#define LOST(id_)                                                                                  \
    {                                                                                              \
        .id = id_, .kind = EV_lost, .u.lost = {.host = 0, .tx = ID(1, 1) }                         \
    }
#define ACK(id_)                                                                                   \
    {                                                                                              \
        .id = id_, .kind = EV_tx, .u.tx = {.host = 1, .qpn = 3, .psn = 100, .syndrome = SYN_ACK }  \
    }
#define OUT(id_)                                                                                   \
    {                                                                                              \
        .id = id_, .kind = EV_port_out, .u.port_out = {.tx = ID(1, 1) }                            \
    }

/* Events, and what they say of the first of them. */
static const struct {
    const char *what;
    struct ev events[5];
    size_t n;
    enum frame_fate kind;
    size_t end, fault, answer; /* 0: none */
} fates[] = {
    {"under way", {TX}, 1, FATE_UNKNOWN, 0, 0, 0},
    {"arrived", {TX, RX(ID(2, 1)), ACK(ID(2, 2))}, 3, FATE_ARRIVED, 1, 0, 2},
    {"arrived, nothing to answer", {TX, RX(ID(2, 1))}, 2, FATE_ARRIVED, 1, 0, 0},
    {"lost", {TX, LOST(ID(2, 1))}, 2, FATE_LOST, 1, 0, 0},
    {"dropped", {TX, DROP(ID(2, 1), DROP_WRONG_SOURCE, ID(1, 1))}, 2, FATE_DROPPED, 1, 0, 0},
    {"damaged, and dropped for that",
     {TX, FAULT(FLT_CORRUPT), DROP(ID(2, 1), DROP_BAD_ICRC, ID(1, 2))},
     3,
     FATE_DROPPED,
     2,
     1,
     0},
    {"damaged, so that another function takes it",
     {TX, FAULT(FLT_CORRUPT), ETH_RX(ID(2, 1), ID(1, 2))},
     3,
     FATE_STRAYED,
     2,
     1,
     0},
    {"delayed", {TX, FAULT(FLT_DELAY), RX(ID(2, 1))}, 3, FATE_ARRIVED, 2, 1, 0},
    {"the first copy counts",
     {TX, FAULT(FLT_DUPLICATE), RX(ID(2, 1)), LOST(ID(3, 1))},
     4,
     FATE_ARRIVED,
     2,
     1,
     0},
    {"or else the one that arrives",
     {TX, FAULT(FLT_DUPLICATE), LOST(ID(2, 1)), RX(ID(3, 1)), ACK(ID(3, 2))},
     5,
     FATE_ARRIVED,
     3,
     1,
     4},
    {"or else the last",
     {TX, FAULT(FLT_DUPLICATE), LOST(ID(2, 1)), DROP(ID(3, 1), DROP_BAD_ICRC, ID(1, 1))},
     4,
     FATE_DROPPED,
     3,
     1,
     0},
    {"flooded, and arrived where it was meant",
     {TX, DROP(ID(2, 1), DROP_NOT_FOR_US, ID(1, 1)), RX(ID(3, 1))},
     3,
     FATE_ARRIVED,
     2,
     0,
     0},
    {"flooded, and damaged on all ways",
     {TX, FAULT(FLT_DUPLICATE), DROP(ID(2, 1), DROP_BAD_ICRC, ID(1, 1)),
      DROP(ID(3, 1), DROP_NOT_FOR_US, ID(1, 1))},
     4,
     FATE_DROPPED,
     2,
     1,
     0},
    {"flooded, and meant for nobody",
     {TX, DROP(ID(2, 1), DROP_NOT_FOR_US, ID(1, 1)), DROP(ID(3, 1), DROP_NOT_FOR_US, ID(1, 1))},
     3,
     FATE_DROPPED,
     1,
     0,
     0},
    {"out of the lab, where it may arrive", {TX, OUT(ID(2, 1))}, 2, FATE_UNKNOWN, 0, 0, 0},
};

static void each_frame_has_its_fate(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fates); i++) {
        const struct ev *e = fates[i].events;
        const struct written w = {.events = e, .n = fates[i].n};
        const struct past p = past_of_written(&w, NULL);
        struct past_index *x = NULL;
        struct fate f;

        assert_int_equal(past_index_new(&p, &x), RDL_OK);
        f = fate_of(x, &e[0]);
        if (f.kind != fates[i].kind)
            fail_msg("%s", fates[i].what);
        assert_ptr_equal(f.end, fates[i].end ? &e[fates[i].end] : NULL);
        assert_ptr_equal(f.fault, fates[i].fault ? &e[fates[i].fault] : NULL);
        assert_ptr_equal(f.answer, fates[i].answer ? &e[fates[i].answer] : NULL);
        past_index_free(x);
    }
}

static void what_ends_a_frame_names_it(void **state)
{
    static const struct {
        struct ev e;
        bool ends;
    } rows[] = {
        {TX, false},
        {FAULT(FLT_CORRUPT), false},
        {RX(ID(2, 1)), true},
        {LOST(ID(2, 1)), true},
        {OUT(ID(2, 1)), true},
        {DROP(ID(2, 1), DROP_BAD_ICRC, ID(1, 1)), true},
        {DROP(ID(2, 1), DROP_NOT_FOR_US, ID(1, 1)), false}, /* flooded there, too */
        {{.kind = EV_lost, .u.lost = {.opcode = FRAME_ARP_REQUEST, .tx = ID(1, 1)}}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        ev_id tx = 0;

        assert_int_equal(fate_is_end(&rows[i].e, &tx), rows[i].ends);
        assert_true(!rows[i].ends || tx == ID(1, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_frame_has_its_fate),
        cmocka_unit_test(what_ends_a_frame_names_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
