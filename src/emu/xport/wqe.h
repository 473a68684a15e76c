/* SPDX-License-Identifier: MIT */
/* Send work requests: the rules that check a request before it is sent, and the division of its
 * message into packets.
 */
#ifndef EMU_XPORT_WQE_H
#define EMU_XPORT_WQE_H

#include "emu/facts/enum/profile.h"
#include "emu/facts/opcode.h"
#include "emu/facts/profile.h"
#include "emu/facts/rfc.h"
#include "emu/facts/wr.h"
#include "emu/hca/key.h"
#include "emu/xport/xport_qp.h"

/* Size of an SGE in a WQE of a ring. */
#define SGE_BYTES ((uint32_t)sizeof(struct raw_sge))

struct wqe_verdict {
    enum rule rule;         /* RULE_NONE: no objection */
    enum wc_status status;  /* completion status; SUCCESS if no rule objects */
    struct compared values; /* values that the rule compared */
};

/* Input of wqe_decide(), in addition to the request. */
struct wqe_view {
    const struct hca *hca; /* needed for UD; otherwise NULL skips the check for optional opcodes */
    const struct qp_config *config;
    uint32_t max_rd_atomic; /* limit of outstanding READs and atomics */
    enum profile profile;
};

/* Checks the form and length of @w.  Returns RULE_NONE, or the rule that refuses it with the
 * completion status.  Keys are not checked here, but by sge_check().  Pure.
 */
struct wqe_verdict wqe_decide(const struct wqe_view *v, const struct send_wqe *w);

/* Returns the address vector of a datagram. */
struct av wqe_av(const struct rfc_wr_ud *w);

/* Returns the message length in bytes of @w, which wqe_decide() has allowed. */
uint32_t wqe_bytes(const struct send_wqe *w);

/* Returns the number of packets of a message of @bytes; 1 for an empty message. */
uint32_t wqe_pkts(uint32_t bytes, uint32_t mtu);

/* Returns the position of packet @i of @n in its message: first, middle, last or only. */
enum op_position wqe_position(uint32_t i, uint32_t n);

/* Returns the completion status of a send work request whose key breaks @rule, on a host of
 * @profile.
 */
enum wc_status wqe_key_status(enum rule rule, enum profile profile);

/* Returns the compared values for a WQE with a wrong number of SGEs, @n_sge.  If @n_sge is above
 * @max_sge, the valid value is at most @max_sge.  Otherwise it is the number of SGEs that fill
 * @body_bytes, the bytes after the fixed part.
 */
struct compared sge_count_compared(uint32_t n_sge, uint32_t max_sge, uint32_t body_bytes);

#endif
