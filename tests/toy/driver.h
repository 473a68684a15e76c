/* SPDX-License-Identifier: MIT */
/* The parts of the driver share this: its state, and the rings in guest memory.
 *
 *   driver.c  commands, interrupts, boot
 *   work.c    posts and completions
 *   rings.c   the rings of toy.h
 */
#ifndef TESTS_TOY_DRIVER_H
#define TESTS_TOY_DRIVER_H

#include "emu/guest/pci/pci.h"
#include "emu/guest/verbs/driver.h"
#include "toy/toy.h"

/* A ring as the driver knows it. */
struct ring {
    uint64_t gpa; /* 0: there is none */
    uint32_t n, bytes;
};

struct toy_cq {
    struct guest_cq cq;
    struct ring ring;
};

struct toy_srq {
    struct guest_srq srq;
    struct ring ring;
};

struct toy_qp {
    struct guest_qp qp;
    struct ring sends, receives;
};

struct driver {
    struct verbs *verbs;
    struct guest_pci pci;
    uint64_t regs;    /* guest-physical address of the registers */
    uint64_t command; /* address of the command */
    bool waits;       /* a command is under way */
    uint32_t op;      /* its enum toy_op, or that of the last one */
    struct ring events;
    uint64_t pages, pages_bytes; /* list of pages, which all commands share */
    uint32_t gids_set, active_mtu;
    uint64_t irqs;
};

static inline struct driver *driver_of(const struct guest_object *o)
{
    return o->verbs->driver;
}

/* Allocates a ring; nothing for one without entries. */
bool ring_take(const struct driver *d, struct ring *r, uint32_t n, size_t bytes);
void ring_give(const struct driver *d, struct ring *r);

/* Returns the counters of a ring, and the address of entry @k, counted from the first one. */
struct toy_ring ring_counters(const struct driver *d, const struct ring *r);
uint64_t ring_entry(const struct ring *r, uint32_t k);

/* Posts a request.  *@ret_entry is its place in the ring. */
enum rdl_status ring_post(const struct driver *d, const struct ring *r, const void *in,
                          uint32_t *ret_entry);

/* Gets an entry that the device has written.  Returns false if there is none. */
bool ring_get(const struct driver *d, const struct ring *r, void *out);

#endif
