/* SPDX-License-Identifier: MIT */
/* Helpers for tests of commands: a session that prints to memory. */
#ifndef TESTS_UNIT_CLI_LAB_SESSION_H
#define TESTS_UNIT_CLI_LAB_SESSION_H

#include <stdlib.h>
#include <string.h>

#include "cli/cli_testing.h"
#include "cli/exec/exec.h"
#include "cli/session/session.h"
#include "cli/session/snapshots.h"
#include "golden.h"

/* A scenario with two connected hosts, whose first SEND is lost once. */
#define STORY                                                                                      \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"  \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp sq_psn=100 timeout=4\n"                                                   \
    "post_recv h2.qp wr_id=7 sge=mr[0:1k]\n"                                                       \
    "write h1.mr[0] \"hello, remote memory\"\n"                                                    \
    "drop next from=h1 as f1\n"                                                                    \
    "post_send h1.qp wr_id=1 sge=mr[0:64] signaled\n"                                              \
    "until h1.qp.retries > 0 timeout=1ms\n"                                                        \
    "run\n"

/* A session whose output goes to @out. */
struct lab {
    struct session *s;
    char *out;
    size_t n;
    FILE *f;
};

static inline void lab_open(struct lab *l, bool verbose)
{
    struct session_config config = {
        .seed = 1, .verbose = verbose, .history_bytes = SNAPSHOTS_BYTES_MAX};

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
    const struct source src = source_typed(lines);

    return exec_lines(l->s, &src, false);
}

static inline void lab_run(struct lab *l, const char *lines)
{
    if (!lab_try(l, lines))
        fail_msg("%s: %s", lines, l->s->diag.message);
}

/* Returns what @line prints.  The caller frees it. */
static inline char *lab_answer(struct lab *l, const char *line)
{
    size_t before;

    fflush(l->f);
    before = l->n;
    lab_run(l, line);
    fflush(l->f);
    return strdup(l->out + before);
}

/* Fails unless @line, executed after @lines, prints @says. */
static inline void assert_line_prints(const char *lines, const char *line, const char *says)
{
    struct lab l;

    lab_open(&l, true);
    lab_run(&l, lines);
    lab_run(&l, line);
    fflush(l.f);
    if (!strstr(l.out, says))
        fail_msg("%s: not \"%s\" but \"%s\"", line, says, l.out);
    lab_close(&l);
}

/* Fails unless @line, executed after @lines, is refused with a message that has @says in it; NULL:
 * any message.
 */
static inline void assert_line_refused(const char *lines, const char *line, const char *says)
{
    struct lab l;

    lab_open(&l, false);
    lab_run(&l, lines);
    assert_false(lab_try(&l, line));
    if (says && !strstr(l.s->diag.message, says))
        fail_msg("%s: not \"%s\" but \"%s\"", line, says, l.s->diag.message);
    lab_close(&l);
}

/* Fails unless the output of @asked, executed after @lines, is the section @name of the test's
 * golden file (golden.h) and has each of @words, in their order.
 */
#define assert_tells(name, lines, asked, words) lab_tells(__FILE__, name, lines, asked, words)

static inline void lab_tells(const char *test_c, const char *name, const char *lines,
                             const char *asked, const char *words)
{
    struct lab l;
    char *text;

    lab_open(&l, false);
    lab_run(&l, lines);
    text = lab_answer(&l, asked);
    assert_in_order(text, words);
    golden_compare(test_c, name, text);
    free(text);
    lab_close(&l);
}

#endif
