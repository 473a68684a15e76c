/* SPDX-License-Identifier: MIT */
/* Verbs: the requests of a program to the RDMA device of its host.
 *
 * Calls that use the control queue (alloc, create, register, modify, query, destroy) put a request
 * into the ring and kick.  The answer is available when rdl_wait() returns RDL_OK.  Until then the
 * object is pending.  If the device refuses to create it, the handle becomes stale.  A host has one
 * request under way at a time; rdl_requests_max() allows more.  Calls to post, kick, poll and
 * access memory take no simulated time.
 *
 * Names and meanings are those of libibverbs.  A NULL or empty @name selects a default ("qp2").
 * Calls that use the control queue can return these errors, which are not repeated below:
 *
 *	RDL_ERR_BUSY		another request is under way; the object is pending; or the call
 *				destroys an object that another object uses
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
 * and returns RDL_ERR_DEVICE if at least one was refused.  Other requests, regions over a program's
 * memory and address handles still run alone (RDL_ERR_BUSY).
 *
 * Return: RDL_OK, RDL_ERR_INVAL, RDL_ERR_STALE, RDL_ERR_NO_GUEST
 */
#define RDL_REQUESTS_MAX 16u
RDL_MUST_CHECK enum rdl_status rdl_requests_max(struct rdl_lab *lab, rdl_host host, uint32_t n);

RDL_MUST_CHECK enum rdl_status rdl_alloc_pd(struct rdl_lab *lab, rdl_host host, const char *name,
                                            rdl_pd *ret);
RDL_MUST_CHECK enum rdl_status rdl_dealloc_pd(struct rdl_lab *lab, rdl_pd pd);

/* Allocates @bytes of zeroed guest-virtual memory, on pages scattered over the guest RAM.  *@ret is
 * its address, which is page aligned.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_alloc(struct rdl_lab *lab, rdl_host host, uint64_t bytes,
                                             uint64_t *ret);

/* Frees the whole allocation of rdl_mem_alloc() that contains @addr.
 *
 * Return: RDL_OK
 *	   RDL_ERR_FAULT  nothing is mapped at @addr
 *	   RDL_ERR_BUSY   a region is registered over part of it
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_free(struct rdl_lab *lab, rdl_host host, uint64_t addr);

/* Copy between a buffer of the caller and guest-virtual memory.  Return RDL_ERR_FAULT and copy
 * nothing if part of the range is not mapped.
 */
RDL_MUST_CHECK enum rdl_status rdl_mem_read(const struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                            void *out, size_t bytes);
RDL_MUST_CHECK enum rdl_status rdl_mem_write(struct rdl_lab *lab, rdl_host host, uint64_t addr,
                                             const void *in, size_t bytes);

/* Registers @bytes of memory from guest-virtual @addr.  @access is a set of enum access_bit. Remote
 * write and remote atomic need local write.  [IBTA1 11.2.8.2]  The function has seven parameters:
 * those of ibv_reg_mr(), the lab and the name.
 */
RDL_MUST_CHECK enum rdl_status rdl_reg_mr(struct rdl_lab *lab, rdl_pd pd, uint64_t addr,
                                          uint64_t bytes, uint32_t access, const char *name,
                                          rdl_mr *ret);
RDL_MUST_CHECK enum rdl_status rdl_dereg_mr(struct rdl_lab *lab, rdl_mr mr);

struct rdl_mr_info {
    uint64_t addr, bytes; /* guest-virtual address and length */
    uint32_t lkey, rkey, access;
    uint64_t iova; /* address of the first byte in SGEs and for peers */
    uint32_t kind; /* enum key_kind */
};
RDL_MUST_CHECK enum rdl_status rdl_mr_info(const struct rdl_lab *lab, rdl_mr mr,
                                           struct rdl_mr_info *ret);

RDL_MUST_CHECK enum rdl_status rdl_create_cq(struct rdl_lab *lab, rdl_host host, uint32_t cqe,
                                             const char *name, rdl_cq *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_cq(struct rdl_lab *lab, rdl_cq cq);

/* Resizes @cq to @cqe entries.  Completions that are in the queue are kept.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        the queue contains more than @cqe completions, or @cqe is 0
 *	   RDL_ERR_LIMIT        more than the device supports
 *	   RDL_ERR_UNSUPPORTED  the device does not offer RESIZE
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_resize_cq(struct rdl_lab *lab, rdl_cq cq, uint32_t cqe);

/* Arms @cq: the next completion raises one completion event.  With @solicited_only only a
 * completion that is solicited or failed does.
 */
RDL_MUST_CHECK enum rdl_status rdl_req_notify_cq(struct rdl_lab *lab, rdl_cq cq,
                                                 bool solicited_only);

/* In place of a number of work requests or SGEs of a queue pair: none at all, because 0 selects the
 * default (struct rdl_qp_config).  A queue without room refuses each work request with
 * RDL_ERR_QUEUE_FULL.
 */
#define RDL_QP_NONE UINT32_MAX

struct rdl_qp_config {
    rdl_pd pd;
    uint32_t type; /* enum qp_type */
    rdl_cq send_cq, recv_cq;
    uint32_t max_send_wr,
        max_recv_wr; /* work requests in each queue; 0 selects 16, RDL_QP_NONE none */
    uint32_t max_send_sge, max_recv_sge; /* SGEs of a work request; 0 selects 4, RDL_QP_NONE none */
    uint32_t max_inline_data;
    bool sq_sig_all; /* every send is signaled */
    /* UD only: the queue pair gets no copy of datagrams that it sends itself to a multicast group
     * to which it is attached (IBV_QP_CREATE_BLOCK_SELF_MCAST_LB).  rdl_create_qp() returns
     * RDL_ERR_UNSUPPORTED if the device does not support this.
     */
    bool block_self_mcast_lb;
    rdl_srq srq; /* shared receive queue that replaces its own receive queue; raw 0: none */
};
RDL_MUST_CHECK enum rdl_status rdl_create_qp(struct rdl_lab *lab,
                                             const struct rdl_qp_config *config, const char *name,
                                             rdl_qp *ret);
RDL_MUST_CHECK enum rdl_status rdl_destroy_qp(struct rdl_lab *lab, rdl_qp qp);

/* An address vector: the addresses and header fields of packets to one station or group. */
struct rdl_ah_attr {
    uint8_t dgid[16];
    uint8_t dmac[6]; /* all zero: the guest resolves it */
    uint8_t sgid_index, hop_limit, traffic_class, sl;
    uint32_t flow_label; /* 20 bits */
    uint8_t
        static_rate; /* address handles only; ignored, because the device does not pace frames */
    uint8_t port;    /* address handles only, from 1; a queue pair has rdl_qp_attr.port */
};

/* Attaches the UD queue pair @qp to the multicast group @gid, or detaches it.  The guest announces
 * the group on the link (IGMP or MLD) when it attaches the first of its queue pairs to the group.
 * It leaves the group when it detaches the last one.  A queue pair that is attached to a group
 * cannot be destroyed: RDL_ERR_BUSY.
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

/* Attributes of a queue pair.  rdl_modify_qp() uses only those in its mask (enum qp_attr_bit). */
struct rdl_qp_attr {
    uint32_t state, cur_state; /* enum qp_state */
    uint32_t path_mtu;         /* enum mtu */
    uint32_t access;           /* set of enum access_bit */
    uint32_t pkey_index, port; /* port: from 1 */
    /* UD: the Q_Key that incoming datagrams must have, and the one that is sent if remote_qkey has
     * bit 31 (QKEY_OWN).
     */
    uint32_t qkey;
    uint32_t dest_qpn, rq_psn, sq_psn;
    uint32_t max_rd_atomic, max_dest_rd_atomic;
    uint32_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
    /* 1: the connection uses end-to-end credits in both directions; 0: none.  A query does not read
     * the value from the device.
     */
    uint32_t credits;
    uint32_t
        en_sqd_async_notify; /* in a move to SQD: raise SQ_DRAINED when the sends are drained */
    uint32_t sq_draining;    /* result of a query: 1 in SQD while sends are not drained */
    struct rdl_ah_attr ah;
};

/* An attribute of a queue pair whose value is out of range, and the range. */
struct rdl_attr_range {
    uint32_t attr; /* enum qp_attr_bit */
    uint32_t found, least, most;
};
#define RDL_ATTR_RANGES_MAX 20u

/* Reasons why a modify was refused before it reached the device. */
struct rdl_modify_error {
    uint32_t from, to;       /* enum qp_state */
    uint32_t missing, extra; /* sets of enum qp_attr_bit: required or not allowed attributes */
    uint32_t bad;            /* set of enum qp_attr_bit: attributes that are out of range */
    /* Those of @bad that have a range; an address vector has none. */
    struct rdl_attr_range range[RDL_ATTR_RANGES_MAX];
    uint32_t n_ranges;
};

/* Modifies the attributes in @mask.  With @unchecked the guest makes no checks and leaves them to
 * the device, as a careless driver would.
 *
 * If the MAC of the address vector is unknown, the guest resolves it first, as part of the request.
 * rdl_wait() then returns RDL_ERR_NO_ROUTE if no neighbour answers.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STATE     no such transition
 *	   RDL_ERR_INVAL     attributes are missing, not allowed, or out of range: see *@reterr
 *	   RDL_ERR_NO_ROUTE  the MAC is unknown and no link is up to resolve it
 *	   RDL_ERR_STALE, RDL_ERR_BUSY
 */
RDL_MUST_CHECK enum rdl_status rdl_modify_qp(struct rdl_lab *lab, rdl_qp qp,
                                             const struct rdl_qp_attr *attr, uint32_t mask,
                                             bool unchecked, struct rdl_modify_error *reterr);

/* Creates an address handle for datagrams.  It exists in the driver alone: the device gets no
 * request.  The handle is complete when the MAC is known.  The guest resolves an unknown MAC as for
 * rdl_modify_qp(), and derives the MAC of a multicast group from its address.
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

/* rdl_query_qp() reads the attributes of @qp from the device: rdl_qp_info() returns them after
 * rdl_wait().  rdl_query_port() reads the attributes of the port into the driver.
 */
RDL_MUST_CHECK enum rdl_status rdl_query_qp(struct rdl_lab *lab, rdl_qp qp);
RDL_MUST_CHECK enum rdl_status rdl_query_port(struct rdl_lab *lab, rdl_host host);

/* rdl_query_pkey() queries entry @index of the P_Key table, and returns RDL_ERR_INVAL if the table
 * is shorter.  After rdl_wait(), rdl_pkey() sets *@ret to the entry that was queried last, 0 before
 * the first query.
 */
RDL_MUST_CHECK enum rdl_status rdl_query_pkey(struct rdl_lab *lab, rdl_host host, uint32_t index);
RDL_MUST_CHECK enum rdl_status rdl_pkey(const struct rdl_lab *lab, rdl_host host, uint16_t *ret);

/* Sets entry @index of the device's GID table to the host's IPv4 (0) or IPv6 (1) address, or clears
 * it (!@valid).  The device refuses this while a queue pair uses the entry.  Returns RDL_ERR_INVAL
 * if @index is larger than 1.
 */
RDL_MUST_CHECK enum rdl_status rdl_set_gid(struct rdl_lab *lab, rdl_host host, uint32_t index,
                                           bool valid);

struct rdl_qp_info {
    uint32_t qpn, type;
    struct rdl_qp_attr attr;           /* as last set or queried by the driver */
    uint32_t sq_queue, rq_queue;       /* numbers of the virtqueues */
    uint32_t max_send_wr, max_recv_wr; /* work requests in each queue */
    uint32_t max_send_sge, max_recv_sge, max_inline_data;
};
RDL_MUST_CHECK enum rdl_status rdl_qp_info(const struct rdl_lab *lab, rdl_qp qp,
                                           struct rdl_qp_info *ret);

/* Sets @ret_gid to the IPv4 (@index 0) or IPv6 (1) address of @host as a GID, and @ret_mac to its
 * MAC.  This works also while the device's GID table does not have the entry.  Returns RDL_OK,
 * RDL_ERR_STALE, or RDL_ERR_INVAL if @index is larger than 1.
 */
RDL_MUST_CHECK enum rdl_status rdl_host_address(const struct rdl_lab *lab, rdl_host host,
                                                uint32_t index, uint8_t ret_gid[16],
                                                uint8_t ret_mac[6]);

struct rdl_wc {
    uint64_t wr_id;
    uint32_t status; /* enum wc_status */
    uint32_t opcode; /* enum wc_opcode */
    uint32_t byte_len, qp_num, src_qp;
    uint32_t wc_flags;   /* set of enum wc_flag_bit */
    uint32_t vendor_err; /* enum rule: the rule that refused the request, or RULE_NONE */
    uint8_t imm[4];
    uint32_t invalidated_rkey; /* with WCF_WITH_INV, instead of imm */
    uint8_t sl;                /* service level of a datagram: the kind of its IP header */
    uint16_t pkey_index;       /* QPN 1: entry of the P_Key that a datagram came with */
};

/* Takes up to @max completions from @cq, oldest first.  *@ret_n is their number, and may be 0. */
RDL_MUST_CHECK enum rdl_status rdl_poll_cq(struct rdl_lab *lab, rdl_cq cq, size_t max,
                                           struct rdl_wc *ret, size_t *ret_n);

/* The state of a completion queue.  rdl_cq_info() is no tick.  It returns RDL_ERR_BUSY while the
 * queue is being created or destroyed.
 */
struct rdl_cq_info {
    uint32_t cqe;         /* capacity in entries */
    uint64_t completions; /* number of completions written since creation */
    uint64_t polled;      /* number of completions polled since creation */
    uint64_t events;      /* completion events since creation; each needs rdl_req_notify_cq() */
};
RDL_MUST_CHECK enum rdl_status rdl_cq_info(const struct rdl_lab *lab, rdl_cq cq,
                                           struct rdl_cq_info *ret);

#endif
