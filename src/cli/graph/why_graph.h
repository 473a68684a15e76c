/* SPDX-License-Identifier: MIT */
/* The graph of the causes of an event: hosts are clusters, and packets are arrows between them. */
#ifndef CLI_GRAPH_WHY_GRAPH_H
#define CLI_GRAPH_WHY_GRAPH_H

#include "emu/past/past.h"
#include "rdmalab/status.h"
#include "viz/graph.h"

#define WHY_GRAPH_MAX 60u /* events in one graph; the others are behind "why #12.3" */

/* Makes the graph of event @id.  The caller calls graph_done() if it succeeds.  Returns RDL_OK, or
 * RDL_ERR_NOT_FOUND if there is no such event.
 */
RDL_MUST_CHECK enum rdl_status why_graph(const struct past *p, ev_id id, struct graph *ret);

#endif
