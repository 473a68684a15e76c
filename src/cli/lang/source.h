/* SPDX-License-Identifier: MIT */
/* A text that commands come from, places in it, and what is said when one of them is wrong. */
#ifndef CLI_LANG_SOURCE_H
#define CLI_LANG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "rdmalab/status.h"

struct source {
    const char *name; /* of the file, or SOURCE_STANDARD; NULL: typed at a prompt, or an option */
    const char *text; /* NUL-terminated as well */
    size_t len;
    size_t lines_before; /* of the same file, which were read before @text */
};

/* The standard input, where the name of a file is asked for. */
#define SOURCE_STANDARD "-"

/* All of the string @text, from the beginning of what is called @name. */
struct source source_of(const char *name, const char *text);

/* What people call it: the name of the file, "standard input"; NULL if it has no name. */
const char *source_shown_name(const struct source *src);

/* Is it a file, which can be read once more? */
bool source_is_file(const struct source *src);

/* A part of a source. */
struct span {
    size_t at, len;
};

/* What kind of wrong it is; the exit status depends on it. */
enum diag_kind {
    DIAG_NONE,
    DIAG_SYNTAX, /* the text is no command line or no JSON */
    DIAG_VALUE,  /* an unknown command, key, or value */
    DIAG_FAILED, /* the lab refused what was asked for */
    DIAG_EXPECT, /* an expectation does not hold */
    DIAG_MEMORY, /* there was too little memory, so that something is missing */
    DIAG_BROKEN  /* an invariant of the emulator itself broke */
};

#define DIAG_MESSAGE_BYTES 1024u
#define DIAG_REMEDY_BYTES  512u
#define DIAG_NOTES_BYTES   4096u

struct diag {
    enum diag_kind kind;
    bool missing;   /* what is spoken of is not there; it may come */
    struct span at; /* len 0: a place between characters, or the end */
    char message[DIAG_MESSAGE_BYTES];
    char remedy[DIAG_REMEDY_BYTES]; /* what can be done; may be empty */
    char notes[DIAG_NOTES_BYTES];   /* further lines, each with its line end; may be empty */
};

/* Fills @d and returns false, so that a check can end with it.  Of this and the next ones: @d may
 * be NULL, and then nobody wants to know.
 */
bool diag_set(struct diag *d, enum diag_kind kind, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Fills @d (kind DIAG_FAILED) because a function of the lab returned @st, and adds the remedy of
 * that. Returns false.
 */
bool diag_status(struct diag *d, struct span at, const char *what, enum rdl_status st);

/* Adds the remedy to what diag_set() said.  Returns false. */
bool diag_remedy(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends one line to the notes; when they are full the line is dropped. */
void diag_note(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Line of the file and column of byte @at, both from 1. */
void source_place(const struct source *src, size_t at, size_t *ret_line, size_t *ret_col);

/* Prints the message with file, line and column, the line with a caret under the place, the remedy,
 * the notes.
 */
void diag_print(FILE *err, const struct source *src, const struct diag *d);

/* NULL if the text is valid UTF-8 without NUL; otherwise what is wrong at *@ret_at. */
const char *source_check_text(const struct source *src, size_t *ret_at);

/* Reads the whole of the file @name, or of the standard input.  Both members are allocated; free
 * with source_done().  NULL, or why it cannot be read, and @ret is untouched; it is
 * source_no_memory if the file is not to blame.
 */
extern const char source_no_memory[];
const char *source_read(const char *name, struct source *ret);
void source_done(struct source *src);

#endif
