/* SPDX-License-Identifier: MIT */
/* The numbers of behaviours, which scenarios and tests refer to: none is missing or used twice. */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "emu/facts/behaviour.h"
#include "emu/facts/enum_table.h"

static void the_numbers_have_no_holes(void **state)
{
    static const struct {
        char letter;
        uint32_t first, n;
    } rows[] = {{'I', BEHAVIOUR_I + 1, 20}, {'L', BEHAVIOUR_L + 1, 2}, {'B', BEHAVIOUR_B + 1, 114}};
    size_t at = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (uint32_t k = 0; k < rows[i].n; k++, at++) {
            char name[16];
            const struct enum_row *row = &enum_behaviour.rows[at];

            snprintf(name, sizeof(name), "%c%u", rows[i].letter, (unsigned)(k + 1));
            assert_string_equal(row->name, name);
            assert_int_equal(row->value, rows[i].first + k);
        }
    }
    assert_int_equal(at, enum_behaviour.n_rows);
}

static void every_text_is_a_sentence_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < enum_behaviour.n_rows; i++) {
        const char *text = enum_behaviour.rows[i].text;

        assert_true(strlen(text) > 20);
        assert_int_equal(text[strlen(text) - 1], '.');
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(text, enum_behaviour.rows[k].text);
    }
}

static void facts_belong_to_their_row(void **state)
{
    (void)state;
    assert_string_equal(behaviour_facts(BEHAVIOUR_VALUE(B, 74)).sources, "[IBTA1 C9-88]");
    assert_string_equal(behaviour_facts(BEHAVIOUR_VALUE(I, 20)).sources, "");
    assert_string_equal(behaviour_facts(BEHAVIOUR_VALUE(B, 114)).sources, ""); /* there is none */
    assert_string_equal(behaviour_facts(BEHAVIOUR_VALUE(B, 20)).rules, "RESP_RECV_LENGTH");
    assert_string_equal(behaviour_facts(BEHAVIOUR_VALUE(B, 20)).traits, "SHORT_RECV_IS_LEN_ERR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_have_no_holes),
        cmocka_unit_test(every_text_is_a_sentence_of_its_own),
        cmocka_unit_test(facts_belong_to_their_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
