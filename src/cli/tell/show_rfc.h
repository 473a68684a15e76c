/* SPDX-License-Identifier: MIT */
/* Structures of the virtio-rdma RFC as annotated hex dumps, interpreted from their rows. */
#ifndef CLI_TELL_SHOW_RFC_H
#define CLI_TELL_SHOW_RFC_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/text.h"
#include "emu/facts/enums.h"
#include "emu/facts/rfc.h"

/* Appends what field @f of the structure at @at says: "64", "SIGNALED", "fe80::1". */
void rfc_field_add(struct text *t, const struct rfc_struct *s, const struct rfc_field *f,
                   const uint8_t *at);

/* Prints the fields of @s, which starts @at bytes into the @n bytes of a buffer, with @prefix
 * before their names.  Returns how many of its bytes there were.
 */
size_t rfc_dump(FILE *out, const struct rfc_struct *s, const char *prefix, const uint8_t *bytes,
                size_t n, size_t at);

/* Prints everything from @at on, called @name. */
void rfc_dump_rest(FILE *out, const char *name, const uint8_t *bytes, size_t n, size_t at);

/* Prints byte 0, which is no part of a structure. */
void rfc_dump_byte(FILE *out, const char *name, const char *value, uint8_t byte);

/* Appends @s in lower case. */
void rfc_add_lower(struct text *t, const char *s);

#endif
