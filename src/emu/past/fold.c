/* SPDX-License-Identifier: MIT */
/* The last events are in a ring.  For each possible length of a round @matches counts the newest
 * events in a row that equal the event that many before them.  The shortest length that has enough
 * of them for fold_rounds_min() rounds is folded, from the first event that fits.
 */
#include "emu/past/fold.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/trace/event.h"

#define LINES_WORTH 4u /* fewer lines are not folded */

struct fold {
    struct fold_sink sink;
    struct ev ring[FOLD_KEPT_MAX];
    uint64_t n;     /* events taken */
    uint64_t out;   /* events of them handed on */
    uint64_t begin; /* events before this one are not compared */
    uint64_t matches[FOLD_LINES_MAX + 1];
    uint32_t n_lines; /* events in a round that repeats; 0: none does */
    uint64_t first;   /* first event of the first round */
    ev_id from;       /* first event of the second round */
};

uint32_t fold_rounds_min(uint32_t n_lines)
{
    return n_lines == 1 ? 2 + LINES_WORTH : 4;
}

static bool equal_field(const struct ev *a, const struct ev *b, const struct ev_field *f)
{
    if (!f->repeats)
        return true;
    if (f->print == EVP_STR)
        return strcmp((const char *)a + f->offset, (const char *)b + f->offset) == 0;
    return ev_field_number(a, f) == ev_field_number(b, f);
}

bool fold_equal(const struct ev *a, const struct ev *b)
{
    const struct ev_schema *schema = ev_schema(a->kind);

    if (a->kind != b->kind)
        return false;
    for (size_t i = 0; i < schema->n_fields; i++) {
        if (!equal_field(a, b, &schema->fields[i]))
            return false;
    }
    return true;
}

struct fold *fold_new(const struct fold_sink *sink)
{
    struct fold *f = calloc(1, sizeof(*f));

    if (f)
        f->sink = *sink;
    return f;
}

void fold_free(struct fold *f)
{
    free(f);
}

static struct ev *at(struct fold *f, uint64_t i)
{
    return &f->ring[i % FOLD_KEPT_MAX];
}

static void hand_on(struct fold *f, uint64_t end)
{
    for (; f->out < end; f->out++)
        f->sink.event(f->sink.ctx, at(f, f->out));
}

/* Ends the repetition: hands on its fold, its last round, and what follows that. */
static void end_rounds(struct fold *f)
{
    const uint64_t n_rounds = (f->n - f->first) / f->n_lines;
    const uint64_t last = f->first + (n_rounds - 1) * f->n_lines;
    const struct ev *before = at(f, last - 1);
    struct folded folded = {.n_rounds = n_rounds - 2,
                            .n_lines = f->n_lines,
                            .from = f->from,
                            .to = before->id,
                            .until_ns = before->at_ns};

    f->n_lines = 0;
    f->begin = f->n;
    memset(f->matches, 0, sizeof(f->matches));
    f->sink.folded(f->sink.ctx, &folded);
    f->out = last;
    hand_on(f, f->n);
}

/* Begins a repetition of @n_lines events, the last of which is the newest one. */
static void begin_rounds(struct fold *f, uint32_t n_lines)
{
    f->first = f->n - f->matches[n_lines] - n_lines;
    f->n_lines = n_lines;
    f->from = at(f, f->first + n_lines)->id;
    hand_on(f, f->first + n_lines);
}

/* Compares the newest event.  Returns the number of the first event that may belong to a second
 * round; f->n: none.
 */
static uint64_t compare(struct fold *f)
{
    const uint64_t newest = f->n - 1;
    uint64_t keep = f->n;

    for (uint32_t n = 1; n <= FOLD_LINES_MAX && newest >= f->begin + n; n++) {
        uint64_t *matches = &f->matches[n];

        *matches = fold_equal(at(f, newest), at(f, newest - n)) ? *matches + 1 : 0;
        if (*matches && f->n - *matches < keep)
            keep = f->n - *matches;
        if (*matches == (uint64_t)(fold_rounds_min(n) - 1) * n) {
            begin_rounds(f, n);
            return f->n;
        }
    }
    return keep;
}

void fold_put(struct fold *f, const struct ev *e)
{
    uint64_t keep;

    if (f->n_lines && !fold_equal(e, at(f, f->n - f->n_lines)))
        end_rounds(f);
    *at(f, f->n++) = *e;
    if (f->n_lines)
        return;
    keep = compare(f);
    if (!f->n_lines)
        hand_on(f, keep);
}

void fold_flush(struct fold *f)
{
    if (f->n_lines)
        end_rounds(f);
    hand_on(f, f->n);
    f->begin = f->n;
    memset(f->matches, 0, sizeof(f->matches));
}

void fold_add(struct text *t, const struct folded *f)
{
    text_addf(t, "%llu more round%s of ", (unsigned long long)f->n_rounds, plural_s(f->n_rounds));
    if (f->n_lines == 1)
        text_add(t, "this line");
    else
        text_addf(t, "these %u lines", f->n_lines);
    text_add(t, ", until t=");
    quantity_add_time_short(t, f->until_ns);
}
