/* SPDX-License-Identifier: MIT */
#include "collected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "testing.h"

static void append(void *ctx, const char *bytes, size_t n)
{
    struct collected *c = ctx;

    c->s = realloc(c->s, c->n + n + 1);
    assert_non_null(c->s);
    memcpy(c->s + c->n, bytes, n);
    c->n += n;
    c->s[c->n] = '\0';
}

struct viz_sink collect(struct collected *c)
{
    *c = (struct collected){0};
    append(c, "", 0);
    return (struct viz_sink){append, c};
}

void assert_is_closed(const char *svg)
{
    static const char *const tags[] = {"svg", "g", "text", "style", "title"};

    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        char open[16], other[16], close[16];

        snprintf(open, sizeof(open), "<%s ", tags[i]);
        snprintf(other, sizeof(other), "<%s>", tags[i]);
        snprintf(close, sizeof(close), "</%s>", tags[i]);
        assert_int_equal(count_in(svg, open) + count_in(svg, other), count_in(svg, close));
    }
}
