/* SPDX-License-Identifier: MIT */
/* Reads a trace that `export events` wrote, one JSON object a line, back into events.
 *
 * Hosts are written by name: they get numbers in the order in which the trace tells of them.  The
 * bytes of frames are not part of it.
 */
#ifndef CLI_SAVED_H
#define CLI_SAVED_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/show_past.h"
#include "rdmalab/status.h"

struct saved;

struct saved_error {
    size_t line; /* from 1 */
    char text[160];
};

/* Return: RDL_OK
 *	   RDL_ERR_INVAL  a line is no event; @reterr says which and why
 *	   RDL_ERR_LIMIT  a line or the trace is too long
 *	   RDL_ERR_NOMEM
 * Free with saved_free(), which takes NULL too.
 */
RDL_MUST_CHECK enum rdl_status saved_read(FILE *in, struct saved **ret, struct saved_error *reterr);
void saved_free(struct saved *s);

/* Valid as long as @s. */
struct past saved_past(const struct saved *s);

#endif
