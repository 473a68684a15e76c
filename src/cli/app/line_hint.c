/* SPDX-License-Identifier: MIT */
/* Hints behind the cursor, with GNU readline.
 *
 * A hint is drawn when the line is on the screen and the editor waits for a key.  It is removed
 * before the key is processed, so that readline finds the screen as it left it.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/readline.h>

#include "cli/app/line_keys.h"
#include "cli/complete/complete.h"
#include "cli/session/session.h"

#define HINT_BYTES       512u
#define HINT_COLUMNS_MIN 6 /* with less space no hint is drawn */

static struct session *session;
static const char *prompt = "";
static bool drawn;

void line_hint_prompt(const char *text)
{
    prompt = text;
}

void line_hint_clear(void)
{
    if (!drawn)
        return;
    drawn = false;
    fputs("\033[K", rl_outstream);
    fflush(rl_outstream);
}

/* Returns true if a key is available.  Then a hint would be removed at once. */
static bool is_typed_ahead(void)
{
    struct pollfd in = {.fd = fileno(rl_instream), .events = POLLIN};

    return poll(&in, 1, 0) > 0;
}

/* Column of the cursor, which is at the end of the line.  Returns -1 if it is not known. */
static int cursor_column(int columns)
{
    const char *last = strrchr(rl_line_buffer, '\n');
    const char *from = last ? last + 1 : rl_line_buffer;
    int column = last ? 0 : (int)strlen(prompt);

    for (const char *s = from; *s; s++) {
        if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f)
            return -1; /* the width of the character depends on the terminal */
        column++;
    }
    return columns > 0 && (column == 0 || column % columns != 0) ? column % columns : -1;
}

static bool wants_hint(void)
{
    return session->config.colour && !session->prompt.hints_off && rl_point == rl_end && !rl_done &&
           !RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_SEARCH | RL_STATE_NUMERICARG |
                       RL_STATE_MACROINPUT);
}

/* Draws the hint, cut to the available space. */
static void draw(char *hint, int room)
{
    const size_t n = strlen(hint);

    if (n > (size_t)room)
        memcpy(hint + room - 3, "...", sizeof("..."));
    fprintf(rl_outstream, "\033[2m%s\033[22m\033[%zuD", hint, strlen(hint));
    fflush(rl_outstream);
    drawn = true;
}

/* For an empty line inside a block: explains how to end the block. */
static void add_way_out(struct text *t, const char *before)
{
    const size_t n = strlen(before);
    const bool goes_on = n > 1 && before[n - 2] == '\\'; /* the previous line continues */

    if (n > 0 && !goes_on)
        text_add(t, "} ends the block, ^C leaves it");
}

void line_hint_show(void)
{
    int rows = 0, columns = 0, column;
    char hint[HINT_BYTES];
    struct text t = text_on(hint, sizeof(hint));
    char *line;

    if (drawn || !wants_hint() || is_typed_ahead())
        return;
    rl_get_screen_size(&rows, &columns);
    column = cursor_column(columns);
    if (column < 0 || columns - column - 1 < HINT_COLUMNS_MIN)
        return;
    line = line_so_far((size_t)rl_end);
    if (!line)
        return;
    if (rl_end > 0)
        complete_hint(session, line, &t);
    else
        add_way_out(&t, line);
    free(line);
    if (hint[0])
        draw(hint, columns - column - 1);
}

/* Readline calls this on ^Z and at the end. */
static void deprep(void)
{
    line_hint_clear();
    rl_deprep_terminal();
}

void line_hint_open(struct session *s)
{
    session = s;
    rl_deprep_term_function = deprep;
}
