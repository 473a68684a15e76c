/* SPDX-License-Identifier: MIT */
#include "cli/app/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/roce.h"
#include "process/must.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"
#include "tree/tree_memory.h"

#define REST_TICKS 1000000u /* most ticks until the lab is idle */
#define COPY_BYTES 4096u

/* --- During the run --------------------------------------------------------------------------- */

static bool is_same(const struct ev *a, const struct ev *b)
{
    return a->u.tx.opcode == b->u.tx.opcode && a->u.tx.psn == b->u.tx.psn &&
           a->u.tx.dest_qpn == b->u.tx.dest_qpn;
}

static void note_packet(struct outcome *o, const struct ev *e)
{
    struct outcome_packet *p;

    o->n_packets++;
    if (o->n_kept == o->packets_max)
        return;
    o->packets = must_grow(o->packets, o->n_kept, &o->packets_room, sizeof(*o->packets));
    p = &o->packets[o->n_kept];
    *p = (struct outcome_packet){.tx = *e, .nth = 1, .at = EV_HOST_NONE};
    for (size_t i = o->n_kept; i > 0 && p->nth == 1; i--) {
        if (is_same(&o->packets[i - 1].tx, e))
            p->nth = o->packets[i - 1].nth + 1;
    }
    o->n_kept++;
}

/* Records that @e is an arrival of the packet @tx.  Only the first arrival is kept. */
static void note_arrival(struct outcome *o, const struct ev *e, ev_id tx)
{
    if (o->n_kept == 0 || tx > o->packets[o->n_kept - 1].tx.id)
        return; /* the packet is only counted */
    for (size_t i = o->n_kept; i > 0; i--) {
        struct outcome_packet *p = &o->packets[i - 1];

        if (p->tx.id != tx)
            continue;
        if (p->at == EV_HOST_NONE) {
            p->at = e->kind == EV_rx ? e->u.rx.host : e->u.drop.host;
            p->arrived_ns = e->at_ns;
        }
        return;
    }
}

static void hear(void *ctx, const struct ev *e)
{
    struct outcome *o = ctx;

    if (e->kind == EV_tx) {
        note_packet(o, e);
    } else if (e->kind == EV_rx) {
        note_arrival(o, e, e->u.rx.tx);
    } else if (e->kind == EV_drop) {
        note_arrival(o, e, e->u.drop.tx);
    } else if (e->kind == EV_cqe && e->u.cqe.qpn != QPN_GSI) {
        o->completions = must_grow(o->completions, o->n_completions, &o->completions_room,
                                   sizeof(*o->completions));
        o->completions[o->n_completions++] = *e;
    } else if (e->kind == EV_cm_event) {
        o->cm_events =
            must_grow(o->cm_events, o->n_cm_events, &o->cm_events_room, sizeof(*o->cm_events));
        o->cm_events[o->n_cm_events++] = *e;
    } else if (o->fault && e->kind == EV_fault) {
        o->n_hit += strcmp(e->u.fault.name.s, o->fault) == 0;
    } else if (o->fault && e->kind == EV_lost) {
        o->n_hit += strcmp(e->u.lost.name.s, o->fault) == 0;
    }
}

enum rdl_status outcome_watch(struct outcome *o, struct rdl_lab *lab)
{
    static const enum ev_kind kinds[] = {EV_tx,       EV_rx,    EV_drop, EV_cqe,
                                         EV_cm_event, EV_fault, EV_lost};
    struct ev_set heard = ev_set_none;
    struct rdl_listener *listener;
    enum rdl_status st;

    o->n_packets = o->n_kept = o->n_completions = o->n_cm_events = o->n_memory = 0;
    o->n_hit = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        ev_set_add(&heard, kinds[i]);
    st = rdl_listen(lab, hear, o, &listener);
    if (st == RDL_OK)
        rdl_hear(lab, listener, &heard);
    return st;
}

/* --- At the end ------------------------------------------------------------------------------- */

struct looking {
    struct outcome *o;
    const struct rdl_lab *lab;
};

static uint32_t sum_of(const struct rdl_lab *lab, rdl_host host, const struct rdl_mr_info *info)
{
    uint8_t bytes[COPY_BYTES];
    uint32_t sum = 0;

    for (uint64_t at = 0; at < info->bytes; at += sizeof(bytes)) {
        const uint64_t left = info->bytes - at;
        const size_t n = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

        if (rdl_mem_read(lab, host, info->addr + at, bytes, n) != RDL_OK)
            return sum;
        sum = sum * 31u + fnv1a(bytes, n);
    }
    return sum;
}

static void look_at_region(void *ctx, const char *path, rdl_host host,
                           const struct rdl_mr_info *info)
{
    const struct looking *l = ctx;
    struct outcome *o = l->o;
    struct outcome_memory m = {.sum = sum_of(l->lab, host, info)};
    struct text t = text_on(m.path, sizeof(m.path));

    text_add(&t, path);
    o->memory = must_grow(o->memory, o->n_memory, &o->memory_room, sizeof(*o->memory));
    o->memory[o->n_memory++] = m;
}

static int queue_of(const struct ev *e)
{
    return e->u.cqe.op >= WC_RECV;
}

static int compare_queues(const void *a, const void *b)
{
    const struct ev *x = a, *y = b;

    if (x->u.cqe.host != y->u.cqe.host)
        return x->u.cqe.host < y->u.cqe.host ? -1 : 1;
    if (x->u.cqe.qpn != y->u.cqe.qpn)
        return x->u.cqe.qpn < y->u.cqe.qpn ? -1 : 1;
    if (queue_of(x) != queue_of(y))
        return queue_of(x) - queue_of(y);
    return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_ids(const void *a, const void *b)
{
    const struct ev *x = a, *y = b;

    if (x->u.cm_event.host != y->u.cm_event.host)
        return x->u.cm_event.host < y->u.cm_event.host ? -1 : 1;
    if (x->u.cm_event.number != y->u.cm_event.number)
        return x->u.cm_event.number < y->u.cm_event.number ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void outcome_end(struct outcome *o, struct session *s)
{
    const struct rdl_limits limits = {.ticks = REST_TICKS};
    struct looking l = {o, s->lab};

    o->is_idle = rdl_run(s->lab, RDL_NEVER, limits) == RDL_OK;
    tree_each_region(s->lab, look_at_region, &l);
    if (o->n_completions > 0)
        qsort(o->completions, o->n_completions, sizeof(*o->completions), compare_queues);
    if (o->n_cm_events > 0)
        qsort(o->cm_events, o->n_cm_events, sizeof(*o->cm_events), compare_ids);
}

void outcome_free(struct outcome *o)
{
    free(o->packets);
    free(o->completions);
    free(o->cm_events);
    free(o->memory);
    *o = (struct outcome){0};
}

/* --- Comparing -------------------------------------------------------------------------------- */

static bool is_same_queue(const struct ev *a, const struct ev *b)
{
    return a->u.cqe.host == b->u.cqe.host && a->u.cqe.qpn == b->u.cqe.qpn &&
           queue_of(a) == queue_of(b);
}

static void add_which(struct text *t, const struct ev *e, const struct ev_names *names)
{
    ev_names_object(names, t, e->u.cqe.host, OBJ_QP, e->u.cqe.qpn);
    text_addf(t, " wr_id=%llu: ", (unsigned long long)e->u.cqe.wr_id);
}

static const char *status_of(const struct ev *e)
{
    return enum_name(&enum_wc_status, e->u.cqe.status);
}

/* Appends the difference of two completions at the same place of the same queue. */
static void add_change(struct text *t, const struct ev *was, const struct ev *is)
{
    if (was->u.cqe.wr_id != is->u.cqe.wr_id)
        text_addf(t, "%s; without the fault wr_id=%llu is next", status_of(is),
                  (unsigned long long)was->u.cqe.wr_id);
    else if (was->u.cqe.status != is->u.cqe.status)
        text_addf(t, "%s; without the fault %s", status_of(is), status_of(was));
    else
        text_addf(t, "%s of %llu bytes; without the fault %llu",
                  enum_name(&enum_wc_opcode, is->u.cqe.op), (unsigned long long)is->u.cqe.bytes,
                  (unsigned long long)was->u.cqe.bytes);
}

static bool is_same_completion(const struct ev *a, const struct ev *b)
{
    return a->u.cqe.wr_id == b->u.cqe.wr_id && a->u.cqe.status == b->u.cqe.status &&
           a->u.cqe.op == b->u.cqe.op && a->u.cqe.bytes == b->u.cqe.bytes;
}

/* Compares place @i.  Both have the same queues at all earlier places.  Returns a negative number
 * if only @was has a completion there, a positive number if only @is has, 0 if both have one of the
 * same queue.
 */
static int order_of(const struct outcome *was, const struct outcome *is, size_t i)
{
    if (i == was->n_completions)
        return 1;
    if (i == is->n_completions)
        return -1;
    if (is_same_queue(&was->completions[i], &is->completions[i]))
        return 0;
    return compare_queues(&was->completions[i], &is->completions[i]);
}

static bool completions_differ(struct text *t, const struct outcome *was, const struct outcome *is,
                               const struct ev_names *names, ev_id *ret_event)
{
    for (size_t i = 0; i < was->n_completions || i < is->n_completions; i++) {
        const int order = order_of(was, is, i);
        const struct ev *e = order < 0 ? &was->completions[i] : &is->completions[i];

        if (order == 0 && is_same_completion(&was->completions[i], e))
            continue;
        add_which(t, e, names);
        if (order < 0)
            text_addf(t, "no completion; without the fault %s", status_of(e));
        else if (order > 0)
            text_addf(t, "%s; without the fault no completion", status_of(e));
        else
            add_change(t, &was->completions[i], e);
        if (order >= 0 && e->u.cqe.status != WCS_SUCCESS)
            *ret_event = e->id;
        return true;
    }
    return false;
}

static bool is_same_id(const struct ev *a, const struct ev *b)
{
    return a->u.cm_event.host == b->u.cm_event.host && a->u.cm_event.number == b->u.cm_event.number;
}

static bool is_same_event(const struct ev *a, const struct ev *b)
{
    return a->u.cm_event.event == b->u.cm_event.event &&
           a->u.cm_event.reason == b->u.cm_event.reason &&
           a->u.cm_event.error == b->u.cm_event.error;
}

/* Appends "REJECTED, reason STALE_CONN", or "no event" for NULL. */
static void add_cm_event(struct text *t, const struct ev *e)
{
    if (!e) {
        text_add(t, "no event");
        return;
    }
    text_add(t, enum_name(&enum_rdma_cm_event, e->u.cm_event.event));
    if (e->u.cm_event.reason)
        text_addf(t, ", reason %s", enum_name(&enum_cm_reason, e->u.cm_event.reason));
    if (e->u.cm_event.error)
        text_addf(t, ", errno %u", e->u.cm_event.error);
}

/* The events of IDs, as completions_differ() compares completions. */
static bool cm_events_differ(struct text *t, const struct outcome *was, const struct outcome *is,
                             const struct ev_names *names, ev_id *ret_event)
{
    for (size_t i = 0; i < was->n_cm_events || i < is->n_cm_events; i++) {
        const struct ev *old = i < was->n_cm_events ? &was->cm_events[i] : NULL;
        const struct ev *new = i < is->n_cm_events ? &is->cm_events[i] : NULL;

        if (old && new &&is_same_id(old, new) && is_same_event(old, new))
            continue;
        if (old && new && !is_same_id(old, new)) { /* one of them has more events of its ID */
            if (compare_ids(old, new) < 0)
                new = NULL;
            else
                old = NULL;
        }
        ev_names_object(names, t, (new ? new : old)->u.cm_event.host, OBJ_CM_ID,
                        (new ? new : old)->u.cm_event.number);
        text_add(t, ": ");
        add_cm_event(t, new);
        text_add(t, "; without the fault ");
        add_cm_event(t, old);
        *ret_event = new ? new->id : 0;
        return true;
    }
    return false;
}

static bool memory_differs(struct text *t, const struct outcome *was, const struct outcome *is)
{
    if (was->n_memory != is->n_memory) {
        text_addf(t, "%zu regions of memory in the end; without the fault %zu", is->n_memory,
                  was->n_memory);
        return true;
    }
    for (size_t i = 0; i < was->n_memory; i++) {
        if (strcmp(was->memory[i].path, is->memory[i].path) == 0 &&
            was->memory[i].sum == is->memory[i].sum)
            continue;
        text_addf(t, "%s: other bytes in memory than without the fault", is->memory[i].path);
        return true;
    }
    return false;
}

bool outcome_add_difference(struct text *t, const struct outcome *was, const struct outcome *is,
                            const struct ev_names *names, ev_id *ret_event)
{
    *ret_event = 0;
    if (cm_events_differ(t, was, is, names, ret_event) ||
        completions_differ(t, was, is, names, ret_event) || memory_differs(t, was, is))
        return true;
    if (was->is_idle && !is->is_idle) {
        text_addf(t, "not idle after %u ticks more", REST_TICKS);
        return true;
    }
    return false;
}

static int compare_cqs(const void *a, const void *b)
{
    const struct ev *x = *(const struct ev *const *)a, *y = *(const struct ev *const *)b;

    if (x->u.cqe.host != y->u.cqe.host)
        return x->u.cqe.host < y->u.cqe.host ? -1 : 1;
    if (x->u.cqe.cqn != y->u.cqe.cqn)
        return x->u.cqe.cqn < y->u.cqe.cqn ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Returns the completions in the order of their queues and of their times; the caller frees it. */
static const struct ev **by_cq(const struct outcome *o)
{
    const struct ev **v = must_malloc((o->n_completions + 1) * sizeof(*v));

    for (size_t i = 0; i < o->n_completions; i++)
        v[i] = &o->completions[i];
    if (o->n_completions > 0)
        qsort(v, o->n_completions, sizeof(*v), compare_cqs);
    return v;
}

bool outcome_order_differs(const struct outcome *was, const struct outcome *is)
{
    const struct ev **a, **b;
    bool differs = false;

    if (was->n_completions != is->n_completions)
        return true;
    a = by_cq(was);
    b = by_cq(is);
    for (size_t i = 0; i < was->n_completions && !differs; i++)
        differs = a[i]->u.cqe.cqn != b[i]->u.cqe.cqn || !is_same_queue(a[i], b[i]) ||
                  !is_same_completion(a[i], b[i]);
    free(a);
    free(b);
    return differs;
}
