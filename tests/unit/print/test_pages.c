/* SPDX-License-Identifier: MIT */
/* Texts for a reader at a terminal, which is a pseudoterminal without a size: nothing pauses. */
#include "print/pages.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "testing.h"

#define END       '#' /* the last byte on the terminal */
#define LINE      "0123456789012345678901234567890123456789012345678901234567890\n"
#define LINES_BIG 25000u /* more than pages_hold() holds */

/* Reads the terminal until END.  Ends with status 0 if @n bytes came before it. */
static void count_and_exit(int terminal, size_t n)
{
    size_t seen = 0;

    for (;;) {
        char buf[4096];
        const ssize_t got = read(terminal, buf, sizeof(buf));

        if (got <= 0)
            _exit(2);
        if (buf[got - 1] == END)
            _exit(seen + (size_t)got - 1 != n);
        seen += (size_t)got;
    }
}

/* Prints @n lines in pages.  Returns true if the terminal got each once. */
static bool prints_all(unsigned n)
{
    int terminal, end, status = -1;
    struct termios raw = {.c_cflag = CS8 | CREAD};
    struct paged p;
    pid_t reader;
    FILE *out;

    assert_int_equal(openpty(&terminal, &end, NULL, &raw, NULL), 0);
    assert_int_equal(dup2(end, STDIN_FILENO), STDIN_FILENO);
    reader = fork();
    if (reader == 0)
        count_and_exit(terminal, n * (sizeof(LINE) - 1));
    out = fdopen(end, "w");
    assert_non_null(out);
    p = pages_hold(out);
    assert_true(p.f != out);
    for (unsigned i = 0; i < n; i++)
        fputs(LINE, p.f);
    pages_end(&p);
    fputc(END, out);
    fflush(out);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    fclose(out);
    close(terminal);
    return status == 0;
}

static void each_line_is_printed_once(void **state)
{
    (void)state;
    assert_true(prints_all(3));
    assert_true(prints_all(LINES_BIG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_printed_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
