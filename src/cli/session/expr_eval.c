/* SPDX-License-Identifier: MIT */
#include "cli/session/expr_eval.h"
#include "cli/tree/lab_past.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/lang/suggest.h"
#include "cli/lang/values.h"
#include "cli/live/live.h"
#include "cli/print/show_text.h"
#include "cli/session/resolve.h"
#include "cli/tell/show_fate.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"

#define BYTES_MAX    (64u << 20)
#define EVENTS_NOTED 12u
#define BYTES_SHOWN  24u

enum kind {
    KIND_NUMBER, /* with the type that says how to print it */
    KIND_WORD,   /* of an enumeration, with its number; or any text */
    KIND_BARE,   /* a word that names nothing in the lab */
    KIND_BYTES,
    KIND_ABSENT /* an element of a list that is not there */
};

struct operand {
    enum kind kind;
    struct rdl_value v; /* number, word, text */
    uint8_t *bytes;     /* owned */
    size_t n_bytes;
};

static void operand_done(struct operand *o)
{
    free(o->bytes);
    o->bytes = NULL;
}

/* Where @e stands in the source, for the caret. */
static struct span place(struct span at, const struct expr *e)
{
    if (e->at.at + e->at.len > at.len)
        return at;
    return (struct span){at.at + e->at.at, e->at.len};
}

static void set_number(struct operand *o, enum rdl_type type, uint64_t v)
{
    o->kind = KIND_NUMBER;
    o->v.type = type;
    o->v.number = v;
}

/* Is the element missing, but its list there? */
static bool is_missing_element(struct session *s, const char *path, size_t off)
{
    struct rdl_value v;
    char list[SESSION_PATH_BYTES];
    struct text t = text_on(list, sizeof(list));
    const char *open = strchr(path + (off ? off - 1 : 0), '[');
    size_t at;

    if (!open || (size_t)(open - path) < off ||
        strcspn(path + off, ".") < (size_t)(open - path) - off)
        return false;
    text_addn(&t, path, (size_t)(open - path));
    return rdl_inspect(s->lab, list, &v, &at) == RDL_OK;
}

/* Is the path a part of a memory region? */
static bool is_memory(struct session *s, const char *path)
{
    struct slice_text slice;
    char base[SESSION_PATH_BYTES];
    struct text t = text_on(base, sizeof(base));
    size_t off;
    uint64_t raw;

    if (value_slice(path, &slice, &off) || !slice.has_from)
        return false;
    text_addn(&t, path, slice.base_bytes);
    return rdl_find(s->lab, base, OBJ_MR, &raw) == RDL_OK;
}

static bool read_memory(struct session *s, const char *path, struct span at, struct operand *ret)
{
    const struct scope in = session_scope(s);
    struct memory m;
    uint8_t byte;

    if (!resolve_memory_text(&in, path, at, &m, &s->diag))
        return false;
    if (m.bytes > BYTES_MAX)
        return session_fail(s, at, "more than %u bytes", BYTES_MAX);
    ret->n_bytes = (size_t)m.bytes;
    ret->bytes = malloc(ret->n_bytes + 1);
    if (!ret->bytes)
        return session_fail_status(s, at, path, RDL_ERR_NOMEM);
    if (rdl_mem_read(s->lab, m.host, m.addr, ret->bytes, ret->n_bytes) != RDL_OK)
        return session_fail_status(s, at, path, RDL_ERR_FAULT);
    ret->kind = KIND_BYTES;
    if (!m.has_bytes) {
        byte = ret->bytes[0];
        operand_done(ret);
        set_number(ret, RDL_NUMBER, byte);
    }
    return true;
}

/* The last program that was started on the host. */
static bool find_program(struct session *s, const char *host, size_t n,
                         struct live_program_info *ret)
{
    struct live_program_info p;
    bool found = false;

    for (uint32_t i = 0; s->live && s->config.live_ops->program_at(s->live, i, &p); i++) {
        if (strlen(p.host) == n && memcmp(p.host, host, n) == 0) {
            *ret = p;
            found = true;
        }
    }
    return found;
}

/* "h1.program.done": programs are outside the lab, and not in its tree. */
static bool read_program(struct session *s, const char *path, struct operand *ret)
{
    static const char infix[] = ".program.";
    const char *dot = strstr(path, infix), *field = dot ? dot + sizeof(infix) - 1 : NULL;
    struct live_program_info p;

    if (!dot || !find_program(s, path, (size_t)(dot - path), &p))
        return false;
    if (strcmp(field, "done") == 0)
        set_number(ret, RDL_FLAG, p.state == PP_DONE);
    else if (strcmp(field, "failed") == 0)
        set_number(ret, RDL_FLAG, p.state == PP_FAILED);
    else if (strcmp(field, "sent") == 0)
        set_number(ret, RDL_NUMBER, p.n_sent);
    else if (strcmp(field, "received") == 0)
        set_number(ret, RDL_NUMBER, p.n_rcvd);
    else
        return false;
    return true;
}

static bool read_path(struct session *s, const struct expr *e, struct span at, struct operand *ret)
{
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];
    size_t off = 0;

    if (strcmp(e->text, "t") == 0) {
        set_number(ret, RDL_TIME, rdl_now_ns(s->lab));
        return true;
    }
    if (strcmp(e->text, "tick") == 0) {
        set_number(ret, RDL_NUMBER, rdl_tick(s->lab));
        return true;
    }
    if (strcmp(e->text, "true") == 0 || strcmp(e->text, "false") == 0) {
        set_number(ret, RDL_FLAG, e->text[0] == 't');
        return true;
    }
    resolve_path(&in, e->text, path);
    if (is_memory(s, path))
        return read_memory(s, path, place(at, e), ret);
    if (read_program(s, path, ret))
        return true;
    if (rdl_inspect(s->lab, path, &ret->v, &off) == RDL_OK && ret->v.type != RDL_NODE) {
        ret->kind = ret->v.type == RDL_WORD || ret->v.type == RDL_TEXT ? KIND_WORD : KIND_NUMBER;
        return true;
    }
    if (!strpbrk(e->text, ".[")) {
        struct text t = text_on(ret->v.text, sizeof(ret->v.text));

        ret->kind = KIND_BARE;
        ret->v.type = RDL_TEXT;
        text_add(&t, e->text);
        return true;
    }
    if (off == 0 && rdl_inspect(s->lab, path, &ret->v, &off) == RDL_OK) {
        session_fail(s, place(at, e), "%s is a %s, not a value", path, ret->v.text);
        return diag_remedy(&s->diag, "\"show %s\" lists its values", path);
    }
    if (is_missing_element(s, path, off)) {
        /* It may come, but never with a word that no element has. */
        if (!expr_path_leads(path, place(at, e), &s->diag))
            return false;
        ret->kind = KIND_ABSENT;
        return true;
    }
    return resolve_unknown(&in, place(at, e), path, "nothing", &s->diag);
}

static bool unknown_name(struct session *s, struct span at, const struct ev_condition *c)
{
    const struct scope in = session_scope(s);
    struct rdl_value v;
    size_t off;

    if (c->field->print == EVP_HOST && rdl_inspect(s->lab, c->text, &v, &off) != RDL_OK)
        return resolve_unknown(&in, at, c->text, "no host", &s->diag);
    if (c->field->print == EVP_HOST) {
        session_fail(s, at, "%s is a %s, not a host", c->text, v.text);
        return diag_remedy(&s->diag, "\"show hosts\" lists the hosts");
    }
    session_fail(s, at, "no fault and no switch is called \"%s\"", c->text);
    return diag_remedy(&s->diag, "\"show faults\" and \"show hosts\" list what there is");
}

/* What is wrong with counting: says what was forgotten. */
static bool too_late(struct session *s, struct span at, const struct ev_filter *filter,
                     uint64_t forgotten)
{
    const struct past past = past_of_lab(s->lab);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    session_fail(s, at, "it is too late to count: %llu of %llu %s events are not in the record",
                 (unsigned long long)forgotten, (unsigned long long)rdl_total(s->lab, filter->kind),
                 ev_schema(filter->kind)->name);
    past_add_gap(&t, &past);
    if (t.len > 0)
        diag_note(&s->diag, "  %s", buf);
    if (past.forgotten > 0)
        diag_note(&s->diag, "  the record is full and has forgotten its oldest %llu events",
                  (unsigned long long)past.forgotten);
    return diag_remedy(&s->diag, "ask once before it happens, and it is counted from then on; in a "
                                 "scenario that is done for you");
}

bool expr_attach(struct session *s, struct expr *e, struct span at)
{
    uint64_t forgotten = 0;
    enum rdl_status st;

    /* Depth is bounded by the parser. */
    if ((e->a && !expr_attach(s, e->a, at)) || (e->b && !expr_attach(s, e->b, at)))
        return false;
    if (e->kind != EXPR_COUNT || e->filter->n == 0)
        return true; /* all of a kind: the lab knows the total */
    st = rdl_tally(s->lab, e->filter, &e->tally, &forgotten);
    if (st == RDL_ERR_FORGOTTEN) {
        const struct past past = past_of_lab(s->lab);
        const struct ev_condition *unknown = ev_filter_look_up(e->filter, past.names);

        if (unknown)
            return unknown_name(s, place(at, e), unknown);
        return too_late(s, place(at, e), e->filter, forgotten);
    }
    return st == RDL_OK || session_fail_status(s, at, "count", st);
}

/* @e has been attached to the lab. */
static bool count_events(struct session *s, const struct expr *e, struct span at, uint64_t *ret)
{
    const struct ev_condition *unknown = NULL;

    if (e->filter->n == 0) {
        *ret = rdl_total(s->lab, e->filter->kind);
        return true;
    }
    RDL_ASSERT(e->tally);
    switch (rdl_tally_count(e->tally, ret, &unknown)) {
    case RDL_OK:
        return true;
    case RDL_ERR_NOT_FOUND:
        return unknown_name(s, at, unknown);
    default:
        return too_late(s, at, e->filter, rdl_total(s->lab, e->filter->kind));
    }
}

/* A number has the type of its @neighbour, and no unit of another. */
static bool read_number(struct session *s, const struct expr *e, struct span at,
                        const struct operand *neighbour, struct operand *ret)
{
    const enum rdl_type type =
        neighbour && neighbour->kind == KIND_NUMBER ? neighbour->v.type : RDL_NUMBER;
    struct text t = text_on(ret->v.text, sizeof(ret->v.text));
    uint64_t number = 0;

    if (!expr_number(type == RDL_TIME, e->text, &number)) {
        session_fail(s, place(at, e), "the other side is %s time, and %s is %s",
                     type == RDL_TIME ? "a" : "no", e->text, type == RDL_TIME ? "none" : "one");
        return diag_remedy(&s->diag, type == RDL_TIME ? "times are written 500ns, 10us, 1.5ms"
                                                      : "only times have the units ns, us, ms, s");
    }
    set_number(ret, type, number);
    text_add(&t, e->text);
    return true;
}

/* @neighbour: the type of the other side, for the unit of a number. */
static bool read_operand(struct session *s, const struct expr *e, struct span at,
                         const struct operand *neighbour, struct operand *ret)
{
    uint64_t number = 0;

    *ret = (struct operand){.kind = KIND_NUMBER, .v = {.type = RDL_NUMBER}};
    switch (e->kind) {
    case EXPR_NUMBER:
        return read_number(s, e, at, neighbour, ret);
    case EXPR_STRING:
        ret->kind = KIND_BYTES;
        ret->n_bytes = strlen(e->text);
        ret->bytes = (uint8_t *)strdup(e->text);
        return ret->bytes || session_fail_status(s, at, "expression", RDL_ERR_NOMEM);
    case EXPR_COUNT:
        if (!count_events(s, e, place(at, e), &number))
            return false;
        set_number(ret, RDL_NUMBER, number);
        return true;
    case EXPR_PATH:
        return read_path(s, e, at, ret);
    default:
        return session_fail(s, place(at, e), "this cannot be compared");
    }
}

/* Is @word one of the enumeration that also has @actual?  If no table has @actual, it may be. */
static bool is_word_beside(struct session *s, const char *actual, const char *word, struct span at)
{
    struct suggestion near = suggestion_for(word);
    const struct enum_table *found = NULL;

    for (size_t i = 0; enum_tables[i]; i++) {
        if (!enum_by_name(enum_tables[i], actual))
            continue;
        found = enum_tables[i];
        if (enum_by_name(found, word))
            return true;
        for (size_t k = 0; k < found->n_rows; k++)
            suggest_offer(&near, found->rows[k].name);
    }
    if (!found)
        return true;
    diag_set(&s->diag, DIAG_VALUE, at, "no %s is called \"%s\"", found->what, word);
    if (near.best)
        return diag_remedy(&s->diag, "did you mean \"%s\"?", near.best);
    return diag_remedy(&s->diag, "\"explain %s\" tells more", found->name);
}

/* A string, or a text or word of the lab: what is compared without regard to case. */
static const char *text_operand(const struct expr *e, const struct operand *o)
{
    if (o->kind == KIND_BYTES)
        return e->kind == EXPR_STRING ? (const char *)o->bytes : NULL;
    return o->kind == KIND_WORD || o->kind == KIND_BARE ? o->v.text : NULL;
}

/* @o is a word of an enumeration; can it be what @e says? */
static bool may_be(struct session *s, const struct operand *o, const struct expr *e,
                   const struct operand *said, struct span at)
{
    if (o->kind != KIND_WORD || o->v.type != RDL_WORD || said->kind == KIND_WORD)
        return true;
    return is_word_beside(s, o->v.text, text_operand(e, said), place(at, e));
}

static const char *what_is(const struct expr *e, const struct operand *o)
{
    if (o->kind == KIND_BYTES)
        return e->kind == EXPR_STRING ? "text" : "bytes";
    if (o->kind == KIND_NUMBER)
        return o->v.type == RDL_FLAG ? "true or false" : "a number";
    return o->v.type == RDL_WORD ? "a word" : "text";
}

/* What can never be equal is no answer to a question, but a mistake in it. */
static bool cannot_compare(struct session *s, const struct expr *e, struct span at,
                           const struct operand *a, const struct operand *b)
{
    const struct scope in = session_scope(s);
    if (a->kind == KIND_BARE && b->kind != KIND_WORD)
        return resolve_unknown(&in, place(at, e->a), e->a->text, "nothing", &s->diag);
    if (b->kind == KIND_BARE && a->kind != KIND_WORD)
        return resolve_unknown(&in, place(at, e->b), e->b->text, "nothing", &s->diag);
    return session_fail(s, place(at, e), "one side is %s, the other %s", what_is(e->a, a),
                        what_is(e->b, b));
}

static bool compare_texts(struct session *s, const struct expr *e, struct span at,
                          const struct operand *a, const struct operand *b, bool *ret_equal)
{
    const char *x = text_operand(e->a, a), *y = text_operand(e->b, b);

    if (!x || !y || (a->kind != KIND_WORD && b->kind != KIND_WORD))
        return cannot_compare(s, e, at, a, b);
    if (!may_be(s, a, e->b, b, at) || !may_be(s, b, e->a, a, at))
        return false;
    *ret_equal = strcasecmp(x, y) == 0;
    return true;
}

static bool compare(struct session *s, const struct expr *e, struct span at,
                    const struct operand *a, const struct operand *b, bool *ret)
{
    const bool ordered = e->op != CMP_EQ && e->op != CMP_NE;
    bool equal = false;

    if (a->kind == KIND_ABSENT || b->kind == KIND_ABSENT) {
        *ret = false;
        return true;
    }
    if (a->kind == KIND_NUMBER && b->kind == KIND_NUMBER) {
        if ((a->v.type == RDL_FLAG) != (b->v.type == RDL_FLAG))
            return cannot_compare(s, e, at, a, b);
        *ret = compare_holds(e->op, a->v.number, b->v.number);
        return true;
    }
    if (ordered)
        return session_fail(s, place(at, e), "only numbers can be compared with %s",
                            expr_op_text(e->op));
    if (a->kind == KIND_BYTES && b->kind == KIND_BYTES)
        equal = a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, a->n_bytes) == 0;
    else if (!compare_texts(s, e, at, a, b, &equal))
        return false;
    *ret = equal == (e->op == CMP_EQ);
    return true;
}

static bool read_both(struct session *s, const struct expr *e, struct span at, struct operand *a,
                      struct operand *b)
{
    *b = (struct operand){.kind = KIND_ABSENT};
    /* A number takes the unit of its neighbour, so that one is read first. */
    if (e->a->kind == EXPR_NUMBER && e->b->kind != EXPR_NUMBER) {
        *a = (struct operand){.kind = KIND_ABSENT};
        return read_operand(s, e->b, at, NULL, b) && read_operand(s, e->a, at, b, a);
    }
    return read_operand(s, e->a, at, NULL, a) && read_operand(s, e->b, at, a, b);
}

static bool comparison_holds(struct session *s, const struct expr *e, struct span at, bool *ret)
{
    struct operand a, b;
    const bool ok = read_both(s, e, at, &a, &b) && compare(s, e, at, &a, &b, ret);

    operand_done(&a);
    operand_done(&b);
    return ok;
}

/* A value alone holds if it is not 0. */
static bool value_holds(struct session *s, const struct expr *e, struct span at, bool *ret)
{
    const struct scope in = session_scope(s);
    struct operand o;
    bool ok = read_operand(s, e, at, NULL, &o);

    if (ok && o.kind == KIND_BARE)
        ok = resolve_unknown(&in, place(at, e), e->text, "nothing", &s->diag);
    else if (ok && o.kind != KIND_NUMBER && o.kind != KIND_ABSENT)
        ok = session_fail(s, place(at, e), "compare this with something: ==, !=");
    *ret = ok && o.kind == KIND_NUMBER && o.v.number != 0;
    operand_done(&o);
    return ok;
}

/* Depth is bounded by the parser. */
bool expr_holds(struct session *s, const struct expr *e, struct span at, bool *ret)
{
    bool other = false;

    switch (e->kind) {
    case EXPR_OR:
    case EXPR_AND:
        /* Both, also if one decides: what is mistyped in the other is found. */
        if (!expr_holds(s, e->a, at, ret) || !expr_holds(s, e->b, at, &other))
            return false;
        *ret = e->kind == EXPR_OR ? *ret || other : *ret && other;
        return true;
    case EXPR_NOT:
        if (!expr_holds(s, e->a, at, &other))
            return false;
        *ret = !other;
        return true;
    case EXPR_COMPARE:
        return comparison_holds(s, e, at, ret);
    case EXPR_EVENT:
        *ret = rdl_tick(s->lab) >= e->number;
        return true;
    default:
        return value_holds(s, e, at, ret);
    }
}

static void add_bytes(struct text *t, const struct operand *o)
{
    const size_t n = o->n_bytes < BYTES_SHOWN ? o->n_bytes : BYTES_SHOWN;
    bool printable = o->n_bytes > 0;

    for (size_t i = 0; i < n; i++)
        printable = printable && o->bytes[i] >= 0x20 && o->bytes[i] < 0x7f;
    text_add(t, printable ? "\"" : "");
    for (size_t i = 0; i < n; i++)
        text_addf(t, printable ? "%c" : "%02x", o->bytes[i]);
    text_add(t, printable ? "\"" : "");
    if (o->n_bytes > n)
        text_addf(t, "... (%zu bytes)", o->n_bytes);
}

static void add_operand(struct text *t, const struct operand *o)
{
    switch (o->kind) {
    case KIND_ABSENT:
        text_add(t, "not there");
        break;
    case KIND_BYTES:
        add_bytes(t, o);
        break;
    case KIND_WORD:
    case KIND_BARE:
        text_add(t, o->v.text);
        break;
    case KIND_NUMBER:
        if (o->v.type == RDL_TIME)
            quantity_add_time_short(t, o->v.number);
        else if (o->v.type == RDL_FLAG)
            text_add(t, o->v.number ? "true" : "false");
        else if (o->v.type == RDL_HEX)
            text_addf(t, "0x%llx", (unsigned long long)o->v.number);
        else
            text_addf(t, "%llu", (unsigned long long)o->v.number);
        break;
    }
}

/* Where two byte strings part. */
static void add_difference(struct text *t, const struct operand *a, const struct operand *b)
{
    const size_t n = a->n_bytes < b->n_bytes ? a->n_bytes : b->n_bytes;
    size_t i = 0;

    if (a->n_bytes != b->n_bytes) {
        text_addf(t, "%zu bytes against %zu", a->n_bytes, b->n_bytes);
        return;
    }
    while (i < n && a->bytes[i] == b->bytes[i])
        i++;
    if (i == n)
        text_add(t, "they are equal");
    else
        text_addf(t, "byte %zu is 0x%02x against 0x%02x", i, a->bytes[i], b->bytes[i]);
}

static bool is_literal(const struct expr *e, const struct operand *o)
{
    return e->kind == EXPR_NUMBER || e->kind == EXPR_STRING || o->kind == KIND_BARE;
}

static void add_compared(struct session *s, const struct expr *e, struct text *t)
{
    const struct span nowhere = {0, 0};
    struct operand a, b;

    if (read_both(s, e, nowhere, &a, &b)) {
        if (a.kind == KIND_BYTES && b.kind == KIND_BYTES && e->b->kind != EXPR_STRING) {
            add_difference(t, &a, &b);
        } else {
            text_add(t, "it is ");
            add_operand(t, is_literal(e->a, &a) ? &b : &a);
            if (!is_literal(e->a, &a) && !is_literal(e->b, &b)) {
                text_add(t, ", against ");
                add_operand(t, &b);
            }
        }
    }
    operand_done(&a);
    operand_done(&b);
}

/* One of several comparisons: says which. */
static void add_part(struct session *s, const struct expr *e, struct text *t)
{
    if (e->kind == EXPR_COMPARE && e->a->kind == EXPR_PATH)
        text_addf(t, "%s: ", e->a->text);
    expr_add_actual(s, e, t);
}

void expr_add_actual(struct session *s, const struct expr *e, struct text *t)
{
    const struct span nowhere = {0, 0};
    bool left = false;
    struct operand o;

    switch (e->kind) {
    case EXPR_AND:
        /* The first part that fails says it all. */
        add_part(s, expr_holds(s, e->a, nowhere, &left) && !left ? e->a : e->b, t);
        break;
    case EXPR_OR:
        add_part(s, e->a, t);
        text_add(t, "; ");
        add_part(s, e->b, t);
        break;
    case EXPR_NOT:
        text_add(t, "what must not hold holds");
        break;
    case EXPR_COMPARE:
        add_compared(s, e, t);
        break;
    case EXPR_EVENT:
        text_addf(t, "it is #%llu", (unsigned long long)rdl_tick(s->lab));
        break;
    default:
        text_add(t, "it is ");
        if (read_operand(s, e, nowhere, NULL, &o))
            add_operand(t, &o);
        operand_done(&o);
        break;
    }
}

/* *@index is made when it is needed first. */
static void note_event(struct session *s, const struct past *past, struct past_index **index,
                       const struct ev *ev)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, ev, past->names);
    if (ev->kind == EV_tx) {
        if (!*index)
            *index = fate_index(past);
        text_add(&t, "  ");
        fate_add(&t, *index, ev);
    }
    diag_note(&s->diag, "  %s", buf);
}

void expr_note_events(struct session *s, const struct expr *e)
{
    const struct past past = past_of_lab(s->lab);
    const struct span nowhere = {0, 0};
    const struct ev_filter *filter;
    struct past_index *index = NULL;
    uint64_t n = 0, all;

    /* Depth is bounded by the parser. */
    if (e->a)
        expr_note_events(s, e->a);
    if (e->b)
        expr_note_events(s, e->b);
    if (e->kind != EXPR_COUNT || !count_events(s, e, nowhere, &all))
        return;
    filter = e->tally ? rdl_tally_filter(e->tally) : e->filter;
    for (size_t i = 0; i < past.n && n < EVENTS_NOTED; i++) {
        const struct ev *ev = past_at(&past, i);

        if (!ev_filter_holds(filter, ev))
            continue;
        note_event(s, &past, &index, ev);
        n++;
    }
    past_index_free(index);
    if (all == n)
        return;
    if (n == 0)
        diag_note(&s->diag, "  none of them is in the record (any more)");
    else
        diag_note(&s->diag, "  ... and %llu more%s", (unsigned long long)(all - n),
                  n < EVENTS_NOTED ? ", not in the record (any more)" : "");
}
