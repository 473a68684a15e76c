/* SPDX-License-Identifier: MIT */
#include "cli/session/expr_eval.h"

#include <string.h>
#include <strings.h>

#include "cli/lang/suggest.h"
#include "cli/session/expr_count.h"
#include "cli/session/operand.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum_table.h"
#include "rdmalab/lab.h"

/* Returns true if @word, which stands at @at, is one of @words. */
static bool is_word_of(const struct question *q, const struct enum_table *words, const char *word,
                       struct span at)
{
    struct suggestion near;

    if (enum_by_name(words, word))
        return true;
    if (!q->reterr)
        return false;
    near = suggestion_for(word);
    for (size_t i = 0; i < words->n_rows; i++)
        suggest_offer(&near, words->rows[i].name);
    diag_set(q->reterr, DIAG_VALUE, at, "no %s is called \"%s\"", words->what, word);
    if (words == &enum_wc_opcode && suggest_completion_opcode(word))
        return diag_remedy(q->reterr, "%s", suggest_completion_opcode(word));
    if (near.best)
        return diag_remedy(q->reterr, "did you mean %s?", SUGGESTED(&near));
    return diag_remedy(q->reterr, "\"explain %s\" tells more", words->name);
}

/* Returns the text of a string, or of a text or word of the lab; these are compared without regard
 * to case.  Returns NULL for other operands.
 */
static const char *text_operand(const struct expr *e, const struct operand *o)
{
    if (o->kind == OPERAND_BYTES)
        return e->kind == EXPR_STRING ? (const char *)o->bytes : NULL;
    return o->kind == OPERAND_WORD || o->kind == OPERAND_BARE ? o->v.text : NULL;
}

/* Returns true if @o, a word of an enumeration, can equal the word of @e. */
static bool may_be(const struct question *q, const struct operand *o, const struct expr *e,
                   const struct operand *said)
{
    if (o->kind != OPERAND_WORD || !o->words || said->kind == OPERAND_WORD)
        return true;
    return is_word_of(q, o->words, text_operand(e, said), expr_place(e, q->at));
}

static const char *what_is(const struct expr *e, const struct operand *o)
{
    if (o->kind == OPERAND_BYTES)
        return e->kind == EXPR_STRING ? "text" : "bytes";
    if (o->kind == OPERAND_NUMBER)
        return o->v.type == RDL_FLAG ? "true or false" : "a number";
    return o->v.type == RDL_WORD ? "a word" : "text";
}

/* Fails for operands that can never be equal: that is a mistake, and no answer. */
static bool cannot_compare(const struct question *q, const struct expr *e, const struct operand *a,
                           const struct operand *b)
{
    if (a->kind == OPERAND_BARE && b->kind != OPERAND_WORD)
        return operand_unknown(q, e->a);
    if (b->kind == OPERAND_BARE && a->kind != OPERAND_WORD)
        return operand_unknown(q, e->b);
    return diag_set(q->reterr, DIAG_FAILED, expr_place(e, q->at), "one side is %s, the other %s",
                    what_is(e->a, a), what_is(e->b, b));
}

static bool compare_texts(const struct question *q, const struct expr *e, const struct operand *a,
                          const struct operand *b, bool *ret_equal)
{
    const char *x = text_operand(e->a, a), *y = text_operand(e->b, b);

    if (!x || !y || (a->kind != OPERAND_WORD && b->kind != OPERAND_WORD))
        return cannot_compare(q, e, a, b);
    if (!may_be(q, a, e->b, b) || !may_be(q, b, e->a, a))
        return false;
    *ret_equal = strcasecmp(x, y) == 0;
    return true;
}

static bool compare(const struct question *q, const struct expr *e, const struct operand *a,
                    const struct operand *b, bool *ret)
{
    const bool ordered = e->op != CMP_EQ && e->op != CMP_NE;
    bool equal = false;

    if (a->kind == OPERAND_ABSENT || b->kind == OPERAND_ABSENT) {
        *ret = false;
        return true;
    }
    if ((a->has_number && b->kind == OPERAND_NUMBER) ||
        (a->kind == OPERAND_NUMBER && b->has_number)) {
        *ret = compare_holds(e->op, a->v.number, b->v.number);
        return true;
    }
    if (a->kind == OPERAND_NUMBER && b->kind == OPERAND_NUMBER) {
        if ((a->v.type == RDL_FLAG) != (b->v.type == RDL_FLAG))
            return cannot_compare(q, e, a, b);
        *ret = compare_holds(e->op, a->v.number, b->v.number);
        return true;
    }
    if (ordered)
        return diag_set(q->reterr, DIAG_FAILED, expr_place(e, q->at),
                        "only numbers can be compared with %s", expr_op_text(e->op));
    if (a->kind == OPERAND_BYTES && b->kind == OPERAND_BYTES)
        equal = a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, a->n_bytes) == 0;
    else if (!compare_texts(q, e, a, b, &equal))
        return false;
    *ret = equal == (e->op == CMP_EQ);
    return true;
}

static bool read_both(const struct question *q, const struct expr *e, struct operand *a,
                      struct operand *b)
{
    *b = (struct operand){.kind = OPERAND_ABSENT};
    /* A number takes the unit of its neighbour, so that one is read first. */
    if (e->a->kind == EXPR_NUMBER && e->b->kind != EXPR_NUMBER) {
        *a = (struct operand){.kind = OPERAND_ABSENT};
        return operand_read(q, e->b, NULL, b) && operand_read(q, e->a, b, a);
    }
    return operand_read(q, e->a, NULL, a) && operand_read(q, e->b, a, b);
}

static bool comparison_holds(const struct question *q, const struct expr *e, bool *ret)
{
    struct operand a, b;
    const bool ok = read_both(q, e, &a, &b) && compare(q, e, &a, &b, ret);

    operand_done(&a);
    operand_done(&b);
    return ok;
}

/* A value alone holds if it is not 0. */
static bool value_holds(const struct question *q, const struct expr *e, bool *ret)
{
    struct operand o;
    bool ok = operand_read(q, e, NULL, &o);

    if (ok && o.kind == OPERAND_BARE)
        ok = operand_unknown(q, e);
    else if (ok && o.kind != OPERAND_NUMBER && o.kind != OPERAND_ABSENT)
        ok = diag_set(q->reterr, DIAG_FAILED, expr_place(e, q->at),
                      "compare this with something: ==, !=");
    *ret = ok && o.kind == OPERAND_NUMBER && o.v.number != 0;
    operand_done(&o);
    return ok;
}

/* Depth is bounded by the parser. */
static bool holds(const struct question *q, const struct expr *e, bool *ret)
{
    bool other = false;
    uint64_t id = 0;

    switch (e->kind) {
    case EXPR_OR:
    case EXPR_AND:
        /* Evaluates both, even if one decides, to find mistakes in the other. */
        if (!holds(q, e->a, ret) || !holds(q, e->b, &other))
            return false;
        *ret = e->kind == EXPR_OR ? *ret || other : *ret && other;
        return true;
    case EXPR_NOT:
        if (!holds(q, e->a, &other))
            return false;
        *ret = !other;
        return true;
    case EXPR_COMPARE:
        return comparison_holds(q, e, ret);
    case EXPR_EVENT:
        *ret = rdl_tick(q->in->lab) >= e->number;
        return true;
    case EXPR_HAPPENS:
        if (!expr_happened(q, e, &id))
            return false;
        *ret = id != 0;
        return true;
    default:
        return value_holds(q, e, ret);
    }
}

bool expr_holds(const struct scope *in, const struct expr *e, struct span at, bool *ret,
                struct diag *reterr)
{
    const struct question q = {in, at, reterr};

    return holds(&q, e, ret);
}

/* Appends where two byte strings differ first. */
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
    return e->kind == EXPR_NUMBER || e->kind == EXPR_STRING || o->kind == OPERAND_BARE;
}

static void add_compared(const struct question *q, const struct expr *e, struct text *t)
{
    struct operand a, b;

    if (read_both(q, e, &a, &b)) {
        if (a.kind == OPERAND_BYTES && b.kind == OPERAND_BYTES && e->b->kind != EXPR_STRING) {
            add_difference(t, &a, &b);
        } else {
            text_add(t, "it is ");
            operand_add(t, is_literal(e->a, &a) ? &b : &a);
            if (!is_literal(e->a, &a) && !is_literal(e->b, &b)) {
                text_add(t, ", against ");
                operand_add(t, &b);
            }
        }
    }
    operand_done(&a);
    operand_done(&b);
}

/* Appends the values that the term @e has found. */
static void add_found(const struct question *q, const struct expr *e, struct text *t)
{
    struct operand o;
    uint64_t id = 0;

    switch (e->kind) {
    case EXPR_COMPARE:
        add_compared(q, e, t);
        break;
    case EXPR_EVENT:
        text_addf(t, "it is #%llu", (unsigned long long)rdl_tick(q->in->lab));
        break;
    case EXPR_HAPPENS:
        text_add(t, !expr_happened(q, e, &id) || id == 0 ? "it did not happen" : "it happened as ");
        if (id)
            ev_add_id(t, id);
        break;
    default:
        text_add(t, "it is ");
        if (operand_read(q, e, NULL, &o))
            operand_add(t, &o);
        operand_done(&o);
        break;
    }
}

static void decide(const struct question *q, const struct expr *e, bool value,
                   struct expr_terms *ret);

/* In a chain of @kind the parts with the value of the whole decide it. */
static void decide_chain(const struct question *q, const struct expr *e, enum expr_kind kind,
                         bool value, struct expr_terms *ret)
{
    bool part = false;

    if (e->kind == kind) {
        decide_chain(q, e->a, kind, value, ret);
        decide_chain(q, e->b, kind, value, ret);
    } else if (holds(q, e, &part) && part == value) {
        decide(q, e, value, ret);
    }
}

/* Appends the terms that decide that @e is @value.  Depth is bounded by the parser. */
static void decide(const struct question *q, const struct expr *e, bool value,
                   struct expr_terms *ret)
{
    if (e->kind == EXPR_NOT)
        decide(q, e->a, !value, ret);
    else if (e->kind == EXPR_AND || e->kind == EXPR_OR)
        decide_chain(q, e, e->kind, value, ret);
    else if (ret->n < EXPR_TERMS_MAX)
        ret->v[ret->n++] = (struct expr_term){e, value};
}

void expr_decide(const struct scope *in, const struct expr *e, bool value, struct expr_terms *ret)
{
    struct diag ignored = {.kind = DIAG_NONE};
    const struct question q = {in, {0, 0}, &ignored};

    *ret = (struct expr_terms){.n = 0};
    decide(&q, e, value, ret);
    ret->alone = ret->n == 1 && ret->v[0].e == e;
}

/* The text of an equality that holds already has the value. */
static bool says_itself(const struct expr_term *term)
{
    return term->e->kind == EXPR_COMPARE && term->e->op == (term->holds ? CMP_EQ : CMP_NE);
}

void expr_leave_out_plain(struct expr_terms *terms)
{
    const size_t n = terms->n;

    terms->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!says_itself(&terms->v[i]))
            terms->v[terms->n++] = terms->v[i];
    }
}

void expr_add_terms(const struct scope *in, const struct expr_terms *terms, const char *text,
                    struct text *t)
{
    struct diag ignored = {.kind = DIAG_NONE};
    const struct question q = {in, {0, 0}, &ignored};

    for (size_t i = 0; i < terms->n; i++) {
        const struct expr_term *term = &terms->v[i];

        if (!terms->alone) {
            text_addf(t, "%s%.*s %s", i ? "; " : "", (int)term->e->at.len, text + term->e->at.at,
                      term->holds ? "holds" : "does not hold");
            if (says_itself(term))
                continue;
            text_add(t, ", ");
        }
        add_found(&q, term->e, t);
    }
}
