/* SPDX-License-Identifier: MIT */
/* Numbers with units: "4k", "10us", "100g", "1%", "0x1f".
 *
 * Sizes use powers of 1024 (k, m, g; "4KiB" too).  Times are in ns, us, ms or s.  Rates are in
 * bit/s with powers of 1000 ("100g", "25gbps").  Chances are percentages or ratios ("1/1000");
 * their value is in parts per million.  A fraction ("1.5us") must be an integer in the base unit,
 * otherwise it is refused: there is no floating point.
 */
#ifndef EMU_BASE_QUANTITY_H
#define EMU_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

enum quantity { QUANTITY_NUMBER, QUANTITY_SIZE, QUANTITY_TIME, QUANTITY_RATE, QUANTITY_CHANCE };

/* Parses the whole of @s as a number of @kind.  Returns NULL on success.  Otherwise returns a text
 * with the reason and leaves *@ret unchanged.
 */
const char *quantity_parse(enum quantity kind, const char *s, uint64_t *ret);

/* Suggests units for the plain number @s: appends it with each unit of @kind that makes it valid,
 * largest first: "10s, 10ms, 10us or 10ns".  Returns false and appends nothing if @kind needs no
 * unit, if @s is not a plain number, or if no unit makes it valid.
 */
bool quantity_add_with_units(struct text *t, enum quantity kind, const char *s);

/* Parses two plain numbers separated by "..": "1..100".  The first may be larger than the second.
 * Returns NULL, or the reason of a failure.
 */
const char *quantity_parse_range(const char *s, uint64_t *ret_first, uint64_t *ret_last);

/* Appends @v in the largest unit that represents it exactly.  quantity_parse() parses the text as
 * @v.
 */
void quantity_add(struct text *t, enum quantity kind, uint64_t v);

/* Appends a time in the largest unit in which it is at least 1, truncated to two decimals:
 * "85.66us".
 */
void quantity_add_time_short(struct text *t, uint64_t ns);

/* Appends a time in the same unit with all its digits: "85.664us".  quantity_parse() parses the
 * text as @ns.
 */
void quantity_add_time(struct text *t, uint64_t ns);

#endif
