/* SPDX-License-Identifier: MIT */
/* Explains the differences between the profiles: `explain profiles`, and `explain` for one of them.
 */
#ifndef CLI_EXPLAIN_EXPLAIN_PROFILES_H
#define CLI_EXPLAIN_EXPLAIN_PROFILES_H

#include "emu/facts/profile.h"

struct answer_page;

/* Prints all differences between the profiles, from the rows that the transport uses.  @source: as
 * of explain().
 */
void explain_profiles(struct answer_page *out, bool source);

/* Prints the difference @trait.  @source: as of explain(). */
void explain_trait(struct answer_page *out, enum trait trait, bool source);

#endif
