/* SPDX-License-Identifier: MIT */
/* The memory of a node of LNet, and what the node tells of it and of its peers. */
#include "testing.h"

#include <errno.h>

#include "loopback.h"

#define PORTAL 4u
#define PIECE  5000u

/* Two nodes; the first one has PIECE bytes that it puts. */
struct duo {
    struct loop *l;
    struct loop_node *a, *b;
    uint64_t source;
};

static struct duo duo_new(void)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct duo d = {.l = loop_new(1)};

    d.a = loop_add(d.l, &c);
    d.b = loop_add(d.l, &c);
    d.source = loop_pages(d.a, PIECE);
    return d;
}

/* Attaches @bytes bytes of the second node.  Returns their handle. */
static uint64_t attach(struct duo *d, uint32_t bytes, uint32_t options)
{
    const struct lnet_match match = {PORTAL, LNET_NID_ANY, 0, 0};
    struct lnet_md md = {.n = 1, .options = LNET_MD_PUT | options};
    uint64_t handle;

    md.frags[0] = (struct lnet_frag){bytes, loop_pages(d->b, bytes)};
    assert_int_equal(lnet_attach(d->b->node, &match, &md, &handle), 0);
    return handle;
}

static void begin_put(struct duo *d, uint32_t bytes, uint32_t offset)
{
    struct lnet_md md = {.n = 1, .threshold = 1};
    struct lnet_call call = {.nid = loop_nid(2), .portal = PORTAL, .offset = offset};

    md.frags[0] = (struct lnet_frag){bytes, d->source};
    assert_int_equal(lnet_bind(d->a->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(d->a->node, &call), 0);
}

static void put(struct duo *d, uint32_t bytes, uint32_t offset)
{
    begin_put(d, bytes, offset);
    loop_run(d->l);
}

static void end(struct duo *d)
{
    loop_stop_all(d->l);
    loop_free(d->l);
}

static struct lnet_memory_info memory(const struct duo *d, uint32_t i)
{
    struct lnet_memory_info m;

    assert_true(lnet_memory_at(d->b->node, i, &m));
    return m;
}

/* Memory that a message uses is unlinked with its end; a message that comes before that does not
 * match it any more.
 */
static void memory_that_ends_takes_no_further_message(void **state)
{
    struct duo d = duo_new();
    const uint64_t first = attach(&d, 3 * PIECE, 0), second = attach(&d, 3 * PIECE, 0);

    (void)state;
    begin_put(&d, PIECE, 0);
    while (memory(&d, 0).users == 0)
        assert_true(loop_step(d.l));
    assert_int_equal(lnet_unlink(d.b->node, first), -EBUSY);
    assert_false(memory(&d, 0).is_attached);
    put(&d, 100, 0);
    assert_int_equal(d.b->n_events, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const bool is_long = d.b->events[i].rlength == PIECE;

        assert_int_equal(d.b->events[i].md, is_long ? first : second);
        assert_int_equal(d.b->events[i].unlinked, is_long);
    }
    assert_int_equal(memory(&d, 0).handle, second);
    end(&d);
}

static void the_next_message_goes_behind_the_last_one(void **state)
{
    struct duo d = duo_new();

    (void)state;
    attach(&d, 200, 0);
    put(&d, 70, 50); /* without MANAGE_REMOTE the offset of the initiator is not heard */
    assert_int_equal(memory(&d, 0).offset, 70);
    put(&d, 30, 50);
    assert_int_equal(memory(&d, 0).offset, 100);
    assert_int_equal(lnet_unlink(d.b->node, memory(&d, 0).handle), 0);
    attach(&d, 200, LNET_MD_MANAGE_REMOTE);
    put(&d, 70, 50);
    assert_int_equal(memory(&d, 0).offset, 120);
    put(&d, 30, 10);
    assert_int_equal(memory(&d, 0).offset, 40);
    end(&d);
}

static void dropped_messages_are_counted_with_their_bytes(void **state)
{
    struct duo d = duo_new();

    (void)state;
    put(&d, 100, 0);
    put(&d, PIECE, 0);
    put(&d, 7, 0);
    assert_int_equal(lnet_counts(d.b->node)->dropped, 3);
    assert_int_equal(lnet_counts(d.b->node)->drop_bytes, 100 + PIECE + 7);
    end(&d);
}

static void the_lowest_number_of_credits_is_kept(void **state)
{
    struct lnet_peer_info p;
    struct duo d = duo_new();

    (void)state;
    put(&d, 10, 0);
    assert_true(lnet_peer_at(d.a->node, 0, &p));
    assert_int_equal(p.tx_credits, 8);
    assert_int_equal(p.min_tx_credits, 7);
    for (uint32_t i = 0; i < 10; i++)
        begin_put(&d, 10, 0);
    assert_true(lnet_peer_at(d.a->node, 0, &p));
    assert_int_equal(p.tx_credits, -2);
    assert_int_equal(p.tx_queued, 2);
    loop_run(d.l);
    assert_true(lnet_peer_at(d.a->node, 0, &p));
    assert_int_equal(p.tx_credits, 8);
    assert_int_equal(p.min_tx_credits, -2);
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_ends_takes_no_further_message),
        cmocka_unit_test(the_next_message_goes_behind_the_last_one),
        cmocka_unit_test(dropped_messages_are_counted_with_their_bytes),
        cmocka_unit_test(the_lowest_number_of_credits_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
