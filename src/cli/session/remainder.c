/* SPDX-License-Identifier: MIT */
#include "cli/session/remainder.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lang/words.h"
#include "cli/session/history.h"
#include "cli/session/session.h"
#include "emu/base/text.h"
#include "process/must.h"

static void remainder_free(struct remainder *r)
{
    if (r)
        pool_free(&r->pool);
    free(r);
}

void remainders_free(struct remainders *all)
{
    while (all->waiting) {
        struct remainder *gone = all->waiting;

        all->waiting = gone->next;
        remainder_free(gone);
    }
    remainder_free(all->current);
    remainder_free(all->resumed);
    *all = (struct remainders){.waiting = NULL};
}

/* Returns true if remainders are kept.  The steps of a stop, and replayed commands, leave none. */
static bool keeps(const struct session *s)
{
    return !s->stops.in_block && !s->history->replay.active && !s->run.quit;
}

/* Returns the source of a part of @r: that of the last part if it has the same text, or a copy. */
static const struct source *keep_source(struct remainder *r, const struct source *src)
{
    if (r->last && r->src_text == src->text)
        return r->last->src;
    r->src_text = src->text;
    return source_copy(&r->pool, src);
}

static void add(struct session *s, const struct source *src, const char *host,
                const struct step *first, const struct step *end)
{
    struct remainder *r = s->run.remainders.current;
    struct remainder_part *part;
    struct step *steps = NULL, **tail = &steps;

    if (!keeps(s) || !first || first == end)
        return;
    if (!r) {
        r = must_malloc(sizeof(*r));
        *r = (struct remainder){.next = NULL};
        s->run.remainders.current = r;
    }
    for (const struct step *st = first; st && st != end; st = st->next) {
        if (st->cmd == &cmd_table[CMD_continue])
            continue; /* in the rest itself it has nothing to say */
        *tail = step_copy(&r->pool, st);
        tail = &(*tail)->next;
    }
    part = pool_alloc(&r->pool, sizeof(*part));
    *part = (struct remainder_part){NULL, keep_source(r, src),
                                    pool_copy(&r->pool, host, strlen(host)), steps};
    if (r->last)
        r->last->next = part;
    else
        r->first = part;
    r->last = part;
}

void remainder_add(struct session *s, const struct block *in, const struct step *first,
                   const struct step *end)
{
    add(s, in->src, in->host, first, end);
}

void remainder_add_parts(struct session *s, const struct remainder_part *part)
{
    for (; part; part = part->next)
        add(s, part->src, part->host, part->steps, NULL);
}

/* Returns a copy of @st whose parameter @name, a duration, is shorter by @spent_ns; NULL: no time
 * is left.
 */
static struct step *shorter(struct pool *p, const struct step *st, const char *name,
                            uint64_t spent_ns)
{
    const struct param *param = step_param(st, name);
    struct step *copy = step_copy(p, st);
    uint64_t whole_ns;
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    if (!step_has(st, name) && !param->standard)
        return copy;
    whole_ns = step_number(st, name);
    if (spent_ns >= whole_ns)
        return NULL;
    text_addf(&t, "%lluns", (unsigned long long)(whole_ns - spent_ns));
    step_put(p, copy, name, buf);
    return copy;
}

void remainder_add_command(struct session *s, const struct block *in, const struct step *st,
                           uint64_t began_ns)
{
    const uint64_t spent_ns = rdl_now_ns(s->lab) - began_ns;
    struct pool pool = {NULL};
    struct step *left = NULL;

    if (st->cmd == &cmd_table[CMD_run])
        left = shorter(&pool, st, "for", spent_ns);
    else if (st->cmd == &cmd_table[CMD_until] || st->cmd == &cmd_table[CMD_finish])
        left = shorter(&pool, st, "timeout", spent_ns);
    else if (st->cmd == &cmd_table[CMD_step] && s->run.step.left > 0) {
        left = step_copy(&pool, st);
        step_put_number(&pool, left, "count", s->run.step.left);
    }
    remainder_add(s, in, left, NULL);
    pool_free(&pool);
}

struct remainder_part *remainder_last(const struct session *s)
{
    return s->run.remainders.current ? s->run.remainders.current->last : NULL;
}

void remainder_forget_since(struct session *s, struct remainder_part *last)
{
    struct remainder *r = s->run.remainders.current;

    if (!r || r->last == last)
        return;
    if (last) {
        last->next = NULL;
        r->last = last;
        r->src_text = NULL;
    } else {
        remainder_free(r);
        s->run.remainders.current = NULL;
    }
    session_say(s, "  not done: the rest of refused\n");
}

static void put_line(struct remainder *r, const struct source *src, struct span at)
{
    const char *s = src->text + at.at;
    const size_t n = strcspn(s, "\r\n");
    struct text t = text_on(r->line, sizeof(r->line));

    if (n < sizeof(r->line)) {
        text_addn(&t, s, n);
    } else {
        text_addn(&t, s, sizeof(r->line) - sizeof("..."));
        text_add(&t, "...");
    }
}

static void give_up(struct session *s, struct remainder *r)
{
    session_say(s, "  given up: the rest of ");
    session_say_plain(s, r->line);
    session_say(s, "\n");
    remainder_free(r);
}

void remainder_settle(struct session *s, const struct block *in, const struct step *st)
{
    struct remainder *r = s->run.remainders.current, **end = &s->run.remainders.waiting;

    if (!r)
        return;
    s->run.remainders.current = NULL;
    put_line(r, in->src, st->at);
    r->next = s->run.remainders.waiting;
    s->run.remainders.waiting = r;
    session_say(s,
                "  not done yet: %s, and what follows it; \"continue\" goes on with it, "
                "\"abandon\" gives it up\n",
                r->first->steps->cmd->name);
    if (++s->run.remainders.n <= REMAINDERS_MAX)
        return;
    while ((*end)->next)
        end = &(*end)->next;
    r = *end;
    *end = NULL;
    s->run.remainders.n--;
    give_up(s, r);
}

const struct remainder *remainder_take(struct session *s)
{
    struct remainder *r = s->run.remainders.waiting;

    remainder_free(s->run.remainders.resumed);
    s->run.remainders.resumed = r;
    if (r) {
        s->run.remainders.waiting = r->next;
        s->run.remainders.n--;
    }
    return r;
}

void remainders_abandon(struct session *s)
{
    while (s->run.remainders.waiting) {
        struct remainder *r = s->run.remainders.waiting;

        s->run.remainders.waiting = r->next;
        give_up(s, r);
    }
    s->run.remainders.n = 0;
}
