/* SPDX-License-Identifier: MIT */
/* General properties of a lab: determinism, isolation, checkpoints, stale handles. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/packet_class.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wire_field.h"
#include "emu/facts/mad_fields.h"
#include "emu/facts/virtio/feature.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "testbed/testbed.h"

#define MESSAGES 20u
#define BYTES    3000u

static const struct rdl_limits none = {0};

static struct testbed_config config(uint64_t seed)
{
    return (struct testbed_config){
        .seed = seed,
        .check_invariants = true,
        .hash = true,
        .mr_bytes = MESSAGES * BYTES,
        .max_wr = MESSAGES,
        .path_mtu = MTU_1024,
        .sq_psn = {0xfffff0, 7},
        .timeout = 6,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 2,
        .latency_ns = 1000,
        .loss_ppm = 30000,
    };
}

static void start(struct testbed *r, uint64_t seed)
{
    const struct testbed_config c = config(seed);

    assert_int_equal(testbed_init(r, &c), RDL_OK);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        assert_int_equal(testbed_recv(r, 1, i, (uint64_t)i * BYTES, BYTES), RDL_OK);
        assert_int_equal(testbed_send(r, 0, i, (uint64_t)i * BYTES, BYTES, SF_SIGNALED), RDL_OK);
    }
}

/* The hash at the end of a run that nothing disturbed. */
static uint64_t hash_alone(uint64_t seed)
{
    struct testbed r;
    uint64_t hash;

    start(&r, seed);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    hash = rdl_hash(r.lab);
    testbed_done(&r);
    return hash;
}

/* Shows I20. */
static void equal_seeds_give_equal_hashes_and_others_do_not(void **state)
{
    (void)state;
    assert_true(hash_alone(1) == hash_alone(1));
    assert_true(hash_alone(1) != hash_alone(2));
}

static void two_labs_interleaved_give_the_hashes_they_give_alone(void **state)
{
    struct testbed a, b;
    bool more = true;

    (void)state;
    start(&a, 1);
    start(&b, 2);
    while (more) {
        const enum rdl_status x = rdl_step(a.lab, RDL_STEP_TICK, none);
        const enum rdl_status y = rdl_step(b.lab, RDL_STEP_TICK, none);

        more = x == RDL_OK || y == RDL_OK;
    }
    assert_true(rdl_hash(a.lab) == hash_alone(1));
    assert_true(rdl_hash(b.lab) == hash_alone(2));
    testbed_done(&a);
    testbed_done(&b);
}

static void count_event(void *ctx, const struct ev *e)
{
    (void)e;
    ++*(uint64_t *)ctx;
}

static void looking_changes_nothing(void **state)
{
    struct testbed plain, watched;
    struct rdl_listener *l;
    uint64_t heard = 0;

    (void)state;
    start(&plain, 3);
    start(&watched, 3);
    assert_int_equal(rdl_record(watched.lab, 0, 0), RDL_OK);
    assert_int_equal(rdl_listen(watched.lab, count_event, &heard, &l), RDL_OK);
    assert_int_equal(rdl_run(plain.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(rdl_run(watched.lab, RDL_NEVER, none), RDL_OK);
    assert_true(heard > 0 && heard == rdl_record_count(watched.lab));
    assert_true(rdl_tick(plain.lab) == rdl_tick(watched.lab));
    assert_true(rdl_now_ns(plain.lab) == rdl_now_ns(watched.lab));
    assert_true(rdl_hash(plain.lab) == rdl_hash(watched.lab));
    testbed_done(&plain);
    testbed_done(&watched);
}

/* Shows I20. */
static void a_restored_checkpoint_goes_the_same_way_again(void **state)
{
    struct rdl_checkpoint *c;
    struct testbed r;
    uint64_t hash, tick, now;
    size_t recorded;

    (void)state;
    start(&r, 4);
    assert_int_equal(rdl_record(r.lab, 0, 0), RDL_OK);
    for (int i = 0; i < 60; i++)
        assert_int_equal(rdl_step(r.lab, RDL_STEP_TICK, none), RDL_OK);
    assert_int_equal(rdl_checkpoint_save(r.lab, &c), RDL_OK);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    hash = rdl_hash(r.lab);
    tick = rdl_tick(r.lab);
    now = rdl_now_ns(r.lab);
    recorded = rdl_record_count(r.lab);
    for (int again = 0; again < 3; again++) {
        rdl_checkpoint_restore(r.lab, c);
        assert_true(rdl_tick(r.lab) < tick);
        assert_true(rdl_record_count(r.lab) < recorded);
        assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
        assert_true(rdl_hash(r.lab) == hash);
        assert_true(rdl_tick(r.lab) == tick && rdl_now_ns(r.lab) == now);
        assert_true(rdl_record_count(r.lab) == recorded);
    }
    rdl_checkpoint_free(c);
    testbed_done(&r);
}

static void handles_go_stale_when_their_object_is_destroyed(void **state)
{
    struct testbed r;
    struct rdl_wc wc;
    size_t n;
    struct rdl_response rsp;

    (void)state;
    start(&r, 5);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(rdl_destroy_cq(r.lab, r.side[0].cq), RDL_ERR_BUSY);
    assert_int_equal(rdl_dealloc_pd(r.lab, r.side[0].pd), RDL_ERR_BUSY);
    assert_int_equal(rdl_destroy_qp(r.lab, r.side[0].qp), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_destroy_qp(r.lab, r.side[0].qp), RDL_ERR_STALE);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 1, 0), RDL_ERR_STALE);
    assert_int_equal(rdl_destroy_cq(r.lab, r.side[0].cq), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_poll_cq(r.lab, r.side[0].cq, 1, &wc, &n), RDL_ERR_STALE);
    assert_int_equal(rdl_dereg_mr(r.lab, r.side[0].mr), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_dereg_mr(r.lab, r.side[0].mr), RDL_ERR_STALE);
    assert_int_equal(rdl_dealloc_pd(r.lab, r.side[0].pd), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_dealloc_pd(r.lab, r.side[0].pd), RDL_ERR_STALE);
    testbed_done(&r);
}

static void a_limit_ends_a_run_that_would_not_end(void **state)
{
    struct testbed_config c = config(6);
    const struct rdl_limits ticks = {.ticks = 500}, time = {.ns = 1000000};
    struct testbed r;

    (void)state;
    c.loss_ppm = 0;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, 0), RDL_OK); /* no receive: RNR for ever */
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, ticks), RDL_ERR_TIMEOUT);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, time), RDL_ERR_TIMEOUT);
    testbed_done(&r);
}

static void a_failed_call_takes_no_number(void **state)
{
    struct testbed r;
    uint64_t tick;

    (void)state;
    start(&r, 7);
    tick = rdl_tick(r.lab);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, 0), RDL_ERR_QUEUE_FULL);
    assert_true(rdl_tick(r.lab) == tick);
    testbed_done(&r);
}

/* Whatever the MTU of the Ethernet is, both functions of the host say the same. */
static void both_functions_have_the_ethernets_mtu(void **state)
{
    static const struct {
        uint32_t mtu, device_mtu;
        enum rdl_status want;
        uint64_t active, ethernet;
    } rows[] = {
        {0, 0, RDL_OK, 4096, 4200},     {0, 1024, RDL_OK, 1024, 1500},
        {0, 2048, RDL_OK, 2048, 2152},  {1500, 0, RDL_OK, 1024, 1500},
        {1280, 256, RDL_OK, 256, 1280}, {9000, 0, RDL_OK, 4096, 9000},
        {1279, 0, RDL_ERR_INVAL, 0, 0}, {9001, 0, RDL_ERR_INVAL, 0, 0},
    };
    const struct rdl_lab_config config = {.seed = 1};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_host_config c = {
            .name = "h1", .mtu = rows[i].mtu, .device_mtu = rows[i].device_mtu};
        struct rdl_lab *lab;
        struct rdl_value v;
        rdl_host host;
        size_t at;

        assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
        assert_int_equal(rdl_host_add(lab, &c, &host), rows[i].want);
        if (rows[i].want == RDL_OK) {
            assert_int_equal(rdl_inspect(lab, "h1.port.mtu", &v, &at), RDL_OK);
            assert_int_equal(v.number, rows[i].active);
            assert_int_equal(rdl_inspect(lab, "h1.port.phys_mtu", &v, &at), RDL_OK);
            assert_int_equal(v.number, rows[i].ethernet);
            assert_int_equal(rdl_inspect(lab, "h1.net.mtu", &v, &at), RDL_OK);
            assert_int_equal(v.number, rows[i].ethernet);
        }
        rdl_lab_free(lab);
    }
}

static void a_device_has_from_1_to_16384_queues_of_a_kind(void **state)
{
    static const struct {
        uint32_t max_cq, max_qp; /* 0: the usual number */
        enum rdl_status want;
    } rows[] = {{16385, 0, RDL_ERR_INVAL},
                {UINT32_MAX, 0, RDL_ERR_INVAL},
                {0, 16385, RDL_ERR_INVAL},
                {0, 1, RDL_ERR_INVAL}, /* QPN 1 is for type GSI */
                {1, 2, RDL_OK}};
    const struct rdl_lab_config config = {.seed = 1};
    struct rdl_lab *lab;
    rdl_host host;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_host_config c = {
            .name = "h1", .max_cq = rows[i].max_cq, .max_qp = rows[i].max_qp};

        assert_int_equal(rdl_host_add(lab, &c, &host), rows[i].want);
    }
    rdl_lab_free(lab);
}

static void an_unknown_profile_is_refused(void **state)
{
    struct rdl_host_config c = {.name = "h1", .profile = PROFILE_COUNT};
    const struct rdl_lab_config config = {.seed = 1};
    struct rdl_lab *lab;
    rdl_host host;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &c, &host), RDL_ERR_INVAL);
    c.profile = PROFILE_COUNT - 1;
    assert_int_equal(rdl_host_add(lab, &c, &host), RDL_OK);
    rdl_lab_free(lab);
}

static void queue_pairs_are_made_and_destroyed_again_and_again(void **state)
{
    struct rdl_qp_config qc = {.type = QPT_RC, .max_send_wr = 64, .max_recv_wr = 3};
    struct testbed_config c = config(8);
    struct testbed r;
    rdl_qp qp;
    struct rdl_response rsp;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    qc.pd = r.side[0].pd;
    qc.send_cq = qc.recv_cq = r.side[0].cq;
    for (int i = 0; i < 500; i++) {
        assert_int_equal(rdl_create_qp(r.lab, &qc, "again", &qp), RDL_OK);
        assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_OK);
        assert_int_equal(rdl_destroy_qp(r.lab, qp), RDL_OK);
        assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_OK);
    }
    testbed_done(&r);
}

static void what_a_reset_gives_back_goes_without_completions(void **state)
{
    const struct rdl_qp_attr attr = {.state = QPS_RESET};
    struct testbed_config c = config(9);
    struct rdl_modify_error err;
    struct rdl_wc wc;
    struct testbed r;
    struct rdl_response rsp;
    size_t n;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(testbed_recv(&r, 1, i, 0, BYTES), RDL_OK);
    assert_int_equal(rdl_modify_qp(r.lab, r.side[1].qp, &attr, QPA_STATE, false, &err), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[1].host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(rdl_poll_cq(r.lab, r.side[1].cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(n, 0);
    testbed_done(&r);
}

/* Without RING_RESET the device forgets where a queue was before the driver does. */
static void a_queue_without_an_owner_breaks_no_invariant(void **state)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config host = {.name = "h1",
                                         .features_off = UINT64_C(1) << VF_RING_RESET};
    struct rdl_lab *lab;
    struct rdl_wc wc;
    rdl_host h;
    rdl_cq cq;
    rdl_pd pd;
    struct rdl_qp_config qc = {.type = QPT_RC};
    struct rdl_qp_attr attr = {.state = QPS_INIT, .port = 1};
    struct rdl_modify_error err;
    struct rdl_response rsp;
    rdl_qp qp;
    size_t n;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &host, &h), RDL_OK);
    assert_int_equal(rdl_alloc_pd(lab, h, "pd", &pd), RDL_OK);
    assert_int_equal(rdl_wait(lab, h, none, &rsp), RDL_OK);
    assert_int_equal(rdl_create_cq(lab, h, 4, "cq", &cq), RDL_OK);
    assert_int_equal(rdl_wait(lab, h, none, &rsp), RDL_OK);
    qc.pd = pd;
    qc.send_cq = qc.recv_cq = cq;
    assert_int_equal(rdl_create_qp(lab, &qc, "qp", &qp), RDL_OK);
    assert_int_equal(rdl_wait(lab, h, none, &rsp), RDL_OK);
    for (uint32_t i = 0; i < 2; i++) { /* a receive that is flushed, and taken back by the driver */
        const struct rdl_recv_wr wr = {.wr_id = i};

        attr.state = QPS_INIT;
        assert_int_equal(rdl_modify_qp(lab, qp, &attr,
                                       QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS,
                                       false, &err),
                         RDL_OK);
        assert_int_equal(rdl_wait(lab, h, none, &rsp), RDL_OK);
        assert_int_equal(rdl_post_recv(lab, qp, &wr, false), RDL_OK);
        attr.state = QPS_RESET;
        assert_int_equal(rdl_modify_qp(lab, qp, &attr, QPA_STATE, false, &err), RDL_OK);
        assert_int_equal(rdl_wait(lab, h, none, &rsp), RDL_OK);
    }
    assert_int_equal(rdl_poll_cq(lab, cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(rdl_destroy_qp(lab, qp), RDL_OK);
    /* The device has executed it, the interrupt is on its way. */
    assert_int_equal(rdl_step(lab, RDL_STEP_TICK, none), RDL_OK);
    assert_int_equal(rdl_run(lab, rdl_now_ns(lab), none), RDL_OK);
    rdl_lab_free(lab);
}

static void the_clock_stops_before_it_overflows(void **state)
{
    struct testbed_config c = config(10);
    struct testbed r;
    uint64_t end;
    struct rdl_response rsp;
    rdl_pd pd;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER - 1, none), RDL_OK);
    end = rdl_now_ns(r.lab);
    assert_true(end < RDL_NEVER / 2);
    assert_int_equal(rdl_alloc_pd(r.lab, r.side[0].host, "late", &pd), RDL_OK);
    assert_int_equal(rdl_wait(r.lab, r.side[0].host, none, &rsp), RDL_ERR_TIMEOUT);
    assert_true(rdl_now_ns(r.lab) == end);
    testbed_done(&r);
}

static void no_two_things_of_a_lab_have_one_name(void **state)
{
    const struct testbed_config c = config(3);
    const struct rdl_host_config host = {.name = "f1"}, late = {.name = "mine"};
    struct rdl_fault_config fault = {
        .kind = FLT_DROP, .psn = 1, .dest_qpn = 1, .nth = 1, .count = 1};
    rdl_host h;
    rdl_fault f;
    uint64_t raw;
    struct testbed r;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &host, &h), RDL_OK);
    assert_int_equal(rdl_fault_add(r.lab, &fault, &f), RDL_OK); /* f1 is taken */
    assert_int_equal(rdl_find(r.lab, "f2", OBJ_FAULT, &raw), RDL_OK);
    assert_true(raw == f.raw);
    fault.name = "f1";
    assert_int_equal(rdl_fault_add(r.lab, &fault, &f), RDL_ERR_EXISTS);
    fault.name = "f.1";
    assert_int_equal(rdl_fault_add(r.lab, &fault, &f), RDL_ERR_INVAL);
    fault.name = "mine";
    assert_int_equal(rdl_fault_add(r.lab, &fault, &f), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &late, &h), RDL_ERR_EXISTS);
    testbed_done(&r);
}

static void a_fault_that_cannot_be_is_refused(void **state)
{
    const struct rdl_fault_config ok = {.kind = FLT_DROP,
                                        .opcode = RDL_ANY,
                                        .syndrome = RDL_ANY,
                                        .psn = RDL_ANY,
                                        .dest_qpn = RDL_ANY,
                                        .nth = 1,
                                        .count = 1};
    const struct testbed_config c = config(3);
    struct rdl_fault_config bad[11];
    struct rdl_fault_config gone = ok;
    rdl_fault f;
    struct testbed r;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        bad[i] = ok;
    bad[0].kind = FLT_CHANCE;
    bad[1].kind = FLT_BURST;
    bad[2].kind = FLT_REORDER; /* behind none */
    bad[3].kind = FLT_TRUNCATE;
    bad[4].kind = FLT_FORGE; /* no field */
    bad[5].kind = FLT_FORGE;
    bad[5].field = WF_ACKREQ;
    bad[5].value = 2;
    bad[6].kind = FLT_CORRUPT;
    bad[6].field = WF_OF_MAD(MAD_PART_COUNT, 0, 0); /* no structure */
    bad[7].packet_class = PKC_RNR_NAK + 1;
    bad[8].message = 1;    /* of no queue pair */
    bad[9].field = WF_PSN; /* of a fault that changes none */
    bad[10].cm = CM_APR + 1;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (rdl_fault_add(r.lab, &bad[i], &f) != RDL_ERR_INVAL)
            fail_msg("row %zu", i);
    }
    gone.to.raw = 77;
    assert_int_equal(rdl_fault_add(r.lab, &gone, &f), RDL_ERR_STALE);
    gone = ok;
    gone.link.raw = 77;
    assert_int_equal(rdl_fault_add(r.lab, &gone, &f), RDL_ERR_STALE);
    gone = ok;
    gone.qp.raw = 77;
    assert_int_equal(rdl_fault_add(r.lab, &gone, &f), RDL_ERR_STALE);
    assert_int_equal(rdl_fault_add(r.lab, &ok, &f), RDL_OK);
    testbed_done(&r);
}

/* "h1-h2" is a name too, of a link or of anything else, whichever comes first. */
static void nothing_else_is_called_like_a_link(void **state)
{
    const struct testbed_config c = config(3);
    const struct rdl_host_config like = {.name = "h1-h2"}, back = {.name = "h2-h1"};
    const struct rdl_link_config link = {.a = "h2-h1", .b = "s-t"};
    const struct rdl_link_config same = {.a = "h2-h1-s", .b = "t"}, two = {.a = "s-t", .b = "t"};
    const struct rdl_fault_config fault = {
        .name = "h2-h1-s-t", .kind = FLT_DROP, .nth = 1, .count = 1};
    struct testbed r;
    rdl_switch s;
    rdl_fault f;
    uint64_t raw;
    rdl_link l;
    rdl_host h;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &like, &h), RDL_ERR_EXISTS);
    assert_int_equal(rdl_host_add(r.lab, &back, &h), RDL_OK);
    assert_int_equal(rdl_switch_add(r.lab, "s-t", &s), RDL_OK);
    assert_int_equal(rdl_fault_add(r.lab, &fault, &f), RDL_OK);
    assert_int_equal(rdl_link_add(r.lab, &link, &l), RDL_ERR_EXISTS);
    assert_int_equal(rdl_fault_remove(r.lab, f), RDL_OK);
    assert_int_equal(rdl_link_add(r.lab, &link, &l), RDL_OK);
    assert_int_equal(rdl_find(r.lab, "h2-h1-s-t", OBJ_LINK, &raw), RDL_OK);
    assert_true(raw == l.raw);
    assert_int_equal(rdl_fault_add(r.lab, &fault, &f), RDL_ERR_EXISTS);
    assert_int_equal(rdl_switch_add(r.lab, "h2-h1-s", &s), RDL_OK);
    assert_int_equal(rdl_switch_add(r.lab, "t", &s), RDL_OK);
    assert_int_equal(rdl_link_add(r.lab, &same, &l), RDL_ERR_EXISTS);
    for (uint32_t i = 0; i < 2; i++) /* there may be several from switch to switch */
        assert_int_equal(rdl_link_add(r.lab, &two, &l), RDL_OK);
    testbed_done(&r);
}

/* It has no name, so it is not found under the empty one either. */
static void a_host_that_could_not_boot_is_not_there(void **state)
{
    const struct testbed_config c = config(3);
    const struct rdl_host_config small = {.name = "small", .ram_bytes = 65536, .max_qp = 16384};
    const struct rdl_link_config link = {.a = "", .b = "h1"};
    struct testbed r;
    rdl_link l;
    rdl_host h;

    (void)state;
    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &small, &h), RDL_ERR_NOMEM);
    assert_int_equal(rdl_find_host(r.lab, "small", &h), RDL_ERR_NOT_FOUND);
    assert_int_equal(rdl_find_host(r.lab, "", &h), RDL_ERR_NOT_FOUND);
    assert_int_equal(rdl_link_add(r.lab, &link, &l), RDL_ERR_NOT_FOUND);
    testbed_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_seeds_give_equal_hashes_and_others_do_not),
        cmocka_unit_test(two_labs_interleaved_give_the_hashes_they_give_alone),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(a_restored_checkpoint_goes_the_same_way_again),
        cmocka_unit_test(handles_go_stale_when_their_object_is_destroyed),
        cmocka_unit_test(a_limit_ends_a_run_that_would_not_end),
        cmocka_unit_test(a_failed_call_takes_no_number),
        cmocka_unit_test(both_functions_have_the_ethernets_mtu),
        cmocka_unit_test(a_device_has_from_1_to_16384_queues_of_a_kind),
        cmocka_unit_test(an_unknown_profile_is_refused),
        cmocka_unit_test(queue_pairs_are_made_and_destroyed_again_and_again),
        cmocka_unit_test(what_a_reset_gives_back_goes_without_completions),
        cmocka_unit_test(a_queue_without_an_owner_breaks_no_invariant),
        cmocka_unit_test(the_clock_stops_before_it_overflows),
        cmocka_unit_test(no_two_things_of_a_lab_have_one_name),
        cmocka_unit_test(a_fault_that_cannot_be_is_refused),
        cmocka_unit_test(nothing_else_is_called_like_a_link),
        cmocka_unit_test(a_host_that_could_not_boot_is_not_there),
    };

    return cmocka_run_group_tests_name("lab", tests, NULL, NULL);
}
