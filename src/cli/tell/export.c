/* SPDX-License-Identifier: MIT */
#include "cli/tell/export.h"

#include "cli/saved/saved_header.h"

enum rdl_status export_events(FILE *out, const struct past *p, const struct past_about *about)
{
    const enum rdl_status st = saved_header_write(out, p, about);

    for (size_t i = 0; i < p->n && st == RDL_OK; i++) {
        char buf[EV_JSON_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        ev_add_json(&t, past_at(p, i), p->names);
        fprintf(out, "%s\n", buf);
    }
    return st;
}

static const struct ev *ladder_at(void *ctx, size_t i)
{
    return past_at(ctx, i);
}

static void put(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

enum rdl_status export_ladder(FILE *out, const struct past *p, const struct ladder_options *options,
                              bool svg)
{
    struct past copy = *p; /* ladder_at() wants it without const */
    char missing[LADDER_MISSING_BYTES];
    struct text t = text_on(missing, sizeof(missing));
    const struct ladder_events events = {.at = ladder_at,
                                         .ctx = &copy,
                                         .n = p->n,
                                         .names = p->names,
                                         .gap_from = p->gap_from,
                                         .gap_to = p->gap_to,
                                         .missing = missing};
    const struct viz_sink sink = {put, out};
    struct ladder *ladder;
    enum rdl_status st;

    past_add_missing(&t, p, options->from, options->to);
    st = ladder_new(&events, options, &ladder);
    if (st != RDL_OK)
        return st;
    st = svg ? ladder_svg(ladder, &sink) : ladder_text(ladder, &sink);
    ladder_free(ladder);
    return st;
}
