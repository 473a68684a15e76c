/* SPDX-License-Identifier: MIT */
/* Requests for connections, by the rules of 2007 and of today, in both versions: what is accepted,
 * and what is in the reject.  [Lustre, kiblnd_passive_connect of 2007 and of today]
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "lnet/lnd_internal.h"
#include "rig.h"

#define V1   LNET_VERSION_1
#define V2   LNET_VERSION_2
#define NONE 0u /* it is accepted */

enum node { TODAY, OLD, OF_2007, KERNEL, NODES };

/* A node that is asked: depth 8 and 64 fragments. */
static struct lnd_config config_of(enum node n)
{
    struct lnd_config c = lnd_defaults(loop_nid(1), n == OF_2007);

    if (n == OLD)
        c.version = V1;
    if (n == KERNEL)
        c.map = LNET_MAP_dma;
    c.max_frags = 64;
    return c;
}

static const struct row {
    const char *name;
    enum node node;
    uint16_t version, depth, frags;
    uint64_t dst_stamp; /* 1: that of the node */
    uint32_t why;
    uint16_t answer; /* version of the reject */
    uint32_t type;   /* 0: CONNREQ */
} rows[] = {
    {"a request", TODAY, V2, 8, 64, 0, NONE, 0, 0},
    {"its incarnation", TODAY, V2, 8, 64, 1, NONE, 0, 0},
    {"an old incarnation", TODAY, V2, 8, 64, 5, LNET_WHY_CONN_STALE, V2, 0},
    {"an old incarnation, in version 1", TODAY, V1, 8, 64, 5, LNET_WHY_CONN_STALE, V2, 0},
    {"no incarnation that exists, in version 1", TODAY, V1, 8, 64, UINT64_MAX, LNET_WHY_CONN_STALE,
     V2, 0},
    {"less", TODAY, V2, 4, 16, 0, NONE, 0, 0},
    {"deeper", TODAY, V2, 9, 64, 0, LNET_WHY_MSG_QUEUE_SIZE, V2, 0},
    {"more fragments", TODAY, V2, 8, 65, 0, LNET_WHY_RDMA_FRAGS, V2, 0},
    {"less, in version 1", TODAY, V1, 4, 16, 0, NONE, 0, 0},
    {"deeper, in version 1", TODAY, V1, 9, 64, 0, LNET_WHY_FATAL, V1, 0},
    {"more fragments, in version 1", TODAY, V1, 8, 65, 0, LNET_WHY_FATAL, V1, 0},
    {"no request", TODAY, V2, 8, 64, 0, LNET_WHY_FATAL, V2, LNET_MSG_NOOP},
    {"no request, in version 1", TODAY, V1, 8, 64, 0, LNET_WHY_FATAL, V1, LNET_MSG_CONNACK},
    {"version 2 to version 1", OLD, V2, 8, 64, 0, LNET_WHY_FATAL, V1, 0},
    {"another incarnation to version 1", OLD, V1, 8, 64, 5, NONE, 0, 0},
    {"no incarnation that exists, to version 1", OLD, V1, 8, 64, UINT64_MAX, NONE, 0, 0},
    {"less to version 1", OLD, V1, 4, 16, 0, NONE, 0, 0},
    {"version 2 to 2007", OF_2007, V2, 8, 64, 0, LNET_WHY_FATAL, V1, 0},
    {"a request to 2007", OF_2007, V1, 8, 64, 0, NONE, 0, 0},
    {"another incarnation to 2007", OF_2007, V1, 8, 64, 5, NONE, 0, 0},
    {"a smaller depth to 2007", OF_2007, V1, 7, 64, 0, LNET_WHY_FATAL, V1, 0},
    {"a larger depth to 2007", OF_2007, V1, 9, 64, 0, LNET_WHY_FATAL, V1, 0},
    {"fewer fragments to 2007", OF_2007, V1, 8, 63, 0, LNET_WHY_FATAL, V1, 0},
    {"more fragments to 2007", OF_2007, V1, 8, 65, 0, LNET_WHY_FATAL, V1, 0},
    {"a smaller depth to a kernel", KERNEL, V2, 4, 64, 0, NONE, 0, 0},
    {"fewer fragments to a kernel", KERNEL, V2, 8, 63, 0, LNET_WHY_RDMA_FRAGS, V2, 0},
    {"fewer fragments to a kernel, in version 1", KERNEL, V1, 8, 63, 0, LNET_WHY_FATAL, V1, 0},
};

static void build(const struct row *r, const struct loop_node *n, uint64_t from,
                  uint8_t ret[LNET_CONN_BYTES])
{
    const struct lnet_msg m = {.version = r->version,
                               .type = r->type ? (enum lnet_msg_type)r->type : LNET_MSG_CONNREQ,
                               .nob = LNET_CONN_BYTES,
                               .src_nid = from,
                               .src_stamp = 5,
                               .dst_nid = lnd_config(n->lnd)->nid,
                               .dst_stamp =
                                   r->dst_stamp == 1 ? lnd_config(n->lnd)->stamp : r->dst_stamp,
                               .u.conn = {r->depth, r->frags, LNET_MSG_BYTES_MAX}};
    struct lnet_msg out = m;
    uint8_t bytes[LNET_MSG_BYTES_MAX] = {0};

    if (r->type == LNET_MSG_NOOP)
        out.nob = LNET_HEAD_BYTES;
    (void)lnet_build(&out, bytes);
    memcpy(ret, bytes, LNET_CONN_BYTES);
}

static void requests_are_judged_by_the_rules_of_their_time(void **state)
{
    struct loop *l = loop_new(1);
    struct loop_node *nodes[NODES];

    (void)state;
    for (enum node k = TODAY; k < NODES; k++) {
        const struct lnd_config c = config_of(k);

        nodes[k] = loop_add(l, &c);
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        struct loop_node *n = nodes[r->node];
        struct lnet_reject reject = {0};
        uint8_t bytes[LNET_CONN_BYTES];
        bool accepted;

        build(r, n, loop_nid(100 + (uint32_t)i), bytes);
        n->last_why = NONE;
        accepted = loop_raw_request(n, bytes, sizeof(bytes));
        if (accepted != (r->why == NONE) || n->last_why != r->why)
            fail_msg("%s: %s, reason %u", r->name, accepted ? "accepted" : "rejected", n->last_why);
        if (!accepted &&
            (!lnet_reject_parse(n->reject, n->n_reject, &reject) || reject.version != r->answer))
            fail_msg("%s: the reject has version 0x%x", r->name, reject.version);
        loop_run(l);
    }
    loop_stop_all(l);
    loop_free(l);
}

static void nobody_asks_in_the_name_of_all_or_of_the_node_itself(void **state)
{
    const struct lnd_config c = config_of(TODAY);
    struct loop *l = loop_new(1);
    struct loop_node *n = loop_add(l, &c);
    uint8_t bytes[LNET_CONN_BYTES];

    (void)state;
    build(&rows[0], n, UINT64_MAX, bytes);
    assert_false(loop_raw_request(n, bytes, sizeof(bytes)));
    build(&rows[0], n, loop_nid(1), bytes);
    assert_false(loop_raw_request(n, bytes, sizeof(bytes)));
    loop_stop_all(l);
    loop_free(l);
}

/* ---- the side that asks ---- */

struct duo {
    struct loop *l;
    struct loop_node *a, *b;
    struct lnd_config ca, cb;
};

static struct duo duo_new(enum node a, enum node b)
{
    struct duo d = {.l = loop_new(1), .ca = config_of(a), .cb = config_of(b)};

    d.a = loop_add(d.l, &d.ca);
    d.b = loop_add(d.l, &d.cb);
    return d;
}

static void begin_put(struct loop_node *from, uint32_t to)
{
    const struct lnet_md md = {.threshold = 1};
    struct lnet_call call = {.nid = loop_nid(to)};

    from->n_events = 0;
    assert_int_equal(lnet_bind(from->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(from->node, &call), 0);
}

static int put(struct loop_node *from, uint32_t to)
{
    begin_put(from, to);
    loop_run_for(from->loop, SECOND / 2);
    assert_int_equal(from->n_events, 1);
    return from->events[0].status;
}

static struct lnd_peer_info info(const struct loop_node *n)
{
    struct lnd_peer_info i;

    assert_true(lnd_peer_at(n->lnd, 0, &i));
    return i;
}

static void end(struct duo *d)
{
    loop_stop_all(d->l);
    loop_free(d->l);
}

/* Returns the CONNREQ of @n that is under way. */
static const uint8_t *request_of(struct duo *d, uint16_t version)
{
    for (;;) {
        for (uint32_t i = 0; i < d->l->n_items; i++) {
            const struct loop_item *it = &d->l->items[i];

            if (it->kind == LOOP_CM_REQUEST && it->data[4] == version)
                return it->data;
        }
        assert_true(loop_step(d->l));
    }
}

/* A reject of version 1 tells no incarnation.  So the next request names one that nobody has: an
 * old peer does not look at it, and one that speaks version 2 meanwhile sees who is meant.
 */
static void an_old_peer_is_asked_for_no_incarnation_that_exists(void **state)
{
    static const uint8_t none[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct duo d = duo_new(TODAY, OF_2007);

    (void)state;
    begin_put(d.a, 2);
    assert_memory_equal(request_of(&d, V2) + 40, "\0\0\0\0\0\0\0\0", 8);
    assert_memory_equal(request_of(&d, V1) + 40, none, 8);
    loop_run(d.l);
    assert_int_equal(d.a->events[0].status, 0);
    end(&d);
}

static void a_node_of_2007_names_no_incarnation(void **state)
{
    struct duo d = duo_new(OF_2007, OF_2007);

    (void)state;
    assert_int_equal(put(d.a, 2), 0);
    d.cb.stamp = 7000; /* the old connection closes, and the new one is for anybody */
    loop_restart(d.b, &d.cb);
    begin_put(d.a, 2);
    assert_memory_equal(request_of(&d, V1) + 40, "\0\0\0\0\0\0\0\0", 8);
    loop_run(d.l);
    assert_int_equal(d.a->events[0].status, 0);
    assert_int_equal(info(d.a).stamp, 7000);
    end(&d);
}

/* A peer speaks the new version when it is started anew. */
static void a_peer_that_was_upgraded_is_asked_in_the_new_version(void **state)
{
    struct duo d = duo_new(TODAY, OLD);

    (void)state;
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(info(d.a).version, V1);
    d.cb = config_of(TODAY);
    d.cb.stamp = 7000;
    loop_restart(d.b, &d.cb);
    assert_int_equal(put(d.a, 2), 0);
    assert_int_equal(d.a->last_why, LNET_WHY_CONN_STALE);
    assert_int_equal(info(d.a).version, V2);
    end(&d);
}

/* In 2007 parameters had to be the same. */
static void a_connack_with_less_is_refused_in_2007(void **state)
{
    struct duo d = duo_new(OF_2007, OLD);

    (void)state;
    d.l->tamper = LOOP_REP;
    d.l->tamper_at = 48; /* depth 8 becomes 4 */
    d.l->tamper_xor = 8 ^ 4;
    assert_int_equal(put(d.a, 2), -EPROTO);
    end(&d);
}

/* A kernel does not settle for fewer fragments than it has. */
static void a_kernel_does_not_settle_for_fewer_fragments(void **state)
{
    struct duo d = duo_new(KERNEL, TODAY);

    (void)state;
    d.cb.max_frags = 32;
    loop_restart(d.b, &d.cb);
    assert_int_equal(put(d.a, 2), -EPROTO);
    assert_int_equal(d.a->last_why, LNET_WHY_RDMA_FRAGS);
    end(&d);
}

/* A reject in a version that nobody knows, or that was not there in 2007, ends the attempts. */
static void a_reject_of_another_version_is_final(void **state)
{
    static const struct {
        enum node node;
        uint16_t version;
        uint64_t connects;
    } cases[] = {{TODAY, 0x13, 1}, {TODAY, V2, 2}, {OF_2007, V2, 1}, {OF_2007, V1, 2}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct duo d = duo_new(cases[i].node, TODAY);
        const struct lnet_reject r = {.magic = LNET_MAGIC,
                                      .version = cases[i].version,
                                      .why = LNET_WHY_CONN_RACE,
                                      .has_params = true,
                                      .conn = {8, 64, LNET_MSG_BYTES_MAX}};
        uint8_t data[LNET_REJECT_BYTES];
        struct loop_id *id = d.l->ids;

        begin_put(d.a, 2);
        (void)request_of(&d, lnd_config(d.a->lnd)->version);
        while (id->node != d.a)
            id++;
        lnd_cm_event(d.a->lnd, id->link, RDMA_CM_EVENT_REJECTED, 28, data,
                     lnet_reject_build(&r, data));
        loop_run(d.l);
        assert_int_equal(lnd_counts(d.a->lnd)->connects, cases[i].connects);
        end(&d);
    }
}

/* A peer that rejects again and again is asked at once ten times, and then each second. */
static void requests_that_are_rejected_again_and_again_become_rare(void **state)
{
    struct duo d = duo_new(TODAY, TODAY);
    struct lnd_peer *p = lnd_peer_of(d.b->lnd, loop_nid(1));

    (void)state;
    p->n_connecting = 1; /* it has asked, too, and has the larger NID: it rejects 20 times */
    begin_put(d.a, 2);
    loop_run_for(d.l, SECOND / 2);
    assert_int_equal(lnd_counts(d.a->lnd)->connects, 1 + LND_AGAIN_MAX);
    loop_run_for(d.l, 8 * SECOND);
    assert_int_equal(d.a->n_events, 0);
    assert_int_equal(lnd_counts(d.a->lnd)->connects, 1 + LND_AGAIN_MAX + 8);
    loop_run_for(d.l, 2 * SECOND);
    assert_int_equal(d.a->n_events, 1);
    assert_int_equal(d.a->events[0].status, 0);
    p->n_connecting = 0;
    end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_judged_by_the_rules_of_their_time),
        cmocka_unit_test(nobody_asks_in_the_name_of_all_or_of_the_node_itself),
        cmocka_unit_test(an_old_peer_is_asked_for_no_incarnation_that_exists),
        cmocka_unit_test(a_node_of_2007_names_no_incarnation),
        cmocka_unit_test(a_peer_that_was_upgraded_is_asked_in_the_new_version),
        cmocka_unit_test(a_connack_with_less_is_refused_in_2007),
        cmocka_unit_test(a_kernel_does_not_settle_for_fewer_fragments),
        cmocka_unit_test(a_reject_of_another_version_is_final),
        cmocka_unit_test(requests_that_are_rejected_again_and_again_become_rare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
