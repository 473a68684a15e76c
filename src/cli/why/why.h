/* SPDX-License-Identifier: MIT */
/* The command `why`: walks the causes of an event, across hosts, back to what a person did. */
#ifndef CLI_WHY_WHY_H
#define CLI_WHY_WHY_H

#include <stddef.h>
#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/lab.h"

/* The event that @target means:
 *
 *	NULL or ""    the last that went wrong, or else the last of all
 *	#39.2, #39    that event, the first of that tick
 *	h1.cq.wc[0]   the completion
 *	h1.qp         its last change of state, error, timeout or probe for credits
 *	h1.mr, h1.mw  the last bind, registration, end or refusal of its key
 *	h1.srq        its last asynchronous event
 *	h1.async.events[0]   the last event of this kind that the device told
 *	h1            the last refusal of its device
 *	f1            the last frame that the fault hit
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  nothing has that name, or nothing of the kind has happened
 *	   RDL_ERR_INVAL      @target has no such form
 * *@reterr_at is the offset of what is wrong.
 */
RDL_MUST_CHECK enum rdl_status why_find(const struct rdl_lab *lab, const struct past *p,
                                        const char *target, ev_id *ret, size_t *reterr_at);

/* Prints why event @id happened.  RDL_ERR_NOT_FOUND: no such event. */
RDL_MUST_CHECK enum rdl_status why(FILE *out, const struct past *p, ev_id id);

#endif
