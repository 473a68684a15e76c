/* SPDX-License-Identifier: MIT */
/* The environment of an HCA: an arena, a trace without listeners, a clock, some RAM.  stand_down()
 * fails the test unless the HCA has freed everything that it allocated.
 */
#ifndef TESTS_UNIT_HCA_STAND_H
#define TESTS_UNIT_HCA_STAND_H

#include "testing.h"

#include "emu/facts/enum/mtu.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/hca.h"

#define STAND_RAM_BYTES (64u * 4096u)

struct stand {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct sim sim;
    struct ram ram;
    struct hca hca;
    size_t bare_bytes; /* allocated from the arena without the HCA */
};

static const struct hca_limits stand_limits = {
    .max_pd = 3,
    .max_mr = 4,
    .max_cq = 3,
    .max_qp = 6,
    .max_cqe = 100,
    .max_qp_wr = 64,
    .max_send_sge = 4,
    .max_recv_sge = 4,
    .max_sge_rd = 4,
    .max_inline_data = 64,
    .max_rd_atomic = 4,
    .max_dest_rd_atomic = 8,
    .max_res_rd_atom = 32,
    .max_mr_bytes = 40 * 4096,
    .page_sizes = RAM_PAGE_BYTES,
    .max_mw = 3,
    .max_fast_pages = 4,
    .max_mtu = MTU_2048,
    .max_mcast_grp = 3,
    .max_mcast_qp_attach = 4,
    .max_total_mcast_qp_attach = 6,
    .max_srq = 2,
};

/* Touches all pages of RAM, so that later writes allocate nothing from the arena. */
static inline void touch_pages(struct ram *ram)
{
    for (uint64_t gpa = 0; gpa < ram->bytes; gpa += RAM_PAGE_BYTES)
        assert_true(ram_write(ram, gpa, "", 1));
}

static inline void stand_up_with(struct stand *s, uint32_t first_qpn, const struct hca_pkeys *pkeys)
{
    struct hca_env env = {
        .host = 0, .first_qpn = first_qpn, .keys = prng_stream(1, 0), .pkeys = *pkeys};

    *s = (struct stand){.arena = arena_new((size_t)1 << 26)};
    s->trace.sinks = &s->sinks;
    assert_true(sim_init(&s->sim, s->arena, &s->trace, NULL, NULL));
    assert_true(ram_init(&s->ram, s->arena, STAND_RAM_BYTES));
    touch_pages(&s->ram);
    s->bare_bytes = arena_live_bytes(s->arena);
    env.arena = s->arena;
    env.sim = &s->sim;
    env.ram = &s->ram;
    hca_init(&s->hca, &env, &stand_limits);
}

static inline void stand_up(struct stand *s, uint32_t first_qpn)
{
    stand_up_with(s, first_qpn, &(struct hca_pkeys){.n = 0});
}

static inline void stand_down(struct stand *s)
{
    hca_done(&s->hca);
    assert_int_equal(arena_live_bytes(s->arena), s->bare_bytes);
    arena_free(s->arena);
}

static inline uint32_t stand_pd(struct stand *s)
{
    struct pd *pd;

    assert_int_equal(hca_pd_create(&s->hca, &pd), REF_NONE);
    return pd->pdn;
}

#endif
