/* SPDX-License-Identifier: MIT */
#include "emu/base/text.h"

#include <stdio.h>
#include <string.h>

void text_addn(struct text *t, const char *s, size_t n)
{
    const size_t room = t->cap - 1 - t->len;

    if (n > room) {
        t->cut = true;
        n = room;
    }
    memcpy(t->buf + t->len, s, n);
    t->len += n;
    t->buf[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
    text_addn(t, s, strlen(s));
}

void text_addv(struct text *t, const char *fmt, va_list args)
{
    const size_t room = t->cap - t->len;
    const int n = vsnprintf(t->buf + t->len, room, fmt, args);

    if (n < 0)
        return;
    if ((size_t)n >= room) {
        t->cut = true;
        t->len = t->cap - 1;
    } else {
        t->len += (size_t)n;
    }
}

void text_addf(struct text *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    text_addv(t, fmt, args);
    va_end(args);
}

void text_add_hex(struct text *t, const void *bytes, size_t n, const char *between)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        text_addf(t, "%s%02x", i ? between : "", b[i]);
}

void text_add_ordinal(struct text *t, uint32_t n)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    const bool is_teen = n / 10 % 10 == 1;

    text_addf(t, "%u%s", n, is_teen || n % 10 > 3 ? "th" : ends[n % 10]);
}

void text_add_which(struct text *t, uint32_t nth, uint32_t every, uint32_t count)
{
    if (every > 1) {
        text_add(t, "every ");
        text_add_ordinal(t, every);
    } else if (count == UINT32_MAX) {
        text_add(t, "every");
    } else if (count > 1) {
        text_addf(t, "the next %u", count);
    } else if (nth == 1) {
        text_add(t, "the next");
    } else {
        text_add(t, "the ");
        text_add_ordinal(t, nth);
    }
}

const char *text_article(const char *word)
{
    static const char vowels[] = "aeiouAEIOU", begin_with_a_vowel[] = "fhlmnrsxFHLMNRSX";
    const bool spelled = !strpbrk(word, vowels);

    return word[0] && strchr(spelled ? begin_with_a_vowel : vowels, word[0]) ? "an" : "a";
}

const char *text_behind_slash(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int text_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

void text_pad_to(struct text *t, size_t column)
{
    size_t start = t->len;

    while (start > 0 && t->buf[start - 1] != '\n')
        start--;
    if (t->len > start && t->len - start >= column)
        text_add(t, " ");
    while (t->len - start < column && !t->cut)
        text_add(t, " ");
}
