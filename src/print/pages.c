/* SPDX-License-Identifier: MIT */
#include "print/pages.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print/show_text.h"
#include "process/signals.h"

#define HELD_BYTES (1u << 20) /* of a text; the rest of a longer one is printed without a pause */
#define ESCAPE     '\033'
#define BLANKS     " \t\r\n"

#define WORTH_A_PAUSE 4u /* fewer lines at the end of a text are printed without a pause */

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

/* The reader's last answer.  There is one terminal. */
static struct {
    char *line;   /* what was typed in place of Enter, owned; NULL: nothing */
    bool went_on; /* the last pause was ended by Enter */
    bool stopped; /* the last pause was ended by ^C */
} answer;

/* Keeps the typed @line, which is owned.  Returns true if the text goes on. */
static bool take_answer(char *line)
{
    const size_t from = strspn(line, BLANKS), n = strcspn(line + from, BLANKS);
    const bool ends =
        n == 1 && line[from] == 'q' && !line[from + 1 + strspn(line + from + 1, BLANKS)];

    answer.went_on = n == 0;
    if (n == 0 || ends) {
        free(line);
    } else {
        line[strcspn(line, "\r\n")] = '\0';
        free(answer.line);
        answer.line = line;
    }
    return n == 0;
}

bool pages_wait(FILE *out, const char *prompt)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    fprintf(out, "  -- %s --", prompt);
    fflush(out);
    signals_at_prompt(true); /* ^C ends the wait */
    n = getline(&line, &cap, stdin);
    signals_at_prompt(false);
    answer.stopped = n < 0 && *signals_interrupted();
    if (n < 0) {
        fputc('\n', out);
        clearerr(stdin);
        free(line);
        answer.went_on = false;
        return false;
    }
    return take_answer(line);
}

char *pages_take_line(void)
{
    char *line = answer.line;

    answer.line = NULL;
    return line;
}

bool pages_take_went_on(void)
{
    const bool went_on = answer.went_on;

    answer.went_on = false;
    return went_on;
}

bool pages_take_stopped(void)
{
    const bool stopped = answer.stopped;

    answer.stopped = false;
    return stopped;
}

bool pages_room(struct pager *p, unsigned n)
{
    const bool full = p->lines > 1 && p->used > 0 && p->used + n > p->lines - 1;

    if (p->ended)
        return false;
    if (full && (p->left == 0 || p->left >= WORTH_A_PAUSE)) {
        p->ended = !pages_wait(p->out, "Enter; q and Enter ends the list");
        p->used = 0;
    }
    p->used += n;
    p->left -= p->left < n ? p->left : n;
    return !p->ended;
}

/* Returns a stream on the terminal of @out, with @text as its buffer, or NULL. */
static FILE *stream_on(FILE *out, char *text)
{
    const int fd = dup(fileno(out));
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!f && fd >= 0)
        close(fd);
    if (f)
        setvbuf(f, text, _IOFBF, HELD_BYTES);
    return f;
}

struct paged pages_hold(FILE *out)
{
    struct paged p = {.f = out, .out = out};
    FILE *f;

    if (!pages_are_read(out))
        return p;
    fflush(out);
    p.text = calloc(1, HELD_BYTES + 1);
    f = p.text ? stream_on(out, p.text) : NULL;
    if (f) {
        p.f = f;
    } else {
        free(p.text);
        p.text = NULL;
    }
    return p;
}

/* Closes the stream without printing what is in its buffer. */
static void drop_stream(FILE *f)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere >= 0) {
        dup2(nowhere, fileno(f));
        close(nowhere);
    }
    fclose(f);
}

/* Returns the text that @p holds, or NULL.  The beginning of a text that is longer than the buffer
 * has been printed: its end is now printed, too, and the text that is left is empty.
 */
static char *take_text(const struct paged *p)
{
    const size_t n = __fpending(p->f);
    const bool printed = p->text[n] != '\0'; /* bytes of the beginning are behind the end */

    if (printed)
        fflush(p->f);
    return printed ? calloc(1, 1) : strdup(p->text);
}

/* Returns the number of screen lines that the @n bytes of a line take. */
static unsigned lines_of(const char *line, size_t n, unsigned columns)
{
    size_t wide = 0;
    bool escape = false;

    for (size_t i = 0; i < n; i++) {
        if (line[i] == ESCAPE)
            escape = true;
        else if (!escape)
            wide += ((unsigned char)line[i] & 0xc0) != 0x80; /* the first byte of a character */
        escape = escape && line[i] != 'm';
    }
    return wide == 0 ? 1 : 1 + (unsigned)((wide - 1) / columns);
}

/* Returns the number of screen lines that @text takes. */
static unsigned lines_of_text(const char *text, unsigned columns)
{
    unsigned lines = 0;

    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        lines += lines_of(text, n, columns);
    }
    return lines;
}

void pages_end(struct paged *p)
{
    struct pager pager = pages_begin(p->out);
    const unsigned columns = show_columns_of_terminal(p->out, SHOW_COLUMNS);
    char *text;

    if (p->f == p->out)
        return;
    text = take_text(p);
    drop_stream(p->f);
    pager.left = lines_of_text(text ? text : "", columns);
    for (const char *at = text ? text : ""; *at;) {
        const size_t n = strcspn(at, "\n"), whole = n + (at[n] == '\n');

        if (!pages_room(&pager, lines_of(at, n, columns)))
            break;
        fwrite(at, 1, whole, p->out);
        at += whole;
    }
    fflush(p->out);
    free(text);
    free(p->text);
    p->text = NULL;
    p->f = p->out;
}
