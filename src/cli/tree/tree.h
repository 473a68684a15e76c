/* SPDX-License-Identifier: MIT */
/* Reads the inspect tree: leaves by path, children in a list, values as people write them. */
#ifndef CLI_TREE_TREE_H
#define CLI_TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/base/text.h"
#include "rdmalab/inspect.h"

#define TREE_PATH_BYTES 192u
#define TREE_KEY_BYTES  48u

struct tree_child {
    char key[TREE_KEY_BYTES]; /* "qp", "[0]" */
    struct rdl_value value;
};

struct tree_list {
    struct tree_child *v; /* owned */
    size_t n, cap;
};

/* The path of @key under @base: "h1.qp", "h1.gid[0]". */
void tree_join(struct text *t, const char *base, const char *key);

/* The leaf or node @base.@key (@key may be a path, or empty); false if there is none. */
bool tree_get(const struct rdl_lab *lab, const char *base, const char *key, struct rdl_value *ret);

/* Its number, 0 if there is none. */
uint64_t tree_number(const struct rdl_lab *lab, const char *base, const char *key);

/* Is @base a node of @kind ("qp")? */
bool tree_is(const struct rdl_lab *lab, const char *base, const char *kind);

/* Appends the value of @base.@key, "-" if there is none. */
void tree_add(struct text *t, const struct rdl_lab *lab, const char *base, const char *key);

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
