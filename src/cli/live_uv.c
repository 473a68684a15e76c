/* SPDX-License-Identifier: MIT */
/* Live ports and programs on libuv. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "cli/live.h"
#include "cli/pingpong.h"
#include "cli/tap_linux.h"
#include "emu/base/assert.h"
#include "rdmalab/port.h"

#define PORTS_MAX         8u
#define FRAME_BYTES_MAX   65536u
#define FRAMES_PER_PUMP   256u     /* read before the lab goes on */
#define SPIN_NS           1000000u /* shorter waits are spent looking, not sleeping */
#define WAIT_MAX_MS       50u      /* between looks for ^C */
#define BACKLOG           1
#define LISTEN_RETRIES_MS 100u /* a client tries again until its server listens */
#define CONNECT_TRIES_MAX 50u

struct live_port {
    struct live *live;
    char name[RDL_NAME_BYTES];
    int fd; /* -1: the device is gone */
    uv_poll_t poll;
    rdl_port port;
};

/* Where a program's TCP exchange stands. */
enum oob {
    OOB_IDLE,       /* the program is not that far */
    OOB_CONNECTING, /* or listening */
    OOB_LINE,       /* the other side's line is awaited */
    OOB_READY,      /* it is there; the queue pair is being connected */
    OOB_DONE_WAIT,  /* server: waits for "done" */
    OOB_CLOSED
};

struct live_program {
    struct live *live;
    struct live_program *next;
    struct pingpong p;
    enum oob oob;
    uv_tcp_t listener, stream;
    uv_timer_t retry;
    uv_connect_t connect;
    struct sockaddr_storage address;
    bool stream_open, listener_open, retry_open, sent_line;
    uint32_t tries;
    char rx[PINGPONG_LINE_BYTES];
    size_t rx_n;
    bool reported; /* its end was noticed */
};

struct live {
    uv_loop_t loop;
    uv_timer_t timer;
    struct rdl_lab *lab;
    FILE *out;
    struct live_port ports[PORTS_MAX];
    uint32_t n_ports;
    struct live_program *programs;
    bool attached;
    uint64_t zero_ns; /* of the machine's clock: simulated time 0 */
    struct live_stats stats;
};

static void set_error(struct live_error *e, const char *what, const char *why, const char *remedy)
{
    snprintf(e->message, sizeof(e->message), "%s: %s", what, why);
    snprintf(e->remedy, sizeof(e->remedy), "%s", remedy);
}

static uint64_t now_ns(struct live *l)
{
    const uint64_t now = uv_hrtime();

    return now > l->zero_ns ? now - l->zero_ns : 0;
}

/* From the first live thing on, the clocks go together. */
static void attach(struct live *l)
{
    if (l->attached)
        return;
    l->zero_ns = uv_hrtime() - rdl_now_ns(l->lab);
    l->attached = true;
}

static struct live *live_open(struct rdl_lab *lab, FILE *out)
{
    struct live *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->lab = lab;
    l->out = out;
    if (uv_loop_init(&l->loop) != 0) {
        free(l);
        return NULL;
    }
    uv_timer_init(&l->loop, &l->timer);
    l->timer.data = l;
    return l;
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
    uv_walk(&l->loop, on_walk, NULL);
    uv_run(&l->loop, UV_RUN_DEFAULT);
    for (uint32_t i = 0; i < l->n_ports; i++) {
        if (l->ports[i].fd >= 0)
            close(l->ports[i].fd);
    }
    while (l->programs) {
        struct live_program *next = l->programs->next;

        free(l->programs);
        l->programs = next;
    }
    uv_loop_close(&l->loop);
    free(l);
}

/* Moves the simulated clock on to real time, if nothing is due before. */
static void catch_up(struct live *l)
{
    const struct rdl_limits none = {0};
    const uint64_t now = now_ns(l);

    if (now > rdl_now_ns(l->lab) && rdl_next_ns(l->lab) > now)
        (void)!rdl_run(l->lab, now, none); /* no tick: nothing that can go wrong */
}

/* --- Ports ------------------------------------------------------------------------------------ */

/* A frame of the lab reached the port. */
static void on_frame(void *ctx, const void *bytes, size_t n)
{
    struct live_port *p = ctx;

    if (p->fd >= 0 && write(p->fd, bytes, n) == (ssize_t)n)
        p->live->stats.sent_frames++;
    else
        p->live->stats.send_errors++;
}

/* The device was removed under us: the port stays, without a cable. */
static void lose_device(struct live_port *p, int err)
{
    fprintf(p->live->out, "port %s: the device is gone (%s); the lab goes on without it\n", p->name,
            strerror(err));
    fflush(p->live->out);
    uv_poll_stop(&p->poll);
    close(p->fd);
    p->fd = -1;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct live_port *p = poll->data;
    uint8_t frame[FRAME_BYTES_MAX];

    (void)events;
    if (status < 0) {
        lose_device(p, -status);
        return;
    }
    for (uint32_t i = 0; i < FRAMES_PER_PUMP; i++) {
        const ssize_t n = read(p->fd, frame, sizeof(frame));

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            lose_device(p, n < 0 ? errno : ENODEV);
            return;
        }
        p->live->stats.rcvd_frames++;
        catch_up(p->live);
        /* What the lab refuses it counts under a name of its own. */
        (void)!rdl_port_receive(p->live->lab, p->port, frame, (size_t)n);
    }
}

static bool live_tap(struct live *l, const char *device, const char *node,
                     struct live_error *reterr)
{
    const struct rdl_link_config link = {.a = device, .b = node};
    struct live_port *p = &l->ports[l->n_ports];
    const struct rdl_port_config config = {.name = device};
    enum rdl_status st;
    rdl_link ret;

    if (l->n_ports == PORTS_MAX) {
        set_error(reterr, device, "too many live ports", "a lab has at most 8");
        return false;
    }
    *p = (struct live_port){.live = l, .fd = tap_open(device, reterr)};
    if (p->fd < 0)
        return false;
    st = rdl_port_add(l->lab, &config, &p->port);
    if (st == RDL_OK)
        st = rdl_port_read(l->lab, p->port, on_frame, p);
    if (st == RDL_OK)
        st = rdl_link_add(l->lab, &link, &ret);
    if (st != RDL_OK) {
        set_error(reterr, device, rdl_status_str(st), rdl_status_remedy(st));
        close(p->fd);
        return false;
    }
    memcpy(p->name, device, strlen(device));
    uv_poll_init(&l->loop, &p->poll, p->fd);
    p->poll.data = p;
    uv_poll_start(&p->poll, UV_READABLE, on_readable);
    l->n_ports++;
    attach(l);
    return true;
}

/* --- Programs --------------------------------------------------------------------------------- */

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct live_program *g = h->data;

    (void)suggested;
    *buf = uv_buf_init(g->rx + g->rx_n, (unsigned)(sizeof(g->rx) - g->rx_n));
}

static void close_stream(struct live_program *g)
{
    if (g->stream_open && !uv_is_closing((uv_handle_t *)&g->stream))
        uv_close((uv_handle_t *)&g->stream, NULL);
    if (g->listener_open && !uv_is_closing((uv_handle_t *)&g->listener))
        uv_close((uv_handle_t *)&g->listener, NULL);
    g->oob = OOB_CLOSED;
}

static bool is_server(const struct live_program *g)
{
    return g->p.config.server[0] == '\0';
}

static void on_written(uv_write_t *w, int status)
{
    struct live_program *g = w->data;

    if (status < 0)
        pingpong_fail(&g->p, "couldn't send local address");
    free(w);
}

/* @bytes are constant or live in the program. */
static void send_bytes(struct live_program *g, const char *bytes, size_t n)
{
    uv_write_t *w = malloc(sizeof(*w) + n);
    uv_buf_t buf;

    if (!w) {
        pingpong_fail(&g->p, "no memory");
        return;
    }
    memcpy(w + 1, bytes, n);
    buf = uv_buf_init((char *)(w + 1), (unsigned)n);
    w->data = g;
    if (uv_write(w, (uv_stream_t *)&g->stream, &buf, 1, on_written) != 0) {
        free(w);
        pingpong_fail(&g->p, "couldn't send local address");
    }
}

static void send_line(struct live_program *g)
{
    char line[PINGPONG_LINE_BYTES];

    pingpong_line(&g->p, line);
    send_bytes(g, line, sizeof(line));
    g->sent_line = true;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct live_program *g = stream->data;

    (void)buf;
    if (n < 0) {
        if (g->oob == OOB_LINE || g->oob == OOB_DONE_WAIT)
            pingpong_fail(&g->p, "the other side closed the connection");
        close_stream(g);
        return;
    }
    g->rx_n += (size_t)n;
    if (g->oob == OOB_LINE && g->rx_n >= sizeof(g->rx)) {
        g->rx_n = 0;
        if (pingpong_remote(&g->p, g->rx))
            g->oob = OOB_READY;
    } else if (g->oob == OOB_DONE_WAIT && g->rx_n >= PINGPONG_DONE_BYTES) {
        pingpong_start(&g->p, uv_hrtime());
        g->oob = OOB_CLOSED;
        uv_read_stop(stream);
    }
}

static void begin_exchange(struct live_program *g)
{
    g->stream_open = true;
    g->stream.data = g;
    g->oob = OOB_LINE;
    if (!is_server(g))
        send_line(g);
    uv_read_start((uv_stream_t *)&g->stream, on_alloc, on_read);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct live_program *g = listener->data;

    if (status < 0 || g->stream_open)
        return;
    uv_tcp_init(&g->live->loop, &g->stream);
    if (uv_accept(listener, (uv_stream_t *)&g->stream) != 0)
        return;
    uv_close((uv_handle_t *)listener, NULL);
    g->listener_open = false;
    begin_exchange(g);
}

static void try_connect(uv_timer_t *t);

static void on_connected(uv_connect_t *c, int status)
{
    struct live_program *g = c->data;

    if (status == 0) {
        begin_exchange(g);
        return;
    }
    uv_close((uv_handle_t *)&g->stream, NULL);
    if (status == UV_ECANCELED)
        return;
    if (++g->tries >= CONNECT_TRIES_MAX) {
        pingpong_fail(&g->p, "couldn't connect to the server");
        return;
    }
    uv_timer_start(&g->retry, try_connect, LISTEN_RETRIES_MS, 0);
}

static void try_connect(uv_timer_t *t)
{
    struct live_program *g = t->data;

    uv_tcp_init(&g->live->loop, &g->stream);
    g->connect.data = g;
    if (uv_tcp_connect(&g->connect, &g->stream, (const struct sockaddr *)&g->address,
                       on_connected) != 0)
        pingpong_fail(&g->p, "couldn't connect to the server");
}

static int listen_at(struct live_program *g)
{
    struct sockaddr_in6 any;
    int err = uv_ip6_addr("::", g->p.config.port, &any);

    if (err == 0)
        err = uv_tcp_init(&g->live->loop, &g->listener);
    if (err == 0) {
        g->listener_open = true;
        g->listener.data = g;
        err = uv_tcp_bind(&g->listener, (const struct sockaddr *)&any, 0);
    }
    if (err != 0) { /* a machine without IPv6 */
        struct sockaddr_in any4;

        err = uv_ip4_addr("0.0.0.0", g->p.config.port, &any4);
        if (err == 0)
            err = uv_tcp_bind(&g->listener, (const struct sockaddr *)&any4, 0);
    }
    return err ? err : uv_listen((uv_stream_t *)&g->listener, BACKLOG, on_connection);
}

static int resolve(struct live_program *g)
{
    uv_getaddrinfo_t req;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char port[8];
    int err;

    snprintf(port, sizeof(port), "%u", g->p.config.port);
    err = uv_getaddrinfo(&g->live->loop, &req, NULL, g->p.config.server, port, &hints);
    if (err == 0) {
        memcpy(&g->address, req.addrinfo->ai_addr, req.addrinfo->ai_addrlen);
        uv_freeaddrinfo(req.addrinfo);
    }
    return err;
}

/* The program's queue pair is ready for the other side's line. */
static void open_oob(struct live_program *g)
{
    g->oob = OOB_CONNECTING;
    if (is_server(g)) {
        const int err = listen_at(g);

        if (err != 0)
            pingpong_fail(&g->p, uv_strerror(err));
        return;
    }
    uv_timer_init(&g->live->loop, &g->retry);
    g->retry_open = true;
    g->retry.data = g;
    if (resolve(g) != 0)
        pingpong_fail(&g->p, "no such server");
    else
        try_connect(&g->retry);
}

static void program_go(struct live_program *g)
{
    pingpong_go(&g->p, uv_hrtime());
    if (g->p.state == PP_EXCHANGE && g->oob == OOB_IDLE)
        open_oob(g);
    if (g->p.state == PP_CONNECTED && g->oob == OOB_READY) {
        if (is_server(g)) {
            send_line(g);
            g->oob = OOB_DONE_WAIT;
        } else {
            send_bytes(g, "done", PINGPONG_DONE_BYTES);
            g->oob = OOB_CLOSED;
            pingpong_start(&g->p, uv_hrtime());
        }
    }
    if (g->p.state >= PP_DONE && !g->reported) {
        g->reported = true;
        close_stream(g);
        if (g->p.state == PP_FAILED)
            fprintf(g->live->out, "rc_pingpong: %s\n", g->p.error);
        fflush(g->live->out);
    }
}

static bool live_pingpong(struct live *l, const struct pingpong_config *config,
                          struct live_error *reterr)
{
    struct live_program *g = calloc(1, sizeof(*g)), **at = &l->programs;

    if (!g) {
        set_error(reterr, "rc_pingpong", "no memory", "");
        return false;
    }
    g->live = l;
    pingpong_init(&g->p, l->lab, config, l->out);
    while (*at)
        at = &(*at)->next;
    *at = g;
    attach(l);
    program_go(g);
    return true;
}

static bool live_programs_run(const struct live *l)
{
    for (const struct live_program *g = l->programs; g; g = g->next) {
        if (g->p.state < PP_DONE)
            return true;
    }
    return false;
}

static bool live_programs_failed(const struct live *l, struct live_error *reterr)
{
    for (const struct live_program *g = l->programs; g; g = g->next) {
        if (g->p.state == PP_FAILED) {
            set_error(reterr, "rc_pingpong", g->p.error, "\"why\" tells what went wrong last");
            return true;
        }
    }
    return false;
}

/* --- The clock -------------------------------------------------------------------------------- */

static bool live_attached(const struct live *l)
{
    return l->attached;
}

static void on_timer(uv_timer_t *t)
{
    (void)t; /* it only ends the wait */
}

static void note_lag(struct live *l, uint64_t now)
{
    const uint64_t due = rdl_next_ns(l->lab);

    l->stats.lag_ns = due < now ? now - due : 0;
    if (l->stats.lag_ns > l->stats.lag_max_ns)
        l->stats.lag_max_ns = l->stats.lag_ns;
}

static void live_pump(struct live *l, uint64_t until_ns)
{
    const uint64_t now = now_ns(l);

    note_lag(l, now);
    for (struct live_program *g = l->programs; g; g = g->next)
        program_go(g);
    if (until_ns <= now || until_ns - now < SPIN_NS || rdl_next_ns(l->lab) <= now) {
        uv_run(&l->loop, UV_RUN_NOWAIT);
    } else {
        uint64_t ms = (until_ns - now) / 1000000u;

        if (ms > WAIT_MAX_MS)
            ms = WAIT_MAX_MS;
        uv_timer_start(&l->timer, on_timer, ms, 0);
        uv_run(&l->loop, UV_RUN_ONCE);
        uv_timer_stop(&l->timer);
    }
}

static void live_stats(const struct live *l, struct live_stats *ret)
{
    *ret = l->stats;
    ret->n_ports = l->n_ports;
    for (const struct live_program *g = l->programs; g; g = g->next)
        ret->n_programs += g->p.state < PP_DONE;
}

static const struct live_ops ops = {
    .open = live_open,
    .close = live_close,
    .tap = live_tap,
    .pingpong = live_pingpong,
    .attached = live_attached,
    .now_ns = now_ns,
    .pump = live_pump,
    .programs_run = live_programs_run,
    .programs_failed = live_programs_failed,
    .stats = live_stats,
    .obstacle = tap_obstacle,
};

const struct live_ops *const live_ops = &ops;
