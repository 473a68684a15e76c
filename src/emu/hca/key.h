/* SPDX-License-Identifier: MIT */
/* Memory keys: each gives its users access to a range of guest memory.
 *
 *	region  user    REG_USER_MR: pages of a program
 *	        DMA     GET_DMA_MR: all of guest RAM, by guest-physical addresses
 *	        fast    CREATE_MR, MAP_MR_SG; then REG_MR makes it valid
 *	window  type 1  a part of a region; each bind gives it a new key
 *	        type 2  for one queue pair; the program that binds it chooses the key
 *
 * All of them are in one table.  A key is index << 8 | low byte.  The low byte of a new
 * registration is drawn at random, so that the use of an outdated key is detected.  The lkey and
 * the rkey of a region are the same number; the access flags decide what the peer may do.  A window
 * has only an rkey.
 *
 * A region stores the list of its guest-physical pages.  They were inside RAM at registration and
 * RAM does not shrink, so copies cannot fail.  Foreign RAM is the exception: if it is gone, reads
 * return zeros and writes are lost, as on a bus.  A window has no pages of its own.  It refers to
 * its region, which cannot be destroyed while the window is bound.
 *
 * The host addresses of pages are cached next to their list.  Looking up each page again would take
 * longer than copying a small packet, because a large payload evicts the page tables of RAM from
 * the processor's cache.
 */
#ifndef EMU_HCA_KEY_H
#define EMU_HCA_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/facts/compared.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/key_state.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rules.h"
#include "emu/hca/hca.h"
#include "emu/hca/qp.h"

/* All access flags that permit operations of a peer, one for each kind: WRITE (also ATOMIC WRITE),
 * READ, atomic, FLUSH.
 */
#define KEY_REMOTE_ACCESS                                                                          \
    ((unsigned)(ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC) | ACCESS_FLUSH)

#define KEY_PAGE_MASK ((uint64_t)RAM_PAGE_BYTES - 1)

/* The guest RAM pages of a region, and the offset of its first byte in the first page.  A page is
 * 1 << @bits bytes.
 */
struct key_pages {
    uint32_t bits;
    uint32_t offset; /* offset of the first byte in the first page */
    uint32_t n;      /* number of pages; 0: no list */
    uint64_t *gpa;   /* guest-physical address of each page */
    /* Host address of each page of RAM_PAGE_BYTES; NULL: not looked up, never written, or larger */
    uint8_t **found;
    /* Pages @near to @near_end - 1 have been looked up, and each follows the one before it in the
     * memory of this process.
     */
    uint32_t near, near_end;
    uint32_t room;      /* capacity of the lists, in pages */
    uint64_t forgotten; /* ram.forgotten at lookup; if it has changed, @found is invalid */
    bool lent; /* all pages are lent by one program, in order: they can be copied at once */
};

/* A region or window.  Its kind and the index in its key never change. */
struct mkey {
    uint32_t key;
    enum key_state state;
    uint32_t pdn;
    uint32_t qpn;    /* bound type 2 window: the queue pair that can use it; else 0: all */
    unsigned access; /* set of enum access_bit */
    enum key_kind kind;
    uint64_t addr; /* virtual address of the first byte, as in SGEs and RETHs */
    uint64_t bytes;
    struct key_pages pages; /* page list of a user or fast region */

    /* Fast regions: the mapping of the last MAP_MR_SG, which the next REG_MR makes valid. */
    struct key_pages next;
    uint64_t next_addr, next_bytes;
    unsigned allocated_access; /* set of enum access_bit: the maximum for REG_MR */

    struct mkey *region;  /* window: the region that it is bound to, or NULL */
    uint64_t region_addr; /* window: address of its first byte in the region */
    uint32_t n_windows;   /* region: number of windows bound to it */
};

/* The user of a key: a queue pair and a protection domain. */
struct key_user {
    uint32_t pdn, qpn;
};

/* Returns @qp and its protection domain as the user of a key. */
static inline struct key_user key_user_of(const struct qp *qp)
{
    return (struct key_user){qp->pd->pdn, qp->qpn};
}

/* Returns the user of the lkeys of a receive of @qp.  For a shared receive the protection domain is
 * that of the shared receive queue.
 */
static inline struct key_user key_user_of_recv(const struct qp *qp)
{
    return (struct key_user){qp->srq ? qp->srq->pd->pdn : qp->pd->pdn, qp->qpn};
}

static inline bool key_is_window(const struct mkey *k)
{
    return k->kind == KEY_MW_TYPE_1 || k->kind == KEY_MW_TYPE_2;
}

/* Returns the number of the object with this key: mrn of a region, mwn of a window. */
static inline uint32_t key_number(uint32_t key)
{
    return key >> 8;
}

/* Returns the object with this number, in any state, or NULL if it does not exist. */
static inline struct mkey *key_at(const struct hca *h, uint32_t number)
{
    return slots_at(&h->mkeys, number - 1);
}

/* Returns the object with exactly this key, or NULL if there is none or it is not in state
 * KEY_VALID.
 */
static inline struct mkey *key_find(const struct hca *h, uint32_t key)
{
    struct mkey *k = key_at(h, key_number(key));

    return k && k->key == key && k->state == KEY_VALID ? k : NULL;
}

/* Returns true if any of the @bytes from @addr is outside [@start, @start + @len). */
static inline bool key_is_outside(uint64_t start, uint64_t len, uint64_t addr, uint64_t bytes)
{
    return addr < start || addr - start > len || bytes > len - (addr - start);
}

/* Returns true if @k is a window of a host without TRAIT_WINDOW_BOUNDS_CHECKED, and @bytes from
 * @addr are in its region, although they are outside of the window.
 */
RDL_COLD bool key_reaches_region(const struct hca *h, const struct mkey *k, uint64_t addr,
                                 uint64_t bytes);

/* Checks that @user may access @bytes from @addr through @key with all of @access, a set of enum
 * access_bit.  Local reads need none.  Returns RULE_NONE, or the rule that forbids the access.
 * Changes nothing.
 */
static inline enum rule key_check(const struct hca *h, uint32_t key, const struct key_user *user,
                                  uint64_t addr, uint64_t bytes, unsigned access)
{
    const struct mkey *k = key_at(h, key_number(key));

    if (!k || k->key != key)
        return RULE_MR_KEY;
    if (k->state != KEY_VALID)
        return RULE_KEY_FREE;
    if (k->pdn != user->pdn)
        return RULE_MR_PD;
    if (k->qpn != 0 && k->qpn != user->qpn)
        return RULE_KEY_QP;
    if (!(access & KEY_REMOTE_ACCESS) && key_is_window(k))
        return RULE_KEY_WINDOW;
    if (key_is_outside(k->addr, k->bytes, addr, bytes) && !key_reaches_region(h, k, addr, bytes))
        return RULE_MR_RANGE;
    if ((access & ~k->access) != 0)
        return RULE_MR_ACCESS;
    return RULE_NONE;
}

/* Like key_check(), but returns the rule together with the values that it compared. */
RDL_COLD struct objection key_objection(const struct hca *h, uint32_t key,
                                        const struct key_user *user, uint64_t addr, uint64_t bytes,
                                        unsigned access);

/* Returns the region of the valid @key: for a window, the region that it is bound to.  Converts
 * *@addr to an address of that region.
 */
static inline struct mkey *key_region(const struct hca *h, uint32_t key, uint64_t *addr)
{
    struct mkey *k = key_find(h, key);

    RDL_ASSERT(k);
    if (!k->region)
        return k;
    *addr = *addr - k->addr + k->region_addr;
    return k->region;
}

/* A run of bytes of a region within one page. */
struct key_place {
    uint8_t *bytes; /* host address; NULL: use @gpa */
    uint64_t gpa;   /* guest-physical */
    size_t run;     /* number of bytes */
};

/* Looks up the host address of page number @page of the region @mr and caches it.  Returns NULL if
 * the page was never written.
 */
RDL_COLD uint8_t *key_find_page(const struct hca *h, struct mkey *mr, uint64_t page);

/* Returns the first run of the @bytes bytes at @addr of the region @mr: those in the page of @addr.
 */
static inline struct key_place key_place(const struct hca *h, struct mkey *mr, uint64_t addr,
                                         size_t bytes)
{
    uint64_t offset, page, in_page;
    uint8_t *found;

    if (mr->kind == KEY_DMA_MR)
        return (struct key_place){NULL, addr, ram_run(addr, bytes)};
    offset = addr - mr->addr + mr->pages.offset;
    if (mr->pages.bits != RAM_PAGE_BITS) {
        page = offset >> mr->pages.bits;
        in_page = offset & (((uint64_t)1 << mr->pages.bits) - 1);
        return (struct key_place){NULL, mr->pages.gpa[page] + in_page,
                                  ram_run(mr->pages.gpa[page] + in_page, bytes)};
    }
    page = offset >> RAM_PAGE_BITS;
    in_page = offset & KEY_PAGE_MASK;
    found = mr->pages.found[page];
    if (!found || mr->pages.forgotten != h->ram->forgotten)
        found = key_find_page(h, mr, page);
    return (struct key_place){found ? found + in_page : NULL, mr->pages.gpa[page] + in_page,
                              ram_run(in_page, bytes)};
}

/* As key_place(), but the run is as long as pages follow each other in the memory of this process.
 */
struct key_place key_stretch(const struct hca *h, struct mkey *mr, uint64_t addr, size_t bytes);

/* A piece of guest-physical memory: @bytes from @offset on in a list of pages. */
struct key_piece {
    uint32_t bits; /* a page is 1 << @bits bytes */
    uint64_t offset, bytes;
};

/* Copies the addresses of the pages that have @bytes at @addr of the region @mr to @gpa, which has
 * room for @bytes / RAM_PAGE_BYTES + 2.  Returns their number, and their use in *@ret.  key_check()
 * must have allowed the access.
 */
uint32_t key_piece(const struct mkey *mr, uint64_t addr, uint64_t bytes, uint64_t *gpa,
                   struct key_piece *ret);

/* Returns a pointer to guest memory at @addr, for reading through the valid @key.  *@ret_run is the
 * number of bytes in the first page, at most @bytes, which must not be 0.  The pointer is valid
 * until that memory is written.  key_check() must have allowed the access.
 */
static inline const uint8_t *key_look(const struct hca *h, uint32_t key, uint64_t addr,
                                      size_t bytes, size_t *ret_run)
{
    struct mkey *mr = key_region(h, key, &addr);
    const struct key_place at = key_place(h, mr, addr, bytes);

    *ret_run = at.run;
    return at.bytes ? at.bytes : ram_look(h->ram, at.gpa, at.run);
}

/* Returns true if the valid @key is of a region of lent memory (key_pages.lent). */
bool key_is_lent(const struct hca *h, uint32_t key);

/* Returns the guest-physical address of @addr of the region @mr, whose pages are lent. */
static inline uint64_t key_lent_gpa(const struct mkey *mr, uint64_t addr)
{
    return mr->pages.gpa[0] + mr->pages.offset + (addr - mr->addr);
}

/* Copy @bytes > 0 out of, or into, guest memory through the valid @key.  key_check() must have
 * allowed the access.
 */
void key_copy_out(const struct hca *h, uint32_t key, uint64_t addr, void *out, size_t bytes);
void key_copy_in(struct hca *h, uint32_t key, uint64_t addr, const void *in, size_t bytes);

/* Checks that @user may invalidate @key, by LOCAL_INV, SEND_WITH_INV or READ_WITH_INV.  Only fast
 * regions and windows of type 2 can be invalidated.  A key that is already free is allowed and
 * stays free, as in Linux rxe.  Returns RULE_NONE, or the rule that forbids it.  Changes nothing.
 */
struct objection key_check_inv(const struct hca *h, uint32_t key, const struct key_user *user);

/* Invalidates @key: its object becomes KEY_FREE, and a window is unbound.  key_check_inv() must
 * have allowed it.
 */
void key_inv(struct hca *h, uint32_t key);

/* Returns the values of a range check that failed: the first and last valid address, and the first
 * or last address of the access that is outside.
 */
struct compared key_range_compared(uint64_t start, uint64_t len, uint64_t addr, uint64_t bytes);

/* Internal to key.c, mr.c and mw.c. */

/* Capacities of the two page lists of a new region, mkey.pages and mkey.next, in pages. */
struct key_room {
    uint32_t pages, next;
};

/* Creates an object of @kind in @pd, in state KEY_FREE.  Returns REF_NONE or RFK_NO_ROOM. */
enum refusal_reason key_new(struct hca *h, enum key_kind kind, struct pd *pd, struct key_room room,
                            struct mkey **ret);

/* Frees a region or window and its number.  No window may be bound to it, and it must not be bound
 * itself.
 */
void key_free(struct hca *h, struct mkey *k);

/* key_pages_new() allocates an empty list for up to @n pages.  Returns false if the arena is full.
 * key_pages_free() frees the list.
 */
bool key_pages_new(struct hca *h, uint32_t n, struct key_pages *ret);
void key_pages_free(struct hca *h, struct key_pages *p);

/* A list of @n pages of 1 << @bits bytes, and the address @start, whose page offset is that of the
 * first byte.
 */
struct page_list {
    uint64_t start;
    const uint64_t *gpa;
    uint32_t n, bits;
};

/* Sets @p to the pages of @list.  Their number must be at most p->room. */
void key_pages_set(struct key_pages *p, const struct page_list *list);

/* Changes the low byte of the key of @k to another value, chosen at random. */
void key_renew(struct hca *h, struct mkey *k);

#endif
