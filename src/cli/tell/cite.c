/* SPDX-License-Identifier: MIT */
#include "cli/tell/cite.h"

#include <string.h>

#include "cli/print/show_text.h"
#include "emu/base/assert.h"

static const char mark[] = "(unverified)";

static bool is_marked(const char *open, const char *close)
{
    const char *at = strstr(open, mark);

    return at && at < close;
}

void cite_add(struct text *t, const char *s, bool source)
{
    const size_t start = t->len;
    const char *open, *close = NULL;

    while (!source && (open = strchr(s, '[')) != NULL && (close = strchr(open, ']')) != NULL) {
        size_t n = (size_t)(close + 1 - s);

        if (is_marked(open, close)) {
            n = (size_t)(open - s);
            while (n > 0 && s[n - 1] == ' ')
                n--;
        }
        text_addn(t, s, n);
        s = close + 1;
        if (t->len == start && s[0] == ';') /* the first of several sources */
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
