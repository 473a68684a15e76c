/* SPDX-License-Identifier: MIT */
/* `show states`: the state graph of a queue pair, with the way that it has taken. */
#ifndef CLI_SHOW_SHOW_STATES_H
#define CLI_SHOW_SHOW_STATES_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/lab.h"

/* Prints the states of the queue pair @path: see states_make(), which has the same results. */
RDL_MUST_CHECK enum rdl_status show_states(FILE *out, const struct rdl_lab *lab,
                                           const struct past *p, const char *path,
                                           enum show_form form, size_t *reterr_at);

#endif
