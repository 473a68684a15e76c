/* SPDX-License-Identifier: MIT */
#include "cli/session/shown.h"

#include "emu/base/text.h"
#include "emu/trace/render.h"
#include "rdmalab/trace.h"

#define SHOWN_MAX 200u /* all of them are in `show events` */

static void print_event(void *ctx, const struct ev *e)
{
    struct shown *sh = ctx;
    char line[EV_TEXT_BYTES];
    struct text t = text_on(line, sizeof(line));

    if (sh->n++ >= SHOWN_MAX) {
        /* They are only counted, for a hint to where they all are.  If they are nowhere, let them
         * cost nothing.
         */
        if (rdl_record_gap(sh->lab).to == RDL_NEVER)
            rdl_hear(sh->lab, sh->listener, &ev_set_none);
        return;
    }
    ev_add_line(&t, e, rdl_names(sh->lab));
    fprintf(sh->out, "%s\n", line);
}

enum rdl_status shown_init(struct shown *sh, struct rdl_lab *lab, FILE *out, enum shown_share share)
{
    enum rdl_status st;

    *sh = (struct shown){.lab = lab, .share = share, .out = out};
    st = rdl_listen(lab, print_event, sh, &sh->listener);
    if (st == RDL_OK)
        rdl_hear(lab, sh->listener, &ev_set_none);
    return st;
}

void shown_done(struct shown *sh)
{
    if (sh->listener)
        rdl_unlisten(sh->lab, sh->listener);
    sh->listener = NULL;
}

void shown_begin(struct shown *sh)
{
    const struct ev_set story = ev_set_for(EV_FOR_STORY);

    if (!sh->full)
        rdl_hear(sh->lab, sh->listener, &story);
}

void shown_end(struct shown *sh)
{
    if (sh->share == SHOWN_OF_ALL) {
        if (sh->n > SHOWN_MAX && !sh->full)
            fprintf(sh->out,
                    "... and more: --events FILE has all that happens, --ladder FILE draws "
                    "it\n");
        sh->full = sh->n > SHOWN_MAX;
    } else if (sh->n > SHOWN_MAX && rdl_record_gap(sh->lab).to == RDL_NEVER)
        fprintf(sh->out, "... and more, which nothing records\n");
    else if (sh->n > SHOWN_MAX)
        fprintf(sh->out, "... and %llu more; \"show events\" has %s\n",
                (unsigned long long)(sh->n - SHOWN_MAX),
                rdl_record_forgotten(sh->lab) ? "the latest" : "them all");
    if (sh->share == SHOWN_OF_STEP)
        sh->n = 0;
    if (sh->listener) /* there is none when no lab could be made */
        rdl_hear(sh->lab, sh->listener, &ev_set_none);
}
