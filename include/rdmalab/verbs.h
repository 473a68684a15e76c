/* SPDX-License-Identifier: MIT */
/* Verbs: what a program on a host can ask of its RDMA device.
 *
 * Calls that use the control queue (alloc, create, register, modify, query, destroy) put the
 * request into the ring and kick; the answer is there when rdl_wait() returns RDL_OK.  One request
 * per host is under way at a time (RDL_ERR_BUSY), see rdl_requests_max().  Until then the object of
 * the handle is pending, and if the device refuses, the handle is stale.  post, kick, poll and
 * memory access take no simulated time.
 *
 * Names and meanings are those of libibverbs.  A NULL or empty @name gives a default ("qp2");
 * RDL_ERR_RESERVED: the inspect tree has something of every host under @name ("counters").
 */
#ifndef RDMALAB_VERBS_H
#define RDMALAB_VERBS_H

#include "rdmalab/lab.h"
#include "rdmalab/work.h"

/* From now on up to @n requests of @host may be under way at a time, 1 .. RDL_REQUESTS_MAX, if each
 * creates an object, and the ring has room: then rdl_wait() waits for all of them, and
 * RDL_ERR_DEVICE says that some was refused.  A region of a program's memory waits for its turn
 * (RDL_ERR_BUSY), as do address handles and all that changes what there is.  RDL_OK, RDL_ERR_INVAL,
 * RDL_ERR_STALE, RDL_ERR_NO_GUEST
 */
#define RDL_REQUESTS_MAX 16u
RDL_MUST_CHECK enum rdl_status rdl_requests_max(struct rdl_lab *lab, rdl_host host, uint32_t n);

RDL_MUST_CHECK enum rdl_status rdl_alloc_pd(struct rdl_lab *lab, rdl_host host, const char *name,
                                            rdl_pd *ret);
RDL_MUST_CHECK enum rdl_status rdl_dealloc_pd(struct rdl_lab *lab, rdl_pd pd);

/* Guest-virtual memory of @bytes, zeroed, on pages scattered over the guest RAM; @ret is page
 * aligned.  Return: RDL_OK, RDL_ERR_NOMEM, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_alloc(struct rdl_lab *lab, rdl_host host, uint64_t bytes,
                                             uint64_t *ret);

/* Gives back all that rdl_mem_alloc() gave where @addr lies in it.  Return: RDL_OK
 *	   RDL_ERR_FAULT  nothing is mapped at @addr
 *	   RDL_ERR_BUSY   a region is registered over some of it
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_free(struct rdl_lab *lab, rdl_host host, uint64_t addr);

/* Copies between a buffer of the caller's and guest-virtual memory.  RDL_ERR_FAULT: not all of it
 * is mapped; nothing was copied.
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_read(const struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                            void *out, size_t bytes);
RDL_MUST_CHECK enum rdl_status rdl_mem_write(struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                             const void *in, size_t bytes);

/* Registers @bytes from @addr; @access is a set of enum access_bit.  Remote write and remote atomic
 * need local write.  [IBTA1 11.2.8.2]  Its parameters are those of ibv_reg_mr(), and
 * the lab and the name that every creating call has: one more than six.
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_mr(struct rdl_lab *lab, rdl_pd pd, uint64_t addr,
                                          uint64_t bytes, uint32_t access, const char *name,
                                          rdl_mr *ret);
RDL_MUST_CHECK enum rdl_status rdl_dereg_mr(struct rdl_lab *lab, rdl_mr mr);

struct rdl_mr_info {
    uint64_t addr, bytes; /* of the program's memory */
    uint32_t lkey, rkey, access;
    uint64_t iova; /* what SGEs and peers call its first byte */
    uint32_t kind; /* enum key_kind */
};
RDL_MUST_CHECK enum rdl_status rdl_mr_info(const struct rdl_lab *lab, rdl_mr mr,
                                           struct rdl_mr_info *ret);

RDL_MUST_CHECK enum rdl_status rdl_create_cq(struct rdl_lab *lab, rdl_host host, uint32_t cqe,
                                             const char *name, rdl_cq *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_cq(struct rdl_lab *lab, rdl_cq cq);

/* Gives @cq room for @cqe completions; those that it holds stay, and come first.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        it holds more than @cqe, or @cqe is 0
 *	   RDL_ERR_LIMIT        more than the device can have
 *	   RDL_ERR_UNSUPPORTED  the device does not offer RESIZE
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_resize_cq(struct rdl_lab *lab, rdl_cq cq, uint32_t cqe);

/* Arms @cq: one completion event at the next completion (or the next solicited one). */
RDL_MUST_CHECK enum rdl_status rdl_req_notify_cq(struct rdl_lab *lab, rdl_cq cq,
                                                 bool solicited_only);

struct rdl_qp_config {
    rdl_pd pd;
    uint32_t type; /* enum qp_type */
    rdl_cq send_cq, recv_cq;
    uint32_t max_send_wr, max_recv_wr;   /* 0: 16 */
    uint32_t max_send_sge, max_recv_sge; /* 0: 4 */
    uint32_t max_inline_data;
    bool sq_sig_all; /* every send is signaled */
    /* Of a UD one: it gets no copy of what it sends to a multicast group that it is in.
     * (IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)  RDL_ERR_UNSUPPORTED where the device cannot do that.
     */
    bool block_self_mcast_lb;
    rdl_srq srq; /* where its receives come from, whatever max_recv_* say; 0: from its own queue */
};
RDL_MUST_CHECK enum rdl_status rdl_create_qp(struct rdl_lab *lab,
                                             const struct rdl_qp_config *config, const char *name,
                                             rdl_qp *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_qp(struct rdl_lab *lab, rdl_qp qp);

/* How a station is reached: an address vector. */
struct rdl_ah_attr {
    uint8_t dgid[16];
    uint8_t dmac[6]; /* all zero: the guest finds the neighbour's out */
    uint8_t sgid_index, hop_limit, traffic_class, sl;
    uint32_t flow_label; /* 20 bits */
    uint8_t static_rate; /* of an address handle; frames are not paced by it */
    uint8_t port;        /* of an address handle, from 1; a queue pair has one of its own */
};

/* Attaches @qp, a UD one, to the multicast group @gid, or detaches it.  The first queue pair of a
 * host makes the guest tell the link that it is in the group, the last that it has left.  A queue
 * pair that is in a group cannot be destroyed: RDL_ERR_BUSY.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        no multicast address, not a UD one, or not in the group
 *	   RDL_ERR_UNSUPPORTED  the device has no multicast
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_attach_mcast(struct rdl_lab *lab, rdl_qp qp,
                                                const uint8_t gid[16]);
RDL_MUST_CHECK enum rdl_status rdl_detach_mcast(struct rdl_lab *lab, rdl_qp qp,
                                                const uint8_t gid[16]);

/* Attributes of a queue pair; which are valid is said by a mask of enum qp_attr_bit. */
struct rdl_qp_attr {
    uint32_t state, cur_state; /* enum qp_state */
    uint32_t path_mtu;         /* enum mtu */
    uint32_t access;           /* set of enum access_bit */
    uint32_t pkey_index, port; /* port: from 1 */
    uint32_t qkey;             /* of UD: a datagram must carry it */
    uint32_t dest_qpn, rq_psn, sq_psn;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
    uint32_t credits; /* 1: end-to-end credits, both ways; not asked of the device by a query */
    uint32_t en_sqd_async_notify; /* with a move to SQD: SQ_DRAINED shall tell when it is done */
    uint32_t sq_draining;         /* queried: in SQD, and what was started is not done yet */
    struct rdl_ah_attr ah;
};

/* Why a modify was refused before it reached the device. */
struct rdl_modify_error {
    uint32_t from, to;       /* enum qp_state */
    uint32_t missing, extra; /* sets of enum qp_attr_bit */
    uint32_t bad;            /* attributes with a value out of range */
};

/* @unchecked leaves all checks to the device, as a careless driver would.
 *
 * With an address vector whose MAC is not known the guest first asks the network for it, which is
 * part of the request: rdl_wait() then also gives RDL_ERR_NO_ROUTE, when nobody answered.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE  there is no such move
 *	   RDL_ERR_INVAL  attributes are missing, one too many, or out of range
 *	   RDL_ERR_NO_ROUTE  the neighbour is not known and nobody can be asked: no link is up
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_modify_qp(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_qp_attr *attr, uint32_t mask,
                                             bool unchecked, struct rdl_modify_error *reterr);

/* An address handle for datagrams.  It is the driver's own, and no request of the device: once the
 * MAC is known, which the guest asks the network for as it does for rdl_modify_qp(), it is there.
 * The MAC of a multicast group follows from its address.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL     a value is out of range
 *	   RDL_ERR_NO_ROUTE  the neighbour is not known and nobody can be asked: no link is up
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_create_ah(struct rdl_lab *lab, rdl_pd pd,
                                             const struct rdl_ah_attr *attr, const char *name,
                                             rdl_ah *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_ah(struct rdl_lab *lab, rdl_ah ah);
RDL_MUST_CHECK enum rdl_status rdl_ah_info(const struct rdl_lab *lab, rdl_ah ah,
                                           struct rdl_ah_attr *ret);

/* Asks the device; the answer is in rdl_qp_info() after rdl_wait(). */
RDL_MUST_CHECK enum rdl_status rdl_query_qp(struct rdl_lab *lab, rdl_qp qp);
RDL_MUST_CHECK enum rdl_status rdl_query_port(struct rdl_lab *lab, rdl_host host);

/* Asks for entry @index of the P_Key table, which is in *@ret of rdl_pkey() after rdl_wait().
 * RDL_ERR_INVAL: the table is shorter.
 */
RDL_MUST_CHECK enum rdl_status rdl_query_pkey(struct rdl_lab *lab, rdl_host host, uint32_t index);
RDL_MUST_CHECK enum rdl_status rdl_pkey(const struct rdl_lab *lab, rdl_host host, uint16_t *ret);

/* Makes entry @index of the device's GID table the host's address of that number, IPv4 (0) or IPv6
 * (1), or takes it away.  RDL_ERR_INVAL: there are two.  The device refuses it while a queue pair
 * uses the entry.
 */
RDL_MUST_CHECK enum rdl_status rdl_set_gid(struct rdl_lab *lab, rdl_host host, uint32_t index,
                                           bool valid);

struct rdl_qp_info {
    uint32_t qpn, type;
    struct rdl_qp_attr attr;     /* as last set or queried by the driver */
    uint32_t sq_queue, rq_queue; /* numbers of the virtqueues */
    uint32_t max_send_sge, max_recv_sge, max_inline_data;
};
RDL_MUST_CHECK enum rdl_status rdl_qp_info(const struct rdl_lab *lab, rdl_qp qp,
                                           struct rdl_qp_info *ret);

/* Where @host can be reached: entry @index of its GID table, and its MAC. */
RDL_MUST_CHECK enum rdl_status rdl_host_address(const struct rdl_lab *lab, rdl_host host,
                                                uint32_t index, uint8_t ret_gid[16],
                                                uint8_t ret_mac[6]);

struct rdl_wc {
    uint64_t wr_id;
    uint32_t status; /* enum wc_status */
    uint32_t opcode; /* enum wc_opcode */
    uint32_t byte_len, qp_num, src_qp;
    uint32_t wc_flags;   /* set of enum wc_flag_bit */
    uint32_t vendor_err; /* enum rule: which one refused */
    uint8_t imm[4];
    uint32_t invalidated_rkey; /* with WCF_WITH_INV: there are no immediate data then */
};

/* Takes up to @max completions out of @cq; *@ret_n may be 0. */
RDL_MUST_CHECK enum rdl_status rdl_poll_cq(struct rdl_lab *lab, rdl_cq cq, size_t max,
                                           struct rdl_wc *ret, size_t *ret_n);

/* What is known of a completion queue without polling it: looking is no tick.  RDL_ERR_BUSY while
 * it is being created or destroyed.
 */
struct rdl_cq_info {
    uint32_t cqe;         /* entries */
    uint64_t completions; /* ever written */
    uint64_t polled;      /* of them */
    uint64_t events;      /* completion events ever: rdl_req_notify_cq() allows one each */
};
RDL_MUST_CHECK enum rdl_status rdl_cq_info(const struct rdl_lab *lab, rdl_cq cq,
                                           struct rdl_cq_info *ret);

#endif
