/* SPDX-License-Identifier: MIT */
/* A ladder that is being found in a trace: shared by ladder_model.c, which reads the events, and
 * ladder_notes.c and ladder_packets.c, which take one event each.
 */
#ifndef VIZ_LADDER_BUILDER_H
#define VIZ_LADDER_BUILDER_H

#include "viz/ladder_model.h"

#define ARMED_MAX 64u /* timers that are followed at one time */
#define RINGS_MAX 64u /* queues whose kicks are told */

/* A timer that was armed. */
struct armed {
    uint32_t column, qpn, timer;
    uint32_t stop; /* LADDER_NONE: a free place */
};

/* What the newest stop of a lifeline began with, to fold the next event into its note. */
struct run {
    struct ev first; /* of kind EV_COUNT: nothing can be folded */
    uint64_t last_wr_id;
    uint32_t n, stop;
    bool kicked; /* a kick is part of it */
};

/* A send or receive queue: something was posted to it. */
struct ring {
    uint32_t host, queue;
};

struct builder {
    struct ladder *l;
    const struct ladder_events *events;
    struct ev_names *names;
    struct armed armed[ARMED_MAX];
    struct ring rings[RINGS_MAX];
    uint32_t n_rings;
    struct run runs[LADDER_COLUMNS_MAX];
    uint64_t unseen_ns; /* time of the newest event that is not drawn */
    uint32_t n_sent;    /* packets with an arrow */
    bool full;          /* nothing more is drawn */
};

/* The host on whose lifeline an event is drawn; EV_HOST_NONE if it is drawn on none. */
uint32_t builder_host(const struct ev *e);

/* The column of @host, or LADDER_NONE. */
uint32_t builder_column(const struct ladder *l, uint32_t host);

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

/* ladder_packets.c */
void take_tx(struct builder *b, const struct ev *e, uint32_t column);

/* Packet @tx ends at a host. */
void take_end(struct builder *b, const struct ev *e, ev_id tx, uint32_t column,
              enum ladder_fate fate);

/* Packet @tx ends on the way, by a fault or because nobody takes it. */
void take_lost(struct builder *b, const struct ev *e, ev_id tx);
void take_drop(struct builder *b, const struct ev *e, uint32_t column);
void take_fault(struct builder *b, const struct ev *e);

#endif
