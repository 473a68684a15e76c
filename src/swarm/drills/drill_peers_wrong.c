/* SPDX-License-Identifier: MIT */
/* The drill of peers: responses that break a rule.  h1 must end the request with BAD_RESP_ERR. */
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/drill_peers.h"

/* The mistakes in a response to the first READ or atomic. */
enum wrong_response {
    WRONG_LENGTH,   /* of the data of a READ */
    WRONG_KIND,     /* an atomic's response to a READ, or the other way round */
    WRONG_POSITION, /* FIRST or MIDDLE for the last response, LAST or ONLY for another */
    WRONG_BEGIN,    /* MIDDLE or LAST as the first response of a READ */
    WRONG_SYNDROME, /* a NAK in a response with data */
    WRONG_CODE,     /* an acknowledgment with a NAK code that is not defined */
    WRONG_RESPONSES
};

static void set_response(struct packet *p, uint8_t opcode)
{
    p->bth.opcode = opcode;
    p->op = op_info(opcode);
}

/* Puts the mistake @w into @p, the right response to @a.  Returns false if it does not apply. */
static bool spoil_response(struct drill *d, enum wrong_response w, const struct peer_asked *a,
                           struct packet *p)
{
    const bool is_read = a->opcode == WR_RDMA_READ, is_last = a->n_answered + 1 == a->n_psns;

    if (w == WRONG_LENGTH) {
        if (is_last && p->payload_bytes < PEER_MTU && (drill_one_in(d, 2) || p->payload_bytes == 0))
            p->payload_bytes++;
        else
            p->payload_bytes -= 1 + drill_below(d, p->payload_bytes < 9 ? p->payload_bytes : 9);
        return is_read;
    }
    if (w == WRONG_KIND) {
        set_response(p, is_read ? OP_RC_ATOMIC_ACKNOWLEDGE : OP_RC_RDMA_READ_RESPONSE_ONLY);
        p->payload_bytes = is_read ? 0 : PEER_WORD;
        return true;
    }
    if (w == WRONG_POSITION) {
        set_response(p, is_last ? OP_RC_RDMA_READ_RESPONSE_FIRST : OP_RC_RDMA_READ_RESPONSE_ONLY);
        return is_read;
    }
    if (w == WRONG_BEGIN) {
        set_response(p, is_last ? OP_RC_RDMA_READ_RESPONSE_LAST : OP_RC_RDMA_READ_RESPONSE_MIDDLE);
        return is_read && a->n_answered == 0;
    }
    p->aeth.syndrome = (uint8_t)(0x60 | drill_below(d, 4));
    if (w == WRONG_CODE) {
        p->aeth.syndrome = (uint8_t)(0x64 + drill_below(d, 28));
        set_response(p, OP_RC_ACKNOWLEDGE);
        p->payload_bytes = 0;
    }
    return w == WRONG_CODE || (p->op->headers & H_AETH);
}

void peer_answers_wrong(struct drill *d)
{
    const enum wrong_response w = (enum wrong_response)drill_below(d, WRONG_RESPONSES);
    struct peers *s = d->own;
    struct peer_asked *a = peer_first_fetch(s);
    struct packet p = s->like;
    struct rdl_wc wc;
    bool is_last;

    if (!a || a != &s->asked[0])
        return;
    is_last = a->n_answered + 1 == a->n_psns;
    if (a->opcode == WR_RDMA_READ) {
        set_response(&p, is_last ? OP_RC_RDMA_READ_RESPONSE_ONLY : OP_RC_RDMA_READ_RESPONSE_FIRST);
        p.payload_bytes = is_last ? a->bytes - a->n_answered * PEER_MTU : PEER_MTU;
    } else {
        set_response(&p, OP_RC_ATOMIC_ACKNOWLEDGE);
    }
    p.bth.psn.v = peer_psn(a->psn + a->n_answered);
    p.aeth.syndrome = PEER_CREDITS_OFF;
    if (spoil_response(d, w, a, &p) && peer_send(d, &p, a->data) && peer_sends_what_is_due(d) &&
        peer_completes(d, a->wr_id, WCS_BAD_RESP_ERR, &wc))
        (void)peer_failed(d, 0, 1);
}
