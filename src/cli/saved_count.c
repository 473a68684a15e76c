/* SPDX-License-Identifier: MIT */
#include "cli/saved_count.h"

#include <string.h>

#include "emu/base/assert.h"

static bool field_holds(const struct ev *e, const struct expr_field *f,
                        const struct ev_names *names)
{
    char buf[EV_ADDR_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    switch (f->field->print) {
    case EVP_STR:
    case EVP_HOST:
    case EVP_MAC:
        ev_add_field(&t, e, f->field, names);
        return (strcmp(buf, f->text) == 0) == (f->op == OP_EQ);
    default:
        return expr_compare(f->op, ev_field_number(e, f->field), f->number);
    }
}

uint64_t saved_count(const struct past *p, const struct expr *e)
{
    uint64_t n = 0;

    RDL_ASSERT(e->kind == EXPR_COUNT);
    for (size_t i = 0; i < p->n; i++) {
        const struct ev *ev = past_at(p, i);
        bool counts = ev->kind == e->event;

        for (size_t k = 0; k < e->n_fields && counts; k++)
            counts = field_holds(ev, &e->fields[k], p->names);
        n += counts;
    }
    return n;
}
