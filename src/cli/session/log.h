/* SPDX-License-Identifier: MIT */
/* The log of a session: an entry for each executed command that is no block, in order.
 *
 * Commands in `on`, `repeat` and `source` are logged one by one.  The log is a string of bytes, and
 * an entry takes about six bytes: the number of the command in a list of different commands, and
 * its duration.  The steps themselves are stored once.
 *
 * Consecutive rounds of a `repeat` with equal bytes are stored once, too, after a head with their
 * number.  The bytes contain durations, not times.  So equal rounds are those with the same
 * commands and the same durations, and the times of each round follow from the head.
 *
 * Commands that only look (`show`, `export`) and comments are not in the log.
 */
#ifndef CLI_SESSION_LOG_H
#define CLI_SESSION_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/pool.h"
#include "cli/lang/script.h"

/* Maximum depth of nested loops: LOG_FILES_MAX files that source each other, with SCRIPT_DEPTH_MAX
 * loops in each.
 */
#define LOG_FILES_MAX 9u
#define LOG_LOOPS_MAX ((size_t)LOG_FILES_MAX * SCRIPT_DEPTH_MAX)

enum log_outcome {
    LOG_DONE,    /* it did what its text says */
    LOG_CUT,     /* ended early by ^C, a limit or a stop */
    LOG_REFUSED, /* the lab or a device refused it */
    LOG_FAILED   /* a mistake, an expectation that did not hold, or a broken invariant */
};

/* A point in the time of a lab. */
struct moment {
    uint64_t tick; /* the last tick that is over */
    uint64_t ns;   /* simulated time */
};

/* A place in the history of a session, between two ticks: @n_entries commands are over, and the
 * next one may have begun.
 */
struct place {
    uint64_t n_entries;
    struct moment at;
};

/* An entry, decoded. */
struct log_entry {
    uint64_t i;            /* index; 0 is the first entry of the session */
    const struct step *st; /* lives as long as the log */
    const char *host;      /* host for bare names; "": none */
    enum log_outcome outcome;
    struct moment before, after; /* its ticks are before.tick + 1 .. after.tick */
};

/* A command with its host and its outcome.  All entries with the same three share one.  It is not a
 * deed of journal.h.
 */
struct log_deed;

struct log {
    struct pool pool; /* memory of the steps and hosts */
    struct log_deed *deeds;
    uint32_t n_deeds, deeds_room;
    uint32_t *places;  /* hash table of @deeds: index in @deeds plus 1; 0: free */
    uint32_t n_places; /* size of the hash table, a power of two */
    uint8_t *bytes;    /* the encoded entries */
    size_t n_bytes, bytes_room;
    uint64_t n;        /* number of entries; those of a round stored once count each time */
    struct moment end; /* time at the end of the last entry */
};

/* The rounds of a running block.  A round is one execution of the body of a loop. */
struct log_block {
    /* Offset in log.bytes, and length, of the last complete round, which stands for @n rounds. */
    size_t one_at, one_bytes;
    size_t now_at;           /* offset in log.bytes of the running round */
    uint64_t n;              /* number of equal rounds stored at @one_at; 0: none */
    uint64_t now_first;      /* index of the first entry of the running round */
    struct moment now_begin; /* time at the beginning of the running round */
    uint64_t began_first;    /* index of the first entry of the last complete round */
    struct moment began;     /* time at the beginning of that round */
};

void log_free(struct log *log);

/* Adds an entry.  Everything that @e points to is copied, and @e->i is ignored. */
void log_add(struct log *log, const struct log_entry *e);

/* log_open() begins a block.  log_round() ends a round of it: a round that equals the one before is
 * stored as a repetition.
 */
void log_open(const struct log *log, struct log_block *b);
void log_round(struct log *log, struct log_block *b);

/* Records that the only round of @b so far, which log_round() has ended, was executed @n times in
 * all, @n > 1.
 */
void log_again(struct log *log, struct log_block *b, uint64_t n);

/* Reads a log from its beginning, also while blocks are open.  The cursor is invalid after the log
 * has changed.
 */
struct log_cursor {
    const struct log *log;
    struct log_entry entry; /* the present entry */
    size_t at;              /* offset in log->bytes of the next entry or loop head */
    size_t depth;           /* number of loops that contain @at */
    struct {
        size_t at, end; /* offsets in log->bytes of the round: its first byte, and after its last */
        uint64_t left;  /* rounds that remain, the present one included */
    } loops[LOG_LOOPS_MAX];
};

/* Go to the first or the next entry.  Return false if there is none. */
bool log_first(struct log_cursor *c, const struct log *log);
bool log_next(struct log_cursor *c);

/* Reads a log as it is stored: equal rounds are read once.  LOG_PART_ENTRY: the next entry is in
 * c->entry.  LOG_PART_LOOP: the parts up to the matching LOG_PART_END were executed *@ret_times
 * times; only LOG_PART_LOOP sets *@ret_times.  LOG_PART_NONE: the end of the log.  log_begin() goes
 * to before the first part.
 */
enum log_part { LOG_PART_NONE, LOG_PART_ENTRY, LOG_PART_LOOP, LOG_PART_END };
void log_begin(struct log_cursor *c, const struct log *log);
enum log_part log_next_part(struct log_cursor *c, uint64_t *ret_times);

/* Goes to entry @i.  Returns false if there is none. */
bool log_at(struct log_cursor *c, const struct log *log, uint64_t i);

/* Goes to the entry of the command that made tick @tick.  Returns false if there is none: the tick
 * is in the future, or no command made it.  A lab that follows real time makes ticks between
 * commands, too.
 */
bool log_find(struct log_cursor *c, const struct log *log, uint64_t tick);

#endif
