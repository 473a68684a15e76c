/* SPDX-License-Identifier: MIT */
/* A ladder that is being found in a trace: shared by ladder_model.c, which reads the events,
 * ladder_columns.c, which finds the lifelines, ladder_notes.c and ladder_packets.c, which take one
 * event each, and ladder_window.c, which looks at what is before and after the picture.
 */
#ifndef VIZ_LADDER_BUILDER_H
#define VIZ_LADDER_BUILDER_H

#include "emu/past/past_index.h"
#include "viz/ladder_model.h"

#define ARMED_MAX 64u /* timers that are followed at one time */
#define RINGS_MAX 64u /* queues whose kicks are told */

/* A timer that was armed. */
struct armed {
    bool runs; /* false: a free place */
    uint32_t host, qpn, timer;
    ev_id id;
    uint64_t at_ns;
    uint32_t stop; /* LADDER_NONE: before the picture */
};

/* What the newest stop of a lifeline began with, to fold the next event into its note. */
struct run {
    struct ev first; /* of kind EV_COUNT: nothing can be folded */
    uint64_t last_wr_id;
    uint32_t n, stop;
    bool kicked; /* a kick is part of it */
};

/* A send or receive queue: something was posted to it. */
struct ladder_ring {
    uint32_t host, queue;
};

struct builder {
    struct ladder *l;
    const struct past *past;
    struct past_index *index; /* of @past; owned */
    const struct ev_names *names;
    struct armed armed[ARMED_MAX];
    struct ladder_ring rings[RINGS_MAX];
    uint32_t n_rings;
    struct run runs[LADDER_COLUMNS_MAX];
    uint64_t unseen_ns; /* time of the newest event that is not drawn */
    uint32_t n_packets; /* that have an arrow; copies do not count */
    ev_id left;         /* the newest packet that is not drawn for want of room */
};

/* The host on whose lifeline an event is drawn; EV_HOST_NONE if it is drawn on none. */
uint32_t builder_host(const struct ev *e);

/* The column of @host, or LADDER_NONE. */
uint32_t builder_column(const struct ladder *l, uint32_t host);

/* ladder_columns.c: finds the lifelines of the picture, with their names. */
bool builder_in_range(const struct ladder *l, ev_id id);
void builder_find_columns(struct builder *b);

/* A new stop of event @e, without a note; there must be room. */
uint32_t builder_stop(struct builder *b, const struct ev *e, uint32_t column);

/* Gives a stop the note of its event. */
void builder_say(struct builder *b, uint32_t stop, const struct ev *e);

/* ladder_notes.c.  @column is the one of the event's host. */
void take_post(struct builder *b, const struct ev *e, uint32_t column);
void take_run(struct builder *b, const struct ev *e, uint32_t column);
void take_state(struct builder *b, const struct ev *e, uint32_t column);
void take_timeout(struct builder *b, const struct ev *e, uint32_t column);
void take_retry(struct builder *b, const struct ev *e, uint32_t column);
void take_kick(struct builder *b, const struct ev *e, uint32_t column);
void take_timer(struct builder *b, const struct ev *e);
void take_timer_off(struct builder *b, const struct ev *e);

/* An event before the picture: queues are known from then on, timers may run out in the picture. */
void take_before(struct builder *b, const struct ev *e);

/* ladder_packets.c */
void take_tx(struct builder *b, const struct ev *e, uint32_t column);

/* Does @e need an arrow that there is not yet?  Of a packet that leaves, or of one that ends here
 * and left before the picture: *@ret.
 */
bool packets_begins(struct builder *b, const struct ev *e, ev_id *ret);

/* Packet @tx ends at a host. */
void take_end(struct builder *b, const struct ev *e, ev_id tx, uint32_t column,
              enum frame_fate fate);

/* Packet @tx ends on the way, by a fault or because nobody takes it. */
void take_lost(struct builder *b, const struct ev *e, ev_id tx);
void take_drop(struct builder *b, const struct ev *e, uint32_t column);
void take_fault(struct builder *b, const struct ev *e);

/* What fault @e does to its packet @a, if that goes on, is told by the packet's label. */
void packets_note_fault(struct ladder_arrow *a, const struct ev *e);

/* ladder_window.c */

/* The event that sent packet @tx, as past_sent(); it may not be there. */
ev_id window_sent(const struct builder *b, ev_id tx);

/* The packet whose end @e is left before the picture, as event @sent: what had happened to it, and
 * where its arrow is cut.
 */
void window_cut_tail(struct builder *b, struct ladder_arrow *a, ev_id sent, const struct ev *e);

/* Cuts the arrows of packets that do not end in the picture. */
void window_cut_heads(struct builder *b);

#endif
