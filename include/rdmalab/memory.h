/* SPDX-License-Identifier: MIT */
/* Memory regions and windows beyond ibv_reg_mr(), including those that a kernel consumer uses.
 *
 * All of these calls use the control queue, except rdl_mw_info(). rdmalab/verbs.h says when the
 * answer is available, and explains names and common errors.  RDL_ERR_UNSUPPORTED: the device does
 * not offer the feature (rdl_host_config.features_off).
 */
#ifndef RDMALAB_MEMORY_H
#define RDMALAB_MEMORY_H

#include "rdmalab/lab.h"

/* A range of a program's memory.  SGEs and peers address its first byte as @iova.  @iova must have
 * the same offset in its page as @addr; with ACC_ZERO_BASED it is 0.
 */
struct rdl_mr_range {
    uint64_t addr, bytes;
    uint64_t iova;
};

/* ibv_reg_mr_iova(): rdl_reg_mr() is this with iova = addr, or iova = 0 if zero based.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  no bytes, a bad iova, or contradictory access flags
 *	   RDL_ERR_FAULT  part of the range is not mapped
 *	   RDL_ERR_LIMIT  longer than the device supports
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_mr_iova(struct rdl_lab *lab, rdl_pd pd,
                                               const struct rdl_mr_range *range, uint32_t access,
                                               const char *name, rdl_mr *ret);

/* Bits of rdl_mr_change.what, as in libibverbs. */
#define RDL_REREG_TRANSLATION 1u
#define RDL_REREG_PD          2u
#define RDL_REREG_ACCESS      4u

struct rdl_mr_change {
    uint32_t what; /* set of RDL_REREG_...; fields of the others are ignored */
    rdl_pd pd;
    uint32_t access;
    struct rdl_mr_range range;
};

/* ibv_rereg_mr(): changes a region of rdl_reg_mr(), all of it or nothing.  The region gets new
 * keys.  Errors as rdl_reg_mr_iova(); RDL_ERR_INVAL also for another kind of region, a protection
 * domain of another host, or an empty change.
 */
RDL_MUST_CHECK enum rdl_status rdl_rereg_mr(struct rdl_lab *lab, rdl_mr mr,
                                            const struct rdl_mr_change *change);

/* ib_alloc_mr(): creates a region for fast registration of at most @max_pages pages.  Its key is
 * invalid until a work request REG_MR, which can grant at most @access.  RDL_ERR_INVAL: bad access;
 * RDL_ERR_LIMIT: too many pages
 */
RDL_MUST_CHECK enum rdl_status rdl_create_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access,
                                             uint32_t max_pages, const char *name, rdl_mr *ret);

/* ib_map_mr_sg(): sets the pages that the next REG_MR of @mr registers.  RDL_ERR_INVAL: not a
 * region for fast registration, no bytes, or a bad iova; RDL_ERR_LIMIT: more pages than the region
 * has; RDL_ERR_FAULT
 */
RDL_MUST_CHECK enum rdl_status rdl_map_mr_sg(struct rdl_lab *lab, rdl_mr mr,
                                             const struct rdl_mr_range *range);

/* Creates a DMA region: it covers all guest RAM by guest-physical address, as kernel consumers use
 * it.
 */
RDL_MUST_CHECK enum rdl_status rdl_get_dma_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access,
                                              const char *name, rdl_mr *ret);

/* ibv_alloc_mw(): creates an unbound window of type 1 or 2.  RDL_ERR_INVAL: bad type */
RDL_MUST_CHECK enum rdl_status rdl_alloc_mw(struct rdl_lab *lab, rdl_pd pd, uint32_t type,
                                            const char *name, rdl_mw *ret);
RDL_MUST_CHECK enum rdl_status rdl_dealloc_mw(struct rdl_lab *lab, rdl_mw mw);

struct rdl_mw_info {
    uint32_t type;
    uint32_t rkey; /* as the program knows it */
};
RDL_MUST_CHECK enum rdl_status rdl_mw_info(const struct rdl_lab *lab, rdl_mw mw,
                                           struct rdl_mw_info *ret);

#endif
