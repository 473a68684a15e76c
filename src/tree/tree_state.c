/* SPDX-License-Identifier: MIT */
#include "tree/tree_state.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/leaf.h"
#include "process/must.h"
#include "tree/tree.h"

/* --- Snapshots -------------------------------------------------------------------------------- */

#define BLOCK_BYTES 65536u

struct tree_state_block {
    struct tree_state_block *next;
    size_t n; /* bytes in use */
    char bytes[BLOCK_BYTES];
};

_Static_assert(TREE_PATH_BYTES <= BLOCK_BYTES && RDL_VALUE_BYTES <= BLOCK_BYTES, "both fit");

static const char *keep(struct tree_state *to, const char *text)
{
    const size_t n = strlen(text) + 1;
    struct tree_state_block *b = to->blocks;

    if (!b || BLOCK_BYTES - b->n < n) {
        b = must_malloc(sizeof(*b));
        b->next = to->blocks;
        b->n = 0;
        to->blocks = b;
    }
    b->n += n;
    return memcpy(b->bytes + b->n - n, text, n);
}

static void take_leaf(struct tree_state *to, const char *path, const struct rdl_value *v)
{
    char buf[RDL_VALUE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    tree_add_value(&t, v);
    to->v = must_grow(to->v, to->n, &to->room, sizeof(*to->v));
    to->v[to->n++] = (struct tree_state_leaf){keep(to, path), keep(to, buf), v->row};
}

static void visit(void *ctx, const char *path, const struct rdl_value *v)
{
    if (v->type != RDL_NODE)
        take_leaf(ctx, path, v);
}

static int by_path(const void *a, const void *b)
{
    const struct tree_state_leaf *x = a, *y = b;

    return strcmp(x->path, y->path);
}

void tree_state_take(struct tree_state *ret, const struct rdl_lab *lab)
{
    size_t bad;

    *ret = (struct tree_state){.v = NULL};
    if (rdl_inspect_below(lab, "", visit, ret, &bad) != RDL_OK)
        must_fail(); /* the root always exists */
    if (ret->n > 0)
        qsort(ret->v, ret->n, sizeof(*ret->v), by_path);
}

void tree_state_done(struct tree_state *state)
{
    struct tree_state_block *next;

    for (struct tree_state_block *b = state->blocks; b; b = next) {
        next = b->next;
        free(b);
    }
    free(state->v);
    *state = (struct tree_state){.v = NULL};
}

/* --- Comparison ------------------------------------------------------------------------------- */

/* Returns true if @state has a path below the node that the first @n bytes of @path name. */
static bool has_node(const struct tree_state *state, const char *path, size_t n)
{
    size_t from = 0, to = state->n;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if (strncmp(state->v[middle].path, path, n) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    /* Paths are sorted bytewise: "h1.qp-x" stands between "h1.qp" and "h1.qp.state". */
    for (; from < state->n && strncmp(state->v[from].path, path, n) == 0; from++) {
        if (state->v[from].path[n] == '.' || state->v[from].path[n] == '[')
            return true;
    }
    return false;
}

/* Returns the length of the first node of @path that @state does not have; that of the whole path
 * if only the leaf is missing.
 */
static size_t missing_bytes(const struct tree_state *state, const char *path)
{
    for (size_t n = 1; path[n]; n++) {
        if (path[n] == '.' && !has_node(state, path, n)) /* an empty list counts as existing */
            return n;
    }
    return strlen(path);
}

void tree_state_compare(const struct tree_state *a, const struct tree_state *b,
                        void (*each)(void *ctx, const struct tree_difference *d), void *ctx)
{
    struct tree_difference last = {.path = NULL};
    size_t i = 0, k = 0;

    while (i < a->n || k < b->n) {
        const struct tree_state_leaf *x = i < a->n ? &a->v[i] : NULL;
        const struct tree_state_leaf *y = k < b->n ? &b->v[k] : NULL;
        const int order = !x ? 1 : !y ? -1 : strcmp(x->path, y->path);
        const struct tree_state_leaf *first = order <= 0 ? x : y;
        struct tree_difference d = {.path = NULL};

        RDL_ASSERT(first);
        d.path = first->path;
        d.a = order <= 0 ? x->text : NULL;
        d.b = order >= 0 ? y->text : NULL;
        d.row = first->row;

        i += order <= 0;
        k += order >= 0;
        if (order == 0 && strcmp(d.a, d.b) == 0)
            continue;
        if (order != 0 && last.path && strncmp(last.path, d.path, last.node_bytes) == 0 &&
            (d.path[last.node_bytes] == '.' || d.path[last.node_bytes] == '['))
            continue; /* its node was reported already */
        if (order != 0) {
            d.node_bytes = missing_bytes(order < 0 ? b : a, d.path);
            last = d;
        }
        each(ctx, &d);
    }
}

bool tree_state_is_detail(uint32_t row)
{
    const struct leaf_row *r = &leaf_rows[row];

    return r->type == TYPE_COUNTER || (r->flags & LEAF_LISTED) || r->node == NODE_desc ||
           r->node == NODE_used || r->node == NODE_counters;
}
