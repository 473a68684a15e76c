/* SPDX-License-Identifier: MIT */
#include "cli/lang/json_path.h"
#include "cli/lang/json_scan.h"

#include "cli/cli_testing.h"

#define STEPS(s) "{\"steps\": [" s "]}"

static void converting_there_and_back_loses_nothing(const char *lines)
{
    char *json = converted(lines, false);
    char *back = converted(json, true);
    char *again = converted(back, false);
    struct script s = script_of(lines);
    char *canonical;

    must_read(&s, false);
    canonical = written(line_write_script, &s);
    assert_string_equal(back, canonical);
    assert_string_equal(again, json);
    free(canonical);
    script_done(&s);
    free(again);
    free(back);
    free(json);
}

static void every_command_survives_the_way_through_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];

        if (!(cmd->flags & CMD_PROMPT_ONLY))
            converting_there_and_back_loses_nothing(example_of(cmd));
    }
    for (size_t i = 0; i < N_BEFORE; i++)
        converting_there_and_back_loses_nothing(examples_before[i]);
}

static void odd_values_survive_too(void **state)
{
    static const char *const lines[] = {
        "write h1.mr[0] \"quote \\\" backslash \\\\ line\\n\\x01 na\xc3\xafve\"",
        "post_send h1.qp wr_id=18446744073709551615",
        "post_send h1.qp wr_id=0x0000000000000010",
        "post_send h1.qp wr_id=007",
        "scenario title=\"\" teaches=\"a, b\",\"\\\"\" ticks=9 time=1.5ms",
        "scenario seed=18446744073709551615",
        "scenario schema=\"elsewhere.json\"\nrun",
        "# a note\nrun\nnote \"two\\nlines\"",
        "repeat 0 { }",
        "on h1 { repeat 2 { # deep\n run } }",
        "expect \"a \\\" b\" == h1.mr[0:5] or count(tx, host==h1) > 1",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        converting_there_and_back_loses_nothing(lines[i]);
}

static void integers_are_exact(void **state)
{
    static const struct {
        const char *line, *json;
    } rows[] = {
        {"post_send q wr_id=9007199254740992", "\"wr_id\": 9007199254740992"},
        {"post_send q wr_id=9007199254740993", "\"wr_id\": \"9007199254740993\""},
        {"post_send q wr_id=18446744073709551615", "\"wr_id\": \"18446744073709551615\""},
        {"post_send q wr_id=0x1f", "\"wr_id\": \"0x1f\""},
        {"reg_mr pd len=4096", "\"len\": 4096"},
        {"reg_mr pd len=4k", "\"len\": \"4k\""},
        {"run 0", "\"for\": \"0\""},
        {"connect a b mtu=1024", "\"mtu\": 1024"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *json = converted(rows[i].line, false);

        if (!strstr(json, rows[i].json))
            fail_msg("%s: %s", rows[i].line, json);
        free(json);
    }
}

static void json_of_other_writers_is_read(void **state)
{
    static const struct {
        const char *json, *lines;
    } rows[] = {
        {"\xef\xbb\xbf" STEPS(""), ""},
        {" \n" STEPS(" { \"names\" : [ \"h1\" ] , \"do\" : \"host\" } "), "host h1\n"},
        {STEPS("{\"do\": \"\\u0072un\"}"), "run\n"},
        {STEPS("{\"do\": \"write\", \"at\": \"m[0]\", \"text\": \"\\u00ef\\ud83d\\ude00\\/\"}"),
         "write m[0] \"\xc3\xaf\xf0\x9f\x98\x80/\"\n"},
        {"{\"limits\": {\"ticks\": 5}, \"title\": \"x\", \"steps\": []}",
         "scenario title=\"x\" ticks=5\n"},
        {"{\"limits\": {\"memory\": \"4m\", \"time\": \"1ms\"}, \"steps\": []}",
         "scenario time=1ms memory=4m\n"},
        {"{\"limits\": {\"memory\": 65536}, \"steps\": []}", "scenario memory=65536\n"},
        {STEPS("{\"do\": \"expect\", \"that\": \"t == 1\\n and t == 2\"}"),
         "expect t == 1  and t == 2\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *lines = converted(rows[i].json, true);

        assert_string_equal(lines, rows[i].lines);
        free(lines);
    }
}

/* JSON that is nested deeper than the parser goes is told apart from what is no JSON. */
static void deep_json_is_told_apart(void **state)
{
    static const struct {
        size_t depth;
        const char *close, *message;
    } rows[] = {
        {JSON_DEPTH_MAX - 1, "]", "a step must be an object"},
        {JSON_DEPTH_MAX, "]", "nested too deeply"},
        {JSON_DEPTH_MAX + 50, "]", "nested too deeply"},
        {JSON_DEPTH_MAX + 50, "", "nested too deeply"},
        {JSON_DEPTH_MAX - 50, "}", "not JSON"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static const char before[] = "{\"title\": \"[[{{\\\"\", \"steps\": ";
        char *json = calloc(1, sizeof(before) + 2 * rows[i].depth + 2);
        struct script s;
        struct diag d = {.kind = DIAG_NONE};

        assert_non_null(json);
        memcpy(json, before, sizeof(before));
        for (size_t k = 0; k < rows[i].depth; k++)
            json[sizeof(before) - 1 + k] = '[';
        for (size_t k = 0; k < rows[i].depth && rows[i].close[0]; k++)
            json[sizeof(before) - 1 + rows[i].depth + k] = rows[i].close[0];
        json[strlen(json)] = '}';
        s = script_of(json);
        assert_false(json_read_script(&s, &d));
        if (!strstr(d.message, rows[i].message))
            fail_msg("%zu deep: %s", rows[i].depth, d.message);
        script_done(&s);
        free(json);
    }
}

/* Texts that are no scenario, the place that the error names, and parts of its words. */
static const struct {
    const char *json, *at, *message, *remedy;
} wrong_rows[] = {
    {"", "", "nothing to run", "write a command"},
    {" \n", "", "nothing to run", "write a command"},
    {"{\"steps\": [\n\n", "[", "it ends too early", "bracket"},
    {"{\"steps\": [}", "}", "not JSON", "comma"},
    {"{\"steps\": []} x", "x", "not JSON", ""},
    {"[]", "[]", "a scenario is an object", ""},
    {"{\"title\": \"x\"}", "{", "needs \"steps\"", ""},
    {"{\"steps\": {}}", "{}", "must be an array", ""},
    {"{\"stps\": []}", "\"stps\"", "unknown key", "steps"},
    {"{\"titel\": \"x\", \"steps\": []}", "\"titel\"", "unknown key", "title"},
    {"{\"steps\": [], \"steps\": []}", "\"steps\": []}", "twice", ""},
    {"{\"limits\": {\"tiks\": 1}, \"steps\": []}", "\"tiks\"", "unknown key", "ticks"},
    {"{\"limits\": {\"ticks\": 1, \"ticks\": 2}, \"steps\": []}", "\"ticks\": 2", "twice", ""},
    {"{\"limits\": 5, \"steps\": []}", "5", "must be an object", ""},
    {"{\"seed\": 1.5, \"steps\": []}", "1.5", "exact integer", ""},
    {"{\"seed\": -1, \"steps\": []}", "-1", "exact integer", ""},
    {"{\"seed\": 1e3, \"steps\": []}", "1e3", "exact integer", ""},
    {"{\"seed\": 9007199254740993, \"steps\": []}", "9007", "exact integer", "strings"},
    {"{\"seed\": null, \"steps\": []}", "null", "seed must be", ""},
    {STEPS("5"), "5", "a step must be an object", ""},
    {STEPS("{\"a\": 1}"), "{", "needs \"do\"", ""},
    {STEPS("{\"do\": 5}"), "5", "name of a command", ""},
    {STEPS("{\"do\": \"rnu\"}"), "\"rnu\"", "unknown command", "run"},
    {STEPS("{\"do\": \"scenario\"}"), "\"scenario\"", "cannot be part", ""},
    {STEPS("{\"do\": \"quit\"}"), "\"quit\"", "cannot be part", ""},
    {STEPS("{\"do\": \"set\", \"what\": \"history\", \"history\": \"1m\"}"), "\"set\"",
     "changes the session", "for the prompt"},
    {STEPS("{\"do\": \"repeat\", \"count\": 2, \"steps\": [{\"do\": \"set\", \"what\": "
           "\"changes\", \"changes\": \"all\"}]}"),
     "\"set\"", "changes the session", "for the prompt"},
    {STEPS("{\"do\": \"run\", \"do\": \"run\"}"), "\"do\": \"run\"}", "twice", ""},
    {STEPS("{\"do\": \"host\", \"nams\": [\"h1\"]}"), "\"nams\"", "unknown key", "names"},
    {STEPS("{\"do\": \"host\", \"names\": \"h1\"}"), "\"h1\"", "must be an array", ""},
    {STEPS("{\"do\": \"host\", \"names\": []}"), "\"host\"", "host needs \"names\"", ""},
    {STEPS("{\"do\": \"host\", \"names\": [5]}"), "5", "names must be", ""},
    {STEPS("{\"do\": \"host\", \"names\": [\"h 1\"]}"), "h 1", "is not a name", ""},
    {STEPS("{\"do\": \"run\", \"for\": 5}"), "5", "for must be a time", ""},
    {STEPS("{\"do\": \"run\", \"as\": \"x\"}"), "\"as\"", "unknown key", ""},
    {STEPS("{\"do\": \"expect\", \"flags\": []}"), "\"flags\"", "unknown key", ""},
    {STEPS("{\"do\": \"kick\", \"queue\": \"h1.qp\"}"), "h1.qp", "work queue", ""},
    {STEPS("{\"do\": \"post_send\", \"qp\": \"q\", \"flags\": [\"signald\"]}"), "\"signald\"",
     "no such flag", "signaled"},
    {STEPS("{\"do\": \"post_send\", \"qp\": \"q\", \"flags\": [\"fence\", \"fence\"]}"),
     "\"fence\"]", "twice", ""},
    {STEPS("{\"do\": \"expect\", \"that\": \"t =\"}"), "=", "should end here", "=="},
    {STEPS("{\"do\": \"on\", \"hosts\": [\"h1\"]}"), "\"on\"", "needs \"steps\"", ""},
    {STEPS("{\"do\": \"write\", \"at\": \"m[0]\", \"text\": \"a\\u0000b\"}"), "\"a\\u0000b\"",
     "\\u0000", "hex"},
    {STEPS("{\"do\": \"write\", \"at\": \"m[0]\", \"text\": \"\xff\"}"), "\xff", "not UTF-8", ""},
};

static void what_is_wrong_is_named_with_its_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong_rows); i++) {
        struct script s = script_of(wrong_rows[i].json);
        struct diag d = {.kind = DIAG_NONE};

        assert_false(json_read_script(&s, &d));
        if (!strstr(d.message, wrong_rows[i].message) || !strstr(d.remedy, wrong_rows[i].remedy) ||
            d.at.at > s.src.len ||
            strncmp(wrong_rows[i].json + d.at.at, wrong_rows[i].at, strlen(wrong_rows[i].at)) != 0)
            fail_msg("%s: at %zu: %s (%s)", wrong_rows[i].json, d.at.at, d.message, d.remedy);
        script_done(&s);
    }
}

/* Remedies are JSON that can be pasted, and never a word of a line. */
static void remedies_are_json(void **state)
{
    static const struct {
        const char *step, *remedy;
    } rows[] = {
        {"{\"do\": \"post_send\", \"qp\": \"q\", \"signaled\": true}",
         "did you mean \"flags\": [\"signaled\"]?"},
        {"{\"do\": \"post_send\", \"qp\": \"q\", \"flags\": [\"signald\"]}",
         "did you mean \"flags\": [\"signaled\"]?"},
        {"{\"do\": \"post_send\", \"qp\": \"q\", \"flags\": \"signaled\"}",
         "write \"flags\": [\"signaled\"]"},
        {"{\"do\": \"post_send\", \"qp\": \"q\", \"sge\": \"mr[0:4]\"}",
         "write \"sge\": [\"mr[0:4]\"]"},
        {"{\"do\": \"host\", \"names\": {}}", "for example \"names\": [ ]"},
        {"{\"do\": \"rnu\"}", "did you mean \"do\": \"run\"?"},
        {"{\"do\": \"link\", \"a\": \"h1\"}", "for example {\"do\": \"link\", \"a\": \"h1\", "
                                              "\"b\": \"h2\", \"latency\": \"1us\", \"rate\": "
                                              "\"100g\"}"},
        {"{\"do\": \"kick\", \"colour\": 1}", "kick takes \"queue\""},
        {"{\"do\": \"run\", \"fro\": \"1us\"}", "did you mean \"for\"?"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[512];
        struct text t = text_on(text, sizeof(text));
        struct diag d = {.kind = DIAG_NONE};
        struct script s;

        text_addf(&t, "{\"steps\": [%s]}", rows[i].step);
        s = script_of(text);
        assert_false(json_read_script(&s, &d));
        assert_string_equal(d.remedy, rows[i].remedy);
        script_done(&s);
    }
}

static void a_path_leads_to_its_place(void **state)
{
    /* Each place is the first ^ of a row, which is no part of the text. */
    static const struct {
        const char *text, *path;
    } rows[] = {
        {"^{}", ""},
        {"{^\"a\": 1}", ""},
        {"{\"a\": ^1}", "a"},
        {"{\"a\": \"x^y\"}", "a"},
        {"{\"a\": 1, \"b\": ^[]}", "b"},
        {"{\"a\": [1, 2, ^3]}", "a[2]"},
        {"{\"a\": [{\"b\": 1}, {\"c\": {\"d\": [[^7]]}}]}", "a[1].c.d[0][0]"},
        {"{\"a\": \"{[,\\\"\", \"b\": ^1}", "b"},
        {"{\"steps\": [{\"do\": \"^run\"}]}", "steps[0]"},
        {"{\"steps\": [{}, ^{\"do\": \"run\"}]}", "steps[1]"},
        {"{\"\x1b\": ^1}", "\\x1b"},
        {"[[[^", "[0][0][0]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const size_t at = strcspn(rows[i].text, "^");
        char text[128], path[128];
        struct text t = text_on(text, sizeof(text)), p = text_on(path, sizeof(path));
        struct source src;

        text_addn(&t, rows[i].text, at);
        text_add(&t, rows[i].text + at + 1);
        src = source_of("x.json", text);
        json_add_path(&p, &src, at);
        assert_string_equal(path, rows[i].path);
    }
}

static void blocks_in_blocks_are_bounded(void **state)
{
    struct script s;
    struct diag d;
    char *json = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&json, &n);

    (void)state;
    assert_non_null(f);
    fputs("{\"steps\": [", f);
    for (int i = 0; i < 20; i++)
        fputs("{\"do\": \"repeat\", \"count\": 1, \"steps\": [", f);
    for (int i = 0; i < 20; i++)
        fputs("]}", f);
    fputs("]}", f);
    fclose(f);
    s = script_of(json);
    assert_false(json_read_script(&s, &d));
    assert_non_null(strstr(d.message, "blocks"));
    script_done(&s);
    free(json);
}

static void the_schema_names_every_step(void **state)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    assert_non_null(f);
    json_write_schema(f);
    fclose(f);
    for (size_t i = 0; i < N_CMDS; i++) {
        char ref[64];

        snprintf(ref, sizeof(ref), "\"#/$defs/%s\"", cmd_table[i].name);
        assert_int_equal(strstr(text, ref) != NULL,
                         !(cmd_table[i].flags & (CMD_HEADER | CMD_PROMPT_ONLY)));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_survives_the_way_through_json),
        cmocka_unit_test(odd_values_survive_too),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(json_of_other_writers_is_read),
        cmocka_unit_test(deep_json_is_told_apart),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(remedies_are_json),
        cmocka_unit_test(a_path_leads_to_its_place),
        cmocka_unit_test(blocks_in_blocks_are_bounded),
        cmocka_unit_test(the_schema_names_every_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
