/* SPDX-License-Identifier: MIT */
/* The end of connections: in each state, by a timeout, by a failed queue pair. */
#include "testing.h"

#include <errno.h>

#include "emu/facts/enum/lnet_msg.h"
#include "rig.h"

/* A client that reads and one that writes, and a stop after @steps steps. */
static bool stop_after(uint32_t steps, uint32_t who, bool is_late)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct rig r = rig_new(1);
    bool was_busy;

    r.l->is_late = is_late;
    for (uint32_t i = 0; i < 2; i++)
        rig_add(&r, &c, &(struct selftest_server_config){0});
    rig_begin(&r, 0, 1, SELFTEST_READ, 9000, 2);
    rig_begin(&r, 1, 0, SELFTEST_WRITE, 9000, 2);
    for (uint32_t i = 0; i < steps; i++)
        (void)loop_step(r.l);
    was_busy = !rig_is_done(&r);
    lnd_stop(r.n[who]->lnd);
    loop_run(r.l);
    assert_true(lnd_is_down(r.n[who]->lnd));
    rig_run_for(&r, 61 * SECOND); /* for replies that do not come */
    assert_true(rig_is_done(&r));
    if (steps % 3 == 0) { /* it can be started again */
        lnd_start(r.n[who]->lnd);
        loop_run(r.l);
        assert_true(lnd_is_up(r.n[who]->lnd));
    }
    rig_free(&r);
    return was_busy;
}

static void a_driver_can_be_stopped_at_any_step(void **state)
{
    uint32_t steps = 0;

    (void)state;
    while (stop_after(steps, 0, false) && stop_after(steps, 1, false) &&
           stop_after(steps, 0, true) && stop_after(steps, 1, true))
        steps++;
    assert_in_range(steps, 40, 400);
}

/* The queue pairs of a node that still can be written to, when a GET ends. */
struct watcher {
    struct loop_node *n;
    uint32_t n_events, n_open;
};

static void count_open_queue_pairs(void *ctx, const struct lnet_event *e)
{
    struct watcher *w = ctx;

    assert_int_equal(e->status, -ETIMEDOUT);
    w->n_events += e->kind == LNET_EVENT_REPLY;
    for (uint32_t i = 0; i < LOOP_IDS; i++) {
        const struct loop_id *id = &w->n->loop->ids[i];

        w->n_open += id->is_used && id->node == w->n && id->has_qp && !id->is_error;
    }
}

/* The peer may write to the memory of a GET, or of a PUT that has come, until the queue pair is in
 * ERR.
 */
static void memory_is_not_free_before_the_queue_pair_is_in_error(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const struct lnet_match match = {4, LNET_NID_ANY, 0, 0};
    struct loop *l = loop_new(1);
    struct watcher w = {.n = loop_add(l, &c)};
    struct loop_node *peer = loop_add(l, &c);
    struct lnet_md md = {.n = 1, .options = LNET_MD_GET};
    uint64_t handle;

    (void)state;
    md.frags[0] = (struct lnet_frag){20000, loop_pages(peer, 20000)};
    assert_int_equal(lnet_attach(peer->node, &match, &md, &handle), 0);
    md.frags[0] = (struct lnet_frag){20000, loop_pages(w.n, 20000)};
    assert_int_equal(lnet_bind(w.n->node, &md, &handle), 0);
    assert_int_equal(
        lnet_get(w.n->node, &(struct lnet_call){.md = handle, .nid = loop_nid(2), .portal = 4}), 0);
    while (lnd_counts(peer->lnd)->writes == 0)
        assert_true(loop_step(l));
    for (uint32_t i = 0; i < LOOP_IDS; i++) {
        if (l->ids[i].is_used && l->ids[i].node == peer)
            l->hold = &l->ids[i];
    }
    w.n->listener = count_open_queue_pairs;
    w.n->listener_ctx = &w;
    l->is_late = true;
    loop_run_for(l, 49 * SECOND);
    assert_int_equal(w.n_events, 0);
    loop_run_for(l, 2 * SECOND);
    assert_int_equal(w.n_events, 1);
    assert_int_equal(w.n_open, 0);
    assert_int_equal(lnd_counts(w.n->lnd)->timeouts, 1);
    l->hold = NULL;
    peer->n_events = 0;
    loop_stop_all(l);
    loop_free(l);
}

static void hold(struct loop *l, const struct loop_node *n)
{
    l->hold = NULL;
    for (uint32_t i = 0; i < LOOP_IDS; i++) {
        if (l->ids[i].is_used && l->ids[i].node == n)
            l->hold = &l->ids[i];
    }
}

/* A PUT_ACK comes 30 seconds after its PUT_REQ: the PUT_DONE has 50 seconds of its own. */
static void each_message_of_a_transfer_has_its_own_time(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    const struct lnet_match match = {4, LNET_NID_ANY, 0, 0};
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);
    struct lnet_md md = {.n = 1, .options = LNET_MD_PUT};
    struct lnet_call call = {.nid = loop_nid(2), .portal = 4};
    uint64_t handle;

    (void)state;
    md.frags[0] = (struct lnet_frag){20000, loop_pages(b, 20000)};
    assert_int_equal(lnet_attach(b->node, &match, &md, &handle), 0);
    md.frags[0] = (struct lnet_frag){20000, loop_pages(a, 20000)};
    assert_int_equal(lnet_bind(a->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(a->node, &call), 0);
    while (lnd_counts(a->lnd)->sent[lnd_count_index(LNET_MSG_PUT_REQ)] == 0)
        assert_true(loop_step(l));
    hold(l, b);
    loop_run_for(l, 30 * SECOND);
    l->hold = NULL;
    while (lnd_counts(a->lnd)->sent[lnd_count_index(LNET_MSG_PUT_DONE)] == 0)
        assert_true(loop_step(l));
    hold(l, a);
    loop_run_for(l, 45 * SECOND);
    assert_int_equal(lnd_counts(a->lnd)->timeouts, 0);
    loop_run_for(l, 10 * SECOND);
    assert_int_equal(lnd_counts(a->lnd)->timeouts, 1);
    l->hold = NULL;
    loop_stop_all(l);
    assert_int_equal(a->events[0].status, -ETIMEDOUT);
    loop_free(l);
}

/* A device loses the completions of one side: its connection ends when it has waited as long as for
 * an answer, and the node can be stopped and started.
 */
static void lost_completions_do_not_keep_a_connection(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);
    struct lnet_md md = {.n = 1, .threshold = 1};
    struct lnet_call call = {.nid = loop_nid(2)};

    (void)state;
    md.frags[0] = (struct lnet_frag){100, loop_pages(a, 100)};
    for (uint32_t k = 0; k < 2; k++) {
        a->n_events = 0;
        assert_int_equal(lnet_bind(a->node, &md, &call.md), 0);
        assert_int_equal(lnet_put(a->node, &call), 0);
        while (lnd_counts(a->lnd)->sent[lnd_count_index(LNET_MSG_IMMEDIATE)] == k)
            assert_true(loop_step(l));
        hold(l, a); /* also the completion of this message */
        lnd_stop(a->lnd);
        loop_run_for(l, 49 * SECOND);
        assert_false(lnd_is_down(a->lnd));
        assert_int_equal(a->n_events, 0); /* the device may still read its memory */
        loop_run_for(l, 2 * SECOND);
        assert_true(lnd_is_down(a->lnd));
        assert_int_equal(a->n_events, 1);
        assert_int_not_equal(a->events[0].status, 0);
        l->hold = NULL;
        lnd_start(a->lnd);
        loop_run(l);
    }
    assert_int_equal(lnet_bind(b->node, &(struct lnet_md){.threshold = 1}, &call.md), 0);
    call.nid = loop_nid(1);
    assert_int_equal(lnet_put(b->node, &call), 0);
    loop_run_for(l, SECOND);
    assert_int_equal(b->events[b->n_events - 1].status, 0);
    loop_stop_all(l);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_can_be_stopped_at_any_step),
        cmocka_unit_test(memory_is_not_free_before_the_queue_pair_is_in_error),
        cmocka_unit_test(each_message_of_a_transfer_has_its_own_time),
        cmocka_unit_test(lost_completions_do_not_keep_a_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
