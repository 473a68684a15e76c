/* SPDX-License-Identifier: MIT */
/* Connections as rdma_cm makes them: event channels and IDs of programs, and the events of the
 * guest's kernel.  [librdmacm; Linux, drivers/infiniband/core/cma.c and ucma.c of version 6.1]
 *
 * The functions are what the kernel does for librdmacm.  What librdmacm does itself is the caller's
 * affair: it moves the queue pairs, with the attributes of rdl_cm_qp_attr():
 *
 *	active side                                  passive side
 *	rdl_cm_resolve_addr()   ADDR_RESOLVED        rdl_cm_bind(), rdl_cm_listen()
 *	rdl_cm_resolve_route()  ROUTE_RESOLVED
 *	rdl_cm_connect()        ---- REQ ---->       CONNECT_REQUEST, with a new ID
 *	                                             queue pair to INIT, RTR, RTS
 *	CONNECT_RESPONSE        <--- REP -----       rdl_cm_accept()
 *	queue pair to RTR, RTS
 *	rdl_cm_accept(NULL)     ---- RTU ---->       ESTABLISHED
 *
 * No call blocks.  What it causes comes as an event while the lab runs.  The first call starts the
 * connection managers of all hosts, so that a host where nobody listens rejects.  Starting creates
 * the objects cm_pd, cm_mr, cm_cq and cm_gsi on each host, which have other names where these are
 * taken; no simulated time passes.
 *
 * Calls that the kernel refuses return RDL_ERR_ERRNO, and *@reterr is the errno.  All calls also
 * return RDL_ERR_STALE for an object that was destroyed.
 */
#ifndef RDMALAB_CM_H
#define RDMALAB_CM_H

#include "rdmalab/verbs.h"

typedef struct {
    uint64_t raw;
} rdl_cm_channel;

typedef struct {
    uint64_t raw;
} rdl_cm_id;

/* An address of IP, and a port.  gid is the address as a GID: ::ffff:10.0.0.1 for IPv4.  All zero
 * bytes of the address mean any address of the host.
 */
struct rdl_cm_addr {
    uint8_t version; /* 4 or 6; 0: there is no address */
    uint8_t gid[16];
    uint16_t port; /* 0: the kernel chooses one */
};

#define RDL_CM_PRIVATE_MAX 224u
#define RDL_CM_ENOTSUPP    524 /* an errno of Linux that is not in errno.h: ENOTSUPP */

/* The parameters of a connection.  [librdmacm, rdma_conn_param] */
struct rdl_cm_param {
    uint8_t private_data[RDL_CM_PRIVATE_MAX];
    size_t private_bytes; /* in an event: the length of the field of the message */
    uint32_t responder_resources, initiator_depth;
    uint32_t retry_count, rnr_retry_count; /* 0 to 7 */
    bool flow_control, srq;
    uint32_t qpn;
    uint32_t qkey; /* datagrams alone */
};

struct rdl_cm_event {
    uint32_t kind;      /* enum rdma_cm_event */
    int status;         /* 0, a negative errno, a reason of a REJ, or the status of a SIDR_REP */
    rdl_cm_id id;       /* of CONNECT_REQUEST: the new one */
    rdl_cm_id listener; /* of CONNECT_REQUEST; raw is 0 if it was destroyed */
    uint32_t group;     /* of MULTICAST_JOIN: the membership; else 0 */
    bool sends_only;    /* of MULTICAST_JOIN: the queue pair need not be attached */
    struct rdl_cm_param param;
    struct rdl_ah_attr ah; /* of a datagram service or a group: the way there */
};

/* Creates an event channel on @host.  Starts the connection managers if they are not started.
 *
 * Return: RDL_OK
 *	   RDL_ERR_BUSY  a control request of a host is under way, and they are not started: run
 *	                 the lab until it is answered
 *	   RDL_ERR_EXISTS, RDL_ERR_INVAL, RDL_ERR_RESERVED, RDL_ERR_LIMIT, RDL_ERR_NOMEM
 *	   another error why the connection manager of @host could not start
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_create_channel(struct rdl_lab *lab, rdl_host host,
                                                     const char *name, rdl_cm_channel *ret);

/* Returns RDL_ERR_BUSY if the channel has IDs. */
RDL_MUST_CHECK enum rdl_status rdl_cm_destroy_channel(struct rdl_lab *lab, rdl_cm_channel channel);

/* Creates an ID whose events come to @channel.  @space is an enum port_space: TCP for connections,
 * UDP for datagrams; RDL_ERR_UNSUPPORTED for others.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_create_id(struct rdl_lab *lab, rdl_cm_channel channel,
                                                uint32_t space, const char *name, rdl_cm_id *ret);

/* Destroys an ID, and its events that nobody has taken.  A peer that waits is told so.  Returns
 * RDL_ERR_BUSY if the program has not acknowledged all events that it took; a CONNECT_REQUEST
 * counts for the listener.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_destroy_id(struct rdl_lab *lab, rdl_cm_id id);

/* Moves an ID to another channel of its host, with the events that nobody has taken; a listener
 * takes along the requests to it.  Returns RDL_ERR_BUSY if the program has not acknowledged all
 * events of the ID that it took, and RDL_ERR_INVAL if @channel is of another host.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_migrate_id(struct rdl_lab *lab, rdl_cm_id id,
                                                 rdl_cm_channel channel);

/* EADDRINUSE, EADDRNOTAVAIL, EINVAL, ENOMEM. */
RDL_MUST_CHECK enum rdl_status rdl_cm_bind(struct rdl_lab *lab, rdl_cm_id id,
                                           const struct rdl_cm_addr *at, int *reterr);

/* ADDR_RESOLVED or ADDR_ERROR follows, in @timeout_ns at the latest.  @from may be NULL. */
RDL_MUST_CHECK enum rdl_status rdl_cm_resolve_addr(struct rdl_lab *lab, rdl_cm_id id,
                                                   const struct rdl_cm_addr *from,
                                                   const struct rdl_cm_addr *to,
                                                   uint64_t timeout_ns, int *reterr);

/* ROUTE_RESOLVED follows. */
RDL_MUST_CHECK enum rdl_status rdl_cm_resolve_route(struct rdl_lab *lab, rdl_cm_id id, int *reterr);

/* @backlog 0: the kernel's largest. */
RDL_MUST_CHECK enum rdl_status rdl_cm_listen(struct rdl_lab *lab, rdl_cm_id id, uint32_t backlog,
                                             int *reterr);

RDL_MUST_CHECK enum rdl_status rdl_cm_connect(struct rdl_lab *lab, rdl_cm_id id,
                                              const struct rdl_cm_param *param, int *reterr);

/* Accepts a request; with @param NULL, establishes a connection behind CONNECT_RESPONSE. */
RDL_MUST_CHECK enum rdl_status rdl_cm_accept(struct rdl_lab *lab, rdl_cm_id id,
                                             const struct rdl_cm_param *param, int *reterr);
RDL_MUST_CHECK enum rdl_status rdl_cm_reject(struct rdl_lab *lab, rdl_cm_id id, const void *data,
                                             size_t bytes, int *reterr);
RDL_MUST_CHECK enum rdl_status rdl_cm_disconnect(struct rdl_lab *lab, rdl_cm_id id, int *reterr);

/* @option is an enum cm_option.  EINVAL: not with this value, or not in this state. */
RDL_MUST_CHECK enum rdl_status rdl_cm_set_option(struct rdl_lab *lab, rdl_cm_id id, uint32_t option,
                                                 uint32_t value, int *reterr);

/* Makes an ID for datagrams, which has a device, a member of the multicast group @to of IPv4.
 * MULTICAST_JOIN follows.  *@ret is the membership, never 0.  Its queue pair is attached by the
 * caller, as librdmacm does it.  EINVAL, ENOMEM; 524, the kernel's ENOTSUPP, for IPv6.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_join(struct rdl_lab *lab, rdl_cm_id id,
                                           const struct rdl_cm_addr *to, bool sends_only,
                                           uint32_t *ret, int *reterr);

/* A membership in a multicast group. */
struct rdl_cm_group {
    uint32_t number; /* never 0 */
    uint8_t gid[16]; /* of the group */
    bool sends_only;
    bool is_attached; /* the caller has attached its queue pair: rdl_cm_set_attached() */
};

/* Returns membership @i of an ID, which counts from 0.  RDL_ERR_NOT_FOUND: it has not so many. */
RDL_MUST_CHECK enum rdl_status rdl_cm_group_at(const struct rdl_lab *lab, rdl_cm_id id, uint32_t i,
                                               struct rdl_cm_group *ret);

/* Remembers that the queue pair of an ID is attached to the group, as librdmacm does. */
RDL_MUST_CHECK enum rdl_status rdl_cm_set_attached(struct rdl_lab *lab, rdl_cm_id id,
                                                   uint32_t membership);

/* Ends a membership, and drops its event if nobody has taken it.  RDL_ERR_NOT_FOUND: there is none.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_leave(struct rdl_lab *lab, rdl_cm_id id, uint32_t membership);

/* Tells the kernel that data came before the RTU, as COMM_EST says. */
RDL_MUST_CHECK enum rdl_status rdl_cm_notify(struct rdl_lab *lab, rdl_cm_id id, int *reterr);

/* Returns the attributes with which a queue pair of @id moves to @state (enum qp_state), and their
 * mask (set of enum qp_attr_bit).
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_qp_attr(struct rdl_lab *lab, rdl_cm_id id, uint32_t state,
                                              struct rdl_qp_attr *ret, uint32_t *ret_mask,
                                              int *reterr);

/* Makes @qp the queue pair of @id, as librdmacm remembers it; raw 0: none. */
RDL_MUST_CHECK enum rdl_status rdl_cm_set_qp(struct rdl_lab *lab, rdl_cm_id id, rdl_qp qp);

/* Takes the oldest event of @channel.  *@ret_n is 1, or 0 if there is none.  The new ID of a
 * CONNECT_REQUEST gets the name @name; NULL or "": it is named after its number.
 *
 * Returns RDL_ERR_EXISTS, RDL_ERR_INVAL or RDL_ERR_RESERVED for a name that it cannot have,
 * RDL_ERR_INVAL for a name if the event has no new ID, RDL_ERR_LIMIT or RDL_ERR_NOMEM; then the
 * event stays.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_get_event(struct rdl_lab *lab, rdl_cm_channel channel,
                                                const char *name, struct rdl_cm_event *ret,
                                                size_t *ret_n);

/* Makes the event that was taken last from @channel one of kind @kind with @status, as librdmacm
 * does with CONNECT_RESPONSE.  After a CONNECT_ERROR, events REJECTED and DISCONNECTED of its ID
 * are not told any more.  Returns RDL_ERR_STATE if no event waits to be acknowledged, RDL_ERR_INVAL
 * for an event that is no CONNECT_RESPONSE.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_turn_event(struct rdl_lab *lab, rdl_cm_channel channel,
                                                 uint32_t kind, int status);

/* Acknowledges the oldest event that was taken from @channel.  Returns RDL_ERR_STATE if none was.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_ack_event(struct rdl_lab *lab, rdl_cm_channel channel);

struct rdl_cm_id_info {
    uint32_t state;                   /* enum cma_state */
    uint32_t ib_state;                /* enum cm_state; IDLE if there is no connection */
    uint32_t space;                   /* enum port_space */
    uint32_t comm_id, remote_comm_id; /* in the messages; 0: none, or not known */
    struct rdl_cm_addr local, peer;
    uint32_t qpn, remote_qpn; /* 0: not known */
    uint32_t psn, remote_psn; /* remote_psn: that this side begins to send with */
    uint32_t retries;         /* of the message that waits for an answer */
    uint64_t due_ns;          /* when it is sent again; 0: none waits */
    uint32_t unacked;         /* events that were taken and not acknowledged */
    bool has_device;          /* it has an address, and not any address */
    uint32_t path_mtu;        /* enum mtu; 0: the path is not known */
    uint32_t packet_life;     /* code; of the path */
    struct rdl_ah_attr ah;    /* the way to @peer, if it has a device */
    uint32_t backlog;         /* of a listener: requests that may still wait */
    bool of_program;          /* it belongs to a program of rdmalab/program.h */
    rdl_qp qp;                /* raw 0: none */
    rdl_cm_channel channel;
};
RDL_MUST_CHECK enum rdl_status rdl_cm_id_info(const struct rdl_lab *lab, rdl_cm_id id,
                                              struct rdl_cm_id_info *ret);

/* Finds the ID on @host that gets the requests for the address @to in port space @space.  Returns
 * RDL_OK, RDL_ERR_STALE, or RDL_ERR_NOT_FOUND if none listens there.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_listener(const struct rdl_lab *lab, rdl_host host,
                                               uint32_t space, const struct rdl_cm_addr *to,
                                               rdl_cm_id *ret);

/* A call of a program that the lab remembers.  Calls are no events: they have no number and are no
 * part of the hash.
 */
struct rdl_cm_call {
    uint64_t at_ns;
    uint64_t tick;  /* the last tick that was over when the program called, or got its event */
    uint32_t call;  /* enum cm_call */
    uint32_t host;  /* its number, as in events */
    uint32_t id;    /* the number of the ID, as in events */
    uint32_t event; /* of rdma_get_cm_event: the event, an enum rdma_cm_event */
    int error;      /* the errno with which it was refused; 0: it was not */
};

/* rdl_cm_call_count() returns the number of calls that are remembered: the last RDL_CM_CALLS_MAX.
 * rdl_cm_call_at() returns call @i, 0 for the oldest.  A CONNECT_RESPONSE that librdmacm takes for
 * itself is remembered as the event that the program gets in its place.
 */
#define RDL_CM_CALLS_MAX 512u
size_t rdl_cm_call_count(const struct rdl_lab *lab);
const struct rdl_cm_call *rdl_cm_call_at(const struct rdl_lab *lab, size_t i);

/* A call of librdmacm may begin or end with moves of a queue pair, which the kernel does not
 * connect with it.  rdl_cm_began(): the call about @id that follows has begun after tick @tick, at
 * @at_ns. rdl_cm_event_told(): the program gets the event that was taken last from @channel only
 * now.
 */
void rdl_cm_began(struct rdl_lab *lab, rdl_cm_id id, uint64_t tick, uint64_t at_ns);
void rdl_cm_event_told(struct rdl_lab *lab, rdl_cm_channel channel);

/* Counts of the connection manager of a host. */
struct rdl_cm_counts {
    uint32_t ids;      /* of programs, and of requests that no program has taken */
    uint32_t comm_ids; /* of ib_cm */
    uint32_t services; /* ports at which somebody listens */
    uint32_t messages; /* that wait to be sent */
    uint64_t rules;    /* set of rows of emu/facts/cm_rules.def that have decided so far */
};

/* Returns RDL_OK, RDL_ERR_STALE, or an error as rdl_cm_create_channel() if the connection manager
 * of @host does not run.
 */
RDL_MUST_CHECK enum rdl_status rdl_cm_counts(const struct rdl_lab *lab, rdl_host host,
                                             struct rdl_cm_counts *ret);

/* Returns the number of events of @channel that nobody has taken; 0 if it was destroyed. */
uint32_t rdl_cm_pending(const struct rdl_lab *lab, rdl_cm_channel channel);

/* Tells the kind (enum rdma_cm_event) of the event that would be taken next.  Returns false if
 * there is none.
 */
bool rdl_cm_next_event(const struct rdl_lab *lab, rdl_cm_channel channel, uint32_t *ret_kind);

#endif
