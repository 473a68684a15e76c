/* SPDX-License-Identifier: MIT */
/* `show map`: the hosts, links and objects of a lab, who refers to whom, and why something cannot
 * be destroyed now.
 */
#ifndef CLI_SHOW_SHOW_MAP_H
#define CLI_SHOW_SHOW_MAP_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "rdmalab/lab.h"

/* Prints the map of @path: see map_make(), which has the same results. */
RDL_MUST_CHECK enum rdl_status show_map(FILE *out, const struct rdl_lab *lab, const char *path,
                                        enum show_form form, size_t *reterr_at);

#endif
