/* SPDX-License-Identifier: MIT */
/* Pauses a long list where the screen of a terminal is full. */
#ifndef PRINT_PAGES_H
#define PRINT_PAGES_H

#include <stdbool.h>
#include <stdio.h>

struct pager {
    FILE *out;
    unsigned lines; /* of the screen; 0: never pauses */
    unsigned used;  /* lines since the last pause */
    unsigned left;  /* lines that are still to come; 0: not known */
    bool ended;     /* the reader wants no more */
};

/* Returns true if somebody reads and types: @out and the standard input are terminals. */
bool pages_are_read(FILE *out);

/* Begins a list on @out.  It pauses only if pages_are_read(). */
struct pager pages_begin(FILE *out);

/* Call before @n lines are printed.  Waits for Enter if they do not fit on the screen, unless they
 * are among the last few.  Returns false, also from then on, if the reader has ended the list by
 * "q" or a command, or the input has ended.
 */
bool pages_room(struct pager *p, unsigned n);

/* Text for a reader that is printed in pages.  It is written to @f, a stream on the same terminal
 * as @out, so that it is as wide; and the pages are printed when it is complete.
 */
struct paged {
    FILE *f; /* to print to; @out if nobody reads, or there is no memory */
    FILE *out;
    char *text; /* the buffer of @f; NULL: none */
};

/* Begins a text for @out.  pages_end() prints it, and waits for Enter where the screen is full. */
struct paged pages_hold(FILE *out);
void pages_end(struct paged *p);

/* Waits for Enter, after the prompt @prompt on @out.  Returns false at the end of the input, after
 * "q", after ^C, and after any other text.  This text is kept for pages_take_line().
 */
bool pages_wait(FILE *out, const char *prompt);

/* Returns the line that the reader typed at a pause in place of Enter, without its end, or NULL.
 * The caller frees it.
 */
char *pages_take_line(void);

/* Returns true if the last pause was ended by Enter, and forgets it. */
bool pages_take_went_on(void);

/* Returns true if the last pause was ended by ^C, and forgets it.  The flag of signals.h is then
 * set: a block ends, too.
 */
bool pages_take_stopped(void);

#endif
