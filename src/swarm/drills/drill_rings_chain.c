/* SPDX-License-Identifier: MIT */
/* The drill of rings: descriptor chains of every permitted shape, and of some forbidden ones.
 *
 * All buffers are in an area of guest RAM, the zone, whose every byte is modelled.  A read or write
 * at a wrong address is therefore noticed.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/virtio/vq_error.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/drill_rings.h"

#define DESC_BYTES 16u
#define GAP_MAX    24u

/* Descriptor flags. */
#define NEXT     1u
#define WRITE    2u
#define INDIRECT 4u

#define LONGEST 65536u /* bytes of the longest permitted chain */

static struct bare *bare_of(struct drill *d)
{
    return &((struct rings *)d->own)->u.bare;
}

/* --- Zone ------------------------------------------------------------------------------------- */

void bare_zone_clear(struct drill *d)
{
    struct bare *b = bare_of(d);

    memset(b->zone, 1 + (int)drill_below(d, 255), sizeof(b->zone));
    b->zone_used = 0;
}

bool bare_zone_take(struct drill *d, uint32_t bytes, uint32_t align, uint32_t *ret_at)
{
    struct bare *b = bare_of(d);
    const uint32_t from = b->zone_used + 1 + drill_below(d, GAP_MAX);
    const uint32_t at = (from + align - 1) / align * align;

    if (at + bytes + 1 > BARE_ZONE)
        return false;
    b->zone_used = at + bytes;
    *ret_at = at;
    return true;
}

bool bare_ram_put(struct drill *d, uint64_t at, const void *bytes, size_t n)
{
    return drill_works(d, rdl_ram_write(d->lab, bare_of(d)->host, at, bytes, n),
                       "RAM can be written");
}

bool bare_put16(struct drill *d, uint64_t at, uint16_t v)
{
    uint8_t b[2];

    st_le16(b, v);
    return bare_ram_put(d, at, b, sizeof(b));
}

bool bare_zone_show(struct drill *d)
{
    const struct bare *b = bare_of(d);

    return bare_ram_put(d, b->zone_at, b->zone, BARE_ZONE);
}

bool bare_zone_holds(struct drill *d)
{
    const struct bare *b = bare_of(d);
    uint8_t have[BARE_ZONE];
    uint32_t at = 0;

    if (!drill_works(d, rdl_ram_read(d->lab, b->host, b->zone_at, have, BARE_ZONE),
                     "RAM can be read"))
        return false;
    if (memcmp(have, b->zone, BARE_ZONE) == 0)
        return true;
    while (have[at] == b->zone[at])
        at++;
    return drill_expect(d, false,
                        "a device writes what came into the writable buffers of a chain, in their "
                        "order, and nothing else",
                        "byte %u of RAM is 0x%02x, and not 0x%02x", at, have[at], b->zone[at]);
}

/* --- Shapes ----------------------------------------------------------------------------------- */

/* Draws the number of pieces: mostly a few, sometimes as many as possible. */
static uint32_t pieces_for(struct drill *d, uint32_t bytes, uint32_t most)
{
    const uint32_t max = bytes < most ? bytes : most;

    if (drill_one_in(d, 4))
        return max;
    return 1 + drill_below(d, max < 5 ? max : 5);
}

static bool cut(struct drill *d, uint32_t bytes, uint32_t n, struct bare_chain *c)
{
    for (c->n = 0; c->n < n; c->n++) {
        struct bare_piece *p = &c->pieces[c->n];
        const uint32_t left = n - c->n;
        const uint32_t share = 2 * bytes / left;
        const uint32_t most = share < bytes - left + 1 ? share : bytes - left + 1;

        p->bytes = left == 1 ? bytes : 1 + drill_below(d, most > 0 ? most : 1);
        bytes -= p->bytes;
        if (!bare_zone_take(d, p->bytes, 1, &p->at))
            return false;
    }
    return true;
}

static struct bare_desc desc_of(const struct bare *b, const struct bare_piece *p, bool writable)
{
    return (struct bare_desc){b->zone_at + p->at, p->bytes, writable ? WRITE : 0, 0};
}

/* Builds the indirect table of the pieces from @c->n_direct on.  They are linked in order; all but
 * the first lie at shuffled indexes.
 */
static bool make_table(struct drill *d, bool writable, struct bare_chain *c)
{
    const struct bare *b = bare_of(d);
    const uint32_t n = c->n - c->n_direct;
    uint16_t place[BARE_PIECES];

    c->table_len = n + (drill_one_in(d, 3) ? drill_below(d, 4) : 0);
    if (!bare_zone_take(d, c->table_len * DESC_BYTES, DESC_BYTES, &c->table_at))
        return false;
    for (uint32_t i = 0; i < c->table_len; i++) /* invalid, unless a piece takes the entry */
        c->table[i] = (struct bare_desc){UINT64_MAX, 0, 0xffff, 0xffff};
    for (uint32_t i = 0; i < n; i++)
        place[i] = (uint16_t)i;
    for (uint32_t i = n; i > 2; i--) {
        const uint32_t k = 1 + drill_below(d, i - 1);
        const uint16_t other = place[k];

        place[k] = place[i - 1];
        place[i - 1] = other;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct bare_desc *t = &c->table[place[i]];

        *t = desc_of(b, &c->pieces[c->n_direct + i], writable);
        t->flags |= i + 1 < n ? NEXT : 0;
        t->next = i + 1 < n ? place[i + 1] : 0;
    }
    return true;
}

bool bare_chain_make(struct drill *d, uint32_t bytes, bool writable, const uint16_t *slots,
                     uint32_t slots_max, struct bare_chain *c)
{
    const struct bare *b = bare_of(d);
    const uint32_t most = slots_max < BARE_PIECES ? slots_max : BARE_PIECES;
    uint32_t n;

    c->indirect = b->indirect && !drill_one_in(d, 3);
    n = pieces_for(d, bytes, c->indirect ? 20 : most);
    if (!cut(d, bytes, n, c))
        return false;
    c->n_direct = n;
    if (c->indirect) {
        const uint32_t direct = n < most ? n : most;

        c->n_direct = drill_one_in(d, 2) ? 0 : drill_below(d, direct);
        if (!make_table(d, writable, c))
            return false;
    }
    c->n_slots = c->n_direct + c->indirect;
    for (uint32_t i = 0; i < c->n_slots; i++) {
        c->slots[i] = slots[i];
        if (i < c->n_direct)
            c->direct[i] = desc_of(b, &c->pieces[i], writable);
        else
            c->direct[i] = (struct bare_desc){b->zone_at + c->table_at, c->table_len * DESC_BYTES,
                                              INDIRECT, 0};
        c->direct[i].flags |= i + 1 < c->n_slots ? NEXT : 0;
        c->direct[i].next = i + 1 < c->n_slots ? slots[i + 1] : 0;
    }
    return true;
}

void bare_chain_fill(struct drill *d, const struct bare_chain *c, const void *bytes, uint32_t n)
{
    struct bare *b = bare_of(d);
    const uint8_t *from = bytes;

    for (uint32_t i = 0; i < c->n && n > 0; i++) {
        const uint32_t part = c->pieces[i].bytes < n ? c->pieces[i].bytes : n;

        memcpy(b->zone + c->pieces[i].at, from, part);
        from += part;
        n -= part;
    }
}

static void put_desc(uint8_t to[DESC_BYTES], const struct bare_desc *from)
{
    st_le64(to, from->addr);
    st_le32(to + 8, from->bytes);
    st_le16(to + 12, from->flags);
    st_le16(to + 14, from->next);
}

bool bare_chain_put(struct drill *d, const struct bare_ring *r, const struct bare_chain *c)
{
    struct bare *b = bare_of(d);
    uint8_t raw[DESC_BYTES];

    for (uint32_t i = 0; c->indirect && i < c->table_len; i++)
        put_desc(b->zone + c->table_at + (size_t)i * DESC_BYTES, &c->table[i]);
    for (uint32_t i = 0; i < c->n_slots; i++) {
        put_desc(raw, &c->direct[i]);
        if (!bare_ram_put(d, r->desc + (uint64_t)DESC_BYTES * c->slots[i], raw, sizeof(raw)))
            return false;
    }
    return true;
}

/* --- Errors ----------------------------------------------------------------------------------- */

/* A chain in which an error is made. */
struct victim {
    const struct bare *b;
    const struct bare_ring *r;
    bool writable;
    struct bare_chain *c;
    /* @some describes a buffer; @last is the last descriptor of the innermost table. */
    struct bare_desc *some, *last;
    uint32_t table_len; /* entries of the table that @last is in */
    uint16_t first;     /* index in that table of its first descriptor in the chain */
};

static uint32_t empty_buffer(struct drill *d, const struct victim *v)
{
    (void)d;
    v->some->bytes = 0;
    return VQE_ZERO_LENGTH;
}

static uint32_t outside_ram(struct drill *d, const struct victim *v)
{
    const uint64_t end = v->b->ram_bytes;

    switch (drill_below(d, 4)) {
    case 0: /* the buffer ends one byte beyond RAM */
    case 1:
        v->some->addr = end - v->some->bytes + 1;
        break;
    case 2:
        v->some->addr = end + drill_below(d, 1u << 30);
        break;
    default: /* address plus length overflows */
        v->some->addr = UINT64_MAX - drill_below(d, v->some->bytes);
    }
    return VQE_BAD_ADDRESS;
}

static uint32_t next_outside(struct drill *d, const struct victim *v)
{
    const uint32_t beyond = drill_one_in(d, 2) ? 0 : drill_below(d, 200);

    v->last->flags |= NEXT;
    v->last->next = (uint16_t)(v->table_len + beyond);
    return VQE_BAD_NEXT;
}

static uint32_t loop(struct drill *d, const struct victim *v)
{
    (void)d;
    v->last->flags |= NEXT;
    v->last->next = v->first;
    return VQE_LOOP;
}

static uint32_t too_long(struct drill *d, const struct victim *v)
{
    v->some->addr = drill_below(d, 1000);
    v->some->bytes = LONGEST + 1 + drill_below(d, 1000);
    return VQE_TOO_LONG;
}

/* Inverts the direction of the last buffer.  After a writable buffer, a readable one is in the
 * wrong order.  Otherwise it has the wrong direction for the queue.
 */
static uint32_t other_direction(struct drill *d, const struct victim *v)
{
    (void)d;
    v->last->flags ^= WRITE;
    return v->writable && v->c->n > 1 ? VQE_BAD_ORDER : VQE_WRONG_DIRECTION;
}

/* Sets the INDIRECT flag in the first descriptor of the ring's table, where it is not permitted. */
static uint32_t indirect_unasked(struct drill *d, const struct victim *v)
{
    const bool ok_but_for_feature = drill_one_in(d, 2);
    struct bare_desc *first = &v->c->direct[0];

    if (!v->b->indirect && ok_but_for_feature) {
        /* A table that would be correct with the feature: it holds this buffer's descriptor. */
        struct bare_desc *t = v->c->table;

        t[0] = *first;
        t[0].flags &= (uint16_t)~NEXT;
        if (!bare_zone_take(d, DESC_BYTES, DESC_BYTES, &v->c->table_at))
            return VQE_NONE;
        v->c->table_len = 1;
        v->c->indirect = true;
        *first = (struct bare_desc){v->b->zone_at + v->c->table_at, DESC_BYTES, INDIRECT, 0};
    } else {
        first->flags |= INDIRECT | NEXT;
        first->next = v->c->slots[0];
        first->bytes = DESC_BYTES;
    }
    return VQE_BAD_INDIRECT;
}

/* Makes the last descriptor of an indirect table refer to another indirect table. */
static uint32_t table_in_table(struct drill *d, const struct victim *v)
{
    struct bare_chain *c = v->c;
    uint32_t at;

    if (!c->indirect || !bare_zone_take(d, DESC_BYTES, DESC_BYTES, &at))
        return VQE_NONE;
    put_desc(((struct rings *)d->own)->u.bare.zone + at, v->last);
    *v->last = (struct bare_desc){v->b->zone_at + at, DESC_BYTES, INDIRECT, 0};
    return VQE_BAD_INDIRECT;
}

static uint32_t table_of_odd_length(struct drill *d, const struct victim *v)
{
    struct bare_desc *table = &v->c->direct[v->c->n_slots - 1];

    if (!v->c->indirect)
        return VQE_NONE;
    table->bytes = drill_one_in(d, 2) ? 0 : table->bytes - 1 - drill_below(d, DESC_BYTES - 1);
    return VQE_BAD_INDIRECT;
}

static uint32_t table_outside_ram(struct drill *d, const struct victim *v)
{
    struct bare_desc *table = &v->c->direct[v->c->n_slots - 1];

    if (!v->c->indirect)
        return VQE_NONE;
    table->addr = v->b->ram_bytes - table->bytes + 1 + drill_below(d, 3);
    return VQE_BAD_ADDRESS;
}

uint32_t bare_chain_spoil(struct drill *d, const struct bare_ring *r, bool writable,
                          struct bare_chain *c)
{
    static uint32_t (*const ways[])(struct drill *, const struct victim *) = {
        empty_buffer,   outside_ram,      outside_ram,         next_outside,
        loop,           too_long,         other_direction,     other_direction,
        table_in_table, indirect_unasked, table_of_odd_length, table_outside_ram};
    struct victim v = {.b = bare_of(d), .r = r, .writable = writable, .c = c};
    const uint32_t i = drill_below(d, c->n);
    uint32_t error = VQE_NONE;

    v.some = i < c->n_direct ? &c->direct[i] : NULL;
    v.last = c->indirect ? NULL : &c->direct[c->n_slots - 1];
    v.table_len = c->indirect ? c->table_len : r->size;
    v.first = c->indirect ? 0 : c->slots[0];
    for (uint32_t k = 0; c->indirect && k < c->table_len; k++) {
        struct bare_desc *t = &c->table[k];
        const bool is_linked = t->addr != UINT64_MAX;

        if (is_linked && !(t->flags & NEXT))
            v.last = t;
        if (is_linked && !v.some && t->addr == v.b->zone_at + c->pieces[i].at)
            v.some = t;
    }
    while (error == VQE_NONE)
        error = ways[drill_below(d, ARRAY_LEN(ways))](d, &v);
    return error;
}
