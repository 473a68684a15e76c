/* SPDX-License-Identifier: MIT */
/* A session saved as a file, which users call a world: `save world` writes it, and `rdmalab open`
 * resumes it.
 *
 * The file is JSON.  For each future it has the log (the executed commands, their outcomes and
 * durations), the steps that `session save` would write, the typed lines, and the places with
 * names. It also has the seed, and the place of the lab.  The state of the lab is not in it:
 * opening the file replays the log (cli/exec/resume.h), and a hash of all events tells whether the
 * replay was exact.
 *
 * Breaks and watches are not saved.
 */
#ifndef CLI_SESSION_FILE_SESSION_FILE_H
#define CLI_SESSION_FILE_SESSION_FILE_H

#include "cli/session/history.h"

#define SESSION_FILE_FORM          1u /* of the format; older versions cannot read a later one */
#define SESSION_FILE_BYTES_MAX     ((size_t)64 << 20)
#define SESSION_FILE_FUTURES_MAX   256u
#define SESSION_FILE_NAMES_MAX     16384u              /* names of places in all futures */
#define SESSION_FILE_DONE_MAX      ((uint64_t)1 << 32) /* commands in a future, loops expanded */
#define SESSION_FILE_MOMENT_MAX    ((uint64_t)1 << 62) /* ticks, ns */
#define SESSION_FILE_VERSION_BYTES 32u

struct session_file {
    char version[SESSION_FILE_VERSION_BYTES]; /* of the program that wrote it */
    uint64_t seed;
    size_t memory_bytes;  /* limit of the lab's memory; 0: the default */
    struct script script; /* only its header, the line `scenario`, and its pool */
    struct future *v;     /* the first is the current one */
    size_t n;
    unsigned n_unnamed; /* as in struct futures */
};

/* Returns why the session cannot be saved; NULL: it can. */
const char *session_file_obstacle(const struct session *s);

/* Writes the session to the file @name; the lab is between two commands.  @hash is that of all
 * events up to the end of the history (travel_hash_at_end()).  Returns NULL, or why it did not
 * work.
 */
const char *session_file_save(const struct session *s, uint64_t hash, const char *name);

/* Writes the session to @out.  The caller checks @out for errors. */
void session_file_write(const struct session *s, uint64_t hash, FILE *out);

/* Reads all of @src.  If it fails, @d has the error and its place; or *@interrupted was set (NULL:
 * there is no ^C).  Members that only a newer rdmalab knows are skipped, with a warning to @err.
 * Free with session_file_done() in any case.
 */
bool session_file_read(const struct source *src, const volatile sig_atomic_t *interrupted,
                       struct session_file *ret, FILE *err, struct diag *d);
void session_file_done(struct session_file *w);

#endif
