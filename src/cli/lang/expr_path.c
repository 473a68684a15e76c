/* SPDX-License-Identifier: MIT */
/* Checks the paths of expressions with the rows of the inspect tree only.  A path is valid if some
 * lab could have it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/lang/expr.h"
#include "cli/lang/suggest.h"
#include "cli/lang/values.h"
#include "emu/base/text.h"
#include "emu/facts/leaf.h"

/* The key most similar to a word, and the kind of node that has it.  If several nodes have the key,
 * the one that @owner may be named after is preferred, as "qp2" after qp.
 */
struct near_path {
    struct suggestion s;
    char best[SUGGEST_WORD_BYTES];
    enum node_kind node;
    const char *owner;
    const char *typed;       /* the unknown word */
    struct text all, longer; /* all keys; those that are a longer or shorter form of the word */
};

#define KEYS_BYTES 200u /* of a list of keys in a remedy */
#define SAME_LEAST 3u   /* first letters in which an abbreviation is the same */

/* Returns true if one word begins as the other: "imm" and "immediate", "op" and "opcode". */
static bool is_short_for(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;

    return least > 1 && strncmp(a, b, least) == 0;
}

/* Returns true if both have parts that begin alike: "bytes" and "byte_len". */
static bool is_like(const char *typed, const char *key)
{
    size_t same = 0;

    while (typed[same] && typed[same] == key[same])
        same++;
    return is_short_for(typed, key) || (same > SAME_LEAST && key[same] == '_');
}

static void add_key(struct text *t, const char *key)
{
    text_addf(t, "%s%s", t->len ? ", " : "", key);
}

static bool is_called_after(const char *name, enum node_kind node)
{
    const char *title = node_rows[node].title;

    return strncmp(name, title, strlen(title)) == 0;
}

/* Returns the component of @path before offset @off. */
static const char *word_before(const char *path, size_t off)
{
    size_t i = off > 0 ? off - 1 : 0;

    while (i > 0 && path[i - 1] != '.')
        i--;
    return path + i;
}

static void offer(void *ctx, enum node_kind node, const char *key, const char *text)
{
    struct near_path *n = ctx;

    (void)text;
    add_key(&n->all, key);
    if (is_like(n->typed, key))
        add_key(&n->longer, key);
    if (suggest_offer_copy(&n->s, key, n->best) ||
        (n->s.best && strcmp(key, n->best) == 0 && is_called_after(n->owner, node)))
        n->node = node;
}

/* Suggests a similar path.  It uses only the rows, since the type of an object cannot be known from
 * its name.
 */
static bool suggest(const char *path, size_t off, const struct leaf_places *places, struct diag *d)
{
    const enum node_kind only = node_set_only(&places->nodes);
    const char *one = only == NODE_none ? NULL : node_rows[only].title;
    const char *point = off > 0 && path[off - 1] == ']' && path[off] != '[' ? "." : "";
    char word[SUGGEST_WORD_BYTES], all[KEYS_BYTES], longer[KEYS_BYTES];
    struct near_path near = {.best = "",
                             .owner = word_before(path, off),
                             .typed = word,
                             .all = text_on(all, sizeof(all)),
                             .longer = text_on(longer, sizeof(longer))};
    struct text t = text_on(word, sizeof(word));

    text_addn(&t, path + off, leaf_path_word(path + off));
    near.s = suggestion_for(word);
    leaf_each_key(places, offer, &near);
    if (near.s.best && one)
        return diag_remedy(d, "did you mean \"%.*s%s%s\"?", (int)off, path, point, near.best);
    if (near.s.best)
        return diag_remedy(d, "did you mean \"%.*s%s%s\"? %s %s has it", (int)off, path, point,
                           near.best, text_article(node_rows[near.node].title),
                           node_rows[near.node].title);
    if (near.longer.len > 0 && one)
        return diag_remedy(d, "did you mean %s? %s %s has: %s%s", longer, text_article(one), one,
                           all, near.all.cut ? ", ..." : "");
    if (one && near.all.len > 0)
        return diag_remedy(d, "%s %s has: %s%s", text_article(one), one, all,
                           near.all.cut ? ", ..." : "");
    off -= off > 0 && path[off - 1] == '.';
    return diag_remedy(d,
                       "nothing that can be called \"%.*s\" has a \"%s\"; \"show %.*s json\" "
                       "lists what it has",
                       (int)off, path, word, (int)off, path);
}

/* Checks that each word of @path in brackets is a number without leading zeros.  Otherwise no lab
 * has the path, and `not` would make that a success.
 */
static bool indices_are_numbers(const char *path, struct span at, struct diag *d)
{
    for (const char *word = path; word && *word;) {
        const size_t n = leaf_path_word(word), off = (size_t)(word - path);

        if (word[0] == '[' && (n == 0 || (n > 3 && word[1] == '0'))) {
            const size_t len = strcspn(word, "]") + (strchr(word, ']') != NULL);

            if (at.len >= off + len) {
                at.at += off;
                at.len = len;
            }
            diag_set(d, DIAG_VALUE, at, "\"%s\": %.*s is no index", path, (int)len, word);
            return diag_remedy(d, "an index is a decimal number: %.*s[0]", (int)off, path);
        }
        word = leaf_path_behind(word, n);
    }
    return true;
}

/* Checks the slice that @path is.  An empty one would be equal to an empty text, whatever the
 * memory has.
 */
static bool slice_is_right(const char *path, struct span at, struct diag *d)
{
    struct slice_text s;
    size_t off;

    if (!value_slice_check("memory", VAL_BYTES, path, at, d))
        return false;
    if (value_slice(path, &s, &off) || !s.has_to || s.to > s.from)
        return true;
    diag_set(d, DIAG_VALUE, at, "memory: \"%s\" is empty", path);
    return diag_remedy(d, "a slice is [FROM:TO], and TO is the first byte that is not in it");
}

#define OF_HOST   ".program."
#define OF_NUMBER "program"

static const char *const program_fields[] = {
#define NAME(id, name) name,
    EXPR_PROGRAM_FIELDS(NAME)
#undef NAME
};

bool expr_program_read(const char *path, struct expr_program *ret)
{
    const char *of_host = strstr(path, OF_HOST), *digits = path + strlen(OF_NUMBER);
    const bool numbered = strncmp(path, OF_NUMBER, strlen(OF_NUMBER)) == 0;
    const size_t n = numbered ? strspn(digits, "0123456789") : 0;

    *ret = (struct expr_program){.field = EXPR_PROGRAM_NONE};
    if (of_host) {
        ret->host_bytes = (size_t)(of_host - path);
        ret->name = of_host + strlen(OF_HOST);
    } else if (n > 0 && n < 10 && digits[n] == '.') {
        ret->number = (uint32_t)strtoul(digits, NULL, 10);
        ret->name = digits + n + 1;
    } else {
        return false;
    }
    for (unsigned i = 0; i < EXPR_PROGRAM_NONE; i++) {
        if (strcmp(program_fields[i], ret->name) == 0)
            ret->field = (enum expr_program_field)i;
    }
    return true;
}

bool expr_program_unknown(const struct expr_program *program, struct span at, struct diag *d)
{
    struct suggestion near = suggestion_for(program->name);

    for (unsigned i = 0; i < EXPR_PROGRAM_NONE; i++)
        suggest_offer(&near, program_fields[i]);
    diag_set(d, DIAG_VALUE, at, "a program has no value \"%s\"", program->name);
    if (near.best)
        return diag_remedy(d, "did you mean \"%s\"?", near.best);
    return diag_remedy(d, "it has status, done and failed; one of the lab also sent and received");
}

bool expr_path_leads(const char *path, struct span at, struct diag *d)
{
    struct expr_program program = {.field = EXPR_PROGRAM_NONE};
    struct leaf_places places;
    size_t off = 0;
    bool of_program;

    if (!strpbrk(path, ".["))
        return true;
    of_program = expr_program_read(path, &program);
    if (program.field != EXPR_PROGRAM_NONE)
        return true;
    if (leaf_path_leads(path, &places, &off))
        return places.memory ? slice_is_right(path, at, d) : indices_are_numbers(path, at, d);
    if (of_program)
        return d && expr_program_unknown(&program, at, d);
    diag_set(d, DIAG_VALUE, at, "nothing is called \"%s\"", path);
    return d && suggest(path, off, &places, d);
}

bool expr_paths_lead(const struct expr *e, struct span from, struct diag *d)
{
    /* Depth is bounded by the parser. */
    if ((e->a && !expr_paths_lead(e->a, from, d)) || (e->b && !expr_paths_lead(e->b, from, d)))
        return false;
    return e->kind != EXPR_PATH || expr_path_leads(e->text, expr_place(e, from), d);
}
