/* SPDX-License-Identifier: MIT */
#include "cli/session/expr_notes.h"

#include "cli/session/expr_count.h"
#include "cli/session/session.h"
#include "cli/why/fate_text.h"
#include "emu/base/text.h"
#include "emu/past/past.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"

#define EVENTS_NOTED 12u
#define COUNTS_MAX   (2u * EXPR_TERMS_MAX) /* a comparison has two sides */

/* Makes *@index when it is first needed. */
static void note_event(struct diag *d, const struct past *past, struct past_index **index,
                       const struct ev *e)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    past_add_line(&t, past, e);
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

/* Returns true if any of @counts counted the event @e, which is then added to their recorded
 * events.
 */
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
