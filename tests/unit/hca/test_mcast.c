/* SPDX-License-Identifier: MIT */
/* Multicast groups: membership and its limits, until a queue pair leaves or is destroyed. */
#include "testing.h"

#include <string.h>

#include "emu/base/fnv.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/hca/qp.h"
#include "stand.h"

#define QPS 5u

struct groups {
    struct stand s;
    struct qp *qp[QPS];
};

static struct qp *new_qp(struct stand *s, const struct qp_config *c)
{
    struct qp *qp;

    assert_int_equal(hca_qp_create(&s->hca, c, sizeof(*qp), &qp), REF_NONE);
    return qp;
}

static int set_up(void **state)
{
    struct groups *g = test_calloc(1, sizeof(*g));
    struct qp_config c = {.type = QPT_UD};
    struct cq *cq;

    stand_up(&g->s, 2);
    assert_int_equal(hca_cq_create(&g->s.hca, 16, &cq), REF_NONE);
    c.pdn = stand_pd(&g->s);
    c.send_cqn = c.recv_cqn = cq->cqn;
    for (size_t i = 0; i < QPS; i++)
        g->qp[i] = new_qp(&g->s, &c);
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    struct groups *g = *state;

    for (size_t i = 0; i < QPS; i++) {
        if (g->qp[i])
            hca_qp_destroy(&g->s.hca, g->qp[i], sizeof(*g->qp[i]));
    }
    stand_down(&g->s); /* nothing of the groups is left in the arena */
    test_free(g);
    return 0;
}

/* Group number @n. */
static const uint8_t *gid(uint8_t n)
{
    static const uint8_t gids[8][MCAST_GID_BYTES] = {
        {0xff, 0x0e, [15] = 0}, {0xff, 0x0e, [15] = 1}, {0xff, 0x0e, [15] = 2},
        {0xff, 0x0e, [15] = 3}, {0xff, 0x0e, [15] = 4},
    };

    return gids[n];
}

static enum refusal_reason attach(struct groups *g, size_t i, uint8_t n)
{
    return mcast_attach(&g->s.hca, g->qp[i], gid(n));
}

static enum refusal_reason detach(struct groups *g, size_t i, uint8_t n)
{
    return mcast_detach(&g->s.hca, g->qp[i], gid(n));
}

/* The group has the queue pairs whose numbers, in order, are the digits of @want. */
static void check(const struct groups *g, uint8_t n, const char *want)
{
    const uint32_t *qpns = NULL;
    const uint32_t found = mcast_find(&g->s.hca, gid(n), &qpns);

    assert_int_equal(found, strlen(want));
    for (uint32_t i = 0; i < found; i++)
        assert_int_equal(qpns[i], g->qp[want[i] - '0']->qpn);
}

static void everybody_attached_is_found_in_order(void **state)
{
    struct groups *g = *state;

    check(g, 1, "");
    assert_int_equal(attach(g, 2, 1), REF_NONE);
    assert_int_equal(attach(g, 0, 1), REF_NONE);
    assert_int_equal(attach(g, 4, 2), REF_NONE);
    assert_int_equal(attach(g, 3, 1), REF_NONE);
    check(g, 1, "203");
    check(g, 2, "4");
    check(g, 3, "");
    assert_int_equal(attach(g, 0, 1), REF_NONE); /* once more changes nothing */
    check(g, 1, "203");
    assert_int_equal(detach(g, 0, 1), REF_NONE);
    check(g, 1, "23");
    assert_int_equal(refusal_kind(detach(g, 0, 1)), RFK_INVALID);
    assert_int_equal(refusal_kind(detach(g, 0, 2)), RFK_INVALID);
    assert_int_equal(refusal_kind(detach(g, 0, 4)), RFK_INVALID);
    assert_int_equal(detach(g, 2, 1), REF_NONE);
    assert_int_equal(detach(g, 3, 1), REF_NONE);
    check(g, 1, "");
    assert_int_equal(g->s.hca.mcast.n_attached, 1);
}

static void limits_hold_and_leave_nothing_behind(void **state)
{
    struct groups *g = *state;

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(attach(g, i, 0), REF_NONE);
    assert_int_equal(refusal_kind(attach(g, 4, 0)), RFK_NO_ROOM); /* of one group */
    assert_int_equal(attach(g, 4, 1), REF_NONE);
    assert_int_equal(attach(g, 4, 2), REF_NONE);
    assert_int_equal(refusal_kind(attach(g, 0, 1)), RFK_NO_ROOM); /* of all */
    assert_int_equal(detach(g, 0, 0), REF_NONE);
    assert_int_equal(refusal_kind(attach(g, 0, 3)), RFK_NO_ROOM); /* groups */
    assert_int_equal(detach(g, 4, 2), REF_NONE);
    assert_int_equal(attach(g, 0, 3), REF_NONE);
    assert_int_equal(detach(g, 4, 1), REF_NONE);
    assert_int_equal(attach(g, 1, 3), REF_NONE);
    assert_int_equal(attach(g, 2, 4), REF_NONE);
    assert_int_equal(refusal_kind(attach(g, 4, 0)), RFK_NO_ROOM);
    check(g, 0, "123");
    check(g, 3, "01");
    check(g, 4, "2");
}

/* A group that would be the first of its queue pair is not left empty. */
static void a_group_that_nobody_can_join_is_not_made(void **state)
{
    struct groups *g = *state;

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(attach(g, i, 0), REF_NONE);
    assert_int_equal(attach(g, 0, 1), REF_NONE);
    assert_int_equal(attach(g, 1, 1), REF_NONE);
    assert_int_equal(refusal_kind(attach(g, 2, 2)), RFK_NO_ROOM); /* six are attached */
    assert_int_equal(g->s.hca.mcast.groups.n, 2);
    check(g, 2, "");
}

/* Of groups whose hashes lead to the same list each is found. */
static void groups_of_one_list_are_told_apart(void **state)
{
    static const uint8_t alike[][MCAST_GID_BYTES] = {
        {0xff, 0x0e, [15] = 0}, {0xff, 0x0e, [15] = 16}, {0xff, 0x0e, [15] = 32}};
    struct groups *g = *state;

    for (uint8_t n = 0; n < ARRAY_LEN(alike); n++)
        assert_int_equal(mcast_attach(&g->s.hca, g->qp[n], alike[n]), REF_NONE);
    for (uint8_t n = 0; n < ARRAY_LEN(alike); n++) {
        const uint32_t *qpns;

        assert_int_equal(mcast_find(&g->s.hca, alike[n], &qpns), 1);
        assert_int_equal(qpns[0], g->qp[n]->qpn);
        assert_int_equal(fnv1a(alike[n], MCAST_GID_BYTES) % 16,
                         fnv1a(alike[0], MCAST_GID_BYTES) % 16);
    }
}

static void a_queue_pair_that_goes_is_in_no_group(void **state)
{
    struct groups *g = *state;

    assert_int_equal(attach(g, 0, 0), REF_NONE);
    assert_int_equal(attach(g, 1, 0), REF_NONE);
    assert_int_equal(attach(g, 0, 1), REF_NONE);
    assert_int_equal(attach(g, 0, 2), REF_NONE);
    hca_qp_destroy(&g->s.hca, g->qp[0], sizeof(*g->qp[0]));
    g->qp[0] = NULL;
    check(g, 0, "1");
    check(g, 1, "");
    check(g, 2, "");
}

static void only_datagram_queue_pairs_are_in_groups(void **state)
{
    struct groups *g = *state;

    g->qp[0]->config.type = QPT_RC;
    assert_int_equal(refusal_kind(attach(g, 0, 0)), RFK_INVALID);
    g->qp[0]->config.type = QPT_UC;
    assert_int_equal(refusal_kind(attach(g, 0, 0)), RFK_INVALID);
    check(g, 0, "");
}

static void the_own_copy_is_wanted_unless_it_is_blocked(void **state)
{
    static const uint8_t own[HCA_GID_BYTES] = {0xfe, 0x80, [15] = 1};
    static const uint8_t other[HCA_GID_BYTES] = {0xfe, 0x80, [15] = 2};
    struct groups *g = *state;
    struct qp *qp = g->qp[0];

    assert_int_equal(hca_gid_set(&g->s.hca, 0, own), REF_NONE);
    assert_true(mcast_wants(qp, own, qp->qpn));
    qp->config.create_flags = CREATE_BLOCK_SELF_MCAST_LB;
    assert_false(mcast_wants(qp, own, qp->qpn));
    assert_true(mcast_wants(qp, own, qp->qpn + 1)); /* another one of this host */
    assert_true(mcast_wants(qp, other, qp->qpn));   /* the same number elsewhere */
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(everybody_attached_is_found_in_order),        T(limits_hold_and_leave_nothing_behind),
        T(a_queue_pair_that_goes_is_in_no_group),       T(only_datagram_queue_pairs_are_in_groups),
        T(the_own_copy_is_wanted_unless_it_is_blocked), T(a_group_that_nobody_can_join_is_not_made),
        T(groups_of_one_list_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
