/* SPDX-License-Identifier: MIT */
/* Tests of blocks with conditions and variables: execution, saving, and errors that are reported
 * before anything runs.
 */
#include "cli/exec/exec.h"
#include "cli/lab_session.h"
#include "cli/session/history.h"

#include "cli/lang/expand.h"
#include "cli/lang/json.h"
#include "cli/lang/line.h"
#include "cli/own_directory.h"
#include "rdmalab/trace.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2\n"                                                                     \
    "foreach h in h1,h2 { alloc_pd $h as pd; reg_mr $h.pd len=4k access=lw,rw as mr\n"             \
    "  create_cq $h as cq; create_qp $h.pd send_cq=cq recv_cq=cq as qp }\n"                        \
    "connect h1.qp h2.qp\n"

/* Returns what "session save" writes about what was done after PAIR.  The caller frees it. */
static char *saved_behind(struct lab *l, const char *name)
{
    struct source file = {0};
    char *text;

    assert_null(source_read(name, &file));
    text = strstr(file.text, "connect h1.qp h2.qp\n");
    assert_non_null(text);
    text = strdup(text + strlen("connect h1.qp h2.qp\n"));
    assert_non_null(text);
    source_done(&file);
    (void)l;
    return text;
}

static void blocks_are_saved_as_typed_and_calls_as_what_they_did(void **state)
{
    static const struct {
        const char *typed, *saved;
    } rows[] = {
        {"foreach i in 1..3,9 { post_recv h2.qp wr_id=$i }",
         "foreach i in 1..3,9 {\n    post_recv h2.qp wr_id=$i\n}\n"},
        {"if h1.qp.state == RTS { run } else { step }",
         "if h1.qp.state == RTS {\n    run\n} else {\n    step\n}\n"},
        {"if tick < 1 { run } else if tick > 1 { step } else { }",
         "if tick < 1 {\n    run\n} else if tick > 1 {\n    step\n}\n"},
        {"if h1.qp.state == RTS { foreach q in h1.qp,h2.qp { expect $q.state == RTS; show $q } }",
         "if h1.qp.state == RTS {\n    foreach q in h1.qp,h2.qp {\n        expect $q.state == RTS\n"
         "    }\n}\n"},
        {"macro get q n=2 { repeat $n { post_recv $q } }; get h2.qp; get h1.qp n=3",
         "repeat 2 {\n    post_recv h2.qp\n}\nrepeat 3 {\n    post_recv h1.qp\n}\n"},
        {"macro get q { post_recv $q }; if tick < 1 { get h1.qp } else { get h2.qp }",
         "post_recv h2.qp\n"},
        {"macro get q { post_recv $q }; if tick < 1 { get h1.qp }", ""},
        {"macro mine { post_recv qp }; on h1,h2 { mine }",
         "on h1 {\n    post_recv qp\n}\non h2 {\n    post_recv qp\n}\n"},
        {"macro most list { foreach q in $list { post_recv $q } }; most h1.qp,h2.qp",
         "foreach q in h1.qp,h2.qp {\n    post_recv $q\n}\n"},
        {"foreach n in 2 { step $n }", "foreach n in 2 {\n    step $n\n}\n"},
        {"foreach n in a,b { create_cq h1 as cq$(n)1 }; foreach n in cqa1 { destroy_cq h1.$n }",
         "foreach n in a,b {\n    create_cq h1 as cq$(n)1\n}\nforeach n in cqa1 {\n"
         "    destroy_cq h1.$n\n}\n"},
        {"foreach n in 5..4 { write h1.mr[0] \"$n costs $5, $$\" }; expect h1.mr[0:9] == \"4 costs "
         "$\"",
         "foreach n in 5..4 {\n    write h1.mr[0] \"$n costs $5, $$\"\n}\n"
         "expect h1.mr[0:9] == \"4 costs $\"\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *saved;
        struct lab l, again;
        struct source file = {0};

        lab_open(&l, false);
        lab_run(&l, PAIR);
        lab_run(&l, rows[i].typed);
        lab_run(&l, "session save x.lab");
        saved = saved_behind(&l, "x.lab");
        assert_string_equal(saved, rows[i].saved);
        lab_open(&again, false);
        assert_null(source_read("x.lab", &file));
        assert_true(exec_lines(again.s, &file, false));
        assert_true(rdl_hash(again.s->lab) == rdl_hash(l.s->lab));
        source_done(&file);
        free(saved);
        lab_close(&again);
        lab_close(&l);
    }
}

/* Nothing of the line is executed.  The error points to the text that follows the mark. */
static void what_is_wrong_is_said_before_anything_runs(void **state)
{
    static const struct {
        const char *line, *at, *message, *note;
    } rows[] = {
        {"host h8; macro m { bogus }", "bogus", "unknown command \"bogus\"", ""},
        {"host h8; macro m { m }", "m }", "macro m would call itself", ""},
        {"macro a { run }; macro b { a }; macro a { b }", "b }", "would call itself", "in macro b"},
        {"macro m a { create_cq h1 cqe=$a }; m x", "m x", "is not an integer",
         "in macro m, where it says $a"},
        {"macro m a { run }; m", "m", "m needs a", ""},
        {"macro m a { run }; m 1 2", "2", "takes no further word", ""},
        {"macro m a { run }; m b=2", "b=2", "has no parameter b", ""},
        {"macro m a { run }; m 1 a=2", "a=2", "a is given twice", ""},
        {"macro m a a { run }", "a {", "two parameters a", ""},
        {"macro m 1 { run }", "1 {", "\"1\" is no parameter", ""},
        {"macro run { run }", "run {", "run means something already", ""},
        {"macro m { alloc_pd $h }", "$h", "there is no variable $h here", ""},
        {"repeat 2 { macro m { run } }", "macro", "outside of all blocks", ""},
        {"foreach x in 1..20000 { run }", "1..2", "more than 10000 rounds", ""},
        {"foreach x in $y { run }", "$y", "there is no variable $y here", ""},
        {"foreach x in 1,2 { foreach x in 3 { run } }", "x in 3", "$x is a variable around", ""},
        {"foreach n in 3,x { create_cq h1 cqe=$n }", "$n }", "is not an integer", "with $n = x"},
        {"foreach x in 1..1000 { foreach y in 1..1000 { run } }", "run", "than 100000 commands",
         ""},
        {"macro m { foreach i in 1..99999999999 { note x } }", "1..9", "more than 10000 rounds",
         ""},
        {"macro m { foreach i in 1..10000 { foreach k in 1..100 { run } } }; note 1234567890; m",
         "m", "than 100000 commands", "in macro m, where it says run"},
        {"foreach my-x in a { host $my-x }", "my-x in", "no name of a variable", ""},
        {"else { run }", "else", "no if is here", ""},
        {"if tick == { run }", "", "", ""},
        {"call nix", "nix", "there is no macro \"nix\"", ""},
        {"macro a { repeat 2 { repeat 2 { repeat 2 { repeat 2 { run } } } } }\n"
         "macro b { repeat 2 { repeat 2 { a } } }",
         "a } }", "more than 8 blocks and macros", "in macro a"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *at = rows[i].line;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, "host h1");
        assert_false(lab_try(&l, rows[i].line));
        if (!strstr(l.s->diag.message, rows[i].message) || !strstr(l.s->diag.notes, rows[i].note))
            fail_msg("%s: %s (%s)", rows[i].line, l.s->diag.message, l.s->diag.notes);
        at += l.s->diag.at.at;
        if (strncmp(at, rows[i].at, strlen(rows[i].at)) != 0)
            fail_msg("%s: %s, at %s", rows[i].line, l.s->diag.message, at);
        lab_close(&l);
    }
}

/* A macro that fails while it runs names both places. */
static void an_error_in_a_macro_names_the_call(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1\nmacro inner h { query_port $h }\nmacro outer h { inner $h }");
    assert_false(lab_try(&l, "run\n  outer h9"));
    assert_string_equal(l.s->diag.message, "no host is called \"h9\"");
    assert_true(strncmp(l.s->diag_src.text + l.s->diag.at.at, "$h }", 4) == 0);
    assert_non_null(strstr(l.s->diag.notes, "in macro inner, called by: inner $h "));
    assert_non_null(strstr(l.s->diag.notes, "in macro outer, called by: outer h9"));
    assert_false(lab_try(&l, "foreach h in h1,h9 { query_port $h }"));
    assert_non_null(strstr(l.s->diag.notes, "with $h = h9"));
    lab_close(&l);
}

/* Later definitions could make macros call each other. */
static void a_macro_calls_what_is_defined_when_it_runs(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1; macro a { create_cq h1 as one }; macro b { a }\n"
                "macro a { create_cq h1 as two }; b; destroy_cq h1.two");
    lab_close(&l);
}

static void to_ask_begins_no_future(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "post_recv h2.qp; run; back 2; macro m { show }; m");
    lab_run(&l, "if tick < 1 { alloc_pd h1 }");
    assert_int_equal(l.s->history->futures.n, 0);
    lab_run(&l, "if tick > 1 { alloc_pd h1 }");
    assert_int_equal(l.s->history->futures.n, 1);
    lab_close(&l);
}

/* Expressions that JSON can hold in a block with variables, and that no line can hold. */
static void an_expression_with_a_variable_must_fit_into_a_line(void **state)
{
    static const char *const rows[] = {"$x == 1; run", "$x == 1 }", "$x == \\\"a",
                                       "$x timeout=5", "$x --that", "$y == 1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char json[256];
        struct diag d = {.kind = DIAG_NONE};
        struct script s = {.first = NULL};

        snprintf(
            json, sizeof(json),
            "{\"steps\": [{\"do\": \"macro\", \"name\": \"m\", \"params\": [\"x\"], \"steps\": "
            "[{\"do\": \"until\", \"that\": \"%s\"}]}]}",
            rows[i]);
        s.src = source_of(NULL, json);
        assert_false(json_read_script(&s, &d));
        assert_int_equal(d.kind, DIAG_VALUE);
        script_done(&s);
    }
}

static int leave_directory(void **state)
{
    unlink("x.lab");
    return own_directory_leave(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_saved_as_typed_and_calls_as_what_they_did),
        cmocka_unit_test(what_is_wrong_is_said_before_anything_runs),
        cmocka_unit_test(an_error_in_a_macro_names_the_call),
        cmocka_unit_test(a_macro_calls_what_is_defined_when_it_runs),
        cmocka_unit_test(to_ask_begins_no_future),
        cmocka_unit_test(an_expression_with_a_variable_must_fit_into_a_line),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, leave_directory);
}
