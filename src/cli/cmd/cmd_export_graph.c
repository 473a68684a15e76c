/* SPDX-License-Identifier: MIT */
/* The graphs of `export`: map, states, why.  As .dot they are DOT, as .svg a picture that Graphviz
 * lays out if it is there and may run, and otherwise rdmalab; anything else is text.
 */
#include "cli/cmd/export_graph.h"

#include <stdlib.h>
#include <string.h>

#include "cli/export/export.h"
#include "cli/graph/graph_file.h"
#include "cli/graph/map.h"
#include "cli/graph/states.h"
#include "cli/graph/why_graph.h"
#include "cli/session/gate.h"
#include "cli/session/resolve.h"
#include "cli/session/session.h"
#include "cli/show/show_map.h"
#include "cli/show/show_states.h"
#include "cli/why/why.h"
#include "tree/lab_past.h"
#include "viz/graph.h"

/* Writes @g to the file, as its name says.  *@ret_n is the number of its boxes. */
static bool write_graph(struct session *s, FILE *f, const struct step *st, const struct graph *g,
                        uint64_t *ret_n)
{
    const char *name = step_text(st, "file");
    const struct graph_file how = {.name = name,
                                   .dot = export_is_dot(name),
                                   .plain = step_has(st, "plain"),
                                   .may_start = gate_may_start(s),
                                   .err = s->config.err};
    const enum rdl_status status = graph_file_write(f, g, &how);

    *ret_n = g->n_nodes;
    return status == RDL_OK || session_fail_status(s, st->at, "export", status);
}

/* Reports why the parameter @param is not what the graph needs. */
static bool fail_path(struct session *s, const struct step *st, const char *param, const char *path,
                      enum rdl_status status, const char *needs)
{
    const struct scope in = session_scope(s);

    if (status == RDL_ERR_NOT_FOUND)
        return resolve_unknown(&in, step_span(st, param, 0), path, "nothing", &s->diag);
    if (status != RDL_ERR_INVAL)
        return session_fail_status(s, st->at, "export", status);
    session_fail(s, step_span(st, param, 0), "%s is no %s", path, needs);
    return diag_remedy(&s->diag, "export %s %s %s", step_text(st, "form"), step_text(st, "file"),
                       strcmp(param, "of") == 0 ? "h1" : "h1.qp");
}

static bool export_map(struct session *s, FILE *f, const struct step *st, bool as_text,
                       uint64_t *ret_n)
{
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES] = "";
    enum rdl_status status;
    struct graph g;
    struct map m;
    size_t at;
    bool ok;

    if (step_has(st, "of"))
        resolve_path(&in, step_text(st, "of"), path);
    if (as_text) {
        status = show_map(f, s->lab, path, SHOW_TEXT, &at);
        return status == RDL_OK ||
               fail_path(s, st, "of", path, status, "host and no object of one");
    }
    status = map_make(&m, s->lab, path, &at);
    if (status == RDL_OK) {
        map_graph(&m, path, &g);
        ok = write_graph(s, f, st, &g, ret_n);
        graph_done(&g);
    } else {
        ok = fail_path(s, st, "of", path, status, "host and no object of one");
    }
    map_done(&m);
    return ok;
}

static bool export_states(struct session *s, FILE *f, const struct step *st, bool as_text,
                          uint64_t *ret_n)
{
    const struct past past = past_of_lab(s->lab);
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];
    struct states states;
    enum rdl_status status;
    struct graph g;
    size_t at;
    bool ok;

    resolve_path(&in, step_text(st, "qp"), path);
    status = as_text ? show_states(f, s->lab, &past, path, SHOW_TEXT, &at)
                     : states_make(&states, s->lab, &past, path, &at);
    if (status != RDL_OK)
        return fail_path(s, st, "qp", path, status, "queue pair");
    if (as_text)
        return true;
    states_graph(&states, &g);
    ok = write_graph(s, f, st, &g, ret_n);
    graph_done(&g);
    return ok;
}

static bool export_why(struct session *s, FILE *f, const struct step *st, bool as_text,
                       uint64_t *ret_n)
{
    const struct past past = past_of_lab(s->lab);
    enum rdl_status status;
    struct graph g;
    ev_id id = 0;
    bool ok;

    if (!look_find_event(s, st, &past, &id))
        return false;
    status = as_text ? why(f, &past, id) : why_graph(&past, id, &g);
    if (status != RDL_OK)
        return session_fail_status(s, step_span(st, "target", 0), "export", status);
    if (as_text)
        return true;
    ok = write_graph(s, f, st, &g, ret_n);
    graph_done(&g);
    return ok;
}

bool export_graph(struct session *s, FILE *f, const struct step *st, bool as_text, uint64_t *ret_n)
{
    *ret_n = EXPORT_UNCOUNTED;
    switch ((enum export_form)step_number(st, "form")) {
    case EXPORT_MAP:
        return export_map(s, f, st, as_text, ret_n);
    case EXPORT_STATES:
        return export_states(s, f, st, as_text, ret_n);
    default:
        return export_why(s, f, st, as_text, ret_n);
    }
}
