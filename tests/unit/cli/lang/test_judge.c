/* SPDX-License-Identifier: MIT */
/* Judging scripts without running them: what is wrong is found at its place, and nothing is claimed
 * that only a run can show.
 */
#include "cli/lang/judge.h"

#include "cli/cli_testing.h"
#include "cli/lang/json.h"

#define HOSTS                                                                                      \
    "host h1 h2\nlink h1 h2\non h1,h2 { alloc_pd as pd; reg_mr pd len=4k as mr; create_cq as cq\n" \
    "create_qp pd send_cq=cq recv_cq=cq as qp }\n"
#define PAIR "setup\n"

static void keep_first(void *ctx, const struct diag *d)
{
    struct diag *first = ctx;

    if (first->kind == DIAG_NONE)
        *first = *d;
}

static bool judged(const char *lines, struct script *ret, struct diag *d)
{
    *ret = script_of(lines);
    *d = (struct diag){.kind = DIAG_NONE};
    if (!line_read_script(ret, d))
        fail_msg("%s: %s", lines, d->message);
    return judge_script(ret, keep_first, d) == 0;
}

static void what_cannot_be_right_is_found(void **state)
{
    static const struct {
        const char *lines, *at, *message, *remedy;
    } rows[] = {
        {HOSTS "alloc_pd h3 as pd\n", "h3", "no command makes \"h3\"", "\"h1\""},
        {HOSTS "on h1,h4 { alloc_pd as pd }\n", "h4", "no command makes", "\"h1\""},
        {HOSTS "expect h9.irqs == 1\n", "h9", "no command makes \"h9\"", "\"h1\""},
        {HOSTS "expect h1.irqs == 1 and not other.irqs == 1\n", "other", "no command makes",
         "host other"},
        {HOSTS "repeat 2 { expect h9.irqs == 1 }\n", "h9", "no command makes", ""},
        {HOSTS "until h9.irqs == 1\n", "h9", "no command makes", ""},
        {HOSTS "expect h1.qp.state == RST\n", "RST", "state is never \"RST\"", "\"RTS\""},
        {HOSTS "expect RST != h1.qp.state\n", "RST", "state is never \"RST\"", ""},
        {HOSTS "expect h1.cq.wc[0].status == SUCCES\n", "SUCCES", "status is never", "SUCCESS"},
        {HOSTS "on h1 { expect qp.state == RST }\n", "RST", "is never", ""},
        {HOSTS "expect h1.cq.count == many\n", "many", "is a number", "with a number"},
        {HOSTS "expect h1.cq.count == \"1\"\n", "\"1\"", "is a number", ""},
        {HOSTS "post_recv servr.qp\n", "servr", "no command makes \"servr\"", ""},
        {HOSTS "post_send h1.qp op=rdma_write remote=h3.mr[0] rkey=h2.mr\n", "h3",
         "no command makes", "\"h1\""},
        {HOSTS "post_send h1.qp op=rdma_write remote=h2.mr[0] rkey=h3.mr\n", "h3",
         "no command makes", "\"h1\""},
        {HOSTS "drop next from=h4\n", "h4", "no command makes", "\"h1\""},
        {HOSTS "if h1.qp.state == RST { run }\n", "RST", "is never", ""},
        {PAIR "on h1 { post_recv qq sge=mr[0:64] }\n", "qq", "no command makes \"qq\"", "\"qp\""},
        {PAIR "on h1 { post_recv qp sge=mrr[0:64] }\n", "mrr", "no command makes", "\"mr\""},
        {PAIR "on h1 { expect qq.state == RTS }\n", "qq", "no command makes \"qq\"", "\"qp\""},
        {PAIR "post_recv h1.qq\n", "qq", "no command makes \"qq\"", "\"qp\""},
        {PAIR "post_send h1.qp sge=nr[0:64]\n", "nr", "no command makes \"nr\"", "\"mr\""},
        {PAIR "expect h1.qq.state == RTS\n", "qq", "no command makes \"qq\"", "\"qp\""},
        {PAIR "set link h1-h3 down\n", "h3", "no command makes \"h3\"", "\"h1\""},
        {PAIR "drop next qp=h1.q\n", "q", "no command makes \"q\"", ""},
        {PAIR "post_send h1.qp op=rdma_write remote=h2.mr2[0] rkey=h2.mr\n", "mr2",
         "no command makes \"mr2\"", "\"mr\""},
        {PAIR "create_cq h1 cqe=4\nexpect h1.srq1.posted == 0\n", "srq1", "no command makes", ""},
        {PAIR "expect count(cqe) == \"two\"\n", "\"two\"", "count is a number", "with a number"},
        {PAIR "expect two == count(cqe, host==h1)\n", "two", "count is a number", ""},
        {PAIR "expect t > 3us or tick == late\n", "late", "tick is a number", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s;
        struct diag d;

        if (judged(rows[i].lines, &s, &d))
            fail_msg("%s: nothing is found", rows[i].lines);
        assert_int_equal(d.kind, DIAG_VALUE);
        if (!strstr(d.message, rows[i].message) || !strstr(d.remedy, rows[i].remedy) ||
            strncmp(rows[i].lines + d.at.at, rows[i].at, strlen(rows[i].at)) != 0)
            fail_msg("%s: at %zu: %s (%s)", rows[i].lines, d.at.at, d.message, d.remedy);
        script_done(&s);
    }
}

static void what_may_be_right_is_not_refused(void **state)
{
    static const char *const rows[] = {
        "",
        HOSTS "expect h1.irqs == 1\n",
        HOSTS "expect h1.qp.state == rts or h2.qp.state == 3\n",
        HOSTS "expect h1-h2.loss == 0\n",
        HOSTS "drop from=h1\nexpect f1.hits == 0\n",
        HOSTS "drop from=h1 as lost\nexpect lost.hits == 0\n",
        HOSTS "switch s1\nexpect s1.forwarded == 0\n",
        HOSTS "on h1 { alloc_pd as pd; expect qp.state == RTS and pd.mrs == 0 }\n",
        HOSTS "refused says=host { alloc_pd h3 }\n",
        HOSTS "refused says=host { expect h3.irqs == 1 }\n",
        HOSTS "expect h1.mr[0:5] == \"hello\" and h1.mr.pd == \"pd\"\n",
        HOSTS "expect count(cqe, host==h1) == 1 and #12\n",
        "foreach h in h1,h2 { host $h }\nexpect h2.irqs == 0\n",
        "macro pair x { host $x }\npair h7\nexpect h7.irqs == 0\n",
        HOSTS "foreach h in h1,h2 { expect $h.irqs == 0 }\n",
        PAIR "on h1 { post_recv qp sge=mr[0:64]; create_cq cqe=4 }\nexpect h1.cq1.count == 0\n",
        PAIR "on h1 { expect port.drops.bad_icrc == 0 and ctrl.size == 0 }\n",
        HOSTS "dial h1 h2\nexpect h2.listener.state == LISTEN and h1.id.state == CONNECT\n",
        HOSTS "expect h1.cm_gsi.state == RTS\nset link h1-h2 down\n",
        PAIR "reg_mr h2.pd len=4k\npost_send h1.qp op=rdma_write remote=h2.mr2[0] rkey=h2.mr\n",
        PAIR "expect count(cqe) == 0x2 and tick > 3 and t < 5us\n",
        PAIR "drop from=h1 where bytes > 100 and wr_id == 9\n",
        PAIR "rdma_create_id h1\nexpect h1.id1.state == IDLE\n",
        PAIR "macro more { reg_mr h1.pd len=4k }\nmore\nexpect h1.mr2.bytes == 4k\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s;
        struct diag d;

        if (!judged(rows[i], &s, &d))
            fail_msg("%s: %s", rows[i], d.message);
        script_done(&s);
    }
}

/* The places of errors that were reported, in their order. */
struct places {
    size_t at[8], n;
};

static void keep_place(void *ctx, const struct diag *d)
{
    struct places *p = ctx;

    assert_true(p->n < ARRAY_LEN(p->at));
    p->at[p->n++] = d->at.at;
}

/* Reads @text in spite of its errors.  @wrong: words, of which each error is at one. */
static void assert_errors(const char *text, bool json, const char *const *wrong)
{
    struct places p = {.n = 0};
    struct script_errors errors = {.found = keep_place, .ctx = &p};
    struct script s = script_of(text);
    struct diag d = {.kind = DIAG_NONE};
    size_t n = 0;

    s.errors = &errors;
    assert_true(json ? json_read_script(&s, &d) : line_read_script(&s, &d));
    (void)judge_script(&s, keep_place, &p);
    for (; wrong[n]; n++) {
        if (n >= p.n || strncmp(text + p.at[n], wrong[n], strlen(wrong[n])) != 0)
            fail_msg("error %zu is not at %s", n, wrong[n]);
    }
    assert_int_equal(p.n, n);
    script_done(&s);
    script_errors_done(&errors);
}

static void all_errors_of_a_script_are_found(void **state)
{
    (void)state;
    assert_errors("setup\non h1 {\npost_recv qp opp=1 { run }\nfoo bar\nrun 7\n}\nrun 10xx\n"
                  "post_recv h3.qp\n",
                  false, (const char *[]){"opp", "foo", "7", "10xx", "h3", NULL});
    assert_errors("host h1 hosst=2\nalloc_pd h1 as pd\n} \nexpect h1.irqs ==\n", false,
                  (const char *[]){"hosst", "}", "\n", NULL});
    assert_errors("foreach 1x in a,b { foo }\nrepeat 2 { bar }\nsource x.lab\nrun\nh2.x", false,
                  (const char *[]){"1x", "bar", "source", "h2", NULL});
    assert_errors(
        "{\"titel\": \"x\", \"steps\": [{\"do\": \"setup\"}, {\"do\": \"foo\"}, "
        "{\"do\": \"write\", \"to\": 1, \"txt\": 2}, {\"do\": \"repeat\", \"count\": 2, "
        "\"steps\": [{\"do\": \"bar\"}, {\"do\": \"post_recv\", \"qp\": \"h1.qq\"}]}]}",
        true, (const char *[]){"\"titel\"", "\"foo\"", "\"to\"", "\"txt\"", "\"bar\"", "qq", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_right_is_found),
        cmocka_unit_test(what_may_be_right_is_not_refused),
        cmocka_unit_test(all_errors_of_a_script_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
