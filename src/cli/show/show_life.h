/* SPDX-License-Identifier: MIT */
/* `show life`: the events of one work request, from its posting to the poll that returned its
 * completion.
 */
#ifndef CLI_SHOW_SHOW_LIFE_H
#define CLI_SHOW_SHOW_LIFE_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* Selects the request. */
struct life_target {
    /* The queue that it was posted to ("h1.qp": either queue, "h1.qp.sq", "h1.qp.rq", "h1.srq"),
     * its completion ("h1.cq.wc[0]"), or one of its events ("#12.3").  NULL: the last request that
     * any host posted.
     */
    const char *path;
    bool has_wr_id;
    uint64_t wr_id; /* number of a request posted to @path; without it, the last one posted there */
};

/* Prints the events of the request @target.  @lab may be NULL: then target->path must be an event.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no such request is recorded, or (*@reterr_at) no such path
 *	   RDL_ERR_INVAL      no requests can be posted to the path
 *	   RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_life(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                         const struct life_target *target, enum show_form form,
                                         size_t *reterr_at);

#endif
