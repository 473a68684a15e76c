/* SPDX-License-Identifier: MIT */
/* The inspect tree.  One visitor per node kind reports the node's children.
 *
 * A visitor calls inspect_leaf(), inspect_child() and the like for each child, by the rows of
 * emu/facts/leaves.def.  Looking up one key and listing all children use the same visitor: a lookup
 * stops at its key.  So each value is defined once, and a path costs one visit per key.
 */
#include "rdmalab/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/lab/inspect/inspect_nodes.h"

static void offer_below(struct visit *v, const char *key, const struct rdl_value *value,
                        const struct inode *node);

/* Compares the first letter first: most keys differ there. */
static inline bool wants(const struct visit *v, const char *key)
{
    return v->want && key[0] == v->want[0] && strncmp(key, v->want, v->want_len) == 0 &&
           key[v->want_len] == '\0';
}

/* Reports one wanted child: stores it as the result of a lookup, or passes it to @each. */
static void offer(struct visit *v, const char *key, const struct rdl_value *value,
                  const struct inode *node)
{
    if (v->below) {
        offer_below(v, key, value, node);
    } else if (v->each) {
        v->each(v->ctx, key, value);
    } else {
        v->found = true;
        v->value = *value;
        v->node = node ? *node : (struct inode){.kind = NODE_none};
    }
}

/* Returns true if @key is wanted, so that unwanted values need not be computed. */
static inline bool asked(const struct visit *v, const char *key)
{
    return v->each || (!v->found && wants(v, key));
}

/* The row of leaf @id, which the visited node may report. */
static const struct leaf_row *row_of(const struct visit *v, enum leaf_id id)
{
    RDL_ASSERT(leaf_rows[id].node == v->kind);
    return &leaf_rows[id];
}

static struct rdl_value value_of(enum leaf_id id, uint64_t number)
{
    return (struct rdl_value){
        .type = leaf_types[leaf_rows[id].type].type, .row = id, .number = number};
}

static void offer_text(struct visit *v, const char *key, enum leaf_id id, const char *s)
{
    struct rdl_value value = {.type = RDL_TEXT, .row = id};
    struct text t = text_on(value.text, sizeof(value.text));

    text_add(&t, s);
    offer(v, key, &value, NULL);
}

bool inspect_asks(const struct visit *v, enum leaf_id id)
{
    return asked(v, row_of(v, id)->key);
}

/* Reports a number under a key. */
static void offer_number(struct visit *v, const char *key, enum leaf_id id, uint64_t number)
{
    const struct rdl_value value = value_of(id, number);

    RDL_ASSERT(value.type != RDL_WORD && value.type != RDL_TEXT);
    offer(v, key, &value, NULL);
}

void inspect_leaf(struct visit *v, enum leaf_id id, uint64_t number)
{
    const struct leaf_row *row = row_of(v, id);

    if (asked(v, row->key))
        offer_number(v, row->key, id, number);
}

void inspect_text(struct visit *v, enum leaf_id id, const char *s)
{
    const struct leaf_row *row = row_of(v, id);

    RDL_ASSERT(row->type == TYPE_TEXT || (row->flags & LEAF_ANY));
    if (asked(v, row->key))
        offer_text(v, row->key, id, s);
}

static void offer_word(struct visit *v, const struct leaf_row *row, enum leaf_id id,
                       uint32_t number)
{
    struct rdl_value value = value_of(id, number);
    struct text t = text_on(value.text, sizeof(value.text));

    text_add(&t, enum_name(row->words, number));
    offer(v, row->key, &value, NULL);
}

void inspect_word(struct visit *v, enum leaf_id id, uint32_t number)
{
    const struct leaf_row *row = row_of(v, id);

    RDL_ASSERT(row->type == TYPE_WORD);
    if (asked(v, row->key))
        offer_word(v, row, id, number);
}

static void offer_set(struct visit *v, const struct leaf_row *row, enum leaf_id id, uint32_t set)
{
    struct rdl_value value = value_of(id, set);
    struct text t = text_on(value.text, sizeof(value.text));

    for (size_t i = 0; i < row->words->n_rows; i++) {
        if (set & row->words->rows[i].value)
            text_addf(&t, "%s%s", t.len ? "," : "", row->words->rows[i].name);
    }
    offer(v, row->key, &value, NULL);
}

void inspect_set(struct visit *v, enum leaf_id id, uint32_t set)
{
    const struct leaf_row *row = row_of(v, id);

    RDL_ASSERT(row->type == TYPE_SET);
    if (asked(v, row->key))
        offer_set(v, row, id, set);
}

void inspect_keyed(struct visit *v, enum leaf_id id, const struct enum_row *word, uint64_t number)
{
    const struct leaf_row *row = row_of(v, id);
    char key[RDL_NAME_BYTES];

    RDL_ASSERT(row->flags & LEAF_KEYED);
    leaf_word_key(word, key);
    if (asked(v, key))
        offer_number(v, key, id, number);
}

/* Reports @node under a wanted key. */
static void offer_node(struct visit *v, const char *key, enum node_kind kind,
                       const struct inode *node)
{
    struct rdl_value value = {.type = RDL_NODE, .row = kind};
    struct text t = text_on(value.text, sizeof(value.text));
    struct inode below = *node;

    text_add(&t, node_rows[kind].title);
    below.kind = kind;
    offer(v, key, &value, &below);
}

void inspect_child(struct visit *v, enum child_id id, struct inode node)
{
    const struct child_row *row = &child_rows[id];

    RDL_ASSERT(row->node == v->kind && row->key);
    if (!asked(v, row->key))
        return;
    node.list = row->is_list ? id : CHILD_none;
    offer_node(v, row->key, row->is_list ? NODE_list : row->below, &node);
}

void inspect_named(struct visit *v, enum child_id id, const char *name, struct inode node)
{
    const struct child_row *row = &child_rows[id];

    RDL_ASSERT(row->node == v->kind && !row->key);
    if (asked(v, name))
        offer_node(v, name, row->below, &node);
}

void inspect_item(struct visit *v, const struct inode *list, const char *key, struct inode node)
{
    if (asked(v, key))
        offer_node(v, key, child_rows[list->list].below, &node);
}

void inspect_nth(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.index = i;
    inspect_item(v, list, key, s);
}

struct inode inspect_list_of(const struct inode *n, uint64_t end,
                             void (*item)(const struct inode *list, uint64_t i, struct visit *v,
                                          const char *key))
{
    struct inode list = *n;

    list.list_first = 0;
    list.list_end = end;
    list.item = item;
    return list;
}

void inspect_item_leaf(struct visit *v, const struct inode *list, const char *key, uint64_t number)
{
    if (asked(v, key))
        offer_number(v, key, child_rows[list->list].element, number);
}

void inspect_item_text(struct visit *v, const struct inode *list, const char *key, const char *s)
{
    if (asked(v, key))
        offer_text(v, key, child_rows[list->list].element, s);
}

/* Formats a list index: "[3]". */
static void index_key(char *buf, size_t cap, uint64_t i)
{
    struct text t = text_on(buf, cap);

    text_addf(&t, "[%llu]", (unsigned long long)i);
}

/* Reports the elements of a list node. */
static void visit_list(const struct inode *n, struct visit *v)
{
    char key[24];

    for (uint64_t i = n->list_first; i < n->list_end; i++) {
        if (v->want) { /* looks up one element directly: "[17]" */
            i = strtoull(v->want + 1, NULL, 10);
            if (i < n->list_first || i >= n->list_end)
                return;
        }
        index_key(key, sizeof(key), i);
        n->item(n, i, v, key);
        if (v->want)
            return;
    }
}

/* Reports all children of @n. */
static void visit(const struct inode *n, struct visit *v)
{
    v->kind = n->kind;
    if (n->kind == NODE_list)
        visit_list(n, v);
    else
        inspect_visit_kind(n, v);
}

/* Lists the nodes below; the recursion is as deep as the tree. */
static void offer_below(struct visit *v, const char *key, const struct rdl_value *value,
                        const struct inode *node)
{
    struct text *path = v->below;
    const size_t len = path->len;

    if (len > 0 && key[0] && key[0] != '[')
        text_add(path, ".");
    text_add(path, key);
    RDL_ASSERT(!path->cut);
    v->each(v->ctx, path->buf, value);
    if (node) {
        struct visit next = {.each = v->each, .ctx = v->ctx, .below = path};

        visit(node, &next);
    }
    path->len = len;
    path->buf[len] = '\0';
}

/* Finds the node or leaf at @path.  Errors as rdl_inspect(). */
static enum rdl_status walk(const struct rdl_lab *lab, const char *path, struct inode *ret_node,
                            struct rdl_value *ret_value, size_t *reterr_at)
{
    struct inode node = {.kind = NODE_lab, .state = lab->state};
    struct rdl_value value = {.type = RDL_NODE, .row = NODE_lab, .text = "lab"};
    const char *at = path;

    while (*at) {
        struct visit v = {.want = at, .want_len = leaf_path_word(at)};
        const char *behind = leaf_path_behind(at, v.want_len);

        if (value.type == RDL_NODE && v.want_len > 0)
            visit(&node, &v);
        if (!v.found) {
            *reterr_at = (size_t)(at - path);
            return RDL_ERR_NOT_FOUND;
        }
        node = v.node;
        value = v.value;
        if (!behind) {
            *reterr_at = (size_t)(at - path) + v.want_len;
            return RDL_ERR_NOT_FOUND;
        }
        at = behind;
    }
    *ret_node = node;
    *ret_value = value;
    return RDL_OK;
}

enum rdl_status rdl_inspect(const struct rdl_lab *lab, const char *path, struct rdl_value *ret,
                            size_t *reterr_at)
{
    struct inode node;

    return walk(lab, path, &node, ret, reterr_at);
}

enum rdl_status rdl_inspect_list(const struct rdl_lab *lab, const char *path,
                                 rdl_inspect_each *each, void *ctx, size_t *reterr_at)
{
    struct visit v = {.each = each, .ctx = ctx};
    struct rdl_value value;
    struct inode node;
    const enum rdl_status st = walk(lab, path, &node, &value, reterr_at);

    if (st == RDL_OK && value.type == RDL_NODE)
        visit(&node, &v);
    return st;
}

enum rdl_status rdl_inspect_below(const struct rdl_lab *lab, const char *path,
                                  rdl_inspect_each *each, void *ctx, size_t *reterr_at)
{
    char buf[RDL_PATH_BYTES];
    struct text below = text_on(buf, sizeof(buf));
    struct visit v = {.each = each, .ctx = ctx, .below = &below};
    struct rdl_value value;
    struct inode node;
    const enum rdl_status st = walk(lab, path, &node, &value, reterr_at);

    if (st != RDL_OK || value.type != RDL_NODE)
        return st;
    text_add(&below, path);
    visit(&node, &v);
    return RDL_OK;
}

enum rdl_status rdl_find_host(const struct rdl_lab *lab, const char *name, rdl_host *ret)
{
    const struct host *h = lab_host_named(lab->state, name);

    if (!h)
        return RDL_ERR_NOT_FOUND;
    *ret = (rdl_host){h->index + 1};
    return RDL_OK;
}

enum rdl_status rdl_find(const struct rdl_lab *lab, const char *path, uint32_t kind,
                         uint64_t *ret_raw)
{
    struct rdl_value value;
    struct inode node;
    size_t at;

    if (walk(lab, path, &node, &value, &at) != RDL_OK)
        return RDL_ERR_NOT_FOUND;
    if (node.kind == NODE_none || node.kind != node_of_object((enum object_kind)kind))
        return RDL_ERR_INVAL;
    *ret_raw = node.handle;
    return RDL_OK;
}

void rdl_path_of(const struct rdl_lab *lab, uint32_t kind, uint64_t raw, char *ret)
{
    const struct lab_state *w = lab->state;
    const struct net_fault *fault = kind == OBJ_FAULT ? slots_get(&w->net.faults, raw) : NULL;
    const bool is_object = kind >= OBJ_PD && kind < VERBS_KINDS;
    const struct guest_object *o = is_object ? lab_object(w, (enum object_kind)kind, raw) : NULL;
    char link[LINK_NAME_BYTES];
    struct text t = text_on(ret, RDL_VALUE_BYTES);

    if (o)
        text_addf(&t, "%s.%s", w->hosts[o->verbs->config.host]->name, o->name);
    else if (fault)
        text_add(&t, fault->name.s);
    else if (kind == OBJ_LINK && raw >= 1 && raw <= w->net.n_links)
        text_add(&t, inspect_link_name(w, &w->net.links[raw - 1], link));
    else if (kind == OBJ_PORT && raw >= 1 && raw <= w->net.n_exts)
        text_add(&t, w->net.exts[raw - 1].name.s);
    else
        text_add(&t, "?");
}
