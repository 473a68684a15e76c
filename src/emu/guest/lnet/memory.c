/* SPDX-License-Identifier: MIT */
/* Memory of a node of LNet, and of its messages. */
#include <string.h>

#include "emu/guest/lnet/internal.h"

void *gl_alloc(void *ctx, size_t bytes)
{
    struct guest_lnet *g = ctx;
    void *block = arena_alloc(g->config.arena, bytes);

    g->live_bytes += block ? bytes : 0;
    return block;
}

void gl_release(void *ctx, void *block, size_t bytes)
{
    struct guest_lnet *g = ctx;

    g->live_bytes -= block ? bytes : 0;
    arena_release(g->config.arena, block, bytes);
}

uint64_t gl_pages(void *ctx, uint64_t bytes)
{
    struct guest_lnet *g = ctx;
    uint64_t addr = 0;

    if (verbs_mem_alloc(gl_verbs(g), bytes, &addr) != RDL_OK)
        return 0;
    g->live_bytes += bytes;
    return addr;
}

void gl_free_doomed(struct guest_lnet *g)
{
    struct guest_lnet_pages **at = &g->doomed;

    while (*at) {
        struct guest_lnet_pages *p = *at;

        if (verbs_mem_free(gl_verbs(g), p->addr) == RDL_OK) {
            *at = p->next;
            arena_release(g->config.arena, p, sizeof(*p));
        } else {
            at = &p->next;
        }
    }
}

void gl_pages_free(void *ctx, uint64_t addr, uint64_t bytes)
{
    struct guest_lnet *g = ctx;
    struct guest_lnet_pages *p = arena_alloc(g->config.arena, sizeof(*p));

    g->live_bytes -= bytes;
    if (g->node)
        lnd_forget(lnet_lnd(g->node), addr, bytes);
    if (!p)
        return; /* the lab stops at the end of this tick */
    p->addr = addr;
    p->next = g->doomed;
    g->doomed = p;
    gl_free_doomed(g);
}

bool gl_read_memory(void *ctx, uint64_t addr, void *ret, size_t n)
{
    return space_read(gl_verbs(ctx)->config.space, addr, ret, n);
}

bool gl_write_memory(void *ctx, uint64_t addr, const void *bytes, size_t n)
{
    return space_write(gl_verbs(ctx)->config.space, addr, bytes, n);
}

bool gl_copy_memory(void *ctx, uint64_t to, uint64_t from, size_t n)
{
    struct space *s = gl_verbs(ctx)->config.space;
    uint8_t buf[512];

    if (!space_is_mapped(s, to, n) || !space_is_mapped(s, from, n))
        return false;
    while (n > 0) {
        const size_t piece = n < sizeof(buf) ? n : sizeof(buf);

        if (!space_read(s, from, buf, piece) || !space_write(s, to, buf, piece))
            return false;
        to += piece;
        from += piece;
        n -= piece;
    }
    return true;
}
