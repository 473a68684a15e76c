/* SPDX-License-Identifier: MIT */
/* Writes pieces of the JSON of a timeline.
 *
 * The JSON stands in a <script> element.  A browser ends that at "</script", whatever the JSON
 * means by it, so no "<" is written as such.
 */
#ifndef CLI_TIMELINE_TIMELINE_PUT_H
#define CLI_TIMELINE_TIMELINE_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes @s as a JSON string.  What is no UTF-8 or cannot be printed becomes an escape that can be
 * read, like "\x1b".
 */
void put_string(FILE *out, const char *s);

/* Writes the @n bytes @bytes as a JSON string in base64. */
void put_base64(FILE *out, const uint8_t *bytes, size_t n);

#endif
