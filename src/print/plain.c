/* SPDX-License-Identifier: MIT */
#include "print/plain.h"

#include <stdint.h>
#include <string.h>

#include "print/utf8.h"

/* Prints the first character of @s, of which @left bytes are there.  Returns its length. */
static size_t print_character(FILE *out, const char *s, size_t left, bool lines)
{
    uint32_t c = 0;
    const size_t n = utf8_character(s, left, &c), used = n ? n : 1;

    if (n > 0 && (!utf8_controls(c) || (lines && c == '\n')) && !utf8_begins_command(s, false)) {
        fwrite(s, 1, n, out);
        return used;
    }
    for (size_t i = 0; i < used; i++)
        fprintf(out, "\\x%02x", (unsigned char)s[i]);
    return used;
}

void print_plain(FILE *out, const char *s, bool lines)
{
    for (size_t left = strlen(s), used; left > 0; s += used, left -= used)
        used = print_character(out, s, left, lines);
}

void print_line(FILE *out, const char *s)
{
    const char *first = s + strspn(s, " \t");

    for (size_t left = strlen(s), used = 1; left > 0; s += used, left -= used) {
        used = 1;
        if (s == first && utf8_begins_command(s, true))
            fprintf(out, "\\x%02x", (unsigned char)*s);
        else
            used = print_character(out, s, left, false);
    }
    fputc('\n', out);
}

void print_xml(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '&')
            fputs("&amp;", out);
        else if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '>')
            fputs("&gt;", out);
        else if (*s == '"')
            fputs("&quot;", out);
        else
            fputc(*s, out);
    }
}

void print_github(FILE *out, const char *s, bool property)
{
    for (; *s; s++) {
        if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
            fprintf(out, "%%%02X", (unsigned char)*s);
        else
            fputc(*s, out);
    }
}
