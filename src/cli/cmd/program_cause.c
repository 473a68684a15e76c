/* SPDX-License-Identifier: MIT */
/* A program that fails has often destroyed its queue pairs by then, so that nothing of them is left
 * in the inspect tree.  Which ones it had is in its account (exec_maker.h); what happened to them
 * is in the record.
 */
#include "cli/cmd/program_cause.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/first_error.h"
#include "cli/cmd/why_event.h"
#include "cli/live/live.h"
#include "cli/why/fate_text.h"
#include "cli/why/why_not.h"
#include "cli/why/work_text.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/rules.h"
#include "emu/trace/event.h"
#include "print/answer.h"
#include "print/shell.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"

#define TOLD_MAX 4u /* queue pairs of a program that are named; the first one is explained */

/* A queue pair of a program, and the first error of it that is recorded. */
struct failed_qp {
    struct live_qp qp;
    uint32_t k;             /* its number in exec_qp_at() */
    bool is_gone;           /* it is destroyed, and later events are about another one */
    const struct ev *error; /* a completion, or the change of the state; NULL: there is none */
};

struct program_cause {
    struct session *s;
    FILE *out;
    const char *trace;
    struct past past;
    struct past_index *index;
    uint32_t i; /* number of the program, from 0 */
    struct live_exec_info info;
    struct failed_qp *qps;
    size_t n_qps, n_failed;
    bool told_waits; /* the reason why the programs do not end was told */
    ev_id first;     /* the first error that was explained; 0: none */
    ev_id refusal;   /* the refused packet behind the errors that were told last; 0: none */
};

/* --- Finding ---------------------------------------------------------------------------------- */

static struct failed_qp *qp_of(struct program_cause *c, uint32_t qpn, ev_id when)
{
    for (size_t k = 0; k < c->n_qps; k++) {
        if (c->qps[k].qp.qpn == qpn && !c->qps[k].is_gone && c->qps[k].qp.tick < ev_tick(when))
            return &c->qps[k];
    }
    return NULL;
}

static void look_at(struct program_cause *c, const struct ev *e)
{
    struct failed_qp *q = NULL;

    if (is_error_event(&c->past, e)) {
        q = qp_of(c, e->kind == EV_cqe ? e->u.cqe.qpn : e->u.qp_state.qpn, e->id);
    } else if (e->kind == EV_gone && e->u.gone.object == OBJ_QP) {
        q = qp_of(c, e->u.gone.number, e->id);
        if (q)
            q->is_gone = true;
        return;
    }
    if (!q || q->error)
        return;
    q->error = e;
    c->n_failed++;
}

/* Finds the queue pairs of the program, and their first errors. */
static void find(struct program_cause *c)
{
    const struct live_ops *ops = c->s->config.live_ops;
    const uint32_t host = ev_names_find_host(c->past.names, c->info.host);
    struct live_qp qp;
    size_t room = 0;

    c->qps = NULL;
    c->n_qps = c->n_failed = 0;
    for (uint32_t k = 0; ops->exec_qp_at(c->s->outside.live, c->i, k, &qp, NULL); k++) {
        c->qps = must_grow(c->qps, c->n_qps, &room, sizeof(*c->qps));
        c->qps[c->n_qps++] = (struct failed_qp){.qp = qp, .k = k};
    }
    for (size_t i = 0; c->n_qps > 0 && i < c->past.n; i++) {
        const struct ev *e = past_at(&c->past, i);

        if (past_host_of(e) == host)
            look_at(c, e);
    }
}

/* Returns the queue pair with the first error that was not told yet; NULL: there is none. */
static struct failed_qp *next_failed(struct program_cause *c, ev_id behind)
{
    struct failed_qp *found = NULL;

    for (size_t k = 0; k < c->n_qps; k++) {
        struct failed_qp *q = &c->qps[k];

        if (q->error && q->error->id > behind && (!found || q->error->id < found->error->id))
            found = q;
    }
    return found;
}

/* --- Telling ---------------------------------------------------------------------------------- */

/* Prints @text, the answer of the command @heading, below it. */
static void print_answer(FILE *out, const char *heading, const char *text)
{
    fprintf(out, "  %s:\n", heading);
    answer_print(out, heading, text);
}

/* Appends the place at which the region was made whose key was refused in packet @rx, if a program
 * has made it.
 */
static void add_region(const struct program_cause *c, struct text *t, const struct ev *rx)
{
    const struct live_ops *ops = c->s->config.live_ops;
    const struct ev *key =
        rx ? past_refused_key(c->index, rx->u.rx.host, rx->u.rx.qpn, rx->id, true) : NULL;
    struct live_exec_info info;
    struct live_maker maker;

    for (uint32_t i = 0; key && ops->exec_at(c->s->outside.live, i, &info); i++) {
        if (ev_names_find_host(c->past.names, info.host) != key->u.key.host ||
            !ops->exec_mr_of(c->s->outside.live, i, (uint32_t)key->u.key.key, ev_tick(key->id),
                             &maker))
            continue;
        text_addf(t, "; the region was made by %s%s%s", maker.call, maker.where[0] ? ", " : "",
                  maker.where);
        return;
    }
}

/* Prints "  h2.qp3 went to ERR in #70.3: it refused ...", with the place that made the region, and
 * that of the queue pair if `why` cannot tell it any more.  Returns false if the same refusal was
 * told before.
 */
static bool print_headline(struct program_cause *c, const struct failed_qp *q)
{
    const struct live_ops *ops = c->s->config.live_ops;
    const struct ev *rx = work_refusal_behind(c->index, q->error);
    const bool told = rx && rx->id == c->refusal;
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct live_maker maker;
    struct live_qp qp;

    if (told) {
        work_add_error(&t, c->index, q->error);
        text_add(&t, ", by the same refusal, in ");
        ev_add_id(&t, rx->id);
    } else {
        work_add_failure(&t, c->index, q->error);
        add_region(c, &t, rx);
        if (rx && rx->u.rx.rule == RULE_RESP_QP_ACCESS)
            text_add(&t, "; ibv_modify_qp sets them");
    }
    if (q->is_gone && ops->exec_qp_at(c->s->outside.live, c->i, q->k, &qp, &maker) && maker.call) {
        text_add(&t, "; ");
        ev_names_object(c->past.names, &t, past_host_of(q->error), OBJ_QP, qp.qpn);
        text_addf(&t, " was made by %s%s%s", maker.call, maker.where[0] ? ", " : "", maker.where);
    }
    show_wrap(c->out, 2, buf);
    c->refusal = rx ? rx->id : 0;
    return !told;
}

/* Prints how more is found out from a file with the events, if there is one or can be one. */
static void print_more(const struct program_cause *c)
{
    char line[SHELL_LINE_BYTES], target[64];
    struct text t = text_on(target, sizeof(target));

    if (!c->trace || !c->first)
        return;
    ev_add_id(&t, c->first);
    t = text_on(line, sizeof(line));
    text_add(&t, "rdmalab show");
    shell_add_file(&t, c->trace[0] ? c->trace : "FILE.ndjson");
    if (t.cut)
        return;
    if (c->trace[0])
        fprintf(c->out, "  more:  %s why '%s'\n", line, target);
    else
        fprintf(c->out, "  more:  with --events FILE.ndjson, %s why\n", line);
}

/* Prints the answer of `why` about the error of @q. */
static void explain(struct program_cause *c, const struct failed_qp *q)
{
    char target[64], heading[sizeof(target) + sizeof("why ")];
    struct text t = text_on(target, sizeof(target));
    char *text = NULL;
    size_t bytes;
    FILE *out = must_memstream(&text, &bytes);

    ev_add_id(&t, q->error->id);
    snprintf(heading, sizeof(heading), "why %s", target);
    (void)why_event_print(c->s, out, &c->past, q->error->id, target);
    must_memstream_end(out, &text);
    print_answer(c->out, heading, text);
    if (!c->first)
        c->first = q->error->id;
    free(text);
}

static void tell_nothing(const struct program_cause *c)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (c->info.hint[0] || c->info.overflow[0] || (c->told_waits && c->info.runs))
        return; /* the reason was told */
    text_addf(&t, "in the lab nothing went wrong for %s: ", SHOWN_NAME(c->info.name));
    if (c->n_qps == 0)
        text_add(&t, "it has made no queue pair");
    else if (c->past.forgotten > 0 || c->past.gap_from)
        text_add(&t, "no error of its queue pairs is recorded");
    else
        text_add(&t, "no work request of it failed, and no error stopped a queue pair of it");
    show_wrap(c->out, 2, buf);
}

static void tell_program(struct program_cause *c)
{
    ev_id told = 0;
    size_t n = 0;

    find(c);
    for (; n < TOLD_MAX && n < c->n_failed; n++) {
        const struct failed_qp *q = next_failed(c, told);

        if (print_headline(c, q) && n == 0)
            explain(c, q);
        told = q->error->id;
    }
    if (n < c->n_failed)
        fprintf(c->out, "  and %zu more of its queue pairs failed\n", c->n_failed - n);
    if (c->n_failed == 0)
        tell_nothing(c);
    free(c->qps);
}

static void count_wait(void *ctx, const struct rdl_wait *w)
{
    (void)w;
    ++*(size_t *)ctx;
}

/* Tells what the lab waits for, if it waits. */
static void tell_waits(struct program_cause *c)
{
    char *text = NULL;
    size_t n = 0, bytes;
    struct why_not *w;
    FILE *out;

    rdl_waits(c->s->lab, count_wait, &n);
    if (n == 0)
        return;
    out = must_memstream(&text, &bytes);
    w = why_not_begin(out, c->s->lab, &c->past);
    why_not_for_program(w);
    why_not_anything(w);
    why_not_end(w);
    must_memstream_end(out, &text);
    if (bytes > 0)
        print_answer(c->out, "why not", text);
    c->told_waits = bytes > 0;
    free(text);
}

/* Returns true if program c->info is to be explained. */
static bool is_asked(const struct program_cause *c, bool timed_out)
{
    return c->info.failed || (timed_out && c->info.runs) || c->s->outside.asked == c->info.number;
}

/* Returns true if one of the programs to be explained still runs. */
static bool one_runs(struct program_cause *c, bool timed_out)
{
    const struct live_ops *ops = c->s->config.live_ops;

    for (uint32_t i = 0; ops->exec_at(c->s->outside.live, i, &c->info); i++) {
        if (c->info.runs && is_asked(c, timed_out))
            return true;
    }
    return false;
}

void program_cause_print(struct session *s, FILE *out, bool timed_out, const char *trace)
{
    struct program_cause c = {.s = s, .out = out, .trace = trace};
    const struct live_ops *ops = s->config.live_ops;

    if (!s->lab || !s->outside.live)
        return;
    c.past = past_of_lab(s->lab);
    c.index = fate_index(&c.past);
    if (one_runs(&c, timed_out))
        tell_waits(&c); /* comes first: it is the cause of most errors below */
    for (; ops->exec_at(s->outside.live, c.i, &c.info); c.i++) {
        if (is_asked(&c, timed_out))
            tell_program(&c);
    }
    print_more(&c);
    past_index_free(c.index);
}
