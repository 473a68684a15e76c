/* SPDX-License-Identifier: MIT */
/* A lab with a host whose driver is hostile, for the targets that are such a driver.
 *
 * h1 is that host: it has booted as any other, has a queue pair of each service, connected to h2, a
 * region, and the zone, a part of RAM which chance likes to put its buffers in.  h2 and h3 send
 * each other messages.  There is one such lab for each set of enum hostile_bit; all are made once,
 * and an input begins at a checkpoint of the one that its first byte names.
 *
 * What must be true of every input, whatever the driver of h1 did, hostile_end() looks at: the
 * messages between h2 and h3 arrive whole and in time, no invariant of any host breaks (not those
 * of h1's device either), no tick does more than the rings that are there can hold, memory is
 * bounded, and a new driver of h1 which resets the device finds it as after power-on.
 */
#ifndef TESTS_FUZZ_HOSTILE_HOST_H
#define TESTS_FUZZ_HOSTILE_HOST_H

#include "emu/facts/enums.h"
#include "emu/lab/world.h"
#include "fuzz.h"
#include "testbed/testbed.h"

/* What is different between the labs. */
enum hostile_bit {
    HOSTILE_PACKED = 1u << 0,   /* h1 has packed rings */
    HOSTILE_PLAIN = 1u << 1,    /* without EVENT_IDX and tables of descriptors */
    HOSTILE_MINIMAL = 1u << 2,  /* its device has no feature of its own */
    HOSTILE_LAB_COUNT = 1u << 3 /* as many sets there are */
};

#define HOSTILE_ZONE_BYTES   65536u
#define HOSTILE_REGION_BYTES 65536u

/* In the zone: the addresses of its pages. */
#define HOSTILE_PAGE_LIST (HOSTILE_ZONE_BYTES - 4096u)

/* What is left of an input; behind its end are zeros. */
struct input {
    const uint8_t *at;
    size_t n;
};
uint8_t input_u8(struct input *in);
uint16_t input_u16(struct input *in);
uint32_t input_u32(struct input *in);
uint64_t input_u64(struct input *in);

/* The rings that chance chooses from. */
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
    RING_SPARE_CQ, /* of no object yet, as the next two */
    RING_SPARE_SENDS,
    RING_SPARE_RECEIVES,
    RING_NET_RECEIVES,
    RING_NET_SENDS,
    RING_COUNT
};

/* Where the driver of a ring goes on. */
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
    uint64_t zone;                              /* guest-physical */
    struct rdl_mr_info mem;                     /* the region */
    struct testbed_side ours[HOSTILE_SERVICES]; /* of h1 */
    struct testbed_side peer[HOSTILE_SERVICES]; /* of h2, connected to those */
    struct testbed_side other[2];               /* of h2 and h3, connected to each other */
    uint32_t bar[HOST_FUNCTIONS][FN_BARS];      /* as the driver set them */
    struct hostile_place places[RING_COUNT], places_at_start[RING_COUNT];
    size_t used_bytes;
};

/* Makes all labs. */
void hostile_init(void);

/* The lab of a set of enum hostile_bit (other bits do not count), as it is at the start. */
struct hostile_lab *hostile_begin(unsigned which);

/* Looks at what must be true. */
void hostile_end(struct hostile_lab *h);

/* What a target makes of an input: one deed after the other, each out of the bytes that it takes.
 */
struct hostile_target {
    unsigned deeds_max;
    void (*deed)(struct hostile_lab *h, struct input *in);
    void (*begin)(void);                      /* NULL: nothing */
    void (*end)(const struct hostile_lab *h); /* before what must be true of every input; NULL */
};
extern const struct hostile_target hostile_target; /* of the program */

/* Deeds that targets share: a ring that chance chooses, a kick of one, some time, and work of the
 * driver itself, which may find nothing as it left it, so that any answer will do.
 */
enum hostile_ring hostile_ring_of(struct input *in);
void hostile_do_kick(const struct hostile_lab *h, struct input *in);
void hostile_do_wait(const struct hostile_lab *h, struct input *in);
void hostile_do_post(const struct hostile_lab *h, struct input *in);

/* The function of h1 that has @ring, the number of the queue there, and the device's side of it. */
enum pci_function hostile_function(enum hostile_ring ring);
uint32_t hostile_queue(const struct hostile_lab *h, enum hostile_ring ring);
struct vq *hostile_vq(const struct hostile_lab *h, enum hostile_ring ring);

/* Writes to RAM of h1, as far as there is any. */
void hostile_poke(const struct hostile_lab *h, uint64_t gpa, const void *bytes, size_t n);

/* Writes a register of a function of h1. */
void hostile_put(const struct hostile_lab *h, enum pci_function function, uint32_t reg,
                 uint32_t width, uint64_t value);

/* One buffer of a chain; what is xored into the flags of its descriptor is what is wrong with it.
 */
struct hostile_seg {
    uint64_t gpa;
    uint32_t bytes;
    bool writable;
    uint16_t wrong_flags;
};

/* Offers a chain in @ring: its first @n_direct descriptors are in the ring, the others in a table
 * at @table, if there are any.  The device is not told.
 */
void hostile_offer(struct hostile_lab *h, enum hostile_ring ring, const struct hostile_seg *segs,
                   uint32_t n, uint32_t n_direct, uint64_t table);
void hostile_kick(const struct hostile_lab *h, enum hostile_ring ring);

/* Takes @ring away, if the device lets it, and enables another at these addresses. */
void hostile_move(struct hostile_lab *h, enum hostile_ring ring, const struct vring *to);

/* Lets @ns pass, but not more than so many ticks. */
void hostile_go_on(const struct hostile_lab *h, uint64_t ns);

#endif
