/* SPDX-License-Identifier: MIT */
#include "tree/tree_memory.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/text.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/leaf.h"
#include "process/must.h"
#include "tree/tree.h"

#define JOINED_BYTES 4u /* up to so many equal bytes do not split a range of different ones */

/* --- Snapshots -------------------------------------------------------------------------------- */

struct memory_walk {
    const struct rdl_lab *lab;
    const char *host; /* NULL: at the root */
    tree_region_each *each;
    void *ctx;
};

static void visit_region(const struct memory_walk *w, const char *key)
{
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct rdl_mr_info info;
    rdl_host host;
    rdl_mr mr;

    tree_join(&t, w->host, key);
    if (rdl_find(w->lab, path, OBJ_MR, &mr.raw) == RDL_OK &&
        rdl_mr_info(w->lab, mr, &info) == RDL_OK && info.kind == KEY_USER_MR &&
        rdl_find_host(w->lab, w->host, &host) == RDL_OK)
        w->each(w->ctx, path, host, &info);
}

/* Visits the hosts of the lab, and the regions of each host.  The recursion ends there. */
static void visit(void *ctx, const char *key, const struct rdl_value *v)
{
    const struct memory_walk *from = ctx;
    struct memory_walk w = *from;
    size_t bad;

    w.host = key;
    if (v->type != RDL_NODE)
        return;
    if (from->host && v->row == NODE_mr)
        visit_region(from, key);
    else if (!from->host && v->row == NODE_host &&
             rdl_inspect_list(w.lab, key, visit, &w, &bad) != RDL_OK)
        must_fail(); /* it existed just before */
}

void tree_each_region(const struct rdl_lab *lab, tree_region_each *each, void *ctx)
{
    struct memory_walk w = {.lab = lab, .each = each, .ctx = ctx};
    size_t bad;

    if (rdl_inspect_list(lab, "", visit, &w, &bad) != RDL_OK)
        must_fail(); /* the root always exists */
}

struct taking {
    const struct rdl_lab *lab;
    struct tree_memory *to;
};

static void take_bytes(const struct taking *k, struct tree_memory_region *r, rdl_host host,
                       uint64_t addr)
{
    if (r->n > TREE_MEMORY_BYTES_MAX - k->to->kept)
        return;
    r->bytes = must_malloc((size_t)r->n + 1);
    if (rdl_mem_read(k->lab, host, addr, r->bytes, (size_t)r->n) == RDL_OK) {
        k->to->kept += r->n;
        return;
    }
    free(r->bytes);
    r->bytes = NULL;
}

static void take_region(void *ctx, const char *path, rdl_host host, const struct rdl_mr_info *info)
{
    const struct taking *k = ctx;
    struct tree_memory *to = k->to;
    struct tree_memory_region r = {.n = info->bytes};
    struct text t = text_on(r.path, sizeof(r.path));

    text_add(&t, path);
    take_bytes(k, &r, host, info->addr);
    to->v = must_grow(to->v, to->n, &to->room, sizeof(*to->v));
    to->v[to->n++] = r;
}

static int by_path(const void *a, const void *b)
{
    const struct tree_memory_region *x = a, *y = b;

    return strcmp(x->path, y->path);
}

void tree_memory_take(struct tree_memory *ret, const struct rdl_lab *lab)
{
    struct taking k = {lab, ret};

    *ret = (struct tree_memory){.v = NULL};
    tree_each_region(lab, take_region, &k);
    if (ret->n > 0)
        qsort(ret->v, ret->n, sizeof(*ret->v), by_path);
}

void tree_memory_done(struct tree_memory *memory)
{
    for (size_t i = 0; i < memory->n; i++)
        free(memory->v[i].bytes);
    free(memory->v);
    *memory = (struct tree_memory){.v = NULL};
}

/* --- Comparison ------------------------------------------------------------------------------- */

/* Returns the end of the range of different bytes that starts at @i. */
static uint64_t range_end(const uint8_t *a, const uint8_t *b, uint64_t i, uint64_t n)
{
    uint64_t end = i + 1;

    for (i = end; i < n && i - end <= JOINED_BYTES; i++) {
        if (a[i] != b[i])
            end = i + 1;
    }
    return end;
}

struct tree_memory_compared
tree_memory_compare(const struct tree_memory *a, const struct tree_memory *b,
                    void (*each)(void *ctx, const struct tree_memory_difference *d), void *ctx)
{
    struct tree_memory_compared ret = {.skipped = NULL};
    size_t i = 0, k = 0;

    while (i < a->n && k < b->n) {
        const struct tree_memory_region *x = &a->v[i], *y = &b->v[k];
        const int order = strcmp(x->path, y->path);
        const uint64_t n = x->n < y->n ? x->n : y->n;

        i += order <= 0;
        k += order >= 0;
        if (order != 0)
            continue; /* the tree shows that the other lab does not have it */
        if (!x->bytes || !y->bytes) {
            ret.skipped = ret.skipped ? ret.skipped : x->bytes ? y : x;
            ret.n_skipped++;
            continue;
        }
        ret.n_regions++;
        ret.bytes += n;
        for (uint64_t at = 0; at < n; at++) {
            if (x->bytes[at] != y->bytes[at]) {
                const uint64_t end = range_end(x->bytes, y->bytes, at, n);

                each(ctx, &(struct tree_memory_difference){x->path, at, end, x->bytes + at,
                                                           y->bytes + at});
                at = end;
            }
        }
    }
    return ret;
}
