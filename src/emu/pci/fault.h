/* SPDX-License-Identifier: MIT */
/* Injected faults of a device: which occasions they hit.  [decision 0036]
 *
 * A fault applies to one queue of a device, or to all.  An occasion is an event that a fault of
 * this kind could hit, for example a kick for LOST_KICK.  If the fault has a condition, only
 * occasions where it holds are counted.  The fault lets nth - 1 occasions pass.  Then it hits each
 * occasion, or each every-th one, with the probability chance_ppm, drawn from its own random
 * stream, until it has hit `count` of them.  The device carries out the consequences.
 */
#ifndef EMU_PCI_FAULT_H
#define EMU_PCI_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/base/prng.h"
#include "emu/sim/sim.h"
#include "emu/trace/fields.h"

#define FAULT_QUEUE_ANY UINT32_MAX
#define FAULT_COUNT_ALL UINT32_MAX /* count: hit every occasion */
#define FAULT_ID_BEHIND UINT32_MAX /* id of SPURIOUS: the first invalid id */
#define FAULT_DRAWN     UINT32_MAX /* at, flip: drawn from the stream of the fault at each hit */
#define FAULT_PPM       1000000u

struct device_fault {
    uint32_t kind;   /* enum fault_kind */
    uint32_t number; /* unique in the lab; faults are tried in this order */
    struct ev_str name;
    uint32_t queue;      /* queue that it applies to, or FAULT_QUEUE_ANY */
    uint32_t qpn, cqn;   /* QPN or CQN of the owner of the queue, for events; else 0 */
    uint32_t nth;        /* first occasion to hit, from 1 */
    uint32_t every;      /* from there on each occasion of this number is hit; 0, 1: all */
    uint32_t count;      /* hits that remain, or FAULT_COUNT_ALL */
    uint32_t chance_ppm; /* probability of a hit, in parts per million; 0: always */
    struct prng rng;
    uint64_t time_ns; /* LATE_DATA: delay; STUCK_QUEUE: duration, 0: until removed */
    uint32_t id;      /* SPURIOUS: id of the invented chain, or FAULT_ID_BEHIND */
    uint32_t at;      /* FALSE_DATA: offset of the wrong byte, or FAULT_DRAWN */
    uint32_t flip;    /* FALSE_*: bits that are inverted, not 0, or FAULT_DRAWN */
    bool (*where)(void *ctx, const struct ev *hit); /* condition; NULL: always true */
    void *where_ctx;
    /* seen: number of occasions counted so far.  hits: number of those that it hit. */
    uint32_t seen, hits;
    ev_id hit;                 /* event of the last hit */
    struct device_fault *next; /* next fault of the device, in order of addition */
};

/* A queue of a device, for the event of a hit. */
struct fault_place {
    struct sim *sim;
    uint32_t host, function;  /* function: enum pci_function */
    uint32_t queue;           /* number of the queue */
    uint32_t taken, returned; /* the device's indices of the queue */
};

/* Adds @f after the other faults of @list.  The caller owns @f and must keep it in place until
 * device_fault_take_off().
 */
void device_fault_add(struct device_fault **list, struct device_fault *f);

/* Removes @f from @list, if it is there: a fault that has hit all of its occasions is not. */
void device_fault_take_off(struct device_fault **list, const struct device_fault *f);

/* Counts an occasion of the fault kind @kind at @place.  If a fault hits the occasion, emits
 * device_fault and returns the fault.  Otherwise returns NULL.
 */
RDL_COLD struct device_fault *device_fault_hits(struct device_fault **list, uint32_t kind,
                                                const struct fault_place *place);

#endif
