/* SPDX-License-Identifier: MIT */
#include "cli/app/ladder_file.h"

#include <stdio.h>
#include <string.h>

#include "cli/app/modes.h"
#include "cli/app/options.h"
#include "cli/export/export.h"
#include "cli/session/files.h"
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

int ladder_file(const struct past *p, const char *title, const struct ladder_request *rq)
{
    const bool terminal = strcmp(rq->file, "-") == 0;
    struct picture_left left = {0};
    struct picture_options options = {
        .ret_left = &left,
        .title = title && title[0] ? SHOWN_LINE(title) : NULL,
        .colour = terminal && modes_colour(),
    };
    const char *why_not;
    struct out_file o = {.f = stdout};
    enum rdl_status st;

    if (!read_options(rq, &options))
        return EXIT_USAGE;
    why_not = terminal ? NULL : out_file_open(&o, rq->file);
    if (!why_not) {
        st = export_picture(o.f, ladder_draw, p, &options, !terminal && !export_is_text(rq->file));
        if (!terminal && st == RDL_OK)
            why_not = out_file_close(&o);
        else if (!terminal)
            out_file_drop(&o);
        if (st != RDL_OK)
            why_not = rdl_status_str(st);
    }
    if (why_not)
        fprintf(stderr, "rdmalab: %s: %s\n", SHOWN_NAME(rq->file), why_not);
    else if (!terminal)
        warn_of_left(rq->file, &options);
    return why_not ? EXIT_FAILED : EXIT_PASSED;
}
