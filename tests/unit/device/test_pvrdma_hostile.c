/* SPDX-License-Identifier: MIT */
/* A driver of PVRDMA that works, and now and then writes anything anywhere.  Nothing of it is an
 * assertion, every run ends, and a reset frees everything.
 */
#include "pv_rig.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/pci_field.h"

#define SEEDS 100u
#define STEPS 200u

static uint32_t below(struct prng *r, uint32_t n)
{
    return (uint32_t)prng_below(r, n);
}

/* Numbers that are likely to be at a border, or to be valid. */
static uint32_t any(struct prng *r)
{
    static const uint32_t few[] = {0, 1, 2, 3, 4, 7, 8, 12, 16, 4095, 4096, UINT32_MAX};
    const uint32_t kind = below(r, 4);

    if (kind == 0)
        return (uint32_t)prng_next(r);
    if (kind == 1)
        return below(r, PVRIG_RAM / PV_PAGE_BYTES) * PV_PAGE_BYTES;
    return few[below(r, ARRAY_LEN(few))];
}

static void any_doorbell(struct pv_rig *g, struct prng *r)
{
    const uint32_t handle = below(r, 8);
    const uint32_t bits = below(r, 8) << 29;

    pvrig_doorbell(g, below(r, 4) * 4, handle | bits);
}

/* A command of the set-up again, as it was or with a word changed; or its object is destroyed. */
static void any_command(struct pv_rig *g, struct prng *r)
{
    static const uint32_t destroys[] = {PV_CMD_DESTROY_PD, PV_CMD_DESTROY_MR, PV_CMD_DESTROY_CQ,
                                        PV_CMD_DESTROY_QP, PV_CMD_DESTROY_UC, PV_CMD_DESTROY_SRQ};
    struct pv_sent c = g->sent[below(r, g->n_sent)];
    const uint32_t at = below(r, 16) * 4;

    if (below(r, 20) == 0)
        c = (struct pv_sent){.cmd = destroys[below(r, ARRAY_LEN(destroys))], .n = 8};
    if (c.n == 8)
        c.body[0] = (uint8_t)below(r, 8);
    else if (below(r, 2) == 0)
        st_le32(c.body + at, any(r));
    (void)pvrig_command(g, c.cmd, c.body, c.n);
}

/* Work as a good driver posts it. */
static void work(struct pv_rig *g, struct pv_pair *p, struct prng *r)
{
    const uint32_t i = below(r, 2);
    const struct pv_sge sge = {p->mem + below(r, 2) * PV_PAGE_BYTES, 64, p->lkey};
    struct pv_sq_wqe w = {.opcode = below(r, 12)};
    const uint32_t bits = below(r, 16);
    struct pv_cqe c;

    w.num_sge = below(r, 5) > 0;
    w.send_flags = bits;
    st_le64(w.wr, p->mem + 2 * PV_PAGE_BYTES);
    st_le32(w.wr + (below(r, 2) ? 8 : 24), p->rkey);
    pvrig_post_recv(g, p, i, 1, sge);
    pvrig_post_send(g, p, 1 - i, w, &sge);
    pvrig_kick(g, p, i, PV_UAR_RECV);
    pvrig_kick(g, p, 1 - i, PV_UAR_SEND);
    pvrig_run(g);
    while (below(r, 8) > 0 && pvrig_poll(g, p, &c))
        continue;
}

static void any_register(struct pv_rig *g, struct prng *r)
{
    const enum pv_reg reg = (enum pv_reg)(below(r, 12) * 4);

    if (below(r, 2) == 0)
        pvrig_out(g, reg, any(r));
    else
        (void)pvrig_in(g, reg);
}

/* Writes an index of a ring, or any word of rings, region or directories. */
static void any_memory(struct pv_rig *g, const struct pv_pair *p, struct prng *r)
{
    const uint64_t ring = p->qp_ring[below(r, 2)].pages;
    const uint64_t from[] = {ring, ring, DSR_AT, FREE_AT};
    const uint32_t words[] = {4, 3 * PV_PAGE_BYTES / 4, 4096, 8192};
    const uint32_t i = below(r, ARRAY_LEN(from));
    const uint64_t at = from[i] + below(r, words[i]) * 4;

    pvrig_poke32(g, at, any(r));
}

static void set_master(struct pv_rig *g, bool on)
{
    fn_config_write(&g->d->fn, PCI_COMMAND, 2, PCI_CMD_MEMORY | (on ? PCI_CMD_MASTER : 0u));
}

static void step(struct pv_rig *g, struct pv_pair *p, struct prng *r)
{
    const uint32_t what = below(r, 64);

    if (what == 0)
        any_register(g, r);
    else if (what < 8)
        any_memory(g, p, r);
    else if (what < 12)
        set_master(g, what > 8);
    else if (what < 20)
        any_command(g, r);
    else if (what < 30)
        any_doorbell(g, r);
    else
        work(g, p, r);
    if (below(r, 3) == 0)
        pvrig_run(g);
}

/* Counts what happened, so that the test can see that something did. */
struct played {
    uint64_t commands, refused, wqes, cqes, notes;
};

/* Ends with a reset, which must free everything. */
static void play(uint64_t seed, struct played *sum)
{
    struct prng r = prng_stream(seed, 0);
    const uint32_t type = below(&r, 2) ? QPT_RC : QPT_UD;
    void *state;
    struct pv_rig *g;
    struct pv_pair p;

    (void)pvrig_set_up(&state);
    g = state;
    p = pvrig_pair(g, type, below(&r, 2) == 0);
    for (uint32_t i = 0; i < STEPS && g->d->phase == PV_ACTIVE; i++)
        step(g, &p, &r);
    pvrig_run(g);
    sum->commands += g->d->count.commands;
    sum->refused += g->d->count.commands_err;
    sum->notes += g->d->count.notes;
    sum->wqes += g->progress.wqes;
    sum->cqes += g->progress.cqes;
    pvrig_tear_down(&state);
}

static void anything_may_be_written_anywhere(void **state)
{
    struct played sum = {0};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        play(seed, &sum);
    assert_true(sum.refused > SEEDS && sum.commands - sum.refused > 5 * SEEDS);
    assert_true(sum.wqes > 10 * SEEDS && sum.cqes > 10 * SEEDS && sum.notes > SEEDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(anything_may_be_written_anywhere)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
