/* SPDX-License-Identifier: MIT */
/* Guest RAM: guest-physical bytes 0 .. size - 1 of one host.  A page is allocated when it is first
 * written.  A table of pages is allocated with the first of its pages.  RAM that is never written
 * costs no memory.
 *
 * A device reaches guest memory only through ram_read() and ram_write() (checked DMA).  If part of
 * the range is outside RAM, they return false and copy nothing.
 *
 * RAM can instead be foreign: memory of a virtual machine that another program runs.  It is then a
 * list of regions with holes between them. ram_map() replaces the whole list whenever the machine's
 * memory map changes.  The machine reads and writes this memory concurrently: code that depends on
 * an order of accesses must call ram_fence().
 *
 * Beside its RAM a host can have lent memory: that of other processes, which are its programs.  It
 * can only be copied, by functions of the lender.  Lender @i, from 1, has the guest-physical bytes
 * from @i << RAM_LENT_BITS on: above all RAM.  What a lender does not copy, because the program has
 * unmapped it or has ended, reads as zero, and is not written.
 */
#ifndef EMU_MEM_RAM_H
#define EMU_MEM_RAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emu/base/arena.h"
#include "emu/base/cold.h"

#define RAM_PAGE_BITS   12u
#define RAM_PAGE_BYTES  (1u << RAM_PAGE_BITS)
#define RAM_TABLE_BITS  9u /* pages per table; a table has the size of a page */
#define RAM_TABLE_PAGES (1u << RAM_TABLE_BITS)

struct ram_table {
    uint8_t *pages[RAM_TABLE_PAGES]; /* NULL: the page was never written and reads as zero */
};

/* A direct-mapped cache of page addresses: page number n can only be in entry n modulo RAM_RECENT.
 */
#define RAM_RECENT 64u

struct ram_recent {
    /* Guest-physical address of the page.  An empty entry contains an address that belongs into
     * another entry.
     */
    uint64_t gpa;
    uint8_t *page; /* the bytes of the page */
};

/* A region of foreign RAM, in whole pages. */
struct ram_region {
    uint64_t gpa, bytes;
    uint8_t *at; /* address of the region in this process */
    bool writable;
};

#define RAM_REGIONS_MAX 16u

/* The regions of foreign RAM.  They do not overlap. */
struct ram_regions {
    uint32_t n;
    struct ram_region v[RAM_REGIONS_MAX];
};

/* Lent memory: byte @addr of a lender is at RAM_LENT(number, @addr). */
#define RAM_LENT_BITS     48u
#define RAM_LENT(i, addr) ((uint64_t)(i) << RAM_LENT_BITS | (addr))
#define RAM_LENT_BYTES    ((uint64_t)1 << RAM_LENT_BITS)
#define RAM_LENDERS_MAX   64u

/* Copies @n bytes from or to @addr of the lender's memory.  Returns false if not all of them could
 * be copied; some may have been.
 */
struct ram_lender {
    bool (*read)(void *ctx, uint64_t addr, void *out, size_t n);
    bool (*write)(void *ctx, uint64_t addr, const void *in, size_t n);
    void *ctx;
};

struct ram_lenders {
    struct ram_lender v[RAM_LENDERS_MAX]; /* read NULL: a free entry */
    uint8_t looked[RAM_PAGE_BYTES];       /* what ram_look() has returned last */
};

struct ram {
    struct arena *arena;
    uint64_t bytes;                  /* a multiple of RAM_PAGE_BYTES; all RAM is below */
    const struct ram_table **tables; /* all empty tables are one shared constant */
    struct ram_regions *foreign;     /* foreign RAM, which has no tables; otherwise NULL */
    struct ram_lenders *lenders;     /* NULL: there was never lent memory */
    struct ram_recent *recent;       /* the cache of page addresses: RAM_RECENT entries */
    /* Increases when ram_forget() frees a page, and with each ram_map().  A page address that a
     * caller has cached is valid while the number is unchanged.
     */
    uint64_t forgotten;
};

/* Initializes RAM of @bytes, a multiple of RAM_PAGE_BYTES and not 0.  The pages belong to the
 * arena.  Returns false when the arena is full.
 */
bool ram_init(struct ram *r, struct arena *a, uint64_t bytes);

/* Initializes foreign RAM without regions.  Returns false when the arena is full. */
bool ram_init_foreign(struct ram *r, struct arena *a);

/* Replaces the regions of foreign RAM by the @n regions @regions, at most RAM_REGIONS_MAX.  No
 * region may end beyond 2^63.  Only whole pages of a region are used.  The previous regions are not
 * accessed after the call.  Increments r->forgotten.
 */
void ram_map(struct ram *r, const struct ram_region *regions, uint32_t n);

/* Adds a lender, which is copied, and sets *@ret to its number.  Returns false when the arena is
 * full, or if RAM_LENDERS_MAX lend.  @r must not be foreign RAM.
 */
bool ram_lend(struct ram *r, const struct ram_lender *lender, uint32_t *ret);

/* Ends the loan of lender @i, which is not called any more.  Its memory reads as zero from now on;
 * another lender may get the number.
 */
void ram_lend_end(struct ram *r, uint32_t i);

static inline bool ram_is_lent(uint64_t gpa)
{
    return gpa >= RAM_LENT_BYTES;
}

/* Returns true if all of the @n bytes at @gpa are of one lender. */
bool ram_lent_holds(const struct ram *r, uint64_t gpa, uint64_t n);

/* Returns page number @page of foreign RAM.  Returns NULL if the page is in no region, or if @write
 * is true and its region is read-only.
 */
uint8_t *ram_foreign_page(const struct ram *r, uint64_t page, bool write);

/* Returns true if the regions cover all of [@gpa, @gpa + @n).  @n must not be 0, and @gpa + @n must
 * not overflow.
 */
bool ram_foreign_holds(const struct ram *r, uint64_t gpa, uint64_t n);

/* Returns page number @page for reading and writing.  The page must be inside r->bytes, or lent.
 * Returns NULL if the page was never written, is lent, or is not in a writable region of foreign
 * RAM.
 */
static inline uint8_t *ram_page(const struct ram *r, uint64_t page)
{
    if (ram_is_lent(page << RAM_PAGE_BITS))
        return NULL;
    if (r->foreign)
        return ram_foreign_page(r, page, true);
    return r->tables[page >> RAM_TABLE_BITS]->pages[page & (RAM_TABLE_PAGES - 1)];
}

/* Frees page number @page, which then reads as zero, and increments r->forgotten.  Does nothing if
 * the page was never written.  @r must not be foreign RAM.
 */
void ram_forget(struct ram *r, uint64_t page);

/* Returns true if all of the @n bytes at @gpa are RAM, or all are lent. */
static inline bool ram_holds(const struct ram *r, uint64_t gpa, uint64_t n)
{
    return (n <= r->bytes && gpa <= r->bytes - n &&
            (!r->foreign || n == 0 || ram_foreign_holds(r, gpa, n))) ||
           (ram_is_lent(gpa) && ram_lent_holds(r, gpa, n));
}

/* Makes the virtual machine that shares foreign RAM observe all earlier accesses before all later
 * ones.  Does nothing for other RAM, which no other thread accesses.
 */
static inline void ram_fence(const struct ram *r)
{
    if (r->foreign)
        atomic_thread_fence(memory_order_seq_cst);
}

/* Returns the number of bytes, at most @n, from @addr to the end of its page. */
static inline size_t ram_run(uint64_t addr, size_t n)
{
    const size_t left = RAM_PAGE_BYTES - (size_t)(addr % RAM_PAGE_BYTES);

    return n < left ? n : left;
}

/* Returns the cache entry that @gpa maps to. */
RDL_INLINE const struct ram_recent *ram_recent_of(const struct ram *r, uint64_t gpa)
{
    return &r->recent[(gpa >> RAM_PAGE_BITS) % RAM_RECENT];
}

/* Returns true if the @n bytes at @gpa are in the page of @e.  @gpa - e->gpa is at least a page if
 * @gpa is in another page.  One comparison therefore checks both the page and its end.
 */
RDL_INLINE bool ram_in_page(const struct ram_recent *e, uint64_t gpa, size_t n)
{
    return n <= RAM_PAGE_BYTES && gpa - e->gpa <= RAM_PAGE_BYTES - n;
}

/* ram_read() and ram_write() for ranges that are not in a cached page. */
bool ram_read_pages(const struct ram *r, uint64_t gpa, void *out, size_t n);
bool ram_write_pages(struct ram *r, uint64_t gpa, const void *in, size_t n);

/* Copy @n bytes at guest-physical @gpa.  Return false and copy nothing if part of the range is not
 * RAM.  ram_write() also fails if the arena is full, or part of the range is not writable.  The
 * functions are inlined because most accesses are fields of a ring, 2 to 16 bytes in a cached page.
 */
RDL_INLINE bool ram_read(const struct ram *r, uint64_t gpa, void *out, size_t n)
{
    const struct ram_recent *e = ram_recent_of(r, gpa);

    if (!ram_in_page(e, gpa, n))
        return ram_read_pages(r, gpa, out, n);
    memcpy(out, e->page + (gpa - e->gpa), n);
    return true;
}

RDL_INLINE bool ram_write(struct ram *r, uint64_t gpa, const void *in, size_t n)
{
    const struct ram_recent *e = ram_recent_of(r, gpa);

    if (!ram_in_page(e, gpa, n))
        return ram_write_pages(r, gpa, in, n);
    memcpy(e->page + (gpa - e->gpa), in, n);
    return true;
}

/* Writes @n zeros.  Pages that were never written already read as zero and are not allocated.
 * Returns false if part of the range is not writable RAM, or is lent.
 */
bool ram_zero(struct ram *r, uint64_t gpa, uint64_t n);

/* Returns a pointer to the @n bytes at @gpa, valid until the next write.  The bytes must be RAM and
 * in one page.  Foreign RAM that no longer exists reads as zero.  Lent bytes are valid until the
 * next call.  Unlike ram_read() the function
 * does not enter the page into the cache: payload touches each page once, and would displace the
 * pages of rings.
 */
const uint8_t *ram_look(const struct ram *r, uint64_t gpa, size_t n);

/* Copies @n bytes to @gpa, with the same requirements as ram_look().  Returns false and copies
 * nothing if the arena is full, or if the bytes are no longer in a writable region of foreign RAM.
 */
bool ram_write_run(struct ram *r, uint64_t gpa, const void *in, size_t n);

#endif
