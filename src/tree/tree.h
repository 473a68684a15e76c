/* SPDX-License-Identifier: MIT */
/* Reads the inspect tree: leaves and children by their rows, children in a list, values as people
 * write them.
 *
 * Code names what it reads by the row, so that what is renamed or gone does not compile.  The node
 * must be there and of the row's kind, and only what the row says is OPTIONAL may be absent: all
 * else is a bug, and asserted.
 */
#ifndef TREE_TREE_H
#define TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/base/text.h"
#include "emu/facts/leaf.h"
#include "rdmalab/inspect.h"

#define TREE_PATH_BYTES RDL_PATH_BYTES
#define TREE_KEY_BYTES  48u

struct tree_child {
    char key[TREE_KEY_BYTES]; /* "qp", "[0]" */
    struct rdl_value value;
};

struct tree_list {
    struct tree_child *v; /* owned */
    size_t n, cap;
};

/* What tables call it: a leaf as leaf_name() says, all else by its key. */
const char *tree_child_name(const struct tree_child *c);

/* The path of @key under @base: "h1.qp", "h1.gid[0]". */
void tree_join(struct text *t, const char *base, const char *key);

/* Is @v, or what is at @path, a node of @kind? */
bool tree_value_is(const struct rdl_value *v, enum node_kind kind);
bool tree_is(const struct rdl_lab *lab, const char *path, enum node_kind kind);

/* The path of a child of @node, or of an element of a list of it; false if it is not there. */
bool tree_child(const struct rdl_lab *lab, const char *node, enum child_id id,
                char ret[TREE_PATH_BYTES]);
bool tree_element(const struct rdl_lab *lab, const char *node, enum child_id list, uint64_t i,
                  char ret[TREE_PATH_BYTES]);

/* The leaf of @node; of a list of leaves, its first element.  False if it is not there. */
bool tree_leaf(const struct rdl_lab *lab, const char *node, enum leaf_id id, struct rdl_value *ret);

/* Its number, 0 if it is not there. */
uint64_t tree_number(const struct rdl_lab *lab, const char *node, enum leaf_id id);

/* Element @i of a list of leaves, 0 if it is not there. */
uint64_t tree_element_number(const struct rdl_lab *lab, const char *node, enum child_id list,
                             uint64_t i);

/* The number that a row with a table of keys has for word @word: of drops, for a reason. */
uint64_t tree_keyed(const struct rdl_lab *lab, const char *node, enum leaf_id id, uint32_t word);

/* Appends its value, "-" if it is not there. */
void tree_add(struct text *t, const struct rdl_lab *lab, const char *node, enum leaf_id id);

/* Appends @v as people write it: "0x1a3", "85.66us", "4k", "yes". */
void tree_add_value(struct text *t, const struct rdl_value *v);

/* All children of @path.  Errors as rdl_inspect_list().  Release with tree_done(), on failure too.
 */
RDL_MUST_CHECK enum rdl_status tree_children(const struct rdl_lab *lab, const char *path,
                                             struct tree_list *ret, size_t *reterr_at);
void tree_done(struct tree_list *l);

/* Copies the host's name at the start of @path ("h1" of "h1.qp.sq") to @ret. */
void tree_host_of(const char *path, char ret[RDL_NAME_BYTES]);

#endif
