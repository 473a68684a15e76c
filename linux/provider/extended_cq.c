/* SPDX-License-Identifier: MIT */
/* Extended completion queues: a poll takes one completion from the kernel. */
#include "provider.h"

#include <errno.h>

static const struct ibv_wc *completion(struct ibv_cq_ex *cq)
{
    return &lab_cq(ibv_cq_ex_to_cq(cq))->completion;
}

static int next_poll(struct ibv_cq_ex *cq)
{
    struct lab_cq *mine = lab_cq(ibv_cq_ex_to_cq(cq));
    int n = ibv_cmd_poll_cq(&mine->v.cq, 1, &mine->completion);

    if (n < 0)
        return EIO;
    if (n == 0)
        return ENOENT;
    cq->wr_id = mine->completion.wr_id;
    cq->status = mine->completion.status;
    return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    return attr->comp_mask ? EINVAL : next_poll(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
    (void)cq;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
    return completion(cq)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
    return completion(cq)->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
    return completion(cq)->wc_flags;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
    return completion(cq)->byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
    return completion(cq)->imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
    return completion(cq)->qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
    return completion(cq)->src_qp;
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
    return completion(cq)->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
    return completion(cq)->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
    return completion(cq)->dlid_path_bits;
}

void lab_cq_extend(struct lab_cq *cq, uint64_t wc_flags)
{
    struct ibv_cq_ex *ex = &cq->v.cq_ex;

    ex->start_poll = start_poll;
    ex->next_poll = next_poll;
    ex->end_poll = end_poll;
    ex->read_opcode = read_opcode;
    ex->read_vendor_err = read_vendor_err;
    ex->read_wc_flags = read_wc_flags;
    if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
        ex->read_byte_len = read_byte_len;
    if (wc_flags & IBV_WC_EX_WITH_IMM)
        ex->read_imm_data = read_imm_data;
    if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
        ex->read_qp_num = read_qp_num;
    if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
        ex->read_src_qp = read_src_qp;
    if (wc_flags & IBV_WC_EX_WITH_SLID)
        ex->read_slid = read_slid;
    if (wc_flags & IBV_WC_EX_WITH_SL)
        ex->read_sl = read_sl;
    if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
        ex->read_dlid_path_bits = read_dlid_path_bits;
}
