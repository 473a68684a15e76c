/* SPDX-License-Identifier: MIT */
/* Asynchronous events and completion channels, as programs use them. */
#include "emu/facts/enum/async_event.h"
#include "guest/verbs/fake_driver.h"

static size_t get(struct verbs *v, struct rdl_async_event *e)
{
    size_t n = 7;

    assert_int_equal(verbs_get_async_event(v, e, &n), RDL_OK);
    return n;
}

static struct guest_channel *new_channel(struct verbs *v)
{
    uint64_t h = 0;

    assert_int_equal(verbs_create_comp_channel(v, NULL, &h), RDL_OK);
    return (struct guest_channel *)verbs_get(v, OBJ_CHANNEL, h);
}

static struct guest_cq *new_cq_on(struct guest_channel *ch)
{
    uint64_t h = 0;

    assert_int_equal(verbs_create_cq_on(ch, 4, NULL, &h), RDL_OK);
    return (struct guest_cq *)verbs_get(ch->o.verbs, OBJ_CQ, h);
}

static void events_come_in_their_order_and_name_their_object(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct rdl_async_event e;

    assert_int_equal(get(&f->verbs, &e), 0);
    verbs_async(&f->verbs, ASE_PORT_ACTIVE, 1);
    verbs_async(&f->verbs, ASE_CQ_ERR, cq->cqn);
    assert_int_equal(get(&f->verbs, &e), 1);
    assert_int_equal(e.type, ASE_PORT_ACTIVE);
    assert_int_equal(e.object, OBJ_NONE);
    assert_int_equal(e.number, 1);
    assert_int_equal(get(&f->verbs, &e), 1);
    assert_int_equal(e.type, ASE_CQ_ERR);
    assert_true(e.raw == cq->o.handle);
    assert_int_equal(get(&f->verbs, &e), 0);
}

/* Shows B93. */
static void an_event_that_was_taken_keeps_its_object_until_it_is_acknowledged(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct rdl_async_event e;
    struct rdl_users users;

    assert_int_equal(verbs_ack_async_event(&cq->o), RDL_ERR_STATE);
    verbs_async(&f->verbs, ASE_CQ_ERR, cq->cqn);
    assert_int_equal(get(&f->verbs, &e), 1);
    assert_int_equal(verbs_destroy_cq(cq), RDL_ERR_BUSY);
    verbs_users_of(&cq->o, &users);
    assert_int_equal(users.n, 0);
    assert_int_equal(users.async_events, 1);
    assert_int_equal(verbs_ack_async_event(&cq->o), RDL_OK);
    assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
}

static void an_event_that_nobody_took_goes_with_its_object(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 4), *other = new_cq(&f->verbs, 4);
    struct rdl_async_event e;

    verbs_async(&f->verbs, ASE_CQ_ERR, cq->cqn);
    verbs_async(&f->verbs, ASE_CQ_ERR, other->cqn);
    assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
    assert_int_equal(get(&f->verbs, &e), 1);
    assert_true(e.raw == other->o.handle);
    assert_int_equal(get(&f->verbs, &e), 0);
}

static void what_names_nothing_is_counted_and_not_told(void **state)
{
    static const struct {
        uint32_t type, number;
    } rows[] = {
        {ASE_CQ_ERR, 0},   {ASE_CQ_ERR, FAKE_MAX + 1},
        {ASE_QP_FATAL, 1}, {ASE_QP_FATAL, UINT32_MAX},
        {ASYNC_EVENTS, 1}, {UINT32_MAX, 1},
    };
    struct fake *f = *state;
    struct rdl_async_event e;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        verbs_async(&f->verbs, rows[i].type, rows[i].number);
    assert_int_equal(f->verbs.async.strays, ARRAY_LEN(rows));
    assert_int_equal(get(&f->verbs, &e), 0);
}

static void too_many_are_lost_and_counted(void **state)
{
    struct fake *f = *state;
    struct rdl_async_event e;
    size_t n = 0;

    for (uint32_t i = 0; i < VERBS_EVENTS_MAX + 2; i++)
        verbs_async(&f->verbs, ASE_GID_CHANGE, 1);
    assert_int_equal(f->verbs.async.lost, 2);
    while (get(&f->verbs, &e))
        n++;
    assert_int_equal(n, VERBS_EVENTS_MAX);
}

static void a_device_that_breaks_is_an_event(void **state)
{
    struct fake *f = *state;
    struct rdl_async_event e;

    verbs_broken(&f->verbs);
    verbs_broken(&f->verbs);
    assert_int_equal(get(&f->verbs, &e), 1);
    assert_int_equal(e.type, ASE_DEVICE_FATAL);
    assert_int_equal(get(&f->verbs, &e), 0);
}

static void a_channel_gives_its_events_in_their_order(void **state)
{
    struct fake *f = *state;
    struct guest_channel *ch = new_channel(&f->verbs);
    struct guest_cq *a = new_cq_on(ch), *b = new_cq_on(ch);
    uint64_t h = 0;

    assert_int_equal(verbs_get_cq_event(ch, &h), 0);
    for (uint32_t i = 0; i < 3 * CHANNEL_EVENTS_FIRST; i++)
        verbs_cq_event(i % 3 ? a : b);
    for (uint32_t i = 0; i < 3 * CHANNEL_EVENTS_FIRST; i++) {
        assert_int_equal(verbs_get_cq_event(ch, &h), 1);
        assert_true(h == (i % 3 ? a : b)->o.handle);
    }
    assert_int_equal(verbs_get_cq_event(ch, &h), 0);
    assert_int_equal(a->n_unacked_events, 2 * CHANNEL_EVENTS_FIRST);
}

/* Its ring is full, and grows, while the oldest event is in the middle of it. */
static void a_channel_that_grows_keeps_the_order(void **state)
{
    struct fake *f = *state;
    struct guest_channel *ch = new_channel(&f->verbs);
    struct guest_cq *a = new_cq_on(ch), *b = new_cq_on(ch);
    uint64_t h = 0;

    for (uint32_t i = 0; i < CHANNEL_EVENTS_FIRST; i++)
        verbs_cq_event(a);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(verbs_get_cq_event(ch, &h), 1);
    for (uint32_t i = 0; i < 5 + 3; i++)
        verbs_cq_event(b);
    for (uint32_t i = 5; i < CHANNEL_EVENTS_FIRST + 8; i++) {
        assert_int_equal(verbs_get_cq_event(ch, &h), 1);
        assert_true(h == (i < CHANNEL_EVENTS_FIRST ? a : b)->o.handle);
    }
    assert_int_equal(verbs_get_cq_event(ch, &h), 0);
}

/* Shows B94. */
static void a_cq_waits_for_its_events_and_a_channel_for_its_cqs(void **state)
{
    struct fake *f = *state;
    struct guest_channel *ch = new_channel(&f->verbs);
    struct guest_cq *a = new_cq_on(ch), *b = new_cq_on(ch);
    struct rdl_users users;
    uint64_t h = 0;

    verbs_users_of(&ch->o, &users);
    assert_int_equal(users.n, 2);
    assert_int_equal(users.kind, OBJ_CQ);
    verbs_cq_event(a);
    verbs_cq_event(b);
    assert_int_equal(verbs_get_cq_event(ch, &h), 1);
    assert_int_equal(verbs_destroy_cq(a), RDL_ERR_BUSY);
    assert_int_equal(verbs_ack_cq_events(a, 2), RDL_ERR_STATE);
    assert_int_equal(verbs_ack_cq_events(a, 1), RDL_OK);
    assert_int_equal(verbs_destroy_cq(a), RDL_OK);
    assert_int_equal(verbs_destroy_comp_channel(ch), RDL_ERR_BUSY);
    assert_int_equal(verbs_destroy_cq(b), RDL_OK); /* with the event that nobody took */
    assert_int_equal(verbs_get_cq_event(ch, &h), 0);
    assert_int_equal(verbs_destroy_comp_channel(ch), RDL_OK);
}

/* What comes and goes leaves the arena as it was. */
static void a_channel_leaves_nothing_behind(void **state)
{
    struct fake *f = *state;
    struct guest_channel *ch = new_channel(&f->verbs);
    size_t live_bytes;

    assert_int_equal(verbs_destroy_cq(new_cq_on(ch)), RDL_OK);
    assert_int_equal(verbs_destroy_comp_channel(ch), RDL_OK); /* tables are there */
    live_bytes = arena_live_bytes(f->arena);
    ch = new_channel(&f->verbs);
    for (uint32_t round = 0; round < 2; round++) {
        struct guest_cq *cq = new_cq_on(ch);

        for (uint32_t i = 0; i < 100; i++)
            verbs_cq_event(cq);
        assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
    }
    assert_int_equal(verbs_destroy_comp_channel(ch), RDL_OK);
    assert_int_equal(arena_live_bytes(f->arena), live_bytes);
}

static void users_are_counted_once_each(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct guest_qp *qp = new_qp(pd, cq, 0);
    struct rdl_users users;

    verbs_users_of(&cq->o, &users);
    assert_int_equal(users.n, 1); /* though both queues of it complete here */
    assert_true(users.raw == qp->o.handle);
    verbs_users_of(&qp->o, &users);
    assert_int_equal(users.n, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(events_come_in_their_order_and_name_their_object),
        T(an_event_that_was_taken_keeps_its_object_until_it_is_acknowledged),
        T(an_event_that_nobody_took_goes_with_its_object),
        T(what_names_nothing_is_counted_and_not_told),
        T(too_many_are_lost_and_counted),
        T(a_device_that_breaks_is_an_event),
        T(a_channel_gives_its_events_in_their_order),
        T(a_channel_that_grows_keeps_the_order),
        T(a_cq_waits_for_its_events_and_a_channel_for_its_cqs),
        T(a_channel_leaves_nothing_behind),
        T(users_are_counted_once_each),
    };

    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
