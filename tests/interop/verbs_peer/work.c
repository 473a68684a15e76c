/* SPDX-License-Identifier: MIT */
/* Work requests. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "peer.h"

static const struct word_value opcodes[] = {
    {"send", IBV_WR_SEND},
    {"send_with_imm", IBV_WR_SEND_WITH_IMM},
    {"send_with_inv", IBV_WR_SEND_WITH_INV},
    {"rdma_write", IBV_WR_RDMA_WRITE},
    {"rdma_write_with_imm", IBV_WR_RDMA_WRITE_WITH_IMM},
    {"rdma_read", IBV_WR_RDMA_READ},
    {"atomic_cmp_and_swp", IBV_WR_ATOMIC_CMP_AND_SWP},
    {"atomic_fetch_and_add", IBV_WR_ATOMIC_FETCH_AND_ADD},
    {"local_inv", IBV_WR_LOCAL_INV},
    {"bind_mw", IBV_WR_BIND_MW},
#if PLACEMENT
    {"flush", IBV_WR_FLUSH},
    {"atomic_write", IBV_WR_ATOMIC_WRITE},
#endif
};

static int read_sges(struct peer *p, struct ibv_sge *sge)
{
    const char *text = peer_line_value(p->at, "sge");
    int n = 0;

    while (text && *text) {
        const struct slice s = to_slice(p, text, &text);

        if (n == SGE_MAX)
            fail(p, "sge= has too many pieces");
        sge[n++] = (struct ibv_sge){.addr = (uintptr_t)s.start,
                                    .length = (uint32_t)s.length,
                                    .lkey = (uint32_t)number_or(p, "lkey", s.mr->mr->lkey)};
        text += *text == ',';
    }
    return n;
}

void do_post_recv(struct peer *p)
{
    struct ibv_sge sge[SGE_MAX];
    struct ibv_recv_wr wr = {
        .wr_id = number_or(p, "wr_id", 0), .sg_list = sge, .num_sge = read_sges(p, sge)};
    struct ibv_recv_wr *bad;
    const char *name = operand(p, 0);

    if (strcmp(p->at->word[0], "post_recv") == 0)
        done(p, ibv_post_recv(object_named(p, name, QP)->qp, &wr, &bad));
    else
        done(p, ibv_post_srq_recv(object_named(p, name, SRQ)->srq, &wr, &bad));
}

/* "peer.NAME", which stands for its number, or a number. */
static uint32_t to_peers_number(const struct peer *p, const char *text)
{
    if (strncmp(text, "peer.", 5) == 0)
        return remote_named(p, text + 5)->number;
    return (uint32_t)to_number(p, text);
}

/* remote=peer.NAME[OFFSET], and rkey= if it is to be another one. */
static void read_remote(const struct peer *p, uint64_t *ret_addr, uint32_t *ret_rkey)
{
    const char *text = peer_line_value(p->at, "remote");
    unsigned long long offset;
    const struct remote *r;
    char name[NAME_BYTES];

    if (!text || sscanf(text, "peer.%31[^[][%llu]", name, &offset) != 2)
        fail(p, "remote= must be like peer.mr[0]");
    r = remote_named(p, name);
    *ret_addr = r->addr + offset;
    text = peer_line_value(p->at, "rkey");
    *ret_rkey = text ? to_peers_number(p, text) : r->number;
}

/* inv=: a window of this side, an object of the peer, or a number. */
static uint32_t read_key(struct peer *p)
{
    const char *text = peer_line_value(p->at, "inv");

    if (!text)
        fail(p, "inv= is missing");
    if (strncmp(text, "peer.", 5) == 0 || (text[0] >= '0' && text[0] <= '9'))
        return to_peers_number(p, text);
    return object_named(p, text, MW)->mw->rkey;
}

/* bind=mr[0:64] access=rw,rr */
static struct ibv_mw_bind_info read_bind(struct peer *p)
{
    const char *text = peer_line_value(p->at, "bind");
    struct slice s;

    if (!text)
        fail(p, "bind= is missing");
    s = to_slice(p, text, &text);
    return (struct ibv_mw_bind_info){
        .mr = s.mr->mr,
        .addr = (uintptr_t)s.start,
        .length = s.length,
        .mw_access_flags = access_or(p, "rw,rr"),
    };
}

/* The peer will be told at the next sync, whether or not the window is bound by then. */
static void bound(struct object *mw, const struct ibv_mw_bind_info *info)
{
    mw->memory = (uint8_t *)(uintptr_t)info->addr;
    mw->length = info->length;
    mw->news = true;
}

/* Windows of type 2: the low byte of the new key is key=. */
static void read_bind_wr(struct peer *p, struct ibv_send_wr *wr)
{
    struct ibv_mw *mw = object_of(p, "mw", MW)->mw;

    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = (mw->rkey & ~0xffu) | (uint32_t)number_or(p, "key", 1);
    wr->bind_mw.bind_info = read_bind(p);
}

/* Requests that need the newer interface.  ibv_post_send() of rxe's provider refuses an atomic to
 * an address that is not a multiple of eight, so that the peer never sees it; the newer interface
 * looks at nothing.  FLUSH and ATOMIC WRITE are in the newer one alone.
 */
static bool is_newer(enum ibv_wr_opcode opcode)
{
#if PLACEMENT
    if (opcode == IBV_WR_FLUSH || opcode == IBV_WR_ATOMIC_WRITE)
        return true;
#endif
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* Posts one of them.  @wr has the 8 bytes of an ATOMIC WRITE in its first piece. */
static int post_newer(struct peer *p, struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
    uint64_t addr;
    uint32_t rkey;

    read_remote(p, &addr, &rkey);
    ibv_wr_start(ex);
    ex->wr_id = wr->wr_id;
    ex->wr_flags = wr->send_flags;
    switch (wr->opcode) {
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        ibv_wr_atomic_cmp_swp(ex, rkey, addr, number_or(p, "compare", 0), number_or(p, "swap", 0));
        ibv_wr_set_sge_list(ex, (size_t)wr->num_sge, wr->sg_list);
        break;
#if PLACEMENT
    case IBV_WR_FLUSH:
        ibv_wr_flush(ex, rkey, addr, number_or(p, "length", 0),
                     (uint8_t)number_or(p, "placement", IBV_FLUSH_GLOBAL),
                     (uint8_t)number_or(p, "selectivity", IBV_FLUSH_RANGE));
        break;
    case IBV_WR_ATOMIC_WRITE:
        if (wr->num_sge == 0 || wr->sg_list[0].length < sizeof(uint64_t))
            fail(p, "sge= must have the 8 bytes in one piece");
        ibv_wr_atomic_write(ex, rkey, addr, (const void *)(uintptr_t)wr->sg_list[0].addr);
        break;
#endif
    default:
        ibv_wr_atomic_fetch_add(ex, rkey, addr, number_or(p, "add", 0));
        ibv_wr_set_sge_list(ex, (size_t)wr->num_sge, wr->sg_list);
        break;
    }
    return ibv_wr_complete(ex);
}

static unsigned send_flags(const struct peer *p)
{
    static const struct word_value flags[] = {
        {"signaled", IBV_SEND_SIGNALED},
        {"solicited", IBV_SEND_SOLICITED},
        {"inline", IBV_SEND_INLINE},
        {"fence", IBV_SEND_FENCE},
    };
    unsigned set = 0;

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        set |= peer_line_has(p->at, flags[i].word) ? flags[i].value : 0;
    return set;
}

/* The receiver of a datagram. */
static void read_address(struct peer *p, struct ibv_send_wr *wr)
{
    const char *qpn = peer_line_value(p->at, "remote_qpn");

    wr->wr.ud.ah = object_of(p, "ah", AH)->ah;
    if (!qpn)
        fail(p, "remote_qpn= is missing");
    wr->wr.ud.remote_qpn = to_peers_number(p, qpn);
    wr->wr.ud.remote_qkey = (uint32_t)number_or(p, "remote_qkey", 0);
}

void do_post_send(struct peer *p)
{
    const char *op = peer_line_value(p->at, "op");
    struct ibv_qp *qp = object_named(p, operand(p, 0), QP)->qp;
    struct ibv_sge sge[SGE_MAX];
    struct ibv_send_wr *bad,
        wr = {
            .wr_id = number_or(p, "wr_id", 0),
            .sg_list = sge,
            .num_sge = read_sges(p, sge),
            .opcode = to_value(p, opcodes, ARRAY_LEN(opcodes), op ? op : "send"),
            .send_flags = send_flags(p),
            .imm_data = htonl((uint32_t)number_or(p, "imm", 0)),
        };
    int failed;

    if (is_newer(wr.opcode)) {
        done(p, post_newer(p, qp, &wr));
        return;
    }
    if (wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV)
        wr.invalidate_rkey = read_key(p);
    else if (wr.opcode == IBV_WR_BIND_MW)
        read_bind_wr(p, &wr);
    else if (wr.opcode != IBV_WR_SEND && wr.opcode != IBV_WR_SEND_WITH_IMM)
        read_remote(p, &wr.wr.rdma.remote_addr, &wr.wr.rdma.rkey);
    if (qp->qp_type == IBV_QPT_UD)
        read_address(p, &wr);
    failed = ibv_post_send(qp, &wr, &bad);
    if (done(p, failed) && wr.opcode == IBV_WR_BIND_MW) {
        struct object *mw = object_of(p, "mw", MW);

        mw->mw->rkey = wr.bind_mw.rkey;
        bound(mw, &wr.bind_mw.bind_info);
    }
}

/* Windows of type 1, whose new key libibverbs makes. */
void do_bind_mw(struct peer *p)
{
    struct ibv_qp *qp = object_named(p, operand(p, 0), QP)->qp;
    struct object *mw = object_of(p, "mw", MW);
    struct ibv_mw_bind bind = {
        .wr_id = number_or(p, "wr_id", 0),
        .send_flags = send_flags(p),
        .bind_info = read_bind(p),
    };

    if (done(p, ibv_bind_mw(qp, mw->mw, &bind)))
        bound(mw, &bind.bind_info);
}
