/* SPDX-License-Identifier: MIT */
#include "cli/explain/c_structs.h"

#include <string.h>
#include <strings.h>

#include "cli/explain/explain.h"
#include "cli/explain/page.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/show_text.h"

#define TEXT_COLUMN  28u
#define MEMBERS_TOLD 6u /* structures listed for a field */

/* A structure, or a field of the structure before it. */
static const struct c_row {
    bool is_structure;
    const char *name, *text, *see;
} rows[] = {
#define STRUCTURE(name, text, see) {true, #name, text, see},
#define MEMBER(name, text)         {false, #name, text, ""},
#include "cli/explain/c_structs.def"
#undef MEMBER
#undef STRUCTURE
};

/* Returns the name of a field behind that of its group: "rkey" of "wr.rdma.rkey". */
static const char *last_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

static void print_structure(struct answer_page *out, size_t i)
{
    const char *see = rows[i].see;

    page_fields(out, "struct %s", rows[i].name);
    page_line(out, "%s   structure of %s", rows[i].name,
              strncmp(rows[i].name, "rdma_", strlen("rdma_")) == 0 ? "librdmacm" : "libibverbs");
    page_wrap(out, 2, rows[i].text);
    for (i++; i < ARRAY_LEN(rows) && !rows[i].is_structure; i++) {
        char lead[SHOW_LINE_BYTES];
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %s  ", rows[i].name);
        page_wrap_behind(out, lead, TEXT_COLUMN, rows[i].text);
    }
    page_see(out, see);
}

static void print_member(struct answer_page *out, size_t structure, size_t i)
{
    char line[SHOW_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    page_fields(out, "%s.%s", rows[structure].name, rows[i].name);
    text_addf(&t, "%s   field of %s: %s", rows[i].name, rows[structure].name, rows[i].text);
    page_hanging(out, 2, line);
}

bool explain_c_struct(struct answer_page *out, const char *word)
{
    size_t structure = 0;

    if (strncasecmp(word, "struct ", strlen("struct ")) == 0)
        word += strlen("struct ");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const size_t n = strlen(rows[structure].name);

        if (rows[i].is_structure && explain_same(rows[i].name, word)) {
            print_structure(out, i);
            return true;
        }
        if (rows[i].is_structure) {
            structure = i;
        } else if (strncasecmp(word, rows[structure].name, n) == 0 && word[n] == '.' &&
                   explain_same(rows[i].name, word + n + 1)) {
            print_member(out, structure, i);
            return true;
        }
    }
    return false;
}

bool explain_c_member(struct answer_page *out, const char *word)
{
    size_t structure = 0;
    unsigned n = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows) && n < MEMBERS_TOLD; i++) {
        if (rows[i].is_structure) {
            structure = i;
        } else if (explain_same(last_name(rows[i].name), word)) {
            print_member(out, structure, i);
            n++;
        }
    }
    return n > 0;
}

void explain_c_struct_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        each(ctx, last_name(rows[i].name));
}
