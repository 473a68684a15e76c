/* SPDX-License-Identifier: MIT */
#include "tree/lab_past.h"

#include "emu/facts/enum/cm_call.h"
#include "rdmalab/cm.h"
#include "rdmalab/trace.h"

static const struct ev *lab_at(const void *ctx, size_t i)
{
    return rdl_record_at(ctx, i);
}

static const uint8_t *lab_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    return rdl_record_frame(ctx, tx, ret_bytes);
}

/* The effects of a call are in the next tick.  An event is taken after the last one. */
static struct past_call lab_call(const void *ctx, size_t i)
{
    const struct rdl_cm_call *c = rdl_cm_call_at(ctx, i);
    const bool takes = c->call == CM_CALL_rdma_get_cm_event;

    return (struct past_call){.id = takes ? ev_id_last(ev_id_of(c->tick, 0))
                                          : ev_id_of(c->tick + 1, 0),
                              .at_ns = c->at_ns,
                              .call = c->call,
                              .host = c->host,
                              .cm_id = c->id,
                              .event = c->event,
                              .error = c->error};
}

struct past past_of_lab(const struct rdl_lab *lab)
{
    const struct rdl_record_gap gap = rdl_record_gap(lab);

    return (struct past){
        .frame_bytes_max = rdl_record_limits(lab).frame_bytes,
        .ctx = lab,
        .n = rdl_record_count(lab),
        .forgotten = rdl_record_forgotten(lab),
        .forgotten_frames = rdl_record_forgotten_frames(lab),
        .gap_from = gap.from,
        .gap_to = gap.to,
        .names = rdl_names(lab),
        .at = lab_at,
        .frame = lab_frame,
        .n_calls = rdl_cm_call_count(lab),
        .call = lab_call,
    };
}
