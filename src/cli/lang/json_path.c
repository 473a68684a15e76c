/* SPDX-License-Identifier: MIT */
#include "cli/lang/json_path.h"

#include <string.h>

#include "print/utf8.h"

#define DEPTH_MAX 64u /* deeper values have the path of what they are in */
#define KEY_BYTES 40u /* of a key; a longer one is cut */

/* An object or array that is open. */
struct level {
    bool is_array, has_key;
    size_t i;        /* index of the element */
    struct span key; /* with @has_key: key of the member whose value is read, without quotes */
};

/* Returns the offset behind the string that begins at @at. */
static size_t string_end(const struct source *src, size_t at)
{
    for (at++; at < src->len && src->text[at] != '"'; at++)
        at += src->text[at] == '\\';
    return at < src->len ? at + 1 : src->len;
}

/* Returns true if a colon follows at @at. */
static bool is_key(const struct source *src, size_t at)
{
    while (at < src->len && strchr(" \t\r\n", src->text[at]))
        at++;
    return at < src->len && src->text[at] == ':';
}

/* Handles the mark at offset @at. */
static void take_mark(struct level *levels, size_t *depth, const struct source *src, size_t at)
{
    struct level *last = *depth && *depth <= DEPTH_MAX ? &levels[*depth - 1] : NULL;

    switch (src->text[at]) {
    case '{':
    case '[':
        if (*depth < DEPTH_MAX)
            levels[*depth] = (struct level){.is_array = src->text[at] == '['};
        ++*depth;
        break;
    case '}':
    case ']':
        *depth -= *depth > 0;
        break;
    case ',':
        if (last)
            last->has_key = false;
        if (last)
            last->i++;
        break;
    default:
        break;
    }
}

static void add_level(struct text *t, const struct source *src, const struct level *l)
{
    char key[KEY_BYTES];
    struct text k = text_on(key, sizeof(key));

    if (l->is_array) {
        text_addf(t, "[%zu]", l->i);
    } else if (l->has_key) {
        text_addn(&k, src->text + l->key.at, l->key.len);
        if (strcmp(key, "do") == 0)
            return;
        text_add(t, t->len ? "." : "");
        utf8_add_printable(t, key, false);
    }
}

void json_add_path(struct text *t, const struct source *src, size_t at)
{
    struct level levels[DEPTH_MAX];
    size_t depth = 0;

    for (size_t i = 0; i < at && i < src->len;) {
        size_t end;

        if (src->text[i] != '"') {
            take_mark(levels, &depth, src, i++);
            continue;
        }
        end = string_end(src, i);
        if (end > at)
            break;
        if (depth && depth <= DEPTH_MAX && is_key(src, end)) {
            levels[depth - 1].has_key = true;
            levels[depth - 1].key = (struct span){i + 1, end - i - 2};
        }
        i = end;
    }
    for (size_t k = 0; k < depth && k < DEPTH_MAX; k++)
        add_level(t, src, &levels[k]);
}
