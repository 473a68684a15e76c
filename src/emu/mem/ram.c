/* SPDX-License-Identifier: MIT */
#include "emu/mem/ram.h"

#include "emu/base/assert.h"

static const struct ram_table no_pages;

static uint64_t n_tables(const struct ram *r)
{
    const uint64_t n_pages = r->bytes >> RAM_PAGE_BITS;

    return (n_pages + RAM_TABLE_PAGES - 1) >> RAM_TABLE_BITS;
}

bool ram_init(struct ram *r, struct arena *a, uint64_t bytes)
{
    RDL_ASSERT(bytes > 0 && bytes % RAM_PAGE_BYTES == 0);
    *r = (struct ram){.arena = a, .bytes = bytes};
    r->tables = arena_alloc(a, n_tables(r) * sizeof(struct ram_table *));
    for (uint64_t i = 0; r->tables && i < n_tables(r); i++)
        r->tables[i] = &no_pages;
    return r->tables != NULL;
}

bool ram_read_pages(const struct ram *r, uint64_t gpa, void *out, size_t n)
{
    uint8_t *to = out;

    if (!ram_holds(r, gpa, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(gpa, n);
        const uint8_t *page = ram_page(r, gpa >> RAM_PAGE_BITS);

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

/* Makes page number @page exist. */
static bool page_back(struct ram *r, uint64_t page)
{
    uint8_t **at = place(r, page, true);

    if (at && !*at)
        *at = arena_alloc(r->arena, RAM_PAGE_BYTES);
    return at && *at;
}

/* Makes the pages under [@gpa, @gpa + @n) exist, so that a write is all or nothing. */
static bool back(struct ram *r, uint64_t gpa, size_t n)
{
    for (uint64_t i = gpa >> RAM_PAGE_BITS; n > 0 && i <= (gpa + n - 1) >> RAM_PAGE_BITS; i++) {
        if (!page_back(r, i))
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

        memcpy(ram_page(r, gpa >> RAM_PAGE_BITS) + gpa % RAM_PAGE_BYTES, from, run);
        from += run;
        gpa += run;
        n -= run;
    }
    return true;
}

void ram_forget(struct ram *r, uint64_t page)
{
    uint8_t **at = place(r, page, false);

    if (!at)
        return;
    arena_release(r->arena, *at, RAM_PAGE_BYTES);
    *at = NULL;
}
