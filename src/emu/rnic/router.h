/* SPDX-License-Identifier: MIT */
/* A router in the data path: a process of a machine that stands between a guest and the adapter.
 *
 * FreeFlow gives containers RDMA in this way: a router process owns the adapter.  It takes work
 * requests from programs, posts them, and passes completions back.  The lab has it as a contrast to
 * virtual functions and virtual RNICs, where nothing lies in the data path.  [decision 0072]
 *
 *	doorbell -> turn of the router -> it reads a request from a ring -> transport
 *	transport -> completion -> turn of the router -> queues of the guest
 *
 * A *turn* takes ROUTER_MESSAGE_NS.
 *
 * The router implements struct xport_ops in front of the functions of the RNIC.  Without a router
 * the transport calls those.
 *
 * A request that the router has worked on is *passed*: the transport may fetch it.  In ERR and
 * RESET, and in SQE for sends, requests end, and the transport fetches them without a turn.
 *
 * Completions and asynchronous events stay in order.  Control requests of the guest pass the router
 * behind everything else: router_settle() brings all completions to the guest before the device
 * executes a control request, and before it answers.  So a queue pair that is reset or destroyed
 * has no completion on its way.
 *
 * SIMPLIFIED: a receive passes when a message needs it, without a turn.  Programs post receives in
 * advance, so nobody waits for that.
 */
#ifndef EMU_RNIC_ROUTER_H
#define EMU_RNIC_ROUTER_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/xport/xport.h"

struct rnic;

/* The time that the router works for one message: a send, or a completion.  An assumption: both
 * together are the 1 us that FreeFlow adds to the latency of a message.
 */
#define ROUTER_MESSAGE_NS 500u

/* Each message is copied twice: into the channel between guest and router, and out of it. */
#define ROUTER_COPIES 2u

/* Sizes of the structures of libibverbs that the router copies, on a machine with 64 bits: struct
 * ibv_send_wr, ibv_recv_wr, ibv_sge and ibv_wc.
 */
#define ROUTER_SEND_BYTES       128u
#define ROUTER_RECV_BYTES       32u
#define ROUTER_SGE_BYTES        16u
#define ROUTER_COMPLETION_BYTES 48u

/* The process of a machine.  It works on one message at a time, whichever guest it is for. */
struct router_process {
    uint32_t host;       /* index of the machine */
    uint64_t free_at_ns; /* the end of its last turn */
};

struct router_counters {
    uint64_t sends, receives, completions; /* messages */
    uint64_t copies, bytes;                /* bytes: of all copies */
    uint64_t busy_ns;                      /* time of its turns */
};

/* A turn that the router has begun: the next send of a queue pair passes at its end. */
struct router_turn {
    uint32_t qpn;
    uint64_t at_ns;
};

/* Something on its way from the transport to the guest. */
struct router_end;

/* The router as one guest has it. */
struct router {
    struct rnic *nic;
    struct router_process *process;
    uint8_t *sends;            /* by QPN: enum router_send */
    struct router_turn *turns; /* ring with room for one turn of each QPN, in the order of time */
    uint32_t first_turn, n_turns;
    struct router_end *first, *last; /* in the order of time */
    uint32_t n_ends;
    struct router_end *unused; /* free list */
    struct router_counters count;
};

/* Makes the router of @n, a part of @process.  Returns NULL if the arena is full. */
struct router *router_new(struct rnic *n, struct router_process *process);

extern const struct xport_ops router_xport_ops;

/* The device was reset: discards everything. */
void router_reset(struct router *r);

/* As xport_kick(), by way of the router. */
void router_kick(struct router *r, struct qp *qp, enum wq wq);

/* Handler of SIM_ROUTER: ends the turns that are due. */
void router_run(struct router *r);

/* Brings all that is on its way to the guest there now, and forgets what has passed for queue pairs
 * that do not exist any more.
 */
void router_settle(struct router *r);

#endif
