/* SPDX-License-Identifier: MIT */
/* The rules of the protocol, as an enumeration.  rules.def has a row for each rule. */
#ifndef EMU_FACTS_RULES_H
#define EMU_FACTS_RULES_H

enum rule {
#define RULE(name, number, text) RULE_##name = (number),
#include "emu/facts/rules.def"
#undef RULE
};

#endif
