/* SPDX-License-Identifier: MIT */
/* Profiles: whose behaviour a host shows where implementations differ.
 *
 * The code asks for the trait, profile_has(p, TRAIT_LENGTH_CHECKED), and never which profile it is:
 * another implementation is then another column of profiles.def, and a difference that is found is
 * another row.
 */
#ifndef EMU_FACTS_PROFILE_H
#define EMU_FACTS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum trait {
#define TRAIT(name, in_iba, in_rxe, with, without, matters, sources) TRAIT_##name,
#include "emu/facts/profiles.def"
#undef TRAIT
    TRAIT_COUNT
};

struct trait_row {
    const char *name;           /* "LENGTH_CHECKED" */
    unsigned profiles;          /* those that have it: set of 1 << enum profile */
    const char *with, *without; /* what a host does that has it, or has it not */
    const char *matters;        /* to whom it is a peer */
    const char *sources;
};
extern const struct trait_row trait_rows[TRAIT_COUNT];

/* Has @p, an enum profile, the trait? */
static inline bool profile_has(uint32_t p, enum trait t)
{
    return (trait_rows[t].profiles >> p & 1u) != 0;
}

#endif
