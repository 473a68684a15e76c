/* SPDX-License-Identifier: MIT */
/* Memory of the lab and its guests over rounds that end where they began: objects are created, used
 * over a lossy network, and destroyed.  All later rounds fit the memory of the first.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/qp_fsm.h"
#include "emu/lab/lab_state.h"
#include "rdmalab/ip.h"
#include "testbed/testbed.h"

#define ROUNDS        12u
#define FIRST_ROUNDS  2u /* in these, tables grow to their size */
#define MESSAGES      20u
#define MESSAGE_BYTES 3000u
#define MR_BYTES      (2 * MESSAGES * MESSAGE_BYTES)

static const struct rdl_limits bounded = {.ticks = 1000000};

struct cycle {
    struct testbed r;
    rdl_mr mr[2];
    rdl_cq cq[2];
    rdl_qp qp[2];
    uint32_t lkey[2], qpn[2];
};

static void go(struct cycle *c)
{
    assert_int_equal(rdl_run(c->r.lab, RDL_NEVER, bounded), RDL_OK);
}

/* What was asked for, with status @asked, is answered with yes. */
static void done(struct cycle *c, unsigned side, enum rdl_status asked)
{
    assert_int_equal(asked, RDL_OK);
    assert_int_equal(testbed_wait(&c->r, side), RDL_OK);
}

static void make(struct cycle *c, unsigned side)
{
    const struct testbed_side *s = &c->r.side[side];
    struct rdl_qp_config qp = {.pd = s->pd,
                               .type = QPT_RC,
                               .max_send_wr = MESSAGES,
                               .max_recv_wr = MESSAGES,
                               .max_send_sge = 1,
                               .max_recv_sge = 1};
    struct rdl_mr_info mr;
    struct rdl_qp_info info;

    done(c, side,
         rdl_reg_mr(c->r.lab, s->pd, s->mem.addr, MR_BYTES, ACC_LOCAL_WRITE, NULL, &c->mr[side]));
    done(c, side, rdl_create_cq(c->r.lab, s->host, 2 * MESSAGES, NULL, &c->cq[side]));
    qp.send_cq = qp.recv_cq = c->cq[side];
    done(c, side, rdl_create_qp(c->r.lab, &qp, NULL, &c->qp[side]));
    assert_int_equal(rdl_mr_info(c->r.lab, c->mr[side], &mr), RDL_OK);
    assert_int_equal(rdl_qp_info(c->r.lab, c->qp[side], &info), RDL_OK);
    c->lkey[side] = mr.lkey;
    c->qpn[side] = info.qpn;
}

static void destroy(struct cycle *c, unsigned side)
{
    done(c, side, rdl_destroy_qp(c->r.lab, c->qp[side]));
    done(c, side, rdl_destroy_cq(c->r.lab, c->cq[side]));
    done(c, side, rdl_dereg_mr(c->r.lab, c->mr[side]));
}

static void move(struct cycle *c, unsigned side, struct rdl_qp_attr *a, enum qp_state to)
{
    struct rdl_modify_error err;

    a->state = to;
    done(
        c, side,
        rdl_modify_qp(c->r.lab, c->qp[side], a, QPA_STATE | qp_fsm_needs(QPT_RC, to), false, &err));
}

static void connect(struct cycle *c, unsigned side)
{
    struct rdl_qp_attr a = {
        .path_mtu = MTU_256,
        .port = 1,
        .dest_qpn = c->qpn[1 - side],
        .min_rnr_timer = 1,
        .timeout = 4,
        .retry_cnt = 3,
        .rnr_retry = 3,
        .ah.hop_limit = 64,
    };
    uint8_t mac[6];

    assert_int_equal(rdl_host_address(c->r.lab, c->r.side[1 - side].host, 0, a.ah.dgid, mac),
                     RDL_OK);
    move(c, side, &a, QPS_INIT);
    move(c, side, &a, QPS_RTR);
    move(c, side, &a, QPS_RTS);
}

static void post(struct cycle *c, uint32_t i)
{
    const struct rdl_sge from = {c->r.side[0].mem.addr + i * MESSAGE_BYTES, MESSAGE_BYTES,
                                 c->lkey[0]};
    const struct rdl_sge to = {c->r.side[1].mem.addr + i * MESSAGE_BYTES, MESSAGE_BYTES,
                               c->lkey[1]};
    const struct rdl_send_wr send = {
        .wr_id = i, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &from, .n_sge = 1};
    const struct rdl_recv_wr recv = {.wr_id = i, .sge = &to, .n_sge = 1};

    assert_int_equal(rdl_post_recv(c->r.lab, c->qp[1], &recv, false), RDL_OK);
    assert_int_equal(rdl_post_send(c->r.lab, c->qp[0], &send, false), RDL_OK);
}

/* Polls @n completions of @side, all of them with @status. */
static void expect(struct cycle *c, unsigned side, size_t n, enum wc_status status)
{
    struct rdl_wc wc[2 * MESSAGES];
    size_t got = 0;

    assert_int_equal(rdl_poll_cq(c->r.lab, c->cq[side], ARRAY_LEN(wc), wc, &got), RDL_OK);
    assert_int_equal(got, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(wc[i].status, status);
}

/* Of the frames to come one is dropped, one copied, one late, one damaged: all arrive in the end.
 */
static void talk(struct cycle *c)
{
    static const uint32_t kinds[] = {FLT_DROP, FLT_DUPLICATE, FLT_DELAY, FLT_CORRUPT};
    rdl_fault faults[ARRAY_LEN(kinds)];

    for (uint32_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct rdl_fault_config config = {
            .kind = kinds[i],
            .opcode = RDL_ANY,
            .syndrome = RDL_ANY,
            .psn = RDL_ANY,
            .dest_qpn = RDL_ANY,
            .nth = 3 + 20 * i,
            .count = 1,
            .delay_ns = 5000,
            .corrupt_bit = 400, /* of the IP header or behind it, for every frame of the test */
        };

        assert_int_equal(rdl_fault_add(c->r.lab, &config, &faults[i]), RDL_OK);
    }
    for (uint32_t i = 0; i < MESSAGES; i++)
        post(c, i);
    go(c);
    expect(c, 0, MESSAGES, WCS_SUCCESS);
    expect(c, 1, MESSAGES, WCS_SUCCESS);
    for (uint32_t i = 0; i < ARRAY_LEN(kinds); i++)
        assert_int_equal(rdl_fault_remove(c->r.lab, faults[i]), RDL_OK);
}

/* Everything is lost: the requester gives up.  The receive stays where it is. */
static void talk_in_vain(struct cycle *c)
{
    const struct rdl_link_config deaf = {.latency_ns = 1000, .loss_ppm = 1000000};
    const struct rdl_link_config calm = {.latency_ns = 1000};

    assert_int_equal(rdl_link_set(c->r.lab, c->r.link, &deaf), RDL_OK);
    post(c, 0);
    go(c);
    expect(c, 0, 1, WCS_RETRY_EXC_ERR);
    assert_int_equal(rdl_link_set(c->r.lab, c->r.link, &calm), RDL_OK);
}

/* A frame that is none, and a ping that waits for an answer which never comes. */
static void trouble_the_guest(struct cycle *c)
{
    struct rdl_ping_config ping = {.address = {[10] = 0xff, 0xff, 10, 0, 0, 99}, .bytes = 8};
    static const uint8_t junk[100] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    rdl_ping_id id;

    assert_int_equal(rdl_inject(c->r.lab, c->r.side[1].host, junk, sizeof(junk)), RDL_OK);
    assert_int_equal(rdl_ping(c->r.lab, c->r.side[0].host, &ping, &id), RDL_OK);
    go(c);
}

/* What may not grow from round to round. */
struct used {
    size_t lab;
    uint64_t dma[2], pages[2]; /* of the guests */
};

static struct used used_by(const struct cycle *c)
{
    struct used u = {.lab = arena_live_bytes(c->r.lab->arena)};

    for (unsigned side = 0; side < 2; side++) {
        const struct host *h = lab_host(c->r.lab->state, c->r.side[side].host.raw);

        u.dma[side] = h->guest.space.dma_next;
        u.pages[side] = h->guest.space.n_taken - h->guest.space.n_free;
    }
    return u;
}

/* All pages of the guests' RAM are there from the start, and will not take more of the arena. */
static void touch_pages(const struct cycle *c)
{
    for (unsigned side = 0; side < 2; side++) {
        struct ram *ram = &lab_host(c->r.lab->state, c->r.side[side].host.raw)->ram;

        for (uint64_t i = 0; i < ram->bytes >> RAM_PAGE_BITS; i++) {
            if (!ram_page(ram, i))
                assert_true(ram_write(ram, i << RAM_PAGE_BITS, "", 1));
        }
    }
}

static void rounds_that_end_where_they_began_take_no_more_memory(void **state)
{
    const struct testbed_config config = {
        .seed = 1,
        .check_invariants = true,
        .mr_bytes = MR_BYTES,
        .max_wr = MESSAGES,
        .path_mtu = MTU_256,
        .timeout = 4,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
        .latency_ns = 1000,
    };
    struct used before = {0};
    struct cycle c = {0};

    (void)state;
    assert_int_equal(testbed_init(&c.r, &config), RDL_OK);
    touch_pages(&c);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        make(&c, 0);
        make(&c, 1);
        connect(&c, 0);
        connect(&c, 1);
        talk(&c);
        talk_in_vain(&c);
        trouble_the_guest(&c);
        destroy(&c, 0);
        destroy(&c, 1);
        go(&c);
        if (round == FIRST_ROUNDS)
            before = used_by(&c);
        if (round > FIRST_ROUNDS) {
            const struct used now = used_by(&c);

            assert_int_equal(now.lab, before.lab);
            assert_memory_equal(&now, &before, sizeof(now));
        }
    }
    testbed_done(&c.r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_that_end_where_they_began_take_no_more_memory),
    };

    return cmocka_run_group_tests_name("cycles", tests, NULL, NULL);
}
