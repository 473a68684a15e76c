/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2(), prlimit() */ /* NOLINT(bugprone-reserved-identifier): glibc's own  \
                                                name */
#include "cli/graph/graphviz.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/must.h"
#include "process/signals.h"
#include "viz/svg.h"

#define DATA_BYTES   ((rlim_t)1 << 30)
#define OUTPUT_BYTES ((size_t)64 << 20)
#define CHUNK_BYTES  65536u
#define NAP_MS       5 /* between two looks at whether it has ended */

/* The child, and the ends of the pipes to it: -1 if closed. */
struct child {
    pid_t pid;
    int in, out;     /* to its input, from its output */
    uint64_t end_ms; /* of its time */
};

/* Bytes that grow. */
struct bytes {
    char *v;
    size_t n, cap;
};

static void bytes_put(void *ctx, const char *from, size_t n)
{
    struct bytes *b = ctx;

    if (b->cap - b->n < n + 1) {
        b->cap = 2 * (b->n + n + 1);
        b->v = must_realloc(b->v, b->cap);
    }
    memcpy(b->v + b->n, from, n);
    b->n += n;
    b->v[b->n] = '\0';
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

/* --- The program ------------------------------------------------------------------------------ */

/* Finds `dot` in the absolute directories of $PATH: a relative one may be that of a script. */
static bool find_program(char ret[PATH_MAX])
{
    const char *path = getenv("PATH");

    while (path && *path) {
        const size_t n = strcspn(path, ":");
        struct text t = text_on(ret, PATH_MAX);

        text_addn(&t, path, n);
        text_add(&t, "/dot");
        if (path[0] == '/' && !t.cut && access(ret, X_OK) == 0)
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

static int prepare_files(posix_spawn_file_actions_t *files, int in, int out)
{
    int st = posix_spawn_file_actions_adddup2(files, in, 0);

    if (st == 0)
        st = posix_spawn_file_actions_adddup2(files, out, 1);
    if (st == 0)
        st = posix_spawn_file_actions_addopen(files, 2, "/dev/null", O_WRONLY, 0);
    return st;
}

static int spawn(const char *path, int in, int out, pid_t *ret)
{
    char name[] = "dot", form[] = "-Tsvg", locale[] = "LC_ALL=C.UTF-8";
    char *words[] = {name, form, NULL}, *env[] = {locale, NULL};
    posix_spawn_file_actions_t files;
    int st = posix_spawn_file_actions_init(&files);

    if (st != 0)
        return st;
    st = prepare_files(&files, in, out);
    if (st == 0)
        st = posix_spawn(ret, path, &files, NULL, words, env);
    posix_spawn_file_actions_destroy(&files);
    return st;
}

static bool start(struct child *c, struct text *why)
{
    const struct rlimit memory = {DATA_BYTES, DATA_BYTES}, no_file = {0, 0};
    char path[PATH_MAX];
    int in[2], out[2], st;

    if (!find_program(path)) {
        text_add(why, "there is no dot in $PATH");
        return false;
    }
    if (pipe2(in, O_CLOEXEC) != 0) {
        text_add(why, strerror(errno));
        return false;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        text_add(why, strerror(errno));
        close(in[0]);
        close(in[1]);
        return false;
    }
    st = spawn(path, in[0], out[1], &c->pid);
    close(in[0]);
    close(out[1]);
    c->in = in[1];
    c->out = out[0];
    c->end_ms = now_ms() + GRAPHVIZ_LIMIT_MS;
    if (st == 0) {
        (void)prlimit(c->pid, RLIMIT_DATA, &memory, NULL);
        (void)prlimit(c->pid, RLIMIT_FSIZE, &no_file, NULL);
        return true;
    }
    close(c->in);
    close(c->out);
    text_addf(why, "%s: %s", path, strerror(st));
    return false;
}

/* --- Talking to it ---------------------------------------------------------------------------- */

/* Writes some of @from, of which *@at bytes were written, and closes the pipe after the last. */
static void feed(struct child *c, const struct bytes *from, size_t *at)
{
    const ssize_t n = write(c->in, from->v + *at, from->n - *at);

    if (n > 0)
        *at += (size_t)n;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || *at == from->n) {
        close(c->in);
        c->in = -1;
    }
}

/* Reads some of the output.  Returns false at its end, or if it is too long. */
static bool fetch(struct child *c, struct bytes *to)
{
    char chunk[CHUNK_BYTES];
    const ssize_t n = read(c->out, chunk, sizeof(chunk));

    if (n > 0)
        bytes_put(to, chunk, (size_t)n);
    return (n > 0 && to->n <= OUTPUT_BYTES) || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Returns the time that is left to the child; 0: none, or the user does not want to wait. */
static int left_ms(const struct child *c)
{
    const uint64_t now = now_ms();

    return now >= c->end_ms || *signals_interrupted() ? 0 : (int)(c->end_ms - now);
}

/* Writes @from to the child while it reads its output.  Returns false if no time is left before
 * the end of the output.
 */
static bool talk(struct child *c, const struct bytes *from, struct bytes *to)
{
    size_t at = 0;

    (void)fcntl(c->in, F_SETFL, O_NONBLOCK);
    for (;;) {
        struct pollfd p[] = {{.fd = c->out, .events = POLLIN}, {.fd = c->in, .events = POLLOUT}};
        const int left = left_ms(c);

        if (left == 0)
            return false;
        if (poll(p, 2, left) <= 0)
            continue;
        if (c->in >= 0 && p[1].revents)
            feed(c, from, &at);
        if (p[0].revents && !fetch(c, to))
            return true;
    }
}

/* Waits for the end of the child, which may have closed its output before.  Returns false if
 * no time is left.
 */
static bool wait_for(const struct child *c, int *ret_status)
{
    while (waitpid(c->pid, ret_status, WNOHANG) == 0) {
        if (left_ms(c) == 0)
            return false;
        (void)poll(NULL, 0, NAP_MS);
    }
    return true;
}

/* Ends the child.  @in_time: its output has ended.  Returns true if it had ended well by itself. */
static bool finish(struct child *c, bool in_time, struct text *why)
{
    int status = 0;

    if (c->in >= 0)
        close(c->in);
    close(c->out);
    in_time = in_time && wait_for(c, &status);
    if (!in_time) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (!in_time)
        text_add(why, *signals_interrupted() ? "it was interrupted" : "dot did not end in time");
    else if (WIFSIGNALED(status))
        text_addf(why, "dot was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        text_addf(why, "dot ended with status %d", WEXITSTATUS(status));
    return in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* --- Its picture ------------------------------------------------------------------------------ */

/* Writes the picture after our mark, without the XML declaration and the document type before its
 * element <svg>, and with our style in it.
 */
static bool put_picture(const struct graph *g, const struct bytes *b, const struct viz_sink *sink,
                        struct text *why)
{
    const char *svg = b->n ? strstr(b->v, "<svg ") : NULL, *end = svg ? strchr(svg, '>') : NULL;

    if (!end) {
        text_add(why, "dot wrote no picture");
        return false;
    }
    svg_putf(sink, SVG_MARK_FORMAT, g->form);
    svg_put(sink, "<svg class=\"graph\" ");
    svg += strlen("<svg ");
    sink->put(sink->ctx, svg, (size_t)(end + 1 - svg));
    svg_put(sink, "\n");
    graph_put_style(sink);
    svg_put(sink, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>");
    svg_put(sink, end + 1);
    return true;
}

bool graphviz_svg(const struct graph *g, const struct viz_sink *sink, struct text *reterr_why)
{
    struct bytes dot = {NULL, 0, 0}, svg = {NULL, 0, 0};
    const struct viz_sink to_dot = {bytes_put, &dot};
    void (*before)(int) = SIG_DFL;
    struct child c;
    bool ok = false;

    if (graph_dot(g, &to_dot) != RDL_OK) {
        text_add(reterr_why, "memory is exhausted");
    } else if (start(&c, reterr_why)) {
        before = signal(SIGPIPE, SIG_IGN); /* it may end before it has read everything */
        ok = finish(&c, talk(&c, &dot, &svg), reterr_why);
        (void)signal(SIGPIPE, before);
        ok = ok && put_picture(g, &svg, sink, reterr_why);
    }
    free(dot.v);
    free(svg.v);
    return ok;
}
