/* SPDX-License-Identifier: MIT */
/* `show dump PATH`: prints the bytes of a slot's buffer ("h1.qp.sq.desc[0]"), field by field. */
#ifndef CLI_SHOW_SHOW_DUMP_H
#define CLI_SHOW_SHOW_DUMP_H

#include <stdio.h>

#include "cli/explain/rfc_dump.h"
#include "cli/lang/words.h"
#include "rdmalab/inspect.h"

/* The function of a sink whose ctx is a struct rows of TABLE_DUMP: adds a row. */
void dump_add_row(void *rows, const struct rfc_row *row);

/* Prints each field with its bytes, name and value.
 *
 * Return: as wqe_at() of show_wqe.h, and RDL_ERR_FAULT (the slot has no buffer in guest RAM)
 */
RDL_MUST_CHECK enum rdl_status show_dump(FILE *out, const struct rdl_lab *lab, const char *path,
                                         enum show_form form, size_t *reterr_at);

/* Prints the same fields in the layout that the demonstration of the RFC's authors gives the
 * structure: with SHOW_LAYOUT_DEMO alone, with SHOW_LAYOUT_BOTH next to the bytes in guest RAM.
 * Also returns RDL_ERR_UNSUPPORTED if the demonstration has no such structure.
 */
RDL_MUST_CHECK enum rdl_status show_layout(FILE *out, const struct rdl_lab *lab, const char *path,
                                           enum show_layout layout, enum show_form form,
                                           size_t *reterr_at);

#endif
