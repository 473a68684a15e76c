/* SPDX-License-Identifier: MIT */
#include "cli/session/expr_count.h"

#include "cli/lang/expand.h"
#include "cli/session/session.h"
#include "cli/why/fate_text.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/leaf.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"

#define EVENTS_NOTED 12u
#define COUNTS_MAX   (2u * EXPR_TERMS_MAX) /* a comparison has two sides */

static bool unknown_name(const struct question *q, struct span at, const struct ev_condition *c)
{
    struct rdl_value v;
    size_t off;

    if (!q->reterr)
        return false;
    if (c->field->print == EVP_HOST && rdl_inspect(q->in->lab, c->text, &v, &off) != RDL_OK)
        return resolve_unknown(q->in, at, c->text, "no host", q->reterr);
    if (c->field->print == EVP_HOST) {
        char is_text[RDL_VALUE_BYTES];
        struct text is = text_on(is_text, sizeof(is_text));

        node_add_text(&is, &v);
        diag_set(q->reterr, DIAG_FAILED, at, "%s is %s, not a host", c->text, is_text);
        return diag_remedy(q->reterr, "\"show hosts\" lists the hosts");
    }
    diag_set(q->reterr, DIAG_FAILED, at, "no fault and no switch is called \"%s\"", c->text);
    q->reterr->missing = true;
    return diag_remedy(q->reterr, "\"show faults\" and \"show hosts\" list what there is");
}

/* Fails because events that should be counted were forgotten. */
static bool too_late(const struct question *q, struct span at, const struct ev_filter *filter,
                     uint64_t forgotten)
{
    const struct past past = past_of_lab(q->in->lab);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!q->reterr)
        return false;
    diag_set(q->reterr, DIAG_FAILED, at,
             "it is too late to count: %llu of %llu %s events are not in the record",
             (unsigned long long)forgotten, (unsigned long long)rdl_total(q->in->lab, filter->kind),
             ev_schema(filter->kind)->name);
    past_add_gap(&t, &past);
    if (t.len > 0)
        diag_note(q->reterr, "  %s", buf);
    if (past.forgotten > 0)
        diag_note(q->reterr, "  the record is full and has forgotten its oldest %llu events",
                  (unsigned long long)past.forgotten);
    return diag_remedy(q->reterr,
                       "ask once before it happens, and it is counted from then on; in a "
                       "scenario that is done for you");
}

bool expr_attach(struct rdl_lab *lab, struct expr *e, struct span at, struct diag *reterr)
{
    const struct scope in = {.lab = lab, .host = ""}; /* conditions have whole names */
    const struct question q = {&in, at, reterr};
    uint64_t forgotten = 0;
    enum rdl_status st;

    /* Depth is bounded by the parser. */
    if ((e->a && !expr_attach(lab, e->a, at, reterr)) ||
        (e->b && !expr_attach(lab, e->b, at, reterr)))
        return false;
    if (e->kind == EXPR_HAPPENS) {
        st = rdl_tally(lab, e->filter, &e->tally, NULL);
        return st == RDL_OK || diag_status(reterr, at, "event", st);
    }
    if (e->kind != EXPR_COUNT || e->filter->n == 0)
        return true; /* all of a kind: the lab knows the total */
    st = rdl_tally(lab, e->filter, &e->tally, &forgotten);
    if (st == RDL_ERR_FORGOTTEN) {
        const struct past past = past_of_lab(lab);
        const struct ev_condition *unknown = ev_filter_look_up(e->filter, past.names);

        if (unknown)
            return unknown_name(&q, expr_place(e, at), unknown);
        return too_late(&q, expr_place(e, at), e->filter, forgotten);
    }
    return st == RDL_OK || diag_status(reterr, at, "count", st);
}

bool expr_count(const struct question *q, const struct expr *e, uint64_t *ret)
{
    const struct span at = expr_place(e, q->at);
    const struct ev_condition *unknown = NULL;

    if (e->filter->n == 0) {
        *ret = rdl_total(q->in->lab, e->filter->kind);
        return true;
    }
    RDL_ASSERT(e->tally);
    switch (rdl_tally_count(e->tally, ret, &unknown)) {
    case RDL_OK:
        return true;
    case RDL_ERR_NOT_FOUND:
        return unknown_name(q, at, unknown);
    default:
        return too_late(q, at, e->filter, rdl_total(q->in->lab, e->filter->kind));
    }
}

bool expr_happened(const struct question *q, const struct expr *e, uint64_t *ret)
{
    const struct span at = expr_place(e, q->at);
    const struct ev_condition *unknown = NULL;

    if (!q->in->since) {
        diag_set(q->reterr, DIAG_VALUE, at, "what happens is over a moment later");
        return diag_remedy(q->reterr,
                           "until, break and back look at each tick; \"count(%s%s) > 0\" asks "
                           "whether it ever happened",
                           ev_schema(e->filter->kind)->name, e->filter->n ? ", ..." : "");
    }
    RDL_ASSERT(e->tally);
    if (rdl_tally_last(e->tally, ret, &unknown) != RDL_OK)
        return unknown_name(q, at, unknown);
    if (ev_tick(*ret) <= *q->in->since)
        *ret = 0;
    return true;
}

/* Makes *@index when it is first needed. */
static void note_event(struct diag *d, const struct past *past, struct past_index **index,
                       const struct ev *e)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, e, past->names);
    if (e->kind == EV_tx) {
        if (!*index)
            *index = fate_index(past);
        text_add(&t, "  ");
        fate_add(&t, *index, e);
    }
    diag_note(d, "  %s", buf);
}

/* One of the count()s whose events are noted. */
struct counted {
    const struct ev_filter *filter;
    uint64_t all, in_record; /* events that it has counted */
};

struct counts {
    struct counted v[COUNTS_MAX];
    size_t n;
};

/* Adds @e, which may be NULL, if it is a count(). */
static void add_count(const struct question *q, const struct expr *e, struct counts *ret)
{
    struct counted *c = &ret->v[ret->n];

    if (!e || e->kind != EXPR_COUNT)
        return;
    *c = (struct counted){.filter = e->tally ? rdl_tally_filter(e->tally) : e->filter};
    ret->n += expr_count(q, e, &c->all);
}

/* Did any of @counts count the event @e?  Then it is added to their recorded events. */
static bool is_counted(struct counts *counts, const struct ev *e)
{
    bool counted = false;

    for (size_t i = 0; i < counts->n; i++) {
        const bool mine = ev_filter_holds(counts->v[i].filter, e);

        counts->v[i].in_record += mine;
        counted = counted || mine;
    }
    return counted;
}

/* Notes the first events that @counts have counted, each of them once. */
static void note_events(struct diag *d, const struct past *past, struct counts *counts)
{
    struct past_index *index = NULL;
    uint64_t n = 0, more, lost = 0;

    for (size_t i = 0; i < past->n; i++) {
        const struct ev *e = past_at(past, i);

        if (is_counted(counts, e) && n++ < EVENTS_NOTED)
            note_event(d, past, &index, e);
    }
    past_index_free(index);
    for (size_t i = 0; i < counts->n; i++) {
        const uint64_t gone = counts->v[i].all - counts->v[i].in_record;

        lost = gone > lost ? gone : lost; /* another may have counted the same */
    }
    more = lost + (n > EVENTS_NOTED ? n - EVENTS_NOTED : 0);
    if (n == 0 && lost > 0)
        diag_note(d, "  none of them is in the record (any more)");
    else if (more > 0)
        diag_note(d, "  ... and %s%llu more%s", lost > 0 && counts->n > 1 ? "at least " : "",
                  (unsigned long long)more,
                  n < EVENTS_NOTED ? ", not in the record (any more)" : "");
}

void expr_note_events(const struct scope *in, const struct expr_terms *terms, struct diag *d)
{
    const struct past past = past_of_lab(in->lab);
    struct diag ignored = {.kind = DIAG_NONE};
    const struct question q = {in, {0, 0}, &ignored};
    struct counts counts = {.n = 0};

    for (size_t i = 0; i < terms->n; i++) {
        const struct expr *e = terms->v[i].e;

        add_count(&q, e, &counts);
        add_count(&q, e->a, &counts);
        add_count(&q, e->b, &counts);
    }
    if (counts.n > 0)
        note_events(d, &past, &counts);
}

/* The same for each round of @st.  A block that cannot be expanded fails when it runs. */
static void count_rounds_ahead(const struct session *s, const struct step *st)
{
    struct rounds r = rounds_of(st);
    struct pool pool = {NULL};
    struct var v = {.name = step_text(st, "name")};

    while ((v.text = rounds_next(&r, &pool))) {
        struct step *steps = NULL;

        if (expand_steps(st->body, &v, &pool, &steps, NULL)) {
            for (const struct step *b = steps; b; b = b->next)
                session_count_ahead(s, b);
        }
        pool_free(&pool);
    }
}

/* An expression that cannot be counted fails when it is evaluated.  Depth is bounded by
 * SCRIPT_DEPTH_MAX.
 */
void session_count_ahead(const struct session *s, const struct step *st)
{
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const char *text =
            st->cmd->params[i].kind == VAL_EXPR && st->args[i].n > 0 ? st->args[i].v[0].text : NULL;
        struct diag ignored = {.kind = DIAG_NONE};
        struct pool pool = {NULL};
        struct expr *e = text ? expr_parse(&pool, text, st->at, &ignored) : NULL;

        if (e)
            (void)expr_attach(s->lab, e, st->at, &ignored);
        pool_free(&pool);
    }
    if (st->cmd == &cmd_table[CMD_macro])
        return; /* nothing of it is done where it is defined */
    if (st->cmd == &cmd_table[CMD_foreach]) {
        count_rounds_ahead(s, st);
        return;
    }
    for (const struct step *b = st->body; b; b = b->next)
        session_count_ahead(s, b);
    for (const struct step *b = st->other; b; b = b->next)
        session_count_ahead(s, b);
}
