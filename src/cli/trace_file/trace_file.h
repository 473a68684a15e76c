/* SPDX-License-Identifier: MIT */
/* Reads a trace that `export events` wrote back into events: a header, then one event a line, each
 * a JSON object.
 *
 * The header (trace_file_header.c) tells what the events alone cannot: the numbers of hosts and
 * ports, names whose events are forgotten, what is missing.  A file without one is read too; its
 * hosts get numbers in the order in which it tells of them, and names from its events.
 *
 * A newer rdmalab of the same format may write more: kinds, fields and words that are not known are
 * passed over and counted.  What contradicts the format is refused.  The bytes of frames are not in
 * a saved trace.
 */
#ifndef CLI_TRACE_FILE_TRACE_FILE_H
#define CLI_TRACE_FILE_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/status.h"

struct trace_file;

struct trace_file_error {
    size_t line; /* from 1; 0: it is about no line */
    char text[256];
};

#define TRACE_FILE_TITLE_BYTES   512u
#define TRACE_FILE_VERSION_BYTES 32u

/* What a trace says of itself, and what had to be passed over. */
struct trace_file_info {
    bool has_header;
    char rdmalab[TRACE_FILE_VERSION_BYTES]; /* the version that wrote it; "": it does not say */
    char title[TRACE_FILE_TITLE_BYTES];     /* "": none */
    bool has_seed;
    uint64_t seed;
    uint64_t events; /* that the header tells of; 0: it does not say */
    bool truncated;  /* the last line is not whole */

    uint64_t unknown_kinds;  /* events that were skipped: of these kinds, */
    uint64_t unknown_words;  /* and with these words in them */
    uint64_t unknown_fields; /* fields that were skipped */
    uint64_t missing_fields; /* fields that are 0, of hosts none, because they were not there */
    uint64_t missing_events; /* of which the header tells, but there are no lines */
};

/* Return: RDL_OK
 *	   RDL_ERR_INVAL  this is no trace; @reterr says where and why
 *	   RDL_ERR_LIMIT  a line or the trace is too long; the same
 *	   RDL_ERR_NOMEM
 * Free with trace_file_free(), which takes NULL too.
 */
RDL_MUST_CHECK enum rdl_status trace_file_read(FILE *in, struct trace_file **ret,
                                               struct trace_file_error *reterr);
void trace_file_free(struct trace_file *s);

/* Both are valid as long as @s. */
struct past trace_file_past(const struct trace_file *s);
const struct trace_file_info *trace_file_info(const struct trace_file *s);

/* Does it have all events that happened?  Kinds that are not known do not matter: nobody can ask
 * for them.  Of a trace without a header, as far as its events tell.
 */
bool trace_file_is_whole(const struct trace_file *s);

/* The first condition of @f about a field that events of the kind do not all have; NULL: none. */
const struct ev_condition *trace_file_missing_field(const struct trace_file *s,
                                                    const struct ev_filter *f);

/* Does the trace tell of a switch, or a fault that was met, with this name? */
bool trace_file_has_part(const struct trace_file *s, const char *name);

#endif
