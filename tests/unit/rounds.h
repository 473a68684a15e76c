/* SPDX-License-Identifier: MIT */
/* How much a test of chance, or a sweep, tries. */
#ifndef UNIT_ROUNDS_H
#define UNIT_ROUNDS_H

#include <stdlib.h>

/* Returns by what the environment divides the rounds of such tests: ROUNDS_DIVIDED_BY, where a
 * check runs them in several builds; 1 without.
 */
static inline unsigned rounds_divisor(void)
{
    const char *text = getenv("ROUNDS_DIVIDED_BY");
    const unsigned long n = text ? strtoul(text, NULL, 10) : 1;

    return n > 0 && n <= 1000 ? (unsigned)n : 1;
}

/* Returns how many of @n rounds a test runs: at least one. */
static inline unsigned n_rounds(unsigned n)
{
    const unsigned share = n / rounds_divisor();

    return share > 0 ? share : 1;
}

#endif
