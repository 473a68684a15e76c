/* SPDX-License-Identifier: MIT */
/* Two hosts that can exchange messages at once, in one line: each step is executed, and shown, as
 * the line of a file that is sourced.
 */
#include <stdbool.h>
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/exec/executing.h"
#include "cli/exec/step_line.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

#define LINE_BYTES 512u

/* The steps: text before the name of the first host, between the names, behind the second, and
 * behind the size of the regions if the step has it.
 */
static const struct {
    const char *before, *between, *behind, *behind_size;
    bool can_be_quiet;
} steps[] = {
    {"host ", " ", "", NULL, false},
    {"link ", " ", "", NULL, false},
    {"on ", ",", " { alloc_pd as pd; reg_mr pd len=",
     " access=lw,rr,rw,ra as mr; create_cq as cq; create_qp pd send_cq=cq recv_cq=cq as qp }",
     false},
    {"connect ", ".qp ", ".qp sq_psn=100 timeout=4", NULL, true},
};

static bool take_steps(struct session *s, const struct step *st, const char *a, const char *b)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        const bool quiet = steps[i].can_be_quiet && step_has(st, "quiet");
        char line[LINE_BYTES];
        struct text t = text_on(line, sizeof(line));

        text_addf(&t, "%s%s%s%s%s", steps[i].before, a, steps[i].between, b, steps[i].behind);
        if (steps[i].behind_size)
            text_addf(&t, "%s%s", step_text_or_standard(st, "mr"), steps[i].behind_size);
        text_add(&t, quiet ? " quiet" : "");
        RDL_ASSERT(!t.cut);
        if (!exec_step_line(s, st, line))
            return false;
    }
    return true;
}

static bool is_new(struct session *s, const struct step *st, const char *name, const char *param)
{
    struct rdl_value v;
    size_t at;

    if (rdl_inspect(s->lab, name, &v, &at) != RDL_OK)
        return true;
    session_fail(s, step_span(st, param, 0), "%s is there already, and setup makes two new ones",
                 name);
    return diag_remedy(&s->diag, "choose other names: setup a b");
}

bool run_setup(struct session *s, const struct step *st)
{
    const char *a = step_text_or_standard(st, "a");
    const char *b = step_text_or_standard(st, "b");
    const bool is_verbose = s->config.verbose;
    bool ok;

    if (strcmp(a, b) == 0) {
        session_fail(s, step_span(st, "b", 0), "two hosts need two names, and both are %s", a);
        return diag_remedy(&s->diag, "setup %s %s2", a, a);
    }
    if (!is_new(s, st, a, "a") || !is_new(s, st, b, "b"))
        return false;
    s->config.verbose = is_verbose && !step_has(st, "quiet");
    ok = take_steps(s, st, a, b);
    s->config.verbose = is_verbose;
    if (ok && step_has(st, "quiet"))
        session_say(s,
                    "%s and %s are linked; each has pd, mr (%llu bytes), cq, and qp, which is "
                    "connected to the other's\n",
                    a, b, (unsigned long long)step_number(st, "mr"));
    return ok;
}
