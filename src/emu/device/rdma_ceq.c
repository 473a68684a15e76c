/* SPDX-License-Identifier: MIT */
/* Completion event queues (CEQs), and arming in guest memory: the features CEQ and ARM_MEM.
 *
 * Without CEQ a completion event is the interrupt of the ring of its completion queue.  The event
 * is lost if the driver does not look at an interrupt, because a program has emptied the ring
 * before.  With CEQ the device writes the number of the CQ into a buffer of a queue of events,
 * which no program polls, and interrupts for that queue.  An event without a buffer waits in the
 * device: each CQ is in the FIFO of its CEQ at most once.  [decision 0061]
 *
 * With ARM_MEM the driver arms a CQ by a store into 8 bytes of its memory.  The device reads them
 * after it has written a completion.  Each arming has a new number, and the device remembers the
 * number for which it has raised the last event.  [decision 0062]
 */
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/device/ctrl.h"
#include "emu/facts/rfc.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/rings.h"

bool rdma_ceqs_init(struct rdma *d, struct arena *a)
{
    const size_t n = d->config.nic.max_cq + 1;

    if (d->n_ceqs == 0)
        return true;
    d->cq_events = arena_alloc(a, n * sizeof(*d->cq_events));
    return d->cq_events != NULL;
}

void rdma_ceqs_reset(struct rdma *d)
{
    if (d->n_ceqs == 0)
        return;
    memset(d->cq_events, 0, (d->config.nic.max_cq + 1) * sizeof(*d->cq_events));
    memset(d->ceqs, 0, sizeof(d->ceqs));
}

bool rdma_has_ceqs(const struct rdma *d)
{
    return virtio_has(&d->pci, VF_CEQ);
}

bool rdma_is_ceq(const struct rdma *d, uint32_t queue)
{
    return d->n_ceqs > 0 && queue >= rdma_ceq(d, 0) && queue < rdma_ceq(d, d->n_ceqs);
}

bool rdma_ceq_waits(const struct rdma *d, uint32_t queue)
{
    return d->ceqs[queue - rdma_ceq(d, 0)].first > 0;
}

/* --- The FIFO of a CEQ ------------------------------------------------------------------------ */

/* Adds @cqn, which does not wait, to the FIFO of its CEQ. */
static void fifo_add(struct rdma *d, uint32_t cqn)
{
    struct rdma_cq_events *e = &d->cq_events[cqn];
    struct rdma_ceq *q = &d->ceqs[e->ceq];

    RDL_ASSERT(!e->waits);
    e->waits = true;
    e->next = 0;
    if (q->last)
        d->cq_events[q->last].next = cqn;
    else
        q->first = cqn;
    q->last = cqn;
}

/* Takes @cqn out of the FIFO of its CEQ, if it is there. */
static void fifo_remove(struct rdma *d, uint32_t cqn)
{
    struct rdma_cq_events *e = &d->cq_events[cqn];
    struct rdma_ceq *q = &d->ceqs[e->ceq];
    uint32_t before = 0;

    if (!e->waits)
        return;
    for (uint32_t at = q->first; at != cqn; at = d->cq_events[at].next)
        before = at;
    if (before)
        d->cq_events[before].next = e->next;
    else
        q->first = e->next;
    if (q->last == cqn)
        q->last = before;
    e->waits = false;
    e->next = 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Writes the event of @cqn to the buffer in d->chain and completes it.  Returns false if the buffer
 * is too small; it is then completed with length 0.
 */
static bool put_event(struct rdma *d, uint32_t queue, uint32_t cqn)
{
    const struct rdma_cq_events *e = &d->cq_events[cqn];
    const struct rfc_cq_event said = {.cqn = cqn, .number = e->fired};
    const bool fits = d->chain.writable_bytes >= sizeof(struct raw_cq_event);
    struct raw_cq_event raw;
    ev_id cause, id;

    rfc_cq_event_put(&raw, &said);
    if (!fits) {
        rdma_push(d, queue, d->chain.head, 0);
        rdma_interrupt(d, queue);
        return false;
    }
    cause = trace_because(d->nic.trace, e->cause);
    TRACE_ID(d->nic.trace, id, ceq_event, .host = d->config.nic.host, .cqn = cqn, .queue = queue);
    trace_because(d->nic.trace, id);
    rdma_write(d, queue, &d->chain, &raw, sizeof(raw));
    rdma_push(d, queue, d->chain.head, sizeof(raw));
    rdma_interrupt(d, queue);
    trace_because(d->nic.trace, cause);
    return true;
}

void rdma_ceq_flush(struct rdma *d, uint32_t queue)
{
    const struct rdma_ceq *q = &d->ceqs[queue - rdma_ceq(d, 0)];

    if (!rdma_has_ceqs(d))
        return;
    while (q->first > 0 && !rdma_is_stuck(d, queue) && rdma_pop(d, queue) == FETCH_OK) {
        const uint32_t cqn = q->first;

        if (put_event(d, queue, cqn))
            fifo_remove(d, cqn);
    }
}

void rdma_ceqs_flush(struct rdma *d)
{
    for (uint32_t k = 0; k < d->n_ceqs; k++)
        rdma_ceq_flush(d, rdma_ceq(d, k));
}

void rdma_ceq_event(struct rdma *d, const struct cq *cq)
{
    struct rdma_cq_events *e = &d->cq_events[cq->cqn];
    const uint32_t queue = rdma_ceq(d, e->ceq);

    e->fired = e->seen;
    e->has_fired = e->arm_gpa != 0;
    if (e->waits)
        return; /* the driver has not got the event of the arming before */
    e->cause = d->nic.trace->cause;
    fifo_add(d, cq->cqn);
    rdma_ceq_flush(d, queue);
    if (e->waits)
        TRACE(d->nic.trace, ceq_wait, .host = d->config.nic.host, .cqn = cq->cqn, .queue = queue);
}

/* --- Arming in memory ------------------------------------------------------------------------- */

/* Reads the arming of @e.  Returns false if the CQ is not armed, or its memory has gone away. */
static bool read_arm(const struct rdma *d, const struct rdma_cq_events *e, uint32_t *ret)
{
    struct raw_cq_arm raw;
    struct rfc_cq_arm arm;

    if (!d->pci.bus_master || !ram_read(d->nic.ram, e->arm_gpa, &raw, sizeof(raw)))
        return false;
    rfc_cq_arm_get(&arm, &raw);
    *ret = arm.arm;
    if ((arm.arm & CQ_ARM_FLAGS) == 0)
        return false;
    return !e->has_fired || arm.arm >> CQ_ARM_SEQUENCE_SHIFT != e->fired;
}

enum cq_arm rdma_cq_arm(const struct rdma *d, const struct cq *cq)
{
    const struct rdma_cq_events *e = rdma_has_ceqs(d) ? &d->cq_events[cq->cqn] : NULL;
    uint32_t arm;

    if (!e || !e->arm_gpa)
        return cq->arm;
    if (!read_arm(d, e, &arm))
        return CQ_IDLE;
    return arm & NOTIFY_NEXT_COMPLETION ? CQ_ARMED_ANY : CQ_ARMED_SOLICITED;
}

void rdma_arm_look(struct rdma *d, struct cq *cq)
{
    struct rdma_cq_events *e;
    uint32_t arm;

    if (!rdma_has_ceqs(d) || !d->cq_events[cq->cqn].arm_gpa)
        return;
    e = &d->cq_events[cq->cqn];
    ram_fence(d->nic.ram); /* the used entry is written before the arming is read */
    if (!read_arm(d, e, &arm)) {
        cq_disarm(cq);
        return;
    }
    if (!e->has_seen || e->seen != arm >> CQ_ARM_SEQUENCE_SHIFT)
        TRACE(d->nic.trace, arm_seen, .host = d->config.nic.host, .cqn = cq->cqn,
              .number = arm >> CQ_ARM_SEQUENCE_SHIFT, .solicited = !(arm & NOTIFY_NEXT_COMPLETION));
    e->has_seen = true;
    e->seen = arm >> CQ_ARM_SEQUENCE_SHIFT;
    cq_arm(cq, !(arm & NOTIFY_NEXT_COMPLETION));
}

/* --- Control requests ------------------------------------------------------------------------- */

/* Checks the address of an arming. */
static enum refusal_reason check_arm(struct call *c, uint64_t arm)
{
    const struct rdma *d = c->d;

    if (arm == 0)
        return REF_NONE;
    if (!virtio_has(&d->pci, VF_ARM_MEM))
        return ctrl_refuse(c, REF_NOT_NEGOTIATED, compared_nothing());
    if (arm % sizeof(struct raw_cq_arm) != 0 ||
        !ram_holds(d->nic.ram, arm, sizeof(struct raw_cq_arm)))
        return ctrl_refuse(c, REF_CQ_ARM_MEMORY, compared_found(arm));
    return REF_NONE;
}

enum refusal_reason ctrl_create_cq_ex(struct call *c)
{
    struct rdma *d = c->d;
    enum refusal_reason why;
    struct cq *cq;

    REQUEST(c, create_cq_ex, r);
    if (r.ceq >= d->n_ceqs)
        return ctrl_refuse(c, REF_CQ_CEQ, compared_at_most(d->n_ceqs - 1, r.ceq));
    why = check_arm(c, r.arm);
    if (why != REF_NONE)
        return why;
    why = hca_cq_create(&d->nic.hca, r.cqe, &cq);
    if (why != REF_NONE)
        return why;
    d->cq_events[cq->cqn] = (struct rdma_cq_events){.ceq = r.ceq, .arm_gpa = r.arm};
    c->number = cq->cqn;
    RESPOND(c, cq_handle, .cqn = cq->cqn);
    return REF_NONE;
}

void rdma_ceq_forget(struct rdma *d, uint32_t cqn)
{
    if (d->n_ceqs == 0)
        return;
    fifo_remove(d, cqn);
    d->cq_events[cqn] = (struct rdma_cq_events){0};
}

bool rdma_arms_in_memory(const struct rdma *d, uint32_t cqn)
{
    return rdma_has_ceqs(d) && d->cq_events[cqn].arm_gpa != 0;
}

const char *rdma_ceqs_invariant(const struct rdma *d)
{
    uint32_t n_waiting = 0, n_listed = 0;

    for (uint32_t cqn = 1; d->n_ceqs > 0 && cqn <= d->config.nic.max_cq; cqn++) {
        if (d->cq_events[cqn].waits && !hca_cq(&d->nic.hca, cqn))
            return "an event that waits for a buffer belongs to a completion queue that exists";
        n_waiting += d->cq_events[cqn].waits;
    }
    for (uint32_t k = 0; k < d->n_ceqs; k++) {
        for (uint32_t at = d->ceqs[k].first; at && n_listed <= n_waiting;
             at = d->cq_events[at].next)
            n_listed += d->cq_events[at].waits && d->cq_events[at].ceq == k;
    }
    return n_listed == n_waiting ? NULL : "each event that waits is in the list of its queue once";
}
