/* SPDX-License-Identifier: MIT */
/* `show dump PATH` in the forms for programs. */
#ifndef CLI_SHOW_SHOW_DUMP_H
#define CLI_SHOW_SHOW_DUMP_H

#include "cli/lang/words.h"
#include "cli/show/show_wqe.h"

/* A row for each field that show_dump() prints.  Errors as there. */
RDL_MUST_CHECK enum rdl_status show_dump_rows(FILE *out, const struct rdl_lab *lab,
                                              const char *path, enum show_form form,
                                              size_t *reterr_at);

#endif
