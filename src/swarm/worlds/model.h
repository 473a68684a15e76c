/* SPDX-License-Identifier: MIT */
/* The model: decides whether the programs of a world saw only what the verbs permit.
 *
 * It knows what was posted, in which order, and with which deliberate mistakes.  It knows nothing
 * about the implementation of a device.  It checks these promises of the verbs:
 *
 *   - Requests complete once, in posting order.  Signaled and failed requests have a completion.
 *     The first failure has a status that a mistake or the network explains; later requests are
 *     flushed (model_sends.c).
 *   - A receive completes with a whole message that was sent to it.  On RC messages arrive in
 *     sending order without a gap (model_receives.c).
 *   - Each event is raised once, and only for a reason (model_events.c).
 *   - At the end all memory has the bytes that the completions imply, and no others.  Of a failed
 *     request any first part may have been written.  Atomics took effect once, in some order
 *     (model_memory.c, model_atomics.c).
 */
#ifndef SWARM_WORLDS_MODEL_H
#define SWARM_WORLDS_MODEL_H

#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "swarm/worlds/world_run.h"

/* The programs report their actions.  model_has_room() returns true if @item may be posted now.
 * model_posted() is called when @item was posted, and model_close() when the queue pair of @end is
 * reset or destroyed.  model_arm() is called before a program arms a CQ, and model_armed() when the
 * device has answered.  model_group() is called when @end was attached to the multicast group of
 * the world or detached from it.
 */
bool model_has_room(struct world_run *r, uint16_t item);
void model_posted(struct world_run *r, uint16_t item);
void model_close(struct world_run *r, uint16_t end);
void model_arm(struct world_run *r, struct cq_state *q, bool solicited);
void model_armed(struct world_run *r, struct cq_state *q);
void model_group(struct world_run *r, uint16_t end);

/* The programs report what they have polled, taken or queried, and the model checks it: the run
 * fails if it is not permitted.  model_completion(): a completion of @q.  model_event(): an
 * asynchronous event.  model_state(): the state (enum qp_state) of the queue pair of @end.
 * model_expect_failure(): this queue pair has refused a transition, so it must have had a reason to
 * fail.
 */
void model_completion(struct world_run *r, unsigned host, struct cq_state *q,
                      const struct rdl_wc *wc);
void model_event(struct world_run *r, unsigned host, const struct rdl_async_event *e);
void model_state(struct world_run *r, uint16_t end, uint32_t state);
void model_expect_failure(struct world_run *r, uint16_t end);

/* The end of a run.  model_missing_receives() returns the number of receives that must still be
 * posted, so that all messages to @end can complete.  model_is_over() returns true if everything
 * that must complete has completed; otherwise false; with @tell the run then fails.  model_end()
 * makes the final checks.
 */
uint32_t model_missing_receives(struct world_run *r, uint16_t end);
bool model_is_over(struct world_run *r, bool tell);
void model_end(struct world_run *r);

/* Writes the script line that acknowledges @e. */
void model_say_ack(struct world_run *r, unsigned host, const struct rdl_async_event *e);

/* --- Between the files of the model ----------------------------------------------------------- */

/* model_send_done() judges the completion @wc of the request @i, model_recv_done() that of the
 * receive @i.  @i is an index of world.item[], as everywhere below; @l is the life of its queue
 * pair.  If @wc is a success, *@ret_solicited is set to true if the message requested a solicited
 * event, and to false otherwise.
 */
void model_send_done(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc);
void model_recv_done(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc,
                     bool *ret_solicited);
/* Returns true if the queue pair of @l may be in ERR for a reason that has occurred already: its
 * program moved it there, a completion failed, or the peer made a mistake.
 */
bool model_may_be_in_error(const struct world_run *r, const struct life *l);
/* Returns true if the queue pair of @l may have failed for any reason.  That includes faults, and
 * mistakes in requests that have not completed.
 */
bool model_may_have_failed(const struct world_run *r, const struct life *l);
/* Returns the latest life of a queue pair with the QPN @qpn on @host, or NULL if there is none. */
struct life *model_life_of(struct world_run *r, unsigned host, uint32_t qpn);
/* Returns true if item @i is signaled, by its flag or by sq_sig_all. */
bool model_is_signaled(const struct world_run *r, uint16_t i);
/* Returns the item of the receive that the request @i of @l consumes at the peer, or WORLD_NONE if
 * it is unknown or not posted.
 */
uint16_t model_recv_of(const struct world_run *r, const struct life *l, uint16_t i);
/* Writes the bytes that item @i transfers to @out.  If @i is a READ of the place of an earlier
 * item, these are the bytes of the earlier item.
 */
void model_bytes(const struct world_run *r, uint16_t i, uint8_t *out);
/* Returns true if a later WRITE to the place of item @i was posted to the same queue pair. */
bool model_is_overwritten(const struct world_run *r, uint16_t i);
/* Returns true if item @i accesses remote memory with a key that can change while the world runs.
 */
bool model_uses_changing_key(const struct world_run *r, uint16_t i);

/* Records that item @i has ended and does not need the key that it changed or used any more.  @ok:
 * the item was executed.
 */
void model_release_key(struct world_run *r, uint16_t i, bool ok);

/* Final checks of memory and of the words of atomics. */
void model_check_memory(struct world_run *r);
void model_check_atomics(struct world_run *r);

/* Reads @bytes of the buffer of item @i, after its first @skip bytes, to @out.  Returns false if
 * the buffer is shorter or cannot be read.
 */
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
    return r->w->host[r->w->end[end].host].profile != PROFILE_iba;
}

static inline bool model_profile_is_rxe_7_3(const struct world_run *r, uint16_t end)
{
    return r->w->host[r->w->end[end].host].profile == PROFILE_rxe_7_3;
}

/* Returns true if a send that fails moves @l to SQE, where it still receives, and not to ERR. */
static inline bool model_has_sqe(const struct world_run *r, const struct life *l)
{
    return !model_is_rc(r, l) && !model_profile_is_rxe(r, l->end);
}

#endif
