/* SPDX-License-Identifier: MIT */
/* Memory regions and windows beyond ibv_reg_mr(), including those that a kernel consumer uses.
 *
 * All of these calls except rdl_mw_info() use the control queue.  rdmalab/verbs.h describes when
 * the answer is available, names, and the common errors.  The calls return RDL_ERR_UNSUPPORTED if
 * the device does not offer the feature (rdl_host_config.features_off).
 */
#ifndef RDMALAB_MEMORY_H
#define RDMALAB_MEMORY_H

#include "rdmalab/lab.h"

/* A range of a program's memory.  SGEs and peers address its first byte as @iova.  @iova must have
 * the same offset in its page as @addr; with ACC_ZERO_BASED it must be 0 instead.
 */
struct rdl_mr_range {
    uint64_t addr, bytes;
    uint64_t iova;
};

/* Registers a region, as ibv_reg_mr_iova().  rdl_reg_mr() does the same with iova = addr, or with
 * iova = 0 if the access flags contain ACC_ZERO_BASED.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  no bytes, an invalid iova, or contradictory access flags
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
    uint32_t what;             /* set of RDL_REREG_*: the properties to change */
    rdl_pd pd;                 /* only with RDL_REREG_PD */
    uint32_t access;           /* only with RDL_REREG_ACCESS */
    struct rdl_mr_range range; /* only with RDL_REREG_TRANSLATION */
};

/* Changes a region of rdl_reg_mr() or rdl_reg_mr_iova(), as ibv_rereg_mr().  The region gets new
 * keys.  If the call fails, the region is unchanged.  Errors as rdl_reg_mr_iova().  It also returns
 * RDL_ERR_INVAL if @mr is a region of another kind, if the new protection domain is on another
 * host, or if change->what is 0.
 */
RDL_MUST_CHECK enum rdl_status rdl_rereg_mr(struct rdl_lab *lab, rdl_mr mr,
                                            const struct rdl_mr_change *change);

/* Creates a region for fast registration of at most @max_pages pages, as ib_alloc_mr().  Its key is
 * invalid until a work request REG_MR registers it.  REG_MR can grant at most @access.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  @access is invalid
 *	   RDL_ERR_LIMIT  more pages than the device supports
 */
RDL_MUST_CHECK enum rdl_status rdl_create_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access,
                                             uint32_t max_pages, const char *name, rdl_mr *ret);

/* Sets the pages that the next REG_MR of @mr registers, as ib_map_mr_sg().
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  not a region for fast registration, no bytes, or an invalid iova
 *	   RDL_ERR_LIMIT  more pages than the region has
 *	   RDL_ERR_FAULT  part of the range is not mapped
 */
RDL_MUST_CHECK enum rdl_status rdl_map_mr_sg(struct rdl_lab *lab, rdl_mr mr,
                                             const struct rdl_mr_range *range);

/* Creates a DMA region.  It covers all guest RAM, and its addresses are guest-physical.  Kernel
 * consumers use such regions.
 */
RDL_MUST_CHECK enum rdl_status rdl_get_dma_mr(struct rdl_lab *lab, rdl_pd pd, uint32_t access,
                                              const char *name, rdl_mr *ret);

/* Creates an unbound window of type 1 or 2, as ibv_alloc_mw().  Returns RDL_ERR_INVAL if @type is
 * neither 1 nor 2.
 */
RDL_MUST_CHECK enum rdl_status rdl_alloc_mw(struct rdl_lab *lab, rdl_pd pd, uint32_t type,
                                            const char *name, rdl_mw *ret);
RDL_MUST_CHECK enum rdl_status rdl_dealloc_mw(struct rdl_lab *lab, rdl_mw mw);

struct rdl_mw_info {
    uint32_t type; /* 1 or 2 */
    uint32_t rkey; /* R_Key of the last bind that was posted; if none was, that of rdl_alloc_mw() */
};
RDL_MUST_CHECK enum rdl_status rdl_mw_info(const struct rdl_lab *lab, rdl_mw mw,
                                           struct rdl_mw_info *ret);

#endif
