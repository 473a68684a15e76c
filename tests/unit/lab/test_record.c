/* SPDX-License-Identifier: MIT */
/* The recorder keeps what is newest, forgets in order, and goes back with a checkpoint. */
#include "testing.h"

#include "emu/lab/record.h"

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

static void going_back_cuts_what_came_later_and_nothing_else(void **state)
{
    struct record *r = record_new(4 * CHUNK, 1000000);
    size_t n;

    (void)state;
    fill(r, 1, 2 * CHUNK + 10);
    for (uint64_t tick = 2 * CHUNK + 5; tick > 0; tick /= 3) {
        record_cut(r, tick);
        assert_int_equal(record_count(r), tick);
        assert_true(record_at(r, tick - 1)->id == id_of(tick));
        assert_non_null(record_find_frame(r, id_of(tick), &n));
        assert_null(record_find_frame(r, id_of(tick + 1), &n));
        fill(r, tick + 1, tick + 1); /* and it goes on from there */
        assert_int_equal(record_count(r), tick + 1);
    }
    record_cut(r, 0);
    assert_int_equal(record_count(r), 0);
    record_free(r);
}

static void a_pause_is_told_as_a_gap(void **state)
{
    struct record *r = record_new(10, 1000);

    (void)state;
    assert_non_null(r);
    assert_true(record_gap(r).from == 0 && record_gap(r).to == 0);
    record_pause(r, 5);
    assert_true(record_paused(r));
    assert_true(record_gap(r).from == 6 && record_gap(r).to == UINT64_MAX);
    record_resume(r, 5);
    assert_true(record_gap(r).from == 0 && record_gap(r).to == 0); /* nothing happened */
    record_pause(r, 5);
    record_resume(r, 8);
    record_pause(r, 20);
    record_resume(r, 30);
    assert_false(record_paused(r));
    assert_true(record_gap(r).from == 6 && record_gap(r).to == 30);
    record_cut(r, 10); /* time goes back */
    assert_true(record_gap(r).from == 6 && record_gap(r).to == 10);
    record_pause(r, 10);
    record_cut(r, 2);
    assert_true(record_gap(r).from == 3 && record_gap(r).to == UINT64_MAX);
    record_resume(r, 2);
    assert_true(record_gap(r).from == 0 && record_gap(r).to == 0);
    record_free(r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_are_forgotten_and_counted),
        cmocka_unit_test(frames_that_are_larger_than_the_limit_are_not_kept),
        cmocka_unit_test(frames_are_found_by_their_event),
        cmocka_unit_test(going_back_cuts_what_came_later_and_nothing_else),
        cmocka_unit_test(a_pause_is_told_as_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
