/* SPDX-License-Identifier: MIT */
/* The bytes: an entry is the number of its deed plus 1, times 2, plus 1 if a gap comes before it;
 * then ticks and time of that gap; then ticks and time of the entry itself.  All are numbers of
 * variable length.  A loop is the byte 0 and a struct loop_head, and then one of its iterations.
 */
#include "cli/session/log.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "process/must.h"

#define NUMBER_BYTES_MAX 10u
#define FIRST_ROOM       64u
#define HASH_BEGIN       14695981039346656037u /* FNV-1a */
#define HASH_FACTOR      1099511628211u

struct log_deed {
    const struct step *st;
    const char *host;
    enum log_outcome outcome;
    uint64_t hash;
};

/* The head of a loop: before the bytes of a round that was done several times. */
struct loop_head {
    uint64_t n;     /* rounds */
    uint64_t bytes; /* of one; and what one has and takes: */
    uint64_t entries, ticks, ns;
};

#define HEAD_BYTES (1 + sizeof(struct loop_head))

void log_free(struct log *log)
{
    pool_free(&log->pool);
    free(log->deeds);
    free(log->places);
    free(log->bytes);
    *log = (struct log){.deeds = NULL};
}

/* --- Deeds ------------------------------------------------------------------------------------ */

static uint64_t hash_text(uint64_t hash, const char *s)
{
    do {
        hash = (hash ^ (uint8_t)*s) * HASH_FACTOR;
    } while (*s++);
    return hash;
}

static uint64_t hash_of(const struct log_entry *e)
{
    uint64_t hash = hash_text(hash_text(HASH_BEGIN, e->st->cmd->name), e->host);

    for (size_t i = 0; i < e->st->cmd->n_params; i++) {
        for (size_t k = 0; k < e->st->args[i].n; k++)
            hash = hash_text(hash, e->st->args[i].v[k].text);
        hash = hash_text(hash, "");
    }
    return hash_text(hash, e->st->as.text ? e->st->as.text : "") ^ e->outcome;
}

static bool is_deed(const struct log_deed *d, const struct log_entry *e, uint64_t hash)
{
    return d->hash == hash && d->outcome == e->outcome && strcmp(d->host, e->host) == 0 &&
           step_equal(d->st, e->st);
}

/* Returns the place of the deed with this hash, or a free place.  There is always one. */
static uint32_t *place_of(const struct log *log, const struct log_entry *e, uint64_t hash)
{
    uint32_t i = (uint32_t)hash & (log->n_places - 1);

    while (log->places[i] && !(e && is_deed(&log->deeds[log->places[i] - 1], e, hash)))
        i = (i + 1) & (log->n_places - 1);
    return &log->places[i];
}

/* At most half of the places are taken. */
static void make_places(struct log *log)
{
    if (2 * (log->n_deeds + 1) <= log->n_places)
        return;
    free(log->places);
    log->n_places = log->n_places ? 2 * log->n_places : FIRST_ROOM;
    log->places = must_malloc(log->n_places * sizeof(*log->places));
    memset(log->places, 0, log->n_places * sizeof(*log->places));
    for (uint32_t i = 0; i < log->n_deeds; i++)
        *place_of(log, NULL, log->deeds[i].hash) = i + 1;
}

/* Returns the number of the deed.  Adds it if it is new. */
static uint32_t deed_of(struct log *log, const struct log_entry *e)
{
    const uint64_t hash = hash_of(e);
    uint32_t *place;

    make_places(log);
    place = place_of(log, e, hash);
    if (*place)
        return *place - 1;
    if (log->n_deeds == log->deeds_room) {
        log->deeds_room = log->deeds_room ? 2 * log->deeds_room : FIRST_ROOM;
        log->deeds = must_realloc(log->deeds, log->deeds_room * sizeof(*log->deeds));
    }
    log->deeds[log->n_deeds] = (struct log_deed){
        .st = e->st->cmd->flags & CMD_AT_ONCE ? step_copy(&log->pool, e->st)
                                              : step_copy_head(&log->pool, e->st),
        .host = e->host[0] ? pool_copy(&log->pool, e->host, strlen(e->host)) : "",
        .outcome = e->outcome,
        .hash = hash,
    };
    *place = ++log->n_deeds;
    return log->n_deeds - 1;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void make_room(struct log *log, size_t more)
{
    while (log->bytes_room - log->n_bytes < more) {
        log->bytes_room = log->bytes_room ? 2 * log->bytes_room : FIRST_ROOM;
        log->bytes = must_realloc(log->bytes, log->bytes_room);
    }
}

/* Seven bits a byte, the lowest first; the last byte is below 128. */
static void put_number(struct log *log, uint64_t v)
{
    make_room(log, NUMBER_BYTES_MAX);
    for (; v >= 128; v >>= 7)
        log->bytes[log->n_bytes++] = (uint8_t)(v | 128);
    log->bytes[log->n_bytes++] = (uint8_t)v;
}

void log_add(struct log *log, const struct log_entry *e)
{
    const uint64_t ticks = e->before.tick - log->end.tick, ns = e->before.ns - log->end.ns;
    const bool gap = ticks || ns;

    RDL_ASSERT(e->before.tick >= log->end.tick && e->before.ns >= log->end.ns);
    RDL_ASSERT(e->after.tick >= e->before.tick && e->after.ns >= e->before.ns);
    put_number(log, 2 * ((uint64_t)deed_of(log, e) + 1) + gap);
    if (gap) {
        put_number(log, ticks);
        put_number(log, ns);
    }
    put_number(log, e->after.tick - e->before.tick);
    put_number(log, e->after.ns - e->before.ns);
    log->end = e->after;
    log->n++;
}

void log_open(const struct log *log, struct log_block *b)
{
    *b = (struct log_block){.now_at = log->n_bytes, .now_first = log->n, .now_begin = log->end};
}

static void put_head(struct log *log, size_t at, const struct loop_head *head)
{
    log->bytes[at] = 0;
    memcpy(log->bytes + at + 1, head, sizeof(*head));
}

/* The last round equals the one before it: drops its bytes and counts it. */
static void fold(struct log *log, struct log_block *b)
{
    const struct loop_head head = {
        .n = b->n + 1,
        .bytes = b->one_bytes,
        .entries = log->n - b->now_first,
        .ticks = log->end.tick - b->now_begin.tick,
        .ns = log->end.ns - b->now_begin.ns,
    };

    log->n_bytes = b->now_at;
    if (b->n == 1) {
        make_room(log, HEAD_BYTES);
        memmove(log->bytes + b->one_at + HEAD_BYTES, log->bytes + b->one_at, b->one_bytes);
        b->one_at += HEAD_BYTES;
        log->n_bytes += HEAD_BYTES;
    }
    b->n = head.n;
    put_head(log, b->one_at - HEAD_BYTES, &head);
}

void log_round(struct log *log, struct log_block *b)
{
    const size_t now_bytes = log->n_bytes - b->now_at;

    if (b->n > 0 && now_bytes == b->one_bytes && now_bytes > 0 &&
        memcmp(log->bytes + b->one_at, log->bytes + b->now_at, now_bytes) == 0) {
        fold(log, b);
    } else {
        b->one_at = b->now_at;
        b->one_bytes = now_bytes;
        b->n = 1;
    }
    b->began_first = b->now_first;
    b->began = b->now_begin;
    b->now_at = log->n_bytes;
    b->now_first = log->n;
    b->now_begin = log->end;
}

void log_again(struct log *log, struct log_block *b, uint64_t n)
{
    const struct loop_head one = {.n = n,
                                  .bytes = b->one_bytes,
                                  .entries = log->n - b->began_first,
                                  .ticks = log->end.tick - b->began.tick,
                                  .ns = log->end.ns - b->began.ns};

    RDL_ASSERT(b->n == 1 && n > 1 && b->one_bytes > 0);
    make_room(log, HEAD_BYTES);
    memmove(log->bytes + b->one_at + HEAD_BYTES, log->bytes + b->one_at, b->one_bytes);
    put_head(log, b->one_at, &one);
    b->one_at += HEAD_BYTES;
    b->n = n;
    log->n_bytes += HEAD_BYTES;
    log->n += (n - 1) * one.entries;
    log->end.tick += (n - 1) * one.ticks;
    log->end.ns += (n - 1) * one.ns;
    b->now_at = log->n_bytes;
    b->now_first = log->n;
    b->now_begin = log->end;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static uint64_t take_number(struct log_cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = c->log->bytes[c->at++];
        v |= (uint64_t)(byte & 127u) << shift;
        shift += 7;
    } while (byte & 128u);
    return v;
}

static void take_entry(struct log_cursor *c)
{
    const uint64_t first = take_number(c);
    const struct log_deed *d = &c->log->deeds[first / 2 - 1];
    struct log_entry *e = &c->entry;

    e->i++;
    e->st = d->st;
    e->host = d->host;
    e->outcome = d->outcome;
    e->before = e->after;
    if (first % 2) {
        e->before.tick += take_number(c);
        e->before.ns += take_number(c);
    }
    e->after = e->before;
    e->after.tick += take_number(c);
    e->after.ns += take_number(c);
}

/* Skips @n rounds of the loop @head. */
static void pass(struct log_cursor *c, const struct loop_head *head, uint64_t n)
{
    c->entry.i += n * head->entries;
    c->entry.after.tick += n * head->ticks;
    c->entry.after.ns += n * head->ns;
}

/* A search for the first entry from @i on that ends in @tick or later. */
struct sought {
    uint64_t tick, i;
};

static const struct sought next_one = {0, 0};

/* Returns the number of rounds of a loop that end before the searched entry. */
static uint64_t iterations_before(const struct log_cursor *c, const struct loop_head *head,
                                  const struct sought *sought)
{
    const uint64_t tick = c->entry.after.tick, first = c->entry.i + 1;

    if (sought->tick > tick)
        return head->n * head->ticks < sought->tick - tick
                   ? head->n
                   : (sought->tick - tick - 1) / head->ticks;
    if (sought->i > first)
        return head->n * head->entries <= sought->i - first ? head->n
                                                            : (sought->i - first) / head->entries;
    return 0;
}

/* Enters a loop, or skips it if it ends before the searched entry. */
static void take_loop(struct log_cursor *c, const struct sought *sought)
{
    struct loop_head head;
    uint64_t n;

    memcpy(&head, c->log->bytes + c->at + 1, sizeof(head));
    c->at += HEAD_BYTES;
    n = iterations_before(c, &head, sought);
    pass(c, &head, n);
    if (n == head.n) {
        c->at += head.bytes;
        return;
    }
    RDL_ASSERT(c->depth < LOG_LOOPS_MAX);
    c->loops[c->depth].at = c->at;
    c->loops[c->depth].end = c->at + head.bytes;
    c->loops[c->depth].left = head.n - n;
    c->depth++;
}

/* At the end of the bytes of a round: goes back to their beginning, or leaves the loop. */
static void end_round(struct log_cursor *c)
{
    if (--c->loops[c->depth - 1].left > 0)
        c->at = c->loops[c->depth - 1].at;
    else
        c->depth--;
}

/* Goes to the next entry.  Skips rounds that end before the searched entry. */
static bool go_on(struct log_cursor *c, const struct sought *sought)
{
    for (;;) {
        if (c->depth > 0 && c->at == c->loops[c->depth - 1].end) {
            end_round(c);
        } else if (c->at == c->log->n_bytes) {
            return false;
        } else if (c->log->bytes[c->at] == 0) {
            take_loop(c, sought);
        } else {
            take_entry(c);
            return true;
        }
    }
}

void log_begin(struct log_cursor *c, const struct log *log)
{
    c->log = log;
    c->at = 0;
    c->depth = 0;
    c->entry = (struct log_entry){.i = UINT64_MAX}; /* the next one is 0 */
}

bool log_first(struct log_cursor *c, const struct log *log)
{
    log_begin(c, log);
    return go_on(c, &next_one);
}

bool log_next(struct log_cursor *c)
{
    return go_on(c, &next_one);
}

enum log_part log_next_part(struct log_cursor *c, uint64_t *ret_times)
{
    struct loop_head head;

    if (c->depth > 0 && c->at == c->loops[c->depth - 1].end) {
        c->depth--;
        memcpy(&head, c->log->bytes + c->loops[c->depth].at - sizeof(head), sizeof(head));
        pass(c, &head, head.n - 1);
        return LOG_PART_END;
    }
    if (c->at == c->log->n_bytes)
        return LOG_PART_NONE;
    if (c->log->bytes[c->at] != 0) {
        take_entry(c);
        return LOG_PART_ENTRY;
    }
    take_loop(c, &next_one);
    *ret_times = c->loops[c->depth - 1].left;
    return LOG_PART_LOOP;
}

bool log_at(struct log_cursor *c, const struct log *log, uint64_t i)
{
    const struct sought sought = {0, i};

    log_begin(c, log);
    while (go_on(c, &sought)) {
        if (c->entry.i == i)
            return true;
    }
    return false;
}

bool log_find(struct log_cursor *c, const struct log *log, uint64_t tick)
{
    const struct sought sought = {tick, 0};

    log_begin(c, log);
    while (go_on(c, &sought)) {
        if (c->entry.after.tick >= tick)
            return c->entry.before.tick < tick;
    }
    return false;
}
