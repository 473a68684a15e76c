/* SPDX-License-Identifier: MIT */
#include "emu/facts/profile.h"

#include "emu/facts/enum/profile.h"

const struct trait_row trait_rows[TRAIT_COUNT] = {
#define TRAIT(name, in_iba, in_rxe, in_rxe_7_3, with, without, matters, functions, sources)        \
    {#name,   (in_iba) << PROFILE_iba | (in_rxe) << PROFILE_rxe | (in_rxe_7_3) << PROFILE_rxe_7_3, \
     with,    without,                                                                             \
     matters, functions,                                                                           \
     sources},
#include "emu/facts/profiles.def"
#undef TRAIT
};
