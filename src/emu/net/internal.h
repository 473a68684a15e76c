/* SPDX-License-Identifier: MIT */
/* Functions shared by the files of this directory. */
#ifndef EMU_NET_INTERNAL_H
#define EMU_NET_INTERNAL_H

#include "emu/facts/enum/drop.h"
#include "emu/net/net.h"

/* The effects of faults on one frame. */
struct net_fate {
    uint64_t lost_by; /* handle of the fault that loses the frame; 0: it is not lost */
    uint32_t number;  /* number of that fault */
    uint64_t delay_ns;
    bool duplicate;
    uint64_t duplicate_delay_ns;
    /* The frame is held until this many others have overtaken it; 0: not held. */
    uint32_t hold_frames;
    uint64_t hold_ns; /* but at most this long */
};

/* Adds @fault, which is in no group, to the index.  Returns false when the arena is full. */
bool fault_index_add(struct net *n, struct net_fault *fault);

/* Removes @fault from its group. */
void fault_index_remove(struct net *n, struct net_fault *fault);

/* Finds the groups whose match fits a frame with @note.  Returns their number; @ret gets the first
 * fault of each.
 */
uint32_t fault_index_find(const struct net *n, const struct frame_note *note,
                          struct net_fault *ret[NET_MATCH_SETS]);

/* Returns true if a frame with @note fits @m. */
bool match_holds(const struct net_match *m, const struct frame_note *note);

/* Checks the criteria of @fault that the index does not cover.  Returns true if @f fits them.  Also
 * counts messages, if the fault selects one (fault_follow()).
 */
bool fault_aims_at(struct net *n, struct net_fault *fault, const struct frame *f);

/* Returns true if the criteria need the event with which a frame was sent. */
bool fault_asks(const struct net_aim *a);

/* Counts messages for a fault that selects the n-th one.  @f leaves its sender with event @tx. */
void fault_follow(struct net_aim *a, const struct frame *f, const struct ev *tx);

/* Tells the faults of links that @f leaves its sender, and stores its event in @f for them. */
void net_fault_tell_links(struct net *n, struct frame *f);

/* Returns true if the effect of @fault is possible for @f. */
bool fault_can_change(const struct net_fault *fault, const struct frame *f);

/* Replaces *@f by a copy that is changed as the fault says, recorded under @id.  If the arena is
 * full, *@f stays unchanged.
 */
void fault_change(struct net *n, const struct net_fault *fault, struct frame **f, ev_id id);

/* Returns a copy of @f, or NULL when the arena is full. */
struct frame *frame_copy(struct arena *a, const struct frame *f);

/* The fate of a frame that no fault hits.  net_transmit() compares its address. */
extern const struct net_fate net_untouched;

/* Tries the faults on @f in order of creation, emits their events, and may replace *@f by a changed
 * copy.
 */
void net_fault_apply(struct net *n, struct frame **f, struct net_fate *ret);

/* The same with the faults of link @link; adds to @ret. */
void net_fault_apply_on_link(struct net *n, uint32_t link, struct frame **f, struct net_fate *ret);

/* Transmits @f in the direction that leaves @link_end.  @fate is the effect of the faults at the
 * sender.
 */
void net_transmit(struct net *n, uint32_t link_end, struct frame *f, const struct net_fate *fate);

/* Forwards a frame that arrived at port @port of a switch.  Takes the reference. */
void net_switch_forward(struct net *n, uint32_t index, uint32_t port, struct frame *f);

/* Common part of sending for all frames that enter the network: they are counted and recorded, and
 * meet faults.  The cause becomes the frame's event.  Returns @room with the fate of *@f, or
 * &net_untouched if there are no faults.
 */
const struct net_fate *net_depart(struct net *n, struct frame **f, struct net_fate *room);

/* Returns true if the queue for the direction that leaves @link_end has room for a frame. */
bool net_has_room(const struct net *n, uint32_t link_end);

/* Delivers a frame to the external port @index.  Takes the reference. */
void net_ext_out(struct net *n, uint32_t index, struct frame *f);

/* Drops a frame at @host (EV_HOST_NONE: at no host), with an event.  The caller counts it under
 * @reason.
 */
void net_drop(struct net *n, struct frame *f, uint32_t host, enum drop_reason reason);

#endif
