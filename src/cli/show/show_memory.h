/* SPDX-License-Identifier: MIT */
/* `show memory`: the regions and windows by address, and the last access that a device refused. */
#ifndef CLI_SHOW_SHOW_MEMORY_H
#define CLI_SHOW_SHOW_MEMORY_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Prints the regions and windows of the host @path, or of all hosts if @path is "".  Returns
 * RDL_OK, RDL_ERR_NOMEM, or RDL_ERR_NOT_FOUND if there is no such host.
 */
RDL_MUST_CHECK enum rdl_status show_memory(FILE *out, const struct rdl_lab *lab,
                                           const struct past *p, const char *path,
                                           enum show_form form);

#endif
