/* SPDX-License-Identifier: MIT */
/* What tests of commands share: a session that prints into memory. */
#ifndef TESTS_UNIT_CLI_LAB_SESSION_H
#define TESTS_UNIT_CLI_LAB_SESSION_H

#include <stdlib.h>

#include "cli/cli_testing.h"
#include "cli/cmd/dispatch.h"
#include "cli/session/session.h"

/* A session whose output goes to a buffer. */
struct lab {
    struct session *s;
    char *out;
    size_t n;
    FILE *f;
};

static inline void lab_open(struct lab *l, bool verbose)
{
    struct session_config config = {.dispatch = dispatch, .seed = 1, .verbose = verbose};

    l->out = NULL;
    l->f = open_memstream(&l->out, &l->n);
    assert_non_null(l->f);
    config.out = l->f;
    config.err = l->f;
    assert_int_equal(session_new(&config, &l->s), RDL_OK);
}

static inline void lab_close(struct lab *l)
{
    session_free(l->s);
    fclose(l->f);
    free(l->out);
}

static inline bool lab_try(struct lab *l, const char *lines)
{
    const struct source src = {NULL, lines, strlen(lines)};

    return session_lines(l->s, &src, false);
}

static inline void lab_run(struct lab *l, const char *lines)
{
    if (!lab_try(l, lines))
        fail_msg("%s: %s", lines, l->s->diag.message);
}

#endif
