/* SPDX-License-Identifier: MIT */
/* The connection manager of InfiniBand, as the kernel of a guest has it: communication IDs, their
 * state machine, retries, duplicates and stale connections, as Linux 6.1 has them.
 * [IBTA1 12.6; Linux, drivers/infiniband/core/cm.c]
 *
 * It knows no queue pair, no device and no program.  It gets messages and calls, and answers with
 * messages to send and events for its user:
 *
 *	user (rdma_cm) -- ib_cm_send_...() --> ib_cm --- ops.send() ---> QPN 1
 *	               <----- ops.event() ----       <-- ib_cm_receive()
 *
 * The table cm_rules.def says by state what becomes of a message; beside it there is a function for
 * each message and each call.
 *
 * "Local" and "remote" are those of this side; in a message they are the sender's.
 */
#ifndef EMU_GUEST_CM_IB_CM_H
#define EMU_GUEST_CM_IB_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/hash_lists.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/wire/addr.h"
#include "emu/wire/mad.h"
#include "rdmalab/status.h"

/* The path of the messages of an ID, and of its queue pair. */
struct ib_cm_path {
    uint8_t sgid[GID_BYTES], dgid[GID_BYTES];
    uint32_t flow_label;
    uint8_t traffic_class, hop_limit, sl;
};

/* A time code t means 1 << (t - 8) ms, at least 1.  [Linux, cm_convert_to_ms()] */
uint64_t ib_cm_time_ns(uint32_t code);

/* Returns the code of an ACK timeout: of a path of @life, and a peer that delays acknowledges by
 * @delay.  [Linux, cm_ack_timeout()]
 */
uint32_t ib_cm_ack_timeout(uint32_t delay, uint32_t life);

enum ib_cm_event_kind {
    IB_CM_REQ_RECEIVED, /* a new ID; @listener has listened */
    IB_CM_REP_RECEIVED,
    IB_CM_RTU_RECEIVED,
    IB_CM_MRA_RECEIVED,
    IB_CM_REJ_RECEIVED,
    IB_CM_DREQ_RECEIVED,
    IB_CM_DREP_RECEIVED,
    IB_CM_SIDR_REQ_RECEIVED, /* a new ID */
    IB_CM_SIDR_REP_RECEIVED,
    IB_CM_USER_ESTABLISHED, /* ib_cm_notify(): data came before the RTU */
    IB_CM_REQ_ERROR,        /* no answer came: the last retry is over */
    IB_CM_REP_ERROR,
    IB_CM_DREQ_ERROR,
    IB_CM_SIDR_REQ_ERROR,
    IB_CM_TIMEWAIT_EXIT
};

struct ib_cm_event {
    enum ib_cm_event_kind kind;
    const struct mad *mad;     /* the message; NULL: there is none */
    struct ib_cm_id *listener; /* of the two requests; else NULL */
};

struct ib_cm_id;

struct ib_cm_ops {
    /* Sends a message along @path. */
    void (*send)(void *ctx, const struct ib_cm_path *path, const uint8_t mad[MAD_BYTES]);

    /* An event for the user of @id, who may call any function, also ib_cm_destroy().  Returns false
     * if the user has no room for a new ID: then it is destroyed without an answer, and the peer
     * tries again.
     */
    bool (*event)(void *ctx, struct ib_cm_id *id, const struct ib_cm_event *e);

    /* The clock, in ns.  start_timer() calls ib_cm_timer() with @local_id at @at_ns, unless
     * stop_timer() comes before that.  It returns what stop_timer() needs, never 0.
     */
    uint64_t (*now_ns)(void *ctx);
    uint64_t (*start_timer)(void *ctx, uint32_t local_id, uint64_t at_ns);
    void (*stop_timer)(void *ctx, uint64_t timer);

    /* Returns true if @gid is an address of this host. */
    bool (*has_gid)(void *ctx, const uint8_t gid[GID_BYTES]);

    /* The state of @id was @from, and is another one now; NULL: nobody is interested. */
    void (*changed)(void *ctx, const struct ib_cm_id *id, uint32_t from);
};

/* A communication ID. */
struct ib_cm_id {
    /* Nodes of the tables of struct ib_cm. */
    struct hash_node by_local, by_remote, by_qpn, by_service;
    struct ib_cm *cm;
    void *user;
    uint32_t state; /* enum cm_state */
    uint32_t local_id, remote_id;
    uint64_t remote_guid;
    uint32_t local_qpn, remote_qpn;
    uint64_t service_id, tid;
    struct ib_cm_path path;
    bool in_remote, in_qpn, in_service; /* it is in these tables */
    uint64_t timeout_ns;                /* of the messages that wait for an answer */
    uint64_t wait_ns;                   /* of the one that waits now */
    uint32_t max_retries, retries;
    uint32_t ack_timeout; /* code; of its queue pair, and of TIMEWAIT */
    uint32_t service_timeout;
    uint32_t n_listeners;    /* of an ID that listens: its user counts those that share it */
    uint64_t timer, due_ns;  /* 0: none runs; when it is due */
    uint8_t last[MAD_BYTES]; /* the message that was sent last */
};

struct ib_cm_config {
    uint64_t guid;      /* of the node; those of two hosts differ */
    uint32_t ack_delay; /* code, of the device */
    uint32_t agent;     /* upper half of transaction IDs */
    struct arena *arena;
    struct ib_cm_ops ops;
    void *ctx;
};

struct ib_cm {
    struct ib_cm_config config;
    uint32_t operand, next; /* local IDs are @next ^ @operand */
    struct hash_lists by_local, by_remote, by_qpn, by_service;
    uint32_t n_ids;
    uint64_t rules; /* set of rows of cm_rules.def that have decided so far */
};

/* Initializes @cm; @rng makes its IDs hard to guess. */
void ib_cm_init(struct ib_cm *cm, const struct ib_cm_config *config, struct prng *rng);

/* Returns a new ID in state IDLE, or NULL if the arena is full. */
struct ib_cm_id *ib_cm_create(struct ib_cm *cm, void *user);

/* Destroys @id.  The peer is told in the way of its state: a REQ that waits is taken back by a REJ
 * of reason TIMEOUT, a connection is ended by a DREQ that is not repeated.
 */
void ib_cm_destroy(struct ib_cm_id *id);

/* Returns the ID with @local_id, or NULL. */
struct ib_cm_id *ib_cm_find(const struct ib_cm *cm, uint32_t local_id);

/* Returns the ID that listens for @service_id, or NULL. */
struct ib_cm_id *ib_cm_listener(const struct ib_cm *cm, uint64_t service_id);

/* --- Calls ------------------------------------------------------------------------------------ */

/* Each returns RDL_OK, RDL_ERR_STATE if the state of @id does not permit the call, or
 * RDL_ERR_INVAL.  Private data is at most as long as the field of the message.
 */

/* Waits for requests for @service_id.  RDL_ERR_EXISTS: another ID does already.  RDL_ERR_NOMEM. */
RDL_MUST_CHECK enum rdl_status ib_cm_listen(struct ib_cm_id *id, uint64_t service_id);

struct ib_cm_req {
    struct ib_cm_path path;
    uint32_t path_mtu, packet_life; /* enum mtu; code */
    uint64_t service_id;
    uint32_t qpn, transport; /* 0 RC, 1 UC */
    uint32_t starting_psn;
    uint32_t responder_resources, initiator_depth;
    uint32_t remote_cm_timeout, local_cm_timeout, max_cm_retries;
    uint32_t retry_count, rnr_retry_count;
    bool flow_control, srq;
    const void *private_data;
    size_t private_bytes;
};
RDL_MUST_CHECK enum rdl_status ib_cm_send_req(struct ib_cm_id *id, const struct ib_cm_req *r);

struct ib_cm_rep {
    uint32_t qpn, starting_psn;
    uint32_t responder_resources, initiator_depth, rnr_retry_count;
    bool flow_control, srq;
    const void *private_data;
    size_t private_bytes;
};
RDL_MUST_CHECK enum rdl_status ib_cm_send_rep(struct ib_cm_id *id, const struct ib_cm_rep *r);

RDL_MUST_CHECK enum rdl_status ib_cm_send_rtu(struct ib_cm_id *id, const void *data, size_t bytes);

/* @reason is an enum cm_reason; @info are @info_bytes of additional information. */
RDL_MUST_CHECK enum rdl_status ib_cm_send_rej(struct ib_cm_id *id, uint32_t reason,
                                              const void *info, size_t info_bytes, const void *data,
                                              size_t bytes);

/* Prepares a MRA, which is sent when the peer repeats its message.  @service_timeout is a code. */
RDL_MUST_CHECK enum rdl_status ib_cm_prepare_mra(struct ib_cm_id *id, uint32_t service_timeout);

RDL_MUST_CHECK enum rdl_status ib_cm_send_dreq(struct ib_cm_id *id, const void *data, size_t bytes);
RDL_MUST_CHECK enum rdl_status ib_cm_send_drep(struct ib_cm_id *id, const void *data, size_t bytes);

/* Data has come for the queue pair: the RTU was lost, or is late. */
RDL_MUST_CHECK enum rdl_status ib_cm_notify(struct ib_cm_id *id);

struct ib_cm_sidr_req {
    struct ib_cm_path path;
    uint64_t service_id;
    uint32_t pkey;
    uint64_t timeout_ns;
    uint32_t max_cm_retries;
    const void *private_data;
    size_t private_bytes;
};
RDL_MUST_CHECK enum rdl_status ib_cm_send_sidr_req(struct ib_cm_id *id,
                                                   const struct ib_cm_sidr_req *r);

/* @status is an enum sidr_status. */
RDL_MUST_CHECK enum rdl_status ib_cm_send_sidr_rep(struct ib_cm_id *id, uint32_t status,
                                                   uint32_t qpn, uint32_t qkey, const void *data,
                                                   size_t bytes);

/* --- From outside ----------------------------------------------------------------------------- */

/* The MAD_BYTES at @bytes came by @from, seen from here: its dgid is the sender. */
void ib_cm_receive(struct ib_cm *cm, const struct ib_cm_path *from, const uint8_t bytes[MAD_BYTES]);

/* The timer of the ID with @local_id is due. */
void ib_cm_timer(struct ib_cm *cm, uint32_t local_id);

#endif
