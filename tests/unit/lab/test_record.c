/* SPDX-License-Identifier: MIT */
/* The record keeps the newest events, discards the oldest first, and follows restored checkpoints.
 */
#include "testing.h"

#include "emu/lab/record.h"
#include "emu/trace/event.h"

#define CHUNK 1024u /* events are forgotten by so many */

static ev_id id_of(uint64_t tick)
{
    return ev_id_of(tick, 1);
}

/* Events of the ticks @first .. @last, a frame of 100 bytes with each. */
static void fill(struct record *r, uint64_t first, uint64_t last)
{
    uint8_t bytes[100] = {0};

    for (uint64_t tick = first; tick <= last; tick++) {
        const struct ev e = {.id = id_of(tick), .kind = EV_tx};

        bytes[0] = (uint8_t)tick;
        record_event(r, &e);
        record_frame(r, e.id, bytes, sizeof(bytes));
    }
}

static void the_oldest_are_forgotten_and_counted(void **state)
{
    struct record *r = record_new(2 * CHUNK, 1000);
    size_t n;

    (void)state;
    assert_non_null(r);
    fill(r, 1, 2 * CHUNK);
    assert_int_equal(record_count(r), 2 * CHUNK);
    assert_true(record_forgotten(r) == 0);
    fill(r, 2 * CHUNK + 1, 2 * CHUNK + 1);
    assert_int_equal(record_count(r), CHUNK + 1);
    assert_true(record_forgotten(r) == CHUNK);
    assert_true(record_at(r, 0)->id == id_of(CHUNK + 1));
    assert_true(record_at(r, CHUNK)->id == id_of(2 * CHUNK + 1));
    assert_null(record_at(r, CHUNK + 1));
    assert_null(record_find_frame(r, id_of(2 * CHUNK - 9), &n));
    assert_non_null(record_find_frame(r, id_of(2 * CHUNK - 8), &n)); /* ten of 100 bytes */
    assert_int_equal(n, 100);
    record_free(r);
}

static void frames_that_are_larger_than_the_limit_are_not_kept(void **state)
{
    struct record *r = record_new(CHUNK, 99);
    size_t n;

    (void)state;
    assert_non_null(r);
    fill(r, 1, 1);
    assert_int_equal(record_count(r), 1);
    assert_null(record_find_frame(r, id_of(1), &n));
    record_bound(r, CHUNK, 100);
    fill(r, 2, 2);
    assert_non_null(record_find_frame(r, id_of(2), &n));
    record_bound(r, CHUNK, 0);
    fill(r, 3, 3);
    assert_null(record_find_frame(r, id_of(2), &n));
    assert_null(record_find_frame(r, id_of(3), &n));
    record_free(r);
}

static void frames_are_found_by_their_event(void **state)
{
    struct record *r = record_new(CHUNK, 100000);
    size_t n = 0;

    (void)state;
    fill(r, 10, 50);
    for (uint64_t tick = 10; tick <= 50; tick++)
        assert_int_equal(record_find_frame(r, id_of(tick), &n)[0], tick);
    assert_null(record_find_frame(r, id_of(9), &n));
    assert_null(record_find_frame(r, id_of(51), &n));
    assert_null(record_find_frame(r, ev_id_of(20, 2), &n));
    record_free(r);
}

static void what_is_ahead_is_not_seen_and_comes_back_when_it_happens_again(void **state)
{
    const uint64_t last = 2 * CHUNK + 10;
    struct record *r = record_new(4 * CHUNK, 1000000);
    uint64_t here = last;
    size_t n;

    (void)state;
    fill(r, 1, last);
    for (uint64_t tick = 2 * CHUNK + 5; tick > 0; tick /= 3) {
        record_place(r, here, tick, tick);
        assert_int_equal(record_count(r), tick);
        assert_true(record_at(r, tick - 1)->id == id_of(tick));
        assert_null(record_at(r, tick));
        assert_non_null(record_find_frame(r, id_of(tick), &n));
        assert_null(record_find_frame(r, id_of(tick + 1), &n));
        fill(r, tick + 1, tick + 1); /* the same happens again */
        assert_int_equal(record_count(r), tick + 1);
        assert_non_null(record_find_frame(r, id_of(tick + 1), &n));
        here = tick + 1;
    }
    record_place(r, here, last, last); /* to a checkpoint of what was ahead */
    assert_int_equal(record_count(r), last);
    assert_true(record_at(r, last - 1)->id == id_of(last));
    assert_true(record_forgotten(r) == 0);
    record_place(r, last, 0, 0);
    assert_int_equal(record_count(r), 0);
    record_free(r);
}

static void what_is_ahead_is_forgotten_where_something_else_happens(void **state)
{
    const struct ev other = {.id = id_of(11), .kind = EV_tx, .at_ns = 5};
    uint8_t bytes[100] = {99};
    struct record *r = record_new(CHUNK, 100000);
    size_t n;

    (void)state;
    fill(r, 1, 20);
    record_place(r, 20, 10, 10);
    record_event(r, &other);
    assert_int_equal(record_count(r), 11);
    record_place(r, 11, 10, 10);
    assert_int_equal(record_count(r), 10);
    record_event(r, &other); /* is what is ahead by now */
    assert_int_equal(record_count(r), 11);
    assert_true(record_at(r, 10)->at_ns == 5);
    assert_null(record_find_frame(r, id_of(11), &n));
    fill(r, 12, 15);
    record_place(r, 15, 11, 11);
    record_frame(r, id_of(12), bytes, sizeof(bytes)); /* another frame is another way, too */
    assert_int_equal(record_find_frame(r, id_of(12), &n)[0], 99);
    record_place(r, 12, 12, 11);
    assert_int_equal(record_count(r), 11);
    record_free(r);
}

static void a_place_that_is_not_recorded_begins_the_record_anew(void **state)
{
    const uint64_t last = 3 * CHUNK;
    struct record *r = record_new(CHUNK, 100000);

    (void)state;
    fill(r, 1, last);
    assert_true(record_forgotten(r) == 2 * CHUNK);
    record_place(r, last, 2 * CHUNK + 5, 2 * CHUNK + 5);
    assert_int_equal(record_count(r), 5);
    assert_true(record_forgotten(r) == 2 * CHUNK);
    record_place(r, 2 * CHUNK + 5, 7, 7); /* long forgotten */
    assert_int_equal(record_count(r), 0);
    assert_true(record_forgotten(r) == 7);
    fill(r, 8, 9); /* what is run again is there again */
    assert_int_equal(record_count(r), 2);
    record_place(r, 9, last + 9, last + 9); /* the events up to there are not recorded */
    assert_int_equal(record_count(r), 0);
    assert_true(record_forgotten(r) == last + 9);
    record_free(r);
}

/* The lab goes back to before the oldest event, and on to the end, by a jump or by replaying. */
static void later_events_come_back(void **state)
{
    const uint64_t last = 4 * CHUNK;
    struct record *r = record_new(2 * CHUNK, 1000000);
    size_t n;

    (void)state;
    fill(r, 1, last);
    record_place(r, last, 7, 7);
    assert_int_equal(record_count(r), 0);
    record_place(r, 7, last, last);
    assert_int_equal(record_count(r), 2 * CHUNK);
    assert_true(record_forgotten(r) == 2 * CHUNK);
    assert_non_null(record_find_frame(r, id_of(last), &n));

    record_place(r, last, 7, 7);
    fill(r, 8, 9); /* the limit is one for all: a chunk of the later ones goes */
    record_place(r, 9, 3, 3);
    assert_int_equal(record_count(r), 0);
    record_place(r, 3, last - 1, last - 1);
    assert_int_equal(record_count(r), CHUNK - 1);
    assert_true(record_forgotten(r) == 3 * CHUNK);
    assert_null(record_at(r, CHUNK - 1)); /* ahead */

    record_place(r, last - 1, 3 * CHUNK - 5, 3 * CHUNK - 5);
    fill(r, 3 * CHUNK - 4, 3 * CHUNK + 2);
    assert_int_equal(record_count(r), 7);
    assert_true(record_at(r, 6)->id == id_of(3 * CHUNK + 2));
    assert_non_null(record_find_frame(r, id_of(3 * CHUNK - 4), &n));
    record_place(r, 3 * CHUNK + 2, last, last); /* the events were joined */
    assert_int_equal(record_count(r), 5 + CHUNK);
    assert_true(record_forgotten(r) == 3 * CHUNK - 5);
    assert_non_null(record_find_frame(r, id_of(last), &n));
    record_free(r);
}

static void later_events_of_another_history_do_not_come_back(void **state)
{
    const uint64_t last = 4 * CHUNK;
    const struct ev other = {.id = id_of(3 * CHUNK + 1), .kind = EV_tx, .at_ns = 5};
    struct record *r = record_new(CHUNK, 1000000);

    (void)state;
    fill(r, 1, last);
    record_place(r, last, 3 * CHUNK - 5, 3 * CHUNK - 5);
    fill(r, 3 * CHUNK - 4, 3 * CHUNK);
    record_event(r, &other);
    record_place(r, 3 * CHUNK + 1, last, last);
    assert_int_equal(record_count(r), 0);

    fill(r, last + 1, last + CHUNK + 1);
    record_place(r, last + CHUNK + 1, 7, 7);
    record_forget_ahead(r, 7);
    record_place(r, 7, last + CHUNK + 1, last + CHUNK + 1);
    assert_int_equal(record_count(r), 0);
    record_free(r);
}

static void fewer_are_kept_of_what_has_happened_alone(void **state)
{
    struct record *r = record_new(8 * CHUNK, 100000);

    (void)state;
    fill(r, 1, 5 * CHUNK);
    record_place(r, 5 * CHUNK, 2 * CHUNK + 3, 2 * CHUNK + 3);
    record_bound(r, CHUNK, 100000);
    assert_int_equal(record_count(r), 3);
    assert_true(record_forgotten(r) == 2 * CHUNK);
    fill(r, 2 * CHUNK + 4, 2 * CHUNK + 4);
    assert_int_equal(record_count(r), 4);
    record_free(r);
}

/* Returns true if the gap at the end of @tick is that from @from to @to. */
static bool gap_is(const struct record *r, uint64_t tick, uint64_t from, uint64_t to)
{
    const struct rdl_record_gap gap = record_gap(r, tick);

    return gap.from == from && gap.to == to;
}

static void a_pause_is_told_as_a_gap(void **state)
{
    struct record *r = record_new(10, 1000);

    (void)state;
    assert_non_null(r);
    assert_true(gap_is(r, 5, 0, 0));
    record_pause(r, 5);
    assert_true(record_paused(r));
    assert_true(gap_is(r, 5, 6, RDL_NEVER));
    record_resume(r, 5);
    assert_true(gap_is(r, 5, 0, 0)); /* nothing happened */
    record_pause(r, 5);
    record_resume(r, 8);
    record_pause(r, 20);
    record_resume(r, 30);
    assert_false(record_paused(r));
    assert_true(gap_is(r, 30, 6, 30));
    assert_true(gap_is(r, 10, 6, 10)); /* as it was then */
    assert_true(gap_is(r, 5, 0, 0));
    record_forget_ahead(r, 10); /* time goes back, for ever */
    assert_true(gap_is(r, 30, 6, 10));
    record_pause(r, 10);
    record_forget_ahead(r, 2);
    assert_true(gap_is(r, 2, 3, RDL_NEVER));
    record_resume(r, 2);
    assert_true(gap_is(r, 2, 0, 0));
    record_free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_are_forgotten_and_counted),
        cmocka_unit_test(frames_that_are_larger_than_the_limit_are_not_kept),
        cmocka_unit_test(frames_are_found_by_their_event),
        cmocka_unit_test(what_is_ahead_is_not_seen_and_comes_back_when_it_happens_again),
        cmocka_unit_test(what_is_ahead_is_forgotten_where_something_else_happens),
        cmocka_unit_test(a_place_that_is_not_recorded_begins_the_record_anew),
        cmocka_unit_test(later_events_come_back),
        cmocka_unit_test(later_events_of_another_history_do_not_come_back),
        cmocka_unit_test(fewer_are_kept_of_what_has_happened_alone),
        cmocka_unit_test(a_pause_is_told_as_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
