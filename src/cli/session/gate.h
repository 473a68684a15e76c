/* SPDX-License-Identifier: MIT */
/* The gate between a session and the machine around it.
 *
 * A text that the user has not typed is a stranger's: a scenario, a sourced file, a script on the
 * standard input.  It may do anything in its lab.  Beyond that it may
 *
 *	- read regular files below the directory of the file that the user named,
 *	- make new files there, and replace those that it has made itself, and exports of the same
 *	  form that rdmalab has written earlier,
 *
 * where no part of a path is a link or begins with a dot.  Everything else needs a permission:
 * that of --allow, or the user's answer to a question.  Without a terminal nobody is asked, and it
 * is refused.  A command that the user has typed is not judged.
 *
 * The parameters of the command table say what they open (struct param, @opens).  command_run()
 * calls gate_pass() for every command before its function runs, and commands open files only by the
 * functions below; ./check style looks for any other way.
 */
#ifndef CLI_SESSION_GATE_H
#define CLI_SESSION_GATE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/export/export_mark.h"
#include "cli/lang/script.h"
#include "process/out_file.h"

struct session;

/* The memory of a gate. */
struct gate_note;
struct gate {
    struct gate_note *answers; /* that the user has allowed */
    struct gate_note *made;    /* files that strangers have made in this session */
    struct gate_note *read;    /* files that were read in it, which no export replaces */
};

void gate_done(struct gate *g);

/* Judges the programs and ports that @st opens, but not its files.  Returns false with the error in
 * s->diag.
 */
bool gate_pass(struct session *s, const struct step *st);

/* Returns true if the text that runs now may start programs without a question.  For a command that
 * can do without the program.
 */
bool gate_may_start(const struct session *s);

/* gate_opens_outside() returns true if @cmd opens programs or ports, so that gate_pass() judges it.
 */
bool gate_opens_outside(const struct cmd *cmd);

/* Open the file that the parameter @param of @st names.  They return false, with the error in
 * s->diag, if this is refused or fails.
 *
 * gate_read()    opens it for reading
 * gate_source()  reads all of it as the text of a script, "-" is the standard input
 * gate_path()    writes its path to @ret for a program that reads it
 * gate_write()   begins to write it, see process/out_file.h; a stranger replaces a file that begins
 *                 with @mark, NULL: none (cli/export/export_mark.h)
 * gate_log()     opens it to be written while others read it: there is no temporary file, and what
 *                 it had stays until the caller empties it
 */
bool gate_read(struct session *s, const struct step *st, const char *param, FILE **ret);
bool gate_source(struct session *s, const struct step *st, const char *param, struct source *ret);
bool gate_path(struct session *s, const struct step *st, const char *param, char ret[PATH_MAX]);
bool gate_write(struct session *s, const struct step *st, const char *param,
                const struct export_mark *mark, struct out_file *ret);
bool gate_log(struct session *s, const struct step *st, const char *param, FILE **ret);

#endif
