/* SPDX-License-Identifier: MIT */
/* Memory regions and windows beyond ibv_reg_mr(): what a program, or a kernel, can do about keys.
 *
 * All of these use the control queue: see rdmalab/verbs.h for when the answer is there, for names,
 * and for the errors that every such call has.  RDL_ERR_UNSUPPORTED: the device does not offer it
 * (struct rdl_host_config, features_off).
 */
#ifndef RDMALAB_MEMORY_H
#define RDMALAB_MEMORY_H

#include "rdmalab/lab.h"

/* Memory of a program, and what SGEs and peers shall call its first byte.  @iova has the same place
 * in its page as @addr; with ACC_ZERO_BASED it is 0.
 */
struct rdl_mr_range {
    uint64_t addr, bytes;
    uint64_t iova;
};

/* ibv_reg_mr_iova(): rdl_reg_mr() is the same with iova = addr, or 0 if zero based.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  no bytes, iova, or access flags that contradict each other
 *	   RDL_ERR_FAULT  not all of the range is mapped
 *	   RDL_ERR_LIMIT  longer than the device takes
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_mr_iova(struct rdl_lab *lab, rdl_pd pd,
                                               const struct rdl_mr_range *range, uint32_t access,
                                               const char *name, rdl_mr *ret);

/* What rdl_rereg_mr() changes, as in libibverbs. */
#define RDL_REREG_TRANSLATION 1u
#define RDL_REREG_PD          2u
#define RDL_REREG_ACCESS      4u

struct rdl_mr_change {
    uint32_t what; /* set of RDL_REREG_...: the others are not looked at */
    rdl_pd pd;
    uint32_t access;
    struct rdl_mr_range range;
};

/* Changes a region of rdl_reg_mr(), all of it or nothing.  It has other keys then.  Errors as
 * above; RDL_ERR_INVAL also for another kind of region, a domain of another host, and nothing to
 * change.
 */
RDL_MUST_CHECK enum rdl_status rdl_rereg_mr(struct rdl_lab *lab, rdl_mr mr,
                                            const struct rdl_mr_change *change);

/* ib_alloc_mr(): a region for fast registration, of @max_pages pages at most.  Its key opens
 * nothing until a work request REG_MR, which cannot give more than @access.  RDL_ERR_INVAL: access;
 * RDL_ERR_LIMIT: pages
 */
RDL_MUST_CHECK enum rdl_status rdl_create_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access,
                                             uint32_t max_pages, const char *name, rdl_mr *ret);

/* ib_map_mr_sg(): the pages of this memory are what the next REG_MR registers.  RDL_ERR_INVAL: it
 * is no such region, no bytes, iova; RDL_ERR_LIMIT: more pages than it has; RDL_ERR_FAULT
 */
RDL_MUST_CHECK enum rdl_status rdl_map_mr_sg(struct rdl_lab *lab, rdl_mr mr,
                                             const struct rdl_mr_range *range);

/* A region over all of guest RAM, whose addresses are guest-physical: what a kernel uses. */
RDL_MUST_CHECK enum rdl_status rdl_get_dma_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access,
                                              const char *name, rdl_mr *ret);

/* ibv_alloc_mw(): a window of type 1 or 2, bound to nothing.  RDL_ERR_INVAL: type */
RDL_MUST_CHECK enum rdl_status rdl_alloc_mw(struct rdl_lab *lab, rdl_pd pd, uint32_t type,
                                            const char *name, rdl_mw *ret);
RDL_MUST_CHECK enum rdl_status rdl_dealloc_mw(struct rdl_lab *lab, rdl_mw mw);

struct rdl_mw_info {
    uint32_t type;
    uint32_t rkey; /* as its program knows it */
};
RDL_MUST_CHECK enum rdl_status rdl_mw_info(const struct rdl_lab *lab, rdl_mw mw,
                                           struct rdl_mw_info *ret);

#endif
