/* SPDX-License-Identifier: MIT */
/* Nodes of LNet: the public functions, events, and what becomes of a node that stops. */
#include "emu/lab/lnet.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/object.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/lnet.h"
#include "emu/wire/addr.h"

static struct ev_addr nid_text(uint64_t nid)
{
    char buf[LNET_NID_TEXT_MAX];

    return ev_addr(lnet_nid_text(nid, buf));
}

uint32_t lab_lnet_qpn(const struct host *h, const struct lnd_link *link)
{
    const struct guest_qp *qp =
        link ? (const struct guest_qp *)verbs_get(&h->guest.verbs, OBJ_QP, link->qp) : NULL;

    return qp ? qp->qpn : 0;
}

/* Returns the cookie that @m names for its receiver; 0: none. */
static uint64_t cookie_in(const struct lnet_msg *m)
{
    switch (m->type) {
    case LNET_MSG_PUT_REQ:
        return m->u.put_req.cookie;
    case LNET_MSG_GET_REQ:
        return m->u.get_req.cookie;
    case LNET_MSG_PUT_ACK:
        return m->u.put_ack.src_cookie;
    case LNET_MSG_PUT_NAK:
    case LNET_MSG_PUT_DONE:
    case LNET_MSG_GET_DONE:
        return m->u.done.cookie;
    default:
        return 0;
    }
}

/* Returns the match bits of the PUT, GET or ACK in @m; 0: it has none. */
static uint64_t bits_in(const struct lnet_msg *m)
{
    const struct lnet_hdr *h;

    if (m->type == LNET_MSG_PUT_REQ)
        h = &m->u.put_req.hdr;
    else if (m->type == LNET_MSG_GET_REQ)
        h = &m->u.get_req.hdr;
    else if (m->type == LNET_MSG_IMMEDIATE)
        h = &m->u.hdr;
    else
        return 0;
    switch (h->type) {
    case LNET_OP_PUT:
        return h->u.put.match_bits;
    case LNET_OP_GET:
        return h->u.get.match_bits;
    case LNET_OP_ACK:
        return h->u.ack.match_bits;
    default:
        return 0;
    }
}

/* The errno in a message that ends a transfer; 0: none. */
static uint32_t errno_in(const struct lnet_msg *m)
{
    const bool ends =
        m->type == LNET_MSG_PUT_NAK || m->type == LNET_MSG_PUT_DONE || m->type == LNET_MSG_GET_DONE;

    return ends && m->u.done.status < 0 ? (uint32_t)-m->u.done.status : 0;
}

static ev_id note_region(const struct lab_lnet *l, const struct lnd_note *n)
{
    TRACE(&l->world->trace, lnet_region, .host = l->host->index, .key = n->key, .addr = n->addr,
          .bytes = n->bytes, .freed = n->n == 0);
    return 0;
}

/* An observation of the driver.  Returns the event that is the cause of what follows; 0: none. */
static ev_id note(void *ctx, const struct lnd_note *n)
{
    struct lab_lnet *l = ctx;
    struct trace *t = &l->world->trace;
    const uint32_t host = l->host->index;
    ev_id id = 0;

    switch (n->kind) {
    case LND_NOTE_SENT:
        TRACE_ID(t, id, lnet_sent, .host = host, .message = n->msg->type, .nid = nid_text(n->peer),
                 .qpn = lab_lnet_qpn(l->host, n->link), .credits = n->msg->credits,
                 .cookie = n->cookie, .writes = n->n, .bytes = (uint32_t)n->bytes,
                 .status = lab_lnet_errno(n->error), .key = n->key);
        break;
    case LND_NOTE_RECEIVED:
        TRACE_ID(t, id, lnet_received, .host = host, .message = n->msg->type,
                 .nid = nid_text(n->peer), .qpn = lab_lnet_qpn(l->host, n->link),
                 .credits = n->msg->credits, .cookie = cookie_in(n->msg),
                 .status = errno_in(n->msg), .bits = bits_in(n->msg));
        break;
    case LND_NOTE_STATE:
        TRACE_ID(t, id, lnet_state, .host = host, .nid = nid_text(n->peer),
                 .qpn = lab_lnet_qpn(l->host, n->link), .state = n->state,
                 .credits = n->state == LND_CONN_ESTABLISHED ? n->credits : 0,
                 .error = lab_lnet_errno(n->error));
        break;
    case LND_NOTE_REJECTED:
        TRACE_ID(t, id, lnet_reject, .host = host, .nid = nid_text(n->peer), .reason = n->why,
                 .rejects = n->is_mine, .rejected = !n->is_mine, .error = lab_lnet_errno(n->error),
                 .version = n->why == LNET_WHY_FATAL ? n->version : 0);
        break;
    case LND_NOTE_REGION:
        return note_region(l, n);
    case LND_NOTE_STALL:
        TRACE(t, lnet_stall, .host = host, .nid = nid_text(n->peer),
              .qpn = lab_lnet_qpn(l->host, n->link), .stall = n->state, .credits = n->credits,
              .reserved = n->reserved);
        break;
    }
    return id;
}

/* Test @i of the node is over.  RPCs that are under way, because its node is down, have failed. */
static void tell_test_end(struct lab_lnet *l, uint32_t i)
{
    struct selftest_test t;
    struct selftest_result *r = &t.result;

    l->tests &= ~(1u << i);
    if (!selftest_test_at(l->selftest, i, &t))
        return;
    if (r->started > r->good + r->failed && r->error == 0)
        r->error = -ESHUTDOWN;
    TRACE(&l->world->trace, lnet_test, .host = l->host->index, .test = i, .good = r->good,
          .failed = r->started - r->good, .bytes = r->bytes, .error = lab_lnet_errno(r->error));
}

/* Tells which tests of the node are over since the last call; @ends: its node is down. */
static void tell_test_ends(struct lab_lnet *l, bool ends)
{
    for (uint32_t i = 0; l->tests >> i; i++) {
        if (l->tests >> i & 1 && (ends || selftest_test_is_done(l->selftest, i)))
            tell_test_end(l, i);
    }
}

/* RPCs have begun or ended: tells which tests are over, and waits for the time of the next RPC. */
static void after_rpcs(struct lab_lnet *l)
{
    tell_test_ends(l, false);
    guest_lnet_wake_test_at(&l->guest, selftest_deadline_ns(l->selftest));
}

/* Ends the RPCs whose time is over. */
static void expire_rpcs(struct lab_lnet *l)
{
    const uint64_t due = l->selftest ? selftest_deadline_ns(l->selftest) : 0;
    struct guest_program *caller;

    if (due == 0 || due > l->world->trace.now_ns)
        return;
    caller = guest_lnet_begin(&l->guest);
    selftest_expire(l->selftest);
    guest_lnet_end(&l->guest, caller);
    after_rpcs(l);
}

static void listen(void *ctx, const struct lnet_event *e)
{
    struct lab_lnet *l = ctx;

    TRACE(&l->world->trace, lnet_event, .host = l->host->index, .event = e->kind,
          .nid = nid_text(e->initiator), .portal = e->portal, .bits = e->match_bits,
          .mlength = e->mlength, .status = lab_lnet_errno(e->status));
    if (l->selftest && selftest_owns(e)) {
        selftest_listener(l->selftest, e);
        after_rpcs(l);
        return;
    }
    l->events[l->n_events++ % RDL_LNET_EVENTS_MAX] = (struct rdl_lnet_event){
        .at_ns = l->world->trace.now_ns,
        .kind = e->kind,
        .md = e->md,
        .user = e->user,
        .initiator = e->initiator,
        .bits = e->match_bits,
        .hdr_data = e->hdr_data,
        .portal = e->portal,
        .offset = e->offset,
        .mlength = e->mlength,
        .rlength = e->rlength,
        .status = e->status,
        .unlinked = e->unlinked,
    };
}

/* Tells that the node has come up, or is down; a node that is ending is freed then. */
static void look(struct lab_lnet *l)
{
    const struct lnd *lnd = lnet_lnd(l->guest.node);
    const bool is_up = lnd_is_up(lnd);
    const bool is_over = l->is_ending && lnd_is_down(lnd);
    const bool has_failed = lnd_error(lnd) && !l->told_error;

    if (is_over)
        tell_test_ends(l, true);
    if ((is_up && !l->told_up) || is_over || has_failed)
        TRACE(&l->world->trace, lnet_up, .host = l->host->index,
              .nid = nid_text(lnd_config(lnd)->nid), .up = is_up, .down = !is_up,
              .error = lab_lnet_errno(lnd_error(lnd)));
    l->told_up = is_up;
    l->told_error = lnd_error(lnd) != 0;
    if (is_over) {
        selftest_free(l->selftest);
        l->selftest = NULL;
        l->serves = false;
        guest_lnet_free(&l->guest);
    }
}

void lab_lnet_tick(struct host *h, uint64_t arg)
{
    if (!lab_lnet_node(h))
        return;
    guest_lnet_tick(&h->lnet->guest, arg);
    expire_rpcs(h->lnet);
    look(h->lnet);
}

struct rdl_lnet_config rdl_lnet_defaults(bool of_2007)
{
    const struct lnd_config c = lnd_defaults(0, of_2007);

    return (struct rdl_lnet_config){
        .service = c.service,
        .version = c.version,
        .rules_2007 = c.rules_2007,
        .max_frags = c.max_frags,
        .peer_credits = c.peer_credits,
        .peer_credits_hiw = c.peer_credits_hiw,
        .credits = c.credits,
        .ntx = c.ntx,
        .timeout_ns = c.timeout_ns,
        .reconnect_min_ns = c.reconnect_min_ns,
        .reconnect_max_ns = c.reconnect_max_ns,
    };
}

static uint64_t nid_of(const struct host *h, uint32_t net)
{
    return lnet_nid(net, ld_be32(h->guest.config.gid[0] + GID_IPV4_AT));
}

static struct lnd_config config_of(const struct lab_lnet *l, const struct rdl_lnet_config *c)
{
    return (struct lnd_config){
        .nid = nid_of(l->host, c->net),
        .stamp = c->stamp ? c->stamp : l->n_starts,
        .service = c->service,
        .version = c->version,
        .rules_2007 = c->rules_2007,
        .race_by_hash = c->race_by_hash,
        .big_endian = c->big_endian,
        .cksum = c->cksum,
        .map = (enum lnet_map)c->map,
        .frag_bytes = c->frag_bytes,
        .max_frags = c->max_frags,
        .peer_credits = c->peer_credits,
        .peer_credits_hiw = c->peer_credits_hiw,
        .credits = c->credits,
        .ntx = c->ntx,
        .concurrent_sends = c->concurrent_sends,
        .timeout_ns = c->timeout_ns,
        .keepalive_ns = c->keepalive_ns,
        .reconnect_min_ns = c->reconnect_min_ns,
        .reconnect_max_ns = c->reconnect_max_ns,
    };
}

static enum rdl_status start(struct lab_state *w, struct host *h, const struct rdl_lnet_config *c)
{
    const struct guest_lnet_config guest = {.guest = &h->guest,
                                            .arena = w->arena,
                                            .sim = &w->sim,
                                            .trace = &w->trace,
                                            .host = h->index,
                                            .note = note,
                                            .listener = listen};
    struct guest_lnet_config config = guest;
    struct lnd_config lnd;
    enum rdl_status st = lab_cm_usable(w, h);

    if (st != RDL_OK)
        return st;
    if (c->map > LNET_MAP_dma)
        return RDL_ERR_INVAL;
    if (!gid_is_ipv4(h->guest.config.gid[0]))
        return RDL_ERR_UNSUPPORTED;
    if (!h->lnet)
        h->lnet = arena_alloc(w->arena, sizeof(*h->lnet));
    if (!h->lnet)
        return RDL_ERR_NOMEM;
    if (h->lnet->guest.node)
        return h->lnet->is_ending ? RDL_ERR_BUSY : RDL_ERR_EXISTS;
    h->lnet->world = w;
    h->lnet->host = h;
    h->lnet->is_ending = h->lnet->told_up = h->lnet->told_error = false;
    h->lnet->n_starts++;
    h->lnet->n_events = 0;
    config.ctx = h->lnet;
    lnd = config_of(h->lnet, c);
    st = guest_lnet_start(&h->lnet->guest, &config, &lnd);
    return st;
}

enum rdl_status rdl_lnet_start(struct rdl_lab *lab, rdl_host host,
                               const struct rdl_lnet_config *config)
{
    ACT_AT(lab, host, h, start(lab->state, h, config));
}

/* Returns RDL_OK if @h has a node that takes calls: one that is stopping takes none. */
static enum rdl_status usable(const struct host *h)
{
    if (!lab_lnet_node(h))
        return RDL_ERR_NOT_FOUND;
    return h->lnet->is_ending ? RDL_ERR_BUSY : RDL_OK;
}

static enum rdl_status stop(const struct host *h)
{
    const enum rdl_status status = usable(h);

    if (status != RDL_OK)
        return status;
    h->lnet->is_ending = true;
    guest_lnet_stop(&h->lnet->guest);
    look(h->lnet);
    return RDL_OK;
}

enum rdl_status rdl_lnet_stop(struct rdl_lab *lab, rdl_host host)
{
    ACT_AT(lab, host, h, stop(h));
}

/* Keeps the result of a call of LNet, a negative errno or 0. */
static enum rdl_status told(int st, int *reterr)
{
    *reterr = -st;
    return st ? RDL_ERR_ERRNO : RDL_OK;
}

static int take_md(const struct rdl_lnet_md *md, struct lnet_md *ret)
{
    if (md->n > RDL_LNET_PIECES_MAX)
        return -EINVAL;
    *ret = (struct lnet_md){
        .n = (uint32_t)md->n, .options = md->options, .threshold = md->threshold, .user = md->user};
    for (size_t i = 0; i < md->n; i++) {
        if (md->pieces[i].bytes > UINT32_MAX)
            return -EINVAL;
        ret->frags[i] = (struct lnet_frag){(uint32_t)md->pieces[i].bytes, md->pieces[i].addr};
    }
    return 0;
}

/* The options of both are the same bits. */
_Static_assert((int)RDL_LNET_PUT == LNET_MD_PUT && (int)RDL_LNET_GET == LNET_MD_GET &&
                   (int)RDL_LNET_TRUNCATE == LNET_MD_TRUNCATE &&
                   (int)RDL_LNET_MANAGE_REMOTE == LNET_MD_MANAGE_REMOTE &&
                   (int)RDL_LNET_NO_ACK == LNET_MD_NO_ACK,
               "options of memory");

/* The NID of the host with handle @raw in the network of the node @n; 0: there is no such host. */
static uint64_t peer_nid(const struct lab_state *w, const struct lnet_node *n, uint32_t raw)
{
    const struct host *h = lab_host(w, raw);

    return h ? nid_of(h, (uint32_t)(lnd_config(lnet_lnd(n))->nid >> 32) & 0xffff) : 0;
}

static enum rdl_status attach(const struct lab_state *w, const struct host *h,
                              const struct rdl_lnet_match *match, const struct rdl_lnet_md *md,
                              uint64_t *ret, int *reterr)
{
    struct lnet_node *n = lab_lnet_node(h);
    struct lnet_match m = {match->portal, LNET_NID_ANY, match->bits, match->ignore};
    const enum rdl_status status = usable(h);
    struct lnet_md to;
    int st;

    if (status != RDL_OK)
        return status;
    if (match->from.raw) {
        m.nid = peer_nid(w, n, match->from.raw);
        if (m.nid == 0)
            return RDL_ERR_STALE;
    }
    st = take_md(md, &to);
    return told(st ? st : lnet_attach(n, &m, &to, ret), reterr);
}

enum rdl_status rdl_lnet_attach(struct rdl_lab *lab, rdl_host host,
                                const struct rdl_lnet_match *match, const struct rdl_lnet_md *md,
                                uint64_t *ret, int *reterr)
{
    ACT_AT(lab, host, h, attach(lab->state, h, match, md, ret, reterr));
}

static enum rdl_status bind_md(const struct host *h, const struct rdl_lnet_md *md, uint64_t *ret,
                               int *reterr)
{
    const enum rdl_status status = usable(h);
    struct lnet_md to;
    int st;

    if (status != RDL_OK)
        return status;
    st = take_md(md, &to);
    return told(st ? st : lnet_bind(lab_lnet_node(h), &to, ret), reterr);
}

enum rdl_status rdl_lnet_bind(struct rdl_lab *lab, rdl_host host, const struct rdl_lnet_md *md,
                              uint64_t *ret, int *reterr)
{
    ACT_AT(lab, host, h, bind_md(h, md, ret, reterr));
}

static enum rdl_status unlink_md(const struct host *h, uint64_t md, int *reterr)
{
    const enum rdl_status status = usable(h);

    return status == RDL_OK ? told(lnet_unlink(lab_lnet_node(h), md), reterr) : status;
}

enum rdl_status rdl_lnet_unlink(struct rdl_lab *lab, rdl_host host, uint64_t md, int *reterr)
{
    ACT_AT(lab, host, h, unlink_md(h, md, reterr));
}

static enum rdl_status call(const struct lab_state *w, const struct host *h, bool is_get,
                            const struct rdl_lnet_call *c, int *reterr)
{
    struct lnet_node *n = lab_lnet_node(h);
    struct lnet_call to = {.md = c->md,
                           .portal = c->portal,
                           .bits = c->bits,
                           .hdr_data = c->hdr_data,
                           .offset = c->offset,
                           .wants_ack = c->wants_ack};
    struct guest_program *caller;
    enum rdl_status st = usable(h);

    if (st != RDL_OK)
        return st;
    to.nid = peer_nid(w, n, c->peer.raw);
    if (to.nid == 0)
        return RDL_ERR_STALE;
    caller = guest_lnet_begin(&h->lnet->guest);
    st = told(is_get ? lnet_get(n, &to) : lnet_put(n, &to), reterr);
    guest_lnet_end(&h->lnet->guest, caller);
    return st;
}

enum rdl_status rdl_lnet_put(struct rdl_lab *lab, rdl_host host, const struct rdl_lnet_call *c,
                             int *reterr)
{
    ACT_AT(lab, host, h, call(lab->state, h, false, c, reterr));
}

enum rdl_status rdl_lnet_get(struct rdl_lab *lab, rdl_host host, const struct rdl_lnet_call *c,
                             int *reterr)
{
    ACT_AT(lab, host, h, call(lab->state, h, true, c, reterr));
}

uint64_t rdl_lnet_event_count(const struct rdl_lab *lab, rdl_host host)
{
    const struct host *h = lab_host(lab->state, host.raw);

    return h && h->lnet ? h->lnet->n_events : 0;
}

bool rdl_lnet_event_at(const struct rdl_lab *lab, rdl_host host, uint64_t i,
                       struct rdl_lnet_event *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct lab_lnet *l = h ? h->lnet : NULL;

    if (!l || i >= l->n_events || i + RDL_LNET_EVENTS_MAX < l->n_events)
        return false;
    *ret = l->events[i % RDL_LNET_EVENTS_MAX];
    return true;
}

bool rdl_lnet_is_up(const struct rdl_lab *lab, rdl_host host)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct lnet_node *n = h ? lab_lnet_node(h) : NULL;

    return n && lnd_is_up(lnet_lnd(n));
}

/* --- Tests ------------------------------------------------------------------------------------ */

_Static_assert(RDL_LNET_PEERS_MAX == SELFTEST_PEERS_MAX &&
                   RDL_LNET_RPCS_MAX == SELFTEST_SLOTS_MAX &&
                   RDL_LNET_TESTS_MAX == SELFTEST_TESTS_MAX,
               "limits of a test");

/* The tests of the node of @h, which has them from now on; NULL: no node, or no memory. */
static struct selftest *selftest_of(const struct host *h)
{
    struct lab_lnet *l = h->lnet;

    if (lab_lnet_node(h) && !l->selftest)
        l->selftest = selftest_new(&guest_lnet_ops, &l->guest);
    return l ? l->selftest : NULL;
}

static enum rdl_status serve(const struct host *h, const struct selftest_shape *shape, int *reterr)
{
    const struct selftest_server_config c = {.shape = *shape};
    const enum rdl_status status = usable(h);
    struct guest_program *caller;
    struct selftest *t;
    int st = -EBUSY;

    if (status != RDL_OK)
        return status;
    t = selftest_of(h);
    if (!t)
        return RDL_ERR_NOMEM;
    if (!h->lnet->serves) {
        caller = guest_lnet_begin(&h->lnet->guest);
        st = selftest_serve(t, lab_lnet_node(h), &c);
        guest_lnet_end(&h->lnet->guest, caller);
    }
    h->lnet->serves = h->lnet->serves || st == 0;
    return told(st, reterr);
}

enum rdl_status rdl_lnet_serve(struct rdl_lab *lab, rdl_host host, uint32_t offset,
                               uint32_t frag_bytes, uint32_t gap, int *reterr)
{
    const struct selftest_shape shape = {offset, frag_bytes, gap};

    ACT_AT(lab, host, h, serve(h, &shape, reterr));
}

static enum rdl_status test(const struct lab_state *w, const struct host *h,
                            const struct rdl_lnet_test *c, int *reterr)
{
    struct lnet_node *n = lab_lnet_node(h);
    uint64_t nids[RDL_LNET_PEERS_MAX];
    const struct selftest_client_config config = {
        .nids = nids,
        .n_nids = (uint32_t)c->n_peers,
        .op = (enum selftest_op)c->op,
        .size = c->size,
        .concurrency = c->concurrency,
        .count = c->count,
        .timeout_ns = c->timeout_ns,
        .seed = c->seed,
        .shape = {c->offset, c->frag_bytes, c->gap},
    };
    const enum rdl_status status = usable(h);
    struct guest_program *caller;
    struct selftest *t;
    int st = c->n_peers > RDL_LNET_PEERS_MAX ? -EINVAL : 0;

    if (status != RDL_OK)
        return status;
    for (size_t i = 0; st == 0 && i < c->n_peers; i++) {
        nids[i] = peer_nid(w, n, c->peers[i].raw);
        if (nids[i] == 0)
            return RDL_ERR_STALE;
        st = nids[i] == lnd_config(lnet_lnd(n))->nid ? -EINVAL : 0;
    }
    if (st)
        return told(st, reterr);
    t = selftest_of(h);
    if (!t)
        return RDL_ERR_NOMEM;
    caller = guest_lnet_begin(&h->lnet->guest);
    st = selftest_run(t, n, &config);
    guest_lnet_end(&h->lnet->guest, caller);
    if (st == 0)
        h->lnet->tests |= 1u << (selftest_tests(t) - 1);
    after_rpcs(h->lnet); /* all of them may have failed at once */
    return told(st, reterr);
}

enum rdl_status rdl_lnet_test(struct rdl_lab *lab, rdl_host host, const struct rdl_lnet_test *c,
                              int *reterr)
{
    ACT_AT(lab, host, h, test(lab->state, h, c, reterr));
}
