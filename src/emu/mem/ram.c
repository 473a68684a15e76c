/* SPDX-License-Identifier: MIT */
#include "emu/mem/ram.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/copy.h"

static const struct ram_table no_pages;

static uint64_t n_tables(const struct ram *r)
{
    const uint64_t n_pages = r->bytes >> RAM_PAGE_BITS;

    return (n_pages + RAM_TABLE_PAGES - 1) >> RAM_TABLE_BITS;
}

/* Empties cache entry @i. */
static void recent_clear(const struct ram *r, uint64_t i)
{
    r->recent[i] = (struct ram_recent){.gpa = (i + 1) % RAM_RECENT << RAM_PAGE_BITS};
}

static void recent_set(const struct ram *r, uint64_t page, uint8_t *bytes)
{
    r->recent[page % RAM_RECENT] = (struct ram_recent){page << RAM_PAGE_BITS, bytes};
}

static void recent_clear_all(const struct ram *r)
{
    for (uint64_t i = 0; i < RAM_RECENT; i++)
        recent_clear(r, i);
}

/* Initializes what both kinds of RAM have in common. */
static bool init(struct ram *r, struct arena *a, uint64_t bytes)
{
    *r = (struct ram){.arena = a, .bytes = bytes};
    r->recent = arena_alloc_raw(a, RAM_RECENT * sizeof(*r->recent));
    if (r->recent)
        recent_clear_all(r);
    return r->recent != NULL;
}

bool ram_init(struct ram *r, struct arena *a, uint64_t bytes)
{
    RDL_ASSERT(bytes > 0 && bytes % RAM_PAGE_BYTES == 0);
    if (!init(r, a, bytes))
        return false;
    r->tables = arena_alloc(a, n_tables(r) * sizeof(struct ram_table *));
    if (!r->tables)
        return false;
    for (uint64_t i = 0; i < n_tables(r); i++)
        r->tables[i] = &no_pages;
    return true;
}

/* --- Foreign RAM ------------------------------------------------------------------------------ */

bool ram_init_foreign(struct ram *r, struct arena *a)
{
    if (!init(r, a, 0))
        return false;
    r->foreign = arena_alloc(a, sizeof(*r->foreign));
    return r->foreign != NULL;
}

/* Returns the part of @g that consists of whole pages. */
static struct ram_region whole_pages(const struct ram_region *g)
{
    const uint64_t in_page = RAM_PAGE_BYTES - 1, skip = (0 - g->gpa) & in_page;
    struct ram_region whole = *g;

    whole.bytes = g->bytes > skip ? (g->bytes - skip) & ~in_page : 0;
    whole.gpa = g->gpa + skip;
    whole.at = g->at + (whole.bytes ? skip : 0);
    return whole;
}

void ram_map(struct ram *r, const struct ram_region *regions, uint32_t n)
{
    struct ram_regions *all = r->foreign;

    RDL_ASSERT(all && n <= RAM_REGIONS_MAX);
    r->bytes = 0;
    all->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ram_region g = whole_pages(&regions[i]);

        if (g.bytes == 0)
            continue;
        all->v[all->n++] = g;
        if (g.gpa + g.bytes > r->bytes)
            r->bytes = g.gpa + g.bytes;
    }
    r->forgotten++;
    recent_clear_all(r);
}

static const struct ram_region *region_of(const struct ram *r, uint64_t gpa)
{
    const struct ram_regions *all = r->foreign;

    for (uint32_t i = 0; i < all->n; i++) {
        if (gpa >= all->v[i].gpa && gpa - all->v[i].gpa < all->v[i].bytes)
            return &all->v[i];
    }
    return NULL;
}

uint8_t *ram_foreign_page(const struct ram *r, uint64_t page, bool write)
{
    const uint64_t gpa = page << RAM_PAGE_BITS;
    const struct ram_region *g = region_of(r, gpa);

    return g && (g->writable || !write) ? g->at + (gpa - g->gpa) : NULL;
}

/* Returns how many of the @n bytes from @gpa on are in one region; 0 if @gpa is in none. */
static uint64_t region_run(const struct ram *r, uint64_t gpa, uint64_t n, bool write)
{
    const struct ram_region *g = region_of(r, gpa);
    uint64_t left;

    if (!g || (write && !g->writable))
        return 0;
    left = g->bytes - (gpa - g->gpa);
    return n < left ? n : left;
}

static bool foreign_allows(const struct ram *r, uint64_t gpa, uint64_t n, bool write)
{
    while (n > 0) {
        const uint64_t run = region_run(r, gpa, n, write);

        if (run == 0)
            return false;
        gpa += run;
        n -= run;
    }
    return true;
}

bool ram_foreign_holds(const struct ram *r, uint64_t gpa, uint64_t n)
{
    return foreign_allows(r, gpa, n, false);
}

/* --- Lent memory ------------------------------------------------------------------------------ */

bool ram_lend(struct ram *r, const struct ram_lender *lender, uint32_t *ret)
{
    RDL_ASSERT(!r->foreign && lender->read && lender->write);
    if (!r->lenders)
        r->lenders = arena_alloc(r->arena, sizeof(*r->lenders));
    for (uint32_t i = 0; r->lenders && i < RAM_LENDERS_MAX; i++) {
        if (r->lenders->v[i].read)
            continue;
        r->lenders->v[i] = *lender;
        *ret = i + 1;
        return true;
    }
    return false;
}

void ram_lend_end(struct ram *r, uint32_t i)
{
    r->lenders->v[i - 1] = (struct ram_lender){0};
}

/* The lender of @gpa, which is lent; NULL if there is none. */
static const struct ram_lender *lender_of(const struct ram *r, uint64_t gpa)
{
    const uint64_t i = gpa >> RAM_LENT_BITS;

    return r->lenders && i <= RAM_LENDERS_MAX && r->lenders->v[i - 1].read ? &r->lenders->v[i - 1]
                                                                           : NULL;
}

bool ram_lent_holds(const struct ram *r, uint64_t gpa, uint64_t n)
{
    return n <= RAM_LENT_BYTES - gpa % RAM_LENT_BYTES && lender_of(r, gpa);
}

/* These succeed without copying where the lender has no memory, as the head of ram.h says. */
static bool lent_read(const struct ram *r, uint64_t gpa, void *out, size_t n)
{
    const struct ram_lender *l = lender_of(r, gpa);

    if (!ram_lent_holds(r, gpa, n))
        return false;
    if (!l->read(l->ctx, gpa % RAM_LENT_BYTES, out, n))
        memset(out, 0, n);
    return true;
}

static bool lent_write(const struct ram *r, uint64_t gpa, const void *in, size_t n)
{
    const struct ram_lender *l = lender_of(r, gpa);

    if (!ram_lent_holds(r, gpa, n))
        return false;
    (void)l->write(l->ctx, gpa % RAM_LENT_BYTES, in, n);
    return true;
}

/* --- All kinds ------------------------------------------------------------------------------ */

/* Returns page number @page for reading, or NULL if it does not exist and reads as zero.  Only
 * writable pages are entered into the cache.
 */
static const uint8_t *page_to_read(const struct ram *r, uint64_t page)
{
    uint8_t *found = ram_page(r, page);

    if (found)
        recent_set(r, page, found);
    else if (r->foreign)
        found = ram_foreign_page(r, page, false);
    return found;
}

bool ram_read_pages(const struct ram *r, uint64_t gpa, void *out, size_t n)
{
    uint8_t *to = out;

    if (ram_is_lent(gpa))
        return lent_read(r, gpa, out, n);
    if (!ram_holds(r, gpa, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(gpa, n);
        const uint8_t *page = page_to_read(r, gpa >> RAM_PAGE_BITS);

        if (page)
            memcpy(to, page + gpa % RAM_PAGE_BYTES, run);
        else
            memset(to, 0, run);
        to += run;
        gpa += run;
        n -= run;
    }
    return true;
}

/* Returns the location of the pointer to page number @page, or NULL if its table is empty.  With
 * @make an empty table is allocated first; NULL means that the arena is full.
 */
static uint8_t **place(struct ram *r, uint64_t page, bool make)
{
    const struct ram_table **at = &r->tables[page >> RAM_TABLE_BITS];
    struct ram_table *t;

    if (*at == &no_pages) {
        t = make ? arena_alloc(r->arena, sizeof(*t)) : NULL;
        if (!t)
            return NULL;
        *at = t;
    }
    t = (struct ram_table *)*at; /* not const: only the shared empty table is */
    return &t->pages[page & (RAM_TABLE_PAGES - 1)];
}

/* Allocates page number @page, which does not exist. */
static bool page_back(struct ram *r, uint64_t page)
{
    uint8_t **at = place(r, page, true);

    if (at)
        *at = arena_alloc(r->arena, RAM_PAGE_BYTES);
    return at && *at;
}

/* Allocates all missing pages of [@gpa, @gpa + @n), so that a write cannot fail halfway. */
static bool back(struct ram *r, uint64_t gpa, size_t n)
{
    if (r->foreign)
        return foreign_allows(r, gpa, n, true);
    for (uint64_t i = gpa >> RAM_PAGE_BITS; n > 0 && i <= (gpa + n - 1) >> RAM_PAGE_BITS; i++) {
        if (!ram_page(r, i) && !page_back(r, i))
            return false;
    }
    return true;
}

bool ram_write_pages(struct ram *r, uint64_t gpa, const void *in, size_t n)
{
    const uint8_t *from = in;

    if (ram_is_lent(gpa))
        return lent_write(r, gpa, in, n);
    if (!ram_holds(r, gpa, n) || !back(r, gpa, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(gpa, n);
        uint8_t *page = ram_page(r, gpa >> RAM_PAGE_BITS);

        memcpy(page + gpa % RAM_PAGE_BYTES, from, run);
        recent_set(r, gpa >> RAM_PAGE_BITS, page);
        from += run;
        gpa += run;
        n -= run;
    }
    return true;
}

bool ram_zero(struct ram *r, uint64_t gpa, uint64_t n)
{
    if (ram_is_lent(gpa) || !ram_holds(r, gpa, n) ||
        (r->foreign && !foreign_allows(r, gpa, n, true)))
        return false;
    while (n > 0) {
        const size_t run = ram_run(gpa, n < RAM_PAGE_BYTES ? (size_t)n : RAM_PAGE_BYTES);
        uint8_t *page = ram_page(r, gpa >> RAM_PAGE_BITS);

        if (page)
            memset(page + gpa % RAM_PAGE_BYTES, 0, run);
        gpa += run;
        n -= run;
    }
    return true;
}

/* Returns true if the range may be RAM within one page.  RAM consists of whole pages: if its first
 * byte is RAM, all bytes are.  Foreign RAM may have gone since the caller checked.
 */
static bool is_run(const struct ram *r, uint64_t gpa, size_t n)
{
    return (gpa < r->bytes || r->foreign || ram_is_lent(gpa)) && n == ram_run(gpa, n);
}

const uint8_t *ram_look(const struct ram *r, uint64_t gpa, size_t n)
{
    static const uint8_t never_written[RAM_PAGE_BYTES];
    const uint8_t *page;

    RDL_ASSERT(is_run(r, gpa, n));
    if (ram_is_lent(gpa))
        return r->lenders && lent_read(r, gpa, r->lenders->looked, n) ? r->lenders->looked
                                                                      : never_written;
    page = r->foreign ? ram_foreign_page(r, gpa >> RAM_PAGE_BITS, false)
                      : ram_page(r, gpa >> RAM_PAGE_BITS);
    return (page ? page : never_written) + gpa % RAM_PAGE_BYTES;
}

bool ram_write_run(struct ram *r, uint64_t gpa, const void *in, size_t n)
{
    uint8_t *page;

    RDL_ASSERT(is_run(r, gpa, n));
    page = ram_page(r, gpa >> RAM_PAGE_BITS);
    if (!page)
        return ram_write_pages(r, gpa, in, n);
    copy_payload(page + gpa % RAM_PAGE_BYTES, in, n);
    return true;
}

void ram_forget(struct ram *r, uint64_t page)
{
    uint8_t **at;

    RDL_ASSERT(!r->foreign);
    at = place(r, page, false);
    if (!at)
        return;
    arena_release(r->arena, *at, RAM_PAGE_BYTES);
    *at = NULL;
    r->forgotten++;
    if (r->recent[page % RAM_RECENT].gpa == page << RAM_PAGE_BITS)
        recent_clear(r, page % RAM_RECENT);
}
