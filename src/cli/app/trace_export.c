/* SPDX-License-Identifier: MIT */
#include "cli/app/trace_export.h"

#include <string.h>

#include "cli/export/export.h"
#include "cli/graph/graph_file.h"
#include "cli/graph/why_graph.h"
#include "cli/why/why.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/out_file.h"

bool trace_export_can(const struct step *st, struct diag *d)
{
    const char *form = step_text(st, "form");

    switch ((enum export_form)step_number(st, "form")) {
    case EXPORT_WHY:
        return true;
    case EXPORT_LADDER:
    case EXPORT_TIMELINE:
        diag_set(d, DIAG_VALUE, step_span(st, "form", 0), "of a trace, %s is an option", form);
        return diag_remedy(d, "--%s %s", form, step_text(st, "file"));
    case EXPORT_EVENTS:
        diag_set(d, DIAG_VALUE, step_span(st, "form", 0), "a trace is such a file already");
        return diag_remedy(d, "copy it");
    case EXPORT_PCAPNG:
    case EXPORT_VQ:
    case EXPORT_MAP:
    case EXPORT_STATES:
        break;
    }
    diag_set(d, DIAG_VALUE, step_span(st, "form", 0),
             "export %s needs the lab, and this is a saved trace", form);
    return diag_remedy(d, "run the scenario and export it there; of a trace it knows: export why");
}

/* Writes the graph, or as text the answer of `why`. */
static enum rdl_status write_why(FILE *f, const struct past *p, const struct step *st, ev_id id,
                                 bool as_text, uint64_t *ret_n)
{
    const char *name = step_text(st, "file");
    const struct graph_file how = {.name = name,
                                   .dot = export_is_dot(name),
                                   .plain = step_has(st, "plain"),
                                   .may_start = true,
                                   .err = stderr};
    enum rdl_status status;
    struct graph g;

    *ret_n = EXPORT_UNCOUNTED;
    if (as_text)
        return why(f, p, id);
    status = why_graph(p, id, &g);
    if (status != RDL_OK)
        return status;
    *ret_n = g.n_nodes;
    status = graph_file_write(f, &g, &how);
    graph_done(&g);
    return status;
}

bool trace_export_why(const struct past *p, const struct step *st, ev_id id, struct diag *d)
{
    const char *name = step_text(st, "file");
    const struct span at = step_span(st, "file", 0);
    const bool terminal = strcmp(name, "-") == 0;
    const char *suffix = terminal ? NULL : export_wants_suffix(EXPORT_WHY, name);
    char written[SHOW_LINE_BYTES];
    struct text t = text_on(written, sizeof(written));
    struct out_file o = {.f = stdout};
    const char *why_not = NULL;
    enum rdl_status status;
    uint64_t n;

    if (suffix) {
        diag_set(d, DIAG_VALUE, at, "%s: the name must end in %s", name, suffix);
        return diag_remedy(d, "for example: export why causes.svg");
    }
    if (!terminal)
        why_not = out_file_open(&o, name);
    if (why_not)
        return diag_set(d, DIAG_FAILED, at, "%s: %s", name, why_not);
    status = write_why(o.f, p, st, id, terminal || export_is_text(name), &n);
    if (!terminal && status == RDL_OK)
        why_not = out_file_close(&o);
    else if (!terminal)
        out_file_drop(&o);
    if (status != RDL_OK)
        return diag_status(d, at, "export", status);
    if (why_not)
        return diag_set(d, DIAG_FAILED, at, "%s: %s", name, why_not);
    export_add_written(&t, EXPORT_WHY, SHOWN_NAME(name), n);
    if (!terminal)
        puts(written);
    return true;
}
