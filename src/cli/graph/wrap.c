/* SPDX-License-Identifier: MIT */
#include "cli/graph/wrap.h"

#include <string.h>

void wrap_add(struct text *t, size_t columns, const char *s)
{
    size_t width = 0;

    while (*s) {
        const size_t n = strcspn(s, " ");

        if (n > 0 && (width == 0 || width + 1 + n > columns)) {
            text_add(t, "\n");
            width = 0;
        }
        if (n > 0 && width > 0)
            text_add(t, " ");
        text_addn(t, s, n);
        width += n > 0 ? n + (width > 0) : 0;
        s += n + (s[n] == ' ');
    }
}
