/* SPDX-License-Identifier: MIT */
#include "print/print_csv.h"

#include <string.h>

void print_csv_text(FILE *out, const char *s)
{
    fputc('"', out);
    if (s[0] && strchr("=+-@", s[0]))
        fputc('\'', out);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', out);
        fputc(*s, out);
    }
    fputc('"', out);
}
