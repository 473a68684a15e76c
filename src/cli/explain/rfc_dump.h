/* SPDX-License-Identifier: MIT */
/* Annotated hex dumps of structures of the virtio-rdma RFC, driven by their field tables. */
#ifndef CLI_EXPLAIN_RFC_DUMP_H
#define CLI_EXPLAIN_RFC_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/rfc.h"

/* Appends the value of field @f as text: "64", "SIGNALED", "fe80::1".  @at is the first byte of the
 * structure @s.
 */
void rfc_field_add(struct text *t, const struct row_struct *s, const struct row_field *f,
                   const uint8_t *at);

/* Parses @text as a value of the integer field @f: a number, or words of the field separated by |.
 * Returns false if it is none.
 */
bool rfc_field_parse(const struct row_struct *s, const struct row_field *f, const char *text,
                     uint64_t *ret);

/* A field in a buffer, and its value as text. */
struct rfc_row {
    const uint8_t *at; /* the first byte of the field */
    size_t offset;     /* of that byte in the buffer */
    size_t bytes;      /* length of the field */
    const char *name, *value;
    const char *meaning; /* meaning of the field; may be empty */
};

/* Receives the rows of a dump. */
struct rfc_sink {
    void (*row)(void *ctx, const struct rfc_row *row);
    void *ctx;
};

/* Prints a row for people, in lines of eight bytes.  @out is a FILE.  A field for which
 * rfc_is_blank() is true takes one line.
 */
void rfc_print_row(void *out, const struct rfc_row *row);

/* Appends up to @n bytes of the field from offset @from on, in hexadecimal. */
void rfc_add_bytes(struct text *t, const struct rfc_row *row, size_t from, size_t n);

/* Returns true if the field has more than eight bytes and all of them are 0. */
bool rfc_is_blank(const struct rfc_row *row);

/* Passes each field of the structure @s to @to as a row.  The buffer @bytes has @n bytes; @s begins
 * at offset @at.  @prefix is put before the names of the fields.  Returns the number of bytes
 * covered, which is less than the size of @s if the buffer ends early; the last row is then the
 * rest of the buffer, called "ends early".
 */
size_t rfc_dump(const struct rfc_sink *to, const struct row_struct *s, const char *prefix,
                const uint8_t *bytes, size_t n, size_t at);

/* Passes the bytes from offset @at to the end of the @n bytes as one row called @name. */
void rfc_dump_rest(const struct rfc_sink *to, const char *name, const uint8_t *bytes, size_t n,
                   size_t at);

/* Passes the byte at @byte, a field of its own before the structure, as a row with offset 0. */
void rfc_dump_byte(const struct rfc_sink *to, const char *name, const char *value,
                   const uint8_t *byte);

/* Appends @s in lower case. */
void rfc_add_lower(struct text *t, const char *s);

#endif
