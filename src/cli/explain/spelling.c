/* SPDX-License-Identifier: MIT */
#include "cli/explain/spelling.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/explain/explain.h"
#include "cli/lang/table.h"
#include "emu/base/assert.h"

#define WORD_BYTES 64u

/* The search for the first known word that is spelled like @folded. */
struct spelling {
    char folded[WORD_BYTES];
    struct text *found;
};

/* Appends @word in lower case, without separators. */
static void fold(struct text *t, const char *word)
{
    for (; *word; word++) {
        const char lower = (char)tolower((unsigned char)*word);

        if (!strchr("-_. /", *word))
            text_addn(t, &lower, 1);
    }
}

static void compare(void *ctx, const char *word)
{
    struct spelling *s = ctx;
    char buf[WORD_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    fold(&t, word);
    if (s->found->len == 0 && strcmp(buf, s->folded) == 0)
        text_add(s->found, word);
}

/* Looks for a known word that is @word but for case and separators. */
static bool find_folded(struct text *found, const char *word, size_t n)
{
    struct spelling s = {.found = found};
    struct text t = text_on(s.folded, sizeof(s.folded));
    char buf[WORD_BYTES];
    struct text w = text_on(buf, sizeof(buf));

    text_addn(&w, word, n);
    fold(&t, buf);
    if (n == 0 || n >= sizeof(buf) || !t.len)
        return false;
    explain_each(compare, &s);
    for (size_t i = 0; i < N_CMDS; i++)
        compare(&s, cmd_table[i].name);
    return found->len > 0;
}

/* Looks for @word, or for the word of which it is the plural or the singular. */
static bool find_number(struct text *found, const char *word)
{
    char plural[WORD_BYTES];
    struct text p = text_on(plural, sizeof(plural));

    static const struct {
        const char *plural, *singular;
    } endings[] = {{"ies", "y"}, {"es", ""}, {"s", ""}};
    const size_t n = strlen(word);

    if (find_folded(found, word, n))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        const size_t m = strlen(endings[i].plural);
        char buf[WORD_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (n <= m + 1 || strcasecmp(word + n - m, endings[i].plural) != 0)
            continue;
        text_addn(&t, word, n - m);
        text_add(&t, endings[i].singular);
        if (find_folded(found, buf, t.len))
            return true;
    }
    text_addf(&p, "%ss", word);
    return !p.cut && find_folded(found, plural, p.len);
}

bool spelling_find(struct text *t, const char *asked)
{
    static const char *const prefixes[] = {"ibv_", "ib_", "rdma_", "struct ", "enum "};

    if (find_number(t, asked))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        const size_t n = strlen(prefixes[i]);

        if (strncasecmp(asked, prefixes[i], n) == 0 && asked[n] && find_number(t, asked + n))
            return true;
    }
    /* Names of C without their prefix: "send_wr". */
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        char buf[WORD_BYTES];
        struct text w = text_on(buf, sizeof(buf));

        text_addf(&w, "%s%s", prefixes[i], asked);
        if (find_folded(t, buf, w.len))
            return true;
    }
    return false;
}
