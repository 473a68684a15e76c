/* SPDX-License-Identifier: MIT */
/* Cursors over byte buffers in network byte order (big endian), and little-endian loads and stores.
 *
 * Reading or writing past the end sets @bad, and all further calls do nothing.  A parser can
 * therefore read a whole header and test @bad once.
 *
 * Loads and stores use memcpy() and <endian.h>: gcc 12 compiles them to one instruction each, but
 * byte-by-byte stores to a series of shuffles.
 */
#ifndef EMU_BASE_CURSOR_H
#define EMU_BASE_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A cursor for reading. */
struct rd_cur {
    const uint8_t *p, *end; /* the next byte; the end of the buffer */
    bool bad;               /* a call needed more bytes than were left */
};

/* A cursor for writing. */
struct wr_cur {
    uint8_t *p, *end; /* the next byte; the end of the buffer */
    bool bad;         /* a call needed more bytes than were left */
};

/* Returns a cursor at the beginning of @len bytes. */
static inline struct rd_cur rd_cur(const uint8_t *bytes, size_t len)
{
    return (struct rd_cur){bytes, bytes + len, false};
}

static inline struct wr_cur wr_cur(uint8_t *bytes, size_t len)
{
    return (struct wr_cur){bytes, bytes + len, false};
}

/* Returns the number of bytes that are left, or 0 if @c is bad. */
static inline size_t rd_left(const struct rd_cur *c)
{
    return c->bad ? 0 : (size_t)(c->end - c->p);
}

static inline uint16_t ld_be16(const uint8_t *b)
{
    uint16_t v;

    memcpy(&v, b, sizeof(v));
    return be16toh(v);
}

static inline uint32_t ld_be32(const uint8_t *b)
{
    uint32_t v;

    memcpy(&v, b, sizeof(v));
    return be32toh(v);
}

/* Returns the @n bytes (1..8) at @b as a big-endian number.  If @n is the constant 1, 2, 4 or 8, it
 * compiles to one load.
 */
static inline uint64_t ld_be(const uint8_t *b, size_t n)
{
    uint64_t v = 0;

    switch (n) {
    case 1:
        return b[0];
    case 2:
        return ld_be16(b);
    case 3:
        return (uint32_t)b[0] << 16 | ld_be16(b + 1);
    case 4:
        return ld_be32(b);
    case 6:
        return (uint64_t)ld_be16(b) << 32 | ld_be32(b + 2);
    case 8:
        return (uint64_t)ld_be32(b) << 32 | ld_be32(b + 4);
    default:
        for (size_t i = 0; i < n; i++)
            v = v << 8 | b[i];
        return v;
    }
}

static inline void st_be16(uint8_t *b, uint16_t v)
{
    v = htobe16(v);
    memcpy(b, &v, sizeof(v));
}

static inline void st_be32(uint8_t *b, uint32_t v)
{
    v = htobe32(v);
    memcpy(b, &v, sizeof(v));
}

/* Stores the low @n bytes of @v, 1..8, in big-endian order. */
static inline void st_be(uint8_t *b, size_t n, uint64_t v)
{
    switch (n) {
    case 1:
        b[0] = (uint8_t)v;
        break;
    case 2:
        st_be16(b, (uint16_t)v);
        break;
    case 4:
        st_be32(b, (uint32_t)v);
        break;
    case 8:
        v = htobe64(v);
        memcpy(b, &v, sizeof(v));
        break;
    default:
        for (size_t i = 0; i < n; i++)
            b[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
        break;
    }
}

/* Returns a pointer to the next @n bytes, and advances @c past them.  If fewer are left, returns
 * NULL and @c is bad.  For headers of constant length whose fields are loaded by offset.
 */
static inline const uint8_t *rd_take(struct rd_cur *c, size_t n)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return NULL;
    }
    c->p += n;
    return c->p - n;
}

/* Returns a cursor for the next @n bytes, and advances @c past them.  If fewer are left, both are
 * bad.  When a header of constant length is written to the result, the compiler knows that there is
 * room and removes the checks of single fields.
 */
static inline struct wr_cur wr_part(struct wr_cur *c, size_t n)
{
    const struct wr_cur none = {c->p, c->p, true};
    struct wr_cur part;

    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return none;
    }
    part = wr_cur(c->p, n);
    c->p += n;
    return part;
}

/* Reads a big-endian number of @n bytes (1..8).  Returns 0 if fewer are left. */
static inline uint64_t rd_be(struct rd_cur *c, size_t n)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return 0;
    }
    c->p += n;
    return ld_be(c->p - n, n);
}

/* Reads the next @n bytes into @out.  If fewer are left, @out is unchanged. */
static inline void rd_bytes(struct rd_cur *c, void *out, size_t n)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return;
    }
    memcpy(out, c->p, n);
    c->p += n;
}

/* Writes the low @n bytes (1..8) of @v in big-endian order. */
static inline void wr_be(struct wr_cur *c, size_t n, uint64_t v)
{
    if (c->bad || (size_t)(c->end - c->p) < n) {
        c->bad = true;
        return;
    }
    st_be(c->p, n, v);
    c->p += n;
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
    uint16_t v;

    memcpy(&v, b, sizeof(v));
    return le16toh(v);
}

static inline uint32_t ld_le32(const uint8_t *b)
{
    uint32_t v;

    memcpy(&v, b, sizeof(v));
    return le32toh(v);
}

static inline uint64_t ld_le64(const uint8_t *b)
{
    uint64_t v;

    memcpy(&v, b, sizeof(v));
    return le64toh(v);
}

/* Returns the @n bytes (1, 2, 4 or 8) at @b as a little-endian number. */
static inline uint64_t ld_le(const uint8_t *b, size_t n)
{
    return n == 1 ? b[0] : n == 2 ? ld_le16(b) : n == 4 ? ld_le32(b) : ld_le64(b);
}

static inline void st_le16(uint8_t *b, uint16_t v)
{
    v = htole16(v);
    memcpy(b, &v, sizeof(v));
}

static inline void st_le32(uint8_t *b, uint32_t v)
{
    v = htole32(v);
    memcpy(b, &v, sizeof(v));
}

static inline void st_le64(uint8_t *b, uint64_t v)
{
    v = htole64(v);
    memcpy(b, &v, sizeof(v));
}

/* Stores the low @n bytes (1, 2, 4 or 8) of @v in little-endian order. */
static inline void st_le(uint8_t *b, size_t n, uint64_t v)
{
    if (n == 1)
        b[0] = (uint8_t)v;
    else if (n == 2)
        st_le16(b, (uint16_t)v);
    else if (n == 4)
        st_le32(b, (uint32_t)v);
    else
        st_le64(b, v);
}

#endif
