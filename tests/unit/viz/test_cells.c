/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/text.h"
#include "viz/cells.h"

static void append(void *ctx, const char *bytes, size_t n)
{
    text_addn(ctx, bytes, n);
}

struct canvas {
    char buf[256];
    struct text t;
    struct viz_sink sink;
    struct cells c;
};

static void canvas_init(struct canvas *k, uint32_t width)
{
    memset(k, 0, sizeof(*k));
    k->t = text_on(k->buf, sizeof(k->buf));
    k->sink = (struct viz_sink){append, &k->t};
    k->c.sink = &k->sink;
    k->c.width = width;
}

static void a_character_is_a_cell_whatever_its_bytes(void **state)
{
    struct canvas k;

    (void)state;
    assert_int_equal(cells_of("├─▶"), 3);
    canvas_init(&k, 10);
    cells_draw(&k.c, 0, "├─▶", SHADE_NONE);
    cells_draw(&k.c, 1, "x", SHADE_NONE);
    cells_end_row(&k.c);
    assert_string_equal(k.buf, "├x▶\n");
}

static void nothing_leaves_the_row(void **state)
{
    struct canvas k;

    (void)state;
    canvas_init(&k, 5);
    cells_draw(&k.c, 3, "abc", SHADE_NONE);
    cells_draw(&k.c, UINT32_MAX - 1, "xyz", SHADE_NONE);
    cells_fill(&k.c, 5, 9, "-", SHADE_NONE);
    cells_end_row(&k.c);
    assert_string_equal(k.buf, "   ab\n");
}

static void words_keep_to_their_room(void **state)
{
    static const struct {
        uint32_t from, to, at;
        const char *s, *row;
    } rows[] = {
        {2, 10, 4, "abc", "--- abc ---"},  {2, 10, 0, "abc", "--abc -----"},
        {2, 10, 99, "abc", "------ abc-"}, {2, 5, 0, "abc", "--abc------"},
        {2, 5, 0, "abcd", "--ab~------"},  {5, 5, 5, "abc", "-----------"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct canvas k;
        char expected[16];
        struct text t = text_on(expected, sizeof(expected));

        canvas_init(&k, 11);
        cells_fill(&k.c, 0, 11, "-", SHADE_NONE);
        cells_draw_within(&k.c, rows[i].from, rows[i].to, rows[i].at, rows[i].s, SHADE_NONE);
        cells_end_row(&k.c);
        text_addf(&t, "%s\n", rows[i].row);
        assert_string_equal(k.buf, expected);
    }
}

static void colours_end_with_their_row(void **state)
{
    struct canvas k;

    (void)state;
    canvas_init(&k, 9);
    k.c.colour = true;
    cells_draw(&k.c, 1, "a", SHADE_BAD);
    cells_draw(&k.c, 3, "b", SHADE_BAD);
    cells_end_row(&k.c);
    cells_draw(&k.c, 0, "c", SHADE_NONE);
    cells_end_row(&k.c);
    assert_string_equal(k.buf, " \033[0;31ma b\033[0m\nc\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_character_is_a_cell_whatever_its_bytes),
        cmocka_unit_test(nothing_leaves_the_row),
        cmocka_unit_test(words_keep_to_their_room),
        cmocka_unit_test(colours_end_with_their_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
