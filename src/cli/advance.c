/* SPDX-License-Identifier: MIT */
#include "cli/advance.h"

#include <string.h>

#include "cli/expr_eval.h"
#include "emu/base/quantity.h"
#include "emu/facts/enums.h"
#include "rdmalab/inspect.h"

/* Between looks for ^C, and between looks at a stop expression. */
#define CHUNK_TICKS         4096u
#define CHUNK_TICKS_STOPPED 1u

/* One of rdl_step(), rdl_run(), rdl_wait(), with its arguments. */
struct move {
    enum { MOVE_STEP, MOVE_RUN, MOVE_WAIT } kind;
    enum rdl_step grain;
    uint64_t until_ns;
    rdl_host host;
};

static enum rdl_status call(struct session *s, const struct move *m, struct rdl_limits limits,
                            uint32_t *reterr_rsp)
{
    switch (m->kind) {
    case MOVE_STEP:
        return rdl_step(s->lab, m->grain, limits);
    case MOVE_RUN:
        return rdl_run(s->lab, m->until_ns, limits);
    case MOVE_WAIT:
        return rdl_wait(s->lab, m->host, limits, reterr_rsp);
    }
    return RDL_ERR_INVAL;
}

static void note_wait(void *ctx, const char *sentence)
{
    diag_note(ctx, "  %s", sentence);
}

void advance_note_waits(struct session *s)
{
    rdl_waits(s->lab, note_wait, &s->diag);
}

static bool limit_reached(struct session *s, struct span at, bool of_time)
{
    char buf[48];
    struct text t = text_on(buf, sizeof(buf));

    if (of_time) {
        quantity_add(&t, QUANTITY_TIME, s->limits.ns);
        session_fail(s, at, "the limit of %s of simulated time was reached", buf);
    } else {
        session_fail(s, at, "the limit of %llu ticks was reached",
                     (unsigned long long)s->limits.ticks);
    }
    diag_remedy(&s->diag, "this does not end by itself, or the scenario's limit is too small");
    advance_note_waits(s);
    return false;
}

/* The stop expression of --until holds: nothing more is to be done, and that is no failure. */
static bool stop_holds(struct session *s, struct span at)
{
    bool holds = false;

    if (!s->stop || !expr_holds(s, s->stop, at, &holds) || !holds)
        return false;
    s->quit = true;
    return true;
}

/* Repeats the call in chunks.  RDL_ERR_TIMEOUT: s->diag is set, or s->quit is. */
static enum rdl_status move(struct session *s, const struct move *m, struct span at,
                            uint32_t *reterr_rsp)
{
    for (;;) {
        const uint64_t before = rdl_tick(s->lab), now = rdl_now_ns(s->lab);
        struct rdl_limits limits = {.ticks = s->stop ? CHUNK_TICKS_STOPPED : CHUNK_TICKS};
        enum rdl_status st;

        if (session_interrupted(s, at))
            return RDL_ERR_TIMEOUT;
        if (s->limits.ticks && before >= s->limits.ticks) {
            limit_reached(s, at, false);
            return RDL_ERR_TIMEOUT;
        }
        if (s->limits.ticks && s->limits.ticks - before < limits.ticks)
            limits.ticks = s->limits.ticks - before;
        if (s->limits.ns && now >= s->limits.ns) {
            limit_reached(s, at, true);
            return RDL_ERR_TIMEOUT;
        }
        if (s->limits.ns)
            limits.ns = s->limits.ns - now;
        st = call(s, m, limits, reterr_rsp);
        if (st != RDL_ERR_TIMEOUT)
            return st;
        if (stop_holds(s, at))
            return RDL_ERR_TIMEOUT;
        /* Fewer ticks than allowed: it was the time that ran out. */
        if (rdl_tick(s->lab) - before < limits.ticks) {
            limit_reached(s, at, true);
            return RDL_ERR_TIMEOUT;
        }
    }
}

static bool broken(struct session *s, struct span at)
{
    const char *invariant = rdl_broken_invariant(s->lab);

    diag_set(&s->diag, DIAG_BROKEN, at, "an invariant of the emulator broke: %s",
             invariant ? invariant : "unknown");
    return diag_remedy(&s->diag, "this is a bug of rdmalab");
}

static enum advance_end end_of(struct session *s, enum rdl_status st, struct span at)
{
    switch (st) {
    case RDL_OK:
        return ADVANCE_DONE;
    case RDL_ERR_IDLE:
        return ADVANCE_IDLE;
    case RDL_ERR_TIMEOUT:
        return s->quit ? ADVANCE_LATE : ADVANCE_FAILED;
    case RDL_ERR_INVARIANT:
        broken(s, at);
        return ADVANCE_FAILED;
    default:
        session_fail_status(s, at, "the lab", st);
        return ADVANCE_FAILED;
    }
}

enum advance_end advance_step(struct session *s, enum rdl_step grain, struct span at)
{
    const struct move m = {.kind = MOVE_STEP, .grain = grain};

    return end_of(s, move(s, &m, at, NULL), at);
}

enum advance_end advance_run(struct session *s, uint64_t until_ns, struct span at)
{
    const struct move m = {.kind = MOVE_RUN, .until_ns = until_ns};
    const enum advance_end end = end_of(s, move(s, &m, at, NULL), at);

    return end == ADVANCE_DONE && rdl_next_ns(s->lab) == RDL_NEVER ? ADVANCE_IDLE : end;
}

enum advance_end advance_tick(struct session *s, uint64_t until_ns, struct span at)
{
    const uint64_t next = rdl_next_ns(s->lab);

    if (next == RDL_NEVER)
        return ADVANCE_IDLE;
    if (next > until_ns)
        return ADVANCE_LATE;
    return advance_step(s, RDL_STEP_TICK, at);
}

bool advance_wait(struct session *s, rdl_host host, struct span at)
{
    const struct move m = {.kind = MOVE_WAIT, .host = host};
    uint32_t rsp = 0;
    const struct enum_row *row;
    const enum rdl_status st = move(s, &m, at, &rsp);

    switch (st) {
    case RDL_OK:
        return true;
    case RDL_ERR_DEVICE:
        row = enum_by_value(&enum_ctrl_rsp, rsp);
        session_fail(s, at, "the device refused: %s", row ? row->name : "?");
        return diag_remedy(&s->diag, "%s; \"why\" shows the request", row ? row->text : "");
    case RDL_ERR_TIMEOUT:
        return false;
    case RDL_ERR_INVARIANT:
        return broken(s, at);
    default:
        return session_fail_status(s, at, "the device does not answer", st);
    }
}
