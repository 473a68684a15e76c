/* SPDX-License-Identifier: MIT */
/* A message that travels whole: from the memory of one guest into that of another, by one copy.
 *
 * The shortcut of an embedded switch carries it (eswitch.h).  It has the headers of a packet that
 * is the only one of its message, and stands for the packets into which the path MTU would have cut
 * it: it takes their PSNs, so that both ends count as they do with frames.  Requests, responses and
 * acknowledges travel like that.  What is left of a message of which a part went in frames does
 * not: it goes in frames, too.
 *
 * The payload is named when the message is sent, by guest-physical addresses, and copied when it
 * has been accepted.  As in key.h such addresses stay valid: RAM does not shrink.  A program must
 * not change the bytes before the request has completed, as with any device.
 */
#ifndef EMU_XPORT_WHOLE_H
#define EMU_XPORT_WHOLE_H

#include "emu/mem/ram.h"
#include "emu/wire/cargo.h"
#include "emu/wire/packet.h"
#include "emu/xport/sg.h"

struct xport_qp;

/* Bytes that follow each other in guest-physical memory. */
struct whole_run {
    uint64_t gpa;
    uint64_t bytes;
};

struct whole {
    struct cargo cargo;    /* must be first: the frame that has the message frees it */
    struct packet p;       /* its headers; p.whole is this struct, p.payload is not valid */
    uint32_t mtu;          /* path MTU of the sender, in bytes */
    uint32_t n_pkts;       /* packets that it stands for */
    uint32_t wire_bytes;   /* length of the frames that it stands for */
    const struct ram *ram; /* the sender's memory */
    const uint8_t *own;    /* the payload, if that is inline data; otherwise NULL */
    uint32_t n_runs;
    struct whole_run runs[];
};

/* Returns the number of packets, and so of PSNs, that @p stands for: 1 unless it travels whole. */
static inline uint32_t whole_psns(const struct packet *p)
{
    return p->whole ? p->whole->n_pkts : 1;
}

/* Returns the payload of the first packet that @p stands for, in bytes. */
static inline uint32_t whole_first_bytes(const struct packet *p)
{
    return p->whole && p->payload_bytes > p->whole->mtu ? p->whole->mtu : p->payload_bytes;
}

/* Make the message of xqp->out, which stands for @n_pkts packets, and set xqp->x->whole to it,
 * which belongs to the caller of xport_build().  The payload of whole_from_list() is that of @l
 * from position *@at on, which is advanced; the keys are checked.  That of whole_from_bytes() is
 * @bytes. whole_of_headers() has no payload.  Do nothing if the arena is full: that ends the lab.
 *
 * whole_from_list() returns RULE_NONE, or the rule that refuses a key, with the refused piece in
 * *@reterr_bad; there is no message then.
 */
enum rule whole_from_list(struct xport_qp *xqp, uint32_t n_pkts, const struct sg_list *l,
                          struct sge_cur *at, struct sge *reterr_bad);
void whole_from_bytes(struct xport_qp *xqp, uint32_t n_pkts, const uint8_t *bytes);
void whole_of_headers(struct xport_qp *xqp);

/* Copies the payload of @p, whether it travels whole or not, to position *@at of the list @sge, and
 * advances *@at.  As sge_copy_in() otherwise.
 */
void whole_copy_in(const struct qp *qp, uint64_t wr_id, const struct sge *sge, struct sge_cur *at,
                   const struct packet *p);

#endif
