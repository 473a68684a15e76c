/* SPDX-License-Identifier: MIT */
/* Responder of RC: decides what to do with a request packet.
 *
 * All decisions are pure functions.  resp_decide() looks at the packet itself (for some profiles
 * resp_decide_form() does a part of that, after the key).
 * resp_decide_memory() checks the key of the memory that the packet names.  If the packet may be
 * executed and needs a receive, one is fetched, and resp_decide_delivery() checks that the receive
 * can take the packet.  If resp_decide() finds a duplicate READ or atomic, resp_decide_again()
 * (internal.h) decides on it, and the others are not asked.
 */
#ifndef EMU_XPORT_RESP_H
#define EMU_XPORT_RESP_H

#include "emu/base/cold.h"
#include "emu/facts/compared.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/psn.h"
#include "emu/xport/xport_qp.h"

/* Input of resp_decide(). */
struct resp_view {
    struct psn expected;           /* PSN of the next packet */
    bool seq_nak_out, rnr_nak_out; /* that NAK was queued; PSN expected did not arrive since */
    const struct op_info *open;    /* last packet of the open message, or NULL */
    uint32_t left;                 /* bytes of the open WRITE that have not arrived */
    uint32_t mtu;                  /* path MTU in bytes */
    unsigned access;               /* access that the queue pair allows its peer */
    uint32_t rds, max_rds;         /* number of unanswered READs and atomics, and its limit */
    enum profile profile;
};

/* Input of resp_decide_memory(): the memory that a packet names, and the access it needs. */
struct target_view {
    const struct hca *hca;
    struct key_user who;
    unsigned access; /* set of enum access_bit */
    struct sge at;   /* the memory; the member lkey contains the R_Key */
    bool needs_key;  /* the key must be valid even if @at has no bytes: FLUSH */
};

/* Input of resp_decide_delivery(). */
struct delivery_view {
    const struct hca *hca;
    struct key_user who;
    uint32_t max_recv_sge;
    enum fetch got;             /* result of fetching the receive */
    const struct recv_wqe *wqe; /* valid if got is FETCH_OK */
    struct sge_cur at;          /* position of the payload in the receive */
    uint32_t received;          /* bytes received before this packet */
    uint32_t bytes;             /* payload of the packet, or a part of it */
    uint32_t lead;              /* bytes stored before the payload of a datagram (GRH) */
    enum profile profile;
};

struct resp_verdict {
    enum pkt_act act;       /* ACCEPT, DUPLICATE, REPLAY, NAK_*, RNR, TAKE_AND_FAIL, FAIL, DROP */
    enum syndrome nak;      /* syndrome of a NAK_* or RNR; NONE otherwise */
    enum rule rule;         /* the rule that decided; RULE_NONE with ACCEPT */
    struct compared values; /* values that the rule compared */
    enum drop_reason drop;  /* valid with DROP */
    /* Completion status of the receive for NAK_*, TAKE_AND_FAIL and FAIL.  SUCCESS with NAK_*: the
     * packet alone decided; related_status() finds the receive.
     */
    enum wc_status status;
    struct sge bad; /* the piece of memory whose key was refused */
};

/* Returns the verdict that refuses a packet with @act, a NAK_* or RNR.  @status is the completion
 * status of the receive.
 */
RDL_COLD struct resp_verdict resp_nak(enum pkt_act act, enum wc_status status);

/* resp_decide() checks the packet itself, resp_decide_memory() its key.  *@ret is the verdict;
 * ACCEPT if no rule objects.  The opcode of @p can be reserved; @p->op->name is NULL then.
 *
 * Without TRAIT_FORM_BEFORE_KEY, resp_decide() leaves lengths and alignment to
 * resp_decide_form(), which is called after resp_decide_memory().  With TRAIT_LENGTH_BEFORE_KEY
 * resp_decide_length(), which is called before it, checks the lengths of packet and message alone.
 */
void resp_decide(const struct resp_view *v, const struct packet *p, struct resp_verdict *ret);
void resp_decide_length(const struct resp_view *v, const struct packet *p,
                        struct resp_verdict *ret);
void resp_decide_form(const struct resp_view *v, const struct packet *p, struct resp_verdict *ret);
void resp_decide_memory(const struct target_view *v, struct resp_verdict *ret);

/* Checks that the fetched receive can take @p.  *@ret must be ACCEPT and is changed if a rule
 * objects.
 */
void resp_decide_delivery(const struct delivery_view *v, const struct packet *p,
                          struct resp_verdict *ret);

/* Returns the access that @p needs to the memory that it names, a set of enum access_bit.  Returns
 * 0 if it names none, and for a FLUSH without a placement type.
 */
unsigned resp_access(const struct packet *p);

/* Returns the memory that @p names.  For the first packet of a message this is all memory of the
 * message; a FLUSH of a whole region names no bytes.  For other packets it is the part of the open
 * WRITE @w that the packet writes.  @w can be NULL for the first packet of a message.
 */
struct sge resp_target(const struct packet *p, const struct resp_write *w);

/* Returns true if @p needs a new receive: the first packet of a SEND, and the last packet of a
 * WRITE with immediate data.
 */
bool resp_needs_receive(const struct packet *p);

/* Returns true if @p, the last packet of a message, completes the held receive.  On UC a receive
 * can be held from a message whose end was lost.  A WRITE without immediate data leaves it for the
 * next message.
 */
bool resp_ends_receive(const struct packet *p);

/* Returns true if the duplicate @p repeats the request of @rd, or asks for its responses from a
 * later one to the last.  *@ret_at is then the number of the first response that @p asks for,
 * counted from 0.  Otherwise *@ret_at is unchanged.
 */
bool resp_asks_again(const struct resp_rd *rd, const struct packet *p, uint32_t mtu,
                     uint32_t *ret_at);

#endif
