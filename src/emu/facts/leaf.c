/* SPDX-License-Identifier: MIT */
#include "emu/facts/leaf.h"

#include <string.h>

#include "emu/facts/enum/object.h"

#define INDEX_DIGITS_MAX 18u /* digits of an index; any such number fits 64 bits */

const struct leaf_type_row leaf_types[TYPE_COUNT] = {
#define T(name, type, text) {type, text},
    LEAF_TYPES(T)
#undef T
};

const struct node_row node_rows[NODE_COUNT] = {
    [NODE_none] = {"leaf", "a value"},
#define NODE(node, title, text) [NODE_##node] = {title, text},
#include "emu/facts/leaves.def"
};

/* The words that leaves.def uses in its column of flags. */
enum { OPTIONAL = LEAF_OPTIONAL, ANY = LEAF_ANY };

const struct leaf_row leaf_rows[LEAF_COUNT] = {
    [LEAF_none] = {NODE_none, "", TYPE_TEXT, NULL, 0, ""},
#define LEAF(node, key, type, flags, text) {NODE_##node, #key, TYPE_##type, NULL, flags, text},
#define WORD(node, key, table, flags, text)                                                        \
    {NODE_##node, #key, TYPE_WORD, &enum_##table, flags, text},
#define SET(node, key, table, flags, text)                                                         \
    {NODE_##node, #key, TYPE_SET, &enum_##table, flags, text},
#define LEAVES(node, key, type, flags, text)                                                       \
    {NODE_##node, #key, TYPE_##type, NULL, (flags) | LEAF_LISTED, text},
#define KEYS(node, key, table, type, text)                                                         \
    {NODE_##node, #key, TYPE_##type, &enum_##table, LEAF_KEYED, text},
#include "emu/facts/leaves.def"
};

static const char *const rdma_names[LEAF_COUNT] = {
#define RDMA(node, key, name) [LEAF_##node##_##key] = name,
#include "emu/facts/leaves.def"
};

const char *leaf_name(enum leaf_id id)
{
    return rdma_names[id] ? rdma_names[id] : leaf_rows[id].key;
}

const struct child_row child_rows[CHILD_COUNT] = {
    [CHILD_none] = {NODE_none, "", "", NODE_none, LEAF_none, false, 0, ""},
#define CHILD(node, key, below, flags, text)                                                       \
    {NODE_##node, #key, #key, NODE_##below, LEAF_none, false, flags, text},
#define EITHER(node, name, key, below, flags, text)                                                \
    {NODE_##node, #key, #key, NODE_##below, LEAF_none, false, flags, text},
#define LIST(node, key, below, flags, text)                                                        \
    {NODE_##node, #key, #key, NODE_##below, LEAF_none, true, flags, text},
#define LEAVES(node, key, type, flags, text)                                                       \
    {NODE_##node, #key, #key, NODE_none, LEAF_##node##_##key, true, flags, text},
#define MANY(node, below, name, text)                                                              \
    {NODE_##node, NULL, name, NODE_##below, LEAF_none, false, 0, text},
#include "emu/facts/leaves.def"
};

static bool is_key(const char *own, const char *key, size_t n)
{
    return own && strlen(own) == n && memcmp(own, key, n) == 0;
}

enum node_kind node_find(const char *title, size_t n)
{
    for (unsigned i = NODE_none + 1; i < NODE_COUNT; i++) {
        if (is_key(node_rows[i].title, title, n))
            return (enum node_kind)i;
    }
    return NODE_none;
}

enum node_kind node_of_object(uint32_t kind)
{
    switch (kind) {
    case OBJ_PD:
        return NODE_pd;
    case OBJ_MR:
        return NODE_mr;
    case OBJ_CQ:
        return NODE_cq;
    case OBJ_QP:
        return NODE_qp;
    case OBJ_AH:
        return NODE_ah;
    case OBJ_MW:
        return NODE_mw;
    case OBJ_FAULT:
        return NODE_fault;
    case OBJ_LINK:
        return NODE_link;
    case OBJ_PORT:
        return NODE_external_port;
    case OBJ_CHANNEL:
        return NODE_channel;
    case OBJ_SRQ:
        return NODE_srq;
    case OBJ_EVENT_CHANNEL:
        return NODE_event_channel;
    case OBJ_CM_ID:
        return NODE_cm_id;
    default:
        return NODE_none;
    }
}

void node_add_text(struct text *t, const struct rdl_value *v)
{
    const enum node_kind kind = v->type == RDL_NODE ? (enum node_kind)v->row : NODE_none;
    const char *text = node_rows[kind].text;

    text_addn(t, text, strcspn(text, ":"));
}

void leaf_word_key(const struct enum_row *word, char *ret)
{
    const char *name = word->name;
    size_t i = 0;

    for (; name[i] && i + 1 < RDL_NAME_BYTES; i++)
        ret[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    ret[i] = '\0';
}

/* Returns true if @key is one of the enumerator names that are keys of @leaf. */
static bool is_word_key(const struct leaf_row *leaf, const char *key, size_t n)
{
    char own[RDL_NAME_BYTES];

    for (size_t i = 0; i < leaf->words->n_rows; i++) {
        leaf_word_key(&leaf->words->rows[i], own);
        if (leaf->words->rows[i].value != 0 && is_key(own, key, n))
            return true;
    }
    return false;
}

enum leaf_id leaf_find(enum node_kind kind, const char *key, size_t n)
{
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        const struct leaf_row *leaf = &leaf_rows[i];

        if (leaf->node != kind || (leaf->flags & LEAF_LISTED))
            continue;
        if (leaf->flags & LEAF_KEYED ? is_word_key(leaf, key, n) : is_key(leaf->key, key, n))
            return (enum leaf_id)i;
    }
    return LEAF_none;
}

enum child_id child_find(enum node_kind kind, const char *key, size_t n)
{
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        if (child_rows[i].node == kind && is_key(child_rows[i].key, key, n))
            return (enum child_id)i;
    }
    return CHILD_none;
}

const char *leaf_reserved(enum node_kind kind, const char *name)
{
    const enum leaf_id leaf = leaf_find(kind, name, strlen(name));
    const enum child_id child = child_find(kind, name, strlen(name));

    if (leaf != LEAF_none)
        return leaf_rows[leaf].text;
    return child != CHILD_none ? child_rows[child].text : NULL;
}

void leaf_example(struct text *t, enum node_kind kind)
{
    const struct child_row *child = NULL;

    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT && !child; i++) {
        if (child_rows[i].below == kind)
            child = &child_rows[i];
    }
    if (!child)
        return; /* the lab itself, or a node that is reached only through a list */
    leaf_example(t, child->node); /* the depth is bounded by the rows */
    text_addf(t, "%s%s%s", child->node == NODE_lab ? "" : ".", child->name,
              child->is_list ? "[0]" : "");
}

size_t leaf_path_word(const char *path)
{
    if (path[0] == '[') {
        const size_t digits = strspn(path + 1, "0123456789");

        return digits > 0 && digits <= INDEX_DIGITS_MAX && path[1 + digits] == ']' ? digits + 2 : 0;
    }
    return strcspn(path, ".[");
}

const char *leaf_path_behind(const char *path, size_t n)
{
    path += n;
    if (path[0] == '.' && path[1] != '\0' && path[1] != '[')
        return path + 1;
    return path[0] == '[' || path[0] == '\0' ? path : NULL;
}

bool node_set_is_empty(const struct node_set *s)
{
    uint64_t any = 0;

    for (size_t i = 0; i < NODE_SET_WORDS; i++)
        any |= s->w[i];
    return any == 0;
}

enum node_kind node_set_only(const struct node_set *s)
{
    enum node_kind only = NODE_none;

    for (unsigned kind = NODE_none + 1; kind < NODE_COUNT; kind++) {
        if (!node_set_has(s, kind))
            continue;
        if (only != NODE_none)
            return NODE_none;
        only = (enum node_kind)kind;
    }
    return only;
}

static uint64_t bit(unsigned i)
{
    return (uint64_t)1 << i;
}

/* Adds the destination of one child to @to. */
static void enter(const struct child_row *child, unsigned id, struct leaf_places *to)
{
    if (child->is_list)
        to->lists[id / 64] |= bit(id % 64);
    else
        node_set_add(&to->nodes, child->below);
    to->list |= child->is_list;
}

/* Returns where the word @key can lead from @from: to children with this key, or to children that
 * have names of their own.
 */
static struct leaf_places follow(const struct leaf_places *from, const char *key, size_t n)
{
    struct leaf_places to = {0};

    for (unsigned kind = 0; kind < NODE_COUNT; kind++) {
        bool is_leaf, fixed;

        if (!node_set_has(&from->nodes, kind))
            continue;
        is_leaf = leaf_find(kind, key, n) != LEAF_none;
        fixed = is_leaf || child_find(kind, key, n) != CHILD_none;
        to.leaf |= is_leaf;
        for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
            const struct child_row *child = &child_rows[i];

            if (child->node == kind && (child->key ? is_key(child->key, key, n) : !fixed))
                enter(child, i, &to);
        }
    }
    return to;
}

/* Returns where an index in brackets leads. */
static struct leaf_places follow_element(const struct leaf_places *from)
{
    struct leaf_places to = {.memory = node_set_has(&from->nodes, NODE_mr)};

    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        if (!(from->lists[i / 64] & bit(i % 64)))
            continue;
        if (child_rows[i].element != LEAF_none)
            to.leaf = true;
        else
            node_set_add(&to.nodes, child_rows[i].below);
    }
    return to;
}

bool leaf_path_leads(const char *path, struct leaf_places *ret, size_t *reterr_at)
{
    /* A path starts at the lab, or at the host that a command is for. */
    struct leaf_places at = {0};
    const char *word = path;

    node_set_add(&at.nodes, NODE_lab);
    node_set_add(&at.nodes, NODE_host);
    while (word && *word) {
        const size_t n = leaf_path_word(word);
        struct leaf_places next;

        *ret = at;
        *reterr_at = (size_t)(word - path);
        next = word[0] == '[' ? follow_element(&at) : follow(&at, word, n);
        next.memory = next.memory && (n == 0 || word[n] == '\0'); /* a slice ends a path */
        if (node_set_is_empty(&next.nodes) && !next.list && !next.leaf && !next.memory)
            return false;
        at = next;
        if (n == 0 || at.memory)
            break; /* a slice, or not a path: the caller decides */
        *reterr_at += n;
        word = leaf_path_behind(word, n);
    }
    *ret = at;
    return word != NULL;
}

/* Calls @each for the keys of one leaf. */
static void each_key_of(const struct leaf_row *leaf, leaf_each *each, void *ctx)
{
    char key[RDL_NAME_BYTES];

    if (leaf->flags & LEAF_LISTED)
        return;
    if (!(leaf->flags & LEAF_KEYED)) {
        each(ctx, leaf->node, leaf->key, leaf->text);
        return;
    }
    for (size_t i = 0; i < leaf->words->n_rows; i++) {
        if (leaf->words->rows[i].value == 0)
            continue;
        leaf_word_key(&leaf->words->rows[i], key);
        each(ctx, leaf->node, key, leaf->words->rows[i].text);
    }
}

void leaf_each_key(const struct leaf_places *at, leaf_each *each, void *ctx)
{
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        if (node_set_has(&at->nodes, leaf_rows[i].node))
            each_key_of(&leaf_rows[i], each, ctx);
    }
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        if (child_rows[i].key && node_set_has(&at->nodes, child_rows[i].node))
            each(ctx, child_rows[i].node, child_rows[i].key, child_rows[i].text);
    }
}
