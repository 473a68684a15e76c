/* SPDX-License-Identifier: MIT */
#include "print/print_json.h"

#include "emu/base/json.h"

void print_json_string(FILE *out, const char *s)
{
    char buf[JSON_ESCAPE_BYTES];

    fputc('"', out);
    for (; *s; s++)
        fputs(json_escape(*s, buf), out);
    fputc('"', out);
}

void print_json_number(FILE *out, uint64_t v)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    json_add_number(&t, v);
    fputs(buf, out);
}
