/* SPDX-License-Identifier: MIT */
/* Reads a trace that `export events` wrote: a header, then one event per line, each a JSON object.
 *
 * The header (trace_file_header.c) has data that the events lack: the numbers of hosts and ports,
 * names whose events are forgotten, and what is missing.  In a file without a header, hosts get
 * numbers in the order in which the file mentions them, and names from their events.
 *
 * A newer rdmalab may write more in the same format.  Unknown kinds, fields and words are skipped
 * and counted.  Anything that contradicts the format is an error.  A saved trace does not contain
 * the bytes of frames.
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

/* The reason why a file was refused. */
struct trace_file_error {
    size_t line; /* from 1; 0: not about a line */
    char text[256];
};

#define TRACE_FILE_TITLE_BYTES   512u
#define TRACE_FILE_VERSION_BYTES 32u

/* Properties of a trace, and what was skipped while reading it. */
struct trace_file_info {
    bool has_header;
    char rdmalab[TRACE_FILE_VERSION_BYTES]; /* version that wrote it; "": not given */
    char title[TRACE_FILE_TITLE_BYTES];     /* may be empty */
    bool has_seed;
    uint64_t seed;
    uint64_t events; /* number of events that the header states; 0: not given */
    bool truncated;  /* the last line is incomplete */

    uint64_t unknown_kinds;  /* number of events skipped because their kind is unknown */
    uint64_t unknown_words;  /* number of events skipped because they contain unknown words */
    uint64_t unknown_fields; /* number of fields skipped because their name is unknown */
    uint64_t missing_fields; /* number of absent fields, which were set to 0 or to no host */
    uint64_t missing_events; /* number of events that the header counts but the file lacks */
};

/* Reads the trace @in.  Free *@ret with trace_file_free(), which accepts NULL.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  not a valid trace; @reterr has the line and the reason
 *	   RDL_ERR_LIMIT  a line or the trace is too long; @reterr has the line and the reason
 *	   RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status trace_file_read(FILE *in, struct trace_file **ret,
                                               struct trace_file_error *reterr);
void trace_file_free(struct trace_file *s);

/* Return the recorded past of a trace, and its properties.  Both are valid as long as @s. */
struct past trace_file_past(const struct trace_file *s);
const struct trace_file_info *trace_file_info(const struct trace_file *s);

/* Returns true if the trace has all events that happened.  Skipped events of unknown kinds do not
 * count as missing, since nobody can ask for them.  Returns false without a header, since then it
 * is not known.
 */
bool trace_file_is_whole(const struct trace_file *s);

/* Returns the first condition of @f whose field is absent from some event of the kind that @f
 * selects: the filter cannot judge that event.  Returns NULL if there is none.
 */
const struct ev_condition *trace_file_missing_field(const struct trace_file *s,
                                                    const struct ev_filter *f);

/* Returns true if the events mention a switch, or a fault that hit, called @name.  Also returns
 * true for EV_CHANCE and EV_BURST, the names in events for losses by chance.
 */
bool trace_file_has_part(const struct trace_file *s, const char *name);

#endif
