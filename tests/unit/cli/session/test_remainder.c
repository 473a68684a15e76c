/* SPDX-License-Identifier: MIT */
/* Tests of `continue` after a stop: it executes the rest of the line in any nesting, so that in the
 * end everything has happened that would have happened without the stop.
 */
#include "cli/exec/exec.h"
#include "cli/lab_session.h"
#include "cli/session/history.h"

#include "cli/own_directory.h"
#include "rdmalab/trace.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2\n"                                                                     \
    "foreach h in h1,h2 { alloc_pd $h as pd; reg_mr $h.pd len=4k access=lw,rw as mr\n"             \
    "  create_cq $h as cq; create_qp $h.pd send_cq=cq recv_cq=cq as qp }\n"                        \
    "connect h1.qp h2.qp\n"                                                                        \
    "macro send n { post_recv h2.qp sge=mr[0:$n]; post_send h1.qp sge=mr[0:$n]; run; run 3us }\n"

#define CONTINUES_MAX 64u

/* A break is hit several times in each of these lines, but never in the middle of a command of a
 * guest.
 */
static const char *const lines[] = {
    "repeat 3 { post_recv h2.qp; post_send h1.qp; run }",
    "foreach n in 3..5,9 { send $n }",
    "repeat 2 { foreach n in 3,4 { on h1,h2 { post_recv qp; run 1us } ; send $n } }",
    "if tick > 1 { send 1; send 2 } else { send 9 }; send 3",
    "send 1; send 2; step packet 3; send 4",
    "on h1,h2 { step tick 9; post_recv qp; run 10us; run 2us }; send 4",
    "post_recv h2.qp; post_send h1.qp; until h2.cq.count > 0 timeout=1ms; step tick 40; run",
    "repeat 2 { send 1; send 2 }; continue; send 4",
    "repeat 2 { send 1; finish h1.qp timeout=1ms; run 5us }; source s.lab; send 7",
};

static void hash_of(const char *line, const char *stop, uint64_t *ret_hash, uint64_t *ret_ns,
                    unsigned *ret_continued)
{
    struct lab l;
    unsigned n = 0;

    lab_open(&l, false);
    lab_run(&l, PAIR);
    lab_run(&l, stop);
    lab_run(&l, line);
    while (l.s->run.remainders.waiting && n++ < CONTINUES_MAX)
        lab_run(&l, "continue");
    lab_run(&l, "run");
    *ret_hash = rdl_hash(l.s->lab);
    *ret_ns = rdl_now_ns(l.s->lab);
    *ret_continued = n;
    lab_run(&l, "session save x.lab");
    lab_close(&l);
}

static void all_is_done_in_the_end(void **state)
{
    static const char *const stops[] = {"break tx", "break rx(host==h2)", "break t > 18us",
                                        "watch h1.qp.sq_psn", "break fetch; break timer"};
    FILE *f = fopen("s.lab", "w");

    (void)state;
    assert_non_null(f);
    fputs("send 5\nsend 6\n", f);
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        uint64_t hash, ns;
        unsigned n, all = 0;

        hash_of(lines[i], "", &hash, &ns, &n);
        assert_int_equal(n, 0);
        for (size_t k = 0; k < ARRAY_LEN(stops); k++) {
            struct source file = {0};
            uint64_t hash_stopped, ns_stopped;
            struct lab again;

            hash_of(lines[i], stops[k], &hash_stopped, &ns_stopped, &n);
            all += n;
            if (hash_stopped != hash || ns_stopped != ns)
                fail_msg("%s, with %s: other events, t=%llu and not %llu", lines[i], stops[k],
                         (unsigned long long)ns_stopped, (unsigned long long)ns);
            lab_open(&again, false);
            assert_null(source_read("x.lab", &file));
            assert_true(exec_lines(again.s, &file, false));
            assert_true(rdl_hash(again.s->lab) == hash);
            source_done(&file);
            lab_close(&again);
        }
        assert_true(all > 0);
    }
}

static void other_lines_may_come_between(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "break tx(host==h1)");
    lab_run(&l, "repeat 2 { send 4 }");
    lab_run(&l, "show qp h1.qp; alloc_pd h1 as mine; step");
    assert_int_equal(l.s->run.remainders.n, 1);
    lab_run(&l, "back 2; goto end");
    assert_int_equal(l.s->run.remainders.n, 1);
    lab_run(&l, "back 2");
    assert_false(lab_try(&l, "continue"));
    assert_non_null(strstr(l.s->diag.message, "at the end of \"main\""));
    assert_int_equal(l.s->history->futures.n, 0);
    lab_run(&l, "goto end; foreach n in 1,2 { send $n }");
    assert_int_equal(l.s->run.remainders.n, 2);
    lab_run(&l, "delete all; continue");
    assert_int_equal(l.s->run.remainders.n, 1);
    lab_run(&l, "continue; expect count(post_send) == 4");
    assert_int_equal(l.s->run.remainders.n, 0);
    lab_close(&l);
}

static void what_waits_is_given_up(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, PAIR "break tx(host==h1)");
    assert_false(lab_try(&l, "abandon"));
    lab_run(&l, "repeat 2 { send 4 }");
    lab_run(&l, "abandon; continue; expect count(post_send) == 1");
    lab_run(&l, "repeat 2 { send 4 }; note \"behind\"");
    lab_run(&l, "back; alloc_pd h1"); /* another future, to which it does not belong */
    assert_int_equal(l.s->run.remainders.n, 0);
    fflush(l.f);
    assert_non_null(strstr(l.out, "given up: the rest of repeat 2 { send 4 }; note"));
    for (unsigned i = 0; i < 2 * REMAINDERS_MAX; i++)
        lab_run(&l, "repeat 2 { send 4 }");
    assert_int_equal(l.s->run.remainders.n, REMAINDERS_MAX);
    assert_false(lab_try(&l, "repeat 1 { continue }"));
    lab_close(&l);
}

/* In the block of a break, `continue` runs the lab; the stopped line still waits. */
static void in_the_block_of_a_stop_it_is_run(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "break tx(host==h1) once do { continue }");
    lab_run(&l, "repeat 2 { send 4 }");
    lab_run(&l, "expect count(rx, host==h1) == 1 and count(post_send) == 1");
    lab_run(&l, "continue; expect count(post_send) == 2");
    lab_close(&l);
}

/* A rest that fails is not continued. */
static void what_fails_has_no_rest(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "break tx(host==h1)");
    lab_run(&l, "repeat 2 { send 4; query_port h9 }; run");
    assert_false(lab_try(&l, "continue"));
    assert_string_equal(l.s->diag.message, "no host is called \"h9\"");
    assert_true(strncmp(l.s->diag_src.text + l.s->diag.at.at, "h9 }", 4) == 0);
    assert_int_equal(l.s->run.remainders.n, 0);
    lab_close(&l);
}

static int leave_directory(void **state)
{
    unlink("x.lab");
    unlink("s.lab");
    return own_directory_leave(state);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_done_in_the_end),
        cmocka_unit_test(other_lines_may_come_between),
        cmocka_unit_test(what_waits_is_given_up),
        cmocka_unit_test(in_the_block_of_a_stop_it_is_run),
        cmocka_unit_test(what_fails_has_no_rest),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, leave_directory);
}
