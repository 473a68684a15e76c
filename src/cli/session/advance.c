/* SPDX-License-Identifier: MIT */
#include "cli/session/advance.h"

#include <string.h>
#include <time.h>

#include "cli/lang/words.h"
#include "cli/live/live.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/standstill.h"
#include "cli/session/stop_look.h"
#include "cli/why/why_not.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/compared.h"
#include "emu/facts/refusal.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "tree/lab_past.h"
#include "tree/tree.h"

#define CHUNK_TICKS 4096u /* that pass between two looks for ^C */
/* Ticks between two looks for frames from outside.  It is small because a device holds few frames,
 * and because an answer may change the work that comes next.  It is large enough for the frames of
 * one look: an answer to a frame takes about ten ticks.
 */
#define LIVE_TURN_TICKS 128u

/* Turns of at most 50 ms in which a lab that is held, with nothing to do, waits for its programs.
 */
#define IDLE_TURNS 20u

#define TRIES_MAX 3u /* commands that are offered */

/* One of rdl_step(), rdl_step_host(), rdl_run(), rdl_wait(), with its arguments.  A turn is a run
 * that ends as soon as anything may have happened; it is for a lab that follows real time.
 */
struct move {
    enum { MOVE_STEP, MOVE_STEP_HOST, MOVE_RUN, MOVE_WAIT, MOVE_TURN } kind;
    enum rdl_step grain;
    uint64_t until_ns;
    rdl_host host;
};

/* The end of a move. */
struct moved {
    bool cut;           /* before its end: the session is over, or s->diag says why */
    enum rdl_status st; /* if it was not cut: what came from the lab */
};

static const struct moved cut_short = {.cut = true};

static enum rdl_status call(struct session *s, const struct move *m, struct rdl_limits limits,
                            struct rdl_response *reterr_rsp)
{
    switch (m->kind) {
    case MOVE_STEP:
        return rdl_step(s->lab, m->grain, limits);
    case MOVE_STEP_HOST:
        return rdl_step_host(s->lab, m->host, limits);
    case MOVE_RUN:
    case MOVE_TURN:
        return rdl_run(s->lab, m->until_ns, limits);
    case MOVE_WAIT:
        return rdl_wait(s->lab, m->host, limits, reterr_rsp);
    }
    return RDL_ERR_INVAL;
}

static void note_wait(void *ctx, const struct rdl_wait *w)
{
    diag_note(ctx, "  %s", w->sentence);
}

/* The commands that were offered for the queue pairs that wait. */
struct offers {
    struct session *s;
    struct past past;
    char tries[TRIES_MAX][DIAG_REMEDY_BYTES];
    size_t n;
};

static void offer(void *ctx, const char *command)
{
    struct offers *o = ctx;
    struct text t;

    for (size_t i = 0; i < o->n; i++) {
        if (strcmp(o->tries[i], command) == 0)
            return;
    }
    if (o->n == TRIES_MAX)
        return;
    t = text_on(o->tries[o->n], DIAG_REMEDY_BYTES);
    text_add(&t, command);
    diag_note(&o->s->diag, o->n ? "  or:  %s" : "  try: %s", command);
    o->n++;
}

/* Adds what `why not` offers for the queue pair of @w. */
static void offer_for(void *ctx, const struct rdl_wait *w)
{
    struct offers *o = ctx;

    if (tree_is(o->s->lab, w->path, NODE_qp))
        why_not_each_try(o->s->lab, &o->past, w->path, offer, o);
}

void advance_note_waits(struct session *s)
{
    struct offers o = {.s = s, .past = past_of_lab(s->lab)};

    rdl_waits(s->lab, note_wait, &s->diag);
    rdl_waits(s->lab, offer_for, &o);
}

static bool time_reached(struct session *s, struct span at)
{
    char buf[48];
    struct text t = text_on(buf, sizeof(buf));

    if (s->limits.whole.ns == 0) {
        diag_set(&s->diag, DIAG_LIMIT, at, "the clock is at its end, after 146 years");
    } else {
        quantity_add(&t, QUANTITY_TIME, s->limits.whole.ns);
        diag_set(&s->diag, DIAG_LIMIT, at, "the limit of %s of simulated time was reached", buf);
    }
    diag_remedy(&s->diag, "this does not end by itself, or the scenario's limit is too small");
    advance_note_waits(s);
    return false;
}

static bool tick_reached(struct session *s, struct span at, struct limit limit)
{
    if (limit.of_step) {
        diag_set(&s->diag, DIAG_LIMIT, at, "this is not over after %llu ticks",
                 (unsigned long long)s->limits.ticks_per_step);
        diag_remedy(&s->diag,
                    "it may never end by itself; \"why\" tells what goes on, \"run\" goes on");
    } else {
        diag_set(&s->diag, DIAG_LIMIT, at, "the limit of %llu ticks was reached",
                 (unsigned long long)limit.tick);
        diag_remedy(&s->diag, "this does not end by itself, or the scenario's limit is too small");
    }
    advance_note_waits(s);
    return false;
}

/* Programs of the machine wait where a breakpoint keeps the lab. */
static void hold_outside(struct session *s)
{
    if (session_is_live(s) && !s->outside.held)
        s->outside.held = s->config.live_ops->hold(s->outside.live);
}

static void release_outside(struct session *s)
{
    if (s->outside.held)
        s->config.live_ops->release(s->outside.live);
    s->outside.held = false;
}

/* Counts a hit of @stop, which keeps the lab where it is. */
static void count_hit(struct session *s, struct stop *stop)
{
    hold_outside(s);
    stop->n_hits++;
    stop->due = stop->steps && !s->stops.in_block;
    stop->enabled = !stop->once;
}

/* Counts and prints the hit of @stop. */
static void hit(struct session *s, struct stop *stop)
{
    char buf[DIAG_MESSAGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    count_hit(s, stop);
    if (!s->stops.hit)
        s->stops.hit = stop;
    if (stop->owner == STOP_OF_PROGRAM) {
        s->run.quit = true;
        return;
    }
    stop_add_hit(&t, stop);
    session_say_plain(s, buf);
    session_say(s, "%s\n",
                stop->steps && s->stops.in_block
                    ? "; its block is not done, as that of another one runs"
                    : "");
}

/* Checks the stops.  Returns true if one is hit, or if one was hit before: then the line ends. */
static bool is_stopped(struct session *s)
{
    if (session_is_over(s) || s->stops.ignored)
        return session_is_over(s);
    for (struct stop *stop = s->stops.first; stop; stop = stop->next) {
        if (stop->enabled && stop_look(s, stop))
            hit(s, stop);
    }
    return session_is_over(s);
}

void advance_arrive(struct session *s)
{
    struct diag ignored;

    for (struct stop *stop = s->stops.first; stop; stop = stop->next)
        (void)stop_arrive(s, stop, &ignored);
}

void advance_stop(struct session *s)
{
    if (s->diag.kind == DIAG_NONE) /* otherwise it failed, and what is to be told of that is kept */
        (void)is_stopped(s);
}

static bool has_end(const struct move *m)
{
    return m->kind == MOVE_RUN || m->kind == MOVE_TURN;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the latest simulated time that @m may reach while real time is @real_ns. */
static uint64_t live_bound(const struct move *m, uint64_t real_ns)
{
    return has_end(m) && m->until_ns < real_ns ? m->until_ns : real_ns;
}

/* Returns true if @m is over without a result from the lab.  A run ends with the last program; and
 * without one, if nothing can come from outside.
 */
static bool live_is_over(const struct session *s, const struct move *m, bool had_programs)
{
    if (m->kind == MOVE_TURN)
        return true;
    if (m->kind != MOVE_RUN)
        return false;
    return (rdl_now_ns(s->lab) >= m->until_ns && rdl_next_ns(s->lab) > m->until_ns) ||
           ((had_programs || !s->config.live_ops->is_open(s->outside.live)) &&
            !s->config.live_ops->programs_run(s->outside.live));
}

void advance_print_messages(struct session *s)
{
    const char *said = s->outside.live ? s->config.live_ops->said(s->outside.live) : NULL;

    if (said)
        session_print_outside(s, said);
}

/* Prints the stops that were hit while no command ran.  What they are to do is done with the next
 * line.  Returns true if the lab is held.
 */
static bool idle_hits(struct session *s)
{
    for (struct stop *stop = s->stops.first; stop; stop = stop->next) {
        char buf[DIAG_MESSAGE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (!stop->enabled || !stop_look(s, stop))
            continue;
        count_hit(s, stop);
        stop_add_hit(&t, stop);
        text_add(&t, "\n");
        session_print_outside(s, buf);
    }
    return s->outside.held;
}

/* Begins a turn: lets frames and accesses in.  Returns the time until which the lab runs in it.
 *
 * With @one_tick, *@ret_came is true if a virtual machine has made a tick: the caller ends the
 * turn, because its command looks at the lab now.  The next turn lets nothing in.  It runs what was
 * due in this one.
 */
static uint64_t begin_turn(struct session *s, const struct move *m, bool one_tick, bool *ret_came)
{
    const uint64_t tick = rdl_tick(s->lab), due = s->outside.due_ns;
    const uint64_t real =
        live_bound(m, due && one_tick ? due : s->config.live_ops->begin_turn(s->outside.live));

    *ret_came = one_tick && rdl_tick(s->lab) != tick;
    s->outside.due_ns = *ret_came ? real : 0;
    return real;
}

/* One look while the clock follows real time: lets frames in, does what is due, then lets programs
 * act, and waits for something to do.  RDL_ERR_IDLE: @m is not done yet.
 */
static enum rdl_status live_turn(struct session *s, const struct move *m, int input,
                                 struct rdl_response *reterr_rsp)
{
    bool (*const stopped)(struct session *) = input < 0 ? is_stopped : idle_hits;
    const struct live_ops *ops = s->config.live_ops;
    const bool one_tick = m->kind == MOVE_TURN; /* its command looks at the lab after each tick */
    bool came;
    const uint64_t real = begin_turn(s, m, one_tick, &came), now = rdl_now_ns(s->lab);
    const uint64_t look = one_tick ? 1 : stops_ticks(&s->stops, rdl_tick(s->lab));
    const struct rdl_limits limits = {.ticks = least(look, LIVE_TURN_TICKS),
                                      .ns = real > now ? real - now : 1};
    const struct move bounded = {m->kind, m->grain, real, m->host};
    enum rdl_status st = RDL_ERR_IDLE;
    uint64_t next;

    if (stopped(s) || came) /* by a request of a program, or an access of a virtual machine */
        return RDL_ERR_IDLE;
    /* A late lab does things now, which may be after the end of @m: the rest is due all the same.
     */
    if (real > now || rdl_next_ns(s->lab) <= real)
        st = call(s, &bounded, limits, reterr_rsp);
    if (st != RDL_ERR_IDLE && st != RDL_ERR_TIMEOUT && !has_end(m))
        return st;
    if (stopped(s))
        return RDL_ERR_IDLE;
    next = rdl_next_ns(s->lab);
    /* The world outside acts less often than the command looks, as in a longer turn. */
    if (one_tick && next <= real && ++s->outside.n_ticks % LIVE_TURN_TICKS)
        return RDL_ERR_IDLE;
    ops->pump(s->outside.live, has_end(m) && m->until_ns < next ? m->until_ns : next, input);
    advance_print_messages(s);
    return RDL_ERR_IDLE;
}

/* Returns true if a program has failed.  Then s->diag says why, and which others have failed until
 * now: the first one need not be the cause.
 */
static bool program_failed(struct session *s, struct span at)
{
    struct live_error error = {.place = ""};
    char here[SESSION_PLACE_BYTES];
    bool elsewhere;

    if (!s->config.live_ops->programs_failed(s->outside.live, &error))
        return false;
    session_place(s, at, here);
    elsewhere = error.place && error.place[0] && strcmp(error.place, here) != 0;
    session_fail(s, at, "%s", error.message);
    diag_remedy(&s->diag, "%s%s%s%s", elsewhere ? "it was started in " : "",
                elsewhere ? error.place : "", elsewhere ? "; " : "", error.remedy);
    for (;;) {
        error.hint = "";
        if (!s->config.live_ops->programs_failed(s->outside.live, &error))
            return true;
        diag_note(&s->diag, "  %s", error.message);
        if (error.hint && error.hint[0])
            diag_note(&s->diag, "    %s", error.hint);
    }
}

static uint64_t machine_ms(void)
{
    struct timespec now = {.tv_sec = 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* Returns true if programs have no more time: of the lab, if that is virtual, or of the machine.
 * Then s->diag says so, and which still run.
 */
static bool is_late(struct session *s, struct span at)
{
    struct live_exec_info info;

    if (s->config.programs_virtual && s->limits.whole.ns &&
        rdl_now_ns(s->lab) >= s->limits.whole.ns) {
        time_reached(s, at);
        return true;
    }
    if (!s->config.programs_until_ms || machine_ms() < s->config.programs_until_ms)
        return false;
    diag_set(&s->diag, DIAG_TIMEOUT, at, "the wall-clock limit was reached before this ended");
    diag_remedy(&s->diag, "--timeout N gives it N seconds");
    for (uint32_t i = 0; s->config.live_ops->exec_at(s->outside.live, i, &info); i++) {
        if (!info.runs)
            continue;
        diag_note(&s->diag, "  %s still runs%s", info.name,
                  s->config.live_ops->exec_listens(s->outside.live, i)
                      ? ", with a socket that takes connections"
                      : "");
        if (info.overflow[0])
            diag_note(&s->diag, "    its %s", info.overflow);
    }
    return true;
}

/* Returns true if @m, which is no run, has nothing to do any more, and nothing can come.  Of a lab
 * that is held, whose programs do nothing, that is so after @n_idle turns.
 */
static bool live_is_idle(const struct session *s, const struct move *m, uint32_t n_idle)
{
    const struct live_ops *ops = s->config.live_ops;

    if (has_end(m) || rdl_next_ns(s->lab) != RDL_NEVER || ops->is_open(s->outside.live))
        return false;
    return !ops->programs_run(s->outside.live) || (s->outside.held && n_idle >= IDLE_TURNS);
}

/* move() for a lab that follows real time. */
static struct moved move_live(struct session *s, const struct move *m, struct span at,
                              struct rdl_response *reterr_rsp)
{
    const bool had_programs = s->config.live_ops->programs_run(s->outside.live);
    uint32_t n_idle = 0;

    if (has_end(m))
        release_outside(s);
    if (m->kind == MOVE_RUN && m->until_ns == RDL_NEVER && !had_programs &&
        s->config.live_ops->is_open(s->outside.live))
        session_say(s, "waiting for frames from outside; ^C ends it\n");
    for (;;) {
        struct moved moved = {.st = RDL_OK};

        if (session_interrupted(s, at) || program_failed(s, at) || is_late(s, at))
            return cut_short;
        moved.st = live_turn(s, m, -1, reterr_rsp);
        if (moved.st != RDL_ERR_IDLE)
            return moved;
        if (is_stopped(s))
            return cut_short;
        if (live_is_idle(s, m, n_idle++))
            return moved;
        if (live_is_over(s, m, had_programs))
            return program_failed(s, at) ? cut_short : (struct moved){.st = RDL_OK};
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
    if (s->outside.held) {
        s->config.live_ops->rest(s->outside.live, input);
        advance_print_messages(s);
    } else {
        (void)live_turn(s, &m, input, NULL); /* a run says nothing but that it goes on */
    }
    if (s->config.live_ops->programs_failed(s->outside.live, &error)) {
        text_addf(&t, "error: %s\n%s%s%s", error.message, error.remedy[0] ? "  " : "", error.remedy,
                  error.remedy[0] ? "\n" : "");
        session_print_outside(s, buf);
        s->outside.program_failed = true;
    }
    return true;
}

/* *@ret are the limits of the next call of the lab: up to the next check of stops, of ^C and of
 * @still.  Returns false if a limit is reached; s->diag says so.
 */
static bool next_limits(struct session *s, const struct standstill *still, struct span at,
                        struct rdl_limits *ret)
{
    const struct limit last = session_limit(s);
    const uint64_t tick = rdl_tick(s->lab), now = rdl_now_ns(s->lab);
    const uint64_t last_ns = s->limits.whole.ns;
    const uint64_t look = least(stops_ticks(&s->stops, tick), standstill_ticks(s, still));
    struct rdl_limits limits = {.ticks = least(look, CHUNK_TICKS)};

    if (last.tick && tick >= last.tick)
        return tick_reached(s, at, last);
    if (last.tick)
        limits.ticks = least(last.tick - tick, limits.ticks);
    if (last_ns && now >= last_ns)
        return time_reached(s, at);
    if (last_ns)
        limits.ns = last_ns - now;
    *ret = limits;
    return true;
}

/* Calls the lab for one chunk of ticks after the other. */
static struct moved move_watched(struct session *s, const struct move *m, struct standstill *still,
                                 struct span at, struct rdl_response *reterr_rsp)
{
    for (;;) {
        const uint64_t before = rdl_tick(s->lab);
        struct rdl_limits limits = {0};
        struct moved moved = {.st = RDL_OK};

        if (is_stopped(s) || session_interrupted(s, at) || standstill_look(s, still, at) ||
            !next_limits(s, still, at, &limits))
            return cut_short;
        if (s->history->replay.look) {
            position_notify(s); /* a verb has made a tick before it waits */
            limits.ticks = 1;
        }
        moved.st = call(s, m, limits, reterr_rsp);
        if (moved.st != RDL_ERR_TIMEOUT)
            return moved;
        if (s->run.step.only_time)
            position_reached(s);
        if (s->history->replay.active)
            position_notify(s);
        /* Fewer ticks than allowed: it was the time that ran out. */
        if (rdl_tick(s->lab) - before < limits.ticks) {
            time_reached(s, at);
            return cut_short;
        }
    }
}

/* move() for a lab with simulated time alone.  A replay is not watched: it has run before. */
static struct moved move_chunks(struct session *s, const struct move *m, struct span at,
                                struct rdl_response *reterr_rsp)
{
    const bool ends = m->kind == MOVE_RUN && m->until_ns != RDL_NEVER;
    struct standstill still =
        standstill_start(s, !ends && !s->history->replay.active, m->kind == MOVE_RUN);
    const struct moved moved = move_watched(s, m, &still, at, reterr_rsp);

    standstill_end(&still);
    return moved;
}

/* Runs the lab as @m says. */
static struct moved move(struct session *s, const struct move *m, struct span at,
                         struct rdl_response *reterr_rsp)
{
    const struct moved moved =
        session_is_live(s) ? move_live(s, m, at, reterr_rsp) : move_chunks(s, m, at, reterr_rsp);

    if (moved.cut)
        s->run.step.cut = true;
    return moved;
}

static const struct advanced done = {.end = ADVANCE_DONE};
static const struct advanced idle = {.end = ADVANCE_IDLE};
static const struct advanced goes_on = {.end = ADVANCE_GOES_ON};
static const struct advanced failed = {.end = ADVANCE_FAILED};

/* Returns how advancing ended if the move was cut. */
static struct advanced cut(const struct session *s)
{
    return session_is_over(s) ? (struct advanced){ADVANCE_STOPPED, s->stops.hit} : failed;
}

static bool broken(struct session *s, struct span at)
{
    const char *invariant = rdl_broken_invariant(s->lab);

    diag_set(&s->diag, DIAG_BROKEN, at, "an invariant of the emulator broke: %s",
             invariant ? invariant : "unknown");
    return diag_remedy(&s->diag, "this is a bug of rdmalab");
}

/* Runs the lab as @m says, and returns how that ended. */
static struct advanced advance(struct session *s, const struct move *m, struct span at)
{
    const struct moved moved = move(s, m, at, NULL);

    if (moved.cut)
        return cut(s);
    switch (moved.st) {
    case RDL_OK:
        return done;
    case RDL_ERR_IDLE:
        return idle;
    case RDL_ERR_INVARIANT:
        broken(s, at);
        return failed;
    default:
        session_fail_status(s, at, "the lab", moved.st);
        return failed;
    }
}

struct advanced advance_step(struct session *s, enum rdl_step grain, struct span at)
{
    const struct move m = {.kind = MOVE_STEP, .grain = grain};

    return advance(s, &m, at);
}

struct advanced advance_step_host(struct session *s, rdl_host host, struct span at)
{
    const struct move m = {.kind = MOVE_STEP_HOST, .host = host};

    return advance(s, &m, at);
}

struct advanced advance_run(struct session *s, uint64_t until_ns, struct span at)
{
    const struct move m = {.kind = MOVE_RUN, .until_ns = until_ns};
    const struct advanced a = advance(s, &m, at);

    if (a.end != ADVANCE_DONE)
        return a;
    /* In a live lab something may always happen. */
    return !session_is_live(s) && rdl_next_ns(s->lab) == RDL_NEVER ? idle : goes_on;
}

struct advanced advance_tick(struct session *s, uint64_t until_ns, struct span at)
{
    const uint64_t next = rdl_next_ns(s->lab);
    const struct move turn = {.kind = MOVE_TURN, .until_ns = until_ns};

    if (session_is_live(s) && rdl_now_ns(s->lab) >= until_ns)
        return goes_on;
    if (session_is_live(s))
        return advance(s, &turn, at);
    if (next == RDL_NEVER)
        return idle;
    if (next > until_ns)
        return goes_on;
    return advance_step(s, RDL_STEP_TICK, at);
}

bool advance_refused(struct session *s, rdl_host host, struct span at,
                     const struct rdl_response *rsp)
{
    struct rdl_refusal why = {0};
    const bool known = rdl_last_refusal(s->lab, host, &why) == RDL_OK &&
                       refusal_errno(refusal_kind((enum refusal_reason)why.reason)) == rsp->error;
    const char *reason = enum_name(&enum_refusal, why.reason);
    char compared[160] = "";
    struct text t = text_on(compared, sizeof(compared));

    if (!known && !rsp->text[0]) {
        session_fail(s, at, "the device answered with status %u, which is none", rsp->code);
        return diag_remedy(&s->diag, "whether it has executed the request is not known; \"why\" "
                                     "shows what it did");
    }
    if (!known) {
        session_fail(s, at, "the device refused: %s", rsp->name);
        return diag_remedy(&s->diag, "%s; \"why\" shows the request", rsp->text);
    }
    compared_add_refusal(&t, why.reason, &(struct compared){why.least, why.most, why.found});
    session_fail(s, at, "the device refused: %s, by %s%s", rsp->name, reason, compared);
    diag_reason(&s->diag, REASON_REFUSAL(why.reason));
    return diag_remedy(&s->diag, "%s; \"why\" shows the request, \"explain %s\" the reason",
                       rsp->text, reason);
}

struct advanced advance_wait(struct session *s, rdl_host host, struct span at)
{
    const struct move m = {.kind = MOVE_WAIT, .host = host};
    struct rdl_response rsp = {0};
    const struct moved moved = move(s, &m, at, &rsp);

    if (moved.cut)
        return cut(s);
    switch (moved.st) {
    case RDL_OK:
        return done;
    case RDL_ERR_IDLE:
        session_fail(s, at, "the device does not answer: nothing is scheduled any more");
        diag_remedy(&s->diag, "\"why not\" tells who waits for what");
        diag_reason(&s->diag, RDL_ERR_IDLE);
        return failed;
    case RDL_ERR_DEVICE:
        (void)advance_refused(s, host, at, &rsp);
        return failed;
    case RDL_ERR_NO_FUNCTION:
        session_fail_status(s, at, "the request has waited long enough", moved.st);
        return failed;
    case RDL_ERR_INVARIANT:
        broken(s, at);
        return failed;
    default:
        session_fail_status(s, at, "the device does not answer", moved.st);
        return failed;
    }
}
