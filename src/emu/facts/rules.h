/* SPDX-License-Identifier: MIT */
/* The protocol's rules by name, as an enumeration; rules.def has them. */
#ifndef EMU_FACTS_RULES_H
#define EMU_FACTS_RULES_H

enum rule {
#define RULE(name, number, text) RULE_##name = (number),
#include "emu/facts/rules.def"
#undef RULE
};

#endif
