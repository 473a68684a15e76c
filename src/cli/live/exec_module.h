/* SPDX-License-Identifier: MIT */
/* The files that programs have mapped: their code, and whether they are still the same.
 * [proc(5)]
 */
#ifndef CLI_LIVE_EXEC_MODULE_H
#define CLI_LIVE_EXEC_MODULE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Code of a file in a process: the bytes from @offset on are at the addresses @from .. @to - 1. */
struct exec_code {
    char path[PATH_MAX];
    uint64_t from, to, offset;
};

/* Reads a line of /proc/PID/maps.  Returns true, and sets *@ret, if it is the line of @addr, and
 * there is code of a file.
 */
bool exec_maps_line(const char *line, uint64_t addr, struct exec_code *ret);

/* Finds the code around @addr of process @pid.  Returns false if there is none, or it is of no
 * file, or behind thousands of others.
 */
bool exec_code_find(int pid, uint64_t addr, struct exec_code *ret);

/* A file as it was when a program used it. */
struct exec_module {
    char *path;
    bool is_program; /* it is the program itself, and no library */
    bool is_here;    /* @was is valid: this process sees the same file at @path */
    struct stat was;
};

/* Describes the file @path of process @pid; m->path is a copy, to be freed.  Returns false if there
 * is no memory.
 */
bool exec_module_init(struct exec_module *m, int pid, const char *path);

/* Returns true if the file at m->path is still the one that the program has used. */
bool exec_module_is_unchanged(const struct exec_module *m);

#endif
