/* SPDX-License-Identifier: MIT */
/* Address handles: objects of the driver only, which wait for a neighbour's MAC. */
#include "fake_driver.h"
#include "guest/program.h"

static const uint8_t other_gid[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 8};
static const uint8_t peer_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 9};

static struct rdl_ah_attr vector(void)
{
    struct rdl_ah_attr a = {.hop_limit = 64, .port = 1};

    memcpy(a.dgid, peer_gid, GID_BYTES);
    return a;
}

static struct guest_ah *ah_at(struct fake *f, uint64_t handle)
{
    return (struct guest_ah *)verbs_get(&f->verbs, OBJ_AH, handle);
}

static void a_known_neighbour_needs_no_time_and_no_request(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    const uint32_t n = f->n_requests;
    const struct rdl_ah_attr a = vector();
    struct rdl_response rsp;
    uint64_t h[2];

    memcpy(f->mac, peer_mac, MAC_BYTES);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(verbs_create_ah(pd, &a, NULL, &h[i]), RDL_OK);
        assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
        assert_memory_equal(ah_at(f, h[i])->attr.dmac, peer_mac, MAC_BYTES);
        assert_int_equal(ah_at(f, h[i])->o.life, GUEST_LIVE);
    }
    assert_string_equal(ah_at(f, h[1])->o.name, "ah2");
    assert_int_equal(f->n_requests, n);
    assert_int_equal(pd->o.n_users, 2);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_ERR_BUSY);
    assert_int_equal(verbs_destroy_ah(ah_at(f, h[0])), RDL_OK);
    assert_null(ah_at(f, h[0]));
    assert_int_equal(verbs_destroy_ah(ah_at(f, h[1])), RDL_OK);
    assert_int_equal(f->events[EV_gone], 2);
    assert_int_equal(f->n_requests, n);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
}

static void a_handle_waits_for_its_neighbour_alone(void **state)
{
    struct fake *f = *state;
    struct verbs *v = &f->verbs;
    struct guest_pd *pd = new_pd(&f->verbs);
    const struct rdl_ah_attr a = vector();
    struct rdl_response rsp;
    uint64_t h;

    f->neighbour = RDL_ERR_BUSY;
    assert_null(verbs_waits_for(v));
    assert_int_equal(verbs_create_ah(pd, &a, "ah", &h), RDL_OK);
    assert_int_equal(verbs_answer(v, &rsp), RDL_ERR_BUSY);
    assert_memory_equal(verbs_waits_for(v), peer_gid, GID_BYTES);
    assert_int_equal(verbs_destroy_ah(ah_at(f, h)), RDL_ERR_BUSY);
    assert_int_equal(verbs_alloc_pd(v, NULL, &(uint64_t){0}), RDL_ERR_BUSY);
    verbs_resolved(v, other_gid, peer_mac);
    assert_int_equal(verbs_answer(v, &rsp), RDL_ERR_BUSY);
    verbs_resolved(v, peer_gid, peer_mac);
    assert_int_equal(verbs_answer(v, &rsp), RDL_OK);
    assert_null(verbs_waits_for(v));
    assert_memory_equal(ah_at(f, h)->attr.dmac, peer_mac, MAC_BYTES);
    assert_string_equal(ah_at(f, h)->o.name, "ah");
}

static void nobody_answers_and_the_handle_was_never_there(void **state)
{
    struct fake *f = *state;
    struct verbs *v = &f->verbs;
    struct guest_pd *pd = new_pd(&f->verbs);
    const struct rdl_ah_attr a = vector();
    struct rdl_response rsp;
    uint64_t h = 0;

    f->neighbour = RDL_ERR_NO_ROUTE; /* nobody can be asked */
    assert_int_equal(verbs_create_ah(pd, &a, "ah", &h), RDL_ERR_NO_ROUTE);
    f->neighbour = RDL_ERR_BUSY;
    assert_int_equal(verbs_create_ah(pd, &a, "ah", &h), RDL_OK);
    verbs_resolved(v, peer_gid, NULL);
    assert_int_equal(verbs_answer(v, &rsp), RDL_ERR_NO_ROUTE);
    assert_null(ah_at(f, h));
    assert_null(verbs_find(v, "ah"));
    assert_int_equal(pd->o.n_users, 0);
    f->neighbour = RDL_OK;
    assert_int_equal(verbs_create_ah(pd, &a, "ah", &h), RDL_OK);
    assert_int_equal(verbs_answer(v, &rsp), RDL_OK);
}

static void a_group_and_a_given_mac_ask_nobody(void **state)
{
    static const uint8_t group[GID_BYTES] = {[10] = 0xff, 0xff, 239, 129, 2, 3};
    static const uint8_t group_mac[MAC_BYTES] = {0x01, 0x00, 0x5e, 1, 2, 3};
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct rdl_ah_attr a = vector();
    uint64_t h;

    f->neighbour = RDL_ERR_NO_ROUTE;
    memcpy(a.dmac, peer_mac, MAC_BYTES);
    assert_int_equal(verbs_create_ah(pd, &a, NULL, &h), RDL_OK);
    assert_memory_equal(ah_at(f, h)->attr.dmac, peer_mac, MAC_BYTES);
    a = vector();
    memcpy(a.dgid, group, GID_BYTES);
    assert_int_equal(verbs_create_ah(pd, &a, NULL, &h), RDL_OK);
    assert_memory_equal(ah_at(f, h)->attr.dmac, group_mac, MAC_BYTES);
}

static void values_out_of_range_are_refused(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t h;

    for (unsigned i = 0; i < 7; i++) {
        struct rdl_ah_attr a = vector();

        switch (i) {
        case 0:
            a.sl = 8;
            break;
        case 1:
            a.flow_label = 0x100000;
            break;
        case 2:
            a.port = 0;
            break;
        case 3:
            a.port = 2;
            break;
        case 4:
            a.sgid_index = GUEST_GIDS;
            break;
        case 5:
            a.sgid_index = 1; /* IPv6 to IPv4 */
            break;
        default:
            memset(a.dgid, 0, GID_BYTES);
            break;
        }
        assert_int_equal(verbs_create_ah(pd, &a, NULL, &h), RDL_ERR_INVAL);
    }
    assert_int_equal(pd->o.n_users, 0);
    assert_int_equal(verbs_create_ah(pd, &(struct rdl_ah_attr){0}, NULL, &h), RDL_ERR_INVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_known_neighbour_needs_no_time_and_no_request),
        T(a_handle_waits_for_its_neighbour_alone),
        T(nobody_answers_and_the_handle_was_never_there),
        T(a_group_and_a_given_mac_ask_nobody),
        T(values_out_of_range_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
