/* SPDX-License-Identifier: MIT */
/* The verbs of one guest: rdmalab/verbs.h without the lab, and what libibverbs would know.
 *
 *	program -> verbs -> a driver's operations (driver.h) -> its device
 *	              ^--------- answers, completions
 *
 * Names, meanings and errors of the functions are those of the public header.  What a request, a
 * work request or a completion looks like to a device is the driver's business; nothing here
 * depends on it.
 *
 * Objects are given as pointers that the lab has looked up from handles with verbs_get(), so that a
 * stale handle never gets further; created ones come back as handles.  One request of the control
 * path is under way at a time, or several that create objects (requests_max): every function that
 * makes one gives RDL_ERR_BUSY while others are that it cannot be beside, or while the object is
 * pending, and RDL_ERR_BROKEN when the device needs a reset; otherwise the answer comes with
 * verbs_answer().
 */
#ifndef EMU_GUEST_VERBS_VERBS_H
#define EMU_GUEST_VERBS_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/slots.h"
#include "emu/facts/device.h"
#include "emu/facts/enums.h"
#include "emu/mem/space.h"
#include "emu/trace/trace.h"
#include "emu/wire/addr.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"

struct verbs;
struct verbs_driver_ops;

#define VERBS_KINDS       (OBJ_CHANNEL + 1) /* of objects, by enum object_kind, with gaps */
#define VERBS_OBJECTS_MAX 65536u            /* of one kind on one host; devices have lower limits */

/* A handle: the number of its host, from 1 (16 bits), and a name of base/slots.h (48 bits). */
#define VERBS_NAME_BITS (2 * SLOTS_INDEX_BITS)

/* The number of the host, from 1, whose handle this is. */
static inline uint32_t verbs_host_of(uint64_t handle)
{
    return (uint32_t)(handle >> VERBS_NAME_BITS);
}

/* Its name in the table of its kind. */
static inline uint64_t verbs_name_of(uint64_t handle)
{
    return handle & (((uint64_t)1 << VERBS_NAME_BITS) - 1);
}

enum guest_life {
    GUEST_PENDING, /* the device has not answered the creating request */
    GUEST_LIVE,
    GUEST_LEAVING /* nor the destroying one */
};

/* What every object begins with.  A driver's own object begins with the verbs' (driver.h). */
struct guest_object {
    struct verbs *verbs;
    struct guest_object *next_named; /* of the same hash, verbs->named */
    enum object_kind kind;
    enum guest_life life;
    uint64_t handle;
    uint32_t n_users;   /* how often objects need this one */
    uint32_t n_unacked; /* asynchronous events that a program took and did not acknowledge */
    char name[RDL_NAME_BYTES];
};

struct guest_pd {
    struct guest_object o;
    uint32_t pdn;
};

/* A user region is over the memory of the program at addr.  One for fast registration is over what
 * was mapped into it last; a DMA region is over none of the program's.
 */
struct guest_mr {
    struct guest_object o;
    struct guest_pd *pd;
    enum key_kind kind;
    uint32_t mrn, lkey, rkey, access;
    uint64_t addr, bytes;
    uint64_t iova;      /* what SGEs and peers call its first byte */
    uint32_t max_pages; /* for fast registration: as many can be mapped */
};

struct guest_mw {
    struct guest_object o;
    struct guest_pd *pd;
    uint32_t type; /* 1, 2 */
    uint32_t mwn, rkey;
};

#define CHANNEL_EVENTS_FIRST 16u /* room of a channel, until it needs more */

/* A completion channel. */
struct guest_channel {
    struct guest_object o;
    uint32_t number;           /* in the order of creation on this host */
    struct guest_cq **waiting; /* a ring: the CQ of each event that nobody has taken */
    uint32_t cap, first, len;
};

struct guest_cq {
    struct guest_object o;
    struct guest_channel *channel; /* where its events arrive; NULL: they are only counted */
    uint32_t cqn;
    uint32_t cqe;
    bool armed;      /* the device was asked for an event and none came since */
    uint64_t polled; /* completions taken out */
    uint64_t polled_when_armed;
    uint64_t events;           /* completion events */
    uint32_t n_unacked_events; /* of them, that a program took and did not acknowledge */
};

struct guest_wq {
    uint32_t queue; /* what the driver calls it, in events */
    uint32_t max_wr, max_sge;
};

/* A queue pair is in a multicast group. */
struct guest_membership {
    struct guest_membership *next;
    uint8_t gid[GID_BYTES];
};

/* A shared receive queue. */
struct guest_srq {
    struct guest_object o;
    struct guest_pd *pd;
    uint32_t srqn;
    uint32_t limit; /* as last set or queried */
    struct guest_wq rq;
};

struct guest_qp {
    struct guest_object o;
    struct guest_pd *pd;
    struct guest_cq *send_cq, *recv_cq;
    struct guest_srq *srq; /* NULL: rq is its own, otherwise that of this one */
    uint32_t qpn;
    enum qp_type type;
    bool sq_sig_all;
    bool block_self_mcast_lb; /* it gets no copy of what it sends to its groups */
    uint32_t max_inline_data;
    struct guest_membership *groups; /* each is a user of it, so that it stays */
    struct rdl_qp_attr attr;         /* as last set, queried, or learnt from an error completion */
    /* Completions before these are of an earlier life of the queue pair, or of its number. */
    uint64_t send_cq_from, recv_cq_from;
    struct guest_wq sq, rq;
};

/* How datagrams reach a station.  It is the driver's own: no device has an object for it. */
struct guest_ah {
    struct guest_object o;
    struct guest_pd *pd;
    struct rdl_ah_attr attr; /* with the MAC, once it lives */
};

/* What the device can do, as far as verbs judge by it (ibv_device_attr). */
struct verbs_limits {
    uint64_t max_mr_bytes;
    uint32_t max_cq, max_qp; /* also the largest CQN and QPN */
    uint32_t max_cqe, max_qp_wr;
    uint32_t max_send_sge, max_recv_sge;
    uint32_t max_sge_rd; /* of a READ */
    uint32_t max_inline_data;
    uint32_t max_ah; /* 0: without end */
    uint32_t max_pkeys;
    uint32_t max_dest_rd_atomic, max_rd_atomic;
    uint32_t n_ports;
    uint32_t max_mw;         /* 0: there are no windows */
    uint32_t max_fast_pages; /* of a region for fast registration; 0: there are none */
    bool can_rereg;          /* regions can be changed */
    bool has_mcast, blocks_mcast_lb;
    uint32_t max_srq; /* also the largest number of one; 0: the device has none */
    uint32_t max_srq_wr, max_srq_sge;
};

/* What was last learnt of the port (ibv_port_attr). */
struct verbs_port {
    uint32_t active_mtu; /* enum mtu: the largest that it carries */
};

enum verbs_request_kind {
    VERBS_BOOT, /* the driver brings its device up */
    VERBS_CREATE,
    VERBS_DESTROY,
    VERBS_MODIFY_QP,
    VERBS_QUERY_QP,
    VERBS_QUERY_PORT,
    VERBS_ARM_CQ,
    VERBS_QUERY_PKEY,
    VERBS_SET_GID,
    VERBS_REREG_MR,
    VERBS_MAP_MR_SG,
    VERBS_RESIZE_CQ,
    VERBS_RESIZE_QP,
    VERBS_ATTACH_MCAST,
    VERBS_DETACH_MCAST,
    VERBS_MODIFY_SRQ,
    VERBS_QUERY_SRQ
};

/* How a region is to be changed, or mapped. */
struct verbs_region {
    uint32_t what; /* set of RDL_REREG_... */
    struct guest_pd *pd;
    uint32_t access;
    struct rdl_mr_range range;
};

/* The request that was sent last.  Others may be under way beside it if all of them create objects
 * (verbs.requests_max); what each is about the driver knows.
 */
struct verbs_request {
    uint32_t n;          /* requests under way */
    uint32_t n_answered; /* since none was under way */
    enum verbs_request_kind kind;
    struct guest_object *object; /* NULL: about the port */
    struct rdl_qp_attr attr;     /* of a modify */
    uint32_t mask;
    uint32_t srq_limit;                  /* of a modify of a shared receive queue */
    struct verbs_region region;          /* of a rereg, a map */
    uint32_t cqe;                        /* of a resize */
    uint32_t max_send_wr, max_recv_wr;   /* of a resize of a queue pair */
    struct guest_membership *membership; /* of attaching (NULL: it is there) and detaching */
    bool resolving;  /* it waits for a MAC, see verbs_waits_for(), and was not sent yet */
    bool no_route;   /* the last one waited in vain */
    bool refused;    /* one of those that were answered since none was under way was refused, */
    uint32_t reason; /* the first of them for this reason: the driver's word for it */
};

struct verbs_config {
    uint32_t host;                      /* named in events */
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* entries 0 and 1 of the GID table */
    struct trace *trace;
    struct space *space; /* the memory of programs */
    /* Finds the MAC of a neighbour.  RDL_OK; RDL_ERR_BUSY when the link was asked for it, and
     * verbs_resolved() follows; RDL_ERR_NO_ROUTE.
     */
    enum rdl_status (*resolve)(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t **ret_mac);
    /* A queue pair has joined, or left, the multicast group @gid.  NULL: nobody wants to know. */
    void (*member)(void *ctx, const uint8_t gid[GID_BYTES], bool joins);
    void *ctx; /* of both */
};

#define VERBS_EVENTS_MAX 64u /* asynchronous events that wait for a program */

/* Asynchronous events that nobody has taken, and what became of others. */
struct verbs_async {
    bool listening; /* a program uses the device */
    struct rdl_async_event ring[VERBS_EVENTS_MAX];
    uint32_t first, len;
    uint64_t heard;   /* that the driver told */
    uint64_t lost;    /* of them, for which there was no room */
    uint64_t strays;  /* of them, about what is not there */
    uint64_t missed;  /* how often the device had to forget some */
    uint64_t unnamed; /* that a device without an event queue has counted */
};

#define GUEST_NAME_BUCKETS 64u

struct verbs {
    struct verbs_config config;
    struct arena *arena;
    const struct verbs_driver_ops *ops;
    void *driver; /* the operations' own */

    bool up;     /* booted */
    bool broken; /* the device needs a reset, or answered nonsense */
    struct verbs_limits limits;
    struct verbs_port port;
    uint16_t pkey; /* the entry of the P_Key table that was last asked for */
    struct verbs_request request;
    uint32_t requests_max; /* creating ones that may be under way at a time, at least 1 */
    struct verbs_async async;
    uint32_t n_channels; /* that were ever created */

    struct slots objects[VERBS_KINDS]; /* by enum object_kind; they grow */
    /* By name: lists in @named, or, when there are many, in @more_named, @n_buckets of them. */
    struct guest_object *named[GUEST_NAME_BUCKETS], **more_named;
    uint32_t n_buckets, n_named; /* n_buckets 0: GUEST_NAME_BUCKETS */
    struct guest_cq **cq_of;     /* by CQN, 0 .. limits.max_cq; NULL before boot */
    struct guest_qp **qp_of;     /* by QPN, 0 .. limits.max_qp */
    struct guest_srq **srq_of;   /* by SRQN, 0 .. limits.max_srq */
};

/* Verbs of a device that is not up. */
void verbs_init(struct verbs *v, struct arena *a, const struct verbs_config *config,
                const struct verbs_driver_ops *ops, void *driver);

/* What became of the last request: RDL_ERR_BUSY while it is under way, RDL_OK, RDL_ERR_DEVICE with
 * the device's reason in *@reterr_reason, RDL_ERR_NO_ROUTE (a modify or an address handle whose
 * neighbour did not answer), or RDL_ERR_BROKEN.
 */
RDL_MUST_CHECK enum rdl_status verbs_answer(const struct verbs *v, uint32_t *reterr_reason);

/* The neighbour whose MAC the request under way waits for; NULL: it does not. */
const uint8_t *verbs_waits_for(const struct verbs *v);

/* The neighbour @gid has answered, or (@mac is NULL) has not: what waits for it goes on. */
void verbs_resolved(struct verbs *v, const uint8_t gid[GID_BYTES], const uint8_t *mac);

/* The object of @kind that has @handle; NULL when it is gone, or another host's. */
static inline struct guest_object *verbs_get(const struct verbs *v, enum object_kind kind,
                                             uint64_t handle)
{
    return verbs_host_of(handle) == v->config.host + 1
               ? slots_get(&v->objects[kind], verbs_name_of(handle))
               : NULL;
}

/* The object called @name ("qp"), or NULL. */
struct guest_object *verbs_find(const struct verbs *v, const char *name);

RDL_MUST_CHECK enum rdl_status verbs_alloc_pd(struct verbs *v, const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_dealloc_pd(struct guest_pd *pd);

RDL_MUST_CHECK enum rdl_status verbs_mem_alloc(struct verbs *v, uint64_t bytes, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_mem_free(struct verbs *v, uint64_t addr);
RDL_MUST_CHECK enum rdl_status verbs_mem_read(const struct verbs *v, uint64_t addr, void *out,
                                              size_t bytes);
RDL_MUST_CHECK enum rdl_status verbs_mem_write(struct verbs *v, uint64_t addr, const void *in,
                                               size_t bytes);

/* RDL_ERR_FAULT: not all of the range is mapped.  RDL_ERR_INVAL: no bytes, or access flags that
 * contradict each other.
 */
RDL_MUST_CHECK enum rdl_status verbs_reg_mr(struct guest_pd *pd, uint64_t addr, uint64_t bytes,
                                            uint32_t access, const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_dereg_mr(struct guest_mr *mr);

/* The functions of rdmalab/memory.h. */
RDL_MUST_CHECK enum rdl_status verbs_reg_mr_iova(struct guest_pd *pd,
                                                 const struct rdl_mr_range *range, uint32_t access,
                                                 const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_rereg_mr(struct guest_mr *mr, const struct verbs_region *to);
RDL_MUST_CHECK enum rdl_status verbs_create_mr(struct guest_pd *pd, uint32_t access,
                                               uint32_t max_pages, const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_map_mr_sg(struct guest_mr *mr,
                                               const struct rdl_mr_range *range);
RDL_MUST_CHECK enum rdl_status verbs_get_dma_mr(struct guest_pd *pd, uint32_t access,
                                                const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_alloc_mw(struct guest_pd *pd, uint32_t type, const char *name,
                                              uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_dealloc_mw(struct guest_mw *mw);

RDL_MUST_CHECK enum rdl_status verbs_create_cq(struct verbs *v, uint32_t cqe, const char *name,
                                               uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_create_cq_on(struct guest_channel *ch, uint32_t cqe,
                                                  const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_cq(struct guest_cq *cq);
RDL_MUST_CHECK enum rdl_status verbs_resize_qp(struct guest_qp *qp, uint32_t max_send_wr,
                                               uint32_t max_recv_wr);
RDL_MUST_CHECK enum rdl_status verbs_resize_cq(struct guest_cq *cq, uint32_t cqe);
RDL_MUST_CHECK enum rdl_status verbs_req_notify_cq(struct guest_cq *cq, bool solicited_only);

/* Completion channels.  verbs_get_cq_event() gives how many events it took: one or none. */
RDL_MUST_CHECK enum rdl_status verbs_create_comp_channel(struct verbs *v, const char *name,
                                                         uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_comp_channel(struct guest_channel *ch);
size_t verbs_get_cq_event(struct guest_channel *ch, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_ack_cq_events(struct guest_cq *cq, uint32_t n);

RDL_MUST_CHECK enum rdl_status verbs_get_async_event(struct verbs *v, struct rdl_async_event *ret,
                                                     size_t *ret_n);
RDL_MUST_CHECK enum rdl_status verbs_ack_async_event(struct guest_object *o);

/* Event @i of those that nobody has taken; NULL: there are fewer. */
const struct rdl_async_event *verbs_async_waiting(const struct verbs *v, uint32_t i);

/* Who keeps @o from being destroyed. */
void verbs_users_of(const struct guest_object *o, struct rdl_users *ret);

/* What the handles of a struct rdl_qp_config name; NULL: it is gone. */
struct verbs_qp_parts {
    struct guest_pd *pd;
    struct guest_cq *send_cq, *recv_cq;
    struct guest_srq *srq; /* also NULL if none was named */
};

/* RDL_ERR_STALE, RDL_ERR_INVAL: one of the parts is gone, or another host's. */
RDL_MUST_CHECK enum rdl_status verbs_create_qp(struct verbs *v, const struct rdl_qp_config *config,
                                               const struct verbs_qp_parts *parts, const char *name,
                                               uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_qp(struct guest_qp *qp);
RDL_MUST_CHECK enum rdl_status verbs_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                               uint32_t mask, bool unchecked,
                                               struct rdl_modify_error *reterr);
RDL_MUST_CHECK enum rdl_status verbs_query_qp(struct guest_qp *qp);
RDL_MUST_CHECK enum rdl_status verbs_query_port(struct verbs *v);
RDL_MUST_CHECK enum rdl_status verbs_query_pkey(struct verbs *v, uint32_t index);

/* Entry @index of the device's GID table is the host's address of that number, or nothing. */
RDL_MUST_CHECK enum rdl_status verbs_set_gid(struct verbs *v, uint32_t index, bool valid);

/* RDL_ERR_INVAL, RDL_ERR_NO_ROUTE.  @attr->dmac all zero: the neighbour is asked for it. */
RDL_MUST_CHECK enum rdl_status verbs_create_ah(struct guest_pd *pd, const struct rdl_ah_attr *attr,
                                               const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_ah(struct guest_ah *ah);

/* RDL_ERR_INVAL: @gid is no multicast address, @qp no UD one, or (detaching) not in the group.
 * RDL_ERR_UNSUPPORTED: the device has no multicast.
 */
RDL_MUST_CHECK enum rdl_status verbs_attach_mcast(struct guest_qp *qp,
                                                  const uint8_t gid[GID_BYTES]);
RDL_MUST_CHECK enum rdl_status verbs_detach_mcast(struct guest_qp *qp,
                                                  const uint8_t gid[GID_BYTES]);

void verbs_mw_info(const struct guest_mw *mw, struct rdl_mw_info *ret);
void verbs_mr_info(const struct guest_mr *mr, struct rdl_mr_info *ret);
void verbs_qp_info(const struct guest_qp *qp, struct rdl_qp_info *ret);
RDL_MUST_CHECK enum rdl_status verbs_cq_info(const struct guest_cq *cq, struct rdl_cq_info *ret);

/* These take no time and use no control request. */
RDL_MUST_CHECK enum rdl_status verbs_post_send(struct guest_qp *qp, const struct rdl_send_wr *wr,
                                               bool nokick);
RDL_MUST_CHECK enum rdl_status verbs_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                                               bool nokick);
RDL_MUST_CHECK enum rdl_status verbs_post_send_list(struct guest_qp *qp,
                                                    const struct rdl_send_wr *wr, size_t n,
                                                    bool nokick, struct rdl_post_error *reterr);
RDL_MUST_CHECK enum rdl_status verbs_post_recv_list(struct guest_qp *qp,
                                                    const struct rdl_recv_wr *wr, size_t n,
                                                    bool nokick, struct rdl_post_error *reterr);
RDL_MUST_CHECK enum rdl_status verbs_kick(struct guest_qp *qp, bool send);
RDL_MUST_CHECK enum rdl_status verbs_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret,
                                             size_t *ret_n);

/* Shared receive queues. */
RDL_MUST_CHECK enum rdl_status verbs_create_srq(struct guest_pd *pd,
                                                const struct rdl_srq_attr *attr, const char *name,
                                                uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_srq(struct guest_srq *srq);
RDL_MUST_CHECK enum rdl_status verbs_modify_srq(struct guest_srq *srq,
                                                const struct rdl_srq_attr *attr, uint32_t mask);
RDL_MUST_CHECK enum rdl_status verbs_query_srq(struct guest_srq *srq);
void verbs_srq_info(const struct guest_srq *srq, struct rdl_srq_info *ret);
RDL_MUST_CHECK enum rdl_status verbs_post_srq_recv_list(struct guest_srq *srq,
                                                        const struct rdl_recv_wr *wr, size_t n,
                                                        bool nokick, struct rdl_post_error *reterr);

#endif
