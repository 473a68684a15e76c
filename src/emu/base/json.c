/* SPDX-License-Identifier: MIT */
#include "emu/base/json.h"

#include "emu/base/assert.h"

/* Bytes with a two-character escape.  Other control characters are written as \u00xx. */
static const struct {
    char c, letter;
} escapes[] = {{'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\t', 't'}};

const char *json_escape(char c, char buf[JSON_ESCAPE_BYTES])
{
    struct text t = text_on(buf, JSON_ESCAPE_BYTES);

    for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
        if (escapes[i].c == c) {
            text_addf(&t, "\\%c", escapes[i].letter);
            return buf;
        }
    }
    if ((unsigned char)c < 0x20)
        text_addf(&t, "\\u%04x", (unsigned)c);
    else
        text_addn(&t, &c, 1);
    return buf;
}

void json_add_string(struct text *t, const char *s)
{
    char buf[JSON_ESCAPE_BYTES];

    text_add(t, "\"");
    for (; *s; s++)
        text_add(t, json_escape(*s, buf));
    text_add(t, "\"");
}

void json_add_number(struct text *t, uint64_t v)
{
    text_addf(t, v > JSON_EXACT_MAX ? "\"%llu\"" : "%llu", (unsigned long long)v);
}
