/* SPDX-License-Identifier: MIT */
/* The rules that refuse a send work request before it is sent, and how one is cut into packets. */
#ifndef EMU_XPORT_WQE_H
#define EMU_XPORT_WQE_H

#include "emu/facts/opcode.h"
#include "emu/facts/profile.h"
#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"
#include "emu/hca/key.h"
#include "emu/xport/xport_qp.h"

/* An SGE takes as many bytes of a WQE in a ring. */
#define SGE_BYTES ((uint32_t)sizeof(struct raw_sge))

struct wqe_verdict {
    enum rule rule;        /* RULE_NONE: nothing objects */
    enum wc_status status; /* how the work request ends otherwise */
    struct compared values;
};

/* What the rules of a send work request look at beside the request. */
struct wqe_view {
    const struct hca *hca; /* of a UD queue pair */
    const struct qp_config *config;
    uint32_t max_rd_atomic; /* READs and atomics that may be outstanding */
    enum profile profile;
};

/* Judges form and length of @w.  Keys are judged by sge_check().  Pure. */
struct wqe_verdict wqe_decide(const struct wqe_view *v, const struct send_wqe *w);

/* The address of a datagram. */
struct av wqe_av(const struct rfc_wr_ud *w);

/* Bytes of the message of a @w that wqe_decide() allowed. */
uint32_t wqe_bytes(const struct send_wqe *w);

/* Packets of a message of @bytes; an empty message is one. */
uint32_t wqe_pkts(uint32_t bytes, uint32_t mtu);

/* Place of packet @i of @n in its message. */
enum op_position wqe_position(uint32_t i, uint32_t n);

/* How a send work request ends whose key breaks @rule, on a host of @profile. */
enum wc_status wqe_key_status(enum rule rule, enum profile profile);

/* What is wrong with a WQE of @n_sge elements: there may be @max_sge, and @body_bytes hold them. */
struct compared sge_count_compared(uint32_t n_sge, uint32_t max_sge, uint32_t body_bytes);

#endif
