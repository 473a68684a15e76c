/* SPDX-License-Identifier: MIT */
/* Rounds of retries are folded wherever events are printed or drawn, and nowhere else. */
#include "cli/lab_session.h"
#include "rdmalab/trace.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2 latency=1us\n"                                                         \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq\n"        \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
/* h2 never has a receive, and h1 bears any number of RNR NAKs. */
#define NOT_READY                                                                                  \
    PAIR "connect h1.qp h2.qp timeout=4\npost_send h1.qp wr_id=1 sge=mr[0:64] signaled\n"
/* Eight transmissions are lost. */
#define LOST                                                                                       \
    PAIR "connect h1.qp h2.qp timeout=4 retry_cnt=7\ndrop from=h1 count=0 as f1\n"                 \
         "post_send h1.qp wr_id=1 sge=mr[0:64] signaled\n"

static size_t times(const char *s, const char *word)
{
    size_t n = 0;

    for (s = strstr(s, word); s; s = strstr(s + 1, word))
        n++;
    return n;
}

/* Runs @lines and then @asked, and returns what @asked prints.  The caller frees it. */
static char *told(const char *lines, const char *asked, bool colour)
{
    struct session_config config = {.seed = 1, .verbose = true, .colour = colour};
    struct lab l = {.out = NULL};
    const char *from;
    char *text;
    size_t before;

    l.f = open_memstream(&l.out, &l.n);
    assert_non_null(l.f);
    config.out = config.err = l.f;
    assert_int_equal(session_new(&config, &l.s), RDL_OK);
    assert_true(lab_try(&l, lines));
    fflush(l.f);
    before = l.n;
    assert_true(lab_try(&l, asked));
    fflush(l.f);
    from = l.out + before;
    text = strdup(from);
    lab_close(&l);
    return text;
}

static void a_run_shows_the_first_and_the_last_round(void **state)
{
    char *text = told(NOT_READY, "run 1s", false);

    (void)state;
    assert_in_order(text,
                    "fetch RNR_NAK timeout ... 1555 rounds 7 lines, attempt 1557 timeout t=1s");
    assert_int_equal(times(text, " timeout "), 2);
    assert_int_equal(times(text, "\n"), 24);
    free(text);
    text = told(LOST, "run 10ms", false);
    assert_in_order(text, "lost timeout ... 6 rounds 4 lines, attempt 8 cqe RETRY_EXC_ERR idle");
    free(text);
}

/* Everything that is printed within a command stays where it is. */
static void an_end_comes_after_what_was_kept(void **state)
{
    char *text = told(NOT_READY "run 1ms\n", "step 3", false);

    (void)state;
    assert_in_order(text, "tx rx tx rx");
    free(text);
    text = told(NOT_READY, "run 3ms; run 3ms", false);
    assert_in_order(text, "rounds t=3.01ms timeout rounds t=6.01ms");
    free(text);
}

static void recorded_events_are_folded_in_text(void **state)
{
    static const char *const all[] = {"show events full", "show events all", "show events #47..",
                                      "show events json", "show events format=csv"};
    char *text = told(NOT_READY "run 1s\n", "show events", false);

    (void)state;
    assert_in_order(text, "1555 rounds 7 lines, 10885 folded: show events full");
    assert_int_equal(times(text, " timeout "), 2);
    free(text);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        text = told(NOT_READY "run 1s\n", all[i], false);
        assert_null(strstr(text, "more rounds"));
        assert_true(times(text, "timeout") >= 1557);
        free(text);
    }
    text = told(NOT_READY "run 1s\n", "show events last 40 kinds=tx host=h1", false);
    assert_in_order(text, "attempt 38 rounds this line, attempt 1558 show events full last 40");
    free(text);
}

static void a_ladder_leaves_rounds_out(void **state)
{
    char *text = told(NOT_READY "run 1s\n", "export ladder -", false);

    (void)state;
    assert_in_order(text, "post SEND 2 ... 1555 such rounds, 1557th 1558th");
    assert_int_equal(times(text, "SEND_ONLY"), 3);
    free(text);
    text = told(NOT_READY "run 10ms\n", "export ladder - full", false);
    assert_null(strstr(text, "such round"));
    assert_int_equal(times(text, "SEND_ONLY"), 16);
    free(text);
    text = told(LOST "run 10ms\n", "export ladder -", false);
    assert_in_order(text, "lost: f1 6 such rounds, lost: f1 RETRY_EXC_ERR");
    assert_null(strstr(text, "under way"));
    free(text);
}

/* A packet that leaves or ends in a round that is left out says so. */
static void a_packet_across_the_edge_of_a_round_is_cut(void **state)
{
    char *text = told(NOT_READY "run 10ms\n", "export ladder - from=#49.2", false);

    (void)state;
    assert_in_order(text, "such rounds,");
    assert_null(strstr(text, "still under way"));
    free(text);
}

/* The same thing has the same colour in a run, in a list and in a ladder. */
static void colours_are_those_of_the_ladder(void **state)
{
    char *text = told(LOST, "run 10ms", true);

    (void)state;
    assert_in_order(text,
                    "fetch #48.2 key \033[0;36m#48.3 tx \033[0;31m# lost \033[0;33m# timeout");
    assert_null(strstr(text, "\033[0;31m#48.2")); /* a key that is right */
    free(text);
    text = told(LOST "run 10ms\n", "show events kinds=tx,lost,timeout", true);
    assert_in_order(text, "\033[0;36m tx \033[0;31m lost \033[0;33m timeout");
    free(text);
    text = told(LOST "run 10ms\n", "export ladder -", true);
    assert_in_order(text, "\033[0;36m SEND_ONLY \033[0;31m lost \033[0;33m timeout");
    free(text);
}

/* Numbers of events, hashes and stops do not depend on what is printed. */
static void the_lab_does_not_know(void **state)
{
    struct lab l;
    uint64_t hash;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, NOT_READY "run 100ms\n");
    hash = rdl_hash(l.s->lab);
    lab_close(&l);
    lab_open(&l, true);
    lab_run(&l, NOT_READY "break #300\nrun 100ms\n");
    assert_int_equal(rdl_tick(l.s->lab), 300);
    lab_run(&l, "run 100ms\nback to #300\nredo\n");
    lab_close(&l);
    lab_open(&l, true);
    lab_run(&l, NOT_READY "run 100ms\n");
    assert_true(rdl_hash(l.s->lab) == hash);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_shows_the_first_and_the_last_round),
        cmocka_unit_test(an_end_comes_after_what_was_kept),
        cmocka_unit_test(recorded_events_are_folded_in_text),
        cmocka_unit_test(a_ladder_leaves_rounds_out),
        cmocka_unit_test(a_packet_across_the_edge_of_a_round_is_cut),
        cmocka_unit_test(colours_are_those_of_the_ladder),
        cmocka_unit_test(the_lab_does_not_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
