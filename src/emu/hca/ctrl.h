/* SPDX-License-Identifier: MIT */
/* The functions that execute the control requests of a guest: they create, change and destroy
 * objects.
 *
 * Each returns REF_NONE if the request was carried out, otherwise the reason of the refusal.  The
 * comments name the kinds of the reasons (enum refusal_kind).  The functions of regions, windows
 * and keys are in mr.h, mw.h and key.h.
 */
#ifndef EMU_HCA_CTRL_H
#define EMU_HCA_CTRL_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/facts/refusal.h"
#include "emu/hca/hca.h"
#include "emu/hca/qp.h"

/* Refuses a request: stores the reason @why and the compared @values in h->refused.  Returns @why.
 */
static inline enum refusal_reason hca_refuse(struct hca *h, enum refusal_reason why,
                                             struct compared values)
{
    RDL_ASSERT(why != REF_NONE);
    h->refused = (struct refused){why, values};
    return why;
}

/* Refuses a request because slots_add() to @table failed.  The reason is @why if the table has @max
 * objects, otherwise REF_DEVICE_MEMORY.  Returns the reason.
 */
enum refusal_reason hca_refuse_full(struct hca *h, const struct slots *table, uint32_t max,
                                    enum refusal_reason why);

/* Creates a protection domain.  Returns REF_NONE or RFK_NO_ROOM. */
enum refusal_reason hca_pd_create(struct hca *h, struct pd **ret);

/* Frees a protection domain.  Returns REF_NONE, RFK_NO_OBJECT, or RFK_BUSY if an object uses it. */
enum refusal_reason hca_pd_destroy(struct hca *h, uint32_t pdn);

/* Set or clear entry @index of the GID table.  Setting the GID that is already there succeeds.
 *
 * Return: REF_NONE
 *	   RFK_INVALID  no such index
 *	   RFK_BUSY     a connected queue pair uses the entry and its address would change
 */
enum refusal_reason hca_gid_set(struct hca *h, uint32_t index, const uint8_t gid[HCA_GID_BYTES]);
enum refusal_reason hca_gid_clear(struct hca *h, uint32_t index);

/* Reads entry @index of the P_Key table into *@ret.  Returns REF_NONE or RFK_INVALID.  Does not
 * set h->refused, because this is also called for inspection.
 */
enum refusal_reason hca_pkey(const struct hca *h, uint32_t index, uint16_t *ret);

/* Creates a completion queue for @cqe entries.
 *
 * Return: REF_NONE
 *	   RFK_INVALID  @cqe is 0 or above the limit
 *	   RFK_NO_ROOM  max_cq is reached, or the arena is full
 */
enum refusal_reason hca_cq_create(struct hca *h, uint32_t cqe, struct cq **ret);

/* Frees a completion queue and its log.  Returns REF_NONE, RFK_NO_OBJECT, or RFK_BUSY if a queue
 * pair uses it.
 */
enum refusal_reason hca_cq_destroy(struct hca *h, uint32_t cqn);

/* Changes the requested number of entries of completion queue @cqn to @cqe.  The driver replaces
 * the ring itself.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such queue
 *	   RFK_INVALID    @cqe is 0 or above the limit, or the queue has overflowed
 */
enum refusal_reason hca_cq_resize(struct hca *h, uint32_t cqn, uint32_t cqe);

/* Creates a shared receive queue.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such protection domain
 *	   RFK_INVALID    max_wr is 0, or a value is above the limits
 *	   RFK_NO_ROOM    max_srq is reached, or the arena is full
 */
enum refusal_reason hca_srq_create(struct hca *h, const struct srq_config *config,
                                   struct srq **ret);

/* Frees a shared receive queue.  Returns REF_NONE, RFK_NO_OBJECT, or RFK_BUSY if a queue pair uses
 * it.
 */
enum refusal_reason hca_srq_destroy(struct hca *h, uint32_t srqn);

/* Arms the event SRQ_LIMIT_REACHED: it is raised once when fewer than @limit receives remain after
 * one is taken.  0 disarms it.  Returns REF_NONE, or RFK_INVALID if @limit is above max_wr.
 */
enum refusal_reason srq_set_limit(struct hca *h, struct srq *srq, uint32_t limit);

/* Creates a queue pair in state RESET, in a zeroed block of @qp_bytes that begins with struct qp.
 * With a shared receive queue max_recv_wr of @config is ignored, and max_recv_sge is that of the
 * shared queue.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such PD, CQ or shared receive queue
 *	   RFK_INVALID    a queue length, number of SGEs or inline size is above the limits
 *	   RFK_NO_ROOM    max_qp is reached, or the arena is full
 */
enum refusal_reason hca_qp_create(struct hca *h, const struct qp_config *config, size_t qp_bytes,
                                  struct qp **ret);

/* Checks a MODIFY_QP request.  @mask is a set of enum qp_attr_bit: the valid fields of @attr.
 * Changes nothing but h->refused.
 *
 * Return: REF_NONE
 *	   RFK_INVALID      invalid transition, cur_state is not the state, or an attribute
 *	                    is missing, extra or out of range
 *	   RFK_UNSUPPORTED  path migration, rate limit, or a change of capabilities
 *	   RFK_NO_ROOM      max_res_rd_atom is exceeded: too many READs and atomics of peers
 */
enum refusal_reason hca_qp_check_modify(const struct qp *qp, uint32_t mask,
                                        const struct qp_attr *attr);

/* Attaches @qp to the group @gid.  The caller ensures that @gid is a multicast address.  Attaching
 * again changes nothing.
 *
 * Return: REF_NONE
 *	   RFK_INVALID  @qp is not of type UD
 *	   RFK_NO_ROOM  a limit is reached, or the arena is full
 */
enum refusal_reason mcast_attach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES]);

/* Detaches @qp from the group @gid.  Returns REF_NONE, or RFK_INVALID if @qp is not attached to
 * it.
 */
enum refusal_reason mcast_detach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES]);

#endif
