/* SPDX-License-Identifier: MIT */
/* The rounds of equal events that a ladder leaves out. */
#include <stdlib.h>

#include "emu/past/fold.h"
#include "viz/ladder_builder.h"

static void ignore(void *ctx, const struct ev *e)
{
    (void)ctx;
    (void)e;
}

/* Adds @f to the list.  Without memory the rounds are drawn. */
static void keep(void *ctx, const struct folded *f)
{
    struct builder *b = ctx;
    struct folded *v;

    if (b->n_folds == b->cap_folds) {
        v = realloc(b->folds, (2 * b->cap_folds + 8) * sizeof(*v));
        if (!v)
            return;
        b->folds = v;
        b->cap_folds = 2 * b->cap_folds + 8;
    }
    b->folds[b->n_folds++] = *f;
}

enum rdl_status builder_find_folds(struct builder *b)
{
    const struct fold_sink sink = {ignore, keep, b};
    struct fold *f = fold_new(&sink);

    if (!f)
        return RDL_ERR_NOMEM;
    for (size_t i = past_lower_bound(b->past, b->l->options.from); i < b->past->n; i++) {
        const struct ev *e = past_at(b->past, i);

        if (!builder_in_range(b->l, e->id))
            break;
        if (ev_is_for(e->kind, EV_FOR_STORY) || ev_is_for(e->kind, EV_FOR_LADDER))
            fold_put(f, e);
    }
    fold_flush(f);
    fold_free(f);
    return RDL_OK;
}

const struct folded *builder_fold_of(const struct builder *b, ev_id id)
{
    size_t low = 0, high = b->n_folds;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (b->folds[middle].to < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < b->n_folds && b->folds[low].from <= id ? &b->folds[low] : NULL;
}
