/* SPDX-License-Identifier: MIT */
/* A driver that writes arbitrary data to its rings, in both formats, and kicks at any time.
 *
 * It is the driver of h1 in the lab of hostile_host.h, which the first byte selects.  The rest is a
 * list of actions: chains of any shape in any queue of both functions, bytes anywhere in a ring,
 * indices that jump, queues that are reset and enabled over another ring or a buffer, ordinary work
 * on such rings, kicks, and time.
 *
 * Checked: what hostile_host.h lists.
 */
#include <string.h>

#include "hostile_host.h"
#include "rdmalab/inspect.h"

#define DEEDS_MAX    64u
#define BYTES_MAX    64u
#define SEGS_MAX     12u
#define ZONE_OFFSETS 0xefffu /* a mask: what is behind is the hostile host's */

enum deed { OFFER, POKE, KICK, WAIT, JUMP, MOVE, POST, NOTIFY_ANY, DEED_COUNT };

static uint64_t part_of(const struct vring *r, unsigned part)
{
    return part % 3 == 0 ? r->desc : part % 3 == 1 ? r->avail : r->used;
}

/* Somewhere: in the zone, in a ring, at the end of RAM, or anywhere at all. */
static uint64_t address(const struct hostile_lab *h, struct input *in)
{
    const uint8_t how = input_u8(in);
    const struct vq *vq;
    unsigned word;

    switch (how % 8) {
    case 4:
        word = input_u16(in);
        vq = hostile_vq(h, (how >> 3) % RING_COUNT);
        return vq ? part_of(&vq->ring, word & 3) + (word >> 2) % 1024 : 0;
    case 5:
        return h->h1->ram.bytes - input_u8(in);
    case 6:
        return input_u64(in);
    default:
        return h->zone + (input_u16(in) & ZONE_OFFSETS);
    }
}

/* Chains: how many buffers, how many of them in the ring itself, then each. */
static void offer(struct hostile_lab *h, struct input *in)
{
    const enum hostile_ring ring = hostile_ring_of(in);
    const uint32_t n = 1 + input_u8(in) % SEGS_MAX;
    const uint8_t direct = input_u8(in);
    struct hostile_seg segs[SEGS_MAX];

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t how = input_u8(in);

        segs[i] = (struct hostile_seg){.gpa = address(h, in), .writable = how & 1};
        segs[i].bytes = how & 2 ? input_u16(in) : input_u8(in);
        segs[i].wrong_flags = how >= 0xf0 ? input_u16(in) : 0;
    }
    hostile_offer(h, ring, segs, n, direct >= 0x80 ? direct % (n + 1) : n, address(h, in));
}

static void poke(const struct hostile_lab *h, struct input *in)
{
    const uint64_t at = address(h, in);
    uint8_t bytes[BYTES_MAX];
    size_t n = input_u8(in) % (BYTES_MAX + 1);

    for (size_t i = 0; i < n; i++)
        bytes[i] = input_u8(in);
    hostile_poke(h, at, bytes, n);
}

/* The driver says that there is more than there is, or less; in a packed ring, it is elsewhere. */
static void jump(struct hostile_lab *h, struct input *in)
{
    const enum hostile_ring ring = hostile_ring_of(in);
    const uint16_t by = input_u16(in);
    const struct vq *vq = hostile_vq(h, ring);
    struct hostile_place *p = &h->places[ring];
    uint8_t word[2];

    if (!vq || vq->ring.size == 0)
        return;
    p->avail_idx = (uint16_t)(p->avail_idx + by);
    p->next_desc = (uint16_t)(p->next_desc + (by >> 8));
    if (vq->ring.packed) {
        p->avail = vring_pos_after(p->avail, by % vq->ring.size, vq->ring.size);
        return;
    }
    st_le16(word, p->avail_idx);
    hostile_poke(h, vring_avail_idx_at(&vq->ring), word, sizeof(word));
}

static void move(struct hostile_lab *h, struct input *in)
{
    const enum hostile_ring ring = hostile_ring_of(in);
    const uint8_t log2_size = input_u8(in);
    struct vring to = {.size = log2_size & 0x80 ? input_u16(in) : 1u << log2_size % 9};

    to.desc = address(h, in) & ~UINT64_C(15);
    to.avail = address(h, in) & ~UINT64_C(3);
    to.used = address(h, in) & ~UINT64_C(3);
    hostile_move(h, ring, &to);
}

/* Of any queue, with any number. */
static void notify(const struct hostile_lab *h, struct input *in)
{
    const uint32_t at = BAR_NOTIFY + input_u8(in) * NOTIFY_MULTIPLIER;

    hostile_put(h, FN_RDMA, at, 2, input_u16(in));
}

static void do_deed(struct hostile_lab *h, struct input *in)
{
    switch (input_u8(in) % DEED_COUNT) {
    case OFFER:
        offer(h, in);
        break;
    case POKE:
        poke(h, in);
        break;
    case KICK:
        hostile_do_kick(h, in);
        break;
    case WAIT:
        hostile_do_wait(h, in);
        break;
    case JUMP:
        jump(h, in);
        break;
    case MOVE:
        move(h, in);
        break;
    case POST:
        hostile_do_post(h, in);
        break;
    default:
        notify(h, in);
    }
}

const struct hostile_target hostile_target = {.deeds_max = DEEDS_MAX, .deed = do_deed};
