/* SPDX-License-Identifier: MIT */
#include "cli/graph/states.h"
#include "cli/graph/wrap.h"
#include "emu/facts/enum/qp_state.h"
#include "viz/graph.h"

#define LABEL_BYTES   512u
#define LABEL_COLUMNS 40u

static uint32_t add_state(const struct states *s, struct graph *g, unsigned state)
{
    const char *name = enum_name(&enum_qp_state, state);
    char label[LABEL_BYTES];
    struct text t = text_on(label, sizeof(label));

    text_addf(&t, "%s%s", name, state == s->now ? ", now" : "");
    wrap_add(&t, LABEL_COLUMNS, enum_text(&enum_qp_state, state));
    return graph_add_node(g, name, label,
                          state == s->now                        ? GRAPH_NOW
                          : state == QPS_ERR || state == QPS_SQE ? GRAPH_BAD
                                                                 : GRAPH_PLAIN,
                          GRAPH_NONE);
}

/* Adds the arrows of one move: how often it was taken, how often refused. */
static void add_move(struct graph *g, const struct state_move *m, uint32_t from, uint32_t to)
{
    char label[64];
    struct text t = text_on(label, sizeof(label));

    if (m->n > 0) {
        text_addf(&t, "%llu x, ", (unsigned long long)m->n);
        ev_add_id(&t, m->last);
    }
    if (m->n > 0 || m->is_legal)
        graph_add_edge(g, from, to, label, m->n > 0 ? GRAPH_THICK : GRAPH_FAINT);
    if (m->refused == 0)
        return;
    t = text_on(label, sizeof(label));
    text_addf(&t, "%llu x refused, ", (unsigned long long)m->refused);
    ev_add_id(&t, m->last_refused);
    graph_add_edge(g, from, to, label, GRAPH_DASHED);
}

void states_graph(const struct states *s, struct graph *ret)
{
    char buf[LABEL_BYTES], label[LABEL_BYTES];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(label, sizeof(label));
    uint32_t nodes[STATES_COUNT];

    states_add_head(&t, s);
    graph_init(ret, "states", buf);
    ret->downwards = true;
    for (unsigned i = 0; i < STATES_COUNT; i++)
        nodes[i] = s->is_known[i] ? add_state(s, ret, i) : GRAPH_NONE;
    for (unsigned from = 0; from < STATES_COUNT; from++) {
        for (unsigned to = 0; to < STATES_COUNT; to++) {
            if (s->moves[from][to].is_drawn && nodes[from] != GRAPH_NONE && nodes[to] != GRAPH_NONE)
                add_move(ret, &s->moves[from][to], nodes[from], nodes[to]);
        }
    }
    t = text_on(buf, sizeof(buf));
    states_add_ways(&t, s);
    text_add(&t, "; RESET and ERR can be reached from any state");
    if (s->forgotten)
        text_add(&t, "; the record has no longer all moves");
    text_add(&l, "thick: taken; dotted: allowed");
    wrap_add(&l, LABEL_COLUMNS, buf);
    graph_add_node(ret, "note", label, GRAPH_PLAIN, GRAPH_NONE);
}
