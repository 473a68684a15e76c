/* SPDX-License-Identifier: MIT */
#include "emu/past/fate.h"

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/trace/event.h"

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

/* The effect of each kind of fault on frames, in words. */
struct fault_words {
    const char *does; /* NULL: no command makes such a fault */
    const char *done;
    bool changes; /* the bytes of the frame */
};

static struct fault_words words_of(uint32_t kind)
{
    switch ((enum fault_kind)kind) {
    case FLT_DROP:
        return (struct fault_words){"drops", "lost", false};
    case FLT_DUPLICATE:
        return (struct fault_words){"duplicates", "duplicated", false};
    case FLT_DELAY:
        return (struct fault_words){"delays", "delayed", false};
    case FLT_CORRUPT:
        return (struct fault_words){"corrupts", "corrupted", true};
    case FLT_REORDER:
        return (struct fault_words){"holds", "held", false};
    case FLT_TRUNCATE:
        return (struct fault_words){"cuts", "cut", true};
    case FLT_MARK:
        return (struct fault_words){"marks with CE", "marked CE", true};
    case FLT_FORGE:
        return (struct fault_words){"forges", "forged", true};
    case FLT_CHANCE:
    case FLT_BURST:
        return (struct fault_words){NULL, "lost", false};
    case FLT_LOST_KICK: /* these meet no frame */
    case FLT_LOST_INTERRUPT:
    case FLT_LATE_DATA:
    case FLT_STUCK_QUEUE:
    case FLT_SPURIOUS:
    case FLT_LOST_CQE:
    case FLT_FALSE_DATA:
    case FLT_FALSE_LENGTH:
    case FLT_FALSE_READ:
    case FLT_NONE:
        break;
    }
    return (struct fault_words){NULL, "corrupted", false};
}

const char *fate_fault_does(uint32_t kind)
{
    return words_of(kind).does;
}

const char *fate_fault_done(uint32_t kind)
{
    return words_of(kind).done;
}

bool fate_fault_changes(uint32_t kind)
{
    return words_of(kind).changes;
}
