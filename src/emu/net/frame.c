/* SPDX-License-Identifier: MIT */
#include "emu/net/frame.h"

#include "emu/base/assert.h"
#include "emu/trace/event.h"
#include "emu/wire/bth.h"
#include "emu/wire/eth.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"

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
