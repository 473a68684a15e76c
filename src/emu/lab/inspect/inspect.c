/* SPDX-License-Identifier: MIT */
/* The inspect tree: one visitor per kind of node says what its children are.
 *
 * A visitor calls leaf_*(), child() and list() for everything it has.  Looking one word up and
 * listing all children are the same visit: the first stops at the word, the second hands all out.
 * So a value is said once, and a path costs one visit per word.
 */
#include "rdmalab/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/lab/inspect/inspect_nodes.h"

static bool wants(const struct visit *v, const char *key)
{
    return v->want && strlen(key) == v->want_len && memcmp(key, v->want, v->want_len) == 0;
}

/* Takes note of one child: the one that is looked for, or hands it out. */
static void offer(struct visit *v, const char *key, const struct rdl_value *value,
                  const struct inode *node)
{
    if (v->each) {
        v->each(v->ctx, key, value);
    } else if (wants(v, key)) {
        v->found = true;
        v->value = *value;
        v->node = node ? *node : (struct inode){.kind = NODE_NONE};
    }
}

/* Is @key of interest at all?  Saves building values that nobody looks at. */
static bool asked(const struct visit *v, const char *key)
{
    return v->each || (!v->found && wants(v, key));
}

void leaf(struct visit *v, const char *key, enum rdl_type type, uint64_t number)
{
    const struct rdl_value value = {.type = type, .number = number};

    offer(v, key, &value, NULL);
}

void leaf_text(struct visit *v, const char *key, const char *s)
{
    struct rdl_value value = {.type = RDL_TEXT};
    struct text t = text_on(value.text, sizeof(value.text));

    if (!asked(v, key))
        return;
    text_add(&t, s);
    offer(v, key, &value, NULL);
}

void leaf_word(struct visit *v, const char *key, const struct enum_table *words, uint32_t number)
{
    struct rdl_value value = {.type = RDL_WORD, .number = number};
    struct text t = text_on(value.text, sizeof(value.text));

    if (!asked(v, key))
        return;
    text_add(&t, enum_name(words, number));
    offer(v, key, &value, NULL);
}

void leaf_set(struct visit *v, const char *key, const struct enum_table *words, uint32_t set)
{
    struct rdl_value value = {.type = RDL_TEXT, .number = set};
    struct text t = text_on(value.text, sizeof(value.text));

    if (!asked(v, key))
        return;
    for (size_t i = 0; i < words->n_rows; i++) {
        if (set & words->rows[i].value)
            text_addf(&t, "%s%s", t.len ? "," : "", words->rows[i].name);
    }
    offer(v, key, &value, NULL);
}

void child(struct visit *v, const char *key, struct inode node)
{
    struct rdl_value value = {.type = RDL_NODE};
    struct text t = text_on(value.text, sizeof(value.text));

    if (!asked(v, key))
        return;
    text_add(&t, inspect_kind_name(node.kind));
    offer(v, key, &value, &node);
}

/* "[3]" */
static void index_key(char *buf, size_t cap, uint64_t i)
{
    struct text t = text_on(buf, cap);

    text_addf(&t, "[%llu]", (unsigned long long)i);
}

/* The elements of a list node: those that it remembers. */
static void visit_list(const struct inode *n, struct visit *v)
{
    char key[24];

    for (uint64_t i = n->list_first; i < n->list_end; i++) {
        if (v->want) { /* "[17]": straight there */
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

void inspect_visit(const struct inode *n, struct visit *v)
{
    if (n->kind == NODE_LIST)
        visit_list(n, v);
    else
        inspect_visit_kind(n, v);
}

/* Splits the next word off @path: up to a point or bracket, or a whole "[n]". */
static size_t word_len(const char *path)
{
    if (path[0] == '[') {
        const size_t digits = strspn(path + 1, "0123456789");

        return digits > 0 && digits < 19 && path[1 + digits] == ']' ? digits + 2 : 0;
    }
    return strcspn(path, ".[");
}

enum rdl_status inspect_walk(const struct rdl_lab *lab, const char *path, struct inode *ret_node,
                             struct rdl_value *ret_value, size_t *reterr_at)
{
    struct inode node = {.kind = NODE_LAB, .world = lab->world};
    struct rdl_value value = {.type = RDL_NODE, .text = "lab"};
    const char *at = path;

    while (*at) {
        struct visit v = {.want = at, .want_len = word_len(at)};

        if (value.type == RDL_NODE && v.want_len > 0)
            inspect_visit(&node, &v);
        if (!v.found) {
            *reterr_at = (size_t)(at - path);
            return RDL_ERR_NOT_FOUND;
        }
        node = v.node;
        value = v.value;
        at += v.want_len;
        if (*at == '.' && at[1] != '\0' && at[1] != '[')
            at++;
        else if (*at != '[' && *at != '\0') {
            *reterr_at = (size_t)(at - path);
            return RDL_ERR_NOT_FOUND;
        }
    }
    *ret_node = node;
    *ret_value = value;
    return RDL_OK;
}

enum rdl_status rdl_inspect(const struct rdl_lab *lab, const char *path, struct rdl_value *ret,
                            size_t *reterr_at)
{
    struct inode node;

    return inspect_walk(lab, path, &node, ret, reterr_at);
}

enum rdl_status rdl_inspect_list(const struct rdl_lab *lab, const char *path,
                                 rdl_inspect_each *each, void *ctx, size_t *reterr_at)
{
    struct visit v = {.each = each, .ctx = ctx};
    struct rdl_value value;
    struct inode node;
    const enum rdl_status st = inspect_walk(lab, path, &node, &value, reterr_at);

    if (st == RDL_OK && value.type == RDL_NODE)
        inspect_visit(&node, &v);
    return st;
}

enum rdl_status rdl_find_host(const struct rdl_lab *lab, const char *name, rdl_host *ret)
{
    const struct host *h = world_host_named(lab->world, name, strlen(name));

    if (!h)
        return RDL_ERR_NOT_FOUND;
    *ret = (rdl_host){h->index + 1};
    return RDL_OK;
}

enum rdl_status rdl_find(const struct rdl_lab *lab, const char *path, uint32_t kind,
                         uint32_t *ret_raw)
{
    static const struct {
        enum object_kind kind;
        enum inode_kind node;
    } rows[] = {{OBJ_PD, NODE_PD},   {OBJ_MR, NODE_MR},       {OBJ_CQ, NODE_CQ},
                {OBJ_QP, NODE_QP},   {OBJ_FAULT, NODE_FAULT}, {OBJ_LINK, NODE_LINK},
                {OBJ_PORT, NODE_EXT}};
    struct rdl_value value;
    struct inode node;
    size_t at;

    if (inspect_walk(lab, path, &node, &value, &at) != RDL_OK)
        return RDL_ERR_NOT_FOUND;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind == kind && rows[i].node == node.kind) {
            *ret_raw = node.handle;
            return RDL_OK;
        }
    }
    return RDL_ERR_INVAL;
}

/* The object of a handle of @kind, or NULL. */
static const struct guest_object *object_of(const struct guest_tables *t, uint32_t kind,
                                            uint32_t raw)
{
    switch (kind) {
    case OBJ_PD:
        return slots_get(&t->pd, raw);
    case OBJ_MR:
        return slots_get(&t->mr, raw);
    case OBJ_CQ:
        return slots_get(&t->cq, raw);
    case OBJ_QP:
        return slots_get(&t->qp, raw);
    default:
        return NULL;
    }
}

void rdl_path_of(const struct rdl_lab *lab, uint32_t kind, uint32_t raw, char *ret)
{
    const struct world *w = lab->world;
    const struct guest_object *o = object_of(&w->tables, kind, raw);
    struct text t = text_on(ret, RDL_VALUE_BYTES);

    if (o)
        text_addf(&t, "%s.%s", w->hosts[o->guest->config.host]->name, o->name);
    else
        text_add(&t, "?");
}

enum rdl_status rdl_ram_read(const struct rdl_lab *lab, rdl_host host, uint64_t gpa, void *out,
                             size_t bytes)
{
    const struct host *h = world_host(lab->world, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    return ram_read(&h->ram, gpa, out, bytes) ? RDL_OK : RDL_ERR_FAULT;
}
