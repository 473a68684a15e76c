/* SPDX-License-Identifier: MIT */
/* Live ports on libuv: the clock, and tap devices.
 *
 * While an answer is expected, frames are polled and not waited for in the event loop.  A peer
 * often answers within microseconds.  The process sleeps only if no frame has come for a while.
 */
#define _GNU_SOURCE /* ppoll() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/live/live_exec.h"
#include "cli/live/live_internal.h"
#include "cli/live/live_vm.h"
#include "cli/live/tap_linux.h"
#include "cli/live/vm_find.h"
#include "emu/facts/enum/mtu.h"
#include "rdmalab/trace.h"

#define HEADERS_BYTES_MAX 80u /* of IP, UDP and IBTA, as rxe computes it */
#define FRAME_BYTES_MAX   65536u
#define FRAMES_PER_PUMP   8u       /* maximum read before the lab runs; see LIVE_TURN_TICKS */
#define FRAMES_WAITING    1024u    /* maximum if the lab is late: as many as a tap device holds */
#define LOOK_NS           1000000u /* time of polling before the process sleeps */
#define YIELD_NS          200000u  /* time of taking turns with programs, after a request */
#define AHEAD_NS          20000u /* events due this soon run at once, since waiting takes as long */
#define LATE_NS           1000000u /* with a smaller lag the lab counts as punctual */
/* With a larger lag after its work, the lab accepts no more input. */
#define BACKLOG_NS 10000000u
/* Interval of checking programs' connections while frames come. */
#define HEAR_NS         1000000u
#define VIRTUAL_LOOK_NS 20000    /* interval of looking whether programs compute */
#define SLEEP_MAX_NS    50000000 /* interval of checking for ^C */
/* Limit of the record for "show events", since a live lab has no end. */
#define KEPT_EVENTS      65536u
#define KEPT_FRAME_BYTES (32u << 20)

/* Simulated time at the last reading of the machine's clock. */
static uint64_t clock_ns(const struct live *l)
{
    return l->held || l->is_virtual ? l->base_ns : l->base_ns + (l->machine_ns - l->attached_ns);
}

void live_error_set(struct live_error *e, const char *what, const char *why, const char *remedy)
{
    snprintf(e->message, sizeof(e->message), "%s: %s", what, why);
    snprintf(e->remedy, sizeof(e->remedy), "%s", remedy);
}

/* Reads the machine's clock, at the start of a turn and before the process sleeps. */
static uint64_t read_clock(struct live *l)
{
    l->machine_ns = uv_hrtime();
    return clock_ns(l);
}

/* The time of the next event, if there is one: a lab that is held goes there at once. */
static uint64_t held_ns(struct live *l)
{
    const uint64_t now = rdl_now_ns(l->lab), due = rdl_next_ns(l->lab);

    l->machine_ns = uv_hrtime();
    l->base_ns = now;
    return due == RDL_NEVER || due < now ? now : due;
}

static uint64_t now_ns(struct live *l)
{
    const uint64_t now = read_clock(l), due = rdl_next_ns(l->lab);

    l->clock.lag_ns = due < now ? now - due : 0;
    if (l->clock.lag_ns > l->clock.lag_max_ns)
        l->clock.lag_max_ns = l->clock.lag_ns;
    if (now > LATE_NS)
        rdl_not_before(l->lab, now - LATE_NS);
    return now + AHEAD_NS;
}

void live_move_clock(struct live *l)
{
    const struct rdl_limits none = {0};
    const uint64_t now = clock_ns(l);

    if (now > rdl_now_ns(l->lab) && rdl_next_ns(l->lab) > now)
        (void)!rdl_run(l->lab, now, none); /* no tick runs, so nothing can fail */
}

static void catch_up(struct live *l)
{
    if (l->held || l->is_virtual)
        return;
    (void)now_ns(l);
    live_move_clock(l);
}

void live_attach(struct live *l)
{
    if (l->attached)
        return;
    /* If a peer closes its TCP connection, SIGPIPE must not end this program. */
    signal(SIGPIPE, SIG_IGN);
    l->machine_ns = uv_hrtime();
    l->attached_ns = l->machine_ns;
    l->base_ns = rdl_now_ns(l->lab);
    l->attached = true;
    if (!l->is_virtual) {
        rdl_hash_stop(l->lab);
        rdl_check_stop(l->lab);
    }
    if (!rdl_record_limits(l->lab).changed) /* the user has set no limit */
        rdl_record_bound(l->lab, KEPT_EVENTS, KEPT_FRAME_BYTES);
}

static struct live *live_open(struct rdl_lab *lab, bool is_virtual)
{
    struct live *l = calloc(1, sizeof(*l));
    int st = UV_ENOMEM;

    if (!l)
        return NULL;
    l->lab = lab;
    l->is_virtual = l->clock.is_virtual = is_virtual;
    l->out = open_memstream(&l->said, &l->said_bytes);
    if (l->out)
        st = uv_loop_init(&l->loop);
    if (st == 0)
        return l;
    if (l->out)
        fclose(l->out);
    free(l->said);
    free(l);
    errno = -st;
    return NULL;
}

static void on_walk(uv_handle_t *h, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(h))
        uv_close(h, NULL);
}

static void live_close(struct live *l)
{
    if (!l)
        return;
    live_vms_stop(l);
    live_exec_stop(l);
    uv_walk(&l->loop, on_walk, NULL);
    uv_run(&l->loop, UV_RUN_DEFAULT);
    for (uint32_t i = 0; i < l->n_ports; i++) {
        if (l->ports[i].fd >= 0)
            close(l->ports[i].fd);
    }
    live_programs_free(l);
    live_vms_free(l);
    live_exec_free(l);
    uv_loop_close(&l->loop);
    fclose(l->out);
    free(l->said);
    free(l);
}

static const char *said(struct live *l)
{
    const off_t n = ftello(l->out);

    if (n <= 0 || fflush(l->out) != 0)
        return NULL;
    l->said[n] = '\0'; /* cut off the rest of a longer earlier text */
    rewind(l->out);
    return l->said;
}

/* --- Ports ------------------------------------------------------------------------------------ */

/* A frame arrived at the port from the lab. */
static void on_frame(void *ctx, const void *bytes, size_t n)
{
    struct live_port *p = ctx;

    if (p->fd >= 0 && write(p->fd, bytes, n) == (ssize_t)n)
        p->info.written_frames++;
    else
        p->info.refused_frames++;
}

/* The device was removed: keeps the port, but without a cable. */
static void lose_device(struct live_port *p)
{
    fprintf(p->live->out, "%s: the device was removed; the lab goes on without it\n",
            p->info.device);
    close(p->fd);
    p->fd = -1;
    p->info.gone = true;
}

static void bring_in(struct live_port *p, const uint8_t *frame, size_t bytes)
{
    live_move_clock(p->live);
    p->info.read_frames++;
    /* If the lab refuses the frame, it counts that itself. */
    (void)!rdl_port_receive(p->live->lab, p->info.port, frame, bytes);
}

/* Reads frames up to a limit and returns their number.  The limit doubles while more frames wait,
 * and is 1 otherwise.  So a single frame is not delayed by a second read().  Frames that a late lab
 * cannot process stay in the device, which drops more when it is full.
 */
static uint32_t read_port(struct live_port *p)
{
    uint8_t frame[FRAME_BYTES_MAX];
    uint32_t n_read = 0;

    while (p->fd >= 0 && n_read < p->read_max) {
        const ssize_t n = read(p->fd, frame, sizeof(frame));

        if (n > 0) {
            bring_in(p, frame, (size_t)n);
            n_read++;
        } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        } else {
            lose_device(p);
        }
    }
    if (n_read < p->read_max)
        p->read_max = 1;
    else
        p->read_max = p->read_max < FRAMES_PER_PUMP ? 2 * p->read_max : FRAMES_PER_PUMP;
    return n_read;
}

/* Brings in frames and requests from outside before the lab runs.
 *
 * If a program has just made a request to the lab, that goes first, unless the lab is late.  In a
 * late lab a timer may be due that a waiting frame would stop, so all frames are read.  That frame
 * may be the last one, since a peer answers duplicates too and old answers precede the new one.
 */
static void read_ports(struct live *l)
{
    const bool late = l->clock.lag_ns > LATE_NS;
    uint32_t n_read = 0;
    bool served;

    l->has_read = false;
    if (l->has_backlog || (l->has_work && !late))
        return;
    served = live_vms_serve(l);
    (void)live_exec_serve(l); /* its programs wake this process: nothing is polled for */
    for (uint32_t i = 0; i < l->n_ports; i++) {
        if (late)
            l->ports[i].read_max = FRAMES_WAITING;
        n_read += read_port(&l->ports[i]);
    }
    if (n_read == 0 && !served)
        return;
    l->has_read = true;
    l->active_ns = clock_ns(l);
}

/* Nothing but the programs decides when the lab runs. */
static uint64_t virtual_turn(struct live *l)
{
    l->machine_ns = uv_hrtime();
    l->base_ns = rdl_now_ns(l->lab);
    return live_exec_turn(l);
}

static uint64_t begin_turn(struct live *l)
{
    if (l->is_virtual)
        return virtual_turn(l);
    const uint64_t until_ns = l->held ? held_ns(l) : now_ns(l);

    read_ports(l);
    return until_ns;
}

static struct live_port *port_named(struct live *l, const char *device)
{
    for (uint32_t i = 0; i < l->n_ports; i++) {
        if (strcmp(l->ports[i].info.device, device) == 0)
            return &l->ports[i];
    }
    return NULL;
}

/* The largest path MTU whose packets fit into @mtu bytes, headers included.  Returns 0 if there is
 * none.
 */
static uint32_t path_mtu_within(uint32_t mtu)
{
    for (uint32_t m = MTU_4096; m >= MTU_256; m--) {
        if (mtu_bytes(m) + HEADERS_BYTES_MAX <= mtu)
            return mtu_bytes(m);
    }
    return 0;
}

/* Connects the port to its device, which is open as @fd. */
static void plug(struct live_port *p, int fd)
{
    const uint32_t mtu = tap_mtu(p->info.device);

    p->fd = fd;
    if (path_mtu_within(mtu) < mtu_bytes(MTU_4096))
        fprintf(p->live->out,
                "%s: its MTU of %u carries path MTUs up to %u; \"ip link set %s mtu 4300\"\n",
                p->info.device, mtu, path_mtu_within(mtu), p->info.device);
    p->missed_before = tap_missed(p->info.device);
    if (!tap_is_up(p->info.device))
        fprintf(p->live->out,
                "%s: the device is down, no frame passes; as root: \"ip link set %s up\"\n",
                p->info.device, p->info.device);
}

/* Adds the new port @p to the lab. */
static enum rdl_status join(struct live *l, struct live_port *p, const char *node)
{
    const struct rdl_link_config link = {.a = p->info.device, .b = node};
    const struct rdl_port_config config = {.name = p->info.device};
    rdl_link ret;
    enum rdl_status st = rdl_port_add(l->lab, &config, &p->info.port);

    if (st == RDL_OK)
        st = rdl_port_read(l->lab, p->info.port, on_frame, p);
    return st == RDL_OK ? rdl_link_add(l->lab, &link, &ret) : st;
}

static bool live_tap(struct live *l, const char *device, const char *node,
                     struct live_error *reterr)
{
    struct live_port *p = port_named(l, device);
    enum rdl_status st;
    int fd;

    if (p && p->fd >= 0) {
        live_error_set(reterr, device, "this port is there already", "\"show live\" lists ports");
        return false;
    }
    if (!p && l->n_ports == LIVE_PORTS_MAX) {
        live_error_set(reterr, device, "a lab has at most 8 live ports", "start another rdmalab");
        return false;
    }
    fd = tap_open(device, reterr);
    if (fd < 0)
        return false;
    if (p) { /* its device had been removed and exists again */
        p->info.gone = false;
        plug(p, fd);
        return true;
    }
    p = &l->ports[l->n_ports];
    *p = (struct live_port){.live = l, .fd = -1, .read_max = 1};
    snprintf(p->info.device, sizeof(p->info.device), "%s", device);
    st = join(l, p, node);
    if (st != RDL_OK) {
        live_error_set(reterr, device, rdl_status_str(st), rdl_status_remedy(st));
        close(fd);
        return false;
    }
    plug(p, fd);
    l->n_ports++;
    live_attach(l);
    return true;
}

static bool port_at(const struct live *l, uint32_t i, struct live_port_info *ret)
{
    uint32_t missed; /* wraps */

    if (i >= l->n_ports)
        return false;
    *ret = l->ports[i].info;
    missed = tap_missed(ret->device) - l->ports[i].missed_before;
    ret->missed_frames = ret->gone ? 0 : missed;
    return true;
}

/* --- The clock -------------------------------------------------------------------------------- */

static bool attached(const struct live *l)
{
    return l->attached;
}

static void live_clock(const struct live *l, struct live_clock *ret)
{
    *ret = l->clock;
}

/* Waits for at most @ns, for all that can wake the process.  Returns true if there is something for
 * the loop.
 */
static bool wait_for_all(struct live *l, uint64_t ns, int input)
{
    const int set = live_exec_set(l); /* the loop is in it */
    struct pollfd fds[2 + LIVE_PORTS_MAX + LIVE_VMS_MAX * LIVE_VM_FDS] = {
        {.fd = set >= 0 ? set : uv_backend_fd(&l->loop), .events = POLLIN},
        {.fd = input, .events = POLLIN}};
    const struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    unsigned n = 2 + l->n_ports;

    for (uint32_t i = 0; i < l->n_ports; i++)
        fds[2 + i] = (struct pollfd){.fd = l->ports[i].fd, .events = POLLIN};
    n += live_vms_fds(l, fds + n);
    (void)ppoll(fds, n, &t, NULL);
    return set >= 0 ? live_exec_awake(l, 0) : fds[0].revents != 0;
}

/* Sleeps for at most @ns, or until a device, a socket, a timer, @input or a signal wakes the
 * process.  Devices are polled here, not in the loop, because each frame would cost a callback.
 */
static void sleep_for(struct live *l, uint64_t ns, int input)
{
    const int timer_ms = uv_loop_alive(&l->loop) ? uv_backend_timeout(&l->loop) : -1;
    const bool programs_alone = l->exec && l->n_ports == 0 && !l->vms && input < 0;

    if (ns > SLEEP_MAX_NS)
        ns = SLEEP_MAX_NS;
    if (timer_ms >= 0 && (uint64_t)timer_ms * 1000000u < ns)
        ns = (uint64_t)timer_ms * 1000000u;
    if (!live_exec_sleeps(l))
        ns = 0;
    l->has_news = programs_alone ? live_exec_awake(l, ns) : wait_for_all(l, ns, input);
    l->has_news = l->has_news || timer_ms == 0;
}

static bool live_has_input(int fd)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};

    return poll(&look, 1, 0) > 0;
}

/* Returns true if the lab could not process all due events in this turn. */
static bool has_backlog(const struct live *l)
{
    const uint64_t due = rdl_next_ns(l->lab), now = clock_ns(l);

    return due < now && now - due > BACKLOG_NS;
}

/* After a turn of virtual time in which nothing could be done, a moment passes.  live_exec_turn()
 * runs the loop.
 */
static void virtual_pump(const struct live *l)
{
    const struct timespec pause = {.tv_nsec = VIRTUAL_LOOK_NS};

    if (!l->turned)
        nanosleep(&pause, NULL);
}

static void live_pump(struct live *l, uint64_t until_ns, int input)
{
    if (l->is_virtual) {
        virtual_pump(l);
        return;
    }
    const enum live_acted acted = live_exec_serve(l) ? LIVE_ACTED : live_programs_go(l);
    uint64_t now = clock_ns(l);
    const bool looks = l->has_read || now - l->active_ns <= LOOK_NS;
    const bool is_time = now - l->heard_ns > HEAR_NS;

    l->has_backlog = has_backlog(l);
    l->has_work = acted == LIVE_ACTED;
    if (l->exec && is_time) { /* what programs print, and their ends */
        l->heard_ns = now;
        uv_run(&l->loop, UV_RUN_NOWAIT);
    }
    if (l->has_work) {
        l->worked_ns = l->machine_ns;
        return;
    }
    if (acted == LIVE_TALKS ? !l->has_read || is_time
                            : (!looks && (is_time || l->has_news)) || (l->vms && is_time)) {
        l->heard_ns = now;
        l->has_news = false;
        uv_run(&l->loop, UV_RUN_NOWAIT);
    }
    if (acted == LIVE_TALKS && live_programs_go(l) == LIVE_ACTED)
        return; /* it has received what it waited for */
    if (l->has_read)
        return; /* more may wait; on a busy machine, yielding now would starve the lab */
    if (looks) {
        sched_yield(); /* the peer may need this processor to answer */
        return;
    }
    if (l->machine_ns - l->worked_ns < YIELD_NS && live_exec_yields(l)) {
        sched_yield();
        return;
    }
    now = read_clock(l);
    if (l->held && rdl_next_ns(l->lab) != RDL_NEVER)
        return;
    if (until_ns > now && rdl_next_ns(l->lab) > now + AHEAD_NS)
        sleep_for(l, until_ns - now, input);
}

static bool live_hold(struct live *l)
{
    if (l->n_ports > 0 || l->vms)
        return false;
    l->held = true;
    l->base_ns = rdl_now_ns(l->lab);
    return true;
}

static void live_release(struct live *l)
{
    if (!l->held)
        return;
    l->held = false;
    l->base_ns = rdl_now_ns(l->lab);
    l->machine_ns = uv_hrtime();
    l->attached_ns = l->machine_ns;
}

static void live_rest(struct live *l, int input)
{
    struct pollfd fds[] = {{.fd = uv_backend_fd(&l->loop), .events = POLLIN},
                           {.fd = input, .events = POLLIN}};

    (void)poll(fds, 2, SLEEP_MAX_NS / 1000000);
    uv_run(&l->loop, UV_RUN_NOWAIT);
}

static bool is_open(const struct live *l)
{
    return l->n_ports > 0;
}

static bool programs_run(const struct live *l)
{
    return live_programs_run(l) || live_vms_run(l) || live_exec_runs(l);
}

static bool programs_failed(struct live *l, struct live_error *reterr)
{
    return live_programs_failed(l, reterr) || live_vms_failed(l, reterr) ||
           live_exec_failed(l, reterr);
}

/* First the lab's own programs, then those that are processes. */
static bool program_at(const struct live *l, uint32_t i, struct live_program_info *ret)
{
    struct live_program_info other;
    uint32_t n = 0;

    if (live_program_at(l, i, ret))
        return true;
    while (live_program_at(l, n, &other))
        n++;
    return live_exec_program_at(l, i - n, ret);
}

static const struct live_ops ops = {
    .open = live_open,
    .close = live_close,
    .tap = live_tap,
    .vm_find = live_vm_find,
    .vm = live_vm_start,
    .exec = live_exec_start,
    .exec_kill = live_exec_kill,
    .pingpong = live_pingpong_start,
    .verbs_peer = live_verbs_peer_start,
    .attached = attached,
    .begin_turn = begin_turn,
    .catch_up = catch_up,
    .pump = live_pump,
    .hold = live_hold,
    .release = live_release,
    .rest = live_rest,
    .has_input = live_has_input,
    .said = said,
    .is_open = is_open,
    .programs_run = programs_run,
    .programs_failed = programs_failed,
    .clock = live_clock,
    .port_at = port_at,
    .program_at = program_at,
    .vm_at = live_vm_at,
    .exec_at = live_exec_at,
    .maker = live_exec_maker,
    .exec_qp_at = live_exec_qp_at,
    .exec_mr_of = live_exec_mr_of,
    .exec_listens = live_exec_listens,
    .exec_is_ready = live_exec_is_ready,
    .obstacle = tap_obstacle,
};

const struct live_ops *const live_ops = &ops;
