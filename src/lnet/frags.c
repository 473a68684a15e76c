/* SPDX-License-Identifier: MIT */
#include "lnet/frags.h"

#include <errno.h>

#include "emu/base/min.h"

/* A place in a list: fragment @i, without its first @done bytes. */
struct frag_place {
    const struct frag_list *list;
    uint32_t i, done;
};

/* Passes fragments that are used up, also empty ones.  Returns false at the end of the list. */
static bool settle(struct frag_place *p)
{
    while (p->i < p->list->n && p->done == p->list->frags[p->i].nob) {
        p->i++;
        p->done = 0;
    }
    return p->i < p->list->n;
}

static uint32_t rest(const struct frag_place *p)
{
    return p->list->frags[p->i].nob - p->done;
}

static uint64_t address(const struct frag_place *p)
{
    return p->list->frags[p->i].addr + p->done;
}

int frags_match(const struct frag_list *src, const struct frag_list *dst, uint32_t bytes,
                uint32_t max, struct frag_piece *ret, uint32_t *ret_n)
{
    struct frag_place from = {.list = src}, to = {.list = dst};
    uint32_t n = 0;

    while (bytes > 0) {
        uint32_t piece;

        if (!settle(&from) || !settle(&to))
            return -EPROTO;
        if (n == max)
            return -EMSGSIZE;
        piece = min_u32(min_u32(rest(&from), rest(&to)), bytes);
        ret[n++] = (struct frag_piece){address(&from), address(&to), piece};
        from.done += piece;
        to.done += piece;
        bytes -= piece;
    }
    *ret_n = n;
    return 0;
}

uint32_t frags_extract(const struct frag_list *from, uint64_t offset, uint32_t bytes, uint32_t most,
                       struct lnet_frag *ret, uint32_t max)
{
    struct frag_place at = {.list = from};
    uint32_t n = 0;

    while (offset > 0) {
        uint32_t skip;

        if (!settle(&at))
            return 0;
        skip = offset < rest(&at) ? (uint32_t)offset : rest(&at);
        at.done += skip;
        offset -= skip;
    }
    while (bytes > 0) {
        uint32_t piece;

        if (!settle(&at) || n == max)
            return 0;
        piece = min_u32(rest(&at), bytes);
        if (most > 0)
            piece = min_u32(piece, most - (uint32_t)(address(&at) % most));
        ret[n++] = (struct lnet_frag){piece, address(&at)};
        at.done += piece;
        bytes -= piece;
    }
    return n;
}

uint64_t frags_sum(const struct frag_list *l)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < l->n; i++)
        sum += l->frags[i].nob;
    return sum;
}

void frags_span(const struct frag_list *l, uint64_t *ret_addr, uint64_t *ret_bytes)
{
    uint64_t low = l->frags[0].addr, high = low;

    for (uint32_t i = 0; i < l->n; i++) {
        const struct lnet_frag *f = &l->frags[i];

        low = f->addr < low ? f->addr : low;
        high = f->addr + f->nob > high ? f->addr + f->nob : high;
    }
    *ret_addr = low;
    *ret_bytes = high - low;
}
