/* SPDX-License-Identifier: MIT */
/* GNU readline.  Its callbacks have no context argument, hence the variables here. */
#include "cli/app/line_input.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "cli/app/line_keys.h"
#include "cli/session/advance.h"
#include "cli/session/signals.h"

#define END_OF_SEARCH  '\a' /* ^G, which a search takes for its end */
#define SEARCH_WAIT_MS 200

static struct session *session;

static struct {
    const char *prompt;
    bool wanted;
} fresh;

static bool is_searching(void)
{
    return RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH) != 0;
}

/* ^C gives an empty line, which begins a statement. */
static int after_signal(void)
{
    if (!*signals_interrupted() || is_searching())
        return 0;
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
    return 0;
}

/* Is a key there?  Waits for one, but not for long. */
static bool is_readable(FILE *in)
{
    struct pollfd keys = {.fd = fileno(in), .events = POLLIN};

    return poll(&keys, 1, SEARCH_WAIT_MS) > 0;
}

/* While a person thinks, a lab with live ports goes on.  ^C is for the line, as without them. */
static int getc_idling(FILE *in)
{
    int key;

    while (is_searching() && !is_readable(in)) {
        rl_check_signals();
        if (*signals_interrupted())
            return END_OF_SEARCH; /* then it is for the line */
    }
    do {
        rl_check_signals();
        after_signal();
        line_hint_show();
    } while (advance_idle(session, fileno(in)));
    key = rl_getc(in);
    line_hint_clear();
    return key;
}

/* Above the line that is being typed. */
static void tell_above(const char *lines)
{
    line_hint_clear();
    rl_clear_visible_line();
    fputs(lines, rl_outstream);
    rl_on_new_line();
    rl_redisplay();
    fflush(rl_outstream);
}

/* ^S is a key like others, for searching: it does not stop the output while a line is edited. */
static void prep_terminal(int meta)
{
    struct termios settings;

    rl_prep_terminal(meta);
    if (tcgetattr(fileno(rl_instream), &settings) != 0)
        return;
    settings.c_iflag &= ~(tcflag_t)IXON;
    (void)tcsetattr(fileno(rl_instream), TCSADRAIN, &settings);
}

/* Keys that terminals send and readline alone does not know; those of an inputrc stay. */
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

void line_input_open(struct session *s)
{
    session = s;
    rl_readline_name = "rdmalab";
    rl_basic_word_break_characters = " \t\n;{}";
    rl_signal_event_hook = after_signal;
    rl_getc_function = getc_idling;
    rl_prep_term_function = prep_terminal;
    bind_keys();
    line_matches_open(s);
    line_hint_open(s);
    using_history();
    stifle_history((int)RECALL_MAX);
}

void line_input_close(void)
{
    line_matches_close();
}

void line_input_remember(const char *text)
{
    add_history(text);
}

char *line_input_read(const struct line_asked *asked, bool *ret_fresh)
{
    char *line;

    fresh.prompt = asked->fresh;
    fresh.wanted = false;
    line_before(asked->before);
    line_hint_prompt(asked->prompt);
    signals_at_prompt(true);
    session->tell = tell_above;
    line = readline(asked->prompt);
    session->tell = NULL;
    signals_at_prompt(false);
    line_before(NULL);
    *ret_fresh = fresh.wanted;
    return line;
}

const char *line_input_name(void)
{
    return "readline";
}
