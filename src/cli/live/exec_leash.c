/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_leash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/live/live_internal.h"
#include "process/must.h"
#include "program/protocol.h"

#define END_MS  1000u
#define LOOK_MS 2u

#define STANDARD_PATH "PATH=/usr/bin:/bin"

/* $1 is the directory, $2 the beginning of a line of the environment.  A pattern of grep -F matches
 * in binary files, too.  A process may start another one between grep and kill: so there are
 * several rounds, of which the last finds nothing.
 */
static const char script[] = "read -r _\n"
                             "for round in 1 2 3 4 5 6 7 8 9; do\n"
                             "  files=$(grep -lsF \"$2=$1/socket\" /proc/[0-9]*/environ)\n"
                             "  [ \"$files\" ] || break\n"
                             "  for file in $files; do\n"
                             "    pid=${file#/proc/}\n"
                             "    kill -s KILL \"${pid%/environ}\"\n"
                             "  done\n"
                             "done\n"
                             "rm -rf \"$1\"\n";

static void on_exit_of(uv_process_t *process, int64_t status, int signal_number)
{
    struct exec_leash *l = process->data;

    (void)status;
    (void)signal_number;
    l->exited = true;
    uv_close((uv_handle_t *)process, NULL);
}

/* Returns the environment of the shell: the path of its tools, to be freed. */
static char *path_of_tools(void)
{
    const char *path = getenv("PATH");
    const bool has = path && *path;
    const size_t n = sizeof(STANDARD_PATH) + (has ? strlen(path) : 0) + 1;
    char *ret = must_malloc(n);

    snprintf(ret, n, STANDARD_PATH "%s%s", has ? ":" : "", has ? path : "");
    return ret;
}

/* The shell has nothing else in its environment: if this process is itself a program of a lab, the
 * leash of that lab must not end this one, which has more to do.
 */
bool exec_leash_start(struct exec_leash *l, uv_loop_t *loop, const char *directory,
                      struct live_error *reterr)
{
    /* uv_spawn() does not write to the strings. */
    char *args[] = {(char *)"sh",
                    (char *)"-c",
                    (char *)script,
                    (char *)"rdmalab",
                    (char *)directory,
                    (char *)PROGRAM_ENV_SOCKET,
                    NULL};
    char *env[] = {path_of_tools(), NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_IGNORE}};
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = "/bin/sh",
        .args = args,
        .env = env,
        .flags = UV_PROCESS_DETACHED, /* ^C at the terminal is not for it */
        .stdio_count = 3,
        .stdio = stdio,
    };
    int ends[2], st = uv_pipe(ends, 0, 0);

    l->fd = -1;
    if (st == 0) {
        l->exited = false;
        l->process.data = l;
        stdio[0] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = ends[0]};
        st = uv_spawn(loop, &l->process, &options);
        close(ends[0]);
        l->fd = ends[1];
    }
    free(env[0]);
    if (st == 0) {
        uv_unref((uv_handle_t *)&l->process); /* nothing waits for its end */
        return true;
    }
    if (l->fd >= 0) {
        close(l->fd);
        uv_close((uv_handle_t *)&l->process, NULL);
        uv_run(loop, UV_RUN_NOWAIT);
    }
    l->fd = -1;
    live_error_set(reterr, "no process that ends programs with rdmalab", uv_strerror(st),
                   "\"ulimit -a\" tells how many files and processes there may be");
    return false;
}

void exec_leash_end(struct exec_leash *l)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    if (l->fd < 0)
        return;
    close(l->fd);
    l->fd = -1;
    uv_ref((uv_handle_t *)&l->process); /* or the loop would not look for its end */
    for (unsigned waited = 0; !l->exited && waited < END_MS; waited += LOOK_MS) {
        uv_run(l->process.loop, UV_RUN_NOWAIT);
        if (!l->exited)
            nanosleep(&pause, NULL);
    }
    if (!l->exited)
        uv_close((uv_handle_t *)&l->process, NULL);
    uv_run(l->process.loop, UV_RUN_NOWAIT);
}
