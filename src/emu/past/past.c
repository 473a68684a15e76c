/* SPDX-License-Identifier: MIT */
#include "emu/past/past.h"

#include "emu/base/quantity.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

/* Proposed limit in bytes when no frames are recorded. */
#define FRAMES_FIRST ((uint64_t)1 << 20)

void past_add_gap(struct text *t, const struct past *p)
{
    if (p->gap_to == RDL_NEVER)
        text_addf(t, "recording is off since #%llu", (unsigned long long)p->gap_from);
    else if (p->gap_from)
        text_addf(t, "recording was off at times from #%llu to #%llu",
                  (unsigned long long)p->gap_from, (unsigned long long)p->gap_to);
}

bool past_is_forgotten(const struct past *p, ev_id id)
{
    return p->forgotten && (p->n == 0 || ev_id_last(id) < past_at(p, 0)->id);
}

/* Adds "; \"record keep=4m\" as the first line of the lab file keeps more". */
static void add_remedy(struct text *t, const char *what, uint64_t n)
{
    text_addf(t, "; \"record %s=", what);
    quantity_add(t, QUANTITY_SIZE, n);
    text_add(t, "\" as the first line of the lab file keeps more");
}

/* Adds the setting that would have kept all events so far. */
static void add_remedy_for_events(struct text *t, const struct past *p)
{
    uint64_t keep = RDL_RECORD_EVENTS_MIN;

    while (keep < RDL_RECORD_EVENTS_MAX && keep < p->n + p->forgotten)
        keep *= 2;
    if (keep > p->n)
        add_remedy(t, "keep", keep);
}

static void add_first(struct text *t, const struct past *p)
{
    text_add(t, "from ");
    ev_add_id(t, past_at(p, 0)->id);
    text_add(t, " on");
}

void past_add_missing(struct text *t, const struct past *p, ev_id from, ev_id to)
{
    const bool forgotten = p->forgotten && (p->n == 0 || from < past_at(p, 0)->id);
    const bool gap =
        p->gap_from && p->gap_to >= ev_tick(from) && (to == 0 || p->gap_from <= ev_tick(to));

    if (forgotten) {
        text_addf(t, "the %llu oldest events are forgotten", (unsigned long long)p->forgotten);
        if (p->n) {
            text_add(t, ", this is complete ");
            add_first(t, p);
        }
        add_remedy_for_events(t, p);
    }
    if (forgotten && gap)
        text_add(t, "; ");
    if (gap) {
        past_add_gap(t, p);
        text_add(t, ": what happened then is missing");
    }
}

void past_add_not_there(struct text *t, const struct past *p, ev_id id)
{
    const bool forgotten = past_is_forgotten(p, id), in_gap = past_in_gap(p, id);

    if (!forgotten && !in_gap)
        text_add(t, "there is no event ");
    ev_add_id(t, id);
    if (forgotten || in_gap)
        text_add(t, forgotten ? " is forgotten" : " was not recorded");
}

void past_add_absence(struct text *t, const struct past *p, ev_id id)
{
    if (past_is_forgotten(p, id)) {
        text_addf(t, "the record has the last %zu events", p->n);
        if (p->n) {
            text_add(t, ", ");
            add_first(t, p);
        }
        add_remedy_for_events(t, p);
    } else if (past_in_gap(p, id)) {
        past_add_gap(t, p);
    }
}

bool past_is_copied(const struct ev *e)
{
    return (e->kind == EV_tx && e->u.tx.copied) || (e->kind == EV_rx && e->u.rx.copied);
}

uint64_t past_frames_forgotten(const struct past *p)
{
    uint64_t n = 0;
    size_t bytes;

    for (size_t i = 0; i < p->n; i++) {
        const struct ev *e = past_at(p, i);

        if (!event_has_frame(e))
            continue;
        if (past_frame(p, e->id, &bytes))
            break; /* the oldest frames are discarded first */
        n++;
    }
    return n;
}

void past_add_frames_forgotten(struct text *t, const struct past *p, uint64_t n)
{
    if (n == 1)
        text_add(t, "the bytes of a frame are forgotten");
    else
        text_addf(t, "the bytes of %llu frames are forgotten", (unsigned long long)n);
    if (p->frame_bytes_max < RDL_RECORD_FRAMES_MAX / 4)
        add_remedy(t, "frames", p->frame_bytes_max ? 4 * p->frame_bytes_max : FRAMES_FIRST);
}

bool past_in_gap(const struct past *p, ev_id id)
{
    return p->gap_from && ev_tick(id) >= p->gap_from && ev_tick(id) <= p->gap_to;
}

bool past_gap_between(const struct past *p, ev_id a, ev_id b)
{
    return p->gap_from && ev_tick(a) < ev_tick(b) && p->gap_from <= ev_tick(b) &&
           p->gap_to > ev_tick(a);
}

/* The index of the first event from @lo to @hi whose id is at least @id; @hi if there is none. */
static size_t bound_within(const struct past *p, ev_id id, size_t lo, size_t hi)
{
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (past_at(p, mid)->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t past_lower_bound(const struct past *p, ev_id id)
{
    return bound_within(p, id, 0, p->n);
}

size_t past_lower_bound_near(const struct past *p, ev_id id, size_t near)
{
    size_t lo = near, step = 1;

    while (lo > 0 && past_at(p, lo - 1)->id >= id) {
        near = lo - 1;
        lo = near > step ? near - step : 0;
        step *= 2;
    }
    return bound_within(p, id, lo, near);
}

const struct ev *past_queue_fault(const struct past *p, uint32_t host, uint32_t queue, ev_id since)
{
    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (e->id < since)
            break;
        if (e->kind == EV_device_fault && e->u.device_fault.function == FN_RDMA &&
            e->u.device_fault.host == host && e->u.device_fault.queue == queue &&
            (e->u.device_fault.by == FLT_LOST_KICK || e->u.device_fault.by == FLT_STUCK_QUEUE))
            return e;
        if (e->kind == EV_queue_goes_on && e->u.queue_goes_on.function == FN_RDMA &&
            e->u.queue_goes_on.host == host && e->u.queue_goes_on.queue == queue)
            break;
    }
    return NULL;
}

/* Returns the fault that lost the interrupt of the completion event at @i, or NULL. */
static const struct ev *lost_of_event(const struct past *p, size_t i)
{
    const struct ev *event = past_at(p, i);

    for (; i < p->n && ev_tick(past_at(p, i)->id) == ev_tick(event->id); i++) {
        const struct ev *e = past_at(p, i);

        if (e->kind == EV_device_fault && e->u.device_fault.by == FLT_LOST_INTERRUPT &&
            e->u.device_fault.host == event->u.ceq_event.host &&
            e->u.device_fault.queue == event->u.ceq_event.queue)
            return e;
    }
    return NULL;
}

const struct ev *past_lost_interrupt(const struct past *p, uint32_t host, uint32_t cqn)
{
    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (e->kind == EV_device_fault && e->u.device_fault.by == FLT_LOST_INTERRUPT &&
            e->u.device_fault.host == host && e->u.device_fault.cqn == cqn)
            return e;
        if (e->kind == EV_ceq_event && e->u.ceq_event.host == host && e->u.ceq_event.cqn == cqn)
            return lost_of_event(p, i - 1);
        if ((e->kind == EV_cq_event && e->u.cq_event.host == host && e->u.cq_event.cqn == cqn) ||
            (e->kind == EV_gone && e->u.gone.host == host && e->u.gone.object == OBJ_CQ &&
             e->u.gone.number == cqn))
            break;
    }
    return NULL;
}

const struct ev *past_find(const struct past *p, ev_id id)
{
    const size_t i = id ? past_lower_bound(p, id) : p->n;
    const struct ev *e;

    if (i == p->n)
        return NULL;
    e = past_at(p, i);
    if (ev_row(id) == 0)
        return ev_tick(e->id) == ev_tick(id) ? e : NULL;
    return e->id == id ? e : NULL;
}

const struct ev *past_begun_by(const struct past *p, const struct ev *tx)
{
    const struct ev *cause = past_find(p, tx->cause);

    return cause && cause->kind == EV_router_post ? past_find(p, cause->cause) : cause;
}

/* The cause of such a tx event is the inject event, and may be forgotten. */
bool past_is_injected(const struct ev *e)
{
    return e->kind == EV_tx && e->u.tx.qpn == 0 && e->cause != 0 && e->u.tx.host < EV_PORT_FIRST;
}

uint64_t past_count(const struct past *p, const struct ev_filter *f)
{
    uint64_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += ev_filter_holds(f, past_at(p, i));
    return n;
}

uint32_t past_host_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "host");

    return f ? (uint32_t)ev_field_number(e, f) : EV_HOST_NONE;
}

ev_id past_sent(const struct past *p, ev_id frame, size_t near)
{
    while (frame) {
        const size_t i = past_lower_bound_near(p, frame, near);
        const struct ev *e = i < p->n ? past_at(p, i) : NULL;

        if (!e || e->id != frame || e->kind != EV_fault || e->u.fault.tx >= frame)
            break;
        frame = e->u.fault.tx;
        near = i;
    }
    return frame;
}

const struct ev *past_tx_of(const struct past *p, const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "tx");
    const struct ev *tx = f ? past_find(p, past_sent(p, ev_field_number(e, f), p->n)) : NULL;

    return tx && tx->kind == EV_tx ? tx : NULL;
}
