/* SPDX-License-Identifier: MIT */
/* Two connected hosts through the public API alone: what the benchmark and the random runs drive.
 *
 * They are linked to each other or, with @outside, to a switch that has an external port too.  Each
 * side has a PD, one MR over @mr_bytes of memory, a CQ and a queue pair, connected to the other's
 * (or, of UD, with an address handle for it), in RTS.
 */
#ifndef TESTBED_TESTBED_H
#define TESTBED_TESTBED_H

#include "rdmalab/fault.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"

struct testbed_config {
    uint64_t seed;
    bool check_invariants, record, hash;
    bool outside;  /* h1 and h2 are on switch "sw", and so is the external port "out" */
    uint32_t type; /* enum qp_type, 0: RC */
    uint64_t mr_bytes;
    uint32_t mr_access; /* set of enum access_bit, beside LOCAL_WRITE */
    uint32_t max_wr;    /* of send and receive queues */
    uint32_t path_mtu;  /* enum mtu */
    uint32_t sq_psn[2];
    uint32_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint32_t gid_index; /* 0: IPv4, 1: IPv6 */
    /* Of each side, what is zero by default: enum profile; enum access_bit, beside LOCAL_WRITE,
     * that its queue pair allows; of READs and atomics, 0: 1.
     */
    uint32_t profile[2], access[2], max_rd_atomic[2], max_dest_rd_atomic[2];
    uint32_t max_inline_data;
    uint64_t latency_ns, rate_bps;
    uint32_t loss_ppm;
};

struct testbed_side {
    rdl_host host;
    rdl_pd pd;
    rdl_mr mr;
    rdl_cq cq;
    rdl_qp qp;
    struct rdl_mr_info mem;
    rdl_ah ah; /* of UD: the peer's */
    uint32_t qpn;
};

/* Of every UD queue pair. */
#define TESTBED_QKEY 0x11111111u

struct testbed {
    struct rdl_lab *lab;
    rdl_link link; /* of h1 */
    rdl_port out;  /* with testbed_config.outside */
    struct testbed_side side[2];
};

/* Builds it; @r is to be given to testbed_done() also on failure. */
RDL_MUST_CHECK enum rdl_status testbed_init(struct testbed *r, const struct testbed_config *c);
void testbed_done(struct testbed *r);

/* Lets the control request of a side be answered.  Errors as rdl_wait(). */
RDL_MUST_CHECK enum rdl_status testbed_wait(struct testbed *r, unsigned side);

/* One SEND, one receive of @bytes at offset @at of the side's memory. */
RDL_MUST_CHECK enum rdl_status testbed_send(struct testbed *r, unsigned side, uint64_t wr_id,
                                            uint64_t at, uint32_t bytes, uint32_t flags);
RDL_MUST_CHECK enum rdl_status testbed_recv(struct testbed *r, unsigned side, uint64_t wr_id,
                                            uint64_t at, uint32_t bytes);

/* The parts of it, for labs of other shapes.  A side whose host is there is given a PD and an MR;
 * then a CQ and a queue pair of its own, called "cq" and "qp" if they are the first of the host;
 * then it is connected with its peer, or of UD given its address, as side @number (0 or 1) of @c.
 */
RDL_MUST_CHECK enum rdl_status testbed_side_memory(struct rdl_lab *lab, struct testbed_side *s,
                                                   const struct testbed_config *c);
RDL_MUST_CHECK enum rdl_status testbed_side_qp(struct rdl_lab *lab, struct testbed_side *s,
                                               const struct testbed_config *c, bool is_first);
RDL_MUST_CHECK enum rdl_status testbed_side_connect(struct rdl_lab *lab, struct testbed_side *s,
                                                    const struct testbed_side *peer,
                                                    const struct testbed_config *c,
                                                    unsigned number);

/* As testbed_send() and testbed_recv(). */
RDL_MUST_CHECK enum rdl_status testbed_side_send(struct rdl_lab *lab, const struct testbed_side *s,
                                                 uint64_t wr_id, uint64_t at, uint32_t bytes,
                                                 uint32_t flags);
RDL_MUST_CHECK enum rdl_status testbed_side_recv(struct rdl_lab *lab, const struct testbed_side *s,
                                                 uint64_t wr_id, uint64_t at, uint32_t bytes);

#endif
