/* SPDX-License-Identifier: MIT */
/* A test of the batch: begins RPCs, and verifies what it has read. */
#include <errno.h>

#include "emu/base/prng.h"
#include "lnet/selftest_internal.h"

static struct selftest_client *client_of(const struct selftest *st,
                                         const struct selftest_slot *slot)
{
    return st->tests[slot->owner];
}

/* Returns true if another RPC with the peer @p may begin. */
static bool wants_more(const struct selftest_client *c, const struct selftest_peer *p)
{
    return !c->is_stopped && p->n_failed < c->config.errors_max &&
           (c->config.count == 0 || p->result.started < c->config.count);
}

/* Lays out the bulk data of @slot: what is sent, or something else where it is to be read. */
static int prepare_bulk(struct selftest *st, struct selftest_slot *slot)
{
    const struct selftest_client_config *c = &client_of(st, slot)->config;
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
    struct selftest_peer *p = &client_of(st, slot)->peers[slot->peer];

    if (!slot->is_busy || !selftest_is_unlinked(slot))
        return;
    verify(slot);
    selftest_count(st, slot, &p->result);
    p->n_failed = slot->status ? p->n_failed + 1 : 0;
    slot->is_busy = false;
}

static void begin(struct selftest *st, struct selftest_slot *slot)
{
    struct selftest_client *c = client_of(st, slot);
    struct selftest_peer *p = &c->peers[slot->peer];
    /* Tests of a batch have different data, also with the same seed. */
    struct prng seeds = prng_stream(c->config.seed, c->number * SELFTEST_PEERS_MAX + slot->peer);
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
                                              .reply_bits = st->next_bits,
                                              .bulk_bits = st->next_bits + 1,
                                              .seed = prng_next(&seeds)};
    st->next_bits += 2;
    if (p->result.started++ == 0)
        p->result.begun_ns = slot->begun_ns;
    error = send_request(st, slot);
    if (error)
        fail(st, slot, error);
    end_if_over(st, slot);
}

/* An RPC that fails at once calls selftest_listener() inside, which does not come here a second
 * time.
 */
void selftest_client_pump(struct selftest *st, struct selftest_client *c)
{
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
    selftest_client_pump(st, client_of(st, slot));
}

bool selftest_client_is_done(const struct selftest_client *c)
{
    for (uint32_t i = 0; i < c->slots.n; i++) {
        if (c->slots.slots[i].is_busy || wants_more(c, &c->peers[c->slots.slots[i].peer]))
            return false;
    }
    return true;
}

void selftest_client_expire(struct selftest *st, struct selftest_client *c, uint64_t now)
{
    for (uint32_t i = 0; c->config.timeout_ns && i < c->slots.n; i++) {
        struct selftest_slot *slot = &c->slots.slots[i];

        if (!slot->is_busy || slot->is_late || slot->begun_ns + c->config.timeout_ns > now)
            continue;
        slot->is_late = true;
        fail(st, slot, -ETIMEDOUT);
        end_if_over(st, slot);
    }
    selftest_client_pump(st, c);
}
