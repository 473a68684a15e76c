/* SPDX-License-Identifier: MIT */
/* Expectations: values and their texts, questions that have no answer, and what is said of one that
 * holds or fails.
 */
#include "cli/lab_session.h"
#include "cli/session/operand.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* --- Values and their texts ------------------------------------------------------------------- */

struct told {
    struct lab *l;
    size_t n_equal, n_refused;
};

/* Expects that the value equals the text @shown. */
static void expect_text(struct told *told, const char *path, const char *shown, bool quoted)
{
    struct session *s = told->l->s;
    char line[2 * RDL_VALUE_BYTES + RDL_PATH_BYTES];
    struct text t = text_on(line, sizeof(line));
    bool held;

    text_addf(&t, quoted ? "expect %s == \"%s\"" : "expect %s == %s", path, shown);
    held = lab_try(told->l, line);
    if (!held && s->diag.kind == DIAG_EXPECT)
        fail_msg("%s: %s", line, s->diag.message);
    told->n_equal += held;
    told->n_refused += !held;
}

/* A value equals the text that `show` and a failed `expect` have for it, or the text is no value.
 */
static void tell_value(void *ctx, const char *key, const struct rdl_value *v)
{
    char shown[2 * RDL_VALUE_BYTES], found[2 * RDL_VALUE_BYTES];
    struct text t = text_on(shown, sizeof(shown)), f = text_on(found, sizeof(found));
    const struct operand o = {.kind = v->type == RDL_WORD || v->type == RDL_TEXT ? OPERAND_WORD
                                                                                 : OPERAND_NUMBER,
                              .v = *v};
    const bool quoted = v->type == RDL_WORD || v->type == RDL_TEXT;

    if (v->type == RDL_NODE || (quoted && !v->text[0]))
        return;
    tree_add_value(&t, v);
    operand_add(&f, &o);
    expect_text(ctx, key, shown, quoted);
    if (strcmp(shown, found) != 0)
        expect_text(ctx, key, found, quoted);
}

static void every_value_equals_its_text(void **state)
{
    struct told told = {.n_equal = 0};
    struct lab l;
    size_t off;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host odd ram=65540k");
    lab_run(&l, examples_before[BEFORE_POSTED]);
    lab_run(&l, "step packet");
    told.l = &l;
    assert_int_equal(rdl_inspect_below(l.s->lab, "", tell_value, &told, &off), RDL_OK);
    lab_close(&l);
    assert_true(told.n_equal > 1000 && told.n_refused * 10 < told.n_equal);
}

static void a_time_is_told_as_it_is_compared(void **state)
{
    (void)state;
    assert_line_refused("host h1 h2; link h1 h2 latency=1003ns; ping h1 h2", "expect t == 17510ns",
                        "it is 2.426us");
}

/* Neither ==, !=, `not` nor the other side of an `or` gives an invalid question an answer, and
 * `refused` does not accept it.
 */
static void mistaken_questions_have_no_answer(void **state)
{
    static const struct {
        const char *expr, *message;
    } rows[] = {
        {"h1.qp.stat != RTS", "nothing is called \"h1.qp.stat\""},
        {"not h1.qp.stat", "nothing is called"},
        {"not h1.cq.wc[5].bogus == SUCCESS", "nothing is called \"h1.cq.wc[5].bogus\""},
        {"t > 0 or h1.qp.stat == RTS", "nothing is called"},
        {"t < 0 and h1.qp.stat == RTS", "nothing is called"},
        {"h1.qp.state != RTSS", "no QP state is called \"RTSS\""},
        {"h1.qp.state != \"RTSS\"", "no QP state is called \"RTSS\""},
        {"\"RTSS\" != h1.qp.state", "no QP state is called \"RTSS\""},
        {"h1.ctrl.broken != NOT_FOR_US", "no virtqueue error is called \"NOT_FOR_US\""},
        {"h1.qp.state != 3", "one side is a word, the other a number"},
        {"h1.qp.state != count(tx)", "one side is a word, the other a number"},
        {"h1.qp.sq_psn != \"101x\"", "one side is a number, the other text"},
        {"h1.qp.sq_psn != true", "one side is a number, the other true or false"},
        {"h1.mr[0:4] != 0", "one side is bytes, the other a number"},
        {"h1.mr[0:4] != h1.qp.state", "one side is bytes, the other a word"},
        {"h1.mr[0:4] != hell", "nothing is called \"hell\""},
        {"hell != \"hello\"", "nothing is called \"hell\""},
        {"count(tx) != none", "nothing is called \"none\""},
        {"RTS == RTS", "nothing is called \"RTS\""},
        {"tick < 3us", "the other side is no time, and 3us is one"},
        {"t > 1k", "the other side is a time, and 1k is none"},
        {"1us < h1.qp.sq_psn", "the other side is no time, and 1us is one"},
        {"count(tx, host==h9) == 0", "no host is called \"h9\""},
        {"h1.qp == h2.qp", "h1.qp is a queue pair, not a value"},
        {"h1 == 1", "h1 is a host, not a value"},
        {"1 == h1", "h1 is a host, not a value"},
        {"h1 == h2", "h1 is a host, not a value"},
        {"not h1", "h1 is a host, not a value"},
        {"not h1.cq.wc[zz].status == SUCCESS", "[zz] is no index"},
        {"not h1.cq.wc[].status == SUCCESS", "[] is no index"},
        {"not h1.cq.wc[0.status == SUCCESS", "[0.status is no index"},
        {"not h1.cq.wc[-1].status == SUCCESS", "[-1] is no index"},
        {"not h1.cq.wc[00].status == SUCCESS", "[00] is no index"},
        {"not h1.cq.wc[0x0].status == SUCCESS", "[0x0] is no index"},
        {"not h1.cq.wc[0:1].status == SUCCESS", "[0:1] is no index"},
        {"not h1.gid[01] == \"10.0.0.1\"", "[01] is no index"},
        {"h1.mr[0:0] == \"\"", "\"h1.mr[0:0]\" is empty"},
    };
    static const char *const forms[] = {"expect %s", "refused reason=err_inval { expect %s }",
                                        "refused reason=err_inval { until %s }"};
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(forms); i++) {
        const char *form = forms[i % ARRAY_LEN(forms)];
        const size_t row = i / ARRAY_LEN(forms);
        char line[256];
        struct text t = text_on(line, sizeof(line));

        text_addn(&t, form, (size_t)(strchr(form, '%') - form));
        text_addf(&t, "%s%s", rows[row].expr, strchr(form, '%') + 2);
        assert_false(lab_try(&l, line));
        if (!strstr(l.s->diag.message, rows[row].message))
            fail_msg("%s: %s", line, l.s->diag.message);
    }
    lab_close(&l);
}

static void expectations_see_what_happened(void **state)
{
    static const char *const hold[] = {
        "h1.cq.wc[0].status == SUCCESS",
        "h1.cq.wc[0].status == success and h2.cq.wc[0].wr_id == 7",
        "not h1.cq.wc[0].status == RETRY_EXC_ERR",
        "count(tx, host==h1, psn==100) == 2",
        "count(lost, name==f1) == 1",
        "count(cqe) == 2 or count(cqe) == 3",
        "h1.mr[0:64] == h2.mr[0:64]",
        "h2.mr[0:20] == \"hello, remote memory\"",
        "h2.mr[0:20] != \"hello, remote memorx\"",
        "h2.mr[0] == 104",
        "h1.qp.state == RTS",
        "h1.qp.mtu == 1k",
        "t > 65us",
        "80us < t",
        "#3",
        "h1.qp.peer == h2",
    };
    static const struct {
        const char *expr, *actual;
    } fail[] = {
        {"h1.cq.wc[0].status == RETRY_EXC_ERR", ": it is SUCCESS"},
        {"count(tx, host==h1, psn==100) == 3", ": it is 2"},
        {"h1.qp.state == RTS and h1.qp.mtu == 4096",
         ": h1.qp.mtu == 4096 does not hold, it is 1024"},
        {"t < 1us and h1.qp.state == RTS and (count(lost) == 2)",
         ": t < 1us does not hold, it is 83.055us; count(lost) == 2 does not hold, it is 1"},
        {"h1.qp.mtu == 256 or h1.qp.state == RTR",
         ": h1.qp.mtu == 256 does not hold, it is 1024; h1.qp.state == RTR does not hold, it is "
         "RTS"},
        {"t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and "
         "t>0 and t>0 and t>0 and t>0 and t>0 and t>0 and (t>0 and h1.qp.mtu == 256)",
         ": h1.qp.mtu == 256 does not hold, it is 1024"},
        {"not h1.qp.mtu > 256", ": h1.qp.mtu > 256 holds, it is 1024"},
        {"not (h1.qp.mtu == 256 or h1.qp.mtu == 1024)", ": h1.qp.mtu == 1024 holds"},
        {"#3 and #1000000", ": #1000000 does not hold, it is #56"},
        {"h1.mr[0:4] == h2.mr[4:8]", "byte 0 is 0x68 against 0x6f"},
        {"h1.cq.wc[9].status == SUCCESS", "it is not there"},
        {"h2.mr[0:5] == \"hullo\"", "it is \"hello\""},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    for (size_t i = 0; i < ARRAY_LEN(hold); i++) {
        char line[256];

        snprintf(line, sizeof(line), "expect %s", hold[i]);
        lab_run(&l, line);
    }
    for (size_t i = 0; i < ARRAY_LEN(fail); i++) {
        char line[256];

        snprintf(line, sizeof(line), "expect %s", fail[i].expr);
        assert_false(lab_try(&l, line));
        assert_int_equal(l.s->diag.kind, DIAG_EXPECT);
        if (!strstr(l.s->diag.message, fail[i].actual))
            fail_msg("%s: %s", fail[i].expr, l.s->diag.message);
    }
    lab_close(&l);
}

/* An expectation that holds prints what it found, but does not repeat its own text. */
static void an_expectation_that_holds_says_what_it_found(void **state)
{
    static const struct {
        const char *expr, *found;
    } rows[] = {
        {"h1.qp.mtu == 1024", ""},
        {"h1.qp.mtu >= 512", ": it is 1024"},
        {"h1.qp.mtu != 512", ": it is 1024"},
        {"h1.qp.state == RTS and h1.qp.mtu >= 512", ": h1.qp.mtu >= 512 holds, it is 1024"},
        {"h1.qp.mtu == 1024 or count(tx) > 900", ""},
        {"not h1.qp.mtu == 512", ": h1.qp.mtu == 512 does not hold, it is 1024"},
        {"count(lost)", ": it is 1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[256], wanted[256];
        struct lab l;

        lab_open(&l, true);
        lab_run(&l, STORY);
        snprintf(line, sizeof(line), "expect %s", rows[i].expr);
        snprintf(wanted, sizeof(wanted), "\nok: %s%s\n", rows[i].expr, rows[i].found);
        lab_run(&l, line);
        fflush(l.f);
        if (!strstr(l.out, wanted))
            fail_msg("%s: %s", rows[i].expr, l.out);
        lab_close(&l);
    }
}

/* Returns how often @word is in @text. */
static size_t times(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

/* Only terms that fail print their events; an event of several terms is printed once. */
static void a_failed_expectation_tells_each_event_once(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    assert_false(lab_try(&l, "expect count(cqe) == 2 and count(tx, host==h1) == 9 and "
                             "count(tx, psn==100) == 9"));
    assert_int_equal(times(l.s->diag.notes, " tx "), 3); /* two of h1, and the ACK */
    assert_int_equal(times(l.s->diag.notes, " cqe "), 0);
    assert_int_equal(times(l.s->diag.notes, "\n"), 3);
    lab_close(&l);
}

static void a_failed_count_tells_the_fate_of_each_event(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    assert_false(lab_try(&l, "expect count(tx, host==h1, psn==100) == 3"));
    assert_non_null(strstr(l.s->diag.notes, "lost in"));
    assert_non_null(strstr(l.s->diag.notes, "by f1"));
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_equals_its_text),
        cmocka_unit_test(a_time_is_told_as_it_is_compared),
        cmocka_unit_test(expectations_see_what_happened),
        cmocka_unit_test(mistaken_questions_have_no_answer),
        cmocka_unit_test(an_expectation_that_holds_says_what_it_found),
        cmocka_unit_test(a_failed_expectation_tells_each_event_once),
        cmocka_unit_test(a_failed_count_tells_the_fate_of_each_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
