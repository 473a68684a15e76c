/* SPDX-License-Identifier: MIT */
/* Programs of hosts that talk to a program of the machine outside: the TCP exchange of rc_pingpong,
 * around the state machine of pingpong.c.
 *
 *	client	sends its line ---------------> server
 *		<- sends its line, once it is in RTS
 *		sends "done", and goes to RTS itself
 *
 * Each message goes out with one write, because the original reads each with one read().  Here they
 * may come in pieces.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/live_internal.h"
#include "rdmalab/trace.h"

#define BACKLOG           1
#define LISTEN_RETRIES_MS 100u /* a client tries again until its server listens */
#define CONNECT_TRIES_MAX 50u  /* of each address */
#define ADDRESSES_MAX     4u   /* of the server's machine: "localhost" often has two */

/* Where the exchange stands. */
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
    struct sockaddr_storage addresses[ADDRESSES_MAX];
    uint32_t n_addresses;
    bool stream_open, listener_open;
    uint32_t tries;
    char rx[PINGPONG_LINE_BYTES];
    size_t rx_n;
    bool reported;  /* its failure was told */
    int listen_err; /* of libuv: it failed because of that */
};

static void close_stream(struct live_program *g)
{
    if (g->stream_open && !uv_is_closing((uv_handle_t *)&g->stream))
        uv_close((uv_handle_t *)&g->stream, NULL);
    if (g->listener_open && !uv_is_closing((uv_handle_t *)&g->listener))
        uv_close((uv_handle_t *)&g->listener, NULL);
    g->stream_open = g->listener_open = false;
    g->oob = OOB_CLOSED;
}

/* --- Bytes --------------------------------------------------------------------------------------
 */

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct live_program *g = h->data;

    (void)suggested;
    *buf = uv_buf_init(g->rx + g->rx_n, (unsigned)(sizeof(g->rx) - g->rx_n));
}

static void on_written(uv_write_t *w, int status)
{
    struct live_program *g = w->data;

    if (status < 0 && status != UV_ECANCELED)
        pingpong_fail(&g->p, "Couldn't send local address");
    free(w);
}

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
        pingpong_fail(&g->p, "Couldn't send local address");
    }
}

static void send_line(struct live_program *g)
{
    char line[PINGPONG_LINE_BYTES];

    pingpong_line(&g->p, line);
    send_bytes(g, line, sizeof(line));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct live_program *g = stream->data;

    (void)buf;
    if (n < 0) {
        if (g->oob == OOB_LINE)
            pingpong_fail(&g->p, "Couldn't read remote address: the other side has left");
        else if (g->oob == OOB_DONE_WAIT)
            pingpong_fail(&g->p, "the other side left before it was connected");
        close_stream(g);
        return;
    }
    g->rx_n += (size_t)n;
    if (g->oob == OOB_LINE && g->rx_n >= sizeof(g->rx)) {
        g->rx_n = 0;
        if (pingpong_remote(&g->p, g->rx))
            g->oob = OOB_READY;
    } else if (g->oob == OOB_DONE_WAIT && g->rx_n >= PINGPONG_DONE_BYTES) {
        pingpong_start(&g->p, g->live->machine_ns);
        close_stream(g);
    } else if (g->rx_n >= sizeof(g->rx)) {
        pingpong_fail(&g->p, "the other side does not speak rc_pingpong's protocol");
    }
}

static void begin_exchange(struct live_program *g)
{
    g->stream_open = true;
    g->stream.data = g;
    g->oob = OOB_LINE;
    if (!pingpong_is_server(&g->p))
        send_line(g);
    uv_read_start((uv_stream_t *)&g->stream, on_alloc, on_read);
}

/* --- Server --------------------------------------------------------------------------------------
 */

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

static int bind_to(struct live_program *g, const char *address)
{
    struct sockaddr_in6 v6;
    struct sockaddr_in v4;

    if (strchr(address, ':')) {
        const int err = uv_ip6_addr(address, g->p.config.port, &v6);

        return err ? err : uv_tcp_bind(&g->listener, (const struct sockaddr *)&v6, 0);
    }
    (void)uv_ip4_addr(address, g->p.config.port, &v4); /* the command has checked it */
    return uv_tcp_bind(&g->listener, (const struct sockaddr *)&v4, 0);
}

/* Where it was told to, or where only this machine reaches it. */
static int bind_listener(struct live_program *g)
{
    const char *address = g->p.config.listen;
    int err;

    if (address[0])
        return bind_to(g, address);
    err = bind_to(g, "127.0.0.1");
    return err == 0 ? 0 : bind_to(g, "::1"); /* a machine without IPv4 */
}

static void serve(struct live_program *g)
{
    int err = uv_tcp_init(&g->live->loop, &g->listener);
    char why[sizeof(g->p.error)];

    if (err == 0) {
        g->listener_open = true;
        g->listener.data = g;
        err = bind_listener(g);
    }
    if (err == 0)
        err = uv_listen((uv_stream_t *)&g->listener, BACKLOG, on_connection);
    if (err == 0)
        return;
    g->listen_err = err;
    snprintf(why, sizeof(why), "Couldn't listen to port %u: %s", g->p.config.port,
             uv_strerror(err));
    pingpong_fail(&g->p, why);
}

/* --- Client --------------------------------------------------------------------------------------
 */

static void try_connect(uv_timer_t *t);

static void connect_failed(struct live_program *g, int err)
{
    char why[sizeof(g->p.error)];

    snprintf(why, sizeof(why), "Couldn't connect to %s:%u: %s", g->p.config.server,
             g->p.config.port, uv_strerror(err));
    pingpong_fail(&g->p, why);
}

/* Only now may the handle be used again. */
static void on_attempt_closed(uv_handle_t *stream)
{
    struct live_program *g = stream->data;
    const bool all_tried = g->tries % g->n_addresses == 0;

    uv_timer_start(&g->retry, try_connect, all_tried ? LISTEN_RETRIES_MS : 0, 0);
}

/* This attempt failed with @err; the next one is at the next address. */
static void connect_next(struct live_program *g, int err)
{
    const bool last = ++g->tries >= CONNECT_TRIES_MAX * g->n_addresses;

    g->stream.data = g;
    uv_close((uv_handle_t *)&g->stream, last ? NULL : on_attempt_closed);
    if (last)
        connect_failed(g, err);
}

static void on_connected(uv_connect_t *c, int status)
{
    struct live_program *g = c->data;

    if (status == UV_ECANCELED)
        return;
    if (status == 0)
        begin_exchange(g);
    else
        connect_next(g, status);
}

static void try_connect(uv_timer_t *t)
{
    struct live_program *g = t->data;
    const struct sockaddr_storage *address = &g->addresses[g->tries % g->n_addresses];
    int err;

    uv_tcp_init(&g->live->loop, &g->stream);
    g->connect.data = g;
    err = uv_tcp_connect(&g->connect, &g->stream, (const struct sockaddr *)address, on_connected);
    if (err != 0)
        connect_next(g, err);
}

static int resolve(struct live_program *g)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    uv_getaddrinfo_t req;
    char port[8];
    int err;

    snprintf(port, sizeof(port), "%u", g->p.config.port);
    err = uv_getaddrinfo(&g->live->loop, &req, NULL, g->p.config.server, port, &hints);
    if (err != 0)
        return err;
    for (const struct addrinfo *a = req.addrinfo; a && g->n_addresses < ADDRESSES_MAX;
         a = a->ai_next)
        memcpy(&g->addresses[g->n_addresses++], a->ai_addr, a->ai_addrlen);
    uv_freeaddrinfo(req.addrinfo);
    return g->n_addresses ? 0 : UV_EAI_NONAME;
}

static void call(struct live_program *g)
{
    const int err = resolve(g);

    uv_timer_init(&g->live->loop, &g->retry);
    g->retry.data = g;
    if (err != 0)
        connect_failed(g, err);
    else
        try_connect(&g->retry);
}

/* --- Programs ------------------------------------------------------------------------------------
 */

/* The queue pair is in RTS. */
static void tell_connected(struct live_program *g)
{
    if (pingpong_is_server(&g->p)) {
        send_line(g);
        g->oob = OOB_DONE_WAIT;
    } else {
        send_bytes(g, "done", PINGPONG_DONE_BYTES);
        g->oob = OOB_CLOSED;
        pingpong_start(&g->p, g->live->machine_ns);
    }
}

/* Is a control request of another program of the same host under way?  Its answer is not ours. */
static bool must_wait(const struct live_program *g)
{
    for (const struct live_program *o = g->live->programs; o; o = o->next) {
        if (o != g && o->p.asked && o->p.config.host.raw == g->p.config.host.raw)
            return true;
    }
    return false;
}

static void go(struct live_program *g)
{
    if (!must_wait(g))
        pingpong_go(&g->p, g->live->machine_ns);
    if (g->p.state == PP_EXCHANGE && g->oob == OOB_IDLE) {
        g->oob = OOB_CONNECTING;
        if (pingpong_is_server(&g->p))
            serve(g);
        else
            call(g);
    }
    if (g->p.state == PP_CONNECTED && g->oob == OOB_READY)
        tell_connected(g);
    if (g->p.state >= PP_DONE && (g->stream_open || g->listener_open))
        close_stream(g);
}

enum live_acted live_programs_go(struct live *l)
{
    const uint64_t tick = rdl_tick(l->lab);
    bool talking = false;

    for (struct live_program *g = l->programs; g; g = g->next) {
        if (g->p.state >= PP_DONE && !g->stream_open && !g->listener_open)
            continue;
        go(g);
        talking |= g->p.state < PP_RUN;
    }
    if (rdl_tick(l->lab) != tick)
        return LIVE_ACTED;
    return talking ? LIVE_TALKS : LIVE_IDLE;
}

bool live_program_start(struct live *l, const struct pingpong_config *config,
                        struct live_error *reterr)
{
    struct live_program *g = calloc(1, sizeof(*g)), **at = &l->programs;

    if (!g) {
        live_error_set(reterr, "rc_pingpong", "no memory", "");
        return false;
    }
    g->live = l;
    pingpong_init(&g->p, l->lab, config, l->out);
    while (*at)
        at = &(*at)->next;
    *at = g;
    live_attach(l);
    go(g);
    return true;
}

void live_programs_free(struct live *l)
{
    while (l->programs) {
        struct live_program *g = l->programs;

        l->programs = g->next;
        pingpong_done(&g->p);
        free(g);
    }
}

bool live_programs_run(const struct live *l)
{
    for (const struct live_program *g = l->programs; g; g = g->next) {
        if (g->p.state < PP_DONE)
            return true;
    }
    return false;
}

/* What can be done about the failure of @g; "" if nothing can be said. */
static const char *remedy_of(const struct live_program *g)
{
    switch (g->p.failed_in) {
    case PP_REG_MR:
        return "the memory of the host is too small: \"host NAME ram=SIZE\"";
    case PP_EXCHANGE:
        if (g->listen_err == UV_EADDRINUSE)
            return "another program listens there; -p chooses another port, for both sides";
        return g->listen_err == UV_EADDRNOTAVAIL ? "listen= is an address of this machine; :: is "
                                                   "every one, 127.0.0.1 none but its own"
                                                 : "both sides need the same port (-p), and a "
                                                   "server must run first; from another "
                                                   "machine only one with listen= is reached";
    case PP_RTR:
        return "both sides need GIDs of one kind (-g), and a way to each other: try \"ping\"";
    default:
        return rdl_record_gap(g->live->lab).to == RDL_NEVER
                   ? ""
                   : "\"why\" and \"show events last 20\" tell what went wrong last";
    }
}

bool live_programs_failed(struct live *l, struct live_error *reterr)
{
    for (struct live_program *g = l->programs; g; g = g->next) {
        if (g->p.state != PP_FAILED || g->reported)
            continue;
        g->reported = true;
        snprintf(reterr->message, sizeof(reterr->message), "%s: rc_pingpong: %s",
                 g->p.config.host_name, g->p.error);
        snprintf(reterr->remedy, sizeof(reterr->remedy), "%s", remedy_of(g));
        return true;
    }
    return false;
}

bool live_program_at(const struct live *l, uint32_t i, struct live_program_info *ret)
{
    const struct live_program *g = l->programs;

    while (g && i-- > 0)
        g = g->next;
    if (!g)
        return false;
    *ret = (struct live_program_info){
        .name = "rc_pingpong",
        .server = pingpong_is_server(&g->p),
        .state = g->p.state,
        .n_sent = g->p.n_sent,
        .n_rcvd = g->p.n_rcvd,
        .iters = g->p.config.iters,
        .error = g->p.error,
    };
    memcpy(ret->host, g->p.config.host_name, sizeof(ret->host));
    return true;
}
