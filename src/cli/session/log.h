/* SPDX-License-Identifier: MIT */
/* What was carried out when: an entry for each command of a session that is no block, in order.
 *
 * What `on`, `repeat` and `source` carry out is logged one by one.  The log is a string of bytes.
 * An entry takes some six of them: which command it was, as a number in a list of those that
 * differ, and how long it took.  The steps themselves are kept once.
 *
 * Iterations of a `repeat` in a row whose bytes are equal are kept once, too, behind a head that
 * says how many there are.  As bytes tell durations and not times, those are the iterations that
 * did the same in the same time, and when each of them was follows from the head.  Iterations that
 * took different times are kept one by one.
 *
 * What only looks (`show`, `export`) and comments are not in it.
 */
#ifndef CLI_SESSION_LOG_H
#define CLI_SESSION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/script.h"

/* Loops in loops: each of the files that source each other has so many blocks at most. */
#define LOG_FILES_MAX 9u
#define LOG_LOOPS_MAX ((size_t)LOG_FILES_MAX * SCRIPT_DEPTH_MAX)

enum log_outcome {
    LOG_DONE,    /* it went as its text says */
    LOG_CUT,     /* it was ended from outside: by ^C, a limit, a stop */
    LOG_REFUSED, /* the lab or a device did not do it */
    LOG_FAILED   /* it was a mistake, an expectation did not hold, or the emulator broke */
};

/* A point in the life of a lab. */
struct moment {
    uint64_t tick; /* the last one that is over */
    uint64_t ns;   /* simulated time */
};

/* A place in what a session did, between two ticks: @n_entries commands are over, and one may be
 * under way.
 */
struct place {
    uint64_t n_entries;
    struct moment at;
};

struct log_entry {
    uint64_t i;            /* 0: the first of the session */
    const struct step *st; /* lives as long as the log */
    const char *host;      /* where bare names were looked up; "": nowhere */
    enum log_outcome outcome;
    struct moment before, after; /* its ticks are before.tick + 1 .. after.tick */
};

/* A command, where it was carried out, and how that ended: what many entries have in common. */
struct log_deed;

struct log {
    struct pool pool; /* of steps and hosts */
    struct log_deed *deeds;
    uint32_t n_deeds, deeds_room;
    uint32_t *places; /* of deeds by hash, plus 1; 0: free */
    uint32_t n_places;
    uint8_t *bytes;
    size_t n_bytes, bytes_room;
    uint64_t n; /* entries */
    struct moment end;
};

/* The iterations of a block while it is carried out. */
struct log_block {
    size_t one_at, one_bytes; /* the last iteration but the one that runs, or one that equals it */
    size_t now_at;            /* of the iteration that runs */
    uint64_t n;               /* iterations that are kept as the one at @one_at; 0: there is none */
    uint64_t now_first;       /* entry of the iteration that runs, */
    struct moment now_begin;  /* and when it began */
    uint64_t began_first;     /* entry of the last iteration that is over, */
    struct moment began;      /* and when it began */
};

void log_free(struct log *log);

/* @e->st was carried out; what @e points to is copied, and @e->i is not read. */
void log_add(struct log *log, const struct log_entry *e);

/* A block begins, or an iteration of it is over. */
void log_open(const struct log *log, struct log_block *b);
void log_round(struct log *log, struct log_block *b);

/* The iteration of @b that log_round() ended last, the only one so far, was done @n times, n > 1.
 */
void log_again(struct log *log, struct log_block *b, uint64_t n);

/* Reads a log from its beginning, also while blocks are open.  What is added makes the cursor
 * useless.
 */
struct log_cursor {
    const struct log *log;
    struct log_entry entry; /* the one that it is at */
    size_t at;              /* what comes next */
    size_t depth;
    struct {
        size_t at, end;
        uint64_t left; /* iterations, with the one that is read */
    } loops[LOG_LOOPS_MAX];
};

/* To the first or the next entry.  False: there is none. */
bool log_first(struct log_cursor *c, const struct log *log);
bool log_next(struct log_cursor *c);

/* Reads a log as it is kept: an iteration that was done several times is read once.
 * LOG_PART_ENTRY: it is c->entry; LOG_PART_LOOP: the parts up to LOG_PART_END are one of
 * *@ret_times iterations.
 */
enum log_part { LOG_PART_NONE, LOG_PART_ENTRY, LOG_PART_LOOP, LOG_PART_END };
void log_begin(struct log_cursor *c, const struct log *log);
enum log_part log_next_part(struct log_cursor *c, uint64_t *ret_times);

/* To entry @i.  False: there is none. */
bool log_at(struct log_cursor *c, const struct log *log, uint64_t i);

/* To the entry that tick @tick belongs to.  False: it belongs to none, as it was not made yet, or
 * by no command; a lab that follows real time goes on between commands.
 */
bool log_find(struct log_cursor *c, const struct log *log, uint64_t tick);

#endif
