/* SPDX-License-Identifier: MIT */
/* A virtqueue as driver and device see it: both pairs of indexes, who owns each slot, and what the
 * buffers say.
 */
#ifndef CLI_SHOW_SHOW_VQ_H
#define CLI_SHOW_SHOW_VQ_H

#include <stddef.h>
#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/inspect.h"

/* @path is a queue ("h1.qp.sq"), or what has one or two ("h1.qp", "h1.cq", "h1").
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (@reterr_at), RDL_ERR_INVAL (has no queue), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status show_vq(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                       const char *path, size_t *reterr_at);

#endif
