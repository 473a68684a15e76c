/* SPDX-License-Identifier: MIT */
/* The lab as a whole, a host, a device, counters, and whatever else a path names. */
#ifndef CLI_SHOW_SHOW_LAB_H
#define CLI_SHOW_SHOW_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Hosts, switches, links and faults, and where the clock stands. */
RDL_MUST_CHECK enum rdl_status show_lab(FILE *out, const struct rdl_lab *lab, const struct past *p);

/* All counters that are not 0. */
RDL_MUST_CHECK enum rdl_status show_counters(FILE *out, const struct rdl_lab *lab, bool json);

/* The node or leaf @path, in the form that suits its kind.  Errors as rdl_inspect(). */
RDL_MUST_CHECK enum rdl_status show_path(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const char *path, size_t *reterr_at);

#endif
