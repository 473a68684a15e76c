/* SPDX-License-Identifier: MIT */
/* The model: what each program of a world may see.
 *
 * It knows what was posted, in which order and with which mistakes, and nothing of how a device
 * works.  What it asks for is what the verbs promise:
 *
 *   - requests complete in the order of posting, once; those that are signaled or failed say so;
 *     the first that fails has a status that a mistake or the network justifies; what follows it is
 *     flushed (model_sends.c);
 *   - a receive is completed by a message that was sent to it, whole; over RC in the order of
 *     sending, without one left out (model_receives.c);
 *   - events come when there is something to tell, once (model_events.c);
 *   - in the end all memory has the bytes that these completions mean, and nothing else; what is
 *     uncertain is the beginning of a message; atomics happened in some order, each once
 *     (model_memory.c, model_atomics.c).
 */
#ifndef SWARM_WORLDS_MODEL_H
#define SWARM_WORLDS_MODEL_H

#include "swarm/worlds/world_run.h"

/* Of the programs: something was posted, armed, closed. */
bool model_has_room(struct world_run *r, uint16_t item);
void model_posted(struct world_run *r, uint16_t item);
void model_close(struct world_run *r, uint16_t end);
void model_arm(struct world_run *r, struct cq_state *q, bool solicited);
void model_armed(struct world_run *r, struct cq_state *q);
void model_group(struct world_run *r, uint16_t end);

/* What they see. */
void model_completion(struct world_run *r, unsigned host, struct cq_state *q,
                      const struct rdl_wc *wc);
void model_event(struct world_run *r, unsigned host, const struct rdl_async_event *e);
void model_state(struct world_run *r, uint16_t end, uint32_t state);
void model_expect_failure(struct world_run *r, uint16_t end);

/* The end: receives that messages for @end lack; has everything completed that must (with @tell
 * what has not is the fault of the run); is all that is left as it must be?
 */
uint32_t model_missing_receives(struct world_run *r, uint16_t end);
bool model_is_over(struct world_run *r, bool tell);
void model_end(struct world_run *r);

/* The line that acknowledges @e. */
void model_say_ack(struct world_run *r, unsigned host, const struct rdl_async_event *e);

/* --- Of each other ---------------------------------------------------------------------------- */

void model_send_done(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc);
void model_recv_done(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc,
                     bool *ret_solicited);
/* May the queue pair of @l have failed, for a reason beside its own requests? */
bool model_may_be_in_error(const struct world_run *r, const struct life *l);
/* May it have failed at all? */
bool model_may_have_failed(const struct world_run *r, const struct life *l);
/* The life that number @qpn on @host has, or had last; NULL: none. */
struct life *model_life_of(struct world_run *r, unsigned host, uint32_t qpn);
/* Is item @i signaled, also by its queue pair? */
bool model_is_signaled(const struct world_run *r, uint16_t i);
/* The receive of the peer that request @i of @l meets; WORLD_NONE: it is not known, or none. */
uint16_t model_recv_of(const struct world_run *r, const struct life *l, uint16_t i);
/* The bytes that item @i brings: its own, or what was written where it reads. */
void model_bytes(const struct world_run *r, uint16_t i, uint8_t *out);
/* Has a request behind @i been posted that writes to the same place? */
bool model_is_overwritten(const struct world_run *r, uint16_t i);
/* Does @i go out with a key that can change? */
bool model_uses_changing_key(const struct world_run *r, uint16_t i);

/* The key that @i changed or used is free again; @ok: it was carried out. */
void model_release_key(struct world_run *r, uint16_t i, bool ok);

void model_check_memory(struct world_run *r);
void model_check_atomics(struct world_run *r);

/* Copies between a message and the pieces of item @i, of which the first @skip bytes are left. */
bool model_gather(struct world_run *r, uint16_t i, uint32_t skip, uint32_t bytes, uint8_t *out);

static inline bool model_is_datagram(const struct world_run *r, const struct life *l)
{
    return r->w->end[l->end].type == QPT_UD;
}

static inline bool model_is_rc(const struct world_run *r, const struct life *l)
{
    return r->w->end[l->end].type == QPT_RC;
}

static inline bool model_profile_is_rxe(const struct world_run *r, uint16_t end)
{
    return r->w->host[r->w->end[end].host].profile == PROFILE_rxe;
}

#endif
