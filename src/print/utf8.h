/* SPDX-License-Identifier: MIT */
/* Checks text from outside for valid UTF-8, and escapes what cannot be printed. */
#ifndef PRINT_UTF8_H
#define PRINT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"

/* Decodes the character at @s, of which at most @left bytes are available, and sets *@ret to its
 * code point.  Returns its length in bytes, or 0 if it is not valid UTF-8.
 */
size_t utf8_character(const char *s, size_t left, uint32_t *ret);

/* Returns true if the character with code point @c must not be printed: a control character, a line
 * separator, or one that XML does not permit.
 */
bool utf8_controls(uint32_t c);

/* Returns true if logs of GitHub and of Azure take @s for a command: it begins with "##[", or, if
 * @s is the first that is no blank in a @line, with "::" and a letter.
 */
bool utf8_begins_command(const char *s, bool line);

/* Appends @s as text that is safe for a terminal, a log, JSON, XML and YAML.  Bytes that are not
 * UTF-8, control characters, and what begins a command to a log are appended as escapes like
 * "\x1b".  Line ends are kept if @lines.  If space runs out, only whole characters are appended.
 *
 * A line of its own that begins with such a text needs print_line() (print/plain.h).
 */
void utf8_add_printable(struct text *t, const char *s, bool lines);

/* utf8_name() writes @s to @ret on one line, with such escapes, and returns @ret.  SHOWN_NAME(s)
 * does this in memory of the enclosing block.
 */
#define UTF8_NAME_BYTES 1024u
const char *utf8_name(const char *s, char ret[UTF8_NAME_BYTES]);
#define SHOWN_NAME(s) utf8_name(s, (char[UTF8_NAME_BYTES]){0})

/* The same for a text that a line begins with, such as a title. */
const char *utf8_line(const char *s, char ret[UTF8_NAME_BYTES]);
#define SHOWN_LINE(s) utf8_line(s, (char[UTF8_NAME_BYTES]){0})

#endif
