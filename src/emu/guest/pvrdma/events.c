/* SPDX-License-Identifier: MIT */
/* The two rings of the shared region, and interrupts.
 *
 * Vector 0 is the answer to a command, 1 an asynchronous event, 2 the notification of a CQ.  With
 * fewer vectors the reasons of the others do not interrupt.  Linux serves no events then, and no
 * notifications; neither does this driver.  With INTx the register ICR has the reasons.
 */
#include "emu/facts/async.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/pvrdma/handle.h"
#include "emu/guest/pvrdma/internal.h"

bool pvd_events_init(const struct pvrdma_guest *d, struct pvd_shared_ring *r, uint32_t entry_bytes)
{
    if (!pvd_pages_take(d, PV_SHARED_RING_PAGES, &r->pages))
        return false;
    pvd_ring_init(d, &r->ring, &r->pages, false, 1,
                  pv_shared_slots(PV_SHARED_RING_PAGES, entry_bytes), entry_bytes);
    return true;
}

static void poll_async(struct pvrdma_guest *d)
{
    struct pv_raw_async_event raw;

    while (pvd_ring_take(d, &d->events.ring, &raw)) {
        struct pv_async_event e;

        pv_async_event_get(&e, &raw);
        verbs_async(d->verbs, e.type, pv_number_of(async_object(e.type), e.info));
    }
}

/* Each notification is an event, also one of an earlier arming that comes after the CQ was armed
 * again.  It stays in the ring until it is taken here.  After a lost interrupt the next one
 * therefore finds two, perhaps of the same CQ, and gives two events, as Linux's handler does.  A
 * program must expect an event without a completion.
 */
static void poll_notes(struct pvrdma_guest *d)
{
    struct pv_raw_cq_note raw;

    while (pvd_ring_take(d, &d->notes.ring, &raw)) {
        struct pv_cq_note note;
        struct guest_cq *cq;

        pv_cq_note_get(&note, &raw);
        cq = note.cq < d->caps.max_cq ? verbs_cq(d->verbs, pv_number_of(OBJ_CQ, note.cq)) : NULL;
        if (cq)
            verbs_cq_event(cq);
    }
}

void pvd_events_poll(struct pvrdma_guest *d)
{
    poll_async(d);
    poll_notes(d);
}

static void handle(struct pvrdma_guest *d, uint32_t vector)
{
    if (vector == PV_VECTOR_RESPONSE)
        pvd_answer(d);
    else if (vector == PV_VECTOR_ASYNC)
        poll_async(d);
    else
        poll_notes(d);
}

void pvd_interrupt(void *driver, uint32_t vector)
{
    struct pvrdma_guest *d = driver;

    if (vector >= d->pci.n_vectors)
        return;
    d->irqs++;
    handle(d, vector);
}

bool pvd_line(void *driver)
{
    struct pvrdma_guest *d = driver;
    const uint32_t icr = pci_uses_line(&d->pci) ? pvd_read(d, PVR_ICR) : 0;

    if (icr == 0)
        return false;
    d->irqs++;
    for (uint32_t v = 0; v < PV_VECTORS; v++) {
        if (icr & 1u << v)
            handle(d, v);
    }
    return true;
}
