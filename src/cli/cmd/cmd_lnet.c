/* SPDX-License-Identifier: MIT */
/* The commands of LNet. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/session/resolve.h"
#include "emu/facts/enum/lnet_map.h"
#include "rdmalab/lnet.h"

/* Fails because the host that parameter @param names has no node. */
static bool no_node(struct session *s, const struct step *st, const char *param)
{
    const char *host = step_text(st, param);

    session_fail(s, step_span(st, param, 0), "%s has no node of LNet", host);
    return diag_remedy(&s->diag, "lnet_start %s", host);
}

static const struct errno_row errors[] = {
    {EINVAL, "EINVAL", "the portal, the peer or the memory cannot be used so",
     "a node does not send to itself, and memory that is attached has for=put or for=get"},
    {EBUSY, "EBUSY", "it is still in use", "run"},
    {EMSGSIZE, "EMSGSIZE", "a message of LNet has at most 1 MiB", "send several"},
    {ENOMEM, "ENOMEM", "memory is short", "give the host more ram="},
    {0},
};

/* Ends a call of LNet.  Returns true if it succeeded. */
static bool called(struct session *s, const struct step *st, enum rdl_status status, int error)
{
    if (status == RDL_OK)
        return true;
    if (status == RDL_ERR_NOT_FOUND)
        return no_node(s, st, "host");
    if (status != RDL_ERR_ERRNO)
        return session_fail_status(s, st->at, st->cmd->name, status);
    return verb_fail_errno(s, st, errors, error);
}

static uint32_t number(const struct step *st, const char *key, uint32_t otherwise)
{
    return (uint32_t)step_number_or(st, key, otherwise);
}

static void read_config(const struct step *st, struct rdl_lnet_config *c)
{
    const bool kernel = step_number(st, "profile") == LNET_PROFILE_kernel;

    *c = rdl_lnet_defaults(step_number(st, "rules") == LNET_RULES_2007);
    c->version = (uint16_t)number(st, "version", c->version);
    c->map = number(st, "map", kernel ? LNET_MAP_dma : LNET_MAP_growing);
    c->frag_bytes = number(st, "frag", 0);
    c->max_frags = number(st, "max_frags", c->max_frags);
    c->race_by_hash = step_number(st, "race") == LNET_RACE_hash;
    c->big_endian = step_number(st, "endian") == LNET_ENDIAN_big;
    c->cksum = step_has(st, "cksum");
    c->net = number(st, "net", 0);
    c->stamp = number(st, "stamp", 0);
    c->service = (uint16_t)number(st, "service", c->service);
    c->peer_credits = number(st, "peer_credits", c->peer_credits);
    c->peer_credits_hiw = number(st, "peer_credits_hiw", c->peer_credits_hiw);
    c->credits = number(st, "credits", c->credits);
    c->ntx = number(st, "ntx", c->ntx);
    c->concurrent_sends = number(st, "concurrent_sends", 0);
    c->timeout_ns = step_number_or(st, "timeout", c->timeout_ns);
    c->keepalive_ns = step_number_or(st, "keepalive", 0);
}

/* Finds host @i of parameter @param of @st. */
static bool nth_host(struct session *s, const struct step *st, const char *param, size_t i,
                     rdl_host *ret)
{
    const struct arg *hosts = step_arg(st, param);

    return rdl_find_host(s->lab, hosts->v[i].text, ret) == RDL_OK ||
           session_fail(s, hosts->v[i].at, "no host is called %s", hosts->v[i].text);
}

static bool start_one(struct session *s, const struct step *st, size_t i,
                      const struct rdl_lnet_config *c)
{
    const struct arg *hosts = step_arg(st, "host");
    rdl_host host;
    enum rdl_status status;

    if (!nth_host(s, st, "host", i, &host))
        return false;
    status = rdl_lnet_start(s->lab, host, c);
    if (status == RDL_OK)
        return true;
    if (status != RDL_ERR_EXISTS)
        return session_fail_status(s, hosts->v[i].at, hosts->v[i].text, status);
    session_fail(s, hosts->v[i].at, "%s has a node of LNet", hosts->v[i].text);
    return diag_remedy(&s->diag, "lnet_stop %s, then run", hosts->v[i].text);
}

bool run_lnet_start(struct session *s, const struct step *st)
{
    struct rdl_lnet_config c;

    read_config(st, &c);
    for (size_t i = 0; i < step_arg(st, "host")->n; i++) {
        if (!start_one(s, st, i, &c))
            return false;
    }
    return true;
}

bool run_lnet_stop(struct session *s, const struct step *st)
{
    for (size_t i = 0; i < step_arg(st, "host")->n; i++) {
        rdl_host host;
        enum rdl_status status;

        if (!nth_host(s, st, "host", i, &host))
            return false;
        status = rdl_lnet_stop(s->lab, host);
        if (status != RDL_OK)
            return called(s, st, status, 0);
    }
    return true;
}

bool run_lnet_serve(struct session *s, const struct step *st)
{
    for (size_t i = 0; i < step_arg(st, "host")->n; i++) {
        rdl_host host;
        enum rdl_status status;
        int error = 0;

        if (!nth_host(s, st, "host", i, &host))
            return false;
        status = rdl_lnet_serve(s->lab, host, number(st, "offset", 0), number(st, "frag", 0),
                                number(st, "gap", 0), &error);
        if (status != RDL_OK)
            return called(s, st, status, error);
    }
    return true;
}

bool run_lnet_test(struct session *s, const struct step *st)
{
    rdl_host peers[RDL_LNET_PEERS_MAX];
    const struct arg *to = step_arg(st, "to");
    const struct rdl_lnet_test test = {.peers = peers,
                                       .n_peers = to->n,
                                       .op = (uint32_t)step_number(st, "op"),
                                       .size = (uint32_t)step_number(st, "size"),
                                       .concurrency = (uint32_t)step_number(st, "concurrency"),
                                       .count = step_number(st, "count"),
                                       .seed = step_number(st, "seed"),
                                       .offset = number(st, "offset", 0),
                                       .frag_bytes = number(st, "frag", 0),
                                       .gap = number(st, "gap", 0)};
    struct home home;
    enum rdl_status status;
    int error = 0;

    if (!verb_home(s, st, &home))
        return false;
    if (to->n > RDL_LNET_PEERS_MAX)
        return session_fail(s, to->v[RDL_LNET_PEERS_MAX].at, "more than %u peers",
                            RDL_LNET_PEERS_MAX);
    for (size_t i = 0; i < to->n; i++) {
        if (!nth_host(s, st, "to", i, &peers[i]))
            return false;
    }
    status = rdl_lnet_test(s->lab, home.host, &test, &error);
    return called(s, st, status, error);
}

/* Reads the memory in parameter sge of @st, which is of @home. */
static bool read_pieces(struct session *s, const struct step *st, const struct home *home,
                        struct rdl_lnet_piece *ret, size_t *ret_n)
{
    const struct arg *a = step_arg(st, "sge");
    const struct scope in = session_scope(s);
    char host[RDL_NAME_BYTES];
    const struct scope rest = resolve_rest(&in, home->name, host);

    if (a->n > RDL_LNET_PIECES_MAX)
        return session_fail(s, a->v[RDL_LNET_PIECES_MAX].at, "more than %u pieces of memory",
                            RDL_LNET_PIECES_MAX);
    for (size_t i = 0; i < a->n; i++) {
        struct memory m;

        if (!resolve_memory(&rest, st, "sge", i, &m, &s->diag))
            return false;
        if (!m.has_bytes) {
            session_fail(s, a->v[i].at, "a length is missing");
            return diag_remedy(&s->diag, "write a slice like mr[0:64]");
        }
        if (m.mr.raw && m.host.raw != home->host.raw)
            return session_fail(s, a->v[i].at, "memory of another host");
        ret[i] = (struct rdl_lnet_piece){m.addr, m.bytes};
    }
    *ret_n = a->n;
    return true;
}

bool run_lnet_attach(struct session *s, const struct step *st)
{
    struct rdl_lnet_piece pieces[RDL_LNET_PIECES_MAX];
    struct rdl_lnet_md md = {.pieces = pieces};
    struct rdl_lnet_match match = {.portal = number(st, "portal", 0),
                                   .bits = step_number(st, "bits"),
                                   .ignore = step_number(st, "ignore")};
    const struct scope in = session_scope(s);
    struct home home;
    enum rdl_status status;
    uint64_t handle;
    int error = 0;

    if (!verb_home(s, st, &home) || !read_pieces(s, st, &home, pieces, &md.n))
        return false;
    if (step_has(st, "from") && !resolve_host(&in, st, "from", &match.from, &s->diag))
        return false;
    md.options = step_has(st, "for") ? step_set(st, "for") : RDL_LNET_PUT;
    md.options |= step_has(st, "truncate") ? RDL_LNET_TRUNCATE : 0;
    md.options |= step_has(st, "manage_remote") ? RDL_LNET_MANAGE_REMOTE : 0;
    md.options |= step_has(st, "noack") ? RDL_LNET_NO_ACK : 0;
    md.threshold = number(st, "threshold", 0);
    status = rdl_lnet_attach(s->lab, home.host, &match, &md, &handle, &error);
    return called(s, st, status, error);
}

bool run_lnet_unlink(struct session *s, const struct step *st)
{
    struct home home;
    enum rdl_status status;
    int error = 0;

    if (!verb_home(s, st, &home))
        return false;
    status = rdl_lnet_unlink(s->lab, home.host, step_number(st, "memory"), &error);
    if (status == RDL_ERR_ERRNO && error == ENOENT) {
        const struct arg *memory = step_arg(st, "memory");

        session_fail(s, memory->v[0].at, "lnet_unlink: ENOENT: %s has no memory %" PRIu64,
                     step_arg(st, "host")->v[0].text, step_number(st, "memory"));
        return diag_remedy(&s->diag, "\"show %s.lnet.memory\" lists what there is",
                           step_arg(st, "host")->v[0].text);
    }
    return called(s, st, status, error);
}

/* A PUT or a GET: binds the memory for one operation, and calls @call. */
static bool transfer(struct session *s, const struct step *st, const char *peer,
                     enum rdl_status (*call)(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_lnet_call *c, int *reterr))
{
    struct rdl_lnet_piece pieces[RDL_LNET_PIECES_MAX];
    struct rdl_lnet_md md = {.pieces = pieces, .threshold = 1};
    struct rdl_lnet_call c = {.portal = number(st, "portal", 0),
                              .bits = step_number(st, "bits"),
                              .offset = number(st, "offset", 0)};
    const struct scope in = session_scope(s);
    struct home home;
    enum rdl_status status;
    int error = 0, ignored;

    if (!verb_home(s, st, &home) || !resolve_host(&in, st, peer, &c.peer, &s->diag) ||
        !read_pieces(s, st, &home, pieces, &md.n))
        return false;
    if (call == rdl_lnet_put) { /* lnet_get has no such parameters */
        c.hdr_data = step_number_or(st, "hdr_data", 0);
        c.wants_ack = step_has(st, "ack");
    }
    status = rdl_lnet_bind(s->lab, home.host, &md, &c.md, &error);
    if (status == RDL_OK) {
        status = call(s->lab, home.host, &c, &error);
        if (status != RDL_OK)
            (void)!rdl_lnet_unlink(s->lab, home.host, c.md, &ignored);
    }
    return called(s, st, status, error);
}

bool run_lnet_put(struct session *s, const struct step *st)
{
    return transfer(s, st, "to", rdl_lnet_put);
}

bool run_lnet_get(struct session *s, const struct step *st)
{
    return transfer(s, st, "from", rdl_lnet_get);
}
