/* SPDX-License-Identifier: MIT */
#include "tree/lab_past.h"

#include "rdmalab/trace.h"

static const struct ev *lab_at(const void *ctx, size_t i)
{
    return rdl_record_at(ctx, i);
}

static const uint8_t *lab_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    return rdl_record_frame(ctx, tx, ret_bytes);
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
    };
}
