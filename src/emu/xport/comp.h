/* SPDX-License-Identifier: MIT */
/* Completer, RC: what to do with one response packet. */
#ifndef EMU_XPORT_COMP_H
#define EMU_XPORT_COMP_H

#include "emu/facts/compared.h"
#include "emu/facts/psn.h"
#include "emu/wire/packet.h"

/* What the rules look at. */
struct comp_view {
    struct psn una;    /* the oldest outstanding PSN */
    uint32_t out_psns; /* so many are outstanding */
    bool rnr_wait;     /* an RNR NAK for una is being waited out */
    enum profile profile;
    uint32_t retries, retry_cnt;
    uint32_t rnr_naks, rnr_retry;
};

/* ACT_ACKS	@n_acked PSNs are acknowledged
 * ACT_GO_BACK	they are, and everything after them is sent again
 * ACT_WAIT_RNR	they are, and what follows is sent again after the time that the packet tells
 * ACT_FAIL	they are, and the request that is the oldest then ends with @status
 * ACT_DROP	nothing happens: the packet is a ghost
 */
struct comp_verdict {
    enum pkt_act act;
    enum rule rule;
    enum wc_status status;
    uint32_t n_acked;
    struct compared values; /* that the rule compared */
};

/* @p has a response opcode.  Pure. */
struct comp_verdict comp_decide(const struct comp_view *v, const struct packet *p);

#endif
