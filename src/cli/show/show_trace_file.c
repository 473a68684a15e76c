/* SPDX-License-Identifier: MIT */
#include "cli/show/show_trace_file.h"

#include "cli/trace_file/trace_file_header.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "print/utf8.h"

#define COLUMN_WHAT 10u

/* Begins a line with @what in its first column; "" continues the previous line. */
static struct text begin(char *buf, size_t cap, const char *what)
{
    struct text t = text_on(buf, cap);

    text_add(&t, what);
    while (t.len < COLUMN_WHAT)
        text_add(&t, " ");
    return t;
}

static void show_writer(FILE *out, const struct trace_file_info *info)
{
    char buf[TRACE_FILE_TITLE_BYTES + 2 * COLUMN_WHAT];
    struct text t = begin(buf, sizeof(buf), "title");

    if (info->title[0]) {
        text_add(&t, SHOWN_NAME(info->title));
        show_line(out, &t);
    }
    if (!info->has_header)
        return;
    t = begin(buf, sizeof(buf), "written");
    text_addf(&t, "by rdmalab %s, trace format %u",
              info->rdmalab[0] ? SHOWN_NAME(info->rdmalab) : "(unknown)",
              TRACE_FILE_FORMAT_VERSION);
    if (info->has_seed)
        text_addf(&t, ", seed %llu", (unsigned long long)info->seed);
    show_line(out, &t);
}

/* Prints the hosts and ports. */
static void show_nodes(FILE *out, const struct past *p)
{
    struct grid g;
    struct ev e;

    grid_init(&g, 4, 0);
    for (size_t at = 0; ev_names_next(p->names, &at, &e);) {
        const bool port = e.kind == EV_port_up;

        if (e.kind == EV_named)
            continue;
        grid_cell(&g, g.n ? "" : "hosts   ");
        grid_cell(&g, port ? e.u.port_up.name.s : e.u.host_up.name.s);
        grid_cell(&g, port ? "external port" : e.u.host_up.addr.s);
        if (port || !e.u.host_up.mac) {
            grid_cell(&g, "");
        } else {
            char mac[EV_NAME_BYTES];
            struct text t = text_on(mac, sizeof(mac));

            ev_add_field(&t, &e, ev_field_find(EV_host_up, "mac"), NULL);
            grid_cell(&g, mac);
        }
    }
    grid_print(&g, out, 0);
    grid_done(&g);
}

static void show_span(FILE *out, const struct past *p)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = begin(buf, sizeof(buf), "time");

    if (p->n == 0)
        return;
    quantity_add_time_short(&t, past_at(p, 0)->at_ns);
    text_add(&t, " to ");
    quantity_add_time_short(&t, past_at(p, p->n - 1)->at_ns);
    text_add(&t, ", ");
    ev_add_id(&t, past_at(p, 0)->id);
    text_add(&t, " to ");
    ev_add_id(&t, past_at(p, p->n - 1)->id);
    show_line(out, &t);
}

static void show_kinds(FILE *out, const struct past *p)
{
    size_t counts[EV_COUNT] = {0};
    char buf[SHOW_LINE_BYTES];
    struct text t = begin(buf, sizeof(buf), "events");
    struct grid g;

    for (size_t i = 0; i < p->n; i++)
        counts[past_at(p, i)->kind]++;
    text_addf(&t, "%zu", p->n);
    show_line(out, &t);
    grid_init(&g, 2, 1u << 1);
    for (unsigned k = 0; k < EV_COUNT; k++) {
        if (counts[k] == 0)
            continue;
        grid_cell(&g, ev_schema((enum ev_kind)k)->name);
        grid_cellf(&g, "%zu", counts[k]);
    }
    grid_print(&g, out, COLUMN_WHAT);
    grid_done(&g);
}

static void show_missing(FILE *out, const struct past *p)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = begin(buf, sizeof(buf), "missing");

    if (p->forgotten) {
        text_addf(&t, "%llu older events are forgotten", (unsigned long long)p->forgotten);
        show_line(out, &t);
    }
    if (p->gap_from) {
        t = begin(buf, sizeof(buf), "missing");
        past_add_gap(&t, p);
        show_line(out, &t);
    }
}

void show_trace_file(FILE *out, const struct trace_file *s)
{
    const struct past p = trace_file_past(s);
    char lead[COLUMN_WHAT + 1];

    show_writer(out, trace_file_info(s));
    show_nodes(out, &p);
    show_span(out, &p);
    show_kinds(out, &p);
    show_missing(out, &p);
    (void)begin(lead, sizeof(lead), "note");
    show_trace_file_notes(out, lead, s);
}

void show_trace_file_notes(FILE *out, const char *lead, const struct trace_file *s)
{
    const struct trace_file_info *info = trace_file_info(s);
    const struct {
        uint64_t n;
        const char *one, *many;
    } rows[] = {
        {info->missing_events, "event of which the header tells has no line",
         "events of which the header tells have no lines"},
        {info->unknown_kinds, "event of an unknown kind was skipped",
         "events of unknown kinds were skipped"},
        {info->unknown_words, "event with an unknown word was skipped",
         "events with unknown words were skipped"},
        {info->unknown_fields, "unknown field was skipped", "unknown fields were skipped"},
        {info->missing_fields, "field is missing and reads as 0 or none",
         "fields are missing and read as 0 or none"},
    };

    if (!info->has_header)
        fprintf(out, "%sthe trace has no header: it cannot say what is missing in it\n", lead);
    if (info->truncated)
        fprintf(out, "%sthe last line is not whole and was left out; the writer was stopped\n",
                lead);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].n)
            fprintf(out, "%s%llu %s\n", lead, (unsigned long long)rows[i].n,
                    rows[i].n == 1 ? rows[i].one : rows[i].many);
    }
}
