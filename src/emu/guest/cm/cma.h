/* SPDX-License-Identifier: MIT */
/* rdma_cm, as the kernel of a guest has it: IDs of programs, addresses and ports, listeners,
 * events. It is the user of ib_cm.  [Linux, drivers/infiniband/core/cma.c, ucma.c of version 6.1]
 *
 * A program has channels, and each channel has a queue of events of its IDs.  Calls return at once,
 * with 0 or an errno; what they cause comes as an event.  Queue pairs are the program's affair: an
 * ID knows the number of one, and cma_qp_attr() tells with what attributes it is to be moved.
 */
#ifndef EMU_GUEST_CM_CMA_H
#define EMU_GUEST_CM_CMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/hash_lists.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/cm_option.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/guest/cm/ib_cm.h"
#include "emu/wire/addr.h"
#include "rdmalab/cm.h"

struct cma_id;

struct cma_event {
    struct cma_event *next, *before; /* in the queue of its channel */
    struct cma_event *next_of_id;    /* in cma_id.first */
    enum rdma_cm_event kind;
    int status; /* 0, a negative errno, a reason of a REJ, or the status of a SIDR_REP */
    struct cma_id *id, *listener; /* listener: of CONNECT_REQUEST */
    struct cma_group *group;      /* of MULTICAST_JOIN */
    struct rdl_cm_param param;
    struct rdl_ah_attr ah; /* of a datagram service, or a group */
};

/* Membership of an ID in a multicast group. */
struct cma_group {
    struct cma_group *next;
    uint32_t number; /* counts the memberships of the host, from 1 */
    uint8_t gid[GID_BYTES];
    bool sends_only;
    bool is_attached; /* its program has attached the queue pair */
    bool is_left;     /* it ends: its events are lost */
};

struct cma_channel {
    struct cma_event *first, *last;
    uint32_t n_events, n_ids;
};

struct cma_id {
    struct hash_node by_number, by_port; /* nodes of the tables of struct cma */
    struct cma *cma;
    struct cma_id *next, *before; /* in cma.ids */
    struct cma_channel *channel;
    void *user;
    uint32_t number; /* counts the IDs of the host, from 1 */
    enum port_space space;
    uint32_t state; /* enum cma_state */
    struct rdl_cm_addr local, peer;
    /* @local.port is its own, and it is in cma.by_port; an ID of a request has the port of its
     * listener.
     */
    bool has_port;
    bool reuses, v6_only; /* options REUSEADDR, AFONLY */
    uint8_t tos;          /* option TOS */
    bool has_timeout;     /* option ACK_TIMEOUT */
    uint32_t timeout;     /* code */
    uint32_t psn;         /* that its peer begins to send with */
    uint32_t qpn;
    bool srq;
    uint32_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
    /* The route: resolved, or that of the request. */
    uint32_t path_mtu, packet_life; /* enum mtu; code */
    uint8_t traffic_class;
    uint32_t flow_label;
    uint32_t remote_qpn, remote_psn;
    uint32_t backlog;    /* of a listener: requests that may still wait */
    uint32_t n_requests; /* of a listener: those that wait */
    bool is_request;     /* its CONNECT_REQUEST was not taken yet: it counts in the backlog */
    bool is_unaccepted;  /* it is from a request, and was not accepted: it gets no events */
    bool hides_end;      /* it gets no REJECTED and no DISCONNECTED */
    struct cma_id *from; /* its listener, while @is_request; NULL: that has gone */
    struct ib_cm_id *ib; /* NULL: none */
    uint64_t timer;      /* of ADDR_QUERY; 0: none */
    struct cma_group *groups;
    /* Its events that nobody has taken; a CONNECT_REQUEST is one of the new ID. */
    struct cma_event *first, *last;
    /* Events that were taken and not acknowledged; a CONNECT_REQUEST is its listener's. */
    uint32_t n_told;
};

struct cma_ops {
    /* Finds the neighbour @gid: 0 if its MAC is known; EAGAIN: cma_resolved() follows, at the
     * latest when the neighbour has not answered; or another errno.
     */
    int (*resolve)(void *ctx, const uint8_t gid[GID_BYTES]);
    /* Calls cma_timer() with @number in @ns, unless stop_timer() comes before that.  Returns what
     * stop_timer() needs, never 0.
     */
    uint64_t (*start_timer)(void *ctx, uint32_t number, uint64_t ns);
    void (*stop_timer)(void *ctx, uint64_t timer);
    /* There is an event in the queue of @channel. */
    void (*has_event)(void *ctx, struct cma_channel *channel);
};

struct cma_config {
    struct arena *arena;
    uint8_t gid[2][GID_BYTES]; /* the addresses of the host: IPv4, IPv6 */
    uint32_t path_mtu;         /* enum mtu: that of its port */
    uint32_t ack_delay;        /* code */
    uint32_t packet_life;      /* code: 18 in Linux 6.1 */
    uint32_t max_rd_atomic;    /* of the device; also that of peers */
    struct ib_cm *ib;          /* whose user this is: cma_ib_event() */
    struct cma_ops ops;
    void *ctx;
};

struct cma {
    struct cma_config config;
    struct prng rng;
    struct cma_id *ids;                   /* the newest first */
    struct hash_lists by_number, by_port; /* of IDs; by_port: those with has_port */
    uint32_t n_ids, n_created, n_groups_created;
    uint32_t n_querying; /* IDs in state ADDR_QUERY */
};

void cma_init(struct cma *cma, const struct cma_config *config, struct prng rng);

/* Returns the listener for requests to @to, or NULL. */
struct cma_id *cma_listener_at(const struct cma *cma, enum port_space space,
                               const struct rdl_cm_addr *to);

/* --- Calls of a program ----------------------------------------------------------------------- */

struct cma_channel *cma_channel_new(struct cma *cma);           /* NULL: no memory */
void cma_channel_free(struct cma *cma, struct cma_channel *ch); /* which has no IDs */

/* Returns NULL if there is no memory. */
struct cma_id *cma_create(struct cma *cma, struct cma_channel *ch, enum port_space space,
                          void *user);

/* Destroys @id, and the events that nobody has taken: the IDs of CONNECT_REQUESTs with them. */
void cma_destroy(struct cma_id *id);

/* Moves @id to @ch, with the events that nobody has taken; those of a listener are the requests to
 * it, whose IDs move, too.  [Linux, ucma_migrate_id()]
 */
void cma_migrate(struct cma_id *id, struct cma_channel *ch);

/* From now on, the program gets no REJECTED and no DISCONNECTED of @id, nor those that wait:
 * librdmacm keeps them to itself once it has told CONNECT_ERROR.  [librdmacm, rdma_get_cm_event()]
 */
void cma_hide_end(struct cma_id *id);

/* EADDRINUSE, EADDRNOTAVAIL, EINVAL, ENOMEM. */
int cma_bind(struct cma_id *id, const struct rdl_cm_addr *at);

/* Then ADDR_RESOLVED or ADDR_ERROR comes, after @timeout_ns at the latest.  @from may be NULL. */
int cma_resolve_addr(struct cma_id *id, const struct rdl_cm_addr *from,
                     const struct rdl_cm_addr *to, uint64_t timeout_ns);
/* Then ROUTE_RESOLVED comes. */
int cma_resolve_route(struct cma_id *id);

int cma_listen(struct cma_id *id, uint32_t backlog);
int cma_connect(struct cma_id *id, const struct rdl_cm_param *p);

/* @p NULL: the active side of a connection establishes it, behind CONNECT_RESPONSE. */
int cma_accept(struct cma_id *id, const struct rdl_cm_param *p);
int cma_reject(struct cma_id *id, const void *data, size_t bytes);
int cma_disconnect(struct cma_id *id);
int cma_notify(struct cma_id *id);

/* Returns the attributes with which the queue pair of @id moves to @state, and their mask. */
int cma_qp_attr(const struct cma_id *id, uint32_t state, struct rdl_qp_attr *ret,
                uint32_t *ret_mask);

/* Returns the number of ports at which somebody listens. */
uint32_t cma_services(const struct cma *cma);

/* EINVAL: the option cannot have @value, or cannot be set in the state of @id. */
int cma_set_option(struct cma_id *id, enum cm_option option, uint32_t value);

/* Joins the group @to, which needs no port.  Then MULTICAST_JOIN comes.  *@ret is the membership.
 * EINVAL: @id has no device or is none for datagrams; 524, the kernel's ENOTSUPP: IPv6.
 */
int cma_join(struct cma_id *id, const struct rdl_cm_addr *to, bool sends_only,
             struct cma_group **ret);

/* Leaves the group.  Its event goes, too, if nobody has taken it. */
void cma_leave(struct cma_id *id, struct cma_group *g);

/* Finds the membership @number of @id; NULL: there is none. */
struct cma_group *cma_group_of(const struct cma_id *id, uint32_t number);

/* Fills in the way from @id to @gid, its peer or a group. */
void cma_put_way(const struct cma_id *id, const uint8_t gid[GID_BYTES], struct rdl_ah_attr *ret);

/* Returns the code of the packet life time of the path. */
uint32_t cma_packet_life(const struct cma_id *id);

/* Returns true if @id has a device: it has an address, and not any address. */
bool cma_has_device(const struct cma_id *id);

/* Takes the oldest event of @ch; NULL: there is none.  cma_ack() frees it. */
struct cma_event *cma_take(struct cma_channel *ch);
void cma_ack(struct cma *cma, struct cma_event *e);

/* --- From below ------------------------------------------------------------------------------- */

/* An event of ib_cm for this user; ib_cm_ops.event(). */
bool cma_ib_event(struct cma *cma, struct ib_cm_id *ib, const struct ib_cm_event *e);

/* The time to resolve the address of ID @number is over. */
void cma_timer(struct cma *cma, uint32_t number);

/* The neighbour @gid is known, or it is known that it does not answer. */
void cma_resolved(struct cma *cma, const uint8_t gid[GID_BYTES], bool found);

#endif
