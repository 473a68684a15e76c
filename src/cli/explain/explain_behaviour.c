/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_behaviour.h"

#include "cli/explain/page.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/behaviour.h"
#include "emu/facts/enum_table.h"
#include "print/cite.h"
#include "print/show_text.h"

#define TEXT_COLUMN 12u

/* tools/write_docs.py generates shown.def from the scenarios and the tests. */
static const struct {
    uint32_t behaviour; /* value of its row in enum_behaviour */
    const char *by;
} shown[] = {
#define SHOWN(letter, number, by) {BEHAVIOUR_VALUE(letter, number), by},
#include "cli/explain/shown.def"
#undef SHOWN
};

void explain_behaviour(struct answer_page *out, const struct enum_row *row, bool source)
{
    const struct behaviour_facts facts = behaviour_facts(row->value);
    char buf[CITE_TEXT_BYTES];
    struct text sources = text_on(buf, sizeof(buf));
    bool any = false;

    cite_add(&sources, facts.sources, source);
    if (buf[0])
        page_wrap_behind(out, "  sources   ", TEXT_COLUMN, buf);
    if (facts.rules[0])
        page_wrap_behind(out, "  rules     ", TEXT_COLUMN, facts.rules);
    if (facts.traits[0])
        page_wrap_behind(out, "  profiles  ", TEXT_COLUMN, facts.traits);
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        if (shown[i].behaviour != row->value)
            continue;
        page_wrap_behind(out, any ? "" : "  shown by  ", TEXT_COLUMN, shown[i].by);
        any = true;
    }
    if (!any)
        page_wrap_behind(out, "  shown by  ", TEXT_COLUMN, "nothing yet");
}
