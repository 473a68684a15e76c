/* SPDX-License-Identifier: MIT */
/* Shared by the files of the connection manager: ib_cm.c has IDs, tables and timers, ib_cm_calls.c
 * what the user calls, ib_cm_receive.c the messages of the peer.
 */
#ifndef EMU_GUEST_CM_IB_CM_INTERNAL_H
#define EMU_GUEST_CM_IB_CM_INTERNAL_H

#include "emu/guest/cm/ib_cm.h"

/* Returns an empty message. */
struct mad ib_cm_message(enum cm_message message, uint64_t tid);

/* Copies private data; the rest of the field stays 0.  Returns false if it does not fit. */
bool ib_cm_put_private(uint8_t *to, size_t room, const void *data, size_t bytes);

/* Sends @m for @id and remembers it. */
void ib_cm_transmit(struct ib_cm_id *id, const struct mad *m);

/* Sends @m along @path, for no ID. */
void ib_cm_reply(struct ib_cm *cm, const struct ib_cm_path *path, const struct mad *m);

/* Repeats the last message of @id every @ns, until it is answered. */
void ib_cm_await(struct ib_cm_id *id, uint64_t ns, uint32_t retries);
void ib_cm_stop_timer(struct ib_cm_id *id);

/* Sends the prepared MRA. */
void ib_cm_send_mra(struct ib_cm_id *id);

/* Sends a REJ, as the state of @id has it, and leaves that state. */
void ib_cm_reject(struct ib_cm_id *id, struct mad *rej);

/* Changes the state of @id, and tells it to ops.changed(). */
void ib_cm_set_state(struct ib_cm_id *id, enum cm_state to);

/* Go to state IDLE, or TIMEWAIT.  The peer's next message is that of a new connection. */
void ib_cm_reset(struct ib_cm_id *id);
void ib_cm_enter_timewait(struct ib_cm_id *id);

/* Frees @id, which is in no table of peers. */
void ib_cm_free(struct ib_cm_id *id);

/* Returns the ID with @local_id whose peer's ID is @remote_id, or NULL. */
struct ib_cm_id *ib_cm_find_pair(const struct ib_cm *cm, uint32_t local_id, uint32_t remote_id);

/* Return the ID with this peer's ID, or queue pair, at the node @guid; NULL: there is none. */
struct ib_cm_id *ib_cm_find_remote(const struct ib_cm *cm, uint64_t guid, uint32_t remote_id);
struct ib_cm_id *ib_cm_find_qpn(const struct ib_cm *cm, uint64_t guid, uint32_t remote_qpn);

/* Removes @id from the tables of peers: messages do not find it by the peer's numbers any more. */
void ib_cm_forget_peer(struct ib_cm_id *id);

/* Add @id to the tables of peers.  Return false if the arena is full. */
bool ib_cm_add_remote(struct ib_cm_id *id);
bool ib_cm_add_qpn(struct ib_cm_id *id);

/* Adds @id to the table of listeners.  Returns false if the arena is full. */
bool ib_cm_add_listener(struct ib_cm_id *id);

/* Tells the user of @id.  Returns false as ops.event(). */
bool ib_cm_tell(struct ib_cm_id *id, enum ib_cm_event_kind kind, const struct mad *m,
                struct ib_cm_id *listener);

#endif
