/* SPDX-License-Identifier: MIT */
/* Structures in guest memory, made from rows.
 *
 * A list has one row F(structure, field, type, text) for each field.  Types are le8 .. le64 and raw
 * bytes, bytes(N).  The offset of a field is the sum of the lengths before it: padding is a row,
 * too.
 *
 * STRUCT_ROWS_DEFINE(RAW, VALUE, list) defines struct RAW (the bytes), struct VALUE (decoded),
 * VALUE_get(), which decodes, and VALUE_put(), which encodes.  list(ROW_INFO_FIELD, RAW) makes the
 * rows of a struct row_struct, by which bytes are printed.
 */
#ifndef EMU_FACTS_STRUCT_ROWS_H
#define EMU_FACTS_STRUCT_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emu/base/cursor.h"

/* For each type: its length as bytes, its decoded type and dimension, and how it is decoded and
 * encoded.
 */
#define ROW_LEN_le8      [1]
#define ROW_LEN_le16     [2]
#define ROW_LEN_le32     [4]
#define ROW_LEN_le64     [8]
#define ROW_LEN_bytes(n) [n]

#define ROW_TYPE_le8      uint8_t
#define ROW_TYPE_le16     uint16_t
#define ROW_TYPE_le32     uint32_t
#define ROW_TYPE_le64     uint64_t
#define ROW_TYPE_bytes(n) uint8_t

#define ROW_DIM_le8
#define ROW_DIM_le16
#define ROW_DIM_le32
#define ROW_DIM_le64
#define ROW_DIM_bytes(n) [n]

#define ROW_COPY(to, from)     memcpy((to), (from), sizeof(to))
#define ROW_GET_le8(to, from)  ((to) = (from)[0])
#define ROW_GET_le16(to, from) ((to) = ld_le16(from))
#define ROW_GET_le32(to, from) ((to) = ld_le32(from))
#define ROW_GET_le64(to, from) ((to) = ld_le64(from))
#define ROW_GET_bytes(n)       ROW_COPY

#define ROW_PUT_le8(to, from)  ((to)[0] = (from))
#define ROW_PUT_le16(to, from) st_le16((to), (from))
#define ROW_PUT_le32(to, from) st_le32((to), (from))
#define ROW_PUT_le64(to, from) st_le64((to), (from))
#define ROW_PUT_bytes(n)       ROW_COPY

#define ROW_RAW_FIELD(S, f, type, text)   uint8_t f ROW_LEN_##type;
#define ROW_VALUE_FIELD(S, f, type, text) ROW_TYPE_##type f ROW_DIM_##type;
#define ROW_GET_FIELD(S, f, type, text)   ROW_GET_##type(out->f, in->f);
#define ROW_PUT_FIELD(S, f, type, text)   ROW_PUT_##type(out->f, in->f);

/* A field of a structure, for hex dumps. */
struct row_field {
    const char *name;
    uint16_t offset, bytes;
    char type; /* 'i': little-endian integer, 'b': bytes */
    const char *text;
};

struct row_struct {
    const char *name;
    size_t bytes;
    const struct row_field *fields;
    size_t n_fields;
};

/* A field of struct @R.  The name of a type begins with 'l' for an integer (leN), or 'b' for
 * bytes(N).
 */
#define ROW_INFO_FIELD(R, f, type, text)                                                           \
    {#f, (uint16_t)offsetof(struct R, f), (uint16_t)sizeof(((struct R *)0)->f),                    \
     #type[0] == 'l' ? 'i' : 'b', text},

/* Returns the structure with the name @name among the @n at @structs, or NULL. */
const struct row_struct *row_struct_find(const struct row_struct *structs, size_t n,
                                         const char *name);

/* Returns the field of @s with the name @name, or NULL. */
const struct row_field *row_field_find(const struct row_struct *s, const char *name);

#define STRUCT_ROWS_DEFINE(R, V, list)                                                             \
    struct R {                                                                                     \
        list(ROW_RAW_FIELD, V)                                                                     \
    };                                                                                             \
    struct V {                                                                                     \
        list(ROW_VALUE_FIELD, V)                                                                   \
    };                                                                                             \
    static inline void V##_get(struct V *out, const struct R *in)                                  \
    {                                                                                              \
        list(ROW_GET_FIELD, V)                                                                     \
    }                                                                                              \
    static inline void V##_put(struct R *out, const struct V *in)                                  \
    {                                                                                              \
        list(ROW_PUT_FIELD, V)                                                                     \
    }

#endif
