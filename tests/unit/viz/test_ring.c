/* SPDX-License-Identifier: MIT */
/* The picture of a virtqueue, from a description written by hand. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collected.h"
#include "golden.h"
#include "viz/ring.h"

#define SIZE 4u

static char *draw(const struct ring_picture *p)
{
    struct collected c;
    const struct viz_sink sink = collect(&c);

    assert_int_equal(ring_draw(p, &sink), RDL_OK);
    return c.s;
}

static void a_split_ring_has_its_lines_and_letters(void **state)
{
    const struct ring_slot slots[SIZE] = {
        {OWNER_POSTED, NULL, "a request", 2},
        {OWNER_TAKEN, NULL, "5 < 6 & \"7\"", RING_NONE_AT},
        {OWNER_POSTED, NULL, "its answer", RING_NONE_AT},
        {OWNER_FREE, NULL, NULL, RING_NONE_AT},
    };
    const struct ring_entry avail[SIZE] = {{RING_NONE_AT}, {1}, {0}, {RING_NONE_AT}};
    const struct ring_entry used[SIZE] = {
        {RING_NONE_AT}, {RING_NONE_AT}, {RING_NONE_AT}, {RING_NONE_AT}};
    const struct ring_marker markers[] = {
        {COLUMN_AVAIL, 3, false, "driver: avail.idx 3"},
        {COLUMN_USED, 1, true, "device: used.idx 1"},
        {COLUMN_USED, 1, false, "driver looks at 1"},
    };
    const struct ring_picture p = {.title = "h1.ctrl",
                                   .size = SIZE,
                                   .slots = slots,
                                   .avail = avail,
                                   .used = used,
                                   .markers = markers,
                                   .n_markers = ARRAY_LEN(markers)};
    char *svg = draw(&p), *again = draw(&p);

    (void)state;
    assert_string_equal(svg, again);
    assert_is_closed(svg);
    assert_int_equal(count_in(svg, "class=\"chain\""), 1);
    assert_int_equal(count_in(svg, "class=\"tip\""), 2); /* of the avail ring alone */
    assert_int_equal(count_in(svg, "class=\"posted\""), 2 + 1);
    assert_int_equal(count_in(svg, "class=\"taken\""), 1 + 1); /* and in the legend */
    assert_int_equal(count_in(svg, "class=\"free\""), 1 + 1);
    assert_int_equal(count_in(svg, "class=\"back\""), 1);
    assert_int_equal(count_in(svg, ">P</text>"), 2 + 1); /* not by colour alone */
    assert_int_equal(count_in(svg, ">T</text>"), 1 + 1);
    assert_non_null(strstr(svg, "5 &lt; 6 &amp; &quot;7&quot;"));
    assert_non_null(strstr(svg, "device: used.idx 1, driver looks at 1"));
    assert_non_null(strstr(svg, "prefers-color-scheme:dark"));
    free(svg);
    free(again);
}

static void a_packed_ring_is_one_column(void **state)
{
    static char long_text[400];
    const struct ring_slot slots[SIZE] = {
        {OWNER_BACK, "A1 U1 id 3", "buffer 3 is back", RING_NONE_AT},
        {OWNER_FREE, "A0 U0 id 0", NULL, RING_NONE_AT},
        {OWNER_FREE, "A0 U0 id 0", NULL, RING_NONE_AT},
        {OWNER_POSTED, "A1 U0 N id 0", long_text, 0},
    };
    const struct ring_picture p = {
        .title = "h1.qp.sq", .subtitle = "areas", .packed = true, .size = SIZE, .slots = slots};
    char *svg;

    (void)state;
    memset(long_text, 'w', sizeof(long_text) - 1);
    svg = draw(&p);
    assert_is_closed(svg);
    assert_int_equal(count_in(svg, "A1 U1 id 3"), 1);
    assert_int_equal(count_in(svg, "class=\"cell\""), 0);
    assert_int_equal(count_in(svg, "class=\"chain\""), 1);
    assert_int_equal(count_in(svg, "www..."), 1); /* cut, so that it stays in its row */
    assert_null(strstr(svg, ">avail</text>"));
    free(svg);
}

/* Of a long ring only what says something, and one beside it. */
static void a_long_ring_is_drawn_in_part(void **state)
{
    const uint32_t size = 32768;
    struct ring_slot *slots = calloc(size, sizeof(*slots));
    const struct ring_marker markers[] = {{COLUMN_DESC, 20000, true, "takes next"},
                                          {COLUMN_DESC, 0, false, "looks"}};
    const struct ring_picture p = {.title = "long",
                                   .packed = true,
                                   .size = size,
                                   .slots = slots,
                                   .markers = markers,
                                   .n_markers = ARRAY_LEN(markers)};
    char *svg;

    (void)state;
    assert_non_null(slots);
    for (uint32_t i = 0; i < size; i++)
        slots[i].next = RING_NONE_AT;
    slots[100].owner = slots[101].owner = OWNER_TAKEN;
    svg = draw(&p);
    assert_int_equal(count_in(svg, "class=\"desc\""), 2 + 4 + 3);
    assert_int_equal(count_in(svg, ">...</text>"), 3);
    assert_non_null(strstr(svg, "id=\"desc99\""));
    assert_non_null(strstr(svg, "id=\"desc102\""));
    assert_null(strstr(svg, "id=\"desc103\""));
    assert_non_null(strstr(svg, "takes next"));
    free(svg);
    free(slots);
}

/* A device can give back what it never had: the line of that entry leads to its descriptor. */
static void what_an_entry_names_is_drawn_though_it_is_free(void **state)
{
    const uint32_t size = 256, named = 77;
    struct ring_slot *slots = calloc(size, sizeof(*slots));
    struct ring_entry *avail = calloc(size, sizeof(*avail)), *used = calloc(size, sizeof(*used));
    const struct ring_picture p = {
        .title = "told", .size = size, .slots = slots, .avail = avail, .used = used};
    char *svg;

    (void)state;
    assert_non_null(slots);
    assert_non_null(avail);
    assert_non_null(used);
    for (uint32_t i = 0; i < size; i++)
        slots[i].next = avail[i].desc = used[i].desc = RING_NONE_AT;
    used[3].desc = named;
    svg = draw(&p);
    assert_int_equal(count_in(svg, "class=\"tip\""), 1);
    assert_non_null(strstr(svg, "id=\"desc77\""));
    assert_int_equal(count_in(svg, "class=\"desc\""),
                     3 + 3); /* entry 3 and it, and their neighbours */
    free(svg);
    free(slots);
    free(avail);
    free(used);
}

static void an_empty_ring_has_a_title(void **state)
{
    const struct ring_picture p = {.title = "nothing", .packed = true};
    char *svg = draw(&p);

    (void)state;
    assert_is_closed(svg);
    assert_non_null(strstr(svg, "nothing"));
    free(svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_ring_has_its_lines_and_letters),
        cmocka_unit_test(a_packed_ring_is_one_column),
        cmocka_unit_test(a_long_ring_is_drawn_in_part),
        cmocka_unit_test(what_an_entry_names_is_drawn_though_it_is_free),
        cmocka_unit_test(an_empty_ring_has_a_title),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
