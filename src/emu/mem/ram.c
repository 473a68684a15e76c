/* SPDX-License-Identifier: MIT */
#include "emu/mem/ram.h"

#include "emu/base/assert.h"
#include "emu/base/copy.h"

static const struct ram_table no_pages;

static uint64_t n_tables(const struct ram *r)
{
    const uint64_t n_pages = r->bytes >> RAM_PAGE_BITS;

    return (n_pages + RAM_TABLE_PAGES - 1) >> RAM_TABLE_BITS;
}

/* Entry @i is empty. */
static void recent_clear(const struct ram *r, uint64_t i)
{
    r->recent[i] = (struct ram_recent){.gpa = (i + 1) % RAM_RECENT << RAM_PAGE_BITS};
}

static void recent_set(const struct ram *r, uint64_t page, uint8_t *bytes)
{
    r->recent[page % RAM_RECENT] = (struct ram_recent){page << RAM_PAGE_BITS, bytes};
}

bool ram_init(struct ram *r, struct arena *a, uint64_t bytes)
{
    RDL_ASSERT(bytes > 0 && bytes % RAM_PAGE_BYTES == 0);
    *r = (struct ram){.arena = a, .bytes = bytes};
    r->tables = arena_alloc(a, n_tables(r) * sizeof(struct ram_table *));
    r->recent = arena_alloc_raw(a, RAM_RECENT * sizeof(*r->recent));
    if (!r->tables || !r->recent)
        return false;
    for (uint64_t i = 0; i < n_tables(r); i++)
        r->tables[i] = &no_pages;
    for (uint64_t i = 0; i < RAM_RECENT; i++)
        recent_clear(r, i);
    return true;
}

bool ram_read_pages(const struct ram *r, uint64_t gpa, void *out, size_t n)
{
    uint8_t *to = out;

    if (!ram_holds(r, gpa, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(gpa, n);
        uint8_t *page = ram_page(r, gpa >> RAM_PAGE_BITS);

        if (page) {
            memcpy(to, page + gpa % RAM_PAGE_BYTES, run);
            recent_set(r, gpa >> RAM_PAGE_BITS, page);
        } else {
            memset(to, 0, run);
        }
        to += run;
        gpa += run;
        n -= run;
    }
    return true;
}

/* Where the pointer to page number @page is; NULL: in a table without any, or, if @make, the arena
 * is full.
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
    t = (struct ram_table *)*at; /* in the arena, where it can be written */
    return &t->pages[page & (RAM_TABLE_PAGES - 1)];
}

/* Makes page number @page exist, which does not. */
static bool page_back(struct ram *r, uint64_t page)
{
    uint8_t **at = place(r, page, true);

    if (at)
        *at = arena_alloc(r->arena, RAM_PAGE_BYTES);
    return at && *at;
}

/* Makes the pages under [@gpa, @gpa + @n) exist, so that a write is all or nothing. */
static bool back(struct ram *r, uint64_t gpa, size_t n)
{
    for (uint64_t i = gpa >> RAM_PAGE_BITS; n > 0 && i <= (gpa + n - 1) >> RAM_PAGE_BITS; i++) {
        if (!ram_page(r, i) && !page_back(r, i))
            return false;
    }
    return true;
}

bool ram_write_pages(struct ram *r, uint64_t gpa, const void *in, size_t n)
{
    const uint8_t *from = in;

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

/* RAM is whole pages: if the first of bytes in one page is RAM, so are the others. */
static bool is_run(const struct ram *r, uint64_t gpa, size_t n)
{
    return gpa < r->bytes && n == ram_run(gpa, n);
}

const uint8_t *ram_look(const struct ram *r, uint64_t gpa, size_t n)
{
    static const uint8_t never_written[RAM_PAGE_BYTES];
    const uint8_t *page;

    RDL_ASSERT(is_run(r, gpa, n));
    page = ram_page(r, gpa >> RAM_PAGE_BITS);
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
    uint8_t **at = place(r, page, false);

    if (!at)
        return;
    arena_release(r->arena, *at, RAM_PAGE_BYTES);
    *at = NULL;
    r->forgotten++;
    if (r->recent[page % RAM_RECENT].gpa == page << RAM_PAGE_BITS)
        recent_clear(r, page % RAM_RECENT);
}
