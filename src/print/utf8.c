/* SPDX-License-Identifier: MIT */
#include "print/utf8.h"

#include <string.h>

#include "emu/base/assert.h"

size_t utf8_character(const char *s, size_t left, uint32_t *ret)
{
    static const struct {
        unsigned char mask, lead;
        size_t bytes;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0},
                 {0xe0, 0xc0, 2, 0x80},
                 {0xf0, 0xe0, 3, 0x800},
                 {0xf8, 0xf0, 4, 0x10000}};

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        uint32_t v = (unsigned char)s[0] & (uint32_t)(unsigned char)~forms[i].mask;

        if (((unsigned char)s[0] & forms[i].mask) != forms[i].lead)
            continue;
        if (left < forms[i].bytes)
            return 0;
        for (size_t k = 1; k < forms[i].bytes; k++) {
            const unsigned char c = (unsigned char)s[k];

            if ((c & 0xc0u) != 0x80u)
                return 0;
            v = v << 6 | (c & 0x3fu);
        }
        if (v < forms[i].least || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
            return 0;
        *ret = v;
        return forms[i].bytes;
    }
    return 0;
}

/* Marks and overrides of the direction of writing, which can show a text in another order. */
static bool changes_direction(uint32_t c)
{
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* The C0 and C1 sets, DEL, the separators U+2028 and U+2029, and what XML forbids. */
bool utf8_controls(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfffe ||
           c == 0xffff || changes_direction(c);
}

bool utf8_begins_command(const char *s, bool line)
{
    if (strncmp(s, "##[", 3) == 0)
        return true;
    return line && s[0] == ':' && s[1] == ':' &&
           ((s[2] >= 'a' && s[2] <= 'z') || (s[2] >= 'A' && s[2] <= 'Z'));
}

void utf8_add_printable(struct text *t, const char *s, bool lines)
{
    for (size_t left = strlen(s); left > 0;) {
        uint32_t c = 0;
        const size_t n = utf8_character(s, left, &c), used = n ? n : 1;
        const bool shown =
            n > 0 && (!utf8_controls(c) || (lines && c == '\n')) && !utf8_begins_command(s, false);

        if (t->len + (shown ? n : used * strlen("\\x1b")) >= t->cap) {
            t->cut = true;
            return;
        }
        if (shown)
            text_addn(t, s, n);
        for (size_t i = 0; i < used && !shown; i++)
            text_addf(t, "\\x%02x", (unsigned char)s[i]);
        s += used;
        left -= used;
    }
}

const char *utf8_name(const char *s, char ret[UTF8_NAME_BYTES])
{
    struct text t = text_on(ret, UTF8_NAME_BYTES);

    utf8_add_printable(&t, s, false);
    return ret;
}

const char *utf8_line(const char *s, char ret[UTF8_NAME_BYTES])
{
    const size_t blanks = strspn(s, " ");
    struct text t = text_on(ret, UTF8_NAME_BYTES);

    if (utf8_begins_command(s + blanks, true)) {
        text_addf(&t, "\\x%02x", (unsigned char)s[blanks]);
        s += blanks + 1;
    }
    utf8_add_printable(&t, s, false);
    return ret;
}
