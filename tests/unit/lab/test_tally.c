/* SPDX-License-Identifier: MIT */
/* Tallies agree with the record while it is complete, and keep counting when it is not. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/trace/event.h"
#include "emu/trace/filter.h"
#include "rdmalab/inspect.h"
#include "testbed/testbed.h"

#define MESSAGES 30u
#define BYTES    3000u

static const struct rdl_limits none = {0};

static struct testbed start(size_t events_max)
{
    const struct testbed_config c = {
        .seed = 3,
        .record = true,
        .mr_bytes = MESSAGES * BYTES,
        .max_wr = MESSAGES,
        .path_mtu = MTU_1024,
        .timeout = 6,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .latency_ns = 1000,
        .loss_ppm = 30000,
    };
    struct testbed r;

    assert_int_equal(testbed_init(&r, &c), RDL_OK);
    if (events_max)
        rdl_record_bound(r.lab, events_max, 0);
    return r;
}

static void exchange(struct testbed *r)
{
    for (uint32_t i = 0; i < MESSAGES; i++) {
        assert_int_equal(testbed_recv(r, 1, i, (uint64_t)i * BYTES, BYTES), RDL_OK);
        assert_int_equal(testbed_send(r, 0, i, (uint64_t)i * BYTES, BYTES, SF_SIGNALED), RDL_OK);
    }
    assert_int_equal(rdl_run(r->lab, RDL_NEVER, none), RDL_OK);
}

/* KIND with FIELD == NUMBER, or a text. */
static struct ev_condition is(enum ev_kind kind, const char *field, uint64_t number,
                              const char *text)
{
    struct ev_condition c = {.field = ev_field_find(kind, field), .op = CMP_EQ, .number = number};

    assert_non_null(c.field);
    memcpy(c.text, text, strlen(text));
    return c;
}

static struct rdl_tally *tally(struct testbed *r, enum ev_kind kind, struct ev_condition *c,
                               size_t n)
{
    const struct ev_filter filter = {kind, n, c};
    struct rdl_tally *t = NULL;
    uint64_t forgotten;

    assert_int_equal(rdl_tally(r->lab, &filter, &t, &forgotten), RDL_OK);
    return t;
}

static uint64_t count(const struct rdl_tally *t)
{
    const struct ev_condition *unknown;
    uint64_t n = 0;

    assert_int_equal(rdl_tally_count(t, &n, &unknown), RDL_OK);
    return n;
}

/* What a look at the record says. */
static uint64_t recorded(const struct testbed *r, const struct rdl_tally *t)
{
    uint64_t n = 0;

    for (size_t i = 0; i < rdl_record_count(r->lab); i++)
        n += ev_filter_holds(rdl_tally_filter(t), rdl_record_at(r->lab, i));
    return n;
}

static void early_and_late_tallies_agree_with_the_record(void **state)
{
    struct ev_condition from_h1 = is(EV_tx, "host", 0, "h1");
    struct ev_condition to_rts = is(EV_qp_state, "to", QPS_RTS, "");
    struct ev_condition chance = is(EV_lost, "name", 0, "chance");
    struct testbed r = start(0);
    const struct rdl_tally *early = tally(&r, EV_tx, &from_h1, 1);
    const struct rdl_tally *states = tally(&r, EV_qp_state, &to_rts, 1), *late;

    (void)state;
    assert_true(count(states) == 2);
    exchange(&r);
    late = tally(&r, EV_lost, &chance, 1);
    assert_true(count(late) > 0 && count(late) == recorded(&r, late));
    assert_true(count(late) == rdl_total(r.lab, EV_lost));
    assert_true(count(early) > MESSAGES && count(early) == recorded(&r, early));
    assert_ptr_equal(tally(&r, EV_tx, &from_h1, 1), early);
    testbed_done(&r);
}

static void a_tally_goes_on_where_the_record_forgets(void **state)
{
    struct ev_condition from_h1 = is(EV_tx, "host", 0, "h1");
    struct ev_condition from_h2 = is(EV_tx, "host", 0, "h2");
    const struct ev_filter late = {EV_tx, 1, &from_h2};
    struct testbed r = start(1024);
    const struct rdl_tally *t = tally(&r, EV_tx, &from_h1, 1);
    struct rdl_tally *refused = NULL;
    uint64_t forgotten = 0, before;

    (void)state;
    exchange(&r);
    assert_true(rdl_record_forgotten(r.lab) > 0);
    assert_true(count(t) > recorded(&r, t));
    assert_int_equal(rdl_tally(r.lab, &late, &refused, &forgotten), RDL_ERR_FORGOTTEN);
    assert_null(refused);
    assert_true(forgotten > 0 && forgotten < rdl_total(r.lab, EV_tx));
    rdl_record_pause(r.lab);
    before = count(t);
    exchange(&r);
    assert_true(count(t) > before);
    testbed_done(&r);
}

static void a_checkpoint_brings_counts_back(void **state)
{
    struct ev_condition from_h1 = is(EV_tx, "host", 0, "h1");
    struct ev_condition from_h2 = is(EV_tx, "host", 0, "h2");
    struct testbed r = start(0);
    const struct rdl_tally *t = tally(&r, EV_tx, &from_h1, 1), *later;
    struct rdl_checkpoint *c = NULL;
    uint64_t middle, end, total;

    (void)state;
    exchange(&r);
    middle = count(t);
    assert_int_equal(rdl_checkpoint_save(r.lab, &c), RDL_OK);
    exchange(&r);
    end = count(t);
    total = rdl_total(r.lab, EV_tx);
    later = tally(&r, EV_tx, &from_h2, 1);
    assert_true(end > middle && count(later) == total - end);
    rdl_checkpoint_restore(r.lab, c);
    assert_true(count(t) == middle && rdl_total(r.lab, EV_tx) < total);
    assert_true(count(later) == rdl_total(r.lab, EV_tx) - middle);
    exchange(&r);
    assert_true(count(t) == end && rdl_total(r.lab, EV_tx) == total);
    assert_true(count(later) == total - end);
    rdl_checkpoint_free(c);
    testbed_done(&r);
}

/* Going back beyond the beginning of a tally needs the record. */
static void what_nobody_can_count_any_more_is_refused(void **state)
{
    struct ev_condition from_h1 = is(EV_tx, "host", 0, "h1");
    struct testbed r = start(0);
    const struct rdl_tally *t;
    const struct ev_condition *unknown;
    struct rdl_checkpoint *c = NULL, *counted = NULL;
    uint64_t n = 77, then;

    (void)state;
    exchange(&r);
    assert_int_equal(rdl_checkpoint_save(r.lab, &c), RDL_OK);
    t = tally(&r, EV_tx, &from_h1, 1);
    then = count(t);
    assert_int_equal(rdl_checkpoint_save(r.lab, &counted), RDL_OK);
    rdl_record_bound(r.lab, 1024, 0);
    rdl_checkpoint_restore(r.lab, c);
    assert_int_equal(rdl_tally_count(t, &n, &unknown), RDL_ERR_FORGOTTEN);
    assert_true(n == 77);
    rdl_checkpoint_restore(r.lab, counted); /* what was counted by then is known again */
    assert_true(count(t) == then);
    rdl_checkpoint_free(counted);
    rdl_checkpoint_free(c);
    testbed_done(&r);
}

/* The host's events while it boots come before the event that tells its name. */
static void a_host_is_resolved_when_it_exists(void **state)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config h9 = {.name = "h9"};
    struct testbed r = {0};
    struct ev_condition of_h9 = is(EV_reg_write, "host", 0, "h9");
    const struct ev_condition *unknown = NULL;
    struct rdl_checkpoint *c = NULL;
    const struct rdl_tally *t;
    uint64_t n = 0;
    rdl_host host;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &r.lab), RDL_OK);
    t = tally(&r, EV_reg_write, &of_h9, 1);
    assert_int_equal(rdl_tally_count(t, &n, &unknown), RDL_ERR_NOT_FOUND);
    assert_string_equal(unknown->text, "h9");
    assert_int_equal(rdl_checkpoint_save(r.lab, &c), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &h9, &host), RDL_OK);
    assert_true(count(t) > 0 && count(t) == rdl_total(r.lab, EV_reg_write));
    rdl_checkpoint_restore(r.lab, c);
    assert_int_equal(rdl_tally_count(t, &n, &unknown), RDL_ERR_NOT_FOUND);
    rdl_checkpoint_free(c);
    testbed_done(&r);
}

/* Not even one that is of no host at all. */
static void no_event_is_of_a_host_that_is_not_known(void **state)
{
    struct ev_condition to_h9 = is(EV_tx, "peer", EV_HOST_NONE, "h9");
    const struct ev_filter filter = {EV_tx, 1, &to_h9};
    const struct ev events[] = {{.kind = EV_tx, .u.tx = {.peer = 0}},
                                {.kind = EV_tx, .u.tx = {.peer = EV_HOST_NONE}}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        to_h9.known = false;
        to_h9.op = CMP_EQ;
        assert_false(ev_filter_holds(&filter, &events[i]));
        to_h9.op = CMP_NE;
        /* What is of no host is not of another one. */
        assert_true(ev_filter_holds(&filter, &events[i]) == (i == 0));
    }
}

/* What a host does that cannot boot is not what the next one does. */
static void a_failed_boot_is_nobody_elses(void **state)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config small = {.name = "h1", .ram_bytes = 64u << 10};
    const struct rdl_host_config whole = {.name = "h1"};
    struct testbed r = {0};
    struct ev_condition of_h1 = is(EV_reg_write, "host", 0, "h1");
    uint64_t of_small;
    const struct rdl_tally *late;
    rdl_host host;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &r.lab), RDL_OK);
    assert_int_equal(rdl_record(r.lab, 0, 0), RDL_OK);
    assert_int_equal(rdl_host_add(r.lab, &small, &host), RDL_ERR_NOMEM);
    assert_int_equal(rdl_find_host(r.lab, "h1", &host), RDL_ERR_NOT_FOUND);
    of_small = rdl_total(r.lab, EV_reg_write);
    assert_true(of_small > 0);
    assert_int_equal(rdl_host_add(r.lab, &whole, &host), RDL_OK);
    assert_int_equal(rdl_find_host(r.lab, "h1", &host), RDL_OK);
    of_h1.op = CMP_NE;
    late = tally(&r, EV_reg_write, &of_h1, 1);
    assert_true(count(late) == of_small);
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, none), RDL_OK);
    testbed_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_and_late_tallies_agree_with_the_record),
        cmocka_unit_test(a_tally_goes_on_where_the_record_forgets),
        cmocka_unit_test(a_checkpoint_brings_counts_back),
        cmocka_unit_test(what_nobody_can_count_any_more_is_refused),
        cmocka_unit_test(a_failed_boot_is_nobody_elses),
        cmocka_unit_test(a_host_is_resolved_when_it_exists),
        cmocka_unit_test(no_event_is_of_a_host_that_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
