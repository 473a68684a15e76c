/* SPDX-License-Identifier: MIT */
/* Page directories, and the rings in their pages.  Pages need not be contiguous, and are not. */
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/guest/pvrdma/internal.h"

_Static_assert(PV_PAGE_BYTES == RAM_PAGE_BYTES, "the pages of a directory are those of memory");

/* --- Directories ------------------------------------------------------------------------------ */

static void put_entry(const struct pvrdma_guest *d, uint64_t table, uint32_t i, uint64_t gpa)
{
    uint8_t raw[8];

    st_le64(raw, gpa);
    (void)ram_write(d->pci.ram, table + 8 * (uint64_t)i, raw, sizeof(raw)); /* its own memory */
}

static uint64_t get_entry(const struct pvrdma_guest *d, uint64_t table, uint32_t i)
{
    uint8_t raw[8] = {0};

    (void)ram_read(d->pci.ram, table + 8 * (uint64_t)i, raw, sizeof(raw));
    return ld_le64(raw);
}

static uint64_t table_of(const struct pvrdma_guest *d, const struct pvd_directory *dir, uint32_t i)
{
    return i < PV_TABLE_PAGES ? dir->first_table : get_entry(d, dir->gpa, i / PV_TABLE_PAGES);
}

bool pvd_directory_take(const struct pvrdma_guest *d, uint32_t n, struct pvd_directory *ret)
{
    struct pvd_directory dir = {.gpa = dma_take(d->pci.dma, PV_PAGE_BYTES), .n = n};

    RDL_ASSERT(n > 0 && n <= PV_PAGES_MAX);
    if (!dir.gpa)
        return false;
    for (uint32_t i = 0; i < n; i += PV_TABLE_PAGES) {
        const uint64_t table = dma_take(d->pci.dma, PV_PAGE_BYTES);

        if (!table) {
            dir.n = i;
            pvd_directory_give(d, &dir);
            return false;
        }
        if (i == 0)
            dir.first_table = table;
        put_entry(d, dir.gpa, i / PV_TABLE_PAGES, table);
    }
    *ret = dir;
    return true;
}

void pvd_directory_give(const struct pvrdma_guest *d, struct pvd_directory *dir)
{
    for (uint32_t i = 0; i < dir->n; i += PV_TABLE_PAGES)
        dma_give(d->pci.dma, table_of(d, dir, i), PV_PAGE_BYTES);
    dma_give(d->pci.dma, dir->gpa, PV_PAGE_BYTES);
    *dir = (struct pvd_directory){0};
}

bool pvd_pages_take(const struct pvrdma_guest *d, uint32_t n, struct pvd_directory *ret)
{
    struct pvd_directory dir;

    if (n > PV_PAGES_MAX || !pvd_directory_take(d, n, &dir))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t page = dma_take(d->pci.dma, PV_PAGE_BYTES);

        pvd_set_page(d, &dir, i, page);
        if (!page) {
            pvd_pages_give(d, &dir);
            return false;
        }
    }
    *ret = dir;
    return true;
}

void pvd_pages_give(const struct pvrdma_guest *d, struct pvd_directory *dir)
{
    for (uint32_t i = 0; i < dir->n; i++)
        dma_give(d->pci.dma, pvd_page(d, dir, i), PV_PAGE_BYTES);
    pvd_directory_give(d, dir);
}

uint64_t pvd_page(const struct pvrdma_guest *d, const struct pvd_directory *dir, uint32_t i)
{
    return get_entry(d, table_of(d, dir, i), i % PV_TABLE_PAGES);
}

void pvd_set_page(const struct pvrdma_guest *d, const struct pvd_directory *dir, uint32_t i,
                  uint64_t gpa)
{
    put_entry(d, table_of(d, dir, i), i % PV_TABLE_PAGES, gpa);
}

/* --- Rings ------------------------------------------------------------------------------------ */

/* The indices of a ring. */
struct indices {
    uint32_t tail, head; /* the producer's and the consumer's */
};

static struct indices read_indices(const struct pvrdma_guest *d, const struct pvd_ring *r)
{
    uint8_t raw[2 * sizeof(uint32_t)] = {0};

    (void)ram_read(d->pci.ram, r->state, raw, sizeof(raw));
    return (struct indices){ld_le32(raw + PV_RING_TAIL), ld_le32(raw + PV_RING_HEAD)};
}

static void write_index(const struct pvrdma_guest *d, uint64_t at, uint32_t value)
{
    uint8_t raw[4];

    st_le32(raw, value);
    (void)ram_write(d->pci.ram, at, raw, sizeof(raw));
}

static uint64_t slot_gpa(const struct pvrdma_guest *d, const struct pvd_ring *r, uint32_t index)
{
    const uint64_t at = (uint64_t)pv_idx_slot(index, r->n) * r->slot_bytes;
    const uint64_t page = pvd_page(d, r->pages, r->first_page + (uint32_t)(at / PV_PAGE_BYTES));

    return page + at % PV_PAGE_BYTES;
}

void pvd_ring_init(const struct pvrdma_guest *d, struct pvd_ring *r,
                   const struct pvd_directory *pages, bool tx, uint32_t first_page, uint32_t n,
                   uint32_t slot_bytes)
{
    *r = (struct pvd_ring){.pages = pages,
                           .state = pvd_page(d, pages, 0) + (tx ? PV_RING_TX : PV_RING_RX),
                           .first_page = first_page,
                           .n = n,
                           .slot_bytes = slot_bytes};
}

void pvd_ring_restart(const struct pvrdma_guest *d, const struct pvd_ring *r)
{
    if (!r->pages)
        return;
    write_index(d, r->state + PV_RING_TAIL, 0);
    write_index(d, r->state + PV_RING_HEAD, 0);
}

uint32_t pvd_ring_used(const struct pvrdma_guest *d, const struct pvd_ring *r)
{
    const struct indices i = r->pages ? read_indices(d, r) : (struct indices){0, 0};
    const uint32_t used = r->pages ? pv_idx_distance(i.head, i.tail, r->n) : 0;

    return used <= r->n ? used : UINT32_MAX;
}

enum rdl_status pvd_ring_put(const struct pvrdma_guest *d, const struct pvd_ring *r, uint32_t most,
                             const void *in, uint32_t bytes, uint32_t *ret_slot)
{
    const uint32_t used = pvd_ring_used(d, r);
    uint32_t tail;

    if (used == UINT32_MAX)
        return RDL_ERR_RING;
    if (!r->pages || used >= most)
        return RDL_ERR_QUEUE_FULL;
    RDL_ASSERT(bytes <= r->slot_bytes);
    tail = read_indices(d, r).tail;
    if (!ram_write(d->pci.ram, slot_gpa(d, r, tail), in, bytes))
        return RDL_ERR_NOMEM;
    write_index(d, r->state + PV_RING_TAIL, pv_idx_next(tail, r->n));
    *ret_slot = pv_idx_slot(tail, r->n);
    return RDL_OK;
}

bool pvd_ring_peek(const struct pvrdma_guest *d, const struct pvd_ring *r, uint32_t i, void *out)
{
    const uint32_t used = pvd_ring_used(d, r);

    return used != UINT32_MAX && i < used &&
           ram_read(d->pci.ram, slot_gpa(d, r, read_indices(d, r).head + i), out, r->slot_bytes);
}

bool pvd_ring_take(const struct pvrdma_guest *d, const struct pvd_ring *r, void *out)
{
    if (!pvd_ring_peek(d, r, 0, out))
        return false;
    write_index(d, r->state + PV_RING_HEAD, pv_idx_next(read_indices(d, r).head, r->n));
    return true;
}
