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

/* Errors of the calls, each with what helps there. */
static const struct errno_row attach_errors[] = {
    {EINVAL, "EINVAL", "memory has less than 4 GiB", "attach less"},
    {0},
};
static const struct errno_row unlink_errors[] = {
    {EBUSY, "EBUSY", "a message uses the memory; no other one will, and it goes when that ends",
     "run"},
    {0},
};
static const struct errno_row transfer_errors[] = {
    {EINVAL, "EINVAL", "memory has less than 4 GiB", "send several messages"},
    {EMSGSIZE, "EMSGSIZE", "a message of LNet has at most 1 MiB", "send several messages"},
    {0},
};
static const struct errno_row serve_errors[] = {
    {EBUSY, "EBUSY", "it serves already, until its node stops", "lnet_test it"},
    {ENOMEM, "ENOMEM", "its memory is too small for the requests", "give the host more ram="},
    {0},
};
static const struct errno_row test_errors[] = {
    {EBUSY, "EBUSY", "its batch is full, and has not ended", "run"},
    {ENOMEM, "ENOMEM", "its memory is too small for the RPCs",
     "a smaller concurrency=, or give the host more ram="},
    {0},
};

/* A call of LNet on host @i of parameter `host` of @st. */
struct host_call {
    const struct step *st;
    size_t i;
    const struct errno_row *errors;
};

/* Ends a call of LNet.  Returns true if it succeeded. */
static bool called(struct session *s, const struct host_call *c, enum rdl_status status, int error)
{
    const struct arg *hosts = step_arg(c->st, "host");
    const char *host = hosts->v[c->i].text;
    const struct span at = hosts->n > 1 ? hosts->v[c->i].at : c->st->at;

    switch (status) {
    case RDL_OK:
        return true;
    case RDL_ERR_NOT_FOUND:
        session_fail(s, hosts->v[c->i].at, "%s has no node of LNet", host);
        diag_remedy(&s->diag, "lnet_start %s", host);
        return diag_reason(&s->diag, (uint32_t)status);
    case RDL_ERR_BUSY:
        session_fail(s, hosts->v[c->i].at, "the node of %s is stopping", host);
        diag_remedy(&s->diag, "run");
        return diag_reason(&s->diag, (uint32_t)status);
    case RDL_ERR_ERRNO:
        return verb_fail_errno(s, c->st, at, c->errors, error);
    default:
        return session_fail_status(s, at, c->st->cmd->name, status);
    }
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
    const struct scope in = session_scope(s);

    return rdl_find_host(s->lab, hosts->v[i].text, ret) == RDL_OK ||
           resolve_unknown(&in, hosts->v[i].at, hosts->v[i].text, "no host", &s->diag);
}

/* Calls @one for each host of parameter `host` of @st, when all of them are known. */
static bool for_each_host(struct session *s, const struct step *st,
                          bool (*one)(struct session *s, const struct host_call *c, rdl_host host))
{
    const size_t n = step_arg(st, "host")->n;
    rdl_host host;

    for (size_t i = 0; i < n; i++) {
        if (!nth_host(s, st, "host", i, &host))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct host_call c = {st, i, serve_errors}; /* the others have no errnos */

        if (!nth_host(s, st, "host", i, &host) || !one(s, &c, host)) {
            s->diag.partly = i > 0;
            return false;
        }
    }
    return true;
}

static bool start_one(struct session *s, const struct host_call *c, rdl_host host)
{
    const struct value *at = &step_arg(c->st, "host")->v[c->i];
    struct rdl_lnet_config config;
    enum rdl_status status;

    read_config(c->st, &config);
    status = rdl_lnet_start(s->lab, host, &config);
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, at->at, "%s has no IPv4 address, which would be its NID", at->text);
        diag_remedy(&s->diag, "give it one in entry 0 of its GID table: host %s ip=10.0.0.1",
                    at->text);
        return diag_reason(&s->diag, (uint32_t)status);
    }
    if (status != RDL_ERR_EXISTS)
        return called(s, c, status, 0);
    session_fail(s, at->at, "%s has a node of LNet", at->text);
    diag_remedy(&s->diag, "lnet_stop %s, then run", at->text);
    return diag_reason(&s->diag, (uint32_t)status);
}

bool run_lnet_start(struct session *s, const struct step *st)
{
    if (step_number(st, "rules") == LNET_RULES_2007 && number(st, "version", 0x11) != 0x11) {
        session_fail(s, step_span(st, "version", 0), "in 2007 there was only version 0x11");
        return diag_remedy(&s->diag, "leave out version=, or rules=");
    }
    return for_each_host(s, st, start_one);
}

static bool stop_one(struct session *s, const struct host_call *c, rdl_host host)
{
    return called(s, c, rdl_lnet_stop(s->lab, host), 0);
}

bool run_lnet_stop(struct session *s, const struct step *st)
{
    return for_each_host(s, st, stop_one);
}

static bool serve_one(struct session *s, const struct host_call *c, rdl_host host)
{
    const struct step *st = c->st;
    int error = 0;
    const enum rdl_status status = rdl_lnet_serve(
        s->lab, host, number(st, "offset", 0), number(st, "frag", 0), number(st, "gap", 0), &error);

    return called(s, c, status, error);
}

bool run_lnet_serve(struct session *s, const struct step *st)
{
    return for_each_host(s, st, serve_one);
}

/* Fails if @peer, at @at in the line, is @home itself. */
static bool is_another(struct session *s, const struct home *home, rdl_host peer, struct span at)
{
    if (peer.raw != home->host.raw)
        return true;
    session_fail(s, at, "%s does not send to itself: its LNet has no loopback, 0@lo", home->name);
    return diag_remedy(&s->diag, "name another host");
}

/* Finds the peers of a test. */
static bool read_peers(struct session *s, const struct step *st, const struct home *home,
                       rdl_host ret[RDL_LNET_PEERS_MAX])
{
    const struct arg *to = step_arg(st, "to");
    const uint64_t concurrency = step_number(st, "concurrency");

    if (to->n > RDL_LNET_PEERS_MAX)
        return session_fail(s, to->v[RDL_LNET_PEERS_MAX].at, "more than %u peers",
                            RDL_LNET_PEERS_MAX);
    for (size_t i = 0; i < to->n; i++) {
        if (!nth_host(s, st, "to", i, &ret[i]) || !is_another(s, home, ret[i], to->v[i].at))
            return false;
    }
    if (to->n * concurrency <= RDL_LNET_RPCS_MAX)
        return true;
    session_fail(s, step_span(st, "concurrency", 0),
                 "%zu peers with %" PRIu64 " RPCs at a time each: a test has at most %u", to->n,
                 concurrency, RDL_LNET_RPCS_MAX);
    return diag_remedy(&s->diag, "concurrency=%zu", RDL_LNET_RPCS_MAX / to->n);
}

bool run_lnet_test(struct session *s, const struct step *st)
{
    const struct host_call c = {st, 0, test_errors};
    rdl_host peers[RDL_LNET_PEERS_MAX];
    const struct rdl_lnet_test test = {.peers = peers,
                                       .n_peers = step_arg(st, "to")->n,
                                       .op = (uint32_t)step_number(st, "op"),
                                       .size = (uint32_t)step_number(st, "size"),
                                       .concurrency = (uint32_t)step_number(st, "concurrency"),
                                       .timeout_ns = step_number(st, "timeout"),
                                       .count = step_number(st, "count"),
                                       .seed = step_number(st, "seed"),
                                       .offset = number(st, "offset", 0),
                                       .frag_bytes = number(st, "frag", 0),
                                       .gap = number(st, "gap", 0)};
    struct home home;
    enum rdl_status status;
    int error = 0;

    if (!verb_home(s, st, &home) || !read_peers(s, st, &home, peers))
        return false;
    status = rdl_lnet_test(s->lab, home.host, &test, &error);
    return called(s, &c, status, error);
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
        if (m.mr.raw && m.host.raw != home->host.raw) {
            session_fail(s, a->v[i].at, "memory of another host");
            return diag_remedy(&s->diag, "name memory of %s", home->name);
        }
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
    return called(s, &(struct host_call){st, 0, attach_errors}, status, error);
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
    if (called(s, &(struct host_call){st, 0, unlink_errors}, status, error))
        return true;
    s->diag.partly = status == RDL_ERR_ERRNO; /* EBUSY: it is not attached any more */
    return false;
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
    bool is_bound;
    int error = 0, ignored;

    if (!verb_home(s, st, &home) || !resolve_host(&in, st, peer, &c.peer, &s->diag) ||
        !is_another(s, &home, c.peer, step_span(st, peer, 0)) ||
        !read_pieces(s, st, &home, pieces, &md.n))
        return false;
    if (call == rdl_lnet_put) { /* lnet_get has no such parameters */
        c.hdr_data = step_number_or(st, "hdr_data", 0);
        c.wants_ack = step_has(st, "ack");
    }
    status = rdl_lnet_bind(s->lab, home.host, &md, &c.md, &error);
    is_bound = status == RDL_OK;
    if (is_bound) {
        status = call(s->lab, home.host, &c, &error);
        if (status != RDL_OK)
            (void)!rdl_lnet_unlink(s->lab, home.host, c.md, &ignored);
    }
    if (called(s, &(struct host_call){st, 0, transfer_errors}, status, error))
        return true;
    s->diag.partly = is_bound; /* the number of the memory is used up */
    return false;
}

bool run_lnet_put(struct session *s, const struct step *st)
{
    return transfer(s, st, "to", rdl_lnet_put);
}

bool run_lnet_get(struct session *s, const struct step *st)
{
    return transfer(s, st, "from", rdl_lnet_get);
}
