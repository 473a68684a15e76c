/* SPDX-License-Identifier: MIT */
#include "cli/session/journal.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lang/words.h"
#include "emu/base/text.h"
#include "emu/facts/enum_table.h"
#include "process/must.h"

#define STEP_COUNT_MAX 1000000000u /* of one `step` */

void journal_free(struct journal *j)
{
    pool_free(&j->pool);
    pool_free(&j->scratch);
    log_free(&j->log);
    free(j->marks);
    *j = (struct journal){.marks = NULL};
}

/* --- Making steps ----------------------------------------------------------------------------- */

static struct step *make(struct pool *p, enum cmd_id cmd)
{
    return step_new(p, &cmd_table[cmd], (struct span){0, 0});
}

static struct step *make_ticks(struct pool *p, uint64_t n)
{
    struct step *st = make(p, CMD_step);

    step_put(p, st, "grain", "tick");
    step_put_number(p, st, "count", n);
    return st;
}

static struct step *make_wait(struct pool *p, uint64_t ns)
{
    struct step *st = make(p, CMD_run);
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%lluns", (unsigned long long)ns);
    step_put(p, st, "for", buf);
    return st;
}

/* Makes a step that expects @body to be refused: after @ticks, or because of @why if @ticks is 0.
 */
static struct step *make_refused(struct pool *p, const struct step *body, uint64_t ticks,
                                 const struct diag *why)
{
    struct step *st = make(p, CMD_refused);
    const uint32_t reason = ticks ? RDL_ERR_TIMEOUT : why ? why->reason : 0;
    const struct enum_row *row = enum_by_value(&words_reason, reason);
    char word[VALUE_WORD_BYTES];

    if (ticks)
        step_put_number(p, st, "ticks", ticks);
    if (row)
        value_word_text(&words_reason, row, word);
    step_put(p, st, row ? "reason" : "says", row ? word : why ? why->message : "");
    st->body = step_copy(p, body);
    return st;
}

/* Returns a copy without the commands that have one of the properties @without; NULL: none is
 * left.
 */
static struct step *copy_without(struct pool *p, const struct step *st, unsigned without);

/* The same for a list.  Depth is bounded by SCRIPT_DEPTH_MAX. */
static struct step *copy_list_without(struct pool *p, const struct step *first, unsigned without)
{
    struct step *copy = NULL, **tail = &copy;

    for (const struct step *st = first; st; st = st->next) {
        *tail = copy_without(p, st, without);
        if (*tail)
            tail = &(*tail)->next;
    }
    return copy;
}

static struct step *copy_without(struct pool *p, const struct step *st, unsigned without)
{
    struct step *copy;

    if (step_flags(st) & without)
        return NULL;
    /* A look may be what is refused.  A `source` comes behind that, or the deed would be another.
     */
    if (st->cmd->flags & CMD_KEEPS_LOOKS)
        without = CMD_PROMPT_ONLY;
    copy = step_copy_head(p, st);
    copy->body = copy_list_without(p, st->body, without);
    copy->other = copy_list_without(p, st->other, without);
    return copy->body || copy->other || !(st->cmd->flags & CMD_BLOCK) ? copy : NULL;
}

/* Returns a copy of the part of @st that has to be saved; NULL: none. */
static struct step *copy_changes(struct pool *p, const struct step *st)
{
    return copy_without(p, st, CMD_LOOKS | CMD_PROMPT_ONLY);
}

/* --- Lists of deeds --------------------------------------------------------------------------- */

static void append(struct pool *p, struct deeds *to, const struct step *st, const char *host)
{
    struct deed *d = pool_alloc(p, sizeof(*d));

    d->st = st;
    d->host = host[0] ? pool_copy(p, host, strlen(host)) : "";
    if (to->last)
        to->last->next = d;
    else
        to->first = d;
    to->last = d;
}

static void append_copy(struct pool *p, struct deeds *to, const struct step *st, const char *host)
{
    const struct step *copy = copy_changes(p, st);

    if (copy)
        append(p, to, copy, host);
}

/* Appends @st at @end, and returns the new end. */
static struct step **put_behind(struct step **end, struct step *st)
{
    *end = st;
    return &st->next;
}

/* Returns the deeds as steps.  Deeds in a row with the same host are in one `on`. */
static struct step *steps_of(struct pool *p, const struct deeds *list)
{
    struct step *first = NULL, **tail = &first, **inner = &first;
    bool inside = false; /* an `on`, whose steps end at @inner */
    const char *host = "";

    for (const struct deed *d = list->first; d; d = d->next) {
        struct step *st = copy_changes(p, d->st);

        if (!st)
            continue;
        if (d->host[0] && (!inside || strcmp(host, d->host) != 0)) {
            struct step *on = make(p, CMD_on);

            step_put(p, on, "hosts", d->host);
            tail = put_behind(tail, on);
            inner = &on->body;
        }
        inside = d->host[0] != '\0';
        host = d->host;
        if (inside)
            inner = put_behind(inner, st);
        else
            tail = put_behind(tail, st);
    }
    return first;
}

static bool deeds_equal(const struct deeds *a, const struct deeds *b)
{
    const struct deed *x = a->first, *y = b->first;

    while (x && y && strcmp(x->host, y->host) == 0 &&
           (x->st == y->st || step_equal(x->st, y->st))) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}

/* Returns the depth of nested blocks in @st. */
static size_t depth_of(const struct step *st)
{
    size_t deepest = 0;

    /* Depth is bounded by SCRIPT_DEPTH_MAX. */
    for (const struct step *b = st->body; b; b = b->next) {
        const size_t depth = depth_of(b);

        deepest = depth > deepest ? depth : deepest;
    }
    for (const struct step *b = st->other; b; b = b->next) {
        const size_t depth = depth_of(b);

        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + ((st->cmd->flags & CMD_BLOCK) != 0);
}

/* Returns true if the deeds may be written inside one more block. */
static bool fit_into_block(const struct deeds *list)
{
    for (const struct deed *d = list->first; d; d = d->next) {
        if (depth_of(d->st) + (d->host[0] != '\0') + 1 >= SCRIPT_DEPTH_MAX)
            return false;
    }
    return true;
}

/* Appends the deeds of @n equal iterations. */
static void append_equal(struct pool *p, struct deeds *to, const struct deeds *one, uint64_t n)
{
    struct step *repeat, *body;

    if (n < 2 || !fit_into_block(one)) {
        for (; n > 0; n--) {
            for (const struct deed *d = one->first; d; d = d->next)
                append(p, to, d->st, d->host);
        }
        return;
    }
    body = steps_of(p, one);
    if (!body)
        return;
    repeat = make(p, CMD_repeat);
    step_put_number(p, repeat, "count", n);
    repeat->body = body;
    append(p, to, repeat, "");
}

/* Appends the deeds of @b. */
static void append_block(struct pool *p, struct deeds *to, const struct journal_block *b)
{
    append_equal(p, to, &b->done, 1);
    append_equal(p, to, &b->equal, b->n_equal);
    append_equal(p, to, &b->now, 1);
}

/* --- The journal ------------------------------------------------------------------------------ */

static void add(struct journal *j, const struct step *st, const char *host)
{
    struct journal_block *b = j->open;

    j->n++;
    if (!b)
        append_copy(&j->pool, &j->done, st, host);
    else if (b->fleeting)
        append_copy(&j->scratch, &b->now, st, host);
    else
        append(&j->scratch, &b->now, st, host);
}

static void add_ticks(struct journal *j, uint64_t ticks, const char *host)
{
    while (ticks > 0) {
        const uint64_t n = ticks < STEP_COUNT_MAX ? ticks : STEP_COUNT_MAX;

        add(j, make_ticks(&j->scratch, n), host);
        ticks -= n;
    }
}

static void add_mark(struct journal *j, uint64_t n_entries)
{
    j->marks = must_grow(j->marks, j->n_marks, &j->marks_room, sizeof(*j->marks));
    j->marks[j->n_marks++] = (struct journal_mark){n_entries, j->done.last};
}

/* Ends a command outside of all blocks. */
static void end_command(struct journal *j)
{
    pool_free(&j->scratch);
    if (j->n_marks == 0 || j->marks[j->n_marks - 1].n_entries < j->log.n ||
        j->marks[j->n_marks - 1].last != j->done.last)
        add_mark(j, j->log.n);
}

/* Adds the deed of a command that ended so, if it has to be replayed. */
static void add_leaf(struct journal *j, const struct step *st, const struct journal_end *e)
{
    const unsigned flags = step_flags(st);
    const uint64_t ticks = e->after.tick - e->before.tick;
    const bool cut = e->outcome == LOG_CUT;
    const bool as_written = e->outcome == LOG_DONE;
    const bool broken = e->outcome == LOG_FAILED; /* a bug of the emulator: it is shown again */
    const struct log_entry entry = {0, st, e->host, e->outcome, e->before, e->after};

    if (!(flags & (CMD_LOOKS | CMD_HEADER | CMD_NOTE)))
        log_add(&j->log, &entry);
    if (j->open && ((flags & CMD_PROMPT_ONLY) || cut))
        j->open->differs = true;
    if (flags & (CMD_LOOKS | CMD_PROMPT_ONLY | CMD_HEADER))
        return;
    if (!as_written && ticks == 0 && e->waited_ns == 0 && !(e->why && e->why->partly))
        return;
    if (!as_written && (flags & CMD_PASSES)) {
        add_ticks(j, ticks, e->host);
        if (e->waited_ns)
            add(j, make_wait(&j->scratch, e->waited_ns), e->host);
    } else if (as_written || broken) {
        add(j, st, e->host);
    } else {
        add(j, make_refused(&j->scratch, st, cut ? ticks : 0, e->why), e->host);
    }
}

void journal_leaf(struct journal *j, const struct step *st, const struct journal_end *e)
{
    add_leaf(j, st, e);
    if (!j->open)
        end_command(j);
}

void journal_open(struct journal *j, struct journal_block *b, bool fleeting, bool sourced)
{
    *b = (struct journal_block){.outer = j->open, .fleeting = fleeting, .differs = sourced};
    b->begin = b->now_begin = pool_mark(&j->scratch);
    log_open(&j->log, &b->logged);
    j->open = b;
}

void journal_round(struct journal *j)
{
    struct journal_block *b = j->open;

    log_round(&j->log, &b->logged);
    if (b->n_equal > 0 && deeds_equal(&b->now, &b->equal)) {
        b->n_equal++;
        pool_back(&j->scratch, b->now_begin);
    } else {
        append_equal(&j->scratch, &b->done, &b->equal, b->n_equal);
        b->equal = b->now;
        b->n_equal = 1;
    }
    b->now = (struct deeds){NULL, NULL};
    b->now_begin = pool_mark(&j->scratch);
}

void journal_close(struct journal *j, const struct step *st, const char *host, bool ok)
{
    const struct journal_block *b = j->open;
    struct deeds all = {NULL, NULL};

    j->open = b->outer;
    /* Macros belong to the session, and do not exist where the deed is replayed. */
    if (ok && !b->differs && !step_with(st, CMD_SOURCES)) {
        pool_back(&j->scratch, b->begin);
        add(j, st, host);
    } else {
        append_block(&j->scratch, &all, b);
        for (const struct deed *d = all.first; d; d = d->next)
            add(j, d->st, d->host);
        if (j->open)
            j->open->differs |= b->differs;
    }
    if (!j->open)
        end_command(j);
}

void journal_put(struct journal *j, const struct step *st, const char *host)
{
    add(j, st, host);
}

void journal_put_end(struct journal *j)
{
    end_command(j);
}

/* Copies the deeds of the commands outside of all blocks in @from that were over after @n_entries.
 * Returns the number of entries of these commands.
 */
static uint64_t copy_commands(struct journal *to, const struct journal *from, uint64_t n_entries)
{
    const struct deed *d = from->done.first;
    uint64_t copied = 0;

    for (size_t i = 0; i < from->n_marks && from->marks[i].n_entries <= n_entries; i++) {
        const struct deed *end = from->marks[i].last ? from->marks[i].last->next : d;

        for (; d != end; d = d->next) {
            append_copy(&to->pool, &to->done, d->st, d->host);
            to->n++;
        }
        copied = from->marks[i].n_entries;
        add_mark(to, copied);
    }
    return copied;
}

struct journal journal_until(const struct journal *j, const struct place *place, uint64_t waited_ns)
{
    struct journal r = {.marks = NULL};
    const uint64_t copied = copy_commands(&r, j, place->n_entries);
    struct log_cursor c;
    bool more;

    for (more = log_first(&c, &j->log); more && c.entry.i < copied; more = log_next(&c))
        log_add(&r.log, &c.entry);
    for (; more && c.entry.i <= place->n_entries; more = log_next(&c)) {
        struct journal_end e = {.host = c.entry.host,
                                .before = c.entry.before,
                                .after = c.entry.after,
                                .outcome = c.entry.outcome};

        if (c.entry.i == place->n_entries) {
            if (place->at.tick == e.before.tick && waited_ns == 0)
                break; /* it has not begun */
            e.after = place->at;
            e.waited_ns = waited_ns;
            e.outcome = LOG_CUT;
        }
        journal_leaf(&r, c.entry.st, &e);
    }
    return r;
}

static void append_open(struct pool *p, struct deeds *to, const struct journal_block *b)
{
    /* Depth is bounded by SCRIPT_DEPTH_MAX in each of SESSION_SOURCES_MAX files. */
    if (b->outer)
        append_open(p, to, b->outer);
    append_block(p, to, b);
}

struct step *journal_steps(const struct journal *j, struct pool *p)
{
    struct deeds all = {NULL, NULL};

    append_equal(p, &all, &j->done, 1);
    if (j->open)
        append_open(p, &all, j->open);
    return steps_of(p, &all);
}
