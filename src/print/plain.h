/* SPDX-License-Identifier: MIT */
/* Prints text that comes from a file or a frame to where people read it: terminals and logs.
 *
 * There is one function for each kind of output.  It escapes what could pass for something else
 * there.
 *
 *	a part of a line, or several lines   print_plain(), utf8_add_printable() (print/utf8.h)
 *	a line of its own                    print_line()
 *	JSON                                 print_json_string() (print/print_json.h)
 *	XML                                  print_xml(); in pictures svg_put_escaped() (viz/svg.h)
 *	a command to GitHub's log            print_github()
 */
#ifndef PRINT_PLAIN_H
#define PRINT_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints @s, of any length, as utf8_add_printable() writes it: line ends are kept if @lines. */
void print_plain(FILE *out, const char *s, bool lines);

/* Prints @s and a line end.  The log of GitHub takes a line that begins with "::" for a command:
 * this is escaped, too.
 */
void print_line(FILE *out, const char *s);

/* Prints @s, which utf8_add_printable() has written, with XML escapes. */
void print_xml(FILE *out, const char *s);

/* Prints @s, which utf8_add_printable() has written, as the message of a GitHub workflow command;
 * @property: as the value of one of its properties.
 */
void print_github(FILE *out, const char *s, bool property);

#endif
