/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_profiles.h"

#include "cli/explain/page.h"
#include "emu/base/text.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum_table.h"
#include "print/cite.h"
#include "print/show_text.h"

#define TEXT_COLUMN 11u

/* Prints "  LEAD     text", wrapped. */
static void print_part(struct answer_page *out, const char *lead, const char *text, bool source)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "  %s", lead);
    text_pad_to(&t, TEXT_COLUMN - 1);
    page_cite_behind(out, buf, TEXT_COLUMN, text, source);
}

void explain_trait(struct answer_page *out, enum trait trait, bool source)
{
    const struct trait_row *row = &trait_rows[trait];

    page_line(out, "%s", row->name);
    for (size_t i = 0; i < enum_profile.n_rows; i++) {
        const struct enum_row *p = &enum_profile.rows[i];

        print_part(out, p->name,
                   profile_has((enum profile)p->value, trait) ? row->with : row->without, source);
    }
    print_part(out, "matters", row->matters, source);
    if (row->functions[0])
        print_part(out, "decides", row->functions, source);
    print_part(out, "sources", row->sources, source);
}

void explain_profiles(struct answer_page *out, bool source)
{
    page_hanging(out, 2, "What a host does where implementations differ: host h1 profile=PROFILE");
    for (size_t i = 0; i < enum_profile.n_rows; i++)
        print_part(out, enum_profile.rows[i].name, enum_profile.rows[i].text, source);
    for (unsigned i = 0; i < TRAIT_COUNT; i++) {
        page_line(out, "%s", "");
        explain_trait(out, (enum trait)i, source);
    }
}
