/* SPDX-License-Identifier: MIT */
/* Queue pairs, completion queues, regions and the like: tables of all. */
#ifndef CLI_SHOW_SHOW_OBJECTS_H
#define CLI_SHOW_SHOW_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/show/show_rows.h"
#include "emu/facts/leaf.h"
#include "rdmalab/inspect.h"

/* Calls @each for every node of @kind that is a child of @path ("" is the lab), or of a host that
 * is, in the order of the tree.
 */
typedef void show_each_object(void *ctx, const char *path);
RDL_MUST_CHECK enum rdl_status show_each(const struct rdl_lab *lab, const char *path,
                                         enum node_kind kind, show_each_object *each, void *ctx);

/* A table of them.  Where there is none, people read @none, unless it is NULL.
 *
 * Return: RDL_OK, RDL_ERR_INVAL (there is no table of this kind), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_kind(FILE *out, const struct rdl_lab *lab, const char *path,
                                         enum node_kind kind, enum show_form form,
                                         const char *none);

/* The columns of that table, and how many there are; 0: there is none. */
unsigned show_columns_of_kind(enum node_kind kind, struct row_column ret[GRID_COLUMNS_MAX]);

/* How many objects of @kind there are at or below @path. */
size_t show_count(const struct rdl_lab *lab, const char *path, enum node_kind kind);

/* The device configuration of host @host, or of all hosts if that is empty: what it says, and who
 * keeps to it, of each field or of @field alone.
 */
void show_device(FILE *out, const struct rdl_lab *lab, const char *host, const char *field,
                 enum show_form form);

#endif
