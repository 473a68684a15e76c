/* SPDX-License-Identifier: MIT */
/* The structures and numbers of PVRDMA that programs see, against Linux's header. */
#include "testing.h"

#include <linux/types.h>
#include <rdma/vmw_pvrdma-abi.h>

#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/structs.h"

#define SAME_SIZE(ours, theirs)                                                                    \
    assert_int_equal(sizeof(struct pv_raw_##ours), sizeof(struct theirs))
#define SAME(ours, field, theirs, member)                                                          \
    assert_int_equal(offsetof(struct pv_raw_##ours, field), offsetof(struct theirs, member))
#define IN_UNION(ours, field, member)                                                              \
    assert_int_equal(offsetof(struct pv_raw_sq_wqe, wr) + offsetof(struct pv_raw_##ours, field),   \
                     offsetof(struct pvrdma_sq_wqe_hdr, wr.member))

static void completions_are_the_same(void **state)
{
    (void)state;
    SAME_SIZE(cqe, pvrdma_cqe);
    SAME(cqe, qp, pvrdma_cqe, qp);
    SAME(cqe, opcode, pvrdma_cqe, opcode);
    SAME(cqe, status, pvrdma_cqe, status);
    SAME(cqe, byte_len, pvrdma_cqe, byte_len);
    SAME(cqe, ex, pvrdma_cqe, imm_data);
    SAME(cqe, src_qp, pvrdma_cqe, src_qp);
    SAME(cqe, wc_flags, pvrdma_cqe, wc_flags);
    SAME(cqe, vendor_err, pvrdma_cqe, vendor_err);
    SAME(cqe, pkey_index, pvrdma_cqe, pkey_index);
    SAME(cqe, sl, pvrdma_cqe, sl);
    SAME(cqe, port, pvrdma_cqe, port_num);
    SAME(cqe, smac, pvrdma_cqe, smac);
    SAME(cqe, network_hdr_type, pvrdma_cqe, network_hdr_type);
}

static void requests_are_the_same(void **state)
{
    (void)state;
    SAME_SIZE(sq_wqe, pvrdma_sq_wqe_hdr);
    SAME(sq_wqe, num_sge, pvrdma_sq_wqe_hdr, num_sge);
    SAME(sq_wqe, opcode, pvrdma_sq_wqe_hdr, opcode);
    SAME(sq_wqe, send_flags, pvrdma_sq_wqe_hdr, send_flags);
    SAME(sq_wqe, ex, pvrdma_sq_wqe_hdr, ex);
    SAME(sq_wqe, wr, pvrdma_sq_wqe_hdr, wr);
    IN_UNION(wr_rdma, rkey, rdma.rkey);
    IN_UNION(wr_atomic, compare_add, atomic.compare_add);
    IN_UNION(wr_atomic, rkey, atomic.rkey);
    IN_UNION(wr_fast_reg, pdir, fast_reg.pl_pdir_dma);
    IN_UNION(wr_fast_reg, pages, fast_reg.page_list_len);
    IN_UNION(wr_fast_reg, access, fast_reg.access_flags);
    IN_UNION(wr_fast_reg, rkey, fast_reg.rkey);
    IN_UNION(wr_ud, qkey, ud.remote_qkey);
    IN_UNION(wr_ud, port_pd, ud.av.port_pd);
    IN_UNION(wr_ud, sl_tclass_flow, ud.av.sl_tclass_flowlabel);
    IN_UNION(wr_ud, dgid, ud.av.dgid);
    IN_UNION(wr_ud, sgid_index, ud.av.gid_index);
    IN_UNION(wr_ud, hop_limit, ud.av.hop_limit);
    IN_UNION(wr_ud, dmac, ud.av.dmac);
    SAME_SIZE(rq_wqe, pvrdma_rq_wqe_hdr);
    SAME_SIZE(sge, pvrdma_sge);
    SAME(sge, lkey, pvrdma_sge, lkey);
}

static void numbers_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(pv_send_number(WR_RDMA_WRITE_WITH_IMM), PVRDMA_WR_RDMA_WRITE_WITH_IMM);
    assert_int_equal(pv_send_number(WR_SEND), PVRDMA_WR_SEND);
    assert_int_equal(pv_send_number(WR_RDMA_READ), PVRDMA_WR_RDMA_READ);
    assert_int_equal(pv_send_number(WR_ATOMIC_FETCH_AND_ADD), PVRDMA_WR_ATOMIC_FETCH_AND_ADD);
    assert_int_equal(pv_send_number(WR_SEND_WITH_INV), PVRDMA_WR_SEND_WITH_INV);
    assert_int_equal(pv_send_number(WR_RDMA_READ_WITH_INV), PVRDMA_WR_RDMA_READ_WITH_INV);
    assert_int_equal(pv_send_number(WR_LOCAL_INV), PVRDMA_WR_LOCAL_INV);
    assert_int_equal(pv_send_number(WR_REG_MR), PVRDMA_WR_FAST_REG_MR);
    assert_int_equal(pv_wc_number(WC_COMP_SWAP), PVRDMA_WC_COMP_SWAP);
    assert_int_equal(pv_wc_number(WC_LOCAL_INV), PVRDMA_WC_LOCAL_INV);
    assert_int_equal(pv_wc_number(WC_REG_MR), PVRDMA_WC_FAST_REG_MR);
    assert_int_equal(pv_wc_number(WC_RECV), PVRDMA_WC_RECV);
    assert_int_equal(pv_wc_number(WC_RECV_RDMA_WITH_IMM), PVRDMA_WC_RECV_RDMA_WITH_IMM);
    assert_int_equal(pv_wc_flag_bits(WCF_GRH), PVRDMA_WC_GRH);
    assert_int_equal(pv_wc_flag_bits(WCF_WITH_IMM), PVRDMA_WC_WITH_IMM);
    assert_int_equal(pv_wc_flag_bits(WCF_WITH_INV), PVRDMA_WC_WITH_INVALIDATE);
    assert_int_equal(PV_WC_NETWORK_HDR_TYPE, PVRDMA_WC_WITH_NETWORK_HDR_TYPE);
    assert_int_equal(PV_NETWORK_IPV4, PVRDMA_NETWORK_IPV4);
    assert_int_equal(PV_NETWORK_IPV6, PVRDMA_NETWORK_IPV6);
}

/* Linux writes both as 1 << 31, which only the preprocessor can compute. */
#if PVRDMA_UAR_QP_RECV != PV_UAR_RECV || PVRDMA_UAR_CQ_POLL != PV_UAR_POLL
#error "a bit of a doorbell differs"
#endif

static void doorbells_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(PV_UAR_HANDLE, PVRDMA_UAR_HANDLE_MASK);
    assert_int_equal(PV_UAR_AT_QP, PVRDMA_UAR_QP_OFFSET);
    assert_int_equal(PV_UAR_AT_CQ, PVRDMA_UAR_CQ_OFFSET);
    assert_int_equal(PV_UAR_AT_SRQ, PVRDMA_UAR_SRQ_OFFSET);
    assert_int_equal(PV_UAR_SEND, PVRDMA_UAR_QP_SEND);
    assert_int_equal(PV_UAR_ARM_SOL, PVRDMA_UAR_CQ_ARM_SOL);
    assert_int_equal(PV_UAR_ARM, PVRDMA_UAR_CQ_ARM);
    assert_int_equal(PV_UAR_SRQ_RECV, PVRDMA_UAR_SRQ_RECV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completions_are_the_same),
        cmocka_unit_test(requests_are_the_same),
        cmocka_unit_test(numbers_are_the_same),
        cmocka_unit_test(doorbells_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
