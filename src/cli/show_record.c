/* SPDX-License-Identifier: MIT */
#include "cli/show_record.h"

#include "rdmalab/trace.h"

static const struct ev *lab_at(const void *ctx, size_t i)
{
    return rdl_record_at(ctx, i);
}

static const uint8_t *lab_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    return rdl_record_frame(ctx, tx, ret_bytes);
}

struct record record_of_lab(const struct rdl_lab *lab)
{
    return (struct record){
        .ctx = lab,
        .n = rdl_record_count(lab),
        .forgotten = rdl_record_forgotten(lab),
        .names = rdl_names(lab),
        .at = lab_at,
        .frame = lab_frame,
    };
}

size_t record_lower_bound(const struct record *r, ev_id id)
{
    size_t lo = 0, hi = r->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (record_at(r, mid)->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct ev *record_find(const struct record *r, ev_id id)
{
    const size_t i = id ? record_lower_bound(r, id) : r->n;
    const struct ev *e;

    if (i == r->n)
        return NULL;
    e = record_at(r, i);
    if (ev_row(id) == 0)
        return ev_tick(e->id) == ev_tick(id) ? e : NULL;
    return e->id == id ? e : NULL;
}

uint32_t record_host_of(const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "host");

    return f ? (uint32_t)ev_field_number(e, f) : EV_HOST_NONE;
}

const struct ev *record_tx_of(const struct record *r, const struct ev *e)
{
    const struct ev_field *f = ev_field_find(e->kind, "tx");
    const struct ev *tx = f ? record_find(r, ev_field_number(e, f)) : NULL;

    if (tx && tx->kind == EV_fault)
        tx = record_find(r, tx->u.fault.tx);
    return tx && tx->kind == EV_tx ? tx : NULL;
}
