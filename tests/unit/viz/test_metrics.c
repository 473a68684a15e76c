/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "viz/metrics.h"

/* Measured with the font itself, in tenths of a pixel, without rounding up. */
static void widths_are_at_least_those_of_the_font(void **state)
{
    static const struct {
        const char *s;
        int32_t size, least, most;
    } rows[] = {
        {"", 12, 0, 0},     {"i", 10, 27, 29}, {"W", 10, 98, 100}, {"psn=100", 12, 543, 547},
        {"→", 10, 83, 100}, /* one character, not three bytes */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_in_range(text_width(rows[i].s, rows[i].size), rows[i].least, rows[i].most);
}

static void isqrt_is_exact_to_the_unit(void **state)
{
    static const struct {
        uint64_t v;
        uint32_t root;
    } rows[] = {{0, 0},
                {1, 1},
                {3, 1},
                {4, 2},
                {99, 9},
                {100, 10},
                {(uint64_t)0xffffffff * 0xffffffff, 0xffffffff},
                {UINT64_MAX, 0xffffffff}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(isqrt(rows[i].v), rows[i].root);
}

static void text_lies_along_its_direction(void **state)
{
    const struct unit down = unit_between((struct point){0, 0}, (struct point){0, 50});
    const struct quad q = quad_text((struct point){100, 100}, down, 200, 10, 0);

    (void)state;
    assert_int_equal(down.x, 0);
    assert_int_equal(down.y, 1000);
    /* Turned to the right by a quarter: the capitals' tops are on the right. */
    assert_int_equal(q.p[0].x, 180);
    assert_int_equal(q.p[0].y, 100);
    assert_int_equal(q.p[1].y, 300);
    assert_int_equal(q.p[2].x, 76);
}

static void segments_hit_boxes_also_when_they_only_touch(void **state)
{
    const struct quad box = quad_box(0, 0, 100, 50);
    static const struct {
        struct segment s;
        bool hits;
    } rows[] = {
        {{{-10, 25}, {110, 25}}, true},   /* through */
        {{{10, 10}, {20, 20}}, true},     /* inside */
        {{{100, 50}, {200, 100}}, true},  /* at the corner */
        {{{101, 0}, {101, 50}}, false},   /* beside */
        {{{-20, 40}, {20, 70}}, false},   /* past the corner, within the box around both */
        {{{-60, 100}, {60, -100}}, true}, /* across the corner */
        {{{50, 25}, {50, 25}}, true},     /* a point */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(quad_hits_segment(&box, &rows[i].s), rows[i].hits);
}

static void turned_boxes_overlap_by_their_shape_not_their_extent(void **state)
{
    const struct quad diamond = {{{0, -100}, {100, 0}, {0, 100}, {-100, 0}}};
    const struct quad near = quad_box(40, 40, 90, 90);
    const struct quad beside = quad_box(60, 60, 90, 90);

    (void)state;
    assert_true(quads_overlap(&diamond, &near));
    assert_false(quads_overlap(&diamond, &beside));
    assert_true(quads_overlap(&diamond, &diamond));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_at_least_those_of_the_font),
        cmocka_unit_test(isqrt_is_exact_to_the_unit),
        cmocka_unit_test(text_lies_along_its_direction),
        cmocka_unit_test(segments_hit_boxes_also_when_they_only_touch),
        cmocka_unit_test(turned_boxes_overlap_by_their_shape_not_their_extent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
