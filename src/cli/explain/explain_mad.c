/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_mad.h"

#include "cli/explain/explain.h"
#include "cli/explain/page.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/wire/mad.h"
#include "print/show_text.h"

#define TITLE_COLUMN 50u
#define BITS         8u

/* Appends where the bits of @f are: "byte 43, bits 7 to 3", or "bytes 8 to 15". */
static void add_place(struct text *t, const struct mad_field *f)
{
    unsigned first = 0, last = BITS * f->bytes;

    if (f->mask == 0) {
        text_addf(t, f->bytes == 1 ? "byte %u" : "bytes %u to %u", f->at, f->at + f->bytes - 1u);
        return;
    }
    while (!(f->mask >> first & 1u))
        first++;
    while (!(f->mask >> (last - 1) & 1u))
        last--;
    text_addf(t, f->bytes == 1 ? "byte %u, " : "bytes %u to %u, ", f->at, f->at + f->bytes - 1u);
    text_addf(t, first == last - 1 ? "bit %u" : "bits %u to %u", last - 1, first);
}

static void print_layout(struct answer_page *out, const struct mad_layout *l)
{
    page_fields(out, "%s", l->title);
    page_line(out, "%s   %zu bytes of a message of the connection manager", l->title, l->bytes);
    for (size_t i = 0; i < l->n_fields; i++) {
        char lead[TITLE_COLUMN + 16];
        struct text t = text_on(lead, sizeof(lead));

        text_add(&t, "  ");
        add_place(&t, &l->fields[i]);
        text_pad_to(&t, 26);
        text_add(&t, l->fields[i].name ? l->fields[i].name : "-");
        page_wrap_behind(out, lead, TITLE_COLUMN,
                         l->fields[i].name ? l->fields[i].title : "reserved");
    }
    page_see(out, "show packet last; explain cm_message");
}

/* Prints the messages with a field @word, each with its place.  Returns their number. */
static unsigned print_field(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < ARRAY_LEN(mad_layouts); i++) {
        const struct mad_layout *l = &mad_layouts[i];

        for (size_t k = 0; k < l->n_fields; k++) {
            char line[SHOW_LINE_BYTES];
            struct text t = text_on(line, sizeof(line));

            if (!l->fields[k].name || !explain_same(l->fields[k].name, word))
                continue;
            text_addf(&t, "%s   field of %s, ", l->fields[k].name, l->title);
            add_place(&t, &l->fields[k]);
            text_addf(&t, ": %s", l->fields[k].title);
            page_fields(out, "%s more", l->fields[k].name);
            page_hanging(out, 2, line);
            n++;
        }
    }
    return n;
}

bool explain_mad(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < ARRAY_LEN(mad_layouts); i++) {
        if (explain_same(mad_layouts[i].title, word)) {
            print_layout(out, &mad_layouts[i]);
            n++;
        }
    }
    return n + print_field(out, word) > 0;
}

void explain_mad_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(mad_layouts); i++) {
        const struct mad_layout *l = &mad_layouts[i];
        char word[32];
        struct text t = text_on(word, sizeof(word));

        for (const char *c = l->title; *c; c++)
            text_addn(&t, *c == ' ' ? "_" : c, 1);
        each(ctx, word);
        for (size_t k = 0; k < l->n_fields; k++) {
            if (l->fields[k].name)
                each(ctx, l->fields[k].name);
        }
    }
}
