/* SPDX-License-Identifier: MIT */
#include "cli/exec/scenario_write.h"

#include "cli/exec/exec.h"

bool scenario_write(struct session *s, enum scenario_output what, const char *name, FILE *err)
{
    static const char *const forms[N_OUTPUTS] = {[OUTPUT_LADDER] = "ladder",
                                                 [OUTPUT_PCAPNG] = "pcapng",
                                                 [OUTPUT_EVENTS] = "events",
                                                 [OUTPUT_TIMELINE] = "timeline"};
    const struct cmd *cmd = &cmd_table[CMD_export];
    const struct span nowhere = {0, 0};
    const struct source src = source_typed("");
    struct block in = exec_block(s, &src);
    struct pool pool = {NULL};
    struct step *st = step_new(&pool, cmd, nowhere);
    bool ok = step_add(&pool, st, 0, (struct value){forms[what], nowhere}) &&
              step_add(&pool, st, 1, (struct value){name, nowhere});

    s->diag_src = (struct source){0};
    in.undisturbed = true; /* ^C ended the run, not this; the second one ends the program */
    ok = ok && exec_step(s, st, &in);
    if (!ok)
        session_complain(s, err);
    pool_free(&pool);
    return ok;
}
