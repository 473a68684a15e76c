/* SPDX-License-Identifier: MIT */
/* Listeners, recording and the event hash of a lab. */
#include "rdmalab/trace.h"

#include <stdlib.h>

#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"

#define EVENTS_MAX_DEFAULT      ((size_t)1 << 20)
#define FRAME_BYTES_MAX_DEFAULT ((size_t)256 << 20)

static void on_names(void *ctx, const struct ev *e)
{
    ev_names_learn(ctx, e);
}

/* Starts collecting names when the first listener is added. */
static enum rdl_status learn_names(struct rdl_lab *lab)
{
    if (lab->names)
        return RDL_OK;
    lab->names = ev_names_new();
    if (!lab->names)
        return RDL_ERR_NOMEM;
    lab->names_sink = (struct trace_sink){on_names, lab->names, ev_set_for(EV_FOR_NAMES), NULL};
    trace_sink_add(&lab->sinks, &lab->names_sink);
    return RDL_OK;
}

enum rdl_status rdl_listen(struct rdl_lab *lab, void (*event)(void *ctx, const struct ev *e),
                           void *ctx, struct rdl_listener **ret)
{
    struct rdl_listener *l;

    if (learn_names(lab) != RDL_OK)
        return RDL_ERR_NOMEM;
    l = calloc(1, sizeof(*l));
    if (!l)
        return RDL_ERR_NOMEM;
    l->sink = (struct trace_sink){event, ctx, ev_set_all, NULL};
    trace_sink_add(&lab->sinks, &l->sink);
    *ret = l;
    return RDL_OK;
}

void rdl_hear(struct rdl_lab *lab, struct rdl_listener *listener, const struct ev_set *kinds)
{
    trace_sink_hear(&lab->sinks, &listener->sink, kinds);
}

void rdl_unlisten(struct rdl_lab *lab, struct rdl_listener *listener)
{
    if (!listener)
        return;
    trace_sink_remove(&lab->sinks, &listener->sink);
    free(listener);
}

static void on_record(void *ctx, const struct ev *e)
{
    record_event(ctx, e);
}

enum rdl_status rdl_record(struct rdl_lab *lab, size_t events_max, size_t frame_bytes_max)
{
    if (lab->record)
        return RDL_ERR_EXISTS;
    if (learn_names(lab) != RDL_OK)
        return RDL_ERR_NOMEM;
    lab->record = record_new(events_max ? events_max : EVENTS_MAX_DEFAULT,
                             frame_bytes_max ? frame_bytes_max : FRAME_BYTES_MAX_DEFAULT);
    if (!lab->record)
        return RDL_ERR_NOMEM;
    lab->record_sink = (struct trace_sink){on_record, lab->record, ev_set_all, NULL};
    trace_sink_add(&lab->sinks, &lab->record_sink);
    return RDL_OK;
}

void rdl_record_bound(struct rdl_lab *lab, size_t events_max, size_t frame_bytes_max)
{
    if (lab->record)
        record_bound(lab->record, events_max, frame_bytes_max);
}

struct rdl_record_limits rdl_record_limits(const struct rdl_lab *lab)
{
    return lab->record ? record_limits(lab->record) : (struct rdl_record_limits){0};
}

void rdl_record_pause(struct rdl_lab *lab)
{
    if (!lab->record)
        return;
    record_pause(lab->record, rdl_tick(lab));
    trace_sink_hear(&lab->sinks, &lab->record_sink, &ev_set_none);
}

void rdl_record_resume(struct rdl_lab *lab)
{
    if (!lab->record)
        return;
    record_resume(lab->record, rdl_tick(lab));
    trace_sink_hear(&lab->sinks, &lab->record_sink, &ev_set_all);
}

struct rdl_record_gap rdl_record_gap(const struct rdl_lab *lab)
{
    return lab->record ? record_gap(lab->record, rdl_tick(lab)) : (struct rdl_record_gap){0};
}

size_t rdl_record_count(const struct rdl_lab *lab)
{
    return lab->record ? record_count(lab->record) : 0;
}

const struct ev *rdl_record_at(const struct rdl_lab *lab, size_t i)
{
    return lab->record ? record_at(lab->record, i) : NULL;
}

uint64_t rdl_record_forgotten(const struct rdl_lab *lab)
{
    return lab->record ? record_forgotten(lab->record) : 0;
}

uint64_t rdl_record_forgotten_frames(const struct rdl_lab *lab)
{
    return lab->record ? record_forgotten_frames(lab->record) : 0;
}

const uint8_t *rdl_record_frame(const struct rdl_lab *lab, uint64_t tx, size_t *ret_bytes)
{
    return lab->record ? record_find_frame(lab->record, tx, ret_bytes) : NULL;
}

void rdl_record_forget_ahead(struct rdl_lab *lab)
{
    if (lab->names)
        ev_names_forget_ahead(lab->names);
    if (lab->record)
        record_forget_ahead(lab->record, rdl_tick(lab));
}

const struct ev_names *rdl_names(const struct rdl_lab *lab)
{
    return lab->names;
}

static void on_hash(void *ctx, const struct ev *e)
{
    trace_hash_event(ctx, e);
}

enum rdl_status rdl_hash_start(struct rdl_lab *lab)
{
    if (lab->hashing)
        return RDL_ERR_EXISTS;
    if (learn_names(lab) != RDL_OK)
        return RDL_ERR_NOMEM;
    lab->hashing = true;
    lab->hash = TRACE_HASH_START;
    lab->hash_sink = (struct trace_sink){on_hash, &lab->hash, ev_set_all, NULL};
    trace_sink_add(&lab->sinks, &lab->hash_sink);
    return RDL_OK;
}

uint64_t rdl_hash(const struct rdl_lab *lab)
{
    return lab->hashing ? lab->hash.value : 0;
}

void rdl_hash_stop(struct rdl_lab *lab)
{
    if (!lab->hashing)
        return;
    trace_sink_remove(&lab->sinks, &lab->hash_sink);
    lab->hashing = false;
}

void rdl_check_stop(struct rdl_lab *lab)
{
    if (!lab->watch)
        return;
    trace_sink_remove(&lab->sinks, &lab->watch_sink);
    trace_sink_remove(&lab->sinks, &lab->changed_sink);
    watch_free(lab->watch);
    changed_free(lab->changed);
    lab->watch = NULL;
    lab->changed = NULL;
}
