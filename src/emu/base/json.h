/* SPDX-License-Identifier: MIT */
/* JSON output: strings and numbers.  [RFC 8259, 6 and 7] */
#ifndef EMU_BASE_JSON_H
#define EMU_BASE_JSON_H

#include <stdint.h>

#include "emu/base/text.h"

/* Largest integer that a reader which stores numbers as doubles represents exactly.  Larger numbers
 * are written as strings.
 */
#define JSON_EXACT_MAX ((uint64_t)1 << 53)

#define JSON_ESCAPE_BYTES 7u /* "\u001b" and its NUL */

/* Writes the text for byte @c in a JSON string to @buf: the byte itself or an escape.  Returns
 * @buf.
 */
const char *json_escape(char c, char buf[JSON_ESCAPE_BYTES]);

/* Appends @s in quotes. */
void json_add_string(struct text *t, const char *s);

/* Appends @v, in quotes if it is larger than JSON_EXACT_MAX. */
void json_add_number(struct text *t, uint64_t v);

#endif
