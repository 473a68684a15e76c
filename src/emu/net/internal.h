/* SPDX-License-Identifier: MIT */
/* Between the files of this layer. */
#ifndef EMU_NET_INTERNAL_H
#define EMU_NET_INTERNAL_H

#include "emu/net/net.h"

/* What the faults make of one frame that leaves a host. */
struct net_fate {
    uint64_t lost_by; /* handle of the fault that loses it; 0: it is not lost */
    uint32_t number;  /* of that fault */
    uint64_t delay_ns;
    bool duplicate;
    uint64_t duplicate_delay_ns;
    uint32_t hold_frames; /* it waits until so many others have overtaken it; 0: it does not */
    uint64_t hold_ns;     /* but no longer than this */
};

/* Takes @fault, which is in no group, into the index.  False: the arena is full. */
bool fault_index_add(struct net *n, struct net_fault *fault);

/* Takes @fault out of its group. */
void fault_index_remove(struct net *n, struct net_fault *fault);

/* The groups whose match the frame of @note has: their number, and the first fault of each. */
uint32_t fault_index_find(const struct net *n, const struct frame_note *note,
                          struct net_fault *ret[NET_MATCH_SETS]);

/* Is the frame one of those that @m is about? */
bool match_holds(const struct net_match *m, const struct frame_note *note);

/* Is @f one of those that @fault is about, beyond what it was found by?  A fault that follows
 * messages takes note of it.
 */
bool fault_aims_at(struct net *n, struct net_fault *fault, const struct frame *f);

/* Does the fault want to know more of a frame than its bytes and its note tell? */
bool fault_asks(const struct net_aim *a);

/* @f leaves its sender, with event @tx: a fault that follows messages takes note of it. */
void fault_follow(struct net_aim *a, const struct frame *f, const struct ev *tx);

/* @f leaves its sender: the faults of links that want to know more of it are told. */
void net_fault_tell_links(struct net *n, struct frame *f);

/* Can the fault do to @f what it does to frames? */
bool fault_can_change(const struct net_fault *fault, const struct frame *f);

/* Puts in the place of *@f a copy that is changed as the fault says, recorded under @id. */
void fault_change(struct net *n, const struct net_fault *fault, struct frame **f, ev_id id);

/* A copy of @f, or NULL: the arena is full. */
struct frame *frame_copy(struct arena *a, const struct frame *f);

/* Of a frame that no fault hits. */
extern const struct net_fate net_untouched;

/* Tries every fault on @f, emits what they do, and may replace *@f by a changed copy. */
void net_fault_apply(struct net *n, struct frame **f, struct net_fate *ret);

/* Tries the faults that are about link @link, too, and adds to @ret. */
void net_fault_apply_on_link(struct net *n, uint32_t link, struct frame **f, struct net_fate *ret);

/* Puts @f on the direction that leaves @link_end; the caller has looked at the faults. */
void net_transmit(struct net *n, uint32_t link_end, struct frame *f, const struct net_fate *fate);

/* A frame arrived at a switch over its port @port.  Takes the reference. */
void net_switch_forward(struct net *n, uint32_t index, uint32_t port, struct frame *f);

/* What all frames that enter the network have in common: they count, are recorded, and meet faults.
 * Returns what becomes of *@f: @room, or net_untouched if there are no faults to meet.
 */
const struct net_fate *net_depart(struct net *n, struct frame **f, struct net_fate *room);

/* Does what waits for the direction that leaves @link_end leave room for another frame? */
bool net_has_room(const struct net *n, uint32_t link_end);

/* A frame reaches the external port @index.  Takes the reference. */
void net_ext_out(struct net *n, uint32_t index, struct frame *f);

/* A frame ends at @host (EV_HOST_NONE: at none) without reaching anybody.  Whoever drops it counts
 * it under @reason.
 */
void net_drop(struct net *n, struct frame *f, uint32_t host, enum drop_reason reason);

#endif
