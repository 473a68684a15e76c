/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_leaf.h"

#include <string.h>

#include "cli/explain/explain.h"
#include "cli/explain/page.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/leaf.h"
#include "print/show_text.h"

enum { KEY_COLUMNS = 24 };

/* Appends the component of @path that ends at @end, without an element's index.  Returns its
 * beginning.
 */
static const char *word_before(const char *path, const char *end, struct text *t)
{
    const char *from = end;
    size_t n;

    while (from > path && from[-1] != '.')
        from--;
    n = strcspn(from, ".[");
    text_addn(t, from, n < (size_t)(end - from) ? n : (size_t)(end - from));
    return from;
}

/* Returns true if nodes of @kind are called @word, by their title or as a child of another node. */
static bool is_called(enum node_kind kind, const char *word)
{
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        if (child_rows[i].below == kind && child_rows[i].key &&
            explain_same(child_rows[i].key, word))
            return true;
    }
    return explain_same(node_rows[kind].title, word);
}

static void print_leaf(struct answer_page *out, const struct leaf_row *leaf)
{
    const bool listed = (leaf->flags & LEAF_LISTED) != 0;
    char see[SHOW_LINE_BYTES];
    struct text t = text_on(see, sizeof(see));

    page_fields(out, "%s.%s", node_rows[leaf->node].title, leaf->key);
    text_addf(&t, "%s   %s of the node %s: %s%s", leaf->key, listed ? "list of values" : "value",
              node_rows[leaf->node].title, leaf_types[leaf->type].text,
              leaf->flags & LEAF_ANY ? ", or any" : "");
    page_hanging(out, 2, see);
    page_wrap(out, 2, leaf->text);
    if (leaf->flags & LEAF_OPTIONAL)
        page_line(out, "  It is there only while the device has the %s.",
                  node_rows[leaf->node].title);
    t = text_on(see, sizeof(see));
    text_add(&t, "show ");
    leaf_example(&t, leaf->node);
    text_addf(&t, ".%s%s", leaf->key, listed ? "[0]" : "");
    if (leaf->words && !explain_same(leaf->words->name, leaf->key))
        text_addf(&t, "; explain %s", leaf->words->name);
    page_see(out, see);
}

static struct node_set nodes_called(const char *word)
{
    struct node_set nodes = {0};

    for (unsigned i = NODE_none + 1; i < NODE_COUNT; i++) {
        if (is_called((enum node_kind)i, word))
            node_set_add(&nodes, i);
    }
    return nodes;
}

/* The kinds of nodes that the first @n bytes of @path can name if its last component is the name of
 * an object: "h1.conn", "f1".
 */
static struct node_set nodes_of_name(const char *path, size_t n)
{
    char before[SHOW_LINE_BYTES];
    struct text t = text_on(before, sizeof(before));
    struct leaf_places places;
    size_t at;

    text_addn(&t, path, n);
    return leaf_path_leads(before, &places, &at) ? places.nodes : (struct node_set){0};
}

bool explain_leaf(struct answer_page *out, const char *word)
{
    char key_text[SHOW_LINE_BYTES], node_text[SHOW_LINE_BYTES];
    struct text key = text_on(key_text, sizeof(key_text));
    struct text node = text_on(node_text, sizeof(node_text));
    const char *from = word_before(word, word + strlen(word), &key);
    struct node_set nodes = {0};
    unsigned n = 0;

    if (from > word) {
        (void)word_before(word, from - 1, &node);
        nodes = nodes_called(node_text);
        if (node_set_is_empty(&nodes))
            nodes = nodes_of_name(word, (size_t)(from - 1 - word));
    }
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        const struct leaf_row *leaf = &leaf_rows[i];

        if (leaf->flags & LEAF_KEYED || !explain_same(leaf->key, key_text) ||
            (from > word && !node_set_has(&nodes, leaf->node)))
            continue;
        print_leaf(out, leaf);
        n++;
    }
    return n > 0;
}

static void print_key(void *ctx, enum node_kind node, const char *key, const char *text)
{
    char lead[SHOW_LINE_BYTES];
    struct text t = text_on(lead, sizeof(lead));

    (void)node;
    text_addf(&t, "  %s", key);
    page_wrap_behind(ctx, lead, KEY_COLUMNS, text);
}

static void print_node(struct answer_page *out, enum node_kind kind)
{
    struct leaf_places here = {0};
    char see[SHOW_LINE_BYTES];
    struct text t = text_on(see, sizeof(see));

    node_set_add(&here.nodes, kind);
    page_fields(out, "%s fields", node_rows[kind].title);
    page_line(out, "%s   node of the inspect tree", node_rows[kind].title);
    page_wrap(out, 2, node_rows[kind].text);
    leaf_each_key(&here, print_key, out);
    text_add(&t, kind == NODE_lab ? "show" : "show ");
    leaf_example(&t, kind);
    page_see(out, see);
}

static void print_child(struct answer_page *out, const struct child_row *child)
{
    char see[SHOW_LINE_BYTES];
    struct text t = text_on(see, sizeof(see));

    page_fields(out, "%s more", child->key);
    page_line(out, "%s   %s of the node %s", child->key, child->is_list ? "list" : "part",
              node_rows[child->node].title);
    page_wrap(out, 2, child->text);
    text_add(&t, "show ");
    leaf_example(&t, child->node);
    text_addf(&t, ".%s; explain %s", child->key, node_rows[child->below].title);
    page_see(out, see);
}

bool explain_node(struct answer_page *out, const char *word)
{
    for (unsigned i = NODE_lab; i < NODE_COUNT; i++) {
        if (explain_same(node_rows[i].title, word)) {
            print_node(out, (enum node_kind)i);
            return true;
        }
    }
    return false;
}

bool explain_part(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        const struct child_row *child = &child_rows[i];

        if (!child->key || child->below == NODE_none || !explain_same(child->key, word))
            continue;
        print_child(out, child);
        n++;
    }
    return n > 0;
}

void explain_leaf_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        if (!(leaf_rows[i].flags & LEAF_KEYED))
            each(ctx, leaf_rows[i].key);
    }
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        if (child_rows[i].key)
            each(ctx, child_rows[i].key);
    }
}
