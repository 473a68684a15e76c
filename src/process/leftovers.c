/* SPDX-License-Identifier: MIT */
/* Variables of the file, because a signal handler has no arguments. */
#include "process/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/base/assert.h"
#include "process/fd_name.h"
#include "process/signals.h"

/* At the same time: a file for each session, the directory of `test`, and one for each virtual
 * machine.
 */
#define LEFTOVERS_MAX 16u

#define NO_DIR INT_MIN

static struct {
    const char *volatile name; /* NULL: free */
    int dir;     /* directory of a file, for unlinkat(); NO_DIR: @name is a directory */
    pid_t owner; /* a child process has the names, too, but the files are not its own */
} all[LEFTOVERS_MAX];

static volatile sig_atomic_t removes_at_exit;

/* Deletes the directory @name with all that is in it.  Only another program can do that from a
 * signal handler.  It runs with the signal mask @mask.
 */
static void remove_tree(const char *name, const sigset_t *mask)
{
    const pid_t pid = fork();

    if (pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        execl("/bin/rm", "rm", "-rf", "--", name, (char *)NULL);
        _exit(1);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void leftovers_remove(void)
{
    const int before = errno;
    sigset_t mask;

    signals_block(&mask); /* a second one would end the process with a name that is forgotten */
    for (size_t i = 0; i < LEFTOVERS_MAX; i++) {
        const char *name = all[i].name;

        if (!name || all[i].owner != getpid())
            continue;
        all[i].name = NULL;
        if (all[i].dir == NO_DIR)
            remove_tree(name, &mask);
        else
            (void)unlinkat(all[i].dir, name, 0);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    errno = before;
}

static size_t free_place(void)
{
    size_t i = 0;

    if (!removes_at_exit)
        removes_at_exit = atexit(leftovers_remove) == 0;
    while (i < LEFTOVERS_MAX && all[i].name && all[i].owner == getpid())
        i++;
    RDL_ASSERT(i < LEFTOVERS_MAX);
    return i;
}

static void remember(const char *name, int dir)
{
    const size_t i = free_place();

    all[i].dir = dir;
    all[i].owner = getpid();
    all[i].name = name;
}

/* No signal may come between the creation of a file and the moment when its name is known. */
int leftovers_create(int dir, const char *name, int flags)
{
    sigset_t before;
    int fd;

    signals_block(&before);
    fd = openat(dir, name, flags, 0666);
    if (fd >= 0)
        remember(name, dir);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fd;
}

int leftovers_link(int fd, int dir, const char *name)
{
    sigset_t before;
    int error;

    signals_block(&before);
    error = fd_link(fd, dir, name);
    if (!error)
        remember(name, dir);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

bool leftovers_create_directory(char *name)
{
    sigset_t before;
    bool made;

    signals_block(&before);
    made = mkdtemp(name) != NULL;
    if (made)
        remember(name, NO_DIR);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return made;
}

void leftovers_forget(const char *name)
{
    for (size_t i = 0; i < LEFTOVERS_MAX; i++) {
        if (all[i].name == name && all[i].owner == getpid())
            all[i].name = NULL;
    }
}
