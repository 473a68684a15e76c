/* SPDX-License-Identifier: MIT */
/* The only variables of the program that are not in a struct: a signal handler has no arguments. */
#include "cli/signals.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli/session.h"
#include "emu/base/text.h"

#define REPLAY_BYTES 1024u

static volatile sig_atomic_t interrupted, at_prompt;
static char replay[REPLAY_BYTES];

static void put(const char *s)
{
    /* Nothing can be done here about a failed write. */
    if (write(STDERR_FILENO, s, strlen(s)) < 0)
        return;
}

static void on_interrupt(int number)
{
    (void)number;
    if (interrupted && !at_prompt)
        _exit(EXIT_INTERRUPTED);
    interrupted = 1;
}

static void on_abort(int number)
{
    (void)number;
    put("rdmalab: this is a bug of rdmalab; to see it again: ");
    put(replay[0] ? replay : "repeat the command");
    put("\n");
    _exit(EXIT_BROKEN);
}

void signals_start(void)
{
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    struct sigaction broken = {.sa_handler = on_abort};

    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGABRT, &broken, NULL);
    signal(SIGPIPE, SIG_DFL);
}

const volatile sig_atomic_t *signals_interrupted(void)
{
    return &interrupted;
}

void signals_clear_interrupted(void)
{
    interrupted = 0;
}

void signals_at_prompt(bool at)
{
    interrupted = 0;
    at_prompt = at;
}

void signals_replay(const char *fmt, ...)
{
    struct text t = text_on(replay, sizeof(replay));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
}
