/* SPDX-License-Identifier: MIT */
/* Memory regions: control requests and the work request REG_MR.  Concepts: key.h. */
#ifndef EMU_HCA_MR_H
#define EMU_HCA_MR_H

#include "emu/hca/key.h"
#include "emu/hca/key_request.h"

/* A registration request of the guest.  With ACC_ZERO_BASED the first byte has address 0. */
struct mr_request {
    uint32_t pdn;
    unsigned access; /* set of enum access_bit */
    uint64_t start;  /* its offset in a page is that of the first byte in the first page */
    uint64_t length;
    uint64_t virt_addr; /* equals start modulo 4096; 0 with ACC_ZERO_BASED */
    /* Guest-physical, multiples of the page size, which follows from n_pages; copied. */
    const uint64_t *pages;
    uint32_t n_pages;
};

/* Registers a user region.  Remote write and remote atomic access require local write access.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such protection domain
 *	   RFK_INVALID    invalid length, address, access flags, page offset, or page list
 *	   RFK_NO_ROOM    max_mr is reached, or the arena is full
 */
enum refusal_reason hca_mr_create(struct hca *h, const struct mr_request *req, struct mkey **ret);

/* Parts of a region that REREG_MR changes; bits as in libibverbs' enum ibv_rereg_mr_flags. */
#define REREG_TRANSLATION 1u /* start, length, virt_addr, pages */
#define REREG_PD          2u
#define REREG_ACCESS      4u
#define REREG_ALL         (REREG_TRANSLATION | REREG_PD | REREG_ACCESS)

/* Changes the parts @what (a set of REREG_...) of the user region @mrn to those of @req.  On an
 * error nothing is changed.  The region gets a new key, so that the use of the old one is detected.
 * *@ret is the region.  Returns REF_NONE, an error of hca_mr_create(), or:
 *
 *	   RFK_NO_OBJECT  no such region
 *	   RFK_BUSY       windows are bound to it
 *	   RFK_INVALID    @what is 0 or has unknown bits, or the region is no user region
 */
enum refusal_reason hca_mr_change(struct hca *h, uint32_t mrn, unsigned what,
                                  const struct mr_request *req, struct mkey **ret);

/* Registers a region over all of guest RAM.  With local write access, sets h->ram_is_open.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such protection domain
 *	   RFK_INVALID    invalid access flags
 *	   RFK_NO_ROOM    max_mr is reached, or the arena is full
 */
enum refusal_reason hca_dma_mr_create(struct hca *h, uint32_t pdn, unsigned access,
                                      struct mkey **ret);

/* Creates a fast region in state KEY_FREE for up to @max_pages pages.  REG_MR can allow at most
 * @access on it.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such protection domain
 *	   RFK_INVALID    invalid access flags, or @max_pages is 0 or above max_fast_pages
 *	   RFK_NO_ROOM    max_mr is reached, or the arena is full
 */
enum refusal_reason hca_fast_mr_create(struct hca *h, uint32_t pdn, unsigned access,
                                       uint32_t max_pages, struct mkey **ret);

/* The page list that the next REG_MR of a fast region makes valid.  A registration that is valid
 * now does not change.
 */
struct mr_map {
    uint64_t start; /* its offset in a page is that of the first byte in the first page */
    uint64_t length;
    const uint64_t *pages; /* as in struct mr_request */
    uint32_t n_pages;
};

/* Sets the page list for the next REG_MR of region @mrn.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such region
 *	   RFK_INVALID    not a fast region, too many pages, or an invalid length or page list
 */
enum refusal_reason hca_mr_map(struct hca *h, uint32_t mrn, const struct mr_map *map);

/* Deregisters region @mrn.  Work requests in progress that use it fail at their next packet,
 * because keys are checked when packets are built, not when the request is posted.  Returns
 * REF_NONE, RFK_NO_OBJECT, or RFK_BUSY if windows are bound to the region.
 */
enum refusal_reason hca_mr_destroy(struct hca *h, uint32_t mrn);

/* A page list of a driver, in host byte order. */
struct listed_pages {
    uint64_t *gpa;
    uint32_t n;
};

/* Reads the page list of @n entries, le64, at @gpa.  Free it with hca_list_free().
 *
 * Return: REF_NONE
 *	   RFK_INVALID  0 entries, or more than the longest region has, or not in RAM
 *	   RFK_NO_ROOM  the arena is full
 */
enum refusal_reason hca_list_read(struct hca *h, uint64_t gpa, uint32_t n,
                                  struct listed_pages *ret);
void hca_list_free(struct hca *h, struct listed_pages *list);

/* Checks that @user may execute @req.  Returns RULE_NONE, or the rule that forbids it.  Changes
 * nothing.
 */
struct objection key_check_reg(const struct hca *h, const struct key_user *user,
                               const struct reg_request *req);

/* Reads the page list of @req, which has one, and maps its pages as hca_mr_map() does.
 * key_check_reg() must have allowed @req.  Returns RULE_NONE, or the rule that forbids it.
 */
struct objection key_map_list(struct hca *h, const struct reg_request *req);

/* Executes @req: registers the pages of the last hca_mr_map().  key_check_reg() must have allowed
 * it, and key_map_list() if it has a list.
 */
void key_reg(struct hca *h, const struct reg_request *req);

#endif
