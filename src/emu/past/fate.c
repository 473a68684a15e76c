/* SPDX-License-Identifier: MIT */
#include "emu/past/fate.h"

bool fate_is_end(const struct ev *e, ev_id *ret)
{
    switch (e->kind) {
    case EV_rx:
        *ret = e->u.rx.tx;
        return true;
    case EV_port_out:
        *ret = e->u.port_out.tx;
        return e->u.port_out.opcode < FRAME_OTHER;
    case EV_eth_rx:
        *ret = e->u.eth_rx.tx;
        return e->u.eth_rx.opcode < FRAME_OTHER;
    case EV_lost:
        *ret = e->u.lost.tx;
        return e->u.lost.opcode < FRAME_OTHER;
    case EV_drop:
        *ret = e->u.drop.tx;
        return e->u.drop.reason != DROP_NOT_FOR_US && e->u.drop.opcode < FRAME_OTHER;
    default:
        return false;
    }
}

/* The fate that event @e reports for its frame; FATE_UNKNOWN if @e ends no frame within the lab. */
static enum frame_fate told_by(const struct ev *e)
{
    switch (e->kind) {
    case EV_rx:
        return FATE_ARRIVED;
    case EV_drop:
        return FATE_DROPPED;
    case EV_eth_rx:
        return FATE_STRAYED;
    case EV_lost:
        return FATE_LOST;
    default:
        return FATE_UNKNOWN;
    }
}

struct fate fate_of(const struct past_index *x, const struct ev *tx)
{
    struct fate f = {FATE_UNKNOWN, NULL, NULL, NULL};

    for (uint32_t i = past_first_of_frame(x, tx->id); i != PAST_NONE; i = x->after[i]) {
        const struct ev *e = past_at(x->past, i);
        const enum frame_fate kind = told_by(e);
        const bool astray = e->kind == EV_drop && e->u.drop.reason == DROP_NOT_FOR_US;

        if (e->kind == EV_fault)
            f.fault = e;
        if (kind == FATE_UNKNOWN || (astray && f.end))
            continue;
        f.kind = kind;
        f.end = e;
        if (kind == FATE_ARRIVED)
            f.answer = past_answer_to(x, e);
        /* Another copy may still arrive, made by a fault or by a switch that flooded. */
        if (kind == FATE_ARRIVED || !(astray || (f.fault && f.fault->u.fault.by == FLT_DUPLICATE)))
            break;
    }
    return f;
}

const char *fate_fault_done(uint32_t kind)
{
    switch ((enum fault_kind)kind) {
    case FLT_DROP:
    case FLT_CHANCE:
    case FLT_BURST:
        return "lost";
    case FLT_DUPLICATE:
        return "duplicated";
    case FLT_DELAY:
        return "delayed";
    case FLT_REORDER:
        return "held";
    case FLT_TRUNCATE:
        return "cut";
    case FLT_MARK:
        return "marked CE";
    case FLT_FORGE:
        return "forged";
    case FLT_CORRUPT:
    case FLT_LOST_KICK: /* these do not concern frames */
    case FLT_LOST_INTERRUPT:
    case FLT_LATE_DATA:
    case FLT_STUCK_QUEUE:
    case FLT_SPURIOUS:
    case FLT_NONE:
        break;
    }
    return "corrupted";
}

bool fate_fault_changes(uint32_t kind)
{
    return kind == FLT_CORRUPT || kind == FLT_TRUNCATE || kind == FLT_MARK || kind == FLT_FORGE;
}
