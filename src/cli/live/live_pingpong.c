/* SPDX-License-Identifier: MIT */
/* The TCP exchange of the pingpongs, around the state machine of pingpong.c.
 *
 * client  sends its lines --------------> server
 *   <- sends its lines, once it can receive and send
 *   sends "done", and connects its queue pairs
 *
 * srq_pingpong has 256 lines, the others have one.  Each message is sent with one write, because an
 * original with one line reads it with one read().  This side accepts messages in pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/live/live_program.h"
#include "emu/base/quantity.h"

/* State of the exchange. */
enum oob {
    OOB_IDLE,       /* the program is not that far */
    OOB_CONNECTING, /* or listening */
    OOB_LINE,       /* waits for the other side's lines */
    OOB_READY,      /* has them; the queue pairs are being connected */
    OOB_DONE_WAIT,  /* server: waits for "done" */
    OOB_CLOSED
};

struct live_pingpong {
    struct live_program base;
    struct pingpong p;
    enum oob oob;
    uint64_t since_ns; /* real time at which @oob began */
    char rx[PINGPONG_QPS_MAX * PINGPONG_LINE_BYTES];
    size_t rx_n;
};

static struct pingpong *pingpong_of(struct live_program *g)
{
    return &((struct live_pingpong *)g)->p;
}

static const struct pingpong *pingpong_of_const(const struct live_program *g)
{
    return &((const struct live_pingpong *)g)->p;
}

static void set_oob(struct live_pingpong *g, enum oob oob)
{
    g->oob = oob;
    g->since_ns = g->base.live->machine_ns;
}

static void leave_exchange(struct live_pingpong *g)
{
    live_tcp_close(&g->base.tcp);
    set_oob(g, OOB_CLOSED);
}

/* Number of bytes that each side sends. */
static size_t lines_bytes(const struct live_pingpong *g)
{
    return (size_t)g->p.config.kind->n_lines * PINGPONG_LINE_BYTES;
}

static void send_lines(struct live_pingpong *g)
{
    char lines[PINGPONG_QPS_MAX * PINGPONG_LINE_BYTES];

    for (uint32_t i = 0; i < g->p.config.kind->n_lines; i++)
        pingpong_line(&g->p, i, lines + (size_t)i * PINGPONG_LINE_BYTES);
    live_tcp_send(&g->base.tcp, lines, lines_bytes(g));
}

static bool take_lines(struct live_pingpong *g)
{
    for (uint32_t i = 0; i < g->p.config.kind->n_lines; i++) {
        if (!pingpong_remote(&g->p, i, g->rx + (size_t)i * PINGPONG_LINE_BYTES))
            return false;
    }
    return true;
}

static void on_opened(void *owner)
{
    struct live_pingpong *g = owner;

    set_oob(g, OOB_LINE);
    if (!pingpong_is_server(&g->p))
        send_lines(g);
}

static void on_heard(void *owner, const char *bytes, size_t n)
{
    struct live_pingpong *g = owner;
    const size_t room = lines_bytes(g) - g->rx_n;
    const size_t taken = n < room ? n : room;

    memcpy(g->rx + g->rx_n, bytes, taken);
    g->rx_n += taken;
    if (taken == n && g->oob == OOB_LINE && g->rx_n >= lines_bytes(g)) {
        g->rx_n = 0;
        if (take_lines(g))
            set_oob(g, OOB_READY);
    } else if (g->oob == OOB_DONE_WAIT && g->rx_n >= PINGPONG_DONE_BYTES) {
        pingpong_start(&g->p, g->base.live->machine_ns);
        leave_exchange(g);
    } else if (g->rx_n >= lines_bytes(g)) {
        pingpong_fail(&g->p, "the other side does not speak the protocol of the pingpongs");
    }
}

static void on_left(void *owner)
{
    struct live_pingpong *g = owner;

    if (g->oob == OOB_LINE)
        pingpong_fail(&g->p, "Couldn't read remote address: the other side has left");
    else if (g->oob == OOB_DONE_WAIT)
        pingpong_fail(&g->p, "the other side left before it was connected");
    set_oob(g, OOB_CLOSED);
}

static void on_failed(void *owner, const char *why)
{
    struct live_pingpong *g = owner;

    pingpong_fail(&g->p, why);
}

static const struct live_tcp_ops tcp_ops = {on_opened, on_heard, on_left, on_failed};

/* This side can now receive and send: tells the other side. */
static void report_connected(struct live_pingpong *g)
{
    if (pingpong_is_server(&g->p)) {
        send_lines(g);
        set_oob(g, OOB_DONE_WAIT);
    } else {
        live_tcp_send(&g->base.tcp, "done", PINGPONG_DONE_BYTES);
        set_oob(g, OOB_CLOSED);
        pingpong_start(&g->p, g->base.live->machine_ns);
    }
}

static enum live_program_state state(const struct live_program *g)
{
    const enum pingpong_state st = pingpong_of_const(g)->state;

    if (st >= PP_DONE)
        return st == PP_DONE ? LIVE_PROGRAM_DONE : LIVE_PROGRAM_FAILED;
    return st < PP_RUN ? LIVE_PROGRAM_TALKS : LIVE_PROGRAM_RUNS;
}

/* Ends the program if the other side should have done something long ago.  Until a client comes, a
 * server has another patience.  Attempts to connect are counted: CONNECT_TRIES_MAX of live_tcp.c.
 */
static void look_at_clock(struct live_pingpong *g)
{
    const struct patience *c = &g->p.config.patience;
    const bool comes = g->oob == OOB_CONNECTING && pingpong_is_server(&g->p);
    const uint64_t most_ns = comes ? c->client_ns : c->silence_ns;
    char why[sizeof(g->p.error)];
    struct text t = text_on(why, sizeof(why));

    if (state(&g->base) >= LIVE_PROGRAM_DONE ||
        (!comes && g->oob != OOB_LINE && g->oob != OOB_DONE_WAIT) ||
        !patience_is_over(most_ns, g->since_ns, g->base.live->machine_ns))
        return;
    text_add(&t, comes ? "no client came within " : "the other side is silent: for ");
    quantity_add(&t, QUANTITY_TIME, most_ns);
    if (g->oob == OOB_LINE)
        text_addf(&t, " it has sent %zu of the %zu bytes of its addresses", g->rx_n,
                  lines_bytes(g));
    else if (g->oob == OOB_DONE_WAIT)
        text_add(&t, " it has not said that it is connected");
    pingpong_fail(&g->p, why);
}

static void go(struct live_program *base)
{
    struct live_pingpong *g = (struct live_pingpong *)base;

    pingpong_go(&g->p, base->live->machine_ns);
    if (g->p.state == PP_EXCHANGE && g->oob == OOB_IDLE) {
        set_oob(g, OOB_CONNECTING);
        live_tcp_open(&base->tcp);
    }
    if (g->p.state == PP_CONNECTED && g->oob == OOB_READY)
        report_connected(g);
    look_at_clock(g);
}

static bool asks(const struct live_program *g)
{
    return pingpong_of_const(g)->asked;
}

static const char *error(const struct live_program *g)
{
    return pingpong_of_const(g)->error;
}

static const char *remedy(const struct live_program *g)
{
    switch (pingpong_of_const(g)->failed_in) {
    case PP_REG_MR:
        return "the memory of the host is too small: \"host NAME ram=SIZE\"";
    case PP_EXCHANGE:
        return g->tcp.listen_err == 0 && ((const struct live_pingpong *)g)->oob >= OOB_LINE
                   ? live_program_patience_remedy
                   : live_program_tcp_remedy(g);
    case PP_CONNECTED:
        return live_program_patience_remedy;
    case PP_RTR:
    case PP_CREATE_AH:
        return "both sides need GIDs of one kind (-g), and a way to each other: try \"ping\"";
    default:
        return live_program_look(g);
    }
}

static void info(const struct live_program *g, struct live_program_info *ret)
{
    const struct pingpong *p = pingpong_of_const(g);

    snprintf(ret->state, sizeof(ret->state), "%s", pingpong_state_name(p->state));
    ret->counts = p->state >= PP_RUN;
    ret->n_sent = p->n_sent;
    ret->n_rcvd = p->n_rcvd;
    ret->iters = p->config.iters;
}

static void free_program(struct live_program *g)
{
    pingpong_done(pingpong_of(g));
    free(g);
}

static const struct live_program_ops ops = {
    .go = go,
    .state = state,
    .asks = asks,
    .error = error,
    .remedy = remedy,
    .info = info,
    .free = free_program,
};

bool live_pingpong_start(struct live *l, const struct pingpong_config *config,
                         struct live_error *reterr)
{
    struct live_pingpong *g = calloc(1, sizeof(*g));
    const struct pingpong_config *c;

    if (!g) {
        live_error_set(reterr, config->kind->name, "no memory", "");
        return false;
    }
    pingpong_init(&g->p, l->lab, config, l->out);
    c = &g->p.config;
    g->base = (struct live_program){
        .ops = &ops, .name = c->kind->name, .host = c->host, .host_name = c->host_name};
    g->base.tcp = (struct live_tcp){
        .ops = &tcp_ops, .owner = g, .server = c->server, .listen = c->listen, .port = c->port};
    live_program_add(l, &g->base);
    return true;
}
