/* SPDX-License-Identifier: MIT */
/* Helpers for tests of printing functions: output as a string. */
#ifndef TESTS_UNIT_CLI_PRINTED_H
#define TESTS_UNIT_CLI_PRINTED_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "past/written.h"

/* Output to @out since printed_begin().  The string is valid until printed_end(). */
struct printed {
    FILE *out;
    char *text;
    size_t bytes;
};

static inline struct printed *printed_begin(struct printed *p)
{
    *p = (struct printed){NULL, NULL, 0};
    p->out = open_memstream(&p->text, &p->bytes);
    assert_non_null(p->out);
    return p;
}

static inline const char *printed_text(struct printed *p)
{
    fflush(p->out);
    return p->text;
}

static inline void printed_end(struct printed *p)
{
    fclose(p->out);
    free(p->text);
}

static inline void assert_prints(struct printed *p, const char *part)
{
    if (!strstr(printed_text(p), part))
        fail_msg("\"%s\" is not in:\n%s", part, printed_text(p));
}

/* Fails if a line is wider than 100 columns. */
static inline void assert_lines_fit(struct printed *p)
{
    for (const char *s = printed_text(p); *s;) {
        const size_t n = strcspn(s, "\n");

        if (n > 100)
            fail_msg("%zu columns: %.*s", n, (int)n, s);
        s += n + (s[n] == '\n');
    }
}

#endif
