/* SPDX-License-Identifier: MIT */
/* What a capture shows of one RoCEv2 packet: what is compared with others, and nothing of its bytes
 * but a sum.
 */
#ifndef CAPTURE_SEEN_H
#define CAPTURE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "emu/facts/enums.h"
#include "emu/facts/findings.h"
#include "emu/wire/packet.h"

#define SEEN_NONE UINT32_MAX

enum seen_flag {
    SEEN_ACK_REQ = 1,
    SEEN_SOLICITED = 2,
    SEEN_CUT = 4,      /* its end was not captured: nothing is known of payload and ICRC */
    SEEN_CE = 8,       /* congestion was met on the way */
    SEEN_SENT = 16,    /* seen at the host that sent it */
    SEEN_CAME = 32,    /* seen at the host that it is for */
    SEEN_DAMAGED = 64, /* its ICRC is wrong: what it says of itself may be wrong, too */
    SEEN_NO_ICRC = 128 /* its ICRC is wrong, and 0 */
};

struct seen {
    uint64_t number; /* of the frame */
    uint64_t at_ns;
    uint64_t value;       /* what an atomic found */
    uint64_t headers_sum; /* of the headers behind the BTH */
    uint64_t payload_sum; /* of the payload */
    uint32_t src, dst;    /* hosts of the record, see record.h */
    uint32_t next;        /* the next one of its flow; SEEN_NONE: it is the last */
    uint32_t psn, dest_qpn, msn;
    uint32_t dma_bytes; /* of its RETH */
    uint32_t payload_bytes;
    uint16_t ip_id;
    uint8_t opcode, syndrome, pad_bytes;
    uint8_t flags; /* set of enum seen_flag */
};

/* What became of a frame of the capture. */
enum seen_result {
    SEEN_PACKET, /* RoCEv2, and all of it could be read */
    SEEN_OTHER,  /* something else */
    SEEN_BROKEN  /* RoCEv2, but not a packet: *ret_finding */
};

/* Who sent it, and to whom. */
struct seen_way {
    uint8_t src[GID_BYTES], dst[GID_BYTES];
};

/* What there is to say of the frame alone; FIND_COUNT: nothing. */
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

/* Reads @f.  @ret and @ret_way are set if it is RoCEv2, @ret_faults always. */
enum seen_result seen_read(const struct capture_frame *f, struct seen *ret,
                           struct seen_way *ret_way, struct seen_faults *ret_faults);

/* The packet again, as far as who follows one end of a connection needs it. */
struct packet seen_packet(const struct seen *s);

static inline const struct op_info *seen_op(const struct seen *s)
{
    return op_info(s->opcode);
}

static inline struct psn seen_psn(const struct seen *s)
{
    return (struct psn){s->psn};
}

/* Was @a sent before @b, by the identification in IPv4?  Equal ones are not older. */
static inline bool seen_is_older(const struct seen *a, const struct seen *b)
{
    return (int16_t)(uint16_t)(a->ip_id - b->ip_id) < 0;
}

/* Do both say the same, but for what a second sending may change? */
bool seen_same_headers(const struct seen *a, const struct seen *b);
bool seen_same_payload(const struct seen *a, const struct seen *b);

#endif
