/* SPDX-License-Identifier: MIT */
/* Memory regions: which bytes of guest memory the device may touch, for whom, and where they are.
 *
 * A key is index << 8 | low byte; the low byte is drawn anew for every registration, so that a key
 * that was kept too long is noticed.  The local and the remote key of a region are the same number;
 * what the far side may do is decided by the access flags.
 *
 * A region keeps the list of its guest-physical pages.  They were inside RAM when it was
 * registered, and RAM does not shrink: copies cannot fail.
 */
#ifndef EMU_HCA_MR_H
#define EMU_HCA_MR_H

#include <stddef.h>
#include <stdint.h>

#include "emu/facts/compared.h"
#include "emu/facts/rules.h"
#include "emu/hca/hca.h"

struct mr {
    uint32_t key; /* lkey and rkey */
    uint32_t pdn;
    unsigned access; /* set of enum access_bit, without hints: this device makes nothing of them */
    uint64_t addr;   /* of the first byte, as SGEs name it (virt_addr of the request) */
    uint64_t bytes;
    uint32_t page_offset; /* of the first byte in the first page */
    uint32_t n_pages;
    uint64_t *pages; /* guest-physical */
};

/* A registration as the guest asks for it. */
struct mr_request {
    uint32_t pdn;
    unsigned access;        /* set of enum access_bit */
    uint64_t start, length; /* start & 4095 is the offset in the first page */
    uint64_t virt_addr;     /* the same offset in its page as start */
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
enum ctrl_rsp hca_mr_create(struct hca *h, const struct mr_request *req, struct mr **ret);

/* RSP_OK, RSP_BAD_HANDLE.  Work that is under way finds the key gone.  A WQE checks its keys when
 * its packets are built, not when it is posted.
 */
enum ctrl_rsp hca_mr_destroy(struct hca *h, uint32_t key);

/* NULL: no region has this key. */
static inline struct mr *hca_mr(const struct hca *h, uint32_t key)
{
    struct mr *mr = slots_at(&h->mrs, (key >> 8) - 1);

    return mr && mr->key == key ? mr : NULL;
}

/* May @bytes from @addr be touched through @key for @pdn, with all of @access (a set of enum
 * access_bit; reading locally needs none)?  RULE_NONE, or the rule that objects.  Changes nothing.
 */
enum rule mr_check(const struct hca *h, uint32_t key, uint32_t pdn, uint64_t addr, uint64_t bytes,
                   unsigned access);

/* The same, with what the rule compared. */
struct objection mr_objection(const struct hca *h, uint32_t key, uint32_t pdn, uint64_t addr,
                              uint64_t bytes, unsigned access);

/* Copies out of, into guest memory.  mr_check() must have allowed it. */
void mr_copy_out(const struct hca *h, const struct mr *mr, uint64_t addr, void *out, size_t bytes);
void mr_copy_in(struct hca *h, const struct mr *mr, uint64_t addr, const void *in, size_t bytes);

#endif
