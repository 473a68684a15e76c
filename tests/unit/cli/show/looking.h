/* SPDX-License-Identifier: MIT */
/* Helpers for tests of `show` in a session. */
#ifndef TESTS_UNIT_CLI_SHOW_LOOKING_H
#define TESTS_UNIT_CLI_SHOW_LOOKING_H

#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/lab_session.h"

/* Two connected hosts, before anything is posted. */
#define CONNECTED                                                                                  \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"  \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp sq_psn=100 timeout=4\n"

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in\n%s", part, text);
}

static inline void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" is in\n%s", part, text);
}

/* Fails unless @asked prints each of @words in order. */
static inline void assert_answers(struct lab *l, const char *asked, const char *words)
{
    char *text = lab_answer(l, asked);

    assert_in_order(text, words);
    free(text);
}

/* Like assert_answers(), and the output must be the section @name of the test's golden file. */
#define assert_page(l, name, asked, words) looking_page(__FILE__, l, name, asked, words)

static inline void looking_page(const char *test_c, struct lab *l, const char *name,
                                const char *asked, const char *words)
{
    char *text = lab_answer(l, asked);

    assert_in_order(text, words);
    golden_compare(test_c, name, text);
    free(text);
}

/* Returns the answer, which must be JSON. */
static inline cJSON *json_of(struct lab *l, const char *question, const char *form)
{
    char asked[128], *text;
    cJSON *j;

    snprintf(asked, sizeof(asked), "show %s %s", question, form);
    text = lab_answer(l, asked);
    j = cJSON_Parse(text);
    if (!j)
        fail_msg("%s is not JSON:\n%s", asked, text);
    free(text);
    return j;
}

/* Returns the number of lines of the answer. */
static inline size_t records_of(struct lab *l, const char *question, const char *form)
{
    char asked[128], *text;
    size_t n = 0;

    snprintf(asked, sizeof(asked), "show %s %s", question, form);
    text = lab_answer(l, asked);
    for (const char *s = text; *s; s++)
        n += *s == '\n';
    free(text);
    return n;
}

#endif
