/* SPDX-License-Identifier: MIT */
/* The functions that execute the control requests of a guest: they create, change and destroy
 * objects.
 *
 * Each returns an enum ctrl_rsp; RSP_OK means that the request was carried out.  The functions of
 * regions, windows and keys are in mr.h, mw.h and key.h.
 */
#ifndef EMU_HCA_CTRL_H
#define EMU_HCA_CTRL_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal.h"
#include "emu/hca/hca.h"
#include "emu/hca/qp.h"

/* Refuses a request: stores the reason @why and the compared @values in h->refused.  Returns the
 * response code of @why.
 */
static inline enum ctrl_rsp hca_refuse(struct hca *h, enum ctrl_refusal why, struct compared values)
{
    const enum ctrl_rsp rsp = (enum ctrl_rsp)refusal_rsp(why);

    RDL_ASSERT(rsp != RSP_OK);
    h->refused = (struct refused){why, values};
    return rsp;
}

/* Refuses a request because slots_add() to @table failed.  The reason is @why if the table has @max
 * objects, otherwise REF_DEVICE_MEMORY.  Returns the response code of the reason.
 */
enum ctrl_rsp hca_refuse_full(struct hca *h, const struct slots *table, uint32_t max,
                              enum ctrl_refusal why);

/* Creates a protection domain.  Returns RSP_OK or RSP_NO_RESOURCES. */
enum ctrl_rsp hca_pd_create(struct hca *h, struct pd **ret);

/* Frees a protection domain.  Returns RSP_OK, RSP_BAD_HANDLE, or RSP_BUSY if an object uses it. */
enum ctrl_rsp hca_pd_destroy(struct hca *h, uint32_t pdn);

/* Set or clear entry @index of the GID table.  Setting the GID that is already there succeeds.
 *
 * Return: RSP_OK
 *	   RSP_INVALID_ARG  no such index
 *	   RSP_BUSY         a connected queue pair uses the entry and its address would change
 */
enum ctrl_rsp hca_gid_set(struct hca *h, uint32_t index, const uint8_t gid[HCA_GID_BYTES]);
enum ctrl_rsp hca_gid_clear(struct hca *h, uint32_t index);

/* Reads entry @index of the P_Key table into *@ret.  Returns RSP_OK or RSP_INVALID_ARG.  Does not
 * set h->refused, because this is also called for inspection.
 */
enum ctrl_rsp hca_pkey(const struct hca *h, uint32_t index, uint16_t *ret);

/* Creates a completion queue for @cqe entries.
 *
 * Return: RSP_OK
 *	   RSP_INVALID_ARG   @cqe is 0 or above the limit
 *	   RSP_NO_RESOURCES  max_cq is reached, or the arena is full
 */
enum ctrl_rsp hca_cq_create(struct hca *h, uint32_t cqe, struct cq **ret);

/* Frees a completion queue and its log.  Returns RSP_OK, RSP_BAD_HANDLE, or RSP_BUSY if a queue
 * pair uses it.
 */
enum ctrl_rsp hca_cq_destroy(struct hca *h, uint32_t cqn);

/* Changes the requested number of entries of completion queue @cqn to @cqe.  The driver replaces
 * the ring itself.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE   no such queue
 *	   RSP_INVALID_ARG  @cqe is 0 or above the limit, or the queue has overflowed
 */
enum ctrl_rsp hca_cq_resize(struct hca *h, uint32_t cqn, uint32_t cqe);

/* Creates a shared receive queue.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE    no such protection domain
 *	   RSP_INVALID_ARG   max_wr is 0, or a value is above the limits
 *	   RSP_NO_RESOURCES  max_srq is reached, or the arena is full
 */
enum ctrl_rsp hca_srq_create(struct hca *h, const struct srq_config *config, struct srq **ret);

/* Frees a shared receive queue.  Returns RSP_OK, RSP_BAD_HANDLE, or RSP_BUSY if a queue pair uses
 * it.
 */
enum ctrl_rsp hca_srq_destroy(struct hca *h, uint32_t srqn);

/* Arms the event SRQ_LIMIT_REACHED: it is raised once when fewer than @limit receives remain after
 * one is taken.  0 disarms it.  Returns RSP_OK, or RSP_INVALID_ARG if @limit is above max_wr.
 */
enum ctrl_rsp srq_set_limit(struct hca *h, struct srq *srq, uint32_t limit);

/* Creates a queue pair in state RESET, in a zeroed block of @qp_bytes that begins with struct qp.
 * With a shared receive queue max_recv_wr of @config is ignored, and max_recv_sge is that of the
 * shared queue.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE    no such PD, CQ or shared receive queue
 *	   RSP_INVALID_ARG   a queue length, number of SGEs or inline size is above the limits
 *	   RSP_NO_RESOURCES  max_qp is reached, or the arena is full
 */
enum ctrl_rsp hca_qp_create(struct hca *h, const struct qp_config *config, size_t qp_bytes,
                            struct qp **ret);

/* Checks a MODIFY_QP request.  @mask is a set of enum qp_attr_bit: the valid fields of @attr.
 * Changes nothing but h->refused.
 *
 * Return: RSP_OK
 *	   RSP_INVALID_ARG    invalid transition, cur_state is not the state, or an attribute
 *	                      is missing, extra or out of range
 *	   RSP_NOT_SUPPORTED  path migration, rate limit, or a change of capabilities
 *	   RSP_NO_RESOURCES   max_res_rd_atom is exceeded: too many READs and atomics of peers
 */
enum ctrl_rsp hca_qp_check_modify(const struct qp *qp, uint32_t mask, const struct qp_attr *attr);

/* Attaches @qp to the group @gid.  The caller ensures that @gid is a multicast address.  Attaching
 * again changes nothing.
 *
 * Return: RSP_OK
 *	   RSP_INVALID_ARG   @qp is not of type UD
 *	   RSP_NO_RESOURCES  a limit is reached, or the arena is full
 */
enum ctrl_rsp mcast_attach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES]);

/* Detaches @qp from the group @gid.  Returns RSP_OK, or RSP_INVALID_ARG if @qp is not attached to
 * it.
 */
enum ctrl_rsp mcast_detach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES]);

#endif
