/* SPDX-License-Identifier: MIT */
/* The TCP connection of verbs_peer: carries the text of its state machine (verbs_peer.c). */
#include <stdlib.h>
#include <string.h>

#include "cli/live/live_program.h"

struct live_verbs_peer {
    struct live_program base;
    struct verbs_peer *p;
    bool began; /* connecting has begun */
    bool opened;
    bool met; /* the other side was connected; it may have left since */
};

static struct verbs_peer *peer_of(const struct live_program *g)
{
    return ((const struct live_verbs_peer *)g)->p;
}

static void on_opened(void *owner)
{
    struct live_verbs_peer *g = owner;

    g->opened = g->met = true;
    verbs_peer_met(g->p, g->base.live->machine_ns);
}

static void on_heard(void *owner, const char *bytes, size_t n)
{
    struct live_verbs_peer *g = owner;

    verbs_peer_hears(g->p, bytes, n);
}

static void on_left(void *owner)
{
    struct live_verbs_peer *g = owner;

    g->opened = false;
    verbs_peer_left(g->p);
}

static void on_failed(void *owner, const char *why)
{
    struct live_verbs_peer *g = owner;

    verbs_peer_fail(g->p, why);
}

static const struct live_tcp_ops tcp_ops = {on_opened, on_heard, on_left, on_failed};

static void go(struct live_program *base)
{
    struct live_verbs_peer *g = (struct live_verbs_peer *)base;
    const char *text;
    size_t n;

    if (!g->began) {
        g->began = true;
        live_tcp_open(&base->tcp);
    }
    verbs_peer_go(g->p, base->live->machine_ns);
    if (!g->opened)
        return;
    text = verbs_peer_says(g->p, &n);
    if (n > 0)
        live_tcp_send(&base->tcp, text, n);
}

static enum live_program_state state(const struct live_program *g)
{
    switch (verbs_peer_state(peer_of(g))) {
    case VERBS_PEER_DONE:
        return LIVE_PROGRAM_DONE;
    case VERBS_PEER_FAILED:
        return LIVE_PROGRAM_FAILED;
    default:
        return verbs_peer_listens(peer_of(g)) ? LIVE_PROGRAM_TALKS : LIVE_PROGRAM_RUNS;
    }
}

static bool asks(const struct live_program *g)
{
    return verbs_peer_asks(peer_of(g));
}

static const char *error(const struct live_program *g)
{
    return verbs_peer_error(peer_of(g));
}

static const char *remedy(const struct live_program *g)
{
    const struct live_verbs_peer *v = (const struct live_verbs_peer *)g;

    if (!v->met)
        return live_program_tcp_remedy(g);
    return verbs_peer_waited(v->p) ? live_program_patience_remedy : live_program_look(g);
}

static void info(const struct live_program *g, struct live_program_info *ret)
{
    struct text t = text_on(ret->state, sizeof(ret->state));

    verbs_peer_add_place(peer_of(g), &t);
}

static void free_program(struct live_program *g)
{
    verbs_peer_free(peer_of(g));
    free(g);
}

static const char name[] = "verbs_peer";

static const struct live_program_ops ops = {
    .go = go,
    .state = state,
    .asks = asks,
    .error = error,
    .remedy = remedy,
    .info = info,
    .free = free_program,
};

bool live_verbs_peer_start(struct live *l, const struct verbs_peer_config *config, FILE *lines,
                           struct live_error *reterr)
{
    struct live_verbs_peer *g = calloc(1, sizeof(*g));
    struct verbs_peer *p = g ? verbs_peer_new(l->lab, config, lines, l->out) : NULL;
    const struct verbs_peer_config *c;

    if (!p) {
        free(g);
        live_error_set(reterr, name, "no memory", "");
        return false;
    }
    g->p = p;
    c = verbs_peer_config(p);
    g->base = (struct live_program){
        .ops = &ops, .name = name, .host = c->host, .host_name = c->host_name};
    g->base.tcp = (struct live_tcp){
        .ops = &tcp_ops, .owner = g, .server = c->server, .listen = c->listen, .port = c->port};
    live_program_add(l, &g->base);
    return true;
}
