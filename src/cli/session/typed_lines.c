/* SPDX-License-Identifier: MIT */
#include "cli/session/typed_lines.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session/snapshots.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/trace/kind.h"
#include "print/utf8.h"
#include "process/must.h"
#include "rdmalab/trace.h"

void typed_lines_free(struct typed_lines *all)
{
    free(all->v);
    *all = (struct typed_lines){.v = NULL};
}

/* Removes an incomplete character from the end of @t. */
static void end_whole(struct text *t)
{
    uint32_t c;

    for (size_t n = 1; t->cut && n < 4 && n <= t->len; n++) {
        if (((unsigned char)t->buf[t->len - n] & 0xc0u) == 0x80)
            continue;
        if (utf8_character(t->buf + t->len - n, n, &c) != n)
            t->len -= n;
        break;
    }
    t->buf[t->len] = '\0';
}

static size_t number_of(struct typed_lines *all, const struct source *src, size_t at)
{
    const bool goes_on =
        all->counted.text == src->text && all->counted.run == all->n_runs && all->counted.at <= at;
    size_t i = goes_on ? all->counted.at : 0;
    size_t n = goes_on ? all->counted.number : src->lines_before;

    for (; i < at && i < src->len; i++)
        n += src->text[i] == '\n';
    all->counted.text = src->text;
    all->counted.run = all->n_runs;
    all->counted.at = i;
    all->counted.number = n;
    return n;
}

void typed_lines_add(struct typed_lines *all, const struct source *src, struct span at,
                     const struct place *place)
{
    const size_t number = number_of(all, src, at.at);
    const struct typed_line *last = all->n ? &all->v[all->n - 1] : NULL;
    const char *text = at.at < src->len ? src->text + at.at : "";
    struct typed_line *line;
    struct text t;

    if (last && last->run == all->n_runs && last->number == number)
        return;
    all->v = must_grow(all->v, all->n, &all->room, sizeof(*all->v));
    RDL_ASSERT(all->v);
    line = &all->v[all->n++];
    *line = (struct typed_line){.at = *place, .run = all->n_runs, .number = number};
    t = text_on(line->text, sizeof(line->text));
    text_addn(&t, text, strcspn(text, "\n"));
    end_whole(&t);
}

uint64_t typed_lines_events(const struct rdl_lab *lab)
{
    uint64_t n = 0;

    for (unsigned kind = 0; kind < EV_COUNT; kind++)
        n += rdl_total(lab, kind);
    return n;
}

size_t typed_lines_before(const struct typed_lines *all, const struct place *p)
{
    size_t n = all->n;

    while (n > 0 && place_compare(&all->v[n - 1].at, p) >= 0)
        n--;
    return n;
}

struct typed_lines typed_lines_until(const struct typed_lines *all, const struct place *p)
{
    struct typed_lines ret = {.n_runs = all->n_runs};

    ret.n = ret.room = typed_lines_before(all, p);
    if (ret.n == 0)
        return ret;
    ret.v = must_malloc(ret.n * sizeof(*ret.v));
    memcpy(ret.v, all->v, ret.n * sizeof(*ret.v));
    return ret;
}
