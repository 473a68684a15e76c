/* SPDX-License-Identifier: MIT */
#include "cli/session/scenario.h"

#include <string.h>

#include "cli/session/files.h"
#include "print/utf8.h"

static int complain(struct scenario *sc, const struct diag *d, FILE *err)
{
    source_place(&sc->src, d->at.at, &sc->wrong_line, &sc->wrong_col);
    diag_print(err, &sc->src, d);
    return EXIT_USAGE;
}

static int parse(struct scenario *sc, FILE *err)
{
    struct diag d = {.kind = DIAG_NONE};

    sc->script.src = sc->src;
    return files_parse(&sc->script, &d) ? EXIT_PASSED : complain(sc, &d, err);
}

/* Judges a scenario, whose result up to now is @status: it must have something to run. */
static int judge_steps(struct scenario *sc, int status, FILE *err)
{
    struct diag d;

    if (status != EXIT_PASSED || scenario_skip(sc) || script_has_steps(sc->script.first))
        return status;
    diag_set(&d, DIAG_VALUE, (struct span){0, 1}, SCRIPT_NO_STEPS);
    diag_remedy(&d, SCRIPT_NO_STEPS_REMEDY);
    return complain(sc, &d, err);
}

int scenario_load(struct scenario *sc, const char *file, FILE *err)
{
    int status;

    *sc = (struct scenario){0};
    status = files_read(file, &sc->src, err);
    return status == EXIT_PASSED ? parse(sc, err) : status;
}

int scenario_load_to_run(struct scenario *sc, const char *file, FILE *err)
{
    return judge_steps(sc, scenario_load(sc, file, err), err);
}

int scenario_take_to_run(struct scenario *sc, struct source *src, FILE *err)
{
    *sc = (struct scenario){.src = *src};
    *src = (struct source){0};
    return judge_steps(sc, parse(sc, err), err);
}

void scenario_done(struct scenario *sc)
{
    script_done(&sc->script);
    source_done(&sc->src);
}

static const char *header_text(const struct scenario *sc, const char *name)
{
    return sc->script.header ? step_text(sc->script.header, name) : NULL;
}

const char *scenario_title(const struct scenario *sc)
{
    return header_text(sc, "title");
}

const char *scenario_skip(const struct scenario *sc)
{
    return header_text(sc, "skip");
}

uint64_t scenario_seed(const struct scenario *sc)
{
    return sc->script.header ? step_number(sc->script.header, "seed") : SCENARIO_SEED;
}

bool scenario_has_tag(const struct scenario *sc, const char *tag)
{
    const struct arg *tags = sc->script.header ? step_arg(sc->script.header, "tags") : NULL;

    for (size_t i = 0; tags && i < tags->n; i++) {
        if (strcmp(tags->v[i].text, tag) == 0)
            return true;
    }
    return false;
}
