/* SPDX-License-Identifier: MIT */
/* Folding of rounds of equal events.  A letter stands for an event; two events of a letter differ
 * in time, id and attempts only.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/prng.h"
#include "emu/base/text.h"
#include "emu/facts/enum/timer.h"
#include "emu/past/fold.h"
#include "emu/trace/event.h"

#define LETTERS_MAX 4000u

struct seen {
    char text[LETTERS_MAX];     /* letters handed on, and "<ROUNDSxLINES>" for a fold */
    char expanded[LETTERS_MAX]; /* letters handed on, and those of folds */
    size_t n_text, n_expanded;
    ev_id last;
};

static struct ev event_of(char letter, size_t i)
{
    return (struct ev){
        .id = ev_id_of(i + 1, 1),
        .at_ns = 1000 * i,
        .kind = EV_timeout,
        .u.timeout = {
            .host = 1, .qpn = 2, .timer = TMR_ACK, .psn = (uint32_t)letter, .retry = (uint32_t)i}};
}

static void see(void *ctx, const struct ev *e)
{
    struct seen *s = ctx;

    assert_true(e->id > s->last);
    s->last = e->id;
    s->text[s->n_text++] = (char)e->u.timeout.psn;
    s->expanded[s->n_expanded++] = (char)e->u.timeout.psn;
}

static void see_folded(void *ctx, const struct folded *f)
{
    struct seen *s = ctx;

    assert_true(f->n_rounds >= fold_rounds_min(f->n_lines) - 2);
    assert_true(ev_tick(f->from) == ev_tick(s->last) + 1);
    assert_true(ev_tick(f->to) - ev_tick(s->last) == f->n_rounds * f->n_lines);
    assert_true(f->until_ns == 1000 * (ev_tick(f->to) - 1));
    s->last = f->to;
    s->n_text += (size_t)snprintf(s->text + s->n_text, sizeof(s->text) - s->n_text, "<%llux%u>",
                                  (unsigned long long)f->n_rounds, f->n_lines);
    for (uint64_t i = f->n_rounds * f->n_lines; i > 0; i--, s->n_expanded++)
        s->expanded[s->n_expanded] = s->expanded[s->n_expanded - f->n_lines];
}

/* Folds the letters of @s.  A '.' is fold_flush(). */
static void fold_letters(const char *s, struct seen *ret)
{
    const struct fold_sink sink = {see, see_folded, ret};
    struct fold *f = fold_new(&sink);
    size_t n = 0;

    *ret = (struct seen){.n_text = 0};
    assert_non_null(f);
    for (; *s; s++) {
        struct ev e = event_of(*s, n);

        if (*s == '.') {
            fold_flush(f);
            continue;
        }
        fold_put(f, &e);
        n++;
    }
    fold_flush(f);
    fold_free(f);
}

static void the_first_and_the_last_round_stay(void **state)
{
    static const struct {
        const char *events, *seen;
    } rows[] = {
        {"", ""},
        {"abc", "abc"},
        {"ababab", "ababab"},      /* too few */
        {"abababab", "ab<2x2>ab"}, /* as few as are folded */
        {"xabababaca", "xabababaca"},
        {"xababababac", "xab<2x2>abac"}, /* what is begun of a round stays */
        {"aaaaa", "aaaaa"},
        {"aaaaaa", "a<4x1>a"},
        {"baaaaaaab", "ba<5x1>ab"},
        {"abcabcabcabcabcabd", "abc<3x3>abcabd"},
        {"abcabcabcabcxyxyxyxyxy", "abc<2x3>abcxy<3x2>xy"},
        {"aabaabaabaab", "aab<2x3>aab"},
        {"abab.abababab", "ababab<2x2>ab"}, /* nothing is folded across a flush */
        {"abababab.abab", "ab<2x2>ababab"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct seen s;

        fold_letters(rows[i].events, &s);
        assert_string_equal(s.text, rows[i].seen);
    }
}

/* An event that repeats nothing is handed on at once. */
static void what_cannot_repeat_is_not_kept(void **state)
{
    struct seen s = {.n_text = 0};
    const struct fold_sink sink = {see, see_folded, &s};
    struct fold *f = fold_new(&sink);

    (void)state;
    assert_non_null(f);
    for (size_t i = 0; i < 26; i++) {
        struct ev e = event_of((char)('a' + i), i);

        fold_put(f, &e);
        assert_int_equal(s.n_text, i + 1);
    }
    fold_free(f);
}

static void the_longest_round_is_folded(void **state)
{
    char letters[10 * (FOLD_LINES_MAX + 1) + 1] = "";
    struct seen s;

    (void)state;
    for (size_t lines = FOLD_LINES_MAX; lines <= FOLD_LINES_MAX + 1; lines++) {
        for (size_t i = 0; i < 10 * lines; i++)
            letters[i] = (char)('A' + i % lines);
        letters[10 * lines] = '\0';
        fold_letters(letters, &s);
        assert_int_equal(strchr(s.text, '<') != NULL, lines == FOLD_LINES_MAX);
    }
}

/* Folding loses no event and keeps the order, for any events. */
static void what_is_folded_can_be_told_again(void **state)
{
    struct prng rng = prng_stream(1, 0);

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        char letters[600];
        struct seen s;
        size_t n = 0;

        while (n < 400) {
            const size_t lines = 1 + (size_t)prng_below(&rng, 40);
            const uint64_t repeats = 1 + prng_below(&rng, 7);
            const size_t from = n;

            for (size_t i = 0; i < lines && n < 400; i++)
                letters[n++] = (char)('a' + prng_below(&rng, 3));
            for (uint64_t i = 1; i < repeats * lines && n < 400; i++, n++)
                letters[n] = letters[n - (n - from < lines ? n - from : lines)];
        }
        letters[n] = '\0';
        fold_letters(letters, &s);
        assert_int_equal(s.n_expanded, n);
        assert_memory_equal(s.expanded, letters, n);
    }
}

static void events_are_equal_but_for_what_counts_and_when(void **state)
{
    const struct ev a = event_of('a', 1);
    struct ev b = event_of('a', 7);
    char buf[128];
    struct text t = text_on(buf, sizeof(buf));

    (void)state;
    assert_true(fold_equal(&a, &b));
    b.u.timeout.qpn++;
    assert_false(fold_equal(&a, &b));
    b = event_of('a', 7);
    b.kind = EV_retry;
    assert_false(fold_equal(&a, &b));
    fold_add(&t, &(struct folded){.n_rounds = 1, .n_lines = 4, .until_ns = 1500});
    assert_string_equal(buf, "1 more round of these 4 lines, until t=1.5us");
    t = text_on(buf, sizeof(buf));
    fold_add(&t, &(struct folded){.n_rounds = 38026, .n_lines = 1, .until_ns = 1500});
    assert_string_equal(buf, "38026 more rounds of this line, until t=1.5us");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_and_the_last_round_stay),
        cmocka_unit_test(what_cannot_repeat_is_not_kept),
        cmocka_unit_test(the_longest_round_is_folded),
        cmocka_unit_test(what_is_folded_can_be_told_again),
        cmocka_unit_test(events_are_equal_but_for_what_counts_and_when),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
