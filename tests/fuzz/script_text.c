/* SPDX-License-Identifier: MIT */
#include "script_text.h"

#include <string.h>

#include "fuzz.h"

char *text_of(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1);

    FUZZ_CHECK(text);
    if (n)
        memcpy(text, data, n);
    text[n] = '\0';
    return text;
}

char *script_written(void (*write)(FILE *, const struct script *), const struct script *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    FUZZ_CHECK(f);
    write(f, s);
    FUZZ_CHECK(fclose(f) == 0);
    return text;
}

bool script_equal(const struct script *a, const struct script *b)
{
    const struct step *x = a->first, *y = b->first;

    if (!a->header != !b->header || (a->header && !step_equal(a->header, b->header)))
        return false;
    for (; x && y; x = x->next, y = y->next) {
        if (!step_equal(x, y))
            return false;
    }
    return !x && !y;
}
