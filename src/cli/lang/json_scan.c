/* SPDX-License-Identifier: MIT */
#include "cli/lang/json_scan.h"

#include <string.h>

/* Like cJSON, takes every byte up to the blank (0x20) as white space. */
static size_t skip_space(const struct source *src, size_t i)
{
    while (i < src->len && (unsigned char)src->text[i] <= 0x20)
        i++;
    return i;
}

static size_t skip_string(const struct source *src, size_t i)
{
    for (i++; i < src->len && src->text[i] != '"'; i++) {
        if (src->text[i] == '\\')
            i++;
    }
    return i + 1;
}

/* Returns the offset after the value that begins at @i. */
static size_t skip_value(const struct source *src, size_t i)
{
    size_t depth = 0;

    while (i < src->len) {
        const char c = src->text[i];

        if (c == '"') {
            i = skip_string(src, i);
        } else if (c == '{' || c == '[') {
            depth++;
            i++;
        } else if (c == '}' || c == ']') {
            depth--;
            i++;
        } else if (depth > 0) {
            i++;
            continue;
        } else {
            while (i < src->len && !strchr(",]}", src->text[i]) &&
                   (unsigned char)src->text[i] > 0x20)
                i++;
        }
        if (depth == 0)
            break;
    }
    return i;
}

bool json_is_too_deep(const struct source *src, size_t at)
{
    size_t depth = 0;

    for (size_t i = 0; i <= at && i < src->len;) {
        const char c = src->text[i];

        if (c == '"') {
            i = skip_string(src, i);
            continue;
        }
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        i++;
    }
    return depth > JSON_DEPTH_MAX;
}

static struct json_value value_at(const struct source *src, const cJSON *item, size_t at)
{
    return (struct json_value){item, {at, skip_value(src, at) - at}};
}

struct json_value json_root(const struct source *src, const cJSON *root)
{
    return value_at(src, root, skip_space(src, source_mark_bytes(src->text)));
}

struct json_walk json_walk(const struct source *src, struct json_value v)
{
    return (struct json_walk){src, v.item->child, v.at.at + 1};
}

bool json_next(struct json_walk *w, struct json_member *ret)
{
    if (!w->next)
        return false;
    *ret = (struct json_member){.key = w->next->string};
    w->at = skip_space(w->src, w->at);
    if (w->at < w->src->len && w->src->text[w->at] == ',')
        w->at = skip_space(w->src, w->at + 1);
    if (ret->key) {
        const size_t end = skip_string(w->src, w->at);

        ret->key_at = (struct span){w->at, end - w->at};
        w->at = skip_space(w->src, skip_space(w->src, end) + 1);
    }
    ret->value = value_at(w->src, w->next, w->at);
    w->at = ret->value.at.at + ret->value.at.len;
    w->next = w->next->next;
    return true;
}

bool json_has_nul(const struct source *src, struct span at)
{
    for (size_t i = at.at; i + 6 <= at.at + at.len; i++) {
        if (src->text[i] != '\\')
            continue;
        if (memcmp(src->text + i, "\\u0000", 6) == 0)
            return true;
        i++;
    }
    return false;
}
