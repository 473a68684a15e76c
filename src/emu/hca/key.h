/* SPDX-License-Identifier: MIT */
/* Keys: which bytes of guest memory the device may touch, for whom, and where they are.
 *
 *	region  user    REG_USER_MR: pages of a program
 *	        DMA     GET_DMA_MR: all of guest RAM, by its own addresses
 *	        fast    CREATE_MR, MAP_MR_SG; then REG_MR makes it valid
 *	window  type 1  a part of a region; each bind gives it another key
 *	        type 2  for one queue pair; who binds it chooses its key
 *
 * All of them are in one table.  A key is index << 8 | low byte.  The low byte is drawn anew for
 * every registration, so that a key that was kept too long is noticed.  The local and the remote
 * key of a region are the same number; what the far side may do is decided by the access flags.  A
 * window has a remote key only.
 *
 * A region keeps the list of its guest-physical pages.  They were inside RAM when it was
 * registered, and RAM does not shrink: copies cannot fail.  Only foreign RAM may, of a guest that
 * then reads zeros and whose writes are lost, as on a bus.  A window has no pages but its region,
 * which stays as long as it is bound.
 *
 * Where pages were found is noted beside their list, as to look for each of them anew takes longer
 * than to copy a small packet: a large payload has taken the place of RAM's tables in the cache.
 */
#ifndef EMU_HCA_KEY_H
#define EMU_HCA_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/facts/compared.h"
#include "emu/facts/rules.h"
#include "emu/hca/hca.h"
#include "emu/hca/qp.h"

/* What a peer can be allowed to do. */
#define KEY_REMOTE_ACCESS ((unsigned)(ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC))

#define KEY_PAGE_MASK ((uint64_t)RAM_PAGE_BYTES - 1)

/* Pages of guest RAM, and where in them something begins. */
struct key_pages {
    uint32_t offset; /* of the first byte in the first page */
    uint32_t n;      /* 0: none */
    uint64_t *gpa;   /* of each page, @room of them */
    uint8_t **found; /* of each page: its bytes; NULL: not looked for, or never written */
    uint32_t room;
    uint64_t forgotten; /* ram.forgotten when they were found: if it is another, none counts */
};

/* A key.  Its kind and index never change. */
struct mkey {
    uint32_t key;
    enum key_state state;
    uint32_t pdn;
    uint32_t qpn;    /* of a window of type 2: who may come with it; 0: every queue pair */
    unsigned access; /* set of enum access_bit */
    enum key_kind kind;
    uint64_t addr; /* of the first byte, as SGEs and peers name it */
    uint64_t bytes;
    struct key_pages pages; /* of a user or fast region */

    /* A fast region: what MAP_MR_SG said last, and the next REG_MR makes valid. */
    struct key_pages next;
    uint64_t next_addr, next_bytes;
    unsigned allocated_access; /* set of enum access_bit: REG_MR can allow no more */

    struct mkey *region;  /* of a bound window */
    uint64_t region_addr; /* the window's first byte, as the region names it */
    uint32_t n_windows;   /* of a region: bound to it */
};

/* Who comes with a key: a queue pair and its protection domain. */
struct key_user {
    uint32_t pdn, qpn;
};

static inline struct key_user key_user_of(const struct qp *qp)
{
    return (struct key_user){qp->pd->pdn, qp->qpn};
}

/* Who comes with the keys of a receive: if it is shared, the domain of its queue counts. */
static inline struct key_user key_user_of_recv(const struct qp *qp)
{
    return (struct key_user){qp->srq ? qp->srq->pd->pdn : qp->pd->pdn, qp->qpn};
}

static inline bool key_is_window(const struct mkey *k)
{
    return k->kind == KEY_MW_TYPE_1 || k->kind == KEY_MW_TYPE_2;
}

/* The number of an object: of a region mrn, of a window mwn. */
static inline uint32_t key_number(uint32_t key)
{
    return key >> 8;
}

/* The object with this number, whatever its state; NULL: there is none. */
static inline struct mkey *key_at(const struct hca *h, uint32_t number)
{
    return slots_at(&h->mkeys, number - 1);
}

/* NULL: no valid key has this value. */
static inline struct mkey *key_find(const struct hca *h, uint32_t key)
{
    struct mkey *k = key_at(h, key_number(key));

    return k && k->key == key && k->state == KEY_VALID ? k : NULL;
}

/* Is @bytes from @addr outside [@start, @start + @len)? */
static inline bool key_is_outside(uint64_t start, uint64_t len, uint64_t addr, uint64_t bytes)
{
    return addr < start || addr - start > len || bytes > len - (addr - start);
}

/* May @user touch @bytes from @addr through @key, with all of @access (a set of enum access_bit;
 * reading locally needs none)?  RULE_NONE, or the rule that objects.  Changes nothing.
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
    if (key_is_outside(k->addr, k->bytes, addr, bytes))
        return RULE_MR_RANGE;
    if ((access & ~k->access) != 0)
        return RULE_MR_ACCESS;
    return RULE_NONE;
}

/* The same, with what the rule compared. */
RDL_COLD struct objection key_objection(const struct hca *h, uint32_t key,
                                        const struct key_user *user, uint64_t addr, uint64_t bytes,
                                        unsigned access);

/* The region behind the valid @key; *@addr becomes the address as that region names it. */
static inline struct mkey *key_region(const struct hca *h, uint32_t key, uint64_t *addr)
{
    struct mkey *k = key_find(h, key);

    RDL_ASSERT(k);
    if (!k->region)
        return k;
    *addr = *addr - k->addr + k->region_addr;
    return k->region;
}

/* Where bytes of a region are, which lie in one page. */
struct key_place {
    uint8_t *bytes; /* NULL: at @gpa, in a page that was not found */
    uint64_t gpa;   /* guest-physical */
    size_t run;     /* how many */
};

/* Looks for page number @page of the region @mr, and notes it.  NULL: it was never written. */
RDL_COLD uint8_t *key_find_page(const struct hca *h, struct mkey *mr, uint64_t page);

/* The first of @bytes bytes at @addr of the region @mr: those in its page. */
static inline struct key_place key_place(const struct hca *h, struct mkey *mr, uint64_t addr,
                                         size_t bytes)
{
    uint64_t offset, page, in_page;
    uint8_t *found;

    if (mr->kind == KEY_DMA_MR)
        return (struct key_place){NULL, addr, ram_run(addr, bytes)};
    offset = addr - mr->addr + mr->pages.offset;
    page = offset >> RAM_PAGE_BITS;
    in_page = offset & KEY_PAGE_MASK;
    found = mr->pages.found[page];
    if (!found || mr->pages.forgotten != h->ram->forgotten)
        found = key_find_page(h, mr, page);
    return (struct key_place){found ? found + in_page : NULL, mr->pages.gpa[page] + in_page,
                              ram_run(in_page, bytes)};
}

/* Guest memory at @addr by a valid @key, until it is written: the first *@ret_run of @bytes > 0,
 * which are those in the first page.  key_check() must have allowed it.
 */
static inline const uint8_t *key_look(const struct hca *h, uint32_t key, uint64_t addr,
                                      size_t bytes, size_t *ret_run)
{
    struct mkey *mr = key_region(h, key, &addr);
    const struct key_place at = key_place(h, mr, addr, bytes);

    *ret_run = at.run;
    return at.bytes ? at.bytes : ram_look(h->ram, at.gpa, at.run);
}

/* Copies @bytes > 0 out of, into guest memory by a valid @key.  key_check() must have allowed it.
 */
void key_copy_out(const struct hca *h, uint32_t key, uint64_t addr, void *out, size_t bytes);
void key_copy_in(struct hca *h, uint32_t key, uint64_t addr, const void *in, size_t bytes);

/* May @user make @key invalid, by LOCAL_INV or, as a peer, by SEND_WITH_INV?  Only fast regions
 * and windows of type 2 can be.  One that is free already stays so, as in Linux rxe.
 */
struct objection key_check_inv(const struct hca *h, uint32_t key, const struct key_user *user);

/* Does what key_check_inv() allowed. */
void key_inv(struct hca *h, uint32_t key);

/* What such an access compares: the addresses there are, and the first or last one that is not. */
struct compared key_range_compared(uint64_t start, uint64_t len, uint64_t addr, uint64_t bytes);

/* Between the files of keys. */

/* How many pages a new region has room for, and how many it can be told of before it is valid. */
struct key_room {
    uint32_t pages, next;
};

/* A new object of @kind in @pd, which is free.  RSP_OK, RSP_NO_RESOURCES */
enum ctrl_rsp key_new(struct hca *h, enum key_kind kind, struct pd *pd, struct key_room room,
                      struct mkey **ret);

/* Gives it back, whatever it is.  Nothing may be bound to it. */
void key_free(struct hca *h, struct mkey *k);

/* An empty list with room for @n pages.  False: the arena is full. */
bool key_pages_new(struct hca *h, uint32_t n, struct key_pages *ret);
void key_pages_free(struct hca *h, struct key_pages *p);

/* What is listed begins in the first of the @n pages @pages, where address @start is in its page.
 * There must be room.
 */
void key_pages_set(struct key_pages *p, uint64_t start, const uint64_t *pages, uint32_t n);

/* Another low byte than before. */
void key_renew(struct hca *h, struct mkey *k);

#endif
