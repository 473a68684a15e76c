/* SPDX-License-Identifier: MIT */
/* Shared receive queues: receives that several queue pairs share.
 *
 * Names and meanings are those of libibverbs.  A queue pair takes its receives from the shared
 * queue that its struct rdl_qp_config names.  Nothing can then be posted to its own receive queue.
 */
#ifndef RDMALAB_SRQ_H
#define RDMALAB_SRQ_H

#include "rdmalab/verbs.h"

/* Bits of @mask in rdl_modify_srq().  [libibverbs, enum ibv_srq_attr_mask] */
#define RDL_SRQ_MAX_WR 1u
#define RDL_SRQ_LIMIT  2u

struct rdl_srq_attr {
    uint32_t max_wr;  /* capacity in receives */
    uint32_t max_sge; /* SGEs of one receive; 0 selects 4 */
    uint32_t limit;   /* fewer posted receives than this raise SRQ_LIMIT_REACHED once; 0: never */
};

/* Creates a shared receive queue from max_wr and max_sge of @attr.  Its limit is 0.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        max_wr is 0
 *	   RDL_ERR_LIMIT        more than the device supports
 *	   RDL_ERR_UNSUPPORTED  the device has no shared receive queues
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_create_srq(struct rdl_lab *lab, rdl_pd pd,
                                              const struct rdl_srq_attr *attr, const char *name,
                                              rdl_srq *ret);

/* Destroys a shared receive queue and discards its posted receives.  Returns RDL_ERR_BUSY if a
 * queue pair uses it.
 */
RDL_MUST_CHECK enum rdl_status rdl_destroy_srq(struct rdl_lab *lab, rdl_srq srq);

/* Sets the attributes of @attr that @mask selects (RDL_SRQ_MAX_WR, RDL_SRQ_LIMIT).  When a receive
 * is taken and fewer than the limit remain, the device raises the event and sets the limit to 0.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        a limit above max_wr
 *	   RDL_ERR_UNSUPPORTED  RDL_SRQ_MAX_WR: a queue cannot be resized
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_modify_srq(struct rdl_lab *lab, rdl_srq srq,
                                              const struct rdl_srq_attr *attr, uint32_t mask);

/* Queries the device.  The answer is in rdl_srq_info() after rdl_wait(). */
RDL_MUST_CHECK enum rdl_status rdl_query_srq(struct rdl_lab *lab, rdl_srq srq);

struct rdl_srq_info {
    uint32_t srqn;
    uint32_t queue;           /* number of its virtqueue */
    struct rdl_srq_attr attr; /* the limit as last set or queried by the driver */
};
RDL_MUST_CHECK enum rdl_status rdl_srq_info(const struct rdl_lab *lab, rdl_srq srq,
                                            struct rdl_srq_info *ret);

/* Post receives like rdl_post_recv() and rdl_post_recv_list().  The memory must belong to the
 * protection domain of the shared receive queue.  The protection domain of the queue pair does not
 * matter.
 */
RDL_MUST_CHECK enum rdl_status rdl_post_srq_recv(struct rdl_lab *lab, rdl_srq srq,
                                                 const struct rdl_recv_wr *wr, bool nokick);
RDL_MUST_CHECK enum rdl_status rdl_post_srq_recv_list(struct rdl_lab *lab, rdl_srq srq,
                                                      const struct rdl_recv_wr *wr, size_t n,
                                                      bool nokick, struct rdl_post_error *reterr);

#endif
