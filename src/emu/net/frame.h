/* SPDX-License-Identifier: MIT */
/* A frame in flight: reference-counted bytes, and a descriptor that never appears in the bytes. */
#ifndef EMU_NET_FRAME_H
#define EMU_NET_FRAME_H

#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/trace/id.h"
#include "emu/wire/cargo.h"
#include "emu/wire/glance.h"

struct ev;

/* The properties of a frame, set by its sender.  Faults and traces therefore need not parse it. */
struct frame_note {
    uint32_t host;   /* sender: host or external port; EV_HOST_NONE if injected */
    uint32_t qpn;    /* QPN of the sender; 0: not sent by a queue pair of the lab, or unknown */
    uint32_t opcode; /* enum opcode, or enum frame_kind of a frame without a BTH */
    uint32_t psn;
    uint32_t dest_qpn;
    uint32_t syndrome; /* enum syndrome */
    uint32_t cm;       /* enum cm_message of a message of the connection manager; 0: none */
};

struct frame {
    /* Event under which the bytes are recorded: the event that sent the frame (tx, eth_tx), or the
     * event that reports the last fault that changed the bytes.
     */
    ev_id tx;
    uint64_t lost_by; /* handle of the fault that loses the frame; 0: none */
    /* A copy of the event with which the frame was sent, if a fault of a link needs it; otherwise
     * NULL.
     */
    struct ev *sent;
    /* In place of bytes, a message that travels whole (xport/whole.h).  Freed with the frame. */
    struct cargo *cargo;
    uint32_t refs;     /* number of references */
    uint32_t cap, len; /* room for bytes, and length of the frame */
    struct frame_note note;
    /* Length of the VLAN tag that the receiving port has removed: f->len is so much shorter than
     * the frame on the wire.
     */
    uint8_t tag_bytes;
    /* Padding: the payload of most RoCEv2 packets then starts at a cache line. */
    uint8_t unused[17 - 2 * sizeof(struct ev *)];
    uint8_t bytes[];
};

/* Allocates a frame with room for @cap bytes and one reference.  Returns NULL when the arena is
 * full.
 */
struct frame *frame_new(struct arena *a, uint32_t cap);

/* Returns a new frame with the bytes, note and event of @f.  Returns NULL when the arena is full.
 */
struct frame *frame_copy(struct arena *a, const struct frame *f);

/* Inserts the tag of a VLAN into @f, which has at least an Ethernet header.  Takes the reference
 * and returns the tagged frame: @f, or a copy if @f has no room or is shared.  Returns NULL when
 * the arena is full.
 */
struct frame *frame_tag(struct arena *a, struct frame *f, uint16_t tci);

/* Returns a new frame: @f without its tag.  Returns NULL when the arena is full. */
struct frame *frame_untag(struct arena *a, const struct frame *f);

/* Adds a reference and returns @f. */
static inline struct frame *frame_ref(struct frame *f)
{
    f->refs++;
    return f;
}

/* Returns the note of a frame from @host, with the values of @g, the result of glance().  Its qpn
 * is 0.
 */
struct frame_note frame_note_of(uint32_t host, const struct glance *g);

/* Stores a copy of @sent, the event with which @f was sent, in f->sent.  Does nothing if @sent is
 * NULL or f->sent is not NULL.  If the arena is full, f->sent stays NULL.
 */
void frame_remember_sent(struct arena *a, struct frame *f, const struct ev *sent);

/* Removes one reference, and frees @f with the last one.  NULL is allowed. */
void frame_unref(struct arena *a, struct frame *f);

#endif
