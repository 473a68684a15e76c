/* SPDX-License-Identifier: MIT */
/* Reads the inspect tree: leaves and children by their rows, lists of children, and values as text.
 *
 * A *node* of the tree has children: leaves, which have values, parts, which are nodes, and lists
 * of either.  Code names them by their row in leaves.def (enum leaf_id, enum child_id), so that
 * code with the row of a removed one does not compile.  The node must exist and have the kind of
 * the row.  Only a leaf or child whose row is OPTIONAL may be absent.  Otherwise an assertion
 * fails.
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

/* A child of a node. */
struct tree_child {
    char key[TREE_KEY_BYTES]; /* last part of its path: "qp", "[0]" */
    struct rdl_value value;   /* its value; RDL_NODE: it is a node */
};

/* All children of a node. */
struct tree_list {
    struct tree_child *v; /* owned */
    size_t n, cap;
};

/* Returns the name of @c in tables and JSON of `show`: leaf_name() of a leaf, otherwise the key. */
const char *tree_child_name(const struct tree_child *c);

/* Appends the path of @key under @base, for example "h1.qp" or "h1.gid[0]". */
void tree_join(struct text *t, const char *base, const char *key);

/* Return true if @v, or the value at @path, is a node of @kind. */
bool tree_value_is(const struct rdl_value *v, enum node_kind kind);
bool tree_is(const struct rdl_lab *lab, const char *path, enum node_kind kind);

/* tree_child() writes the path of the child @id of @node to @ret.  tree_element() writes the path
 * of element @i of its list @list.  Return false if the child or element does not exist.
 */
bool tree_child(const struct rdl_lab *lab, const char *node, enum child_id id,
                char ret[TREE_PATH_BYTES]);
bool tree_element(const struct rdl_lab *lab, const char *node, enum child_id list, uint64_t i,
                  char ret[TREE_PATH_BYTES]);

/* Returns true if @path begins with a host that has PVRDMA. */
bool tree_has_pvrdma(const struct rdl_lab *lab, const char *path);

/* Reads the leaf @id of the node @node ("h1.qp"); if @id is a list of leaves, its first element.
 * Returns false if it does not exist.
 */
bool tree_leaf(const struct rdl_lab *lab, const char *node, enum leaf_id id, struct rdl_value *ret);

/* Returns the number in the leaf @id of @node, or 0 if the leaf does not exist. */
uint64_t tree_number(const struct rdl_lab *lab, const char *node, enum leaf_id id);

/* Returns the number in element @i, from 0, of the list of leaves @list of @node, or 0 if it does
 * not exist.
 */
uint64_t tree_element_number(const struct rdl_lab *lab, const char *node, enum child_id list,
                             uint64_t i);

/* Returns the number in one of the leaves that the row @id stands for: the one for the value @word
 * of an enumeration, for example the number of drops for one reason.  The leaf must exist.
 */
uint64_t tree_keyed(const struct rdl_lab *lab, const char *node, enum leaf_id id, uint32_t word);

/* Appends the value of the leaf @id of @node, or "-" if it does not exist. */
void tree_add(struct text *t, const struct rdl_lab *lab, const char *node, enum leaf_id id);

/* Appends @v as text: "0x1a3", "85.66us", "4k", "yes". */
void tree_add_value(struct text *t, const struct rdl_value *v);

/* Reads all children of @path.  Errors as rdl_inspect_list().  The caller calls tree_done(), on
 * failure too.
 */
RDL_MUST_CHECK enum rdl_status tree_children(const struct rdl_lab *lab, const char *path,
                                             struct tree_list *ret, size_t *reterr_at);
void tree_done(struct tree_list *l);

/* Splits the path of a completion, or of a value in one: "h1.cq.wc[1].status".  Writes the path of
 * its queue to @ret_cq and its number to *@ret_n.  Returns false if it is another path, or no queue
 * has this one.  The completion itself need not be there.
 */
bool tree_completion(const struct rdl_lab *lab, const char *path, char ret_cq[TREE_PATH_BYTES],
                     uint64_t *ret_n);

/* Copies the name of the host at the start of @path ("h1" of "h1.qp.sq") to @ret. */
void tree_host_of(const char *path, char ret[RDL_NAME_BYTES]);

#endif
