/* SPDX-License-Identifier: MIT */
#include "cli/session/expr_count.h"

#include "cli/session/session.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/leaf.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"

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
