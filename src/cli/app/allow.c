/* SPDX-License-Identifier: MIT */
#include "cli/app/allow.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "cli/session/session.h"
#include "print/plain.h"
#include "print/shell.h"

bool allow_read(const struct allow *a, unsigned *ret)
{
    size_t at, len;

    *ret = a->all ? PERMIT_ALL : 0;
    if (!a->text || permit_parse(a->text, ret, &at, &len))
        return true;
    fputs("rdmalab: --allow ", stderr);
    print_plain(stderr, a->text, false);
    fputs(": it takes", stderr);
    for (unsigned p = 0; p < N_PERMITS; p++)
        fprintf(stderr, "%s %s", p ? "," : "", permit_word((enum permit)p));
    fputs(", with commas between several\n", stderr);
    return false;
}

void allow_add(struct text *t, const struct allow *a)
{
    shell_add_option(t, "--allow", a->text);
    text_add(t, a->all ? " --no-sandbox" : "");
}

void allow_add_set(struct text *t, unsigned set)
{
    text_add(t, set ? " --allow " : "");
    for (unsigned p = 0; p < N_PERMITS; p++) {
        if (set >> p & 1)
            text_addf(t, "%s%s", set & ((1u << p) - 1) ? "," : "", permit_word((enum permit)p));
    }
}

/* Reads a line from the terminal.  Returns true if it begins as a yes does.  The end of the input
 * and ^C are a no.
 */
static bool read_yes(void)
{
    char line[8] = "";
    size_t n = 0;
    char c;

    while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n') {
        if (n + 1 < sizeof(line))
            line[n++] = c;
    }
    return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
}

/* Asks the question, which a stranger's text is part of.  What was typed before it was shown is no
 * answer to it.
 */
static bool ask(const char *question)
{
    fflush(stdout);
    print_plain(stderr, question, true);
    fputs("allow it? [y/N] ", stderr);
    fflush(stderr);
    (void)tcflush(STDIN_FILENO, TCIFLUSH);
    return read_yes();
}

void allow_ask(struct session_config *config)
{
    if (isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1)
        config->ask = ask;
}
