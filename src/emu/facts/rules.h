/* SPDX-License-Identifier: MIT */
/* The rules of the protocol, as an enumeration.  A rule is one condition that a work request, a
 * packet or a memory access must meet.  rules.def has a row for each rule.
 */
#ifndef EMU_FACTS_RULES_H
#define EMU_FACTS_RULES_H

enum rule {
#define RULE(name, number, text) RULE_##name = (number),
#include "emu/facts/rules.def"
#undef RULE
};

#endif
