/* SPDX-License-Identifier: MIT */
/* answer: runs the file of a student inside a check of an exercise.
 *
 * The file must not decide its own grade.  So it has only the commands that the check lists, and
 * those that only look; its expectations do not count; it opens no files; and nothing that it has
 * defined, such as a macro, is there for the check.  Its text is judged before its first command
 * runs.
 */
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/exec/executing.h"
#include "emu/base/assert.h"

/* Commands that every answer may use. */
static const char *const always[] = {"on",   "foreach", "repeat", "if",  "macro",  "call",
                                     "note", "expect",  "show",   "why", "explain"};

static bool is_listed(const struct step *st, const char *name)
{
    const struct arg *allow = step_arg(st, "allow");

    for (size_t i = 0; i < ARRAY_LEN(always); i++) {
        if (strcmp(always[i], name) == 0)
            return true;
    }
    for (size_t i = 0; i < allow->n; i++) {
        if (strcmp(allow->v[i].text, name) == 0)
            return true;
    }
    return false;
}

static bool forbid(struct session *s, const struct source *src, const struct step *bad,
                   const struct step *st)
{
    char list[DIAG_REMEDY_BYTES];
    struct text t = text_on(list, sizeof(list));
    const struct arg *allow = step_arg(st, "allow");

    for (size_t i = 0; i < allow->n; i++)
        text_addf(&t, "%s%s", i ? ", " : "", allow->v[i].text);
    diag_set(&s->diag, DIAG_FORBIDDEN, bad->at, "an answer to this exercise must not use \"%s\"",
             bad->cmd->name);
    diag_remedy(&s->diag, "it may use %s, blocks, and show", list);
    s->diag_src = *src;
    return false;
}

/* Returns the macro @name that was defined before the answer, or NULL. */
static const struct macro *known_macro(const struct session *s, const char *name)
{
    const struct macro *m = s->run.macros.list.first;

    while (m && strcmp(step_text(m->def, "name"), name) != 0)
        m = m->next;
    return m;
}

/* Judges the steps from @first on, and those of their blocks.  The parser limits the depth. */
static bool judge(struct session *s, const struct source *src, const struct step *first,
                  const struct step *st)
{
    for (const struct step *one = first; one; one = one->next) {
        const bool is_macro = strcmp(one->cmd->name, "macro") == 0;

        if (!is_listed(st, one->cmd->name) || (one->cmd->flags & CMD_PROMPT_ONLY) ||
            (is_macro && known_macro(s, step_text(one, "name"))))
            return forbid(s, src, one, st);
        if (!judge(s, src, one->body, st) || !judge(s, src, one->other, st))
            return false;
    }
    return true;
}

/* Executes the answer, and removes what it must not leave behind. */
static bool run_judged(struct session *s, const struct lines *l)
{
    struct macro *const macros = s->run.macros.list.first;
    const uint64_t n_expectations = s->run.n_expectations, n_waits = s->run.n_waits;
    const bool ignored = s->config.expectations_ignored;
    bool ok;

    s->config.expectations_ignored = true;
    ok = exec_statements(s, l);
    s->config.expectations_ignored = ignored;
    s->run.n_expectations = n_expectations;
    s->run.n_waits = n_waits;
    s->run.macros.list.first = macros;
    return ok;
}

bool run_answer(struct session *s, const struct step *st)
{
    struct source file = {0}, src;
    struct lines l;
    enum diag_kind kind;
    bool ok;

    if (!s->config.answer && !gate_source(s, st, "file", &file))
        return false;
    src = s->config.answer ? *s->config.answer : file;
    src.typed = false;
    src.home = NULL;
    session_read(s, &src, NULL, false, &l);
    if (l.whole) {
        ok = judge(s, &src, l.script.header, st) && judge(s, &src, l.script.first, st) &&
             run_judged(s, &l);
    } else {
        s->run.answer_unread = true;
        s->diag = l.wrong;
        s->diag_src = src;
        ok = false;
    }
    if (!ok) {
        kind = s->diag.kind;
        session_complain(s, s->config.err);
        s->diag_src = (struct source){0};
        diag_set(&s->diag, kind == DIAG_EXPECT ? DIAG_FAILED : kind, st->at,
                 "the answer stopped; it runs here");
    }
    script_done(&l.script);
    if (file.text)
        source_done(&file);
    return ok;
}
