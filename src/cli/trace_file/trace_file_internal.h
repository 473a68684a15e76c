/* SPDX-License-Identifier: MIT */
/* Internal interface of the files that read a saved trace. */
#ifndef CLI_TRACE_FILE_TRACE_FILE_INTERNAL_H
#define CLI_TRACE_FILE_TRACE_FILE_INTERNAL_H

#include <cjson/cJSON.h>

#include "cli/trace_file/trace_file.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/fields.h"

/* A host or port, and its name in events. */
struct trace_file_host {
    struct ev_str name;
    uint32_t number;
};

/* The message of o2iblnd in the frame of an event. */
struct trace_file_lnet {
    ev_id id;
    char words[PAST_LNET_BYTES];
};

struct trace_file {
    struct ev *events; /* the events read so far */
    size_t n, cap;
    struct ev_names *names;
    bool names_given;              /* the header defines the names, so that events do not */
    struct trace_file_host *hosts; /* in the order of their first mention */
    size_t n_hosts;
    struct past_call *calls;
    size_t n_calls;
    struct trace_file_lnet *lnet; /* by ascending id */
    size_t n_lnet, lnet_cap;
    uint64_t forgotten, gap_from, gap_to; /* as in struct past */
    bool begun;                           /* the first line was read: the others are events */
    ev_id last_id; /* id on the previous line, even if that event was skipped */
    uint64_t last_ns;
    uint32_t missing[EV_KINDS_MAX]; /* bit i: some event of this kind lacked its field i */
    struct trace_file_info info;
};

/* A trace that is being read, and the destination of errors. */
struct trace_file_reader {
    struct trace_file *s;
    struct trace_file_error *err;
};

/* Reports an error in the current line.  Returns RDL_ERR_INVAL. */
enum rdl_status trace_file_refuse(struct trace_file_reader *rd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies untrusted text into the @cap bytes at @to.  Text that does not fit is cut.  Control
 * characters, and what would begin a command to a log (print/utf8.h), become "?".
 */
void trace_file_copy_text(char *to, size_t cap, const char *from);

/* Reads a number: a JSON number, or a string for one that a double cannot hold.  Returns false if
 * @j is neither.
 */
bool trace_file_number(const cJSON *j, uint64_t *ret);

/* Parses a MAC like "02:00:00:00:00:01" to a number whose most significant byte is the first one.
 * Returns false if @s is none.
 */
bool trace_file_mac(const char *s, uint64_t *ret);

/* Returns the host or port called @name.  Returns NULL if nothing has mentioned it. */
const struct trace_file_host *trace_file_find_host(const struct trace_file *s, const char *name);

/* Adds host @number with the name @name, which must be unused.  Returns false if there is no
 * memory.
 */
bool trace_file_add_host(struct trace_file *s, const char *name, uint32_t number);

/* Returns true if @j is meant to be a header: it has a member "format". */
bool trace_file_is_header(const cJSON *j);

/* Reads the header @j.  Returns RDL_ERR_INVAL, with the error in rd->err, if it is invalid. */
RDL_MUST_CHECK enum rdl_status trace_file_read_header(struct trace_file_reader *rd, const cJSON *j);

#endif
