/* SPDX-License-Identifier: MIT */
/* Expands typed input: replaces abbreviations and words of other debuggers by full commands, so
 * that the session records only full names.
 */
#ifndef CLI_COMPLETE_EXPAND_H
#define CLI_COMPLETE_EXPAND_H

#include "cli/session/session.h"

#define EXPAND_NOTES_MAX  8u
#define EXPAND_WORD_BYTES 32u

/* A word of another debugger that was replaced. */
struct expand_note {
    char word[EXPAND_WORD_BYTES];
    const char *written; /* the command that replaces it */
    const char *what;    /* meaning of that command */
};

struct expanded {
    char *text; /* owned; never NULL */
    size_t len;
    struct expand_note notes[EXPAND_NOTES_MAX]; /* in the order of the input; later ones are lost */
    size_t n_notes;
    /* The input is only `on HOST` or `on`: the host for bare names at the prompt becomes @host. */
    bool context;
    char host[RDL_NAME_BYTES]; /* "": none */
    bool wrong; /* the input cannot be executed; @diag has the reason, with positions in @text */
    struct diag diag;
};

/* Expands @typed.  The caller frees ret->text. */
void expand(struct session *s, const char *typed, struct expanded *ret);

#endif
