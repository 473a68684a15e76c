/* SPDX-License-Identifier: MIT */
/* The only global variables of the program: a signal handler has no arguments. */
#include "process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "process/exit_status.h"
#include "process/leftovers.h"

#define REPLAY_BYTES 16384u
#define PATIENCE_S   2

static volatile sig_atomic_t interrupted, since_s, at_prompt, lasting;
static char replay[REPLAY_BYTES];

/* Signals that ask a program to end.  A terminal sends SIGINT and SIGHUP to child processes, too.
 */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP};

/* Signals that end the process at once, unless they are endings. */
static const int deaths[] = {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};

static void put(const char *s)
{
    /* A failed write cannot be handled here. */
    if (write(STDERR_FILENO, s, strlen(s)) < 0)
        return;
}

/* Discards further output if nobody reads it, so that it cannot block the end of the program. */
static void let_go_of_output(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    int nowhere;

    if (poll(&out, 1, 0) != 0)
        return;
    nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}

static int now_s(void)
{
    struct timespec now = {.tv_sec = 0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)now.tv_sec;
}

/* Returns true if the first signal had no effect.  A user at a prompt who presses ^C twice wants
 * the prompt, so PATIENCE_S must have passed there.
 */
static bool is_too_late(void)
{
    return !lasting || now_s() - since_s >= PATIENCE_S;
}

static void on_ending(int number)
{
    const int before = errno;

    if (interrupted && interrupted != SIGALRM && !at_prompt && is_too_late()) {
        leftovers_remove();
        _exit(EXIT_SIGNALS + number);
    }
    if (!interrupted || interrupted == SIGALRM)
        since_s = now_s();
    interrupted = number;
    if (!lasting)
        let_go_of_output();
    errno = before;
}

static void on_alarm(int number)
{
    if (!interrupted)
        interrupted = number;
}

static void on_abort(int number)
{
    (void)number;
    put("rdmalab: this is a bug of rdmalab; to see it again: ");
    put(replay[0] ? replay : "repeat the command");
    put("\n");
    leftovers_remove();
    _exit(EXIT_BROKEN);
}

/* Leaves no temporary files, and ends as if the signal had not been caught. */
static void on_death(int number)
{
    leftovers_remove();
    signal(number, SIG_DFL);
    raise(number);
}

/* Lets @number end the process, unless it is ignored: `nohup` ignores SIGHUP; keep that. */
static void catch_death(int number)
{
    const struct sigaction death = {.sa_handler = on_death, .sa_flags = SA_NODEFER};
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &death, NULL);
}

void signals_start(void)
{
    const struct sigaction interrupt = {.sa_handler = on_ending};
    const struct sigaction broken = {.sa_handler = on_abort};

    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGABRT, &broken, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN); /* a file that becomes too large is a write error */
    for (size_t i = 0; i < ARRAY_LEN(deaths); i++)
        catch_death(deaths[i]);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the exit status of children would be lost */
}

void signals_catch_endings(void)
{
    const struct sigaction ending = {.sa_handler = on_ending};
    struct sigaction before;

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (sigaction(endings[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(endings[i], &ending, NULL);
    }
}

void signals_alarm_after(uint64_t s)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval after = {.it_value = {.tv_sec = (time_t)s}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &after, NULL);
}

void signals_catch_pipe(void)
{
    const struct sigaction ending = {.sa_handler = on_ending};

    sigaction(SIGPIPE, &ending, NULL);
}

static void be_child(void)
{
    const struct sigaction death = {.sa_handler = on_death, .sa_flags = SA_NODEFER};

    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigaction(SIGTERM, &death, NULL);
}

void signals_block(sigset_t *ret_before)
{
    sigset_t every;

    sigfillset(&every);
    sigprocmask(SIG_SETMASK, &every, ret_before);
}

pid_t signals_fork(void)
{
    sigset_t before;
    pid_t pid;
    int why;

    signals_block(&before);
    pid = fork();
    why = errno;
    if (pid == 0)
        be_child();
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return pid;
}

const volatile sig_atomic_t *signals_interrupted(void)
{
    return &interrupted;
}

int signals_exit_status(void)
{
    return EXIT_SIGNALS + (int)interrupted;
}

void signals_clear_interrupted(void)
{
    interrupted = 0;
}

void signals_outlast(void)
{
    lasting = 1;
}

void signals_at_prompt(bool at)
{
    const struct sigaction interrupt = {.sa_handler = on_ending, .sa_flags = at ? 0 : SA_RESTART};

    at_prompt = at;
    sigaction(SIGINT, &interrupt, NULL); /* SA_RESTART: ^C must not lose output of a command */
}

static void on_resize(int number)
{
    (void)number;
}

void signals_wake_on_resize(bool on)
{
    const struct sigaction resize = {.sa_handler = on ? on_resize : SIG_DFL};

    sigaction(SIGWINCH, &resize, NULL);
}

void signals_replay(const char *fmt, ...)
{
    struct text t = text_on(replay, sizeof(replay));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    if (t.cut)
        replay[0] = '\0';
}
