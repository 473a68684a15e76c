/* SPDX-License-Identifier: MIT */
#include "cli/live/vm_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/live/live_internal.h"
#include "cli/live/vm_transport.h"

#define POLITE_MS 1000u /* time after SIGTERM */
#define FORCED_MS 1000u
#define LOOK_MS   5u

/* $1 is the command, $2 the value of its $LAB.  Descriptor 6 is the leash: it is closed when
 * rdmalab ends or stops the machine.  On SIGTERM, which the command receives too, this shell waits
 * for the command.
 */
#define LEASH_FD (VM_FDS_FIRST + (int)VM_FDS)
static const char script[] = "{ read _ <&6; kill -KILL 0; } 3>&- 4>&- 5>&- >/dev/null 2>&1 &\n"
                             "exec 6<&-\n"
                             "trap : TERM\n"
                             "LAB=$2\n"
                             "eval \"$1\"";

/* Keeps the last line of the output, with only printable characters. */
static void keep_line(struct vm_process *p, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char c = bytes[i];

        if (c == '\n' || c == '\r') {
            p->next[p->n_next] = '\0';
            if (p->n_next > 0)
                memcpy(p->line, p->next, p->n_next + 1);
            p->n_next = 0;
        } else if (c >= ' ' && c <= '~' && p->n_next + 1 < sizeof(p->next)) {
            p->next[p->n_next++] = c;
        }
    }
}

/* After a write error the log is closed. */
static void keep_in_log(struct vm_process *p, const char *bytes, size_t n)
{
    if (!p->log || (fwrite(bytes, 1, n, p->log) == n && fflush(p->log) == 0))
        return;
    p->log_error = errno;
    fclose(p->log);
    p->log = NULL;
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct vm_process *p = h->data;

    (void)suggested;
    *buf = uv_buf_init(p->chunk, sizeof(p->chunk));
}

static void look_whether_over(struct vm_process *p)
{
    p->over = p->exited && !p->output_open;
}

static void close_output(struct vm_process *p)
{
    if (!p->output_open)
        return;
    keep_line(p, "\n", 1);
    uv_close((uv_handle_t *)&p->output, NULL);
    p->output_open = false;
    look_whether_over(p);
}

static void on_output(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
    struct vm_process *p = s->data;

    if (n < 0) {
        close_output(p);
    } else if (n > 0) {
        keep_line(p, buf->base, (size_t)n);
        keep_in_log(p, buf->base, (size_t)n);
    }
}

static void on_exit_of(uv_process_t *process, int64_t status, int signal_number)
{
    struct vm_process *p = process->data;

    p->exited = true;
    p->status = signal_number ? 128 + signal_number : status;
    /* Kills the shell at the leash, and processes that the command left behind. */
    kill(-process->pid, SIGKILL);
    uv_close((uv_handle_t *)process, NULL);
    look_whether_over(p);
}

static int spawn(struct vm_process *p, const char *command, const struct vm_launch *launch,
                 int leash)
{
    /* uv_spawn() does not write to the strings. */
    char *args[] = {(char *)"sh",
                    (char *)"-c",
                    (char *)script,
                    (char *)"rdmalab",
                    (char *)command,
                    (char *)launch->options,
                    NULL};
    uv_stdio_container_t stdio[LEASH_FD + 1] = {{.flags = UV_IGNORE}};
    uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = "/bin/sh",
        .args = args,
        .flags = UV_PROCESS_DETACHED,
        .stdio_count = LEASH_FD + 1,
        .stdio = stdio,
    };
    int out[2], st = uv_pipe(out, 0, 0);

    if (st != 0)
        return st;
    st = uv_pipe_open(&p->output, out[0]);
    if (st != 0) {
        close(out[0]);
        close(out[1]);
        return st;
    }
    stdio[1] = stdio[2] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = out[1]};
    for (unsigned i = 0; i < launch->n_fds; i++)
        stdio[VM_FDS_FIRST + i] =
            (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = launch->fds[i]};
    stdio[LEASH_FD] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = leash};
    st = uv_spawn(p->loop, &p->process, &options);
    close(out[1]);
    return st;
}

static bool cannot_start(const char *what, int st, struct live_error *reterr)
{
    live_error_set(reterr, what, uv_strerror(st),
                   "\"ulimit -a\" tells how many files and processes there may be");
    return false;
}

bool vm_process_start(struct vm_process *p, const char *command, const struct vm_launch *launch,
                      FILE *log, struct live_error *reterr)
{
    int leash[2], st = uv_pipe(leash, 0, 0);

    if (st != 0)
        return cannot_start("no pipe", st, reterr);
    p->leash = leash[1];
    p->process.data = p->output.data = p;
    uv_pipe_init(p->loop, &p->output, 0);
    p->output_open = true;
    st = spawn(p, command, launch, leash[0]);
    close(leash[0]);
    if (st != 0) {
        close_output(p);
        if (p->process.loop) /* the handle was initialized */
            uv_close((uv_handle_t *)&p->process, NULL);
        uv_run(p->loop, UV_RUN_NOWAIT);
        close(p->leash);
        return cannot_start("no process", st, reterr);
    }
    p->started = true;
    p->log = log;
    uv_read_start((uv_stream_t *)&p->output, on_alloc, on_output);
    return true;
}

/* Runs the loop until the process has ended, for at most @ms. */
static void wait_for(struct vm_process *p, unsigned ms)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (unsigned waited = 0; !p->exited && waited < ms; waited += LOOK_MS) {
        uv_run(p->loop, UV_RUN_NOWAIT);
        if (!p->exited)
            nanosleep(&pause, NULL);
    }
}

void vm_process_stop(struct vm_process *p)
{
    if (!p->started)
        return;
    if (!p->exited) {
        kill(-p->process.pid, SIGTERM);
        wait_for(p, POLITE_MS);
    }
    if (!p->exited) {
        kill(-p->process.pid, SIGKILL);
        wait_for(p, FORCED_MS);
    }
    close_output(p);
    if (!p->exited) /* SIGKILL has not taken effect yet; do not wait for it */
        uv_close((uv_handle_t *)&p->process, NULL);
    uv_run(p->loop, UV_RUN_NOWAIT); /* closes the handles */
    close(p->leash);
    if (p->log)
        fclose(p->log);
    p->log = NULL;
    p->started = false;
}
