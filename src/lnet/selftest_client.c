/* SPDX-License-Identifier: MIT */
/* The client of a test: begins RPCs, and verifies what it has read. */
#include <errno.h>

#include "emu/base/prng.h"
#include "lnet/selftest_internal.h"

/* Returns true if another RPC with the peer @p may begin. */
static bool wants_more(const struct selftest_client *c, const struct selftest_peer *p)
{
    return !c->is_stopped && p->n_failed < c->config.errors_max &&
           (c->config.count == 0 || p->result.started < c->config.count);
}

/* Lays out the bulk data of @slot: what is sent, or something else where it is to be read. */
static int prepare_bulk(struct selftest *st, struct selftest_slot *slot)
{
    const struct selftest_client_config *c = &st->client.config;
    const struct lnet_match match = {SELFTEST_BULK_PORTAL, slot->nid, slot->request.bulk_bits, 0};
    const bool is_read = c->op == SELFTEST_READ;
    int error = selftest_data_lay_out(&slot->data, &c->shape, c->size);

    if (error == 0 && !(is_read ? selftest_data_spoil(&slot->data, slot->request.seed)
                                : selftest_data_fill(&slot->data, slot->request.seed)))
        error = -EFAULT;
    if (error == 0)
        error = selftest_link(st, slot, SELFTEST_PART_BULK, &match,
                              is_read ? LNET_MD_PUT : LNET_MD_GET);
    return error;
}

/* Everything that peers may reach is attached; then the request goes. */
static int send_request(struct selftest *st, struct selftest_slot *slot)
{
    const struct lnet_match match = {SELFTEST_BULK_PORTAL, slot->nid, slot->request.reply_bits, 0};
    int error = 0;

    if (slot->request.op != SELFTEST_PING)
        error = prepare_bulk(st, slot);
    if (error == 0)
        error = selftest_link(st, slot, SELFTEST_PART_REPLY, &match, LNET_MD_PUT);
    if (error == 0 && !selftest_put_request(st, slot))
        error = -EFAULT;
    if (error == 0)
        error = selftest_link(st, slot, SELFTEST_PART_REQUEST, NULL, 0);
    if (error)
        return error;
    return lnet_put(st->node, &(struct lnet_call){.md = slot->md[SELFTEST_PART_REQUEST],
                                                  .nid = slot->nid,
                                                  .portal = SELFTEST_REQUEST_PORTAL,
                                                  .bits = SELFTEST_BITS});
}

/* The RPC of @slot fails.  It ends when its memory is not in use any more. */
static void fail(struct selftest *st, struct selftest_slot *slot, int error)
{
    if (slot->status == 0)
        slot->status = error;
    selftest_unlink(st, slot);
}

/* Verifies what an RPC has read. */
static void verify(struct selftest_slot *slot)
{
    if (slot->status || slot->request.op != SELFTEST_READ)
        return;
    if (!selftest_data_check(&slot->data, slot->request.seed, &slot->bad))
        slot->status = -EFAULT;
    else if (slot->bad.n > 0)
        slot->status = -EBADMSG;
}

/* Ends the RPC of @slot if nothing of it is under way. */
static void end_if_over(struct selftest *st, struct selftest_slot *slot)
{
    struct selftest_peer *p = &st->client.peers[slot->peer];

    if (!slot->is_busy || !selftest_is_unlinked(slot))
        return;
    verify(slot);
    selftest_count(st, slot, &p->result);
    p->n_failed = slot->status ? p->n_failed + 1 : 0;
    slot->is_busy = false;
}

static void begin(struct selftest *st, struct selftest_slot *slot)
{
    struct selftest_client *c = &st->client;
    struct selftest_peer *p = &c->peers[slot->peer];
    struct prng seeds = prng_stream(c->config.seed, slot->peer);
    int error;

    seeds.state += p->result.started;
    slot->is_busy = true;
    slot->is_late = false;
    slot->nid = p->nid;
    slot->status = 0;
    slot->bad = (struct selftest_bad){0};
    slot->begun_ns = st->ops->now_ns(st->ctx);
    slot->request = (struct selftest_request){.op = c->config.op,
                                              .size = c->config.size,
                                              .reply_bits = c->next_bits,
                                              .bulk_bits = c->next_bits + 1,
                                              .seed = prng_next(&seeds)};
    c->next_bits += 2;
    if (p->result.started++ == 0)
        p->result.begun_ns = slot->begun_ns;
    error = send_request(st, slot);
    if (error)
        fail(st, slot, error);
    end_if_over(st, slot);
}

/* Begins RPCs until no more may be under way.  One that fails at once calls selftest_listener()
 * inside, which does not come here a second time.
 */
static void pump(struct selftest *st)
{
    struct selftest_client *c = &st->client;
    bool has_begun = true;

    if (c->is_pumping)
        return;
    c->is_pumping = true;
    while (has_begun) {
        has_begun = false;
        for (uint32_t i = 0; i < c->slots.n; i++) {
            struct selftest_slot *slot = &c->slots.slots[i];

            if (slot->is_busy || !wants_more(c, &c->peers[slot->peer]))
                continue;
            begin(st, slot);
            has_begun = true;
        }
    }
    c->is_pumping = false;
}

static int take_reply(struct selftest *st, struct selftest_slot *slot)
{
    struct selftest_reply r;

    if (!selftest_take_reply(st, slot, &r))
        return -EPROTO;
    slot->bad = r.bad;
    return r.status;
}

void selftest_client_event(struct selftest *st, struct selftest_slot *slot, enum selftest_part part,
                           const struct lnet_event *e)
{
    int error = e->status;

    if (error == 0 && part == SELFTEST_PART_BULK && e->mlength != slot->request.size)
        error = -EMSGSIZE;
    if (error == 0 && part == SELFTEST_PART_REPLY)
        error = e->mlength == SELFTEST_REPLY_BYTES ? take_reply(st, slot) : -EPROTO;
    if (error)
        fail(st, slot, error);
    end_if_over(st, slot);
    pump(st);
}

void selftest_client_expire(struct selftest *st, uint64_t now)
{
    struct selftest_client *c = &st->client;

    for (uint32_t i = 0; c->config.timeout_ns && i < c->slots.n; i++) {
        struct selftest_slot *slot = &c->slots.slots[i];

        if (!slot->is_busy || slot->is_late || slot->begun_ns + c->config.timeout_ns > now)
            continue;
        slot->is_late = true;
        fail(st, slot, -ETIMEDOUT);
        end_if_over(st, slot);
    }
    pump(st);
}

int selftest_run(struct selftest *st, struct lnet_node *node,
                 const struct selftest_client_config *config)
{
    struct selftest_client *c = &st->client;
    const uint32_t concurrency = config->concurrency ? config->concurrency : 1;
    int error;

    if (!selftest_is_done(st))
        return -EBUSY;
    if (config->n_nids < 1 || config->n_nids > SELFTEST_PEERS_MAX ||
        concurrency > SELFTEST_SLOTS_MAX / config->n_nids || config->size > LNET_MTU ||
        config->op > SELFTEST_WRITE)
        return -EINVAL;
    selftest_slots_free(st, &c->slots);
    error = selftest_slots_new(st, &c->slots, concurrency * config->n_nids);
    if (error)
        return error;
    st->node = node;
    c->config = *config;
    c->config.errors_max = config->errors_max ? config->errors_max : 1;
    c->is_stopped = false;
    /* No two RPCs of a node have the same bits, also if it was started anew. */
    if (c->next_bits == 0)
        c->next_bits = lnd_config(lnet_lnd(node))->stamp << 24;
    for (uint32_t i = 0; i < config->n_nids; i++)
        c->peers[i] = (struct selftest_peer){.nid = config->nids[i]};
    for (uint32_t i = 0; i < c->slots.n; i++)
        c->slots.slots[i].peer = i % config->n_nids;
    pump(st);
    return 0;
}

void selftest_stop(struct selftest *st)
{
    st->client.is_stopped = true;
}

bool selftest_is_done(const struct selftest *st)
{
    const struct selftest_client *c = &st->client;

    for (uint32_t i = 0; i < c->slots.n; i++) {
        if (c->slots.slots[i].is_busy || wants_more(c, &c->peers[c->slots.slots[i].peer]))
            return false;
    }
    return true;
}

bool selftest_peer_result(const struct selftest *st, uint32_t i, uint64_t *ret_nid,
                          struct selftest_result *ret)
{
    const struct selftest_client *c = &st->client;

    if (i >= c->config.n_nids)
        return false;
    *ret_nid = c->peers[i].nid;
    *ret = c->peers[i].result;
    return true;
}

/* Adds the result @r of a peer to the @n results in @sum. */
static void add(struct selftest_result *sum, const struct selftest_result *r)
{
    if (r->good > 0) {
        sum->min_ns = sum->good == 0 || r->min_ns < sum->min_ns ? r->min_ns : sum->min_ns;
        sum->max_ns = r->max_ns > sum->max_ns ? r->max_ns : sum->max_ns;
    }
    if (sum->begun_ns == 0 || (r->begun_ns > 0 && r->begun_ns < sum->begun_ns))
        sum->begun_ns = r->begun_ns;
    if (r->ended_ns > sum->ended_ns)
        sum->ended_ns = r->ended_ns;
    if (sum->error == 0)
        sum->error = r->error;
    if (sum->corrupt == 0)
        sum->bad_at = r->bad_at;
    sum->started += r->started;
    sum->good += r->good;
    sum->failed += r->failed;
    sum->bytes += r->bytes;
    sum->timeouts += r->timeouts;
    sum->corrupt += r->corrupt;
    sum->bad_bytes += r->bad_bytes;
    sum->sum_ns += r->sum_ns;
}

struct selftest_result selftest_result(const struct selftest *st)
{
    struct selftest_result sum = {0};

    for (uint32_t i = 0; i < st->client.config.n_nids; i++)
        add(&sum, &st->client.peers[i].result);
    return sum;
}
