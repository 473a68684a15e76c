/* SPDX-License-Identifier: MIT */
/* What the files that read a saved trace share. */
#ifndef CLI_TRACE_FILE_TRACE_FILE_INTERNAL_H
#define CLI_TRACE_FILE_TRACE_FILE_INTERNAL_H

#include <cjson/cJSON.h>

#include "cli/trace_file/trace_file.h"

/* A host or port as events call it. */
struct trace_file_host {
    struct ev_str name;
    uint32_t number;
};

struct trace_file {
    struct ev *events;
    size_t n, cap;
    struct ev_names *names;
    bool names_given;              /* by the header: events teach none */
    struct trace_file_host *hosts; /* in the order in which they were heard of */
    size_t n_hosts;
    uint64_t forgotten, gap_from, gap_to;
    bool begun;    /* a line was read: what follows are events */
    ev_id last_id; /* of the line before, kept or not */
    uint64_t last_ns;
    uint32_t missing[EV_COUNT]; /* fields that an event of this kind did not have, as bits */
    struct trace_file_info info;
};

struct trace_file_reader {
    struct trace_file *s;
    struct trace_file_error *err;
};

/* Says what is wrong with the line that is read; RDL_ERR_INVAL. */
enum rdl_status trace_file_refuse(struct trace_file_reader *rd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies foreign text into @cap bytes; control characters become "?". */
void trace_file_copy_text(char *to, size_t cap, const char *from);

/* A JSON number, or a string for what a double cannot hold. */
bool trace_file_number(const cJSON *j, uint64_t *ret);

/* "02:00:00:00:00:01" */
bool trace_file_mac(const char *s, uint64_t *ret);

/* The host or port that events call @name; NULL: nothing has told of it. */
const struct trace_file_host *trace_file_find_host(const struct trace_file *s, const char *name);

/* Remembers that events call host @number @name, as nothing else is called; false: no memory. */
bool trace_file_add_host(struct trace_file *s, const char *name, uint32_t number);

/* Is @j meant as a header? */
bool trace_file_is_header(const cJSON *j);

/* Takes the header @j over. */
RDL_MUST_CHECK enum rdl_status trace_file_read_header(struct trace_file_reader *rd, const cJSON *j);

#endif
