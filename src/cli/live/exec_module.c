/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/live/exec_proc.h"

#define LINES_MAX 8192u /* of /proc/PID/maps, in a look: a program can have as many as it likes */

/* Lines are "FROM-TO ACCESS OFFSET DEVICE INODE PATH".  [proc(5): /proc/PID/maps] */
bool exec_maps_line(const char *line, uint64_t addr, struct exec_code *ret)
{
    const char *access = exec_proc_word(line, 1), *path = exec_proc_word(line, 5), *end;
    const size_t n = strcspn(path, "\n");
    uint64_t from, to, offset;

    if (!exec_proc_number(line, 16, &from, &end) || *end != '-' ||
        !exec_proc_number(end + 1, 16, &to, NULL) ||
        !exec_proc_number(exec_proc_word(line, 2), 16, &offset, NULL))
        return false;
    if (addr < from || addr >= to || strlen(access) < 4 || access[2] != 'x' || path[0] != '/' ||
        n >= sizeof(ret->path))
        return false;
    memcpy(ret->path, path, n);
    ret->path[n] = '\0';
    ret->from = from;
    ret->to = to;
    ret->offset = offset;
    return true;
}

bool exec_code_find(int pid, uint64_t addr, struct exec_code *ret)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *f;

    if (addr == 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    f = fopen(path, "re");
    for (unsigned i = 0; f && !found && i < LINES_MAX && getline(&line, &room, f) > 0; i++)
        found = exec_maps_line(line, addr, ret);
    free(line);
    if (f)
        fclose(f);
    return found;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The program may have another root directory, or other file systems, than this process. */
bool exec_module_init(struct exec_module *m, int pid, const char *path)
{
    char theirs[PATH_MAX + 64], own[PATH_MAX], exe[64];
    struct stat st;
    ssize_t n;

    *m = (struct exec_module){.path = strdup(path)};
    if (!m->path)
        return false;
    snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", pid, path);
    m->is_here = stat(theirs, &st) == 0 && stat(path, &m->was) == 0 && is_same(&st, &m->was);
    snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
    n = readlink(exe, own, sizeof(own) - 1);
    own[n > 0 ? n : 0] = '\0';
    m->is_program = strcmp(own, path) == 0;
    return true;
}

bool exec_module_is_unchanged(const struct exec_module *m)
{
    struct stat st;

    return m->is_here && stat(m->path, &st) == 0 && is_same(&st, &m->was);
}
