/* SPDX-License-Identifier: MIT */
/* One work request from its posting to the poll that told of its end, with times. */
#ifndef CLI_SHOW_SHOW_LIFE_H
#define CLI_SHOW_SHOW_LIFE_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Which request. */
struct life_target {
    const char *path; /* "h1.qp", "h1.qp.rq", "h1.srq", "h1.cq.wc[0]", "#12.3"; NULL: the last one
                         that was posted anywhere */
    bool has_wr_id;
    uint64_t wr_id; /* of what was posted there; without it, the last one */
};

/* @lab may be NULL, then only events can be named.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  there is no such request in the past, or (*@reterr_at) no such path
 *	   RDL_ERR_INVAL      @path is nothing to which requests are posted
 *	   RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_life(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const struct life_target *target, enum show_form form,
                                         size_t *reterr_at);

#endif
