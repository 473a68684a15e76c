/* SPDX-License-Identifier: MIT */
/* Cursors over byte buffers, most significant byte first, and little-endian loads and stores.
 *
 * Running out of bytes latches @bad and further calls do nothing, so a parser reads straight
 * through its header and tests @bad once.
 */
#ifndef EMU_BASE_CURSOR_H
#define EMU_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rd_cur {
    const uint8_t *p, *end;
    bool bad;
};

struct wr_cur {
    uint8_t *p, *end;
    bool bad;
};

static inline struct rd_cur rd_cur(const uint8_t *bytes, size_t len)
{
    return (struct rd_cur){bytes, bytes + len, false};
}

static inline struct wr_cur wr_cur(uint8_t *bytes, size_t len)
{
    return (struct wr_cur){bytes, bytes + len, false};
}

static inline size_t rd_left(const struct rd_cur *c)
{
    return c->bad ? 0 : (size_t)(c->end - c->p);
}

/* Reads an unsigned integer of @n bytes, 1..8. */
static inline uint64_t rd_be(struct rd_cur *c, size_t n)
{
    uint64_t v = 0;

    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v = v << 8 | *c->p++;
    return v;
}

/* Copies @n bytes to @out; @out is untouched when they are not there. */
static inline void rd_bytes(struct rd_cur *c, void *out, size_t n)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return;
    }
    memcpy(out, c->p, n);
    c->p += n;
}

/* Writes the low @n bytes of @v, 1..8. */
static inline void wr_be(struct wr_cur *c, size_t n, uint64_t v)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return;
    }
    for (size_t i = n; i > 0; i--)
        *c->p++ = (uint8_t)(v >> (8 * (i - 1)));
}

static inline void wr_bytes(struct wr_cur *c, const void *bytes, size_t n)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return;
    }
    memcpy(c->p, bytes, n);
    c->p += n;
}

static inline uint16_t ld_le16(const uint8_t *b)
{
    return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t ld_le32(const uint8_t *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t ld_le64(const uint8_t *b)
{
    return (uint64_t)ld_le32(b) | (uint64_t)ld_le32(b + 4) << 32;
}

static inline void st_le16(uint8_t *b, uint16_t v)
{
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
}

static inline void st_le32(uint8_t *b, uint32_t v)
{
    for (size_t i = 0; i < 4; i++)
        b[i] = (uint8_t)(v >> (8 * i));
}

static inline void st_le64(uint8_t *b, uint64_t v)
{
    for (size_t i = 0; i < 8; i++)
        b[i] = (uint8_t)(v >> (8 * i));
}

#endif
