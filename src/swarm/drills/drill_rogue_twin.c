/* SPDX-License-Identifier: MIT */
/* The drill of a rogue guest: two labs, and their comparison. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/trace/event.h"
#include "emu/trace/set.h"
#include "process/must.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/drill_rogue.h"

#define GAP_BYTES 24u  /* between two frames: preamble, FCS and gap [IEEE 802.3] */
#define QPN_CM    1u   /* queue pair of the connection manager */
#define LOCAL_NS  100u /* a frame between two functions of the machine [decision 0066] */

const char *const rogue_names[ROGUE_HONEST] = {"g1", "g2", "h1"};

/* --- Both labs -------------------------------------------------------------------------------- */

void rogue_switch(struct drill *d, uint32_t i)
{
    d->lab = rogue_of(d)->lab[i];
}

static bool is_honest(const struct rogue_drill *s, uint32_t host)
{
    for (uint32_t i = 0; i < ROGUE_HONEST; i++) {
        if (s->honest[i].host.raw == host + 1)
            return true;
    }
    return false;
}

static void hear_done(struct rogue_heard *h, const struct ev *e)
{
    const struct rogue_drill *s = h->drill;

    if (!is_honest(s, e->u.cqe.host) || e->u.cqe.qpn == QPN_CM ||
        (e->u.cqe.host + 1 == s->honest[ROGUE_OUTSIDE].host.raw &&
         e->u.cqe.qpn == s->service.end.qpn))
        return;
    if (h->n_done++ >= ROGUE_DONE)
        return; /* compare_done() sees the number */
    h->done[h->n_done - 1] = (struct rogue_done){.host = e->u.cqe.host,
                                                 .qpn = e->u.cqe.qpn,
                                                 .status = e->u.cqe.status,
                                                 .op = e->u.cqe.op,
                                                 .wr_id = e->u.cqe.wr_id,
                                                 .at_ns = e->at_ns};
}

/* Time that a frame of @bytes takes on the cable. */
static uint64_t cable_ns(uint64_t bytes)
{
    return ((bytes + GAP_BYTES) * 8 * 1000000000u + ROGUE_BPS - 1) / ROGUE_BPS;
}

static void hear(void *ctx, const struct ev *e)
{
    struct rogue_heard *h = ctx;

    if (e->kind == EV_cqe) {
        hear_done(h, e);
    } else if (e->kind == EV_tx) {
        h->frames += is_honest(h->drill, e->u.tx.host);
        if (is_honest(h->drill, e->u.tx.host) && cable_ns(e->u.tx.wire_bytes) > h->longest_ns)
            h->longest_ns = cable_ns(e->u.tx.wire_bytes);
    } else {
        h->last_reason = e->u.drop.reason;
        h->last_host = e->u.drop.host + 1;
        h->n_drops++;
    }
}

bool rogue_open(struct drill *d)
{
    const struct rdl_lab_config config = {.seed = d->seed, .check_invariants = true};
    struct rogue_drill *s = rogue_of(d);
    struct ev_set heard = ev_set_none;

    s->lab[0] = d->lab;
    /* The script gets the names of the attacks alone: most of them have no command, and functions
     * of the rig would write the lines of both labs.
     */
    s->script = d->script;
    d->script = NULL;
    d->n_unsaid++;
    if (!drill_works(d, rdl_lab_new(&config, &s->lab[1]), "a lab can be made"))
        return false;
    ev_set_add(&heard, EV_cqe);
    ev_set_add(&heard, EV_tx);
    ev_set_add(&heard, EV_drop);
    for (uint32_t i = 0; i < ROGUE_LABS; i++) {
        s->heard[i].drill = s;
        if (!drill_works(d, rdl_listen(s->lab[i], hear, &s->heard[i], &s->listener[i]),
                         "a lab can be listened to"))
            return false;
        rdl_hear(s->lab[i], s->listener[i], &heard);
    }
    return true;
}

void rogue_close(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    if (!s->lab[0])
        return; /* rogue_open() was not called */
    rogue_switch(d, 0);
    for (uint32_t i = 0; i < ROGUE_LABS; i++) {
        if (s->lab[i])
            rdl_unlisten(s->lab[i], s->listener[i]);
    }
    rdl_lab_free(s->lab[1]);
}

bool rogue_run_for(struct drill *d, uint64_t ns)
{
    for (uint32_t i = 0; i < ROGUE_LABS && !d->wrong; i++) {
        rogue_switch(d, i);
        (void)drill_run_for(d, ns);
    }
    rogue_switch(d, 0);
    return !d->wrong;
}

bool rogue_settle(struct drill *d)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < ROGUE_LABS; i++) {
        rogue_switch(d, i);
        if (!drill_settle(d))
            break;
        if (rdl_now_ns(d->lab) > at)
            at = rdl_now_ns(d->lab);
    }
    for (uint32_t i = 0; i < ROGUE_LABS && !d->wrong; i++) {
        rogue_switch(d, i);
        (void)drill_run_until(d, at);
    }
    rogue_switch(d, 0);
    return !d->wrong;
}

void rogue_differs(struct drill *d, uint64_t by, const char *format, ...)
{
    struct rogue_drill *s = rogue_of(d);
    struct rogue_difference new = {.by = by};
    va_list ap;

    va_start(ap, format);
    vsnprintf(new.path, sizeof(new.path), format, ap);
    va_end(ap);
    for (uint32_t i = 0; i < s->n_differs; i++) {
        if (strcmp(s->differs[i].path, new.path) == 0) {
            s->differs[i].by = by == ROGUE_ANY ? by : s->differs[i].by + by;
            return;
        }
    }
    if (drill_expect(d, s->n_differs < ROGUE_DIFFERS, "a step announces few differences", "%u",
                     s->n_differs))
        s->differs[s->n_differs++] = new;
}

/* --- Completions ------------------------------------------------------------------------------ */

/* Each honest frame waits for at most two frames of the rogue at a port: one that has begun, and
 * one whose turn it is.  A frame that is written by hand has no turn and takes its time once.  All
 * this can change the order of turns: each message may let every other one get ahead by a frame.
 */
uint64_t rogue_bound_ns(const struct rogue_drill *s)
{
    const struct rogue_heard *twin = &s->heard[1];
    const uint64_t turn = s->most_bytes > 0 ? cable_ns(s->most_bytes) + LOCAL_NS : 0;

    return s->line_ns + 2 * turn * twin->frames + s->n_messages * twin->longest_ns;
}

/* Returns the completion of lab 0 that is @want, or NULL. */
static const struct rogue_done *find_done(const struct rogue_heard *h,
                                          const struct rogue_done *want)
{
    for (uint32_t i = 0; i < h->n_done; i++) {
        const struct rogue_done *have = &h->done[i];

        if (have->host == want->host && have->qpn == want->qpn && have->op == want->op &&
            have->wr_id == want->wr_id)
            return have;
    }
    return NULL;
}

static bool compare_done(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);
    const struct rogue_heard *h = s->heard;
    const uint64_t bound = rogue_bound_ns(s);

    if (!drill_expect(d, h[0].n_done <= ROGUE_DONE, "there is room for the completions of a step",
                      "%u completions", h[0].n_done) ||
        !drill_expect(d, h[0].n_done == h[1].n_done,
                      "honest programs have as many completions as without the rogue",
                      "%u, and not %u", h[0].n_done, h[1].n_done))
        return false;
    for (uint32_t i = 0; i < h[1].n_done; i++) {
        const struct rogue_done *want = &h[1].done[i], *have = find_done(&h[0], want);
        uint64_t late;

        if (!drill_expect(d, have && have->status == want->status && want->status == WCS_SUCCESS,
                          "honest programs have the completions that they have without the rogue",
                          "wr_id %" PRIu64 " of host %u: %s", want->wr_id, want->host + 1,
                          have ? enum_name(&enum_wc_status, have->status) : "none"))
            return false;
        late = have->at_ns > want->at_ns ? have->at_ns - want->at_ns : 0;
        if (!drill_expect(d, late <= bound, "the rogue delays honest messages by its turns at most",
                          "wr_id %" PRIu64 " is %" PRIu64 " ns late, and not %" PRIu64, want->wr_id,
                          late, bound))
            return false;
    }
    return true;
}

static bool compare_memory(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        uint32_t k = 0;

        for (uint32_t i = 0; i < ROGUE_LABS; i++) {
            if (!drill_works(d,
                             rdl_mem_read(s->lab[i], s->honest[h].host, s->honest[h].base,
                                          s->room[i], ROGUE_ROOM),
                             "memory can be read"))
                return false;
        }
        while (k < ROGUE_ROOM && s->room[0][k] == s->room[1][k])
            k++;
        if (!drill_expect(d, k == ROGUE_ROOM, "the rogue writes no memory of others",
                          "byte %u of %s", k, rogue_names[h]))
            return false;
    }
    return true;
}

/* --- The tree --------------------------------------------------------------------------------- */

struct twin_leaf {
    char path[RDL_PATH_BYTES];
    struct rdl_value v;
};

struct twin_leaves {
    struct rdl_lab *lab;
    const char *host;
    bool with_rare, is_whole;
    struct twin_leaf *leaf;
    size_t n, room;
};

/* Adds a leaf.  Not those of the service that the rogue may use, of the queue pair of the kernel's
 * connection manager, which takes anybody's messages, of PVRDMA's rings, which tell of both, and
 * the mark that a queue pair has asked for a missing request, which it forgets with the next one.
 * The asynchronous events of h1 are checked in rogue_reconnect().
 */
static void add_leaf(void *ctx, const char *key, const struct rdl_value *v)
{
    static const char *const left_out[] = {".rogue", ".cm_", ".dsr.", ".nak_outstanding"};
    struct twin_leaves *l = ctx;
    bool is_left_out = false;

    for (uint32_t i = 0; i < ARRAY_LEN(left_out); i++)
        is_left_out = is_left_out || strstr(key, left_out[i]);
    if (v->type == RDL_NODE || is_left_out || strncmp(key, "h1.async.", 9) == 0)
        return;
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 1024;
        l->leaf = must_realloc(l->leaf, l->room * sizeof(*l->leaf));
    }
    snprintf(l->leaf[l->n].path, sizeof(l->leaf[l->n].path), "%s", key);
    l->leaf[l->n++].v = *v;
}

static const struct twin_leaf *find_leaf(const struct twin_leaves *l, const char *path, size_t near)
{
    if (near < l->n && strcmp(l->leaf[near].path, path) == 0)
        return &l->leaf[near];
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->leaf[i].path, path) == 0)
            return &l->leaf[i];
    }
    return NULL;
}

/* The announced difference of @path, or NULL. */
static struct rogue_difference *announced(struct rogue_drill *s, const char *path)
{
    for (uint32_t i = 0; i < s->n_differs; i++) {
        struct rogue_difference *r = &s->differs[i];
        const size_t n = strlen(r->path);

        if (r->by == ROGUE_ANY ? strncmp(r->path, path, n) == 0 : strcmp(r->path, path) == 0)
            return r;
    }
    return NULL;
}

/* Returns true if the leaf @path counts acknowledgments or interrupts, too.  How many of them there
 * are depends on what comes at the same time.
 */
static bool depends_on_time(const char *path)
{
    static const char *const leaves[] = {"sent_frames", "sent_bytes",   "rcvd_frames",
                                         "rcvd_bytes",  "taken_frames", "sent_pkts",
                                         "rcvd_pkts",   "irqs",         "interrupts"};
    const char *last = strrchr(path, '.');

    for (uint32_t i = 0; last && i < ARRAY_LEN(leaves); i++) {
        if (strcmp(last + 1, leaves[i]) == 0)
            return true;
    }
    return false;
}

/* Returns the entry of @path among the differences of all steps so far.  A new one has 0. */
static struct rogue_difference *offset_of(struct drill *d, const char *path)
{
    struct rogue_drill *s = rogue_of(d);
    uint32_t i = 0;

    while (i < s->n_offsets && strcmp(s->offset[i].path, path) != 0)
        i++;
    if (!drill_expect(d, i < ROGUE_OFFSETS, "few numbers differ", "%s, too", path))
        return NULL;
    if (i == s->n_offsets) {
        s->offset[s->n_offsets++] = (struct rogue_difference){0};
        snprintf(s->offset[i].path, sizeof(s->offset[i].path), "%s", path);
    }
    return &s->offset[i];
}

/* Compares the numbers of a path, which differ, or which are equal although they should differ. */
static bool compare_number(struct drill *d, const char *path, uint64_t n, uint64_t twin_n)
{
    struct rogue_difference *r = announced(rogue_of(d), path), *offset = offset_of(d, path);
    const uint64_t by = r ? r->by : 0;

    if (!offset)
        return false;
    if (r)
        r->is_seen = true;
    offset->is_seen = true;
    if (by != ROGUE_ANY && (rogue_of(d)->is_quiet || !depends_on_time(path)) &&
        !drill_expect(d, n == twin_n + offset->by + by,
                      "the rogue changes of others what the model says, and nothing else",
                      "%s: %" PRIu64 ", and not %" PRIu64 " + %" PRIu64 " + %" PRIu64, path, n,
                      twin_n, offset->by, by))
        return false;
    offset->by = n - twin_n;
    return true;
}

/* Compares the leaves of a path.  One of them may be NULL: its number is 0 then, as that of a
 * counter that the tree leaves out.
 */
static bool compare_leaf(struct drill *d, const struct twin_leaf *have,
                         const struct twin_leaf *twin)
{
    const struct rdl_value *v = have ? &have->v : &twin->v;
    const char *path = have ? have->path : twin->path;
    const uint64_t n = have ? have->v.number : 0, twin_n = twin ? twin->v.number : 0;

    if (v->type == RDL_TEXT || v->type == RDL_WORD)
        return drill_expect(d, have && twin && !strcmp(have->v.text, twin->v.text),
                            "the rogue changes of others what the model says, and nothing else",
                            "%s: %s, in the twin %s", path, have ? have->v.text : "-",
                            twin ? twin->v.text : "-");
    return n == twin_n || compare_number(d, path, n, twin_n);
}

/* Checks the numbers that were equal in both labs: those that must differ are wrong. */
static bool compare_equal_ones(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    for (uint32_t i = 0; i < s->n_offsets; i++) {
        struct rogue_difference *o = &s->offset[i];

        if (!o->is_seen && !compare_number(d, o->path, 0, 0))
            return false;
        o->is_seen = false;
    }
    for (uint32_t i = 0; i < s->n_differs; i++) {
        const struct rogue_difference *r = &s->differs[i];

        const bool may_be_equal = r->by == ROGUE_ANY || (!s->is_quiet && depends_on_time(r->path));

        if (!drill_expect(d, r->is_seen || may_be_equal,
                          "the rogue changes of others what the model says, and nothing else",
                          "%s is as in the twin", r->path))
            return false;
    }
    return true;
}

static bool compare_leaves(struct drill *d, const struct twin_leaves l[ROGUE_LABS])
{
    for (uint32_t i = 0; i < ROGUE_LABS; i++) {
        for (size_t k = 0; k < l[i].n; k++) {
            const struct twin_leaf *other = find_leaf(&l[!i], l[i].leaf[k].path, k);

            if (i == 1 && other)
                continue;
            if (!(i == 0 ? compare_leaf(d, &l[0].leaf[k], other)
                         : compare_leaf(d, NULL, &l[1].leaf[k])))
                return false;
        }
    }
    return true;
}

/* Adds the leaves below the child @key of a host. */
static void add_child(void *ctx, const char *key, const struct rdl_value *v)
{
    static const char *const rare[] = {"net", "pci", "ctrl", "ip"};
    struct twin_leaves *l = ctx;
    char path[RDL_PATH_BYTES];
    size_t at;

    for (uint32_t i = 0; i < ARRAY_LEN(rare) && !l->with_rare; i++) {
        if (strcmp(key, rare[i]) == 0)
            return;
    }
    snprintf(path, sizeof(path), "%s.%s", l->host, key);
    if (v->type != RDL_NODE)
        add_leaf(l, path, v);
    else if (!strstr(path, ".rogue"))
        l->is_whole = rdl_inspect_below(l->lab, path, add_leaf, l, &at) == RDL_OK && l->is_whole;
}

/* Compares the tree of @host.  @all: also what no attack reaches, and what is long. */
static bool compare_tree(struct drill *d, const char *host, bool all)
{
    struct rogue_drill *s = rogue_of(d);
    struct twin_leaves l[ROGUE_LABS];
    size_t at;
    bool right = true;

    for (uint32_t i = 0; i < ROGUE_LABS; i++)
        l[i] = (struct twin_leaves){
            .lab = s->lab[i], .host = host, .with_rare = all, .is_whole = true};
    for (uint32_t i = 0; i < ROGUE_LABS && right; i++)
        right = drill_works(d, rdl_inspect_list(s->lab[i], host, add_child, &l[i], &at),
                            "what a lab has can be inspected") &&
                drill_expect(d, l[i].is_whole, "what a lab has can be inspected", "%s", host);
    right = right && compare_leaves(d, l);
    free(l[0].leaf);
    free(l[1].leaf);
    return right;
}

bool rogue_compare(struct drill *d, bool all)
{
    struct rogue_drill *s = rogue_of(d);

    if (!compare_done(d) || !compare_memory(d) || !rogue_poll(d))
        return false;
    for (uint32_t h = 0; h < ROGUE_HONEST; h++) {
        if (!compare_tree(d, rogue_names[h], all))
            return false;
    }
    if (!compare_equal_ones(d))
        return false;
    for (uint32_t i = 0; i < ROGUE_LABS; i++)
        s->heard[i] = (struct rogue_heard){.drill = s};
    s->n_differs = s->most_bytes = 0;
    s->line_ns = 0;
    return true;
}
