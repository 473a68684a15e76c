/* SPDX-License-Identifier: MIT */
#include "cli/lang/table.h"
#include "cli/lang/values.h"

#include "cli/cli_testing.h"
#include "cli/help/help.h"
#include "cli/lang/suggest.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"

static void every_command_has_a_summary_and_an_example_of_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];

        assert_true(strlen(cmd->summary) > 3);
        assert_non_null(strstr(cmd->example, cmd->name));
        assert_true(cmd->class < N_CLASSES && cmd->before < N_BEFORE);
    }
}

/* Checks that the prompt takes @lines. */
static void assert_lines(const char *lines)
{
    struct script s = script_of(lines);
    struct line_reader r = {.script = &s};
    struct diag d = {.kind = DIAG_NONE};
    struct step *st = NULL;
    enum line_result result;

    do
        result = line_next(&r, &st, &d);
    while (result == LINE_STEP);
    if (result != LINE_END)
        fail_msg("%s: %s", lines, d.message);
    script_done(&s);
}

static void every_example_is_a_valid_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++)
        assert_lines(cmd_table[i].example);
}

/* The lines that `explain` tells a reader to type. */
static void every_line_of_explain_is_valid(void **state)
{
    static const char *const lines[] = {
#define SUBJECT(what, list)
#define NOTE(table, text, see) see,
#define WORD(word, text, see)  see,
#define SAME(word, as)
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_lines(lines[i]);
}

/* The default in the help is a permitted value, or a phrase that is no value. */
static void every_standard_is_a_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        for (size_t k = 0; k < cmd_table[i].n_params; k++) {
            const struct param *p = &cmd_table[i].params[k];
            struct diag d = {.kind = DIAG_NONE};

            assert_false(p->standard && p->otherwise);
            assert_false((p->flags & P_REQUIRED) && (p->standard || p->otherwise));
            if (p->standard && !value_check(p, p->standard, (struct span){0, 0}, &d))
                fail_msg("%s %s=%s: %s", cmd_table[i].name, p->name, p->standard, d.message);
        }
    }
}

/* Each argument that has a range: both ends are taken, and one beyond is refused with the range. */
static void every_argument_out_of_range_names_its_range(void **state)
{
    uint32_t n = 0;

    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        for (size_t k = 0; k < cmd_table[i].n_params; k++) {
            const struct param *p = &cmd_table[i].params[k];
            const enum quantity q = value_quantity(p->kind);
            const uint64_t tries[] = {p->min, p->max, p->max + 1, p->min - 1};
            char most[64];
            struct text m = text_on(most, sizeof(most));

            if (p->max == 0 || !value_is_quantity(p->kind))
                continue;
            value_add_bound(&m, p, p->max);
            for (size_t j = 0; j < ARRAY_LEN(tries); j++) {
                struct diag d = {.kind = DIAG_NONE};
                char value[64];
                struct text t = text_on(value, sizeof(value));

                if (j == 3 && p->min == 0)
                    continue; /* nothing is below */
                quantity_add(&t, q, tries[j]);
                if (value_check(p, value, (struct span){0, 0}, &d) != (j < 2))
                    fail_msg("%s %s=%s: %s", cmd_table[i].name, p->name, value, d.message);
                if (j >= 2 && !(strstr(d.remedy, most) && strstr(d.message, p->name)))
                    fail_msg("%s %s=%s: %s", cmd_table[i].name, p->name, value, d.remedy);
            }
            n++;
        }
    }
    assert_true(n > 30);
}

static void every_parameter_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        for (size_t k = 0; k < cmd_table[i].n_params; k++) {
            const struct param *p = &cmd_table[i].params[k];

            assert_true(strlen(p->help) > 3);
            assert_true(p->kind < N_VALUE_KINDS);
            assert_int_equal(p->words != NULL, p->kind == VAL_WORD || p->kind == VAL_SET);
            assert_int_equal(p->object != OBJ_NONE, p->kind == VAL_OBJECT);
            assert_true(p->max == 0 || p->min <= p->max);
            /* A name occurs once. */
            assert_ptr_equal(cmd_param(&cmd_table[i], p->name), p);
            assert_string_not_equal(p->name, "as");
            assert_string_not_equal(p->name, "do");
            assert_string_not_equal(p->name, "flags");
            assert_string_not_equal(p->name, "steps");
        }
    }
}

/* Returns what "help @topic" prints.  The caller frees it. */
static char *help_of(const char *topic)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    assert_true(help_topic(out, topic));
    fclose(out);
    return text;
}

/* A line does not show the keys of operands, which JSON needs. */
static void help_names_the_keys_of_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];
        const bool in_json = !(cmd->flags & (CMD_PROMPT_ONLY | CMD_HEADER));
        char *text = help_of(cmd->name);
        char key[64];

        for (size_t k = 0; k < cmd->n_params; k++) {
            const bool operand = (cmd->params[k].flags & P_OPERAND) != 0;

            snprintf(key, sizeof(key), "\"%s\"", cmd->params[k].name);
            if (operand && in_json && !strstr(text, key))
                fail_msg("help %s does not name %s", cmd->name, key);
        }
        if (in_json != (strstr(text, "\nin JSON: {\"do\": \"") != NULL))
            fail_msg("help %s: a step in JSON is missing, or too many", cmd->name);
        free(text);
    }
}

/* Their help leaves to "help host" the operands that every host has. */
static void help_of_machines_and_guests_tells_what_is_special(void **state)
{
    static const enum cmd_id ids[] = {CMD_machine, CMD_guest};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        const struct cmd *cmd = &cmd_table[ids[i]];
        char *text = help_of(cmd->name), lead[64];

        assert_non_null(strstr(text, "\"help host\""));
        for (size_t k = 0; k < cmd->n_params; k++) {
            const struct param *p = &cmd->params[k];
            const bool of_hosts =
                !(p->flags & P_OPERAND) && cmd_param(&cmd_table[CMD_host], p->name);

            snprintf(lead, sizeof(lead), "\n  [%s", p->name);
            if (of_hosts == (strstr(text, lead) != NULL) && !(p->flags & (P_OPERAND | P_REQUIRED)))
                fail_msg("help %s: %s", cmd->name, p->name);
        }
        free(text);
    }
}

static void help_knows_every_command_and_class(void **state)
{
    FILE *nowhere = fopen("/dev/null", "w");

    (void)state;
    assert_non_null(nowhere);
    help_overview(nowhere);
    for (size_t i = 0; i < N_CMDS; i++)
        assert_true(help_topic(nowhere, cmd_table[i].name));
    for (size_t i = 0; i < N_CLASSES; i++)
        assert_true(help_topic(nowhere, cmd_classes[i].name));
    assert_false(help_topic(nowhere, "xyzzy"));
    assert_string_equal(help_suggest("pst_send"), "post_send");
    fclose(nowhere);
}

/* The help of a command names each permission that its parameters need, and no others. */
static void help_names_the_permissions(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];
        unsigned set = 0;
        char *text;

        for (size_t k = 0; k < cmd->n_params; k++) {
            if (cmd->params[k].opens != OPENS_NOTHING)
                set |= 1u << opening_permit(cmd->params[k].opens);
        }
        text = help_of(cmd->name);
        assert_true(!strstr(text, "In a script ") == (set == 0));
        for (unsigned p = 0; set && p < N_PERMITS; p++)
            assert_true((strstr(strstr(text, "In a script "), permit_word((enum permit)p)) !=
                         NULL) == (set >> p & 1));
        free(text);
    }
}

/* However long a name is, a blank follows it in the list of its class. */
static void no_summary_touches_its_name(void **state)
{
    char *text;
    size_t n;

    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        FILE *out = open_memstream(&text, &n);
        char lead[64];

        assert_non_null(out);
        help_topic(out, cmd_classes[cmd_table[i].class].name);
        fclose(out);
        snprintf(lead, sizeof(lead), "\n  %s ", cmd_table[i].name);
        if (!strstr(text, lead))
            fail_msg("%s stands close to its summary", cmd_table[i].name);
        free(text);
    }
}

static void distance_counts_single_slips(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {{"link", "link", 0},     {"LINK", "link", 0},  {"lnik", "link", 1},
                {"lin", "link", 1},      {"linkk", "link", 1}, {"lunk", "link", 1},
                {"kitten", "sitting", 3}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct suggestion there = {.typed = rows[i].a, .distance = SIZE_MAX};
        struct suggestion back = {.typed = rows[i].b, .distance = SIZE_MAX};

        suggest_offer(&there, rows[i].b);
        assert_int_equal(there.distance, rows[i].distance);
        suggest_offer(&back, rows[i].a);
        assert_int_equal(back.distance, rows[i].distance);
    }
}

static void a_candidate_that_does_not_live_on_is_kept(void **state)
{
    struct suggestion s = suggestion_for("lnik");
    char keep[SUGGEST_WORD_BYTES], candidate[] = "link";

    (void)state;
    assert_false(suggest_offer_copy(&s, "switch", keep));
    assert_null(s.best);
    assert_true(suggest_offer_copy(&s, candidate, keep));
    candidate[0] = '\0';
    assert_string_equal(s.best, "link");
    assert_false(suggest_offer_copy(&s, "host", keep));
    assert_string_equal(s.best, "link");
}

static void nothing_far_away_is_suggested(void **state)
{
    struct suggestion s = suggestion_for("xyzzy");

    (void)state;
    for (size_t i = 0; i < N_CMDS; i++)
        suggest_offer(&s, cmd_table[i].name);
    assert_null(s.best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_has_a_summary_and_an_example_of_itself),
        cmocka_unit_test(every_example_is_a_valid_line),
        cmocka_unit_test(every_line_of_explain_is_valid),
        cmocka_unit_test(every_standard_is_a_value),
        cmocka_unit_test(every_argument_out_of_range_names_its_range),
        cmocka_unit_test(every_parameter_says_what_it_is),
        cmocka_unit_test(help_of_machines_and_guests_tells_what_is_special),
        cmocka_unit_test(help_knows_every_command_and_class),
        cmocka_unit_test(help_names_the_keys_of_json),
        cmocka_unit_test(help_names_the_permissions),
        cmocka_unit_test(no_summary_touches_its_name),
        cmocka_unit_test(distance_counts_single_slips),
        cmocka_unit_test(a_candidate_that_does_not_live_on_is_kept),
        cmocka_unit_test(nothing_far_away_is_suggested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
