/* SPDX-License-Identifier: MIT */
/* Numbers with units, as people write them: "4k", "10us", "100g", "1%", "0x1f".
 *
 * Sizes use powers of 1024 (k, m, g; "4KiB" too), times are ns, us, ms, s, rates use powers of
 * 1000 and mean bit/s ("100g", "25gbps"), chances are percent or "1/1000" and come out in parts
 * per million.  A fraction ("1.5us") is exact or refused: no floating point is involved.
 */
#ifndef EMU_BASE_QUANTITY_H
#define EMU_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

enum quantity { QUANTITY_NUMBER, QUANTITY_SIZE, QUANTITY_TIME, QUANTITY_RATE, QUANTITY_CHANCE };

/* Reads the whole of @s.  NULL on success, or why it is none, and @ret is untouched. */
const char *quantity_parse(enum quantity kind, const char *s, uint64_t *ret);

/* Appends @s with each unit of @kind that makes a quantity of it, the largest first: "10s, 10ms,
 * 10us or 10ns".  False, and nothing is appended, if @s is no number that lacks one.
 */
bool quantity_add_with_units(struct text *t, enum quantity kind, const char *s);

/* Reads two numbers with ".." between them, in whatever order: "1..100".  As quantity_parse(). */
const char *quantity_parse_range(const char *s, uint64_t *ret_first, uint64_t *ret_last);

/* Appends @v in its largest exact unit; text that quantity_parse() reads back to @v. */
void quantity_add(struct text *t, enum quantity kind, uint64_t v);

/* Appends a time for people: at most two decimals ("85.66us"), cut and not rounded. */
void quantity_add_time_short(struct text *t, uint64_t ns);

#endif
