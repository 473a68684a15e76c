/* SPDX-License-Identifier: MIT */
#include "cli/graph/states.h"

#include "emu/facts/enum/qp_type.h"
#include "emu/facts/refusal.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/trace/event.h"
#include "tree/tree.h"

/* Returns true if modify_qp may ask for the move, with the right attributes. */
static bool is_legal(uint32_t type, enum qp_state from, enum qp_state to)
{
    unsigned missing, extra;

    return qp_fsm_check(type, from, to, 0, &missing, &extra) != RDL_ERR_STATE;
}

static void add_legal(struct states *s)
{
    for (unsigned from = 0; from < STATES_COUNT; from++) {
        for (unsigned to = 0; to < STATES_COUNT; to++) {
            struct state_move *m = &s->moves[from][to];

            m->is_legal = is_legal(s->type, (enum qp_state)from, (enum qp_state)to);
            /* Moves to these two are legal from any state and would hide the others, but the move
             * to RESET is the only way out of ERR.
             */
            m->is_drawn = m->is_legal && (to == QPS_RESET ? from == QPS_ERR : to != QPS_ERR);
            if (m->is_drawn)
                s->is_known[from] = s->is_known[to] = true;
        }
    }
    s->is_known[QPS_RESET] = s->is_known[QPS_ERR] = true;
}

static bool is_executed(const struct ev *e, uint32_t host, uint32_t cmd, uint32_t qpn)
{
    return e->kind == EV_ctrl_execute && e->u.ctrl_execute.host == host &&
           e->u.ctrl_execute.cmd == cmd && e->u.ctrl_execute.number == qpn;
}

/* Returns the index of the first event after the queue pair was created.  QPNs are reused. */
static size_t find_begin(const struct states *s, const struct past *p, uint32_t host, bool *ret)
{
    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (!is_executed(e, host, CMD_CREATE_QP, s->qpn) || e->u.ctrl_execute.rsp != RSP_OK)
            continue;
        *ret = true;
        return i;
    }
    *ret = false;
    return 0;
}

static void count(struct states *s, const struct past *p, uint32_t host)
{
    enum qp_state now = QPS_RESET;
    bool begins;
    size_t i = find_begin(s, p, host, &begins);

    s->forgotten = !begins && (p->forgotten > 0 || p->gap_from > 0);
    for (; i < p->n; i++) {
        const struct ev *e = past_at(p, i);
        struct state_move *m;

        if (e->kind == EV_qp_state && e->u.qp_state.host == host && e->u.qp_state.qpn == s->qpn) {
            m = &s->moves[e->u.qp_state.from][e->u.qp_state.to];
            m->n++;
            m->last = e->id;
            now = (enum qp_state)e->u.qp_state.to;
        } else if (is_executed(e, host, CMD_MODIFY_QP, s->qpn) &&
                   e->u.ctrl_execute.refusal == REF_QP_MOVE &&
                   e->u.ctrl_execute.found < STATES_COUNT) {
            m = &s->moves[now][e->u.ctrl_execute.found];
            m->refused++;
            m->last_refused = e->id;
        } else {
            continue;
        }
        m->is_drawn = true;
    }
}

enum rdl_status states_make(struct states *ret, const struct rdl_lab *lab, const struct past *p,
                            const char *path, size_t *reterr_at)
{
    struct text t = text_on(ret->path, sizeof(ret->path));
    char host[RDL_NAME_BYTES];
    struct rdl_value v;
    enum rdl_status st;

    *ret = (struct states){.qpn = 0};
    text_add(&t, path);
    st = rdl_inspect(lab, path, &v, reterr_at);
    if (st != RDL_OK)
        return st;
    if (!tree_value_is(&v, NODE_qp))
        return RDL_ERR_INVAL;
    ret->type = (uint32_t)tree_number(lab, path, LEAF_qp_type);
    ret->qpn = (uint32_t)tree_number(lab, path, LEAF_qp_qpn);
    ret->now = (enum qp_state)tree_number(lab, path, LEAF_qp_state);
    tree_host_of(path, host);
    add_legal(ret);
    count(ret, p, ev_names_find_host(p->names, host));
    return RDL_OK;
}

void states_add_head(struct text *t, const struct states *s)
{
    text_addf(t, "%s: %s, QPN %u, in %s", s->path, enum_name(&enum_qp_type, s->type), s->qpn,
              enum_name(&enum_qp_state, s->now));
}

/* Appends the states that modify_qp can, or cannot, lead to now: "INIT, RTR or SQE". */
static void add_states(struct text *t, const struct states *s, bool legal)
{
    unsigned left = 0, n = 0;

    for (unsigned to = 0; to < STATES_COUNT; to++)
        left += s->is_known[to] && s->moves[s->now][to].is_legal == legal;
    for (unsigned to = 0; to < STATES_COUNT; to++) {
        if (!s->is_known[to] || s->moves[s->now][to].is_legal != legal)
            continue;
        left--;
        text_addf(t, "%s%s", n++ == 0 ? "" : left ? ", " : " or ", enum_name(&enum_qp_state, to));
    }
}

void states_add_ways(struct text *t, const struct states *s)
{
    text_addf(t, "from %s modify_qp can lead to ", enum_name(&enum_qp_state, s->now));
    add_states(t, s, true);
    text_add(t, ", and not to ");
    add_states(t, s, false);
}
