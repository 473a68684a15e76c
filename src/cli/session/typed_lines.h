/* SPDX-License-Identifier: MIT */
/* The lines of a session that did something, as `back` counts them: what was typed at once, or a
 * line of a script, outside of blocks.
 */
#ifndef CLI_SESSION_TYPED_LINES_H
#define CLI_SESSION_TYPED_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/lang/source.h"
#include "cli/session/log.h"

struct rdl_lab;

#define TYPED_LINE_BYTES 72u

struct typed_line {
    struct place at;             /* before it */
    char text[TYPED_LINE_BYTES]; /* how it begins */
    uint64_t run;                /* lines of one run and with one number in it are one */
    size_t number;
};

struct typed_lines {
    struct typed_line *v;
    size_t n, room;
    uint64_t n_runs; /* texts that were run so far */
};

void typed_lines_free(struct typed_lines *all);

/* Something in the line of @src that has @at has been done, behind @place. */
void typed_lines_add(struct typed_lines *all, const struct source *src, struct span at,
                     const struct place *place);

/* How many events there were: a line that failed and added none did nothing. */
uint64_t typed_lines_events(const struct rdl_lab *lab);

/* How many begin before @p. */
size_t typed_lines_before(const struct typed_lines *all, const struct place *p);

/* A copy of those that begin before @p. */
struct typed_lines typed_lines_until(const struct typed_lines *all, const struct place *p);

#endif
