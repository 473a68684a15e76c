/* SPDX-License-Identifier: MIT */
#include "cli/session/advance.h"

#include <string.h>

#include "cli/live/live.h"
#include "cli/session/expr_eval.h"
#include "emu/base/quantity.h"
#include "emu/facts/enums.h"
#include "rdmalab/inspect.h"

/* Between looks for ^C, and between looks at a stop expression. */
#define CHUNK_TICKS         4096u
#define CHUNK_TICKS_STOPPED 1u
/* Between looks for frames from outside: a device holds only so many of them, and work that an
 * answer would change should not be done before it was read.  Enough for what is read in one look:
 * an answer to a frame takes some ten ticks.
 */
#define LIVE_TURN_TICKS 128u

/* One of rdl_step(), rdl_run(), rdl_wait(), with its arguments.  A turn is a run that ends as soon
 * as anything may have happened; it is for a lab that follows real time.
 */
struct move {
    enum { MOVE_STEP, MOVE_RUN, MOVE_WAIT, MOVE_TURN } kind;
    enum rdl_step grain;
    uint64_t until_ns;
    rdl_host host;
};

/* How a move ended. */
enum moved {
    MOVED,        /* as the status says that came from the lab */
    MOVE_STOPPED, /* before its end, because the stop expression holds; that is no failure */
    MOVE_CUT      /* before its end; s->diag says why */
};

static enum rdl_status call(struct session *s, const struct move *m, struct rdl_limits limits,
                            uint32_t *reterr_rsp)
{
    switch (m->kind) {
    case MOVE_STEP:
        return rdl_step(s->lab, m->grain, limits);
    case MOVE_RUN:
    case MOVE_TURN:
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

static bool time_reached(struct session *s, struct span at)
{
    char buf[48];
    struct text t = text_on(buf, sizeof(buf));

    if (s->bounds.whole.ns == 0) {
        session_fail(s, at, "the clock is at its end, after 146 years");
    } else {
        quantity_add(&t, QUANTITY_TIME, s->bounds.whole.ns);
        session_fail(s, at, "the limit of %s of simulated time was reached", buf);
    }
    diag_remedy(&s->diag, "this does not end by itself, or the scenario's limit is too small");
    advance_note_waits(s);
    return false;
}

static bool tick_reached(struct session *s, struct span at, struct limit limit)
{
    if (limit.of_step) {
        session_fail(s, at, "this is not over after %llu ticks",
                     (unsigned long long)s->bounds.patience);
        diag_remedy(&s->diag,
                    "it may never end by itself; \"why\" tells what goes on, \"run\" goes on");
    } else {
        session_fail(s, at, "the limit of %llu ticks was reached", (unsigned long long)limit.tick);
        diag_remedy(&s->diag, "this does not end by itself, or the scenario's limit is too small");
    }
    advance_note_waits(s);
    return false;
}

/* Does the stop expression of --until hold?  Then nothing more is to be done, which is no failure.
 * While it cannot be evaluated it does not hold: what it speaks of may not be there yet.
 */
static bool stop_holds(struct session *s)
{
    const enum diag_kind before = s->diag.kind;
    bool holds = false;

    if (!s->stop || s->quit)
        return s->quit;
    if (!expr_holds(s, s->stop, (struct span){0, 0}, &holds)) {
        s->diag.kind = before;
        return false;
    }
    s->quit = holds;
    return holds;
}

void advance_stop(struct session *s)
{
    (void)stop_holds(s);
}

static bool has_end(const struct move *m)
{
    return m->kind == MOVE_RUN || m->kind == MOVE_TURN;
}

/* The latest simulated time that @m may reach while the clock stands at @real_ns. */
static uint64_t live_bound(const struct move *m, uint64_t real_ns)
{
    return has_end(m) && m->until_ns < real_ns ? m->until_ns : real_ns;
}

/* Is what @m waits for over, though nothing says so?  A run ends with the last program. */
static bool live_is_over(const struct session *s, const struct move *m, bool had_programs)
{
    if (m->kind == MOVE_TURN)
        return true;
    if (m->kind != MOVE_RUN)
        return false;
    return (rdl_now_ns(s->lab) >= m->until_ns && rdl_next_ns(s->lab) > m->until_ns) ||
           (had_programs && !s->config.live_ops->programs_run(s->live));
}

void advance_tell(struct session *s)
{
    const char *said = s->live ? s->config.live_ops->said(s->live) : NULL;

    if (said)
        session_tell(s, said);
}

/* One look while the clock follows real time: does what is due, then lets frames and programs act,
 * and waits for something to do.  RDL_ERR_IDLE: @m is not done yet.
 */
static enum rdl_status live_turn(struct session *s, const struct move *m, int input,
                                 uint32_t *reterr_rsp)
{
    const struct live_ops *ops = s->config.live_ops;
    const uint64_t real = live_bound(m, ops->now_ns(s->live)), now = rdl_now_ns(s->lab);
    const struct rdl_limits limits = {.ticks = LIVE_TURN_TICKS, .ns = real > now ? real - now : 1};
    const struct move bounded = {m->kind, m->grain, real, m->host};
    enum rdl_status st = RDL_ERR_IDLE;
    uint64_t next;

    if (real > now)
        st = call(s, &bounded, limits, reterr_rsp);
    if (st != RDL_ERR_IDLE && st != RDL_ERR_TIMEOUT && !has_end(m))
        return st;
    next = rdl_next_ns(s->lab);
    ops->pump(s->live, has_end(m) && m->until_ns < next ? m->until_ns : next, input);
    advance_tell(s);
    return RDL_ERR_IDLE;
}

/* Did a program fail?  Then s->diag says why. */
static bool program_failed(struct session *s, struct span at)
{
    struct live_error error;

    if (!s->config.live_ops->programs_failed(s->live, &error))
        return false;
    session_fail(s, at, "%s", error.message);
    diag_remedy(&s->diag, "%s", error.remedy);
    return true;
}

/* As move(), while the simulated clock follows the machine's. */
static enum moved move_live(struct session *s, const struct move *m, struct span at,
                            enum rdl_status *ret, uint32_t *reterr_rsp)
{
    const bool had_programs = s->config.live_ops->programs_run(s->live);

    if (m->kind == MOVE_RUN && m->until_ns == RDL_NEVER && !had_programs)
        session_say(s, "waiting for frames from outside; ^C ends it\n");
    for (;;) {
        if (session_interrupted(s, at) || program_failed(s, at))
            return MOVE_CUT;
        *ret = live_turn(s, m, -1, reterr_rsp);
        if (*ret != RDL_ERR_IDLE)
            return MOVED;
        if (stop_holds(s))
            return MOVE_STOPPED;
        if (live_is_over(s, m, had_programs)) {
            *ret = RDL_OK;
            return program_failed(s, at) ? MOVE_CUT : MOVED;
        }
    }
}

bool advance_idle(struct session *s, int input)
{
    const struct move m = {.kind = MOVE_RUN, .until_ns = RDL_NEVER};
    struct live_error error;
    char buf[2 * LIVE_ERROR_BYTES + 32];
    struct text t = text_on(buf, sizeof(buf));

    if (!session_is_live(s) || s->config.live_ops->has_input(input))
        return false;
    (void)live_turn(s, &m, input, NULL); /* a run says nothing but that it goes on */
    if (s->config.live_ops->programs_failed(s->live, &error)) {
        text_addf(&t, "error: %s\n%s%s%s", error.message, error.remedy[0] ? "  " : "", error.remedy,
                  error.remedy[0] ? "\n" : "");
        session_tell(s, buf);
        s->failed_idle = true;
    }
    return true;
}

/* As move(), while only the lab has a clock: repeats the call in chunks. */
static enum moved move_chunks(struct session *s, const struct move *m, struct span at,
                              enum rdl_status *ret, uint32_t *reterr_rsp)
{
    const struct limit last = session_limit(s);
    const uint64_t last_ns = s->bounds.whole.ns;

    for (;;) {
        const uint64_t before = rdl_tick(s->lab), now = rdl_now_ns(s->lab);
        struct rdl_limits limits = {.ticks = s->stop ? CHUNK_TICKS_STOPPED : CHUNK_TICKS};

        if (stop_holds(s))
            return MOVE_STOPPED;
        if (session_interrupted(s, at))
            return MOVE_CUT;
        if (last.tick && before >= last.tick) {
            tick_reached(s, at, last);
            return MOVE_CUT;
        }
        if (last.tick && last.tick - before < limits.ticks)
            limits.ticks = last.tick - before;
        if (last_ns && now >= last_ns) {
            time_reached(s, at);
            return MOVE_CUT;
        }
        if (last_ns)
            limits.ns = last_ns - now;
        *ret = call(s, m, limits, reterr_rsp);
        if (*ret != RDL_ERR_TIMEOUT)
            return MOVED;
        /* Fewer ticks than allowed: it was the time that ran out. */
        if (rdl_tick(s->lab) - before < limits.ticks) {
            time_reached(s, at);
            return MOVE_CUT;
        }
    }
}

/* Lets the lab go on as @m says.  *@ret is what the lab said in the end, if it is MOVED. */
static enum moved move(struct session *s, const struct move *m, struct span at,
                       enum rdl_status *ret, uint32_t *reterr_rsp)
{
    const enum moved moved = session_is_live(s) ? move_live(s, m, at, ret, reterr_rsp)
                                                : move_chunks(s, m, at, ret, reterr_rsp);

    if (moved != MOVED)
        s->step.cut = true;
    return moved;
}

static bool broken(struct session *s, struct span at)
{
    const char *invariant = rdl_broken_invariant(s->lab);

    diag_set(&s->diag, DIAG_BROKEN, at, "an invariant of the emulator broke: %s",
             invariant ? invariant : "unknown");
    return diag_remedy(&s->diag, "this is a bug of rdmalab");
}

/* Moves, and says how it ended. */
static enum advance_end advance(struct session *s, const struct move *m, struct span at)
{
    enum rdl_status st = RDL_OK;

    switch (move(s, m, at, &st, NULL)) {
    case MOVE_STOPPED:
        return ADVANCE_STOPPED;
    case MOVE_CUT:
        return ADVANCE_FAILED;
    case MOVED:
        break;
    }
    switch (st) {
    case RDL_OK:
        return ADVANCE_DONE;
    case RDL_ERR_IDLE:
        return ADVANCE_IDLE;
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

    return advance(s, &m, at);
}

enum advance_end advance_run(struct session *s, uint64_t until_ns, struct span at)
{
    const struct move m = {.kind = MOVE_RUN, .until_ns = until_ns};
    const enum advance_end end = advance(s, &m, at);

    /* Of a live lab nobody knows whether something will happen. */
    return end == ADVANCE_DONE && !session_is_live(s) && rdl_next_ns(s->lab) == RDL_NEVER
               ? ADVANCE_IDLE
               : end;
}

enum advance_end advance_tick(struct session *s, uint64_t until_ns, struct span at)
{
    const uint64_t next = rdl_next_ns(s->lab);
    const struct move turn = {.kind = MOVE_TURN, .until_ns = until_ns};

    if (session_is_live(s) && rdl_now_ns(s->lab) >= until_ns)
        return ADVANCE_LATE;
    if (session_is_live(s))
        return advance(s, &turn, at);
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
    enum rdl_status st = RDL_OK;

    if (move(s, &m, at, &st, &rsp) != MOVED)
        return false;
    switch (st) {
    case RDL_OK:
        return true;
    case RDL_ERR_DEVICE:
        row = enum_by_value(&enum_ctrl_rsp, rsp);
        session_fail(s, at, "the device refused: %s", row ? row->name : "?");
        return diag_remedy(&s->diag, "%s; \"why\" shows the request", row ? row->text : "");
    case RDL_ERR_INVARIANT:
        return broken(s, at);
    default:
        return session_fail_status(s, at, "the device does not answer", st);
    }
}
