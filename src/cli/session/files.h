/* SPDX-License-Identifier: MIT */
/* Scripts and scenarios as files: .lab or .json, told apart by their names. */
#ifndef CLI_SESSION_FILES_H
#define CLI_SESSION_FILES_H

#include "cli/session/session.h"

bool files_is_json(const char *name);
bool files_is_lab(const char *name);

/* Does the text begin like a saved session (session_file.h)? */
bool files_is_world(const struct source *src);

/* Reads all of @s->src as .json or .lab, by its name. */
bool files_parse(struct script *s, struct diag *d);

/* Checks that @src is a script: returns false if it is a saved session, and then @d says so. */
bool files_check_script(const struct source *src, struct diag *d);

/* Writes @script to the file @name, as .json or .lab by its name; "-": as lines, to the standard
 * output.  With @below, a directory, @name is a path in it.  Returns NULL, or why it did not work.
 */
const char *files_write_script(const char *name, const char *below, const struct script *script);

/* Are both the same file, so that writing one would destroy the other?  Devices and "-" are not. */
bool files_same(const char *a, const char *b);

/* Closes a written file.  Returns NULL, or why something was lost. */
const char *files_close(FILE *f);

#endif
