/* SPDX-License-Identifier: MIT */
/* The drill of LNet: the messages of the driver.  Credits of each end of a connection are counted
 * from what was sent and received alone; then the tree must say the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/min.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/lnet_map.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/trace/event.h"
#include "emu/wire/lnet.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/drill_lnet.h"

/* --- Connections ------------------------------------------------------------------------------ */

static unsigned index_of(const struct lnets *s, uint32_t host)
{
    return host + 1 - (unsigned)s->host[0].host.raw;
}

unsigned ln_host_of(const struct lnets *s, const char *nid)
{
    char text[LNET_NID_TEXT_MAX];

    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (strcmp(nid, lnet_nid_text(ln_nid(s, i), text)) == 0)
            return i;
    }
    return LN_ANY;
}

static struct ln_conn *conn_of(struct lnets *s, unsigned host, uint32_t qpn)
{
    for (uint32_t i = 0; i < LN_CONNS; i++) {
        struct ln_conn *c = &s->conns[i];

        if (c->is_open && c->host == host && c->qpn == qpn)
            return c;
    }
    return NULL;
}

static bool is_version_1(const struct lnets *s, const struct ln_conn *c)
{
    return ln_version(s, c->host, c->peer) == LNET_VERSION_1;
}

static bool is_request(uint32_t message)
{
    return message == LNET_MSG_PUT_REQ || message == LNET_MSG_GET_REQ;
}

/* Returns true if @message costs a credit on @c. */
static bool costs(const struct lnets *s, const struct ln_conn *c, uint32_t message)
{
    return is_request(message) || message == LNET_MSG_IMMEDIATE ||
           (message == LNET_MSG_NOOP && is_version_1(s, c));
}

static void open_conn(struct drill *d, unsigned host, unsigned peer, uint32_t qpn, uint32_t depth)
{
    struct lnets *s = lnets_of(d);
    struct ln_conn *c = s->conns;

    if (!drill_expect(d, peer < s->n_hosts && peer != host, "a connection is with another node",
                      "h%u, QPN %u", host + 1, qpn) ||
        !drill_expect(d, ln_is_depth(s, host, peer, depth),
                      "the queue depth is the smaller one of both nodes", "h%u and h%u: %u",
                      host + 1, peer + 1, depth))
        return;
    while (c < &s->conns[LN_CONNS] && c->is_open)
        c++;
    if (!drill_expect(d, c < &s->conns[LN_CONNS], "the drill remembers every open connection",
                      "more than %u", LN_CONNS))
        return;
    *c = (struct ln_conn){.is_open = true,
                          .host = host,
                          .peer = peer,
                          .qpn = qpn,
                          .depth = depth,
                          .credits = depth,
                          .reserved = depth};
}

void ln_hear_state(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    const unsigned host = index_of(s, e->u.lnet_state.host);
    struct ln_conn *c = conn_of(s, host, e->u.lnet_state.qpn);

    if (e->u.lnet_state.state == LND_CONN_ESTABLISHED) {
        open_conn(d, host, ln_host_of(s, e->u.lnet_state.nid.s), e->u.lnet_state.qpn,
                  e->u.lnet_state.credits);
    } else if (e->u.lnet_state.state >= LND_CONN_CLOSING && c) {
        c->is_open = false;
        drill_expect(d, s->mood == LN_ROUGH || s->is_ending,
                     "a connection stays while nothing fails", "h%u, errno %u", host + 1,
                     e->u.lnet_state.error);
    }
}

/* A request for a connection was rejected. */
void ln_hear_reject(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    const unsigned host = index_of(s, e->u.lnet_reject.host);
    const unsigned peer = ln_host_of(s, e->u.lnet_reject.nid.s);
    const uint32_t why = e->u.lnet_reject.reason;

    if (peer == LN_ANY)
        return;
    if (e->u.lnet_reject.rejects && why == LNET_WHY_CONN_RACE)
        drill_expect(d, ln_wins(s, host, peer), "the higher node wins a race", "h%u rejects h%u",
                     host + 1, peer + 1);
    if (e->u.lnet_reject.rejects || s->mood == LN_ROUGH ||
        (why != LNET_WHY_MSG_QUEUE_SIZE && why != LNET_WHY_RDMA_FRAGS) ||
        !ln_can_ask(s, host, peer))
        return;
    s->host[host].n_settled[peer]++;
    drill_expect(d, s->host[host].n_settled[peer] <= 2,
                 "a node asks with what its peer has said that it can have", "h%u: %u rejects",
                 host + 1, s->host[host].n_settled[peer]);
}

/* --- Descriptors ------------------------------------------------------------------------------ */

static void grant(struct drill *d, const struct ln_grant *g)
{
    struct lnets *s = lnets_of(d);

    for (uint32_t i = 0; i < LN_GRANTS; i++) {
        if (s->grants[i].is_valid)
            continue;
        s->grants[i] = *g;
        return;
    }
    drill_expect(d, false, "descriptors come back", "%u are in use", LN_GRANTS);
}

/* The transfer of @peer with @cookie, for which @host has received a request. */
static uint32_t transfer_of(const struct lnets *s, unsigned host, unsigned peer, uint64_t cookie)
{
    for (uint32_t i = s->n_ops; i-- > 0;) {
        const struct ln_op *op = &s->ops[i];

        if (op->to == host && op->from == peer && op->cookie == cookie && op->is_received &&
            !op->is_over)
            return i;
    }
    return LN_NONE;
}

void ln_end_grants(struct lnets *s, uint32_t op, unsigned host)
{
    for (uint32_t i = 0; i < LN_GRANTS; i++) {
        struct ln_grant *g = &s->grants[i];

        if (g->is_valid && g->host == host &&
            (g->op == op || (g->op == LN_NONE && s->ops[op].is_get && !s->ops[op].is_received)))
            g->is_valid = false;
    }
}

void ln_hear_region(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    const unsigned host = index_of(s, e->u.lnet_region.host);
    struct ln_host *h = &s->host[host];

    if (!e->u.lnet_region.freed) {
        h->pinned += e->u.lnet_region.bytes;
        h->n_regions++;
        return;
    }
    h->pinned -= e->u.lnet_region.bytes;
    h->n_regions--;
    for (uint32_t i = 0; i < LN_GRANTS; i++) {
        const struct ln_grant *g = &s->grants[i];

        if (!drill_expect(d, !g->is_valid || g->host != host || g->key != e->u.lnet_region.key,
                          "a region stays while a peer has a descriptor of it",
                          "h%u frees key 0x%" PRIx64, host + 1, (uint64_t)e->u.lnet_region.key))
            return;
    }
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Takes the credit of a message out of @c. */
static bool pay(struct drill *d, struct ln_conn *c, uint32_t message)
{
    const struct lnets *s = lnets_of(d);
    const char *name = enum_name(&enum_lnet_msg, message);

    if (!drill_expect(d, c->credits > 0, "a message that costs a credit waits for one", "h%u: %s",
                      c->host + 1, name))
        return false;
    c->credits--;
    if (!drill_expect(d, c->credits > 0 || message == LNET_MSG_NOOP || !is_version_1(s, c),
                      "the last credit of version 1 is kept for a NOOP", "h%u: %s", c->host + 1,
                      name))
        return false;
    if (!is_request(message))
        return true;
    if (!drill_expect(d, c->reserved > 0, "a request waits for a reserved credit", "h%u: %s",
                      c->host + 1, name))
        return false;
    c->reserved--;
    return true;
}

static bool check_noop(struct drill *d, const struct ln_conn *c, uint32_t credits)
{
    return drill_expect(d, credits >= ln_high_water(lnets_of(d), c),
                        "a NOOP returns as many credits as the high water mark says",
                        "h%u: %u of %u", c->host + 1, credits, c->depth);
}

/* Finds the other end of @c, or returns NULL. */
static struct ln_conn *other_end(struct lnets *s, const struct ln_conn *c)
{
    for (uint32_t i = 0; i < LN_CONNS; i++) {
        struct ln_conn *o = &s->conns[i];

        if (o->is_open && o->host == c->peer && o->peer == c->host)
            return o;
    }
    return NULL;
}

/* A NOOP is sent on @c. */
static void count_noop(struct lnets *s, struct ln_conn *c)
{
    const struct ln_conn *o = other_end(s, c);

    c->noops_sent++;
    if (o && !is_version_1(s, c) && c->noops_sent > o->noops_heard + LN_NOOP_RECEIVES)
        c->was_flooded = true;
}

void ln_hear_sent(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    const unsigned host = index_of(s, e->u.lnet_sent.host);
    const uint32_t message = e->u.lnet_sent.message, credits = e->u.lnet_sent.credits;
    struct ln_conn *c = conn_of(s, host, e->u.lnet_sent.qpn);

    if (message < LNET_MSG_NOOP)
        return;
    if (!drill_expect(d, c != NULL, "messages are sent on connections", "h%u, QPN %u", host + 1,
                      e->u.lnet_sent.qpn))
        return;
    c->posted++;
    if (message == LNET_MSG_NOOP)
        count_noop(s, c);
    if ((message == LNET_MSG_NOOP && !check_noop(d, c, credits)) ||
        !drill_expect(d, c->posted <= ln_sends(s, host),
                      "a connection has no more sends posted than its tunable says", "h%u: %u",
                      host + 1, c->posted))
        return;
    if (costs(s, c, message) && !pay(d, c, message))
        return;
    c->returned += credits;
    if (!drill_expect(d, c->returned <= c->costly,
                      "no more credits are returned than messages have cost",
                      "h%u: %u for %u messages", host + 1, c->returned, c->costly))
        return;
    if (e->u.lnet_sent.key)
        grant(d,
              &(struct ln_grant){.is_valid = true,
                                 .host = host,
                                 .peer = c->peer,
                                 .key = e->u.lnet_sent.key,
                                 .op = message == LNET_MSG_GET_REQ
                                           ? LN_NONE
                                           : transfer_of(s, host, c->peer, e->u.lnet_sent.cookie),
                                 .cookie = e->u.lnet_sent.cookie});
}

bool ln_may_lack_receives(struct lnets *s, const struct ev *e)
{
    const struct ln_conn *c = conn_of(s, index_of(s, e->u.rx.host), e->u.rx.qpn);

    return c && c->was_flooded;
}

void ln_hear_completion(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    struct ln_conn *c = conn_of(s, index_of(s, e->u.cqe.host), e->u.cqe.qpn);

    if (c && e->u.cqe.op == WC_SEND && c->posted > 0)
        c->posted--;
}

/* Messages come in the order of the calls, unless some of them wait for a region. */
static bool is_in_order(struct drill *d, uint32_t number)
{
    struct lnets *s = lnets_of(d);
    const struct ln_op *op = &s->ops[number];
    const bool is_small = op->bytes <= LN_IMMEDIATE;
    uint32_t *last = &s->host[op->from].last[op->to][!is_small];
    const uint32_t before = *last;

    *last = number + 1;
    return s->mood == LN_ROUGH || (!is_small && s->host[op->from].config.map != LNET_MAP_dma) ||
           drill_expect(d, number + 1 > before, "messages come in the order of their calls",
                        "h%u to h%u: call %u behind %u", op->from + 1, op->to + 1, number + 1,
                        before);
}

/* A PUT or GET has come. */
static void arrive(struct drill *d, const struct ln_conn *c, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    const uint64_t bits = e->u.lnet_received.bits, number = (bits >> 16) - 1;
    const uint32_t message = e->u.lnet_received.message;
    struct ln_op *op = number < s->n_ops ? &s->ops[number] : NULL;
    bool is_small;

    if (!drill_expect(d, op && op->bits == bits && (op->to == c->host || op->from == c->host),
                      "the match bits of a message are those of a call", "0x%" PRIx64, bits) ||
        op->to != c->host)
        return; /* it is an ACK */
    is_small = op->bytes <= LN_IMMEDIATE;
    if (!drill_expect(d, op->from == c->peer && !op->is_received,
                      "a message comes once, from its initiator", "h%u to h%u", op->from + 1,
                      op->to + 1) ||
        !drill_expect(d,
                      message == (is_small     ? (uint32_t)LNET_MSG_IMMEDIATE
                                  : op->is_get ? (uint32_t)LNET_MSG_GET_REQ
                                               : (uint32_t)LNET_MSG_PUT_REQ),
                      "the size of a message chooses its kind", "%u bytes: %s", op->bytes,
                      enum_name(&enum_lnet_msg, message)))
        return;
    if (!is_in_order(d, (uint32_t)number))
        return;
    op->cookie = e->u.lnet_received.cookie;
    for (uint32_t i = 0; i < LN_GRANTS && op->is_get; i++) {
        struct ln_grant *g = &s->grants[i];

        if (g->is_valid && g->host == op->from && g->peer == op->to && g->op == LN_NONE &&
            g->cookie == op->cookie)
            g->op = (uint32_t)number;
    }
    ln_arrive(s, (uint32_t)number);
}

void ln_hear_received(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);
    const unsigned host = index_of(s, e->u.lnet_received.host);
    const uint32_t message = e->u.lnet_received.message;
    struct ln_conn *c = conn_of(s, host, e->u.lnet_received.qpn);

    if (message < LNET_MSG_NOOP)
        return;
    if (!drill_expect(d, c != NULL, "messages are received on connections", "h%u, QPN %u", host + 1,
                      e->u.lnet_received.qpn))
        return;
    c->credits += e->u.lnet_received.credits;
    c->costly += costs(s, c, message);
    c->noops_heard += message == LNET_MSG_NOOP;
    c->reserved +=
        message == LNET_MSG_PUT_ACK || message == LNET_MSG_PUT_NAK || message == LNET_MSG_GET_DONE;
    d->n_messages +=
        is_request(message) || message == LNET_MSG_IMMEDIATE || message == LNET_MSG_GET_DONE;
    if (!drill_expect(d, c->credits <= c->depth && c->reserved <= c->depth,
                      "nobody has more credits than the queue is deep",
                      "h%u: %u, and %u reserved, of %u", host + 1, c->credits, c->reserved,
                      c->depth))
        return;
    if (e->u.lnet_received.bits)
        arrive(d, c, e);
}

/* --- The tree --------------------------------------------------------------------------------- */

/* Reads leaf @leaf of peer @i of @host.  Returns false if it is not there. */
static bool peer_leaf(struct drill *d, unsigned host, unsigned i, const char *leaf,
                      struct rdl_value *ret)
{
    char path[64];
    size_t at;

    snprintf(path, sizeof(path), "h%u.lnet.peer[%u].%s", host + 1, i, leaf);
    return rdl_inspect(d->lab, path, ret, &at) == RDL_OK;
}

static uint64_t peer_number(struct drill *d, unsigned host, unsigned i, const char *leaf)
{
    struct rdl_value v = {0};

    return peer_leaf(d, host, i, leaf, &v) ? v.number : 0;
}

/* Compares the connection of peer @i with @c. */
static bool check_conn(struct drill *d, unsigned host, unsigned i, const struct ln_conn *c,
                       bool is_quiet)
{
    const uint64_t credits = peer_number(d, host, i, "credits");
    const uint64_t outstanding = peer_number(d, host, i, "outstanding");
    const uint64_t reserved = peer_number(d, host, i, "reserved");
    const uint32_t owed = c->costly - c->returned;

    if (!drill_expect(d, credits == c->credits,
                      "a node has as many credits as its messages leave it",
                      "h%u: %" PRIu64 ", and not %u", host + 1, credits, c->credits) ||
        !drill_expect(d, outstanding <= owed && (!is_quiet || outstanding == owed),
                      "a node owes a credit for each message that it has handled",
                      "h%u: %" PRIu64 " of %u", host + 1, outstanding, owed))
        return false;
    return drill_expect(d, reserved <= c->reserved && (!is_quiet || reserved == c->depth),
                        "a request gives its reserved credit back with its answer",
                        "h%u: %" PRIu64 " of %u", host + 1, reserved, c->reserved);
}

static bool check_quiet_peer(struct drill *d, unsigned host, unsigned i)
{
    static const char *const leaves[] = {"queued", "active", "waiting", "tx_queued"};
    const uint64_t tx = peer_number(d, host, i, "tx_credits");

    for (unsigned k = 0; k < sizeof(leaves) / sizeof(leaves[0]); k++) {
        if (!drill_expect(d, peer_number(d, host, i, leaves[k]) == 0,
                          "no message waits in a lab that is at rest", "h%u: %s", host + 1,
                          leaves[k]))
            return false;
    }
    return drill_expect(d, tx == lnets_of(d)->host[host].config.peer_credits,
                        "messages that are over return the credits of LNet", "h%u: %" PRIu64,
                        host + 1, tx);
}

static bool check_peers(struct drill *d, unsigned host, bool is_quiet)
{
    struct lnets *s = lnets_of(d);
    struct rdl_value nid, qpn;

    for (unsigned i = 0; peer_leaf(d, host, i, "nid", &nid); i++) {
        const struct ln_conn *c;

        if (is_quiet && !check_quiet_peer(d, host, i))
            return false;
        if (!peer_leaf(d, host, i, "qpn", &qpn))
            continue;
        c = conn_of(s, host, (uint32_t)qpn.number);
        if (!drill_expect(d, c && c->peer == ln_host_of(s, nid.text),
                          "a peer has an established connection", "h%u: QPN %" PRIu64, host + 1,
                          qpn.number) ||
            !check_conn(d, host, i, c, is_quiet))
            return false;
    }
    return true;
}

static bool check_regions(struct drill *d, unsigned host, bool is_quiet)
{
    const struct ln_host *h = &lnets_of(d)->host[host];
    uint64_t pinned, n;
    char path[64];

    snprintf(path, sizeof(path), "h%u.lnet.pinned_bytes", host + 1);
    if (!drill_number(d, path, &pinned))
        return false;
    snprintf(path, sizeof(path), "h%u.lnet.regions_now", host + 1);
    if (!drill_number(d, path, &n) ||
        !drill_expect(d, pinned == h->pinned && n == h->n_regions,
                      "a node counts the regions that it has registered and not freed",
                      "h%u: %" PRIu64 " of %" PRIu64 " bytes, and not %u of %" PRIu64, host + 1, n,
                      pinned, h->n_regions, h->pinned))
        return false;
    for (unsigned i = 0; is_quiet && i < n; i++) {
        snprintf(path, sizeof(path), "h%u.lnet.region[%u].users", host + 1, i);
        if (!drill_number_is(d, path, 0, "no message uses a region in a lab that is at rest"))
            return false;
        snprintf(path, sizeof(path), "h%u.lnet.region[%u].current", host + 1, i);
        if (!drill_number_is(d, path, 1, "a region that no message uses is for later ones"))
            return false;
    }
    return true;
}

/* The credits of both ends of all connections between two nodes are as many as were there at first.
 */
static bool check_sum(struct drill *d, unsigned a, unsigned b)
{
    const struct lnets *s = lnets_of(d);
    uint32_t have = 0, want = 0;

    for (uint32_t i = 0; i < LN_CONNS; i++) {
        const struct ln_conn *c = &s->conns[i];

        if (c->is_open && c->host == a && c->peer == b) {
            have += c->credits;
            want += c->depth;
        } else if (c->is_open && c->host == b && c->peer == a) {
            have += c->costly - c->returned;
        }
    }
    return drill_expect(d, have == want, "no credit is lost, and none is made",
                        "from h%u to h%u: %u of %u", a + 1, b + 1, have, want);
}

bool ln_check_tree(struct drill *d, bool is_quiet)
{
    const struct lnets *s = lnets_of(d);
    const bool at_rest = is_quiet && !s->is_hampered;

    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (!s->host[i].is_up || !rdl_lnet_is_up(d->lab, s->host[i].host))
            continue;
        if (!check_peers(d, i, at_rest) || !check_regions(d, i, at_rest))
            return false;
        for (unsigned k = 0; k < s->n_hosts && at_rest && s->mood != LN_ROUGH; k++) {
            if (k != i && !check_sum(d, i, k))
                return false;
        }
    }
    return true;
}
