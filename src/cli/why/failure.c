/* SPDX-License-Identifier: MIT */
#include "cli/why/failure.h"

#include "cli/why/fate_text.h"
#include "cli/why/overcome.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/opcode.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rules.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "emu/wire/lnet.h"
#include "print/cite.h"
#include "print/show_text.h"

#define ATTEMPTS_SHOWN_MAX 16u
#define DETAIL_INDENT      10u

void show_detail(FILE *out, const struct past *p, const struct ev *e)
{
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    past_add_line(&t, p, e);
    show_wrap(out, DETAIL_INDENT, buf);
}

/* Prints a word and its meaning: "  MR_RANGE: every byte must lie inside the region [...]". */
static void print_word(FILE *out, const struct enum_table *words, uint32_t value)
{
    const struct enum_row *row = enum_by_value(words, value);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!row)
        return;
    text_addf(&t, "%s: ", row->name);
    cite_add(&t, row->text, false);
    show_wrap(out, 2, buf);
}

/* Prints tx event @e as one transmission of its packet, with its fate. */
static void print_attempt(FILE *out, const struct past_index *x, const struct ev *e)
{
    char buf[SHOW_LINE_BYTES], lead[48];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));

    text_add(&l, "    ");
    ev_add_id(&l, e->id);
    text_addf(&t, "psn=%u, transmission %u, ", e->u.tx.psn, tx_attempt(e));
    fate_add(&t, x, e);
    show_wrap_behind(out, lead, 12, buf);
}

/* Prints the transmissions before @first, the first one with this PSN.  For a READ, these are
 * requests that began at an earlier PSN and asked for more.  Returns their number.
 */
static unsigned print_earlier(FILE *out, const struct past_index *x, const struct ev *first)
{
    const struct ev *earlier[ATTEMPTS_SHOWN_MAX], *e = first;
    unsigned n = 0;

    while (op_info((uint8_t)e->u.tx.opcode)->kind == OPK_READ && tx_attempt(e) > 1 &&
           n < ATTEMPTS_SHOWN_MAX) {
        const struct ev *before = past_last_asked(x, e->u.tx.host, e->u.tx.qpn, e->u.tx.psn, e->id);

        if (!before || before->u.tx.wr_id != e->u.tx.wr_id)
            break;
        earlier[n++] = e = before;
    }
    if (tx_attempt(e) > 1)
        fprintf(out, "    ... earlier transmissions are not recorded (any more)\n");
    for (unsigned i = n; i > 0; i--)
        print_attempt(out, x, earlier[i - 1]);
    return n;
}

/* Explains the drop reason of the packet of tx event @e, if it was dropped. */
static void print_drop_reason(FILE *out, const struct past_index *x, const struct ev *e)
{
    const struct fate f = fate_of(x, e);

    if (f.end && f.end->kind == EV_drop)
        print_word(out, &enum_drop, f.end->u.drop.reason);
}

/* Prints the transmissions of the packet that the requester gave up on. */
static void print_attempts(FILE *out, const struct past_index *x, const struct ev *cqe)
{
    const struct ev *last = past_last_tx_of_request(x, cqe);
    unsigned n = 0;

    for (uint32_t i = last ? past_first_tx(x, last) : PAST_NONE; i != PAST_NONE; i = x->after[i]) {
        const struct ev *e = past_at(x->past, i);

        if (e->id > last->id)
            break;
        if (e->u.tx.wr_id != last->u.tx.wr_id)
            continue; /* the PSN has wrapped around */
        if (n == 0)
            n = print_earlier(out, x, e);
        if (++n > ATTEMPTS_SHOWN_MAX) {
            fprintf(out, "    ... and more\n");
            break;
        }
        print_attempt(out, x, e);
    }
    if (last)
        print_drop_reason(out, x, last);
}

/* Returns the rx event that shows that the receiver expects different PSNs: the first transmission
 * @e arrived, but was not in sequence.  Returns NULL otherwise.
 */
static const struct ev *disagreement(const struct past_index *x, const struct ev *e)
{
    const struct fate f = fate_of(x, e);
    const struct ev *rx = f.kind == FATE_ARRIVED ? f.end : NULL;

    if (tx_attempt(e) != 1 || !rx || rx->kind != EV_rx || rx->u.rx.rule != RULE_RESP_PSN)
        return NULL;
    /* If the expected packet was sent and lost, both ends agree. */
    return past_last_tx(x, e->u.tx.host, e->u.tx.qpn, (uint32_t)rx->u.rx.least, ev_id_last(e->id))
               ? NULL
               : rx;
}

/* Explains that the two ends were configured with different PSNs.  It looks like a network that
 * loses everything.
 */
static void print_disagreement(FILE *out, const struct past_index *x, const struct ev *cqe)
{
    const struct ev *last = past_last_tx_of_request(x, cqe), *first, *rx;
    const uint32_t i = last ? past_first_tx(x, last) : PAST_NONE;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    first = i != PAST_NONE ? past_at(x->past, i) : NULL;
    rx = first ? disagreement(x, first) : NULL;
    if (!rx)
        return;
    text_add(&t, "The two ends disagree about PSNs: ");
    ev_names_object(x->past->names, &t, rx->u.rx.host, OBJ_QP, rx->u.rx.qpn);
    text_addf(&t, " waited for psn=%u when psn=%u came, which was sent for the first time. ",
              (unsigned)rx->u.rx.least, first->u.tx.psn);
    text_add(&t, "sq_psn of one end must be rq_psn of the other, as connect makes it; explain psn");
    show_wrap(out, 2, buf);
}

/* Prints the failed request that moved the queue pair to ERR or SQE, and so flushed this one.
 * Prints nothing if a user changed the state.
 */
static void print_flush(FILE *out, const struct past_index *x, const struct ev *cqe)
{
    const struct ev *state = past_error_state(x, cqe->u.cqe.host, cqe->u.cqe.qpn, cqe->id);
    const struct ev *first = state ? past_failure_of(x, state) : NULL;

    if (!first)
        return;
    fprintf(out, "  the request that failed first:\n");
    show_detail(out, x->past, first);
}

/* Prints the fate of a send that succeeded, but was not received: UC and UD have no answers. */
static void print_unheard(FILE *out, const struct past_index *x, const struct ev *cqe)
{
    char buf[SHOW_LINE_BYTES], fate[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf)), f = text_on(fate, sizeof(fate));

    if (cqe->u.cqe.op >= WC_RECV || !fate_add_unheard(&f, x, cqe))
        return;
    text_addf(&t, "SUCCESS only says that it was sent, as UC and UD are not acknowledged: %s",
              fate);
    show_wrap(out, 2, buf);
}

static void print_completion(FILE *out, const struct past_index *x, const struct ev *e)
{
    char more[SHOW_LINE_BYTES];
    struct text t = text_on(more, sizeof(more));
    /* The profile's host does not tell a local error; the lab does. */
    const bool is_untold = e->u.cqe.status == WCS_WR_FLUSH_ERR && e->u.cqe.rule != RULE_NONE &&
                           e->u.cqe.rule != RULE_FLUSH;
    const struct ev *key;

    if (e->u.cqe.status == WCS_SUCCESS) {
        print_unheard(out, x, e);
        return;
    }
    print_word(out, &enum_wc_status, e->u.cqe.status);
    if (e->u.cqe.rule)
        print_word(out, &enum_rule, e->u.cqe.rule);
    switch (is_untold ? WCS_LOC_PROT_ERR : e->u.cqe.status) {
    case WCS_LOC_PROT_ERR:
        key = past_refused_key(x, e->u.cqe.host, e->u.cqe.qpn, e->id, false);
        if (key)
            show_detail(out, x->past, key);
        break;
    case WCS_RETRY_EXC_ERR:
    case WCS_RNR_RETRY_EXC_ERR:
        print_attempts(out, x, e);
        print_disagreement(out, x, e);
        break;
    case WCS_WR_FLUSH_ERR:
        print_flush(out, x, e);
        break;
    default:
        break;
    }
    text_addf(&t, "explain %s", enum_name(&enum_wc_status, e->u.cqe.status));
    if (e->u.cqe.rule)
        text_addf(&t, "; explain %s", enum_name(&enum_rule, e->u.cqe.rule));
    if (is_untold)
        text_add(&t, "; explain LOCAL_ERROR_IS_TOLD");
    show_wrap_behind(out, "  more: ", 8, more);
}

/* Prints the fault that changed the dropped frame. */
static void print_damage(FILE *out, const struct past_index *x, const struct ev *drop)
{
    const struct ev *tx = past_tx_of(x->past, drop);
    const struct ev *fault = tx ? fate_of(x, tx).fault : NULL;

    if (fault && fate_fault_changes(fault->u.fault.by))
        show_detail(out, x->past, fault);
}

/* Prints the fate of the packet whose absence made the receiver drop this one: a response, or an
 * earlier packet of the sender.
 */
static void print_missing(FILE *out, const struct past_index *x, const struct ev *drop)
{
    const struct ev *tx = past_tx_of(x->past, drop), *missed = NULL;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (drop->u.drop.reason == DROP_AFTER_IMPLIED_NAK) {
        if (fate_add_missing(&t, x, drop))
            show_wrap(out, DETAIL_INDENT, buf);
        return;
    }
    if (tx && drop->u.drop.reason == DROP_OUT_OF_SEQUENCE)
        missed =
            past_last_tx(x, tx->u.tx.host, tx->u.tx.qpn, (uint32_t)drop->u.drop.least, drop->id);
    if (!missed)
        return;
    text_addf(&t, "psn=%u, ", missed->u.tx.psn);
    ev_add_id(&t, missed->id);
    text_add(&t, ", ");
    fate_add_at(&t, x, missed, missed->u.tx.psn, drop->id);
    show_wrap(out, DETAIL_INDENT, buf);
}

/* Prints the rule that made a queue pair drop the packet, and the refused key if there is one. */
static void print_rule(FILE *out, const struct past_index *x, const struct ev *drop,
                       const struct ev *rx)
{
    const struct ev *key = past_refused_key(x, rx->u.rx.host, rx->u.rx.qpn, rx->id, true);

    print_word(out, &enum_rule, rx->u.rx.rule);
    if (drop->u.drop.reason == DROP_REFUSED)
        show_detail(out, x->past, rx); /* has the values that the rule compared */
    if (key)
        show_detail(out, x->past, key);
}

static void print_drop(FILE *out, const struct past_index *x, const struct ev *drop)
{
    const struct ev *rx = past_find(x->past, drop->cause);
    const bool ruled = rx && rx->kind == EV_rx && rx->u.rx.rule != RULE_NONE;
    char more[SHOW_LINE_BYTES];
    struct text t = text_on(more, sizeof(more));

    print_word(out, &enum_drop, drop->u.drop.reason);
    if (ruled)
        print_rule(out, x, drop, rx);
    print_damage(out, x, drop);
    print_missing(out, x, drop);
    if (!ruled)
        return;
    text_addf(&t, "explain %s", enum_name(&enum_rule, rx->u.rx.rule));
    show_wrap_behind(out, "  more: ", 8, more);
}

/* Prints what the control centre lacks: "  no rule allows it: centre allow 1 2". */
static void print_forbidden(FILE *out, const struct ev_centre_lookup *l)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "no rule allows groups %u and %u to connect: centre allow %u %u", l->group,
              l->other, l->group, l->other);
    show_wrap(out, DETAIL_INDENT, buf);
}

/* Prints "  overcome: h1 asked again in #76.3, and was connected in #148.7" if that is so. */
static void print_overcome(FILE *out, const struct past_index *x, const struct ev *e,
                           const struct ev *again)
{
    const struct ev *end = overcome_by(x, e);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!end && !again)
        return;
    if (again) {
        ev_names_host(x->past->names, &t, again->u.lnet_state.host);
        text_add(&t, " asked again in ");
        ev_add_id(&t, again->id);
    }
    if (end) {
        text_add(&t, again ? ", and a connection was established in "
                           : "a connection was established in ");
        ev_add_id(&t, end->id);
    }
    show_wrap_behind(out, end ? "  overcome: " : "  but: ", DETAIL_INDENT, buf);
}

/* Prints what a reject of LNet means. */
static void print_reject(FILE *out, const struct past_index *x, const struct ev *e)
{
    const struct ev_lnet_reject *r = &e->u.lnet_reject;
    const struct ev *again = r->rejected ? overcome_asked_again(x->past, e) : NULL;

    print_word(out, &enum_lnet_why, r->reason);
    if (r->version == LNET_VERSION_1 && again)
        show_wrap(out, 2,
                  "version 0x11 in the reject: the peer speaks no later version, and the node asks "
                  "again in this one");
    else if (r->version == LNET_VERSION_1 && r->rejects)
        show_wrap(out, 2,
                  "version 0x11 in the reject: a node that has asked in a later version asks again "
                  "in this one");
    else if (again && (r->reason == LNET_WHY_MSG_QUEUE_SIZE || r->reason == LNET_WHY_RDMA_FRAGS))
        show_wrap(out, 2,
                  "the reject tells how many there may be, and the node asks again with that");
    print_overcome(out, x, e, again);
}

/* Prints why a connection of LNet ended, if that was a reject, and what became of that. */
static void print_lnet_state(FILE *out, const struct past_index *x, const struct ev *e)
{
    const struct ev *reject = past_find(x->past, e->cause);

    if (e->u.lnet_state.state != LND_CONN_CLOSING || e->u.lnet_state.error == 0)
        return;
    if (reject && reject->kind == EV_lnet_reject)
        print_reject(out, x, reject);
    else
        print_overcome(out, x, e, overcome_asked_again(x->past, e));
}

void show_failure(FILE *out, const struct past_index *x, const struct ev *e)
{
    switch (e->kind) {
    case EV_cqe:
        print_completion(out, x, e);
        break;
    case EV_drop:
        print_drop(out, x, e);
        break;
    case EV_vq_broken:
        print_word(out, &enum_vq_error, e->u.vq_broken.error);
        break;
    case EV_device_fault:
        print_word(out, &enum_fault, e->u.device_fault.by);
        break;
    case EV_ctrl_execute:
        if (e->u.ctrl_execute.rsp != RSP_OK)
            print_word(out, &enum_ctrl_rsp, e->u.ctrl_execute.rsp);
        break;
    case EV_command:
        if (e->u.command.error != 0)
            print_word(out, &enum_refusal, e->u.command.refusal);
        break;
    case EV_region:
        if (e->u.region.refusal != REF_NONE)
            print_word(out, &enum_refusal, e->u.region.refusal);
        break;
    case EV_cm_event:
        print_overcome(out, x, e, NULL);
        break;
    case EV_lnet_reject:
        print_reject(out, x, e);
        break;
    case EV_lnet_state:
        print_lnet_state(out, x, e);
        break;
    case EV_centre_lookup:
        if (e->u.centre_lookup.forbidden)
            print_forbidden(out, &e->u.centre_lookup);
        break;
    case EV_ctrl_response:
        if (e->u.ctrl_response.rsp != RSP_OK)
            print_word(out, &enum_ctrl_rsp, e->u.ctrl_response.rsp);
        break;
    default:
        break;
    }
}
