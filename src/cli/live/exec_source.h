/* SPDX-License-Identifier: MIT */
/* Source lines of code, which addr2line of LLVM or binutils finds in the debug information of its
 * file.
 *
 * It runs as a process of its own: the file is of a program, which may be damaged or hostile.
 */
#ifndef CLI_LIVE_EXEC_SOURCE_H
#define CLI_LIVE_EXEC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXEC_SOURCE_BYTES 96u
#define EXEC_SOURCES_MAX  256u /* in one run */

struct exec_source {
    char line[EXEC_SOURCE_BYTES];     /* "server.c:71"; "": unknown */
    char function[EXEC_SOURCE_BYTES]; /* "": unknown */
    /* It is all in functions of infiniband/verbs.h.  Then @function is the outermost, and @line is
     * unknown.
     */
    bool in_verbs;
};

/* Reads the output of addr2line, with the options -a -f -i, line by line. */
struct exec_source_reader {
    struct exec_source *v; /* of @n addresses, in their order */
    size_t n;
    size_t at;         /* number of addresses so far: the next lines are of v[at - 1] */
    bool has_function; /* the name of the function was read, its line comes next */
    bool is_found;     /* the innermost function that is not of verbs.h was read */
    char function[EXEC_SOURCE_BYTES];
};

void exec_source_read(struct exec_source_reader *r, const char *line);

/* Finds the sources of @n addresses, at most EXEC_SOURCES_MAX, of the file @path, in the address
 * space of that file.  They are unknown if there is no addr2line.  Returns false if it takes too
 * long, or if the user has interrupted it.
 */
bool exec_source_find(const char *path, const uint64_t *addresses, size_t n,
                      struct exec_source *ret);

#endif
