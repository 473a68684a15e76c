/* SPDX-License-Identifier: MIT */
/* Posts work requests. */
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"

#define PEER "peer."

/* Parses the list "sge=".  Returns the number of SGEs. */
static size_t read_sges(struct verbs_peer *p, struct rdl_sge sge[VP_SGE_MAX])
{
    const char *text = vp_value(p, "sge");
    size_t n = 0;

    while (text && *text && !vp_failed(p)) {
        const struct vp_slice s = vp_slice(p, text, &text);

        if (n == VP_SGE_MAX)
            vp_fail(p, "sge= has too many pieces");
        if (vp_failed(p))
            return 0;
        sge[n++] = (struct rdl_sge){.addr = s.addr,
                                    .length = (uint32_t)s.length,
                                    .lkey = (uint32_t)vp_number(p, "lkey", s.mr->lkey)};
        text += *text == ',';
    }
    return n;
}

/* Posts a receive to the object of the line, a queue pair or a shared receive queue. */
static enum vp_end post_recv(struct verbs_peer *p, enum vp_kind kind)
{
    const struct vp_object *to = vp_named(p, vp_operand(p, 0), kind);
    struct rdl_sge sge[VP_SGE_MAX];
    const struct rdl_recv_wr wr = {
        .wr_id = vp_number(p, "wr_id", 0), .sge = sge, .n_sge = read_sges(p, sge)};

    if (vp_failed(p))
        return VP_NEXT;
    (void)vp_done(p, kind == VP_QP ? rdl_post_recv(p->lab, to->qp, &wr, false)
                                   : rdl_post_srq_recv(p->lab, to->srq, &wr, false));
    return VP_NEXT;
}

enum vp_end vp_post_recv(struct verbs_peer *p)
{
    return post_recv(p, VP_QP);
}

enum vp_end vp_post_srq_recv(struct verbs_peer *p)
{
    return post_recv(p, VP_SRQ);
}

/* Parses a number, or "peer.NAME", which stands for the number of that object. */
static uint32_t to_peers_number(struct verbs_peer *p, const char *text)
{
    const struct vp_remote *r;

    if (strncmp(text, PEER, strlen(PEER)) != 0)
        return (uint32_t)vp_to_number(p, text);
    r = vp_remote(p, text + strlen(PEER));
    return r ? r->number : 0;
}

/* Parses remote=peer.NAME[OFFSET], and rkey= to override its key. */
static void read_remote(struct verbs_peer *p, struct rdl_send_wr *wr)
{
    const char *text = vp_value(p, "remote"), *rkey = vp_value(p, "rkey"), *rest;
    const struct vp_remote *r;
    char name[VP_NAME_BYTES];
    uint64_t offset;

    rest = text && strncmp(text, PEER, strlen(PEER)) == 0
               ? vp_place(text + strlen(PEER), name, &offset)
               : NULL;
    if (!rest || strcmp(rest, "]") != 0) {
        vp_fail(p, "remote= must be like peer.mr[0]");
        return;
    }
    r = vp_remote(p, name);
    if (!r)
        return;
    wr->remote_addr = r->addr + offset;
    wr->rkey = rkey ? to_peers_number(p, rkey) : r->number;
}

/* Parses inv=: a window of this side, an object of the peer, or a number. */
static uint32_t read_key(struct verbs_peer *p)
{
    const char *text = vp_value(p, "inv");
    const struct vp_object *mw;

    if (!text) {
        vp_fail(p, "inv= is missing");
        return 0;
    }
    if (strncmp(text, PEER, strlen(PEER)) == 0 || (text[0] >= '0' && text[0] <= '9'))
        return to_peers_number(p, text);
    mw = vp_named(p, text, VP_MW);
    return mw ? mw->number : 0;
}

/* Parses mw=MW bind=SLICE access=SET, the parameters of a bind. */
static void read_bind(struct verbs_peer *p, struct rdl_send_wr *wr)
{
    const struct vp_object *mw = vp_object(p, "mw", VP_MW);
    const char *text = vp_value(p, "bind"), *rest;
    const uint32_t access = vp_access(p, "rw,rr");
    struct vp_slice s;

    if (!text) {
        vp_fail(p, "bind= is missing");
        return;
    }
    s = vp_slice(p, text, &rest);
    if (vp_failed(p))
        return;
    wr->bind_mw.mw = mw->mw;
    wr->bind_mw.rkey = (mw->number & ~0xffu) | (uint32_t)vp_number(p, "key", 1);
    wr->bind_mw.mr = s.mr->mr;
    wr->bind_mw.addr = s.addr;
    wr->bind_mw.length = s.length;
    wr->bind_mw.access = access;
}

/* Records the new range of the window.  The peer is told at the next sync, even if the bind has not
 * been executed by then.
 */
static void bound(struct verbs_peer *p, const struct rdl_send_wr *wr)
{
    struct vp_object *mw = vp_object(p, "mw", VP_MW);

    mw->addr = wr->bind_mw.addr;
    mw->length = wr->bind_mw.length;
    (void)vp_done(p, vp_look_at_window(p, mw));
}

static uint32_t send_flags(const struct verbs_peer *p)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } flags[] = {
        {"signaled", SF_SIGNALED},
        {"solicited", SF_SOLICITED},
        {"inline", SF_INLINE},
        {"fence", SF_FENCE},
    };
    uint32_t set = 0;

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        set |= vp_flag(p, flags[i].word) ? flags[i].flag : 0;
    return set;
}

/* Parses the destination of a datagram. */
static void read_address(struct verbs_peer *p, struct rdl_send_wr *wr)
{
    const struct vp_object *ah = vp_object(p, "ah", VP_AH);
    const char *qpn = vp_value(p, "remote_qpn");

    if (!qpn)
        vp_fail(p, "remote_qpn= is missing");
    if (!qpn || vp_failed(p))
        return;
    wr->ud.ah = ah->ah;
    wr->ud.remote_qpn = to_peers_number(p, qpn);
    wr->ud.remote_qkey = (uint32_t)vp_number(p, "remote_qkey", 0);
}

/* Copies the bytes of the SGEs now, for inline data. */
static void read_inline(struct verbs_peer *p, struct rdl_send_wr *wr, uint8_t bytes[VP_INLINE_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < wr->n_sge; i++) {
        const struct rdl_sge *s = &wr->sge[i];

        if (s->length > VP_INLINE_MAX - n ||
            rdl_mem_read(p->lab, p->config.host, s->addr, bytes + n, s->length) != RDL_OK) {
            vp_fail(p, "so much cannot be sent inline");
            return;
        }
        n += s->length;
    }
    wr->inline_data = bytes;
    wr->inline_bytes = n;
    wr->n_sge = 0;
}

/* Parses the parameters that the operation needs in addition to the SGEs. */
static void read_operation(struct verbs_peer *p, struct rdl_send_wr *wr)
{
    switch (wr->opcode) {
    case WR_SEND_WITH_IMM:
    case WR_SEND:
        return;
    case WR_SEND_WITH_INV:
    case WR_LOCAL_INV:
        wr->invalidate_rkey = read_key(p);
        return;
    case WR_BIND_MW:
        read_bind(p, wr);
        return;
    case WR_ATOMIC_CMP_AND_SWP:
        wr->compare_add = vp_number(p, "compare", 0);
        wr->swap = vp_number(p, "swap", 0);
        break;
    case WR_ATOMIC_FETCH_AND_ADD:
        wr->compare_add = vp_number(p, "add", 0);
        break;
    case WR_RDMA_WRITE:
    case WR_RDMA_WRITE_WITH_IMM:
    case WR_RDMA_READ:
        break;
    default: /* the language has only operations that rxe supports */
        (void)vp_done(p, RDL_ERR_UNSUPPORTED);
        return;
    }
    read_remote(p, wr);
}

enum vp_end vp_post_send(struct verbs_peer *p)
{
    const char *op = vp_value(p, "op");
    const struct vp_object *qp = vp_named(p, vp_operand(p, 0), VP_QP);
    const uint32_t imm = (uint32_t)vp_number(p, "imm", 0);
    uint8_t inlined[VP_INLINE_MAX];
    struct rdl_sge sge[VP_SGE_MAX];
    struct rdl_send_wr wr = {
        .wr_id = vp_number(p, "wr_id", 0),
        .opcode = vp_word(p, &enum_wr_opcode, op ? op : "send"),
        .flags = send_flags(p),
        .imm = {(uint8_t)(imm >> 24), (uint8_t)(imm >> 16), (uint8_t)(imm >> 8), (uint8_t)imm},
        .sge = sge,
        .n_sge = read_sges(p, sge),
    };

    if (vp_failed(p))
        return VP_NEXT;
    read_operation(p, &wr);
    if (qp->type == QPT_UD)
        read_address(p, &wr);
    if (wr.flags & SF_INLINE)
        read_inline(p, &wr, inlined);
    if (!vp_failed(p) && vp_done(p, rdl_post_send(p->lab, qp->qp, &wr, false)) &&
        wr.opcode == WR_BIND_MW)
        bound(p, &wr);
    return VP_NEXT;
}

/* bind_mw QP mw=MW bind=SLICE: binds a window of type 1; the verb chooses its new key. */
enum vp_end vp_bind_mw(struct verbs_peer *p)
{
    const struct vp_object *qp = vp_named(p, vp_operand(p, 0), VP_QP);
    struct rdl_send_wr wr = {
        .wr_id = vp_number(p, "wr_id", 0),
        .opcode = WR_BIND_MW,
        .flags = send_flags(p),
        .bind_mw.type_1 = true,
    };

    read_bind(p, &wr);
    if (!vp_failed(p) && vp_done(p, rdl_post_send(p->lab, qp->qp, &wr, false)))
        bound(p, &wr);
    return VP_NEXT;
}
