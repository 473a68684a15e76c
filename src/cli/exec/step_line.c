/* SPDX-License-Identifier: MIT */
#include "cli/exec/step_line.h"

#include "cli/exec/exec.h"

bool exec_step_line(struct session *s, const struct step *st, const char *line)
{
    const struct source src = source_of(NULL, line);

    if (exec_lines(s, &src, false))
        return true;
    session_complain(s, s->config.err);
    s->diag_src = (struct source){0};
    return session_fail(s, st->at, "this step could not be done: %s", line);
}
