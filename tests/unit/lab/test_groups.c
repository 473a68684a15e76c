/* SPDX-License-Identifier: MIT */
/* The multicast membership reports of hosts on the wire, byte for byte as Scapy builds them.  The
 * vectors are from a station with h1's addresses.
 */
#include "lab/strangers.h"

#include "emu/facts/enum/frame_kind.h"
#include "wire/group_vectors.h"

#define SECOND 1000000000u

/* The two groups of the vectors, and another one. */
static const char *const groups[] = {"239.129.2.3", "ff0e::1:2:3"};
static const char *const others[] = {"239.1.1.1", "ff0e::9"};

static void member(struct strangers *s, uint32_t host, const char *group, bool joins)
{
    struct guest_net *net = &lab_of(s, host)->guest.net;
    uint8_t gid[GID_BYTES];

    assert_true(addr_parse(group, gid));
    lab_act(s->lab->state);
    (joins ? guest_group_join : guest_group_leave)(net, gid);
    lab_done(s->lab->state);
}

/* The @i-th frame that went out is h1's report about @group. */
static void check_report(const struct strangers *s, uint64_t i, const char *group,
                         enum group_record record)
{
    uint8_t want[STRANGERS_BYTES];
    const struct out_frame *f = &s->out[i];

    assert_true(i < s->n_out);
    for (size_t k = 0; k < ARRAY_LEN(reports); k++) {
        if (reports[k].record != record || strcmp(reports[k].group, group) != 0 ||
            strcmp(reports[k].src, "::") == 0)
            continue;
        assert_int_equal(f->n, frame_of(reports[k].digits, want));
        assert_memory_equal(f->bytes, want, f->n);
        return;
    }
    fail_msg("there is no such vector");
}

static void the_first_joins_and_the_last_leaves(void **state)
{
    struct strangers *s = *state;
    uint64_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        member(s, 0, groups[i], true);
        member(s, 0, groups[i], true); /* a second member is nobody's business */
        go(s);
        assert_int_equal(s->n_out, n + 2);
        check_report(s, n++, groups[i], GROUP_TO_EXCLUDE);
        check_report(s, n++, groups[i], GROUP_TO_EXCLUDE);
        member(s, 0, groups[i], false);
        go(s);
        assert_int_equal(s->n_out, n);
        member(s, 0, groups[i], false);
        go(s);
        assert_int_equal(s->n_out, n + 2);
        check_report(s, n++, groups[i], GROUP_TO_INCLUDE);
        check_report(s, n++, groups[i], GROUP_TO_INCLUDE);
        member(s, 0, groups[i], false); /* who is not in it cannot leave */
        go(s);
        assert_int_equal(s->n_out, n);
    }
    assert_int_equal(events_of(s, EV_eth_tx, FRAME_GROUP_REPORT), n);
}

static void a_report_is_repeated_after_a_second_unless_things_change(void **state)
{
    struct strangers *s = *state;

    member(s, 0, groups[0], true);
    assert_int_equal(rdl_run(s->lab, SECOND / 2, no_limits), RDL_OK);
    assert_int_equal(s->n_out, 1);
    member(s, 0, groups[0], false);
    go(s);
    assert_int_equal(s->n_out, 3);
    check_report(s, 0, groups[0], GROUP_TO_EXCLUDE);
    check_report(s, 1, groups[0], GROUP_TO_INCLUDE);
    check_report(s, 2, groups[0], GROUP_TO_INCLUDE);
    assert_in_range(rdl_now_ns(s->lab), SECOND + SECOND / 2, 2 * (uint64_t)SECOND);
}

/* Returns true if a query for @asked ("": for any group) asks about @group. */
static bool is_asked(const char *group, const char *asked, bool ipv4)
{
    return (strchr(group, ':') == NULL) == ipv4 && (!asked[0] || strcmp(group, asked) == 0);
}

static void a_query_is_answered_in_time_for_each_group(void **state)
{
    struct strangers *s = *state;
    uint64_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        member(s, 0, groups[i], true);
        member(s, 0, others[i], true);
        n += 4;
    }
    go(s);
    assert_int_equal(s->n_out, n);
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[STRANGERS_BYTES];
        const size_t bytes = frame_of(queries[i].digits, frame);
        const bool ipv4 = frame[12] == 0x08;
        const uint64_t from = rdl_now_ns(s->lab);
        bool found = false;

        s->n_out = 0;
        receive(s, frame, bytes);
        go(s);
        assert_true(rdl_now_ns(s->lab) < from + queries[i].ms * UINT64_C(1000000) + 100000);
        assert_int_equal(s->n_out, queries[i].group[0] ? 1 : 2); /* the other one, too */
        for (size_t k = 0; k < ARRAY_LEN(groups); k++) {
            for (uint64_t f = 0; is_asked(groups[k], queries[i].group, ipv4) && f < s->n_out; f++) {
                uint8_t want[STRANGERS_BYTES];
                const size_t at = k == 0 ? 0 : 1; /* IS_EXCLUDE of IPv4, of IPv6: rows 0 and 1 */

                assert_int_equal(reports[at].record, GROUP_IS_EXCLUDE);
                found |= frame_of(reports[at].digits, want) == s->out[f].n &&
                         memcmp(want, s->out[f].bytes, s->out[f].n) == 0;
            }
        }
        assert_true(found);
    }
}

static void who_is_in_no_group_does_not_answer(void **state)
{
    struct strangers *s = *state;

    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        uint8_t frame[STRANGERS_BYTES];

        receive(s, frame, frame_of(queries[i].digits, frame));
        go(s);
    }
    assert_int_equal(s->n_out, 0);
}

static void of_groups_that_everybody_is_in_nothing_is_said(void **state)
{
    static const char *const silent[] = {"224.0.0.1", "ff02::1", "ff01::5"};
    struct strangers *s = *state;

    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        member(s, 0, silent[i], true);
    go(s);
    assert_int_equal(s->n_out, 0);
}

static void without_a_link_nobody_is_told(void **state)
{
    const struct rdl_host_config c = {.name = "h3"};
    struct strangers *s = *state;
    uint8_t gid[GID_BYTES];
    rdl_host h;

    assert_int_equal(rdl_host_add(s->lab, &c, &h), RDL_OK);
    assert_true(addr_parse(groups[0], gid));
    lab_act(s->lab->state);
    guest_group_join(&lab_host(s->lab->state, h.raw)->guest.net, gid);
    lab_done(s->lab->state);
    go(s);
    assert_int_equal(events_of(s, EV_eth_tx, RDL_ANY), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, without_arp, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(the_first_joins_and_the_last_leaves),
        T(a_report_is_repeated_after_a_second_unless_things_change),
        T(a_query_is_answered_in_time_for_each_group),
        T(who_is_in_no_group_does_not_answer),
        T(of_groups_that_everybody_is_in_nothing_is_said),
        T(without_a_link_nobody_is_told),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
