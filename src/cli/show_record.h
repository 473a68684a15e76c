/* SPDX-License-Identifier: MIT */
/* What was recorded, of a running lab or of a saved trace: events oldest first, names, and frames.
 *
 * Everything that explains or exports the past (show events, why, export) reads this and nothing
 * else, so that a saved trace answers and draws the same as the lab that wrote it.
 */
#ifndef CLI_SHOW_RECORD_H
#define CLI_SHOW_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "emu/trace/event.h"

struct rdl_lab;

struct record {
    const void *ctx;
    size_t n;
    uint64_t forgotten; /* events that were older and are gone */
    const struct ev_names *names;
    const struct ev *(*at)(const void *ctx, size_t i);
    /* The bytes that the tx (or corrupting fault) event @tx put on the wire; NULL: not kept. */
    const uint8_t *(*frame)(const void *ctx, ev_id tx, size_t *ret_bytes);
};

/* Valid until the lab advances. */
struct record record_of_lab(const struct rdl_lab *lab);

static inline const struct ev *record_at(const struct record *r, size_t i)
{
    return r->at(r->ctx, i);
}

static inline const uint8_t *record_frame(const struct record *r, ev_id tx, size_t *ret_bytes)
{
    return r->frame(r->ctx, tx, ret_bytes);
}

/* The index of the first event whose id is at least @id; n if there is none. */
size_t record_lower_bound(const struct record *r, ev_id id);

/* The event @id; NULL if it is not there (any more).  Row 0 gives the first event of the tick. */
const struct ev *record_find(const struct record *r, ev_id id);

/* The host whose event this is, or EV_HOST_NONE. */
uint32_t record_host_of(const struct ev *e);

/* The tx event behind the field tx of an rx, drop, lost, fault, forwarded or flooded event; a frame
 * that a fault changed is named by the fault, which names the tx.  NULL: from outside, or forgotten.
 */
const struct ev *record_tx_of(const struct record *r, const struct ev *e);

#endif
