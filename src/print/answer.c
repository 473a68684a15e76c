/* SPDX-License-Identifier: MIT */
#include "print/answer.h"

#include <string.h>

#include "print/show_text.h"

static const char margin[] = "    ";

void answer_lines(const char *command, const char *text,
                  void (*line)(void *ctx, const char *margin, const char *s, size_t bytes),
                  void *ctx)
{
    char rest[SHOW_LINE_BYTES];
    struct text t = text_on(rest, sizeof(rest));

    for (unsigned n = 0; *text && (!command || n < ANSWER_LINES_MAX); n++) {
        const size_t bytes = strcspn(text, "\n");

        line(ctx, margin, text, bytes);
        text += bytes + (text[bytes] != '\0');
    }
    if (!*text)
        return;
    text_addf(&t, "... \"%s\" tells the rest", command);
    line(ctx, margin, rest, t.len);
}

static void print_line(void *ctx, const char *before, const char *s, size_t bytes)
{
    fprintf(ctx, "%s%.*s\n", before, (int)bytes, s);
}

void answer_print(FILE *out, const char *command, const char *text)
{
    answer_lines(command, text, print_line, out);
}
