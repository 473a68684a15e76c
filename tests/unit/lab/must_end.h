/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_LAB_MUST_END_H
#define TESTS_UNIT_LAB_MUST_END_H

#include "testing.h"

#include "rdmalab/control.h"

/* Waits for the request of @host whose call returned @asked.  Both must succeed. */
static inline void must_end(struct rdl_lab *lab, rdl_host host, enum rdl_status asked)
{
    const struct rdl_limits none = {0};
    struct rdl_response rsp;

    assert_int_equal(asked, RDL_OK);
    assert_int_equal(rdl_wait(lab, host, none, &rsp), RDL_OK);
}

#endif
