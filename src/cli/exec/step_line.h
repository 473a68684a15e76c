/* SPDX-License-Identifier: MIT */
/* Commands that take several steps of the language, each of which a user could type. */
#ifndef CLI_EXEC_STEP_LINE_H
#define CLI_EXEC_STEP_LINE_H

#include "cli/session/session.h"

/* Executes, and shows, @line as a step of the command @st.  Returns false with an error that names
 * the line if it failed; its own error was printed.
 */
bool exec_step_line(struct session *s, const struct step *st, const char *line);

#endif
