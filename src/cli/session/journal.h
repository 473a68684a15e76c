/* SPDX-License-Identifier: MIT */
/* What a session did: what was carried out when (see log.h), and steps that do it again, with the
 * same events in the same ticks.
 *
 * For the latter each command leaves a deed.  One that did what its text says is its own deed. What
 * another one did to the lab, from its beginning to where it ended, is the deed that it leaves:
 *
 *   it let N ticks pass, and does nothing else    step tick N
 *   it was cut short, by ^C or a limit            refused ticks=N { it }
 *   it was refused half-way                       refused { it }
 *   it changed nothing                            none
 *
 * A block in which all went as its text says is one deed; of any other block what is left are the
 * deeds of the commands in it, each with the host that bare names were looked up on.  Equal
 * iterations in a row are kept once, and a sourced file is a block whose text is not kept.
 *
 * SIMPLIFIED: a lab that follows real time does not replay; its commands are kept as they were
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
    const char *host; /* where its bare names are looked up; "": nowhere */
};

struct deeds {
    struct deed *first, *last;
};

/* A block, or a sourced file, while it is carried out. */
struct journal_block {
    struct journal_block *outer;
    bool fleeting;      /* its steps do not live as long as the deeds */
    bool differs;       /* something in it went otherwise than its text says */
    struct deeds done;  /* of the iterations before the last @n_equal ones */
    struct deeds equal; /* of one of those, which are all equal */
    uint64_t n_equal;
    struct deeds now;                  /* of the iteration that runs */
    struct pool_mark begin, now_begin; /* in the scratch pool */
    struct log_block logged;
};

/* What a command outside of all blocks left behind when it was over. */
struct journal_mark {
    uint64_t n_entries; /* of the log */
    struct deed *last;  /* of the deeds; NULL: there was none yet */
};

struct journal {
    struct pool pool;    /* of @done */
    struct pool scratch; /* of what is in open blocks */
    struct deeds done;
    struct journal_block *open; /* the innermost; NULL: none */
    uint64_t n;                 /* deeds so far, those in blocks too */
    struct journal_mark *marks;
    size_t n_marks, marks_room;
    struct log log;
};

void journal_free(struct journal *j);

/* How a command that is no block ended. */
struct journal_end {
    const char *host; /* where its bare names were looked up */
    struct moment before, after;
    enum log_outcome outcome;
    uint64_t waited_ns; /* of what was cut: so much of its time passed behind its last tick */
};

/* @st, which is no block, was carried out. */
void journal_leaf(struct journal *j, const struct step *st, const struct journal_end *e);

/* What follows, up to journal_close(), happens in @b, which stays where it is until then.
 * @fleeting: its steps do not live that long.  @sourced: nor is its text kept.
 */
void journal_open(struct journal *j, struct journal_block *b, bool fleeting, bool sourced);

/* The innermost block was gone through once, and may be again. */
void journal_round(struct journal *j);

/* The innermost block is over; @st has it as its body, or sourced it.  @ok: it was carried out to
 * its end.
 */
void journal_close(struct journal *j, const struct step *st, const char *host, bool ok);

/* The journal of a session that did the same up to @place, and nothing after it but to let
 * @waited_ns pass there.  No block of @j is open.
 */
struct journal journal_until(const struct journal *j, const struct place *place,
                             uint64_t waited_ns);

/* A command outside of all blocks left the deed @st, on @host, and is over; what it logged is in
 * the log.  For journals that come from a file.
 */
void journal_put(struct journal *j, const struct step *st, const char *host);
void journal_put_end(struct journal *j);

/* All that was done so far, as steps in @p. */
struct step *journal_steps(const struct journal *j, struct pool *p);

#endif
