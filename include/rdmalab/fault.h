/* SPDX-License-Identifier: MIT */
/* Faults: what a link does to frames, by coordinates, and frames forged from outside. */
#ifndef RDMALAB_FAULT_H
#define RDMALAB_FAULT_H

#include "rdmalab/lab.h"

#define RDL_ANY UINT32_MAX

#define RDL_FAULTS_MAX 65536u /* at a time */

/* Matches frames at the moment they leave a host, or come in through an external port.  Every
 * criterion must hold; RDL_ANY always does.
 */
struct rdl_fault_config {
    const char *name;     /* copied; as of a host; NULL or "": f1, f2, ... */
    uint32_t kind;        /* enum fault_kind, not FLT_NONE nor FLT_CHANCE */
    rdl_host from;        /* raw 0: any */
    uint32_t opcode;      /* enum opcode, enum frame_kind (ARP_REQUEST), or RDL_ANY */
    uint32_t syndrome;    /* enum syndrome, or RDL_ANY: ACKs and NAKs */
    uint32_t psn;         /* or RDL_ANY */
    uint32_t dest_qpn;    /* or RDL_ANY */
    uint32_t nth;         /* the n-th matching frame is the first one hit; from 1 */
    uint32_t count;       /* how many are hit from there on; RDL_ANY: all */
    uint64_t delay_ns;    /* FLT_DELAY: how much later; FLT_DUPLICATE: the copy's delay */
    uint32_t corrupt_bit; /* FLT_CORRUPT: see below */
    rdl_port from_port;   /* raw 0: any; not together with @from */
};

/* @corrupt_bit is the number of a bit in the frame, taken modulo its length: bit 0 is the first and
 * highest one of the destination MAC.  RDL_ANY is the last bit that the ICRC covers, which is the
 * one before it: number 8 * n - 33 of a frame whose ICRC ends with byte n.  The receiver drops the
 * frame with a wrong ICRC then.  A frame that has no ICRC is hit in its last bit.
 */

/* Return: RDL_OK, RDL_ERR_INVAL, RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT, RDL_ERR_STALE (@from),
 *	   RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_fault_add(struct rdl_lab *lab,
                                             const struct rdl_fault_config *config, rdl_fault *ret);
RDL_MUST_CHECK enum rdl_status rdl_fault_remove(struct rdl_lab *lab, rdl_fault fault);

/* A frame that arrives at @host's port now, as if from the wire.  Copied. */
RDL_MUST_CHECK enum rdl_status rdl_inject(struct rdl_lab *lab, rdl_host host, const void *frame,
                                          size_t bytes);

#endif
