/* SPDX-License-Identifier: MIT */
#include "print/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/prng.h"
#include "print/utf8.h"
#include "testing.h"

static void what_the_shell_takes_as_it_is_stays(void **state)
{
    static const struct {
        const char *word, *want;
    } rows[] = {
        {"a/b-1.json", "a/b-1.json"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$(reboot)", "'$(reboot)'"},
        {"#1", "'#1'"},
        {"~", "'~'"},
        {"h\xc3\xbc.lab", "'h\xc3\xbc.lab'"},
        {"a\nb", "\"$(printf 'a\\012b')\""},
        {"\x1b[31m%'\\", "\"$(printf '\\033[31m%%\\047\\134')\""},
        {"\xff", "\"$(printf '\\377')\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        shell_add(&t, rows[i].word);
        assert_string_equal(buf, rows[i].want);
    }
}

static void a_file_is_no_option(void **state)
{
    char buf[128];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    text_add(&t, "rdmalab run");
    shell_add_file(&t, "-x y.lab");
    shell_add_option(&t, "--memory", NULL);
    shell_add_option(&t, "--memory", "4m");
    shell_add_number(&t, "--seed", 7);
    assert_string_equal(buf, "rdmalab run './-x y.lab' --memory 4m --seed 7");
}

/* Fails unless a shell gives a program the word @word.  It must not end in a line end. */
static void must_arrive(const char *word)
{
    char line[1024], got[256];
    struct text t = text_on(line, sizeof(line));
    FILE *shell;
    size_t n;

    text_add(&t, "printf %s");
    shell_add(&t, word);
    assert_false(t.cut);
    for (const char *s = line; *s;) {
        uint32_t c;
        const size_t len = utf8_character(s, strlen(s), &c);

        assert_true(len > 0 && !utf8_controls(c)); /* one line, printable */
        s += len;
    }
    shell = popen(line, "r");
    assert_non_null(shell);
    n = fread(got, 1, sizeof(got) - 1, shell);
    got[n] = '\0';
    assert_int_equal(pclose(shell), 0);
    assert_string_equal(got, word);
}

static void a_shell_gives_back_every_word(void **state)
{
    static const char odd[] = "a' \"$`\\!*?[]{}<>|&;()#~%=-\n\t\x01\x1b\x7f\xff\xc3\xa9\r0";
    struct prng r = prng_stream(1, 0);

    (void)state;
    for (int i = 0; i < 200; i++) {
        char word[24];
        const size_t n = (size_t)prng_below(&r, sizeof(word) - 1);

        for (size_t k = 0; k < n; k++)
            word[k] = odd[prng_below(&r, sizeof(odd) - 1)];
        word[n] = '\0';
        if (n > 0 && word[n - 1] == '\n')
            word[n - 1] = 'x';
        must_arrive(word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_shell_takes_as_it_is_stays),
        cmocka_unit_test(a_file_is_no_option),
        cmocka_unit_test(a_shell_gives_back_every_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
