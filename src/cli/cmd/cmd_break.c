/* SPDX-License-Identifier: MIT */
/* Commands about breakpoints and watchpoints: break, watch, delete, enable, disable. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/session/stop_look.h"
#include "emu/base/plural.h"
#include "emu/base/text.h"
#include "emu/facts/leaf.h"

#define WHAT_COLUMNS 44

static void list(struct session *s)
{
    char what[DIAG_MESSAGE_BYTES];
    struct text t;
    bool any = false;

    for (const struct stop *stop = s->stops.first; stop; stop = stop->next) {
        if (stop->owner != STOP_OF_PROMPT)
            continue;
        any = true;
        t = text_on(what, sizeof(what));
        stop_add_what(&t, stop);
        session_say(s, "%3lu  %s  %-*s  hit %llu time%s%s%s%s\n", (unsigned long)stop->id,
                    stop->watches ? "watch" : "break", WHAT_COLUMNS, what,
                    (unsigned long long)stop->n_hits, plural_s(stop->n_hits),
                    stop->once ? ", once" : "", stop->steps ? ", do { ... }" : "",
                    stop->enabled ? "" : ", disabled");
    }
    if (!any)
        session_say(s, "there are no stops; \"help break\" tells how to make one\n");
}

/* A value can be watched: it is one path, or count(). */
static bool is_value(struct session *s, const struct stop *stop, struct span at)
{
    struct leaf_places places;
    size_t off;

    if (stop->when->kind == EXPR_COUNT)
        return true;
    if (stop->when->kind != EXPR_PATH) {
        session_fail(s, at, "this is a condition, and no value that could be watched");
        return diag_remedy(&s->diag, "\"break %s\" stops when it begins to hold", stop->text);
    }
    if (!strpbrk(stop->when->text, ".[") || !leaf_path_leads(stop->when->text, &places, &off) ||
        places.leaf || places.memory)
        return true;
    session_fail(s, at, "%s is no value, but has some", stop->text);
    return diag_remedy(&s->diag, "TAB behind \"watch %s.\" lists them", stop->text);
}

/* Returns true if the watched value is empty, so that it cannot change. */
static bool is_empty(struct session *s, const struct stop *stop, struct span at)
{
    const struct scope in = session_scope(s);
    const struct question q = {&in, at, &s->diag};

    if (stop->is.kind == OPERAND_BARE)
        return !operand_unknown(&q, stop->when);
    if (stop->is.kind == OPERAND_BYTES && stop->is.n_bytes == 0)
        return !session_fail(s, at, "these are no bytes");
    return false;
}

/* Prints why @stop cannot be evaluated yet: it may be mistyped. */
static void say_unknown(struct session *s, const struct stop *stop, const struct diag *why)
{
    session_say(s, "%s %lu waits: ", stop->watches ? "watch" : "break", (unsigned long)stop->id);
    session_say_plain(s, why->message);
    if (why->remedy[0]) {
        session_say(s, "; ");
        session_say_plain(s, why->remedy);
    }
    session_say(s, "\n");
}

/* Completes the stop that parameter @name of @st describes.  If it fails, there is no stop. */
static bool add(struct session *s, const struct step *st, const char *name, bool watches)
{
    const struct span at = step_span(st, name, 0);
    struct stop *stop =
        stops_add_when(&s->stops, STOP_OF_PROMPT, step_text(st, name), at, &s->diag);
    struct diag why = {.kind = DIAG_NONE};

    if (!stop)
        return false;
    stop->watches = watches;
    stop->once = step_has(st, "once");
    stop->host = pool_copy(&stop->pool, s->run.block->host, strlen(s->run.block->host));
    if (st->body)
        stop_put_steps(stop, s->run.block->src, st->body);
    if ((watches && !is_value(s, stop, at)) || !stop_attach(s, stop, at)) {
        stops_refuse(&s->stops, stop);
        return false;
    }
    if (!stop_arrive(s, stop, &why) && !why.missing) {
        stops_refuse(&s->stops, stop); /* it could never be answered */
        s->diag = why;
        s->diag.at = at;
        return false;
    }
    if (watches && is_empty(s, stop, at)) {
        stops_refuse(&s->stops, stop);
        return false;
    }
    session_say(s, "%s %lu\n", watches ? "watch" : "break", (unsigned long)stop->id);
    if (why.kind != DIAG_NONE)
        say_unknown(s, stop, &why);
    return stops_listen(s);
}

bool run_break(struct session *s, const struct step *st)
{
    if (step_has(st, "when"))
        return add(s, st, "when", false);
    if (step_has(st, "once") || st->body)
        return session_fail(s, st->at, "break at what?");
    list(s);
    return true;
}

bool run_watch(struct session *s, const struct step *st)
{
    return add(s, st, "what", true);
}

/* Finds the stop of the prompt for number @i of @st; NULL: there is none. */
static struct stop *stop_of(struct session *s, const struct step *st, size_t i)
{
    const char *text = step_arg(st, "numbers")->v[i].text;
    struct stop *stop =
        stops_find(&s->stops, (uint32_t)value_number(step_param(st, "numbers"), text));

    return stop && stop->owner == STOP_OF_PROMPT ? stop : NULL;
}

/* Calls @act for each stop that @st names, or for none if one of them does not exist. */
static bool each(struct session *s, const struct step *st,
                 void (*act)(struct session *s, struct stop *stop))
{
    const size_t n = step_arg(st, "numbers")->n;
    struct stop *next;

    if ((n == 0) != step_has(st, "all")) {
        session_fail(s, st->at, n ? "either numbers or all" : "which of them?");
        return diag_remedy(&s->diag, "\"%s 1\", \"%s all\"; \"break\" lists them", st->cmd->name,
                           st->cmd->name);
    }
    for (size_t i = 0; i < n; i++) {
        if (stop_of(s, st, i))
            continue;
        session_fail(s, step_span(st, "numbers", i), "there is no stop with this number");
        return diag_remedy(&s->diag, "\"break\" lists them");
    }
    for (size_t i = 0; i < n; i++) {
        if (stop_of(s, st, i)) /* otherwise it was given twice */
            act(s, stop_of(s, st, i));
    }
    for (struct stop *stop = s->stops.first; stop && n == 0; stop = next) {
        next = stop->next;
        if (stop->owner == STOP_OF_PROMPT)
            act(s, stop);
    }
    return stops_listen(s);
}

static void remove_stop(struct session *s, struct stop *stop)
{
    stops_remove(&s->stops, stop->id);
}

static void enable(struct session *s, struct stop *stop)
{
    struct diag ignored;

    stop->enabled = true;
    (void)stop_arrive(s, stop, &ignored);
}

static void disable(struct session *s, struct stop *stop)
{
    (void)s;
    stop->enabled = false;
}

bool run_delete(struct session *s, const struct step *st)
{
    return each(s, st, remove_stop);
}

bool run_enable(struct session *s, const struct step *st)
{
    return each(s, st, enable);
}

bool run_disable(struct session *s, const struct step *st)
{
    return each(s, st, disable);
}
