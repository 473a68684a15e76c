/* SPDX-License-Identifier: MIT */
#include "cli/why/work_text.h"

#include "emu/facts/compared.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/rules.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "print/cite.h"

#define HOPS_MAX 4u /* causes between a change of the state and the packet that led to it */

const struct ev *work_of_packet(const struct past_index *x, const struct ev *tx)
{
    const uint32_t first = past_first_tx(x, tx);
    const struct ev *sent = first == PAST_NONE ? tx : past_at(x->past, first);
    const struct ev *cause = past_begun_by(x->past, sent);

    if (cause && cause->kind == EV_fetch && cause->u.fetch.qpn == tx->u.tx.qpn &&
        cause->u.fetch.wr_id == tx->u.tx.wr_id)
        return cause;
    return past_fetch_before(x, tx->u.tx.host, tx->u.tx.qpn, tx->u.tx.wr_id, sent->id);
}

/* Appends the message of o2iblnd that @work sends: " with PUT_REQ credits=1 cookie=0x2a".  The
 * first packet of the work has it.
 */
static void add_message(struct text *t, const struct past *p, const struct ev *work,
                        const struct ev *tx)
{
    char buf[PAST_LNET_BYTES];
    struct text words = text_on(buf, sizeof(buf));

    for (size_t i = past_lower_bound(p, work->id); i < p->n && past_at(p, i)->id <= tx->id; i++) {
        const struct ev *e = past_at(p, i);

        if (e->kind == EV_tx && e->u.tx.host == tx->u.tx.host && e->u.tx.qpn == tx->u.tx.qpn &&
            e->u.tx.wr_id == tx->u.tx.wr_id && past_add_lnet(&words, p, e, true)) {
            text_addf(t, " with %s", buf);
            return;
        }
    }
}

void work_add_of_packet(struct text *t, const struct past_index *x, const struct ev *tx)
{
    const bool answers = op_is_response(op_info((uint8_t)tx->u.tx.opcode));
    const struct ev *work = answers ? NULL : work_of_packet(x, tx);

    ev_names_object(x->past->names, t, tx->u.tx.host, OBJ_QP, tx->u.tx.qpn);
    if (!work) {
        text_addf(t, "'s %s psn=%u", enum_name(&enum_opcode, tx->u.tx.opcode), tx->u.tx.psn);
        return;
    }
    text_addf(t, "'s %s wr_id=%llu", enum_name(&enum_wr_opcode, work->u.fetch.op),
              (unsigned long long)work->u.fetch.wr_id);
    if (op_info((uint8_t)tx->u.tx.opcode)->kind == OPK_SEND)
        add_message(t, x->past, work, tx);
}

void work_add_refusal(struct text *t, const struct past_index *x, const struct ev *rx)
{
    const struct ev *key = past_refused_key(x, rx->u.rx.host, rx->u.rx.qpn, rx->id, true);
    const struct enum_row *rule = enum_by_value(&enum_rule, rx->u.rx.rule);

    if (rx->u.rx.rule == RULE_RESP_QP_ACCESS) {
        text_add(t, "its qp_access_flags allow the peer ");
        if (rx->u.rx.found) {
            text_add(t, "only ");
            compared_add_access(t, rx->u.rx.found);
        } else {
            text_add(t, "nothing");
        }
        text_add(t, ", and the request needs ");
        compared_add_access(t, rx->u.rx.least);
        return;
    }
    if (key) {
        rule = enum_by_value(&enum_rule, key->u.key.rule);
        text_addf(t, "of key 0x%llx for %llu bytes at 0x%llx, ", (unsigned long long)key->u.key.key,
                  (unsigned long long)key->u.key.bytes, (unsigned long long)key->u.key.addr);
    }
    cite_add(t, rule ? rule->text : "?", false);
    if (key)
        ev_add_compared(t, key, true);
    else
        ev_add_compared(t, rx, true);
}

/* Returns true if @e is a packet that a responder refused for good. */
static bool is_refusal(const struct ev *e)
{
    return e->kind == EV_rx &&
           (e->u.rx.act == ACT_NAK_INVALID || e->u.rx.act == ACT_NAK_ACCESS ||
            e->u.rx.act == ACT_NAK_OPERATIONAL || e->u.rx.act == ACT_TAKE_AND_FAIL);
}

/* Returns the refusal that the received NAK @nak tells, or NULL. */
static const struct ev *refusal_of_nak(const struct past_index *x, const struct ev *nak)
{
    const struct ev *tx = nak && nak->kind == EV_rx ? past_tx_of(x->past, nak) : NULL;
    const struct ev *rx = tx ? past_find(x->past, tx->cause) : NULL;

    return rx && is_refusal(rx) ? rx : NULL;
}

/* Returns the packet that moved a queue pair to ERR in @e, or NULL. */
static const struct ev *packet_of_state(const struct past_index *x, const struct ev *e)
{
    const struct ev *cause = past_find(x->past, e->cause);

    for (unsigned i = 0; i < HOPS_MAX && cause && cause->kind != EV_rx; i++)
        cause = past_find(x->past, cause->cause);
    return cause && cause->kind == EV_rx ? cause : NULL;
}

const struct ev *work_refusal_behind(const struct past_index *x, const struct ev *e)
{
    const struct ev *rx = e;

    if (e->kind == EV_cqe)
        rx = past_find(x->past, e->cause);
    else if (e->kind == EV_qp_state)
        rx = packet_of_state(x, e);
    return rx && is_refusal(rx) ? rx : refusal_of_nak(x, rx);
}

static void add_completion(struct text *t, const struct past_index *x, const struct ev *e)
{
    const struct ev *work = e->u.cqe.op < WC_RECV ? past_fetch_of(x, e) : NULL;

    ev_names_object(x->past->names, t, e->u.cqe.host, OBJ_QP, e->u.cqe.qpn);
    text_addf(t, "'s %s wr_id=%llu failed in ",
              work ? enum_name(&enum_wr_opcode, work->u.fetch.op)
                   : enum_name(&enum_wc_opcode, e->u.cqe.op),
              (unsigned long long)e->u.cqe.wr_id);
    ev_add_id(t, e->id);
    text_addf(t, " with %s", enum_name(&enum_wc_status, e->u.cqe.status));
}

static void add_reason_of_completion(struct text *t, const struct past_index *x, const struct ev *e)
{
    const struct enum_row *status = enum_by_value(&enum_wc_status, e->u.cqe.status);
    const struct ev *refusal = refusal_of_nak(x, past_find(x->past, e->cause));

    if (refusal) {
        text_add(t, ": ");
        ev_names_object(x->past->names, t, refusal->u.rx.host, OBJ_QP, refusal->u.rx.qpn);
        text_add(t, " refused it: ");
        work_add_refusal(t, x, refusal);
    } else if (status) {
        text_addf(t, ", %s", status->text);
    }
}

static void add_state(struct text *t, const struct past_index *x, const struct ev *e)
{
    ev_names_object(x->past->names, t, e->u.qp_state.host, OBJ_QP, e->u.qp_state.qpn);
    text_addf(t, " went to %s in ", enum_name(&enum_qp_state, e->u.qp_state.to));
    ev_add_id(t, e->id);
}

static void add_reason_of_state(struct text *t, const struct past_index *x, const struct ev *e)
{
    const struct ev *cause = packet_of_state(x, e), *tx;

    if (!cause || !is_refusal(cause))
        return;
    tx = past_tx_of(x->past, cause);
    text_add(t, ": it refused ");
    if (tx)
        work_add_of_packet(t, x, tx);
    else
        text_addf(t, "%s psn=%u", enum_name(&enum_opcode, cause->u.rx.opcode), cause->u.rx.psn);
    text_add(t, ": ");
    work_add_refusal(t, x, cause);
}

void work_add_error(struct text *t, const struct past_index *x, const struct ev *e)
{
    if (e->kind == EV_cqe)
        add_completion(t, x, e);
    else if (e->kind == EV_qp_state)
        add_state(t, x, e);
}

void work_add_failure(struct text *t, const struct past_index *x, const struct ev *e)
{
    work_add_error(t, x, e);
    if (e->kind == EV_cqe)
        add_reason_of_completion(t, x, e);
    else if (e->kind == EV_qp_state)
        add_reason_of_state(t, x, e);
}
