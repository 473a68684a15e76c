/* SPDX-License-Identifier: MIT */
/* Verbs: the requests of a program to the RDMA device of its host.
 *
 * Calls that use the control queue (alloc, create, register, modify, query, destroy) put a request
 * into the ring and kick.  The answer is available when rdl_wait() returns RDL_OK.  Until then the
 * object is pending.  If the device refuses, the handle is stale.  A host has one request under way
 * at a time; rdl_requests_max() allows more.  Calls to post, kick, poll and access memory take no
 * simulated time.
 *
 * Names and meanings are those of libibverbs.  A NULL or empty @name selects a default ("qp2").
 * Calls that use the control queue can return these errors, which are not repeated below:
 *
 *	RDL_ERR_BUSY		another request is under way; the object is pending; or it is to be
 *				destroyed and another object uses it
 *	RDL_ERR_STALE		the object or host does not exist
 *	RDL_ERR_BROKEN		the device needs a reset
 *	RDL_ERR_STATE		the host has not booted
 *	RDL_ERR_NO_GUEST	the guest of the host is a virtual machine
 *	RDL_ERR_INVAL		@name is malformed
 *	RDL_ERR_EXISTS		@name is in use on the host
 *	RDL_ERR_RESERVED	@name has a fixed meaning in the inspect tree ("counters")
 *	RDL_ERR_LIMIT, RDL_ERR_NOMEM	no room for another object
 */
#ifndef RDMALAB_VERBS_H
#define RDMALAB_VERBS_H

#include "rdmalab/lab.h"
#include "rdmalab/work.h"

/* Allows up to @n (1..RDL_REQUESTS_MAX) requests of @host under way at a time.  This holds for
 * requests that create an object, while the ring has room.  rdl_wait() then waits for all of them,
 * and RDL_ERR_DEVICE says that at least one was refused.  Other requests, regions over a program's
 * memory and address handles still run alone (RDL_ERR_BUSY).  RDL_OK, RDL_ERR_INVAL, RDL_ERR_STALE,
 * RDL_ERR_NO_GUEST
 */
#define RDL_REQUESTS_MAX 16u
RDL_MUST_CHECK enum rdl_status rdl_requests_max(struct rdl_lab *lab, rdl_host host, uint32_t n);

RDL_MUST_CHECK enum rdl_status rdl_alloc_pd(struct rdl_lab *lab, rdl_host host, const char *name,
                                            rdl_pd *ret);
RDL_MUST_CHECK enum rdl_status rdl_dealloc_pd(struct rdl_lab *lab, rdl_pd pd);

/* Allocates @bytes of zeroed guest-virtual memory, on pages scattered over the guest RAM.  *@ret is
 * page aligned.  Return: RDL_OK, RDL_ERR_NOMEM, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_alloc(struct rdl_lab *lab, rdl_host host, uint64_t bytes,
                                             uint64_t *ret);

/* Frees the whole allocation of rdl_mem_alloc() that contains @addr.  Return: RDL_OK
 *	   RDL_ERR_FAULT  nothing is mapped at @addr
 *	   RDL_ERR_BUSY   a region is registered over part of it
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_free(struct rdl_lab *lab, rdl_host host, uint64_t addr);

/* Copy between a buffer of the caller and guest-virtual memory.  RDL_ERR_FAULT: part of the range
 * is not mapped; nothing was copied.
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_read(const struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                            void *out, size_t bytes);
RDL_MUST_CHECK enum rdl_status rdl_mem_write(struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                             const void *in, size_t bytes);

/* Registers @bytes from @addr.  @access is a set of enum access_bit.  Remote write and remote
 * atomic need local write.  [IBTA1 11.2.8.2]  The function has seven parameters: those of
 * ibv_reg_mr(), the lab and the name.
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_mr(struct rdl_lab *lab, rdl_pd pd, uint64_t addr,
                                          uint64_t bytes, uint32_t access, const char *name,
                                          rdl_mr *ret);
RDL_MUST_CHECK enum rdl_status rdl_dereg_mr(struct rdl_lab *lab, rdl_mr mr);

struct rdl_mr_info {
    uint64_t addr, bytes; /* in the program's address space */
    uint32_t lkey, rkey, access;
    uint64_t iova; /* address of the first byte in SGEs and for peers */
    uint32_t kind; /* enum key_kind */
};
RDL_MUST_CHECK enum rdl_status rdl_mr_info(const struct rdl_lab *lab, rdl_mr mr,
                                           struct rdl_mr_info *ret);

RDL_MUST_CHECK enum rdl_status rdl_create_cq(struct rdl_lab *lab, rdl_host host, uint32_t cqe,
                                             const char *name, rdl_cq *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_cq(struct rdl_lab *lab, rdl_cq cq);

/* Resizes @cq to @cqe entries.  Completions in the queue are kept, ahead of later ones.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        it holds more than @cqe, or @cqe is 0
 *	   RDL_ERR_LIMIT        more than the device supports
 *	   RDL_ERR_UNSUPPORTED  the device does not offer RESIZE
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_resize_cq(struct rdl_lab *lab, rdl_cq cq, uint32_t cqe);

/* Arms @cq: the next completion (or the next solicited one) raises one completion event. */
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
    /* UD only: no copy of own sends to a multicast group that the queue pair is attached to.
     * (IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) RDL_ERR_UNSUPPORTED: the device does not support it.
     */
    bool block_self_mcast_lb;
    rdl_srq srq; /* source of its receives, instead of an own queue of max_recv_*; 0: none */
};
RDL_MUST_CHECK enum rdl_status rdl_create_qp(struct rdl_lab *lab,
                                             const struct rdl_qp_config *config, const char *name,
                                             rdl_qp *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_qp(struct rdl_lab *lab, rdl_qp qp);

/* An address vector: how to reach a station. */
struct rdl_ah_attr {
    uint8_t dgid[16];
    uint8_t dmac[6]; /* all zero: the guest resolves it */
    uint8_t sgid_index, hop_limit, traffic_class, sl;
    uint32_t flow_label; /* 20 bits */
    uint8_t static_rate; /* of address handles; the device does not pace frames */
    uint8_t port;        /* of address handles, from 1; a queue pair has its port as an attribute */
};

/* Attaches the UD queue pair @qp to the multicast group @gid, or detaches it.  The guest announces
 * the group to the link with its first queue pair, and leaves it with its last.  A queue pair that
 * is attached to a group cannot be destroyed: RDL_ERR_BUSY.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        not a multicast address, not UD, or not attached
 *	   RDL_ERR_UNSUPPORTED  the device has no multicast
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_attach_mcast(struct rdl_lab *lab, rdl_qp qp,
                                                const uint8_t gid[16]);
RDL_MUST_CHECK enum rdl_status rdl_detach_mcast(struct rdl_lab *lab, rdl_qp qp,
                                                const uint8_t gid[16]);

/* Attributes of a queue pair.  A mask of enum qp_attr_bit says which fields are valid. */
struct rdl_qp_attr {
    uint32_t state, cur_state; /* enum qp_state */
    uint32_t path_mtu;         /* enum mtu */
    uint32_t access;           /* set of enum access_bit */
    uint32_t pkey_index, port; /* port: from 1 */
    uint32_t qkey;             /* UD: the Q_Key that incoming datagrams must carry */
    uint32_t dest_qpn, rq_psn, sq_psn;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
    /* 1: end-to-end credits in both directions; a query does not ask the device. */
    uint32_t credits;
    uint32_t en_sqd_async_notify; /* with a move to SQD: raise SQ_DRAINED when drained */
    uint32_t sq_draining;         /* from a query: in SQD and not drained yet */
    struct rdl_ah_attr ah;
};

/* Reasons why a modify was refused before it reached the device. */
struct rdl_modify_error {
    uint32_t from, to;       /* enum qp_state */
    uint32_t missing, extra; /* sets of enum qp_attr_bit */
    uint32_t bad;            /* set of enum qp_attr_bit: out of range */
};

/* Modifies the attributes in @mask.  With @unchecked the guest makes no checks and leaves them to
 * the device, as a careless driver would.
 *
 * If the MAC of the address vector is unknown, the guest resolves it first, as part of the request.
 * rdl_wait() then returns RDL_ERR_NO_ROUTE if no neighbour answers.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE  no such transition
 *	   RDL_ERR_INVAL  attributes are missing, not allowed, or out of range
 *	   RDL_ERR_NO_ROUTE  the MAC is unknown and no link is up to resolve it
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_modify_qp(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_qp_attr *attr, uint32_t mask,
                                             bool unchecked, struct rdl_modify_error *reterr);

/* Creates an address handle for datagrams.  It exists in the driver alone: the device gets no
 * request.  It is complete when the MAC is known.  The guest resolves an unknown MAC as for
 * rdl_modify_qp(); that of a multicast group follows from its address.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL     a value is out of range
 *	   RDL_ERR_NO_ROUTE  the MAC is unknown and no link is up to resolve it
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_create_ah(struct rdl_lab *lab, rdl_pd pd,
                                             const struct rdl_ah_attr *attr, const char *name,
                                             rdl_ah *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_ah(struct rdl_lab *lab, rdl_ah ah);
RDL_MUST_CHECK enum rdl_status rdl_ah_info(const struct rdl_lab *lab, rdl_ah ah,
                                           struct rdl_ah_attr *ret);

/* Queries the device.  The answer is in rdl_qp_info() after rdl_wait(). */
RDL_MUST_CHECK enum rdl_status rdl_query_qp(struct rdl_lab *lab, rdl_qp qp);
RDL_MUST_CHECK enum rdl_status rdl_query_port(struct rdl_lab *lab, rdl_host host);

/* Queries entry @index of the P_Key table.  rdl_pkey() returns it after rdl_wait().  RDL_ERR_INVAL:
 * the table is shorter.
 */
RDL_MUST_CHECK enum rdl_status rdl_query_pkey(struct rdl_lab *lab, rdl_host host, uint32_t index);
RDL_MUST_CHECK enum rdl_status rdl_pkey(const struct rdl_lab *lab, rdl_host host, uint16_t *ret);

/* Sets entry @index of the device's GID table to the host's IPv4 (0) or IPv6 (1) address, or clears
 * it (!@valid).  The device refuses this while a queue pair uses the entry.  RDL_ERR_INVAL: @index
 * above 1.
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

/* Returns entry @index of the GID table of @host, and its MAC. */
RDL_MUST_CHECK enum rdl_status rdl_host_address(const struct rdl_lab *lab, rdl_host host,
                                                uint32_t index, uint8_t ret_gid[16],
                                                uint8_t ret_mac[6]);

struct rdl_wc {
    uint64_t wr_id;
    uint32_t status; /* enum wc_status */
    uint32_t opcode; /* enum wc_opcode */
    uint32_t byte_len, qp_num, src_qp;
    uint32_t wc_flags;   /* set of enum wc_flag_bit */
    uint32_t vendor_err; /* enum rule: the rule that refused the request */
    uint8_t imm[4];
    uint32_t invalidated_rkey; /* with WCF_WITH_INV, instead of imm */
};

/* Takes up to @max completions from @cq.  *@ret_n may be 0. */
RDL_MUST_CHECK enum rdl_status rdl_poll_cq(struct rdl_lab *lab, rdl_cq cq, size_t max,
                                           struct rdl_wc *ret, size_t *ret_n);

/* The state of a completion queue.  Reading it is no tick.  RDL_ERR_BUSY while the queue is being
 * created or destroyed.
 */
struct rdl_cq_info {
    uint32_t cqe;         /* capacity in entries */
    uint64_t completions; /* written since creation */
    uint64_t polled;      /* those of them that were polled */
    uint64_t events;      /* completion events since creation; each needs rdl_req_notify_cq() */
};
RDL_MUST_CHECK enum rdl_status rdl_cq_info(const struct rdl_lab *lab, rdl_cq cq,
                                           struct rdl_cq_info *ret);

#endif
