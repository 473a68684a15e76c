/* SPDX-License-Identifier: MIT */
/* The marks of exports: how a file begins that rdmalab has exported.
 *
 * A script may replace a file with such a beginning by an export of the same form, and no other
 * file of the user.  So a mark is long, has its place at the very beginning of the file, and is
 * written by nobody else.  Text has no place for a mark.
 */
#ifndef CLI_EXPORT_EXPORT_MARK_H
#define CLI_EXPORT_EXPORT_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/lang/words.h"
#include "emu/wire/pcapng.h"

struct export_mark;

/* Bytes of the beginning of a file that export_mark_fits() needs; less of a shorter file. */
#define EXPORT_MARK_BYTES PCAPNG_BEGIN_BYTES

/* Returns the mark of an export of @form to the file @name; NULL: it has none. */
const struct export_mark *export_mark_of(enum export_form form, const char *name);

/* Returns true if a file that begins with the @n bytes @begin has the mark @m. */
bool export_mark_fits(const struct export_mark *m, const uint8_t *begin, size_t n);

#endif
