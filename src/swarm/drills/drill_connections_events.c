/* SPDX-License-Identifier: MIT */
/* The drill of connections: programs take and acknowledge events. */
#include "swarm/drills/drill_connections.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/rdma_cm_event.h"

/* --- Events ----------------------------------------------------------------------------------- */

static bool is_rest_zero(const struct rdl_cm_param *p, size_t from)
{
    for (size_t i = from; i < p->private_bytes; i++) {
        if (p->private_data[i] != 0)
            return false;
    }
    return true;
}

static bool check_param(struct drill *d, const struct conn_event *x, const struct rdl_cm_param *p)
{
    const uint32_t serial = conn_serial(p->private_data);

    if (!drill_expect(d, p->private_bytes == x->private_bytes,
                      "private data has the length of its field", "%s: %zu bytes, and not %zu",
                      enum_name(&enum_rdma_cm_event, x->kind), p->private_bytes, x->private_bytes))
        return false;
    if (x->serial == CONN_NOTHING)
        return true;
    return drill_expect(d,
                        serial == x->serial && is_rest_zero(p, 2) &&
                            p->responder_resources == x->resources &&
                            p->initiator_depth == x->depth && p->qpn == x->qpn,
                        "an event has what the message says", "%s: %u, resources %u, depth %u",
                        enum_name(&enum_rdma_cm_event, x->kind), serial, p->responder_resources,
                        p->initiator_depth);
}

/* Checks the addresses of an ID of a request. */
static bool check_addresses(struct drill *d, const struct conn_id *id, uint16_t port,
                            const struct rdl_cm_id_info *info)
{
    struct connections *s = connections_of(d);
    uint8_t own[GID_BYTES], peer[GID_BYTES], mac[MAC_BYTES];

    return drill_works(d, rdl_host_address(d->lab, s->host[id->host], s->family, own, mac),
                       "a host has an address") &&
           drill_works(d, rdl_host_address(d->lab, s->host[!id->host], s->family, peer, mac),
                       "a host has an address") &&
           drill_expect(d,
                        memcmp(own, info->local.gid, GID_BYTES) == 0 &&
                            memcmp(peer, info->peer.gid, GID_BYTES) == 0 &&
                            info->local.port == port && info->peer.port != 0,
                        "a request tells the addresses of both sides", "ports %u and %u",
                        info->local.port, info->peer.port);
}

/* The program learns of the ID of a request. */
static bool meet_request(struct drill *d, struct conn_id *id, const struct rdl_cm_event *e)
{
    struct connections *s = connections_of(d);
    struct rdl_cm_id_info info;
    const struct conn_id *listener = &s->ids[id->listener];

    if (!drill_expect(d, e->listener.raw == listener->id.raw, "a request names its listener",
                      "another") ||
        !drill_works(d, rdl_cm_id_info(d->lab, e->id, &info), "an ID can be looked at") ||
        !check_addresses(d, id, listener->port, &info))
        return false;
    s->ids[id->listener].n_waiting--;
    id->listener = CONN_NOTHING;
    id->id = e->id;
    id->is_told = true;
    id->psn = info.psn;
    return true;
}

static bool take_event(struct drill *d, struct conn_channel *ch)
{
    struct connections *s = connections_of(d);
    const struct conn_event x = ch->events[0];
    struct rdl_cm_event e = {0};
    struct conn_id *id = &s->ids[x.id];
    size_t n = 0;

    if (!drill_expect(d, rdl_cm_pending(d->lab, ch->channel) == ch->n,
                      "a channel has the events of its IDs", "%u, and not %u",
                      rdl_cm_pending(d->lab, ch->channel), ch->n) ||
        !drill_works(d, rdl_cm_get_event(d->lab, ch->channel, NULL, &e, &n),
                     "an event can be taken") ||
        !drill_expect(d, n == (ch->n > 0), "an event is there, or not", "%zu", n) || n == 0)
        return !d->wrong;
    memmove(ch->events, ch->events + 1, --ch->n * sizeof(ch->events[0]));
    /* A request is its listener's, which waits for the acknowledgement.  [librdmacm] */
    RDL_ASSERT(ch->n_acks < CONN_EVENTS);
    ch->acks[ch->n_acks++] = id->is_told ? x.id : id->listener;
    s->ids[ch->acks[ch->n_acks - 1]].n_unacked++;
    return drill_expect(d,
                        e.kind == x.kind && e.status == x.status &&
                            (!id->is_told || e.id.raw == id->id.raw),
                        "events are taken in their order", "%s %d, and not %s %d",
                        enum_name(&enum_rdma_cm_event, e.kind), e.status,
                        enum_name(&enum_rdma_cm_event, x.kind), x.status) &&
           check_param(d, &x, &e.param) && (id->is_told || meet_request(d, id, &e)) &&
           (x.kind != RDMA_CM_EVENT_DISCONNECTED || conn_fail_qp(d, id));
}

static bool ack_event(struct drill *d, struct conn_channel *ch)
{
    struct connections *s = connections_of(d);
    const enum rdl_status st = rdl_cm_ack_event(d->lab, ch->channel);

    if (ch->n_acks == 0)
        return drill_expect(d, st == RDL_ERR_STATE, "only what was taken is acknowledged", "%s",
                            rdl_status_name(st));
    s->ids[ch->acks[0]].n_unacked--;
    memmove(ch->acks, ch->acks + 1, --ch->n_acks * sizeof(ch->acks[0]));
    return drill_works(d, st, "an event can be acknowledged");
}

static struct conn_channel *some_channel(struct drill *d)
{
    const unsigned host = drill_below(d, RIG_HOSTS);

    return &connections_of(d)->channels[host][drill_below(d, CONN_CHANNELS)];
}

void conn_do_take(struct drill *d)
{
    struct conn_channel *ch = some_channel(d);

    for (uint32_t n = 1 + drill_below(d, 4); n > 0; n--) {
        if (!take_event(d, ch))
            return;
    }
}

void conn_do_ack(struct drill *d)
{
    struct conn_channel *ch = some_channel(d);

    for (uint32_t n = 1 + drill_below(d, 6); n > 0; n--) {
        if (!ack_event(d, ch))
            return;
    }
}

bool conn_take_all(struct drill *d)
{
    struct connections *s = connections_of(d);

    for (unsigned i = 0; i < RIG_HOSTS * CONN_CHANNELS; i++) {
        struct conn_channel *ch = &s->channels[i / CONN_CHANNELS][i % CONN_CHANNELS];

        while (ch->n > 0) {
            if (!take_event(d, ch))
                return false;
        }
        while (ch->n_acks > 0) {
            if (!ack_event(d, ch))
                return false;
        }
    }
    return true;
}
