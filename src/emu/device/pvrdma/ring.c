/* SPDX-License-Identifier: MIT */
#include "emu/device/pvrdma/ring.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/min.h"
#include "emu/hca/ctrl.h"

/* --- Pages ------------------------------------------------------------------------------------ */

static bool is_page(const struct hca *h, uint64_t gpa)
{
    return gpa % PV_PAGE_BYTES == 0 && ram_holds(h->ram, gpa, PV_PAGE_BYTES);
}

/* Reads entry @i of the page at @gpa, which is a page of RAM. */
static uint64_t entry_of(const struct hca *h, uint64_t gpa, uint32_t i)
{
    uint8_t le[8] = {0};

    (void)ram_read(h->ram, gpa + 8 * (uint64_t)i, le, sizeof(le)); /* gone foreign RAM is zero */
    return ld_le64(le);
}

static enum refusal_reason read_entries(struct hca *h, uint64_t dir, struct pv_pages *p)
{
    uint64_t table = 0;

    if (!is_page(h, dir))
        return hca_refuse(h, REF_PAGE_LIST_MEMORY, compared_found(dir));
    for (uint32_t i = 0; i < p->n; i++) {
        if (i % PV_TABLE_PAGES == 0) {
            table = entry_of(h, dir, i / PV_TABLE_PAGES);
            if (!is_page(h, table))
                return hca_refuse(h, REF_PAGE_LIST_MEMORY, compared_found(table));
        }
        p->gpa[i] = entry_of(h, table, i % PV_TABLE_PAGES);
        if (!is_page(h, p->gpa[i]))
            return hca_refuse(h, REF_PAGE_MEMORY, compared_found(p->gpa[i]));
    }
    return REF_NONE;
}

enum refusal_reason pv_pages_read(struct hca *h, const struct pv_directory *dir,
                                  struct pv_pages *ret)
{
    struct pv_pages p = {.n = dir->need};
    enum refusal_reason why;

    RDL_ASSERT(dir->need > 0);
    if (dir->said < dir->need || dir->said > PV_PAGES_MAX)
        return hca_refuse(h, REF_PAGE_LIST_LENGTH,
                          compared_range(dir->need, PV_PAGES_MAX, dir->said));
    p.gpa = arena_alloc_raw(h->arena, p.n * sizeof(*p.gpa));
    if (!p.gpa)
        return hca_refuse(h, REF_DEVICE_MEMORY, compared_nothing());
    why = read_entries(h, dir->at, &p);
    if (why == REF_NONE)
        *ret = p;
    else
        pv_pages_free(h, &p);
    return why;
}

void pv_pages_free(struct hca *h, struct pv_pages *p)
{
    if (p->gpa)
        arena_release(h->arena, p->gpa, p->n * sizeof(*p->gpa));
    *p = (struct pv_pages){NULL, 0};
}

/* --- Rings ------------------------------------------------------------------------------------ */

uint32_t pv_ring_index(const struct ram *ram, const struct pv_ring *r, uint32_t which)
{
    uint8_t le[4] = {0};

    (void)ram_read(ram, r->pages->gpa[0] + r->state_at + which, le, sizeof(le));
    return ld_le32(le);
}

static void store_index(struct ram *ram, const struct pv_ring *r, uint32_t which, uint32_t idx)
{
    uint8_t le[4];

    st_le32(le, idx);
    (void)ram_write(ram, r->pages->gpa[0] + r->state_at + which, le, sizeof(le));
}

/* Address of the slot of index @idx.  It is within one page. */
static uint64_t slot_gpa(const struct pv_ring *r, uint32_t idx)
{
    const uint64_t at = (uint64_t)pv_idx_slot(idx, r->n) * r->slot_bytes;
    const uint64_t page = r->first_page + at / PV_PAGE_BYTES;

    RDL_ASSERT(page < r->pages->n);
    return r->pages->gpa[page] + at % PV_PAGE_BYTES;
}

/* Entries that the driver has posted and the device has not taken.  Returns false if the driver's
 * index is wrong: together with those that are not over there may be at most n.
 */
static bool count_posted(const struct ram *ram, const struct pv_ring *r, uint32_t *ret)
{
    const uint32_t tail = pv_ring_index(ram, r, PV_RING_TAIL);
    const uint32_t held = pv_idx_distance(r->over, r->idx, r->n);
    const uint32_t posted = pv_idx_distance(r->idx, tail, r->n);

    if (posted > r->n || posted > r->n - held)
        return false;
    *ret = posted;
    return true;
}

uint32_t pv_ring_waiting(const struct ram *ram, const struct pv_ring *r)
{
    uint32_t posted;

    return r->pages && !r->broken && count_posted(ram, r, &posted) ? posted : 0;
}

enum pv_take pv_ring_take(const struct ram *ram, struct pv_ring *r, uint64_t tick, void *out,
                          uint32_t *ret_slot)
{
    uint32_t posted;

    if (!r->pages)
        return PV_EMPTY;
    if (r->broken || !count_posted(ram, r, &posted)) {
        r->broken = true;
        return PV_BROKEN;
    }
    if (posted == 0)
        return PV_EMPTY;
    if (r->tick != tick)
        r->given = 0;
    r->tick = tick;
    if (r->given == r->n)
        return PV_TURN_IS_OVER;
    r->given++;
    ram_fence(ram);
    memset(out, 0, r->slot_bytes); /* if foreign RAM has gone */
    (void)ram_read(ram, slot_gpa(r, r->idx), out, r->slot_bytes);
    *ret_slot = pv_idx_slot(r->idx, r->n);
    r->idx = pv_idx_next(r->idx, r->n);
    return PV_TAKEN;
}

bool pv_ring_end(struct ram *ram, struct pv_ring *r)
{
    if (!r->pages || r->over == r->idx)
        return false; /* the ring was restarted since the entry was taken */
    r->over = pv_idx_next(r->over, r->n);
    if (!ram)
        return true;
    ram_fence(ram);
    store_index(ram, r, PV_RING_HEAD, r->over);
    return true;
}

bool pv_ring_put(struct ram *ram, struct pv_ring *r, const void *in)
{
    uint32_t held;

    if (!r->pages)
        return false;
    held = pv_idx_distance(pv_ring_index(ram, r, PV_RING_HEAD), r->idx, r->n);
    if (held >= r->most)
        return false;
    (void)ram_write(ram, slot_gpa(r, r->idx), in, r->slot_bytes);
    ram_fence(ram);
    r->idx = pv_idx_next(r->idx, r->n);
    store_index(ram, r, PV_RING_TAIL, r->idx);
    ram_fence(ram);
    return true;
}

void pv_ring_restart(struct pv_ring *r)
{
    r->idx = r->over = 0;
    r->broken = false;
}
