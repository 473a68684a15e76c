/* SPDX-License-Identifier: MIT */
/* Programs of hosts. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/outside.h"
#include "cli/lang/words.h"
#include "cli/live/live.h"
#include "cli/programs/pingpong.h"
#include "cli/programs/verbs_peer.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/leaf.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"
#include "rdmalab/ip.h"
#include "tree/tree.h"

#define PROGRAM_SERVER_BYTES 64u
#define PROGRAM_SILENCE_NS   UINT64_C(90000000000)

/* Reads the machine of a client's server; "" for a server. */
static bool read_server(struct session *s, const struct step *st, char *ret, size_t cap)
{
    const bool server = step_number(st, "role") == ROLE_server;
    const char *machine = step_text(st, "server");

    if (server && machine) {
        session_fail(s, step_span(st, "server", 0), "a server waits, it does not connect");
        return diag_remedy(&s->diag, "leave \"%s\" out, or say client", machine);
    }
    if (!machine)
        machine = "localhost";
    if (strlen(machine) >= cap)
        return session_fail(s, step_span(st, "server", 0), "the name is too long");
    snprintf(ret, cap, "%s", server ? "" : machine);
    return true;
}

/* Reads on which address of the machine a server listens; "" is its loopback. */
static bool read_listen(struct session *s, const struct step *st, char ret[ADDR_TEXT_MAX])
{
    const char *address = step_text(st, "listen");

    if (address && step_number(st, "role") != ROLE_server) {
        session_fail(s, step_span(st, "listen", 0), "a client connects, it does not listen");
        return diag_remedy(&s->diag, "leave listen= out, or say server");
    }
    snprintf(ret, ADDR_TEXT_MAX, "%s", address ? address : "");
    return true;
}

/* A program draws its first PSN, as the original does. */
static uint32_t random_psn(void)
{
    uint32_t psn = 0;

    if (getentropy(&psn, sizeof(psn)) != 0)
        psn = 0;
    return psn & PSN_MASK;
}

/* The programs that have a parameter, as bits by enum program.  All have a parameter without a row.
 */
#define BIT(program) (1u << PROGRAM_##program)
#define CONNECTED    (BIT(rc_pingpong) | BIT(uc_pingpong) | BIT(srq_pingpong))
#define PINGPONGS    (CONNECTED | BIT(ud_pingpong))

static const struct {
    const char *param;
    unsigned programs;
} own_params[] = {
    {"size", PINGPONGS},           {"iters", PINGPONGS},   {"mtu", CONNECTED},
    {"rx_depth", PINGPONGS},       {"events", PINGPONGS},  {"sl", PINGPONGS},
    {"check", BIT(rc_pingpong)},   {"nocheck", PINGPONGS}, {"lines", BIT(verbs_peer)},
    {"num_qp", BIT(srq_pingpong)},
};

static bool has_its_own(struct session *s, const struct step *st)
{
    const uint32_t program = (uint32_t)step_number(st, "name");

    for (size_t i = 0; i < ARRAY_LEN(own_params); i++) {
        const char *param = own_params[i].param;

        if (own_params[i].programs & 1u << program || !step_has(st, param))
            continue;
        session_fail(s, step_span(st, param, 0), "%s has no %s", enum_name(&words_program, program),
                     param);
        return diag_remedy(&s->diag, program == PROGRAM_verbs_peer
                                         ? "leave it out: the file of lines= says what is done"
                                         : "leave it out: it is another program's");
    }
    if (program != PROGRAM_verbs_peer || step_has(st, "lines"))
        return true;
    session_fail(s, st->at, "verbs_peer needs lines=FILE");
    return diag_remedy(&s->diag, "docs/verbs_peer.md says what a file can have");
}

/* Parameters that every program has. */
struct program_start {
    rdl_host host;
    uint16_t port;
    uint32_t gid_index, psn;
    struct patience patience;
    char server[PROGRAM_SERVER_BYTES], listen[ADDR_TEXT_MAX];
};

static bool read_start(struct session *s, const struct step *st, struct program_start *ret)
{
    const struct scope in = session_scope(s);
    uint8_t gid[16], mac[6];

    ret->port = (uint16_t)step_number(st, "tcp_port");
    ret->gid_index = (uint32_t)step_number(st, "gid_index");
    ret->psn = (uint32_t)step_number_or(st, "psn", random_psn());
    ret->patience.silence_ns = step_number_or(st, "timeout", PROGRAM_SILENCE_NS);
    ret->patience.client_ns = step_number_or(st, "timeout", 0);
    if (!resolve_host(&in, st, "host", &ret->host, &s->diag) ||
        !read_server(s, st, ret->server, sizeof(ret->server)) || !read_listen(s, st, ret->listen))
        return false;
    if (rdl_host_address(s->lab, ret->host, ret->gid_index, gid, mac) == RDL_OK)
        return true;
    session_fail(s, step_span(st, "gid_index", 0), "%s has no GID %u", step_text(st, "host"),
                 ret->gid_index);
    return diag_remedy(&s->diag, "\"show %s.gid\" lists them", step_text(st, "host"));
}

/* Checks what the original programs check before they begin: each queue pair can have a receive,
 * and a datagram fits in one packet of the port.
 */
static bool numbers_fit(struct session *s, const struct step *st, const struct pingpong_config *c)
{
    char port[TREE_PATH_BYTES];
    unsigned long long most;

    if (c->n_qp > c->rx_depth) {
        session_fail(s, step_span(st, "name", 0), "rx_depth %u is too small for %u QPs",
                     c->rx_depth, c->n_qp);
        return diag_remedy(&s->diag, "there must be at least one receive for each: -r %u", c->n_qp);
    }
    if (c->kind->qp_type != QPT_UD || !tree_child(s->lab, c->host_name, CHILD_host_port, port))
        return true;
    most = tree_number(s->lab, port, LEAF_port_mtu);
    if (c->size <= most)
        return true;
    session_fail(s, step_span(st, step_has(st, "size") ? "size" : "name", 0),
                 "Requested size larger than port MTU (%llu)", most);
    return diag_remedy(&s->diag, "a datagram is one packet: -s %llu", most);
}

static bool start_pingpong(struct session *s, const struct step *st,
                           const struct program_start *start)
{
    const struct pingpong_kind *kind = pingpong_kind((uint32_t)step_number(st, "name"));
    struct pingpong_config c = {
        .kind = kind,
        .host = start->host,
        .port = start->port,
        .size = (uint32_t)step_number_or(st, "size", kind->size),
        .iters = (uint32_t)step_number(st, "iters"),
        .n_qp = (uint32_t)step_number_or(st, "num_qp", kind->n_qp),
        .mtu = (uint32_t)step_number(st, "mtu"),
        .rx_depth = (uint32_t)step_number(st, "rx_depth"),
        .use_events = step_has(st, "events"),
        .gid_index = start->gid_index,
        .sl = (uint8_t)step_number(st, "sl"),
        .psn = start->psn,
        .check = !step_has(st, "nocheck"),
        .patience = start->patience,
    };
    struct live_error error;

    memcpy(c.server, start->server, sizeof(c.server));
    memcpy(c.listen, start->listen, sizeof(c.listen));
    snprintf(c.host_name, sizeof(c.host_name), "%s", step_text(st, "host"));
    return numbers_fit(s, st, &c) && (s->config.live_ops->pingpong(s->outside.live, &c, &error) ||
                                      outside_fail(s, st, &error));
}

static bool start_verbs_peer(struct session *s, const struct step *st,
                             const struct program_start *start)
{
    struct verbs_peer_config c = {
        .host = start->host,
        .port = start->port,
        .gid_index = start->gid_index,
        .psn = start->psn,
        .patience = start->patience,
    };
    struct live_error error;
    FILE *lines;

    if (!gate_read(s, st, "lines", &lines))
        return false;
    memcpy(c.server, start->server, sizeof(c.server));
    memcpy(c.listen, start->listen, sizeof(c.listen));
    snprintf(c.host_name, sizeof(c.host_name), "%s", step_text(st, "host"));
    if (s->config.live_ops->verbs_peer(s->outside.live, &c, lines, &error))
        return true; /* cppcheck-suppress resourceLeak ; the program closes its lines */
    fclose(lines);
    return outside_fail(s, st, &error);
}

bool run_program(struct session *s, const struct step *st)
{
    struct program_start start;
    bool ok;

    if (!has_its_own(s, st) || !outside_open(s, st) || !read_start(s, st, &start))
        return false;
    ok = step_number(st, "name") == PROGRAM_verbs_peer ? start_verbs_peer(s, st, &start)
                                                       : start_pingpong(s, st, &start);
    if (ok)
        session_lift_limits(s);
    return ok;
}
