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

/* The scenario line of @s; one that says nothing is as good as none, and is not written. */
static const struct step *header_of(const struct script *s)
{
    for (size_t i = 0; s->header && i < s->header->cmd->n_params; i++) {
        if (s->header->args[i].n > 0)
            return s->header;
    }
    return NULL;
}

bool script_equal(const struct script *a, const struct script *b)
{
    const struct step *x = header_of(a), *y = header_of(b);

    if (!x != !y || (x && !step_equal(x, y)))
        return false;
    x = a->first;
    y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (!step_equal(x, y))
            return false;
    }
    return !x && !y;
}
