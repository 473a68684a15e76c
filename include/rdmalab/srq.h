/* SPDX-License-Identifier: MIT */
/* Shared receive queues: receives that any of several queue pairs may take.
 *
 * Names and meanings are those of libibverbs.  A queue pair takes its receives from one if its
 * struct rdl_qp_config names it; nothing can be posted to its own receive queue then.
 */
#ifndef RDMALAB_SRQ_H
#define RDMALAB_SRQ_H

#include "rdmalab/verbs.h"

/* [libibverbs, struct ibv_srq_attr, enum ibv_srq_attr_mask] */
#define RDL_SRQ_MAX_WR 1u
#define RDL_SRQ_LIMIT  2u

struct rdl_srq_attr {
    uint32_t max_wr;  /* receives that it has room for */
    uint32_t max_sge; /* of one receive; 0: 4 */
    uint32_t limit;   /* fewer receives than this raise SRQ_LIMIT_REACHED, once; 0: none does */
};

/* Looks at max_wr and max_sge of @attr: the limit of a new queue is 0.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        max_wr is 0
 *	   RDL_ERR_LIMIT        more than the device can have
 *	   RDL_ERR_UNSUPPORTED  the device has no shared receive queues
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_create_srq(struct rdl_lab *lab, rdl_pd pd,
                                              const struct rdl_srq_attr *attr, const char *name,
                                              rdl_srq *ret);

/* RDL_ERR_BUSY: a queue pair uses it.  What was posted goes with it. */
RDL_MUST_CHECK enum rdl_status rdl_destroy_srq(struct rdl_lab *lab, rdl_srq srq);

/* Sets what @mask, of RDL_SRQ_MAX_WR and RDL_SRQ_LIMIT, says of @attr.  The event of a limit is
 * raised when a receive is taken and fewer than the limit are left; the limit is 0 then.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        a limit above max_wr
 *	   RDL_ERR_UNSUPPORTED  RDL_SRQ_MAX_WR: a queue keeps its length
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_modify_srq(struct rdl_lab *lab, rdl_srq srq,
                                              const struct rdl_srq_attr *attr, uint32_t mask);

/* Asks the device; the answer is in rdl_srq_info() after rdl_wait(). */
RDL_MUST_CHECK enum rdl_status rdl_query_srq(struct rdl_lab *lab, rdl_srq srq);

struct rdl_srq_info {
    uint32_t srqn;
    uint32_t queue;           /* number of its virtqueue */
    struct rdl_srq_attr attr; /* its limit as last set or queried by the driver */
};
RDL_MUST_CHECK enum rdl_status rdl_srq_info(const struct rdl_lab *lab, rdl_srq srq,
                                            struct rdl_srq_info *ret);

/* As rdl_post_recv() and rdl_post_recv_list().  The memory must belong to the protection domain of
 * the shared receive queue, whatever that of the queue pair is.
 */
RDL_MUST_CHECK enum rdl_status rdl_post_srq_recv(struct rdl_lab *lab, rdl_srq srq,
                                                 const struct rdl_recv_wr *wr, bool nokick);
RDL_MUST_CHECK enum rdl_status rdl_post_srq_recv_list(struct rdl_lab *lab, rdl_srq srq,
                                                      const struct rdl_recv_wr *wr, size_t n,
                                                      bool nokick, struct rdl_post_error *reterr);

#endif
