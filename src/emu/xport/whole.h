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
 *
 * Pages that follow each other for a program seldom do so in guest-physical memory, which the lab
 * scatters, but often in the memory of this process: pages that were first written in order.  A
 * span of such pages is copied at once.  Page by page, the copy of a megabyte takes half as long
 * again.
 */
#ifndef EMU_XPORT_WHOLE_H
#define EMU_XPORT_WHOLE_H

#include "emu/hca/key.h"
#include "emu/mem/ram.h"
#include "emu/wire/cargo.h"
#include "emu/wire/packet.h"
#include "emu/xport/sg.h"

struct xport_qp;

/* Bytes that follow each other in the memory of this process. */
struct whole_span {
    const uint8_t *at;
    uint64_t bytes;
};

struct whole {
    struct cargo cargo;    /* must be first: the frame that has the message frees it */
    struct packet p;       /* its headers; p.whole is this struct, p.payload is not valid */
    uint32_t mtu;          /* path MTU of the sender, in bytes */
    uint32_t n_pkts;       /* packets that it stands for */
    uint32_t wire_bytes;   /* length of the frames that it stands for */
    const struct ram *ram; /* the sender's memory */
    uint64_t forgotten;    /* ram->forgotten when the message was made */
    bool is_own;           /* the payload is inline data: a span of this block */
    /* The payload a second time.  There are none if a page could not be found, as with lent memory.
     * They are invalid if ram->forgotten has changed, unless @is_own.
     */
    struct whole_span *spans;
    uint32_t n_spans;
    /* The payload in guest-physical memory: pieces, the pages of all of them one after the other.
     */
    uint64_t *gpa;
    uint32_t n_pages, n_pieces;
    struct key_piece pieces[];
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
