/* SPDX-License-Identifier: MIT */
#include "cli/lang/expr.h"

#include "cli/cli_testing.h"

static void write_expr(FILE *out, const struct expr *e)
{
    static const char *const joins[] = {[EXPR_OR] = "|", [EXPR_AND] = "&"};

    switch (e->kind) {
    case EXPR_OR:
    case EXPR_AND:
        fputc('(', out);
        write_expr(out, e->a);
        fputs(joins[e->kind], out);
        write_expr(out, e->b);
        fputc(')', out);
        break;
    case EXPR_NOT:
        fputc('!', out);
        write_expr(out, e->a);
        break;
    case EXPR_COMPARE:
        write_expr(out, e->a);
        fputs(expr_op_text(e->op), out);
        write_expr(out, e->b);
        break;
    case EXPR_STRING:
        fprintf(out, "'%s'", e->text);
        break;
    case EXPR_EVENT:
        fprintf(out, "#%llu", (unsigned long long)e->number);
        break;
    case EXPR_COUNT:
        fprintf(out, "count(%s", ev_schema(e->filter->kind)->name);
        for (size_t i = 0; i < e->filter->n; i++) {
            const struct ev_condition *c = &e->filter->conditions[i];

            fprintf(out, " %s%s", c->field->name, expr_op_text(c->op));
            if (c->text[0])
                fputs(c->text, out);
            else
                fprintf(out, "%llu", (unsigned long long)c->number);
        }
        fputc(')', out);
        break;
    default:
        fputs(e->text, out);
        break;
    }
}

static void expressions_bind_as_written(void **state)
{
    static const struct {
        const char *text, *tree;
    } rows[] = {
        {"a.b", "a.b"},
        {"a.b==1", "a.b==1"},
        {"a.b == 1 and c.d != RTS", "(a.b==1&c.d!=RTS)"},
        {"a or b and c", "(a|(b&c))"},
        {"(a or b) and c", "((a|b)&c)"},
        {"a and b and c", "((a&b)&c)"},
        {"not a == 1 or b", "(!a==1|b)"},
        {"not (a or b)", "!(a|b)"},
        {"t<=10us", "t<=10us"},
        {"h1.mr[0:64] == h2.mr[0:64]", "h1.mr[0:64]==h2.mr[0:64]"},
        {"h1.mr[0:5] == \"a \\\"b\"", "h1.mr[0:5]=='a \"b'"},
        {"h1.cq.wc[0].status == SUCCESS", "h1.cq.wc[0].status==SUCCESS"},
        {"#12.3", "#12"},
        {"count(tx)", "count(tx)"},
        {"count(tx, psn==101, psn<0x10) > 2", "count(tx psn==101 psn<16)>2"},
        {"count( rx , act == drop )==0", "count(rx act==3)==0"},
        {"count(tx, host==h1, peer!=none)", "count(tx host==h1 peer!=none)"},
        {"count(tx, psn==0xffffff, bytes<4k)", "count(tx psn==16777215 bytes<4096)"},
        {"count(timer, due==0, due<=10us)", "count(timer due==0 due<=10000)"},
        {"count(rx, tx==#1.1)", "count(rx tx==1048577)"},
        {"count(neighbour, mac==\"02:00:00:00:00:0a\")", "count(neighbour mac==2199023255562)"},
        {"count(eth_tx, addr==\"FE80:0::1\")", "count(eth_tx addr==fe80::1)"},
        {"order == 1", "order==1"},
        {"android and orange", "(android&orange)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pool pool = {NULL};
        struct diag d = {.kind = DIAG_NONE};
        const struct expr *e =
            expr_parse(&pool, rows[i].text, (struct span){0, strlen(rows[i].text)}, &d);
        char *tree = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&tree, &n);

        if (!e)
            fail_msg("%s: %s", rows[i].text, d.message);
        write_expr(f, e);
        fclose(f);
        assert_string_equal(tree, rows[i].tree);
        free(tree);
        pool_free(&pool);
    }
}

static void bad_expressions_are_refused_where_they_go_wrong(void **state)
{
    static const struct {
        const char *text, *at, *message;
    } rows[] = {
        {"", "", "too early"},
        {"a ==", "", "too early"},
        {"a and", "", "too early"},
        {"== 1", "== 1", "value is needed"},
        {"5", "", "comparison is missing"},
        {"\"x\"", "", "comparison is missing"},
        {"a b", "b", "should end here"},
        {"a == b == c", "== c", "should end here"},
        {"a = 1", "= 1", "should end here"},
        {"(a", "", ") is missing"},
        {"a)", ")", "should end here"},
        {"12z == a", "12z", "not a number"},
        {"count tx", "tx", "needs a ("},
        {"count()", ")", "no kind of event"},
        {"count(tx psn==1)", "psn", "needs a )"},
        {"count(tx, psn)", ")", "comparison is missing"},
        {"count(tx, psn==)", ")", "value is missing"},
        {"count(tx, psn==x)", "x", "is a number"},
        {"count(tx, psn==100us)", "100us", "is a number"},
        {"count(tx, psn==0x1000000)", "0x1000000", "number that large"},
        {"count(tx, qpn==0x1000000)", "0x1000000", "number that large"},
        {"count(tx, msn!=4294967296)", "4294967296", "number that large"},
        {"count(tx, ackreq==2)", "2", "number that large"},
        {"count(timer, due>1k)", "1k", "is a time"},
        {"count(rx, tx==#3.9.9)", "#3.9.9", "is an event"},
        {"count(tx, opcode==RC_SEND_ONYL)", "RC_SEND_ONYL", "not a value"},
        {"count(tx, host<h1)", "host", "names can only"},
        {"a == \"x", "\"x", "does not end"},
        {"#x", "#x", "not the number"},
        {"#3.x", "#3.x", "not the number"},
        {"#3..4", "#3..4", "not the number"},
        {"not h1.cq.wc[5].bogus == SUCCESS", "h1.cq.wc[5].bogus", "nothing is called"},
        {"h1.qp.state == RTS or h1.qp.stat == RTS", "h1.qp.stat ", "nothing is called"},
        {"cq.wc[5].statsu == SUCCESS", "cq.wc[5].statsu", "nothing is called"},
        {"cq.wc[5]status == SUCCESS", "cq.wc[5]status", "nothing is called"},
        {"not h1.mr[4095:4] == \"over\"", "4] ==", "the end is before the beginning"},
        {"mr[0:z] == \"over\"", "z] ==", "a number is needed"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const size_t n = strlen(rows[i].text);
        struct diag d = {.kind = DIAG_NONE};

        assert_false(expr_check(rows[i].text, (struct span){0, n}, &d));
        if (!strstr(d.message, rows[i].message) || d.at.at > n ||
            strncmp(rows[i].text + d.at.at, rows[i].at, strlen(rows[i].at)) != 0)
            fail_msg("%s: at %zu: %s", rows[i].text, d.at.at, d.message);
    }
}

/* Names are not known yet, but the members of a completion are. */
static void paths_that_some_lab_could_have_are_taken(void **state)
{
    static const char *const texts[] = {
        "h1.cq.wc[5].status == SUCCESS",
        "h7.any.state == RTS",
        "any.state == RTS",
        "h1.mr[0:4] == \"abcd\"",
        "h1.mr[4k:8k] == h2.mr[0:4k]",
        "mr[3] == 1",
        "h1.program.done",
        "program12.status == 3",
        "h1.program.status != 0",
        "h1.program.state == RTS", /* a queue pair may have this name */
        "sw-h1.lost == 0",
        "h1.gid[0] == h2.mac",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct diag d = {.kind = DIAG_NONE};

        if (!expr_check(texts[i], (struct span){0, strlen(texts[i])}, &d))
            fail_msg("%s: %s", texts[i], d.message);
    }
}

static void what_comes_near_is_suggested(void **state)
{
    static const struct {
        const char *text, *remedy;
    } rows[] = {
        {"h1.cq.wc[5].statsu == SUCCESS", "did you mean \"h1.cq.wc[5].status\"?"},
        {"h1.program.stauts == 3", "did you mean \"status\"?"},
        {"h1.qp.stat == RTS", "did you mean \"h1.qp.state\"? a qp has it"},
        {"h1.mr2.stat == VALID", "did you mean \"h1.mr2.state\"? an mr has it"},
        {"h1.qp.sq.drivr.avail_idx == 1", "did you mean \"h1.qp.sq.driver\"? a queue has it"},
        {"h1.qp.xyzzy == 1", "nothing that can be called \"h1.qp\" has a \"xyzzy\"; "
                             "\"show h1.qp json\" lists what it has"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct diag d = {.kind = DIAG_NONE};

        assert_false(expr_check(rows[i].text, (struct span){0, strlen(rows[i].text)}, &d));
        assert_string_equal(d.remedy, rows[i].remedy);
    }
}

static void nesting_is_bounded(void **state)
{
    char text[1000];
    struct diag d;

    (void)state;
    memset(text, '(', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_false(expr_check(text, (struct span){0, sizeof(text) - 1}, &d));
    assert_non_null(strstr(d.message, "nested"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_bind_as_written),
        cmocka_unit_test(bad_expressions_are_refused_where_they_go_wrong),
        cmocka_unit_test(paths_that_some_lab_could_have_are_taken),
        cmocka_unit_test(what_comes_near_is_suggested),
        cmocka_unit_test(nesting_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
