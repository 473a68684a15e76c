/* SPDX-License-Identifier: MIT */
/* A past made of events written by hand. */
#ifndef TESTS_UNIT_PAST_WRITTEN_H
#define TESTS_UNIT_PAST_WRITTEN_H

#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "emu/trace/names.h"

/* ev_id_of() as a constant expression. */
#define ID(tick, row) ((ev_id)(tick) << EV_ROW_BITS | (row))

/* The first event of tick @tick: host @number comes up with that name and IP address. */
#define WRITTEN_HOST(tick, number, text, ip)                                                       \
    {                                                                                              \
        .id = ID(tick, 1), .kind = EV_host_up, .u.host_up = {                                      \
            .host = (number),                                                                      \
            .name = {text},                                                                        \
            .addr = {ip}                                                                           \
        }                                                                                          \
    }

/* The events, and the bytes of one frame. */
struct written {
    const struct ev *events;
    size_t n;
    ev_id framed; /* the tx (or fault) event of @frame */
    const uint8_t *frame;
    size_t frame_bytes;
};

static inline const struct ev *written_at(const void *ctx, size_t i)
{
    return &((const struct written *)ctx)->events[i];
}

static inline const uint8_t *written_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    const struct written *w = ctx;

    if (!w->frame || tx != w->framed)
        return NULL;
    *ret_bytes = w->frame_bytes;
    return w->frame;
}

/* @names may be NULL; otherwise it learns names from the events. */
static inline struct past past_of_written(const struct written *w, struct ev_names *names)
{
    for (size_t i = 0; names && i < w->n; i++)
        ev_names_learn(names, &w->events[i]);
    return (struct past){
        .ctx = w, .n = w->n, .names = names, .at = written_at, .frame = written_frame};
}

#endif
