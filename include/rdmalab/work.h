/* SPDX-License-Identifier: MIT */
/* Work requests, which a program posts to the queues of a queue pair.
 *
 * Names and meanings are those of libibverbs, with two differences.  Requests are in an array, not
 * in a list linked by next.  The first bad request is named by an index, not by bad_wr.
 */
#ifndef RDMALAB_WORK_H
#define RDMALAB_WORK_H

#include "rdmalab/lab.h"

struct rdl_sge {
    uint64_t addr;
    uint32_t length;
    uint32_t lkey;
};

#define RDL_SGE_MAX 32u /* SGEs of one work request */

/* A send work request.  Fields that the operation does not need are ignored.  BIND_MW and REG_MR
 * give their window or region the new key when they are posted, even if they fail later.
 */
struct rdl_send_wr {
    uint64_t wr_id;
    uint32_t opcode;          /* enum wr_opcode */
    uint32_t flags;           /* set of enum send_flag_bit */
    uint8_t imm[4];           /* as on the wire */
    uint32_t invalidate_rkey; /* key to invalidate: LOCAL_INV and the _WITH_INV operations */
    /* The message; for READ and atomics the destination of the response. */
    const struct rdl_sge *sge;
    size_t n_sge;
    const void *inline_data; /* with SF_INLINE, instead of @sge; copied by the call */
    size_t inline_bytes;
    uint64_t remote_addr; /* remote memory: RDMA_WRITE, RDMA_READ and atomics */
    uint32_t rkey;        /* key of the remote memory */
    uint64_t compare_add; /* operand of FETCH_AND_ADD, or compare value of CMP_AND_SWP */
    uint64_t swap;        /* value to write: ATOMIC_CMP_AND_SWP */
    struct {
        rdl_ah ah;
        uint32_t remote_qpn, remote_qkey;
    } ud; /* every request on a UD queue pair */
    struct {
        rdl_mr mr;
        uint32_t key, access; /* key: the new key; access: set of enum access_bit */
    } reg;                    /* REG_MR */
    struct {
        rdl_mw mw;
        uint32_t rkey; /* the new R_Key: the old one except the lowest byte */
        rdl_mr mr;
        uint64_t addr, length;
        uint32_t access; /* set of enum access_bit */
        /* Bind as ibv_bind_mw(), for windows of type 1.  A length of 0 unbinds and needs no region.
         */
        bool type_1;
    } bind_mw; /* BIND_MW */
};

struct rdl_recv_wr {
    uint64_t wr_id;
    const struct rdl_sge *sge;
    size_t n_sge;
};

/* Post one work request: put it into the ring, and notify the device unless @nokick.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE       the QP's state does not allow it
 *	   RDL_ERR_QUEUE_FULL  all entries are outstanding
 *	   RDL_ERR_INVAL       a rule POST_* refuses the flags, SGEs or inline data
 *	   RDL_ERR_UNSUPPORTED the QP's type has no such operation, or it is not implemented
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_BROKEN
 */
RDL_MUST_CHECK enum rdl_status rdl_post_send(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_send_wr *wr, bool nokick);
RDL_MUST_CHECK enum rdl_status rdl_post_recv(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_recv_wr *wr, bool nokick);

/* The refused request of a list, and the reason. */
struct rdl_post_error {
    size_t bad;           /* index of the request, which is the number of requests posted */
    uint32_t rule;        /* enum rule, POST_*; RULE_NONE: the returned status is the only reason */
    uint64_t most, found; /* largest allowed value, value found; found <= most: no such values */
};

/* Post the @n requests at @wr in order, in one tick, with one kick after the last unless @nokick.
 * The first refused request ends the call: earlier requests stay posted and are kicked; this
 * request and later ones are not posted.  *@reterr then describes the refused request; otherwise it
 * is unchanged.
 *
 * Return: as rdl_post_send() and rdl_post_recv()
 */
RDL_MUST_CHECK enum rdl_status rdl_post_send_list(struct rdl_lab *lab, rdl_qp qp,
                                                  const struct rdl_send_wr *wr, size_t n,
                                                  bool nokick, struct rdl_post_error *reterr);
RDL_MUST_CHECK enum rdl_status rdl_post_recv_list(struct rdl_lab *lab, rdl_qp qp,
                                                  const struct rdl_recv_wr *wr, size_t n,
                                                  bool nokick, struct rdl_post_error *reterr);

/* Notifies the device of posted work in the send queue (@send) or the receive queue. */
RDL_MUST_CHECK enum rdl_status rdl_kick(struct rdl_lab *lab, rdl_qp qp, bool send);

#endif
