/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_lnet.h"

#include "cli/explain/explain.h"
#include "cli/explain/page.h"
#include "emu/base/text.h"
#include "emu/wire/lnet_rows.h"
#include "print/show_text.h"

#define TITLE_COLUMN 36u

/* Appends the bytes of @f: "byte 6", "bytes 8 to 15". */
static void add_place(struct text *t, const struct lnet_field *f)
{
    text_addf(t, f->bytes == 1 ? "byte %u" : "bytes %u to %u", f->at, f->at + f->bytes - 1u);
}

static void print_layout(struct answer_page *out, const struct lnet_layout *l)
{
    page_fields(out, "%s", l->title);
    page_line(out, "%s   %zu bytes of a message of o2iblnd, %s", l->title, l->bytes,
              l->is_little ? "little-endian" : "in the byte order of the sender");
    for (size_t i = 0; i < l->n_fields; i++) {
        const struct lnet_field *f = &l->fields[i];
        char lead[TITLE_COLUMN + 16];
        struct text t = text_on(lead, sizeof(lead));

        text_add(&t, "  ");
        add_place(&t, f);
        text_pad_to(&t, 18);
        text_add(&t, f->name ? f->name : "-");
        page_wrap_behind(out, lead, TITLE_COLUMN, f->title);
    }
    page_see(out, "show packet last; explain lnet_msg");
}

/* Prints the parts with a field @word, each with its place.  Returns their number. */
static unsigned print_field(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < LNET_PART_COUNT; i++) {
        const struct lnet_layout *l = &lnet_layouts[i];

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

bool explain_lnet(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < LNET_PART_COUNT; i++) {
        if (explain_same(lnet_layouts[i].title, word)) {
            print_layout(out, &lnet_layouts[i]);
            n++;
        }
    }
    return n + print_field(out, word) > 0;
}

void explain_lnet_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    for (size_t i = 0; i < LNET_PART_COUNT; i++) {
        const struct lnet_layout *l = &lnet_layouts[i];
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
