/* SPDX-License-Identifier: MIT */
/* Tests of the causes in the notes of a failed expectation: which command answers for each subject,
 * and that a subject without a cause has none.
 */
#include "cli/lab_session.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"  \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
#define CONNECTED PAIR "connect h1.qp h2.qp sq_psn=100 timeout=4 retry_cnt=2\n"
#define SEND      "post_send h1.qp wr_id=1 sge=mr[0:64] signaled\n"
/* h1 sends three times in vain. */
#define DEAD CONNECTED "drop from=h1 count=8 as f1\n" SEND "run for=3ms\n"
/* h1 waits, since h2 has no receive. */
#define NOT_READY CONNECTED SEND "run for=20us\n"

struct row {
    const char *lines, *that;
    const char *words; /* in the notes, in this order; NULL: nothing answers */
};

static bool has_answer(const char *notes)
{
    return strstr(notes, "  why") != NULL;
}

static void expect_rows(const struct row *rows, size_t n)
{
    char line[256];

    for (size_t i = 0; i < n; i++) {
        struct text t = text_on(line, sizeof(line));
        struct lab l;

        text_addf(&t, "expect %s", rows[i].that);
        lab_open(&l, false);
        lab_run(&l, rows[i].lines);
        assert_false(lab_try(&l, line));
        assert_int_equal(l.s->diag.kind, DIAG_EXPECT);
        if (rows[i].words)
            assert_in_order(l.s->diag.notes, rows[i].words);
        else if (has_answer(l.s->diag.notes))
            fail_msg("%s: %s", line, l.s->diag.notes);
        lab_close(&l);
    }
}

static void a_completion_has_a_cause(void **state)
{
    static const struct row rows[] = {
        {STORY, "h1.cq.wc[0].status == REM_ACCESS_ERR", "why h1.cq.wc[0]: #56.4 #55.2 2nd f1"},
        {STORY, "not h1.cq.wc[0].status == SUCCESS", "why h1.cq.wc[0]: SUCCESS"},
        {STORY, "SUCCESS != h1.cq.wc[0].status", "why h1.cq.wc[0]: SUCCESS"},
        {DEAD, "h1.cq.wc[0].status == SUCCESS", "why h1.cq.wc[0]: RETRY_LIMIT lost"},
        {NOT_READY, "h1.cq.wc[0].status == SUCCESS", "why not h1.cq.wc[0]: SEND RNR post_recv"},
        {NOT_READY, "h1.cq.count == 1", "why not h1.cq.wc[0]:"},
        {STORY, "h1.cq.count < 1", "why h1.cq.wc[0]:"},
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void a_count_has_the_cause_of_what_is_too_much_or_missing(void **state)
{
    static const struct row rows[] = {
        {STORY, "count(lost) == 0", "why #53.1: lost sent"},
        {STORY, "0 == count(lost)", "why #53.1: lost sent"},
        {STORY, "not count(lost) > 0", "why #53.1: lost sent"},
        {STORY, "count(tx, host==h1) <= 1", "why #54.2: attempt"},
        {STORY, "count(tx, host==h1) < 2", "why #54.2: attempt"},
        {NOT_READY, "count(cqe, host==h1) == 1", "why not count(cqe, host==h1) == 1: receive"},
        {NOT_READY, "count(cqe, host==h1)", "why not count(cqe, host==h1): receive"},
        {STORY, "count(cqe) == 9", NULL}, /* nothing waits, so nobody knows of others */
        {NOT_READY, "count(tx) == 9", "why not: SEND"},
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void a_state_has_the_events_that_led_there(void **state)
{
    static const struct row rows[] = {
        {DEAD, "h1.qp.state == RTS", "why #55.5: qp_state ERR because timeout lost"},
        {DEAD, "h1.qp.state != ERR", "why #55.5: qp_state ERR because timeout lost"},
        {PAIR, "h1.qp.state == RTS", "why not h1.qp.state == RTS: modify_qp"},
        {NOT_READY, "h1.qp.state == ERR", "why not: SEND"},
        {STORY, "h1.qp.state == ERR", NULL},
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

static void other_subjects_have_the_cause_that_is_theirs(void **state)
{
    static const struct row rows[] = {
        {STORY, "h2.mr[0:5] == \"howdy\"", "why h2.mr[0:5]: written h1.qp's came dma_write 2nd f1"},
        {NOT_READY, "h2.mr[0:5] == \"hello\"", "why not: SEND"},
        {DEAD, "f1.hits == 1", "why f1: lost"},
        {CONNECTED "drop from=h2 as f1\n", "f1.hits == 1", "why not f1:"},
        {STORY, "t < 1us", NULL},
        {STORY, "h1.mr.bytes == 1", NULL},
        {STORY, "h1.qp.retries == 7", NULL},
        {PAIR, "h2.mr[0:5] == \"hello\"", "why h2.mr[0:5]: nobody wrote there"},
    };

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
}

/* Of several terms each that fails is answered, at most two, and each command once. */
static void an_answer_comes_once(void **state)
{
    static const struct row rows[] = {
        {DEAD,
         "h1.cq.wc[0].status == SUCCESS and h1.cq.wc[0].byte_len == 64 and h1.qp.state == RTS",
         "why h1.cq.wc[0]: why #55.5:"},
        {STORY, "count(lost) == 0 or h1.cq.wc[0].status != SUCCESS", "why #53.1: why h1.cq.wc[0]:"},
    };
    struct lab l;

    (void)state;
    expect_rows(rows, ARRAY_LEN(rows));
    lab_open(&l, false);
    lab_run(&l, DEAD);
    assert_false(
        lab_try(&l, "expect h1.cq.wc[0].status == SUCCESS and h1.cq.wc[0].byte_len == 64"));
    assert_null(strstr(strstr(l.s->diag.notes, "  why ") + 1, "  why "));
    lab_close(&l);
}

/* `until` says what is waited for, and answers too. */
static void what_never_came_has_an_answer(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED SEND);
    assert_false(lab_try(&l, "until cqe(host==h1) timeout=20us"));
    assert_in_order(l.s->diag.notes, "h1.qp: waits why not cqe(host==h1):");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_has_a_cause),
        cmocka_unit_test(a_count_has_the_cause_of_what_is_too_much_or_missing),
        cmocka_unit_test(a_state_has_the_events_that_led_there),
        cmocka_unit_test(other_subjects_have_the_cause_that_is_theirs),
        cmocka_unit_test(an_answer_comes_once),
        cmocka_unit_test(what_never_came_has_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
