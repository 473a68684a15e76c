/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/assert.h"
#include "process/signals.h"

#define LIMIT_MS    5000
#define DATA_BYTES  (UINT64_C(4) << 30)
#define LINE_BYTES  4096u
#define ADDR_BYTES  24u
#define FIXED_WORDS 7u

/* --- Output of addr2line ---------------------------------------------------------------------- */

/* Copies the beginning of a name that a program chose, with '?' for control characters. */
static void copy_name(char ret[EXEC_SOURCE_BYTES], const char *from, size_t n)
{
    size_t k = 0;

    for (; k < n && k + 1 < EXEC_SOURCE_BYTES; k++) {
        ret[k] = from[k];
        if ((unsigned char)from[k] < ' ' || from[k] == 0x7f)
            ret[k] = '?';
    }
    ret[k] = '\0';
}

static bool ends_with(const char *s, size_t n, const char *end)
{
    const size_t k = strlen(end);

    return n >= k && memcmp(s + n - k, end, k) == 0;
}

/* Some versions of addr2line take a header for the file that includes it, so that the name counts,
 * too.
 */
static bool is_of_verbs(const char *function)
{
    return strncmp(function, "ibv_", 4) == 0 || strncmp(function, "__ibv_", 6) == 0;
}

/* Takes "/home/me/server.c:71 (discriminator 2)" of a function; "??:0" is unknown. */
static void take_line(struct exec_source_reader *r, const char *line)
{
    const size_t all = strcspn(line, "\n");
    struct exec_source *s = &r->v[r->at - 1];
    size_t n = all, file, base;

    if (ends_with(line, all, ")")) {
        while (n > 0 && line[n - 1] != '(')
            n--;
        n = n > 1 ? n - 2 : 0; /* the blank before it, too */
    }
    for (file = n; file > 0 && line[file] != ':'; file--)
        ;
    for (base = file; base > 0 && line[base - 1] != '/'; base--)
        ;
    if (r->function[0] != '?')
        memcpy(s->function, r->function, sizeof(s->function));
    s->in_verbs = is_of_verbs(r->function) || ends_with(line, file, "infiniband/verbs.h");
    if (s->in_verbs)
        return;
    r->is_found = true;
    if (line[0] != '?' && file > base && strtoul(line + file + 1, NULL, 10) > 0)
        copy_name(s->line, line + base, n - base);
}

void exec_source_read(struct exec_source_reader *r, const char *line)
{
    if (line[0] == '0' && line[1] == 'x') {
        r->at++;
        r->has_function = r->is_found = false;
        return;
    }
    if (r->at == 0 || r->at > r->n || r->is_found)
        return;
    if (r->has_function)
        take_line(r, line);
    else
        copy_name(r->function, line, strcspn(line, "\n"));
    r->has_function = !r->has_function;
}

/* --- Running addr2line ------------------------------------------------------------------------ */

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

/* Reads all lines from @fd.  Returns false if the other side has not ended in time, or if the user
 * does not want to wait.
 */
static bool read_lines(struct exec_source_reader *r, int fd)
{
    const uint64_t end = now_ms() + LIMIT_MS;
    char line[LINE_BYTES], chunk[LINE_BYTES];
    size_t n = 0;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const uint64_t now = now_ms();
        ssize_t got;

        if (now >= end || *signals_interrupted())
            return false;
        if (poll(&p, 1, (int)(end - now)) <= 0)
            continue;
        got = read(fd, chunk, sizeof(chunk));
        if (got <= 0)
            return true;
        for (ssize_t i = 0; i < got; i++) {
            if (n + 1 < sizeof(line)) /* the end of a long line is missing */
                line[n++] = chunk[i];
            if (chunk[i] != '\n')
                continue;
            line[n] = '\0';
            exec_source_read(r, line);
            n = 0;
        }
    }
}

/* The more exact one first: addr2line of binutils 2.40 does not find all inline functions in the
 * debug information of clang, and names the wrong file for code of a header at the beginning of a
 * unit.
 */
static const char *const tools[] = {"llvm-addr2line", "addr2line"};

/* Starts addr2line with the output @out.  Its environment has no debuginfod servers: it must ask
 * none.
 */
static bool start(const char *path, const uint64_t *addresses, size_t n, int out, pid_t *ret)
{
    char *env[] = {"LC_ALL=C", NULL};
    char texts[EXEC_SOURCES_MAX][ADDR_BYTES];
    char *words[FIXED_WORDS + EXEC_SOURCES_MAX + 1] = {NULL, "-a", "-f", "-i", "-C", "-e"};
    posix_spawn_file_actions_t files;
    bool started = false;
    int st;

    words[FIXED_WORDS - 1] = (char *)path; /* posix_spawnp() writes to no word */
    for (size_t i = 0; i < n; i++) {
        snprintf(texts[i], sizeof(texts[i]), "0x%" PRIx64, addresses[i]);
        words[FIXED_WORDS + i] = texts[i];
    }
    if (posix_spawn_file_actions_init(&files) != 0)
        return false;
    st = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (st == 0)
        st = posix_spawn_file_actions_adddup2(&files, out, 1);
    if (st == 0)
        st = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    for (size_t i = 0; st == 0 && i < ARRAY_LEN(tools); i++) {
        words[0] = (char *)tools[i];
        started = posix_spawnp(ret, tools[i], &files, NULL, words, env) == 0;
        if (started)
            break;
    }
    posix_spawn_file_actions_destroy(&files);
    return started;
}

/* Debug information can say that a gigabyte is needed for its next item. */
static void limit_memory(pid_t pid)
{
    const struct rlimit limit = {DATA_BYTES, DATA_BYTES};

    (void)prlimit(pid, RLIMIT_DATA, &limit, NULL);
}

bool exec_source_find(const char *path, const uint64_t *addresses, size_t n,
                      struct exec_source *ret)
{
    struct exec_source_reader r = {.v = ret, .n = n};
    int ends[2];
    pid_t pid;
    bool runs, in_time = true;

    memset(ret, 0, n * sizeof(*ret));
    if (pipe2(ends, O_CLOEXEC) != 0)
        return true;
    runs = start(path, addresses, n, ends[1], &pid);
    close(ends[1]);
    if (runs)
        limit_memory(pid);
    if (runs && !read_lines(&r, ends[0])) {
        kill(pid, SIGKILL);
        in_time = false;
    }
    close(ends[0]);
    while (runs && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return in_time;
}
