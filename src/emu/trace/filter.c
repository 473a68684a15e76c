/* SPDX-License-Identifier: MIT */
#include "emu/trace/filter.h"

#include <string.h>

#include "emu/facts/enum_table.h"
#include "emu/trace/event.h"

/* Returns true if the field of @c is not set in @e.  Then even != with a value does not hold. */
static bool is_absent(const struct ev_condition *c, const struct ev *e)
{
    const struct ev_field *f = c->field;
    const uint64_t number = f->print == EVP_STR ? 0 : ev_field_number(e, f);
    const struct enum_row *none;

    if (f->print == EVP_STR)
        return c->text[0] != '\0' && *((const char *)e + f->offset) == '\0';
    if (f->print == EVP_HOST)
        return number == EV_HOST_NONE && strcmp(c->text, "none") != 0;
    if (f->print != EVP_ENUM || number != 0 || c->number == 0)
        return false;
    none = enum_by_value(*f->words, 0);
    return !none || strcmp(none->name, "NONE") == 0;
}

static bool condition_holds(const struct ev_condition *c, const struct ev *e)
{
    const char *at = (const char *)e + c->field->offset;

    if (c->op != CMP_EQ && is_absent(c, e))
        return false;
    if (c->field->print == EVP_STR)
        return (strncmp(at, c->text, c->field->bytes) == 0) == (c->op == CMP_EQ);
    if (c->field->print == EVP_HOST && !c->known)
        return c->op == CMP_NE; /* no event is of a host that does not exist yet */
    return compare_holds(c->op, ev_field_number(e, c->field), c->number);
}

bool ev_condition_names(const struct ev_condition *c)
{
    return c->field->print == EVP_HOST || strcmp(c->field->type, "part") == 0;
}

const struct ev_condition *ev_filter_look_up(struct ev_filter *f, const struct ev_names *names)
{
    for (size_t i = 0; i < f->n; i++) {
        struct ev_condition *c = &f->conditions[i];

        if (c->field->print != EVP_HOST)
            continue;
        c->number = ev_names_find_host(names, c->text);
        c->known = c->number != EV_HOST_NONE || strcmp(c->text, "none") == 0;
        if (!c->known)
            return c;
    }
    return NULL;
}

bool ev_filter_holds(const struct ev_filter *f, const struct ev *e)
{
    if (e->kind != f->kind)
        return false;
    for (size_t i = 0; i < f->n; i++) {
        if (!condition_holds(&f->conditions[i], e))
            return false;
    }
    return true;
}

static bool condition_equal(const struct ev_condition *a, const struct ev_condition *b)
{
    if (a->field != b->field || a->op != b->op)
        return false;
    if (a->field->print == EVP_STR || a->field->print == EVP_HOST)
        return strcmp(a->text, b->text) == 0;
    return a->number == b->number;
}

bool ev_filter_equal(const struct ev_filter *a, const struct ev_filter *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (!condition_equal(&a->conditions[i], &b->conditions[i]))
            return false;
    }
    return true;
}
