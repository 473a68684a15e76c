/* SPDX-License-Identifier: MIT */
/* The drill of rings: memory allocation.
 *
 * A program allocates and frees memory.  New memory reads as zero, and then as last written.
 * Addresses around it cannot be accessed.  All freed memory can be allocated again.
 */
#include <inttypes.h>
#include <string.h>

#include "rdmalab/inspect.h"
#include "swarm/drills/drill_rings.h"

#define PAGE            4096u
#define BYTES_MAX       (3 * PAGE)
#define SCRIBBLED       24u /* pages at most */
#define UNMAPPED_OK(st) ((st) == RDL_ERR_FAULT)

static struct pages *pages_of(struct drill *d)
{
    return &((struct rings *)d->own)->u.pages;
}

static uint8_t byte_of(uint32_t tag, uint32_t i)
{
    return (uint8_t)(1 + tag * 31 + i * 7 + (i >> 8));
}

static void fill(uint8_t *to, uint32_t tag, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = byte_of(tag, i);
}

static bool is_all_zero(const uint8_t *p, size_t n)
{
    return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static bool write_all(struct drill *d, struct pages_alloc *a, uint32_t tag)
{
    uint8_t bytes[BYTES_MAX];

    a->tag = tag;
    fill(bytes, tag, a->bytes);
    return drill_works(d, rdl_mem_write(d->lab, pages_of(d)->host, a->addr, bytes, a->bytes),
                       "memory of a program can be written");
}

/* --- Allocation and freeing ------------------------------------------------------------------- */

static bool can_read(struct drill *d, uint64_t addr, uint32_t n)
{
    uint8_t bytes[PAGE];

    return rdl_mem_read(d->lab, pages_of(d)->host, addr, bytes, n) != RDL_ERR_FAULT;
}

static bool is_zero_memory(struct drill *d, uint64_t addr, uint32_t bytes)
{
    uint8_t b[PAGE];

    for (uint32_t at = 0; at < bytes; at += PAGE) {
        const uint32_t n = bytes - at < PAGE ? bytes - at : PAGE;

        if (!drill_works(d, rdl_mem_read(d->lab, pages_of(d)->host, addr + at, b, n),
                         "memory of a program can be read") ||
            !drill_expect(d, is_all_zero(b, n), "new memory reads as zero",
                          "0x%02x... at offset %u", b[0], at))
            return false;
    }
    return true;
}

static bool alloc(struct drill *d, uint32_t bytes, struct pages_alloc *ret)
{
    struct pages *p = pages_of(d);
    const uint32_t n = (bytes + PAGE - 1) / PAGE;
    const bool fits = p->pages_taken + n <= p->pages_all;
    const enum rdl_status st = rdl_mem_alloc(d->lab, p->host, bytes, &ret->addr);

    if (!drill_expect(d, st == (fits ? RDL_OK : RDL_ERR_NOMEM),
                      "all memory that is not taken can be had, and no more", "%s, %u of %u pages",
                      rdl_status_name(st), p->pages_taken + n, p->pages_all) ||
        !fits)
        return false;
    ret->bytes = bytes;
    ret->pages = n;
    p->pages_taken += n;
    return drill_expect(d, ret->addr % PAGE == 0, "memory begins with a page", "0x%" PRIx64,
                        ret->addr) &&
           is_zero_memory(d, ret->addr, n * PAGE) &&
           drill_expect(d, !can_read(d, ret->addr + (uint64_t)n * PAGE, 1),
                        "behind memory nothing is mapped", "it can be read");
}

static bool give_back(struct drill *d, struct pages_alloc *a)
{
    struct pages *p = pages_of(d);
    const uint64_t inside = a->addr + drill_below(d, a->pages * PAGE);
    const uint32_t last = a->pages * PAGE - 1;

    if (!drill_works(d, rdl_mem_free(d->lab, p->host, inside), "memory can be given back"))
        return false;
    p->pages_taken -= a->pages;
    for (uint32_t i = 0; i < a->pages; i++) {
        if (!drill_expect(d, !can_read(d, a->addr + (uint64_t)i * PAGE, 1),
                          "memory that was given back is not mapped", "page %u of %u can be read",
                          i, a->pages))
            return false;
    }
    a->bytes = 0;
    return drill_expect(d, !can_read(d, a->addr + last, 1),
                        "memory that was given back is not mapped", "its last byte can be read") &&
           drill_expect(d, UNMAPPED_OK(rdl_mem_free(d->lab, p->host, inside)),
                        "what is not mapped cannot be given back", "it could");
}

/* Frees @a and allocates the same size again.  The lowest hole that is large enough is taken, so
 * the address cannot be higher than before.
 */
static bool take_again(struct drill *d, struct pages_alloc *a)
{
    const uint64_t was = a->addr;
    const uint32_t bytes = a->bytes;

    return give_back(d, a) && alloc(d, bytes, a) && write_all(d, a, d->step) &&
           drill_expect(d, a->addr <= was, "memory gets the lowest free addresses",
                        "0x%" PRIx64 ", and 0x%" PRIx64 " was free", a->addr, was);
}

static void take_memory(struct drill *d)
{
    struct pages *p = pages_of(d);
    struct pages_alloc *a = &p->allocs[drill_below(d, PAGES_ALLOCS)];
    const uint32_t bytes = drill_one_in(d, 3) ? PAGE * (1 + drill_below(d, BYTES_MAX / PAGE))
                                              : 1 + drill_below(d, BYTES_MAX);

    if (a->bytes > 0 && drill_one_in(d, 4))
        (void)take_again(d, a);
    else if (a->bytes > 0)
        (void)give_back(d, a);
    else if (alloc(d, bytes, a))
        (void)write_all(d, a, d->step);
}

/* Allocates all remaining memory in pieces of random size.  Then frees them, so that all of it can
 * be allocated again.
 */
static void take_all(struct drill *d)
{
    struct pages *p = pages_of(d);
    struct pages_alloc pieces[40] = {{0}};
    uint32_t n = 0;

    while (p->pages_taken < p->pages_all && n < ARRAY_LEN(pieces)) {
        const uint32_t left = p->pages_all - p->pages_taken;

        const uint32_t piece = n + 1 == ARRAY_LEN(pieces) ? left : 1 + drill_below(d, left);
        if (!alloc(d, piece * PAGE, &pieces[n++]))
            return;
    }
    if (alloc(d, 1, &pieces[0]) || d->wrong)
        return;
    while (n-- > 0) {
        if (!give_back(d, &pieces[n]))
            return;
    }
}

/* --- Contents --------------------------------------------------------------------------------- */

static struct pages_alloc *some_alloc(struct drill *d)
{
    struct pages *p = pages_of(d);
    const uint32_t from = drill_below(d, PAGES_ALLOCS);

    for (uint32_t i = 0; i < PAGES_ALLOCS; i++) {
        struct pages_alloc *a = &p->allocs[(from + i) % PAGES_ALLOCS];

        if (a->bytes > 0)
            return a;
    }
    return NULL;
}

static bool holds(struct drill *d, const struct pages_alloc *a, const uint8_t *want)
{
    uint8_t have[BYTES_MAX];
    uint32_t at = 0;

    if (!drill_works(d, rdl_mem_read(d->lab, pages_of(d)->host, a->addr, have, a->bytes),
                     "memory of a program can be read"))
        return false;
    while (at < a->bytes && have[at] == want[at])
        at++;
    return drill_expect(d, at == a->bytes, "memory holds what was written last",
                        "byte %u of %u is 0x%02x", at, a->bytes, have[at < a->bytes ? at : 0]);
}

/* Writes part of an allocation, perhaps across pages, and checks all of it. */
static void write_part(struct drill *d)
{
    struct pages_alloc *a = some_alloc(d);
    uint8_t want[BYTES_MAX], part[BYTES_MAX];
    uint32_t at, n;

    if (!a)
        return;
    at = drill_below(d, a->bytes);
    n = 1 + drill_below(d, a->bytes - at);
    fill(want, a->tag, a->bytes);
    if (!holds(d, a, want))
        return;
    fill(part, d->step + 100, n);
    memcpy(want + at, part, n);
    if (drill_works(d, rdl_mem_write(d->lab, pages_of(d)->host, a->addr + at, part, n),
                    "memory of a program can be written") &&
        holds(d, a, want))
        (void)write_all(d, a, d->step + 200);
}

/* Checks that a write beyond the mapped pages is refused and changes nothing. */
static void write_beyond(struct drill *d)
{
    struct pages_alloc *a = some_alloc(d);
    uint8_t want[BYTES_MAX], part[PAGE];
    const uint32_t n = 2 + drill_below(d, 200);
    uint64_t end;

    if (!a)
        return;
    end = a->addr + (uint64_t)a->pages * PAGE;
    fill(want, a->tag, a->bytes);
    memset(part, 0xee, n);
    if (drill_expect(d,
                     UNMAPPED_OK(rdl_mem_write(d->lab, pages_of(d)->host,
                                               end - 1 - drill_below(d, n - 1), part, n)),
                     "a write beyond the end of memory is refused", "it is not") &&
        drill_expect(d,
                     UNMAPPED_OK(rdl_mem_read(d->lab, pages_of(d)->host,
                                              end - 1 - drill_below(d, n - 1), part, n)),
                     "a read beyond the end of memory is refused", "it is not"))
        (void)holds(d, a, want);
}

/* Checks that the last byte of RAM can be read, and the one behind it cannot. */
static void reach_the_end_of_ram(struct drill *d)
{
    const struct pages *p = pages_of(d);
    uint8_t bytes[300];
    const uint32_t n = 1 + drill_below(d, sizeof(bytes));
    const uint32_t beyond = 1 + (drill_one_in(d, 2) ? 0 : drill_below(d, n));

    if (drill_works(d, rdl_ram_read(d->lab, p->host, p->ram_bytes - n, bytes, n),
                    "RAM can be read up to its last byte"))
        drill_expect(
            d, UNMAPPED_OK(rdl_ram_read(d->lab, p->host, p->ram_bytes - n + beyond, bytes, n)),
            "behind RAM nothing can be read", "%u bytes can", beyond);
}

/* --- Setup ------------------------------------------------------------------------------------ */

/* Writes to free pages before the first allocation, like a device that was given a wrong address.
 */
static bool scribble(struct drill *d)
{
    const struct pages *p = pages_of(d);
    uint8_t bytes[64];

    memset(bytes, 0xa5, sizeof(bytes));
    for (uint32_t n = drill_below(d, SCRIBBLED); n > 0; n--) {
        const uint64_t at = p->ram_bytes / 2 + drill_below(d, (uint32_t)p->ram_bytes / 2 - 64);

        if (!drill_works(d, rdl_ram_write(d->lab, p->host, at, bytes, sizeof(bytes)),
                         "RAM can be written"))
            return false;
    }
    return true;
}

/* Measures how much memory can be allocated. */
static bool measure(struct drill *d)
{
    struct pages *p = pages_of(d);
    uint32_t piece = (uint32_t)(p->ram_bytes / PAGE), all = 0;
    uint64_t addrs[64];
    uint32_t n = 0;

    for (; piece > 0 && n < ARRAY_LEN(addrs); piece -= (piece + 1) / 2) {
        while (n < ARRAY_LEN(addrs) &&
               rdl_mem_alloc(d->lab, p->host, (uint64_t)piece * PAGE, &addrs[n]) == RDL_OK) {
            all += piece;
            if (!is_zero_memory(d, addrs[n++], piece * PAGE))
                return false;
        }
    }
    p->pages_all = all;
    while (n-- > 0) {
        if (!drill_works(d, rdl_mem_free(d->lab, p->host, addrs[n]), "memory can be given back"))
            return false;
    }
    return drill_expect(d, all >= p->ram_bytes / PAGE / 2, "most of RAM is for programs",
                        "%u pages are", all);
}

static void set_up(struct drill *d)
{
    struct pages *p = pages_of(d);
    struct rdl_host_config host = {.name = "h1", .max_cq = 1, .max_qp = 2, .max_srq = 1};

    p->ram_bytes = host.ram_bytes = (uint64_t)PAGE * (192 + drill_below(d, 64));
    d->n_unsaid++;
    if (drill_works(d, rdl_host_add(d->lab, &host, &p->host), "a host can be added") && scribble(d))
        (void)measure(d);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        take_memory, take_memory, take_memory,  take_memory,         write_part,
        write_part,  write_part,  write_beyond, reach_the_end_of_ram};

    d->n_unsaid++;
    if (drill_one_in(d, 24))
        take_all(d);
    else
        steps[drill_below(d, ARRAY_LEN(steps))](d);
}

const struct rings_part rings_of_memory = {set_up, take};
