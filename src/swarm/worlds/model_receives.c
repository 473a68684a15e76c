/* SPDX-License-Identifier: MIT */
/* The model of completions of receives. */
#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "swarm/worlds/model.h"

static const char right_bytes[] = "what is received is what was sent";

/* Returns true if the P_Keys of both ends match and one of them is a full member. */
static bool may_talk(const struct world_end *a, const struct world_end *b)
{
    const uint16_t p = world_pkeys[a->pkey_index], q = world_pkeys[b->pkey_index];

    return ((p ^ q) & ~PKEY_FULL_MEMBER) == 0 && ((p | q) & PKEY_FULL_MEMBER);
}

static uint32_t lead_of(const struct world_run *r, const struct life *l)
{
    return model_is_datagram(r, l) ? WORLD_GRH_BYTES : 0;
}

/* Returns true if completion @wc and the buffer of receive @i hold message @m. */
static bool is_message(struct world_run *r, const struct life *l, uint16_t i, uint16_t m,
                       const struct rdl_wc *wc)
{
    const struct world_item *t = &r->w->item[m];
    const uint32_t lead = lead_of(r, l);
    uint8_t *have = r->have, *want = r->want, imm[4];

    if (wc->byte_len != t->bytes + lead || world_has_imm(t) != !!(wc->wc_flags & WCF_WITH_IMM))
        return false;
    world_imm(m, imm);
    if (world_has_imm(t) && memcmp(imm, wc->imm, sizeof(imm)) != 0)
        return false;
    if (world_is_write(t))
        return true;
    world_bytes(r->w, m, want);
    return model_gather(r, i, lead, t->bytes, have) && memcmp(have, want, t->bytes) == 0;
}

/* Returns true if the queue pair of @l may receive @m. */
static bool may_hear(const struct world_run *r, const struct life *l, uint16_t m)
{
    const struct world_item *t = &r->w->item[m];
    const struct item_state *s = &r->item[m];

    if (!world_needs_recv(t) || s->phase == ITEM_IDLE || s->mistake != RIGHT ||
        !may_talk(&r->w->end[l->end], &r->w->end[t->end]))
        return false;
    if (model_is_datagram(r, l))
        return t->to_group ? model_is_datagram(r, l) : t->to == l->end;
    if (!model_is_rc(r, l) && r->life[s->life].is_closed)
        /* A late frame of an earlier connection, which UC cannot recognise. */
        return t->to == l->end;
    return s->life == l->peer;
}

/* Returns the next message of the connection; WORLD_NONE: there is none. */
static uint16_t next_message(const struct world_run *r, const struct life *l)
{
    const struct life *peer = &r->life[l->peer];

    for (uint16_t k = l->heard_pos; k < peer->n_sends; k++) {
        if (world_needs_recv(&r->w->item[peer->send[k]]))
            return peer->send[k];
    }
    return WORLD_NONE;
}

/* Finds the message that was received, where messages may be lost. */
static uint16_t find_message(struct world_run *r, const struct life *l, uint16_t i,
                             const struct rdl_wc *wc)
{
    uint16_t found = WORLD_NONE;

    for (uint16_t m = 0; m < r->w->n_items; m++) {
        if (!may_hear(r, l, m) || !is_message(r, l, i, m, wc))
            continue;
        found = m;
        if (!(r->item[m].heard & 1u << l->end))
            break;
    }
    return found;
}

static void judge_message(struct world_run *r, struct life *l, uint16_t i, uint16_t m,
                          const struct rdl_wc *wc)
{
    const struct world_item *t = &r->w->item[m];
    struct item_state *s = &r->item[m];
    const bool is_write = world_is_write(t);
    unsigned flags = model_is_datagram(r, l) || model_profile_is_rxe(r, l->end) ? WCF_GRH : 0;

    if (world_has_imm(t))
        flags |= WCF_WITH_IMM;
    if (s->opcode == WR_SEND_WITH_INV)
        flags |= WCF_WITH_INV;
    world_expect(r, wc->wc_flags == flags, i, "a receive says what it has");
    world_expect(r, wc->opcode == (is_write ? (uint32_t)WC_RECV_RDMA_WITH_IMM : (uint32_t)WC_RECV),
                 i, "a receive says what completed it");
    world_expect(r, s->opcode != WR_SEND_WITH_INV || wc->invalidated_rkey == s->rkey, i,
                 "a receive says which key became invalid");
    world_expect(r, !model_is_datagram(r, l) || wc->src_qp == r->life[s->life].qpn, i,
                 "a datagram says who sent it");
    world_expect(r, !(s->heard & 1u << l->end) || (!model_is_rc(r, l) && r->is_copying), i,
                 "a message arrives once");
    s->heard |= 1u << l->end;
}

static void succeed(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc,
                    bool *ret_solicited)
{
    uint16_t m;

    world_expect(r, !l->recvs_failed, i, "nothing succeeds after an error");
    if (model_is_rc(r, l)) {
        m = next_message(r, l);
        if (!world_expect(r, m != WORLD_NONE && may_hear(r, l, m), i,
                          "a receive has the next message that was sent to it"))
            return;
        world_expect(r, is_message(r, l, i, m, wc), i, right_bytes);
        l->heard_pos = (uint16_t)(r->item[m].pos + 1);
    } else {
        m = find_message(r, l, i, wc);
        if (!world_expect(r, m != WORLD_NONE, i, "a receive has a message that was sent to it"))
            return;
        if (!model_is_datagram(r, l)) {
            world_expect(
                r, r->item[m].pos >= l->heard_pos || r->is_copying || r->item[m].life != l->peer, i,
                "messages of a connection arrive in the order of posting");
            if (r->item[m].life == l->peer)
                l->heard_pos = (uint16_t)(r->item[m].pos + 1);
        }
    }
    *ret_solicited = r->w->item[m].flags & SF_SOLICITED;
    judge_message(r, l, i, m, wc);
}

/* Returns the status of receive @i if it has a mistake; WCS_SUCCESS: it has none. */
static uint32_t status_of_mistake(const struct world_run *r, const struct life *l, uint16_t i)
{
    const struct world_item *t = &r->w->item[i];
    const bool is_rxe = model_profile_is_rxe(r, l->end);

    if (t->mistake == TOO_SHORT)
        return is_rxe ? WCS_LOC_QP_OP_ERR : WCS_LOC_LEN_ERR;
    if (world_is_local_mistake(t->mistake))
        return is_rxe ? WCS_LOC_QP_OP_ERR : WCS_LOC_PROT_ERR;
    return WCS_SUCCESS;
}

/* Returns true if the next message to @l is a WRITE with immediate data whose key may be refused at
 * the packet that takes the receive.
 */
static bool may_refuse_write(const struct world_run *r, const struct life *l)
{
    const uint16_t m = model_is_rc(r, l) && l->peer != WORLD_NONE ? next_message(r, l) : WORLD_NONE;

    return m != WORLD_NONE && world_is_write(&r->w->item[m]) &&
           (world_is_remote_mistake(r->item[m].mistake) || model_uses_changing_key(r, m));
}

/* The status of the receive that a refused WRITE with immediate data has taken. */
static uint32_t status_of_refused(const struct world_run *r, const struct life *l)
{
    return model_profile_is_rxe(r, l->end) ? WCS_REM_ACCESS_ERR : WCS_LOC_ACCESS_ERR;
}

static void fail(struct world_run *r, struct life *l, uint16_t i, uint32_t status)
{
    const bool is_flushed = status == WCS_WR_FLUSH_ERR;

    world_expect(r, !l->recvs_failed || is_flushed, i, "after an error everything is flushed");
    world_expect(r,
                 is_flushed ? model_may_have_failed(r, l) || l->is_closed
                            : status == status_of_mistake(r, l, i) ||
                                  (status == status_of_refused(r, l) && may_refuse_write(r, l)),
                 i, "a receive fails for a reason, which its status says");
    l->recvs_failed = true;
}

void model_recv_done(struct world_run *r, struct life *l, uint16_t i, const struct rdl_wc *wc,
                     bool *ret_solicited)
{
    struct item_state *s = &r->item[i];

    if (r->w->end[r->w->item[i].end].has_srq) {
        world_expect(r, r->w->end[l->end].has_srq, i,
                     "a shared receive is one of its queue pairs'");
        r->host[r->w->end[l->end].host].n_shared--;
    } else {
        world_expect(r, s->pos == l->n_taken, i, "receives complete in the order of posting, once");
        l->n_taken = (uint16_t)(s->pos + 1);
    }
    s->status = (uint8_t)wc->status;
    s->phase = wc->status == WCS_SUCCESS ? ITEM_OK : ITEM_FAILED;
    if (wc->status == WCS_SUCCESS)
        succeed(r, l, i, wc, ret_solicited);
    else
        fail(r, l, i, wc->status);
}
