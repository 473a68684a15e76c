/* SPDX-License-Identifier: MIT */
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "process/must.h"

#define UNIT_FROM (1u << 20) /* larger sizes are shown with a unit */

const char *tree_child_name(const struct tree_child *c)
{
    const unsigned other = LEAF_LISTED | LEAF_KEYED;

    if (c->value.type == RDL_NODE || (leaf_rows[c->value.row].flags & other))
        return c->key;
    return leaf_name((enum leaf_id)c->value.row);
}

void tree_join(struct text *t, const char *base, const char *key)
{
    text_add(t, base);
    if (base[0] && key[0] && key[0] != '[')
        text_add(t, ".");
    text_add(t, key);
}

bool tree_value_is(const struct rdl_value *v, enum node_kind kind)
{
    return v->type == RDL_NODE && v->row == kind;
}

bool tree_is(const struct rdl_lab *lab, const char *path, enum node_kind kind)
{
    struct rdl_value v;
    size_t at;

    return rdl_inspect(lab, path, &v, &at) == RDL_OK && tree_value_is(&v, kind);
}

/* Reads the value of @key under @node. */
static bool get(const struct rdl_lab *lab, const char *node, const char *key, struct rdl_value *ret)
{
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    size_t at;

    tree_join(&t, node, key);
    RDL_ASSERT(!t.cut);
    return rdl_inspect(lab, path, ret, &at) == RDL_OK;
}

bool tree_child(const struct rdl_lab *lab, const char *node, enum child_id id,
                char ret[TREE_PATH_BYTES])
{
    const struct child_row *row = &child_rows[id];
    struct text t = text_on(ret, TREE_PATH_BYTES);
    struct rdl_value v;

    tree_join(&t, node, row->key);
    if (!get(lab, node, row->key, &v)) {
        RDL_ASSERT((row->flags & LEAF_OPTIONAL) && tree_is(lab, node, row->node));
        return false;
    }
    if (tree_value_is(&v, row->is_list ? NODE_list : row->below))
        return true;
    RDL_ASSERT(row->flags & LEAF_OPTIONAL); /* another device has something else there */
    return false;
}

bool tree_has_pvrdma(const struct rdl_lab *lab, const char *path)
{
    char host[RDL_NAME_BYTES], dsr[TREE_PATH_BYTES];

    tree_host_of(path, host);
    return tree_is(lab, host, NODE_host) && tree_child(lab, host, CHILD_host_dsr, dsr);
}

bool tree_element(const struct rdl_lab *lab, const char *node, enum child_id list, uint64_t i,
                  char ret[TREE_PATH_BYTES])
{
    struct text t = text_on(ret, TREE_PATH_BYTES);
    struct rdl_value v;
    size_t at;

    RDL_ASSERT(child_rows[list].is_list);
    tree_join(&t, node, child_rows[list].key);
    text_addf(&t, "[%llu]", (unsigned long long)i);
    RDL_ASSERT(!t.cut);
    if (rdl_inspect(lab, ret, &v, &at) == RDL_OK)
        return true;
    RDL_ASSERT(tree_is(lab, node, child_rows[list].node));
    return false;
}

bool tree_leaf(const struct rdl_lab *lab, const char *node, enum leaf_id id, struct rdl_value *ret)
{
    const struct leaf_row *row = &leaf_rows[id];
    char key[TREE_KEY_BYTES];
    struct text t = text_on(key, sizeof(key));
    const bool listed = (row->flags & LEAF_LISTED) != 0;

    RDL_ASSERT(!(row->flags & LEAF_KEYED));
    text_addf(&t, "%s%s", row->key, listed ? "[0]" : "");
    if (!get(lab, node, key, ret)) {
        RDL_ASSERT((listed || (row->flags & LEAF_OPTIONAL)) && tree_is(lab, node, row->node));
        return false;
    }
    RDL_ASSERT(ret->type != RDL_NODE && ret->row == id);
    return true;
}

uint64_t tree_number(const struct rdl_lab *lab, const char *node, enum leaf_id id)
{
    struct rdl_value v;

    return tree_leaf(lab, node, id, &v) ? v.number : 0;
}

uint64_t tree_element_number(const struct rdl_lab *lab, const char *node, enum child_id list,
                             uint64_t i)
{
    char path[TREE_PATH_BYTES];
    struct rdl_value v;
    size_t at;

    if (!tree_element(lab, node, list, i, path) || rdl_inspect(lab, path, &v, &at) != RDL_OK)
        return 0;
    RDL_ASSERT(v.type != RDL_NODE && v.row == child_rows[list].element);
    return v.number;
}

uint64_t tree_keyed(const struct rdl_lab *lab, const char *node, enum leaf_id id, uint32_t word)
{
    const struct enum_row *row = enum_by_value(leaf_rows[id].words, word);
    char key[RDL_NAME_BYTES];
    struct rdl_value v;

    RDL_ASSERT((leaf_rows[id].flags & LEAF_KEYED) && row);
    leaf_word_key(row, key);
    RDL_ASSERT(get(lab, node, key, &v));
    RDL_ASSERT(v.type != RDL_NODE && v.row == id);
    return v.number;
}

void tree_add(struct text *t, const struct rdl_lab *lab, const char *node, enum leaf_id id)
{
    struct rdl_value v;

    if (tree_leaf(lab, node, id, &v))
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
            quantity_add_time(t, v->number);
        break;
    case RDL_SIZE:
        /* A number like 4096 is easy to read as an MTU; 67108864 is not. */
        quantity_add(t, v->number < UNIT_FROM ? QUANTITY_NUMBER : QUANTITY_SIZE, v->number);
        break;
    case RDL_RATE:
        text_addf(t, "%llu%s", (unsigned long long)v->number, v->number ? " bit/s" : "");
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

    l->v = must_grow(l->v, l->n, &l->cap, sizeof(*l->v));
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

bool tree_completion(const struct rdl_lab *lab, const char *path, char ret_cq[TREE_PATH_BYTES],
                     uint64_t *ret_n)
{
    static const char list[] = ".wc[";
    const char *wc = strstr(path, list);
    struct text t = text_on(ret_cq, TREE_PATH_BYTES);
    char *end;

    if (!wc)
        return false;
    text_addn(&t, path, (size_t)(wc - path));
    *ret_n = strtoull(wc + strlen(list), &end, 10);
    return *end == ']' && tree_is(lab, ret_cq, NODE_cq);
}

void tree_host_of(const char *path, char ret[RDL_NAME_BYTES])
{
    struct text t = text_on(ret, RDL_NAME_BYTES);

    text_addn(&t, path, strcspn(path, ".["));
}
