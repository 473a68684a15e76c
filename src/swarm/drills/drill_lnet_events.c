/* SPDX-License-Identifier: MIT */
/* The drill of LNet: the events that programs get.  Each PUT and GET ends exactly once, on both
 * sides, as the rules say; with its end the bytes are there.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "emu/base/min.h"
#include "emu/facts/enum/lnet_event_kind.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/trace/event.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/drill_lnet.h"

/* --- Memory ----------------------------------------------------------------------------------- */

/* Copies what @md has from @offset on to @ret: of a source what it must be, of a sink what is in
 * guest memory.
 */
static bool gather(struct drill *d, const struct ln_md *md, uint32_t offset, uint32_t bytes,
                   uint8_t *ret)
{
    const struct lnets *s = lnets_of(d);
    const struct ln_host *h = &s->host[md->host];

    for (uint32_t i = 0; i < md->n && bytes > 0; i++) {
        const struct ln_piece *p = &md->pieces[i];
        const uint32_t skip = min_u32(offset, p->bytes), n = min_u32(p->bytes - skip, bytes);

        offset -= skip;
        bytes -= n;
        for (uint32_t k = 0; k < n && !md->is_sink; k++)
            ret[k] = ln_byte(md->host, p->chunk, p->at + skip + k);
        if (md->is_sink && n > 0 &&
            !drill_works(d, rdl_mem_read(d->lab, h->host, h->base[p->chunk] + p->at + skip, ret, n),
                         "memory can be read"))
            return false;
        ret += n;
    }
    return true;
}

/* The bytes of the sink @md are expected to stay as they are now. */
static bool keep(struct drill *d, const struct ln_md *md, uint32_t offset, uint32_t bytes)
{
    struct lnets *s = lnets_of(d);
    struct ln_host *h = &s->host[md->host];

    for (uint32_t i = 0; i < md->n && bytes > 0; i++) {
        const struct ln_piece *p = &md->pieces[i];
        const uint32_t skip = min_u32(offset, p->bytes), n = min_u32(p->bytes - skip, bytes);
        const uint32_t at = p->at + skip;

        offset -= skip;
        bytes -= n;
        if (n == 0 || at >= ln_chunk_bytes(s, p->chunk))
            continue;
        if (!drill_works(d,
                         rdl_mem_read(d->lab, h->host, h->base[p->chunk] + at,
                                      h->sink[p->chunk] + (at - s->source_bytes[p->chunk]), n),
                         "memory can be read"))
            return false;
    }
    return true;
}

/* Compares @bytes of the sink @to from @at on with those of the source @from. */
static bool verify(struct drill *d, const struct ln_md *to, uint32_t at, const struct ln_md *from,
                   const struct ln_op *op)
{
    struct lnets *s = lnets_of(d);
    const uint32_t offset = op->is_get ? op->at : 0, n = op->mlength;
    uint32_t i = 0;

    if (!gather(d, to, at, n, s->have) || !gather(d, from, offset, n, s->want))
        return false;
    while (i < n && s->have[i] == s->want[i])
        i++;
    d->n_bytes += n;
    return drill_expect(d, i == n, "the bytes of a message are there when it is over",
                        "h%u to h%u, %u bytes: byte %u is 0x%02x, and not 0x%02x", op->from + 1,
                        op->to + 1, n, i, s->have[i], s->want[i]) &&
           keep(d, to, at, n);
}

/* Messages that never end, because a device is at fault, may have written something. */
static bool keep_all(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    for (uint32_t i = 0; i < s->n_ops; i++) {
        const struct ln_op *op = &s->ops[i];

        if (op->is_get && !op->is_answered && !keep(d, &s->mds[op->md], 0, op->bytes))
            return false;
        if (!op->is_get && op->match != LN_NONE && !op->is_over &&
            !keep(d, &s->mds[op->match], op->at, op->mlength))
            return false;
    }
    return true;
}

bool ln_check_sinks(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    if (s->is_hampered && !keep_all(d))
        return false;

    for (unsigned k = 0; k < s->n_hosts; k++) {
        const struct ln_host *h = &s->host[k];

        for (uint32_t c = 0; c < LN_CHUNKS; c++) {
            const uint64_t base = h->base[c] + s->source_bytes[c];
            uint32_t i = 0, n = s->sink_bytes[c];

            if (!drill_works(d, rdl_mem_read(d->lab, h->host, base, s->have, n),
                             "memory can be read"))
                return false;
            if (memcmp(s->have, h->sink[c], n) == 0)
                continue;
            while (s->have[i] == h->sink[c][i])
                i++;
            return drill_expect(d, false, "no byte changes but those of a message",
                                "h%u, chunk %u: byte %u", k + 1, c, i);
        }
    }
    return true;
}

static void disown(struct lnets *s, const struct ln_md *md)
{
    for (uint32_t i = 0; i < md->n && md->is_sink; i++) {
        const struct ln_piece *p = &md->pieces[i];

        if (p->at < ln_chunk_bytes(s, p->chunk))
            memset(s->host[md->host].owner[p->chunk] + (p->at - s->source_bytes[p->chunk]), 0,
                   p->bytes);
    }
}

void ln_forget(struct lnets *s, uint32_t md)
{
    ln_unlist(s, md);
    s->mds[md].is_live = false;
    disown(s, &s->mds[md]);
}

/* --- The initiator ---------------------------------------------------------------------------- */

/* Returns true if @op may end with @status, although the rules do not say so. */
static bool is_excused(const struct lnets *s, const struct ln_op *op, int status)
{
    if (s->mood == LN_ROUGH || s->is_hampered || s->is_ending)
        return status < 0;
    return !ln_can_ask(s, op->from, op->to) &&
           (status == -ECONNREFUSED || status == -EPROTO || status == -ETIMEDOUT);
}

static bool is_event(struct drill *d, const struct ln_op *op, int want, int have, const char *what)
{
    return drill_expect(d, have == want || is_excused(lnets_of(d), op, have), what,
                        "h%u to h%u, %s of %u bytes: %d, and not %d", op->from + 1, op->to + 1,
                        op->is_get ? "GET" : "PUT", op->bytes, have, want);
}

/* A use of @md is over: the event says whether it goes with that. */
static bool end_use(struct drill *d, uint32_t number, const struct rdl_lnet_event *e)
{
    struct lnets *s = lnets_of(d);
    struct ln_md *md = &s->mds[number];
    bool goes;

    if (!drill_expect(d, md->is_live && md->handle == e->md && md->users > 0,
                      "an event names the memory that was used", "memory %" PRIu64, e->md) ||
        !drill_expect(d, e->user == number, "an event returns the user's number", "%" PRIu64,
                      e->user))
        return false;
    md->users--;
    goes = md->is_ending && md->users == 0;
    if (!drill_expect(d, e->unlinked == goes, "memory goes with its last user",
                      "memory %" PRIu64 " %s", e->md, goes ? "stays" : "goes"))
        return false;
    if (goes)
        ln_forget(s, number);
    return true;
}

static bool has_fields(struct drill *d, const struct rdl_lnet_event *e,
                       const struct rdl_lnet_event *want)
{
    return drill_expect(
        d,
        e->initiator == want->initiator && e->bits == want->bits && e->hdr_data == want->hdr_data &&
            e->portal == want->portal && e->offset == want->offset && e->mlength == want->mlength &&
            e->rlength == want->rlength,
        "an event describes its message",
        "kind %u: portal %u, offset %u, mlength %u of %u; rlength %u of %u", e->kind, e->portal,
        e->offset, e->mlength, want->mlength, e->rlength, want->rlength);
}

/* The fields of an event of the call itself. */
static struct rdl_lnet_event of_call(const struct lnets *s, const struct ln_op *op)
{
    return (struct rdl_lnet_event){.initiator = ln_nid(s, op->from),
                                   .bits = op->bits,
                                   .hdr_data = op->hdr_data,
                                   .portal = op->portal,
                                   .rlength = op->bytes};
}

static void hear_send(struct drill *d, struct ln_op *op, const struct rdl_lnet_event *e)
{
    struct lnets *s = lnets_of(d);
    struct rdl_lnet_event want = of_call(s, op);
    const bool is_small = op->bytes <= LN_IMMEDIATE;
    const int error = op->local_error ? op->local_error : is_small ? 0 : op->initiator_error;

    if (!drill_expect(d, !op->is_sent, "a message is sent once", "0x%" PRIx64, op->bits) ||
        !is_event(d, op, -error, e->status, "a message ends at its sender as the rules say"))
        return;
    op->is_sent = true;
    op->status = e->status;
    if (!drill_expect(d, e->status < 0 || is_small || op->is_received,
                      "a transfer is over when its peer has answered", "0x%" PRIx64, op->bits) ||
        !drill_expect(d, op->told == 0 || op->told == e->status || op->is_get,
                      "no ACK comes of a message that was not sent", "%d, and %d", op->told,
                      e->status))
        return;
    if (e->status == 0)
        want.mlength = op->bytes;
    if (has_fields(d, e, &want))
        end_use(d, op->md, e);
}

/* An answer has come, or is not expected any more. */
static bool take_answer(struct drill *d, struct ln_op *op, int status)
{
    struct ln_md *md = &lnets_of(d)->mds[op->md];
    /* An ACK names memory, and not a PUT: it may stand for another one if there are several. */
    const bool is_any = md->op == LN_NONE && (op->told < 0 || status < 0);

    if (!drill_expect(d, (is_any || !op->is_answered) && md->answers > 0 && !op->was_unlinked,
                      "an answer comes once", "0x%" PRIx64, op->bits))
        return false;
    op->is_answered = true;
    md->answers--;
    return true;
}

static void hear_ack(struct drill *d, struct ln_op *op, const struct rdl_lnet_event *e)
{
    const struct lnets *s = lnets_of(d);
    struct rdl_lnet_event want = of_call(s, op);

    if (!drill_expect(d, op->wants_ack, "an ACK was wanted", "0x%" PRIx64, op->bits) ||
        !take_answer(d, op, e->status))
        return;
    op->told = e->status;
    if (e->status == 0) {
        want = (struct rdl_lnet_event){
            .initiator = ln_nid(s, op->to), .bits = op->bits, .mlength = op->mlength};
        if (!drill_expect(d,
                          op->match != LN_NONE && op->is_over && op->done == 0 &&
                              !(s->mds[op->match].options & RDL_LNET_NO_ACK),
                          "an ACK comes of a PUT that has succeeded", "0x%" PRIx64, op->bits))
            return;
    }
    if (has_fields(d, e, &want))
        end_use(d, op->md, e);
}

/* The data of a GET has come by RDMA WRITE, or it has failed. */
static void hear_done(struct drill *d, struct ln_op *op, const struct rdl_lnet_event *e)
{
    struct lnets *s = lnets_of(d);
    struct rdl_lnet_event want = of_call(s, op);
    const struct ln_md *to = &s->mds[op->md];

    want.initiator = ln_nid(s, op->to);
    if (!drill_expect(d, !op->is_answered, "a GET ends once", "0x%" PRIx64, op->bits) ||
        !drill_expect(d, op->is_sent && e->status == op->status,
                      "the REPLY of a transfer follows its SEND, with the same status",
                      "0x%" PRIx64, op->bits))
        return;
    op->is_answered = true;
    op->told = e->status;
    ln_end_grants(s, (uint32_t)(op - s->ops), op->from);
    if (e->status == 0) {
        want.mlength = op->mlength;
        if (!drill_expect(d, op->is_received && op->match != LN_NONE,
                          "data comes of memory that matches", "0x%" PRIx64, op->bits) ||
            !verify(d, to, 0, &s->mds[op->match], op))
            return;
    } else if (!keep(d, to, 0, op->bytes)) {
        return;
    }
    if (has_fields(d, e, &want))
        end_use(d, op->md, e);
}

static void hear_reply(struct drill *d, struct ln_op *op, const struct rdl_lnet_event *e)
{
    struct lnets *s = lnets_of(d);
    const bool has_come = e->initiator == ln_nid(s, op->to);
    struct rdl_lnet_event want = {
        .initiator = ln_nid(s, op->to), .rlength = op->mlength, .mlength = op->mlength};

    if (op->bytes > LN_IMMEDIATE) {
        hear_done(d, op, e);
        return;
    }
    if (!take_answer(d, op, e->status))
        return;
    if (!has_come) { /* the GET could not be sent */
        want = of_call(s, op);
        op->told = e->status;
        if (drill_expect(d, is_excused(s, op, e->status), "a GET is sent", "%d", e->status) &&
            has_fields(d, e, &want))
            end_use(d, op->md, e);
        return;
    }
    if (!drill_expect(d, op->match != LN_NONE && op->target_error == 0,
                      "data comes of memory that matches", "0x%" PRIx64, op->bits) ||
        !is_event(d, op, -op->initiator_error, e->status, "a REPLY ends as the rules say"))
        return;
    if (e->status == 0 ? !verify(d, &s->mds[op->md], 0, &s->mds[op->match], op)
                       : !keep(d, &s->mds[op->md], 0, op->mlength))
        return;
    want.mlength = e->status ? 0 : op->mlength;
    if (has_fields(d, e, &want))
        end_use(d, op->md, e);
}

/* --- The target ------------------------------------------------------------------------------- */

static void hear_target(struct drill *d, struct ln_op *op, const struct rdl_lnet_event *e)
{
    struct lnets *s = lnets_of(d);
    struct rdl_lnet_event want = of_call(s, op);

    if (!drill_expect(d, op->match != LN_NONE && !op->is_over,
                      "memory is told of each message that matches it once", "0x%" PRIx64,
                      op->bits) ||
        !drill_expect(d, op->is_get == (e->kind == LNET_EVENT_GET),
                      "the event of a message has its kind", "%u", e->kind) ||
        !is_event(d, op, -op->target_error, e->status,
                  "a message ends at its target as the rules say"))
        return;
    op->is_over = true;
    op->done = e->status;
    ln_end_grants(s, (uint32_t)(op - s->ops), op->to);
    if (op->is_get)
        want.hdr_data = 0;
    want.offset = op->at;
    want.mlength = e->status ? 0 : op->mlength;
    if (!op->is_get) {
        const struct ln_md *to = &s->mds[op->match];

        if (e->status || op->is_mixed ? !keep(d, to, op->at, op->mlength)
                                      : !verify(d, to, op->at, &s->mds[op->md], op))
            return;
    }
    if (has_fields(d, e, &want))
        end_use(d, op->match, e);
}

/* --- All of them ------------------------------------------------------------------------------ */

/* The call that @e of @host is about; NULL: none. */
static struct ln_op *call_of(struct lnets *s, unsigned host, const struct rdl_lnet_event *e)
{
    uint64_t number = (e->bits >> 16) - 1;

    if (e->bits == 0 && e->kind == LNET_EVENT_REPLY && e->user < s->n_mds)
        number = s->mds[e->user].op;
    if (number >= s->n_ops)
        return NULL;
    if (e->bits != 0 && s->ops[number].bits != e->bits)
        return NULL;
    if (e->kind == LNET_EVENT_PUT || e->kind == LNET_EVENT_GET)
        return s->ops[number].to == host ? &s->ops[number] : NULL;
    return s->ops[number].from == host ? &s->ops[number] : NULL;
}

static void judge(struct drill *d, unsigned host, const struct rdl_lnet_event *e)
{
    struct ln_op *op = call_of(lnets_of(d), host, e);

    if (!drill_expect(d, op != NULL, "an event is of a call",
                      "h%u: kind %u, bits 0x%" PRIx64 ", memory %" PRIu64, host + 1, e->kind,
                      e->bits, e->md))
        return;
    switch (e->kind) {
    case LNET_EVENT_SEND:
        hear_send(d, op, e);
        break;
    case LNET_EVENT_ACK:
        hear_ack(d, op, e);
        break;
    case LNET_EVENT_REPLY:
        hear_reply(d, op, e);
        break;
    default:
        hear_target(d, op, e);
        break;
    }
}

void ln_drain(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    for (unsigned i = 0; i < s->n_hosts; i++) {
        struct ln_host *h = &s->host[i];
        const uint64_t n = rdl_lnet_event_count(d->lab, h->host);
        struct rdl_lnet_event e;

        while (h->n_heard < n && !d->wrong) {
            if (drill_expect(d, rdl_lnet_event_at(d->lab, h->host, h->n_heard++, &e),
                             "a node remembers its last events", "h%u", i + 1))
                judge(d, i, &e);
        }
    }
}

/* No access with a key is refused, each message finds a receive, no work request is wrong. */
static void hear_transport(struct drill *d, const struct ev *e)
{
    struct lnets *s = lnets_of(d);

    if (e->kind == EV_rx) {
        drill_expect(
            d,
            e->u.rx.syndrome <= SYN_ACK || e->u.rx.syndrome == SYN_NAK_PSN_SEQUENCE ||
                (e->u.rx.syndrome == SYN_RNR_NAK && (s->was_stuck || ln_may_lack_receives(s, e))),
            "no peer refuses a message or a key", "%s",
            enum_name(&enum_syndrome, e->u.rx.syndrome));
        return;
    }
    drill_expect(d,
                 e->u.cqe.status == WCS_SUCCESS || e->u.cqe.status == WCS_WR_FLUSH_ERR ||
                     (e->u.cqe.status == WCS_RETRY_EXC_ERR && s->mood == LN_ROUGH) ||
                     (e->u.cqe.status == WCS_RNR_RETRY_EXC_ERR && s->was_stuck),
                 "no work request fails but those of connections that end", "%s",
                 enum_name(&enum_wc_status, e->u.cqe.status));
}

void ln_hear(void *ctx, const struct ev *e)
{
    struct drill *d = ctx;

    if (d->wrong)
        return;
    if (e->kind == EV_rx || e->kind == EV_cqe) {
        hear_transport(d, e);
        if (e->kind == EV_cqe)
            ln_hear_completion(d, e);
        return;
    }
    ln_drain(d);
    if (d->wrong)
        return;
    if (e->kind == EV_lnet_sent)
        ln_hear_sent(d, e);
    else if (e->kind == EV_lnet_received)
        ln_hear_received(d, e);
    else if (e->kind == EV_lnet_state)
        ln_hear_state(d, e);
    else if (e->kind == EV_lnet_region)
        ln_hear_region(d, e);
    else if (e->kind == EV_lnet_reject)
        ln_hear_reject(d, e);
}

/* --- At rest ---------------------------------------------------------------------------------- */

/* Returns true if the ACK or REPLY of @op must have come. */
static bool is_owed(const struct lnets *s, const struct ln_op *op)
{
    const bool taken = op->match != LN_NONE && op->is_over && op->done == 0;

    if (op->was_unlinked || (op->is_get ? op->bytes > LN_IMMEDIATE : !op->wants_ack))
        return false;
    if (op->status < 0)
        return true;
    return taken && (op->is_get || !(s->mds[op->match].options & RDL_LNET_NO_ACK));
}

bool ln_check_host(struct drill *d, unsigned host)
{
    const struct lnets *s = lnets_of(d);

    ln_drain(d);
    for (uint32_t i = 0; i < s->n_ops && !d->wrong; i++) {
        const struct ln_op *op = &s->ops[i];

        drill_expect(d,
                     (op->from != host || op->is_sent) &&
                         (op->to != host || op->match == LN_NONE || op->is_over),
                     "the messages of a node end before it goes", "h%u, 0x%" PRIx64, host + 1,
                     op->bits);
    }
    return !d->wrong;
}

bool ln_check_ends(struct drill *d)
{
    struct lnets *s = lnets_of(d);
    const bool is_strict = s->mood != LN_ROUGH;

    ln_drain(d);
    for (uint32_t i = s->n_checked; i < s->n_ops && !d->wrong && !s->is_hampered; i++) {
        const struct ln_op *op = &s->ops[i];
        const char *kind = op->is_get ? "GET" : "PUT";

        if (!drill_expect(d, op->is_sent, "each message ends at its initiator",
                          "h%u to h%u, %s of %u bytes", op->from + 1, op->to + 1, kind,
                          op->bytes) ||
            !drill_expect(d, op->match == LN_NONE || op->is_over, "each message ends at its target",
                          "h%u to h%u, %s of %u bytes", op->from + 1, op->to + 1, kind,
                          op->bytes) ||
            !drill_expect(d, !is_strict || op->is_received || op->status < 0,
                          "each message that was sent has come", "h%u to h%u, %s of %u bytes",
                          op->from + 1, op->to + 1, kind, op->bytes) ||
            !drill_expect(d, !is_strict || !is_owed(s, op) || op->is_answered, "each answer comes",
                          "h%u to h%u, %s of %u bytes", op->from + 1, op->to + 1, kind, op->bytes))
            return false;
    }
    s->n_checked = s->n_ops;
    return !d->wrong;
}
