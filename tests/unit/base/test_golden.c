/* SPDX-License-Identifier: MIT */
/* Golden files: a difference fails, and so does a section that is missing or that no test uses.
 *
 * The program runs itself as the one that compares: its environment says which texts.
 */
#include "testing.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden.h"

#define FILE_OF_TEST "base/test_golden.golden"

/* --- The program that compares ---------------------------------------------------------------- */

/* Compares the section of each word of COMPARED with "text of WORD\n"; fails at the word "fail". */
static void sections_are_compared(void **state)
{
    const char *word = getenv("COMPARED");

    (void)state;
    while (*word) {
        const size_t n = strcspn(word, " ");
        char name[32], text[64];

        snprintf(name, sizeof(name), "%.*s", (int)n, word);
        snprintf(text, sizeof(text), "text of %s\n", name);
        if (strcmp(name, "fail") == 0)
            fail_msg("as it was told to");
        if (strcmp(name, "elsewhere") == 0)
            golden_compare("tests/unit/base/test_elsewhere.c", name, text);
        else
            assert_golden(name, text);
        word += n + (word[n] == ' ');
    }
}

static int compare(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_compared),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* --- The tests -------------------------------------------------------------------------------- */

/* How many tests of the program fail that compares @compared, where the golden file has @golden. */
static int n_failed(const char *golden, const char *compared, bool update)
{
    FILE *f = fopen(FILE_OF_TEST, "wb");
    char own_path[4096];
    /* The link is read because under valgrind it is itself that /proc/self/exe executes. */
    const ssize_t n = readlink("/proc/self/exe", own_path, sizeof(own_path));
    int status;
    pid_t pid;

    assert_non_null(f);
    assert_in_range(n, 1, (ssize_t)sizeof(own_path) - 1);
    own_path[n] = '\0';
    fputs(golden, f);
    fclose(f);
    pid = fork();
    if (pid == 0) {
        setenv("UNIT_TESTS", ".", 1);
        setenv("COMPARED", compared, 1);
        unsetenv("CI");
        if (update)
            setenv("GOLDEN_UPDATE", "1", 1);
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execl(own_path, "test_golden", (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void assert_file_has(const char *wanted)
{
    char text[512];
    FILE *f = fopen(FILE_OF_TEST, "rb");

    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, wanted);
}

#define A "=== a\ntext of a\n"
#define B "=== b\ntext of b\n"

static void a_difference_fails(void **state)
{
    (void)state;
    assert_int_equal(n_failed(A B, "a b", false), 0);
    assert_int_equal(n_failed(A B, "b a", false), 0);
    assert_int_equal(n_failed(A "=== b\ntext of c\n", "a b", false), 1);
    assert_int_equal(n_failed(A "=== b\ntext of b\nand more\n", "a b", false), 1);
}

static void a_section_that_is_missing_or_not_used_fails(void **state)
{
    (void)state;
    assert_int_equal(n_failed(A, "a b", false), 1);
    assert_int_equal(n_failed(A B, "a", false), 1);
    assert_int_equal(n_failed("", "a", false), 1);
}

/* Otherwise the sections of one test would go to the file of another. */
static void a_program_has_one_golden_file(void **state)
{
    (void)state;
    assert_int_equal(n_failed(A B, "a b elsewhere", false), 1);
}

static void an_update_writes_what_was_printed(void **state)
{
    (void)state;
    assert_int_equal(n_failed("=== b\nold\n", "a b", true), 0);
    assert_file_has(A B);
}

/* A test that fails before it comes to a section must not lose it. */
static void an_update_keeps_what_no_test_has_used(void **state)
{
    (void)state;
    assert_int_equal(n_failed("=== a\nold\n" B, "a fail b", true), 1);
    assert_file_has(A B);
}

static int enter(void **state)
{
    char name[] = "/tmp/rdmalab-test-XXXXXX";

    if (!mkdtemp(name) || chdir(name) != 0 || mkdir("base", 0700) != 0)
        return -1;
    *state = strdup(name);
    return 0;
}

static int leave(void **state)
{
    const int wrong =
        unlink(FILE_OF_TEST) != 0 || rmdir("base") != 0 || chdir("/") != 0 || rmdir(*state) != 0;

    free(*state);
    return wrong ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_fails),
        cmocka_unit_test(a_section_that_is_missing_or_not_used_fails),
        cmocka_unit_test(a_program_has_one_golden_file),
        cmocka_unit_test(an_update_writes_what_was_printed),
        cmocka_unit_test(an_update_keeps_what_no_test_has_used),
    };

    if (getenv("COMPARED"))
        return compare();
    return cmocka_run_group_tests(tests, enter, leave);
}
