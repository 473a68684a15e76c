/* SPDX-License-Identifier: MIT */
/* A detailed page about one queue pair or completion queue, for people. */
#ifndef CLI_SHOW_SHOW_PAGE_H
#define CLI_SHOW_SHOW_PAGE_H

#include <stdio.h>

#include "rdmalab/inspect.h"

/* show_qp() prints a page about the queue pair @path, show_cq() about the completion queue @path,
 * which must exist.  Return RDL_OK or RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status show_qp(FILE *out, const struct rdl_lab *lab, const char *path);
RDL_MUST_CHECK enum rdl_status show_cq(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
