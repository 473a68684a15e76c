/* SPDX-License-Identifier: MIT */
#include "cli/session/shown.h"

#include "rdmalab/trace.h"

#define SHOWN_MAX 200u /* in one step; all of them are in `show events` */

void shown_begin(struct session *s)
{
    const struct ev_set story = ev_set_story();

    s->shown = 0;
    if (s->config.verbose)
        rdl_hear(s->lab, s->listener, &story);
}

void shown_event(void *ctx, const struct ev *e)
{
    struct session *s = ctx;
    char line[EV_TEXT_BYTES];
    struct text t = text_on(line, sizeof(line));

    if (s->shown++ >= SHOWN_MAX) {
        /* They are only counted, for a hint to where they all are.  If they are nowhere, let them
         * cost nothing.
         */
        if (rdl_record_gap(s->lab).to == RDL_NEVER)
            rdl_hear(s->lab, s->listener, &ev_set_none);
        return;
    }
    ev_add_line(&t, e, rdl_names(s->lab));
    fprintf(s->config.out, "%s\n", line);
}

void shown_end(struct session *s)
{
    if (s->shown > SHOWN_MAX && rdl_record_gap(s->lab).to == RDL_NEVER)
        fprintf(s->config.out, "... and more, which nothing records\n");
    else if (s->shown > SHOWN_MAX)
        fprintf(s->config.out, "... and %llu more; \"show events\" has %s\n",
                (unsigned long long)(s->shown - SHOWN_MAX),
                rdl_record_forgotten(s->lab) ? "the latest" : "them all");
    s->shown = 0;
    if (s->listener) /* there is none when no lab could be made */
        rdl_hear(s->lab, s->listener, &ev_set_none);
}
