/* SPDX-License-Identifier: MIT */
/* Reads lines without a line editor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/line_input.h"
#include "process/signals.h"

void line_input_open(struct session *s)
{
    (void)s;
}

void line_input_close(void)
{
}

void line_input_remember(const char *text)
{
    (void)text;
}

char *line_input_read(const struct line_asked *asked, bool *ret_fresh)
{
    const char *prompt = asked->prompt;
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    *ret_fresh = false;
    signals_at_prompt(true);
    for (;;) {
        fputs(prompt, stdout);
        fflush(stdout);
        n = *signals_interrupted() ? -1 : getline(&line, &cap, stdin);
        if (n >= 0 || !*signals_interrupted())
            break;
        /* ^C discards the input: the next line begins a statement. */
        *ret_fresh = true;
        prompt = asked->fresh;
        signals_clear_interrupted();
        clearerr(stdin);
        fputc('\n', stdout);
    }
    signals_at_prompt(false);
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = '\0';
    return line;
}

const char *line_input_name(void)
{
    return "none";
}
