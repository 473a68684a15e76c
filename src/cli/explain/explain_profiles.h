/* SPDX-License-Identifier: MIT */
/* Explains the differences between the profiles: `explain profiles`, and `explain` for one of them.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_PROFILES_H
#define CLI_EXPLAIN_EXPLAIN_PROFILES_H

#include <stdio.h>

#include "emu/facts/profile.h"

/* Prints all differences between the profiles, from the rows that the transport uses.  @source: as
 * of explain().
 */
void explain_profiles(FILE *out, bool source);

/* Prints the difference @trait.  @source: as of explain(). */
void explain_trait(FILE *out, enum trait trait, bool source);

#endif
