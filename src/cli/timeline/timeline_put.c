/* SPDX-License-Identifier: MIT */
#include "cli/timeline/timeline_put.h"

#include <string.h>

#include "emu/base/json.h"
#include "print/utf8.h"

#define PRINTABLE_BYTES 2048u /* most bytes of a string; none of the engine's is half as long */

void put_string(FILE *out, const char *s)
{
    char buf[PRINTABLE_BYTES], one[JSON_ESCAPE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    utf8_add_printable(&t, s, false);
    fputc('"', out);
    for (s = buf; *s; s++) {
        if (strchr("<>&", *s))
            fprintf(out, "\\u%04x", (unsigned)*s);
        else
            fputs(json_escape(*s, one), out);
    }
    fputc('"', out);
}

void put_base64(FILE *out, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fputc('"', out);
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const unsigned v = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                           (left > 2 ? bytes[i + 2] : 0u);

        fputc(digits[v >> 18], out);
        fputc(digits[v >> 12 & 63], out);
        fputc(left > 1 ? digits[v >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[v & 63] : '=', out);
    }
    fputc('"', out);
}
