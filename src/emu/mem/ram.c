/* SPDX-License-Identifier: MIT */
#include "emu/mem/ram.h"

#include "emu/base/assert.h"

static uint64_t n_pages(const struct ram *r)
{
    return r->bytes >> RAM_PAGE_BITS;
}

bool ram_init(struct ram *r, struct arena *a, uint64_t bytes)
{
    RDL_ASSERT(bytes > 0 && bytes % RAM_PAGE_BYTES == 0);
    *r = (struct ram){.arena = a, .bytes = bytes};
    r->pages = arena_alloc(a, n_pages(r) * sizeof(*r->pages));
    return r->pages != NULL;
}

bool ram_read_pages(const struct ram *r, uint64_t gpa, void *out, size_t n)
{
    uint8_t *to = out;

    if (!ram_holds(r, gpa, n))
        return false;
    while (n > 0) {
        const size_t run = ram_run(gpa, n);
        const uint8_t *page = r->pages[gpa >> RAM_PAGE_BITS];

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

/* Makes the pages under [@gpa, @gpa + @n) exist, so that a write is all or nothing. */
static bool back(struct ram *r, uint64_t gpa, size_t n)
{
    for (uint64_t i = gpa >> RAM_PAGE_BITS; n > 0 && i <= (gpa + n - 1) >> RAM_PAGE_BITS; i++) {
        if (!r->pages[i])
            r->pages[i] = arena_alloc(r->arena, RAM_PAGE_BYTES);
        if (!r->pages[i])
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

        memcpy(r->pages[gpa >> RAM_PAGE_BITS] + gpa % RAM_PAGE_BYTES, from, run);
        from += run;
        gpa += run;
        n -= run;
    }
    return true;
}
