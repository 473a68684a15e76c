/* SPDX-License-Identifier: MIT */
/* A session of the prompt as a file: `save world` writes it, `rdmalab open` goes on in it.
 *
 * A world is what was done, as JSON: for each future the log, which says what was carried out, how
 * that ended and how long it took, the steps that `session save` would write of it, the lines that
 * were typed, and places; beside that the seed, and where the lab was.  The lab itself is not in
 * it: it is done again (travel.h), and a hash of all events tells whether that went the same way.
 *
 * Breaks and watches are not in a world.
 */
#ifndef CLI_SESSION_FILE_SESSION_FILE_H
#define CLI_SESSION_FILE_SESSION_FILE_H

#include "cli/session/history.h"

#define SESSION_FILE_FORM                                                                          \
    1u /* of the file; what an older rdmalab could not read has another one                        \
        */
#define SESSION_FILE_BYTES_MAX     ((size_t)64 << 20)
#define SESSION_FILE_FUTURES_MAX   256u
#define SESSION_FILE_NAMES_MAX     16384u              /* of places, in all futures */
#define SESSION_FILE_DONE_MAX      ((uint64_t)1 << 32) /* commands in a future, those in loops too */
#define SESSION_FILE_MOMENT_MAX    ((uint64_t)1 << 62) /* ticks, ns */
#define SESSION_FILE_VERSION_BYTES 32u

struct session_file {
    char version[SESSION_FILE_VERSION_BYTES]; /* of the rdmalab that wrote it */
    uint64_t seed;
    size_t memory_bytes;  /* that the lab may use; 0: the default */
    struct script script; /* its pool is that of @script.header, the scenario line; NULL: none */
    struct future *v;     /* the first is the one that the lab was in */
    size_t n;
    unsigned n_was; /* futures that were left so far, and that nobody named */
};

/* Returns why the session cannot be saved so that it can be opened again; NULL: it can. */
const char *session_file_obstacle(const struct session *s);

/* Writes the session to the file @name; the lab is between two commands.  @hash is that of all
 * events up to the end of the history (travel_hash_at_end()).  Returns NULL, or why it did not
 * work.
 */
const char *session_file_save(const struct session *s, uint64_t hash, const char *name);

/* Writes the session to @out, whatever becomes of that. */
void session_file_write(const struct session *s, uint64_t hash, FILE *out);

/* Reads all of @src.  False: @d says what is wrong where, or that *@interrupted (NULL: nobody
 * interrupts) was set.  Things that only a newer rdmalab knows are passed over, and @err says
 * which. Free with session_file_done() in any case.
 */
bool session_file_read(const struct source *src, const volatile sig_atomic_t *interrupted,
                       struct session_file *ret, FILE *err, struct diag *d);
void session_file_done(struct session_file *w);

#endif
