/* SPDX-License-Identifier: MIT */
/* Memory regions.  [O2iblnd to userland, 2.3.3] */
#include "testing.h"

#include <errno.h>

#include "rig.h"

#define PORTAL 4u

/* Two nodes; the first one puts from memory of its own to 1 MiB of the second one. */
struct duo {
    struct loop *l;
    struct loop_node *a, *b;
};

static struct duo duo_new(enum lnet_map map)
{
    const struct lnet_match match = {PORTAL, LNET_NID_ANY, 0, 0};
    struct lnet_md md = {.n = 1, .options = LNET_MD_PUT | LNET_MD_MANAGE_REMOTE};
    struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct duo d = {.l = loop_new(1)};
    uint64_t handle;

    c.map = map;
    d.a = loop_add(d.l, &c);
    d.b = loop_add(d.l, &c);
    md.frags[0] = (struct lnet_frag){LNET_MTU, loop_pages(d.b, LNET_MTU)};
    assert_int_equal(lnet_attach(d.b->node, &match, &md, &handle), 0);
    return d;
}

static void begin_put(struct duo *d, uint64_t addr, uint32_t bytes)
{
    struct lnet_md md = {.n = 1, .threshold = 1};
    struct lnet_call call = {.nid = loop_nid(2), .portal = PORTAL};

    md.frags[0] = (struct lnet_frag){bytes, addr};
    assert_int_equal(lnet_bind(d->a->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(d->a->node, &call), 0);
}

static int put(struct duo *d, uint64_t addr, uint32_t bytes)
{
    d->a->n_events = d->b->n_events = 0;
    begin_put(d, addr, bytes);
    loop_run(d->l);
    assert_int_equal(d->a->n_events, 1);
    return d->a->events[0].status;
}

static struct lnd_region_info region(const struct duo *d, uint32_t i)
{
    struct lnd_region_info r;

    assert_true(lnd_region_at(d->a->lnd, i, &r));
    return r;
}

static uint32_t n_regions(const struct duo *d)
{
    struct lnd_region_info r;
    uint32_t n = 0;

    while (lnd_region_at(d->a->lnd, n, &r))
        n++;
    return n;
}

static void end(struct duo *d)
{
    loop_stop_all(d->l);
    loop_free(d->l);
}

static void the_region_grows_over_new_memory(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 100000);

    (void)state;
    assert_int_equal(put(&d, m + 30000, 5000), 0);
    assert_int_equal(n_regions(&d), 1);
    assert_int_equal(region(&d, 0).addr, m + 30000);
    assert_int_equal(put(&d, m + 31000, 4000), 0); /* inside */
    assert_int_equal(lnd_counts(d.a->lnd)->regions, 1);
    assert_int_equal(put(&d, m + 80000, 5000), 0);
    assert_int_equal(n_regions(&d), 1);
    assert_int_equal(region(&d, 0).addr, m + 30000);
    assert_int_equal(region(&d, 0).bytes, 55000);
    assert_int_equal(put(&d, m, 4000), 0);
    assert_int_equal(region(&d, 0).addr, m);
    assert_int_equal(region(&d, 0).bytes, 85000);
    assert_int_equal(lnd_counts(d.a->lnd)->regions, 3);
    assert_int_equal(lnd_counts(d.a->lnd)->dereged, 2);
    assert_int_equal(lnd_counts(d.a->lnd)->pinned_bytes, 85000);
    end(&d);
}

/* Regions that messages made at the same time end when one grows over them. */
static void one_region_is_left(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 100000);

    (void)state;
    assert_int_equal(put(&d, m, 10), 0);
    d.l->is_late = true;
    for (uint32_t i = 0; i < 4; i++)
        begin_put(&d, m + i * 20000, 5000);
    loop_run(d.l);
    assert_int_equal(n_regions(&d), 4);
    assert_int_equal(put(&d, m, 70000), 0);
    assert_int_equal(n_regions(&d), 1);
    assert_int_equal(region(&d, 0).bytes, 70000);
    end(&d);
}

/* A descriptor that a peer has stays valid until its DONE, while the region grows. */
static void a_region_in_use_stays_until_its_last_user_ends(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 100000);

    (void)state;
    assert_int_equal(put(&d, m, 10), 0); /* connects */
    begin_put(&d, m, 5000);
    while (n_regions(&d) == 0 || region(&d, 0).users == 0)
        assert_true(loop_step(d.l));
    begin_put(&d, m + 50000, 5000);
    assert_int_equal(n_regions(&d), 2);
    assert_false(region(&d, 0).is_current);
    assert_int_equal(region(&d, 0).users, 1);
    assert_true(region(&d, 1).is_current);
    assert_int_equal(region(&d, 1).addr, m);
    assert_int_equal(region(&d, 1).users, 1);
    assert_int_equal(lnd_counts(d.a->lnd)->pinned_bytes, 60000);
    loop_run(d.l);
    assert_int_equal(d.a->n_events, 3);
    assert_int_equal(n_regions(&d), 1);
    assert_int_equal(lnd_counts(d.a->lnd)->pinned_max, 60000);
    end(&d);
}

/* The union of two ranges has a hole that is not mapped: then there are two regions. */
static void a_hole_makes_a_further_region(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    uint64_t first, second;

    (void)state;
    d.a->gap = 4096;
    first = loop_pages(d.a, 10000);
    second = loop_pages(d.a, 10000);
    assert_int_equal(put(&d, first, 5000), 0);
    assert_int_equal(put(&d, second, 5000), 0);
    assert_int_equal(n_regions(&d), 2);
    assert_int_equal(region(&d, 0).addr, first);
    assert_int_equal(region(&d, 1).addr, second);
    assert_int_equal(put(&d, second + 4000, 5000), 0); /* that one grows */
    assert_int_equal(n_regions(&d), 2);
    assert_int_equal(region(&d, 0).bytes, 5000);
    assert_int_equal(region(&d, 1).bytes, 9000);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(put(&d, loop_pages(d.a, 10000), 5000), 0);
    assert_int_equal(n_regions(&d), 8); /* no more are kept */
    end(&d);
}

static void memory_that_is_not_mapped_fails_its_message_alone(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 10000);

    (void)state;
    assert_int_equal(put(&d, m, 5000), 0);
    assert_int_equal(put(&d, m + 100000, 5000), -EFAULT);
    assert_int_equal(put(&d, m + 100000, 50), -EFAULT); /* also if it is copied */
    assert_int_equal(put(&d, m, 6000), 0);
    assert_int_equal(n_regions(&d), 1);
    loop_fail(d.a, LOOP_REG_MR, 1, -ENOMEM); /* the union, and then the memory alone */
    assert_int_equal(put(&d, m, 7000), 0);
    end(&d);
}

/* Of two regions over the same memory one is registered, and the other is refused, twice: as a
 * union, and for the message alone for which it was made.  Nobody waits for that one.
 */
static void nobody_waits_for_a_region_that_is_refused(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 100000);

    (void)state;
    assert_int_equal(put(&d, m, 5000), 0);
    d.l->is_late = true;
    d.a->n_events = 0;
    loop_fail(d.a, LOOP_REG_MR, 1, -ENOMEM);
    begin_put(&d, m + 20000, 20000);
    begin_put(&d, m, 100000);
    while (lnd_counts(d.a->lnd)->regions < 2)
        assert_true(loop_step(d.l));
    loop_fail(d.a, LOOP_REG_MR, 1, -ENOMEM);
    begin_put(&d, m + 25000, 5000);
    loop_run(d.l);
    assert_int_equal(d.a->n_events, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(d.a->events[i].status, 0);
    assert_int_equal(n_regions(&d), 1);
    end(&d);
}

/* Memory that is freed takes a region away while it is registered.  It is used only by the message
 * that it was made for; another one that has waited for it gets a region of its own.
 */
static void a_region_that_is_forgotten_while_it_is_registered_serves_one_message(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 100000);

    (void)state;
    assert_int_equal(put(&d, m, 10), 0);
    d.l->is_late = true;
    d.a->n_events = 0;
    begin_put(&d, m, 50000);
    begin_put(&d, m + 20000, 5000);
    assert_int_equal(n_regions(&d), 1); /* both wait for the same one */
    lnd_forget(d.a->lnd, m + 50000, 100);
    lnd_forget(d.a->lnd, m - 100, 100);
    assert_true(region(&d, 0).is_current); /* other memory, beside it */
    lnd_forget(d.a->lnd, m + 49999, 100);
    assert_false(region(&d, 0).is_current);
    loop_run(d.l);
    assert_int_equal(d.a->n_events, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(d.a->events[i].status, 0);
    assert_int_equal(n_regions(&d), 1);
    assert_int_equal(region(&d, 0).addr, m + 20000);
    assert_int_equal(region(&d, 0).bytes, 5000);
    end(&d);
}

/* The same, with a union that is refused: its message gets a region of its own all the same. */
static void a_forgotten_union_that_is_refused_fails_no_message(void **state)
{
    struct duo d = duo_new(LNET_MAP_growing);
    const uint64_t m = loop_pages(d.a, 100000);

    (void)state;
    assert_int_equal(put(&d, m, 5000), 0);
    d.l->is_late = true;
    d.a->n_events = 0;
    loop_fail(d.a, LOOP_REG_MR, 1, -ENOMEM);
    begin_put(&d, m + 50000, 5000);
    begin_put(&d, m + 10000, 5000);
    lnd_forget(d.a->lnd, m + 20000, 100); /* between them */
    loop_run(d.l);
    assert_int_equal(d.a->n_events, 2);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(d.a->events[i].status, 0);
    end(&d);
}

/* The sink cannot map its memory: a NAK tells the source. */
static void a_sink_without_a_region_answers_with_a_nak(void **state)
{
    struct duo d = duo_new(LNET_MAP_demand);
    const uint64_t m = loop_pages(d.a, 10000);

    (void)state;
    assert_int_equal(put(&d, m, 10), 0);
    loop_fail(d.b, LOOP_REG_MR, 1, -ENOMEM);
    assert_int_equal(put(&d, m, 5000), -ENOMEM);
    assert_int_equal(lnd_counts(d.b->lnd)->sent[3], 1); /* PUT_NAK */
    assert_int_equal(d.b->n_events, 1);
    assert_int_equal(d.b->events[0].status, -ENOMEM);
    assert_int_equal(put(&d, m, 5000), 0);
    end(&d);
}

static void each_message_has_a_region_on_demand(void **state)
{
    struct duo d = duo_new(LNET_MAP_demand);
    const uint64_t m = loop_pages(d.a, 10000);

    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(put(&d, m, 5000), 0);
    assert_int_equal(n_regions(&d), 0);
    assert_int_equal(lnd_counts(d.a->lnd)->regions, 5);
    assert_int_equal(lnd_counts(d.a->lnd)->dereged, 5);
    assert_int_equal(lnd_counts(d.b->lnd)->regions, 5);
    end(&d);
}

static void the_region_of_all_memory_needs_no_other(void **state)
{
    struct duo d = duo_new(LNET_MAP_dma);
    const uint64_t m = loop_pages(d.a, 10000);

    (void)state;
    assert_int_equal(put(&d, m + 100, 9000), 0);
    assert_int_equal(lnd_counts(d.a->lnd)->regions, 0);
    assert_int_equal(lnd_counts(d.a->lnd)->writes, 5); /* pages at other offsets on both sides */
    end(&d);
}

/* A key that was freed is refused: the connection closes, and another one is made. */
static void a_region_that_is_freed_too_early_breaks_the_connection(void **state)
{
    struct duo d = duo_new(LNET_MAP_demand);
    const uint64_t m = loop_pages(d.a, 10000);

    (void)state;
    assert_int_equal(put(&d, m, 10), 0);
    d.a->n_events = 0;
    begin_put(&d, m, 5000);
    while (lnd_counts(d.a->lnd)->writes == 0)
        assert_true(loop_step(d.l));
    for (uint32_t i = 0; i < d.b->n_mrs; i++) {
        if (d.b->mrs[i].bytes == 5000)
            d.b->mrs[i].bytes = 0;
    }
    loop_run(d.l);
    assert_int_equal(d.a->n_events, 1);
    assert_int_not_equal(d.a->events[0].status, 0);
    assert_int_equal(lnd_counts(d.a->lnd)->closes, 1);
    assert_int_equal(put(&d, m, 5000), 0);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_region_grows_over_new_memory),
        cmocka_unit_test(one_region_is_left),
        cmocka_unit_test(a_region_in_use_stays_until_its_last_user_ends),
        cmocka_unit_test(a_hole_makes_a_further_region),
        cmocka_unit_test(memory_that_is_not_mapped_fails_its_message_alone),
        cmocka_unit_test(nobody_waits_for_a_region_that_is_refused),
        cmocka_unit_test(a_region_that_is_forgotten_while_it_is_registered_serves_one_message),
        cmocka_unit_test(a_forgotten_union_that_is_refused_fails_no_message),
        cmocka_unit_test(a_sink_without_a_region_answers_with_a_nak),
        cmocka_unit_test(each_message_has_a_region_on_demand),
        cmocka_unit_test(the_region_of_all_memory_needs_no_other),
        cmocka_unit_test(a_region_that_is_freed_too_early_breaks_the_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
