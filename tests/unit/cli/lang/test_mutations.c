/* SPDX-License-Identifier: MIT */
/* Tests with damaged scripts: one that is still valid survives every conversion; any other is
 * refused with a message and a position.
 */
#include "cli/cli_testing.h"
#include "emu/base/prng.h"
#include "rounds.h"

#define ROUNDS      n_rounds(6000)
#define EXTRA_BYTES 16u

/* Changes, removes or adds a character, or removes a few. */
static void damage(struct prng *r, char *text)
{
    static const char odd[] = "{}[]\"\\;#,:= \t\r\n.0aA-_x%\x01\xc3\xff()<>!";
    const size_t n = strlen(text);
    const size_t at = n ? (size_t)prng_below(r, n) : 0;
    const char c = odd[prng_below(r, sizeof(odd) - 1)];
    size_t gone;

    if (n == 0)
        return;
    switch (prng_below(r, 3)) {
    case 0:
        text[at] = c;
        break;
    case 1:
        memmove(text + at + 1, text + at, n - at + 1);
        text[at] = c;
        break;
    default:
        gone = 1 + (size_t)prng_below(r, 12);
        gone = gone < n - at ? gone : n - at;
        memmove(text + at, text + at + gone, n - at - gone + 1);
        break;
    }
}

static void survives_conversion(const struct script *s)
{
    char *lines = written(line_write_script, s), *json = written(json_write_script, s);
    char *from_json = converted(json, true), *again = converted(lines, false);

    assert_string_equal(from_json, lines);
    assert_string_equal(again, json);
    free(again);
    free(from_json);
    free(json);
    free(lines);
}

/* Returns true if the damaged @original was still a valid script. */
static bool try_one(struct prng *r, const char *original, bool json)
{
    const size_t cap = strlen(original) + EXTRA_BYTES;
    char *room = calloc(1, cap), *text;
    struct diag d = {.kind = DIAG_NONE};
    struct script s;
    bool ok;

    assert_non_null(room);
    memcpy(room, original, strlen(original));
    for (uint64_t left = prng_below(r, 3); left > 0; left--)
        damage(r, room);
    text = strdup(room); /* exactly its size, so that a sanitizer notices reads behind it */
    free(room);
    assert_non_null(text);
    s = script_of(text);
    ok = json ? json_read_script(&s, &d) : line_read_script(&s, &d);
    if (ok)
        survives_conversion(&s);
    else if (d.kind == DIAG_NONE || d.message[0] == '\0' || d.at.at > s.src.len)
        fail_msg("no message or place: %s", text);
    script_done(&s);
    free(text);
    return ok;
}

static void damaged_scripts_are_refused_or_survive(void **state)
{
    struct prng r = {1};
    char *json[N_CMDS];
    size_t n_good = 0;

    (void)state;
    for (size_t i = 0; i < N_CMDS; i++)
        json[i] = cmd_table[i].flags & CMD_PROMPT_ONLY
                      ? NULL
                      : converted(example_of(&cmd_table[i]), false);
    for (size_t k = 0; k < ROUNDS; k++) {
        const size_t i = (size_t)prng_below(&r, N_CMDS);
        const bool as_json = json[i] && prng_below(&r, 2);

        n_good += try_one(&r, as_json ? json[i] : cmd_table[i].example, as_json);
    }
    /* Both results occurred often enough. */
    assert_true(n_good > ROUNDS / 10 && n_good < ROUNDS - ROUNDS / 10);
    for (size_t i = 0; i < N_CMDS; i++)
        free(json[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_scripts_are_refused_or_survive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
