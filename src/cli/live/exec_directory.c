/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* ST_NOEXEC */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/live/exec_hosts.h"
#include "cli/live/exec_socket.h"
#include "cli/live/live_internal.h"
#include "emu/base/assert.h"
#include "print/utf8.h"
#include "process/leftovers.h"
#include "program/library.h"
#include "program/protocol.h"

#define PATH_BYTES (PATH_MAX + 32u)

static bool write_library(int dir, const struct program_library *library)
{
    const int fd =
        openat(dir, library->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IXUSR);
    size_t done = 0;

    if (fd < 0)
        return false;
    while (done < library->n_bytes) {
        const ssize_t n = write(fd, library->bytes + done, library->n_bytes - done);

        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return close(fd) == 0 && done == library->n_bytes;
}

/* Returns true if the dynamic linker finds a library at @path: ":" and ";" separate paths there,
 * and "$" begins a name.  The leash could not look for a path with a line end: two of them would
 * make a pattern that matches every process.
 */
static bool can_have_libraries(const char *path)
{
    for (; *path; path++) {
        if (strchr(":;$", *path) || (unsigned char)*path < ' ' || *path == 0x7f)
            return false;
    }
    return true;
}

/* Sets d->path to the place for the directory, which is an absolute path: programs may go to other
 * directories.
 */
static bool find_place(struct exec_directory *d, struct live_error *reterr)
{
    const char *tmp = getenv("TMPDIR");
    char place[PATH_MAX];
    struct statvfs fs;

    if (!realpath(tmp && *tmp ? tmp : "/tmp", place)) {
        live_error_set(reterr, SHOWN_NAME(tmp && *tmp ? tmp : "/tmp"), strerror(errno),
                       "$TMPDIR says where the libraries for programs are to be");
        return false;
    }
    if (!can_have_libraries(place)) {
        live_error_set(reterr, SHOWN_NAME(place),
                       "a program finds no library in a directory with such a name",
                       "let $TMPDIR be a directory without \":\", \";\", \"$\" and control "
                       "characters in its path");
        return false;
    }
    if (statvfs(place, &fs) == 0 && (fs.f_flag & ST_NOEXEC)) {
        live_error_set(reterr, SHOWN_NAME(place),
                       "programs can load no library from there: it is mounted with noexec",
                       "let $TMPDIR be another directory");
        return false;
    }
    if (snprintf(d->path, sizeof(d->path), "%s/rdmalab-exec-XXXXXX", place) < (int)sizeof(d->path))
        return true;
    live_error_set(reterr, "$TMPDIR", strerror(ENAMETOOLONG), "let it be another directory");
    return false;
}

/* Says why the directory cannot be made, or what is in it. */
static bool refuse(int error, struct live_error *reterr)
{
    static const struct {
        int error;
        const char *remedy;
    } known[] = {
        {EMFILE, "\"ulimit -n\" tells how many files may be open"},
        {ENAMETOOLONG, "let $TMPDIR be a directory with a shorter path"},
        {ENOSPC, "there must be room in $TMPDIR, or /tmp, for some libraries"},
    };
    const char *remedy = "$TMPDIR, or /tmp, must be a directory in which you may write";

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].error == error)
            remedy = known[i].remedy;
    }
    live_error_set(reterr, "no directory for the libraries of programs", strerror(error), remedy);
    return false;
}

bool exec_directory_open(struct exec_directory *d, struct live_error *reterr)
{
    char path[PATH_BYTES];

    *d = (struct exec_directory){.fd = -1, .listener = -1};
    if (!find_place(d, reterr)) {
        d->path[0] = '\0';
        return false;
    }
    if (!leftovers_create_directory(d->path)) {
        d->path[0] = '\0';
        return refuse(errno, reterr);
    }
    d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (d->fd < 0)
        return refuse(errno, reterr);
    for (size_t i = 0; i < PROGRAM_LIBRARIES; i++) {
        const struct program_library library = program_library(i);

        if (!write_library(d->fd, &library))
            return refuse(errno, reterr);
    }
    snprintf(path, sizeof(path), "%s/" PROGRAM_SOCKET_FILE, d->path);
    d->listener = exec_listen(path);
    return d->listener >= 0 || refuse(errno, reterr);
}

bool exec_directory_tell_hosts(const struct exec_directory *d, const struct rdl_lab *lab,
                               struct live_error *reterr)
{
    return exec_hosts_write(lab, d->fd) || refuse(errno, reterr);
}

/* A program may have put another directory in the place of this one. */
static void delete_files(const struct exec_directory *d)
{
    (void)unlinkat(d->fd, PROGRAM_SOCKET_FILE, 0);
    (void)unlinkat(d->fd, PROGRAM_HOSTS_FILE, 0);
    for (size_t i = 0; i < PROGRAM_LIBRARIES; i++)
        (void)unlinkat(d->fd, program_library(i).name, 0);
}

void exec_directory_close(struct exec_directory *d)
{
    if (d->listener >= 0)
        close(d->listener);
    if (d->fd >= 0) {
        delete_files(d);
        close(d->fd);
    }
    d->listener = d->fd = -1;
    if (!d->path[0])
        return;
    rmdir(d->path);
    leftovers_forget(d->path);
    d->path[0] = '\0';
}
