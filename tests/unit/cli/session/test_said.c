/* SPDX-License-Identifier: MIT */
/* The words of commands: quiet forms, kinds of events, files that were written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lab_session.h"
#include "cli/own_directory.h"
#include "cli/session/session.h"

/* Returns what @line prints after @lines.  The caller frees it. */
static char *printed_by(const char *lines, const char *line)
{
    struct lab l;
    char *text;

    lab_open(&l, true);
    lab_run(&l, lines);
    text = lab_answer(&l, line);
    lab_close(&l);
    return text;
}

static void quiet_commands_print_only_where_they_end(void **state)
{
    char story[1024], *text;

    (void)state;
    snprintf(story, sizeof(story), "%s%s", examples_before[BEFORE_CONNECTED],
             "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled");
    text = printed_by(story, "run quiet");
    assert_non_null(strstr(text, "idle at t="));
    assert_null(strchr(text, '#'));
    free(text);
    text = printed_by(story, "until h1.cq.count == 1 quiet");
    assert_null(strchr(text, '#'));
    free(text);
    text = printed_by(story, "run 1us; finish h1.qp");
    assert_non_null(strchr(text, '#'));
    free(text);
}

/* The rows of the devices hide the messages of a connection. */
static void events_of_connections_are_shown_alone(void **state)
{
    char *text = printed_by("host h1 h2; link h1 h2; set events connections",
                            "dial h1 h2; rdma_disconnect h1.id; run");

    (void)state;
    assert_non_null(strstr(text, "cm_sent    h1 DREQ"));
    assert_non_null(strstr(text, "RTS -> ERR"));
    assert_null(strstr(text, "cm_gsi"));
    assert_null(strstr(text, "dma_write"));
    free(text);
    text = printed_by("host h1 h2; link h1 h2; set events connections",
                      "dial h1 h2; set events all; rdma_disconnect h1.id; run");
    assert_non_null(strstr(text, "dma_write  h2.cm_gsi"));
    free(text);
    assert_line_prints("set events connections", "set", "\nevents   connections\n");
    assert_line_refused("", "set events connections hints=on", "one thing is set at a time");
}

static void exports_say_what_they_have_written(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"export ladder written.svg", "\nwrote written.svg: 3 packets\n"},
        {"export ladder written.txt packets=1", "\nwrote written.txt: 1 packet\n"},
        {"export timeline written.html", "\nwrote written.html: 3 packets\n"},
        {"export events written.ndjson", "\nwrote written.ndjson: "},
        {"export pcapng written.pcapng", "\nwrote written.pcapng: 6 frames\n"},
        {"export map written.dot", "\nwrote written.dot: 10 boxes\n"},
        {"export map written.txt", "\nwrote written.txt\n"},
    };
    static const char *const files[] = {"written.svg",    "written.txt",    "written.html",
                                        "written.ndjson", "written.pcapng", "written.dot"};
    char story[1024];

    (void)state;
    snprintf(story, sizeof(story), "%s%s", examples_before[BEFORE_CONNECTED],
             "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled; drop next "
             "from=h1; run; clear all");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_line_prints(story, rows[i].line, rows[i].says);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        assert_int_equal(unlink(files[i]), 0);
}

/* A script chooses the names of files, and a name may have sequences for a terminal. */
static void names_of_files_are_printed_with_escapes(void **state)
{
    static const char *const rows[] = {"export map \"a\x1b[31mb.svg\"",
                                       "export ladder \"a\x1b[31mb.svg\" packets=1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_line_prints(STORY, rows[i], "\nwrote a\\x1b[31mb.svg: ");
    assert_int_equal(unlink("a\x1b[31mb.svg"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_commands_print_only_where_they_end),
        cmocka_unit_test(events_of_connections_are_shown_alone),
        cmocka_unit_test(exports_say_what_they_have_written),
        cmocka_unit_test(names_of_files_are_printed_with_escapes),
    };

    return cmocka_run_group_tests(tests, own_directory_enter, own_directory_leave);
}
