/* SPDX-License-Identifier: MIT */
#include "cli/app/printed.h"

#include <string.h>

#include "print/plain.h"
#include "process/out_file.h"

#define LINES_TOLD 12u
#define BYTES_TOLD 2048u
#define FILE_NAME  "printed.txt"

/* Returns a pointer to the last LINES_TOLD lines of @text. */
static const char *last_lines(const char *text)
{
    const char *at = text + strlen(text);
    unsigned n = 0;

    if (at > text)
        at--; /* the end of the last line */
    for (; at > text; at--) {
        if (at[-1] == '\n' && ++n == LINES_TOLD)
            return at;
    }
    return text;
}

void printed_tell(FILE *printed, FILE *to)
{
    char text[BYTES_TOLD + 1];
    const char *at = text, *end;
    long size;
    size_t n;

    if (fseek(printed, 0, SEEK_END) != 0 || (size = ftell(printed)) <= 0)
        return;
    if (fseek(printed, size > (long)BYTES_TOLD ? size - (long)BYTES_TOLD : 0, SEEK_SET) != 0)
        return;
    n = fread(text, 1, BYTES_TOLD, printed);
    text[n] = '\0';
    if (size > (long)BYTES_TOLD && strchr(text, '\n'))
        at = strchr(text, '\n') + 1; /* the line before is not whole */
    fputs("  the last lines that were printed:\n", to);
    for (at = last_lines(at); *at; at = *end ? end + 1 : end) {
        char line[BYTES_TOLD + 1];
        const size_t bytes = strcspn(at, "\n");

        end = at + bytes;
        memcpy(line, at, bytes);
        line[bytes] = '\0';
        fputs("    ", to);
        print_line(to, line);
    }
}

/* Copies all of @from. */
static void copy(FILE *from, FILE *to)
{
    char chunk[4096];
    size_t n;

    rewind(from);
    while ((n = fread(chunk, 1, sizeof(chunk), from)) > 0 && fwrite(chunk, 1, n, to) == n)
        ;
}

void printed_keep(FILE *printed, const char *directory, FILE *err)
{
    const struct out_file_place place = {.below = directory, .makes = true, .replaces = true};
    struct out_file o;
    const char *why;

    if (fseek(printed, 0, SEEK_END) != 0 || ftell(printed) <= 0)
        return;
    why = out_file_open_below(&o, FILE_NAME, &place);
    if (!why) {
        copy(printed, o.f);
        why = out_file_close(&o);
    }
    if (why)
        fprintf(err, "%s/" FILE_NAME ": %s\n", directory, why);
}
