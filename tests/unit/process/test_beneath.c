/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* renameat2() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "process/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/own_directory.h"
#include "emu/base/assert.h"
#include "process/out_file.h"
#include "testing.h"

#define ROUNDS 3000u

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Returns the first byte of the file; 0: it is empty or not there. */
static char first_of(const char *name)
{
    char c = 0;
    const int fd = open(name, O_RDONLY);

    if (fd >= 0 && read(fd, &c, 1) != 1)
        c = 0;
    if (fd >= 0)
        close(fd);
    return c;
}

static void lay_out(void)
{
    assert_int_equal(mkdir("top", 0777), 0);
    assert_int_equal(mkdir("top/d", 0777), 0);
    assert_int_equal(mkdir("out", 0777), 0);
    put("top/f", "i");
    put("top/d/f", "i");
    put("out/f", "o");
    assert_int_equal(symlink("../out", "top/l"), 0);
    assert_int_equal(symlink("d", "top/inside"), 0);
    assert_int_equal(symlink("../out/f", "top/lf"), 0);
    assert_int_equal(mkfifo("top/p", 0666), 0);
}

static void clean_up(void)
{
    static const char *const files[] = {"top/f", "top/d/f", "top/d/new",  "out/f", "out/new",
                                        "top/l", "top/lf",  "top/inside", "top/p"};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        unlink(files[i]);
    assert_int_equal(rmdir("top/d"), 0);
    assert_int_equal(rmdir("top"), 0);
    assert_int_equal(rmdir("out"), 0);
}

static void only_regular_files_below_are_opened(void **state)
{
    static const struct {
        const char *name, *why; /* NULL: it is opened */
        int error;              /* of the system, in place of @why */
    } rows[] = {
        {"f", NULL, 0},
        {"./d//f", NULL, 0},
        {"d/./f", NULL, 0},
        {"", NULL, ENOENT},
        {"none", NULL, ENOENT},
        {"f/x", NULL, ENOTDIR},
        {"d", NULL, EISDIR},
        {"d/", NULL, EISDIR},
        {".", NULL, EISDIR},
        {"/etc/passwd", beneath_out, 0},
        {"//f", beneath_out, 0},
        {"..", beneath_out, 0},
        {"../top/f", beneath_out, 0},
        {"d/../f", beneath_out, 0},
        {"d/..", beneath_out, 0},
        {"l/f", beneath_link, 0},
        {"inside/f", beneath_link, 0},
        {"lf", beneath_link, 0},
        {".git/config", beneath_hidden, 0},
        {"d/.x", beneath_hidden, 0},
        {"...", beneath_hidden, 0},
        {"p", beneath_special, 0},
    };

    (void)state;
    lay_out();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = -1;
        const char *why = beneath_open("top", rows[i].name, &fd);

        if (rows[i].error)
            assert_string_equal(why, strerror(rows[i].error));
        else
            assert_ptr_equal(why, rows[i].why);
        assert_int_equal(fd >= 0, !why);
        assert_int_equal(beneath_forbids(why), rows[i].why != NULL);
        if (fd >= 0)
            close(fd);
    }
    clean_up();
}

/* The directory d is a directory and a link out, in turn, until it is killed. */
static pid_t exchange_forever(void)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child > 0)
        return child;
    for (;;) {
        (void)!rename("top/d", "top/kept");
        (void)!symlink("../out", "top/d");
        (void)unlink("top/d");
        (void)!rename("top/kept", "top/d");
    }
}

static void an_exchange_for_a_link_leads_nowhere(void **state)
{
    const struct out_file_place place = {.below = "top", .replaces = true};
    unsigned n_read = 0, n_written = 0;
    struct out_file o;
    pid_t child;

    (void)state;
    lay_out();
    child = exchange_forever();
    /* One of the two may get all of the time for a while. */
    for (unsigned i = 0; i < ROUNDS || ((!n_read || !n_written) && i < ROUNDS * 100); i++) {
        int fd = -1;
        char c = 0;

        if (!beneath_open("top", "d/f", &fd)) {
            n_read++;
            assert_int_equal(read(fd, &c, 1), 1);
            assert_int_equal(c, 'i');
            close(fd);
        }
        if (!out_file_open_below(&o, "d/new", &place)) {
            fputs("n", o.f);
            n_written += !out_file_close(&o);
        }
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)unlink("top/d"); /* it may have been the link */
    (void)!rename("top/kept", "top/d");
    assert_int_not_equal(n_read, 0);
    assert_int_not_equal(n_written, 0);
    assert_int_equal(first_of("out/new"), 0);
    assert_int_equal(first_of("out/f"), 'o');
    clean_up();
}

static void a_new_file_takes_the_place_of_none(void **state)
{
    const struct out_file_place place = {.below = "top"};
    struct out_file o;

    (void)state;
    lay_out();
    assert_ptr_equal(out_file_open_below(&o, "f", &place), beneath_exists);
    assert_ptr_equal(out_file_open_below(&o, "p", &place), beneath_special);
    assert_null(out_file_open_below(&o, "d/new", &place));
    fputs("n", o.f);
    put("top/d/new", "s"); /* somebody else is faster */
    assert_string_equal(out_file_close(&o), strerror(EEXIST));
    assert_int_equal(first_of("top/d/new"), 's');
    unlink("top/d/new");
    assert_null(out_file_open_below(&o, "d/new", &place));
    fputs("n", o.f);
    assert_null(out_file_close(&o));
    assert_int_equal(first_of("top/d/new"), 'n');
    clean_up(); /* fails if a part of a file is left */
}

static void what_replaces_a_hard_link_leaves_the_other_name(void **state)
{
    const struct out_file_place place = {.below = "top", .replaces = true};
    struct out_file o;

    (void)state;
    lay_out();
    assert_int_equal(link("out/f", "top/d/new"), 0);
    assert_null(out_file_open_below(&o, "d/new", &place));
    fputs("n", o.f);
    assert_null(out_file_close(&o));
    assert_int_equal(first_of("top/d/new"), 'n');
    assert_int_equal(first_of("out/f"), 'o');
    clean_up();
}

/* Moves a file, but not over another one. */
static void move(const char *from, const char *to)
{
    (void)!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

/* The file f is one that may be replaced, and one of the user, in turn. */
static pid_t exchange_files_forever(void)
{
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child > 0)
        return child;
    for (;;) {
        move("top/f", "top/d/new");
        move("out/f", "top/f");
        move("top/f", "out/f");
        move("top/d/new", "top/f");
    }
}

static struct stat look_at(const char *name)
{
    struct stat info;

    assert_int_equal(stat(name, &info), 0);
    return info;
}

static void only_the_file_that_was_looked_at_is_replaced(void **state)
{
    struct stat old;
    const struct out_file_place place = {.below = "top", .over = &old};
    struct out_file o;

    (void)state;
    lay_out();
    old = look_at("top/d/f");
    assert_ptr_equal(out_file_open_below(&o, "f", &place), beneath_exists);
    old = look_at("top/f");
    assert_null(out_file_open_below(&o, "f", &place));
    fputs("n", o.f);
    assert_null(out_file_close(&o));
    assert_int_equal(first_of("top/f"), 'n');

    /* Another file has its name meanwhile. */
    old = look_at("top/f");
    assert_null(out_file_open_below(&o, "f", &place));
    assert_int_equal(rename("out/f", "top/f"), 0);
    assert_non_null(strstr(out_file_close(&o), "somebody has changed this file"));
    assert_int_equal(first_of("top/f"), 'o');
    assert_int_equal(rename("top/f", "out/f"), 0);

    /* It is gone meanwhile, is written to, and gets a second name. */
    put("top/f", "i");
    old = look_at("top/f");
    assert_null(out_file_open_below(&o, "f", &place));
    assert_int_equal(unlink("top/f"), 0);
    assert_non_null(out_file_close(&o));
    assert_int_equal(access("top/f", F_OK), -1);
    put("top/f", "i");
    old = look_at("top/f");
    assert_null(out_file_open_below(&o, "f", &place));
    put("top/f", "users");
    assert_non_null(out_file_close(&o));
    assert_int_equal(first_of("top/f"), 'u');
    old = look_at("top/f");
    assert_null(out_file_open_below(&o, "f", &place));
    assert_int_equal(link("top/f", "top/d/new"), 0);
    assert_non_null(out_file_close(&o));
    assert_int_equal(first_of("top/f"), 'u');
    clean_up(); /* fails if a part of a file is left */
}

/* Removes every file that the exchange may have left.  Returns how many began with @c. */
static unsigned remove_all_and_count(char c)
{
    static const char *const patterns[] = {"top/f*", "out/f*", "top/d/new*"};
    glob_t found = {0};
    unsigned n = 0;

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        (void)glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        n += first_of(found.gl_pathv[i]) == c;
        unlink(found.gl_pathv[i]);
    }
    globfree(&found);
    return n;
}

/* The user's file "o" comes and goes under the name all the time: it is never lost. */
static void an_exchange_for_a_file_of_the_user_replaces_it_never(void **state)
{
    unsigned n_refused = 0, n_written = 0;
    pid_t child;

    (void)state;
    lay_out();
    for (unsigned i = 0; i < ROUNDS / 10 || ((!n_refused || !n_written) && i < ROUNDS); i++) {
        struct stat old = look_at("top/f");
        const struct out_file_place place = {.below = "top", .over = &old};
        struct out_file o;

        assert_null(out_file_open_below(&o, "f", &place));
        fputs("n", o.f);
        child = exchange_files_forever();
        for (unsigned k = 0; k < i % 40; k++)
            (void)first_of("top/f");
        if (out_file_close(&o))
            n_refused++;
        else
            n_written++;
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(remove_all_and_count('o'), 1);
        put("top/f", "i");
        put("out/f", "o");
    }
    assert_int_not_equal(n_refused, 0);
    assert_int_not_equal(n_written, 0);
    clean_up();
}

static void a_file_is_made_in_place_only_where_none_is(void **state)
{
    int fd = -1;

    (void)state;
    lay_out();
    assert_ptr_equal(beneath_make("top", "f", false, &fd), beneath_exists);
    assert_ptr_equal(beneath_make("top", "lf", true, &fd), beneath_link);
    assert_ptr_equal(beneath_make("top", "../out/new", false, &fd), beneath_out);
    assert_null(beneath_make("top", "d/new", false, &fd));
    close(fd);
    assert_null(beneath_make("top", "d/new", true, &fd));
    close(fd);
    clean_up();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_regular_files_below_are_opened),
        cmocka_unit_test(an_exchange_for_a_link_leads_nowhere),
        cmocka_unit_test(a_new_file_takes_the_place_of_none),
        cmocka_unit_test(what_replaces_a_hard_link_leaves_the_other_name),
        cmocka_unit_test(only_the_file_that_was_looked_at_is_replaced),
        cmocka_unit_test(an_exchange_for_a_file_of_the_user_replaces_it_never),
        cmocka_unit_test(a_file_is_made_in_place_only_where_none_is),
    };

    return cmocka_run_group_tests_name("beneath", tests, own_directory_enter, own_directory_leave);
}
