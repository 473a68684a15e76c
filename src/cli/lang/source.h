/* SPDX-License-Identifier: MIT */
/* Source texts of commands, positions in them, and error messages (*diags*) that point to a
 * position.
 */
#ifndef CLI_LANG_SOURCE_H
#define CLI_LANG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rdmalab/status.h"

struct source {
    const char *name; /* name of the file, or SOURCE_STANDARD; NULL: a typed line or an option */
    const char *text; /* also NUL-terminated */
    size_t len;
    size_t lines_before; /* number of lines of the same file before @text, for line numbers */
    /* The user wrote this text at the prompt, or in the command line, and may do what he may do
     * with any program.  Otherwise it is a stranger's: see session/gate.h.
     */
    bool typed;
    /* Of a stranger's text: the directory of the file that the user named.  File names in the text
     * are relative to it.  NULL: the text may not use files.
     */
    const char *home;
    bool of_lesson; /* a lesson types it: its lines are nothing to tell the reader */
};

/* Stands for the standard input in place of a file name. */
#define SOURCE_STANDARD "-"

/* Returns the length of the byte order mark before @text, which is no part of it; 0: there is none.
 * source_read() removes it.
 */
size_t source_mark_bytes(const char *text);

/* Returns a source with the name @name and the whole string @text, which is a stranger's. */
struct source source_of(const char *name, const char *text);

/* Returns a source with the whole string @text, which the user has typed. */
struct source source_typed(const char *text);

/* Returns the name for messages: the name of the file or "standard input"; NULL if it has none. */
const char *source_shown_name(const struct source *src);

/* Returns true if the source is a file: it has a name other than SOURCE_STANDARD. */
bool source_is_file(const struct source *src);

/* A range of bytes of a source. */
struct span {
    size_t at, len;
};

/* Kind of an error; it decides the exit status. */
enum diag_kind {
    DIAG_NONE,      /* no error */
    DIAG_SYNTAX,    /* the text is not a valid line or not valid JSON */
    DIAG_VALUE,     /* an unknown command, key, or value */
    DIAG_FAILED,    /* the lab refused the command */
    DIAG_LIMIT,     /* a limit of ticks or simulated time was reached */
    DIAG_TIMEOUT,   /* a limit of the machine's clock was reached; no `refused` takes that */
    DIAG_EXPECT,    /* an expectation is false */
    DIAG_FORBIDDEN, /* a stranger's text may not do it; no `refused` takes that */
    DIAG_MEMORY,    /* too little memory; a result is incomplete */
    DIAG_BROKEN     /* an internal invariant of the emulator is violated */
};

#define DIAG_MESSAGE_BYTES 1024u
#define DIAG_REMEDY_BYTES  512u
#define DIAG_NOTES_BYTES   6144u

struct diag {
    enum diag_kind kind;
    bool missing; /* the named object does not exist, but may be created later */
    bool partly;  /* DIAG_FAILED: the command has changed the lab, though no time has passed */
    /* DIAG_FAILED: why, as `refused reason=` names it (enum reason of words.h); 0: it has no name.
     */
    uint32_t reason;
    struct span at; /* len 0: a position between characters, or the end */
    char message[DIAG_MESSAGE_BYTES];
    char remedy[DIAG_REMEDY_BYTES]; /* a way to correct the error; may be empty */
    char notes[DIAG_NOTES_BYTES];   /* further lines, each with its line end; may be empty */
};

/* Sets @d to an error without a remedy.  Always returns false, so that a check can end with it.  In
 * this and the next functions @d may be NULL: then nothing is stored.
 */
bool diag_set(struct diag *d, enum diag_kind kind, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Sets @d to the error @st that a function of the lab returned (kind DIAG_FAILED), with its remedy.
 * @what names the operation.  Returns false.
 */
bool diag_status(struct diag *d, struct span at, const char *what, enum rdl_status st);

/* Sets the reason of the error in @d, a value of words_reason.  Returns false. */
bool diag_reason(struct diag *d, uint32_t reason);

/* Sets the remedy of the error in @d.  Returns false. */
bool diag_remedy(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends one line to the notes.  A line that does not fit is dropped. */
void diag_note(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets *@ret_line and *@ret_col to the line in the file and the column of byte @at of the text.
 * Both count from 1.
 */
void source_place(const struct source *src, size_t at, size_t *ret_line, size_t *ret_col);

/* Prints the message with file, line and column, the source line with carets under the position,
 * the remedy and the notes.
 */
void diag_print(FILE *err, const struct source *src, const struct diag *d);

/* Returns NULL if the text is valid UTF-8 without NUL.  Otherwise returns the reason, and *@ret_at
 * is the offset of the error.
 */
const char *source_check_text(const struct source *src, size_t *ret_at);

/* Reads the whole file @name, or the standard input if that is SOURCE_STANDARD.  The user has named
 * it: its directory becomes @ret->home.  Returns NULL on success; free @ret with source_done().
 * Otherwise returns the reason and leaves @ret unchanged.  The reason is source_no_memory if the
 * process has too little memory.
 */
extern const char source_no_memory[];
const char *source_read(const char *name, struct source *ret);

/* Reads the file @f, which is called @name, like source_read().  @home is copied to @ret->home;
 * NULL: the directory of @name.  The caller closes @f.
 */
const char *source_read_file(FILE *f, const char *name, const char *home, struct source *ret);
void source_done(struct source *src);

#endif
