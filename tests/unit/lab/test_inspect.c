/* SPDX-License-Identifier: MIT */
/* The inspect tree: its values in a run, and errors in paths.  test_inspect_rows.c walks the whole
 * tree.
 */
#include "testing.h"

#include <string.h>

#include "emu/base/text.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "rdmalab/control.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "testbed/testbed.h"

static void make(struct testbed *r)
{
    const struct testbed_config c = {
        .seed = 1,
        .mr_bytes = 65536,
        .max_wr = 16,
        .path_mtu = MTU_1024,
        .sq_psn = {100, 0},
        .timeout = 4,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .latency_ns = 1000,
    };
    const struct rdl_limits none = {0};

    assert_int_equal(testbed_init(r, &c), RDL_OK);
    assert_int_equal(testbed_recv(r, 1, 7, 0, 1024), RDL_OK);
    assert_int_equal(testbed_send(r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(rdl_run(r->lab, RDL_NEVER, none), RDL_OK);
}

static void numbers_are_those_of_the_run(void **state)
{
    static const struct {
        const char *path;
        uint64_t number;
    } rows[] = {
        {"h1.qp.sq_psn", 101},
        {"h1.qp.acked_psn", 101},
        {"h2.qp.rq_psn", 101},
        {"h2.qp.msn", 1},
        {"h1.qp.state", QPS_RTS},
        {"h1.qp.qpn", 2},
        {"h2.qp.qpn", 3},
        {"h1.qp.sq.number", 19},
        {"h1.qp.rq.number", 20},
        {"h1.qp.sq.driver.avail_idx", 1},
        {"h1.qp.sq.device.used_idx", 1},
        {"h1.cq.wc[0].wr_id", 1},
        {"h2.cq.wc[0].byte_len", 64},
        {"h1.cq.count", 1},
        {"h1.port.sent_frames", 1},
        {"h2.port.rcvd_frames", 1},
        {"h1.port.drops.bad_icrc", 0},
        {"h1.qp.counters.sent_pkts", 1},
        {"h1-h2.latency", 1000},
        {"h1.device.num_queues", 56},
    };
    struct testbed r;

    (void)state;
    make(&r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rdl_value v;
        size_t at;

        assert_int_equal(rdl_inspect(r.lab, rows[i].path, &v, &at), RDL_OK);
        if (v.number != rows[i].number)
            fail_msg("%s is %llu", rows[i].path, (unsigned long long)v.number);
    }
    testbed_done(&r);
}

static void note_key(void *ctx, const char *key, const struct rdl_value *v)
{
    struct text *t = ctx;

    (void)v;
    text_addf(t, "%s ", key);
}

static void a_host_lists_its_own_objects_only(void **state)
{
    char buf[512];
    struct text t = text_on(buf, sizeof(buf));
    struct testbed r;
    rdl_pd pd;
    size_t at;

    (void)state;
    make(&r);
    assert_int_equal(rdl_alloc_pd(r.lab, r.side[1].host, "elsewhere", &pd), RDL_OK);
    assert_int_equal(rdl_inspect_list(r.lab, "h1", note_key, &t, &at), RDL_OK);
    assert_false(t.cut);
    assert_non_null(strstr(buf, " pd mr cq qp "));
    assert_null(strstr(buf, "elsewhere"));
    t = text_on(buf, sizeof(buf));
    assert_int_equal(rdl_inspect_list(r.lab, "h2", note_key, &t, &at), RDL_OK);
    assert_non_null(strstr(buf, " pd elsewhere mr cq qp "));
    t = text_on(buf, sizeof(buf));
    assert_int_equal(rdl_inspect_list(r.lab, "h1.gid", note_key, &t, &at), RDL_OK);
    assert_string_equal(buf, "[0] [1] "); /* up to the last in use */
    testbed_done(&r);
}

static void a_wrong_path_says_where(void **state)
{
    static const struct {
        const char *path;
        size_t at;
    } rows[] = {{"h3", 0},          {"h1.nope", 3},   {"h1.qp.psn", 6},   {"h1.qp.sq.size.x", 14},
                {"h1.cq.wc[1]", 8}, {"h1.cq.wc[", 8}, {"h1.cq.wc[x]", 8}, {"h1.", 2},
                {"h1..qp", 3},      {".", 0},         {"h1.qp[0]", 5},    {"[0]", 0},
                {"h1.gid[99]", 6}};
    struct testbed r;

    (void)state;
    make(&r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rdl_value v;
        size_t at = 999;

        if (rdl_inspect(r.lab, rows[i].path, &v, &at) != RDL_ERR_NOT_FOUND || at != rows[i].at)
            fail_msg("%s: at %zu", rows[i].path, at);
    }
    testbed_done(&r);
}

static void objects_are_found_by_name_and_kind(void **state)
{
    struct testbed r;
    uint64_t raw;
    char path[RDL_VALUE_BYTES];

    (void)state;
    make(&r);
    assert_int_equal(rdl_find(r.lab, "h1.qp", OBJ_QP, &raw), RDL_OK);
    assert_int_equal(raw, r.side[0].qp.raw);
    assert_int_equal(rdl_find(r.lab, "h1.qp", OBJ_CQ, &raw), RDL_ERR_INVAL);
    assert_int_equal(rdl_find(r.lab, "h1.zz", OBJ_CQ, &raw), RDL_ERR_NOT_FOUND);
    rdl_path_of(r.lab, OBJ_MR, r.side[1].mr.raw, path);
    assert_string_equal(path, "h2.mr");
    rdl_path_of(r.lab, OBJ_MR, 12345, path);
    assert_string_equal(path, "?");
    testbed_done(&r);
}

/* Without a name of its own a fault is called after its number, and after no other's name. */
static void no_two_faults_have_one_name(void **state)
{
    static const char *const names[] = {"f2", "f4", NULL, "", NULL};
    static const char *const called[] = {"f2", "f4", "f3", "f5", "f6"};
    struct rdl_fault_config c = {.kind = FLT_DROP, .opcode = RDL_ANY, .nth = 1, .count = 1};
    rdl_fault f = {0};
    uint64_t raw = 0;
    struct testbed r;

    (void)state;
    make(&r);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        c.name = names[i];
        assert_int_equal(rdl_fault_add(r.lab, &c, &f), RDL_OK);
        assert_int_equal(rdl_find(r.lab, called[i], OBJ_FAULT, &raw), RDL_OK);
        assert_int_equal(raw, f.raw);
    }
    c.name = "f5";
    assert_int_equal(rdl_fault_add(r.lab, &c, &f), RDL_ERR_EXISTS);
    c.name = "f8";
    assert_int_equal(rdl_fault_add(r.lab, &c, &f), RDL_OK);
    c.name = "f7";
    assert_int_equal(rdl_fault_add(r.lab, &c, &f), RDL_OK);
    c.name = NULL;
    assert_int_equal(rdl_fault_add(r.lab, &c, &f), RDL_OK);
    assert_int_equal(rdl_find(r.lab, "f9", OBJ_FAULT, &raw), RDL_OK);
    assert_int_equal(raw, f.raw);
    testbed_done(&r);
}

static uint64_t number_at(const struct testbed *r, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(r->lab, path, &v, &at), RDL_OK);
    return v.number;
}

/* What is due is told while it is, and so is an RNR NAK that is out. */
static void a_wait_for_a_receive_is_told_until_it_ends(void **state)
{
    const struct rdl_limits none = {0};
    struct testbed r;

    (void)state;
    make(&r);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(number_at(&r, "h1.qp.rnr_due"), 0);
    assert_int_equal(rdl_run(r.lab, rdl_now_ns(r.lab) + 20000, none), RDL_OK);
    assert_int_equal(number_at(&r, "h1.qp.rnr_wait"), 1);
    assert_true(number_at(&r, "h1.qp.rnr_due") > rdl_now_ns(r.lab));
    assert_int_equal(number_at(&r, "h2.qp.nak_outstanding"), 1);
    assert_int_equal(testbed_recv(&r, 1, 8, 0, 1024), RDL_OK);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(number_at(&r, "h1.qp.rnr_wait"), 0);
    assert_int_equal(number_at(&r, "h1.qp.rnr_due"), 0);
    assert_int_equal(number_at(&r, "h2.qp.nak_outstanding"), 0);
    testbed_done(&r);
}

static void collect(void *ctx, const struct rdl_wait *w)
{
    struct text *t = ctx;

    text_addf(t, "[%s%s] %s\n", w->path, w->held_back ? " held back" : "", w->sentence);
}

static void waiting_is_told_in_words(void **state)
{
    const struct rdl_limits none = {0};
    char buf[1000];
    struct text t = text_on(buf, sizeof(buf));
    struct testbed r;

    (void)state;
    make(&r);
    rdl_waits(r.lab, collect, &t);
    assert_string_equal(buf, "");
    assert_int_equal(testbed_recv(&r, 1, 8, 0, 1024), RDL_OK);
    rdl_waits(r.lab, collect, &t);
    assert_string_equal(buf, "[h2.qp] h2.qp: 1 posted receive waits for a message\n");

    /* What has had its message waits no more, although the driver has not looked. */
    assert_int_equal(testbed_recv(&r, 1, 9, 0, 1024), RDL_OK);
    assert_int_equal(testbed_recv(&r, 1, 10, 0, 1024), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    t = text_on(buf, sizeof(buf));
    rdl_waits(r.lab, collect, &t);
    assert_string_equal(buf, "[h2.qp] h2.qp: 2 posted receives wait for a message\n");
    testbed_done(&r);
}

struct due_seen {
    uint64_t first_ns, last_ns;
    uint64_t n, frames;
};

static void see_due(void *ctx, const struct rdl_due *due)
{
    struct due_seen *seen = ctx;

    assert_true(due->what[0] != '\0');
    assert_true(seen->n == 0 || due->at_ns >= seen->last_ns);
    if (seen->n++ == 0)
        seen->first_ns = due->at_ns;
    seen->last_ns = due->at_ns;
    seen->frames += due->is_frame;
}

static void what_is_due_happens_then(void **state)
{
    const struct rdl_limits none = {0};
    uint64_t n_frames = 0;
    struct testbed r;

    (void)state;
    make(&r);
    assert_int_equal(testbed_recv(&r, 1, 9, 0, 1024), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    for (;;) {
        struct due_seen seen = {0};
        const struct rdl_due_counts counts = rdl_due(r.lab, RDL_DUE_MAX, see_due, &seen);
        const uint64_t tick = rdl_tick(r.lab);

        assert_int_equal(counts.all, seen.n);
        assert_int_equal(counts.frames, seen.frames);
        n_frames += seen.frames;
        if (seen.n == 0)
            break;
        assert_int_equal(rdl_run(r.lab, seen.first_ns, none), RDL_OK);
        assert_int_equal(rdl_now_ns(r.lab), seen.first_ns);
        assert_true(rdl_tick(r.lab) > tick);
    }
    assert_true(n_frames > 0);
    testbed_done(&r);
}

static void note_due(void *ctx, const struct rdl_due *due)
{
    text_add(ctx, due->what);
}

static void an_interrupt_of_no_queue_is_not_called_one(void **state)
{
    static const struct {
        bool intx;
        const char *what;
    } rows[] = {
        {false, "h1: an interrupt of the device"},
        {true, "h1: INTx rises"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
        const struct rdl_host_config host = {.name = "h1", .intx = rows[i].intx};
        const struct rdl_device_limits limits = {.max_mr = 16};
        char buf[256];
        struct text t = text_on(buf, sizeof(buf));
        struct rdl_lab *lab;
        rdl_host h;

        assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
        assert_int_equal(rdl_host_add(lab, &host, &h), RDL_OK);
        assert_int_equal(rdl_host_limit(lab, h, &limits), RDL_OK);
        rdl_due(lab, RDL_DUE_MAX, note_due, &t);
        assert_string_equal(buf, rows[i].what);
        rdl_lab_free(lab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_run),
        cmocka_unit_test(a_host_lists_its_own_objects_only),
        cmocka_unit_test(a_wrong_path_says_where),
        cmocka_unit_test(objects_are_found_by_name_and_kind),
        cmocka_unit_test(no_two_faults_have_one_name),
        cmocka_unit_test(a_wait_for_a_receive_is_told_until_it_ends),
        cmocka_unit_test(waiting_is_told_in_words),
        cmocka_unit_test(what_is_due_happens_then),
        cmocka_unit_test(an_interrupt_of_no_queue_is_not_called_one),
    };

    return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
