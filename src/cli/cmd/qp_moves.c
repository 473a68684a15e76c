/* SPDX-License-Identifier: MIT */
#include "cli/cmd/qp_moves.h"

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/qp_fsm.h"

static const char *state_name(enum qp_state s)
{
    return enum_name(&enum_qp_state, (uint32_t)s);
}

/* Appends what stands before item @i of a list that has another one behind it if @more. */
static void add_join(struct text *t, size_t i, bool more)
{
    if (i > 0)
        text_add(t, more ? ", " : " and ");
}

/* Returns a state that takes @attr, to which a move without attributes leads from @from.  Returns
 * @from if there is none.
 */
static enum qp_state way_to(uint32_t type, enum qp_state from, unsigned attr)
{
    unsigned missing, extra;

    for (const struct qp_edge *e = qp_fsm_takes(type, attr, NULL); e;
         e = qp_fsm_takes(type, attr, e)) {
        if (e->from != QPS_RESET && e->from != from &&
            qp_fsm_check(type, from, e->from, 0, &missing, &extra) == RDL_OK)
            return e->from;
    }
    return from;
}

/* Returns true if @attr is taken only in states that @from has behind it. */
static bool is_behind(uint32_t type, enum qp_state from, unsigned attr)
{
    for (const struct qp_edge *e = qp_fsm_takes(type, attr, NULL); e;
         e = qp_fsm_takes(type, attr, e)) {
        if (e->from >= from)
            return false;
    }
    return true;
}

static void add_one(struct text *t, uint32_t type, enum qp_state from, const struct enum_row *attr,
                    const char *path)
{
    const struct qp_edge *e = qp_fsm_takes(type, attr->value, NULL);
    const enum qp_state way = way_to(type, from, attr->value);

    if (!e) {
        text_addf(t, "no move of a queue pair of this type takes %s", attr->text);
        return;
    }
    text_addf(t, "%s is taken at ", attr->text);
    for (size_t i = 0; e; i++) {
        const struct qp_edge *next = qp_fsm_takes(type, attr->value, e);

        add_join(t, i, next != NULL);
        text_addf(t, "%s -> %s", state_name(e->from), state_name(e->to));
        e = next;
    }
    if (way != from)
        text_addf(t, ": \"modify_qp %s state=%s\" first", path, state_name(way));
    else if (is_behind(type, from, attr->value))
        text_addf(t, ": \"modify_qp %s state=RESET\" begins anew", path);
}

void qp_moves_add_takes(struct text *t, uint32_t type, enum qp_state from, uint32_t extra,
                        const char *path)
{
    const char *lead = "";

    for (size_t i = 0; i < enum_qp_attr.n_rows; i++) {
        if (!(extra & enum_qp_attr.rows[i].value))
            continue;
        text_add(t, lead);
        add_one(t, type, from, &enum_qp_attr.rows[i], path);
        lead = "; ";
    }
}

void qp_moves_add_sources(struct text *t, uint32_t type, enum qp_state to)
{
    const struct qp_edge *e = qp_fsm_leads(type, to, NULL);

    if (to == QPS_RESET || to == QPS_ERR) {
        text_addf(t, "%s is reached from every state", state_name(to));
        return;
    }
    if (!e) {
        text_addf(t, "no command leads to %s", state_name(to));
        return;
    }
    text_addf(t, "%s is reached from ", state_name(to));
    for (size_t i = 0; e; i++) {
        const struct qp_edge *next = qp_fsm_leads(type, to, e);

        add_join(t, i, next != NULL);
        text_add(t, state_name(e->from));
        e = next;
    }
}

/* Appends @value of an attribute as modify_qp takes it. */
static void add_value(struct text *t, uint32_t attr, uint32_t value)
{
    if (attr == QPA_STATE || attr == QPA_CUR_STATE)
        text_add(t, state_name((enum qp_state)value));
    else if (attr == QPA_PATH_MTU)
        text_addf(t, "%u", (unsigned)mtu_bytes(value));
    else
        text_addf(t, "%u", (unsigned)value);
}

/* Appends the names of the bits of @set. */
static void add_access(struct text *t, uint32_t set)
{
    const char *comma = "";

    for (size_t i = 0; i < enum_access.n_rows; i++) {
        if (!(set & enum_access.rows[i].value))
            continue;
        text_addf(t, "%s%s", comma, enum_access.rows[i].text);
        comma = ",";
    }
}

void qp_moves_add_range(struct text *t, const struct rdl_attr_range *r)
{
    text_addf(t, "%s is ", enum_by_value(&enum_qp_attr, r->attr)->text);
    if (r->attr == QPA_ACCESS_FLAGS) { /* its range is a set of bits from 0 on */
        add_access(t, r->found);
        text_add(t, ", and may have only ");
        add_access(t, r->most);
        return;
    }
    add_value(t, r->attr, r->found);
    text_add(t, ", and must be ");
    add_value(t, r->attr, r->least);
    if (r->most != r->least) {
        text_add(t, " to ");
        add_value(t, r->attr, r->most);
    }
}
