/* SPDX-License-Identifier: MIT */
/* The errno of a refused request.  The command line finds the reason of a refusal by it. */
#include "testing.h"

#include <errno.h>

#include "emu/facts/refusal.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"

static void each_kind_of_refusal_has_another_errno(void **state)
{
    (void)state;
    for (int kind = RFK_NONE; kind <= RFK_UNSUPPORTED; kind++) {
        assert_int_equal(refusal_errno((enum refusal_kind)kind) == 0, kind == RFK_NONE);
        assert_int_not_equal(refusal_errno((enum refusal_kind)kind), EIO);
        for (int other = RFK_NONE; other < kind; other++)
            assert_int_not_equal(refusal_errno((enum refusal_kind)kind),
                                 refusal_errno((enum refusal_kind)other));
    }
}

static void a_response_has_the_errno_of_its_reasons(void **state)
{
    (void)state;
    assert_int_equal(ctrl_rsp_errno(refusal_rsp(REF_PD_IN_USE)), EBUSY);
    assert_int_equal(ctrl_rsp_errno(refusal_rsp(REF_PD_LIMIT)), ENOMEM);
    assert_int_equal(ctrl_rsp_errno(RSP_OK), 0);
    assert_int_equal(ctrl_rsp_errno(RSP_ERR), EIO);
    assert_int_equal(ctrl_rsp_errno(0xff), EIO);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_refusal_has_another_errno),
        cmocka_unit_test(a_response_has_the_errno_of_its_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
