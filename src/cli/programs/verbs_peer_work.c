/* SPDX-License-Identifier: MIT */
/* Work requests. */
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/assert.h"

#define PEER "peer."

/* The pieces of "sge="; how many there are. */
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

enum vp_end vp_post_recv(struct verbs_peer *p)
{
    const struct vp_object *qp = vp_named(p, vp_operand(p, 0), VP_QP);
    struct rdl_sge sge[VP_SGE_MAX];
    const struct rdl_recv_wr wr = {
        .wr_id = vp_number(p, "wr_id", 0), .sge = sge, .n_sge = read_sges(p, sge)};

    if (!vp_failed(p))
        (void)vp_done(p, rdl_post_recv(p->lab, qp->qp, &wr, false));
    return VP_NEXT;
}

/* "peer.NAME", which stands for its number, or a number. */
static uint32_t to_peers_number(struct verbs_peer *p, const char *text)
{
    const struct vp_remote *r;

    if (strncmp(text, PEER, strlen(PEER)) != 0)
        return (uint32_t)vp_to_number(p, text);
    r = vp_remote(p, text + strlen(PEER));
    return r ? r->number : 0;
}

/* remote=peer.NAME[OFFSET], and rkey= if it is to be another one. */
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

/* Whom a datagram is for. */
static void read_address(struct verbs_peer *p, struct rdl_send_wr *wr)
{
    const struct vp_object *ah = vp_object(p, "ah", VP_AH);
    const char *qpn = vp_value(p, "remote_qpn");

    if (!qpn)
        vp_fail(p, "remote_qpn= is missing");
    if (vp_failed(p))
        return;
    wr->ud.ah = ah->ah;
    wr->ud.remote_qpn = to_peers_number(p, qpn);
    wr->ud.remote_qkey = (uint32_t)vp_number(p, "remote_qkey", 0);
}

/* The bytes of the pieces, which are copied now. */
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

/* What the operation needs beside its message. */
static void read_operation(struct verbs_peer *p, struct rdl_send_wr *wr)
{
    const char *inv = vp_value(p, "inv");

    switch (wr->opcode) {
    case WR_SEND_WITH_IMM:
    case WR_SEND:
        return;
    case WR_SEND_WITH_INV:
    case WR_LOCAL_INV:
        if (inv)
            wr->invalidate_rkey = to_peers_number(p, inv);
        else
            vp_fail(p, "inv= is missing");
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
    default: /* there are no windows, for one */
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
    if (!vp_failed(p))
        (void)vp_done(p, rdl_post_send(p->lab, qp->qp, &wr, false));
    return VP_NEXT;
}
