/* SPDX-License-Identifier: MIT */
#include "cli/show/show_states.h"

#include "cli/graph/states.h"
#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "print/show_text.h"

static void add_row(struct rows *r, unsigned from, unsigned to, const struct state_move *m)
{
    char last[32];
    struct text t = text_on(last, sizeof(last));

    rows_text(r, enum_name(&enum_qp_state, from));
    rows_text(r, enum_name(&enum_qp_state, to));
    rows_value(r, &(struct rdl_value){.type = RDL_FLAG, .number = m->is_legal});
    rows_number(r, m->n);
    if (m->n > 0) {
        ev_add_id(&t, m->last);
        rows_text(r, last);
    } else {
        rows_none(r);
    }
    rows_number(r, m->refused);
}

enum rdl_status show_states(FILE *out, const struct rdl_lab *lab, const struct past *p,
                            const char *path, enum show_form form, size_t *reterr_at)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct states s;
    struct rows r;
    const enum rdl_status st = states_make(&s, lab, p, path, reterr_at);

    if (st != RDL_OK)
        return st;
    if (form == SHOW_TEXT) {
        states_add_head(&t, &s);
        show_line(out, &t);
    }
    rows_begin_table(&r, out, form, TABLE_STATES);
    for (unsigned from = 0; from < STATES_COUNT; from++) {
        for (unsigned to = 0; to < STATES_COUNT; to++) {
            if (s.moves[from][to].is_drawn)
                add_row(&r, from, to, &s.moves[from][to]);
        }
    }
    rows_end(&r, NULL);
    if (form != SHOW_TEXT)
        return st;
    t = text_on(buf, sizeof(buf));
    states_add_ways(&t, &s);
    show_hanging(out, 2, buf);
    show_hanging(out, 2,
                 "RESET and ERR can be reached from any state; \"explain qp-states\" tells what "
                 "each move needs");
    if (s.forgotten)
        show_hanging(out, 2, "the record has no longer all events: there may have been more moves");
    return st;
}
