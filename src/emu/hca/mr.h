/* SPDX-License-Identifier: MIT */
/* Regions: requests of the control queue, and REG_MR.  What a region is: key.h. */
#ifndef EMU_HCA_MR_H
#define EMU_HCA_MR_H

#include "emu/hca/key.h"

/* A registration as the guest asks for it.  With ACC_ZERO_BASED the first byte has address 0. */
struct mr_request {
    uint32_t pdn;
    unsigned access;        /* set of enum access_bit */
    uint64_t start, length; /* start & 4095 is the offset in the first page */
    uint64_t virt_addr;     /* the same offset in its page as start; zero based: 0 */
    const uint64_t *pages;  /* guest-physical, multiples of 4096; copied */
    uint32_t n_pages;
};

/* Remote write and remote atomic need local write.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE    no such protection domain
 *	   RSP_INVALID_ARG   length 0 or too long, access, offsets, number or place of the pages
 *	   RSP_NO_RESOURCES  max_mr is reached, or the arena is full
 */
enum ctrl_rsp hca_mr_create(struct hca *h, const struct mr_request *req, struct mkey **ret);

/* What REREG_MR changes; bits as in libibverbs' enum ibv_rereg_mr_flags. */
#define REREG_TRANSLATION 1u /* start, length, virt_addr, pages */
#define REREG_PD          2u
#define REREG_ACCESS      4u
#define REREG_ALL         (REREG_TRANSLATION | REREG_PD | REREG_ACCESS)

/* Changes of the user region @mrn what @what (a set of REREG_...) says, all or nothing.  Its key is
 * another one then: who comes with the old one is told.  Errors as of hca_mr_create(), and
 *
 *	   RSP_BAD_HANDLE   no such region
 *	   RSP_BUSY         windows are bound to it
 *	   RSP_INVALID_ARG  nothing or something unknown is to be changed, or it is no user region
 */
enum ctrl_rsp hca_mr_change(struct hca *h, uint32_t mrn, unsigned what,
                            const struct mr_request *req, struct mkey **ret);

/* A region over all of guest RAM.  RSP_OK, RSP_BAD_HANDLE, RSP_INVALID_ARG (access),
 * RSP_NO_RESOURCES
 */
enum ctrl_rsp hca_dma_mr_create(struct hca *h, uint32_t pdn, unsigned access, struct mkey **ret);

/* A free region for REG_MR with room for @max_pages, which will never allow more than @access.
 * RSP_OK, RSP_BAD_HANDLE, RSP_INVALID_ARG (access, pages), RSP_NO_RESOURCES
 */
enum ctrl_rsp hca_fast_mr_create(struct hca *h, uint32_t pdn, unsigned access, uint32_t max_pages,
                                 struct mkey **ret);

/* A list of pages for the next REG_MR of a fast region; what is registered now stays. */
struct mr_map {
    uint64_t start, length; /* start & 4095 is the offset in the first page */
    const uint64_t *pages;  /* guest-physical, multiples of 4096; copied */
    uint32_t n_pages;
};

/* RSP_OK, RSP_BAD_HANDLE, RSP_INVALID_ARG: no fast region, or pages that do not fit length or room
 */
enum ctrl_rsp hca_mr_map(struct hca *h, uint32_t mrn, const struct mr_map *map);

/* RSP_OK, RSP_BAD_HANDLE, RSP_BUSY (windows are bound to it).  Work that is under way finds the key
 * gone.  A WQE checks its keys when its packets are built, not when it is posted.
 */
enum ctrl_rsp hca_mr_destroy(struct hca *h, uint32_t mrn);

/* The work request REG_MR. */
struct reg_request {
    uint32_t mrn;
    uint32_t key;    /* from now on: index of the region, low byte of the consumer's choice */
    unsigned access; /* set of enum access_bit */
};

/* May @user carry it out?  Changes nothing. */
struct objection key_check_reg(const struct hca *h, const struct key_user *user,
                               const struct reg_request *req);

/* Does what key_check_reg() allowed: the pages that were mapped last are registered. */
void key_reg(struct hca *h, const struct reg_request *req);

#endif
