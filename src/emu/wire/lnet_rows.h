/* SPDX-License-Identifier: MIT */
/* The rows of facts/lnet_fields.h as data, and the parts of a message in bytes.
 *
 * Views and faults read single fields by these rows.  They need no valid message, and no complete
 * one: the first packet of a SEND is enough.
 */
#ifndef EMU_WIRE_LNET_ROWS_H
#define EMU_WIRE_LNET_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/lnet_fields.h"

struct enum_table;

/* Returns true if the @n bytes at @bytes begin like a message: with the magic number in either
 * order, version 1 or 2, and a known type.  The message may be longer than @n.
 */
bool lnet_is_message(const uint8_t *bytes, size_t n);

/* Returns true if the @n bytes at @bytes begin like the private data of a reject: with a magic
 * number in either order.
 */
bool lnet_is_reject(const uint8_t *bytes, size_t n);

/* Returns true if the sender of the message or reject at @bytes is big-endian. */
bool lnet_is_big_endian(const uint8_t *bytes);

/* Returns the version in the message at @bytes, which has a magic number. */
uint16_t lnet_version_at(const uint8_t *bytes);

/* The form of a value for people. */
enum lnet_form {
    LNET_FORM_DEC,
    LNET_FORM_HEX,
    LNET_FORM_NID,
    LNET_FORM_STATUS,  /* signed: negative, an errno; else bytes */
    LNET_FORM_MESSAGE, /* enum lnet_msg_type */
    LNET_FORM_OP,      /* enum lnet_op */
    LNET_FORM_WHY      /* enum lnet_why */
};

struct lnet_field {
    const char *name;  /* NULL: reserved */
    const char *title; /* "credits returned" */
    uint8_t at, bytes; /* in the part */
    enum lnet_form form;
    uint16_t member, member_bytes; /* offset in the struct of C, and size; size 0: it has none */
};

/* A part of messages. */
struct lnet_layout {
    const char *title; /* "o2iblnd descriptor" */
    size_t bytes;
    bool is_little; /* little-endian, whatever the sender is */
    const struct lnet_field *fields;
    size_t n_fields;
};

extern const struct lnet_layout lnet_layouts[LNET_PART_COUNT];

/* Return or set the number that is field @f of the part @l at @bytes.  @big_endian is the order of
 * the sender.  lnet_field_put() ignores bits of @v that do not fit.
 */
uint64_t lnet_field_get(const struct lnet_layout *l, const struct lnet_field *f,
                        const uint8_t *bytes, bool big_endian);
void lnet_field_put(const struct lnet_layout *l, const struct lnet_field *f, uint64_t v,
                    uint8_t *bytes, bool big_endian);

/* Returns the largest value of a field. */
uint64_t lnet_field_max(const struct lnet_field *f);

/* Returns the names of the values of a field, or NULL if they have none. */
const struct enum_table *lnet_field_words(const struct lnet_field *f);

/* Appends the value @v of a field: "0xd2 PUT_REQ", "10.0.0.1@o2ib". */
void lnet_field_add(struct text *t, const struct lnet_field *f, uint64_t v);

/* A walk over the parts of a message:
 *
 *	for (struct lnet_walk w = lnet_walk(bytes, n); lnet_next(&w);)
 *		use(w.part, w.at, w.index);
 *
 * It ends with the last part that is complete in the @n bytes.  Bytes that are no message, see
 * lnet_is_message(), have no parts.
 */
struct lnet_walk {
    const uint8_t *bytes;
    size_t n;
    uint32_t type;       /* enum lnet_msg_type; 0: no message */
    bool big_endian;     /* order of the sender */
    bool begun;          /* the members below are set */
    uint32_t body;       /* row of LNET_BODIES */
    size_t body_at;      /* offset of its part */
    enum lnet_part part; /* the current part */
    size_t at;           /* its offset */
    size_t member;       /* offset in struct lnet_msg of the struct with its values */
    uint32_t index;      /* number of the fragment, from 0 */
    uint32_t n_frags;    /* of the descriptor, at most LNET_FRAGS_MAX */
};

struct lnet_walk lnet_walk(const uint8_t *bytes, size_t n);
bool lnet_next(struct lnet_walk *w);

/* Returns the walk over a message of which only the head is there yet: lnet_next() reads a part
 * only after it has returned it.  @bytes has room for @n bytes.
 */
struct lnet_walk lnet_walk_built(const uint8_t *bytes, size_t n, uint32_t type, bool big_endian);

/* Returns true if the first part @part of the message in the @n bytes at @bytes is complete; then
 * its offset is in *@ret.
 */
bool lnet_find_part(const uint8_t *bytes, size_t n, enum lnet_part part, size_t *ret);

/* Returns the bytes that a message of @type has without payload and fragments: 0 for an unknown
 * type.
 */
size_t lnet_fixed_bytes(uint32_t type);

#endif
