/* SPDX-License-Identifier: MIT */
/* Operations of LNet: the messages that carry them, and the events that they cause.  Each row runs
 * with both versions, byte orders, checksums and all kinds of regions.
 */
#include "testing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/facts/enum/lnet_msg.h"
#include "lnet/ping.h"
#include "lnet/selftest_data.h"
#include "loopback.h"

#define ACK_INTERFACE_AT 80u /* of an ACK, behind its head and 32 bytes of the LNet header */
#define PORTAL           4u

enum kind { GET, PUT, REPLY, ACK, SEND }; /* of events, as in lnet.h */

/* An operation of node 1 on memory of node 2; what both send, without NOOPs, and node 1's events.
 */
struct row {
    const char *name;
    uint32_t op;      /* LNET_MD_PUT or LNET_MD_GET */
    uint32_t bytes;   /* of node 1 */
    uint32_t room;    /* of node 2; 0: no memory */
    uint32_t options; /* beside op */
    uint32_t offset;  /* asked for */
    bool wants_ack;
    const char *sent, *answered; /* letters: I immediate, R req, N nak, A ack, D done */
    const char *events;          /* letters: S send, A ack, R reply */
    uint32_t moved;              /* bytes */
    int status;
    bool writes; /* RDMA WRITEs move the data */
};

static const struct row rows[] = {
    {.name = "put nothing",
     .op = LNET_MD_PUT,
     .room = 10,
     .sent = "I",
     .answered = "",
     .events = "S"},
    {.name = "put",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .room = 100,
     .sent = "I",
     .answered = "",
     .events = "S",
     .moved = 100},
    {.name = "put, acknowledged",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .room = 100,
     .wants_ack = true,
     .sent = "I",
     .answered = "I",
     .events = "SA",
     .moved = 100},
    {.name = "put, to memory that does not acknowledge",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .room = 100,
     .options = LNET_MD_NO_ACK,
     .wants_ack = true,
     .sent = "I",
     .answered = "",
     .events = "S",
     .moved = 100},
    {.name = "put, longest immediate",
     .op = LNET_MD_PUT,
     .bytes = 3976,
     .room = 3976,
     .sent = "I",
     .answered = "",
     .events = "S",
     .moved = 3976},
    {.name = "put, shortest by RDMA",
     .op = LNET_MD_PUT,
     .bytes = 3977,
     .room = 3977,
     .wants_ack = true,
     .sent = "RD",
     .answered = "AI",
     .events = "SA",
     .moved = 3977,
     .writes = true},
    {.name = "put to no memory",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .sent = "I",
     .answered = "",
     .events = "S",
     .moved = 0},
    {.name = "long put to no memory",
     .op = LNET_MD_PUT,
     .bytes = 5000,
     .sent = "R",
     .answered = "N",
     .events = "S",
     .moved = 0},
    {.name = "put, too long",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .room = 99,
     .sent = "I",
     .answered = "",
     .events = "S",
     .moved = 0},
    {.name = "put, truncated",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .room = 60,
     .options = LNET_MD_TRUNCATE,
     .wants_ack = true,
     .sent = "I",
     .answered = "I",
     .events = "SA",
     .moved = 60},
    {.name = "long put, truncated",
     .op = LNET_MD_PUT,
     .bytes = 9000,
     .room = 6000,
     .options = LNET_MD_TRUNCATE,
     .wants_ack = true,
     .sent = "RD",
     .answered = "AI",
     .events = "SA",
     .moved = 6000,
     .writes = true},
    {.name = "long put, truncated to nothing",
     .op = LNET_MD_PUT,
     .bytes = 9000,
     .room = 10,
     .options = LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE,
     .offset = 10,
     .wants_ack = true,
     .sent = "R",
     .answered = "NI",
     .events = "SA",
     .moved = 0},
    {.name = "put at an offset",
     .op = LNET_MD_PUT,
     .bytes = 100,
     .room = 200,
     .options = LNET_MD_MANAGE_REMOTE,
     .offset = 70,
     .sent = "I",
     .answered = "",
     .events = "S",
     .moved = 100},
    {.name = "long put at an offset",
     .op = LNET_MD_PUT,
     .bytes = 5000,
     .room = 9000,
     .options = LNET_MD_MANAGE_REMOTE,
     .offset = 3000,
     .sent = "RD",
     .answered = "A",
     .events = "S",
     .moved = 5000,
     .writes = true},
    {.name = "get nothing",
     .op = LNET_MD_GET,
     .room = 10,
     .sent = "I",
     .answered = "I",
     .events = "SR"},
    {.name = "get",
     .op = LNET_MD_GET,
     .bytes = 100,
     .room = 100,
     .sent = "I",
     .answered = "I",
     .events = "SR",
     .moved = 100},
    {.name = "get, longest immediate",
     .op = LNET_MD_GET,
     .bytes = 3976,
     .room = 3976,
     .sent = "I",
     .answered = "I",
     .events = "SR",
     .moved = 3976},
    {.name = "get, shortest by RDMA",
     .op = LNET_MD_GET,
     .bytes = 3977,
     .room = 3977,
     .sent = "R",
     .answered = "D",
     .events = "SR",
     .moved = 3977,
     .writes = true},
    {.name = "get, truncated",
     .op = LNET_MD_GET,
     .bytes = 9000,
     .room = 5000,
     .options = LNET_MD_TRUNCATE,
     .sent = "R",
     .answered = "D",
     .events = "SR",
     .moved = 5000,
     .writes = true},
    {.name = "long get of no memory",
     .op = LNET_MD_GET,
     .bytes = 9000,
     .sent = "R",
     .answered = "D",
     .events = "SR",
     .status = -ENODATA},
    {.name = "long get of nothing",
     .op = LNET_MD_GET,
     .bytes = 9000,
     .room = 10,
     .options = LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE,
     .offset = 10,
     .sent = "R",
     .answered = "D",
     .events = "SR"},
    {.name = "get of no memory",
     .op = LNET_MD_GET,
     .bytes = 100,
     .sent = "I",
     .answered = "",
     .events = "S"},
    {.name = "longest put",
     .op = LNET_MD_PUT,
     .bytes = LNET_MTU,
     .room = LNET_MTU,
     .sent = "RD",
     .answered = "A",
     .events = "S",
     .moved = LNET_MTU,
     .writes = true},
};

static const char letters[16] = {0, 'I', 'R', 'N', 'A', 'D', 'R', 'D'};

/* The messages that @n has sent, by their letters; requests and what follows first. */
static void sent_by(const struct loop_node *n, char ret[32])
{
    static const int order[] = {2, 6, 3, 4, 5, 7, 1};
    const struct lnd_counts *c = lnd_counts(n->lnd);
    size_t k = 0;

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        for (uint64_t j = 0; j < c->sent[order[i]]; j++)
            ret[k++] = letters[order[i]];
    }
    ret[k] = 0;
}

static bool has_event(const struct loop_node *n, uint32_t kind)
{
    for (uint32_t i = 0; i < n->n_events; i++) {
        if (n->events[i].kind == kind)
            return true;
    }
    return false;
}

static void check_events(const struct loop_node *n, const struct row *r)
{
    char last;

    assert_int_equal(n->n_events, strlen(r->events));
    for (const char *e = r->events; *e; e++)
        assert_true(has_event(n, *e == 'S' ? SEND : *e == 'A' ? ACK : REPLY));
    for (uint32_t i = 0; i < n->n_events; i++) {
        const struct lnet_event *e = &n->events[i];

        assert_int_equal(e->status, r->status);
        assert_int_equal(e->user, 1);
        if (e->kind == SEND) /* it says nothing of what was taken */
            assert_int_equal(e->mlength, r->status ? 0 : r->bytes);
        else
            assert_int_equal(e->mlength, r->moved);
        assert_int_equal(e->initiator, loop_nid(e->kind == SEND ? 1 : 2));
    }
    last = r->op == LNET_MD_GET ? 'R' : r->wants_ack ? 'A' : 'S';
    assert_int_equal(n->events[n->n_events - 1].unlinked, strchr(r->events, last) != NULL);
}

/* Memory in two fragments, at odd addresses, with the data of @seed. */
static struct lnet_md memory_of(struct loop_node *n, struct selftest_data *d, uint32_t bytes,
                                uint64_t seed)
{
    const struct selftest_shape shape = {.offset = 4000, .frag_bytes = bytes / 2 + 1};
    struct lnet_md md = {0};

    *d = (struct selftest_data){.ops = &loop_ops, .ctx = n};
    assert_int_equal(selftest_data_lay_out(d, &shape, bytes), 0);
    assert_true(selftest_data_fill(d, seed));
    md.n = d->n;
    memcpy(md.frags, d->frags, d->n * sizeof(md.frags[0]));
    return md;
}

/* Returns byte @i of the memory. */
static uint8_t byte_of(struct loop_node *n, const struct lnet_md *md, uint32_t i)
{
    uint32_t k = 0;

    for (; i >= md->frags[k].nob; k++)
        i -= md->frags[k].nob;
    return loop_at(n, md->frags[k].addr + i, 1)[0];
}

static void check_data(const struct row *r, struct loop_node *a, const struct lnet_md *mine,
                       struct loop_node *b, const struct lnet_md *its)
{
    const bool is_put = r->op == LNET_MD_PUT;
    const uint64_t seed = is_put ? 1 : 2; /* of the source */
    const uint32_t from = is_put ? 0 : r->offset, to = is_put ? r->offset : 0;
    const uint32_t moved = r->room ? r->moved : 0;

    for (uint32_t i = 0; i < moved; i++) {
        const uint8_t found = is_put ? byte_of(b, its, to + i) : byte_of(a, mine, to + i);

        if (found != selftest_byte(seed, from + i))
            fail_msg("%s: byte %u is wrong", r->name, i);
    }
    for (uint32_t i = moved; is_put && to + i < r->room; i++)
        assert_int_equal(byte_of(b, its, to + i), selftest_byte(2, to + i));
    for (uint32_t i = moved; !is_put && i < r->bytes; i++)
        assert_int_equal(byte_of(a, mine, i), selftest_byte(1, i));
}

static void run_row(const struct row *r, const struct lnd_config configs[2], bool is_late)
{
    const struct lnet_match match = {PORTAL, LNET_NID_ANY, 0x12, 0xff00};
    struct loop *l = loop_new(3);
    struct loop_node *a = loop_add(l, &configs[0]), *b = loop_add(l, &configs[1]);
    struct selftest_data da, db = {0};
    struct lnet_md mine = memory_of(a, &da, r->bytes, 1), its = {0};
    struct lnet_call call = {.nid = loop_nid(2),
                             .portal = PORTAL,
                             .bits = 0x3412,
                             .hdr_data = 7,
                             .offset = r->offset,
                             .wants_ack = r->wants_ack};
    uint64_t handle;
    char sent[32], answered[32];

    l->is_random = l->is_late = is_late;
    if (r->room) {
        its = memory_of(b, &db, r->room, 2);
        its.options = r->op | r->options;
        its.user = 2;
        assert_int_equal(lnet_attach(b->node, &match, &its, &handle), 0);
    }
    mine.user = 1;
    mine.threshold = 1;
    assert_int_equal(lnet_bind(a->node, &mine, &call.md), 0);
    assert_int_equal(r->op == LNET_MD_PUT ? lnet_put(a->node, &call) : lnet_get(a->node, &call), 0);
    loop_run(l);
    sent_by(a, sent);
    sent_by(b, answered);
    if (strcmp(sent, r->sent) != 0 || strcmp(answered, r->answered) != 0)
        fail_msg("%s: \"%s\" was sent, and \"%s\"", r->name, sent, answered);
    check_events(a, r);
    check_data(r, a, &mine, b, &its);
    assert_int_equal(lnd_counts(a->lnd)->write_bytes + lnd_counts(b->lnd)->write_bytes,
                     r->writes ? r->moved : 0);
    assert_int_equal(lnet_counts(b->node)->dropped, r->room == 0 || b->n_events == 0);
    if (b->n_events) {
        assert_int_equal(b->events[0].kind, r->op == LNET_MD_PUT ? PUT : GET);
        assert_int_equal(b->events[0].match_bits, 0x3412);
        assert_int_equal(b->events[0].initiator, loop_nid(1));
        assert_int_equal(b->events[0].mlength, r->moved);
        assert_int_equal(b->events[0].rlength, r->bytes);
        assert_int_equal(b->events[0].offset, r->offset);
    }
    loop_stop_all(l);
    loop_free(l);
}

static void operations_send_these_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (uint32_t k = 0; k < 24; k++) {
            struct lnd_config c[2] = {lnd_defaults(loop_nid(1), false),
                                      lnd_defaults(loop_nid(2), false)};

            if (rows[i].bytes == LNET_MTU && k != 1)
                continue; /* takes long, and is too long for pages that are not aligned */
            c[k & 1].big_endian = true;
            c[0].cksum = k & 2;
            c[1].cksum = k & 4;
            c[0].version = k % 3 ? LNET_VERSION_2 : LNET_VERSION_1;
            c[0].map = (enum lnet_map)(k % 3);
            c[1].map = (enum lnet_map)(k / 8);
            run_row(&rows[i], c, k & 4);
        }
    }
}

static void an_operation_is_refused(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct loop_node *n = loop_add(l, &c);
    struct lnet_md md = {.n = 1, .frags = {{LNET_MTU + 1, 4096}}};
    struct lnet_call call = {.nid = loop_nid(2)};

    (void)state;
    assert_int_equal(lnet_put(n->node, &call), -ENOENT);
    assert_int_equal(lnet_bind(n->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(n->node, &call), -EMSGSIZE);
    assert_int_equal(lnet_unlink(n->node, call.md), 0);
    assert_int_equal(lnet_unlink(n->node, call.md), -ENOENT);
    md.n = 0;
    assert_int_equal(lnet_bind(n->node, &md, &call.md), 0);
    call.portal = LNET_PORTALS;
    assert_int_equal(lnet_get(n->node, &call), -EINVAL);
    call.portal = 0;
    call.nid = loop_nid(1);
    assert_int_equal(lnet_get(n->node, &call), -EINVAL);
    md.n = LNET_IOV_MAX + 1;
    assert_int_equal(lnet_bind(n->node, &md, &call.md), -EINVAL);
    loop_stop_all(l);
    loop_free(l);
}

/* A REPLY or an ACK may never come: lnet_unlink() does not wait for it. */
static void memory_that_waits_for_an_answer_can_be_unlinked(void **state)
{
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct loop_node *n = loop_add(l, &c), *peer = loop_add(l, &c);
    struct lnet_md md = {.n = 1, .user = 9};
    struct lnet_call call = {.nid = loop_nid(2), .portal = PORTAL, .wants_ack = true};

    (void)state;
    md.frags[0] = (struct lnet_frag){50, loop_pages(n, 50)};
    assert_int_equal(lnet_bind(n->node, &md, &call.md), 0);
    assert_int_equal(lnet_get(n->node, &call), 0);
    assert_int_equal(lnet_unlink(n->node, call.md), -EBUSY); /* it is being sent */
    loop_run(l);
    assert_int_equal(n->n_events, 1);
    assert_true(n->events[0].unlinked);
    assert_int_equal(lnet_bind(n->node, &md, &call.md), 0);
    assert_int_equal(lnet_put(n->node, &call), 0);
    loop_run(l);
    assert_int_equal(n->n_events, 2);
    assert_false(n->events[1].unlinked);
    assert_int_equal(lnet_unlink(n->node, call.md), 0); /* the peer has dropped the PUT */
    assert_int_equal(lnet_counts(peer->node)->dropped, 2);
    loop_stop_all(l);
    loop_free(l);
}

static void a_node_answers_a_ping(void **state)
{
    struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c), *b;
    const uint64_t sink = loop_pages(a, LNET_PING_BYTES);
    struct lnet_ping_info info;
    uint64_t md, page;

    (void)state;
    c.big_endian = true;
    b = loop_add(l, &c);
    page = loop_pages(b, LNET_PING_BYTES);
    assert_int_equal(lnet_ping_serve(b->node, &loop_ops, b, page, &md), 0);
    assert_int_equal(lnet_ping(a->node, loop_nid(2), sink, 5, &md), 0);
    loop_run(l);
    assert_int_equal(a->n_events, 2);
    assert_int_equal(a->events[1].mlength, 48);
    assert_true(lnet_ping_take(&loop_ops, a, sink, 48, &info));
    assert_int_equal(info.pid, LNET_PID_LUSTRE);
    assert_int_equal(info.n, 2);
    assert_int_equal(info.nis[0].nid, LNET_NID_LO);
    assert_int_equal(info.nis[1].nid, loop_nid(2));
    assert_true(info.nis[1].is_up);
    assert_true(lnet_ping_take(&loop_ops, a, sink, 33, &info));
    assert_int_equal(info.n, 1);
    assert_false(lnet_ping_take(&loop_ops, a, sink, 15, &info));
    assert_false(lnet_ping_take(&loop_ops, a, sink + 4, 48, &info));
    loop_stop_all(l);
    loop_free(l);
}

/* The handle in an ACK names the memory and the incarnation of its node.  The ACK of another
 * incarnation ends nothing.
 */
static void an_ack_for_another_incarnation_is_dropped(void **state)
{
    const struct lnet_match match = {PORTAL, LNET_NID_ANY, 0, 0};
    const struct lnd_config c = lnd_defaults(loop_nid(1), false);
    struct loop *l = loop_new(1);
    struct loop_node *a = loop_add(l, &c), *b = loop_add(l, &c);
    struct lnet_md mine = {.n = 1, .threshold = 1}, its = {.n = 1, .options = LNET_MD_PUT};
    struct lnet_call call = {.nid = loop_nid(2), .portal = PORTAL, .wants_ack = true};
    uint64_t handle;

    (void)state;
    mine.frags[0] = (struct lnet_frag){100, loop_pages(a, 100)};
    its.frags[0] = (struct lnet_frag){100, loop_pages(b, 100)};
    assert_int_equal(lnet_attach(b->node, &match, &its, &handle), 0);
    assert_int_equal(lnet_bind(a->node, &mine, &call.md), 0);
    assert_int_equal(lnet_put(a->node, &call), 0);
    while (b->n_events == 0)
        assert_true(loop_step(l));
    l->tamper = LOOP_MESSAGE;
    l->tamper_at = ACK_INTERFACE_AT;
    l->tamper_xor = 1;
    loop_run(l);
    assert_int_equal(l->tamper, LOOP_NOTHING);
    assert_int_equal(lnet_counts(a->node)->dropped, 1);
    assert_false(has_event(a, ACK));
    loop_stop_all(l);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_send_these_messages),
        cmocka_unit_test(an_operation_is_refused),
        cmocka_unit_test(memory_that_waits_for_an_answer_can_be_unlinked),
        cmocka_unit_test(a_node_answers_a_ping),
        cmocka_unit_test(an_ack_for_another_incarnation_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
