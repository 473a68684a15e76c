/* SPDX-License-Identifier: MIT */
/* The things that a command opens on the machine outside of the lab, and the permission that this
 * needs if a stranger's text asks for it.  The parameters of the command table name what they open
 * (table.h); the gate of a session decides (session/gate.h).
 */
#ifndef CLI_LANG_PERMIT_H
#define CLI_LANG_PERMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Permissions: identifier, word of --allow, what a text with it may do. */
#define PERMITS(X)                                                                                 \
    X(PROGRAMS, "programs", "start programs on this machine, which may do anything")               \
    X(PORTS, "ports", "use tap devices and the network of this machine")                           \
    X(FILES, "files", "read, make and replace files anywhere")

enum permit {
#define PERMIT_ID(id, word, may) PERMIT_##id,
    PERMITS(PERMIT_ID)
#undef PERMIT_ID
        N_PERMITS
};

#define PERMIT_BIT(id) (1u << PERMIT_##id)
#define PERMIT_ALL     ((1u << N_PERMITS) - 1)

/* The words of --allow as "programs|ports|files", as an option row has them. */
#define PERMIT_WORD_ROW(id, word, may) "|" word
#define PERMIT_WORDS                   (&(PERMITS(PERMIT_WORD_ROW))[1])

/* The things that a parameter opens: identifier, permission, and the words for it in the question
 * to the user: "this script asks to ...".  After the words of a file its name follows.
 */
#define OPENINGS(X)                                                                                \
    X(PROGRAM, PROGRAMS, "start a program on this machine")                                        \
    X(PORT, PORTS, "use the network of this machine")                                              \
    X(READ, FILES, "read")                                                                         \
    X(WRITE, FILES, "write")

enum opening {
    OPENS_NOTHING,
#define OPENING_ID(id, permit, asks) OPENS_##id,
    OPENINGS(OPENING_ID)
#undef OPENING_ID
        N_OPENINGS
};

/* permit_word() and permit_may() return the texts of a permission, opening_permit() and
 * opening_asks() the row of what is opened, which is not OPENS_NOTHING.
 */
const char *permit_word(enum permit p);
const char *permit_may(enum permit p);
enum permit opening_permit(enum opening o);
const char *opening_asks(enum opening o);

/* Parses "files,ports" into a set of enum permit, and adds it to *@ret.  Returns false if a word is
 * unknown: its first byte is then at *@reterr_at, its length *@reterr_len.
 */
bool permit_parse(const char *text, unsigned *ret, size_t *reterr_at, size_t *reterr_len);

#endif
