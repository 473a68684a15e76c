/* SPDX-License-Identifier: MIT */
#include "cli/explain/meaning.h"

#include "cli/explain/page.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"

static const struct meaning_row rows[] = {
#define MEANING(word, what, text, before, example) {#word, what, text, BEFORE_##before, example},
#include "cli/explain/meanings.def"
#undef MEANING
};

const struct meaning_row *meaning_row_at(size_t i)
{
    return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

const struct meaning_row *meaning_of(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (explain_same(rows[i].word, word) || explain_same(rows[i].what, word))
            return &rows[i];
    }
    return NULL;
}

bool explain_meaning(struct answer_page *out, const char *word)
{
    const struct meaning_row *row = meaning_of(word);

    if (!row)
        return false;
    page_meaning(out, row->word);
    page_line(out, "%s   %s", row->word, row->what);
    page_wrap(out, 2, row->text);
    page_example(out, row->before, row->example);
    return true;
}

void explain_meaning_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        each(ctx, rows[i].word);
}

void explain_meaning_each_text(explain_text *each, void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        each(ctx, "word", rows[i].word, rows[i].text);
}
