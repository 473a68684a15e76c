/* SPDX-License-Identifier: MIT */
/* What a person types at the prompt, written out: abbreviations and words of other debuggers become
 * the commands that they stand for, so that all that is kept of a session has full names.
 */
#ifndef CLI_COMPLETE_EXPAND_H
#define CLI_COMPLETE_EXPAND_H

#include "cli/session/session.h"

#define EXPAND_NOTES_MAX  8u
#define EXPAND_WORD_BYTES 32u

/* A word that was used, and what it stands for. */
struct expand_note {
    char word[EXPAND_WORD_BYTES];
    const char *written, *what;
};

struct expanded {
    char *text; /* owned; never NULL */
    size_t len;
    struct expand_note notes[EXPAND_NOTES_MAX]; /* those of the table, in their order */
    size_t n_notes;
    bool context; /* it is `on HOST` alone, or `on`: from now on bare names are names on @host */
    char host[RDL_NAME_BYTES];
    bool wrong; /* it cannot be carried out, and @diag says why, of @text */
    struct diag diag;
};

/* Writes @typed out.  Free ret->text. */
void expand(struct session *s, const char *typed, struct expanded *ret);

#endif
