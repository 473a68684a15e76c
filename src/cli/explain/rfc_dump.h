/* SPDX-License-Identifier: MIT */
/* Structures of the virtio-rdma RFC as annotated hex dumps, interpreted from their rows. */
#ifndef CLI_EXPLAIN_RFC_DUMP_H
#define CLI_EXPLAIN_RFC_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/enums.h"
#include "emu/facts/rfc.h"

/* Appends what field @f of the structure at @at says: "64", "SIGNALED", "fe80::1". */
void rfc_field_add(struct text *t, const struct rfc_struct *s, const struct rfc_field *f,
                   const uint8_t *at);

/* Reads @text for the integer field @f: a number, or words of the field with | between them. */
bool rfc_field_parse(const struct rfc_struct *s, const struct rfc_field *f, const char *text,
                     uint64_t *ret);

/* A field in a buffer, and what it says. */
struct rfc_row {
    const uint8_t *at;    /* its bytes */
    size_t offset, bytes; /* in the buffer */
    const char *name, *value;
    const char *meaning; /* of the field; may be empty */
};

/* Who gets the rows of a dump. */
struct rfc_sink {
    void (*row)(void *ctx, const struct rfc_row *row);
    void *ctx;
};

/* Prints a row for people; @out is a FILE. */
void rfc_print_row(void *out, const struct rfc_row *row);

/* Appends up to @n of its bytes from @from on in hexadecimal. */
void rfc_add_bytes(struct text *t, const struct rfc_row *row, size_t from, size_t n);

/* Has it so many bytes without any content that how many there are says more? */
bool rfc_is_blank(const struct rfc_row *row);

/* Hands out the fields of @s, which starts @at bytes into the @n bytes of a buffer, with @prefix
 * before their names.  Returns how many of its bytes there were.
 */
size_t rfc_dump(const struct rfc_sink *to, const struct rfc_struct *s, const char *prefix,
                const uint8_t *bytes, size_t n, size_t at);

/* Hands out everything from @at on, called @name. */
void rfc_dump_rest(const struct rfc_sink *to, const char *name, const uint8_t *bytes, size_t n,
                   size_t at);

/* Hands out byte 0, which is no part of a structure. */
void rfc_dump_byte(const struct rfc_sink *to, const char *name, const char *value,
                   const uint8_t *byte);

/* Appends @s in lower case. */
void rfc_add_lower(struct text *t, const char *s);

#endif
