/* SPDX-License-Identifier: MIT */
#include "cli/shown.h"

#include "rdmalab/trace.h"

#define SHOWN_MAX 200u /* in one step; all of them are in `show events` */

/* Registers, ring indexes and names are left to `show events`. */
static const bool is_story[EV_COUNT] = {
    [EV_fetch] = true,       [EV_key] = true,       [EV_dma_write] = true,  [EV_qp_state] = true,
    [EV_timer] = true,       [EV_timeout] = true,   [EV_retry] = true,      [EV_cqe] = true,
    [EV_cq_overflow] = true, [EV_tx] = true,        [EV_rx] = true,         [EV_drop] = true,
    [EV_lost] = true,        [EV_fault] = true,     [EV_flooded] = true,    [EV_forwarded] = true,
    [EV_vq_broken] = true,   [EV_cq_event] = true,  [EV_eth_tx] = true,     [EV_eth_rx] = true,
    [EV_neighbour] = true,   [EV_ping_sent] = true, [EV_ping_reply] = true, [EV_ping_lost] = true,
    [EV_port_out] = true,
};

void shown_event(void *ctx, const struct ev *e)
{
    struct session *s = ctx;
    char line[EV_TEXT_BYTES];
    struct text t = text_on(line, sizeof(line));

    if (!s->show_events || !is_story[e->kind] || s->shown++ >= SHOWN_MAX)
        return;
    ev_add_line(&t, e, rdl_names(s->lab));
    fprintf(s->config.out, "%s\n", line);
}

void shown_end(struct session *s)
{
    if (s->shown > SHOWN_MAX)
        fprintf(s->config.out, "... and %llu more; \"show events\" has them all\n",
                (unsigned long long)(s->shown - SHOWN_MAX));
    s->shown = 0;
}
