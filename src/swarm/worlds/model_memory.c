/* SPDX-License-Identifier: MIT */
/* The model of memory, checked at the end.
 *
 * Each item writes its expected result to an image of each host's memory, in posting order.  Bytes
 * that cannot be predicted are marked.  Then the memory is compared with the image.
 *
 * A request that did not complete leaves a first part of its message, in whole packets.  If one
 * request of a life left only a part, later ones left nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/send_flag.h"
#include "process/must.h"
#include "swarm/worlds/model.h"

static const char right_bytes[] = "in the end memory has what completions told, and nothing else";

struct image {
    uint8_t *want, *have;
    uint8_t *free; /* 1: any value is permitted */
    uint32_t bytes;
};

static void put(struct image *m, uint32_t at, const uint8_t *bytes, uint32_t n)
{
    RDL_ASSERT(m->want && m->free);
    if (bytes)
        memcpy(m->want + at, bytes, n);
    else
        memset(m->want + at, 0, n);
    memset(m->free + at, 0, n);
}

static void set_free(struct image *m, uint32_t at, uint32_t n)
{
    RDL_ASSERT(m->free);
    memset(m->free + at, 1, n);
}

static void put_pieces(struct image *m, const struct world_item *t, const uint8_t *bytes,
                       uint32_t n)
{
    for (uint32_t p = 0; p < t->n_pieces && n > 0; p++) {
        const uint32_t k = t->piece[p].bytes < n ? t->piece[p].bytes : n;

        put(m, t->piece[p].at, bytes, k);
        bytes += k;
        n -= k;
    }
}

static void free_pieces(struct image *m, const struct world_item *t)
{
    for (uint32_t p = 0; p < t->n_pieces; p++)
        set_free(m, t->piece[p].at, t->piece[p].bytes);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Returns how many bytes of @message are at offset @at, in whole packets and followed by zeros.
 * UINT32_MAX: the place holds something else.
 */
static uint32_t came(const struct image *m, uint32_t at, const uint8_t *message, uint32_t bytes,
                     uint32_t mtu)
{
    uint32_t n = bytes;

    RDL_ASSERT(m->have);
    while (n > 0 && memcmp(m->have + at, message, n) != 0)
        n = (n - 1) / mtu * mtu;
    for (uint32_t k = n; k < bytes; k++) {
        if (m->have[at + k] != 0)
            return UINT32_MAX;
    }
    return n;
}

/* Like came(), for bytes of a message that are there for certain: zeros at its end may not have
 * come.
 */
static uint32_t came_for_certain(const uint8_t *message, uint32_t n, uint32_t mtu)
{
    uint32_t k = n;

    RDL_ASSERT(mtu > 0);
    while (k > 0 && message[k - 1] == 0)
        k--;
    return k == 0 || n - k >= mtu || k <= (n - 1) / mtu * mtu ? (k + mtu - 1) / mtu * mtu : n;
}

/* Judges WRITE @i, of which any first part may have arrived; nothing if an earlier one
 * @has_stopped.
 */
static void judge_uncertain(struct world_run *r, struct image *m, uint16_t i, bool *has_stopped)
{
    const struct world_item *t = &r->w->item[i];
    const struct world_end *e = &r->w->end[t->end];
    uint8_t *message = r->want;
    uint32_t n;

    if (r->item[i].mistake != RIGHT || t->bytes == 0)
        return;
    if (t->again != WORLD_NONE ||
        model_is_overwritten(r, i)) { /* two messages may be at this place */
        set_free(m, t->remote, t->bytes);
        return;
    }
    world_bytes(r->w, i, message);
    n = came(m, t->remote, message, t->bytes, world_mtu_bytes(e));
    world_expect(r, n != UINT32_MAX, i, "what comes of a WRITE is the beginning of its message");
    world_expect(r,
                 n == UINT32_MAX || !*has_stopped ||
                     came_for_certain(message, n, world_mtu_bytes(e)) == 0 || e->type != QPT_RC,
                 i, "nothing is written behind what has not come");
    *has_stopped = *has_stopped || n < t->bytes;
    if (n != UINT32_MAX)
        put(m, t->remote, message, n);
}

static void put_source(struct world_run *r, struct image m[], uint16_t i, const uint8_t *message)
{
    const struct world_item *t = &r->w->item[i];
    struct image *here = &m[r->w->end[t->end].host];
    uint8_t scribbled[WORLD_INLINE_MAX];

    if (t->mistake == LKEY_BEHIND || t->mistake == LKEY_BEFORE)
        return;
    if (t->flags & SF_INLINE) {
        memset(scribbled, 0xee, sizeof(scribbled));
        put_pieces(here, t, scribbled, t->bytes);
    } else {
        put_pieces(here, t, message, t->bytes);
    }
}

static void put_request(struct world_run *r, struct image m[], uint16_t i, bool *has_stopped)
{
    const struct world_item *t = &r->w->item[i];
    const struct item_state *s = &r->item[i];
    struct image *here = &m[r->w->end[t->end].host], *there = &m[r->w->end[t->to].host];
    const bool is_rc = r->w->end[t->end].type == QPT_RC;
    uint8_t *message = r->have;

    if (world_is_local(t) || s->phase == ITEM_IDLE)
        return;
    model_bytes(r, i, message);
    if (!world_fetches(t)) {
        put_source(r, m, i, message);
        if (world_is_write(t) && s->phase == ITEM_OK && is_rc)
            put(there, t->remote, message, t->bytes);
        else if (world_is_write(t))
            judge_uncertain(r, there, i, has_stopped);
        return;
    }
    if (world_is_read(t) && t->again == WORLD_NONE && s->mistake == RIGHT)
        put(there, t->remote, message, t->bytes);
    if (s->phase == ITEM_OK && world_is_read(t))
        put_pieces(here, t, message, t->bytes);
    else if (s->mistake == RIGHT)
        free_pieces(here, t); /* the word of an atomic was judged at its completion */
}

/* --- Receives --------------------------------------------------------------------------------- */

static void put_receives(struct world_run *r, struct image m[])
{
    for (uint16_t i = 0; i < r->w->n_items; i++) {
        const struct world_item *t = &r->w->item[i];

        /* An aborted message leaves bytes behind or in place of the next one. */
        if (t->is_recv && !r->w->end[t->end].is_absent &&
            (r->item[i].phase != ITEM_IDLE || t->is_spare))
            free_pieces(&m[r->w->end[t->end].host], t);
    }
}

/* --- Comparison ------------------------------------------------------------------------------- */

static void compare(struct world_run *r, const struct image *m, unsigned host)
{
    for (uint32_t k = 0; k < m->bytes && !r->wrong; k++) {
        if (m->free[k] || m->have[k] == m->want[k])
            continue;
        r->wrong = right_bytes;
        r->wrong_byte = k;
        r->wrong_host = (uint16_t)host;
    }
}

static void read_image(struct world_run *r, struct image *m, unsigned host)
{
    m->bytes = r->w->host[host].memory_bytes;
    m->want = must_malloc(m->bytes);
    m->free = must_malloc(m->bytes);
    m->have = must_malloc(m->bytes);
    world_works(r, rdl_mem_read(r->lab, r->host[host].host, r->host[host].base, m->have, m->bytes),
                "memory can be read");
    put(m, 0, NULL, m->bytes);
    set_free(m, r->w->host[host].words_at, WORLD_WORDS * 2 * WORLD_WORD_BYTES);
}

void model_check_memory(struct world_run *r)
{
    struct image m[WORLD_HOSTS_MAX] = {{0}};

    for (unsigned h = 0; h < r->w->n_hosts; h++) {
        if (!r->w->host[h].is_absent)
            read_image(r, &m[h], h);
    }
    for (uint32_t l = 0; l < r->n_lives; l++) {
        bool has_stopped = false;

        for (uint16_t k = 0; k < r->life[l].n_sends; k++)
            put_request(r, m, r->life[l].send[k], &has_stopped);
    }
    put_receives(r, m);
    for (unsigned h = 0; h < r->w->n_hosts; h++) {
        compare(r, &m[h], h);
        free(m[h].want);
        free(m[h].free);
        free(m[h].have);
    }
}
