/* SPDX-License-Identifier: MIT */
#include "cli/app/coverage.h"

#include "cli/app/coverage_rows.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/roce.h"
#include "emu/facts/rules.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "emu/wire/mad.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

/* A field of an event that contains the value of a row. */
struct field_offset {
    enum ev_kind kind;
    size_t offset; /* in struct ev */
};

#define AT(event, field) {EV_##event, offsetof(struct ev, u.event.field)},
#define COVER(name, what, table, places)                                                           \
    static const struct field_offset places_##name[] = {places};
#include "cli/app/coverage.def"
#undef COVER
#undef AT

static const struct {
    enum cover_class class;
    const struct field_offset *places;
    size_t n_places;
} heard[] = {
#define COVER(name, what, table, places) {COVER_##name, places_##name, ARRAY_LEN(places_##name)},
#include "cli/app/coverage.def"
#undef COVER
};

void coverage_merge(struct coverage *into, const struct coverage *from)
{
    for (size_t class = 0; class < COVER_CLASSES; class ++) {
        for (size_t i = 0; i < COVER_WORDS; i++)
            into->w[class][i] |= from->w[class][i];
    }
}

/* --- Recording -------------------------------------------------------------------------------- */

static void add_value(struct coverage *c, enum cover_class class, uint32_t value)
{
    const struct enum_table *table = cover_table(class);
    const struct enum_row *row = enum_by_value(table, value);

    coverage_add(c, class, row ? (size_t)(row - table->rows) : COVER_STRANGER);
}

static void add_key(struct coverage *c, enum cover_key done, enum cover_key refused, uint32_t rule)
{
    coverage_add(c, COVER_keys, rule == RULE_NONE ? done : refused);
}

/* Adds the effect of @e on a key. */
static void add_key_event(struct coverage *c, const struct ev *e)
{
    if (e->kind == EV_bind)
        add_key(c, e->u.bind.bytes == 0 ? COVER_KEY_UNBOUND : COVER_KEY_BOUND,
                COVER_KEY_BIND_REFUSED, e->u.bind.rule);
    else if (e->kind == EV_reg_mr)
        add_key(c, COVER_KEY_REGISTERED, COVER_KEY_REGISTER_REFUSED, e->u.reg_mr.rule);
    else if (e->kind == EV_invalidate)
        add_key(c, COVER_KEY_INVALIDATED, COVER_KEY_INVALIDATE_REFUSED, e->u.invalidate.rule);
}

/* The event lacks the type of the queue pair.  QPN 1 is always of type GSI, also if a control
 * request created it; the type of others is read from the lab.
 */
static void add_move_event(struct coverage *c, const struct rdl_lab *lab,
                           const struct ev_qp_state *e)
{
    char path[2 * RDL_NAME_BYTES + 8];
    struct text t = text_on(path, sizeof(path));
    struct rdl_value type;
    size_t at;

    if (e->qpn == QPN_GSI) {
        coverage_move(c, QPT_GSI, e->from, e->to);
        return;
    }
    ev_names_object(rdl_names(lab), &t, e->host, OBJ_QP, e->qpn);
    text_add(&t, ".type");
    if (rdl_inspect(lab, path, &type, &at) == RDL_OK)
        coverage_move(c, (uint32_t)type.number, e->from, e->to);
}

/* Returns true for an unknown control command, whose event has a number that is no row, and for a
 * message that is no REJ.
 */
static bool has_no_row(enum cover_class class, const struct ev *e)
{
    if (class == COVER_cm_reasons)
        return e->u.cm_sent.reason == 0;
    if (class == COVER_pv_commands)
        return !enum_by_value(&enum_pv_cmd, e->u.command.cmd);
    return class == COVER_controls && e->kind == EV_ctrl_execute &&
           refusal_rsp(e->u.ctrl_execute.refusal) == RSP_UNKNOWN_COMMAND;
}

/* Returns true if no host of the lab made the frame that @e sends: `inject` made it, or it comes in
 * through an external port.
 */
static bool is_of_stranger(const struct ev *e)
{
    return past_is_injected(e) || (e->kind == EV_tx && e->u.tx.host >= EV_PORT_FIRST) ||
           (e->kind == EV_eth_tx && e->u.eth_tx.host >= EV_PORT_FIRST);
}

void coverage_event(struct coverage *c, const struct rdl_lab *lab, const struct ev *e)
{
    if (is_of_stranger(e))
        return;
    coverage_add(c, COVER_events, e->kind);
    for (size_t i = 0; i < ARRAY_LEN(heard); i++) {
        for (size_t k = 0; k < heard[i].n_places; k++) {
            const struct field_offset *p = &heard[i].places[k];

            if (p->kind == e->kind && !has_no_row(heard[i].class, e))
                add_value(c, heard[i].class, *(const uint32_t *)((const char *)e + p->offset));
        }
    }
    add_key_event(c, e);
    if (e->kind == EV_qp_state && lab)
        add_move_event(c, lab, &e->u.qp_state);
}

void coverage_move(struct coverage *c, uint32_t type, uint32_t from, uint32_t to)
{
    const size_t row = cover_move_find(type, from, to);

    coverage_add(c, COVER_moves, row < cover_rows(COVER_moves) ? row : COVER_STRANGER);
}

void coverage_refused(struct coverage *c, uint32_t rule)
{
    add_value(c, COVER_rules, rule);
}

/* --- Figures ---------------------------------------------------------------------------------- */

struct cover_figures coverage_figures(const struct coverage *c, enum cover_class class)
{
    struct cover_figures f = {.stranger = coverage_has(c, class, COVER_STRANGER)};
    const size_t n = cover_rows(class);
    struct cover_row row;

    for (size_t i = 0; i < n; i++) {
        cover_row(class, i, &row);
        if (row.nothing)
            continue;
        f.of += !row.excluded;
        f.covered += !row.excluded && coverage_has(c, class, i);
        f.impossible += row.excluded && coverage_has(c, class, i);
    }
    return f;
}

struct cover_figures coverage_total(const struct coverage *c)
{
    struct cover_figures total = {0};

    for (size_t class = 0; class < COVER_CLASSES; class ++) {
        const struct cover_figures f = coverage_figures(c, (enum cover_class) class);

        total.covered += f.covered;
        total.of += f.of;
        total.impossible += f.impossible;
        total.stranger |= f.stranger;
    }
    return total;
}

unsigned cover_percent(const struct cover_figures *f)
{
    return f->of ? (unsigned)(100 * f->covered / f->of) : 100;
}
