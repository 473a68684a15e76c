/* SPDX-License-Identifier: MIT */
/* The state while a ladder is built from a trace.  ladder_model.c reads the events,
 * ladder_columns.c finds the lifelines, ladder_notes.c and ladder_packets.c handle one event each,
 * ladder_window.c handles packets that cross the edges of the picture.
 */
#ifndef VIZ_LADDER_BUILDER_H
#define VIZ_LADDER_BUILDER_H

#include "emu/past/past_index.h"
#include "emu/trace/event.h"
#include "viz/ladder_model.h"

#define ARMED_MAX 64u /* timers tracked at a time */
#define RINGS_MAX 64u /* queues whose kicks are shown */

/* A timer that was armed. */
struct armed {
    bool runs;          /* false: a free entry */
    uint32_t host, qpn; /* its queue pair */
    uint32_t timer;     /* enum timer_kind */
    ev_id id;           /* the event that armed it */
    ev_id last;         /* the event that extended it last, or @id: see xport/retry.c */
    uint64_t at_ns;     /* time of arming */
    uint32_t stop; /* index of the stop at which it was armed; LADDER_NONE: before the picture */
};

/* For each lifeline: the similar events in a row that share the note of its newest stop.  The next
 * similar event joins them.
 */
struct run {
    struct ev first;     /* first event; kind EV_COUNT: no event can join */
    uint64_t last_wr_id; /* wr_id of the last event */
    uint32_t n;          /* number of events */
    uint32_t stop;       /* index of the stop with the note */
    bool kicked;         /* the note says that the device was kicked */
};

/* A send or receive queue to which something was posted: its kicks are drawn. */
struct ladder_ring {
    uint32_t host, queue; /* queue: number of the virtqueue */
};

struct folded;

struct builder {
    struct ladder *l;
    const struct past *past;
    struct past_index *index; /* index of @past; owned */
    const struct ev_names *names;
    struct armed armed[ARMED_MAX];
    struct ladder_ring rings[RINGS_MAX];
    uint32_t n_rings;
    struct run runs[LADDER_COLUMNS_MAX];
    uint64_t unseen_ns; /* time of the newest event in the picture's range that is not drawn */
    /* Rounds that are left out, in order of time, owned; and those directly before the event that
     * is drawn, NULL: none.
     */
    struct folded *folds;
    size_t n_folds, cap_folds;
    const struct folded *skipped;
    uint32_t n_packets; /* number of arrows so far, without copies */
    size_t next_call;   /* index of the first call that is not drawn yet */
    ev_id left;         /* the newest packet not drawn because n_packets was reached */
};

/* Returns the host on whose lifeline an event is drawn, or EV_HOST_NONE if it is not drawn on one.
 */
uint32_t builder_host(const struct ev *e);

/* Returns the column of @host, or LADDER_NONE if it has none. */
uint32_t builder_column(const struct ladder *l, uint32_t host);

/* ladder_columns.c.  builder_in_range() returns true if event @id is in the picture.
 * builder_find_columns() finds the lifelines of the picture and their names.
 */
bool builder_in_range(const struct ladder *l, ev_id id);
void builder_find_columns(struct builder *b);

/* Returns true if @e is about the queue pair by which the connection manager of a kernel sends and
 * receives its messages, and tells nothing that the messages do not tell.
 */
bool builder_is_of_kernel(const struct builder *b, const struct ev *e);

/* ladder_fold.c.  builder_find_folds() finds the rounds of equal events that are left out.
 * builder_fold_of() returns those to which event @id belongs; NULL: none, it is drawn.
 */
RDL_MUST_CHECK enum rdl_status builder_find_folds(struct builder *b);
const struct folded *builder_fold_of(const struct builder *b, ev_id id);

/* Adds a stop for event @e without a note.  @l->stops must have room.  Returns its index. */
uint32_t builder_stop(struct builder *b, const struct ev *e, uint32_t column);

/* Sets the note and the tone of a stop from event @e. */
void builder_say(struct builder *b, uint32_t stop, const struct ev *e);

/* ladder_notes.c: each draws the event @e, or joins it to a run; @column is that of its host.
 * take_post(): a posted request.  take_run(): a completion.  take_state(): a state of a queue pair.
 * take_timeout(), take_retry(), take_kick(): the events with these names.  take_timer(): a timer is
 * armed.  take_timer_off(): a timer is stopped.
 */
void take_post(struct builder *b, const struct ev *e, uint32_t column);
void take_run(struct builder *b, const struct ev *e, uint32_t column);
void take_state(struct builder *b, const struct ev *e, uint32_t column);
void take_timeout(struct builder *b, const struct ev *e, uint32_t column);
void take_retry(struct builder *b, const struct ev *e, uint32_t column);
void take_kick(struct builder *b, const struct ev *e, uint32_t column);
void take_timer(struct builder *b, const struct ev *e);
void take_timer_off(struct builder *b, const struct ev *e);

/* Draws the calls of programs that come before event @id. */
void take_calls(struct builder *b, ev_id id);

/* Handles an event before the picture: records the queue that it posts to, or the timer that it
 * arms or stops.
 */
void take_before(struct builder *b, const struct ev *e);

/* ladder_packets.c */
/* Adds an arrow for the packet that @e sends. */
void take_tx(struct builder *b, const struct ev *e, uint32_t column);

/* Returns true if @e needs a new arrow: it sends a packet, or ends one that was sent before the
 * picture.  *@ret is then the id of the packet.
 */
bool packets_begins(struct builder *b, const struct ev *e, ev_id *ret);

/* Ends the arrow of packet @tx with @fate at the lifeline @column.  If the packet has no arrow,
 * adds one.  If its arrow has ended already, adds a copy of it.
 */
void take_end(struct builder *b, const struct ev *e, ev_id tx, uint32_t column,
              enum frame_fate fate);

/* Handle events that may be between lifelines.  take_lost() ends the arrow of packet @tx on its
 * way.  take_drop() ends the arrow of the dropped packet at a host, or on its way if no host
 * accepted the packet.  take_fault() adds the effect of a fault to the arrow of its packet.
 */
void take_lost(struct builder *b, const struct ev *e, ev_id tx);
void take_drop(struct builder *b, const struct ev *e, uint32_t column);
void take_fault(struct builder *b, const struct ev *e);

/* Adds the effect of fault event @e to the label of @a, whose packet continued in spite of the
 * fault.  If the fault duplicated the packet, sets a->copied_by to its name instead.
 */
void packets_note_fault(struct ladder_arrow *a, const struct ev *e);

/* ladder_window.c */

/* Returns the id of the event that sent packet @tx: see past_sent().  The event may not be
 * recorded.
 */
ev_id window_sent(const struct builder *b, ev_id tx);

/* Cuts the tail of @a, whose packet was sent by event @sent, before the picture, and ended by @e,
 * in the picture.  Adds the effects of faults before @e to the label.  Marks @a as a copy if the
 * packet has ended once before @e.
 */
void window_cut_tail(struct builder *b, struct ladder_arrow *a, ev_id sent, const struct ev *e);

/* Cuts the heads of all arrows whose packets do not end in the picture. */
void window_cut_heads(struct builder *b);

#endif
