/* SPDX-License-Identifier: MIT */
#include "cli/app/printed.h"

#include <string.h>

#include "print/plain.h"
#include "process/out_file.h"

#define LINES_OF_EACH 8u  /* of a program, or of the commands together */
#define LINES_TOLD    24u /* in all */
#define BYTES_TOLD    8192u
#define FILE_NAME     "printed.txt"

/* Returns the length of the name of a program, such as "h1 server", at the beginning of @line; 0 if
 * a command has printed the line.
 */
static size_t name_bytes(const char *line)
{
    const size_t host = strcspn(line, " :\n"), name = strcspn(line, ":\n");

    return line[host] == ' ' && line[name] == ':' ? name : 0;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* Returns the number of lines after @line that the same program has printed. */
static unsigned lines_after(const char *line)
{
    const size_t n = name_bytes(line);
    unsigned count = 0;

    for (const char *at = next_line(line); *at; at = next_line(at))
        count += name_bytes(at) == n && memcmp(at, line, n) == 0;
    return count;
}

/* Prints one line of a program, behind a margin. */
static void tell_line(const char *at, FILE *to)
{
    char line[BYTES_TOLD + 1];
    const size_t bytes = strcspn(at, "\n");

    memcpy(line, at, bytes);
    line[bytes] = '\0';
    fputs("    ", to);
    print_line(to, line);
}

void printed_tell(FILE *printed, FILE *to)
{
    char text[BYTES_TOLD + 1];
    const char *first = text;
    unsigned n_told = 0;
    long size;
    size_t n;

    if (fseek(printed, 0, SEEK_END) != 0 || (size = ftell(printed)) <= 0)
        return;
    if (fseek(printed, size > (long)BYTES_TOLD ? size - (long)BYTES_TOLD : 0, SEEK_SET) != 0)
        return;
    n = fread(text, 1, BYTES_TOLD, printed);
    text[n] = '\0';
    if (size > (long)BYTES_TOLD && strchr(text, '\n'))
        first = strchr(text, '\n') + 1; /* the line before is not whole */
    for (const char *at = first; *at; at = next_line(at))
        n_told += lines_after(at) < LINES_OF_EACH;
    fputs("  the last lines that each program has printed:\n", to);
    for (const char *at = first; *at; at = next_line(at)) {
        if (lines_after(at) < LINES_OF_EACH && n_told-- <= LINES_TOLD)
            tell_line(at, to);
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
