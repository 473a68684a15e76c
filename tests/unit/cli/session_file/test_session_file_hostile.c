/* SPDX-License-Identifier: MIT */
/* Tests of session files from untrusted sources.  Damaged files are refused or harmless.  What a
 * file says was done affects nothing but the lab, and ends.
 */
#include <unistd.h>

#include "cli/own_directory.h"
#include "cli/session/history.h"
#include "cli/session/session_files.h"
#include "rdmalab/trace.h"
#include "rounds.h"

#define MUTANTS n_rounds(400)

/* --- Damaged files ---------------------------------------------------------------------------- */

static void each_truncation_is_refused(void **state)
{
    char *text = calm_session();
    const size_t n = strlen(text);

    (void)state;
    for (size_t len = 0; len + 2 < n; len += rounds_divisor()) {
        char *cut = strndup(text, len);
        const struct source src = source_of("w.json", cut);
        struct diag d = {.kind = DIAG_NONE};
        struct session_file w;

        assert_non_null(cut);
        assert_false(session_file_read(&src, NULL, &w, stderr, &d));
        assert_true(d.message[0] != '\0');
        session_file_done(&w);
        free(cut);
    }
    free(text);
}

static void damaged_bytes_are_harmless(void **state)
{
    struct author a = {.rng = prng_stream(7, 7)};
    char *text = calm_session();
    const size_t n = strlen(text);
    unsigned n_opened = 0;

    (void)state;
    for (unsigned i = 0; i < MUTANTS; i++) {
        static const char digits[] = "0123456789\"{}[],:x";
        char *mutant = strdup(text);
        struct lab l;

        assert_non_null(mutant);
        for (uint32_t left = 1 + author_below(&a, 3); left > 0; left--) {
            const uint32_t at = author_below(&a, (uint32_t)n);
            const uint32_t with = author_below(&a, sizeof(digits) - 1);

            mutant[at] = digits[with];
        }
        n_opened += open_text(&l, mutant) == EXIT_PASSED;
        lab_close(&l);
        free(mutant);
    }
    assert_true(n_opened < MUTANTS); /* a letter of a typed line may be any */
    free(text);
}

#define CONNECT "{\"do\": \"connect\", \"a\": \"h1.qp\", \"b\": \"h2.qp\", \"timeout\": 4}"
#define PORT    "{\"do\": \"port\", \"kind\": \"tap\", \"name\": \"rdl0\", \"node\": \"h1\"}"
#define PROGRAM                                                                                    \
    "{\"do\": \"program\", \"host\": \"h1\", \"name\": \"rc_pingpong\", \"role\": \"server\"}"

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *old, *new, *says;
    } rows[] = {
        {"\"world\": 1", "\"world\": 2", "this world has form 2"},
        {"\"world\": 1", "\"world\": \"a\"", "must be a whole number"},
        {"\"world\": 1", "\"worlds\": 1", "this is no world"},
        {"\"seed\": 1", "\"seeds\": 1", "\"seed\" is missing"},
        {"\"seed\": 1", "\"seed\": 1, \"seed\": 2", "this key is there twice"},
        {"\"seed\": 1", "\"seed\": -1", "must be a whole number"},
        {"\"seed\": 1", "\"seed\": 1.5", "must be a whole number"},
        {"\"futures\": [", "\"futures\": [], \"x\": [", "at least one future"},
        {"\"name\": \"was1\"", "\"name\": \"main\"", "another future has this name"},
        {"\"name\": \"was1\"", "\"name\": 5", "must be a string"},
        {"\"name\": \"was1\"", "\"name\": \"a b\"", "this is no name"},
        {"\"text\": \"ping", "\"text\": \"pi\\u0000ng", "cannot contain \\u0000"},
        {"\"name\": \"was1\"", "\"name\": \"was1\\u0000\"", "cannot contain \\u0000"},
        {"\"seed\": 1", "\"seed\": \"1\\u0000\"", "must be a whole number"},
        {"\"text\": \"ping", "\"later\": 1, \"text\": \"ping", "is not known here"},
        {"\"do\": \"ping\"", "\"do\": \"pong\"", "unknown command \"pong\""},
        {"\"do\": \"link\"", "\"do\": \"source\", \"file\": \"x\"", "cannot be part of a"},
        {CONNECT, "{\"do\": \"export\", \"form\": \"pcapng\", \"file\": \"bad.pcapng\"}",
         "nothing that a log has"},
        {CONNECT, PORT, "port reaches out of the lab"},
        {CONNECT, "{\"do\": \"post_list\", \"steps\": [" PORT "]}", "port reaches out of the lab"},
        {CONNECT ", \"tick", PORT ", \"ended\": \"refused\", \"tick",
         "port reaches out of the lab"},
        {"\"reason\": \"err_busy\", \"steps\": [",
         "\"reason\": \"err_busy\", \"steps\": [" PROGRAM ", ", "program reaches out of the lab"},
        {CONNECT, "{\"do\": \"set\", \"what\": \"history\", \"history\": \"1m\"}",
         "changes the session"},
        {CONNECT, "{\"do\": \"set\", \"what\": \"changes\", \"changes\": \"all\"}",
         "changes the session"},
        {"\"times\": 3", "\"times\": 99999999999999", "must not be more than"},
        {"\"times\": 3", "\"times\": 1", "at least twice"},
        {"\"ticks\": 5,", "\"ticks\": 9999999999999999999,", "must not be more than"},
        {"\"commands\": 2}", "\"commands\": 3}", "no line begins there"},
        {"\"here\": {\"commands\"", "\"here\": {\"command\"", "\"commands\" is missing"},
        {"\"here\": {", "\"here\": {\"commands\": 1, \"ticks\": 1000000}, \"x\": {",
         "behind the command"},
        {"\"ended\": \"refused\"", "\"ended\": \"done\"", "this must be \"cut\""},
        {"\"hash\": \"", "\"hash\": \"x", "hash"},
        {"\"done\": [", "\"done\": {}, \"x\": [", "this must be a list"},
    };
    char *text = calm_session();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const bool harmless = strcmp(rows[i].says, "is not known here") == 0;

        assert_says(text, rows[i].old, rows[i].new, harmless ? EXIT_PASSED : EXIT_USAGE,
                    rows[i].says);
    }
    free(text);
}

/* --- Forbidden effects ------------------------------------------------------------------------ */

/* A refused `export` in a file is not executed, even if this version would accept it. */
static void nothing_of_a_file_writes_files(void **state)
{
    struct lab l;
    char *text, *other;

    (void)state;
    lab_open(&l, HISTORY_BYTES);
    lab_run(&l, "host h1 h2; link h1 h2 latency=1us; ping h1 h2\n"
                "refused says=\"No such\" { run; export pcapng nowhere/bad.pcapng }");
    lab_run(&l, "save world w.json");
    lab_close(&l);
    text = bytes_of("w.json");
    other = replaced(text, VERSION, ANOTHER);
    free(text);
    text = replaced(other, "nowhere/bad", "bad");
    free(other);
    other = replaced(text, LATENCY, ANOTHER1);
    assert_int_equal(open_text(&l, other), EXIT_PASSED);
    assert_int_not_equal(access("bad.pcapng", F_OK), 0);
    lab_close(&l);
    free(text);
    free(other);
}

/* A `port` that failed at once is saved, and the file opens.  One that would be attached cannot be
 * saved.
 */
static void what_reached_out_is_not_saved(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, HISTORY_BYTES);
    lab_run(&l, "host h1 h2");
    assert_false(lab_try(&l, "port tap rdl0 h1"));
    lab_run(&l, "save world w.json");
    lab_run(&l, "refused says=port { port tap rdl0 h1 }");
    assert_false(lab_try(&l, "save world w2.json"));
    assert_non_null(strstr(l.s->diag.message, "asks for ports or programs"));
    lab_run(&l, "back; host h3");
    assert_false(lab_try(&l, "save world w2.json")); /* it is in another future */
    lab_close(&l);
    assert_int_equal(open_file(&l, "w.json"), EXIT_PASSED);
    lab_run(&l, "back; goto end");
    lab_close(&l);
}

/* The file claims that a `run` in a lab that never becomes idle took no ticks, but more than a
 * century.
 */
static void time_without_ticks_ends(void **state)
{
    struct lab l;
    char *text, *changed;

    (void)state;
    lab_open(&l, HISTORY_BYTES);
    lab_run(&l, "host h1 h2; link h1 h2 latency=1us\n"
                "on h1,h2 { alloc_pd as pd; create_cq cqe=16 as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "connect h1.qp h2.qp rnr_retry=7; post_send h1.qp; run for=100us; host h9");
    lab_run(&l, "save world w.json");
    lab_close(&l);
    text = bytes_of("w.json");
    changed = replaced(text, "{\"do\": \"run\", \"for\": \"100us\"}, \"ticks\": ",
                       "{\"do\": \"run\"}, \"ns\": 4000000000000000000}, {\"step\": {\"do\": "
                       "\"run\"}, \"ticks\": ");
    assert_string_not_equal(text, changed);
    assert_int_equal(open_text(&l, changed), EXIT_FAILED);
    assert_non_null(strstr(l.out, "the first command that went another way, in \"main\": run"));
    lab_close(&l);
    free(changed);
    free(text);
}

static enum rdl_status listen_to(void *ctx, struct rdl_lab *lab)
{
    struct rdl_listener *listener; /* ends with the lab */

    return rdl_listen(lab, interrupt_then, ctx, &listener);
}

static void interrupt_ends_one_long_command(void **state)
{
    char *text = calm_session();
    char *changed = replaced(text, PING "}, \"ticks\": 14",
                             "\"do\": \"ping\", \"host\": \"h1\", \"to\": \"h2\", \"count\": "
                             "20000}, \"ticks\": 4611686018427300000");
    const struct source src = source_of("w.json", text);
    struct diag d = {.kind = DIAG_NONE};
    struct session_file w;
    struct lab l;

    (void)state;
    lab_open(&l, HISTORY_BYTES);
    l.s->config.observer.opened = listen_to;
    l.s->config.observer.ctx = &l;
    l.interrupt_at = 1000;
    assert_int_equal(enter_text(&l, changed), EXIT_INTERRUPTED);
    assert_in_range(rdl_tick(l.s->lab), 1000, 10000);
    assert_true(l.interrupted);
    assert_false(session_file_read(&src, &l.interrupted, &w, stderr, &d));
    assert_string_equal(d.message, "interrupted");
    session_file_done(&w);
    lab_close(&l);
    free(changed);
    free(text);
}

/* Each step of a prompt may take many ticks, so a session file may have more than a scenario. */
static void a_session_file_may_have_more_ticks_than_a_scenario(void **state)
{
    char *text = calm_session();
    struct lab l;

    (void)state;
    assert_int_equal(open_text(&l, text), EXIT_PASSED);
    lab_run(&l, "goto end");
    /* To save the time that so many ticks would take. */
    l.s->limits.whole.ticks = rdl_tick(l.s->lab);
    lab_run(&l, "ping h1 h2");
    lab_close(&l);
    free(text);
}

/* Names @n places in the present future. */
static void name_places(struct lab *l, size_t n)
{
    struct marks *all = &l->s->history->futures.marks;

    free(all->v);
    *all = (struct marks){.v = calloc(n, sizeof(*all->v)), .n = n, .room = n};
    assert_non_null(all->v);
    for (size_t i = 0; i < n; i++)
        snprintf(all->v[i].name, sizeof(all->v[i].name), "p%zu", i);
}

static void names_of_places_are_bounded_in_all_futures(void **state)
{
    static const char here[] = "\"name\": \"p1\", \"commands\": 0";
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, HISTORY_BYTES);
    lab_run(&l, "host h1");
    name_places(&l, SESSION_FILE_NAMES_MAX / 2);
    lab_run(&l, "fork other; save world w.json");
    text = bytes_of("w.json");
    assert_says(text, "\"name\": \"p1\"", "\"name\": \"q1\"", EXIT_PASSED, "");
    assert_says(text, here,
                "\"name\": \"p1\", \"commands\": 0}, {\"name\": \"q1\", \"commands\": 0",
                EXIT_USAGE, "more names of places");
    free(text);
    name_places(&l, 1);
    lab_run(&l, "future main");
    name_places(&l, SESSION_FILE_NAMES_MAX);
    lab_run(&l, "future other");
    assert_false(lab_try(&l, "save world w.json"));
    lab_close(&l);
}

static void what_is_broken_later_may_be_the_file(void **state)
{
    char *text = calm_session();
    struct lab l;

    (void)state;
    assert_int_equal(open_text(&l, text), EXIT_PASSED);
    l.s->history->futures.v[0].hash ^= 1;
    assert_false(lab_try(&l, "future was1"));
    assert_int_equal(l.s->diag.kind, DIAG_BROKEN);
    assert_string_equal(l.s->diag.remedy, "this is a bug of rdmalab, or the file was changed");
    lab_close(&l);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_truncation_is_refused),
        cmocka_unit_test(damaged_bytes_are_harmless),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(nothing_of_a_file_writes_files),
        cmocka_unit_test(what_reached_out_is_not_saved),
        cmocka_unit_test(time_without_ticks_ends),
        cmocka_unit_test(interrupt_ends_one_long_command),
        cmocka_unit_test(a_session_file_may_have_more_ticks_than_a_scenario),
        cmocka_unit_test(names_of_places_are_bounded_in_all_futures),
        cmocka_unit_test(what_is_broken_later_may_be_the_file),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, session_files_leave_directory);
}
