/* SPDX-License-Identifier: MIT */
#include "emu/facts/behaviour.h"

#include "emu/base/assert.h"
#include "emu/facts/enum_table.h"

static const struct enum_row rows[] = {
#define BEHAVIOUR_GROUP(title)
#define BEHAVIOUR(letter, number, text, sources, rules, traits)                                    \
    {#letter #number, BEHAVIOUR_VALUE(letter, number), text},
#include "emu/facts/behaviours.def"
#undef BEHAVIOUR
};
const struct enum_table enum_behaviour = {"behaviour", "behaviour", rows, ARRAY_LEN(rows)};

static const struct {
    uint32_t value;
    struct behaviour_facts facts;
} fact_rows[] = {
#define BEHAVIOUR(letter, number, text, sources, rules, traits)                                    \
    {BEHAVIOUR_VALUE(letter, number), {sources, rules, traits}},
#include "emu/facts/behaviours.def"
#undef BEHAVIOUR
#undef BEHAVIOUR_GROUP
};

struct behaviour_facts behaviour_facts(uint32_t value)
{
    for (size_t i = 0; i < ARRAY_LEN(fact_rows); i++) {
        if (fact_rows[i].value == value)
            return fact_rows[i].facts;
    }
    return (struct behaviour_facts){"", "", ""};
}
