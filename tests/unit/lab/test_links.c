/* SPDX-License-Identifier: MIT */
/* Links that go down: where the frames on them end, and the reason that is counted. */
#include "emu/facts/enum/async_event.h"
#include "strangers.h"

static rdl_link link_of(const struct strangers *s, const char *node)
{
    rdl_link link = {0};

    assert_int_equal(rdl_link_find(s->lab, node, "sw", &link), RDL_OK);
    return link;
}

static void pull(const struct strangers *s, const char *node, bool up)
{
    assert_int_equal(rdl_link_raise(s->lab, link_of(s, node), up), RDL_OK);
}

/* Pings 10.0.0.2 from h1.  How it ended. */
static enum rdl_status ping_h2(struct strangers *s)
{
    uint8_t h2[GID_BYTES], mac[MAC_BYTES];
    uint64_t rtt;

    assert_int_equal(rdl_host_address(s->lab, s->host[1], 0, h2, mac), RDL_OK);
    return ping(s, 0, h2, 8, &rtt);
}

static void a_frame_ends_where_it_cannot_leave(void **state)
{
    struct strangers *s = *state;
    const struct net *net = &s->lab->state->net;

    assert_int_equal(ping_h2(s), RDL_OK);
    pull(s, "h2", false);
    assert_int_not_equal(ping_h2(s), RDL_OK);
    assert_int_equal(net->switches[0]->drops[DROP_NO_ROUTE], 1);
    pull(s, "h1", false);
    assert_int_not_equal(ping_h2(s), RDL_OK);
    assert_int_equal(lab_of(s, 0)->port.tx_drops[DROP_NO_ROUTE], 1);
    pull(s, "h1", true);
    pull(s, "h2", true);
    assert_int_equal(ping_h2(s), RDL_OK);
}

static void an_external_port_can_be_cut_off(void **state)
{
    static const uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9};
    struct strangers *s = *state;
    const struct net *net = &s->lab->state->net;

    pull(s, "out", false);
    receive(s, frame, sizeof(frame));
    go(s);
    assert_int_equal(net->exts[0].drops[DROP_NO_ROUTE], 1);
    assert_int_equal(net->switches[0]->rcvd_frames, 0);
}

/* What is on its way when the plug is pulled arrives. */
static void what_is_under_way_arrives(void **state)
{
    struct strangers *s = *state;
    static const uint8_t frame[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9};

    receive(s, frame, sizeof(frame));
    pull(s, "out", false);
    go(s);
    assert_int_equal(s->lab->state->net.switches[0]->rcvd_frames, 1);
}

static void ports_tell_each_change_once(void **state)
{
    static const enum async_event told[] = {ASE_PORT_ACTIVE, ASE_PORT_ERR, ASE_PORT_ACTIVE};
    struct strangers *s = *state;
    struct rdl_async_event e;
    size_t n;

    pull(s, "h1", true); /* it is up already */
    pull(s, "h1", false);
    pull(s, "h1", false);
    pull(s, "h1", true);
    go(s);
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        assert_int_equal(rdl_get_async_event(s->lab, s->host[0], &e, &n), RDL_OK);
        assert_int_equal(n, 1);
        assert_int_equal(e.type, told[i]);
    }
    assert_int_equal(rdl_get_async_event(s->lab, s->host[0], &e, &n), RDL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(rdl_link_raise(s->lab, (rdl_link){99}, true), RDL_ERR_STALE);
}

#define T(f) cmocka_unit_test_setup_teardown(f, without_arp, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_frame_ends_where_it_cannot_leave),
        T(an_external_port_can_be_cut_off),
        T(what_is_under_way_arrives),
        T(ports_tell_each_change_once),
    };

    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
