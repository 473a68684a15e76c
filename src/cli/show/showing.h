/* SPDX-License-Identifier: MIT */
/* State of one `show`, for the files that handle its subjects. */
#ifndef CLI_SHOW_SHOWING_H
#define CLI_SHOW_SHOWING_H

#include <stdio.h>

#include "cli/show/show.h"
#include "emu/past/past.h"

struct showing {
    FILE *out;
    const struct rdl_lab *lab; /* NULL: only the past is available */
    const struct show_request *rq;
    struct show_error *err;
    struct past past;
};

/* Word number @i of the request, or NULL. */
const char *showing_word(const struct showing *s, size_t i);

/* Reports @st as an error of offset @at of word @word, with the text @fmt.  Returns @st. */
enum rdl_status showing_refuse(struct showing *s, enum rdl_status st, size_t word, size_t at,
                               const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Reports @st, unless it is RDL_OK, as an error of the path in word @i.  Returns @st. */
enum rdl_status showing_report_path(struct showing *s, enum rdl_status st, size_t i, size_t at);

/* show_past.c: the subjects that look at the record, and need no lab. */
enum rdl_status showing_packet(struct showing *s);
enum rdl_status showing_events(struct showing *s);
enum rdl_status showing_life(struct showing *s);

#endif
