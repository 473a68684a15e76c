/* SPDX-License-Identifier: MIT */
/* Running a program with the name `dot`, which is a script of this test. */
#include "testing.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/graph/graphviz.h"
#include "process/signals.h"

struct drawing {
    char s[16384];
    size_t n;
};

static void put(void *ctx, const char *bytes, size_t n)
{
    struct drawing *d = ctx;

    assert_true(d->n + n < sizeof(d->s));
    memcpy(d->s + d->n, bytes, n);
    d->n += n;
    d->s[d->n] = '\0';
}

/* Makes a program `dot` of @script, if it is not NULL, in the directory @ret, the only one of
 * $PATH.
 */
static void install(const char *script, char ret[32])
{
    char path[64];
    FILE *f;

    snprintf(ret, 32, "/tmp/graphviz.XXXXXX");
    assert_non_null(mkdtemp(ret));
    assert_int_equal(setenv("PATH", ret, 1), 0);
    if (!script)
        return;
    snprintf(path, sizeof(path), "%s/dot", ret);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", script);
    fclose(f);
    assert_int_equal(chmod(path, 0700), 0);
}

/* Draws a graph with @n boxes by a `dot` that is @script.  Returns true if it succeeded; @why is
 * the reason of a failure.
 */
static bool draw(const char *script, unsigned n, struct drawing *d, char why[200])
{
    const struct viz_sink sink = {put, d};
    struct text t = text_on(why, 200);
    char directory[32], path[64];
    struct graph g;
    bool ok;

    install(script, directory);
    d->n = 0;
    d->s[0] = '\0';
    graph_init(&g, "map", "");
    for (unsigned i = 0; i < n; i++)
        graph_add_node(&g, "a", "a", GRAPH_PLAIN, GRAPH_NONE);
    ok = graphviz_svg(&g, &sink, &t);
    graph_done(&g);
    snprintf(path, sizeof(path), "%s/dot", directory);
    if (script)
        unlink(path);
    snprintf(path, sizeof(path), "%s/written", directory);
    unlink(path);
    rmdir(directory);
    return ok;
}

static void its_picture_gets_the_mark_and_the_style(void **state)
{
    struct drawing d;
    char why[200];

    (void)state;
    assert_true(
        draw("/bin/cat >/dev/null; echo '<?xml version=\"1.0\"?><!DOCTYPE svg PUBLIC \"x\">'; "
             "echo \"<svg width='1'><g/></svg> $*\"",
             1, &d, why));
    assert_int_equal(strncmp(d.s, "<!-- rdmalab export map -->\n<svg class=\"graph\" width=", 50),
                     0);
    assert_null(strstr(d.s, "DOCTYPE"));
    assert_non_null(strstr(d.s, "prefers-color-scheme:dark"));
    assert_non_null(strstr(d.s, "</svg> -Tsvg\n"));
    assert_string_equal(why, "");
}

static void it_gets_no_environment(void **state)
{
    struct drawing d;
    char why[200];

    (void)state;
    assert_int_equal(setenv("SECRET", "yes", 1), 0);
    assert_true(draw("/bin/cat >/dev/null; echo \"<svg >$SECRET$LC_ALL</svg>\"", 1, &d, why));
    assert_non_null(strstr(d.s, ">C.UTF-8</svg>"));
}

static void it_can_write_no_file(void **state)
{
    struct drawing d;
    char why[200], expected[200];

    (void)state;
    snprintf(expected, sizeof(expected), "dot was ended by signal %d", SIGXFSZ);
    assert_false(
        draw("/bin/cat >/dev/null; echo x >${0%/*}/written; echo '<svg ></svg>'", 1, &d, why));
    assert_string_equal(why, expected);
}

static void each_failure_has_a_reason_and_no_output(void **state)
{
    static const struct {
        const char *script, *why;
    } rows[] = {
        {NULL, "there is no dot in $PATH"},
        {"exit 3", "dot ended with status 3"},
        {"/bin/cat >/dev/null; echo '<svg ></svg>'; exit 1", "dot ended with status 1"},
        {"/bin/cat >/dev/null; kill -9 $$", "dot was ended by signal 9"},
        {"/bin/cat >/dev/null; echo hello", "dot wrote no picture"},
        {"/bin/cat >/dev/null", "dot wrote no picture"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct drawing d;
        char why[200];

        assert_false(draw(rows[i].script, 1, &d, why));
        assert_string_equal(why, rows[i].why);
        assert_int_equal(d.n, 0);
    }
}

/* Its input and its output are longer than a pipe holds. */
static void much_input_and_output_do_not_block(void **state)
{
    struct drawing d;
    char why[200];

    (void)state;
    assert_true(draw("/bin/cat | /usr/bin/wc -c >/dev/null; echo '<svg ></svg>'", 20000, &d, why));
    assert_false(draw("exit 0", 20000, &d, why));
}

/* It closes its output and goes on: the wait for its end can be interrupted, too. */
static void it_is_ended_after_its_output_too(void **state)
{
    struct drawing d;
    char why[200];

    (void)state;
    signals_start();
    signals_alarm_after(1);
    assert_false(
        draw("/bin/cat >/dev/null; echo '<svg ></svg>'; exec >&-; exec /bin/sleep 60", 1, &d, why));
    assert_string_equal(why, "it was interrupted");
    assert_int_equal(d.n, 0);
    signals_clear_interrupted();
}

/* A directory of $PATH that is not absolute may be a script's. */
static void it_is_not_sought_in_the_current_directory(void **state)
{
    const struct viz_sink sink = {put, NULL};
    char directory[32], why[200], path[64];
    struct text t = text_on(why, sizeof(why));
    struct graph g;

    (void)state;
    install("/bin/cat >/dev/null; echo '<svg ></svg>'", directory);
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(setenv("PATH", ".:", 1), 0);
    graph_init(&g, "map", "");
    assert_false(graphviz_svg(&g, &sink, &t));
    assert_string_equal(why, "there is no dot in $PATH");
    graph_done(&g);
    assert_int_equal(chdir("/"), 0);
    snprintf(path, sizeof(path), "%s/dot", directory);
    unlink(path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_picture_gets_the_mark_and_the_style),
        cmocka_unit_test(it_gets_no_environment),
        cmocka_unit_test(it_can_write_no_file),
        cmocka_unit_test(each_failure_has_a_reason_and_no_output),
        cmocka_unit_test(much_input_and_output_do_not_block),
        cmocka_unit_test(it_is_ended_after_its_output_too),
        cmocka_unit_test(it_is_not_sought_in_the_current_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
