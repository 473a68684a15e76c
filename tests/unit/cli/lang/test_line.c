/* SPDX-License-Identifier: MIT */
#include "cli/lang/line.h"

#include "cli/cli_testing.h"
#include "emu/base/text.h"
#include "golden.h"

/* Each line has one written form. */
static void lines_have_one_written_form(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"host  h1   h2", "host h1 h2\n"},
        {"run;run 10us", "run\nrun 10us\n"},
        {"step 3", "step count=3\n"},
        {"step wqe 3", "step wqe 3\n"},
        {"step count=3 grain=cqe", "step cqe 3\n"},
        {"link b=h2 a=h1 rate=100g latency=1us", "link h1 h2 latency=1us rate=100g\n"},
        {"post_send h1.qp signaled sge=mr[0:64],mr[64:65] wr_id=0x10 nokick",
         "post_send h1.qp wr_id=0x10 sge=mr[0:64],mr[64:65] signaled nokick\n"},
        {"on h1,h2 { alloc_pd as pd; repeat 2 { run } }",
         "on h1,h2 {\n    alloc_pd as pd\n    repeat 2 {\n        run\n    }\n}\n"},
        {"on h1 {\n# inside\n}", "on h1 {\n    # inside\n}\n"},
        {"#comment\nrun # after", "# comment\nrun\n# after\n"},
        {"#\n#  two", "#\n#  two\n"},
        {"note \"one line\"", "# one line\n"},
        {"note \"two\\nlines\"", "note \"two\\nlines\"\n"},
        {"# blank at the end ", "note \"blank at the end \"\n"},
        {"expect a.b == 1   and  t>2us # why", "expect a.b == 1   and  t>2us\n# why\n"},
        {"until h1.qp.state == RTS timeout=1ms", "until h1.qp.state == RTS timeout=1ms\n"},
        {"expect \"x timeout=1\" == h1.mr[0:11]", "expect \"x timeout=1\" == h1.mr[0:11]\n"},
        {"expect a == \\\n 1", "expect a ==    1\n"},
        {"expect a == \\ \t\n 1", "expect a ==      1\n"},
        {"expect a\t==\t\"b\tc\rd\"", "expect a == \"b\tc\rd\"\n"},
        {"host \"arp\" \"h2\" arp", "host \"arp\" h2 arp\n"},
        {"write h1.mr[0] hello", "write h1.mr[0] \"hello\"\n"},
        {"write h1.mr[0] \"a=b\"", "write h1.mr[0] \"a=b\"\n"},
        {"scenario teaches=\"a, b\",\"c\" title=x\nrun",
         "scenario title=\"x\" teaches=\"a, b\",\"c\"\nrun\n"},
        {"explain \"as\"", "explain \"as\"\n"},
        {"show events #3..#9 kinds=tx,rx", "show events #3..#9 kinds=tx,rx\n"},
        {"why #12.3", "why #12.3\n"},
        {"why not", "why not\n"},
        {"why not #12.3 # sent", "why not #12.3\n# sent\n"},
        {"why  not h1.qp.state == RTS  and t>2us", "why not h1.qp.state == RTS  and t>2us\n"},
        {"why \"not\"", "why \"not\"\n"}, /* an object may have this name */
        {"host h1 \\\n  h2", "host h1 h2\n"},
        {"program h1 rc_pingpong client lab -s 64 -e -n 5",
         "program h1 rc_pingpong client \"lab\" size=64 iters=5 events\n"},
        {"exec h1  status=3,4 ./a -n status=5 &", "exec h1 status=3,4 ./a -n status=5 &\n"},
        {"exec h1 \"status=3\" x", "exec h1 \"status=3\" x\n"}, /* a program of this name */
        {"exec h1 env a=b c", "exec h1 env a=b c\n"},
        {"ping h1 h2 -c 3 timeout=10ms", "ping h1 h2 count=3 timeout=10ms\n"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].in), again;
        char *once, *twice;

        must_read(&s, false);
        once = written(line_write_script, &s);
        assert_string_equal(once, rows[i].out);
        again = script_of(once);
        must_read(&again, false);
        twice = written(line_write_script, &again);
        assert_string_equal(twice, once);
        free(twice);
        script_done(&again);
        free(once);
        script_done(&s);
    }
}

static void what_is_wrong_is_named_with_its_place_and_a_remedy(void **state)
{
    static const struct {
        const char *text;
        enum diag_kind kind;
        const char *at;               /* the text at the position of the error begins with this */
        const char *message, *remedy; /* parts of the message and the remedy */
    } rows[] = {
        {"hots h1", DIAG_VALUE, "hots", "unknown command", "host"},
        {"alloc", DIAG_VALUE, "alloc", "unknown command", ""},
        {"xyzzy", DIAG_VALUE, "xyzzy", "unknown command", "help"},
        {"link h1 h2 colour=red", DIAG_VALUE, "colour", "link takes no key", "help link"},
        {"link h1 h2 latncy=1us", DIAG_VALUE, "latncy", "link takes no key", "latency"},
        {"link h1", DIAG_VALUE, "link", "link needs \"b\"", "link h1 h2"},
        {"link h1 h2 h3", DIAG_VALUE, "h3", "further operand", ""},
        {"link h1 h2 loss=1% loss=2%", DIAG_VALUE, "2%", "given twice", ""},
        {"post_send h1.qp signalled", DIAG_VALUE, "signalled", "post_send", "signaled"},
        {"create_qp pd type=rx send_cq=a recv_cq=b", DIAG_VALUE, "rx", "QP type", "\"rc\""},
        {"step tx", DIAG_VALUE, "tx", "no step is called", "packet"},
        {"record onn", DIAG_VALUE, "onn", "no state of the record is called", "on"},
        {"create_qp pd type=Rc send_cq=a recv_cq=b", DIAG_VALUE, "Rc", "QP type", "\"rc\""},
        {"reg_mr pd len=4z as mr", DIAG_VALUE, "4z", "size", "units of size"},
        {"reg_mr pd len=0 as mr", DIAG_VALUE, "0", "out of range", "1 to"},
        {"reg_mr pd len=4k access=lw,xx", DIAG_VALUE, "xx", "access flag", ""},
        {"run 10", DIAG_VALUE, "10", "for: \"10\" is not a time",
         "a unit: 10s, 10ms, 10us or 10ns"},
        {"link a b loss=2", DIAG_VALUE, "2", "loss: \"2\" is not a chance", "a unit: 2% or 2ppm"},
        {"step 0", DIAG_VALUE, "0", "count: 0 is out of range", "must be 1 to"},
        {"step -1", DIAG_VALUE, "-1", "count: \"-1\" is not an integer", ""},
        {"step 10us", DIAG_VALUE, "10us", "count: \"10us\" is not an integer", "no unit"},
        {"connect a b sq_psn=16777216", DIAG_VALUE, "16777216", "out of range", "16777215"},
        {"alloc_pd as 7up", DIAG_VALUE, "7up", "name", ""},
        {"alloc_pd as", DIAG_SYNTAX, "as", "name must follow", ""},
        {"run as x", DIAG_VALUE, "as", "makes nothing", ""},
        {"host h1 abcdefghijklmnopqrstuvwxyz", DIAG_VALUE, "abcdef", "name", ""},
        {"write a[0:z] x", DIAG_VALUE, "z]", "a number is needed", ""},
        {"read a[4:2]", DIAG_VALUE, "2]", "before the beginning", "2 bytes from 4 on are a[4:6]"},
        {"on h1 run", DIAG_VALUE, "run", "further operand", ""},
        {"on h1", DIAG_SYNTAX, "", "needs a block", "on h1,h2"},
        {"on h1 { run", DIAG_SYNTAX, "{", "does not end", "}"},
        {"run }", DIAG_SYNTAX, "}", "no block is open", ""},
        {"run { }", DIAG_SYNTAX, "{", "no block belongs here", ""},
        {"{ run }", DIAG_SYNTAX, "{", "a command is needed", ""},
        {"run; scenario seed=1", DIAG_VALUE, "scenario", "first line", ""},
        {"repeat 2 { scenario seed=1 }", DIAG_VALUE, "scenario", "first line", ""},
        {"expect", DIAG_VALUE, "expect", "expect needs \"that\"", ""},
        {"expect count(tz) == 1", DIAG_VALUE, "tz", "no kind of event", "tx"},
        {"expect count(tx, sn==1) == 1", DIAG_VALUE, "sn", "no field", "psn"},
        {"expect a.b = 1", DIAG_SYNTAX, "= 1", "should end here", "=="},
        {"repeat 1 {repeat 1 {repeat 1 {repeat 1 {repeat 1 {repeat 1 {repeat 1 {repeat 1 {repeat 1 "
         "{",
         DIAG_VALUE, "repeat 1 {", "blocks in each other", ""},
        {"run\nquit", DIAG_VALUE, "quit", "cannot be part of a scenario", "prompt"},
        {"note \"\\q\"", DIAG_SYNTAX, "\\q", "unknown escape", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].text);
        struct diag d = {.kind = DIAG_NONE};

        assert_false(line_read_script(&s, &d));
        if (d.kind != rows[i].kind || !strstr(d.message, rows[i].message) ||
            !strstr(d.remedy, rows[i].remedy) || d.at.at > s.src.len ||
            strncmp(rows[i].text + d.at.at, rows[i].at, strlen(rows[i].at)) != 0)
            fail_msg("%s: kind %d at %zu: %s (%s)", rows[i].text, (int)d.kind, d.at.at, d.message,
                     d.remedy);
        script_done(&s);
    }
}

static void what_sets_the_session_is_no_part_of_a_scenario(void **state)
{
    static const char *const lines[] = {"set changes all", "repeat 2 { set history 1m }", "set"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct script s = script_of(lines[i]);
        struct line_reader prompt = {.script = &s};
        struct diag d = {.kind = DIAG_NONE};
        struct step *st;

        assert_false(line_read_script(&s, &d));
        assert_int_equal(d.kind, DIAG_VALUE);
        assert_non_null(strstr(d.message, "changes the session"));
        assert_non_null(strstr(d.remedy, "for the prompt"));
        assert_int_equal(line_next(&prompt, &st, &d), LINE_STEP);
        script_done(&s);
    }
}

static void a_flag_is_a_word_alone_and_a_key_has_a_value(void **state)
{
    static const struct {
        const char *text, *remedy;
    } rows[] = {
        {"post_send h1.qp signaled=1", "it is a flag: write \"signaled\" alone"},
        {"post_send h1.qp wr_id", "it needs a value: wr_id="},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].text);
        struct diag d = {.kind = DIAG_NONE};

        assert_false(line_read_script(&s, &d));
        assert_int_equal(d.kind, DIAG_VALUE);
        assert_non_null(strstr(d.remedy, rows[i].remedy));
        script_done(&s);
    }
}

static void abbreviations_need_to_be_asked_for_and_unique(void **state)
{
    static const struct {
        const char *text;
        bool abbreviated;
        const char *command; /* NULL: none */
    } rows[] = {{"po", true, NULL},   {"pol h1.cq", true, "poll_cq"}, {"pol h1.cq", false, NULL},
                {"run", true, "run"}, {"sw s1", true, "switch"},      {"s", true, NULL}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].text);
        struct line_reader r = {.script = &s, .abbreviated = rows[i].abbreviated};
        struct step *st = NULL;
        struct diag d;

        if (rows[i].command) {
            assert_int_equal(line_next(&r, &st, &d), LINE_STEP);
            assert_string_equal(st->cmd->name, rows[i].command);
        } else {
            assert_int_equal(line_next(&r, &st, &d), LINE_BAD);
        }
        script_done(&s);
    }
}

/* The position is that in the file, of which the source may be a later part. */
static void a_caret_stands_under_the_wrong_word(void **state)
{
    static const struct {
        const char *name;
        size_t lines_before;
        const char *place;
    } rows[] = {
        {"a.lab", 0, "a.lab:2:3"},
        {"a.lab", 40, "a.lab:42:3"},
        {SOURCE_STANDARD, 5, "standard input:7:3"},
        {NULL, 5, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct source src = source_of(rows[i].name, "host h1\n  lnik h1 h2\n");
        struct diag d;
        char *text = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);

        assert_non_null(f);
        src.lines_before = rows[i].lines_before;
        diag_set(&d, DIAG_VALUE, (struct span){10, 4}, "unknown command \"lnik\"");
        diag_remedy(&d, "did you mean \"link\"?");
        diag_print(f, &src, &d);
        fclose(f);
        assert_int_equal(strncmp(text, rows[i].place, strlen(rows[i].place)), 0);
        assert_golden(rows[i].name ? rows[i].place : "no name", text);
        free(text);
    }
}

static void the_key_that_a_value_lacks_is_named(void **state)
{
    static const struct {
        const char *text, *at, *message, *remedy;
    } rows[] = {
        {"create_ah h1.pd h2", "h2", "create_ah needs the key dgid=", "\"dgid=h2\""},
        {"attach_mcast q 239.1.1.1", "239", "attach_mcast needs the key gid=", "gid=239.1.1.1"},
        {"map_mr_sg m mr[0:8k]", "mr[0", "map_mr_sg needs the key sg=", "\"sg=mr[0:8k]\""},
        {"attach_mcast q h2", "h2", "attach_mcast takes no flag", "help"}, /* gid= takes no host */
        {"attach_mcast q gid=239.1.1.1 239.1.1.1", "239", "takes no flag", "help"},
        {"ack_async_event", "ack_async_event", "needs \"object\"", "ack_async_event h1.tiny"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].text);
        struct diag d = {.kind = DIAG_NONE};

        assert_false(line_read_script(&s, &d));
        assert_non_null(strstr(d.message, rows[i].message));
        assert_non_null(strstr(d.remedy, rows[i].remedy));
        assert_int_equal(strncmp(rows[i].text + d.at.at, rows[i].at, strlen(rows[i].at)), 0);
        script_done(&s);
    }
}

/* Messages contain no control characters: GitHub's log reads commands from lines, and a terminal
 * reads escape sequences.
 */
static void what_is_wrong_controls_nothing(void **state)
{
    struct source src = source_of("a\n::error::b\x1b.lab", "\x1b\xc2\x9bhost\x7f\n");
    struct diag d;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    assert_non_null(f);
    diag_set(&d, DIAG_VALUE, (struct span){3, 4}, "no \"%s\"", "\x1b[31m\n::error::c");
    diag_remedy(&d, "no %s", "\x1b");
    diag_note(&d, "again %s", "\n::error::d");
    diag_print(f, &src, &d);
    fclose(f);
    assert_golden("what_is_wrong_controls_nothing", text);
    free(text);
}

/* The commands in quotes exist, and are correct as they are printed. */
static void assert_leads_somewhere(const char *sentence)
{
    char quoted[256];

    for (const char *q = strchr(sentence, '"'); q; q = strchr(q, '"')) {
        const size_t n = strcspn(q + 1, "\"");
        struct text t = text_on(quoted, sizeof(quoted));
        char *end;

        text_addn(&t, q + 1, n);
        q += n + 2;
        if (strncmp(quoted, "rdmalab ", 8) == 0 || strncmp(quoted, "rdma ", 5) == 0)
            continue;
        end = quoted + strcspn(quoted, " ");
        *end = '\0';
        if (!cmd_find(quoted, false))
            fail_msg("%s: \"%s\" is no command", sentence, quoted);
    }
}

static void what_people_try_leads_somewhere(void **state)
{
    static const struct {
        const char *word, *sentence;
    } rows[] = {
#define OTHER_WORD(word, sentence) {#word, sentence},
#include "cli/lang/other_words.def"
#undef OTHER_WORD
        {"ibv_post_send", "ibv_post_send is called post_send here: \"help post_send\" tells more"},
        {"LADDER", "a picture of what happened: export ladder -"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct script s = script_of(rows[i].word);
        struct diag d = {.kind = DIAG_NONE};

        if (cmd_find(rows[i].word, true))
            fail_msg("%s is a command, or short for one", rows[i].word);
        assert_false(line_read_script(&s, &d));
        assert_string_equal(d.remedy, rows[i].sentence);
        assert_leads_somewhere(rows[i].sentence);
        script_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_one_written_form),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place_and_a_remedy),
        cmocka_unit_test(what_sets_the_session_is_no_part_of_a_scenario),
        cmocka_unit_test(a_flag_is_a_word_alone_and_a_key_has_a_value),
        cmocka_unit_test(the_key_that_a_value_lacks_is_named),
        cmocka_unit_test(what_is_wrong_controls_nothing),
        cmocka_unit_test(abbreviations_need_to_be_asked_for_and_unique),
        cmocka_unit_test(a_caret_stands_under_the_wrong_word),
        cmocka_unit_test(what_people_try_leads_somewhere),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
