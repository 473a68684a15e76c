/* SPDX-License-Identifier: MIT */
/* Problems of a quiz: the file of a lesson in which a seed draws names and numbers.
 *
 * Two more lines are allowed at the left of such a file.  They stand above the first use of the
 * name:
 *
 *	draw n 2..5                a number of this range
 *	draw mtu 256 512 "any"     one of these words
 *	let last $first + $n - 1   computed from left to right, with + - * / %
 *
 * $n or $(n) stands for the value in all lines below.  Each screen of the file is one problem in
 * the lab of the file; the seed chooses one of them, and the order of its choices.
 */
#ifndef CLI_TOUR_DRAW_H
#define CLI_TOUR_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/tour/tour.h"

#define DRAW_NAMES_MAX  32u /* names in a file */
#define DRAW_VALUES_MAX 32u /* words of one `draw` */
#define DRAW_BYTES      64u /* of a name or a value, with the terminating NUL */

struct problem {
    struct source src; /* the file with the drawn values, line by line; its text is owned */
    struct tour tour;  /* one screen */
    uint64_t seed;
};

/* Draws the problem @seed of @file.  The same file and seed make the same problem on every machine.
 * Returns false with the error in @reterr, which is about ret->src.  Call problem_done() in both
 * cases.  @file must live until then.
 */
bool problem_draw(struct problem *ret, const struct source *file, uint64_t seed,
                  struct diag *reterr);
void problem_done(struct problem *p);

#endif
