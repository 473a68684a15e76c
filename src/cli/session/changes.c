/* SPDX-License-Identifier: MIT */
#include "cli/session/changes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session/session.h"
#include "emu/facts/leaf.h"
#include "print/show_text.h"
#include "process/must.h"
#include "tree/tree.h"

#define NODES_SHOWN 60u /* more are counted */
#define NEAR_NODES  32u /* that may come between the changes of one */
#define INDENT      4u

/* --- What is told of -------------------------------------------------------------------------- */

/* Returns true if @path leads into an object of a host, such as h1.qp, and not into the host
 * itself, such as h1.ctrl.
 */
static bool is_of_object(const char *path)
{
    const char *name = path + strcspn(path, ".[");

    return *name == '.' && child_find(NODE_host, name + 1, strcspn(name + 1, ".[")) == CHILD_none &&
           leaf_find(NODE_host, name + 1, strcspn(name + 1, ".[")) == LEAF_none;
}

/* Returns true if @row is a property of a direction of a link that the link itself does not
 * have.
 */
static bool is_of_way(uint32_t row)
{
    return row == LEAF_way_jitter || row == LEAF_way_burst_ppm || row == LEAF_way_burst_frames ||
           row == LEAF_way_burst_loss_ppm;
}

static bool is_told(enum changes_told told, const struct tree_difference *d)
{
    const struct leaf_row *row = &leaf_rows[d->row];
    const bool whole = !d->a || !d->b; /* a node that was made, or that is gone */

    if (told == CHANGES_ALL)
        return true;
    if (row->node == NODE_way)
        return !whole && is_of_way(d->row);
    if (whole && (!memchr(d->path, '.', d->node_bytes) || is_of_object(d->path)))
        return !strchr(d->path, '[') || d->path[d->node_bytes] != '\0';
    if (row->node == NODE_link || row->node == NODE_fault)
        return !tree_state_is_detail(d->row);
    return is_of_object(d->path) && !tree_state_is_detail(d->row);
}

/* --- Telling ---------------------------------------------------------------------------------- */

/* A node with changes.  Changes of nodes below it may come in between. */
struct node {
    const char *path;
    size_t path_bytes;
};

/* Its changes.  It must not move: the stream writes to @text when it is closed. */
struct node_text {
    FILE *f; /* to @text */
    char *text;
    size_t bytes;
};

struct changed_nodes {
    const struct session *s;
    struct node *v;
    size_t n, room;
    struct node_text shown[NODES_SHOWN]; /* of the first nodes in @v */
};

/* Returns the length of the part of @path that names the changed node: an object, or a queue of
 * it.
 */
static size_t node_bytes(const struct tree_difference *d)
{
    const enum node_kind node = leaf_rows[d->row].node;
    const bool is_part = node == NODE_driver_side || node == NODE_device_side ||
                         node == NODE_counters || node == NODE_drops;
    size_t n = strlen(d->path);

    for (int i = 0; i < 1 + is_part; i++) {
        while (n > 0 && d->path[n - 1] != '.')
            n--;
        n -= n > 0;
    }
    return n;
}

static struct node *add_node(struct changed_nodes *t, const char *path, size_t n)
{
    struct node *node;

    t->v = must_grow(t->v, t->n, &t->room, sizeof(*t->v));
    node = &t->v[t->n++];
    *node = (struct node){.path = path, .path_bytes = n};
    return node;
}

/* Finds the node of the first @n bytes of @path among the last ones; NULL: it is not there. */
static struct node *find_node(struct changed_nodes *t, const char *path, size_t n)
{
    for (size_t i = t->n; i > 0 && t->n - i < NEAR_NODES; i--) {
        struct node *node = &t->v[i - 1];

        if (node->path_bytes == n && strncmp(node->path, path, n) == 0)
            return node;
    }
    return NULL;
}

static void add_difference(void *ctx, const struct tree_difference *d)
{
    struct changed_nodes *t = ctx;
    const bool whole = !d->a || !d->b;
    const size_t n = whole ? d->node_bytes : node_bytes(d);
    struct node *node = find_node(t, d->path, n);
    struct node_text *shown;

    if (!is_told(t->s->display.changes.told, d))
        return;
    if (!node)
        node = add_node(t, d->path, n);
    if (node - t->v >= NODES_SHOWN)
        return; /* it is only counted */
    shown = &t->shown[node - t->v];
    if (!shown->f)
        shown->f = must_memstream(&shown->text, &shown->bytes);
    else
        fputs(", ", shown->f);
    if (whole)
        fputs(d->a ? "is gone" : "is there", shown->f);
    else
        fprintf(shown->f, "%s %s -> %s", d->path + n + (d->path[n] == '.'), d->a[0] ? d->a : "\"\"",
                d->b[0] ? d->b : "\"\"");
}

/* Prints the nodes, and frees them. */
static void print_nodes(struct changed_nodes *t)
{
    for (size_t i = 0; i < t->n && i < NODES_SHOWN; i++) {
        const struct node *node = &t->v[i];
        struct node_text *shown = &t->shown[i];
        char lead[TREE_PATH_BYTES + 8];
        struct text l = text_on(lead, sizeof(lead));

        must_memstream_end(shown->f, &shown->text);
        text_addf(&l, "~ %.*s  ", (int)node->path_bytes, node->path);
        show_wrap_behind(t->s->config.out, lead, INDENT, shown->text);
        free(shown->text);
    }
    free(t->v);
}

void changes_print(struct session *s)
{
    struct changes *c = &s->display.changes;
    struct changed_nodes t = {.s = s};
    struct tree_state now;

    if (c->told == CHANGES_OFF || !s->config.verbose || s->display.shown.full)
        return;
    tree_state_take(&now, s->lab);
    if (c->known) {
        tree_state_compare(&c->was, &now, add_difference, &t);
        print_nodes(&t);
        if (t.n > NODES_SHOWN)
            session_say(s, "~ ... and %zu more\n", t.n - NODES_SHOWN);
    }
    tree_state_done(&c->was);
    c->was = now;
    c->known = true;
}

void changes_forget(struct changes *c)
{
    tree_state_done(&c->was);
    c->known = false;
}

void changes_set(struct session *s, enum changes_told told)
{
    changes_forget(&s->display.changes);
    s->display.changes.told = told; /* the end of the line that says so looks at the lab first */
}
