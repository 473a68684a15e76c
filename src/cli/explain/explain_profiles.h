/* SPDX-License-Identifier: MIT */
/* `explain profiles`, and its rows by name. */
#ifndef CLI_EXPLAIN_EXPLAIN_PROFILES_H
#define CLI_EXPLAIN_EXPLAIN_PROFILES_H

#include <stdio.h>

#include "emu/facts/profile.h"

/* All differences, from the rows that the transport asks; @source as of explain(). */
void explain_profiles(FILE *out, bool source);

/* One of them. */
void explain_trait(FILE *out, enum trait trait, bool source);

#endif
