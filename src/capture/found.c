/* SPDX-License-Identifier: MIT */
#include "capture/found.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "process/must.h"

#define FOUND_FIRST 64u /* initial capacity */

void found_add(struct found_list *l, const struct found *f)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : FOUND_FIRST;
        l->v = must_realloc(l->v, l->cap * sizeof(l->v[0]));
    }
    l->v[l->n++] = *f;
    l->count[f->finding]++;
}

void found_done(struct found_list *l)
{
    free(l->v);
    *l = (struct found_list){0};
}

static int by_frame(const void *va, const void *vb)
{
    const struct found *a = va, *b = vb;

    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    return (a->finding > b->finding) - (a->finding < b->finding);
}

void found_sort(struct found_list *l)
{
    if (l->n > 0)
        qsort(l->v, l->n, sizeof(l->v[0]), by_frame);
}

uint64_t found_count(const struct found_list *l, enum finding_severity severity)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < FIND_COUNT; i++)
        n += finding_rows[i].severity == severity ? l->count[i] : 0;
    return n;
}

/* Appends the replacement of the word in braces at @word. */
static void add_word(struct text *t, const struct found *f, const char *word, size_t n)
{
    if (n == 3 && memcmp(word, "psn", n) == 0)
        text_addf(t, "%u", f->psn);
    else if (n == 1 && *word == 'n')
        text_addf(t, "%u", f->n);
    else if (n > 2 && memcmp(word, "n ", 2) == 0) /* "1 PSN", "2 PSNs" */
        text_addf(t, "%u %.*s%s", f->n, (int)n - 2, word + 2, plural_s(f->n));
    else if (n == 5 && memcmp(word, "frame", n) == 0)
        text_addf(t, f->earlier ? "frame %llu" : "an earlier frame",
                  (unsigned long long)f->earlier);
    else if (n == 4 && memcmp(word, "time", n) == 0)
        quantity_add_time_short(t, f->time_ns);
    else if (n == 7 && memcmp(word, "message", n) == 0)
        text_add(t, enum_name(&enum_cm_message, f->opcode));
    else if (n == 2 && memcmp(word, "op", n) == 0)
        text_add(t, enum_name(&enum_opcode, f->opcode));
    else if (n == 5 && memcmp(word, "value", n) == 0)
        text_addf(t, "%llu", (unsigned long long)f->value);
    else if (n == 3 && memcmp(word, "hex", n) == 0)
        text_addf(t, "0x%llx", (unsigned long long)f->value);
    else if (n == 4 && memcmp(word, "lnet", n) == 0)
        text_add(t, enum_name(&enum_lnet_msg, f->opcode));
    else if (n == 3 && memcmp(word, "why", n) == 0)
        text_add(t, f->why ? f->why : "?");
    else
        RDL_ASSERT(false); /* findings.def has an unknown word in braces */
}

void found_says(struct text *t, const struct found *f)
{
    const char *s = finding_rows[f->finding].says;

    while (*s) {
        const size_t plain = strcspn(s, "{");
        const char *word = s + plain + 1;

        text_addn(t, s, plain);
        if (!s[plain])
            return;
        add_word(t, f, word, strcspn(word, "}"));
        s = word + strcspn(word, "}") + 1;
    }
}

const char *found_severity(enum finding_severity s)
{
    static const char *const names[] = {
        [FINDING_ERROR] = "error", [FINDING_LOSS] = "loss", [FINDING_NOTE] = "note"};

    return names[s];
}
