/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "emu/facts/device.h"

/* The RFC's list with 16 completion queues and 16 queue pairs: control, cq1 .. cq16, sq1, rq1, sq2,
 * rq2 ... rq16.
 */
static void virtqueues_are_numbered_as_the_rfc_lists_them(void **state)
{
    static const struct {
        uint32_t qpn, sends, receives;
    } rows[] = {{1, 17, 18}, {2, 19, 20}, {16, 47, 48}};

    (void)state;
    assert_int_equal(queue_count(16, 16), 49);
    assert_int_equal(queue_count(DEVICE_OBJECTS_MAX, DEVICE_OBJECTS_MAX), 49153);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(queue_of_sends(16, rows[i].qpn), rows[i].sends);
        assert_int_equal(queue_of_receives(16, rows[i].qpn), rows[i].receives);
        assert_int_equal(queue_owner(16, rows[i].sends), rows[i].qpn);
        assert_int_equal(queue_owner(16, rows[i].receives), rows[i].qpn);
        assert_true(queue_is_sends(16, rows[i].sends));
        assert_false(queue_is_sends(16, rows[i].receives));
    }
}

static void control_and_completion_queues_have_no_owner(void **state)
{
    (void)state;
    for (uint32_t queue = 0; queue <= 16; queue++)
        assert_int_equal(queue_owner(16, queue), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(virtqueues_are_numbered_as_the_rfc_lists_them),
        cmocka_unit_test(control_and_completion_queues_have_no_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
