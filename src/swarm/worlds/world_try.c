/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/world_try.h"

#include <stdlib.h>
#include <string.h>

#include "emu/trace/filter.h"
#include "emu/trace/kind.h"
#include "process/must.h"
#include "rdmalab/trace.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/wire_tap.h"

/* Readings of all tallies, by kind of event: the number of events (0 if the tally came too late to
 * know it), and the id of the last one.
 */
struct readings {
    uint64_t n[EV_COUNT], last[EV_COUNT];
};

/* The state of a world that goes back, in the middle of its deeds. */
struct middle {
    struct world_run run;
    struct rdl_checkpoint *checkpoint; /* NULL: not there yet */
    struct rdl_tally *tally[EV_COUNT]; /* of all events of a kind */
    enum rdl_status started[EV_COUNT]; /* RDL_OK, or RDL_ERR_FORGOTTEN: the tally came too late */
    /* Of the events whose first number is equal to 2, unequal, less and so on; NULL: has none. */
    struct rdl_tally *compared[EV_COUNT][CMP_GE + 1];
    struct readings readings;
};

/* Starts the tallies of @kind that compare its first number, if it has one. */
static void start_compared(struct world_run *r, struct middle *m, uint32_t kind)
{
    const struct ev_schema *schema = ev_schema(kind);
    const struct ev_field *f = schema->fields;

    while (f < schema->fields + schema->n_fields && f->print != EVP_NUMBER)
        f++;
    if (f == schema->fields + schema->n_fields)
        return;
    for (uint32_t op = 0; op <= CMP_GE; op++) {
        struct ev_condition c = {.field = f, .op = (enum compare)op, .number = 2};
        const struct ev_filter some = {.kind = kind, .n = 1, .conditions = &c};

        world_works(r, rdl_tally(r->lab, &some, &m->compared[kind][op], NULL),
                    "events can be counted");
    }
}

/* Checks that each event fulfils a comparison or the opposite one.  @total is the number of all. */
static void check_compared(struct world_run *r, const struct middle *m, uint32_t kind,
                           uint64_t total)
{
    const struct ev_condition *unknown;
    uint64_t n[CMP_GE + 1];

    if (!m->compared[kind][CMP_EQ] || m->started[kind] != RDL_OK)
        return;
    for (uint32_t op = 0; op <= CMP_GE; op++)
        world_works(r, rdl_tally_count(m->compared[kind][op], &n[op], &unknown),
                    "a tally is exact");
    world_expect(r,
                 n[CMP_EQ] + n[CMP_NE] == total && n[CMP_LT] + n[CMP_GE] == total &&
                     n[CMP_LE] + n[CMP_GT] == total && n[CMP_LT] + n[CMP_EQ] == n[CMP_LE],
                 WORLD_NONE, "each event fulfils a comparison or the opposite one");
}

static void start_tallies(struct world_run *r, struct middle *m)
{
    const struct ev_condition *unknown;
    uint64_t n;

    for (uint32_t kind = 0; kind < EV_COUNT && !r->wrong; kind++) {
        const struct ev_filter all = {.kind = kind};

        if (world_works(r, rdl_tally(r->lab, &all, &m->tally[kind], NULL), "events can be counted"))
            m->started[kind] = rdl_tally_count(m->tally[kind], &n, &unknown);
        start_compared(r, m, kind);
    }
}

static void read_tallies(struct world_run *r, const struct middle *m, struct readings *ret)
{
    const struct ev_condition *unknown;

    memset(ret, 0, sizeof(*ret));
    for (uint32_t kind = 0; kind < EV_COUNT && !r->wrong; kind++) {
        const uint64_t total = rdl_total(r->lab, kind);
        const enum rdl_status st = rdl_tally_count(m->tally[kind], &ret->n[kind], &unknown);

        world_expect(r, st == m->started[kind], WORLD_NONE,
                     "a tally is exact if it was so when it began");
        world_expect(r, st != RDL_OK || ret->n[kind] == total, WORLD_NONE,
                     "a tally counts all events");
        world_works(r, rdl_tally_last(m->tally[kind], &ret->last[kind], &unknown),
                    "a tally knows its last event");
        world_expect(r, st != RDL_OK || (ret->last[kind] != 0) == (total > 0), WORLD_NONE,
                     "a tally names an event if it has counted one");
        check_compared(r, m, kind, total);
    }
}

/* Executes all deeds from @r->n_deed on.  @ret_middle receives the state in the middle; NULL: no.
 */
static void play(struct world_run *r, struct middle *ret_middle)
{
    const struct world *w = r->w;

    while (r->n_deed < w->n_deeds && !r->wrong) {
        if (ret_middle && r->n_deed == w->n_deeds / 2) {
            read_tallies(r, ret_middle, &ret_middle->readings);
            world_works(r, rdl_checkpoint_save(r->lab, &ret_middle->checkpoint),
                        "a checkpoint can be saved");
            ret_middle->run = *r;
        }
        world_carry_out(r, &w->deed[r->n_deed++]);
    }
    if (!r->wrong)
        world_finish(r);
}

/* In bytes, at least 1. */
static size_t longest_message(const struct world *w)
{
    size_t bytes = 1;

    for (uint32_t i = 0; i < w->n_items; i++)
        bytes = w->item[i].bytes > bytes ? w->item[i].bytes : bytes;
    return bytes;
}

/* Goes back to @m and on again.  @hash is that of the run that went through it. */
static void go_back(struct middle *m, uint64_t hash)
{
    struct world_run *r = &m->run;
    struct readings now;

    rdl_checkpoint_restore(r->lab, m->checkpoint);
    read_tallies(r, m, &now);
    world_expect(r, memcmp(&now, &m->readings, sizeof(now)) == 0, WORLD_NONE,
                 "going back takes the tallies back");
    play(r, NULL);
    world_expect(r, rdl_hash(r->lab) == hash, WORLD_NONE,
                 "going back and on again ends with the same hash");
    if (!r->wrong)
        read_tallies(r, m, &now);
}

bool world_try(const struct world *w, struct world_run *r, struct world_try *how)
{
    struct rdl_listener *listener = NULL;
    struct middle *middle = w->goes_back && !how->script ? must_malloc(sizeof(*middle)) : NULL;

    if (middle)
        memset(middle, 0, sizeof(*middle));
    memset(r, 0, sizeof(*r));
    r->w = w;
    r->script = how->script;
    r->tap = must_malloc(sizeof(*r->tap));
    r->have = must_malloc(longest_message(w));
    r->want = must_malloc(longest_message(w));
    r->wrong_item = r->wrong_end = WORLD_NONE;
    world_build(r);
    if (how->print && !r->wrong)
        world_works(r, rdl_listen(r->lab, how->print, r->lab, &listener),
                    "the lab can be listened to");
    if (middle && !r->wrong)
        start_tallies(r, middle);
    if (!r->wrong)
        play(r, middle);
    rdl_unlisten(r->lab, listener);
    how->ret_invariant = r->lab && rdl_broken_invariant(r->lab);
    how->ret_hash = r->lab ? rdl_hash(r->lab) : 0;
    how->ret_ticks = r->lab ? rdl_tick(r->lab) : 0;
    how->ret_retries = r->lab ? rdl_total(r->lab, EV_retry) : 0;
    if (!r->wrong && middle && middle->checkpoint) {
        rdl_unlisten(r->lab, r->tap->listener);
        middle->run.tap = NULL; /* the tap has seen the whole run already */
        go_back(middle, how->ret_hash);
        middle->run.tap = r->tap;
        *r = middle->run;
    }
    if (middle)
        rdl_checkpoint_free(middle->checkpoint);
    free(middle);
    rdl_lab_free(r->lab);
    free(r->tap);
    free(r->have);
    free(r->want);
    r->lab = NULL;
    r->tap = NULL;
    r->have = r->want = NULL;
    return !r->wrong;
}

void world_print_failure(const struct world_run *r, FILE *out)
{
    const struct world *w = r->w;

    fprintf(out, "seed %llu: %s%s%s\n", (unsigned long long)w->seed, r->wrong,
            r->status == RDL_OK ? "" : ", but: ",
            r->status == RDL_OK ? "" : rdl_status_name(r->status));
    if (r->wrong_item != WORLD_NONE) {
        const struct world_item *t = &w->item[r->wrong_item];

        fprintf(out, "  wr_id %u, %s of %u bytes, posted at h%u.q%u: %s\n", r->wrong_item,
                t->is_recv ? "receive" : enum_name(&enum_wr_opcode, r->item[r->wrong_item].opcode),
                t->bytes, w->end[t->end].host + 1u, t->end,
                enum_name(&enum_wc_status, r->item[r->wrong_item].status));
    } else if (r->wrong_end != WORLD_NONE) {
        fprintf(out, "  queue pair h%u.q%u, psn %u\n", w->end[r->wrong_end].host + 1u, r->wrong_end,
                r->wrong_psn);
    } else if (r->wrong_byte != 0) {
        fprintf(out, "  byte %u of the memory of h%u\n", r->wrong_byte, r->wrong_host + 1u);
    }
}
