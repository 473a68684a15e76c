/* SPDX-License-Identifier: MIT */
/* The journal of a session: steps that do again what was done, with the same events in the same
 * ticks; and the log of when it was done (log.h).
 *
 * Each command leaves a deed, which is a step.  A command that did what its text says is its own
 * deed.  Any other command leaves a deed that does the same to the lab:
 *
 *   it let N ticks pass, and does nothing else    step tick N
 *   it was cut short, by ^C or a limit            refused ticks=N { it }
 *   it was refused half-way                       refused { it }
 *   it changed nothing                            none
 *
 * A block in which everything went as its text says is one deed.  Any other block leaves the deeds
 * of its commands, each with the host of its bare names.  Equal rounds in a row are kept once.  A
 * sourced file is a block whose text is not kept.
 *
 * SIMPLIFIED: a lab that follows real time cannot be replayed; its commands are kept as they were
 * typed.
 */
#ifndef CLI_SESSION_JOURNAL_H
#define CLI_SESSION_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/script.h"
#include "cli/session/log.h"

struct deed {
    struct deed *next;
    const struct step *st;
    const char *host; /* its bare names are looked up on this host; "": nowhere */
};

struct deeds {
    struct deed *first, *last;
};

/* A running block or sourced file. */
struct journal_block {
    struct journal_block *outer;
    bool fleeting;      /* its steps have to be copied: they do not live as long as the deeds */
    bool differs;       /* something in it did not go as its text says */
    struct deeds done;  /* of the rounds before the last @n_equal ones */
    struct deeds equal; /* of one of the last @n_equal rounds, which are equal */
    uint64_t n_equal;
    struct deeds now;                  /* of the running round */
    struct pool_mark begin, now_begin; /* in the scratch pool */
    struct log_block logged;
};

/* The end of the journal after a command outside of all blocks. */
struct journal_mark {
    uint64_t n_entries; /* of the log */
    struct deed *last;  /* NULL: there was no deed yet */
};

struct journal {
    struct pool pool;    /* of @done */
    struct pool scratch; /* of deeds in open blocks */
    struct deeds done;
    struct journal_block *open; /* the innermost; NULL: none */
    uint64_t n;                 /* number of deeds so far, those in blocks included */
    struct journal_mark *marks;
    size_t n_marks, marks_room;
    struct log log;
};

void journal_free(struct journal *j);

/* How a command that is no block ended. */
struct journal_end {
    const char *host; /* of its bare names */
    struct moment before, after;
    enum log_outcome outcome;
    uint64_t waited_ns; /* of a command that was cut: time that passed after its last tick */
};

/* Adds the command @st, which is no block and was carried out. */
void journal_leaf(struct journal *j, const struct step *st, const struct journal_end *e);

/* Opens the block @b, which must stay where it is until journal_close().  @fleeting: its steps do
 * not live that long.  @sourced: its text is not kept, either.
 */
void journal_open(struct journal *j, struct journal_block *b, bool fleeting, bool sourced);

/* Ends a round of the innermost block. */
void journal_round(struct journal *j);

/* Closes the innermost block, which is the body of @st, or was sourced by it.  @ok: it was carried
 * out to its end.
 */
void journal_close(struct journal *j, const struct step *st, const char *host, bool ok);

/* Returns the journal of a session that did the same up to @place, and then only let @waited_ns
 * pass. No block of @j may be open.
 */
struct journal journal_until(const struct journal *j, const struct place *place,
                             uint64_t waited_ns);

/* For journals that are read from a file: journal_put() adds the deed @st on @host, and
 * journal_put_end() ends the command outside of all blocks that left it.  The log has its entries
 * already.
 */
void journal_put(struct journal *j, const struct step *st, const char *host);
void journal_put_end(struct journal *j);

/* Returns everything done so far as steps, which are made in @p. */
struct step *journal_steps(const struct journal *j, struct pool *p);

#endif
