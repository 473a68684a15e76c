/* SPDX-License-Identifier: MIT */
/* Completions, as lines of the transcript. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define GRH_BYTES   40u
#define NAP_US      100
#define LOOKS_AWAKE 200 /* before the first nap */
#define TEXT_BYTES  96
#define DRAIN_MS    100

static const struct word_value statuses[] = {
    {"SUCCESS", IBV_WC_SUCCESS},
    {"LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR},
    {"LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR},
    {"LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR},
    {"WR_FLUSH_ERR", IBV_WC_WR_FLUSH_ERR},
    {"MW_BIND_ERR", IBV_WC_MW_BIND_ERR},
    {"BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR},
    {"LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR},
    {"REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR},
    {"REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR},
    {"REM_OP_ERR", IBV_WC_REM_OP_ERR},
    {"RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR},
    {"RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR},
    {"REM_ABORT_ERR", IBV_WC_REM_ABORT_ERR},
    {"FATAL_ERR", IBV_WC_FATAL_ERR},
    {"GENERAL_ERR", IBV_WC_GENERAL_ERR},
};

static const struct word_value opcodes[] = {
    {"SEND", IBV_WC_SEND},           {"RDMA_WRITE", IBV_WC_RDMA_WRITE},
    {"RDMA_READ", IBV_WC_RDMA_READ}, {"COMP_SWAP", IBV_WC_COMP_SWAP},
    {"FETCH_ADD", IBV_WC_FETCH_ADD}, {"BIND_MW", IBV_WC_BIND_MW},
    {"LOCAL_INV", IBV_WC_LOCAL_INV},
#if PLACEMENT
    {"FLUSH", IBV_WC_FLUSH},         {"ATOMIC_WRITE", IBV_WC_ATOMIC_WRITE},
#endif
    {"RECV", IBV_WC_RECV},           {"RECV_RDMA_WITH_IMM", IBV_WC_RECV_RDMA_WITH_IMM},
};

/* Takes the next completion; false: none has come for @ms. */
static bool next_completion(const struct peer *p, struct ibv_cq *cq, uint64_t ms,
                            struct ibv_wc *ret_wc)
{
    const uint64_t until = now_ms() + ms;
    size_t looks = 0;

    for (;;) {
        const int n = ibv_poll_cq(cq, 1, ret_wc);

        if (n < 0)
            fail(p, "ibv_poll_cq failed");
        if (n > 0)
            return true;
        if (++looks > LOOKS_AWAKE) {
            if (now_ms() > until)
                return false;
            usleep(NAP_US);
        }
    }
}

static const char *name_of_window(const struct peer *p, uint32_t rkey)
{
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (p->object[i].kind == MW && p->object[i].mw->rkey == rkey)
            return p->object[i].name;
    }
    return "?";
}

/* The name of the queue pair that has sent a datagram: the peer's @qpn, or one of this side, to a
 * group. */
static const char *name_of_source(const struct peer *p, uint32_t qpn)
{
    const struct object *own = qp_of_number(p, qpn);

    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        const struct remote *r = &p->remote[i];

        if (r->name[0] && r->is_qp && r->number == qpn)
            return r->name;
    }
    return own ? own->name : "?";
}

/* rxe of Linux 6.1 hands out the kernel's bit for WITH_INV, which is another one in libibverbs. */
static bool with_inv(const struct ibv_wc *wc)
{
    return wc->wc_flags & (IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK);
}

/* What only receives have. */
static void print_receive(const struct peer *p, const struct object *qp, const struct ibv_wc *wc)
{
    const bool ud = qp && qp->qp->qp_type == IBV_QPT_UD;
    char flags[TEXT_BYTES];

    snprintf(flags, sizeof(flags), "%s%s%s", ud && (wc->wc_flags & IBV_WC_GRH) ? ",GRH" : "",
             wc->wc_flags & IBV_WC_WITH_IMM ? ",WITH_IMM" : "", with_inv(wc) ? ",WITH_INV" : "");
    printf(" wc_flags=%s", flags[0] ? flags + 1 : "0");
    if (wc->wc_flags & IBV_WC_WITH_IMM)
        printf(" imm=0x%08x", ntohl(wc->imm_data));
    if (with_inv(wc))
        printf(" invalidated=%s", name_of_window(p, wc->invalidated_rkey));
    if (ud)
        printf(" src_qp=%s", name_of_source(p, wc->src_qp));
}

/* Prints no more than what is defined for a completion of this kind; the line is not ended. */
static void print_completion(const struct peer *p, const char *cq, const struct ibv_wc *wc,
                             bool with_id)
{
    const struct object *qp = qp_of_number(p, wc->qp_num);

    printf("%s: qp=%s", cq, qp ? qp->name : "?");
    if (with_id)
        printf(" wr_id=%" PRIu64, wc->wr_id);
    printf(" status=%s", to_word(statuses, ARRAY_LEN(statuses), wc->status));
    if (wc->status != IBV_WC_SUCCESS)
        return;
    printf(" opcode=%s", to_word(opcodes, ARRAY_LEN(opcodes), wc->opcode));
    if ((wc->opcode & IBV_WC_RECV) || wc->opcode == IBV_WC_RDMA_READ ||
        wc->opcode == IBV_WC_COMP_SWAP || wc->opcode == IBV_WC_FETCH_ADD)
        printf(" byte_len=%u", wc->byte_len);
    if (wc->opcode & IBV_WC_RECV)
        print_receive(p, qp, wc);
}

/* poll_cq CQ [count=N]: N completions, each of which may take its time. */
void do_poll_cq(struct peer *p)
{
    const char *name = operand(p, 0);
    struct ibv_cq *cq = object_named(p, name, CQ)->cq;
    const uint64_t count = number_or(p, "count", 1);

    for (uint64_t i = 0; i < count; i++) {
        struct ibv_wc wc;

        if (!next_completion(p, cq, WAIT_MS, &wc))
            fail(p, "completion %" PRIu64 " of %" PRIu64 " does not come", i + 1, count);
        print_completion(p, name, &wc, true);
        putchar('\n');
    }
}

/* Returns true if the message is whole.  Receive number K has its place at K * @stride of @data; a
 * WRITE, which names no receive, says by its immediate data where it went.  The bytes are the
 * pattern of that number.
 */
static bool is_whole(const struct peer *p, const struct slice *data, uint64_t stride,
                     const struct ibv_wc *wc)
{
    const struct object *qp = qp_of_number(p, wc->qp_num);
    const size_t skipped = qp && qp->qp->qp_type == IBV_QPT_UD ? GRH_BYTES : 0;
    const uint32_t number = ntohl(wc->imm_data);
    const bool written = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
    const uint64_t place = (written ? number : wc->wr_id) * stride;
    size_t at;

    if (wc->byte_len < skipped || place + wc->byte_len > data->length)
        return false;
    return is_pattern(data->start + place + skipped, wc->byte_len - skipped, number, &at);
}

/* drain_cq CQ [time=MS] [count=N] [data=mr[A:B] stride=N]: what comes until nothing has come for
 * MS, or until there were N.
 */
void do_drain(struct peer *p)
{
    const char *name = operand(p, 0), *text = peer_line_value(p->at, "data");
    struct ibv_cq *cq = object_named(p, name, CQ)->cq;
    const uint64_t ms = number_or(p, "time", DRAIN_MS);
    uint64_t left = number_or(p, "count", UINT64_MAX);
    struct slice data = {.length = 0};
    struct ibv_wc wc;

    if (text)
        data = to_slice(p, text, &text);
    while (left-- > 0 && next_completion(p, cq, ms, &wc)) {
        print_completion(p, name, &wc, data.length == 0);
        if (data.length && wc.status == IBV_WC_SUCCESS)
            printf(" data=%s",
                   is_whole(p, &data, number_or(p, "stride", 0), &wc) ? "right" : "wrong");
        putchar('\n');
    }
}
