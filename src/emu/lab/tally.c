/* SPDX-License-Identifier: MIT */
#include "emu/lab/tally.h"

#include <stdlib.h>
#include <string.h>

#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"

struct rdl_tally {
    struct rdl_tally *next; /* of the same event kind */
    size_t number;          /* in the order of creation */
    struct ev_filter filter;
    uint64_t count;
    ev_id last; /* the last event counted; 0: none */
    bool exact; /* false: created late, when the record had discarded events */
};

static void free_tally(struct rdl_tally *t)
{
    if (t)
        free(t->filter.conditions);
    free(t);
}

void tallies_done(struct tallies *all)
{
    for (size_t kind = 0; kind < EV_COUNT; kind++) {
        while (all->of_kind[kind]) {
            struct rdl_tally *first = all->of_kind[kind];

            all->of_kind[kind] = first->next;
            free_tally(first);
        }
    }
}

static void take(struct rdl_tally *t, const struct ev *e)
{
    if (!ev_filter_holds(&t->filter, e))
        return;
    t->count++;
    t->last = e->id;
}

static void on_event(void *ctx, const struct ev *e)
{
    const struct tallies *all = ctx;

    for (struct rdl_tally *t = all->of_kind[e->kind]; t; t = t->next)
        take(t, e);
}

static void meet(struct rdl_tally *t, const char *name, uint32_t host)
{
    for (size_t i = 0; i < t->filter.n; i++) {
        struct ev_condition *c = &t->filter.conditions[i];

        if (c->known || !ev_condition_names(c) || strcmp(c->text, name) != 0)
            continue;
        if (c->field->print == EVP_HOST && host == EV_HOST_NONE)
            continue; /* a switch or a fault */
        c->known = true;
        c->number = host;
    }
}

void tallies_meet(struct tallies *all, const char *name, uint32_t host)
{
    for (size_t kind = 0; kind < EV_COUNT; kind++) {
        for (struct rdl_tally *t = all->of_kind[kind]; t; t = t->next)
            meet(t, name, host);
    }
}

/* The number of the host or external port called @name in events, or EV_HOST_NONE. */
static uint32_t number_of(const struct lab_state *w, const char *name)
{
    const struct part *host = lab_part(w, name, PART_HOST);
    const struct part *port = lab_part(w, name, PART_PORT);

    if (host)
        return host->index;
    return port ? EV_PORT_FIRST + port->index : EV_HOST_NONE;
}

/* Returns true if @name is a fault, a switch, or the name that events give to random loss. */
static bool names_part(const struct lab_state *w, const char *name)
{
    return strcmp(name, EV_CHANCE) == 0 || strcmp(name, EV_BURST) == 0 ||
           lab_part(w, name, PART_SWITCH) || lab_part(w, name, PART_FAULT);
}

/* Resolves the names in the filter of @t with the present parts. */
static void look_up(const struct lab_state *w, struct rdl_tally *t)
{
    for (size_t i = 0; i < t->filter.n; i++) {
        struct ev_condition *c = &t->filter.conditions[i];

        if (!ev_condition_names(c))
            continue;
        if (c->field->print != EVP_HOST) {
            c->known = c->known || names_part(w, c->text);
        } else if (strcmp(c->text, "none") == 0) {
            c->known = true;
            c->number = EV_HOST_NONE;
        } else {
            c->number = number_of(w, c->text);
            c->known = c->number != EV_HOST_NONE;
        }
    }
}

void tallies_meet_again(struct rdl_lab *lab)
{
    for (size_t kind = 0; kind < EV_COUNT; kind++) {
        for (struct rdl_tally *t = lab->tallies.of_kind[kind]; t; t = t->next)
            look_up(lab->state, t);
    }
}

/* Counts the matching events of the record.  Sets t->exact if the record has all events of the
 * kind.  Returns the number of events of the kind that it lacks.
 */
static uint64_t count_past(const struct rdl_lab *lab, struct rdl_tally *t)
{
    const enum ev_kind kind = t->filter.kind;
    uint64_t seen = 0;

    t->count = 0;
    t->last = 0;
    for (size_t i = 0; i < rdl_record_count(lab); i++) {
        const struct ev *e = rdl_record_at(lab, i);

        seen += e->kind == kind;
        take(t, e);
    }
    t->exact = seen == lab->state->trace.totals[kind];
    return lab->state->trace.totals[kind] - seen;
}

static struct rdl_tally *find(const struct tallies *all, const struct ev_filter *filter)
{
    for (struct rdl_tally *t = all->of_kind[filter->kind]; t; t = t->next) {
        if (ev_filter_equal(&t->filter, filter))
            return t;
    }
    return NULL;
}

static struct rdl_tally *copy_of(const struct ev_filter *filter)
{
    struct rdl_tally *t = calloc(1, sizeof(*t));
    struct ev_condition *c = calloc(filter->n + 1, sizeof(*c));

    if (!t || !c) {
        free(t);
        free(c);
        return NULL;
    }
    for (size_t i = 0; i < filter->n; i++)
        c[i] = filter->conditions[i];
    t->filter = (struct ev_filter){filter->kind, filter->n, c};
    return t;
}

static void keep(struct rdl_lab *lab, struct rdl_tally *t)
{
    struct tallies *all = &lab->tallies;
    struct ev_set kinds;

    t->number = all->n++;
    t->next = all->of_kind[t->filter.kind];
    all->of_kind[t->filter.kind] = t;
    if (!all->listens) {
        all->sink = (struct trace_sink){on_event, all, ev_set_none, NULL};
        trace_sink_add(&lab->sinks, &all->sink);
        all->listens = true;
    }
    kinds = all->sink.kinds;
    ev_set_add(&kinds, t->filter.kind);
    trace_sink_hear(&lab->sinks, &all->sink, &kinds);
}

enum rdl_status rdl_tally(struct rdl_lab *lab, const struct ev_filter *filter,
                          struct rdl_tally **ret, uint64_t *reterr_forgotten)
{
    struct rdl_tally *t = find(&lab->tallies, filter);
    uint64_t forgotten;

    if (!t) {
        t = copy_of(filter);
        if (!t)
            return RDL_ERR_NOMEM;
        look_up(lab->state, t);
        forgotten = count_past(lab, t);
        if (!t->exact && reterr_forgotten) {
            free_tally(t);
            *reterr_forgotten = forgotten;
            return RDL_ERR_FORGOTTEN;
        }
        keep(lab, t);
    }
    *ret = t;
    return RDL_OK;
}

/* The first name in the filter of @t that no part has; NULL if there is none. */
static const struct ev_condition *unknown_name(const struct rdl_tally *t)
{
    for (size_t i = 0; i < t->filter.n; i++) {
        const struct ev_condition *c = &t->filter.conditions[i];

        if (!ev_condition_names(c) || c->known)
            continue;
        /* The name of a removed fault is known if events with it were counted. */
        if (c->field->print != EVP_HOST && c->op == CMP_EQ && t->count > 0)
            continue;
        return c;
    }
    return NULL;
}

enum rdl_status rdl_tally_count(const struct rdl_tally *t, uint64_t *ret,
                                const struct ev_condition **reterr_unknown)
{
    if (!t->exact)
        return RDL_ERR_FORGOTTEN;
    if (unknown_name(t)) {
        *reterr_unknown = unknown_name(t);
        return RDL_ERR_NOT_FOUND;
    }
    *ret = t->count;
    return RDL_OK;
}

enum rdl_status rdl_tally_last(const struct rdl_tally *t, uint64_t *ret,
                               const struct ev_condition **reterr_unknown)
{
    if (unknown_name(t)) {
        *reterr_unknown = unknown_name(t);
        return RDL_ERR_NOT_FOUND;
    }
    *ret = t->last;
    return RDL_OK;
}

const struct ev_filter *rdl_tally_filter(const struct rdl_tally *t)
{
    return &t->filter;
}

uint64_t rdl_total(const struct rdl_lab *lab, unsigned kind)
{
    return kind < EV_COUNT ? lab->state->trace.totals[kind] : 0;
}

struct tally_saved *tallies_save(const struct tallies *all)
{
    struct tally_saved *saved = all->n ? calloc(all->n, sizeof(*saved)) : NULL;

    for (size_t kind = 0; saved && kind < EV_COUNT; kind++) {
        for (const struct rdl_tally *t = all->of_kind[kind]; t; t = t->next)
            saved[t->number] = (struct tally_saved){t->count, t->last, t->exact};
    }
    return saved;
}

void tallies_restore(struct rdl_lab *lab, const struct tally_saved *saved, size_t n)
{
    tallies_meet_again(lab);
    for (size_t kind = 0; kind < EV_COUNT; kind++) {
        for (struct rdl_tally *t = lab->tallies.of_kind[kind]; t; t = t->next) {
            if (t->number < n) {
                t->count = saved[t->number].count;
                t->last = saved[t->number].last;
                t->exact = saved[t->number].exact;
            } else {
                (void)count_past(lab, t); /* inexact if the record has discarded events */
            }
        }
    }
}
