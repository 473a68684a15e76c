/* SPDX-License-Identifier: MIT */
/* The window of the terminal, with GNU readline.
 *
 * Readline does not catch SIGWINCH itself: it would draw in a window of any size at once.  A change
 * is noticed here before the next key is read, see line_readline.c.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <readline/readline.h>

#include "cli/app/line_keys.h"

#define COLUMNS_MIN 20 /* the shortest prompt, and a few keys behind it */
#define ROWS_MIN    2

static bool moves_cursor;
static struct winsize known; /* as it was when readline learned of it last */

void line_window_open(void)
{
    rl_instream = stdin;
    rl_outstream = stdout;
    rl_catch_sigwinch = 0;
    rl_reset_terminal(NULL);
    /* Readline has no capabilities of a terminal that it does not know. */
    moves_cursor = rl_get_termcap("up") && rl_get_termcap("ce");
}

/* Returns the size that the terminal tells.  A terminal that tells nothing has size 0. */
static struct winsize told(void)
{
    struct winsize w = {0};

    if (ioctl(fileno(rl_instream), TIOCGWINSZ, &w) != 0)
        w = (struct winsize){0};
    return w;
}

/* On a terminal that does not go on in the next line by itself readline uses one column less than
 * it is told, and tells that it uses.
 */
static void set_size(int rows, int columns)
{
    int ignored, used = 0;

    rl_set_screen_size(rows, columns);
    rl_get_screen_size(&ignored, &used);
    if (used < columns)
        rl_set_screen_size(rows, columns + columns - used);
}

static bool is_enough(int rows, int columns)
{
    return rows >= ROWS_MIN && columns >= COLUMNS_MIN;
}

/* Lets readline learn the size.  Returns false, and lets it forget that again, if it is too small.
 */
static bool learn(void)
{
    const struct winsize now = told();
    int rows, columns, rows_before, columns_before;

    rl_get_screen_size(&rows_before, &columns_before);
    rl_reset_screen_size();
    rl_get_screen_size(&rows, &columns);
    /* Readline takes a single column for a mistake, and 80 for the number. */
    if (is_enough(rows, columns) &&
        is_enough(now.ws_row ? now.ws_row : rows, now.ws_col ? now.ws_col : columns)) {
        known = now;
        return true;
    }
    set_size(rows_before, columns_before);
    return false;
}

bool line_window_is_fit(void)
{
    return moves_cursor && learn();
}

bool line_window_follow(void)
{
    const struct winsize now = told();
    int rows, columns, rows_before, columns_before;

    if (now.ws_row == known.ws_row && now.ws_col == known.ws_col)
        return true;
    rl_get_screen_size(&rows_before, &columns_before);
    if (!learn())
        return false;
    rl_get_screen_size(&rows, &columns);
    set_size(rows_before, columns_before); /* for what is on the screen */
    line_hint_clear();
    rl_clear_visible_line();
    set_size(rows, columns);
    rl_on_new_line();
    rl_redisplay();
    fflush(rl_outstream);
    return true;
}
