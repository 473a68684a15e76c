/* SPDX-License-Identifier: MIT */
/* The maximum rate of a virtual function, with a shortcut between guests and without one. */
#include "testing.h"

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/eswitch.h"
#include "rdmalab/machine.h"
#include "testbed/testbed.h"

#define BYTES    65536u
#define MESSAGES 3u
#define RATE_BPS UINT64_C(1000000000)

/* The frames of a message: Ethernet, IPv4, UDP, BTH and ICRC around 256 bytes; a RETH in the first.
 */
#define FRAMES        (BYTES / 256)
#define FRAME_BYTES   (14u + 20 + 8 + 12 + 256 + 4 + NET_GAP_BYTES)
#define MESSAGE_BYTES (FRAMES * FRAME_BYTES + 16)
#define KICK_NS       100u /* from the post to the first frame */

static const struct rdl_limits none = {0};

static void limit_first_function(struct rdl_lab *lab)
{
    struct rdl_vf_settings set;
    rdl_host machine;

    assert_int_equal(rdl_find_host(lab, "m1", &machine), RDL_OK);
    assert_int_equal(rdl_vf_get(lab, machine, 0, &set), RDL_OK);
    set.max_tx_bps = RATE_BPS;
    assert_int_equal(rdl_vf_set(lab, machine, 0, &set), RDL_OK);
}

static void post_write(const struct testbed *r)
{
    const struct testbed_side *from = &r->side[0], *to = &r->side[1];
    const struct rdl_sge sge = {from->mem.addr, BYTES, from->mem.lkey};
    const struct rdl_send_wr wr = {.opcode = WR_RDMA_WRITE,
                                   .flags = SF_SIGNALED,
                                   .sge = &sge,
                                   .n_sge = 1,
                                   .remote_addr = to->mem.addr,
                                   .rkey = to->mem.rkey};

    assert_int_equal(rdl_post_send(r->lab, from->qp, &wr, false), RDL_OK);
}

/* Returns the time that the WRITEs take at the rate, until the lab is idle. */
static uint64_t time_of_writes(bool shortcut)
{
    const struct testbed_config c = {.seed = 1,
                                     .check_invariants = true,
                                     .machine = true,
                                     .shortcut = shortcut,
                                     .mr_bytes = BYTES,
                                     .mr_access = ACC_REMOTE_WRITE,
                                     .access = {ACC_REMOTE_WRITE, ACC_REMOTE_WRITE},
                                     .max_wr = 8,
                                     .path_mtu = MTU_256,
                                     .timeout = 14,
                                     .retry_cnt = 7};
    struct rdl_wc wc[MESSAGES + 1];
    struct testbed r;
    uint64_t before, taken;
    size_t n;

    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    limit_first_function(r.lab);
    before = rdl_now_ns(r.lab);
    for (unsigned i = 0; i < MESSAGES; i++)
        post_write(&r);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    taken = rdl_now_ns(r.lab) - before;
    assert_int_equal(rdl_poll_cq(r.lab, r.side[0].cq, ARRAY_LEN(wc), wc, &n), RDL_OK);
    assert_int_equal(n, MESSAGES);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(wc[i].status, WCS_SUCCESS);
    assert_int_equal(lab_host_named(r.lab->state, "m1")->port.sw->ports[1].counts.copied,
                     shortcut ? MESSAGES : 0);
    testbed_done(&r);
    return taken;
}

/* A message that goes whole is charged the gap of each frame that it stands for: 2.08 ms in all. */
static void a_maximum_holds_with_and_without_a_shortcut(void **state)
{
    const uint64_t ns = UINT64_C(8) * MESSAGES * MESSAGE_BYTES * 1000000000u / RATE_BPS;

    (void)state;
    assert_int_equal(time_of_writes(false), KICK_NS + ns);
    assert_int_equal(time_of_writes(true), KICK_NS + ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_maximum_holds_with_and_without_a_shortcut),
    };

    return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
