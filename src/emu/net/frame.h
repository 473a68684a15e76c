/* SPDX-License-Identifier: MIT */
/* A frame on its way: reference-counted bytes and a descriptor that is never part of them. */
#ifndef EMU_NET_FRAME_H
#define EMU_NET_FRAME_H

#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/trace/event.h"
#include "emu/wire/glance.h"

/* What the sender said of the frame, so that faults and traces need not parse it again. */
struct frame_note {
    uint32_t host; /* sender, an external port too; EV_HOST_NONE if it was injected */
    uint32_t qpn;
    uint32_t opcode; /* enum opcode, or enum frame_kind of a frame without a BTH */
    uint32_t psn;
    uint32_t dest_qpn;
    uint32_t syndrome; /* enum syndrome */
};

struct frame {
    ev_id tx; /* under which these bytes are recorded: tx, eth_tx, or the fault that changed them */
    uint64_t lost_by; /* handle of the fault that loses it on its way; 0: none does */
    struct ev *sent;  /* its own copy of the event with which it was sent, while faults of links
                         want to know that; otherwise NULL */
    uint32_t refs;
    uint32_t cap, len;
    struct frame_note note;
    /* So that the payload of most RoCEv2 packets begins a line of the cache. */
    uint8_t unused[22 - sizeof(struct ev *)];
    uint8_t bytes[];
};

/* A frame with room for @cap bytes and one reference; NULL when the arena is full. */
struct frame *frame_new(struct arena *a, uint32_t cap);

static inline struct frame *frame_ref(struct frame *f)
{
    f->refs++;
    return f;
}

/* The note of a frame from @host, for senders that know no better than a glance tells. */
struct frame_note frame_note_of(uint32_t host, const struct glance *g);

/* @f takes a copy of @sent, the event with which it was sent, along; NULL is fine. */
void frame_remember_sent(struct arena *a, struct frame *f, const struct ev *sent);

/* Gives back one reference; NULL is fine. */
void frame_unref(struct arena *a, struct frame *f);

#endif
