/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/wire_tap.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/trace/event.h"
#include "emu/wire/parse.h"
#include "swarm/worlds/model.h"

#define RATE_DEFAULT  UINT64_C(100000000000)
#define RETRY_MAX     7u
#define LATE_NS       2000u /* delay of a device in addition to a busy line */
#define INSIDE_NS     100u  /* duration of a frame between functions of one machine */
#define WHOLE_HEADERS 110u  /* Ethernet, IPv6, UDP, BTH, extension headers, ICRC */

/* --- Frames ----------------------------------------------------------------------------------- */

static struct wire_end *end_of(struct wire_tap *t, uint32_t host, uint32_t qpn)
{
    uint16_t life;

    if (host >= t->r->w->n_hosts || qpn >= TAP_QPNS)
        return NULL;
    life = t->life_at[host][qpn];
    return life == 0 ? NULL : &t->end[life - 1];
}

/* Reports the rule @wrong, NULL if none is broken, at @psn.  @e is the watcher of the queue pair,
 * or NULL if nobody watches it.
 */
static void report(struct wire_tap *t, const char *wrong, const struct wire_end *e, uint32_t psn)
{
    if (!wrong || t->r->wrong)
        return;
    t->r->wrong = wrong;
    t->r->wrong_psn = psn;
    if (e)
        t->r->wrong_end = t->r->life[e - t->end].end;
}

static void report_wrong(struct wire_tap *t, const struct wire_end *e)
{
    if (e->wrong != FIND_COUNT)
        report(t, finding_rows[e->wrong].holds, e, e->wrong_psn.v);
}

static bool find_packet(struct wire_tap *t, uint64_t tx, struct packet *ret, size_t *ret_bytes)
{
    const uint8_t *frame = rdl_record_frame(t->r->lab, tx, ret_bytes);

    return frame && packet_parse(ret, frame, *ret_bytes) == DROP_NONE;
}

/* Compares the tx event of the last sent frame with its packet @p; the frame has @bytes. */
static void check_tx_event(struct wire_tap *t, const struct wire_end *e, const struct packet *p,
                           size_t bytes)
{
    const struct ev *sent = NULL;

    for (size_t i = rdl_record_count(t->r->lab); i > 0 && (!sent || sent->id > t->sent.tx); i--)
        sent = rdl_record_at(t->r->lab, i - 1);
    if (sent && sent->id == t->sent.tx)
        report(
            t,
            tx_event_check(e && e->is_told ? &t->sends[e - t->end] : NULL, &sent->u.tx, p, bytes),
            e, p->bth.psn.v);
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* The index of the line that @host sends by: guests have that of their machine. */
static uint32_t line_of(const struct world *w, uint32_t host)
{
    return w->n_switches == 0 ? host : world_plug(w, host);
}

static uint64_t free_ns(const struct wire_tap *t, uint32_t host)
{
    const uint64_t line = t->line_free_ns[line_of(t->r->w, host)], own = t->may_send_ns[host];

    return own > line ? own : line;
}

static bool is_of_machine(const struct world *w, uint32_t host)
{
    return w->host[host].place.on || w->host[host].place.vfs;
}

/* Counts the time of the last sent frame on its line. */
static void use_line(struct wire_tap *t)
{
    const struct world *w = t->r->w;
    const uint32_t host = t->sent.host, peer = t->sent.peer;
    const uint64_t at = t->sent.at_ns, rate = w->host[world_plug(w, host)].rate_bps;
    const uint64_t most = t->r->host[host].max_tx_bps;
    const uint64_t own = most ? wire_line_free_ns(0, at, t->sent.bytes, most) : 0;
    uint64_t *line = &t->line_free_ns[line_of(w, host)];

    if (t->may_send_ns[host] < own)
        t->may_send_ns[host] = own; /* an injected frame does not wait, and delays no other */
    if (!is_of_machine(w, host) || peer >= w->n_hosts || !world_is_inside(w, host, peer))
        *line = wire_line_free_ns(*line, at, t->sent.bytes, rate ? rate : RATE_DEFAULT);
    else if (*line < at + INSIDE_NS)
        *line = at + INSIDE_NS;
}

/* --- Frames that are sent --------------------------------------------------------------------- */

/* Passes on the last sent frame.  The recorder has its bytes when the next event is raised. */
static void show_sent(struct wire_tap *t)
{
    const uint32_t host = t->sent.host;
    struct wire_end *e = t->sent.by;
    struct packet p;
    size_t bytes;

    if (t->sent.tx == 0)
        return;
    if (find_packet(t, t->sent.tx, &p, &bytes)) {
        check_tx_event(t, e, &p, bytes);
        if (e) {
            wire_end_sent(e, &p, t->sent.at_ns, free_ns(t, host));
            report_wrong(t, e);
        }
    }
    if (host < t->r->w->n_hosts)
        use_line(t);
    t->sent.tx = 0;
}

/* --- Frames that arrive ----------------------------------------------------------------------- */

static bool is_among(const struct tap_damaged *c, uint64_t tx)
{
    for (uint32_t i = 0; i < TAP_DAMAGED && i < c->n; i++) {
        if (c->tx[i] == tx)
            return true;
    }
    return false;
}

static void remember(struct tap_damaged *c, uint64_t tx)
{
    c->tx[c->n++ % TAP_DAMAGED] = tx;
}

/* A frame that came to @host is no longer recorded: its queue pairs cannot be followed any more. */
static void lose_sight(struct wire_tap *t, uint32_t host)
{
    for (uint32_t qpn = 0; qpn < TAP_QPNS; qpn++) {
        struct wire_end *e = end_of(t, host, qpn);

        if (e)
            e->is_told = false;
    }
}

/* Passes on the frame of event @tx, which came to @host.  @rx is the event that says so, or NULL
 * if the frame was dropped.
 */
static void show_arrived(struct wire_tap *t, uint32_t host, uint64_t tx, uint64_t now_ns,
                         const struct ev_rx *rx)
{
    struct wire_end *e;
    struct packet p;
    size_t bytes;

    if (tx != 0 && !rdl_record_frame(t->r->lab, tx, &bytes))
        lose_sight(t, host);
    if (tx == 0 || !find_packet(t, tx, &p, &bytes))
        return;
    e = end_of(t, host, p.bth.dest_qpn);
    if (rx && !is_among(&t->damaged, tx))
        report(t, rx_event_check(rx, &p), e, p.bth.psn.v);
    if (!e)
        return;
    wire_end_arrived(e, &p, now_ns);
    report_wrong(t, e);
}

/* Returns true if a frame dropped for this reason never reaches a queue pair.  It has not left its
 * sender, it is for another host or partition, or its queue pair is failing or gone.
 */
static bool is_unseen(enum drop_reason reason)
{
    return reason == DROP_NOT_FOR_US || reason == DROP_BAD_PKEY || reason == DROP_QP_NOT_READY ||
           reason == DROP_NO_ROUTE;
}

/* Nobody watches queue pair @qpn of @host any more, if anybody did: its messages go whole. */
static void look_away(struct wire_tap *t, uint32_t host, uint32_t qpn)
{
    struct wire_end *e = end_of(t, host, qpn);

    if (e)
        e->is_told = false;
}

/* A message was sent whole.  It delays later packets as the frames that it stands for would, and
 * not more: their headers have at most WHOLE_HEADERS bytes each.
 */
static void use_shortcut(struct wire_tap *t, const struct ev_tx *e, uint64_t at_ns)
{
    const struct world *w = t->r->w;
    const uint64_t most = t->r->host[e->host].max_tx_bps;
    const uint32_t bytes = e->bytes + WHOLE_HEADERS * e->copied;
    uint64_t *line = &t->line_free_ns[line_of(w, e->host)];

    look_away(t, e->host, e->qpn);
    if (*line < at_ns + INSIDE_NS)
        *line = at_ns + INSIDE_NS;
    if (most)
        t->may_send_ns[e->host] = wire_line_free_ns(0, at_ns, bytes, most);
}

static void hear(void *ctx, const struct ev *e)
{
    struct wire_tap *t = ctx;

    show_sent(t);
    if (e->kind == EV_tx && e->u.tx.copied) {
        use_shortcut(t, &e->u.tx, e->at_ns);
    } else if (e->kind == EV_rx && e->u.rx.copied) {
        look_away(t, e->u.rx.host, e->u.rx.qpn);
    } else if (e->kind == EV_tx) {
        t->sent.tx = e->id;
        t->sent.at_ns = e->at_ns;
        t->sent.host = e->u.tx.host;
        t->sent.peer = e->u.tx.peer;
        t->sent.by = end_of(t, e->u.tx.host, e->u.tx.qpn);
        t->sent.bytes = (uint32_t)e->u.tx.wire_bytes;
    } else if (e->kind == EV_rx) {
        show_arrived(t, e->u.rx.host, e->u.rx.tx, e->at_ns, &e->u.rx);
    } else if (e->kind == EV_drop) {
        if (!is_unseen((enum drop_reason)e->u.drop.reason) && !is_among(&t->damaged, e->u.drop.tx))
            show_arrived(t, e->u.drop.host, e->u.drop.tx, e->at_ns, NULL);
    } else if (e->kind == EV_qp_state && e->u.qp_state.to == QPS_ERR) {
        struct wire_end *end = end_of(t, e->u.qp_state.host, e->u.qp_state.qpn);

        if (end)
            wire_end_failed(end, e->at_ns);
    } else if (e->kind == EV_fault &&
               (e->u.fault.by == FLT_CORRUPT || e->u.fault.by == FLT_TRUNCATE)) {
        remember(&t->damaged, e->id);
    }
}

enum rdl_status wire_tap_listen(struct wire_tap *t, struct world_run *r)
{
    static const enum ev_kind kinds[] = {EV_tx, EV_rx, EV_drop, EV_fault, EV_qp_state};
    struct ev_set heard = ev_set_none;
    enum rdl_status st;

    memset(t->life_at, 0, sizeof(t->life_at));
    memset(t->line_free_ns, 0, sizeof(t->line_free_ns));
    memset(t->may_send_ns, 0, sizeof(t->may_send_ns));
    t->r = r;
    t->damaged.n = 0;
    t->sent.tx = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        ev_set_add(&heard, kinds[i]);
    st = rdl_listen(r->lab, hear, t, &t->listener);
    if (st == RDL_OK)
        rdl_hear(r->lab, t->listener, &heard);
    return st;
}

/* --- Lives ------------------------------------------------------------------------------------ */

void wire_tap_begin(struct wire_tap *t, uint16_t life)
{
    const struct life *l = &t->r->life[life];
    const struct world_end *e = &t->r->w->end[l->end];
    const bool is_rxe = model_profile_is_rxe(t->r, l->end);
    const struct wire_rules rules = {
        .mtu_bytes = world_mtu_bytes(e),
        .timeout_ns = wire_ack_timeout_ns(e->timeout),
        .late_ns = LATE_NS,
        .knows_timeout = true,
        .retry_cnt = is_rxe && e->retry_cnt == RETRY_MAX ? WIRE_ENDLESS : e->retry_cnt,
        .rnr_retry = e->rnr_retry == RETRY_MAX ? WIRE_ENDLESS : e->rnr_retry,
        .max_rd_atomic = is_rxe ? world_round_up(e->max_rd_atomic) : e->max_rd_atomic,
        .sq_psn = world_psn(t->r, l->end),
        .rq_psn = world_psn(t->r, e->peer),
        .rnr_is_told_twice = is_rxe,
        .waits_in_read = is_rxe,
        .ack_ends_read = is_rxe,
    };

    wire_end_init(&t->end[life], &rules);
    tap_sends_begin(&t->sends[life]);
    t->end[life].is_told = e->type == QPT_RC;
    if (l->qpn < TAP_QPNS)
        t->life_at[e->host][l->qpn] = (uint16_t)(life + 1);
}

void wire_tap_end(struct wire_tap *t)
{
    show_sent(t);
    for (uint32_t i = 0; i < t->r->n_lives; i++) {
        const struct life *l = &t->r->life[i];

        if (l->is_closed || l->peer == WORLD_NONE || model_may_be_in_error(t->r, l) ||
            l->sends_failed)
            continue;
        wire_end_quiet(&t->end[i], 0);
        report_wrong(t, &t->end[i]);
    }
}
