/* SPDX-License-Identifier: MIT */
#include "cli/app/ladder_file.h"

#include <stdio.h>
#include <string.h>

#include "cli/app/modes.h"
#include "cli/session/files.h"
#include "cli/timeline/timeline.h"
#include "print/utf8.h"
#include "process/out_file.h"
#include "viz/ladder.h"

/* Parses the value of --from or --to; @text is NULL if it was not given. */
static bool read_event(const char *option, const char *text, ev_id *ret)
{
    if (!text || ev_id_parse(text, ret))
        return true;
    fprintf(stderr, "rdmalab: %s %s: no event; one is like 12.3, and a tick or frame like 12\n",
            option, text);
    return false;
}

static bool read_options(const struct ladder_request *rq, struct picture_options *ret)
{
    uint64_t packets = 0;

    if (!read_event("--from", rq->from, &ret->from) || !read_event("--to", rq->to, &ret->to) ||
        (rq->packets && !options_number("--packets", rq->packets, &packets)))
        return false;
    if (rq->packets && (packets == 0 || packets > LADDER_PACKETS_MAX)) {
        fprintf(stderr, "rdmalab: --packets %s: a ladder has 1 to %u packets\n", rq->packets,
                LADDER_PACKETS_MAX);
        return false;
    }
    if (ret->to && ret->from > ev_id_last(ret->to)) {
        fprintf(stderr, "rdmalab: --from %s is after --to %s; the earlier one comes first\n",
                rq->from, rq->to);
        return false;
    }
    ret->n_packets = (uint32_t)packets;
    return true;
}

static void warn_of_left(const char *file, const struct picture_options *options)
{
    char left[256];
    struct text t = text_on(left, sizeof(left));

    export_add_left(&t, options->ret_left, options->n_packets, "--from ", "--packets ");
    if (t.len)
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(file), left);
}

/* A file that is to be drawn. */
struct drawn_file {
    const struct past *past;
    struct picture_options options; /* without colour: that depends on the file */
    const char *no_bytes;
};

static enum rdl_status draw_ladder(FILE *out, const struct drawn_file *d, const char *name)
{
    const bool terminal = strcmp(name, "-") == 0;
    struct picture_options options = d->options;
    struct picture_left left = {0};
    enum rdl_status st;

    options.colour = terminal && modes_colour();
    options.ret_left = &left;
    st = export_picture(out, ladder_draw, d->past, &options, !terminal && !export_is_text(name));
    if (st == RDL_OK && !terminal)
        warn_of_left(name, &options);
    return st;
}

static enum rdl_status draw_timeline(FILE *out, const struct drawn_file *d, const char *name)
{
    const struct timeline_options options = {.title = d->options.title,
                                             .from = d->options.from,
                                             .to = d->options.to,
                                             .n_packets = d->options.n_packets,
                                             .no_bytes = d->no_bytes};

    (void)name;
    return timeline_write(out, d->past, &options);
}

/* Writes the file @name by @draw.  Returns the exit status. */
static int write_file(const struct drawn_file *d, const char *name,
                      enum rdl_status (*draw)(FILE *, const struct drawn_file *, const char *))
{
    const bool terminal = strcmp(name, "-") == 0;
    struct out_file o = {.f = stdout};
    const char *why_not = terminal ? NULL : out_file_open(&o, name);
    enum rdl_status st;

    if (!why_not) {
        st = draw(o.f, d, name);
        if (!terminal && st == RDL_OK)
            why_not = out_file_close(&o);
        else if (!terminal)
            out_file_drop(&o);
        if (st != RDL_OK)
            why_not = rdl_status_str(st);
    }
    if (why_not)
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(name), why_not);
    return why_not ? EXIT_FAILED : EXIT_PASSED;
}

int ladder_file(const struct past *p, const char *title, const char *no_bytes,
                const struct ladder_request *rq)
{
    struct drawn_file d = {.past = p,
                           .options = {.title = title && title[0] ? SHOWN_LINE(title) : NULL},
                           .no_bytes = no_bytes};
    int status = EXIT_PASSED;

    if (!read_options(rq, &d.options))
        return EXIT_USAGE;
    if (rq->file)
        status = write_file(&d, rq->file, draw_ladder);
    if (rq->timeline)
        status = exit_worse(status, write_file(&d, rq->timeline, draw_timeline));
    return status;
}
