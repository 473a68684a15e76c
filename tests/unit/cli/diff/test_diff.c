/* SPDX-License-Identifier: MIT */
/* Tests of `diff` between two futures: bytes of memory and frames, missing records, the order of
 * differences, and the hint how to see more.
 */
#include "cli/lab_session.h"
#include "golden.h"
#include "rdmalab/verbs.h"
#include "tree/tree_memory.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq cqe=16 as cq\n"        \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp timeout=4\n"                                                              \
    "post_recv h2.qp sge=mr[0:64]; post_recv h2.qp sge=mr[64:128]\n"
#define SEND "post_send h1.qp sge=mr[0:64] signaled\nrun\n"

/* Returns what @asked prints after @lines.  The caller frees it. */
static char *told(const char *lines, const char *asked)
{
    struct lab l;
    size_t before;
    char *ret;

    lab_open(&l, true);
    lab_run(&l, lines);
    fflush(l.f);
    before = l.n;
    lab_run(&l, asked);
    fflush(l.f);
    ret = strdup(l.out + before);
    assert_non_null(ret);
    lab_close(&l);
    return ret;
}

/* diff prints the golden section @name, and has each of @words in their order. */
static void assert_diff(const char *name, const char *lines, const char *asked, const char *words)
{
    char *out = told(lines, asked);

    assert_in_order(out, words);
    assert_golden(name, out);
    free(out);
}

static void bytes_that_no_event_tells_of_are_compared(void **state)
{
    (void)state;
    assert_diff("bytes that no event tells of",
                PAIR "fork a\nwrite h1.mr[0] \"zz\"\nfuture main\nfork b\nwrite h1.mr[0] \"yy\"",
                "diff a b", "a b h1.mr[0:2] 7a7a | 7979");
    assert_diff("bytes of a frame",
                PAIR "fork a\nwrite h1.mr[0] \"zz\"\n" SEND "future main\nfork b\n"
                     "write h1.mr[0] \"yy\"\n" SEND,
                "diff a b", "# 54 7a | 79 h1.mr[0:2] 7a7a | 7979 h2.mr[0:2] 7a7a | 7979");
}

static void the_same_says_what_was_compared(void **state)
{
    (void)state;
    assert_diff("the same in both futures",
                PAIR "fork a\nwrite h1.mr[0] \"zz\"\n" SEND "future main\nfork b\n"
                     "write h1.mr[0] hex=7a7a\n" SEND,
                "diff a b", "a b # 2 frames 8k 2");
}

/* The history before the fork is not drawn. */
static void a_future_that_ends_has_no_ladder(void **state)
{
    (void)state;
    assert_diff("a future that ends", PAIR SEND "back to tx(host==h2)\nfork e\n", "diff e main",
                "e main # #");
}

static void what_is_not_recorded_is_not_told_of(void **state)
{
    (void)state;
    assert_diff("recording off",
                PAIR "fork a\nrecord off\n" SEND "future main\nwrite h1.mr[0] \"a\"", "diff a main",
                "a main: 0 # a: off # h1.cq.count 1 | 0");
    assert_diff("recording off at times",
                PAIR "fork a\nrecord off\n" SEND "record on\n" SEND "future main\n" SEND,
                "diff a main", "a: off h1.cq.count");
    assert_diff("recording off after the difference",
                PAIR "fork a\nwrite h1.mr[0] \"a\"\nrecord off\n" SEND "future main\n",
                "diff a main", "a main # # a: off #");
}

static void what_the_record_has_forgotten_is_not_told_of(void **state)
{
    (void)state;
    assert_diff("a record that has forgotten",
                "record keep=2k\n" PAIR "fork a\nnote \"a\"\nping h1 h2\n"
                "repeat 1000 { ping h1 h2 }\n" SEND "future main\nping h1 h2\n",
                "diff main a", "main # h1.cq.count");
    assert_diff("frames that are not kept",
                "record frames=0\n" PAIR "fork a\nwrite h1.mr[0] \"a\"\n" SEND
                "future main\nfork b\nwrite h1.mr[0] hex=62\n" SEND,
                "diff a b", "h1.mr");
}

/* A fault that only one future has is reported before the counters that follow from it. */
static void causes_come_first(void **state)
{
    (void)state;
    assert_diff("a fault that was cleared",
                PAIR "drop next from=h1 as f1\ncheckpoint here\n" SEND
                     "goto here\nclear f1\nstep tick\nstep tick\n" SEND,
                "diff main was1 all", "f1");
    assert_diff("a cause before its counters",
                PAIR "drop next from=h1 as f1\npost_send h1.qp sge=mr[0:64] signaled\n"
                     "checkpoint here\nrun\ngoto here\nclear f1\nrun\n",
                "diff main was1 all", "main # was1 # f1 | next_psn h1.counters.sent_pkts");
}

/* Two long histories that part early. */
#define LONG                                                                                       \
    PAIR "fork a_name_of_23_characters\ndrop next from=h1 as f1\n" MANY "future main\n" MANY
#define MANY                                                                                       \
    "repeat 50 { post_recv h2.qp; post_send h1.qp signaled; run; poll_cq h1.cq; poll_cq h2.cq }\n"

/* Twenty bytes differ, 16 bytes apart. */
#define BYTE   "01000000000000000000000000000000"
#define FIVE   BYTE BYTE BYTE BYTE BYTE
#define SPARSE PAIR "fork a\nwrite h1.mr[0] hex=" FIVE FIVE FIVE FIVE "\nfuture main\n"

static void what_is_cut_can_be_seen(void **state)
{
    char *out;

    (void)state;
    out =
        told(LONG, "diff a_name_of_23_characters"); /* the drawing is too long for a golden text */
    assert_in_order(out, "a_name_of_23_characters # main # ... # ... # "
                         "future a_name_of_23_characters; goto end; export ladder - from=# "
                         "goto end; export ladder - from=#");
    free(out);
    out = told(LONG, "diff a_name_of_23_characters all");
    assert_in_order(out, "f1");
    assert_null(strstr(out, "... "));
    free(out);
    assert_diff("many ranges, cut", SPARSE, "diff a main",
                "h1.mr[0:1] h1.mr[176:177] 8 diff a main all");
    assert_diff("many ranges", SPARSE, "diff a main all", "h1.mr[0:1] h1.mr[304:");
}

/* --- Bytes ------------------------------------------------------------------------------------ */

struct ranges {
    struct tree_memory_difference v[4];
    size_t n;
};

static void take_range(void *ctx, const struct tree_memory_difference *d)
{
    struct ranges *r = ctx;

    assert_true(r->n < ARRAY_LEN(r->v));
    r->v[r->n++] = *d;
}

static void ranges_are_joined_over_a_few_equal_bytes(void **state)
{
    struct tree_memory a, b;
    struct ranges r = {.n = 0};
    struct tree_memory_compared compared;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "reg_mr h1.pd len=100 as odd");
    tree_memory_take(&a, l.s->lab);
    lab_run(&l, "write h1.mr[0] hex=01; write h1.mr[5] hex=01; write h1.mr[11] hex=01\n"
                "write h1.odd[99] hex=01");
    tree_memory_take(&b, l.s->lab);
    compared = tree_memory_compare(&a, &b, take_range, &r);
    assert_int_equal(compared.n_regions, 3);
    assert_int_equal(compared.bytes, 8192 + 100);
    assert_int_equal(compared.n_skipped, 0);
    assert_int_equal(r.n, 3);
    assert_true(r.v[0].from == 0 && r.v[0].to == 6);
    assert_true(r.v[1].from == 11 && r.v[1].to == 12 && r.v[1].a[0] == 0 && r.v[1].b[0] == 1);
    assert_string_equal(r.v[2].path, "h1.odd");
    assert_true(r.v[2].from == 99 && r.v[2].to == 100);
    tree_memory_done(&a);
    tree_memory_done(&b);
    lab_close(&l);
}

static void too_many_bytes_are_not_looked_at_and_that_is_said(void **state)
{
    (void)state;
    assert_diff("too many bytes",
                PAIR "host h3 ram=128m; alloc_pd h3 as pd; reg_mr h3.pd len=65m as big\nfork a\n"
                     "write h3.big[0] \"x\"\nfuture main\nfork b\nwrite h3.big[0] \"y\"",
                "diff a b", "8k 2 h3.big, 65m; 64m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_no_event_tells_of_are_compared),
        cmocka_unit_test(the_same_says_what_was_compared),
        cmocka_unit_test(a_future_that_ends_has_no_ladder),
        cmocka_unit_test(what_is_not_recorded_is_not_told_of),
        cmocka_unit_test(what_the_record_has_forgotten_is_not_told_of),
        cmocka_unit_test(causes_come_first),
        cmocka_unit_test(what_is_cut_can_be_seen),
        cmocka_unit_test(ranges_are_joined_over_a_few_equal_bytes),
        cmocka_unit_test(too_many_bytes_are_not_looked_at_and_that_is_said),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
