/* SPDX-License-Identifier: MIT */
#include "cli/tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "cli/print/must.h"
#include "emu/base/quantity.h"

#define UNIT_FROM (1u << 20) /* sizes from here on are shown with a unit */

void tree_join(struct text *t, const char *base, const char *key)
{
    text_add(t, base);
    if (base[0] && key[0] && key[0] != '[')
        text_add(t, ".");
    text_add(t, key);
}

bool tree_get(const struct rdl_lab *lab, const char *base, const char *key, struct rdl_value *ret)
{
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    size_t at;

    tree_join(&t, base, key);
    return !t.cut && rdl_inspect(lab, path, ret, &at) == RDL_OK;
}

uint64_t tree_number(const struct rdl_lab *lab, const char *base, const char *key)
{
    struct rdl_value v;

    return tree_get(lab, base, key, &v) ? v.number : 0;
}

bool tree_is(const struct rdl_lab *lab, const char *base, const char *kind)
{
    struct rdl_value v;

    return tree_get(lab, base, "", &v) && v.type == RDL_NODE && strcmp(v.text, kind) == 0;
}

void tree_add(struct text *t, const struct rdl_lab *lab, const char *base, const char *key)
{
    struct rdl_value v;

    if (tree_get(lab, base, key, &v))
        tree_add_value(t, &v);
    else
        text_add(t, "-");
}

void tree_add_value(struct text *t, const struct rdl_value *v)
{
    switch (v->type) {
    case RDL_NUMBER:
        text_addf(t, "%llu", (unsigned long long)v->number);
        break;
    case RDL_HEX:
        text_addf(t, "0x%llx", (unsigned long long)v->number);
        break;
    case RDL_FLAG:
        text_add(t, v->number ? "yes" : "no");
        break;
    case RDL_TIME:
        if (v->number == RDL_NEVER)
            text_add(t, "-");
        else
            quantity_add_time_short(t, v->number);
        break;
    case RDL_SIZE:
        /* "4096" reads like the MTU or region that it is; "67108864" reads like nothing. */
        quantity_add(t, v->number < UNIT_FROM ? QUANTITY_NUMBER : QUANTITY_SIZE, v->number);
        break;
    case RDL_NODE:
    case RDL_WORD:
    case RDL_TEXT:
        text_add(t, v->text[0] ? v->text : "-");
        break;
    }
}

static void collect(void *ctx, const char *key, const struct rdl_value *v)
{
    struct tree_list *l = ctx;
    struct text t;

    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 32;
        l->v = must_realloc(l->v, l->cap * sizeof(*l->v));
    }
    t = text_on(l->v[l->n].key, TREE_KEY_BYTES);
    text_add(&t, key);
    l->v[l->n++].value = *v;
}

enum rdl_status tree_children(const struct rdl_lab *lab, const char *path, struct tree_list *ret,
                              size_t *reterr_at)
{
    *ret = (struct tree_list){0};
    return rdl_inspect_list(lab, path, collect, ret, reterr_at);
}

void tree_done(struct tree_list *l)
{
    free(l->v);
    *l = (struct tree_list){0};
}

void tree_host_of(const char *path, char ret[RDL_NAME_BYTES])
{
    struct text t = text_on(ret, RDL_NAME_BYTES);

    text_addn(&t, path, strcspn(path, ".["));
}
