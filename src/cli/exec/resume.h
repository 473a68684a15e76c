/* SPDX-License-Identifier: MIT */
/* Resumes a session that was saved in a file: `rdmalab open`. */
#ifndef CLI_EXEC_RESUME_H
#define CLI_EXEC_RESUME_H

#include "cli/session_file/session_file.h"

/* Replaces the history of the session @s by that of @w, and takes the lab to the place where @w was
 * saved.  The session takes over the journals of @w.  @name is the name of the file, for messages.
 *
 * If another version of rdmalab wrote the file and its log does not replay exactly, the steps of
 * the file are executed instead, with a message on @err.
 *
 * Return: EXIT_PASSED
 *	   EXIT_FAILED       the replay was not exact, although the version is the same, or there
 *	                     is no memory for the lab; the message is on @err
 *	   EXIT_INTERRUPTED  ^C ended the replay
 */
int resume_session(struct session *s, struct session_file *w, const char *name, FILE *err);

#endif
