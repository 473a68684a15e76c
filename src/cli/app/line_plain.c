/* SPDX-License-Identifier: MIT */
#include "cli/app/line_plain.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "cli/session/advance.h"
#include "process/must.h"
#include "process/signals.h"

#define CHUNK_BYTES 4096u

/* Bytes of the terminal behind the line.  There is one terminal. */
static struct {
    char v[CHUNK_BYTES];
    size_t at, n;
} unread;

int line_plain_unread(void)
{
    return unread.at < unread.n ? (unsigned char)unread.v[unread.at++] : -1;
}

static void append(char **text, char byte)
{
    const size_t n = *text ? strlen(*text) : 0;

    *text = must_realloc(*text, n + 2);
    /* A NUL would hide the rest of the line.  Replace it by a byte that is invalid in text too. */
    (*text)[n] = '\xff';
    if (byte)
        (*text)[n] = byte;
    (*text)[n + 1] = '\0';
}

/* Moves bytes to the line.  Returns true if it is whole.  An editor that has left the line may have
 * left keys, too: there the end of a line is a carriage return.
 */
static bool take_line(char **text)
{
    int byte;

    while ((byte = line_plain_unread()) >= 0) {
        if (byte != '\n' && byte != '\r') {
            append(text, (char)byte);
            continue;
        }
        if (!*text)
            *text = memcpy(must_malloc(1), "", 1);
        return true;
    }
    return false;
}

/* Waits for input.  Returns false if a signal came.  Signals are blocked except during the wait:
 * one that arrives before it would be noticed only with the next line.
 */
static bool wait_for_input(bool (*is_over)(void))
{
    sigset_t all, before;
    bool ready = false;
    fd_set in;

    FD_ZERO(&in);
    FD_SET(STDIN_FILENO, &in);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (!*signals_interrupted() && !(is_over && is_over()))
        ready = pselect(STDIN_FILENO + 1, &in, NULL, NULL, NULL, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

/* Reads a chunk.  Returns false at the end of the input. */
static bool fill(void)
{
    const ssize_t n = read(STDIN_FILENO, unread.v, sizeof(unread.v));

    unread.at = 0;
    unread.n = n > 0 ? (size_t)n : 0;
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static void print_prompt(const char *prompt, const char *text)
{
    printf("%s%s", prompt, text ? text : "");
    fflush(stdout);
}

/* The prompt of the line that is being read.  line_plain_print_around() gets only the lines.
 */
static const char *prompt_now;

void line_plain_print_around(const char *lines)
{
    fputc('\n', stdout);
    fputs(lines, stdout);
    print_prompt(prompt_now, NULL);
}

/* ^C discards the input.  The terminal has discarded what it had; what it got since is for the next
 * line.
 */
static void begin_anew(const struct line_asked *asked, char **text, bool *ret_fresh)
{
    free(*text);
    *text = NULL;
    *ret_fresh = true;
    signals_clear_interrupted();
    if (unread.at < unread.n)
        return; /* the terminal has echoed the next line already */
    fputc('\n', stdout);
    prompt_now = asked->fresh;
    print_prompt(asked->fresh, NULL);
}

enum line_end line_plain_read(struct session *s, const struct line_asked *asked,
                              bool (*is_over)(void), char **text, bool *ret_fresh)
{
    prompt_now = asked->prompt;
    print_prompt(asked->prompt, *text);
    for (;;) {
        if (*signals_interrupted())
            begin_anew(asked, text, ret_fresh);
        if (take_line(text))
            return LINE_WHOLE;
        if (is_over && is_over()) {
            fputc('\n', stdout);
            return LINE_LEFT;
        }
        if (advance_idle(s, STDIN_FILENO) || !wait_for_input(is_over) || fill())
            continue;
        if (*text)
            return LINE_WHOLE;
        return LINE_NONE;
    }
}
