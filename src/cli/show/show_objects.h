/* SPDX-License-Identifier: MIT */
/* Queue pairs, completion queues, regions and the like: tables of all, one in detail. */
#ifndef CLI_SHOW_SHOW_OBJECTS_H
#define CLI_SHOW_SHOW_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/facts/leaf.h"
#include "rdmalab/inspect.h"

/* A table of every object of @kind ("qp", "fault") at or below @path ("" is the lab), in the order
 * of the tree.  Prints @none if there is none, unless it is NULL.
 *
 * Return: RDL_OK, RDL_ERR_INVAL (there is no table of this kind), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_kind(FILE *out, const struct rdl_lab *lab, const char *path,
                                         enum node_kind kind, const char *none);

/* The same objects as one JSON object, by their paths. */
RDL_MUST_CHECK enum rdl_status show_kind_json(FILE *out, const struct rdl_lab *lab,
                                              const char *path, enum node_kind kind);

/* How many objects of @kind there are at or below @path. */
size_t show_count(const struct rdl_lab *lab, const char *path, enum node_kind kind);

/* One of them in detail.  The object must exist and be of the kind.  RDL_OK, RDL_ERR_NOMEM. */
RDL_MUST_CHECK enum rdl_status show_qp(FILE *out, const struct rdl_lab *lab, const char *path);
RDL_MUST_CHECK enum rdl_status show_cq(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
