/* SPDX-License-Identifier: MIT */
#include "cli/cmd/cause.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cmd/first_error.h"
#include "cli/cmd/why_bytes.h"
#include "cli/cmd/why_event.h"
#include "cli/live/live.h"
#include "cli/session/expr_count.h"
#include "cli/session/operand.h"
#include "cli/why/why.h"
#include "cli/why/why_not.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/trace/event.h"
#include "print/answer.h"
#include "process/must.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"
#include "tree/tree.h"

#define CAUSES_MAX 2u /* most answers about the subjects of one expectation */

#define HEADING_BYTES (SESSION_PATH_BYTES + 32u)

/* The failed expectation, and its answers so far. */
struct causes {
    struct session *s;
    struct question q;
    struct past past;
    char headings[CAUSES_MAX + 1][HEADING_BYTES]; /* one more, about an error */
    ev_id about[CAUSES_MAX + 1];                  /* the event that the answer is about; 0: none */
    size_t n, max;
};

/* One side of a term, and the way in which it differs from what was expected. */
struct subject {
    const struct expr *e;
    const char *term; /* text of the whole term, of @term_bytes */
    size_t term_bytes;
    const struct expr *against; /* the other side; NULL: the term is a value alone */
    enum compare op;            /* the expectation is "@e @op @against" */
    bool numeric;               /* both sides are numbers: @found and @bound */
    uint64_t found, bound;
};

/* --- Answers ---------------------------------------------------------------------------------- */

/* An answer that is being printed. */
struct told_answer {
    struct causes *c;
    FILE *out;
    char *text;
    size_t bytes;
};

/* Begins an answer with the command @heading that prints it.  Returns false if there are enough
 * answers, or if the command was answered already.
 */
static bool begin(struct told_answer *a, struct causes *c, const char *heading)
{
    struct text t;

    if (c->n == c->max)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->headings[i], heading) == 0)
            return false;
    }
    *a = (struct told_answer){.c = c};
    a->out = must_memstream(&a->text, &a->bytes);
    t = text_on(c->headings[c->n], HEADING_BYTES);
    text_add(&t, heading);
    c->about[c->n] = 0;
    return true;
}

static void note_line(void *ctx, const char *margin, const char *s, size_t bytes)
{
    diag_note(ctx, "%s%.*s", margin, (int)bytes, s);
}

static void end(struct told_answer *a)
{
    struct causes *c = a->c;
    struct diag *d = &c->s->diag;

    must_memstream_end(a->out, &a->text);
    if (a->bytes > 0)
        diag_note(d, "  %s:", c->headings[c->n]);
    answer_lines(c->headings[c->n], a->text, note_line, d);
    c->n += a->bytes > 0;
    free(a->text);
}

/* Answers `why @target`, which is about event @id. */
static void tell_why(struct causes *c, const char *target, ev_id id)
{
    char heading[HEADING_BYTES];
    struct text t = text_on(heading, sizeof(heading));
    struct told_answer a;

    text_addf(&t, "why %s", target);
    if (!begin(&a, c, heading))
        return;
    (void)why_event_print(c->s, a.out, &c->past, id, target);
    c->about[c->n] = id;
    end(&a);
}

static void tell_why_event(struct causes *c, ev_id id)
{
    char target[64];
    struct text t = text_on(target, sizeof(target));

    ev_add_id(&t, id);
    tell_why(c, target, id);
}

/* Answers `why @target`, an object.  Adds nothing if nothing happened to it that has a cause. */
static void tell_why_object(struct causes *c, const char *target)
{
    size_t off;
    ev_id id;

    if (why_find(c->s->lab, &c->past, target, &id, &off) == RDL_OK)
        tell_why(c, target, id);
}

/* Begins an answer of `why not @what`.  Returns NULL as begin() returns false. */
static struct why_not *begin_not(struct told_answer *a, struct causes *c, const char *what,
                                 size_t bytes)
{
    char heading[HEADING_BYTES];
    struct text t = text_on(heading, sizeof(heading));

    text_addf(&t, bytes ? "why not %.*s" : "why not", (int)bytes, what);
    return begin(a, c, heading) ? why_not_begin(a->out, c->s->lab, &c->past) : NULL;
}

static void end_not(struct told_answer *a, struct why_not *w)
{
    why_not_end(w);
    end(a);
}

static void count_wait(void *ctx, const struct rdl_wait *w)
{
    (void)w;
    ++*(size_t *)ctx;
}

/* Answers `why not` about the lab as a whole, if anything in it waits. */
static void tell_waits(struct causes *c)
{
    struct why_not *w;
    struct told_answer a;
    size_t n = 0;

    rdl_waits(c->s->lab, count_wait, &n);
    w = n > 0 ? begin_not(&a, c, "", 0) : NULL;
    if (!w)
        return;
    why_not_anything(w);
    end_not(&a, w);
}

/* --- Subjects --------------------------------------------------------------------------------- */

/* Returns true if more was expected than was found. */
static bool is_less(const struct subject *u)
{
    if (!u->numeric)
        return false;
    if (u->op == CMP_NE)
        return u->found == 0;
    return u->found < u->bound || (u->op == CMP_GT && u->found == u->bound);
}

/* Returns true if less was expected than was found.  *@ret is then the number, from 0, of the first
 * one too many.
 */
static bool is_more(const struct subject *u, uint64_t *ret)
{
    *ret = u->op == CMP_LT && u->bound > 0 ? u->bound - 1 : u->bound;
    return u->numeric && u->op != CMP_NE && !is_less(u);
}

/* Returns the recorded event with the number @n, from 0, among all @counted events that @f selects.
 * Returns NULL if not all of these are recorded.
 */
static const struct ev *counted_event(const struct causes *c, const struct ev_filter *f, uint64_t n,
                                      uint64_t counted)
{
    const struct ev *found = NULL;
    uint64_t recorded = 0;

    for (size_t i = 0; i < c->past.n; i++) {
        const struct ev *e = past_at(&c->past, i);

        if (ev_filter_holds(f, e) && recorded++ == n)
            found = e;
    }
    return recorded == counted ? found : NULL;
}

static void of_count(struct causes *c, const struct subject *u)
{
    struct ev_filter *f = u->e->filter;
    const struct ev *e = NULL;
    struct why_not *w;
    struct told_answer a;
    uint64_t n;

    if (u->e->kind == EXPR_HAPPENS || (is_less(u) && u->found == 0)) {
        w = begin_not(&a, c, u->term, u->term_bytes);
        if (!w)
            return;
        why_not_event(w, f);
        end_not(&a, w);
    } else if (is_less(u)) {
        tell_waits(c);
    } else if (is_more(u, &n)) {
        e = counted_event(c, u->e->tally ? rdl_tally_filter(u->e->tally) : f, n, u->found);
    }
    if (e)
        tell_why_event(c, e->id);
}

static void not_completion(struct causes *c, const char *cq, uint64_t n)
{
    char path[SESSION_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct why_not *w;
    struct told_answer a;

    text_addf(&t, "%s.wc[%llu]", cq, (unsigned long long)n);
    w = begin_not(&a, c, path, t.len);
    if (!w)
        return;
    why_not_completion(w, cq, n);
    end_not(&a, w);
}

/* Handles a value of completion @path ("h1.cq.wc[1].status").  Returns false if it is none. */
static bool of_completion(struct causes *c, const char *path)
{
    char cq[TREE_PATH_BYTES], wc[TREE_PATH_BYTES];
    uint64_t n;

    if (!tree_completion(c->s->lab, path, cq, &n))
        return false;
    if (tree_element(c->s->lab, cq, CHILD_cq_wc, n, wc))
        tell_why_object(c, wc);
    else if (n >= tree_number(c->s->lab, cq, LEAF_cq_count))
        not_completion(c, cq, n);
    return true;
}

/* Returns the last change of the state of the queue pair @path that is recorded; NULL: none is. */
static const struct ev *last_change(const struct causes *c, const char *path)
{
    char host[RDL_NAME_BYTES];
    uint32_t number, qpn = (uint32_t)tree_number(c->s->lab, path, LEAF_qp_qpn);

    tree_host_of(path, host);
    number = ev_names_find_host(c->past.names, host);
    for (size_t i = c->past.n; i > 0; i--) {
        const struct ev *e = past_at(&c->past, i - 1);

        if (e->kind == EV_qp_state && e->u.qp_state.host == number && e->u.qp_state.qpn == qpn)
            return e;
    }
    return NULL;
}

/* The state of the queue pair @path: how it came to it, or why it is not there yet. */
static void of_state(struct causes *c, const struct subject *u, const char *path)
{
    const struct enum_row *to = u->op == CMP_EQ && u->against && u->against->kind == EXPR_PATH
                                    ? enum_by_name(&enum_qp_state, u->against->text)
                                    : NULL;
    const uint64_t is = tree_number(c->s->lab, path, LEAF_qp_state);
    const bool failed = is == QPS_ERR || is == QPS_SQE;
    const bool fails = to && (to->value == QPS_ERR || to->value == QPS_SQE);
    const struct ev *change = failed || !to ? last_change(c, path) : NULL;
    struct why_not *w;
    struct told_answer a;

    if (change)
        tell_why_event(c, change->id);
    else if (fails)
        tell_waits(c);
    if (change || fails || !to)
        return;
    w = begin_not(&a, c, u->term, u->term_bytes);
    if (!w)
        return;
    why_not_state(w, path, (enum qp_state)to->value);
    end_not(&a, w);
}

static void of_cq(struct causes *c, const struct subject *u, const char *cq)
{
    char path[SESSION_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    uint64_t n;

    if (is_less(u)) {
        not_completion(c, cq, u->found);
    } else if (is_more(u, &n)) {
        text_addf(&t, "%s.wc[%llu]", cq, (unsigned long long)n);
        tell_why_object(c, path);
    }
}

static void of_fault(struct causes *c, const struct subject *u, const char *fault)
{
    struct why_not *w;
    struct told_answer a;
    uint64_t n;

    if (is_more(u, &n)) {
        tell_why_object(c, fault);
        return;
    }
    w = is_less(u) ? begin_not(&a, c, fault, strlen(fault)) : NULL;
    if (!w)
        return;
    why_not_fault(w, fault);
    end_not(&a, w);
}

static void of_channel(struct causes *c, const struct subject *u, const char *channel)
{
    struct why_not *w;
    struct told_answer a;

    w = is_less(u) ? begin_not(&a, c, channel, strlen(channel)) : NULL;
    if (!w)
        return;
    why_not_channel(w, channel);
    end_not(&a, w);
}

static void of_cm_id(struct causes *c, const char *id)
{
    struct why_not *w;
    struct told_answer a;

    w = begin_not(&a, c, id, strlen(id));
    if (!w)
        return;
    why_not_cm_id(w, id, WHY_NOT_ANY_EVENT);
    end_not(&a, w);
}

/* Returns true if a node @v with the value @key has it from the row @leaf. */
static bool is_leaf(const struct rdl_value *v, const char *key, enum leaf_id leaf)
{
    return tree_value_is(v, leaf_rows[leaf].node) && strcmp(key, leaf_rows[leaf].key) == 0;
}

/* Handles the leaf @path of an object of the lab.  Only leaves that something happens to have a
 * cause: a length or a key has none.
 */
static void of_leaf(struct causes *c, const struct subject *u, const char *path)
{
    const char *dot = strrchr(path, '.');
    char node[SESSION_PATH_BYTES];
    struct text t = text_on(node, sizeof(node));
    struct rdl_value v;
    size_t off;

    if (!dot)
        return;
    text_addn(&t, path, (size_t)(dot - path));
    if (rdl_inspect(c->s->lab, node, &v, &off) != RDL_OK || v.type != RDL_NODE)
        return;
    dot++;
    if (is_leaf(&v, dot, LEAF_qp_state))
        of_state(c, u, node);
    else if (is_leaf(&v, dot, LEAF_cq_count))
        of_cq(c, u, node);
    else if (is_leaf(&v, dot, LEAF_fault_hits))
        of_fault(c, u, node);
    else if (is_leaf(&v, dot, LEAF_channel_pending))
        of_channel(c, u, node);
    else if (is_leaf(&v, dot, LEAF_cm_id_state))
        of_cm_id(c, node);
    else if (tree_value_is(&v, NODE_async_event) || is_leaf(&v, dot, LEAF_mr_state) ||
             is_leaf(&v, dot, LEAF_mw_state))
        tell_why_object(c, node);
}

/* Handles the memory @path: who wrote it last and from where, or what the lab waits for. */
static void of_memory(struct causes *c, const char *path)
{
    char heading[HEADING_BYTES];
    struct text t = text_on(heading, sizeof(heading));
    const struct ev *e;
    struct told_answer a;
    struct memory m;

    /* Addresses of two regions that do not begin at their address in the program may overlap. */
    if (!resolve_memory_text(c->q.in, path, (struct span){0, 0}, &m, NULL) || m.iova != m.addr ||
        m.bytes == 0)
        return;
    text_addf(&t, "why %s", path);
    if (!begin(&a, c, heading))
        return;
    e = why_bytes_print(c->s, a.out, &c->past, path, &m);
    if (e && e->kind != EV_mem_write)
        (void)why_event_print(c->s, a.out, &c->past, e->id, NULL);
    end(&a);
    if (!e)
        tell_waits(c);
}

/* Notes the program that @path, a value of it, is about: program_cause_print() explains it. */
static void of_program(struct causes *c, const struct expr_program *which, const char *path)
{
    const struct session_outside *outside = &c->s->outside;
    struct live_exec_info info;

    for (uint32_t i = 0; outside->live && c->s->config.live_ops->exec_at(outside->live, i, &info);
         i++) {
        const bool on_host = strncmp(info.host, path, which->host_bytes) == 0 &&
                             info.host[which->host_bytes] == '\0';

        if (which->number ? info.number == which->number : on_host)
            c->s->outside.asked = info.number;
    }
}

static void of_path(struct causes *c, const struct subject *u, bool is_bytes)
{
    struct expr_program which;
    char path[SESSION_PATH_BYTES];

    if (u->e->word != EXPR_WORD_NONE)
        return;
    resolve_path(c->q.in, u->e->text, path);
    if (expr_program_read(path, &which))
        of_program(c, &which, path);
    else if (is_bytes)
        of_memory(c, path);
    else if (!of_completion(c, path))
        of_leaf(c, u, path);
}

/* --- Terms ------------------------------------------------------------------------------------ */

static enum compare negated(enum compare op)
{
    static const enum compare to[] = {[CMP_EQ] = CMP_NE, [CMP_NE] = CMP_EQ, [CMP_LT] = CMP_GE,
                                      [CMP_LE] = CMP_GT, [CMP_GT] = CMP_LE, [CMP_GE] = CMP_LT};

    return to[op];
}

/* Returns the operator for exchanged sides. */
static enum compare mirrored(enum compare op)
{
    static const enum compare to[] = {[CMP_EQ] = CMP_EQ, [CMP_NE] = CMP_NE, [CMP_LT] = CMP_GT,
                                      [CMP_LE] = CMP_GE, [CMP_GT] = CMP_LT, [CMP_GE] = CMP_LE};

    return to[op];
}

/* Handles one side of a term. */
static void of_side(struct causes *c, struct subject *u)
{
    struct operand is = {.kind = OPERAND_ABSENT}, other = {.kind = OPERAND_NUMBER};
    const bool ok = u->e->kind == EXPR_HAPPENS ||
                    (operand_read(&c->q, u->e, NULL, &is) &&
                     (!u->against || operand_read(&c->q, u->against, &is, &other)));

    if (ok && is.kind == OPERAND_NUMBER && other.kind == OPERAND_NUMBER) {
        u->numeric = true;
        u->found = is.v.number;
        u->bound = other.v.number;
    }
    if (ok && (u->e->kind == EXPR_COUNT || u->e->kind == EXPR_HAPPENS))
        of_count(c, u);
    else if (ok && u->e->kind == EXPR_PATH && is.kind != OPERAND_BARE)
        of_path(c, u, is.kind == OPERAND_BYTES);
    operand_done(&is);
    operand_done(&other);
}

static void of_term(struct causes *c, const struct expr_term *term, const char *text)
{
    const struct expr *e = term->e;
    struct subject u = {.e = e, .op = term->holds ? CMP_EQ : CMP_NE};

    u.term = text + e->at.at;
    u.term_bytes = e->at.len;
    if (e->kind != EXPR_COMPARE) {
        if (e->kind != EXPR_HAPPENS || !term->holds)
            of_side(c, &u);
        return;
    }
    u.e = e->a;
    u.against = e->b;
    u.op = term->holds ? negated(e->op) : e->op;
    of_side(c, &u);
    u.e = e->b;
    u.against = e->a;
    u.op = mirrored(u.op);
    u.numeric = false;
    of_side(c, &u);
}

/* Returns true if an answer is about @e, or about another event of its tick: a failed completion
 * and the change of the state that it causes have one answer.
 */
static bool is_answered(const struct causes *c, const struct ev *e)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->about[i] && ev_tick(c->about[i]) == ev_tick(e->id))
            return true;
    }
    return false;
}

/* Answers `why` about the first error in the lab, whatever was expected: it is often the cause. Not
 * if a program was expected to end otherwise: program_cause_print() explains the errors of that.
 */
static void of_error(struct causes *c)
{
    const struct ev *e = first_error(&c->past);

    if (c->s->outside.asked)
        return;
    c->max++;
    if (e && !is_answered(c, e))
        tell_why_event(c, e->id);
}

void cause_note(struct session *s, const struct scope *in, const struct expr_terms *terms,
                const char *text)
{
    struct causes c = {
        .s = s, .q = {in, {0, 0}, NULL}, .past = past_of_lab(s->lab), .max = CAUSES_MAX};

    for (size_t i = 0; i < terms->n; i++)
        of_term(&c, &terms->v[i], text);
    of_error(&c);
}
