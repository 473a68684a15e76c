/* SPDX-License-Identifier: MIT */
/* Builds captures from rows: one row per frame, with its sender and time.  Host a is 10.0.0.1 with
 * queue pair 17; host b is 10.0.0.2 with queue pair 18.
 */
#ifndef CAPTURED_H
#define CAPTURED_H

#include "capture/check.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/opcode.h"
#include "emu/wire/mad.h"

#define CAPTURED_MTU 256u

/* The damage done to a frame before it is written. */
enum captured_harm {
    WHOLE,
    BAD_BIT,
    CUT,
    FALSE_LENGTH,
    FALSE_PAD,
    FALSE_VERSION,
    FALSE_OPCODE,
    OTHER_SERVICE,
    FALSE_SUM,
    NO_ICRC,
    RXES_ICRC /* of a FLUSH */
};

/* How a frame is captured; all but the last two have the same packet in them. */
enum captured_way {
    PLAIN,
    HOP,      /* behind a router: another MAC and TTL */
    TAGGED,   /* with a VLAN tag */
    TAGGED2,  /* with two of them: that of a provider [IEEE 802.1ad] in front */
    VXLAN,    /* in a tunnel */
    GENEVE,   /* in a tunnel whose header has options */
    OPTIONS,  /* with IPv4 options */
    IN6,      /* over IPv6 */
    IN6_MORE, /* over IPv6, with extension headers; the last one is a list of segments */
    PFC,      /* no packet: a PFC frame that stops priority 3, or starts it again if @n is 0 */
    ROCE_V1   /* the packet in a frame of RoCE v1 */
};

struct captured {
    uint32_t at_us;
    char from; /* 'a' or 'b' */
    enum opcode op;
    uint32_t psn;
    uint32_t n; /* bytes of payload; of a READ request, the requested bytes */
    bool ack_req;
    uint8_t syndrome; /* of an acknowledgment; 0 is an ACK */
    uint32_t msn;
    uint64_t value;     /* of an atomic response: the original value */
    uint16_t ip_id;     /* IP identification; 0 in the first frame: no frame has its own */
    uint32_t dma_bytes; /* of a WRITE; 0: the same as @n */
    uint32_t va;        /* address in a request; a different one changes the request */
    uint8_t fill;       /* value of each byte of the payload */
    uint8_t tclass;
    enum captured_harm harm;
    enum captured_way way;
    uint8_t port;          /* interface that captured it: 0 or 1; 2: PCAPNG_LOST */
    uint8_t going;         /* enum pcapng_direction */
    uint32_t qpn;          /* destination queue pair; 0: that of the other host */
    const struct mad *mad; /* a message of the connection manager, the payload; NULL: none */
    const uint8_t *bytes;  /* the payload; NULL: @fill */
};

#define ACK_OF(when, who, at, msns)                                                                \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_ACKNOWLEDGE, .psn = (at), .msn = (msns),       \
        .syndrome = 31                                                                             \
    }
#define NAK_OF(when, who, at, what, msns)                                                          \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_ACKNOWLEDGE, .psn = (at), .msn = (msns),       \
        .syndrome = (what)                                                                         \
    }
#define SEND_OF(when, who, at)                                                                     \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_RC_SEND_ONLY, .psn = (at), .n = 8,                \
        .ack_req = true                                                                            \
    }

#define MAD_OF(when, who, message)                                                                 \
    {                                                                                              \
        .at_us = (when), .from = (who), .op = OP_UD_SEND_ONLY, .qpn = 1, .n = MAD_BYTES,           \
        .mad = (message)                                                                           \
    }

enum { NAK_SEQUENCE = 0x60, NAK_INVALID = 0x61, NAK_ACCESS = 0x62, RNR_10US = 0x21 };

/* Facts about the capture in addition to its rows. */
struct captured_known {
    bool is_complete; /* the file says that it lost nothing */
    char at;          /* the host where it was captured: 'a', 'b' or 0 */
    uint32_t link;    /* link type of port 1; 0: Ethernet */
    struct choice choice;
    struct exact_limits limits;
};

/* Checks a capture with these rows.  The caller calls check_done(). */
void captured_check(const struct captured *v, size_t n, const struct captured_known *known,
                    struct check *ret);

/* Writes all findings to @buf as frame and rule: "3 GAP, 5 LATE".  Returns @buf. */
const char *captured_found(const struct check *c, char *buf, size_t cap);

/* Checks a capture with no further facts.  The test fails unless the findings are exactly
 * @expected.
 */
void captured_shows(const struct captured *v, size_t n, const char *expected);

/* The same of the array @rows. */
#define SHOWS(rows, expected) captured_shows(rows, ARRAY_LEN(rows), expected)

#endif
