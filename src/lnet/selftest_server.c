/* SPDX-License-Identifier: MIT */
/* The server of a test: takes requests, moves their bulk data, and replies.
 *
 *	slot: waits for a request -> moves bulk data -> replies -> waits
 */
#include <errno.h>

#include "lnet/selftest_internal.h"

#define SLOTS_DEFAULT   64u
#define TIMEOUT_DEFAULT UINT64_C(60000000000)

/* Attaches the request of @slot.  Without memory the slot is lost. */
static int arm(struct selftest *st, struct selftest_slot *slot)
{
    const struct lnet_match match = {SELFTEST_REQUEST_PORTAL, LNET_NID_ANY, SELFTEST_BITS, 0};

    slot->is_busy = slot->is_late = false;
    return selftest_link(st, slot, SELFTEST_PART_REQUEST, &match, LNET_MD_PUT);
}

int selftest_serve(struct selftest *st, struct lnet_node *node,
                   const struct selftest_server_config *config)
{
    const uint32_t n = config->slots ? config->slots : SLOTS_DEFAULT;
    int error;

    if (st->server.slots.n > 0)
        return -EBUSY;
    if (n > SELFTEST_SLOTS_MAX)
        return -EINVAL;
    error = selftest_slots_new(st, &st->server.slots, n, SELFTEST_SERVER);
    if (error)
        return error;
    st->server.blocks = st->ops->alloc(st->ctx, n * sizeof(*st->server.blocks));
    if (!st->server.blocks)
        error = -ENOMEM;
    st->node = node;
    st->server.config = *config;
    if (config->timeout_ns == 0)
        st->server.config.timeout_ns = TIMEOUT_DEFAULT;
    for (uint32_t i = 0; error == 0 && i < n; i++)
        error = arm(st, &st->server.slots.slots[i]);
    if (error)
        selftest_server_free(st);
    return error;
}

/* Gives @slot memory that another RPC has used, so that the server needs no more than it has RPCs
 * under way.
 */
static void take_block(struct selftest_server *s, struct selftest_slot *slot)
{
    const struct selftest_block b =
        s->n_blocks ? s->blocks[--s->n_blocks] : (struct selftest_block){0};

    slot->data.pages = b.pages;
    slot->data.pages_bytes = b.bytes;
}

static void give_block(struct selftest_server *s, struct selftest_slot *slot)
{
    if (slot->data.pages)
        s->blocks[s->n_blocks++] =
            (struct selftest_block){slot->data.pages, slot->data.pages_bytes};
    slot->data.pages = slot->data.pages_bytes = 0;
}

/* The RPC of @slot is over: it waits for the next one. */
static void end(struct selftest *st, struct selftest_slot *slot)
{
    give_block(&st->server, slot);
    selftest_count(st, slot, &st->server.result);
    (void)arm(st, slot);
}

/* Replies, with the status of @slot. */
static void reply(struct selftest *st, struct selftest_slot *slot)
{
    const struct selftest_reply r = {slot->status, slot->request.reply_bits, slot->bad};
    int error = selftest_put_reply(st, slot, &r) ? 0 : -EFAULT;

    if (error == 0)
        error = selftest_link(st, slot, SELFTEST_PART_REPLY, NULL, 0);
    if (error == 0)
        error = lnet_put(st->node, &(struct lnet_call){.md = slot->md[SELFTEST_PART_REPLY],
                                                       .nid = slot->nid,
                                                       .portal = SELFTEST_BULK_PORTAL,
                                                       .bits = slot->request.reply_bits});
    if (error == 0)
        return;
    slot->status = error;
    selftest_unlink(st, slot);
    end(st, slot);
}

/* Moves the bulk data.  An event may come inside, so that nothing follows it here. */
static int begin_bulk(struct selftest *st, struct selftest_slot *slot)
{
    const struct selftest_request *q = &slot->request;
    const bool is_read = q->op == SELFTEST_READ;
    struct lnet_call call = {.nid = slot->nid,
                             .portal = SELFTEST_BULK_PORTAL,
                             .bits = q->bulk_bits,
                             .wants_ack = is_read};
    int error;

    take_block(&st->server, slot);
    error = selftest_data_lay_out(&slot->data, &st->server.config.shape, q->size);
    if (error == 0 && !(is_read ? selftest_data_fill(&slot->data, q->seed)
                                : selftest_data_spoil(&slot->data, q->seed)))
        error = -EFAULT;
    if (error == 0)
        error = selftest_link(st, slot, SELFTEST_PART_BULK, NULL, 0);
    if (error)
        return error;
    call.md = slot->md[SELFTEST_PART_BULK];
    return is_read ? lnet_put(st->node, &call) : lnet_get(st->node, &call);
}

/* A request has come. */
static void request_came(struct selftest *st, struct selftest_slot *slot,
                         const struct lnet_event *e)
{
    int error;

    slot->is_busy = true;
    slot->nid = e->initiator;
    slot->status = e->status;
    slot->moved = 0;
    slot->bad = (struct selftest_bad){0};
    slot->begun_ns = st->ops->now_ns(st->ctx);
    if (st->server.result.started++ == 0)
        st->server.result.begun_ns = slot->begun_ns;
    if (slot->status == 0 &&
        (e->mlength != SELFTEST_REQUEST_BYTES || !selftest_take_request(st, slot)))
        slot->status = -EPROTO;
    if (slot->status) {
        end(st, slot);
        return;
    }
    if (slot->request.op == SELFTEST_PING) {
        reply(st, slot);
        return;
    }
    error = begin_bulk(st, slot);
    if (error) {
        slot->status = error;
        selftest_unlink(st, slot);
        reply(st, slot);
    }
}

/* The bulk data was moved, or a part of that is over: each operation has two events. */
static void bulk_event(struct selftest *st, struct selftest_slot *slot, const struct lnet_event *e)
{
    if (slot->status == 0)
        slot->status = e->status;
    if (e->kind != LNET_EVENT_SEND)
        slot->moved = e->mlength;
    if (slot->md[SELFTEST_PART_BULK])
        return;
    if (slot->status == 0 && slot->moved != slot->request.size)
        slot->status = -EMSGSIZE;
    if (slot->status == 0 && slot->request.op == SELFTEST_WRITE) {
        if (!selftest_data_check(&slot->data, slot->request.seed, &slot->bad))
            slot->status = -EFAULT;
        else if (slot->bad.n > 0)
            slot->status = -EBADMSG;
    }
    reply(st, slot);
}

void selftest_server_event(struct selftest *st, struct selftest_slot *slot, enum selftest_part part,
                           const struct lnet_event *e)
{
    if (slot->is_late) {
        if (slot->is_busy && selftest_is_unlinked(slot))
            end(st, slot);
        return;
    }
    switch (part) {
    case SELFTEST_PART_REQUEST:
        request_came(st, slot, e);
        break;
    case SELFTEST_PART_BULK:
        bulk_event(st, slot, e);
        break;
    default:
        if (slot->status == 0)
            slot->status = e->status;
        if (slot->md[SELFTEST_PART_REPLY] == 0)
            end(st, slot);
        break;
    }
}

void selftest_server_expire(struct selftest *st, uint64_t now)
{
    const struct selftest_server *s = &st->server;

    for (uint32_t i = 0; i < s->slots.n; i++) {
        struct selftest_slot *slot = &s->slots.slots[i];

        if (!slot->is_busy || slot->is_late || slot->begun_ns + s->config.timeout_ns > now)
            continue;
        slot->is_late = true;
        if (slot->status == 0)
            slot->status = -ETIMEDOUT;
        selftest_unlink(st, slot);
        if (selftest_is_unlinked(slot))
            end(st, slot);
    }
}

void selftest_server_free(struct selftest *st)
{
    struct selftest_server *s = &st->server;

    while (s->n_blocks > 0) {
        const struct selftest_block b = s->blocks[--s->n_blocks];

        st->ops->pages_free(st->ctx, b.pages, b.bytes);
    }
    if (s->blocks)
        st->ops->free(st->ctx, s->blocks, s->slots.n * sizeof(*s->blocks));
    s->blocks = NULL;
    selftest_slots_free(st, &s->slots);
}

struct selftest_result selftest_served(const struct selftest *st)
{
    return st->server.result;
}
