/* SPDX-License-Identifier: MIT */
/* The behaviours that a faithful implementation must show: "B33", "I2", "L1".  behaviours.def has
 * the rows.  I is an invariant: it is true after every event.  L becomes true in the end.  B can be
 * observed.
 *
 * Scenarios and unit tests name the behaviours that they show.  The names are in the table
 * enum_behaviour, so a scenario with an undefined number is refused as an unknown word.
 */
#ifndef EMU_FACTS_BEHAVIOUR_H
#define EMU_FACTS_BEHAVIOUR_H

#include <stdint.h>

/* The value of a behaviour in enum_behaviour is the constant of its letter plus its number: I2 is
 * 1002.
 */
enum { BEHAVIOUR_B = 0, BEHAVIOUR_I = 1000, BEHAVIOUR_L = 2000 };
#define BEHAVIOUR_VALUE(letter, number) (BEHAVIOUR_##letter + (number))

/* References of one behaviour.  A field is "" if the behaviour has none of its kind. */
struct behaviour_facts {
    const char *sources; /* specifications that demand it, cited in brackets */
    const char *rules;   /* rules that report it, names of rows of rules.def: "MR_KEY, MR_PD" */
    const char *traits;  /* traits that change it, names of rows of profiles.def */
};

/* Returns the references of behaviour @value of enum_behaviour.  All fields are "" if the value is
 * undefined.
 */
struct behaviour_facts behaviour_facts(uint32_t value);

#endif
