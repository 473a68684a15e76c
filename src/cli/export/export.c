/* SPDX-License-Identifier: MIT */
#include "cli/export/export.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/trace_file/trace_file_header.h"
#include "emu/base/assert.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/render.h"
#include "print/show_text.h"
#include "viz/file_sink.h"
#include "viz/ladder.h"

#define TEXT_SUFFIX ".txt"

#define DOT_SUFFIX ".dot"

/* Two suffixes, and their text in messages. */
#define ENDS(a, b)                                                                                 \
    {                                                                                              \
        {a, b}, a " or " b                                                                         \
    }

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

bool export_is_graph(enum export_form form)
{
    return form == EXPORT_MAP || form == EXPORT_STATES || form == EXPORT_WHY;
}

const char *export_wants_suffix(enum export_form form, const char *name)
{
    static const struct format_row {
        const char *suffix[2], *both;
    } picture = ENDS(".svg", TEXT_SUFFIX), pcapng = ENDS(".pcapng", ".pcap"),
      events = ENDS(".ndjson", ".jsonl"), page = ENDS(".html", ".htm");
    const struct format_row *row = form == EXPORT_PCAPNG     ? &pcapng
                                   : form == EXPORT_EVENTS   ? &events
                                   : form == EXPORT_TIMELINE ? &page
                                                             : &picture;
    struct stat info;

    if (export_is_graph(form) && export_is_dot(name))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(row->suffix); i++) {
        if (ends_in(name, row->suffix[i]))
            return NULL;
    }
    if (stat(name, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return NULL;
    return export_is_graph(form) ? ".svg, " DOT_SUFFIX " or " TEXT_SUFFIX : row->both;
}

const char *export_ladder_suffix(const char *name)
{
    return export_wants_suffix(EXPORT_LADDER, name);
}

const char *export_pcapng_suffix(const char *name)
{
    return export_wants_suffix(EXPORT_PCAPNG, name);
}

const char *export_events_suffix(const char *name)
{
    return export_wants_suffix(EXPORT_EVENTS, name);
}

const char *export_timeline_suffix(const char *name)
{
    return export_wants_suffix(EXPORT_TIMELINE, name);
}

bool export_is_text(const char *name)
{
    return ends_in(name, TEXT_SUFFIX);
}

bool export_is_dot(const char *name)
{
    return ends_in(name, DOT_SUFFIX);
}

void export_add_written(struct text *t, enum export_form form, const char *name, uint64_t n)
{
    const bool graph = export_is_graph(form);
    const char *of = form == EXPORT_EVENTS   ? "event"
                     : form == EXPORT_PCAPNG ? "frame"
                     : graph                 ? "box"
                                             : "packet";

    text_addf(t, "wrote %s", name);
    if (n == 0)
        text_addf(t, ": no %s", of);
    else if (n != EXPORT_UNCOUNTED)
        text_addf(t, ": %llu %s%s", (unsigned long long)n, of, n == 1 ? "" : graph ? "es" : "s");
}

enum rdl_status export_events(FILE *out, const struct past *p, const struct past_about *about)
{
    const enum rdl_status st = trace_file_header_write(out, p, about);

    for (size_t i = 0; i < p->n && st == RDL_OK; i++) {
        char buf[PAST_JSON_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        past_add_json(&t, p, past_at(p, i));
        fprintf(out, "%s\n", buf);
    }
    return st;
}

enum rdl_status export_picture(FILE *out, picture_draw *draw, const struct past *p,
                               const struct picture_options *options, bool svg)
{
    const struct viz_sink sink = file_sink(out);
    struct picture_options wide = *options;

    if (wide.width == 0)
        wide.width = show_columns(out);
    return draw(p, &wide, svg, &sink);
}

void export_add_left(struct text *t, const struct picture_left *left, uint32_t n_packets,
                     const char *from, const char *packets)
{
    const uint64_t drawn = n_packets ? n_packets : LADDER_PACKETS_DEFAULT;

    picture_add_left(t, left);
    if (!left->from)
        return;
    text_addf(t, ": %s%llu.%u draws the next part", from, (unsigned long long)ev_tick(left->from),
              ev_row(left->from)); /* without #, where a comment of a shell begins */
    if (left->n_packets && drawn + left->n_packets <= LADDER_PACKETS_MAX)
        text_addf(t, ", %s%llu all of it", packets, (unsigned long long)(drawn + left->n_packets));
}
