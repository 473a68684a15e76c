/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_file.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/live/exec_elf.h"
#include "cli/live/live_internal.h"

/* --- The path --------------------------------------------------------------------------------- */

/* Returns true if @path is a file that this process may execute, as execvp() looks for it. */
static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Finds program @name as execvp() does: in $PATH, or as a path if it has a slash. */
static bool find_program(const char *name, char ret[PATH_MAX])
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(ret, PATH_MAX, "%s", name) < PATH_MAX && is_program(ret);
    while (path && *path) {
        const size_t n = strcspn(path, ":");

        if (snprintf(ret, PATH_MAX, "%.*s%s%s", (int)n, path, n ? "/" : "./", name) < PATH_MAX &&
            is_program(ret))
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

/* --- Reasons ---------------------------------------------------------------------------------- */

static void explain_path(const char *name, const char *why, struct live_error *ret)
{
    char directory[PATH_MAX] = ".", remedy[LIVE_ERROR_BYTES];
    struct stat st;

    if (stat(name, &st) != 0) {
        (void)!getcwd(directory, sizeof(directory));
        snprintf(remedy, sizeof(remedy), "looked for from the current directory, %.160s",
                 directory);
        live_error_set(ret, name, why, name[0] == '/' ? "" : remedy);
    } else if (S_ISDIR(st.st_mode)) {
        live_error_set(ret, name, "this is a directory", "name a program");
    } else if (access(name, X_OK) != 0) {
        snprintf(remedy, sizeof(remedy), "chmod +x %.200s", name);
        live_error_set(ret, name, "this is not executable", remedy);
    } else {
        live_error_set(ret, name, why, "its interpreter, the first line behind #!, is missing");
    }
}

void exec_file_explain(const char *name, const char *why, struct live_error *ret)
{
    if (strchr(name, '/'))
        explain_path(name, why, ret);
    else
        live_error_set(ret, name, why,
                       "a program is looked for in $PATH; one of the current directory is ./NAME");
}

/* --- Warnings --------------------------------------------------------------------------------- */

/* Returns true if the ELF file names a dynamic linker, or is damaged. */
static bool has_interpreter(const struct exec_elf *e)
{
    struct exec_segment s;

    if (e->n_segments == 0)
        return true;
    for (unsigned i = 0; i < e->n_segments; i++) {
        if (!exec_elf_segment(e, i, &s) || s.type == PT_INTERP)
            return true;
    }
    return false;
}

static const char *elf_warning(int fd)
{
    struct exec_elf e;

    if (!exec_elf_read(&e, fd))
        return NULL; /* a script, or a file of a machine that this does not know */
    if (e.class != ELFCLASS64)
        return "a program of 32 bits, so it does not use rdmalab's libibverbs; build it for 64";
    if (has_interpreter(&e))
        return NULL;
    return "statically linked, so it does not use rdmalab's libibverbs; link it dynamically";
}

/* Returns true if the file makes a program of another user or group, for which the dynamic linker
 * ignores LD_LIBRARY_PATH.
 */
static bool changes_user(const struct stat *st)
{
    return ((st->st_mode & S_ISUID) && st->st_uid != getuid()) ||
           ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP) && st->st_gid != getgid());
}

const char *exec_file_warning(const char *name)
{
    char path[PATH_MAX];
    const char *warning = NULL;
    struct stat st;
    int fd;

    if (!find_program(name, path) || stat(path, &st) != 0)
        return NULL;
    if (changes_user(&st))
        return "it changes its user or group (setuid, setgid), so it does not use rdmalab's "
               "libibverbs; run a copy of it";
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    warning = elf_warning(fd);
    close(fd);
    return warning;
}
