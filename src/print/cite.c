/* SPDX-License-Identifier: MIT */
#include "print/cite.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/citation.h"
#include "print/show_text.h"

/* Handles one bracket from @open to @close, for example "[IBTA1 9.7.4.1, C9-105; or else]".
 * Returns true if it has an unverified citation.  If @t is not NULL, appends the bracket with a
 * mark behind each unverified number.
 */
static bool add_bracket(struct text *t, const char *open, const char *close)
{
    const char *document = open + 1;
    const size_t document_len = strcspn(document, " ]");
    const char *at = document + document_len;
    bool marked = false;

    if (t)
        text_addn(t, open, (size_t)(at - open));
    while (at < close) {
        const char *word = at + strspn(at, ",; ");
        const char *end = word + strcspn(word, ",; ]");
        const struct citation *c =
            citation_find(document, document_len, word, (size_t)(end - word));
        const bool unverified = c && !c->verified;

        if (t) {
            text_addn(t, at, (size_t)(end - at));
            text_add(t, unverified ? " (unverified)" : "");
        }
        marked |= unverified;
        at = end;
    }
    if (t)
        text_add(t, "]");
    return marked;
}

void cite_add(struct text *t, const char *s, bool source)
{
    const size_t start = t->len;
    const char *open, *close;

    while ((open = strchr(s, '[')) != NULL && (close = strchr(open, ']')) != NULL) {
        const bool omitted = !source && add_bracket(NULL, open, close);
        size_t n = (size_t)(open - s);

        while (omitted && n > 0 && s[n - 1] == ' ')
            n--;
        text_addn(t, s, n);
        if (!omitted)
            add_bracket(t, open, close);
        s = close + 1;
        if (t->len == start && s[0] == ';') /* the first of several sources was left out */
            s += strspn(s, "; ");
    }
    text_add(t, s);
}

void cite_wrap_behind(FILE *out, const char *lead, unsigned indent, const char *s, bool source)
{
    char buf[CITE_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    cite_add(&t, s, source);
    RDL_ASSERT(!t.cut);
    show_wrap_behind(out, lead, indent, buf);
}

void cite_wrap(FILE *out, unsigned indent, const char *s, bool source)
{
    cite_wrap_behind(out, "", indent, s, source);
}
