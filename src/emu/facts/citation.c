/* SPDX-License-Identifier: MIT */
#include "emu/facts/citation.h"

#include <string.h>

#include "emu/base/assert.h"

enum { UNVERIFIED, VERIFIED };

const struct citation citations[] = {
#define CITE(doc, number, state, text) {#doc, (number), (state) == VERIFIED, (text)},
#include "emu/facts/citations.def"
#undef CITE
};
const size_t n_citations = ARRAY_LEN(citations);

static bool is_word(const char *word, const char *s, size_t len)
{
    return strlen(word) == len && memcmp(word, s, len) == 0;
}

const struct citation *citation_find(const char *document, size_t document_len, const char *section,
                                     size_t section_len)
{
    for (size_t i = 0; i < n_citations; i++) {
        if (is_word(citations[i].document, document, document_len) &&
            is_word(citations[i].section, section, section_len))
            return &citations[i];
    }
    return NULL;
}
