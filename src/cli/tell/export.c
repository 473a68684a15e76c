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

static void put(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

enum rdl_status export_picture(FILE *out, picture_draw *draw, const struct past *p,
                               const struct picture_options *options, bool svg)
{
    const struct viz_sink sink = {put, out};

    return draw(p, options, svg, &sink);
}
