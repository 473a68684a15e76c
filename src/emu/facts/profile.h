/* SPDX-License-Identifier: MIT */
/* A profile is the implementation that a host behaves like where implementations differ: the
 * InfiniBand specification, or rxe of one release of Linux.
 *
 * A trait is one such difference.  The code tests for a trait, profile_has(p,
 * TRAIT_LENGTH_CHECKED), and never for a profile.  Another implementation is therefore a new column
 * of profiles.def, and another difference is a new row.
 */
#ifndef EMU_FACTS_PROFILE_H
#define EMU_FACTS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum trait {
#define TRAIT(name, in_iba, in_rxe, in_rxe_7_3, with, without, matters, functions, sources)        \
    TRAIT_##name,
#include "emu/facts/profiles.def"
#undef TRAIT
    TRAIT_COUNT
};

struct trait_row {
    const char *name;           /* "LENGTH_CHECKED" */
    unsigned profiles;          /* profiles that have the trait: set of 1 << enum profile */
    const char *with, *without; /* behaviour of a host with the trait, and without it */
    const char *matters;        /* effect of the difference on a peer or a program */
    const char *functions;      /* functions of rxe that decide: "FILE: name, name; FILE: name" */
    const char *sources;        /* specifications and observations that show it */
};
extern const struct trait_row trait_rows[TRAIT_COUNT];

/* Returns true if profile @p (enum profile) has the trait @t. */
static inline bool profile_has(uint32_t p, enum trait t)
{
    return (trait_rows[t].profiles >> p & 1u) != 0;
}

#endif
