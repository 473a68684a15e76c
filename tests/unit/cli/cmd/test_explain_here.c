/* SPDX-License-Identifier: MIT */
/* Tests of `explain` in a lab: its examples work in an empty lab, and the commands that it proposes
 * work where the reader stands.
 */
#include "cli/lab_session.h"

#include "cli/explain/explain.h"
#include "cli/explain/explain_asked.h"
#include "cli/explain/meaning.h"
#include "cli/explain/page.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"

/* A lab whose objects have other names than those of the examples. */
#define OTHER_NAMES                                                                                \
    "host left right; link left right\n"                                                           \
    "on left,right { alloc_pd as dom; reg_mr dom len=4k access=lw,rr,rw as ram\n"                  \
    "  create_cq cqe=16 as done; create_qp dom type=rc send_cq=done recv_cq=done as pair }\n"      \
    "connect left.pair right.pair\n"

static size_t lines_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* Returns the output of `explain` @asked in the lab of @l.  The caller frees it. */
static char *answer(struct lab *l, const char *asked)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    if (!explain_asked(f, l->s->lab, asked, false))
        fail_msg("no explanation of %s", asked);
    fclose(f);
    return text;
}

static void every_example_works_in_an_empty_lab(void **state)
{
    const struct meaning_row *row;

    (void)state;
    for (size_t i = 0; (row = meaning_row_at(i)) != NULL; i++) {
        struct lab l;
        char *text;

        lab_open(&l, false);
        text = answer(&l, row->word);
        if (!strstr(text, "\n  for example, in an empty lab:\n    "))
            fail_msg("%s has no example:\n%s", row->word, text);
        lab_run(&l, examples_before[row->before]);
        lab_run(&l, row->example);
        free(text);
        lab_close(&l);
    }
}

static void check_screen(void *ctx, const char *word)
{
    struct lab *l = ctx;
    char *text = answer(l, word);

    if (lines_of(text) > PAGE_SCREEN_LINES)
        fail_msg("%s takes %zu lines:\n%s", word, lines_of(text), text);
    free(text);
}

static void every_word_fits_on_one_screen(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    explain_each(check_screen, &l);
    lab_run(&l, examples_before[BEFORE_POSTED]);
    explain_each(check_screen, &l);
    lab_close(&l);
}

/* Returns the commands behind "see it:" of @text, joined to one line.  The caller frees them. */
static char *commands_to_try(const char *text)
{
    const char *see = strstr(text, "  see it: "), *end;
    char *line;

    if (!see)
        return strdup("");
    end = see;
    do
        end += strcspn(end, "\n") + 1;
    while (strncmp(end, "          ", 10) == 0);
    line = strndup(see + 10, (size_t)(end - see) - 11);
    assert_non_null(line);
    for (char *c = strchr(line, '\n'); c; c = strchr(c, '\n'))
        memmove(c, c + 10, strlen(c + 10) + 1);
    return line;
}

struct trying {
    const char *before; /* lines that build the lab */
    unsigned n_tried;
};

/* Fails unless each command that `explain` @word proposes works. */
static void try_commands(void *ctx, const char *word)
{
    struct trying *t = ctx;
    struct lab l;
    char *text, *line;

    lab_open(&l, false);
    lab_run(&l, t->before);
    text = answer(&l, word);
    line = commands_to_try(text);
    if (!lab_try(&l, line))
        fail_msg("explain %s proposes: %s\n%s", word, line, l.s->diag.message);
    t->n_tried += line[0] != '\0';
    free(line);
    free(text);
    lab_close(&l);
}

static void proposed_commands_work_where_the_reader_stands(void **state)
{
    static const char *const words[] = {"qp",     "lkey",   "kick", "UC",  "bth",
                                        "loss",   "atomic", "rkey", "cqe", "post_send",
                                        "access", "wqe",    "slot", "ord"};
    static const char *const labs[] = {"", OTHER_NAMES, STORY};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(labs); i++) {
        struct trying t = {labs[i], 0};

        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            try_commands(&t, words[k]);
        assert_true(t.n_tried > 0);
    }
}

static void objects_are_named_as_in_the_lab(void **state)
{
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    text = answer(&l, "bth");
    assert_null(strstr(text, "see it: ")); /* nothing in an empty lab shows a BTH */
    free(text);
    lab_run(&l, OTHER_NAMES);
    text = answer(&l, "qp");
    assert_non_null(strstr(text, "see it: show qp left.pair\n"));
    assert_null(strstr(text, "empty lab"));
    free(text);
    text = answer(&l, "UC");
    assert_non_null(strstr(text, "create_qp left.dom type=uc send_cq=done recv_cq=done as uc"));
    free(text);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_works_in_an_empty_lab),
        cmocka_unit_test(every_word_fits_on_one_screen),
        cmocka_unit_test(proposed_commands_work_where_the_reader_stands),
        cmocka_unit_test(objects_are_named_as_in_the_lab),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
