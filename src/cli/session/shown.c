/* SPDX-License-Identifier: MIT */
#include "cli/session/shown.h"

#include "rdmalab/trace.h"

#define SHOWN_MAX 200u /* in one step; all of them are in `show events` */

/* Registers, ring indexes and names are left to `show events`. */
#define STORY_KINDS                                                                                \
    (EV_SET(EV_fetch) | EV_SET(EV_key) | EV_SET(EV_dma_write) | EV_SET(EV_qp_state) |              \
     EV_SET(EV_timer) | EV_SET(EV_timeout) | EV_SET(EV_retry) | EV_SET(EV_cqe) |                   \
     EV_SET(EV_cq_overflow) | EV_SET(EV_tx) | EV_SET(EV_rx) | EV_SET(EV_drop) | EV_SET(EV_lost) |  \
     EV_SET(EV_fault) | EV_SET(EV_flooded) | EV_SET(EV_forwarded) | EV_SET(EV_vq_broken) |         \
     EV_SET(EV_cq_event) | EV_SET(EV_eth_tx) | EV_SET(EV_eth_rx) | EV_SET(EV_neighbour) |          \
     EV_SET(EV_ping_sent) | EV_SET(EV_ping_reply) | EV_SET(EV_ping_lost) | EV_SET(EV_port_out))

void shown_begin(struct session *s)
{
    s->shown = 0;
    if (s->config.verbose)
        rdl_hear(s->lab, s->listener, STORY_KINDS);
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
            rdl_hear(s->lab, s->listener, 0);
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
        rdl_hear(s->lab, s->listener, 0);
}
