/* SPDX-License-Identifier: MIT */
/* The criteria of a fault that the index does not cover.
 *
 * They depend only on the frame and on the event with which it was sent.  The event tells the
 * transmission, and is the input of a condition.  No state of a queue pair is used.  Messages are
 * counted here, by packets that start a message, where they leave their sender.
 *
 * A fault of a link meets a frame later, perhaps behind a switch, so the frame carries a copy of
 * its event.  A frame that was sent before such a fault existed has no copy and does not match.
 */
#include "emu/base/cursor.h"
#include "emu/facts/enum/packet_class.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/net/internal.h"
#include "emu/trace/event.h"
#include "emu/wire/eth.h"

bool match_holds(const struct net_match *m, const struct frame_note *note)
{
    const uint32_t frame[NET_MATCH_FIELDS] = {
        [NET_MATCH_HOST] = note->host,         [NET_MATCH_OPCODE] = note->opcode,
        [NET_MATCH_SYNDROME] = note->syndrome, [NET_MATCH_PSN] = note->psn,
        [NET_MATCH_DEST_QPN] = note->dest_qpn,
    };

    for (uint32_t i = 0; i < NET_MATCH_FIELDS; i++) {
        if (m->field[i] != NET_MATCH_ANY && m->field[i] != frame[i])
            return false;
    }
    return true;
}

/* Returns the opcode row of a RoCEv2 frame; NULL for other frames. */
static const struct op_info *op_of(const struct frame *f)
{
    const struct op_info *op =
        f->note.opcode <= UINT8_MAX ? op_info((uint8_t)f->note.opcode) : NULL;

    return op && op->name ? op : NULL;
}

static bool is_of_class(const struct frame *f, uint32_t class)
{
    const struct op_info *op = op_of(f);
    const bool ack = op && op->kind == OPK_ACK;

    if (class == PKC_ANY)
        return true;
    if (!op)
        return false;
    switch ((enum packet_class) class) {
    case PKC_REQUEST:
        return !op_is_response(op) && op->kind != OPK_CNP;
    case PKC_ANSWER:
        return op_is_response(op);
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
        return ack && f->note.syndrome == SYN_ACK;
    case PKC_NAK:
        return ack && f->note.syndrome > SYN_RNR_NAK;
    case PKC_RNR_NAK:
        return ack && f->note.syndrome == SYN_RNR_NAK;
    case PKC_ANY:
        break;
    }
    return true;
}

static uint64_t mac_at(const struct frame *f, size_t at)
{
    return f->len < ETH_BYTES ? 0 : ld_be(f->bytes + at, MAC_BYTES);
}

/* Returns true if @f is a request of the queue pair, or a response to one. */
static bool is_of_qp(const struct frame *f, const struct net_aim *a)
{
    const struct op_info *op = op_of(f);

    if (a->qpn == 0)
        return true;
    if (!op)
        return false;
    if (op_is_response(op))
        return f->note.dest_qpn == a->qpn && mac_at(f, 0) == a->qp_mac;
    return f->note.host == a->qp_host && f->note.qpn == a->qpn;
}

/* Returns true if a host of the lab sent the frame: then there is a tx event. */
static bool is_of_host(const struct frame *f)
{
    return f->note.host < EV_PORT_FIRST;
}

static const struct ev *sent(const struct net *n, const struct frame *f)
{
    return n->ops->sent ? n->ops->sent(n->world, f) : NULL;
}

/* Returns how often the packet was sent, including this time.  Responses are always new. */
static uint32_t transmission(const struct ev *tx)
{
    return tx && tx->kind == EV_tx && tx->u.tx.attempt ? tx->u.tx.attempt : 1;
}

static bool is_behind(uint32_t psn, uint32_t first)
{
    return psn_diff((struct psn){psn}, (struct psn){first}) >= 0;
}

bool fault_asks(const struct net_aim *a)
{
    return a->transmission || a->message || a->where;
}

/* Counts the messages of the queue pair.  They do not overlap: a message is the PSNs from its first
 * packet up to the first packet of the next message.
 */
void fault_follow(struct net_aim *a, const struct frame *f, const struct ev *tx)
{
    const struct op_info *op = op_of(f);

    if (a->message == 0 || !op || !is_of_qp(f, a) || op_is_response(op) || !op_starts(op) ||
        transmission(tx) != 1 || a->begun > a->message)
        return;
    a->begun++;
    if (a->begun == a->message)
        a->psn = f->note.psn;
    else if (a->begun == a->message + 1)
        a->next_psn = f->note.psn;
}

void fault_misses(struct net *n, struct net_fault *fault, const struct frame *f)
{
    if (fault->aim.message)
        fault_follow(&fault->aim, f, sent(n, f));
}

/* Returns true if @f belongs to the selected message.  Responses have the PSNs of their requests.
 */
static bool is_of_message(const struct net_aim *a, const struct frame *f)
{
    const uint32_t psn = f->note.psn;

    if (a->message == 0)
        return true;
    if (!op_of(f) || a->begun < a->message || !is_behind(psn, a->psn))
        return false;
    return a->begun == a->message || !is_behind(psn, a->next_psn);
}

bool fault_aims_at(struct net *n, struct net_fault *fault, const struct frame *f)
{
    struct net_aim *a = &fault->aim;
    const struct ev *tx = NULL;

    if (!is_of_qp(f, a) || (a->cm && f->note.cm != a->cm))
        return false;
    if (fault_asks(a))
        tx = a->link ? f->sent : sent(n, f);
    if (a->link && fault_asks(a) && !tx && is_of_host(f))
        return false;
    if (!a->link)
        fault_follow(a, f, tx);
    if (!is_of_message(a, f))
        return false;
    if (a->message && !match_holds(&fault->match, &f->note))
        return false;
    if (!is_of_class(f, a->class) || (a->to_mac && mac_at(f, 0) != a->to_mac))
        return false;
    if (a->transmission &&
        (!op_of(f) || op_is_response(op_of(f)) || transmission(tx) != a->transmission))
        return false;
    return !a->where || (tx && a->where(a->where_ctx, tx, f->bytes, f->len));
}
