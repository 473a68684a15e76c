/* SPDX-License-Identifier: MIT */
#include "emu/facts/aeth.h"

#include "emu/base/assert.h"

/* The delays of the RNR timer codes, in units of 10 us. [IBTA1, encoding for RNR NAK timer field;
 * tshark prints the same values]
 */
static const uint32_t rnr_10us[32] = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static const struct {
    uint8_t code;
    enum syndrome kind;
} naks[] = {
    {0, SYN_NAK_PSN_SEQUENCE},
    {1, SYN_NAK_INVALID_REQUEST},
    {2, SYN_NAK_REMOTE_ACCESS},
    {3, SYN_NAK_REMOTE_OPERATIONAL},
};

struct aeth_word aeth_unpack_nak(uint8_t syndrome)
{
    const uint8_t value = syndrome & 0x1fu;

    switch (syndrome >> 5) {
    case 1:
        return (struct aeth_word){SYN_RNR_NAK, value};
    case 3:
        for (size_t i = 0; i < ARRAY_LEN(naks); i++) {
            if (naks[i].code == value)
                return (struct aeth_word){naks[i].kind, value};
        }
        return (struct aeth_word){SYN_NAK_RESERVED, value};
    default: /* reserved; also bit 7 set */
        return (struct aeth_word){SYN_NAK_RESERVED, value};
    }
}

uint8_t aeth_pack(enum syndrome kind, uint8_t value)
{
    RDL_ASSERT(value < 32);
    if (kind == SYN_ACK)
        return value;
    if (kind == SYN_RNR_NAK)
        return (uint8_t)(0x20u | value);
    for (size_t i = 0; i < ARRAY_LEN(naks); i++) {
        if (naks[i].kind == kind)
            return (uint8_t)(0x60u | naks[i].code);
    }
    RDL_ASSERT(kind == SYN_NAK_RESERVED);
    return (uint8_t)(0x60u | value);
}

static const uint32_t credits[AETH_NO_CREDITS] = {
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

uint32_t aeth_credits(uint8_t code)
{
    RDL_ASSERT(code < AETH_NO_CREDITS);
    return credits[code];
}

uint8_t aeth_credit_code(uint32_t n)
{
    uint8_t code = AETH_NO_CREDITS - 1;

    while (credits[code] > n)
        code--;
    return code;
}

uint64_t rnr_timer_ns(uint8_t code)
{
    return rnr_10us[code & 31u] * (uint64_t)10000;
}

uint64_t ack_timeout_ns(uint8_t code)
{
    return (code & 31u) == 0 ? UINT64_MAX : (uint64_t)4096 << (code & 31u);
}
