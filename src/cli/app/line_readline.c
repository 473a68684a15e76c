/* SPDX-License-Identifier: MIT */
/* Reads lines with GNU readline.  Its callbacks have no context argument, hence the static
 * variables.
 */
#include "cli/app/line_input.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "cli/app/line_keys.h"
#include "cli/app/line_plain.h"
#include "cli/session/advance.h"
#include "cli/session/session.h"
#include "process/must.h"
#include "process/signals.h"

#define END_OF_KEYS '\a' /* ^G: ends a search, a question or an incomplete key sequence */

static struct session *session;

static struct {
    const char *prompt;
    bool wanted;
} fresh;

/* END_OF_KEYS was sent to end an incomplete key sequence. */
static bool ended_keys;

#define NO_KEY (-2)

/* A key that came together with a signal, and belongs to the line after it; NO_KEY: none. */
static int kept_key = NO_KEY;

/* @left: text of the line when the editor had to leave it; NULL: it did not.  @begun: text with
 * which the edited line begins; NULL: none.
 */
static char *left;
static const char *begun;

/* Returns true if readline reads keys that do not belong to the line.  It continues to do so when
 * the line is replaced.
 */
static bool is_amid_keys(void)
{
    return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_MOREINPUT | RL_STATE_METANEXT |
                      RL_STATE_MULTIKEY | RL_STATE_NUMERICARG | RL_STATE_CHARSEARCH) != 0;
}

/* ^C discards the input: the next line begins a statement. */
static void begin_anew(void)
{
    signals_clear_interrupted();
    fresh.wanted = true;
    line_hint_clear();
    line_hint_prompt(fresh.prompt);
    line_before(NULL);
    rl_set_prompt(fresh.prompt);
    rl_crlf();
    rl_replace_line("", 0);
    rl_on_new_line();
    rl_forced_update_display();
    fflush(rl_outstream);
}

static bool is_signalled(void)
{
    return rl_pending_signal() != 0 || *signals_interrupted();
}

/* Waits for a key.  Returns false if there may be none because of a signal, or a window of another
 * size.  Signals are blocked except during the wait.  Otherwise a signal that arrives between the
 * check and the wait would be noticed only with the next key.
 */
static bool wait_for_key(int in)
{
    sigset_t all, before;
    bool ready = false;
    fd_set keys;

    FD_ZERO(&keys);
    FD_SET(in, &keys);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (!is_signalled() && line_window_follow())
        ready = pselect(in + 1, &keys, NULL, NULL, NULL, &before) > 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

/* Returns true if the terminal is closed. */
static bool is_over(int in)
{
    struct pollfd keys = {.fd = in, .events = POLLIN};

    return poll(&keys, 1, 0) > 0 && (keys.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

/* Reads the available key; EOF at the end.  Returns false if there is none: on ^C the terminal
 * discards all unread keys.
 */
static bool take_key(int in, int *ret_key)
{
    unsigned char key;
    const ssize_t n = read(in, &key, 1);

    if (n == 0 ? !is_over(in) : n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    *ret_key = n == 1 ? key : EOF;
    return true;
}

/* Takes the line out of the editor. */
static void leave_line(void)
{
    left = memcpy(must_malloc((size_t)rl_end + 1), rl_line_buffer, (size_t)rl_end + 1);
    line_hint_clear();
    rl_replace_line("", 0); /* EOF in an empty line ends readline(), without drawing it */
}

/* Handles signals and a window that has become too small.  Returns false if *@ret_key is the key
 * that readline needs for that.
 */
static bool attend(int *ret_key)
{
    bool fit;

    rl_check_signals();
    fit = line_window_follow();
    if ((*signals_interrupted() || !fit) && is_amid_keys() && !ended_keys) {
        ended_keys = true;
        *ret_key = END_OF_KEYS; /* what has happened is for the line then */
        return false;
    }
    if (*signals_interrupted())
        begin_anew();
    ended_keys = false;
    if (fit)
        return true;
    leave_line();
    *ret_key = EOF;
    return false;
}

/* Takes the key that came with a signal, or else reads one that is there.  Returns false if there
 * is none.  With ^C the terminal discards what it has.  So a key was pressed after ^C if the signal
 * came before the read, although it was not handled yet.  A key that was read when the signal came
 * was pressed before it, and goes with the line.
 */
static bool next_key(int in, int *ret_key)
{
    const int unread = line_plain_unread();
    bool is_behind;

    if (kept_key != NO_KEY || unread >= 0) {
        *ret_key = kept_key != NO_KEY ? kept_key : unread;
        kept_key = NO_KEY;
        return true;
    }
    line_hint_show();
    if (advance_idle(session, in) || !wait_for_key(in))
        return false;
    is_behind = is_signalled();
    if (!take_key(in, ret_key))
        return false;
    if (!is_behind)
        return true;
    kept_key = *ret_key;
    return false;
}

/* Reads a key.  While it waits, a lab with live ports continues to run.  ^C discards the line. */
static int getc_idling(FILE *in)
{
    int key = EOF;

    while (attend(&key) && !next_key(fileno(in), &key))
        ;
    line_hint_clear();
    return key;
}

/* Prints @lines above the line that is being edited. */
static void print_above(const char *lines)
{
    line_hint_clear();
    rl_clear_visible_line();
    fputs(lines, rl_outstream);
    rl_on_new_line();
    rl_redisplay();
    fflush(rl_outstream);
}

/* Makes ^S a key for searching: it does not stop the output while a line is edited. */
static void prep_terminal(int meta)
{
    struct termios settings;

    rl_prep_terminal(meta);
    if (tcgetattr(fileno(rl_instream), &settings) != 0)
        return;
    settings.c_iflag &= ~(tcflag_t)IXON;
    settings.c_cc[VMIN] = 0; /* see take_key() */
    (void)tcsetattr(fileno(rl_instream), TCSADRAIN, &settings);
}

/* Binds keys that terminals send but readline does not know.  Bindings of an inputrc stay. */
static void bind_keys(void)
{
    static const struct {
        const char *keys;
        rl_command_func_t *what;
    } also[] = {
        {"\\e[1~", rl_beg_of_line},    {"\\e[4~", rl_end_of_line},
        {"\\e[7~", rl_beg_of_line},    {"\\e[8~", rl_end_of_line},
        {"\\e[3~", rl_delete},         {"\\e[1;5D", rl_backward_word},
        {"\\e[1;5C", rl_forward_word}, {"\\e[1;3D", rl_backward_word},
        {"\\e[1;3C", rl_forward_word},
    };

    for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++)
        (void)rl_bind_keyseq_if_unbound(also[i].keys, also[i].what);
}

static int insert_begun(void)
{
    if (begun)
        rl_insert_text(begun);
    return 0;
}

void line_input_open(struct session *s)
{
    session = s;
    rl_readline_name = "rdmalab";
    rl_basic_word_break_characters = " \t\n;{}";
    rl_getc_function = getc_idling;
    rl_prep_term_function = prep_terminal;
    rl_startup_hook = insert_begun;
    line_window_open();
    bind_keys();
    line_matches_open(s);
    line_hint_open(s);
    using_history();
    stifle_history((int)RECALL_MAX);
}

void line_input_use(struct session *s)
{
    session = s;
    line_matches_open(s);
    line_hint_open(s);
}

void line_input_close(void)
{
    line_matches_close();
}

void line_input_remember(const char *text)
{
    add_history(text);
}

/* Edits a line that begins with *@text, see line_plain_read(). */
static enum line_end edit(const struct line_asked *asked, char **text, bool *ret_fresh)
{
    char *line;

    fresh.prompt = asked->fresh;
    fresh.wanted = false;
    begun = *text;
    line_before(asked->before);
    line_hint_prompt(asked->prompt);
    session->prompt.print_around = print_above;
    line = readline(asked->prompt);
    /* Arrived after the line was read; handle it now, not with the next line. */
    if (rl_pending_signal() != 0) {
        rl_check_signals();
        rl_cleanup_after_signal();
    }
    session->prompt.print_around = NULL;
    line_before(NULL);
    *ret_fresh |= fresh.wanted;
    free(*text);
    *text = left ? left : line;
    if (left)
        free(line);
    else if (!line)
        return LINE_NONE;
    return left ? LINE_LEFT : LINE_WHOLE;
}

static enum line_end read_plain(const struct line_asked *asked, char **text, bool *ret_fresh)
{
    enum line_end end;

    session->prompt.print_around = line_plain_print_around;
    end = line_plain_read(session, asked, line_window_is_fit, text, ret_fresh);
    session->prompt.print_around = NULL;
    return end;
}

char *line_input_read(const struct line_asked *asked, bool *ret_fresh)
{
    struct line_asked next = *asked;
    enum line_end end;
    char *text = NULL;

    *ret_fresh = false;
    signals_at_prompt(true);
    signals_wake_on_resize(true);
    do {
        left = NULL;
        if (line_window_is_fit())
            end = edit(&next, &text, ret_fresh);
        else
            end = read_plain(&next, &text, ret_fresh);
        if (*ret_fresh)
            next = (struct line_asked){asked->fresh, asked->fresh, NULL};
    } while (end == LINE_LEFT);
    signals_wake_on_resize(false);
    signals_at_prompt(false);
    return text;
}

const char *line_input_name(void)
{
    return "readline";
}
