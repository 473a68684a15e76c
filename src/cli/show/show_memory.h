/* SPDX-License-Identifier: MIT */
/* What keys open: regions and windows over addresses, and the access that failed last. */
#ifndef CLI_SHOW_SHOW_MEMORY_H
#define CLI_SHOW_SHOW_MEMORY_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* At @path, which is a host, or "": everywhere. */
RDL_MUST_CHECK enum rdl_status show_memory(FILE *out, const struct rdl_lab *lab,
                                           const struct past *p, const char *path,
                                           enum show_form form);

#endif
