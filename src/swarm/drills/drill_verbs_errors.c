/* SPDX-License-Identifier: MIT */
/* The drill of verbs: requests with exactly one error, and retransmissions. */
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/verbs.h"

static bool pair_of(struct drill *d, struct verbs_pair *p, uint32_t rights, uint32_t retry_cnt)
{
    struct rdl_qp_config c = {.type = QPT_RC};

    memset(p, 0, sizeof(*p));
    p->end[0].timeout = p->end[1].timeout = 12;
    p->end[0].retry_cnt = p->end[1].retry_cnt = retry_cnt;
    if (!verbs_pair(d, &c, p))
        return false;
    p->end[1].access = rights;
    return rig_connect(d, &p->end[0], &p->end[1]);
}

/* --- Errors ----------------------------------------------------------------------------------- */

struct wrong {
    uint32_t op;
    uint32_t bytes;  /* of the message */
    uint32_t second; /* added to the lkey of its second piece */
    uint32_t off;    /* added to the remote address */
    uint32_t rkey;   /* added to the rkey */
    uint32_t no;     /* access flags that the peer's queue pair lacks */
    uint32_t recv;   /* bytes of the receive; 0: none is posted */
    uint32_t status; /* expected completion status */
    const char *what;
};

static const struct wrong wrongs[] = {
    {WR_RDMA_READ, 8, 0, 0, 0, ACC_REMOTE_READ, 0, WCS_REM_INV_REQ_ERR,
     "a READ needs the right of the queue pair"},
    {WR_RDMA_WRITE, 8, 0, 0, 0, ACC_REMOTE_WRITE, 0, WCS_REM_INV_REQ_ERR,
     "a WRITE needs the right of the queue pair"},
    {WR_ATOMIC_FETCH_AND_ADD, 8, 0, 0, 0, ACC_REMOTE_ATOMIC, 0, WCS_REM_INV_REQ_ERR,
     "an atomic needs the right of the queue pair"},
    {WR_RDMA_WRITE, 8, 0, 0, 0, ACC_REMOTE_READ | ACC_REMOTE_ATOMIC, 0, WCS_SUCCESS,
     "a WRITE needs no other right"},
    {WR_RDMA_READ, 8, 0, 0, 0, ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC, 0, WCS_SUCCESS,
     "a READ needs no other right"},
    {WR_ATOMIC_FETCH_AND_ADD, 8, 0, 0, 0, ACC_REMOTE_WRITE | ACC_REMOTE_READ, 0, WCS_SUCCESS,
     "an atomic needs no other right"},
    {WR_ATOMIC_FETCH_AND_ADD, 8, 0, 4, 0, 0, 0, WCS_REM_INV_REQ_ERR,
     "an atomic is at a multiple of eight"},
    {WR_ATOMIC_CMP_AND_SWP, 16, 0, 0, 0, 0, 0, WCS_LOC_LEN_ERR,
     "the result of an atomic has eight bytes"},
    {WR_ATOMIC_CMP_AND_SWP, 4, 0, 0, 0, 0, 0, WCS_LOC_LEN_ERR,
     "the result of an atomic has eight bytes"},
    {WR_RDMA_WRITE, 200, 0x10000, 0, 0, 0, 0, WCS_LOC_PROT_ERR,
     "the key of each piece of a message must be right"},
    {WR_RDMA_WRITE, 0, 0, 0, 0x10000, 0, 0, WCS_SUCCESS, "a message without bytes needs no key"},
    {WR_RDMA_WRITE, 1, 0, 0, 0x10000, 0, 0, WCS_REM_ACCESS_ERR, "a message needs a right key"},
    {WR_SEND, 100, 0, 0, 0, 0, 100, WCS_SUCCESS, "a message may fill its receive"},
    {WR_SEND, 101, 0, 0, 0, 0, 100, WCS_REM_INV_REQ_ERR, "a message must fit its receive"},
    {WR_SEND, 1100, 0, 0, 0, 0, 1099, WCS_REM_INV_REQ_ERR, "a message must fit its receive"},
};

/* Posts one request.  It is unsignaled if it must fail, because a failure completes anyway. */
void verbs_step_wrong(struct drill *d)
{
    const struct wrong *w = &wrongs[drill_below(d, sizeof(wrongs) / sizeof(wrongs[0]))];
    struct drill_verbs *k = d->own;
    const uint32_t first = w->bytes > 16 ? 1 + drill_below(d, w->bytes - 1) : w->bytes;
    const struct rdl_sge sge[2] = {
        {k->side[0].addr, first, k->side[0].lkey},
        {k->side[0].addr + first, w->bytes - first, k->side[0].lkey + w->second}};
    struct rdl_send_wr wr = {.opcode = w->op,
                             .flags = w->status == WCS_SUCCESS ? SF_SIGNALED : 0,
                             .sge = sge,
                             .n_sge = first == w->bytes ? 1 : 2,
                             .remote_addr = k->side[1].addr + 8ull * drill_below(d, 64) + w->off,
                             .rkey = k->side[1].rkey + w->rkey};
    struct verbs_pair p;
    struct rdl_wc wc;

    if (!pair_of(d, &p, verbs_rights & ~w->no, 3) ||
        (w->recv > 0 && !verbs_recv(d, &p.end[1], VERBS_HALF, w->recv)) ||
        !verbs_send(d, &p.end[0], &wr) || !drill_settle(d) ||
        !drill_expect(d, rig_poll(d, k->side[0].scq, &wc),
                      "a request that is signaled or fails has a completion", "none") ||
        !drill_expect(
            d,
            wc.status == w->status ||
                (rig_is_rxe(k->profile) && wc.status != WCS_SUCCESS && w->status != WCS_SUCCESS),
            w->what, "%s", enum_name(&enum_wc_status, wc.status)))
        return;
    if (w->recv > 0 && !drill_expect(d,
                                     rig_poll(d, k->side[1].rcq, &wc) &&
                                         (wc.status == WCS_SUCCESS) == (w->status == WCS_SUCCESS),
                                     "a receive tells how its message ended", "another status"))
        return;
    (void)verbs_unpair(d, &p);
}

/* --- Retransmission --------------------------------------------------------------------------- */

static bool send_one(struct drill *d, struct verbs_pair *p, uint32_t op, uint32_t flags)
{
    struct drill_verbs *k = d->own;
    const bool reads = op == WR_RDMA_READ;
    const struct rdl_sge sge = {k->side[0].addr + (reads ? VERBS_HALF : 0),
                                1 + drill_below(d, 3000), k->side[0].lkey};
    struct rdl_send_wr wr = {.opcode = op,
                             .flags = flags,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = k->side[1].addr + (reads ? 0 : VERBS_HALF),
                             .rkey = k->side[1].rkey};

    return verbs_send(d, &p->end[0], &wr);
}

/* Loses more frames in all than retry_cnt, but each time progress resets the retry counter. */
void verbs_step_again(struct drill *d)
{
    static const uint32_t ops[] = {WR_RDMA_WRITE, WR_RDMA_READ, WR_SEND};
    struct drill_verbs *k = d->own;
    const uint32_t rounds = 2 + drill_below(d, 4);
    struct verbs_pair p;
    struct rdl_wc wc;

    if (!pair_of(d, &p, verbs_rights, 1))
        return;
    for (uint32_t i = 0; i < rounds; i++) {
        struct rdl_fault_config f = {.kind = FLT_DROP, .nth = 1, .count = 1, .opcode = RDL_ANY};
        const uint32_t op = ops[drill_below(d, 3)];
        rdl_fault fault;

        f.from = k->host[drill_below(d, 2)];
        if (!verbs_fault(d, &f, &fault) ||
            (op == WR_SEND && !verbs_recv(d, &p.end[1], VERBS_HALF, 4096)) ||
            !send_one(d, &p, op, SF_SIGNALED) || !drill_settle(d) ||
            !verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
            (op == WR_SEND && !verbs_done(d, k->side[1].rcq, WCS_SUCCESS, &wc)) ||
            !drill_works(d, rdl_fault_remove(d->lab, fault), "a fault can be taken away"))
            return;
    }
    (void)verbs_unpair(d, &p);
}
