/* SPDX-License-Identifier: MIT */
#include "print/print_json.h"

#include <string.h>

#include "emu/base/json.h"
#include "print/utf8.h"

/* Prints the control character as an escape.  None has more than 16 bits. */
static void print_control(FILE *out, uint32_t c)
{
    fprintf(out, "\\u%04x", (unsigned)c);
}

/* Returns the length of the character at @s that json_escape() leaves as it is, and that must not
 * be printed; 0: there is none.
 */
static size_t control_bytes(const char *s, size_t left, uint32_t *ret)
{
    const size_t n = (unsigned char)*s < 0x7f ? 0 : utf8_character(s, left, ret);

    if (utf8_begins_command(s, false)) {
        *ret = (unsigned char)*s;
        return 1;
    }
    return n > 0 && utf8_controls(*ret) ? n : 0;
}

void print_json_string(FILE *out, const char *s)
{
    char buf[JSON_ESCAPE_BYTES];

    fputc('"', out);
    for (size_t left = strlen(s), used = 1; left > 0; s += used, left -= used) {
        uint32_t c = 0;
        const size_t n = control_bytes(s, left, &c);

        used = n ? n : 1;
        if (n)
            print_control(out, c);
        else
            fputs(json_escape(*s, buf), out);
    }
    fputc('"', out);
}

void print_json_text(FILE *out, const char *json)
{
    for (size_t left = strlen(json), used = 1; left > 0; json += used, left -= used) {
        uint32_t c = 0;
        const size_t n = control_bytes(json, left, &c);

        used = n ? n : 1;
        if (n)
            print_control(out, c);
        else
            fputc(*json, out);
    }
}

void print_json_number(FILE *out, uint64_t v)
{
    char buf[32];
    struct text t = text_on(buf, sizeof(buf));

    json_add_number(&t, v);
    fputs(buf, out);
}
