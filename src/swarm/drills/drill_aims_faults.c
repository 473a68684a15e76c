/* SPDX-License-Identifier: MIT */
/* The drill of aims: the faults, and the model of what they hit. */
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/packet_class.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "swarm/drills/drill_aims.h"

#define LOSSES      2u      /* most frames that one fault loses */
#define DELAY_NS    600000u /* less than the ACK timer takes */
#define HOLD_NS     100000u
#define SHORTEST    60u /* bytes that a cut frame has at least: all up to its BTH */
#define ICRC_BITS   32u
#define ECN_AT      15u /* the byte of the frame with the ECN bits, and the IPv4 checksum */
#define ECN_CE      3u
#define CHECKSUM_AT 24u
#define IPV4_AT     14u
#define IPV4_BYTES  20u

/* --- The model -------------------------------------------------------------------------------- */

static bool is_response(const struct ev *tx)
{
    return op_is_response(op_info((uint8_t)tx->u.tx.opcode));
}

static uint32_t end_of(const struct aims *s, uint32_t host, uint32_t qpn)
{
    for (uint32_t i = 0; i < AIM_ENDS; i++) {
        if (aim_host(i) == host && s->end[i].qpn == qpn)
            return i;
    }
    return AIM_NONE;
}

/* The queue pair that asks, or asked for what the frame answers. */
static uint32_t asker(const struct aims *s, const struct ev *tx)
{
    return is_response(tx) ? end_of(s, tx->u.tx.peer, tx->u.tx.dest_qpn)
                           : end_of(s, tx->u.tx.host, tx->u.tx.qpn);
}

static uint32_t message_of(const struct aims *s, const struct ev *tx)
{
    const uint32_t end = asker(s, tx);

    for (uint32_t i = 0; i < s->n_batch; i++) {
        const struct aim_message *m = &s->batch[i];

        if (m->end == end && ((tx->u.tx.psn - m->psn) & PSN_MASK) < m->n_psns)
            return i;
    }
    return AIM_NONE;
}

static bool is_of_class(const struct ev *tx, uint32_t class)
{
    const struct op_info *op = op_info((uint8_t)tx->u.tx.opcode);
    const bool acks = op->kind == OPK_ACK;

    switch ((enum packet_class) class) {
    case PKC_ANY:
        return true;
    case PKC_REQUEST:
        return !is_response(tx);
    case PKC_ANSWER:
        return is_response(tx);
    case PKC_SEND:
        return op->kind == OPK_SEND;
    case PKC_WRITE:
        return op->kind == OPK_WRITE;
    case PKC_READ_REQUEST:
        return op->kind == OPK_READ;
    case PKC_READ_RESPONSE:
        return op->kind == OPK_READ_RESPONSE;
    case PKC_ATOMIC_REQUEST:
        return op->kind == OPK_ATOMIC;
    case PKC_ATOMIC_RESPONSE:
        return op->kind == OPK_ATOMIC_ACK;
    case PKC_ACK:
        return acks && tx->u.tx.syndrome == SYN_ACK;
    case PKC_NAK:
        return acks && tx->u.tx.syndrome != SYN_ACK && tx->u.tx.syndrome != SYN_RNR_NAK;
    case PKC_RNR_NAK:
        return acks && tx->u.tx.syndrome == SYN_RNR_NAK;
    }
    return false;
}

/* The condition of a fault; its @ctx is the fault. */
static bool is_long(void *ctx, const struct ev *sent, const uint8_t *frame, size_t bytes)
{
    (void)frame;
    (void)bytes;
    const struct aim_fault *t = ctx;

    return sent->u.tx.bytes >= t->least;
}

static bool is_or_any(uint32_t wanted, uint32_t have)
{
    return wanted == AIM_NONE || wanted == have;
}

static bool asks(const struct aim_fault *t)
{
    return t->c.transmission || t->c.message || t->c.where;
}

static bool is_of_message(const struct aims *s, const struct aim_fault *t,
                          const struct aim_flight *f)
{
    return t->c.message == 0 || (f->message != AIM_NONE && s->batch[f->message].end == t->end &&
                                 s->batch[f->message].number == t->base + t->c.message - 1);
}

/* Returns true if @t selects @f at @link; AIM_NONE: where the frame leaves its host. */
static bool selects(const struct aims *s, const struct aim_fault *t, const struct aim_flight *f,
                    uint32_t link)
{
    const struct ev *tx = &f->tx;
    const uint32_t attempt = tx->u.tx.attempt ? tx->u.tx.attempt : 1;

    if (!t->exists || t->left == 0 || t->link != link ||
        (link != AIM_NONE && asks(t) && !f->is_kept))
        return false;
    return is_or_any(t->from, tx->u.tx.host) && is_or_any(t->to, tx->u.tx.peer) &&
           is_or_any(t->c.opcode, tx->u.tx.opcode) && is_or_any(t->c.psn, tx->u.tx.psn) &&
           is_or_any(t->c.dest_qpn, tx->u.tx.dest_qpn) &&
           is_or_any(t->c.syndrome, tx->u.tx.syndrome) && is_or_any(t->end, asker(s, tx)) &&
           is_of_class(tx, t->c.packet_class) && is_of_message(s, t, f) &&
           (t->c.transmission == 0 || (!is_response(tx) && attempt == t->c.transmission)) &&
           (!t->c.where || tx->u.tx.bytes >= t->least) &&
           (t->c.kind != FLT_TRUNCATE || f->bytes > t->c.to_bytes);
}

/* Lets the faults act that @f meets at @link. */
static void meet(struct aims *s, struct aim_flight *f, uint32_t link)
{
    uint32_t after = 0;

    for (;;) {
        struct aim_fault *next = NULL;

        for (uint32_t i = 0; i < AIM_FAULTS; i++) {
            struct aim_fault *t = &s->fault[i];

            if (t->number > after && (!next || t->number < next->number) && selects(s, t, f, link))
                next = t;
        }
        if (!next)
            return;
        after = next->number;
        if (++next->seen < next->c.nth)
            continue;
        next->hits++;
        next->left -= next->left != RDL_ANY;
        RDL_ASSERT(s->n_hits < AIM_EXPECT);
        /* The id of a changed frame is that of the fault's event, which is not known yet. */
        s->hit[s->n_hits++] = (struct aim_hit){next->number, next->c.kind, false, f->tx.id};
        if (next->c.kind == FLT_DROP) {
            f->bytes = 0;
            return;
        }
        if (next->c.kind == FLT_TRUNCATE)
            f->bytes = next->c.to_bytes;
    }
}

/* --- Events ----------------------------------------------------------------------------------- */

static struct aim_flight *flight_of(struct aims *s, ev_id id)
{
    for (uint32_t i = s->n_flights; i-- > 0;) {
        if (s->flight[i].id == id)
            return &s->flight[i];
    }
    return NULL;
}

/* Counts the packets of messages, and checks how often the event says that this one was sent. */
static void count(struct aims *s, const struct ev *e, uint32_t message)
{
    struct aim_message *m;
    uint32_t k;

    if (!drill_expect(s->drill, message != AIM_NONE || is_response(e),
                      "a request is of a message that was posted", "psn %u", e->u.tx.psn) ||
        is_response(e))
        return;
    m = &s->batch[message];
    k = op_info((uint8_t)e->u.tx.opcode)->kind == OPK_READ ? 0 : (e->u.tx.psn - m->psn) & PSN_MASK;
    if (k == 0 && m->sent[0] == 0)
        m->number = s->begun[m->end]++;
    m->sent[k]++;
    drill_expect(s->drill, e->u.tx.attempt == (m->sent[k] > 1 ? m->sent[k] : 0),
                 "a packet knows how often it was sent", "%u, and not %u", e->u.tx.attempt,
                 m->sent[k]);
}

static void hear_tx(struct aims *s, const struct ev *e)
{
    struct aim_flight *f = &s->flight[s->n_flights++];

    *f = (struct aim_flight){
        .id = e->id, .tx = *e, .message = message_of(s, e), .bytes = e->u.tx.wire_bytes};
    count(s, e, f->message);
    for (uint32_t i = 0; i < AIM_FAULTS; i++) {
        const struct aim_fault *t = &s->fault[i];

        f->is_kept |= t->exists && t->left > 0 && t->link != AIM_NONE && asks(t);
    }
    meet(s, f, AIM_NONE);
    if (f->bytes > 0)
        meet(s, f, e->u.tx.host);
}

/* The switch sends @f to host @to.  Its length may differ for another copy. */
static void goes_out(struct aims *s, const struct aim_flight *f, uint32_t to)
{
    struct aim_flight copy = *f;

    meet(s, &copy, to);
}

static void hear_flooded(struct aims *s, const struct ev *e)
{
    const struct aim_flight *f = flight_of(s, e->u.flooded.tx);

    for (uint32_t i = 0; f && i < AIM_HOSTS; i++) {
        if (i != f->tx.u.tx.host)
            goes_out(s, f, i);
    }
}

static bool is_change(uint32_t kind)
{
    return kind == FLT_TRUNCATE || kind == FLT_CORRUPT || kind == FLT_MARK;
}

/* Returns the next hit that must come; of losses, which come later, the one by fault @number of
 * frame
 * @of.
 */
static struct aim_hit *next_hit(struct aims *s, uint32_t number, uint32_t kind, ev_id of)
{
    for (uint32_t i = 0; i < s->n_hits; i++) {
        struct aim_hit *h = &s->hit[i];

        if (h->is_met || (h->kind == FLT_DROP) != (kind == FLT_DROP))
            continue;
        if (kind != FLT_DROP || (h->number == number && h->of == of))
            return h;
    }
    return NULL;
}

static void hear_hit(struct aims *s, uint32_t number, uint32_t kind, ev_id tx, ev_id id)
{
    struct aim_flight *f = flight_of(s, tx);
    struct aim_hit *want = f ? next_hit(s, number, kind, f->tx.id) : NULL;

    if (!drill_expect(s->drill,
                      want && want->number == number && want->kind == kind && want->of == f->tx.id,
                      "a fault hits what it selects, in the order of the faults",
                      "fault %u hits, and not %u", number, want ? want->number : 0))
        return;
    want->is_met = true;
    s->n_met++;
    if (!is_change(kind) || s->n_changes == AIM_EXPECT || s->n_flights == AIM_FLIGHTS)
        return;
    s->change[s->n_changes++] = (struct aim_change){tx, id, kind};
    /* Behind a switch other copies may still have the old id. */
    s->flight[s->n_flights] = *f;
    s->flight[s->n_flights++].id = id;
}

void aim_hear(void *ctx, const struct ev *e)
{
    struct aims *s = ctx;
    const struct aim_flight *f;

    if (s->drill->wrong || s->n_flights == AIM_FLIGHTS)
        return;
    switch (e->kind) {
    case EV_tx:
        hear_tx(s, e);
        break;
    case EV_forwarded:
        f = flight_of(s, e->u.forwarded.tx);
        if (f)
            goes_out(s, f, e->u.forwarded.port);
        break;
    case EV_flooded:
        hear_flooded(s, e);
        break;
    case EV_fault:
        hear_hit(s, e->u.fault.fault, e->u.fault.by, e->u.fault.tx, e->id);
        break;
    case EV_lost:
        hear_hit(s, e->u.lost.fault, e->u.lost.by, e->u.lost.tx, e->id);
        break;
    default:
        break;
    }
}

/* --- What changed ----------------------------------------------------------------------------- */

/* Returns true if the @n bytes @a and @b differ in one bit only: bit @bit. */
static bool is_flipped(const uint8_t *a, const uint8_t *b, size_t n, size_t bit)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t flip = i == bit / 8 ? (uint8_t)(0x80u >> bit % 8) : 0;

        if ((a[i] ^ b[i]) != flip)
            return false;
    }
    return true;
}

static bool is_marked(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint8_t want[IPV4_BYTES];

    memcpy(want, a + IPV4_AT, IPV4_BYTES);
    want[ECN_AT - IPV4_AT] |= ECN_CE;
    st_be16(want + (CHECKSUM_AT - IPV4_AT), 0);
    st_be16(want + (CHECKSUM_AT - IPV4_AT), rig_sum(0, want, IPV4_BYTES));
    return memcmp(a, b, IPV4_AT) == 0 && memcmp(want, b + IPV4_AT, IPV4_BYTES) == 0 &&
           memcmp(a + IPV4_AT + IPV4_BYTES, b + IPV4_AT + IPV4_BYTES, n - IPV4_AT - IPV4_BYTES) ==
               0;
}

/* Returns true if the lengths in the headers of the frame are those of the frame. */
static bool is_whole(const uint8_t *frame, size_t bytes)
{
    return ld_be16(frame + IPV4_AT + 2) + (size_t)IPV4_AT == bytes;
}

static bool change_is_right(struct drill *d, const struct aim_change *c)
{
    size_t n_before = 0, n_after = 0;
    const uint8_t *before = rdl_record_frame(d->lab, c->before, &n_before);
    const uint8_t *after = rdl_record_frame(d->lab, c->after, &n_after);
    bool right;

    if (!before || !after)
        return true; /* the record has forgotten it */
    if (c->kind == FLT_TRUNCATE)
        right = n_after < n_before && n_after >= SHORTEST && memcmp(before, after, n_after) == 0;
    else if (n_after != n_before)
        right = false;
    else if (c->kind == FLT_MARK)
        right = is_marked(before, after, n_after);
    else
        right = is_flipped(before, after, n_after,
                           n_after * 8 - 1 - (is_whole(before, n_before) ? ICRC_BITS : 0));
    return drill_expect(d, right, "a fault changes what it says, and nothing else",
                        "kind %u: %zu bytes of %zu, or others", c->kind, n_after, n_before);
}

static bool number_is(struct drill *d, const char *name, const char *leaf, uint64_t want)
{
    char path[2 * RDL_NAME_BYTES];

    snprintf(path, sizeof(path), "%s.%s", name, leaf);
    return drill_number_is(d, path, want, "a fault counts what it has seen and hit");
}

void aim_judges_faults(struct drill *d)
{
    struct aims *s = d->own;

    if (!drill_expect(d, s->n_met == s->n_hits, "a fault hits all that it selects", "%u of %u",
                      s->n_met, s->n_hits))
        return;
    for (uint32_t i = 0; i < s->n_changes; i++) {
        if (!change_is_right(d, &s->change[i]))
            return;
    }
    for (uint32_t i = 0; i < AIM_FAULTS; i++) {
        const struct aim_fault *t = &s->fault[i];

        if (t->exists &&
            (!number_is(d, t->name, "seen", t->seen) || !number_is(d, t->name, "hits", t->hits)))
            return;
    }
}

/* --- Faults ----------------------------------------------------------------------------------- */

/* Draws one criterion more. */
static void draw_criterion(struct drill *d, struct aim_fault *t)
{
    static const uint32_t opcodes[] = {OP_RC_SEND_ONLY,         OP_RC_SEND_FIRST,
                                       OP_RC_RDMA_WRITE_LAST,   OP_RC_RDMA_WRITE_ONLY,
                                       OP_RC_RDMA_READ_REQUEST, OP_RC_ACKNOWLEDGE};
    static const uint32_t syndromes[] = {SYN_ACK, SYN_RNR_NAK, SYN_NAK_PSN_SEQUENCE};
    const struct aims *s = d->own;

    switch (drill_below(d, 11)) {
    case 0:
        t->from = drill_below(d, AIM_HOSTS);
        break;
    case 1:
        t->to = drill_below(d, AIM_HOSTS);
        break;
    case 2:
        t->c.opcode = opcodes[drill_below(d, ARRAY_LEN(opcodes))];
        break;
    case 3:
        t->c.syndrome = syndromes[drill_below(d, ARRAY_LEN(syndromes))];
        break;
    case 4:
        t->c.psn = s->psn[drill_below(d, AIM_ENDS)];
        t->c.psn = (t->c.psn + drill_below(d, 8)) & PSN_MASK;
        break;
    case 5:
        t->c.dest_qpn = s->end[drill_below(d, AIM_ENDS)].qpn;
        break;
    case 6:
        t->c.packet_class = drill_below(d, PKC_RNR_NAK + 1);
        break;
    case 7:
        t->c.transmission = 1 + drill_below(d, 2);
        break;
    case 8:
        t->end = drill_below(d, AIM_ENDS);
        t->c.message = 1 + drill_below(d, 3);
        break;
    case 9:
        t->least = 1 + drill_below(d, AIM_MTU);
        t->c.where = is_long;
        t->c.where_ctx = t;
        break;
    default:
        t->end = drill_below(d, AIM_ENDS);
        break;
    }
}

static void draw_fault(struct drill *d, struct aim_fault *t)
{
    static const uint32_t kinds[] = {FLT_DROP,    FLT_DROP,     FLT_DUPLICATE, FLT_DELAY, FLT_DELAY,
                                     FLT_CORRUPT, FLT_TRUNCATE, FLT_REORDER,   FLT_MARK};
    const uint32_t n = 1 + drill_below(d, 3);
    bool loses;

    *t = (struct aim_fault){.from = AIM_NONE, .to = AIM_NONE, .end = AIM_NONE, .link = AIM_NONE};
    t->c = (struct rdl_fault_config){.opcode = RDL_ANY,
                                     .syndrome = RDL_ANY,
                                     .psn = RDL_ANY,
                                     .dest_qpn = RDL_ANY,
                                     .corrupt_bit = RDL_ANY};
    t->c.kind = kinds[drill_below(d, ARRAY_LEN(kinds))];
    for (uint32_t i = 0; i < n; i++)
        draw_criterion(d, t);
    if (drill_one_in(d, 3))
        t->link = drill_below(d, AIM_HOSTS);
    t->c.nth = drill_one_in(d, 2) ? 1 : 1 + drill_below(d, 4);
    loses = t->c.kind == FLT_DROP || t->c.kind == FLT_CORRUPT || t->c.kind == FLT_TRUNCATE;
    t->left = !loses && drill_one_in(d, 2) ? RDL_ANY : 1 + drill_below(d, LOSSES);
    t->c.count = t->left;
    if (t->c.kind == FLT_DELAY || t->c.kind == FLT_DUPLICATE)
        t->c.delay_ns = 1 + drill_below(d, DELAY_NS);
    if (t->c.kind == FLT_REORDER) {
        t->c.hold_frames = 1 + drill_below(d, 3);
        t->c.delay_ns = 1 + drill_below(d, HOLD_NS);
    }
    if (t->c.kind == FLT_TRUNCATE)
        t->c.to_bytes = SHORTEST + drill_below(d, AIM_MTU);
}

void aim_adds_fault(struct drill *d)
{
    struct aims *s = d->own;
    struct aim_fault *t = s->fault;

    while (t < s->fault + AIM_FAULTS && t->exists)
        t++;
    if (t == s->fault + AIM_FAULTS)
        return;
    draw_fault(d, t);
    t->number = ++s->n_faults_made;
    snprintf(t->name, sizeof(t->name), "f%u", t->number);
    t->c.name = drill_one_in(d, 2) ? t->name : NULL;
    if (t->from != AIM_NONE)
        t->c.from = s->host[t->from];
    if (t->to != AIM_NONE)
        t->c.to = s->host[t->to];
    if (t->end != AIM_NONE) {
        t->c.qp = s->end[t->end].qp;
        t->base = s->begun[t->end];
    }
    if (t->link != AIM_NONE)
        t->c.link = s->link[t->link];
    t->exists = drill_works(d, rdl_fault_add(d->lab, &t->c, &t->handle), "a fault can be added");
}

void aim_removes_fault(struct drill *d)
{
    struct aims *s = d->own;
    struct aim_fault *t = &s->fault[drill_below(d, AIM_FAULTS)];

    if (!t->exists)
        return;
    t->exists = false;
    if (!drill_works(d, rdl_fault_remove(d->lab, t->handle), "a fault can be removed"))
        return;
    drill_expect(d, rdl_fault_remove(d->lab, t->handle) == RDL_ERR_STALE,
                 "a fault can be removed once", "twice");
}

void aim_is_refused(struct drill *d)
{
    const struct aims *s = d->own;
    struct aim_fault t;
    enum rdl_status want = RDL_ERR_INVAL, have;
    rdl_fault f = {0};

    draw_fault(d, &t);
    t.c.where = NULL;
    t.c.message = 0;
    switch (drill_below(d, 9)) {
    case 0:
        t.c.nth = 0;
        break;
    case 1:
        t.c.count = 0;
        break;
    case 2:
        t.c.message = 1;
        break;
    case 3:
        t.c.packet_class = PKC_RNR_NAK + 1;
        break;
    case 4:
        t.c.delay_ns = ((uint64_t)1 << 50) + 1;
        break;
    case 5:
        t.c.kind = drill_one_in(d, 2) ? FLT_STUCK_QUEUE : FLT_NONE;
        break;
    case 6:
        t.c.link.raw = s->link[AIM_HOSTS - 1].raw + 1;
        want = RDL_ERR_STALE;
        break;
    case 7:
        t.c.to.raw = s->host[AIM_HOSTS - 1].raw + 1;
        want = RDL_ERR_STALE;
        break;
    default:
        t.c.name = "h1";
        want = RDL_ERR_EXISTS;
        break;
    }
    have = rdl_fault_add(d->lab, &t.c, &f);
    drill_expect(d, have == want, "a fault that cannot be is refused", "%s, and not %s",
                 rdl_status_name(have), rdl_status_name(want));
}
