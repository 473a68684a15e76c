/* SPDX-License-Identifier: MIT */
/* Between the verbs and the driver of a device: what a driver does, and what it tells.
 *
 *	verbs                                   driver
 *	create_qp(qp) ------------------------> a request to the device
 *	verbs_created() or verbs_refused() <--- its answer, now or later
 *
 * Everything is said in verbs' terms: objects, attributes, masks, work requests, completions.  The
 * verbs have checked what programs must not do, and keep the books; a driver knows how its device
 * is told, and owns the memory for that.  A driver's object (struct x_qp) begins with the verbs'
 * (struct guest_qp), so that each casts to the other.
 */
#ifndef EMU_GUEST_VERBS_DRIVER_H
#define EMU_GUEST_VERBS_DRIVER_H

#include "emu/guest/verbs/verbs.h"

/* A send work request that a driver is to put into its queue, and what its handles name. */
struct verbs_send {
    const struct rdl_send_wr *wr;
    const struct guest_ah *ah; /* of what is posted to a UD queue pair */
    const struct guest_mr *mr; /* of REG_MR and BIND_MW; NULL: of a bind that needs none */
    uint32_t mw_rkey;          /* of BIND_MW: the key that the window has */
};

struct verbs_driver_ops {
    size_t object_bytes[VERBS_KINDS]; /* of the driver's objects */

    /* Requests.  RDL_OK: it is with the device, and one of the answers below follows or has come
     * already.  Otherwise nothing was sent: RDL_ERR_NOMEM, RDL_ERR_LIMIT (a queue is longer than
     * the device has them), RDL_ERR_BROKEN.
     */
    enum rdl_status (*create_pd)(struct guest_pd *pd);
    enum rdl_status (*reg_mr)(struct guest_mr *mr); /* of any kind */
    enum rdl_status (*create_cq)(struct guest_cq *cq);
    enum rdl_status (*create_qp)(struct guest_qp *qp);
    enum rdl_status (*create_srq)(struct guest_srq *srq);
    enum rdl_status (*destroy)(struct guest_object *o);
    enum rdl_status (*resize_cq)(struct guest_cq *cq, uint32_t cqe); /* or RDL_ERR_UNSUPPORTED */
    enum rdl_status (*resize_qp)(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr);
    enum rdl_status (*arm_cq)(struct guest_cq *cq, bool solicited_only);
    enum rdl_status (*modify_qp)(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                 uint32_t mask);
    enum rdl_status (*query_qp)(struct guest_qp *qp);
    enum rdl_status (*query_port)(struct verbs *v);
    enum rdl_status (*attach_mcast)(struct guest_qp *qp, const uint8_t gid[GID_BYTES]);
    enum rdl_status (*detach_mcast)(struct guest_qp *qp, const uint8_t gid[GID_BYTES]);
    enum rdl_status (*query_pkey)(struct verbs *v, uint32_t index);
    enum rdl_status (*set_gid)(struct verbs *v, uint32_t index, bool valid);

    /* @mask is of SRQ_MAX_WR and SRQ_LIMIT. */
    enum rdl_status (*modify_srq)(struct guest_srq *srq, uint32_t limit, uint32_t mask);
    enum rdl_status (*query_srq)(struct guest_srq *srq);

    /* A program uses the device: events are wanted from now on, and those that are there. */
    void (*listen)(struct verbs *v);

    /* Windows, changed and mapped regions; not asked if the limits say that there are none. */
    enum rdl_status (*alloc_mw)(struct guest_mw *mw);
    enum rdl_status (*rereg_mr)(struct guest_mr *mr, const struct verbs_region *to);
    enum rdl_status (*map_mr_sg)(struct guest_mr *mr, const struct rdl_mr_range *range);

    /* What the request under way, or the last one, is called on this device: "CREATE_QP". */
    const char *(*request_name)(const struct verbs *v);

    /* Puts a work request into its queue; *@ret_entry is the entry that it took, for the event.
     * RDL_ERR_QUEUE_FULL, RDL_ERR_NOMEM, RDL_ERR_BROKEN.
     */
    enum rdl_status (*post_send)(struct guest_qp *qp, const struct verbs_send *send,
                                 uint32_t *ret_entry);
    enum rdl_status (*post_recv)(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                                 uint32_t *ret_entry);

    enum rdl_status (*post_srq_recv)(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                     uint32_t *ret_entry);

    /* Tells the device about new work if it wants to know, and in any case when there is none. */
    void (*kick)(struct guest_qp *qp, bool send);

    /* Tells the device about shared receives if it wants to know. */
    void (*kick_srq)(struct guest_srq *srq);

    /* Takes up to @max completions out, with a verbs_polled() for each.  RDL_ERR_BROKEN: the device
     * wrote something else, and nothing came before it.
     */
    enum rdl_status (*poll_cq)(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n);

    /* Completions of a living CQ that were written and not polled. */
    uint32_t (*count_unpolled)(const struct guest_cq *cq);
};

/* Boot.  The driver has found out what its device can do: memory for the objects' numbers.  False
 * when the arena is full.
 */
bool verbs_meet(struct verbs *v, const struct verbs_limits *limits);

/* The driver begins to send the requests of boot, and has their answers. */
void verbs_boot(struct verbs *v);
void verbs_up(struct verbs *v);

/* The device needs a reset, or answered nonsense.  A request that waits gets no answer. */
void verbs_broken(struct verbs *v);

/* Answers to the request under way.  A driver that must give memory back does so before. */

/* The object that was asked for is there and has @number, which verbs_is_free() was asked about;
 * of a memory region or window the keys are set.
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

/* The answer that follows is to the request about @o (may be NULL): a driver that has several under
 * way says so before each.
 */
void verbs_answering(struct verbs *v, struct guest_object *o);

/* @mr was changed, and its new keys are set; or mapped. */
void verbs_reregistered(struct guest_mr *mr);
void verbs_mapped(struct guest_mr *mr);
void verbs_srq_modified(struct guest_srq *srq);
void verbs_srq_queried(struct guest_srq *srq, uint32_t limit);
void verbs_refused(struct verbs *v, uint32_t reason);

/* Can a new object of @kind have @number?  Only CQs, QPs and SRQs are looked for by theirs.
 */
bool verbs_is_free(const struct verbs *v, enum object_kind kind, uint32_t number);

/* Pages that @bytes from @addr on touch. */
static inline uint64_t verbs_pages(uint64_t addr, uint64_t bytes)
{
    return (addr % RAM_PAGE_BYTES + bytes + RAM_PAGE_BYTES - 1) / RAM_PAGE_BYTES;
}

/* The number of a living object. */
uint32_t verbs_number(const struct guest_object *o);

/* @wc was taken out of @cq. */
void verbs_polled(struct guest_cq *cq, const struct rdl_wc *wc);

/* The device tells of an asynchronous event, enum async_event, about the object with @number; any
 * value is taken.
 */
void verbs_async(struct verbs *v, uint32_t type, uint32_t number);

/* It had to forget others before that one. */
void verbs_async_missed(struct verbs *v);

/* It says only that @n of them happened. */
void verbs_async_unnamed(struct verbs *v, uint64_t n);

/* The device raised the event that an armed @cq waits for. */
void verbs_cq_event(struct guest_cq *cq);

/* Is a request under way that arms @cq? */
bool verbs_is_arming(const struct guest_cq *cq);

#endif
