/* SPDX-License-Identifier: MIT */
#include "cli/lang/field_word.h"

#include <ctype.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/field.h"

enum field_word field_word_find(const char *field, const char *text, struct span at, uint32_t *ret,
                                struct diag *reterr)
{
    const struct enum_row *f = field ? enum_by_name(&enum_wire_field, field) : NULL;
    const struct enum_table *words = f ? field_words((enum wire_field_id)f->value) : NULL;
    const struct enum_row *word = words ? enum_by_name(words, text) : NULL;
    struct suggestion near = suggestion_for(text);

    if (word) {
        *ret = word->value;
        return FIELD_WORD_IS;
    }
    if (!words || isdigit((unsigned char)text[0]) || strchr(text, '.'))
        return FIELD_WORD_NOT;
    for (size_t i = 0; i < words->n_rows; i++)
        suggest_offer(&near, words->rows[i].name);
    diag_set(reterr, DIAG_VALUE, at, "no %s is called \"%s\"", words->what, text);
    if (near.best)
        diag_remedy(reterr, "did you mean %s?", SUGGESTED(&near));
    else
        diag_remedy(reterr, "\"explain %s\" lists them", words->name);
    return FIELD_WORD_WRONG;
}
