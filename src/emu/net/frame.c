/* SPDX-License-Identifier: MIT */
#include "emu/net/frame.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/trace/event.h"
#include "emu/wire/bth.h"
#include "emu/wire/eth.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"
#include "emu/wire/vlan.h"

#define SEND_MIDDLE_BYTES (ETH_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES)

/* Frames of full-size packets start at a page of the arena.  This layout fits IPv4; over IPv6 the
 * payload starts elsewhere.
 */
_Static_assert((offsetof(struct frame, bytes) + SEND_MIDDLE_BYTES) % 64 == 0,
               "payload begins a line of the cache");

struct frame *frame_new(struct arena *a, uint32_t cap)
{
    struct frame *f = arena_alloc_raw(a, sizeof(*f) + cap);

    if (f)
        *f = (struct frame){.refs = 1, .cap = cap};
    return f;
}

void frame_unref(struct arena *a, struct frame *f)
{
    if (!f)
        return;
    RDL_ASSERT(f->refs > 0);
    if (--f->refs > 0)
        return;
    if (f->sent)
        arena_release(a, f->sent, sizeof(*f->sent));
    if (f->cargo)
        arena_release(a, f->cargo, f->cargo->block_bytes);
    arena_release(a, f, sizeof(*f) + f->cap);
}

void frame_remember_sent(struct arena *a, struct frame *f, const struct ev *sent)
{
    if (!sent || f->sent)
        return;
    f->sent = arena_alloc(a, sizeof(*f->sent));
    if (f->sent)
        *f->sent = *sent;
}

/* As frame_copy(), with room for @more bytes behind those of @f. */
static struct frame *copy_with_room(struct arena *a, const struct frame *f, uint32_t more)
{
    struct frame *copy = frame_new(a, f->len + more);

    if (!copy)
        return NULL;
    copy->len = f->len;
    copy->note = f->note;
    copy->tx = f->tx;
    memcpy(copy->bytes, f->bytes, f->len);
    frame_remember_sent(a, copy, f->sent);
    return copy;
}

struct frame *frame_copy(struct arena *a, const struct frame *f)
{
    return copy_with_room(a, f, 0);
}

struct frame *frame_tag(struct arena *a, struct frame *f, uint16_t tci)
{
    struct frame *tagged = f;

    if (f->refs > 1 || f->cap - f->len < VLAN_TAG_BYTES) {
        tagged = copy_with_room(a, f, VLAN_TAG_BYTES);
        frame_unref(a, f);
        if (!tagged)
            return NULL;
    }
    tagged->len = (uint32_t)vlan_push(tagged->bytes, tagged->len, tci);
    return tagged;
}

struct frame *frame_untag(struct arena *a, const struct frame *f)
{
    struct frame *plain = frame_copy(a, f);

    if (!plain)
        return NULL;
    plain->len = (uint32_t)vlan_pop(plain->bytes, plain->len);
    plain->tag_bytes = VLAN_TAG_BYTES;
    return plain;
}

struct frame_note frame_note_of(uint32_t host, const struct glance *g)
{
    return (struct frame_note){
        .host = host,
        .opcode = g->opcode,
        .psn = g->psn.v,
        .dest_qpn = g->dest_qpn,
        .syndrome = (uint32_t)g->syndrome,
        .cm = g->cm,
    };
}
