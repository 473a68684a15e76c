/* SPDX-License-Identifier: MIT */
/* Programs on hosts whose devices offer extensions: posts and requests at an inconvenient time. */
#include "testing.h"

#include <stdio.h>

#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "plain_bed.h"
#include "rdmalab/control.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/program.h"

#define STEPS_MAX 16u

static const struct rdl_limits none;

static void set_up(struct testbed *r)
{
    const struct testbed_config config = plain_bed(VIRTIO_FEATURE(EXT_ALL));

    assert_int_equal(testbed_init(r, &config), RDL_OK);
}

static enum rdl_status reset(struct testbed *r, unsigned side)
{
    const struct rdl_qp_attr attr = {.state = QPS_RESET};
    struct rdl_modify_error ignored;

    return rdl_modify_qp(r->lab, r->side[side].qp, &attr, QPA_STATE, false, &ignored);
}

static uint32_t receives_of(const struct testbed *r, unsigned side)
{
    uint32_t sends, receives;

    assert_int_equal(rdl_qp_posted(r->lab, r->side[side].qp, &sends, &receives), RDL_OK);
    return receives;
}

/* A receive is posted some ticks behind a request to move to RESET: before and behind the moment
 * when the device empties the rings.  It is refused, and the driver finds the rings empty.
 */
static void no_receive_gets_into_the_end_of_a_queue_pair(void **state)
{
    uint32_t n_late = 0;

    (void)state;
    for (uint32_t steps = 0; steps < STEPS_MAX; steps++) {
        enum rdl_status posted;
        struct testbed r;

        set_up(&r);
        assert_int_equal(testbed_recv(&r, 1, 1, 0, 64), RDL_OK);
        assert_int_equal(reset(&r, 1), RDL_OK);
        for (uint32_t i = 0; i < steps; i++)
            if (rdl_step(r.lab, RDL_STEP_TICK, none) != RDL_OK)
                break; /* nothing is left to do */
        posted = testbed_recv(&r, 1, 2, 0, 64);
        assert_int_equal(posted, RDL_ERR_STATE);
        n_late += receives_of(&r, 1) > 0;
        assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
        assert_int_equal(receives_of(&r, 1), 0);
        assert_int_equal(reset(&r, 1), RDL_OK); /* the driver does not call its device broken */
        assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
        testbed_done(&r);
    }
    assert_true(n_late > 0 && n_late < STEPS_MAX); /* some were posted before the answer */
}

static uint64_t number(const struct testbed *r, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(r->lab, path, &v, &at), RDL_OK);
    return v.number;
}

#define ENTRIES 256u

/* Fails if the arming of h1's completion queue @a lies in a buffer of its completion queue @b. */
static void expect_apart(const struct testbed *r, const char *a, const char *b)
{
    char path[RDL_PATH_BYTES];
    uint64_t arm;

    snprintf(path, sizeof(path), "h1.%s.arm_addr", a);
    arm = number(r, path);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint64_t buffer;

        snprintf(path, sizeof(path), "h1.%s.queue.desc[%u].addr", b, i);
        buffer = number(r, path);
        assert_true(buffer > 0 && (arm < buffer || arm >= buffer + sizeof(struct raw_cqe)));
    }
}

/* The control queue is full when the first completion queue is created. */
static void a_create_that_is_not_sent_gives_its_memory_back_once(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    const struct rdl_host_config host = {.name = "h1", .extensions = VIRTIO_FEATURE(EXT_ALL)};
    const struct rdl_control pd = {.command = CMD_CREATE_PD, .room = 5};
    struct testbed r = {0};
    uint32_t id;
    rdl_cq cq;

    (void)state;
    assert_int_equal(
        rdl_lab_new(&(struct rdl_lab_config){.seed = 1, .check_invariants = true}, &r.lab), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &host, &r.side[0].host), RDL_OK);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(rdl_requests_max(r.lab, r.side[0].host, 2), RDL_OK);
    while (rdl_control_send(r.lab, r.side[0].host, &pd, true, &id) == RDL_OK)
        ;
    assert_int_equal(rdl_alloc_pd(r.lab, r.side[0].host, NULL, &r.side[0].pd), RDL_OK);
    assert_int_equal(rdl_create_cq(r.lab, r.side[0].host, 4, "y", &cq), RDL_ERR_BUSY);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(rdl_create_cq(r.lab, r.side[0].host, ENTRIES, names[i], &cq), RDL_OK);
        assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
        for (size_t k = 0; k <= i; k++) {
            expect_apart(&r, names[i], names[k]);
            expect_apart(&r, names[k], names[i]);
        }
    }
    rdl_lab_free(r.lab);
}

static void arm(struct testbed *r, bool solicited)
{
    assert_int_equal(rdl_req_notify_cq(r->lab, r->side[1].cq, solicited), RDL_OK);
}

static void one_message(struct testbed *r)
{
    assert_int_equal(testbed_recv(r, 1, 1, 0, 64), RDL_OK);
    assert_int_equal(rdl_run(r->lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(testbed_send(r, 0, 1, 0, 64, 0), RDL_OK);
}

/* An arming for any completion stays one when the program arms for solicited ones before it fires.
 * So it does if the event of an earlier arming arrives in between.
 */
static void an_arming_for_any_completion_stays(void **state)
{
    struct testbed r;

    (void)state;
    set_up(&r);
    arm(&r, false);
    one_message(&r);
    while (number(&r, "h2.cq.count") == 0)
        assert_int_equal(rdl_step(r.lab, RDL_STEP_TICK, none), RDL_OK);
    assert_int_equal(number(&r, "h2.cq.events"), 0); /* it is on its way */
    arm(&r, false);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(number(&r, "h2.cq.events"), 1);
    arm(&r, true);
    one_message(&r);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(number(&r, "h2.cq.events"), 2);
    one_message(&r);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(number(&r, "h2.cq.events"), 2);
    testbed_done(&r);
}

/* A completion queue may have a channel of its own host alone. */
static void a_channel_of_another_host_is_refused(void **state)
{
    struct rdl_cq_config config = {.cqe = 4, .vector = RDL_VECTOR_ANY};
    struct testbed r;
    rdl_cq cq;

    (void)state;
    set_up(&r);
    assert_int_equal(rdl_create_comp_channel(r.lab, r.side[1].host, NULL, &config.channel), RDL_OK);
    assert_int_equal(rdl_create_cq_by(r.lab, r.side[0].host, &config, NULL, &cq), RDL_ERR_INVAL);
    assert_int_equal(rdl_create_cq_by(r.lab, r.side[1].host, &config, NULL, &cq), RDL_OK);
    testbed_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_receive_gets_into_the_end_of_a_queue_pair),
        cmocka_unit_test(an_arming_for_any_completion_stays),
        cmocka_unit_test(a_create_that_is_not_sent_gives_its_memory_back_once),
        cmocka_unit_test(a_channel_of_another_host_is_refused),
    };

    return cmocka_run_group_tests_name("extensions", tests, NULL, NULL);
}
