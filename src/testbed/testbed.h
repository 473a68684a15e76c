/* SPDX-License-Identifier: MIT */
/* Two connected hosts, h1 and h2, built through the public API.  The benchmark and the random runs
 * use them.
 *
 * The hosts have a link to each other.  With testbed_config.outside each has a link to a switch
 * instead, which also has a link to an external port; with testbed_config.machine they are guests
 * of a machine, m1, with a virtual function each, which has no link.  Each side has a PD, one MR
 * over @mr_bytes of memory, a CQ and a queue pair in RTS.  RC and UC queue pairs are connected with
 * each other; a UD queue pair has an address handle for its peer.
 */
#ifndef TESTBED_TESTBED_H
#define TESTBED_TESTBED_H

#include "rdmalab/fault.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"

struct testbed_config {
    uint64_t seed;
    bool check_invariants, record, hash; /* check invariants, record events, hash all events */
    uint64_t extensions;                 /* of both devices, a set of 1 << enum extension */
    bool outside;                        /* with the switch "sw" and the external port "out" */
    bool machine, shortcut;              /* guests of a machine; with a shortcut between them */
    uint32_t type;                       /* enum qp_type; 0: RC */
    uint64_t mr_bytes;                   /* bytes of memory of each host */
    uint32_t mr_access;                  /* set of enum access_bit, in addition to LOCAL_WRITE */
    uint32_t max_wr;    /* number of work requests of the send queue and of the receive queue */
    uint32_t path_mtu;  /* enum mtu */
    uint32_t sq_psn[2]; /* for each side: first PSN that it sends */
    uint32_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint32_t gid_index; /* 0: IPv4, 1: IPv6 */
    /* For each side: enum profile; set of enum access_bit of its queue pair, in addition to
     * LOCAL_WRITE; limits of READs and atomics, where 0 means 1.
     */
    uint32_t profile[2], access[2], max_rd_atomic[2], max_dest_rd_atomic[2];
    uint32_t max_inline_data;
    uint64_t latency_ns, rate_bps; /* of the links, as is @loss_ppm */
    uint32_t loss_ppm;
};

/* The objects of one host: a *side*.  Side 0 is h1, side 1 is h2. */
struct testbed_side {
    rdl_host host;
    rdl_pd pd;
    rdl_mr mr;
    rdl_cq cq;
    rdl_qp qp;
    struct rdl_mr_info mem; /* of @mr */
    rdl_ah ah;              /* UD only: for the peer */
    uint32_t qpn;
};

/* The Q_Key of every UD queue pair. */
#define TESTBED_QKEY 0x11111111u

struct testbed {
    struct rdl_lab *lab;
    rdl_link link; /* the link of h1: to h2, or to the switch; not with testbed_config.machine */
    rdl_port out;  /* the external port; only with testbed_config.outside */
    struct testbed_side side[2];
};

/* Builds the testbed.  Returns the status of the call that failed, or RDL_OK.  Call testbed_done()
 * in both cases.
 */
RDL_MUST_CHECK enum rdl_status testbed_init(struct testbed *r, const struct testbed_config *c);
void testbed_done(struct testbed *r);

/* Runs the lab until the control request of a side is answered, for at most 100000 ticks.  Returns
 * the errors of rdl_wait().
 */
RDL_MUST_CHECK enum rdl_status testbed_wait(struct testbed *r, unsigned side);

/* Post one SEND, or one receive, whose buffer is the @bytes bytes at offset @at of the memory of
 * @side.  @flags: set of enum send_flag_bit.
 */
RDL_MUST_CHECK enum rdl_status testbed_send(struct testbed *r, unsigned side, uint64_t wr_id,
                                            uint64_t at, uint32_t bytes, uint32_t flags);
RDL_MUST_CHECK enum rdl_status testbed_recv(struct testbed *r, unsigned side, uint64_t wr_id,
                                            uint64_t at, uint32_t bytes);

/* The parts of testbed_init(), for labs of other shapes.  The host of a side must exist.
 * testbed_side_memory() adds a PD and an MR.  testbed_side_qp() adds a CQ and a queue pair, named
 * "cq" and "qp" if @is_first, otherwise with default names.  testbed_side_connect() moves the queue
 * pair to RTS, connected with that of @peer; for UD it also creates the address handle.  @number is
 * the index of the side (0 or 1) in the arrays of @c.
 */
RDL_MUST_CHECK enum rdl_status testbed_side_memory(struct rdl_lab *lab, struct testbed_side *s,
                                                   const struct testbed_config *c);
RDL_MUST_CHECK enum rdl_status testbed_side_qp(struct rdl_lab *lab, struct testbed_side *s,
                                               const struct testbed_config *c, bool is_first);
RDL_MUST_CHECK enum rdl_status testbed_side_connect(struct rdl_lab *lab, struct testbed_side *s,
                                                    const struct testbed_side *peer,
                                                    const struct testbed_config *c,
                                                    unsigned number);

/* Like testbed_send() and testbed_recv(), for the side @s. */
RDL_MUST_CHECK enum rdl_status testbed_side_send(struct rdl_lab *lab, const struct testbed_side *s,
                                                 uint64_t wr_id, uint64_t at, uint32_t bytes,
                                                 uint32_t flags);
RDL_MUST_CHECK enum rdl_status testbed_side_recv(struct rdl_lab *lab, const struct testbed_side *s,
                                                 uint64_t wr_id, uint64_t at, uint32_t bytes);

#endif
