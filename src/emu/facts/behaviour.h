/* SPDX-License-Identifier: MIT */
/* What a faithful implementation must show, by number: "B33", "I2", "L1".
 *
 * Scenarios name what they show, and unit tests too; the names are those of enum_behaviour, so that
 * a number that there is not is refused like any other unknown word.
 */
#ifndef EMU_FACTS_BEHAVIOUR_H
#define EMU_FACTS_BEHAVIOUR_H

#include <stdint.h>

/* The value of a behaviour in enum_behaviour, from the letter and the number of its row. */
enum { BEHAVIOUR_B = 0, BEHAVIOUR_I = 1000, BEHAVIOUR_L = 2000 };
#define BEHAVIOUR_VALUE(letter, number) (BEHAVIOUR_##letter + (number))

/* Where a row comes from and what belongs to it; each is "" if that is nothing in particular. */
struct behaviour_facts {
    const char *sources;
    const char *rules;  /* names of rows of rules.def: "MR_KEY, MR_PD" */
    const char *traits; /* of rows of profiles.def */
};

struct behaviour_facts behaviour_facts(uint32_t value);

#endif
