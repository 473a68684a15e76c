/* SPDX-License-Identifier: MIT */
#include "print/pages.h"

#include <unistd.h>

#include "print/show_text.h"

bool pages_are_read(FILE *out)
{
    const int fd = fileno(out); /* -1: a memory stream */

    return fd >= 0 && isatty(fd) && isatty(STDIN_FILENO);
}

struct pager pages_begin(FILE *out)
{
    return (struct pager){.out = out,
                          .lines = pages_are_read(out) ? show_lines_of_terminal(out) : 0};
}

bool pages_wait(FILE *out, const char *prompt)
{
    int c, first = '\n';

    fprintf(out, "  -- %s --", prompt);
    fflush(out);
    for (c = getchar(); c != '\n' && c != EOF; c = getchar())
        first = first == '\n' ? c : first;
    if (c == EOF)
        clearerr(stdin);
    return c != EOF && first != 'q';
}

bool pages_room(struct pager *p, unsigned n)
{
    if (p->ended)
        return false;
    if (p->lines > 1 && p->used > 0 && p->used + n > p->lines - 1) {
        p->ended = !pages_wait(p->out, "Enter; q and Enter ends the list");
        p->used = 0;
    }
    p->used += n;
    return !p->ended;
}
