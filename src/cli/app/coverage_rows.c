/* SPDX-License-Identifier: MIT */
#include "cli/app/coverage_rows.h"

#include <string.h>
#include <strings.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/refusal.h"
#include "emu/trace/kind.h"
#include "emu/trace/schema.h"

struct class_row {
    const char *name, *what;
    const struct enum_table *table;
};

static const struct class_row classes[COVER_CLASSES] = {
#define COVER(name, what, table, places) {#name, what, &(table)},
#include "cli/app/coverage.def"
#undef COVER
    [COVER_moves] = {"moves", "moves of queue pairs", NULL},
    [COVER_keys] = {"keys", "what becomes of keys", NULL},
    [COVER_events] = {"events", "kinds of events", NULL},
};

const char *cover_class_name(enum cover_class class)
{
    return classes[class].name;
}

const char *cover_class_what(enum cover_class class)
{
    return classes[class].what;
}

const struct enum_table *cover_table(enum cover_class class)
{
    return classes[class].table;
}

/* --- The state graph -------------------------------------------------------------------------- */

/* A transition of a queue pair.  qp_edges[] lacks the transitions that are legal in any state, and
 * those that the device makes when a send fails.
 */
struct qp_move {
    uint32_t type, from, to;
    const char *text;
};

static const uint32_t move_types[] = {QPT_GSI, QPT_RC, QPT_UC, QPT_UD};
static const uint32_t move_states[] = {QPS_RESET, QPS_INIT, QPS_RTR, QPS_RTS,
                                       QPS_SQD,   QPS_SQE,  QPS_ERR};
static const struct qp_move own_moves[] = {
    {QPT_UC, QPS_RTS, QPS_SQE, "a send failed, and receives go on"},
    {QPT_UC, QPS_SQD, QPS_SQE, "a send that was started failed, and receives go on"},
    {QPT_UD, QPS_RTS, QPS_SQE, "a send failed, and receives go on"},
    {QPT_UD, QPS_SQD, QPS_SQE, "a send that was started failed, and receives go on"},
    {QPT_GSI, QPS_RTS, QPS_SQE, "a send failed, and receives go on"},
    {QPT_GSI, QPS_SQD, QPS_SQE, "a send that was started failed, and receives go on"},
};

/* Fills in transition number @any of those that are legal in any state.  RC has no state SQE. */
static bool move_from_any(size_t any, struct qp_move *ret)
{
    const size_t n_states = ARRAY_LEN(move_states);
    const uint32_t to = any % 2 ? QPS_ERR : QPS_RESET;

    any /= 2;
    if (any >= ARRAY_LEN(move_types) * n_states)
        return false;
    *ret = (struct qp_move){move_types[any / n_states], move_states[any % n_states], to,
                            to == QPS_ERR ? "everything posted is flushed"
                                          : "everything posted is forgotten"};
    return true;
}

/* Fills in transition number @i.  Returns false after the last. */
static bool move_at(size_t i, struct qp_move *ret)
{
    if (i < n_qp_edges) {
        *ret = (struct qp_move){qp_edges[i].type, qp_edges[i].from, qp_edges[i].to,
                                "a move that a program asks for"};
        return true;
    }
    i -= n_qp_edges;
    if (i < ARRAY_LEN(own_moves)) {
        *ret = own_moves[i];
        return true;
    }
    return move_from_any(i - ARRAY_LEN(own_moves), ret);
}

static size_t n_moves(void)
{
    return n_qp_edges + ARRAY_LEN(own_moves) + 2 * ARRAY_LEN(move_types) * ARRAY_LEN(move_states);
}

size_t cover_move_find(uint32_t type, uint32_t from, uint32_t to)
{
    struct qp_move m;
    size_t i = 0;

    while (move_at(i, &m) && (m.type != type || m.from != from || m.to != to))
        i++;
    return i;
}

static void move_row(size_t i, struct cover_row *ret)
{
    struct text t = text_on(ret->name, sizeof(ret->name));
    struct qp_move m;

    RDL_ASSERT(move_at(i, &m));
    text_addf(&t, "%s_%s_%s", enum_name(&enum_qp_type, m.type), enum_name(&enum_qp_state, m.from),
              enum_name(&enum_qp_state, m.to));
    ret->text = m.text;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static const struct enum_row key_rows[] = {
#define COVER_KEY(nm, txt) {#nm, COVER_KEY_##nm, (txt)},
    COVER_KEYS(COVER_KEY)
#undef COVER_KEY
};

const struct cover_exception cover_exceptions[] = {
#define CANNOT(class, name, why) {COVER_##class, #name, (why)},
#include "cli/app/coverage_except.def"
#undef CANNOT
};
const size_t n_cover_exceptions = ARRAY_LEN(cover_exceptions);

size_t cover_rows(enum cover_class class)
{
    size_t n = classes[class].table ? classes[class].table->n_rows : 0;

    if (class == COVER_moves)
        n = n_moves();
    else if (class == COVER_keys)
        n = ARRAY_LEN(key_rows);
    else if (class == COVER_events)
        n = EV_COUNT;
    RDL_ASSERT(n <= COVER_ROWS_MAX);
    return n;
}

static const char *excluded(enum cover_class class, const char *name)
{
    for (size_t i = 0; i < n_cover_exceptions; i++) {
        if (cover_exceptions[i].class == class && strcasecmp(cover_exceptions[i].name, name) == 0)
            return cover_exceptions[i].why;
    }
    return NULL;
}

void cover_row(enum cover_class class, size_t row, struct cover_row *ret)
{
    const struct enum_table *table = classes[class].table;
    struct text t = text_on(ret->name, sizeof(ret->name));

    RDL_ASSERT(row < cover_rows(class));
    if (class == COVER_moves) {
        move_row(row, ret);
    } else if (class == COVER_events) {
        text_add(&t, ev_schema((enum ev_kind)row)->name);
        ret->text = ev_schema((enum ev_kind)row)->text;
    } else {
        const struct enum_row *r = class == COVER_keys ? &key_rows[row] : &table->rows[row];

        text_add(&t, r->name);
        ret->text = r->text;
    }
    ret->nothing = strcmp(ret->name, "NONE") == 0;
    ret->excluded = excluded(class, ret->name);
}

size_t cover_row_find(enum cover_class class, const char *name)
{
    const size_t n = cover_rows(class);
    struct cover_row r;

    for (size_t i = 0; i < n; i++) {
        cover_row(class, i, &r);
        if (strcasecmp(r.name, name) == 0)
            return i;
    }
    return n;
}
