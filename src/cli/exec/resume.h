/* SPDX-License-Identifier: MIT */
/* Resumes a session that was saved in a file: `rdmalab open`. */
#ifndef CLI_EXEC_RESUME_H
#define CLI_EXEC_RESUME_H

#include "cli/session_file/session_file.h"

/* Replaces the history of the session @s by that of @w, and takes the lab to the place where @w was
 * left.  The journals of @w belong to the session afterwards.  @name is the name of the file.
 *
 * If the file is of another version of rdmalab and its log replays otherwise now, the steps of the
 * file are carried out instead, and @err says so.
 *
 * Return: EXIT_PASSED
 *	   EXIT_FAILED       the replay went another way, although the version is the same, or there
 *	                     is no memory for the lab; @err says so
 *	   EXIT_INTERRUPTED  by ^C
 */
int resume_session(struct session *s, struct session_file *w, const char *name, FILE *err);

#endif
