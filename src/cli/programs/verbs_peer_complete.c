/* SPDX-License-Identifier: MIT */
/* Polls completions and prints them to the transcript. */
#include <inttypes.h>
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/wire/grh.h"

#define DRAIN_MS 100u

/* Polls the next completion of @cq.  It first checks that there is one, because polling costs a
 * tick and checking does not.
 */
static bool next_completion(struct verbs_peer *p, const struct vp_object *cq, struct rdl_wc *ret)
{
    struct rdl_cq_info info;
    size_t n = 0;
    enum rdl_status st = rdl_cq_info(p->lab, cq->cq, &info);

    if (st == RDL_OK && info.completions > info.polled)
        st = rdl_poll_cq(p->lab, cq->cq, 1, ret, &n);
    if (st != RDL_OK)
        vp_fail(p, "%s", rdl_status_str(st));
    if (n == 0)
        return false;
    p->n_taken++;
    p->since_ns = p->now_ns;
    return true;
}

/* Returns the name of the queue pair that sent a datagram: the peer's @qpn or, for a multicast
 * group, one of this side.
 */
static const char *name_of_source(const struct verbs_peer *p, uint32_t qpn)
{
    const struct vp_object *own = vp_qp_of_number(p, qpn);

    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        const struct vp_remote *r = &p->remote[i];

        if (r->name[0] && r->is_qp && r->number == qpn)
            return r->name;
    }
    return own ? own->name : "?";
}

static const char *name_of_window(const struct verbs_peer *p, uint32_t rkey)
{
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        if (p->object[i].kind == VP_MW && p->object[i].number == rkey)
            return p->object[i].name;
    }
    return "?";
}

static bool is_receive(const struct rdl_wc *wc)
{
    return wc->opcode == WC_RECV || wc->opcode == WC_RECV_RDMA_WITH_IMM;
}

static bool has_byte_len(const struct rdl_wc *wc)
{
    return is_receive(wc) || wc->opcode == WC_RDMA_READ || wc->opcode == WC_COMP_SWAP ||
           wc->opcode == WC_FETCH_ADD;
}

static uint32_t imm_of(const struct rdl_wc *wc)
{
    return (uint32_t)wc->imm[0] << 24 | (uint32_t)wc->imm[1] << 16 | (uint32_t)wc->imm[2] << 8 |
           wc->imm[3];
}

/* Prints the fields that only receives have. */
static void print_receive(struct verbs_peer *p, bool ud, const struct rdl_wc *wc)
{
    char buf[64];
    struct text flags = text_on(buf, sizeof(buf));

    text_add(&flags, ud && wc->wc_flags & WCF_GRH ? ",GRH" : "");
    text_add(&flags, wc->wc_flags & WCF_WITH_IMM ? ",WITH_IMM" : "");
    text_add(&flags, wc->wc_flags & WCF_WITH_INV ? ",WITH_INV" : "");
    fprintf(p->out, " wc_flags=%s", flags.len ? buf + 1 : "0");
    if (wc->wc_flags & WCF_WITH_IMM)
        fprintf(p->out, " imm=0x%08" PRIx32, imm_of(wc));
    if (wc->wc_flags & WCF_WITH_INV)
        fprintf(p->out, " invalidated=%s", name_of_window(p, wc->invalidated_rkey));
    if (ud)
        fprintf(p->out, " src_qp=%s", name_of_source(p, wc->src_qp));
}

/* Prints only the fields that are defined for this kind of completion, without the line end. */
static void print_completion(struct verbs_peer *p, const char *cq, const struct rdl_wc *wc,
                             bool with_id)
{
    const struct vp_object *qp = vp_qp_of_number(p, wc->qp_num);

    fprintf(p->out, "%s: qp=%s", cq, qp ? qp->name : "?");
    if (with_id)
        fprintf(p->out, " wr_id=%" PRIu64, wc->wr_id);
    fprintf(p->out, " status=%s", enum_name(&enum_wc_status, wc->status));
    if (wc->status != WCS_SUCCESS)
        return;
    fprintf(p->out, " opcode=%s", enum_name(&enum_wc_opcode, wc->opcode));
    if (has_byte_len(wc))
        fprintf(p->out, " byte_len=%" PRIu32, wc->byte_len);
    if (is_receive(wc))
        print_receive(p, qp && qp->type == QPT_UD, wc);
}

/* poll_cq CQ [count=N]: waits for N completions. */
enum vp_end vp_poll_cq(struct verbs_peer *p)
{
    const char *name = vp_operand(p, 0);
    const struct vp_object *cq = vp_named(p, name, VP_CQ);
    const uint64_t count = vp_number(p, "count", 1);
    struct rdl_wc wc;

    while (!vp_failed(p) && p->n_taken < count) {
        if (next_completion(p, cq, &wc)) {
            print_completion(p, name, &wc, true);
            fputc('\n', p->out);
            continue;
        }
        if (p->now_ns - p->since_ns > VP_WAIT_NS)
            vp_fail(p, "completion %" PRIu64 " of %" PRIu64 " does not come", p->n_taken + 1,
                    count);
        return VP_LATER;
    }
    return VP_NEXT;
}

/* Returns true if the message is complete and correct.  Receive number K has its place at offset K
 * * @stride of @data.  A WRITE has no receive, so its immediate data is the number.  The content
 * must be the pattern of that number.
 */
static bool is_whole(struct verbs_peer *p, const struct vp_slice *data, uint64_t stride,
                     const struct rdl_wc *wc)
{
    const struct vp_object *qp = vp_qp_of_number(p, wc->qp_num);
    const uint64_t skipped = qp && qp->type == QPT_UD ? GRH_BYTES : 0;
    const uint32_t number = imm_of(wc);
    const uint64_t place = (wc->opcode == WC_RECV_RDMA_WITH_IMM ? number : wc->wr_id) * stride;
    uint64_t at;

    if (wc->byte_len < skipped || place + wc->byte_len > data->length)
        return false;
    return vp_is_pattern(p, data->addr + place + skipped, wc->byte_len - skipped, number, &at);
}

/* drain_cq CQ [time=MS] [count=N] [data=mr[A:B] stride=N]: takes completions until none has come
 * for MS milliseconds, or until there were N.
 */
enum vp_end vp_drain(struct verbs_peer *p)
{
    const char *name = vp_operand(p, 0), *text = vp_value(p, "data"), *rest;
    const struct vp_object *cq = vp_named(p, name, VP_CQ);
    const uint64_t ns = vp_number(p, "time", DRAIN_MS) * VP_NS_PER_MS;
    const uint64_t count = vp_number(p, "count", UINT64_MAX);
    const uint64_t stride = vp_number(p, "stride", 0);
    struct vp_slice data = {.length = 0};
    struct rdl_wc wc;

    if (text)
        data = vp_slice(p, text, &rest);
    while (!vp_failed(p) && p->n_taken < count) {
        if (!next_completion(p, cq, &wc))
            return p->now_ns - p->since_ns > ns ? VP_NEXT : VP_LATER;
        print_completion(p, name, &wc, data.length == 0);
        if (data.length && wc.status == WCS_SUCCESS)
            fprintf(p->out, " data=%s", is_whole(p, &data, stride, &wc) ? "right" : "wrong");
        fputc('\n', p->out);
    }
    return VP_NEXT;
}
