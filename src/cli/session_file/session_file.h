/* SPDX-License-Identifier: MIT */
/* A session saved as a file, which users call a world: `save world` writes it, and `rdmalab open`
 * resumes it.
 *
 * The file is JSON.  For each future it contains the log (the executed commands, their outcomes and
 * durations), the steps that `session save` would write, the typed lines, and the places with
 * names.  It also contains the seed, and the place of the lab.  It does not contain the state of
 * the lab: opening the file replays the log (cli/exec/resume.h), and a hash of all events shows
 * whether the replay was exact.
 *
 * Breakpoints and watchpoints are not saved.
 */
#ifndef CLI_SESSION_FILE_SESSION_FILE_H
#define CLI_SESSION_FILE_SESSION_FILE_H

#include "cli/session/history.h"

struct out_file;

#define SESSION_FILE_FORM        1u /* version of the format; a file with a higher one is refused */
#define SESSION_FILE_BYTES_MAX   ((size_t)64 << 20)
#define SESSION_FILE_FUTURES_MAX 256u
#define SESSION_FILE_NAMES_MAX   16384u /* maximum of named places in all futures */
/* most commands in a future; a command in a loop counts in each round */
#define SESSION_FILE_DONE_MAX      ((uint64_t)1 << 32)
#define SESSION_FILE_MOMENT_MAX    ((uint64_t)1 << 62) /* maximum of ticks and of ns */
#define SESSION_FILE_VERSION_BYTES 32u

struct session_file {
    char version[SESSION_FILE_VERSION_BYTES]; /* version of the program that wrote it */
    uint64_t seed;
    size_t memory_bytes;  /* limit of the lab's memory; 0: the default */
    struct script script; /* only its header, the line `scenario`, and its pool */
    struct future *v;     /* the @n futures; the first is the current one */
    size_t n;
    unsigned n_unnamed; /* as in struct futures */
};

/* Returns NULL if the session can be saved, otherwise the reason why not. */
const char *session_file_obstacle(const struct session *s);

/* Writes the session to @o, which it closes or discards.  No command may be running in it.
 * @hash is the hash of all events up to the end of the history (travel_hash_at_end()).  Returns
 * NULL on success, otherwise the reason.
 */
const char *session_file_save(const struct session *s, uint64_t hash, struct out_file *o);

/* Writes the session to @out, with @hash as in session_file_save().  The caller checks @out for
 * errors.
 */
void session_file_write(const struct session *s, uint64_t hash, FILE *out);

/* Reads the whole of @src.  Returns false, with the error and its place in @d, if it is no valid
 * session, or if *@interrupted was set by ^C (NULL: there is no ^C).  Members that only a newer
 * rdmalab knows are skipped, with a warning on @err.  Call session_file_done() in any case.
 */
bool session_file_read(const struct source *src, const volatile sig_atomic_t *interrupted,
                       struct session_file *ret, FILE *err, struct diag *d);
void session_file_done(struct session_file *w);

/* Returns true if @src is a script or a JSON scenario, and no saved session. */
bool session_file_is_scenario(const struct source *src);

#endif
