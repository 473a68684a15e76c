/* SPDX-License-Identifier: MIT */
/* Work requests: what is posted to the queues of a queue pair.
 *
 * Names and meanings are those of libibverbs.  Where that has a list of requests linked by next,
 * this has an array, and what is bad_wr there is an index here.
 */
#ifndef RDMALAB_WORK_H
#define RDMALAB_WORK_H

#include "rdmalab/lab.h"

struct rdl_sge {
    uint64_t addr;
    uint32_t length;
    uint32_t lkey;
};

#define RDL_SGE_MAX 32u /* elements of one work request */

/* What an operation does not need is not looked at.  The keys that BIND_MW and REG_MR give are
 * those of their window and region from the post on, also if they fail.
 */
struct rdl_send_wr {
    uint64_t wr_id;
    uint32_t opcode;           /* enum wr_opcode */
    uint32_t flags;            /* set of enum send_flag_bit */
    uint8_t imm[4];            /* as on the wire */
    uint32_t invalidate_rkey;  /* of LOCAL_INV and what ends in _WITH_INV */
    const struct rdl_sge *sge; /* the message; of READ and atomics, where the answer goes */
    size_t n_sge;
    const void *inline_data; /* with SF_INLINE instead of @sge: copied now */
    size_t inline_bytes;
    uint64_t remote_addr; /* of RDMA_WRITE, RDMA_READ and atomics */
    uint32_t rkey;
    uint64_t compare_add; /* of atomics: what is compared, or added */
    uint64_t swap;        /* of ATOMIC_CMP_AND_SWP */
    struct {
        rdl_ah ah;
        uint32_t remote_qpn, remote_qkey;
    } ud; /* of whatever is posted to a UD queue pair */
    struct {
        rdl_mr mr;
        uint32_t key, access; /* access: a set of enum access_bit */
    } reg;                    /* of REG_MR */
    struct {
        rdl_mw mw;
        uint32_t rkey; /* that it will have: its own, but for the lowest byte */
        rdl_mr mr;
        uint64_t addr, length;
        uint32_t access; /* set of enum access_bit */
        bool type_1;     /* as ibv_bind_mw() binds a window of type 1, which may need no region */
    } bind_mw;           /* of BIND_MW */
};

struct rdl_recv_wr {
    uint64_t wr_id;
    const struct rdl_sge *sge;
    size_t n_sge;
};

/* Fills the ring, and kicks unless @nokick.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE       the QP's state takes no such request
 *	   RDL_ERR_QUEUE_FULL  all entries are outstanding
 *	   RDL_ERR_INVAL       flags, SGEs or inline data are what a rule POST_* refuses
 *	   RDL_ERR_UNSUPPORTED the QP's type has no such operation, or it is not carried out
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_BROKEN
 */
RDL_MUST_CHECK enum rdl_status rdl_post_send(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_send_wr *wr, bool nokick);
RDL_MUST_CHECK enum rdl_status rdl_post_recv(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_recv_wr *wr, bool nokick);

/* Which request of a list was refused, and why. */
struct rdl_post_error {
    size_t bad;           /* its index: so many were posted */
    uint32_t rule;        /* enum rule, POST_*; RULE_NONE: the status says it all */
    uint64_t most, found; /* what the rule compared: too many, or (not more) nothing */
};

/* Posts the @n requests at @wr in one tick, in their order, with one kick behind the last.  One
 * that is refused ends it: those before it stay posted and are kicked, it and those behind it are
 * not, and @reterr, which is untouched otherwise, tells which it is.
 *
 * Return: as for one request
 */
RDL_MUST_CHECK enum rdl_status rdl_post_send_list(struct rdl_lab *lab, rdl_qp qp,
                                                  const struct rdl_send_wr *wr, size_t n,
                                                  bool nokick, struct rdl_post_error *reterr);
RDL_MUST_CHECK enum rdl_status rdl_post_recv_list(struct rdl_lab *lab, rdl_qp qp,
                                                  const struct rdl_recv_wr *wr, size_t n,
                                                  bool nokick, struct rdl_post_error *reterr);

/* Tells the device about posted work.  @send: the send queue, otherwise the receive queue. */
RDL_MUST_CHECK enum rdl_status rdl_kick(struct rdl_lab *lab, rdl_qp qp, bool send);

#endif
