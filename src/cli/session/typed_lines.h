/* SPDX-License-Identifier: MIT */
/* The lines that `back` counts, which are the lines outside of blocks whose commands did something
 * to the lab.  A line is the text typed at once, or one line of a script.
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
    struct place at;             /* place of the lab before the line */
    char text[TYPED_LINE_BYTES]; /* beginning of the line */
    /* Together these identify the line: typed_lines.n_runs when it was added, and number of the
     * line in its text, from 0.
     */
    uint64_t run;
    size_t number;
};

struct typed_lines {
    struct typed_line *v;
    size_t n, room;
    uint64_t n_runs; /* number of texts executed so far: typed texts and scripts */
    /* The place up to which lines were counted last: a script is not counted from its beginning for
     * each of its commands.
     */
    struct {
        const char *text;
        uint64_t run;
        size_t at, number;
    } counted;
};

void typed_lines_free(struct typed_lines *all);

/* Adds the line of @src that contains @at.  @place is where the lab was before it.  Adds nothing if
 * that line was the last one added.
 */
void typed_lines_add(struct typed_lines *all, const struct source *src, struct span at,
                     const struct place *place);

/* Returns the number of events in the lab so far.  If a line fails and has not changed this number,
 * it did nothing.
 */
uint64_t typed_lines_events(const struct rdl_lab *lab);

/* Returns the number of lines in @all whose beginning is before @p. */
size_t typed_lines_before(const struct typed_lines *all, const struct place *p);

/* Returns a copy of the lines that begin before @p.  Free it with typed_lines_free(). */
struct typed_lines typed_lines_until(const struct typed_lines *all, const struct place *p);

#endif
