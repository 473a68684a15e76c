/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/live/exec_file.h"
#include "cli/live/live_internal.h"
#include "print/utf8.h"
#include "process/exit_status.h"

#define FORCED_MS 1000u
#define LOOK_MS   5u

#define UTF8_BYTES 4u /* of a character, at most */

extern char **environ;

/* --- Output ----------------------------------------------------------------------------------- */

/* Prints the character at @s, of which @left bytes are there, as it is if a terminal and a log show
 * it, and as an escape otherwise.  Returns its length.
 */
static size_t print_character(FILE *out, const char *s, size_t left)
{
    uint32_t c = 0;
    const size_t n = utf8_character(s, left, &c), used = n ? n : 1;

    if (n > 0 && (c == '\t' || !utf8_controls(c)) && !utf8_begins_command(s, false)) {
        fwrite(s, 1, n, out);
        return used;
    }
    for (size_t i = 0; i < used; i++)
        fprintf(out, "\\x%02x", (unsigned char)s[i]);
    return used;
}

/* Prints the first @n bytes of the line, as one. */
static void print_part(struct exec_stream *s, size_t n)
{
    FILE *out = s->process->out;

    s->line[s->n] = '\0';
    fprintf(out, "%s: ", s->process->name);
    for (size_t at = 0; at < n;)
        at += print_character(out, s->line + at, n - at);
    fputc('\n', out);
    s->n -= n;
    memmove(s->line, s->line + n, s->n);
}

static void print_line(struct exec_stream *s)
{
    print_part(s, s->n);
}

/* Prints a line that is too long, but not the beginning of a character at its end. */
static void print_full(struct exec_stream *s)
{
    size_t last = s->n - 1;
    uint32_t c;

    while (s->n - last < UTF8_BYTES && ((unsigned char)s->line[last] & 0xc0u) == 0x80)
        last--;
    if ((unsigned char)s->line[last] >= 0xc0 && !utf8_character(s->line + last, s->n - last, &c))
        print_part(s, last);
    else
        print_part(s, s->n);
}

/* Control characters could do anything to the terminal: a program that draws is not shown so. */
static void take_char(struct exec_stream *s, char c)
{
    if (c == '\n') {
        print_line(s);
    } else if ((unsigned char)c >= ' ' || c == '\t') {
        if (s->n == EXEC_LINE_BYTES)
            print_full(s);
        s->line[s->n++] = c;
    }
}

static void look_whether_over(struct exec_process *p)
{
    p->over = p->exited && !p->streams[0].open && !p->streams[1].open;
}

static void close_stream(struct exec_stream *s)
{
    if (!s->open)
        return;
    if (s->n > 0)
        print_line(s);
    uv_close((uv_handle_t *)&s->pipe, NULL);
    s->open = false;
    look_whether_over(s->process);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct exec_stream *s = h->data;

    (void)suggested;
    *buf = uv_buf_init(s->process->chunk, sizeof(s->process->chunk));
}

static void on_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct exec_stream *s = stream->data;

    s->process->n_heard += n != 0;
    for (ssize_t i = 0; i < n; i++)
        take_char(s, buf->base[i]);
    if (n < 0)
        close_stream(s);
}

/* --- The process ------------------------------------------------------------------------------ */

static void on_exit_of(uv_process_t *process, int64_t status, int signal_number)
{
    struct exec_process *p = process->data;

    p->n_heard++;
    p->exited = true;
    p->signal = signal_number;
    p->status = signal_number ? EXIT_SIGNALS + signal_number : status;
    if (!p->direct)
        kill(-process->pid, SIGKILL); /* processes that it left behind */
    uv_close((uv_handle_t *)process, NULL);
    look_whether_over(p);
}

static size_t name_length(const char *pair)
{
    return strcspn(pair, "=");
}

static bool is_replaced(const char *pair, const char *const *by)
{
    const size_t n = name_length(pair);

    for (; *by; by++) {
        if (name_length(*by) == n && memcmp(*by, pair, n) == 0)
            return true;
    }
    return false;
}

/* The environment of this process with @more, in an array to be freed; NULL: no memory. */
static char **environment(const char *const *more)
{
    size_t n = 0, n_more = 0, k = 0;
    char **all;

    while (environ[n])
        n++;
    while (more[n_more])
        n_more++;
    all = malloc((n + n_more + 1) * sizeof(*all));
    for (size_t i = 0; all && i < n; i++) {
        if (!is_replaced(environ[i], more))
            all[k++] = environ[i];
    }
    for (size_t i = 0; all && i < n_more; i++)
        all[k++] = (char *)more[i]; /* uv_spawn() does not write to the strings */
    if (all)
        all[k] = NULL;
    return all;
}

/* Opens a pipe for a stream.  Returns its write end, for the process; -1 with errno on failure. */
static int open_stream(struct exec_process *p, unsigned i)
{
    struct exec_stream *s = &p->streams[i];
    int ends[2], st = uv_pipe(ends, 0, 0);

    if (st != 0)
        return st;
    s->process = p;
    s->n = 0;
    uv_pipe_init(p->loop, &s->pipe, 0);
    s->pipe.data = s;
    s->open = true;
    st = uv_pipe_open(&s->pipe, ends[0]);
    if (st == 0)
        return ends[1];
    close(ends[0]);
    close(ends[1]);
    return st;
}

static int spawn(struct exec_process *p, const char *const *words, char **env)
{
    uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE}};
    const uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = words[0],
        .args = (char **)words, /* uv_spawn() does not write to them */
        .env = env,
        .flags = p->direct ? 0 : UV_PROCESS_DETACHED,
        .stdio_count = 3,
        .stdio = stdio,
    };
    const int before = personality(0xffffffff);
    int ends[2] = {-1, -1}, st = 0;

    for (int i = 0; i < 3 && p->direct; i++)
        stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = i};
    for (unsigned i = 0; i < 2 && st == 0 && !p->direct; i++) {
        ends[i] = open_stream(p, i);
        if (ends[i] < 0)
            st = ends[i];
        stdio[1 + i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = ends[i]};
    }
    if (st == 0 && p->alike && before != -1)
        (void)personality((unsigned long)before | ADDR_NO_RANDOMIZE); /* the program inherits it */
    if (st == 0)
        st = uv_spawn(p->loop, &p->process, &options);
    if (p->alike && before != -1)
        (void)personality((unsigned long)before);
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
    return st;
}

bool exec_process_start(struct exec_process *p, const char *const *words, const char *const *env,
                        struct live_error *reterr)
{
    char **all = environment(env);
    int st;

    p->exited = p->over = false;
    p->process = (uv_process_t){.data = p};
    st = all ? spawn(p, words, all) : UV_ENOMEM;
    free(all);
    if (st == 0) {
        p->started = true;
        for (unsigned i = 0; i < 2 && !p->direct; i++)
            uv_read_start((uv_stream_t *)&p->streams[i].pipe, on_alloc, on_output);
        return true;
    }
    for (unsigned i = 0; i < 2; i++)
        close_stream(&p->streams[i]);
    if (p->process.loop) /* the handle was initialized */
        uv_close((uv_handle_t *)&p->process, NULL);
    uv_run(p->loop, UV_RUN_NOWAIT);
    if (st == UV_ENOENT || st == UV_EACCES)
        exec_file_explain(words[0], uv_strerror(st), reterr);
    else
        live_error_set(reterr, "no process", uv_strerror(st),
                       "\"ulimit -a\" tells how many files and processes there may be");
    return false;
}

bool exec_process_ends(const struct exec_process *p)
{
    siginfo_t info = {.si_pid = 0};

    return p->started && !p->exited &&
           waitid(P_PID, (id_t)p->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

void exec_process_kill(struct exec_process *p, int signal)
{
    if (p->started && !p->exited)
        kill(p->direct ? p->process.pid : -p->process.pid, signal);
}

unsigned exec_process_wait(struct exec_process *p, unsigned ms)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
    unsigned left = ms;

    for (; p->started && !p->exited && left > 0; left -= left < LOOK_MS ? left : LOOK_MS) {
        uv_run(p->loop, UV_RUN_NOWAIT);
        if (!p->exited)
            nanosleep(&pause, NULL);
    }
    return left;
}

void exec_process_stop(struct exec_process *p)
{
    if (!p->started)
        return;
    exec_process_kill(p, SIGKILL);
    (void)exec_process_wait(p, FORCED_MS);
    for (unsigned i = 0; i < 2; i++)
        close_stream(&p->streams[i]);
    if (!p->exited) /* SIGKILL has not taken effect yet; do not wait for it */
        uv_close((uv_handle_t *)&p->process, NULL);
    uv_run(p->loop, UV_RUN_NOWAIT); /* closes the handles */
    p->started = false;
}
