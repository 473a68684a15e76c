/* SPDX-License-Identifier: MIT */
/* The world outside: live ports, programs, ping. */
#include <string.h>

#include "cli/advance.h"
#include "cli/dispatch.h"
#include "cli/live.h"
#include "cli/pingpong.h"
#include "cli/resolve.h"
#include "cli/words.h"
#include "emu/base/quantity.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"
#include "rdmalab/ip.h"

#define PINGPONG_SIZE     4096u
#define PINGPONG_ITERS    1000u
#define PINGPONG_RX_DEPTH 500u
#define PING_BYTES        56u

static bool open_live(struct session *s, const struct step *st)
{
    if (!s->config.live_ops) {
        session_fail(s, st->at, "this program was built without live ports");
        return diag_remedy(&s->diag, "build it with libuv; \"rdmalab doctor\" tells what is there");
    }
    if (!s->live)
        s->live = s->config.live_ops->open(s->lab, s->config.out);
    return s->live || session_fail_status(s, st->at, st->cmd->name, RDL_ERR_NOMEM);
}

static bool outside_failed(struct session *s, const struct step *st, const struct live_error *e)
{
    session_fail(s, st->at, "%s", e->message);
    return e->remedy[0] ? diag_remedy(&s->diag, "%s", e->remedy) : false;
}

bool run_port(struct session *s, const struct step *st)
{
    struct live_error error;

    if (!open_live(s, st))
        return false;
    if (!s->config.live_ops->tap(s->live, step_text(st, "name"), step_text(st, "node"), &error))
        return outside_failed(s, st, &error);
    s->limits.ticks = 0; /* real time has no end; a scenario may still limit it */
    session_say(s, "%s: tap device, linked to %s; the clock follows real time\n",
                step_text(st, "name"), step_text(st, "node"));
    return true;
}

bool run_program(struct session *s, const struct step *st)
{
    const bool server = step_number(st, "role", ROLE_server) == ROLE_server;
    const char *machine = step_text(st, "server");
    struct pingpong_config c = {
        .port = (uint16_t)step_number(st, "tcp_port", PINGPONG_PORT),
        .size = (uint32_t)step_number(st, "size", PINGPONG_SIZE),
        .iters = (uint32_t)step_number(st, "iters", PINGPONG_ITERS),
        .mtu = (uint32_t)step_number(st, "mtu", MTU_1024),
        .rx_depth = (uint32_t)step_number(st, "rx_depth", PINGPONG_RX_DEPTH),
        .use_events = step_has(st, "events"),
        .gid_index = (uint32_t)step_number(st, "gid_index", 0),
        .psn = (uint32_t)step_number(st, "psn", 0) & PSN_MASK,
        .check = !step_has(st, "nocheck"),
    };
    struct live_error error;

    if (!open_live(s, st) || !resolve_host(s, st, "host", &c.host))
        return false;
    if (server && machine) {
        session_fail(s, step_span(st, "server", 0), "a server waits, it does not connect");
        return diag_remedy(&s->diag, "leave \"%s\" out, or say client", machine);
    }
    machine = machine ? machine : "localhost";
    if (strlen(machine) >= sizeof(c.server))
        return session_fail(s, step_span(st, "server", 0), "the name is too long");
    if (!server)
        memcpy(c.server, machine, strlen(machine) + 1);
    if (!s->config.live_ops->pingpong(s->live, &c, &error))
        return outside_failed(s, st, &error);
    s->limits.ticks = 0;
    return true;
}

bool run_ping(struct session *s, const struct step *st)
{
    struct rdl_ping_config c = {
        .bytes = (uint32_t)step_number(st, "size", PING_BYTES),
        .timeout_ns = step_number(st, "timeout", 0),
    };
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_ping_result r;
    enum rdl_status status;
    rdl_ping_id ping;
    rdl_host host;

    if (!resolve_host(s, st, "host", &host))
        return false;
    (void)addr_parse(step_text(st, "address"), c.address); /* the parser has checked it */
    status = rdl_ping(s->lab, host, &c, &ping);
    if (status != RDL_OK)
        return session_fail_status(s, step_span(st, "address", 0), step_text(st, "address"),
                                   status);
    do {
        status = rdl_ping_result(s->lab, ping, &r);
    } while (status == RDL_ERR_BUSY && advance_step(s, RDL_STEP_TICK, st->at) == ADVANCE_DONE);
    if (status == RDL_ERR_BUSY)
        return false; /* s->diag says why it did not go on */
    if (status != RDL_OK) {
        session_fail(s, step_span(st, "address", 0), "no answer from %s: %s",
                     step_text(st, "address"), rdl_status_str(status));
        return diag_remedy(&s->diag, "\"show events last 20\" tells how far it came");
    }
    quantity_add_time_short(&t, r.rtt_ns);
    session_say(s, "%u bytes from %s: seq=%u time=%s\n", r.bytes, step_text(st, "address"), r.seq,
                buf);
    return true;
}
