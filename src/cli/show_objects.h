/* SPDX-License-Identifier: MIT */
/* Queue pairs, completion queues, regions and the like: tables of all, one in detail. */
#ifndef CLI_SHOW_OBJECTS_H
#define CLI_SHOW_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/base/quantity.h"
#include "rdmalab/inspect.h"

/* One column of a table of objects. */
struct object_column {
    const char *head;
    const char *leaf; /* below the object; "": its path */
    bool right;       /* aligned to the right: numbers */
    enum quantity unit;
};

/* A table of every object of @kind ("qp", "fault") at or below @path ("" is the lab), in the order
 * of the tree.  Prints @none if there is none, unless it is NULL.  RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status show_objects(FILE *out, const struct rdl_lab *lab, const char *path,
                                            const char *kind, const struct object_column *columns,
                                            size_t n_columns, const char *none);

/* The table of @kind with the columns that suit it; RDL_ERR_INVAL: no table has this name. */
RDL_MUST_CHECK enum rdl_status show_kind(FILE *out, const struct rdl_lab *lab, const char *path,
                                         const char *kind, const char *none);

/* The same objects as one JSON object, by their paths. */
RDL_MUST_CHECK enum rdl_status show_kind_json(FILE *out, const struct rdl_lab *lab,
                                              const char *path, const char *kind);

/* How many objects of @kind there are at or below @path. */
size_t count_objects(const struct rdl_lab *lab, const char *path, const char *kind);

/* One of them in detail.  The object must exist and be of the kind.  RDL_OK, RDL_ERR_NOMEM. */
RDL_MUST_CHECK enum rdl_status show_qp(FILE *out, const struct rdl_lab *lab, const char *path);
RDL_MUST_CHECK enum rdl_status show_cq(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
