/* SPDX-License-Identifier: MIT */
/* TAB with GNU readline: the candidates and their meanings. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/readline.h>

#include "cli/app/line_keys.h"
#include "cli/complete/complete.h"

#define MATCHES_MAX         1024u
#define MEANINGS_MAX        40 /* candidates on lines of their own: one screen */
#define MEANING_COLUMNS_MIN 20 /* with less space, meanings are not wrapped */

static struct session *session;
static const char *before;

struct tab_match {
    char *word, *meaning;
    bool barred, open;
};

/* Candidates of the last completion. */
static struct {
    struct tab_match v[MATCHES_MAX];
    size_t n, n_barred;
} matches;

void line_before(const char *lines)
{
    before = lines;
}

char *line_so_far(size_t n)
{
    const size_t room = (before ? strlen(before) : 0) + n + 1;
    char *line = malloc(room);
    struct text t;

    if (!line)
        return NULL;
    t = text_on(line, room);
    if (before)
        text_add(&t, before);
    text_addn(&t, rl_line_buffer, n);
    return line;
}

static void add_match(void *ctx, const struct offer *o)
{
    struct tab_match m = {.barred = o->barred, .open = o->open};

    (void)ctx;
    if (matches.n == MATCHES_MAX)
        return;
    m.word = strdup(o->word);
    m.meaning = strdup(o->meaning);
    if (!m.word || !m.meaning) {
        free(m.word);
        free(m.meaning);
        return;
    }
    matches.v[matches.n++] = m;
    matches.n_barred += m.barred;
}

static void forget_matches(void)
{
    for (size_t i = 0; i < matches.n; i++) {
        free(matches.v[i].word);
        free(matches.v[i].meaning);
    }
    matches.n = 0;
    matches.n_barred = 0;
}

static const struct tab_match *match_of(const char *word)
{
    for (size_t i = 0; i < matches.n; i++) {
        if (strcmp(matches.v[i].word, word) == 0)
            return &matches.v[i];
    }
    return NULL;
}

/* Prints the meaning of a candidate after it, wrapped at blanks. */
static void show_meaning(const struct tab_match *m, int indent)
{
    const char *meaning = m->meaning;
    int rows = 0, columns = 0;
    size_t room, n;

    rl_get_screen_size(&rows, &columns);
    room = columns > indent + MEANING_COLUMNS_MIN ? (size_t)(columns - indent - 3) : SIZE_MAX;
    if (m->barred)
        fputc('(', rl_outstream);
    while (strlen(meaning) > room) {
        for (n = room; n > 0 && meaning[n] != ' ';)
            n--;
        if (n == 0)
            break;
        fprintf(rl_outstream, "%.*s\n%*s", (int)n, meaning, indent, "");
        meaning += n + 1;
    }
    fprintf(rl_outstream, "%s%s\n", meaning, m->barred ? ")" : "");
}

/* Prints a line for each candidate with its meaning, if there is any meaning and they all fit on
 * the screen.  @words: the common prefix, then @n candidates; @longest: bytes of the longest.
 */
static void show_matches(char **words, int n, int longest)
{
    bool told = false;

    line_hint_clear();
    for (int i = 1; i <= n; i++) {
        const struct tab_match *m = match_of(words[i]);

        told |= m && m->meaning[0];
    }
    if (!told || n > MEANINGS_MAX) {
        rl_display_match_list(words, n, longest);
    } else {
        rl_crlf();
        for (int i = 1; i <= n; i++) {
            const struct tab_match *m = match_of(words[i]);
            const bool has_meaning = m && m->meaning[0];

            fprintf(rl_outstream, "%-*s%s", has_meaning ? longest : 0, words[i],
                    has_meaning ? "  " : "\n");
            if (has_meaning)
                show_meaning(m, longest + 2);
        }
    }
    rl_forced_update_display();
}

/* Length of the common prefix of the candidates that would not be refused. */
static size_t common_bytes(const char **ret_first)
{
    size_t n = 0;

    *ret_first = NULL;
    for (size_t i = 0; i < matches.n; i++) {
        size_t same = 0;

        if (matches.v[i].barred)
            continue;
        if (!*ret_first) {
            *ret_first = matches.v[i].word;
            n = strlen(*ret_first);
        }
        while (same < n && matches.v[i].word[same] == (*ret_first)[same])
            same++;
        n = same;
    }
    return n;
}

/* Builds the list for readline, which frees it: the common prefix, the words, NULL.  With @usable,
 * only candidates that would not be refused.
 */
static char **list_of(char *common, bool usable)
{
    char **list = common ? calloc(matches.n + 2, sizeof(*list)) : NULL;
    size_t n = 1;

    if (!list) {
        free(common);
        return NULL;
    }
    list[0] = common;
    for (size_t i = 0; i < matches.n; i++) {
        if (!usable || !matches.v[i].barred)
            list[n] = strdup(matches.v[i].word);
        n += list[n] != NULL;
    }
    return list;
}

/* Prints why each candidate would be refused.  The line stays as it is. */
static void show_barred(const char *text)
{
    char **list = list_of(strdup(text), false);
    size_t longest = 0, n = 0;

    for (; list && list[n + 1]; n++) {
        const size_t len = strlen(list[n + 1]);

        longest = len > longest ? len : longest;
    }
    if (n > 0)
        show_matches(list, (int)n, (int)longest);
    for (size_t i = 0; list && i <= n; i++)
        free(list[i]);
    free(list);
}

static char **complete(const char *text, int start, int end)
{
    char *line = line_so_far((size_t)end);
    const char *first;
    size_t n;

    (void)start;
    rl_attempted_completion_over = 1; /* do not complete file names */
    forget_matches();
    if (!line)
        return NULL;
    if (complete_line(session, line, add_match, NULL) && matches.n == 0)
        rl_attempted_completion_over = 0;
    free(line);
    if (matches.n == 0)
        return NULL;
    n = common_bytes(&first);
    if (!first) {
        show_barred(text);
        return NULL;
    }
    if (matches.n - matches.n_barred == 1) {
        /* A key is followed by its value, not by a blank. */
        if (match_of(first)->open)
            rl_completion_suppress_append = 1;
        return list_of(strdup(first), true);
    }
    return list_of(strndup(first, n), false);
}

void line_matches_open(struct session *s)
{
    session = s;
    rl_attempted_completion_function = complete;
    rl_completion_display_matches_hook = show_matches;
}

void line_matches_close(void)
{
    forget_matches();
}
