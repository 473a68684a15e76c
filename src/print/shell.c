/* SPDX-License-Identifier: MIT */
#include "print/shell.h"

#include <stdbool.h>
#include <string.h>

#include "print/utf8.h"

/* Returns true if the shell takes all of @word as it is. */
static bool is_plain(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";

    return word[0] != '\0' && strspn(word, plain) == strlen(word);
}

/* Returns the length of the printable character at @s, or 0 if it is none. */
static size_t printable(const char *s)
{
    uint32_t c;
    const size_t n = utf8_character(s, strlen(s), &c);

    return n > 0 && !utf8_controls(c) ? n : 0;
}

static bool is_printable(const char *word)
{
    size_t n = 1;

    for (; *word && n > 0; word += n)
        n = printable(word);
    return n > 0;
}

/* Appends the format of a printf of the shell that prints @word, and is no option of printf. */
static void add_format(struct text *t, const char *word)
{
    while (*word) {
        const size_t n = printable(word);

        if (n == 0 || strchr("'\\-", *word))
            text_addf(t, "\\%03o", (unsigned)(unsigned char)*word);
        else
            text_addn(t, word, n);
        if (*word == '%')
            text_add(t, "%");
        word += n ? n : 1;
    }
}

static void add_quoted(struct text *t, const char *word)
{
    text_add(t, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(t, "'\\''");
        else
            text_addn(t, word, 1);
    }
    text_add(t, "'");
}

void shell_add(struct text *t, const char *word)
{
    text_add(t, t->len ? " " : "");
    if (is_plain(word)) {
        text_add(t, word);
    } else if (is_printable(word)) {
        add_quoted(t, word);
    } else {
        /* The shell removes line ends from the end of what a command prints. */
        text_add(t, "\"$(printf '");
        add_format(t, word);
        text_add(t, "')\"");
    }
}

void shell_add_file(struct text *t, const char *name)
{
    char path[SHELL_LINE_BYTES];
    struct text p = text_on(path, sizeof(path));

    text_addf(&p, name[0] == '-' ? "./%s" : "%s", name);
    shell_add(t, path);
    t->cut = t->cut || p.cut;
}

void shell_add_option(struct text *t, const char *name, const char *value)
{
    if (!value)
        return;
    shell_add(t, name);
    shell_add(t, value);
}

void shell_add_number(struct text *t, const char *name, uint64_t value)
{
    char buf[32];
    struct text n = text_on(buf, sizeof(buf));

    text_addf(&n, "%llu", (unsigned long long)value);
    shell_add_option(t, name, buf);
}
