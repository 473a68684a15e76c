/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_layout.h"

#include "cli/explain/explain.h"
#include "cli/explain/page.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/wire/lnet_rows.h"
#include "emu/wire/mad.h"
#include "print/show_text.h"

#define TITLE_COLUMN_MAX 50u
#define BITS             8u
#define N_LAYOUTS        (ARRAY_LEN(mad_layouts) + LNET_PART_COUNT)

struct message_field {
    const char *name; /* NULL: reserved */
    const char *title;
    unsigned at, bytes;
    uint32_t mask; /* bits of the field; 0: all */
};

/* A part of messages of either protocol. */
struct message_layout {
    const struct mad_layout *mad; /* NULL: it is @lnet */
    const struct lnet_layout *lnet;
    const char *title;
    size_t bytes, n_fields;
    const char *of, *see; /* what it is a part of; what to look at */
    unsigned name_column, title_column;
};

static struct message_layout layout_at(size_t i)
{
    if (i < ARRAY_LEN(mad_layouts)) {
        const struct mad_layout *l = &mad_layouts[i];

        return (struct message_layout){.mad = l,
                                       .title = l->title,
                                       .bytes = l->bytes,
                                       .n_fields = l->n_fields,
                                       .of = "a message of the connection manager",
                                       .see = "show packet last; explain cm_message",
                                       .name_column = 26,
                                       .title_column = 50};
    }
    const struct lnet_layout *l = &lnet_layouts[i - ARRAY_LEN(mad_layouts)];

    return (struct message_layout){
        .lnet = l,
        .title = l->title,
        .bytes = l->bytes,
        .n_fields = l->n_fields,
        .of = l->is_little ? "a message of o2iblnd, little-endian"
                           : "a message of o2iblnd, in the byte order of the sender",
        .see = "show packet last; explain lnet_msg",
        .name_column = 18,
        .title_column = 36};
}

static struct message_field field_at(const struct message_layout *l, size_t k)
{
    if (l->mad) {
        const struct mad_field *f = &l->mad->fields[k];

        return (struct message_field){f->name, f->name ? f->title : "reserved", f->at, f->bytes,
                                      f->mask};
    }
    const struct lnet_field *f = &l->lnet->fields[k];

    return (struct message_field){f->name, f->title, f->at, f->bytes, 0};
}

/* Appends where the bits of @f are: "byte 43, bits 7 to 3", or "bytes 8 to 15". */
static void add_place(struct text *t, const struct message_field *f)
{
    unsigned first = 0, last = BITS * f->bytes;

    text_addf(t, f->bytes == 1 ? "byte %u" : "bytes %u to %u", f->at, f->at + f->bytes - 1u);
    if (f->mask == 0)
        return;
    while (!(f->mask >> first & 1u))
        first++;
    while (!(f->mask >> (last - 1) & 1u))
        last--;
    text_addf(t, first == last - 1 ? ", bit %u" : ", bits %u to %u", last - 1, first);
}

static void print_layout(struct answer_page *out, const struct message_layout *l)
{
    page_fields(out, "%s", l->title);
    page_line(out, "%s   %zu bytes of %s", l->title, l->bytes, l->of);
    for (size_t k = 0; k < l->n_fields; k++) {
        const struct message_field f = field_at(l, k);
        char lead[TITLE_COLUMN_MAX + 16];
        struct text t = text_on(lead, sizeof(lead));

        text_add(&t, "  ");
        add_place(&t, &f);
        text_pad_to(&t, l->name_column);
        text_add(&t, f.name ? f.name : "-");
        page_wrap_behind(out, lead, l->title_column, f.title);
    }
    page_see(out, l->see);
}

/* Prints the parts with a field @word, each with its place.  Returns their number. */
static unsigned print_field(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < N_LAYOUTS; i++) {
        const struct message_layout l = layout_at(i);

        for (size_t k = 0; k < l.n_fields; k++) {
            const struct message_field f = field_at(&l, k);
            char line[SHOW_LINE_BYTES];
            struct text t = text_on(line, sizeof(line));

            if (!f.name || !explain_same(f.name, word))
                continue;
            text_addf(&t, "%s   field of %s, ", f.name, l.title);
            add_place(&t, &f);
            text_addf(&t, ": %s", f.title);
            page_fields(out, "%s more", f.name);
            page_hanging(out, 2, line);
            n++;
        }
    }
    return n;
}

bool explain_layout(struct answer_page *out, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < N_LAYOUTS; i++) {
        const struct message_layout l = layout_at(i);

        if (explain_same(l.title, word)) {
            print_layout(out, &l);
            n++;
        }
    }
    return n + print_field(out, word) > 0;
}

void explain_layout_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        const struct message_layout l = layout_at(i);
        char word[32];
        struct text t = text_on(word, sizeof(word));

        for (const char *c = l.title; *c; c++)
            text_addn(&t, *c == ' ' ? "_" : c, 1);
        each(ctx, word);
        for (size_t k = 0; k < l.n_fields; k++) {
            const struct message_field f = field_at(&l, k);

            if (f.name)
                each(ctx, f.name);
        }
    }
}
