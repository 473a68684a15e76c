/* SPDX-License-Identifier: MIT */
#include "cli/exec/lesson.h"

#include <stdio.h>

#include "cli/exec/exec.h"
#include "cli/exec/scenario_write.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "print/pages.h"
#include "print/plain.h"
#include "print/show_text.h"
#include "print/utf8.h"

static void print_title(FILE *out, const struct lesson *l)
{
    const struct arg *teaches =
        l->sc.script.header ? step_arg(l->sc.script.header, "teaches") : NULL;
    char shown[1024];
    struct text t;

    print_line(out, scenario_title(&l->sc) ? scenario_title(&l->sc) : l->name);
    for (size_t i = 0; teaches && i < teaches->n; i++) {
        t = text_on(shown, sizeof(shown));
        utf8_add_printable(&t, teaches->v[i].text, false);
        show_wrap_behind(out, "  - ", 4, shown);
    }
}

/* Returns the lesson after @l in its course; NULL: there is none, or @l is in no course. */
static const struct lesson *next_lesson(const struct collection *c, const struct lesson *l)
{
    const char *at = c->lesson_list ? c->lesson_list : "";
    bool here = false;
    struct lesson_line line;

    while (lesson_next(&at, &line)) {
        const struct lesson *of = collection_lesson(c, &line);

        if (here && line.kind == LESSON_LINE_COURSE)
            return NULL; /* @l is the last one of its course */
        if (here && of)
            return of;
        here = here || of == l;
    }
    return NULL;
}

static void print_end(const struct session *s, const struct lesson_how *how, int status,
                      const struct collection *c, const struct lesson *l, const char *path)
{
    FILE *out = s->config.out;
    const struct lesson *next = next_lesson(c, l);
    char when[32];
    struct text t = text_on(when, sizeof(when));
    const unsigned long long n = s->run.n_expectations;

    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    if (status == EXIT_PASSED)
        fprintf(out, "all of it held: %llu expectation%s, t=%s\n", n, plural_s(n), when);
    if (how->from_shell)
        fprintf(out,
                "its picture: rdmalab scenarios run %s --ladder\n"
                "to look around in it: rdmalab open %s\n",
                l->name, path);
    else
        fprintf(out,
                "its picture: scenarios run %s ladder\n"
                "to look around in it, at a new prompt: source %s\n",
                l->name, path);
    if (next)
        fprintf(out, "the next lesson: %sscenarios run %s\n", how->from_shell ? "rdmalab " : "",
                next->name);
}

/* Waits until the reader presses Enter.  Returns false if it is not to wait again. */
static bool wait_for_enter(void *ctx)
{
    return pages_wait(ctx, "Enter; q and Enter for all the rest");
}

/* Runs @l.  Returns false if no lab can be made for it. */
static bool run_lesson(const struct session_config *config, const struct collection *c,
                       const struct lesson *l, const struct lesson_how *how, int *ret_status)
{
    char path[COLLECTION_PATH_BYTES + COLLECTION_NAME_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct session_config own = *config;
    struct session *s = NULL;

    collection_add_path(&t, c, l);
    own.seed = scenario_seed(&l->sc);
    own.seed_given = false;
    own.steps_told = !how->ladder;
    own.pause = !how->ladder && pages_are_read(own.out) ? wait_for_enter : NULL;
    own.pause_ctx = own.out;
    own.share = SHOWN_OF_ALL;
    own.memory_bytes = 0;
    own.history_bytes = 0;
    own.observer = (struct session_observer){.ctx = NULL};
    own.verbose = !how->ladder;
    if (session_new(&own, &s) != RDL_OK)
        return false;
    print_title(own.out, l);
    *ret_status = EXIT_PASSED;
    if (!exec_scenario(s, &l->sc.script)) {
        session_complain(s, own.err);
        *ret_status = session_failure_status(s);
    }
    if (how->ladder && !scenario_write(s, OUTPUT_LADDER, "-", own.err))
        *ret_status = exit_worse(*ret_status, EXIT_FAILED);
    print_end(s, how, *ret_status, c, l, path);
    session_free(s);
    return true;
}

bool lesson_run(const struct session_config *config, const char *name, const struct lesson_how *how,
                int *ret_status, struct scenarios_error *ret_error)
{
    struct collection c;
    bool ok = scenarios_read(&c, ret_error);
    const struct lesson *l = ok ? scenarios_find(&c, name, ret_error) : NULL;

    ok = l != NULL;
    if (ok && !run_lesson(config, &c, l, how, ret_status))
        ok = scenarios_fail(ret_error, "no lab can be made for it",
                            "close something that takes memory");
    collection_done(&c);
    return ok;
}
