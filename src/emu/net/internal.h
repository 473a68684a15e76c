/* SPDX-License-Identifier: MIT */
/* Functions shared by the files of this directory. */
#ifndef EMU_NET_INTERNAL_H
#define EMU_NET_INTERNAL_H

#include "emu/facts/enum/drop.h"
#include "emu/net/net.h"

/* The effects of faults on one frame. */
struct net_fate {
    uint64_t lost_by;            /* handle of the fault that loses the frame; 0: it is not lost */
    uint32_t number;             /* number of that fault */
    uint64_t delay_ns;           /* extra delay of the frame */
    bool duplicate;              /* a copy of the frame arrives, too */
    uint64_t duplicate_delay_ns; /* delay of the copy after the frame */
    /* The frame is held until hold_frames other frames have overtaken it, at most for hold_ns.
     * hold_frames 0: it is not held.
     */
    uint32_t hold_frames;
    uint64_t hold_ns;
};

/* Adds @fault, which is in no group, to the index.  Returns false when the arena is full. */
bool fault_index_add(struct net *n, struct net_fault *fault);

/* Removes @fault from its group in the index, and the group if it becomes empty. */
void fault_index_remove(struct net *n, struct net_fault *fault);

/* Finds the groups whose match fits a frame with @note.  Returns the number of groups, which can be
 * 0.  @ret gets the first fault of each group.
 */
uint32_t fault_index_find(const struct net *n, const struct frame_note *note,
                          struct net_fault *ret[NET_MATCH_SETS]);

/* Returns true if a frame with @note fits @m. */
bool match_holds(const struct net_match *m, const struct frame_note *note);

/* Checks the criteria of @fault that the index does not cover.  Returns true if @f fits these
 * criteria.  For a fault of a sender that selects a message, also counts messages (fault_follow()).
 */
bool fault_aims_at(struct net *n, struct net_fault *fault, const struct frame *f);

/* Returns true if the criteria @a need the event with which a frame was sent. */
bool fault_asks(const struct net_aim *a);

/* Counts the messages of a queue pair for a fault that selects its n-th message.  Does nothing for
 * other faults.  @f is a frame that leaves its sender now.  @tx is the event that sent it, or NULL
 * if the event is unknown; the frame then counts as its first transmission.
 */
void fault_follow(struct net_aim *a, const struct frame *f, const struct ev *tx);

/* An older fault has lost @f where it leaves its sender, so @fault does not meet it: counts
 * messages nevertheless.
 */
void fault_misses(struct net *n, struct net_fault *fault, const struct frame *f);

/* Counts messages for the faults of links when @f leaves its sender, and stores a copy of the event
 * that sent @f in f->sent.
 */
void net_fault_tell_links(struct net *n, struct frame *f);

/* Returns true if @fault can have its effect on @f.  FLT_TRUNCATE needs more than to_bytes bytes,
 * FLT_MARK an IP header, and a fault with a field needs a frame that has the field.
 */
bool fault_can_change(const struct net_fault *fault, const struct frame *f);

/* Replaces *@f by a copy that @fault has changed, and records the copy under event @id.  If the
 * arena is full, *@f stays unchanged.
 */
void fault_change(struct net *n, const struct net_fault *fault, struct frame **f, ev_id id);

/* The fate of a frame that no fault hits.  net_transmit() takes a shorter path for a fate with the
 * address &net_untouched.
 */
extern const struct net_fate net_untouched;

/* Applies the matching faults of senders to *@f, in the order of their creation, up to the first
 * one that loses the frame.  Emits the events of the faults, and may replace *@f by a changed copy.
 * *@ret gets the effects.
 */
void net_fault_apply(struct net *n, struct frame **f, struct net_fate *ret);

/* Applies the matching faults of link @link to *@f, as net_fault_apply().  Adds the effects to
 * *@ret.
 */
void net_fault_apply_on_link(struct net *n, uint32_t link, struct frame **f, struct net_fate *ret);

/* Transmits @f in the direction that leaves @link_end (link << 1 | end): occupies the direction and
 * schedules the arrival or the loss of the frame.  @fate is the effect of the sender's faults.
 * Takes the reference.
 */
void net_transmit(struct net *n, uint32_t link_end, struct frame *f, const struct net_fate *fate);

/* Forwards a frame that arrived at port @port of switch number @index.  Takes the reference. */
void net_switch_forward(struct net *n, uint32_t index, uint32_t port, struct frame *f);

/* Does the common part of sending for all frames that enter the network: counts and records the
 * frame, and applies faults.  Sets the cause of the trace to the frame's event; the caller restores
 * the previous cause.  Returns @room with the fate of *@f, or &net_untouched if there are no faults
 * of senders.
 */
const struct net_fate *net_depart(struct net *n, struct frame **f, struct net_fate *room);

/* Returns true if another frame fits in the queue of the direction that leaves @link_end: the queue
 * contains at most NET_QUEUE_BYTES_MAX now.
 */
bool net_has_room(const struct net *n, uint32_t link_end);

/* Passes a frame out of the lab through external port @index.  Takes the reference. */
void net_ext_out(struct net *n, uint32_t index, struct frame *f);

/* Drops a frame at @host (EV_HOST_NONE: at no host), with an event, and counts it in n->counts. The
 * caller counts it in the drops of the port or switch.  Takes the reference.
 */
void net_drop(struct net *n, struct frame *f, uint32_t host, enum drop_reason reason);

#endif
