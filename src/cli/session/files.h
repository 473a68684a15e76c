/* SPDX-License-Identifier: MIT */
/* Reads and writes scripts and scenarios.  A name that ends in .json is a JSON file; any other name
 * is a file of lines, usually .lab.
 */
#ifndef CLI_SESSION_FILES_H
#define CLI_SESSION_FILES_H

#include "cli/session/session.h"

/* Return true if the name ends in .json, in .lab. */
bool files_is_json(const char *name);
bool files_is_lab(const char *name);

/* Returns true if the text begins like a saved session (session_file.h). */
bool files_is_session_file(const struct source *src);

/* Parses all of @s->src: as JSON if its name ends in .json, otherwise as lines.  Returns false with
 * the error in @d.
 */
bool files_parse(struct script *s, struct diag *d);

/* Returns true if @src may be a script or scenario.  Returns false, with the error in @d, if it is
 * a saved session, which `rdmalab open` reads.
 */
bool files_check_script(const struct source *src, struct diag *d);

/* Writes @script to @f, which is called @name: as JSON if the name ends in .json, otherwise as
 * lines.  JSON gets the default "$schema" only where this leads from @name to a file.
 */
void files_write_script(FILE *f, const char *name, const struct script *script);

/* Returns true if both names mean the same regular file, so that writing one would destroy the
 * other.  If neither file exists, the names are compared.  Returns false if only one exists, or if
 * @a is "-".
 */
bool files_same(const char *a, const char *b);

/* Reads the file @name, which the user has named, and prints an error to @err.  Returns
 * EXIT_PASSED, EXIT_USAGE, or EXIT_FAILED if there is no memory.  If it succeeds, the caller frees
 * *@ret with source_done().
 */
int files_read(const char *name, struct source *ret, FILE *err);

/* Closes a written file; the standard output is only flushed.  Returns NULL on success, otherwise
 * the reason: data may be lost.
 */
const char *files_close(FILE *f);

#endif
