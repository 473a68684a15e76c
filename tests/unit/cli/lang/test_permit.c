/* SPDX-License-Identifier: MIT */
#include "cli/lang/permit.h"

#include "cli/cli_testing.h"
#include "cli/lang/table.h"
#include "emu/facts/enum_table.h"

/* A command that opens something and does not say so here is not judged by the gate. */
static void every_row_says_what_it_opens(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];
        bool outside = false;

        for (size_t k = 0; k < cmd->n_params; k++) {
            const struct param *p = &cmd->params[k];
            const bool is_file = p->opens == OPENS_READ || p->opens == OPENS_WRITE;

            if (is_file != (p->kind == VAL_FILE))
                fail_msg("%s %s: a file is read or written, and nothing else is", cmd->name,
                         p->name);
            if (p->opens == OPENS_NOTHING || is_file)
                continue;
            outside = true;
            /* A value that may be left out would let the command pass. */
            if (!(p->flags & P_REQUIRED))
                fail_msg("%s %s opens something, and is not required", cmd->name, p->name);
        }
        if (outside != ((cmd->flags & CMD_OUTSIDE) != 0))
            fail_msg("%s: CMD_OUTSIDE and what its parameters open differ", cmd->name);
    }
}

/* Each word that lets port go outside has a parameter that names what it opens. */
static void each_kind_of_port_is_judged(void **state)
{
    const struct cmd *port = &cmd_table[CMD_port];
    const struct enum_table *kinds = port->params[0].words;

    (void)state;
    for (size_t i = 0; i < kinds->n_rows; i++) {
        bool judged = false;

        for (size_t k = 0; k < port->n_params; k++) {
            const struct param *p = &port->params[k];

            judged = judged || (p->after && strcmp(p->after, kinds->rows[i].name) == 0 &&
                                p->kind != VAL_FILE && p->opens != OPENS_NOTHING);
        }
        if (!judged)
            fail_msg("port %s: no parameter says what it opens", kinds->rows[i].name);
    }
}

static void lists_of_permissions_are_parsed(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        unsigned set;
        size_t at, len; /* of the wrong word */
    } rows[] = {
        {"programs", true, PERMIT_BIT(PROGRAMS), 0, 0},
        {"files,ports", true, PERMIT_BIT(FILES) | PERMIT_BIT(PORTS), 0, 0},
        {"programs,ports,files", true, PERMIT_ALL, 0, 0},
        {"files,files", true, PERMIT_BIT(FILES), 0, 0},
        {"", false, 0, 0, 0},
        {"all", false, 0, 0, 3},
        {"file", false, 0, 0, 4},
        {"filesx", false, 0, 0, 6},
        {"Files", false, 0, 0, 5},
        {"files,", false, 0, 6, 0},
        {",files", false, 0, 0, 0},
        {"ports, files", false, 0, 6, 6},
        {"ports,x,files", false, 0, 6, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned set = 0;
        size_t at = 0, len = 0;

        assert_int_equal(permit_parse(rows[i].text, &set, &at, &len), rows[i].ok);
        assert_int_equal(set, rows[i].set);
        assert_int_equal(at, rows[i].at);
        assert_int_equal(len, rows[i].len);
    }
}

static void the_words_of_the_option_are_all_permissions(void **state)
{
    const char *word = PERMIT_WORDS;

    (void)state;
    for (unsigned p = 0; p < N_PERMITS; p++) {
        const size_t n = strcspn(word, "|");

        assert_int_equal(n, strlen(permit_word((enum permit)p)));
        assert_memory_equal(word, permit_word((enum permit)p), n);
        word += n + (word[n] == '|');
    }
    assert_string_equal(word, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_says_what_it_opens),
        cmocka_unit_test(each_kind_of_port_is_judged),
        cmocka_unit_test(lists_of_permissions_are_parsed),
        cmocka_unit_test(the_words_of_the_option_are_all_permissions),
    };

    return cmocka_run_group_tests_name("permit", tests, NULL, NULL);
}
