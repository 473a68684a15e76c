/* SPDX-License-Identifier: MIT */
#include "toy/driver.h"

static uint64_t ring_bytes(const struct ring *r)
{
    return sizeof(struct toy_ring) + (uint64_t)r->n * r->bytes;
}

bool ring_take(const struct driver *d, struct ring *r, uint32_t n, size_t bytes)
{
    *r = (struct ring){.n = n, .bytes = (uint32_t)bytes};
    if (n > 0)
        r->gpa = dma_take(d->pci.dma, ring_bytes(r));
    return n == 0 || r->gpa != 0;
}

void ring_give(const struct driver *d, struct ring *r)
{
    dma_give(d->pci.dma, r->gpa, ring_bytes(r));
    *r = (struct ring){0};
}

struct toy_ring ring_counters(const struct driver *d, const struct ring *r)
{
    struct toy_ring c = {0, 0};

    if (r->gpa)
        (void)ram_read(d->pci.ram, r->gpa, &c, sizeof(c));
    return c;
}

static void set_counters(const struct driver *d, const struct ring *r, struct toy_ring c)
{
    (void)ram_write(d->pci.ram, r->gpa, &c, sizeof(c));
}

uint64_t ring_entry(const struct ring *r, uint32_t k)
{
    return r->gpa + sizeof(struct toy_ring) + (uint64_t)(k % r->n) * r->bytes;
}

enum rdl_status ring_post(const struct driver *d, const struct ring *r, const void *in,
                          uint32_t *ret_entry)
{
    struct toy_ring c = ring_counters(d, r);

    if (c.put - c.got >= r->n)
        return RDL_ERR_QUEUE_FULL;
    if (!ram_write(d->pci.ram, ring_entry(r, c.put), in, r->bytes))
        return RDL_ERR_NOMEM;
    *ret_entry = c.put % r->n;
    c.put++;
    set_counters(d, r, c);
    return RDL_OK;
}

bool ring_get(const struct driver *d, const struct ring *r, void *out)
{
    struct toy_ring c = ring_counters(d, r);

    if (c.put == c.got)
        return false;
    (void)ram_read(d->pci.ram, ring_entry(r, c.got), out, r->bytes);
    c.got++;
    set_counters(d, r, c);
    return true;
}
