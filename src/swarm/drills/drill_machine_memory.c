/* SPDX-License-Identifier: MIT */
/* The drill of a machine: its memory, in regions of random places and order, and a model of it. */
#include "emu/base/assert.h"
#include "emu/facts/virtio/virtq.h"
#include "swarm/drills/drill_machine.h"

static const struct machine_chunk *chunk_of(const struct machine *m, uint64_t gpa)
{
    for (uint32_t i = 0; i < m->n_chunks; i++) {
        const struct machine_chunk *c = &m->chunks[i];

        if (gpa >= c->gpa && gpa - c->gpa < (uint64_t)c->pages * MACHINE_PAGE)
            return c;
    }
    return NULL;
}

/* Returns the offset of guest-physical @gpa in the memory, or MACHINE_NOWHERE: it is in no chunk,
 * or may not be written.
 */
static uint64_t place_of(const struct machine *m, uint64_t gpa, bool write)
{
    const struct machine_chunk *c = chunk_of(m, gpa);

    return c && (c->writable || !write) ? (uint64_t)c->first * MACHINE_PAGE + (gpa - c->gpa)
                                        : MACHINE_NOWHERE;
}

bool machine_has_memory(const struct machine *m, uint64_t gpa, uint64_t bytes, bool write)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (place_of(m, gpa + i, write) == MACHINE_NOWHERE)
            return false;
    }
    return true;
}

/* The offset of a byte that is there. */
static uint64_t place_there(const struct machine *m, uint64_t gpa)
{
    const uint64_t at = place_of(m, gpa, false);

    RDL_ASSERT(at < sizeof(m->memory));
    return at;
}

void machine_model_put(struct machine *m, uint64_t gpa, const void *bytes, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        m->model[place_there(m, gpa + i)] = ((const uint8_t *)bytes)[i];
}

void machine_cpu_put(struct machine *m, uint64_t gpa, const void *bytes, uint64_t n)
{
    machine_model_put(m, gpa, bytes, n);
    for (uint64_t i = 0; i < n; i++)
        m->memory[place_there(m, gpa + i)] = ((const uint8_t *)bytes)[i];
}

/* The device says when it likes that it wants no kicks: bit 0 of the flags of the used ring. */
void machine_learn_flags(struct machine *m)
{
    if (m->is_driven && m->memory[place_of(m, m->used, true)] == VRING_USED_NO_NOTIFY)
        machine_model_put(m, m->used, &(uint8_t){VRING_USED_NO_NOTIFY}, 1);
}

bool machine_memory_holds(struct drill *d)
{
    struct machine *m = machine_of(d);
    uint32_t at = 0;

    machine_learn_flags(m);
    while (at < sizeof(m->memory) && m->memory[at] == m->model[at])
        at++;
    return drill_expect(
        d, at == sizeof(m->memory), "devices write what they are asked to, and nothing else",
        "byte 0x%x of the memory is 0x%02x, and not 0x%02x", at,
        at < sizeof(m->memory) ? m->memory[at] : 0, at < sizeof(m->memory) ? m->model[at] : 0);
}

void machine_draw_chunks(struct drill *d)
{
    struct machine *m = machine_of(d);
    uint64_t page = drill_one_in(d, 3) ? 0 : drill_below(d, 1u << 20);
    uint32_t first = drill_below(d, 3);

    m->n_chunks = 1 + drill_below(d, MACHINE_CHUNKS);
    for (uint32_t i = 0; i < m->n_chunks; i++) {
        struct machine_chunk *c = &m->chunks[i];

        *c = (struct machine_chunk){.gpa = page * MACHINE_PAGE,
                                    .first = first,
                                    .pages = 1 + drill_below(d, 4),
                                    .writable = i == 0 || !drill_one_in(d, 4)};
        page += c->pages;
        if (drill_one_in(d, 2))
            page += 1 + drill_below(d, 8);
        if (drill_one_in(d, 8))
            page += 1u << 20;
        first += c->pages + drill_below(d, 2);
    }
    RDL_ASSERT(first <= MACHINE_PAGES);
    m->chunks[0].pages += m->n_chunks == 1; /* room for the queue, and for buffers */
}

/* The region of @c.  It may have parts of pages at both ends, which are not used. */
static struct rdl_vm_region region_of(struct drill *d, const struct machine_chunk *c)
{
    struct machine *m = machine_of(d);
    const uint64_t end = c->gpa + (uint64_t)c->pages * MACHINE_PAGE;
    const bool can_begin_before = c->gpa > 0 && c->first > 0 && !chunk_of(m, c->gpa - 1);
    const uint64_t before = can_begin_before ? drill_below(d, MACHINE_PAGE / 2) : 0;
    const uint64_t behind = chunk_of(m, end) ? 0 : drill_below(d, MACHINE_PAGE / 2);

    return (struct rdl_vm_region){.gpa = c->gpa - before,
                                  .bytes = before + (end - c->gpa) + behind,
                                  .at = m->memory + (size_t)c->first * MACHINE_PAGE - before,
                                  .writable = c->writable};
}

bool machine_map(struct drill *d)
{
    struct machine *m = machine_of(d);
    struct rdl_vm_region all[MACHINE_CHUNKS];

    for (uint32_t i = 0; i < m->n_chunks; i++) { /* in random order */
        const uint32_t k = drill_below(d, i + 1);

        if (k < i)
            all[i] = all[k];
        all[k] = region_of(d, &m->chunks[i]);
    }
    d->n_unsaid++;
    return drill_works(d, rdl_vm_memory(d->lab, m->host, all, m->n_chunks),
                       "a machine can map its memory");
}
