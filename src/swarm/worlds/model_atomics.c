/* SPDX-License-Identifier: MIT */
/* The model of atomics.  It searches for an order in which all atomics on a word, each executed
 * once, found the values that they returned and left the final value.
 *
 * Atomics of one queue pair are ordered by posting.  An atomic that did not complete may have been
 * executed or not.  All operands differ, so a word hardly ever has a value twice, and the atomic
 * that found a value was the next one.  The search therefore has almost no choice.
 *
 * Between two hosts like rxe an atomic may complete without the value that it has found: see
 * is_found().
 */
#include "swarm/worlds/model.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/wr.h"

#define OPS_MAX     256u
#define UNKNOWN_MAX 8u /* operations in a row without a known result */

struct atomic_history {
    const struct world_run *r;
    uint16_t op[OPS_MAX];
    bool is_used[OPS_MAX];
    uint32_t n, n_certain_left;
    uint64_t last; /* final value of the word */
};

static bool is_certain(const struct atomic_history *h, uint32_t k)
{
    return h->r->item[h->op[k]].phase == ITEM_OK;
}

/* Returns true if the value that the completed atomic @k has found is known.  Between two hosts
 * like rxe it may not be: the responder acknowledges a repeated SEND or WRITE with the PSN of an
 * atomic behind it, and the requester takes that for the answer of the atomic.
 */
static bool is_found(const struct atomic_history *h, uint32_t k)
{
    const struct world_run *r = h->r;
    const struct item_state *s = &r->item[h->op[k]];
    const struct world_item *t = &r->w->item[h->op[k]];
    const struct life *life = &r->life[s->life];

    if (!(r->is_faulty || r->is_copying) || !model_profile_is_rxe(r, t->end) ||
        !model_profile_is_rxe(r, t->to))
        return true;
    for (uint16_t i = 0; i < s->pos; i++) {
        const struct wr_info *before = wr_info(r->item[life->send[i]].opcode);

        if (before && before->data == WR_DATA_TAKES)
            return false;
    }
    return true;
}

static uint64_t result(const struct atomic_history *h, uint32_t k, uint64_t value)
{
    const struct world_item *t = &h->r->w->item[h->op[k]];

    if (t->opcode == WR_ATOMIC_FETCH_AND_ADD)
        return value + t->compare_add;
    return value == h->r->item[h->op[k]].compare ? t->swap : value;
}

/* Returns true if all earlier atomics of the same queue pair are placed.  A compare and swap that
 * did not complete need not be: it may have changed nothing.
 */
static bool is_turn(const struct atomic_history *h, uint32_t k)
{
    const struct item_state *s = &h->r->item[h->op[k]];

    for (uint32_t j = 0; j < h->n; j++) {
        const struct item_state *o = &h->r->item[h->op[j]];

        if (!h->is_used[j] && o->life == s->life && o->pos < s->pos &&
            (is_certain(h, j) || o->opcode == WR_ATOMIC_FETCH_AND_ADD))
            return false;
    }
    return true;
}

/* Returns the next completed atomic that found @value; one that does not change the value comes
 * first.  An atomic that may not know what it has found comes last: in place of that it shows what
 * its buffer had before, for example 0.
 */
static uint32_t next_certain(const struct atomic_history *h, uint64_t value)
{
    uint32_t found = h->n, doubtful = h->n;

    for (uint32_t k = 0; k < h->n; k++) {
        if (h->is_used[k] || !is_certain(h, k) || h->r->item[h->op[k]].found != value ||
            !is_turn(h, k))
            continue;
        if (!is_found(h, k)) {
            doubtful = k;
            continue;
        }
        if (result(h, k, value) == value)
            return k;
        found = k;
    }
    return found < h->n ? found : doubtful;
}

/* Continues the search from @value.  @unknown: how many uncompleted atomics may follow in a row.
 * The recursion depth is bounded by UNKNOWN_MAX and by the number of operations.
 */
static bool goes_on(struct atomic_history *h, uint64_t value, uint32_t unknown)
{
    const uint32_t k = next_certain(h, value);

    if (h->n_certain_left == 0 && value == h->last)
        return true;
    if (k < h->n) {
        bool right;

        h->is_used[k] = true;
        h->n_certain_left--;
        right = goes_on(h, result(h, k, value), UNKNOWN_MAX);
        h->is_used[k] = false;
        h->n_certain_left++;
        if (right)
            return true;
    }
    for (uint32_t j = 0; j < h->n && unknown > 0; j++) {
        bool right;

        const bool certain = is_certain(h, j);

        if (h->is_used[j] || (certain && is_found(h, j)) || !is_turn(h, j) ||
            (!certain && result(h, j, value) == value))
            continue;
        h->is_used[j] = true;
        h->n_certain_left -= certain;
        right = goes_on(h, result(h, j, value), unknown - 1);
        h->n_certain_left += certain;
        h->is_used[j] = false;
        if (right)
            return true;
    }
    return false;
}

/* Collects the atomics on a word.  One with a wrong lkey was executed too; only its result is lost.
 */
static void gather(struct world_run *r, struct atomic_history *h, unsigned host, uint32_t word)
{
    for (uint16_t i = 0; i < r->w->n_items && h->n < OPS_MAX; i++) {
        const struct world_item *t = &r->w->item[i];
        const struct item_state *s = &r->item[i];

        if (t->is_recv || !world_is_atomic(t) || s->phase == ITEM_IDLE ||
            world_is_remote_mistake(s->mistake) || t->word != word || r->w->end[t->to].host != host)
            continue;
        h->op[h->n++] = i;
        h->n_certain_left += s->phase == ITEM_OK;
    }
}

void model_check_atomics(struct world_run *r)
{
    for (unsigned host = 0; host < r->w->n_hosts; host++) {
        if (r->w->host[host].is_absent)
            continue;
        for (uint32_t word = 0; word < WORLD_WORDS && !r->wrong; word++) {
            struct atomic_history h = {.r = r};
            uint8_t have[WORLD_WORD_BYTES];

            gather(r, &h, host, word);
            world_works(r,
                        rdl_mem_read(r->lab, r->host[host].host,
                                     r->host[host].base + r->w->host[host].words_at +
                                         (uint64_t)word * 2 * WORLD_WORD_BYTES,
                                     have, sizeof(have)),
                        "memory can be read");
            h.last = ld_le64(have);
            world_expect(r, goes_on(&h, 0, UNKNOWN_MAX), h.n > 0 ? h.op[0] : WORLD_NONE,
                         "each atomic is carried out once, and what they find is in some order");
        }
    }
}
