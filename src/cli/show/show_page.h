/* SPDX-License-Identifier: MIT */
/* One queue pair or completion queue in detail, for people. */
#ifndef CLI_SHOW_SHOW_PAGE_H
#define CLI_SHOW_SHOW_PAGE_H

#include <stdio.h>

#include "rdmalab/inspect.h"

/* The object must exist and be of the kind.  RDL_OK, RDL_ERR_NOMEM. */
RDL_MUST_CHECK enum rdl_status show_qp(FILE *out, const struct rdl_lab *lab, const char *path);
RDL_MUST_CHECK enum rdl_status show_cq(FILE *out, const struct rdl_lab *lab, const char *path);

#endif
