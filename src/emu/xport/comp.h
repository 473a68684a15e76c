/* SPDX-License-Identifier: MIT */
/* Completer, RC: what to do with one response packet.
 *
 * Two questions, as at the responder.  comp_decide() asks what the packet says by itself; one that
 * brings data is then looked at by comp_decide_sink(), which asks whether they may go where the
 * READ or the atomic wants them.  Both are pure.
 */
#ifndef EMU_XPORT_COMP_H
#define EMU_XPORT_COMP_H

#include "emu/facts/compared.h"
#include "emu/facts/psn.h"
#include "emu/wire/packet.h"
#include "emu/xport/xport_qp.h"

/* What the rules look at. */
struct comp_view {
    struct psn una;    /* the oldest outstanding PSN */
    uint32_t out_psns; /* so many are outstanding */
    /* The first READ or atomic that is outstanding: the PSNs before its next response, and how many
     * responses and bytes are left of it.  None is: @rd is OPK_NONE, @before_rd is @out_psns.
     */
    enum op_kind rd;
    uint32_t before_rd, rd_psns, rd_bytes;
    bool rd_is_new;   /* no response to it was taken yet */
    bool implied_nak; /* it was asked for again, and nothing was taken since */
    uint32_t mtu;     /* bytes */
    bool rnr_wait;    /* an RNR NAK for una is being waited out */
    bool credits;     /* acknowledges may bring news of receives alone */
    enum profile profile;
    uint32_t retries, retry_cnt;
    uint32_t rnr_naks, rnr_retry;
};

/* What the rules of a sink look at. */
struct sink_view {
    const struct hca *hca;
    struct sg_list list;
    struct sge_cur at; /* where the data go in it */
};

/* ACT_ACKS	@n_acked PSNs are acknowledged
 * ACT_GO_BACK	they are, and everything after them is sent again
 * ACT_WAIT_RNR	they are, and what follows is sent again after the time that the packet tells
 * ACT_FAIL	they are, and the request that is the oldest then ends with @status
 * ACT_DROP	nothing happens, for the reason @drop
 *
 * A packet that brings data acknowledges its own PSN last.
 */
struct comp_verdict {
    enum pkt_act act;
    enum rule rule;
    enum wc_status status;
    uint32_t n_acked;
    struct compared values; /* that the rule compared */
    enum drop_reason drop;
    struct sge bad; /* with LOC_PROT_ERR: the piece of the list whose key was refused */
};

/* @p has a response opcode. */
void comp_decide(const struct comp_view *v, const struct packet *p, struct comp_verdict *ret);

/* @d is what comp_decide() said of @p, which brings data: it stays, or says why they cannot be
 * taken.
 */
void comp_decide_sink(const struct sink_view *v, const struct packet *p, struct comp_verdict *d);

/* Bytes that @p brings for the list of a READ or an atomic. */
uint32_t comp_data_bytes(const struct packet *p);

#endif
