/* SPDX-License-Identifier: MIT */
/* The interface between the verbs and the driver of a device: the driver's operations, and the
 * verbs' functions that the driver calls.
 *
 *	verbs                                   driver
 *	create_qp(qp) ------------------------> a request to the device
 *	verbs_created() or verbs_refused() <--- its answer, now or later
 *
 * Both directions use the terms of verbs: objects, attributes, masks, work requests, completions.
 * The verbs check what programs do and keep the objects.  The driver knows the device's formats and
 * owns the memory that it shares with the device.  A driver's object (struct x_qp) begins with the
 * verbs' object (struct guest_qp), so a pointer to one can be cast to the other.
 */
#ifndef EMU_GUEST_VERBS_DRIVER_H
#define EMU_GUEST_VERBS_DRIVER_H

#include "emu/guest/verbs/verbs.h"

struct enum_table;

/* A send work request for a driver to queue, with the objects that its handles name. */
struct verbs_send {
    const struct rdl_send_wr *wr;
    const struct guest_ah *ah; /* address handle; only on a UD queue pair */
    const struct guest_mr *mr; /* region of REG_MR or BIND_MW; NULL: BIND_MW without a region */
    uint32_t mw_rkey;          /* BIND_MW: the current rkey of the window */
};

struct verbs_driver_ops {
    size_t object_bytes[VERBS_KINDS];   /* sizes of the driver's objects, by enum object_kind */
    const struct enum_table *responses; /* names of the codes with which the device refuses */
    bool one_request; /* the device takes one request at a time, whatever verbs.requests_max is */

    /* Requests.  RDL_OK means that the device has the request; one of the answers below follows or
     * has already come.  Otherwise nothing was sent: RDL_ERR_NOMEM; RDL_ERR_LIMIT if a queue is
     * longer than the device supports; RDL_ERR_BUSY if the requests under way leave no room;
     * RDL_ERR_FAULT if memory of a region is not mapped; RDL_ERR_UNSUPPORTED if the device cannot
     * resize; or RDL_ERR_BROKEN.
     */
    enum rdl_status (*create_pd)(struct guest_pd *pd);
    enum rdl_status (*reg_mr)(struct guest_mr *mr); /* a region of any kind */
    enum rdl_status (*create_cq)(struct guest_cq *cq);
    enum rdl_status (*create_qp)(struct guest_qp *qp);
    enum rdl_status (*create_srq)(struct guest_srq *srq);
    enum rdl_status (*destroy)(struct guest_object *o);
    enum rdl_status (*resize_cq)(struct guest_cq *cq, uint32_t cqe);
    enum rdl_status (*resize_qp)(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr);
    enum rdl_status (*arm_cq)(struct guest_cq *cq, bool solicited_only);
    /* Arms @cq apart from the request under way; verbs_rearmed() follows.  NULL: the driver cannot.
     * Also RDL_ERR_QUEUE_FULL.
     */
    enum rdl_status (*rearm_cq)(struct guest_cq *cq);
    enum rdl_status (*modify_qp)(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                 uint32_t mask);
    enum rdl_status (*query_qp)(struct guest_qp *qp);
    enum rdl_status (*query_port)(struct verbs *v);
    enum rdl_status (*attach_mcast)(struct guest_qp *qp, const uint8_t gid[GID_BYTES]);
    enum rdl_status (*detach_mcast)(struct guest_qp *qp, const uint8_t gid[GID_BYTES]);
    enum rdl_status (*query_pkey)(struct verbs *v, uint32_t index);
    enum rdl_status (*set_gid)(struct verbs *v, uint32_t index, bool valid); /* !@valid: clear it */

    /* Changes the attributes in @mask, a set of SRQ_MAX_WR and SRQ_LIMIT. */
    enum rdl_status (*modify_srq)(struct guest_srq *srq, uint32_t limit, uint32_t mask);
    enum rdl_status (*query_srq)(struct guest_srq *srq);

    /* Called when a program begins to use the device.  Enables asynchronous events and reports
     * those that are already pending.
     */
    void (*listen)(struct verbs *v);

    /* Memory windows, changed and mapped regions.  Not called if the limits exclude them. */
    enum rdl_status (*alloc_mw)(struct guest_mw *mw);
    enum rdl_status (*rereg_mr)(struct guest_mr *mr, const struct verbs_region *to);
    enum rdl_status (*map_mr_sg)(struct guest_mr *mr, const struct rdl_mr_range *range);

    /* Returns the device's name of the request under way, or of the last one, e.g. "CREATE_QP". */
    const char *(*request_name)(const struct verbs *v);

    /* Queues a work request and returns RDL_OK.  *@ret_entry is the queue entry that it occupies,
     * for the event.  Returns RDL_ERR_QUEUE_FULL, RDL_ERR_NOMEM or RDL_ERR_BROKEN on failure.
     */
    enum rdl_status (*post_send)(struct guest_qp *qp, const struct verbs_send *send,
                                 uint32_t *ret_entry);
    enum rdl_status (*post_recv)(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                                 uint32_t *ret_entry);

    enum rdl_status (*post_srq_recv)(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                     uint32_t *ret_entry);

    /* Notifies the device of new work in the send queue if @send, otherwise in the receive queue,
     * unless the device suppresses notifications.  Without new work it always notifies.
     */
    void (*kick)(struct guest_qp *qp, bool send);

    /* Notifies the device of shared receives unless the device suppresses notifications. */
    void (*kick_srq)(struct guest_srq *srq);

    /* Takes up to @max completions from @cq into @ret, their number into *@ret_n, and calls
     * verbs_polled() for each.  Returns RDL_OK, or RDL_ERR_BROKEN if the first entry that the
     * device wrote is no valid completion.
     */
    enum rdl_status (*poll_cq)(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n);

    /* Returns the number of completions of the live @cq that the device wrote and no program
     * polled.  peek_cq() copies up to @max of them, behind the oldest @skip, and returns how many;
     * fewer where the device wrote what is no completion.
     */
    uint32_t (*count_unpolled)(const struct guest_cq *cq);
    size_t (*peek_cq)(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret);

    /* Returns the number of work requests that the device has not returned, so that they take
     * places in the queue: sends or receives of the queue pair @o, or those in the shared receive
     * queue @o.
     */
    uint32_t (*count_posted)(const struct guest_object *o, bool sends);
};

/* Called at boot when the driver knows the device's limits: stores them and allocates the tables by
 * object number.  Returns false if the arena is full.
 */
bool verbs_meet(struct verbs *v, const struct verbs_limits *limits);

/* verbs_boot(): the driver begins to send its boot requests.  verbs_up(): all of them are answered,
 * and programs can use the device.
 */
void verbs_boot(struct verbs *v);
void verbs_up(struct verbs *v);

/* Called when the device needs a reset, or its answer was malformed.  Raises DEVICE_FATAL the first
 * time.  All requests return RDL_ERR_BROKEN from then on; a request under way gets no answer.
 */
void verbs_broken(struct verbs *v);

/* Answers to the request under way.  Each updates the object and ends the request.  The driver
 * first releases the memory that the request used.
 */

/* Answer to a create request: the device created @o with @number, for which verbs_is_free()
 * returned true.  Makes @o live.  The driver has set the keys of a memory region or window.
 */
void verbs_created(struct guest_object *o, uint32_t number);
void verbs_destroyed(struct guest_object *o);
void verbs_modified(struct guest_qp *qp);
void verbs_queried(struct guest_qp *qp, const struct rdl_qp_attr *attr);
void verbs_queried_port(struct verbs *v, const struct verbs_port *port);
void verbs_attached(struct guest_qp *qp);
void verbs_detached(struct guest_qp *qp);
void verbs_queried_pkey(struct verbs *v, uint16_t pkey);
void verbs_gid_set(struct verbs *v);
void verbs_armed(struct guest_cq *cq);
void verbs_resized(struct guest_cq *cq);
void verbs_qp_resized(struct guest_qp *qp);

/* Sets the object of the answer that follows; NULL: the answer concerns the port.  A driver with
 * several requests under way calls this before each answer.
 */
void verbs_answering(struct verbs *v, struct guest_object *o);

/* Answers to REREG_MR, for which the driver has set the new keys of @mr, and to MAP_MR_SG. */
void verbs_reregistered(struct guest_mr *mr);
void verbs_mapped(struct guest_mr *mr);
void verbs_srq_modified(struct guest_srq *srq);
void verbs_srq_queried(struct guest_srq *srq, uint32_t limit);
/* Answer to any request: the device refused it.  @error is the errno that the program gets, @code
 * the device's own code, a value of ops->responses or an unknown one.  An object that the request
 * should create is freed, and an object that it should destroy stays live.
 */
void verbs_refused(struct verbs *v, int error, uint32_t code);

/* Returns true if a new object of @kind can have @number.  Checks only CQs, QPs and SRQs, which are
 * looked up by number.
 */
bool verbs_is_free(const struct verbs *v, uint32_t kind, uint32_t number);

/* Returns the number of pages that [@addr, @addr + @bytes) touches. */
static inline uint64_t verbs_pages(uint64_t addr, uint64_t bytes)
{
    return (addr % RAM_PAGE_BYTES + bytes + RAM_PAGE_BYTES - 1) / RAM_PAGE_BYTES;
}

/* Returns the number of a live object: its PDN, CQN, QPN and so on. */
uint32_t verbs_number(const struct guest_object *o);

/* Counts a completion that a program polled from @cq, and emits `poll`.  A completion with an error
 * updates the recorded state of its queue pair.
 */
void verbs_polled(struct guest_cq *cq, const struct rdl_wc *wc);

/* Returns true if @qp is in RESET, as far as its program knows. */
bool verbs_is_reset(const struct guest_qp *qp);

/* Returns true if a request that moves @qp to RESET is under way. */
bool verbs_is_resetting(const struct guest_qp *qp);

/* Counts @n completions of queue pair @qpn that the driver took out of @cq for nobody, and emits
 * `cqes_dropped`.
 */
void verbs_dropped(struct guest_cq *cq, uint32_t qpn, uint32_t n);

/* Queues an asynchronous event of @type (enum async_event) about the object with @number for the
 * program.  Any values are accepted; an invalid type or number is only counted in
 * verbs.async.strays, and an event for which the queue has no room in verbs.async.lost.
 */
void verbs_async(struct verbs *v, uint32_t type, uint32_t number);

/* Counts that the device discarded events before the one reported last. */
void verbs_async_missed(struct verbs *v);

/* Counts @n events that a device without an event queue reported. */
void verbs_async_unnamed(struct verbs *v, uint64_t n);

/* Called when the device raised the event that the armed @cq waits for.  Emits `cq_event`, disarms
 * @cq and queues the event on its channel.  @cq stays armed if a request that arms it is under way.
 */
void verbs_cq_event(struct guest_cq *cq);

/* Answer to rearm_cq(). */
void verbs_rearmed(struct guest_cq *cq, bool armed);

/* Returns true if a request that arms @cq is under way. */
bool verbs_is_arming(const struct guest_cq *cq);

#endif
