/* SPDX-License-Identifier: MIT */
/* Text from outside: is it UTF-8, and how is it shown when it is not? */
#ifndef PRINT_UTF8_H
#define PRINT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"

/* Bytes of the character at @s, of which @left bytes are there, and the character; 0 if it is
 * none.
 */
size_t utf8_character(const char *s, size_t left, uint32_t *ret);

/* Does this character control what shows it, instead of being shown? */
bool utf8_controls(uint32_t c);

/* Appends @s as text that a terminal, JSON, XML and YAML can take: bytes that are no UTF-8, and
 * characters that control something, become "\x1b".  Line ends stay if @lines.  What does not fit
 * is left out by whole characters.
 */
void utf8_add_printable(struct text *t, const char *s, bool lines);

/* A name as a message shows it; SHOWN_NAME(s) is @s on one line, in memory of the block around it.
 */
#define UTF8_NAME_BYTES 1024u
const char *utf8_name(const char *s, char ret[UTF8_NAME_BYTES]);
#define SHOWN_NAME(s) utf8_name(s, (char[UTF8_NAME_BYTES]){0})

#endif
