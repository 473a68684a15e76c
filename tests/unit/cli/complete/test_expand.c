/* SPDX-License-Identifier: MIT */
#include "cli/complete/expand.h"

#include "cli/lab_session.h"

struct written {
    const char *typed, *written;
};

static void assert_written(const struct written *rows, size_t n)
{
    struct lab l;

    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < n; i++) {
        struct expanded e;

        expand(l.s, rows[i].typed, &e);
        if (e.wrong || e.context || strcmp(e.text, rows[i].written) != 0 || strlen(e.text) != e.len)
            fail_msg("%s: %s", rows[i].typed, e.text);
        free(e.text);
    }
    lab_close(&l);
}

static void words_are_written_out(void **state)
{
    static const struct written rows[] = {
        {"host h1", "host h1"}, /* unchanged */
        {"n", "step packet"},
        {"n 3", "step packet 3"},
        {"s; s\nc", "step; step\ncontinue"},
        {"b tx(host==h1)", "break tx(host==h1)"},
        {"tb tx; run", "break tx once; run"},
        {"tbreak tx", "break tx once"},
        {"tb tx do { n }", "break tx once do { step packet }"},
        {"bt h1.cq.wc[0]", "why h1.cq.wc[0]"},
        {"p h1.qp.state", "show h1.qp.state"},
        {"p/x h1.qp.qpn", "print h1.qp.qpn hex"},
        {"p h1.qp.state == RTS", "print h1.qp.state == RTS"},
        {"print count(tx)", "print count(tx)"},
        {"x/16xb h1.mr[8]", "read h1.mr[8:24]"},
        {"x/2xg h1.mr", "read h1.mr[0:16]"},
        {"x h1.mr[4:6]", "read h1.mr[4:6]"},
        {"x h1.mr", "read h1.mr[0:16]"},
        {"info breakpoints", "break"},
        {"i b", "break"},
        {"info registers h1", "show h1.device"},
        {"info qp", "show qp"},
        {"i", "show"},
        {"rc", "back stop"},
        {"rs", "back 1 tick"},
        {"restart", "goto start"},
        {"break lost do { p h1.qp; c }", "break lost do { show h1.qp; continue }"},
        {"repeat 2 { n }", "repeat 2 { step packet }"},
        {"sh q", "show qp"},
        {"sho h1.q", "show h1.q"},
        {"step pa 2", "step packet 2"},
        {"back 3 pa", "back 3 packet"},
        {"goto n", "goto n"}, /* a name */
        {"modify_qp h1.qp state=ini", "modify_qp h1.qp state=init"},
        {"modify_qp h1.qp state=INI", "modify_qp h1.qp state=init"},
        {"modify_qp h1.qp state=r", "modify_qp h1.qp state=r"}, /* ambiguous */
        {"post_send h1.qp op=rdma_re sge=mr", "post_send h1.qp op=rdma_re sge=mr"},
        {"post_send h1.qp op=bin", "post_send h1.qp op=bind_mw"},
        {"set ch of", "set changes off"},
        {"host n s", "host n s"}, /* names, not commands */
        {"# n\nn", "# n\nstep packet"},
        {"note n", "note n"},
        {"note \"a ; n\"", "note \"a ; n\""},
        {"complete post_send h1.qp ", "complete \"post_send h1.qp \""},
        {"comp on h1 { al\nn", "complete \"on h1 { al\"\nstep packet"},
        {"complete \"x\"", "complete \"x\""},
        {"po h1", "po h1"}, /* ambiguous: the parser reports it */
        {"q", "quit"},
        {"  ", "  "},
        {"", ""},
    };

    (void)state;
    assert_written(rows, ARRAY_LEN(rows));
}

/* Lines of people who come from C, from gdb or from other tools. */
static void short_names_are_written_out(void **state)
{
    static const struct written rows[] = {
        {"post_send h1.qp op=read sge=mr", "post_send h1.qp op=rdma_read sge=mr"},
        {"post_send h1.qp op=write", "post_send h1.qp op=rdma_write"},
        {"post_send h1.qp op=cas", "post_send h1.qp op=atomic_cmp_and_swp"},
        {"post_send h1.qp op=faa add=1", "post_send h1.qp op=atomic_fetch_and_add add=1"},
        {"query_device h1", "show device h1"},
        {"break if h1.qp.state == ERR", "break h1.qp.state == ERR"},
        {"b if h1.qp.state == ERR; n", "break h1.qp.state == ERR; step packet"},
        {"tb if h1.qp.state == ERR", "break h1.qp.state == ERR once"},
        {"break if", "break "},
        {"fin", "finish"},
        {"p /x h1.qp.qpn; n", "print h1.qp.qpn hex; step packet"},
        {"undisplay", "display off"},
        {"x/4xw h1.mr[0]", "read h1.mr[0:16]"},
        {"x /4xw h1.mr[0]", "read h1.mr[0:16]"},
    };

    (void)state;
    assert_written(rows, ARRAY_LEN(rows));
}

/* The reader of an error sees another word than the one that was typed. */
static void another_word_for_a_value_is_noted(void **state)
{
    struct expanded e;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    expand(l.s, "post_send h1.qp op=write", &e);
    assert_int_equal(e.n_notes, 1);
    assert_string_equal(e.notes[0].word, "write");
    assert_string_equal(e.notes[0].written, "rdma_write");
    free(e.text);
    expand(l.s, "post_send h1.qp op=bin", &e); /* an abbreviation */
    assert_int_equal(e.n_notes, 0);
    free(e.text);
    lab_close(&l);
}

static void a_macro_is_not_hidden_by_a_word(void **state)
{
    static const struct {
        const char *typed, *written;
    } rows[] = {
        {"n", "n"}, /* defined in the session */
        {"ru", "ru"},
        {"s", "step"},
        {"macro s { run }; s; c", "macro s { run }; s; continue"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "macro n { run }; macro ru { run }");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct expanded e;

        expand(l.s, rows[i].typed, &e);
        if (e.wrong || strcmp(e.text, rows[i].written) != 0)
            fail_msg("%s: %s", rows[i].typed, e.text);
        free(e.text);
    }
    lab_close(&l);
}

static void what_cannot_be_so_says_what_to_do(void **state)
{
    static const struct {
        const char *typed, *says, *remedy;
    } rows[] = {
        {"frame", "there are no stack frames here", "\"why\""},
        {"condition 1 psn==5", "a stop has its condition from the beginning", "break tx("},
        {"back tick 3", "the number stands before what it counts", "write: back 3 tick"},
        {"redo pa 2", "the number stands before what it counts", "write: redo 2 packet"},
        {"define s", "a block with a name is a macro here", "macro send"},
        {"layout src", "there is no other screen here", "\"set changes on\""},
        {"x", "x shows bytes of memory", "x/16xb h1.mr[0]"},
        {"info registers", "each host has registers of its own", "info registers h1"},
        {"on nobody", "this is no host", "\"on\" alone"},
        {"on h1,h2", "this is no host", "runs a block on each"},
    };
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct expanded e;

        expand(l.s, rows[i].typed, &e);
        if (!e.wrong || !strstr(e.diag.message, rows[i].says) ||
            !strstr(e.diag.remedy, rows[i].remedy) || strcmp(e.text, rows[i].typed) != 0)
            fail_msg("%s: %s", rows[i].typed, e.wrong ? e.diag.message : e.text);
        free(e.text);
    }
    lab_close(&l);
}

/* The ambiguous words of two places are exactly the words of both: no word hides a command. */
static void no_word_hides_a_command(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    for (size_t i = 0; i < N_CMDS; i++) {
        struct expanded e;

        expand(l.s, cmd_table[i].name, &e);
        if (!e.context && strcmp(e.text, cmd_table[i].name) != 0)
            fail_msg("%s: %s", cmd_table[i].name, e.text);
        free(e.text);
    }
    lab_close(&l);
}

static void each_word_leads_to_a_command(void **state)
{
    static const char *const written[] = {
#define ALSO(word, to, what) to,
#define INFO(word, to)       to,
#include "cli/lang/other_words.def"
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        char verb[32];
        struct text t = text_on(verb, sizeof(verb));

        text_addn(&t, written[i], strcspn(written[i], " "));
        if (!cmd_find(verb, false))
            fail_msg("%s", written[i]);
    }
}

/* Bare names are those of the host, and are saved in full. */
static void a_host_of_its_own_is_written_out(void **state)
{
    struct expanded e;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_HOSTS]);
    expand(l.s, "on h2", &e);
    assert_true(e.context && !e.wrong);
    assert_string_equal(e.host, "h2");
    memcpy(l.s->prompt.host, e.host, sizeof(e.host));
    free(e.text);
    lab_run(&l, "alloc_pd as pd");
    lab_run(&l, "show pd");
    lab_run(&l, "break pd.users == 1");
    lab_run(&l, "on h1 { alloc_pd as pd }");
    expand(l.s, "on", &e);
    assert_true(e.context && e.host[0] == '\0');
    l.s->prompt.host[0] = '\0';
    free(e.text);
    assert_false(lab_try(&l, "dealloc_pd pd"));
    lab_run(&l, "expect h2.pd.users == 0");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_written_out),
        cmocka_unit_test(short_names_are_written_out),
        cmocka_unit_test(another_word_for_a_value_is_noted),
        cmocka_unit_test(a_macro_is_not_hidden_by_a_word),
        cmocka_unit_test(what_cannot_be_so_says_what_to_do),
        cmocka_unit_test(no_word_hides_a_command),
        cmocka_unit_test(each_word_leads_to_a_command),
        cmocka_unit_test(a_host_of_its_own_is_written_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
