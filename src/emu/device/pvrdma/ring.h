/* SPDX-License-Identifier: MIT */
/* Rings of PVRDMA from the device's side, in pages that a directory lists.  [decision 0056]
 *
 *	directory -> tables -> pages of the ring: indices in page 0, slots in the others
 *
 * The device copies the list of pages when the object is created.  The index that the device writes
 * is its own; guest memory has a copy for the driver.  The driver's index is read at each use, and
 * nothing in it is trusted.
 */
#ifndef EMU_DEVICE_PVRDMA_RING_H
#define EMU_DEVICE_PVRDMA_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/pvrdma/ring.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/refusal.h"
#include "emu/hca/hca.h"
#include "emu/mem/ram.h"

/* Guest-physical addresses of pages, in order. */
struct pv_pages {
    uint64_t *gpa; /* NULL: there are none */
    uint32_t n;
};

/* A list of pages as a request describes it. */
struct pv_directory {
    uint64_t at;   /* address of the directory */
    uint32_t said; /* pages that it is said to have */
    uint32_t need; /* pages that are read, not 0 */
};

/* Reads the first pages of @dir into *@ret, which pv_pages_free() frees.
 *
 * Return: REF_NONE
 *	   RFK_INVALID  too few or too many pages, or directory or pages are not in RAM
 *	   RFK_NO_ROOM  the arena is full
 */
enum refusal_reason pv_pages_read(struct hca *h, const struct pv_directory *dir,
                                  struct pv_pages *ret);

/* Frees the list, which is then empty.  An empty list is allowed. */
void pv_pages_free(struct hca *h, struct pv_pages *p);

struct pv_ring {
    const struct pv_pages *pages; /* NULL: there is no ring */
    uint32_t state_at;            /* PV_RING_TX or PV_RING_RX */
    uint32_t first_page;          /* page of slot 0 */
    uint32_t n;                   /* slots, a power of two */
    uint32_t slot_bytes;          /* a power of two, at most a page */
    uint32_t most;                /* entries that the device may leave for the driver, at most n */
    uint32_t idx;  /* as consumer: next entry to take; as producer: next one to fill */
    uint32_t over; /* as consumer: next entry that is not over; guest memory has this index */
    bool broken;   /* the driver's index is wrong */
    uint64_t tick; /* the last tick in which an entry was taken, and their number */
    uint32_t given;
};

enum pv_take { PV_TAKEN, PV_EMPTY, PV_TURN_IS_OVER, PV_BROKEN };

/* Returns the number of entries that the driver has posted and the device has not taken; 0 if the
 * ring is broken or there is none.  Has no side effect.
 */
uint32_t pv_ring_waiting(const struct ram *ram, const struct pv_ring *r);

/* Takes the next entry: copies it to @out, room for r->slot_bytes, and sets *@ret_slot to its slot.
 * PV_TURN_IS_OVER: in tick @tick the ring has given as many entries as it has slots.  PV_BROKEN:
 * the driver's index is wrong, now or before.
 */
enum pv_take pv_ring_take(const struct ram *ram, struct pv_ring *r, uint64_t tick, void *out,
                          uint32_t *ret_slot);

/* The oldest entry that is not over is over now: tells the driver that its slot is free.  @ram
 * NULL: memory cannot be written now, and the driver learns it with the next entry.  Returns false
 * if the ring has no such entry, because it was restarted.
 */
bool pv_ring_end(struct ram *ram, struct pv_ring *r);

/* Returns an index of @r, which has pages, as it is in guest memory: @which is PV_RING_TAIL or
 * PV_RING_HEAD.
 */
uint32_t pv_ring_index(const struct ram *ram, const struct pv_ring *r, uint32_t which);

/* Adds the entry @in, r->slot_bytes long, for the driver.  Returns false if there is no room, or
 * the driver's index is wrong.
 */
bool pv_ring_put(struct ram *ram, struct pv_ring *r, const void *in);

/* Forgets all entries: the driver sets its indices to 0. */
void pv_ring_restart(struct pv_ring *r);

#endif
