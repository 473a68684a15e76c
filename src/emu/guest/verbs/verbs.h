/* SPDX-License-Identifier: MIT */
/* The verbs layer of one guest: the functions of rdmalab/verbs.h without the lab, and the state
 * that libibverbs keeps.
 *
 *	program -> verbs -> a driver's operations (driver.h) -> its device
 *	              ^--------- answers, completions
 *
 * Names, meanings and errors of the functions are those of the public header.  The driver defines
 * the formats of requests, work requests and completions; nothing here depends on them.
 *
 * Functions take objects as pointers.  The lab looks them up from handles with verbs_get(), which
 * rejects stale handles.  Functions that create an object return its handle.
 *
 * Each function that sends a control request returns RDL_ERR_BUSY while another request is under
 * way or while its object is pending.  Only requests that create objects may be under way together
 * (verbs.requests_max).  It returns RDL_ERR_BROKEN when the device needs a reset, and RDL_ERR_STATE
 * before boot.  After RDL_OK, verbs_answer() gives the device's answer.
 */
#ifndef EMU_GUEST_VERBS_VERBS_H
#define EMU_GUEST_VERBS_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/slots.h"
#include "emu/facts/roce.h"
#include "emu/guest/verbs/objects.h"
#include "emu/mem/space.h"
#include "emu/wire/addr.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"

struct trace;

struct verbs;
struct verbs_driver_ops;

#define VERBS_KINDS       14u    /* indexed by enum object_kind, with gaps */
#define VERBS_OBJECTS_MAX 65536u /* of one kind on one host; devices have lower limits */

/* The device's limits as the verbs check them (ibv_device_attr). */
struct verbs_limits {
    uint64_t max_mr_bytes;
    uint32_t max_cq, max_qp; /* also the largest CQN and QPN */
    uint32_t max_cqe, max_qp_wr;
    uint32_t max_send_sge, max_recv_sge;
    uint32_t max_sge_rd; /* SGEs of an RDMA READ */
    uint32_t max_inline_data;
    uint32_t max_ah; /* number of address handles; 0: no limit */
    uint32_t max_pkeys;
    uint32_t max_dest_rd_atomic, max_rd_atomic;
    uint32_t n_ports;
    uint32_t max_mw;         /* number of memory windows; 0: not supported */
    uint32_t max_fast_pages; /* pages of a region for fast registration; 0: no such regions */
    bool can_rereg;          /* REREG_MR is supported */
    /* Multicast is supported; IB_QP_CREATE_BLOCK_SELF_MCAST_LB is supported. */
    bool has_mcast, blocks_mcast_lb;
    uint32_t max_srq; /* also the largest SRQN; 0: no shared receive queues */
    uint32_t max_srq_wr, max_srq_sge;
    uint32_t comp_vectors; /* vectors that completion queues can choose; 0: the only one */
    /* Limits that the device alone enforces, and its names: for rdl_device_attr(). */
    uint32_t max_mr, max_pd, max_res_rd_atomic;
    uint32_t max_groups, max_group_qps, max_total_group_qps;
    uint32_t vendor_id, vendor_part_id, hw_ver, ack_delay;
    uint8_t guid[8];
};

/* The port's attributes as last queried (ibv_port_attr). */
struct verbs_port {
    uint32_t active_mtu; /* enum mtu: the largest path MTU that the port carries */
    uint32_t max_msg_sz; /* the longest message, in bytes */
};

enum verbs_request_kind {
    VERBS_BOOT, /* the driver initialises its device */
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

/* The new properties of a memory region: for REREG_MR and MAP_MR_SG. */
struct verbs_region {
    uint32_t what; /* set of RDL_REREG_... */
    struct guest_pd *pd;
    uint32_t access;
    struct rdl_mr_range range;
};

/* The request that was sent last.  Several requests may be under way together if all of them create
 * objects (verbs.requests_max).  The driver then knows the object of each.
 */
struct verbs_request {
    uint32_t n;          /* number of requests under way */
    uint32_t n_answered; /* requests answered since one was sent while none was under way */
    enum verbs_request_kind kind;
    struct guest_object *object;        /* NULL: the request concerns the device or the port */
    struct guest_object *object_before; /* of the request before; restored if none is sent */
    struct rdl_qp_attr attr;            /* MODIFY_QP: the new attributes */
    uint32_t mask;              /* MODIFY_QP and MODIFY_SRQ: the attributes that are changed */
    uint32_t srq_limit;         /* MODIFY_SRQ: the new limit */
    struct verbs_region region; /* REREG_MR and MAP_MR_SG: the new properties */
    uint32_t cqe;               /* RESIZE_CQ: the new number of entries */
    uint32_t max_send_wr, max_recv_wr; /* RESIZE_QP: the new lengths */
    /* ATTACH_MCAST and DETACH_MCAST: the membership; NULL: @object was already attached. */
    struct guest_membership *membership;
    bool resolving;   /* not sent yet: waits for a MAC, see verbs_waits_for() */
    bool waiting;     /* not sent yet: waits for a function, see verbs_function() */
    bool no_route;    /* the last request failed because its neighbour did not answer */
    bool no_function; /* ... because no function came back in time */
    bool refused;     /* one of the requests counted in n_answered was refused */
    /* The first refusal; valid if refused: an errno, and the device's own code. */
    int error;
    uint32_t code;
};

/* A virtual layer between the verbs of a guest and a virtual function that it gets only while it
 * has objects.  GIDs of programs are virtual; those on the wire are the layer's.
 */
struct verbs_layer {
    /* An object of the device is about to be created.  Returns RDL_OK; RDL_ERR_NO_FUNCTION if no
     * function is free; or, only if the object @can_wait, RDL_ERR_BUSY: verbs_function() follows.
     */
    enum rdl_status (*create)(void *ctx, bool can_wait);
    /* An object of the device is gone; @n are left. */
    void (*gone)(void *ctx, uint32_t n);
    /* place() chooses a function for a queue pair that is about to be created, which is @connected
     * or takes datagrams, and returns its number.  placed() follows when the device has created it
     * as @qpn.  left(): the queue pair is gone, or was not created.
     */
    uint32_t (*place)(void *ctx, bool connected);
    void (*placed)(void *ctx, uint32_t function, uint32_t qpn);
    void (*left)(void *ctx, uint32_t function);
    /* Finds the MAC of @gid, of the function that queue pair @qpn is on; 0: of its first function.
     * Returns RDL_OK; RDL_ERR_FORBIDDEN if a rule forbids to connect to it; RDL_ERR_NO_ROUTE if it
     * has no function; or RDL_ERR_NOT_FOUND if the layer does not know it.  In all other cases an
     * event tells the answer.
     */
    enum rdl_status (*find)(void *ctx, const uint8_t gid[GID_BYTES], uint32_t qpn,
                            uint8_t ret_mac[6]);
    /* Replace @gid by the address on the wire, of the function of @qpn as in find(), and the other
     * way, if the layer knows it.  No side effects.
     */
    void (*wire)(const void *ctx, uint8_t gid[GID_BYTES], uint32_t qpn);
    void (*unwire)(const void *ctx, uint8_t gid[GID_BYTES]);
};

struct verbs_config {
    uint32_t host;                      /* host number for events */
    uint32_t profile;                   /* enum profile */
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* entries 0 and 1 of the GID table */
    struct trace *trace;
    struct space *space; /* the memory of programs */
    /* Finds the MAC of the neighbour @gid.  Returns RDL_OK with the MAC; RDL_ERR_BUSY if the guest
     * has asked the link, and verbs_resolved() follows; or RDL_ERR_NO_ROUTE.
     */
    enum rdl_status (*resolve)(void *ctx, const uint8_t gid[GID_BYTES], const uint8_t **ret_mac);
    /* Called when a queue pair has joined or left the multicast group @gid.  May be NULL. */
    void (*member)(void *ctx, const uint8_t gid[GID_BYTES], bool joins);
    /* Called when there may be completions in @cq, which is of_kernel: after its event, and after
     * verbs_rearm_cq().  !@armed: the device has refused to arm it.  NULL if no CQ is of_kernel.
     */
    void (*kernel_event)(void *ctx, struct guest_cq *cq, bool armed);
    /* A request has been answered.  May be NULL.  No request must be sent before the tick is over.
     */
    void (*answered)(void *ctx);
    void *ctx;                       /* first argument of the callbacks */
    const struct verbs_layer *layer; /* NULL: there is none */
    void *layer_ctx;                 /* first argument of its functions */
};

#define VERBS_EVENTS_MAX 64u /* maximum number of asynchronous events queued for a program */

/* Queued asynchronous events, and counters of events. */
struct verbs_async {
    bool listening; /* events are enabled: a program has sent a request or read events */
    struct rdl_async_event ring[VERBS_EVENTS_MAX];
    uint32_t first, len;
    uint64_t heard;   /* events that the driver reported */
    uint64_t lost;    /* reported events that were dropped because the ring was full */
    uint64_t strays;  /* reported events that were dropped: unknown type or no such object */
    uint64_t missed;  /* times that the device had to discard events */
    uint64_t unnamed; /* events counted by a device without an event queue */
};

/* A program of the host: another process, whose memory is lent to the host.  Its calls see its own
 * objects alone.  An object that depends on an object of a program belongs to that program, whoever
 * creates it.
 */
struct guest_program {
    struct verbs *verbs;
    struct guest_program *next;
    uint32_t number;          /* counts the programs of the host, from 1 */
    struct space space;       /* its memory */
    struct verbs_async async; /* events about its objects, the port and the device */
    bool knows_port; /* the port was active when it came, or it was told so: PORT_ACTIVE is no news
                      */
};

#define GUEST_NAME_BUCKETS 64u

struct verbs {
    struct verbs_config config;
    struct arena *arena;
    const struct verbs_driver_ops *ops; /* NULL: no driver */
    void *driver; /* the state of the driver that has the operations; the verbs do not use it */

    bool up;     /* all boot requests are answered */
    bool broken; /* the device needs a reset, or its answer was malformed */
    /* The kernel starts, and cannot wait: a request is answered before it returns.  A driver whose
     * device answers at once need not wait for the interrupt.
     */
    bool must_poll;
    struct verbs_limits limits;
    struct verbs_port port;
    uint16_t pkey; /* the P_Key table entry that was queried last */
    struct verbs_request request;
    uint32_t requests_max; /* maximum number of create requests under way together, at least 1 */
    struct verbs_async async;
    uint32_t n_channels;            /* number of channels created so far */
    uint32_t n_of_device;           /* number of objects that a layer counts */
    struct guest_program *programs; /* those that are there, the newest first */
    struct guest_program *current;  /* the program that calls; NULL: the lab's user */
    uint32_t n_programs;            /* number of programs so far */

    struct slots objects[VERBS_KINDS]; /* indexed by enum object_kind; the tables grow */
    /* Hash lists by name: @named; or, once there were more than 16 * GUEST_NAME_BUCKETS names,
     * @n_buckets lists in @more_named.
     */
    struct guest_object *named[GUEST_NAME_BUCKETS], **more_named;
    uint32_t n_buckets, n_named; /* number of lists, 0: @named is used; number of named objects */
    struct guest_cq **cq_of;     /* CQs by CQN, 0 .. limits.max_cq; NULL before boot */
    struct guest_qp **qp_of;     /* QPs by QPN, 0 .. limits.max_qp; NULL before boot */
    struct guest_srq **srq_of;   /* SRQs by SRQN, 0 .. limits.max_srq; NULL before boot */
};

/* verbs_wire() replaces a virtual @gid by that on the wire, of the function of @qpn, verbs_unwire()
 * the other way; if @v has a layer that knows it.
 */
static inline void verbs_wire(const struct verbs *v, uint8_t gid[GID_BYTES], uint32_t qpn)
{
    if (v->config.layer)
        v->config.layer->wire(v->config.layer_ctx, gid, qpn);
}
static inline void verbs_unwire(const struct verbs *v, uint8_t gid[GID_BYTES])
{
    if (v->config.layer)
        v->config.layer->unwire(v->config.layer_ctx, gid);
}

/* The layer of @v has a function now for the request that waits, which is sent; or @there is none
 * in time, and it fails.
 */
void verbs_function(struct verbs *v, bool there);

/* Initialises @v for a device that is not booted.  @config is copied.  @ops and @driver are NULL if
 * the guest has no driver for an RDMA device: @v never comes up, and refuses all requests.
 */
void verbs_init(struct verbs *v, struct arena *a, const struct verbs_config *config,
                const struct verbs_driver_ops *ops, void *driver);

/* Returns the result of the last request.
 *
 * Return: RDL_OK
 *	   RDL_ERR_BUSY      a request is under way
 *	   RDL_ERR_DEVICE    the device refused it; *@reterr_rsp is its response
 *	   RDL_ERR_NO_ROUTE  the neighbour of a MODIFY_QP or of an address handle did not answer
 *	   RDL_ERR_BROKEN    the device needs a reset
 */
RDL_MUST_CHECK enum rdl_status verbs_answer(const struct verbs *v, struct rdl_response *reterr_rsp);

/* Returns the GID whose MAC the request under way waits for, or NULL if it waits for none. */
const uint8_t *verbs_waits_for(const struct verbs *v);

/* Reports the MAC of the neighbour @gid; @mac is NULL if the neighbour did not answer.  Continues
 * the request that waits for it, or ends it without success.  Does nothing if no request waits for
 * it.
 */
void verbs_resolved(struct verbs *v, const uint8_t gid[GID_BYTES], const uint8_t *mac);

/* Returns the object of @kind that has @handle, or NULL if it was destroyed, or belongs to another
 * host or to another program than the one that calls.
 */
static inline struct guest_object *verbs_get(const struct verbs *v, uint32_t kind, uint64_t handle)
{
    struct guest_object *o = verbs_host_of(handle) == v->config.host + 1
                                 ? slots_get(&v->objects[kind], verbs_name_of(handle))
                                 : NULL;

    return o && v->current && o->owner != v->current ? NULL : o;
}

/* Adds a program whose memory is that of @lender of the host's RAM; @port_is_up: it finds an active
 * port.  Returns NULL if the arena is full.
 */
struct guest_program *verbs_program_new(struct verbs *v, uint32_t lender, bool port_is_up);

/* Returns the object of @p that is to be destroyed next, so that none is in use when its turn
 * comes, or NULL if @p has none.  Acknowledges all events of that object.
 */
struct guest_object *verbs_program_next(const struct guest_program *p);

/* Frees @p, which has no objects and does not call. */
void verbs_program_free(struct guest_program *p);

/* Returns the memory of the program that @pd belongs to. */
static inline struct space *verbs_space(const struct guest_pd *pd)
{
    return pd->o.owner ? &pd->o.owner->space : pd->o.verbs->config.space;
}

/* Return the live QP, CQ or SRQ with the given number, or NULL if there is none.  There is none
 * before boot, nor if no driver is loaded.
 */
static inline struct guest_qp *verbs_qp(const struct verbs *v, uint32_t qpn)
{
    return v->qp_of && qpn <= v->limits.max_qp ? v->qp_of[qpn] : NULL;
}

static inline struct guest_cq *verbs_cq(const struct verbs *v, uint32_t cqn)
{
    return v->cq_of && cqn <= v->limits.max_cq ? v->cq_of[cqn] : NULL;
}

static inline struct guest_srq *verbs_srq(const struct verbs *v, uint32_t srqn)
{
    return v->srq_of && srqn <= v->limits.max_srq ? v->srq_of[srqn] : NULL;
}

/* Returns true if the state of @qp takes sends. */
bool verbs_takes_sends(const struct guest_qp *qp);

/* Objects that no device knows: struct guest_cm_object.  verbs_add_object() makes one, which is
 * pending, and verbs_name_object() makes it live; @name NULL or "": it is named after its number.
 * verbs_drop_object() frees one that is pending, verbs_remove_object() one that is live.
 * verbs_add_object() returns RDL_OK, RDL_ERR_LIMIT, RDL_ERR_NOMEM or an error of the name.
 */
RDL_MUST_CHECK enum rdl_status verbs_add_object(struct verbs *v, uint32_t kind, const char *name,
                                                struct guest_object **ret);
void verbs_name_object(struct guest_object *o, uint32_t number);
void verbs_drop_object(struct guest_object *o);
void verbs_remove_object(struct guest_object *o);

/* Returns the object called @name ("qp2"), or NULL if there is none. */
struct guest_object *verbs_find(const struct verbs *v, const char *name);

RDL_MUST_CHECK enum rdl_status verbs_alloc_pd(struct verbs *v, const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_dealloc_pd(struct guest_pd *pd);

RDL_MUST_CHECK enum rdl_status verbs_mem_alloc(struct verbs *v, uint64_t bytes, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_mem_free(struct verbs *v, uint64_t addr);
RDL_MUST_CHECK enum rdl_status verbs_mem_read(const struct verbs *v, uint64_t addr, void *out,
                                              size_t bytes);
RDL_MUST_CHECK enum rdl_status verbs_mem_write(struct verbs *v, uint64_t addr, const void *in,
                                               size_t bytes);

/* Registers @bytes from @addr as a user region.  *@ret is its handle.  Returns RDL_ERR_FAULT if
 * part of the range is not mapped, or RDL_ERR_INVAL if @bytes is 0 or the access flags contradict
 * each other.  Further errors: see the head of this file.
 */
RDL_MUST_CHECK enum rdl_status verbs_reg_mr(struct guest_pd *pd, uint64_t addr, uint64_t bytes,
                                            uint32_t access, const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_dereg_mr(struct guest_mr *mr);

/* Implement the functions of rdmalab/memory.h for one guest. */
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

/* Like verbs_create_cq_on() with a completion vector, or RDL_VECTOR_ANY.  @ch may be NULL.  Returns
 * RDL_ERR_INVAL if it is that of another host.
 */
RDL_MUST_CHECK enum rdl_status verbs_create_cq_by(struct verbs *v, struct guest_channel *ch,
                                                  uint32_t cqe, uint32_t vector, const char *name,
                                                  uint64_t *ret);

/* Returns the number of vectors that completion queues can choose. */
uint32_t verbs_vectors(const struct verbs *v);
RDL_MUST_CHECK enum rdl_status verbs_destroy_cq(struct guest_cq *cq);
RDL_MUST_CHECK enum rdl_status verbs_resize_qp(struct guest_qp *qp, uint32_t max_send_wr,
                                               uint32_t max_recv_wr);
RDL_MUST_CHECK enum rdl_status verbs_resize_cq(struct guest_cq *cq, uint32_t cqe);
RDL_MUST_CHECK enum rdl_status verbs_req_notify_cq(struct guest_cq *cq, bool solicited_only);

/* For the kernel of the guest.  Arms @cq, which is of_kernel and not armed, by a request apart from
 * those of programs: it may be sent while one of them is under way, and verbs_answer() does not
 * know it.  config.kernel_event() follows its answer.  Returns RDL_ERR_QUEUE_FULL if the device has
 * no room for the request now, RDL_ERR_UNSUPPORTED if the driver cannot send it, RDL_ERR_NOMEM or
 * RDL_ERR_BROKEN.
 */
RDL_MUST_CHECK enum rdl_status verbs_rearm_cq(struct guest_cq *cq);

/* Completion channels.  verbs_get_cq_event() takes the oldest event of a channel: returns 1 with
 * the handle of the CQ in *@ret, or 0 if there is no event.
 */
RDL_MUST_CHECK enum rdl_status verbs_create_comp_channel(struct verbs *v, const char *name,
                                                         uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_comp_channel(struct guest_channel *ch);
size_t verbs_get_cq_event(struct guest_channel *ch, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_ack_cq_events(struct guest_cq *cq, uint32_t n);

RDL_MUST_CHECK enum rdl_status verbs_get_async_event(struct verbs *v, struct rdl_async_event *ret,
                                                     size_t *ret_n);
RDL_MUST_CHECK enum rdl_status verbs_ack_async_event(struct guest_object *o);

/* Returns the queued asynchronous event number @i, 0 for the oldest.  Returns NULL if at most @i
 * events are queued.
 */
const struct rdl_async_event *verbs_async_waiting(const struct verbs *v, uint32_t i);

/* Counts in *@ret the objects, unacknowledged events and groups that prevent @o from being
 * destroyed, with the handle of the first object.
 */
void verbs_users_of(const struct guest_object *o, struct rdl_users *ret);

/* The objects that the handles of a struct rdl_qp_config name.  NULL means that the object no
 * longer exists.
 */
struct verbs_qp_parts {
    struct guest_pd *pd;
    struct guest_cq *send_cq, *recv_cq;
    struct guest_srq *srq; /* also NULL if the configuration names none */
};

/* Returns true if modify_qp with @attr and @mask does nothing but move a queue pair to ERR. */
bool verbs_only_fails(const struct rdl_qp_attr *attr, uint32_t mask);

/* Create a queue pair.  verbs_create_qp() is for programs.  verbs_create_gsi() is for the kernel of
 * the guest, for its connection manager: it creates the queue pair of type GSI, QPN 1, of which a
 * device has one.  Return RDL_ERR_STALE if one of @parts no longer exists, RDL_ERR_INVAL if it
 * belongs to another host, RDL_ERR_UNSUPPORTED if @config has a type that the caller must not
 * create.  Further errors: see the head of this file.
 */
RDL_MUST_CHECK enum rdl_status verbs_create_qp(struct verbs *v, const struct rdl_qp_config *config,
                                               const struct verbs_qp_parts *parts, const char *name,
                                               uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_create_gsi(struct verbs *v, const struct rdl_qp_config *config,
                                                const struct verbs_qp_parts *parts,
                                                const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_qp(struct guest_qp *qp);
RDL_MUST_CHECK enum rdl_status verbs_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                               uint32_t mask, bool unchecked,
                                               struct rdl_modify_error *reterr);
RDL_MUST_CHECK enum rdl_status verbs_query_qp(struct guest_qp *qp);
RDL_MUST_CHECK enum rdl_status verbs_query_port(struct verbs *v);
RDL_MUST_CHECK enum rdl_status verbs_query_pkey(struct verbs *v, uint32_t index);

/* Sets entry @index of the device's GID table to the host's address of that number, or clears it if
 * not @valid.  Returns RDL_ERR_INVAL if the host has no such address.  Further errors: see the head
 * of this file.
 */
RDL_MUST_CHECK enum rdl_status verbs_set_gid(struct verbs *v, uint32_t index, bool valid);

/* Creates an address handle.  Resolves the MAC of the destination if @attr->dmac is all zero.
 * Returns RDL_ERR_INVAL for an invalid address vector, or RDL_ERR_NO_ROUTE if the MAC is not known
 * and guest_neighbour_resolve() cannot ask for it.
 * Further errors: see the head of this file.
 */
RDL_MUST_CHECK enum rdl_status verbs_create_ah(struct guest_pd *pd, const struct rdl_ah_attr *attr,
                                               const char *name, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status verbs_destroy_ah(struct guest_ah *ah);

/* Attach @qp to the multicast group @gid, or detach it.  Return RDL_ERR_INVAL if @gid is no
 * multicast address, @qp is not UD, or @qp to be detached is not in the group; RDL_ERR_UNSUPPORTED
 * if the device has no multicast.  Further errors: see the head of this file.
 */
RDL_MUST_CHECK enum rdl_status verbs_attach_mcast(struct guest_qp *qp,
                                                  const uint8_t gid[GID_BYTES]);
RDL_MUST_CHECK enum rdl_status verbs_detach_mcast(struct guest_qp *qp,
                                                  const uint8_t gid[GID_BYTES]);

void verbs_mw_info(const struct guest_mw *mw, struct rdl_mw_info *ret);
void verbs_mr_info(const struct guest_mr *mr, struct rdl_mr_info *ret);
void verbs_qp_info(const struct guest_qp *qp, struct rdl_qp_info *ret);
RDL_MUST_CHECK enum rdl_status verbs_cq_info(const struct guest_cq *cq, struct rdl_cq_info *ret);

/* The data path.  These functions take no simulated time and send no control request.  With @nokick
 * they post without notifying the device.
 */
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

/* For the kernel of the guest.  Posts @wr to a queue pair for datagrams, to the destination @ah
 * with its MAC, which needs no address handle.  Returns as verbs_post_send_list().
 */
RDL_MUST_CHECK enum rdl_status verbs_post_datagram(struct guest_qp *qp,
                                                   const struct rdl_send_wr *wr,
                                                   const struct rdl_ah_attr *ah);
RDL_MUST_CHECK enum rdl_status verbs_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret,
                                             size_t *ret_n);

/* Copies up to @max of the completions that verbs_poll_cq() would return after @skip others, and
 * returns their number.  Takes nothing from the queue.
 */
size_t verbs_peek_cq(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret);

/* The functions of rdmalab/srq.h for one guest: shared receive queues. */
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
