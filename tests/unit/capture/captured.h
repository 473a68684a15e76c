/* SPDX-License-Identifier: MIT */
/* Captures as rows: who sends what, and when.  Host a is 10.0.0.1, its queue pair 17; host b is
 * 10.0.0.2, its queue pair 18.
 */
#ifndef CAPTURED_H
#define CAPTURED_H

#include "capture/check.h"

#define CAPTURED_MTU 256u

/* What is done to a frame before it is written. */
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
    NO_ICRC
};

struct captured {
    uint32_t at_us;
    char from; /* 'a' or 'b' */
    enum opcode op;
    uint32_t psn;
    uint32_t n; /* bytes of payload; of a READ request, those that it asks for */
    bool ack_req;
    uint8_t syndrome; /* of an answer; 0 is an acknowledge */
    uint32_t msn;
    uint64_t value;     /* what an atomic found */
    uint16_t ip_id;     /* of the first frame 0: no frame has one of its own */
    uint32_t dma_bytes; /* of a WRITE; 0: as many as @n */
    uint32_t va;        /* changes what a request asks for */
    uint8_t fill;       /* each byte of the payload */
    uint8_t tclass;
    enum captured_harm harm;
    uint32_t qpn; /* another one that it is for; 0: the usual */
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

enum { NAK_SEQUENCE = 0x60, NAK_INVALID = 0x61, NAK_ACCESS = 0x62, RNR_10US = 0x21 };

/* What is known of the capture beside the rows. */
struct captured_known {
    bool is_complete; /* it says that it lost nothing */
    char at;          /* the host where it was captured, or 0 */
    struct exact_limits limits;
};

/* Checks the rows; @ret is released with check_done(). */
void captured_check(const struct captured *v, size_t n, const struct captured_known *known,
                    struct check *ret);

/* All findings as "3 GAP, 5 LATE": the frame, and the rule. */
const char *captured_found(const struct check *c, char *buf, size_t cap);

/* Both in one, with nothing known; the test fails unless just @expected is found. */
void captured_shows(const struct captured *v, size_t n, const char *expected);

#endif
