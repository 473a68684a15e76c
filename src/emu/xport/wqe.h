/* SPDX-License-Identifier: MIT */
/* Send work requests: the rules that check a request before it is sent, and the division of its
 * message into packets.
 */
#ifndef EMU_XPORT_WQE_H
#define EMU_XPORT_WQE_H

#include "emu/facts/enum/profile.h"
#include "emu/facts/opcode.h"
#include "emu/facts/profile.h"
#include "emu/facts/wr.h"
#include "emu/hca/key.h"
#include "emu/xport/xport_qp.h"

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

/* Returns true if a work request has as many SGEs as it says, and at most @max_sge. */
bool sge_count_is_valid(const struct sge_count *n, uint32_t max_sge);

/* Returns the compared values for a work request whose SGEs are not valid.  If it says to have more
 * than @max_sge, the valid value is at most @max_sge.  Otherwise it is the number of those found.
 */
struct compared sge_count_compared(const struct sge_count *n, uint32_t max_sge);

#endif
