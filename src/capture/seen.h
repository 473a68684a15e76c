/* SPDX-License-Identifier: MIT */
/* The facts about one captured RoCEv2 packet that are compared with others.  Payload and extended
 * headers are kept only as hashes.
 */
#ifndef CAPTURE_SEEN_H
#define CAPTURE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/link.h"
#include "emu/facts/findings.h"
#include "emu/wire/lnet.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"

#define SEEN_NONE UINT32_MAX

enum seen_flag {
    SEEN_ACK_REQ = 1,
    SEEN_SOLICITED = 2,
    SEEN_CUT = 4,         /* truncated by the capture: payload and ICRC are not known */
    SEEN_CE = 8,          /* ECN mark: congestion experienced */
    SEEN_SENT = 16,       /* captured at the sending host */
    SEEN_CAME = 32,       /* captured at the receiving host */
    SEEN_DAMAGED = 64,    /* its ICRC is wrong, so its headers may be damaged */
    SEEN_NO_ICRC = 128,   /* its ICRC is 0 and wrong */
    SEEN_UNALIGNED = 256, /* request of an atomic whose address is no multiple of 8 */
    SEEN_AGAIN = 512,     /* the same transmission was captured before at another place */
    SEEN_DROPPED = 1024,  /* that, and it shows nothing more */
    SEEN_UNSUMMED = 2048  /* its ICRC is not judged */
};

/* A captured packet. */
struct seen {
    uint64_t number;      /* number of the frame, from 1 */
    uint64_t at_ns;       /* ns since 1970 */
    uint64_t value;       /* atomic response: the original value */
    uint64_t headers_sum; /* hash of the headers after the BTH */
    uint64_t payload_sum; /* hash of the payload */
    uint32_t src, dst;    /* indexes of its hosts in capture_record.hosts */
    uint32_t next; /* index in capture_record.v of the next packet of its flow, or SEEN_NONE */
    uint32_t psn, dest_qpn, msn;
    uint32_t dma_bytes; /* DMA length in its RETH */
    uint32_t payload_bytes;
    uint32_t place; /* see struct link_ip; with its direction, see copies.c */
    uint16_t ip_id; /* IPv4 identification */
    uint16_t flags; /* set of enum seen_flag */
    uint16_t vlan;  /* 0: none, or only a priority */
    uint8_t opcode, syndrome, pad_bytes;
};

/* The result of reading a frame. */
enum seen_result {
    SEEN_PACKET,  /* a complete RoCEv2 packet */
    SEEN_BROKEN,  /* RoCEv2, but not a valid packet; ret_faults has the reason */
    SEEN_ROCE_V1, /* a packet of RoCE v1 */
    SEEN_PAUSE,   /* a PFC or PAUSE frame */
    SEEN_UNREAD,  /* a frame of a link type that is not read */
    SEEN_OTHER    /* anything else */
};

/* GIDs of the source and the destination of a packet. */
struct seen_way {
    uint8_t src[GID_BYTES], dst[GID_BYTES];
};

/* A management datagram to the queue pair of the connection manager. */
struct seen_mad {
    bool is_cut;   /* it was not captured whole, and @mad is not valid */
    bool is_there; /* @mad is a message of the connection manager */
    struct mad mad;
};

/* The payload of a packet of a SEND of RC. */
struct seen_send {
    bool is_there;
    uint32_t n;
    uint8_t bytes[LNET_MSG_BYTES_MAX];
};

/* The contents of a packet that are kept apart from struct seen. */
struct seen_contents {
    struct seen_mad mad;
    struct seen_send send;
};

/* A fault of the frame itself.  @n, @value and @why are those of struct found. */
struct seen_fault {
    enum finding finding;
    uint32_t n, value;
    const char *why;
};

#define SEEN_FAULTS_MAX 4u

struct seen_faults {
    struct seen_fault v[SEEN_FAULTS_MAX];
    uint32_t n;
};

/* Decodes frame @f.  Sets @ret and @ret_way if it is a RoCEv2 packet, @ret_pause if it is a PFC
 * frame, and @ret_contents and @ret_faults always.  Returns the kind of the frame.
 */
enum seen_result seen_read(const struct capture_frame *f, struct seen *ret,
                           struct seen_way *ret_way, struct link_pause *ret_pause,
                           struct seen_contents *ret_contents, struct seen_faults *ret_faults);

/* Returns a hash of the packet, without its payload and what routers change.  It is the same for
 * all captured copies of a packet.
 */
uint64_t seen_content(const struct seen *s);

/* Returns the packet, decoded again from @s, with the members that wire_end.h needs. */
struct packet seen_packet(const struct seen *s);

static inline const struct op_info *seen_op(const struct seen *s)
{
    return op_info(s->opcode);
}

static inline struct psn seen_psn(const struct seen *s)
{
    return (struct psn){s->psn};
}

/* Returns true if @a was sent before @b according to their IPv4 identifications, modulo 65536. */
static inline bool seen_is_older(const struct seen *a, const struct seen *b)
{
    return (int16_t)(uint16_t)(a->ip_id - b->ip_id) < 0;
}

/* Return true if the headers, or the payloads, of two packets with the same PSN are equal.  Header
 * fields that a retransmission may change are ignored.  Payloads count as equal if one of them was
 * truncated by the capture.
 */
bool seen_same_headers(const struct seen *a, const struct seen *b);
bool seen_same_payload(const struct seen *a, const struct seen *b);

#endif
