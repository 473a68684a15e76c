/* SPDX-License-Identifier: MIT */
#include "emu/facts/behaviour.h"

#include "emu/base/assert.h"

static const struct enum_row rows[] = {
#define BEHAVIOUR_GROUP(title)
#define BEHAVIOUR(letter, number, text, sources)                                                   \
    {#letter #number, BEHAVIOUR_VALUE(letter, number), text},
#include "emu/facts/behaviours.def"
#undef BEHAVIOUR
};
const struct enum_table enum_behaviour = {"behaviour", "behaviour", rows, ARRAY_LEN(rows)};

static const struct {
    uint32_t value;
    const char *sources;
} source_rows[] = {
#define BEHAVIOUR(letter, number, text, sources) {BEHAVIOUR_VALUE(letter, number), sources},
#include "emu/facts/behaviours.def"
#undef BEHAVIOUR
#undef BEHAVIOUR_GROUP
};

const char *behaviour_sources(uint32_t value)
{
    for (size_t i = 0; i < ARRAY_LEN(source_rows); i++) {
        if (source_rows[i].value == value)
            return source_rows[i].sources;
    }
    return "";
}
