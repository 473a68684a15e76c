/* SPDX-License-Identifier: MIT */
/* What the files that read a saved trace share. */
#ifndef CLI_SAVED_SAVED_INTERNAL_H
#define CLI_SAVED_SAVED_INTERNAL_H

#include <cjson/cJSON.h>

#include "cli/saved/saved.h"

/* A host or port as events call it. */
struct saved_host {
    struct ev_str name;
    uint32_t number;
};

struct saved {
    struct ev *events;
    size_t n, cap;
    struct ev_names *names;
    bool names_given;         /* by the header: events teach none */
    struct saved_host *hosts; /* in the order in which they were heard of */
    size_t n_hosts;
    uint64_t forgotten, gap_from, gap_to;
    bool begun;    /* a line was read: what follows are events */
    ev_id last_id; /* of the line before, kept or not */
    uint64_t last_ns;
    uint32_t missing[EV_COUNT]; /* fields that an event of this kind did not have, as bits */
    struct saved_info info;
};

struct saved_reader {
    struct saved *s;
    struct saved_error *err;
};

/* Says what is wrong with the line that is read; RDL_ERR_INVAL. */
enum rdl_status saved_refuse(struct saved_reader *rd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Copies foreign text into @cap bytes; control characters become "?". */
void saved_copy_text(char *to, size_t cap, const char *from);

/* A JSON number, or a string for what a double cannot hold. */
bool saved_number(const cJSON *j, uint64_t *ret);

/* "02:00:00:00:00:01" */
bool saved_mac(const char *s, uint64_t *ret);

/* The host or port that events call @name; NULL: nothing has told of it. */
const struct saved_host *saved_find_host(const struct saved *s, const char *name);

/* Remembers that events call host @number @name, as nothing else is called; false: no memory. */
bool saved_add_host(struct saved *s, const char *name, uint32_t number);

/* Is @j meant as a header? */
bool saved_is_header(const cJSON *j);

/* Takes the header @j over. */
RDL_MUST_CHECK enum rdl_status saved_read_header(struct saved_reader *rd, const cJSON *j);

#endif
