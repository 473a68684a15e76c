/* SPDX-License-Identifier: MIT */
/* Guest RAM: guest-physical bytes 0 .. size - 1 of one host, on pages that exist once written.
 * Tables of pages exist once one of their pages does, so that RAM costs what is used of it.
 *
 * A device reaches guest memory only through ram_read() and ram_write() (checked DMA): an address
 * or a length outside RAM gives false, and nothing is copied.
 *
 * RAM can be foreign instead: memory of a virtual machine that another program runs.  Then it is a
 * list of regions with holes between them, replaced whole by ram_map() whenever the machine's map
 * of its memory changes, and each of its pages exists, in one region.  The machine reads and writes
 * it at the same time, so whoever depends on an order says so with ram_fence().
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
#define RAM_TABLE_BITS  9u /* of a table: its pages; it is as large as a page itself */
#define RAM_TABLE_PAGES (1u << RAM_TABLE_BITS)

struct ram_table {
    uint8_t *pages[RAM_TABLE_PAGES]; /* NULL: never written, reads as zero */
};

/* Where pages were found: page number n in entry n modulo RAM_RECENT, or another, or none. */
#define RAM_RECENT 64u

struct ram_recent {
    uint64_t gpa; /* of the page's first byte; of a page with another entry: this one is empty */
    uint8_t *page;
};

/* A part of foreign RAM, in whole pages. */
struct ram_region {
    uint64_t gpa, bytes;
    uint8_t *at; /* where the host has it */
    bool writable;
};

#define RAM_REGIONS_MAX 16u

/* No two of them overlap. */
struct ram_regions {
    uint32_t n;
    struct ram_region v[RAM_REGIONS_MAX];
};

struct ram {
    struct arena *arena;
    uint64_t bytes;                  /* a multiple of RAM_PAGE_BYTES; all RAM is below */
    const struct ram_table **tables; /* one without any page is the same for all */
    struct ram_regions *foreign;     /* NULL: RAM on pages; otherwise there are no tables */
    struct ram_recent *recent;       /* RAM_RECENT of them */
    uint64_t forgotten;              /* how often a page has gone since the beginning */
};

/* False when the arena is full.  @bytes > 0.  Its pages go with the arena. */
bool ram_init(struct ram *r, struct arena *a, uint64_t bytes);

/* Foreign RAM, as yet without any region.  False when the arena is full. */
bool ram_init_foreign(struct ram *r, struct arena *a);

/* Foreign RAM is these regions from now on, and nothing else; at most RAM_REGIONS_MAX, none ending
 * beyond 2^63.  Of each only whole pages count.  What was there before is not touched any more when
 * this returns: counted in @forgotten like a page that has gone.
 */
void ram_map(struct ram *r, const struct ram_region *regions, uint32_t n);

/* Page number @page of foreign RAM, or NULL: it is in no region, or, if @write, in one that may not
 * be written to.
 */
uint8_t *ram_foreign_page(const struct ram *r, uint64_t page, bool write);

/* Is every page under [@gpa, @gpa + @n) in a region?  @n > 0, without overflow. */
bool ram_foreign_holds(const struct ram *r, uint64_t gpa, uint64_t n);

/* Page number @page, for reading and writing; or NULL when it was never written, and of foreign RAM
 * when it may not be.
 */
static inline uint8_t *ram_page(const struct ram *r, uint64_t page)
{
    if (r->foreign)
        return ram_foreign_page(r, page, true);
    return r->tables[page >> RAM_TABLE_BITS]->pages[page & (RAM_TABLE_PAGES - 1)];
}

/* Page number @page reads as zero again, and costs nothing.  Counted in @forgotten, for who has
 * noted where pages are.
 */
void ram_forget(struct ram *r, uint64_t page);

static inline bool ram_holds(const struct ram *r, uint64_t gpa, uint64_t n)
{
    return n <= r->bytes && gpa <= r->bytes - n &&
           (!r->foreign || n == 0 || ram_foreign_holds(r, gpa, n));
}

/* What was read and written before is done before what is read and written from here on, as the
 * guest of foreign RAM sees it.  Nobody else runs at the same time.
 */
static inline void ram_fence(const struct ram *r)
{
    if (r->foreign)
        atomic_thread_fence(memory_order_seq_cst);
}

/* How many of the @n bytes from @addr on lie in its page. */
static inline size_t ram_run(uint64_t addr, size_t n)
{
    const size_t left = RAM_PAGE_BYTES - (size_t)(addr % RAM_PAGE_BYTES);

    return n < left ? n : left;
}

/* Where the page of @gpa may have been found before. */
RDL_INLINE const struct ram_recent *ram_recent_of(const struct ram *r, uint64_t gpa)
{
    return &r->recent[(gpa >> RAM_PAGE_BITS) % RAM_RECENT];
}

/* Do the @n bytes at @gpa lie in the page of @e?  An entry of another page is at least a page away,
 * so one comparison sees that, and the page's end.
 */
RDL_INLINE bool ram_in_page(const struct ram_recent *e, uint64_t gpa, size_t n)
{
    return n <= RAM_PAGE_BYTES && gpa - e->gpa <= RAM_PAGE_BYTES - n;
}

/* As ram_read() and ram_write(), for whatever they do not do themselves. */
bool ram_read_pages(const struct ram *r, uint64_t gpa, void *out, size_t n);
bool ram_write_pages(struct ram *r, uint64_t gpa, const void *in, size_t n);

/* Copies @n bytes at guest-physical @gpa.  False: not all of it is RAM (or, writing, the arena is
 * full, or some of it may not be written to); nothing was copied.  Inline, because nearly all that
 * is read or written is a field of a ring: a few bytes in a page that exists.
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

/* Writes @n zeros; but a page that was never written reads as zero already, and stays so. */
bool ram_zero(struct ram *r, uint64_t gpa, uint64_t n);

/* The @n bytes at @gpa, which are known to be RAM, and to lie in one page; until the next write.
 * For payload, which comes in whole pages and each of them once: what was found before stays as it
 * is, so that it keeps the pages of the rings.  What is no foreign RAM any more reads as zero.
 */
const uint8_t *ram_look(const struct ram *r, uint64_t gpa, size_t n);

/* Copies to such a place.  False: the arena is full, or it is no foreign RAM any more that can be
 * written; nothing was copied.
 */
bool ram_write_run(struct ram *r, uint64_t gpa, const void *in, size_t n);

#endif
