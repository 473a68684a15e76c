/* SPDX-License-Identifier: MIT */
/* Messages of o2iblnd for tests, byte by byte. */
#ifndef UNIT_WIRE_LNET_BYTES_H
#define UNIT_WIRE_LNET_BYTES_H

#include "emu/base/cursor.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/wire/lnet.h"

/* A message as the offsets of the protocol describe it.  The tests below write each number at its
 * offset, in the order of the sender or, in the LNet header, in little-endian order.
 */
struct bytes {
    uint8_t v[LNET_MSG_BYTES_MAX];
    bool big;
};

static inline void put(struct bytes *b, size_t at, size_t n, uint64_t v)
{
    for (size_t i = 0; i < n; i++)
        b->v[at + i] = (uint8_t)(v >> 8 * (b->big ? n - 1 - i : i));
}

static inline void put_little(struct bytes *b, size_t at, size_t n, uint64_t v)
{
    for (size_t i = 0; i < n; i++)
        b->v[at + i] = (uint8_t)(v >> 8 * i);
}

static inline struct bytes head(bool big, uint32_t version, uint32_t type, uint32_t nob)
{
    struct bytes b = {.big = big};

    put(&b, 0, 4, 0x0be91b91);
    put(&b, 4, 2, version);
    b.v[6] = (uint8_t)type;
    b.v[7] = 3; /* credits */
    put(&b, 8, 4, nob);
    put(&b, 12, 4, 0);                  /* no checksum */
    put(&b, 16, 8, 0x000500000a000001); /* 10.0.0.1@o2ib */
    put(&b, 24, 8, 0x0006123456789abc); /* incarnation */
    put(&b, 32, 8, 0x000500030a000002); /* 10.0.0.2@o2ib3 */
    put(&b, 40, 8, 0x00060fedcba98765);
    return b;
}

/* Returns a message of each type. */
static inline size_t sample(enum lnet_msg_type type, bool big, struct lnet_msg *ret)
{
    *ret = (struct lnet_msg){.big_endian = big, .version = 0x12, .type = type, .credits = 1};
    if (type == LNET_MSG_PUT_ACK)
        ret->u.put_ack.rd.n = 3;
    else if (type == LNET_MSG_GET_REQ)
        ret->u.get_req.rd.n = 3;
    ret->nob = lnet_body_bytes(ret);
    return ret->nob;
}

#endif
