/* SPDX-License-Identifier: MIT */
/* The world outside: live ports, ping. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/outside.h"
#include "cli/lang/words.h"
#include "cli/live/live.h"
#include "cli/session/advance.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/leaf.h"
#include "emu/wire/addr.h"
#include "emu/wire/icmp.h"
#include "emu/wire/ip.h"
#include "rdmalab/inspect.h"
#include "rdmalab/ip.h"
#include "tree/tree.h"

static bool refuse_in_test(struct session *s, const struct step *st)
{
    session_fail(s, st->at, "a test has no live ports: it would not be the same twice");
    return diag_remedy(&s->diag,
                       "\"rdmalab run FILE --allow programs,ports\" has them, and the prompt");
}

static bool refuse_in_virtual_time(struct session *s, const struct step *st)
{
    session_fail(s, st->at, "%s: not possible in virtual time: it follows the clock of the machine",
                 st->cmd->name);
    return diag_remedy(&s->diag, "start rdmalab without --virtual");
}

bool outside_open(struct session *s, const struct step *st)
{
    RDL_ASSERT(gate_opens_outside(st->cmd)); /* so that gate_pass() has judged it */
    if (s->config.tested && !(st->cmd->flags & CMD_VIRTUAL))
        return refuse_in_test(s, st);
    if (s->config.programs_virtual && !(st->cmd->flags & CMD_VIRTUAL))
        return refuse_in_virtual_time(s, st);
    if (!s->config.live_ops) {
        session_fail(s, st->at, "this program was built without live ports");
        return diag_remedy(&s->diag, "build it with libuv; \"rdmalab doctor\" tells what is there");
    }
    if (!s->outside.live)
        s->outside.live = s->config.live_ops->open(s->lab, s->config.programs_virtual);
    if (s->outside.live)
        return true;
    if (errno != EMFILE && errno != ENFILE)
        return session_fail_status(s, st->at, st->cmd->name, RDL_ERR_NOMEM);
    session_fail(s, st->at, "%s: %s", st->cmd->name, strerror(errno));
    return diag_remedy(&s->diag, "\"ulimit -n\" tells how many files may be open");
}

bool outside_fail(struct session *s, const struct step *st, const struct live_error *e)
{
    session_fail(s, st->at, "%s", e->message);
    return e->remedy[0] ? diag_remedy(&s->diag, "%s", e->remedy) : false;
}

/* Returns true if the port can be joined to its node.  Looks before anything is made outside. */
static bool may_join(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const char *name = step_text(st, "name"), *node = step_text(st, "node");
    char path[TREE_PATH_BYTES], is_text[RDL_VALUE_BYTES];
    struct text is = text_on(is_text, sizeof(is_text));
    struct rdl_value v;
    rdl_port port;
    size_t at;

    if (rdl_inspect(s->lab, node, &v, &at) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "node", 0), node, "no host or switch", &s->diag);
    if (rdl_port_find(s->lab, name, &port) == RDL_OK)
        return true; /* the device of a port that is there may have gone */
    if (rdl_inspect(s->lab, name, &v, &at) == RDL_OK) {
        node_add_text(&is, &v);
        session_fail(s, step_span(st, "name", 0), "%s is the name of %s already", name, is_text);
        return diag_remedy(&s->diag, "choose another name for the device");
    }
    if (!tree_is(s->lab, node, NODE_host) || !tree_child(s->lab, node, CHILD_host_port, path) ||
        !tree_leaf(s->lab, path, LEAF_port_link, &v) || v.text[0] == '\0')
        return true;
    session_fail(s, step_span(st, "node", 0), "%s has one port, and it is linked already", node);
    return diag_remedy(&s->diag, "link the host to a switch, and the device to that");
}

bool run_port(struct session *s, const struct step *st)
{
    struct live_error error;

    if (step_number(st, "kind") == PORT_vm)
        return port_vm(s, st);
    if (!may_join(s, st) || !outside_open(s, st))
        return false;
    if (!s->config.live_ops->tap(s->outside.live, step_text(st, "name"), step_text(st, "node"),
                                 &error))
        return outside_fail(s, st, &error);
    session_lift_limits(s);
    session_say(s, "%s: tap device, linked to %s; the clock follows real time\n",
                step_text(st, "name"), step_text(st, "node"));
    advance_print_messages(s);
    return true;
}

/* Reads to whom a ping goes: to an address, or to the first GID of a host. */
static bool read_station(struct session *s, const struct step *st, uint8_t ret[16])
{
    const struct scope in = session_scope(s);
    uint8_t mac[6];
    rdl_host host;

    if (addr_parse(step_text(st, "to"), ret))
        return true;
    if (!resolve_host(&in, st, "to", &host, &s->diag))
        return false;
    (void)!rdl_host_address(s->lab, host, 0, ret, mac); /* every host has the first */
    return true;
}

enum ping_end { PING_ANSWERED, PING_LOST, PING_FAILED /* s->diag says why */ };

static void say_reply(struct session *s, const struct rdl_ping_result *r, const uint8_t from[16])
{
    char time[32], address[ADDR_TEXT_MAX];
    struct text t = text_on(time, sizeof(time));

    quantity_add_time_short(&t, r->rtt_ns);
    session_say(s, "%u bytes from %s: seq=%u time=%s\n", r->bytes, addr_text(from, address), r->seq,
                time);
}

/* The most data that fits into one packet from @host to @address; 0: the host does not say. */
static uint64_t ping_bytes_max(const struct rdl_lab *lab, const char *host,
                               const uint8_t address[GID_BYTES])
{
    const size_t headers = ip_header_bytes(gid_is_ipv4(address) ? 4 : 6) + ICMP_ECHO_BYTES;
    char net[TREE_PATH_BYTES];
    uint64_t mtu;

    if (!tree_child(lab, host, CHILD_host_net, net))
        return 0;
    mtu = tree_number(lab, net, LEAF_net_mtu);
    return mtu > headers ? mtu - headers : 0;
}

static bool ping_refused(struct session *s, const struct step *st, const struct rdl_ping_config *c,
                         enum rdl_status status)
{
    const char *host = step_text(st, "host");
    const unsigned long long most = ping_bytes_max(s->lab, host, c->address);

    if (status == RDL_ERR_NO_GUEST)
        return limit_fail(s, step_span(st, "host", 0), LIMIT_PINGS, host, status);
    if (status != RDL_ERR_INVAL || c->bytes <= most)
        return limit_fail(s, step_span(st, "to", 0), LIMIT_PINGS, step_text(st, "to"), status);
    session_fail(s, step_span(st, "size", 0),
                 "%u bytes do not fit into one packet: the MTU of %s leaves room for %llu",
                 c->bytes, host, most);
    return diag_remedy(&s->diag, "ping %s %s size=%llu; nothing is cut into fragments here", host,
                       step_text(st, "to"), most);
}

static enum ping_end ping_once(struct session *s, const struct step *st, rdl_host host,
                               const struct rdl_ping_config *c)
{
    struct rdl_ping_result r;
    enum rdl_status status;
    rdl_ping_id ping;

    status = rdl_ping(s->lab, host, c, &ping);
    if (status != RDL_OK) {
        ping_refused(s, st, c, status);
        return PING_FAILED;
    }
    do {
        status = rdl_ping_result(s->lab, ping, &r);
    } while (status == RDL_ERR_BUSY && advance_step(s, RDL_STEP_TICK, st->at).end == ADVANCE_DONE);
    if (status == RDL_ERR_BUSY)
        return PING_FAILED;
    if (status == RDL_OK)
        say_reply(s, &r, c->address);
    else
        session_say(s, "seq=%u: %s\n", r.seq,
                    status == RDL_ERR_TIMEOUT ? "no answer" : rdl_status_str(status));
    return status == RDL_OK ? PING_ANSWERED : PING_LOST;
}

bool run_ping(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    struct rdl_ping_config c = {
        .bytes = (uint32_t)step_number(st, "size"),
        .timeout_ns = step_number(st, "timeout"),
    };
    const uint64_t count = step_number(st, "count"), interval_ns = step_number(st, "interval");
    uint64_t received = 0, sent = 0;
    rdl_host host;

    if (!resolve_host(&in, st, "host", &host, &s->diag) || !read_station(s, st, c.address))
        return false;
    while (sent < count && !session_is_over(s)) {
        const uint64_t next_ns = rdl_now_ns(s->lab) + interval_ns;
        const enum ping_end end = ping_once(s, st, host, &c);

        if (end == PING_FAILED)
            return session_is_over(s);
        sent++;
        received += end == PING_ANSWERED;
        if (sent < count && next_ns > rdl_now_ns(s->lab) &&
            advance_run(s, next_ns, st->at).end == ADVANCE_FAILED)
            return false;
    }
    if (count > 1)
        session_say(s, "%llu sent, %llu received\n", (unsigned long long)sent,
                    (unsigned long long)received);
    if (received == sent)
        return true;
    session_fail(s, step_span(st, "to", 0), "%s: %llu of %llu pings were not answered",
                 step_text(st, "to"), (unsigned long long)(sent - received),
                 (unsigned long long)sent);
    diag_reason(&s->diag, RDL_ERR_TIMEOUT);
    return diag_remedy(&s->diag, "\"why\" tells what became of the last one");
}
