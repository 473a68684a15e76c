/* SPDX-License-Identifier: MIT */
#include "capture/drawn.h"

#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "process/must.h"

/* The name of a host: its address, or "host N" if that is too long. */
static struct ev_str name_of(const struct capture_record *r, uint32_t host)
{
    char name[ADDR_TEXT_MAX];
    struct text t = text_on(name, sizeof(name));

    addr_add(&t, r->hosts[host].gid);
    if (t.len >= EV_NAME_BYTES) {
        t = text_on(name, sizeof(name));
        text_addf(&t, "host %u", host + 1);
    }
    return ev_str(name);
}

static struct ev sent(const struct capture_record *r, const struct seen *s)
{
    const struct op_info *op = seen_op(s);
    struct ev e = {.at_ns = s->at_ns - r->first_ns, .id = ev_id_of(s->number, 1), .kind = EV_tx};

    e.u.tx.host = s->src;
    e.u.tx.peer = s->dst;
    e.u.tx.opcode = s->opcode;
    e.u.tx.psn = s->psn;
    e.u.tx.ackreq = (s->flags & SEEN_ACK_REQ) != 0;
    e.u.tx.dest_qpn = s->dest_qpn;
    e.u.tx.bytes = s->payload_bytes;
    e.u.tx.length = s->dma_bytes;
    e.u.tx.vlan = s->vlan;
    if (op->headers & H_AETH) {
        const struct aeth_word w = aeth_unpack(s->syndrome);

        e.u.tx.syndrome = w.kind;
        e.u.tx.msn = s->msn;
        e.u.tx.rnr_timer = w.kind == SYN_RNR_NAK ? w.value : 0;
    }
    return e;
}

/* Returns the event of message @m of the connection manager, which packet @s carries.  It names no
 * queue pair: the queue pairs of a capture have no names.
 */
static struct ev told(const struct capture_record *r, const struct seen *s, const struct mad *m)
{
    struct ev e = {
        .at_ns = s->at_ns - r->first_ns, .id = ev_id_of(s->number, 1), .kind = EV_cm_sent};
    const struct mad_gist g = mad_gist_of(m);
    char addr[ADDR_TEXT_MAX];

    e.u.cm_sent.host = s->src;
    e.u.cm_sent.message = (uint8_t)g.message;
    e.u.cm_sent.psn = g.psn;
    e.u.cm_sent.reason = (uint8_t)g.reason;
    e.u.cm_sent.addr = ev_addr(addr_text(r->hosts[s->dst].gid, addr));
    if (rdma_cm_has_header(g.service_id))
        e.u.cm_sent.port = (uint16_t)g.service_id;
    return e;
}

static struct ev arrived(const struct ev *tx, uint32_t host, bool is_damaged)
{
    struct ev e = {.at_ns = tx->at_ns,
                   .id = tx->id + 1,
                   .cause = tx->id,
                   .kind = is_damaged ? EV_drop : EV_rx};

    if (is_damaged) {
        e.u.drop.host = host;
        e.u.drop.opcode = tx->u.tx.opcode;
        e.u.drop.psn = tx->u.tx.psn;
        e.u.drop.reason = DROP_BAD_ICRC;
        e.u.drop.tx = tx->id;
        return e;
    }
    e.u.rx.host = host;
    e.u.rx.qpn = tx->u.tx.dest_qpn;
    e.u.rx.opcode = tx->u.tx.opcode;
    e.u.rx.psn = tx->u.tx.psn;
    e.u.rx.syndrome = tx->u.tx.syndrome;
    e.u.rx.msn = tx->u.tx.msn;
    e.u.rx.bytes = tx->u.tx.bytes;
    e.u.rx.act = ACT_ACCEPT;
    e.u.rx.tx = tx->id;
    return e;
}

struct drawn_lnet {
    ev_id tx;
    char words[PAST_LNET_BYTES];
};

/* Keeps the words of message @m, whose packet event @tx sends; NULL: it has none. */
static void keep_lnet(struct drawn *d, ev_id tx, const struct lnet_seen *m)
{
    struct drawn_lnet *k;
    struct text t;

    if (!m)
        return;
    d->lnet = must_grow(d->lnet, d->n_lnet, &d->cap_lnet, sizeof(*d->lnet));
    k = &d->lnet[d->n_lnet++];
    k->tx = tx;
    t = text_on(k->words, sizeof(k->words));
    lnet_gist_add(&t, &m->gist);
}

void drawn_init(struct drawn *d, const struct capture_record *r, const bool *is_drawn)
{
    uint32_t *flows = record_flows(r);
    size_t m = 0; /* the next message of the connection manager */

    *d = (struct drawn){.names = ev_names_new()};
    if (!d->names)
        must_fail();
    for (uint32_t i = 0; i < r->n_hosts && i < EV_PORT_FIRST; i++) {
        struct ev e = {.kind = EV_host_up};

        e.u.host_up.host = i;
        e.u.host_up.name = name_of(r, i);
        ev_names_learn(d->names, &e);
    }
    d->v = must_malloc((2 * (size_t)r->n + r->handshakes.n_messages + 1) * sizeof(d->v[0]));
    d->n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct seen *s = &r->v[i];
        const bool is_chosen = !is_drawn || (flows[i] != SEEN_NONE && is_drawn[flows[i]]);
        const bool is_damaged = flows[i] == SEEN_NONE && s->flags & SEEN_DAMAGED;

        if (!is_chosen || s->flags & SEEN_DROPPED ||
            (flows[i] == SEEN_NONE && s->flags & SEEN_AGAIN) || s->src >= EV_PORT_FIRST ||
            s->dst >= EV_PORT_FIRST ||
            (flows[i] != SEEN_NONE && !record_counts(&r->flows[flows[i]], s)))
            continue;
        d->v[d->n++] = sent(r, s);
        keep_lnet(d, d->v[d->n - 1].id, lnet_messages_find(&r->lnet, i));
        while (m < r->handshakes.n_messages && r->handshakes.messages[m].seen < i)
            m++;
        if (m < r->handshakes.n_messages && r->handshakes.messages[m].seen == i) {
            d->v[d->n] = d->v[d->n - 1];
            d->v[d->n++].id++;
            d->v[d->n - 2] = told(r, s, &r->handshakes.messages[m].mad);
        }
        d->v[d->n] = arrived(&d->v[d->n - 1], s->dst, is_damaged);
        d->n++;
    }
    free(flows);
}

/* Returns the words of the message that event @tx sends, or NULL. */
static const char *lnet_of(const void *ctx, ev_id tx)
{
    const struct drawn *d = ctx;
    size_t low = 0, high = d->n_lnet;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (d->lnet[mid].tx < tx)
            low = mid + 1;
        else
            high = mid;
    }
    return low < d->n_lnet && d->lnet[low].tx == tx ? d->lnet[low].words : NULL;
}

struct drawn_frame {
    ev_id tx;
    uint8_t *bytes; /* owned */
    uint32_t n;
};

/* Returns the event in which frame @number was sent, if its bytes are wanted.  Otherwise 0.  *@at
 * is the first event that may be it: the numbers ask in their order.
 */
static ev_id wanted(const struct drawn *d, uint64_t number, size_t *at)
{
    while (*at < d->n && (ev_tick(d->v[*at].id) < number || d->v[*at].kind != EV_tx))
        ++*at;
    return *at < d->n && ev_tick(d->v[*at].id) == number ? d->v[*at].id : 0;
}

static void keep(struct drawn *d, ev_id tx, const struct capture_frame *f)
{
    struct drawn_frame *k;

    d->frames = must_grow(d->frames, d->n_frames, &d->cap_frames, sizeof(*d->frames));
    k = &d->frames[d->n_frames++];
    *k = (struct drawn_frame){.tx = tx, .bytes = must_malloc(f->n_bytes + 1), .n = f->n_bytes};
    memcpy(k->bytes, f->bytes, f->n_bytes);
}

void drawn_keep(struct drawn *d, FILE *f, ev_id from, ev_id to, size_t most)
{
    size_t at = 0, bytes = 0;
    struct capture_frame frame;
    struct capture c;
    bool ok;

    if (fseek(f, 0, SEEK_SET) != 0)
        return;
    ok = capture_begin(&c, f);
    while (ok && d->n_frames < most && capture_next(&c, &frame) == CAPTURE_FRAME) {
        const ev_id tx = wanted(d, frame.number, &at);

        if (tx == 0 || tx < from || frame.link != CAPTURE_ETHERNET)
            continue;
        bytes += frame.n_bytes;
        if ((to && tx > ev_id_last(to)) || bytes > DRAWN_BYTES_MAX)
            break;
        keep(d, tx, &frame);
    }
    capture_done(&c);
}

void drawn_done(struct drawn *d)
{
    for (size_t i = 0; i < d->n_frames; i++)
        free(d->frames[i].bytes);
    free(d->frames);
    free(d->lnet);
    free(d->v);
    ev_names_free(d->names);
}

static const struct ev *at(const void *ctx, size_t i)
{
    return &((const struct drawn *)ctx)->v[i];
}

static int compare_frames(const void *key, const void *element)
{
    const ev_id tx = *(const ev_id *)key, other = ((const struct drawn_frame *)element)->tx;

    return (tx > other) - (tx < other);
}

static const uint8_t *frame_of(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    const struct drawn *d = ctx;
    const struct drawn_frame *f =
        d->n_frames ? bsearch(&tx, d->frames, d->n_frames, sizeof(*f), compare_frames) : NULL;

    if (f)
        *ret_bytes = f->n;
    return f ? f->bytes : NULL;
}

struct past drawn_past(const struct drawn *d)
{
    return (struct past){.ctx = d,
                         .n = d->n,
                         .without_frames = d->n_frames == 0,
                         .frame_bytes_max = UINT64_MAX,
                         .names = d->names,
                         .at = at,
                         .frame = frame_of,
                         .lnet = lnet_of};
}
