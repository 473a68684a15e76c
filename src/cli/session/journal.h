/* SPDX-License-Identifier: MIT */
/* The journal of a session: steps that repeat its commands, with the same events in the same ticks;
 * and the log with their times (log.h).
 *
 * Each command adds a deed, which is a step.  If a command did what its text says, its own step is
 * the deed.  Any other command adds a deed with the same effect on the lab:
 *
 *   command                                       deed
 *   it only let N ticks pass                      step tick N
 *   it was cut short, by ^C or a limit            refused reason=err_timeout ticks=N { command }
 *   it was refused half-way                       refused reason=REASON { command }, or with says=
 *   it changed nothing                            none
 *
 * A block in which everything went as its text says is one deed.  Any other block leaves the deeds
 * of its commands, each with the host for its bare names.  Equal consecutive rounds are stored
 * once.  A sourced file is a block whose text is not kept.
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

/* A deed, and the list of those after it. */
struct deed {
    struct deed *next;
    const struct step *st;
    const char *host; /* host for its bare names; "": none */
};

struct deeds {
    struct deed *first, *last;
};

/* A running block or sourced file. */
struct journal_block {
    struct journal_block *outer;
    bool fleeting;      /* its steps will be freed before the journal, so deeds are copies */
    bool differs;       /* a command in it did not do what its text says */
    struct deeds done;  /* deeds of the rounds before the last @n_equal ones */
    struct deeds equal; /* deeds of one of the last @n_equal rounds, which are equal */
    uint64_t n_equal;
    struct deeds now; /* deeds of the running round */
    /* State of the pool journal.scratch when the block began, and when the running round began. */
    struct pool_mark begin, now_begin;
    struct log_block logged;
};

/* The end of the journal after a command outside of all blocks. */
struct journal_mark {
    uint64_t n_entries; /* number of entries in the log */
    struct deed *last;  /* last deed up to here; NULL: there was none yet */
};

struct journal {
    struct pool pool;           /* memory of @done */
    struct pool scratch;        /* memory of the deeds in open blocks */
    struct deeds done;          /* the deeds outside of open blocks */
    struct journal_block *open; /* the innermost open block; NULL: none */
    uint64_t n;                 /* number of deeds so far, those in blocks included */
    struct journal_mark *marks; /* after each command outside of all blocks, in order */
    size_t n_marks, marks_room;
    struct log log;
};

void journal_free(struct journal *j);

/* Facts about a command that has ended and is no block. */
struct journal_end {
    const char *host;            /* host for its bare names */
    struct moment before, after; /* when the command began, and when it ended */
    enum log_outcome outcome;
    const struct diag *why; /* of LOG_REFUSED: the error */
    uint64_t waited_ns;     /* for LOG_CUT: simulated time that passed after its last tick */
};

/* Adds the executed command @st, which is no block, to the log and the journal. */
void journal_leaf(struct journal *j, const struct step *st, const struct journal_end *e);

/* Opens the block @b, which must stay at its address until journal_close().  @fleeting: the steps
 * in it are freed before the journal, so they are copied.  @sourced: it is a sourced file, whose
 * text is not kept.
 */
void journal_open(struct journal *j, struct journal_block *b, bool fleeting, bool sourced);

/* Ends a round of the innermost block. */
void journal_round(struct journal *j);

/* Closes the innermost block, and adds its deeds to the block around it or to the journal.  @st is
 * the command that has the block as its body, or that sourced the file; @host is the host for its
 * bare names.  @ok: the block was executed to its end.
 */
void journal_close(struct journal *j, const struct step *st, const char *host, bool ok);

/* Returns a copy of the part of @j up to @place, followed by a step that lets @waited_ns pass.  No
 * block of @j may be open.  Free it with journal_free().
 */
struct journal journal_until(const struct journal *j, const struct place *place,
                             uint64_t waited_ns);

/* For a journal that is read from a file.  journal_put() adds the deed @st to the journal, but not
 * to the log; @host is the host for its bare names.  journal_put_end() ends a command outside of
 * all blocks: the deeds since the last call belong to it, and its log entries are already there.
 */
void journal_put(struct journal *j, const struct step *st, const char *host);
void journal_put_end(struct journal *j);

/* Returns the whole journal as a list of steps, allocated in @p. */
struct step *journal_steps(const struct journal *j, struct pool *p);

#endif
