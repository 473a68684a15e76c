/* SPDX-License-Identifier: MIT */
/* Verbs of one guest: rdmalab/verbs.h without the lab.
 *
 * Objects are given as pointers that the lab has looked up from handles (a stale handle never gets
 * here); created ones come back as handles of guest_tables.  Requests, meanings and errors are
 * those of the public header.  Every function that uses the control queue gives RDL_ERR_BUSY while
 * another request is under way or the object is pending, RDL_ERR_BROKEN when the device needs a
 * reset, and otherwise the answer comes with guest_answer().
 */
#ifndef EMU_GUEST_VERBS_H
#define EMU_GUEST_VERBS_H

#include "emu/guest/machine/guest.h"

/* The object called @name ("qp"), or NULL. */
struct guest_object *guest_find(const struct guest *g, const char *name);

RDL_MUST_CHECK enum rdl_status guest_alloc_pd(struct guest *g, const char *name, uint32_t *ret);
RDL_MUST_CHECK enum rdl_status guest_dealloc_pd(struct guest_pd *pd);

RDL_MUST_CHECK enum rdl_status guest_mem_alloc(struct guest *g, uint64_t bytes, uint64_t *ret);
RDL_MUST_CHECK enum rdl_status guest_mem_read(const struct guest *g, uint64_t addr, void *out,
                                              size_t bytes);
RDL_MUST_CHECK enum rdl_status guest_mem_write(struct guest *g, uint64_t addr, const void *in,
                                               size_t bytes);

/* RDL_ERR_FAULT: not all of the range is mapped.  RDL_ERR_INVAL: no bytes, or access flags that
 * contradict each other.
 */
RDL_MUST_CHECK enum rdl_status guest_reg_mr(struct guest_pd *pd, uint64_t addr, uint64_t bytes,
                                            uint32_t access, const char *name, uint32_t *ret);
RDL_MUST_CHECK enum rdl_status guest_dereg_mr(struct guest_mr *mr);

RDL_MUST_CHECK enum rdl_status guest_create_cq(struct guest *g, uint32_t cqe, const char *name,
                                               uint32_t *ret);
RDL_MUST_CHECK enum rdl_status guest_destroy_cq(struct guest_cq *cq);
RDL_MUST_CHECK enum rdl_status guest_req_notify_cq(struct guest_cq *cq, bool solicited_only);

/* RDL_ERR_STALE, RDL_ERR_INVAL: PD or CQ are gone, or another host's. */
RDL_MUST_CHECK enum rdl_status guest_create_qp(struct guest *g, const struct rdl_qp_config *config,
                                               const char *name, uint32_t *ret);
RDL_MUST_CHECK enum rdl_status guest_destroy_qp(struct guest_qp *qp);
RDL_MUST_CHECK enum rdl_status guest_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                               uint32_t mask, bool unchecked,
                                               struct rdl_modify_error *reterr);
RDL_MUST_CHECK enum rdl_status guest_query_qp(struct guest_qp *qp);
RDL_MUST_CHECK enum rdl_status guest_query_port(struct guest *g);

void guest_mr_info(const struct guest_mr *mr, struct rdl_mr_info *ret);
void guest_qp_info(const struct guest_qp *qp, struct rdl_qp_info *ret);
RDL_MUST_CHECK enum rdl_status guest_cq_info(const struct guest_cq *cq, struct rdl_cq_info *ret);

/* These take no time and use no control request. */
RDL_MUST_CHECK enum rdl_status guest_post_send(struct guest_qp *qp, const struct rdl_send_wr *wr,
                                               bool nokick);
RDL_MUST_CHECK enum rdl_status guest_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                                               bool nokick);
RDL_MUST_CHECK enum rdl_status guest_kick(struct guest_qp *qp, bool send);
RDL_MUST_CHECK enum rdl_status guest_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret,
                                             size_t *ret_n);

#endif
