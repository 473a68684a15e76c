/* SPDX-License-Identifier: MIT */
/* A lab in which one host has a hostile driver, for targets that are such a driver.
 *
 * Host h1 is hostile.  It boots normally and has a queue pair of each service connected to h2, a
 * region, and the zone: a part of RAM in which random addresses often lie.  h2 and h3 send each
 * other messages.  There is one lab for each set of enum hostile_bit.  All labs are made once; an
 * input starts at a checkpoint of the lab that its first byte selects.
 *
 * hostile_end() checks what must hold for every input, whatever the driver of h1 did.  The messages
 * between h2 and h3 arrive whole and in time.  No invariant of any host breaks, including those of
 * h1's device.  No tick does more than the rings can hold, and memory is bounded.  A new driver of
 * h1 that resets the device finds it as after power-on.
 */
#ifndef TESTS_FUZZ_HOSTILE_HOST_H
#define TESTS_FUZZ_HOSTILE_HOST_H

#include "emu/facts/enum/pci_function.h"
#include "emu/lab/lab_state.h"
#include "fuzz.h"
#include "input.h"
#include "testbed/testbed.h"

/* The differences between the labs. */
enum hostile_bit {
    HOSTILE_PACKED = 1u << 0,   /* h1 has packed rings */
    HOSTILE_PLAIN = 1u << 1,    /* no EVENT_IDX and no indirect descriptors */
    HOSTILE_MINIMAL = 1u << 2,  /* the device offers no features of ours */
    HOSTILE_EXTENDED = 1u << 3, /* it offers the extensions for real kernels */
    HOSTILE_LAB_COUNT = 1u << 4 /* number of sets */
};

#define HOSTILE_ZONE_BYTES   65536u
#define HOSTILE_REGION_BYTES 65536u

/* In the zone: a list of the zone's page addresses. */
#define HOSTILE_PAGE_LIST (HOSTILE_ZONE_BYTES - 4096u)

/* The rings that an input can select. */
enum hostile_ring {
    RING_CONTROL,
    RING_CQ,
    RING_RC_SENDS,
    RING_RC_RECEIVES,
    RING_UC_SENDS,
    RING_UC_RECEIVES,
    RING_UD_SENDS,
    RING_UD_RECEIVES,
    RING_EVENTS,
    RING_SHARED,
    RING_SPARE_CQ, /* this and the next two belong to no object yet */
    RING_SPARE_SENDS,
    RING_SPARE_RECEIVES,
    RING_NET_RECEIVES,
    RING_NET_SENDS,
    RING_CEQ, /* of completion events: of a lab with HOSTILE_EXTENDED and without HOSTILE_MINIMAL */
    RING_COUNT
};

/* The position of a ring's driver. */
struct hostile_place {
    uint16_t avail_idx;
    struct vring_pos avail; /* of a packed ring */
    uint16_t next_desc;     /* of a split one */
};

#define HOSTILE_SERVICES 3u /* RC, UC, UD */
#define HOSTILE_MESSAGES 3u /* each way, between h2 and h3 */

struct hostile_lab {
    struct rdl_lab *lab;
    struct rdl_checkpoint *start;
    struct host *h1;
    rdl_host host;
    uint64_t zone;                              /* guest-physical address */
    struct rdl_mr_info mem;                     /* the region */
    struct testbed_side ours[HOSTILE_SERVICES]; /* of h1 */
    struct testbed_side peer[HOSTILE_SERVICES]; /* of h2, connected to @ours */
    struct testbed_side other[2];               /* of h2 and h3, connected to each other */
    uint32_t bar[HOST_FUNCTIONS][PCI_BARS];     /* addresses that the driver assigned */
    struct hostile_place places[RING_COUNT], places_at_start[RING_COUNT];
    size_t used_bytes;
};

/* Makes all labs. */
void hostile_init(void);

/* Restores the lab for a set of enum hostile_bit to its start, and returns it.  Other bits are
 * ignored.
 */
struct hostile_lab *hostile_begin(unsigned which);

/* Checks what must hold for every input. */
void hostile_end(struct hostile_lab *h);

/* How a target uses an input: a sequence of actions, each decoded from the next bytes. */
struct hostile_target {
    unsigned deeds_max;
    void (*deed)(struct hostile_lab *h, struct input *in);
    void (*begin)(void); /* may be NULL */
    /* called before hostile_end()'s checks; may be NULL */
    void (*end)(const struct hostile_lab *h);
};
extern const struct hostile_target hostile_target; /* defined by each target */

/* Actions that targets share: choose a ring, kick one, let time pass, post work as a correct driver
 * would.  Posting may fail because the driver's state may be corrupted.
 */
enum hostile_ring hostile_ring_of(struct input *in);
void hostile_do_kick(const struct hostile_lab *h, struct input *in);
void hostile_do_wait(const struct hostile_lab *h, struct input *in);
void hostile_do_post(const struct hostile_lab *h, struct input *in);

/* The function of h1 that has @ring, the ring's queue number, and the device's side of it. */
enum pci_function hostile_function(enum hostile_ring ring);
uint32_t hostile_queue(const struct hostile_lab *h, enum hostile_ring ring);
struct vq *hostile_vq(const struct hostile_lab *h, enum hostile_ring ring);

/* Writes to RAM of h1; addresses outside RAM are ignored. */
void hostile_poke(const struct hostile_lab *h, uint64_t gpa, const void *bytes, size_t n);

/* Writes a register of a function of h1. */
void hostile_put(const struct hostile_lab *h, enum pci_function function, uint32_t reg,
                 uint32_t width, uint64_t value);

/* A buffer of a chain.  wrong_flags is xored into the flags of its descriptor. */
struct hostile_seg {
    uint64_t gpa;
    uint32_t bytes;
    bool writable;
    uint16_t wrong_flags;
};

/* Adds a chain to @ring without a kick: the first @n_direct descriptors in the ring, the others in
 * an indirect table at @table.
 */
void hostile_offer(struct hostile_lab *h, enum hostile_ring ring, const struct hostile_seg *segs,
                   uint32_t n, uint32_t n_direct, uint64_t table);
void hostile_kick(const struct hostile_lab *h, enum hostile_ring ring);

/* Resets the queue @ring, if the device allows it, and enables it with its ring at @to. */
void hostile_move(struct hostile_lab *h, enum hostile_ring ring, const struct vring *to);

/* Lets @ns pass, but at most a fixed number of ticks. */
void hostile_go_on(const struct hostile_lab *h, uint64_t ns);

#endif
