/* SPDX-License-Identifier: MIT */
/* Completer of RC: decides what to do with a response packet.
 *
 * There are two decisions, both pure functions.  comp_decide() looks at the packet itself.  If the
 * packet carries data, comp_decide_sink() then checks the memory where a READ or atomic stores it.
 */
#ifndef EMU_XPORT_COMP_H
#define EMU_XPORT_COMP_H

#include "emu/facts/compared.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/psn.h"
#include "emu/wire/packet.h"
#include "emu/xport/xport_qp.h"

/* Input of comp_decide(). */
struct comp_view {
    struct psn una;    /* the oldest outstanding PSN */
    uint32_t out_psns; /* number of outstanding PSNs */
    /* The first outstanding READ or atomic: its kind, the number of PSNs from una to its next
     * response, and the numbers of responses and bytes left.  Without TRAIT_READ_LENGTH_CHECKED the
     * bytes left are those that no response has brought, otherwise those of the responses left.  If
     * there is none, @rd is OPK_NONE and @before_rd is @out_psns.
     */
    enum op_kind rd;
    uint32_t before_rd, rd_psns, rd_bytes;
    bool rd_is_new;   /* no response to this READ or atomic was accepted yet */
    bool implied_nak; /* went back for a missing response; nothing acknowledged since */
    uint32_t mtu;     /* path MTU in bytes */
    bool rnr_wait;    /* the RNR timer is running */
    bool credits;     /* credits are used: an acknowledge may repeat a PSN to announce receives */
    enum profile profile;
    uint32_t retries, retry_cnt;  /* retries since the last progress, and their limit */
    uint32_t rnr_naks, rnr_retry; /* RNR NAKs since the last progress, and their limit */
};

/* Input of comp_decide_sink(). */
struct sink_view {
    const struct hca *hca;
    struct sg_list list;
    struct sge_cur at; /* position of the data in the list */
};

/* Verdict on a response.  Each action except ACT_DROP first acknowledges @n_acked PSNs.  Then:
 *
 *	ACT_ACKS	nothing more; @takes_data says if the packet's data is stored
 *	ACT_GO_BACK	everything after these PSNs is retransmitted
 *	ACT_WAIT_RNR	the rest is retransmitted after the RNR timer value in the packet
 *	ACT_FAIL	the request that is then the oldest completes with @status
 *	ACT_CREDITS	nothing: the packet only announces receives
 *	ACT_DROP	the packet is dropped, for the reason @drop
 */
struct comp_verdict {
    enum pkt_act act;
    enum rule rule;         /* the rule that decided; RULE_NONE with ACT_ACKS and ACT_CREDITS */
    enum wc_status status;  /* completion status with ACT_FAIL; otherwise SUCCESS */
    uint32_t n_acked;       /* number of PSNs acknowledged, from una on */
    uint32_t n_data;        /* number of them that the packet's data completes */
    uint32_t n_unused;      /* last PSNs of the READ, which its responder does not use */
    bool takes_data;        /* the packet's data is stored */
    struct compared values; /* values that the rule compared */
    enum drop_reason drop;  /* valid with ACT_DROP */
    struct sge bad;         /* with LOC_PROT_ERR: the piece of the list whose key was refused */
};

/* Decides what to do with @p, which has a response opcode.  Changes nothing but @ret. */
void comp_decide(const struct comp_view *v, const struct packet *p, struct comp_verdict *ret);

/* Checks that the data of @p can be stored.  @d is the verdict ACT_ACKS of comp_decide().  If a key
 * is refused, changes @d to ACT_FAIL.
 */
void comp_decide_sink(const struct sink_view *v, const struct packet *p, struct comp_verdict *d);

/* Returns the number of bytes that the response @p carries for the list of a READ or atomic. */
uint32_t comp_data_bytes(const struct packet *p);

#endif
