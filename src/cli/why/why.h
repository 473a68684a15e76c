/* SPDX-License-Identifier: MIT */
/* The command `why`: prints the chain of causes of an event, across hosts, back to a user's
 * command.
 */
#ifndef CLI_WHY_WHY_H
#define CLI_WHY_WHY_H

#include <stddef.h>
#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/lab.h"

/* Finds the event that @target names:
 *
 *	NULL or ""    the last error, or else the last event
 *	#39.2, #39    that event, the first of that tick
 *	h1.cq.wc[0]   the completion
 *	h1.qp         its last change of state, error, timeout or credit probe
 *	h1.mr, h1.mw  the last bind, registration, invalidation or refusal of its key
 *	h1.srq        its last asynchronous event
 *	h1.async.events[0]   the last asynchronous event of the same kind that the device reported
 *	h1            the last refusal by its device
 *	h1.lnet       the last start, end, change of a connection, reject or failure of its node
 *	h1.lnet.peer[0]    the last change of its connections to this peer, reject or stall
 *	h1.lnet.event[0]   what its program was told
 *	f1            the last frame that the fault hit
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no object has that name, or no such event happened
 *	   RDL_ERR_INVAL      @target is not of one of these forms
 * *@reterr_at is the offset of the error in @target.
 */
RDL_MUST_CHECK enum rdl_status why_find(const struct rdl_lab *lab, const struct past *p,
                                        const char *target, ev_id *ret, size_t *reterr_at);

/* Prints "nothing went wrong; this happened last:" if the event @id, which why_find() chose without
 * a target, is no error and no problem, and "nothing has failed for good: this was overcome in
 * #39.1:" if it was one.
 */
void why_tell_choice(FILE *out, const struct past *p, ev_id id);

/* Tells the place of the command that posted in @tick, "a.lab:13"; "": it is not known. */
struct why_places {
    const char *(*find)(const void *ctx, uint64_t tick);
    const void *ctx;
};

/* Prints the chain of causes that led to event @id, with places of posts unless @places is NULL.
 * Returns RDL_ERR_NOT_FOUND if there is no such event.
 */
RDL_MUST_CHECK enum rdl_status why_placed(FILE *out, const struct past *p, ev_id id,
                                          const struct why_places *places);

/* The same without places. */
RDL_MUST_CHECK enum rdl_status why(FILE *out, const struct past *p, ev_id id);

#endif
