/* SPDX-License-Identifier: MIT */
/* The state graph of a queue pair with the way that it has taken.
 *
 * The legal moves are those that the engine judges by (emu/facts/qp_fsm.h).  The way is counted
 * from recorded events, since the queue pair was created.
 */
#ifndef CLI_GRAPH_STATES_H
#define CLI_GRAPH_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/qp_fsm.h"
#include "emu/past/past.h"
#include "rdmalab/inspect.h"

#define STATES_COUNT (QPS_ERR + 1u)

/* A move from one state to another. */
struct state_move {
    bool is_drawn;    /* legal in the graph, taken or refused */
    bool is_legal;    /* modify_qp may ask for it */
    uint64_t n;       /* times that the queue pair took it */
    ev_id last;       /* the last of them; 0: none */
    uint64_t refused; /* times that the device refused it */
    ev_id last_refused;
};

struct states {
    char path[RDL_PATH_BYTES];
    uint32_t type, qpn; /* type: enum qp_type */
    enum qp_state now;
    bool is_known[STATES_COUNT]; /* queue pairs of the type have this state */
    struct state_move moves[STATES_COUNT][STATES_COUNT]; /* [from][to] */
    bool forgotten; /* older events may be missing: the numbers are minimums */
};

/* Makes the state graph of the queue pair @path.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  nothing has this path; *@reterr_at is the offset of the error
 *	   RDL_ERR_INVAL      @path is no queue pair
 */
RDL_MUST_CHECK enum rdl_status states_make(struct states *ret, const struct rdl_lab *lab,
                                           const struct past *p, const char *path,
                                           size_t *reterr_at);

/* Appends "h1.qp: RC, QPN 2, in RTS". */
void states_add_head(struct text *t, const struct states *s);

/* Appends a sentence about the states that modify_qp can lead to now, and those that it cannot. */
void states_add_ways(struct text *t, const struct states *s);

/* Makes the graph.  The caller calls graph_done(). */
struct graph;
void states_graph(const struct states *s, struct graph *ret);

#endif
