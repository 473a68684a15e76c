/* SPDX-License-Identifier: MIT */
/* What tests of printing functions share: output as a string, and a trace written by hand. */
#ifndef TESTS_UNIT_CLI_PRINTED_H
#define TESTS_UNIT_CLI_PRINTED_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/past/past.h"

/* Everything printed to @out since printed_begin(), as a string that lives until printed_end(). */
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

/* No line is wider than the terminal that the formats are made for. */
static inline void assert_lines_fit(struct printed *p)
{
    for (const char *s = printed_text(p); *s;) {
        const size_t n = strcspn(s, "\n");

        if (n > 100)
            fail_msg("%zu columns: %.*s", n, (int)n, s);
        s += n + (s[n] == '\n');
    }
}

/* A trace written by hand, with the bytes of one frame. */
struct written {
    const struct ev *events;
    size_t n;
    ev_id framed; /* the tx (or fault) event whose bytes these are */
    const uint8_t *frame;
    size_t frame_bytes;
};

static inline const struct ev *written_at(const void *ctx, size_t i)
{
    return &((const struct written *)ctx)->events[i];
}

static inline const uint8_t *written_frame(const void *ctx, ev_id tx, size_t *ret_bytes)
{
    const struct written *w = ctx;

    if (!w->frame || tx != w->framed)
        return NULL;
    *ret_bytes = w->frame_bytes;
    return w->frame;
}

/* @names may be NULL; it learns from the events. */
static inline struct past past_of_written(const struct written *w, struct ev_names *names)
{
    for (size_t i = 0; names && i < w->n; i++)
        ev_names_learn(names, &w->events[i]);
    return (struct past){
        .ctx = w, .n = w->n, .names = names, .at = written_at, .frame = written_frame};
}

#endif
