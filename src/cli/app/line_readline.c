/* SPDX-License-Identifier: MIT */
/* GNU readline.  Its callbacks have no context argument, hence the variables here. */
#include "cli/app/line_input.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "cli/app/complete.h"
#include "cli/session/advance.h"
#include "cli/session/signals.h"
#include "emu/base/text.h"

#define HISTORY_LINES_MAX   2000
#define MATCHES_MAX         1024u
#define MEANINGS_MAX        40 /* words in lines of their own: a screen */
#define MEANING_COLUMNS_MIN 20 /* with less room than this the screen cuts them */

static struct session *session;

/* The words of the last completion, ours. */
struct matches {
    char *v[MATCHES_MAX];
    const char *meaning[MATCHES_MAX]; /* of rows, which live as long as the program, and of stops */
    size_t n, next;
};

static struct matches matches;

static struct {
    const char *prompt;
    bool wanted;
} fresh;

static void history_file(char *ret, size_t cap)
{
    const char *home = getenv("HOME");
    struct text t = text_on(ret, cap);

    if (home)
        text_addf(&t, "%s/.rdmalab_history", home);
}

static void add_match(void *ctx, const char *word, const char *meaning)
{
    struct matches *m = ctx;

    if (m->n == MATCHES_MAX)
        return;
    m->meaning[m->n] = meaning;
    m->v[m->n] = strdup(word);
    m->n += m->v[m->n] != NULL;
}

static void forget_matches(void)
{
    for (size_t i = 0; i < matches.n; i++)
        free(matches.v[i]);
    matches.n = 0;
    matches.next = 0;
}

/* Hands copies of the matches out one by one; readline frees them. */
static char *next_match(const char *text, int state)
{
    (void)text;
    (void)state;
    return matches.next < matches.n ? strdup(matches.v[matches.next++]) : NULL;
}

static const char *meaning_of(const char *word)
{
    for (size_t i = 0; i < matches.n; i++) {
        if (strcmp(matches.v[i], word) == 0)
            return matches.meaning[i];
    }
    return "";
}

/* What a word means, behind it; what the screen has no room for goes on below, cut at blanks. */
static void show_meaning(const char *meaning, int indent)
{
    int rows = 0, columns = 0;
    size_t room, n;

    rl_get_screen_size(&rows, &columns);
    room = columns > indent + MEANING_COLUMNS_MIN ? (size_t)(columns - indent - 1) : SIZE_MAX;
    while (strlen(meaning) > room) {
        for (n = room; n > 0 && meaning[n] != ' ';)
            n--;
        if (n == 0)
            break;
        fprintf(rl_outstream, "%.*s\n%*s", (int)n, meaning, indent, "");
        meaning += n + 1;
    }
    fprintf(rl_outstream, "%s\n", meaning);
}

/* A line for each word with what it means, if anything is known of one of them and a screen has
 * room for all.  @words: what they have in common, then @n of them; @longest of them in bytes.
 */
static void show_matches(char **words, int n, int longest)
{
    bool told = false;

    for (int i = 1; i <= n; i++)
        told |= meaning_of(words[i])[0] != '\0';
    if (!told || n > MEANINGS_MAX) {
        rl_display_match_list(words, n, longest);
    } else {
        rl_crlf();
        for (int i = 1; i <= n; i++) {
            const char *meaning = meaning_of(words[i]);

            fprintf(rl_outstream, "%-*s  ", meaning[0] ? longest : 0, words[i]);
            show_meaning(meaning, longest + 2);
        }
    }
    rl_forced_update_display();
}

static char **complete(const char *text, int start, int end)
{
    char *line = strndup(rl_line_buffer, (size_t)end);

    (void)start;
    rl_attempted_completion_over = 1; /* no file names, where none is wanted */
    if (!line)
        return NULL;
    forget_matches();
    if (complete_line(session, line, add_match, &matches))
        rl_attempted_completion_over = 0;
    free(line);
    /* A key is followed by its value, not by a blank. */
    for (size_t i = 0; i < matches.n; i++) {
        const size_t n = strlen(matches.v[i]);

        if (n && matches.v[i][n - 1] == '=')
            rl_completion_suppress_append = 1;
    }
    return rl_completion_matches(text, next_match);
}

/* ^C gives an empty line, which begins a statement. */
static int after_signal(void)
{
    if (!*signals_interrupted())
        return 0;
    signals_clear_interrupted();
    fresh.wanted = true;
    rl_set_prompt(fresh.prompt);
    rl_crlf();
    rl_replace_line("", 0);
    rl_on_new_line();
    rl_forced_update_display();
    fflush(rl_outstream);
    return 0;
}

/* While a person thinks, a lab with live ports goes on.  ^C is for the line, as without them. */
static int getc_idling(FILE *in)
{
    do {
        rl_check_signals();
        after_signal();
    } while (advance_idle(session, fileno(in)));
    return rl_getc(in);
}

/* Above the line that is being typed. */
static void tell_above(const char *lines)
{
    rl_clear_visible_line();
    fputs(lines, rl_outstream);
    rl_on_new_line();
    rl_redisplay();
    fflush(rl_outstream);
}

void line_input_open(struct session *s)
{
    char file[512] = "";

    session = s;
    rl_readline_name = "rdmalab";
    rl_attempted_completion_function = complete;
    rl_completion_display_matches_hook = show_matches;
    rl_basic_word_break_characters = " \t\n;{}";
    rl_signal_event_hook = after_signal;
    rl_getc_function = getc_idling;
    using_history();
    history_file(file, sizeof(file));
    if (file[0])
        read_history(file);
}

void line_input_close(void)
{
    char file[512] = "";

    forget_matches();
    history_file(file, sizeof(file));
    if (!file[0])
        return;
    stifle_history(HISTORY_LINES_MAX);
    write_history(file);
}

char *line_input_read(const char *prompt, const char *fresh_prompt, bool *ret_fresh)
{
    char *line;

    fresh.prompt = fresh_prompt;
    fresh.wanted = false;
    signals_at_prompt(true);
    session->tell = tell_above;
    line = readline(prompt);
    session->tell = NULL;
    signals_at_prompt(false);
    *ret_fresh = fresh.wanted;
    if (line && *line)
        add_history(line);
    return line;
}

const char *line_input_name(void)
{
    return "readline";
}
