/* SPDX-License-Identifier: MIT */
#include "emu/facts/compared.h"

#include <stddef.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rules.h"

/* The format of a value. */
enum form {
    FORM_DECIMAL,
    FORM_PSN,
    FORM_HEX,
    FORM_ACCESS, /* set of enum access_bit */
    FORM_STATE,  /* enum qp_state */
    FORM_IPV4,
    FORM_ROOM,        /* decimal; a limit and the bytes that have come */
    FORM_FOUND_ALONE, /* decimal; prints only the value found */
    FORM_FOUND_HEX,
    FORM_FOUND_STATE,
    FORM_NOTHING /* there is no value */
};

struct compared_row {
    uint32_t of; /* enum rule, enum drop_reason, enum refusal_reason */
    const char *lead, *tail;
    enum form form;
};

static const struct compared_row by_rule[] = {
#define RULE(name, lead, tail, form) {RULE_##name, lead, tail, FORM_##form},
#define DROP(name, lead, tail, form)
#include "emu/facts/compared.def"
#undef RULE
#undef DROP
};

static const struct compared_row by_drop[] = {
#define RULE(name, lead, tail, form)
#define DROP(name, lead, tail, form) {DROP_##name, lead, tail, FORM_##form},
#include "emu/facts/compared.def"
#undef RULE
#undef DROP
};

static const struct compared_row by_refusal[] = {
#define REFUSAL(name, number, kind, lead, tail, form, text) {REF_##name, lead, tail, FORM_##form},
#include "emu/facts/refusals.def"
#undef REFUSAL
};

void compared_add_access(struct text *t, uint64_t set)
{
    bool first = true;

    for (size_t i = 0; i < enum_access.n_rows; i++) {
        if (!(set & enum_access.rows[i].value))
            continue;
        text_addf(t, "%s%s", first ? "" : ",", enum_access.rows[i].text);
        first = false;
    }
    if (first)
        text_add(t, "none");
}

static void add_value(struct text *t, enum form form, uint64_t v)
{
    switch (form) {
    case FORM_DECIMAL:
    case FORM_PSN:
    case FORM_ROOM:
    case FORM_FOUND_ALONE:
        text_addf(t, "%llu", (unsigned long long)v);
        break;
    case FORM_HEX:
    case FORM_FOUND_HEX:
        text_addf(t, "0x%llx", (unsigned long long)v);
        break;
    case FORM_ACCESS:
        compared_add_access(t, v);
        break;
    case FORM_STATE:
    case FORM_FOUND_STATE:
        text_add(t, enum_name(&enum_qp_state, (uint32_t)v));
        break;
    case FORM_IPV4:
        text_addf(t, "%u.%u.%u.%u", (unsigned)(v >> 24 & 0xff), (unsigned)(v >> 16 & 0xff),
                  (unsigned)(v >> 8 & 0xff), (unsigned)(v & 0xff));
        break;
    case FORM_NOTHING:
        break;
    }
}

/* Appends the states of queue pairs that @c expects: "state RTR, RTS or SQD". */
static void add_states(struct text *t, const struct compared *c)
{
    text_add(t, "state ");
    for (uint64_t v = c->least; v <= c->most; v++) {
        if (v > c->least)
            text_add(t, v == c->most ? " or " : ", ");
        add_value(t, FORM_STATE, v);
    }
}

static void add_expected(struct text *t, const struct compared_row *r, const struct compared *c)
{
    text_add(t, ", expected ");
    if (r->form == FORM_STATE && c->least < c->most && c->most <= QPS_ERR) {
        add_states(t, c);
        return;
    }
    if (c->least == 0 && c->most > 0 && r->form == FORM_DECIMAL && r->tail[0]) {
        text_add(t, "at most ");
    } else if (c->most == UINT64_MAX && r->form == FORM_DECIMAL) {
        text_addf(t, "at least %llu%s", (unsigned long long)c->least, r->tail);
        return;
    } else {
        text_add(t, r->lead);
        add_value(t, r->form, c->least);
        if (c->least == c->most) {
            text_add(t, r->tail);
            return;
        }
        text_add(t, " to ");
    }
    add_value(t, r->form, c->most);
    text_add(t, r->tail);
}

static void add(struct text *t, const struct compared_row *rows, size_t n, uint32_t of,
                const struct compared *c, bool say_psn)
{
    if (c->found >= c->least && c->found <= c->most)
        return;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].of != of)
            continue;
        if (rows[i].form == FORM_ROOM) {
            text_addf(t, ", %s%llu%s, %llu have come", rows[i].lead, (unsigned long long)c->most,
                      rows[i].tail, (unsigned long long)c->found);
            return;
        }
        if (rows[i].form != FORM_FOUND_ALONE)
            add_expected(t, &rows[i], c);
        if (rows[i].form == FORM_PSN && !say_psn)
            continue;
        text_addf(t, ", found %s", rows[i].lead);
        add_value(t, rows[i].form, c->found);
    }
}

void compared_add_rule(struct text *t, uint32_t rule, const struct compared *c, bool say_psn)
{
    add(t, by_rule, ARRAY_LEN(by_rule), rule, c, say_psn);
}

void compared_add_drop(struct text *t, uint32_t reason, const struct compared *c, bool say_psn)
{
    add(t, by_drop, ARRAY_LEN(by_drop), reason, c, say_psn);
}

/* Prints the values even if all are 0: a refusal with a row has always compared something. */
void compared_add_refusal(struct text *t, uint32_t why, const struct compared *c)
{
    for (size_t i = 0; i < ARRAY_LEN(by_refusal); i++) {
        const struct compared_row *r = &by_refusal[i];

        if (r->of != why || r->form == FORM_NOTHING)
            continue;
        if (r->form < FORM_FOUND_ALONE)
            add_expected(t, r, c);
        text_addf(t, ", found %s", r->lead);
        add_value(t, r->form, c->found);
    }
}
