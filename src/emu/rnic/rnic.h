/* SPDX-License-Identifier: MIT */
/* An RNIC: objects and keys (hca), transport (xport), limits, asynchronous events, and the RDMA
 * part of a port.
 *
 * It knows no interface to a guest.  A *device* presents it to a driver through its own registers
 * and rings: the driver posts work there, and reads completions and events there.
 *
 *	device -> rnic_kick(), rnic_timer(), control requests on hca and xport
 *	rnic   -> struct rnic_ops: the next work request, a completion, an event
 *	port   -> parse -> transport; transport -> one frame at a time -> port
 *
 * Refusals have reasons of their own (facts/refusal.h), which a device translates into its codes.
 * [decision 0045]
 */
#ifndef EMU_RNIC_RNIC_H
#define EMU_RNIC_RNIC_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/profile.h"
#include "emu/hca/hca.h"
#include "emu/mem/ram.h"
#include "emu/rnic/eth_port.h"
#include "emu/rnic/router.h"
#include "emu/xport/xport.h"
#include "rdmalab/limits.h"

struct rnic_config {
    uint32_t host;
    uint8_t mac[MAC_BYTES];
    uint8_t guid[EUI64_BYTES]; /* 0: that of @mac */
    uint32_t max_cq, max_qp;
    uint32_t max_srq; /* largest SRQN; 0: no shared receive queues */
    uint32_t first_qpn;
    uint64_t page_sizes;             /* page sizes of regions, one bit each; 0: 4096 alone */
    bool has_mw;                     /* memory windows, and the memory management extensions */
    enum mtu max_mtu;                /* maximum path MTU of the device */
    uint32_t profile;                /* enum profile */
    uint64_t seed;                   /* seed of the memory keys */
    struct hca_pkeys pkeys;          /* P_Key table; n 0: only the default partition */
    struct rdl_device_limits limits; /* 0 in a field means the default limit */
};

/* Calls from the RNIC to the device that presents it.  They may call these functions of the RNIC:
 *
 *	fetch_recv()  rnic_srq_taken()
 *	event()       rnic_event_told()
 *	complete()    rnic_cq_overflow()
 *	any of them   rnic_srq_failed() and rnic_event_fatal(), if a ring turns out to be broken
 *
 * They must not call rnic_settle(), rnic_kick(), rnic_timer(), or functions that create, change or
 * destroy objects.
 */
struct rnic_ops {
    /* is_driven: a driver runs the device.  is_running: and the device may access memory. */
    bool (*is_driven)(const void *ctx);
    bool (*is_running)(const void *ctx);

    /* Returns true if the driver is to see the link of the port: its network interface is up. NULL:
     * it always is.
     */
    bool (*has_interface)(const void *ctx);

    /* As in struct xport_ops.  After receives(), the next receive that is posted must lead to
     * rnic_kick(): the peer is told the number, and must be told of changes.
     */
    enum fetch (*fetch_send)(void *ctx, struct qp *qp, struct send_wqe *out);
    enum fetch (*fetch_recv)(void *ctx, struct qp *qp, struct recv_wqe *out);
    uint32_t (*receives)(void *ctx, struct qp *qp);
    /* Returns true if a send is posted for @qp that fetch_send() would read. */
    bool (*sends_wait)(const void *ctx, const struct qp *qp);

    /* keeps_events: the driver takes events one by one, so that they wait in rnic.events until
     * rnic_event_told(); otherwise they are only counted.  NULL: it always does.  event: an event
     * was added or counted.
     */
    bool (*keeps_events)(const void *ctx);
    void (*event)(void *ctx);

    /* The work request with the name @desc (send_wqe.desc, recv_wqe.desc) is over: its place in the
     * queue is free again.
     */
    void (*release)(void *ctx, struct qp *qp, enum wq wq, uint32_t desc);
    /* Adds @wc to the queue of @cq.  Follows directly after release() of the same work request.
     * Returns false, after rnic_cq_overflow(), if the queue has no room.
     */
    bool (*complete)(void *ctx, struct cq *cq, const struct completion *wc);
    /* The driver has asked to be told of the completion that @cq has got. */
    void (*completed)(void *ctx, struct cq *cq);
};

#define RNIC_EVENTS_MAX 64u /* maximum number of pending asynchronous events */

struct rnic_event {
    enum async_event type;
    uint32_t number; /* number of the object: CQN, QPN, SRQN or port */
};

/* Asynchronous events.  The ring holds those that the driver has not been told yet. */
struct rnic_events {
    struct rnic_event ring[RNIC_EVENTS_MAX];
    uint32_t first, len;
    uint64_t raised, lost; /* numbers of events since the last reset */
    bool untold;           /* events were lost, and the driver has not been told that any were */
};

/* FIFO of the queue pairs with something to send.  The first one sends one frame and, if it has
 * more to send, goes to the end.
 */
struct rnic_ready {
    uint32_t *ring;  /* max_qp + 1 entries: QPNs */
    bool *is_queued; /* indexed by QPN */
    uint32_t first, len;
};

/* A port by which queue pairs of an RNIC send and receive, with those that have something to send.
 * Every RNIC has one.  Further ones have a GID table and a MAC of their own; they have no link
 * state, no groups and no datagrams.
 */
struct rnic_way {
    struct rnic *nic;
    struct eth_port *port;
    uint32_t port_user; /* number of the RNIC at the port */
    struct rnic_ready ready;
    struct hca_gid *gids; /* HCA_GIDS entries; NULL: those of the device */
    struct rnic_way *next;
};

struct rnic {
    const struct rnic_config *config;
    struct rdl_device_limits limits; /* current limits, at most those of config */
    struct arena *arena;
    struct sim *sim;
    struct trace *trace;
    struct ram *ram;
    struct eth_port *port; /* way.port */
    struct progress *progress;
    uint32_t (*peer_of)(void *world, const uint8_t gid[GID_BYTES]); /* see struct rnic_env */
    bool (*may_connect)(void *world, uint32_t host, const uint8_t gid[GID_BYTES]);
    void *world;
    const struct rnic_ops *ops;
    void *ctx; /* argument of ops */

    struct hca hca;
    struct xport xport;
    struct rnic_way way;  /* its first port; way.next: the further ones */
    uint32_t *failed_cqs; /* overflowed CQs whose QPs are not in ERR yet */
    uint32_t n_failed_cqs;
    /* Numbers of packets dropped for a wrong P_Key or Q_Key since the last reset. */
    uint32_t bad_pkeys, bad_qkeys;
    struct rnic_events events;
    struct router *router; /* it stands between the device and the transport; NULL: nothing does */
    /* The host boots: its driver sets the initial GIDs, and the device executes control requests at
     * once.
     */
    bool booting;
};

/* Environment of an RNIC.  All pointers must outlive it. */
struct rnic_env {
    struct arena *arena;
    struct sim *sim;
    struct ram *ram;
    struct eth_port *port;
    struct progress *progress;
    /* Returns the host with the address @gid, or EV_HOST_NONE if there is none.  For events. */
    uint32_t (*peer_of)(void *world, const uint8_t gid[GID_BYTES]);
    /* Returns true if @host may have a connection to the address @gid.  NULL: it may have any. */
    bool (*may_connect)(void *world, uint32_t host, const uint8_t gid[GID_BYTES]);
    void *world;                   /* argument of peer_of() and may_connect() */
    struct router_process *router; /* all requests pass this process; NULL: none does */
};

/* Initializes an RNIC as after power-on and registers it at the port.  *@n must not move
 * afterwards, and *@config must stay; the fields of its limits that are 0 become the defaults.
 * @ctx is the argument of @ops.  Returns false if the arena is full.
 */
bool rnic_init(struct rnic *n, const struct rnic_env *env, struct rnic_config *config,
               const struct rnic_ops *ops, void *ctx);

/* Destroys all objects and sets all counters to 0, also those of the transport.  Keeps the current
 * limits.
 */
void rnic_reset(struct rnic *n);

/* Changes the current limits to those of @to that are not 0.  Returns false without a change if a
 * limit of @to is larger than at power-on.
 */
bool rnic_limit(struct rnic *n, const struct rdl_device_limits *to);

/* Returns the maximum path MTU of queue pairs: the largest one that the device supports and that
 * fits in the Ethernet MTU.
 */
enum mtu rnic_active_mtu(const struct rnic *n);

/* Returns the longest message that the port says it takes, in bytes. */
uint32_t rnic_message_max(const struct rnic *n);

/* Returns true if there are the memory management extensions: fast regions (REG_MR), LOCAL_INV,
 * SEND_WITH_INV and READ_WITH_INV.
 */
static inline bool rnic_has_mem_mgt(const struct rnic *n)
{
    return n->hca.limits.max_fast_pages > 0;
}

/* Adds @port as a further port of @n: @way, which must not move, with the GID table @gids, whose
 * HCA_GIDS entries are not valid.  Returns false if the arena is full.
 */
bool rnic_way_add(struct rnic *n, struct rnic_way *way, struct eth_port *port,
                  struct hca_gid *gids);

/* Queue pair @qp, which is in RESET, uses the port of @way, a further port, until it is destroyed.
 */
void rnic_way_use(struct rnic_way *way, struct qp *qp);

/* No queue pair uses the further port @way any more: clears its GID table. */
void rnic_way_leave(struct rnic_way *way);

/* Sends frames that wait for the ports of @n, as eth_port_pump() does. */
static inline void rnic_pump(struct rnic *n)
{
    eth_port_pump(n->port);
    for (struct rnic_way *way = n->way.next; way; way = way->next)
        eth_port_pump(way->port);
}

/* Call this before the device executes a control request of its guest, and again before it answers:
 * with a router, earlier completions come first.
 */
static inline void rnic_control(struct rnic *n)
{
    if (n->router)
        router_settle(n->router);
}

/* Work was posted to the queue @wq of @qp.  Frames leave with the next rnic_pump(). */
void rnic_kick(struct rnic *n, struct qp *qp, enum wq wq);

/* Handler of SIM_QP_TIMER.  @arg and @held are those of xport_timer(). */
void rnic_timer(struct rnic *n, uint64_t arg, bool held);

/* The device may access memory again: continues all that waited for it. */
void rnic_go_on(struct rnic *n);

/* A completion of @cq is lost, because its queue has no room.  With
 * TRAIT_CQ_OVERFLOW_ENDS the CQ takes no more.  [libibverbs, ibv_poll_cq(3)]
 */
RDL_COLD void rnic_cq_overflow(struct rnic *n, struct cq *cq);

/* Raises asynchronous event @type about the object with @number: emits `async_event`, adds it to
 * n->events or counts it, and calls ops->event().  If there is no room, it is lost, and the next
 * one that the driver is told must say so.  Does nothing if no driver runs the device.
 */
void rnic_event(struct rnic *n, enum async_event type, uint32_t number);

/* Emits `async_event` for DEVICE_FATAL.  The driver learns of the failure from the device. */
void rnic_event_fatal(const struct rnic *n);

/* The driver was told the first event of n->events.ring, and that events were lost if
 * n->events.untold.  Removes the event.
 */
void rnic_event_told(struct rnic *n);

/* Discards the pending events of an object that is being destroyed. */
void rnic_events_forget(struct rnic *n, uint32_t kind, uint32_t number);

/* The link of the port has come up or gone down: raises PORT_ACTIVE or PORT_ERR. */
void rnic_link_changed(struct rnic *n, bool up);

/* The device can no longer read a queue of @qp: moves @qp to ERR and raises QP_FATAL, unless it is
 * in RESET or ERR.
 */
void rnic_qp_lost_queue(struct rnic *n, struct qp *qp);

/* Counts a receive that was taken from @srq, in which @left remain.  Raises SRQ_LIMIT_REACHED if
 * these are fewer than the armed limit.
 */
void rnic_srq_taken(struct rnic *n, struct srq *srq, uint32_t left);

/* Marks @srq as failed and raises SRQ_ERR, unless it has failed already. */
void rnic_srq_failed(struct rnic *n, struct srq *srq);

/* The device can no longer read the queue of @srq.  If queue pairs use it, marks it as failed and
 * moves them to ERR.
 */
void rnic_srq_lost_queue(struct rnic *n, struct srq *srq);

/* Sets entry @index of the GID table to @gid, or clears it if @gid is NULL.  Raises GID_CHANGE if
 * the entry has changed and the host does not boot.  Returns as hca_gid_set() and hca_gid_clear()
 * do.
 */
enum refusal_reason rnic_gid_set(struct rnic *n, uint32_t index, const uint8_t *gid);

/* As rnic_gid_set(), without an event.  Both register the GID at the multiplexer of the port, if it
 * has one, and return REF_GID_REGISTERED if that refuses it.
 */
enum refusal_reason rnic_gid_bind(struct rnic *n, uint32_t index, const uint8_t *gid);

/* Moves the queue pairs of overflowed CQs to ERR.  Call rnic_settle() after every call into the
 * transport.
 */
RDL_COLD void rnic_settle_failed(struct rnic *n);

static inline void rnic_settle(struct rnic *n)
{
    if (n->n_failed_cqs > 0)
        rnic_settle_failed(n);
}

#endif
