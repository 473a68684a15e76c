/* SPDX-License-Identifier: MIT */
/* The programs of all hosts, which talk to a program outside the lab.  Lets each act in turn. */
#include "cli/live/live_program.h"

#include <stdlib.h>
#include <string.h>

#include "rdmalab/trace.h"

static bool is_over(const struct live_program *g)
{
    return g->ops->state(g) >= LIVE_PROGRAM_DONE;
}

/* Returns true if a control request of another program on the same host is pending.  The next
 * answer of the device is for that one.
 */
static bool must_wait(const struct live_program *g)
{
    for (const struct live_program *o = g->live->programs; o; o = o->next) {
        if (o != g && o->host.raw == g->host.raw && o->ops->asks(o))
            return true;
    }
    return false;
}

static void go(struct live_program *g)
{
    if (!must_wait(g))
        g->ops->go(g);
    if (is_over(g))
        live_tcp_close(&g->tcp);
}

enum live_acted live_programs_go(struct live *l)
{
    const uint64_t tick = rdl_tick(l->lab);
    bool talking = false;

    for (struct live_program *g = l->programs; g; g = g->next) {
        if (is_over(g) && !live_tcp_is_open(&g->tcp))
            continue;
        go(g);
        talking |= g->ops->state(g) == LIVE_PROGRAM_TALKS;
    }
    if (rdl_tick(l->lab) != tick)
        return LIVE_ACTED;
    return talking ? LIVE_TALKS : LIVE_IDLE;
}

void live_program_add(struct live *l, struct live_program *g)
{
    struct live_program **at = &l->programs;

    g->live = l;
    g->tcp.loop = &l->loop;
    while (*at)
        at = &(*at)->next;
    *at = g;
    live_attach(l);
    go(g);
}

void live_programs_free(struct live *l)
{
    while (l->programs) {
        struct live_program *g = l->programs;

        l->programs = g->next;
        g->ops->free(g);
    }
}

bool live_programs_run(const struct live *l)
{
    for (const struct live_program *g = l->programs; g; g = g->next) {
        if (!is_over(g))
            return true;
    }
    return false;
}

const char live_program_patience_remedy[] =
    "the other side must be the same program, and not be stopped; timeout= gives it more time";

const char *live_program_tcp_remedy(const struct live_program *g)
{
    if (g->tcp.listen_err == UV_EADDRINUSE)
        return "another program listens there; -p chooses another port, for both sides";
    return g->tcp.listen_err == UV_EADDRNOTAVAIL ? "listen= is an address of this machine; :: is "
                                                   "every one, 127.0.0.1 none but its own"
                                                 : "both sides need the same port (-p), and a "
                                                   "server must run first; from another "
                                                   "machine only one with listen= is reached";
}

const char *live_program_look(const struct live_program *g)
{
    return rdl_record_gap(g->live->lab).to == RDL_NEVER
               ? ""
               : "\"why\" and \"show events last 20\" tell what went wrong last";
}

bool live_programs_failed(struct live *l, struct live_error *reterr)
{
    for (struct live_program *g = l->programs; g; g = g->next) {
        if (g->ops->state(g) != LIVE_PROGRAM_FAILED || g->reported)
            continue;
        g->reported = true;
        snprintf(reterr->message, sizeof(reterr->message), "%s: %s: %s", g->host_name, g->name,
                 g->ops->error(g));
        snprintf(reterr->remedy, sizeof(reterr->remedy), "%s", g->ops->remedy(g));
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
        .name = g->name,
        .server = g->tcp.server[0] == '\0',
        .done = g->ops->state(g) == LIVE_PROGRAM_DONE,
        .failed = g->ops->state(g) == LIVE_PROGRAM_FAILED,
        .error = g->ops->error(g),
    };
    snprintf(ret->host, sizeof(ret->host), "%s", g->host_name);
    g->ops->info(g, ret);
    return true;
}
