/* SPDX-License-Identifier: MIT */
/* RDMA WRITE, READ and atomics between two queue pairs: the bytes moved, the order, recovery from
 * loss, and refusals.
 */
#include <string.h>

#include "emu/facts/aeth.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/trace/event.h"
#include "rig.h"
#include "testing.h"

#define REMOTE 65536u  /* offsets in the regions */
#define BACK   131072u /* where READs go */

#define RD_ATOMIC_MAX 4u

static struct rig *rig_with(uint32_t rd_atomic, uint32_t mtu)
{
    struct rig_config c = rig_defaults();

    c.rd_atomic = rd_atomic;
    c.mtu = mtu;
    return rig_new(&c);
}

static void rdma(struct rig *r, enum wr_opcode opcode, uint64_t wr_id, uint32_t offset,
                 uint32_t bytes, uint32_t remote)
{
    rig_prepare_remote(r, opcode, wr_id, offset, bytes, remote);
    rig_post(r, 0, WQ_SEND);
}

/* Shows B58, B68, I15. */
static void what_is_written_can_be_read_again(void **state)
{
    static const uint32_t sizes[] = {0, 1, 3, 255, 256, 257, 512, 769, 5001, 20000};
    static const uint32_t mtus[] = {MTU_256, MTU_1024, MTU_4096};

    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(mtus); m++) {
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            struct rig *r = rig_with(4, mtus[m]);
            static uint8_t sent[20001], back[20001];

            rig_fill(r, 0, 7);
            rig_fill(r, 1, 9);
            rdma(r, WR_RDMA_WRITE, 1, 3, sizes[i], REMOTE + 1);
            rdma(r, WR_RDMA_READ, 2, BACK, sizes[i], REMOTE + 1);
            rig_run(r);
            rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
            rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
            assert_int_equal(r->host[0].wc[WQ_SEND][0].bytes, 0);
            assert_int_equal(r->host[0].wc[WQ_SEND][1].bytes, sizes[i]);
            assert_int_equal(r->host[0].wc[WQ_SEND][1].opcode, WC_RDMA_READ);
            assert_true(rig_same(r, 3, REMOTE + 1, sizes[i]));
            rig_read(r, 0, 3, sent, sizes[i]);
            rig_read(r, 0, BACK, back, sizes[i]);
            assert_memory_equal(sent, back, sizes[i]);
            assert_int_equal(rig_rc(r, 1)->resp.msn, 2);
            rig_free(r);
        }
    }
}

static uint64_t word_at(struct rig *r, uint32_t host, uint32_t offset)
{
    uint8_t b[8];
    uint64_t v = 0;

    rig_read(r, host, offset, b, sizeof(b));
    for (int i = 7; i >= 0; i--)
        v = v << 8 | b[i];
    return v;
}

static void atomic(struct rig *r, enum wr_opcode opcode, uint64_t wr_id, uint64_t compare_add,
                   uint64_t swap)
{
    struct rig_post *p =
        rig_prepare_remote(r, opcode, wr_id, BACK + 8 * (uint32_t)wr_id, 8, REMOTE);

    p->compare_add = compare_add;
    p->swap = swap;
    rig_post(r, 0, WQ_SEND);
}

/* Shows B70. */
static void atomics_bring_back_what_they_found(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    const uint64_t first = word_at(r, 1, REMOTE);

    (void)state;
    atomic(r, WR_ATOMIC_FETCH_AND_ADD, 0, 5, 0);
    atomic(r, WR_ATOMIC_CMP_AND_SWP, 1, first + 5, 77); /* equal */
    atomic(r, WR_ATOMIC_CMP_AND_SWP, 2, 76, 99);        /* not equal */
    atomic(r, WR_ATOMIC_FETCH_AND_ADD, 3, UINT64_MAX, 0);
    rig_run(r);
    for (uint32_t i = 0; i < 4; i++) {
        rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
        assert_int_equal(r->host[0].wc[WQ_SEND][i].bytes, 8);
    }
    assert_int_equal(word_at(r, 0, BACK), first);
    assert_int_equal(word_at(r, 0, BACK + 8), first + 5);
    assert_int_equal(word_at(r, 0, BACK + 16), 77);
    assert_int_equal(word_at(r, 0, BACK + 24), 77);
    assert_int_equal(word_at(r, 1, REMOTE), 76); /* it goes round */
    assert_int_equal(rig_event(r, EV_atomic, 1, 2)->u.atomic.left, 77);
    rig_free(r);
}

/* Whatever is lost, copied or late: each atomic is carried out once, and READs bring what is
 * there.  Shows B46, B51, B69, I2.
 */
static void nothing_is_done_twice_on_a_bad_link(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 80; seed++) {
        struct rig_config c = rig_defaults();
        struct rig *r;
        struct prng dice = prng_stream(seed, 1);
        uint32_t n_adds = 0;
        uint64_t first;

        c.retry_cnt = 7;
        c.sq_psn = 0xfffff0;
        c.rd_atomic = 1 + seed % 4;
        r = rig_new(&c);
        r->chance = prng_stream(seed, 2);
        r->loss = 30 + seed % 40;
        r->copy = 30;
        r->delay = 40;
        r->shortcut = seed < 40 ? 0 : 600; /* messages go whole, or not, as it comes */
        rig_fill(r, 0, (uint8_t)seed);
        rig_fill(r, 1, (uint8_t)(seed + 1));
        first = word_at(r, 1, REMOTE);
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t bytes = (uint32_t)prng_below(&dice, 1500);

            switch (prng_below(&dice, 4)) {
            case 0:
                rdma(r, WR_RDMA_WRITE, i, 100, bytes, 100);
                break;
            case 1:
                rdma(r, WR_RDMA_READ, i, BACK + 2000 + 1500 * i, bytes, 4096 + 1500 * i % 9000);
                break;
            default:
                atomic(r, WR_ATOMIC_FETCH_AND_ADD, i, 1, 0);
                n_adds++;
                break;
            }
        }
        rig_run(r);
        assert_int_equal(r->host[0].n_wc[WQ_SEND], 40);
        for (uint32_t i = 0; i < 40; i++)
            rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
        assert_int_equal(word_at(r, 1, REMOTE), first + n_adds);
        assert_int_equal(rig_count(r, EV_atomic, 1, NULL, 0), n_adds);
        for (uint32_t i = 0, n = 0; i < 40; i++) {
            const struct completion *wc = &r->host[0].wc[WQ_SEND][i];

            if (wc->opcode == WC_FETCH_ADD)
                assert_int_equal(word_at(r, 0, BACK + 8 * i), first + n++);
        }
        rig_free(r);
    }
}

/* The third of four responses is lost: the fourth is an implied NAK, and the READ goes on there.
 * Shows B50, B53, B58.
 */
static void a_read_goes_on_where_a_response_is_missing(void **state)
{
    struct rig *r = rig_with(4, MTU_256);

    (void)state;
    rig_fill(r, 1, 5);
    rig_rule(r, 1, OP_RC_RDMA_READ_RESPONSE_MIDDLE, 102, 1, RIG_LOSE);
    rdma(r, WR_RDMA_READ, 1, 0, 1000, REMOTE);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    assert_true(rig_same(r, 0, REMOTE, 1000));
    assert_int_equal(rig_count(r, EV_tx, 0, "opcode", OP_RC_RDMA_READ_REQUEST), 2);
    assert_int_equal(rig_event(r, EV_tx, 0, 1)->u.tx.psn, 102);
    assert_int_equal(rig_event(r, EV_tx, 0, 1)->u.tx.va, RIG_ADDR + REMOTE + 512);
    assert_int_equal(rig_event(r, EV_tx, 0, 1)->u.tx.length, 1000 - 512);
    assert_int_equal(rig_event(r, EV_tx, 0, 1)->u.tx.attempt, 2);
    assert_int_equal(rig_count(r, EV_rx, 0, "rule", RULE_COMP_IMPLIED_NAK), 1);
    assert_int_equal(rig_count(r, EV_timeout, ANY, NULL, 0), 0);
    assert_int_equal(rig_rc(r, 1)->resp.msn, 1); /* a duplicate counts for nothing */
    rig_free(r);
}

/* SENDs behind a READ are acknowledged, but its response is lost: it alone is asked for again.
 * Shows B53.
 */
static void an_acknowledge_does_not_answer_a_read(void **state)
{
    struct rig *r = rig_with(4, MTU_256);

    (void)state;
    rig_rule(r, 1, OP_RC_RDMA_READ_RESPONSE_ONLY, ANY, 1, RIG_LOSE);
    rig_recv(r, 7, 0, 256);
    rdma(r, WR_RDMA_READ, 1, BACK, 100, REMOTE);
    rig_send(r, 2, 0, 100);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    assert_int_equal(rig_count(r, EV_rx, 0, "rule", RULE_COMP_IMPLIED_NAK), 1);
    assert_int_equal(rig_count(r, EV_timeout, ANY, NULL, 0), 0);
    assert_int_equal(r->host[1].n_wc[WQ_RECV], 1);
    rig_free(r);
}

/* No more than max_rd_atomic at a time; a SEND overtakes none.  Shows B64, I11. */
static void reads_wait_for_their_turn(void **state)
{
    (void)state;
    for (uint32_t limit = 1; limit <= 4; limit++) {
        struct rig *r = rig_with(limit, MTU_256);
        uint32_t out = 0, most = 0;

        rig_recv(r, 7, 0, 256);
        for (uint32_t i = 0; i < 8; i++)
            rdma(r, WR_RDMA_READ, i, BACK + 300 * i, 300, REMOTE);
        rig_send(r, 8, 0, 100);
        rig_run(r);
        for (uint32_t i = 0; i < 9; i++)
            rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
        for (uint32_t i = 0; i < r->n_events; i++) {
            const struct ev *e = &r->events[i];

            if (e->kind == EV_tx && e->u.tx.opcode == OP_RC_RDMA_READ_REQUEST)
                out++;
            if (e->kind == EV_rx && e->u.rx.opcode == OP_RC_RDMA_READ_RESPONSE_LAST)
                out--;
            most = out > most ? out : most;
        }
        assert_int_equal(most, limit);
        rig_free(r);
    }
}

/* Every frame comes twice, the second time whenever.  A request that was answered is answered again
 * then, which takes no place of a new one.
 */
static void copies_take_no_place(void **state)
{
    (void)state;
    for (uint32_t limit = 1; limit <= RD_ATOMIC_MAX; limit++) {
        for (uint32_t later_ns = 0; later_ns < 5000; later_ns += 100) {
            struct rig *r = rig_with(limit, MTU_256);

            r->copy = 1000;
            r->copy_ns = later_ns;
            rig_fill(r, 1, 5);
            for (uint32_t i = 0; i < 20; i++)
                rdma(r, WR_RDMA_READ, i, BACK + 1500 * i, 1200, REMOTE + 100 * i);
            rig_run(r);
            for (uint32_t i = 0; i < 20; i++) {
                rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
                assert_true(rig_same(r, BACK + 1500 * i, REMOTE + 100 * i, 1200));
            }
            assert_int_equal(rig_count(r, EV_rx, 1, "rule", RULE_RESP_RD_ROOM), 0);
            rig_free(r);
        }
    }
}

/* Without a fence the WRITE may leave before the READ has its data; with it not.  Shows B67, I14.
 */
static void a_fence_waits_for_reads(void **state)
{
    (void)state;
    for (uint32_t fenced = 0; fenced <= 1; fenced++) {
        struct rig *r = rig_with(4, MTU_256);
        const struct ev *write, *data;

        rdma(r, WR_RDMA_READ, 1, BACK, 100, REMOTE);
        rig_prepare_remote(r, WR_RDMA_WRITE, 2, 0, 100, 0)->flags |= fenced ? SF_FENCE : 0;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
        write = rig_event(r, EV_tx, 0, 1);
        data = rig_event(r, EV_rx, 0, 0);
        assert_int_equal(write->u.tx.opcode, OP_RC_RDMA_WRITE_ONLY);
        assert_int_equal(data->u.rx.opcode, OP_RC_RDMA_READ_RESPONSE_ONLY);
        assert_int_equal(write->id > data->id, fenced);
        rig_free(r);
    }
}

/* What the responder refuses, and how both ends learn of it; memory stays as it is.  Shows B16,
 * B18, B19, B74, I7.
 */
static void each_rule_refuses_with_its_nak(void **state)
{
    static const struct {
        enum wr_opcode opcode;
        uint32_t access, remote, bytes, rkey_bits;
        enum rule rule;
        enum wc_status status;
    } rows[] = {
        {WR_RDMA_WRITE, ACC_REMOTE_READ, 0, 8, 0, RULE_RESP_QP_ACCESS, WCS_REM_INV_REQ_ERR},
        {WR_RDMA_READ, ACC_REMOTE_WRITE, 0, 8, 0, RULE_RESP_QP_ACCESS, WCS_REM_INV_REQ_ERR},
        {WR_ATOMIC_FETCH_AND_ADD, ACC_REMOTE_WRITE, 0, 8, 0, RULE_RESP_QP_ACCESS,
         WCS_REM_INV_REQ_ERR},
        {WR_ATOMIC_FETCH_AND_ADD, ACC_REMOTE_ATOMIC, 4, 8, 0xff, RULE_RESP_ATOMIC_ALIGNED,
         WCS_REM_INV_REQ_ERR},
        {WR_RDMA_WRITE, ACC_REMOTE_WRITE, 0, 300, 0xff, RULE_MR_KEY, WCS_REM_ACCESS_ERR},
        {WR_RDMA_READ, ACC_REMOTE_READ, 0, 300, 0xff00, RULE_MR_KEY, WCS_REM_ACCESS_ERR},
        {WR_RDMA_WRITE, ACC_REMOTE_WRITE, RIG_REGION - 299, 300, 0, RULE_MR_RANGE,
         WCS_REM_ACCESS_ERR},
        {WR_RDMA_READ, ACC_REMOTE_READ, RIG_REGION - 299, 300, 0, RULE_MR_RANGE,
         WCS_REM_ACCESS_ERR},
        {WR_RDMA_WRITE, ACC_REMOTE_WRITE, 0, 0, 0xff00, RULE_NONE, WCS_SUCCESS}, /* C9-88 */
        {WR_RDMA_READ, ACC_REMOTE_READ, 0, 0, 0xff00, RULE_NONE, WCS_SUCCESS},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig_config c = rig_defaults();
        struct rig *r;
        uint8_t before[512], after[512];

        c.access = rows[i].access;
        r = rig_new(&c);
        rig_fill(r, 1, 3);
        rig_read(r, 1, RIG_REGION - 512, before, sizeof(before));
        rig_recv(r, 7, 0, 256);
        rig_prepare_remote(r, rows[i].opcode, 1, 0, rows[i].bytes, rows[i].remote)->rkey ^=
            rows[i].rkey_bits;
        rig_post(r, 0, WQ_SEND);
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, rows[i].status);
        assert_int_equal(rig_event(r, EV_rx, 1, 0)->u.rx.rule, rows[i].rule);
        if (rows[i].rule != RULE_NONE) {
            assert_int_equal(r->host[0].qp->state, QPS_ERR);
            assert_int_equal(r->host[1].qp->state, QPS_ERR);
            rig_expect(r, 1, WQ_RECV, 0, 7, WCS_WR_FLUSH_ERR);
            assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0), 0);
        }
        rig_read(r, 1, RIG_REGION - 512, after, sizeof(after));
        assert_memory_equal(before, after, sizeof(before));
        rig_free(r);
    }
}

/* The region is deregistered while its responses are being sent: the NAK names the one that
 * fails, and no byte of the region leaves after that.  Shows B16.
 */
static void a_read_ends_where_its_region_does(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    const uint32_t key = r->host[1].mr->key;

    (void)state;
    rdma(r, WR_RDMA_READ, 1, 0, 20000, REMOTE);
    rig_run_until(r, 2 * RIG_WIRE_NS + 20 * RIG_EACH_NS);
    assert_int_equal(hca_mr_destroy(&r->host[1].hca, key_number(key)), REF_NONE);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_ACCESS_ERR);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_REMOTE_ACCESS), 1);
    assert_int_equal(rig_count(r, EV_key, 1, "rule", RULE_MR_KEY), 1); /* it says why */
    assert_int_equal(r->host[1].qp->state, QPS_ERR);
    rig_free(r);
}

/* A request that is to be sent again cannot be, as its region is gone; before it is the oldest, the
 * answer to a READ behind it comes.  The request ends the queue pair, and the READ brings nothing.
 */
static void a_read_behind_a_refused_request_brings_nothing(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    struct rig_host *h = &r->host[0];
    const uint8_t bytes[8] = "read";
    uint8_t before[8], after[8];
    struct packet answer;
    struct rig_post *p;
    struct mkey *mr;

    (void)state;
    rig_fill(r, 0, 7);
    rig_fill(r, 1, 9);
    rig_read(r, 0, BACK, before, sizeof(before));
    assert_int_equal(hca_dma_mr_create(&h->hca, h->qp->config.pdn, 0, &mr), REF_NONE);
    rig_rule(r, 1, OP_RC_ACKNOWLEDGE, ANY, ANY, RIG_LOSE);
    rig_rule(r, 1, OP_RC_RDMA_READ_RESPONSE_ONLY, ANY, ANY, RIG_LOSE);
    rdma(r, WR_RDMA_WRITE, 1, 0, 64, REMOTE);
    p = rig_prepare_remote(r, WR_RDMA_WRITE, 2, 0, 64, REMOTE);
    p->sge[0] = (struct sge){0, 64, mr->key};
    rig_post(r, 0, WQ_SEND);
    rdma(r, WR_RDMA_READ, 3, BACK, 8, REMOTE + 512);
    rig_run_until(r, 60000); /* the timer runs out at 65 us */
    assert_int_equal(hca_mr_destroy(&h->hca, key_number(mr->key)), REF_NONE);
    rig_run_until(r, 67000); /* the first is on its way again, the second is refused */
    assert_int_equal(h->n_wc[WQ_SEND], 0);
    assert_int_equal(rig_rc(r, 0)->req.next, 1);
    answer = rig_packet(r, 0, OP_RC_RDMA_READ_RESPONSE_ONLY, 102);
    answer.aeth = (struct aeth){aeth_pack(SYN_ACK, AETH_NO_CREDITS), 3};
    answer.payload = bytes;
    answer.payload_bytes = sizeof(bytes);
    rig_inject(r, 0, &answer);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_LOC_PROT_ERR);
    rig_expect(r, 0, WQ_SEND, 2, 3, WCS_WR_FLUSH_ERR);
    rig_read(r, 0, BACK, after, sizeof(after));
    assert_memory_equal(before, after, sizeof(before));
    rig_free(r);
}

/* Between two acknowledges READs may take more PSNs than can be compared.  Shows I8, I10. */
static void an_acknowledge_may_be_far_behind_the_last_one(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    struct requester *req = &xport_of(r->host[0].qp)->req;
    struct responder *resp = &xport_of(r->host[1].qp)->resp;

    (void)state;
    rdma(r, WR_RDMA_WRITE, 1, 0, 8, REMOTE);
    rig_run(r);
    assert_int_equal(resp->n_acked, 1);
    req->una = psn_add(req->una, REQ_WINDOW_PSNS - 16); /* as if so many had been read */
    resp_took(resp, REQ_WINDOW_PSNS - 16);
    rdma(r, WR_RDMA_READ, 2, BACK, 256 * 32, REMOTE);
    rdma(r, WR_RDMA_WRITE, 3, 0, 8, REMOTE);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 1, 2, WCS_SUCCESS);
    rig_expect(r, 0, WQ_SEND, 2, 3, WCS_SUCCESS);
    assert_int_equal(resp->n_acked, REQ_WINDOW_PSNS - 16 + 34);
    rig_free(r);
}

/* A READ is asked for again while the acknowledge of what came after it waits for the port. */
static void a_replay_says_less_than_an_acknowledge_of_later_requests(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    struct packet read = rig_packet(r, 1, OP_RC_RDMA_READ_REQUEST, 100);
    struct packet write = rig_packet(r, 1, OP_RC_RDMA_WRITE_ONLY, 101);
    uint8_t bytes[8] = "written";

    (void)state;
    read.reth = (struct reth){RIG_ADDR + REMOTE, r->host[1].mr->key, 64};
    write.reth = (struct reth){RIG_ADDR + REMOTE, r->host[1].mr->key, sizeof(bytes)};
    write.payload = bytes;
    write.payload_bytes = sizeof(bytes);
    write.bth.ack_req = true;
    rig_inject(r, 1, &read);
    rig_run(r);
    rig_inject(r, 1, &write);
    rig_inject(r, 1, &read);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_tx, 1, "opcode", OP_RC_RDMA_READ_RESPONSE_ONLY), 2);
    assert_int_equal(rig_count(r, EV_tx, 1, "opcode", OP_RC_ACKNOWLEDGE), 1);
    assert_int_equal(rig_event(r, EV_tx, 1, 2)->u.tx.psn, 101);
    rig_free(r);
}

/* A WRITE that is under way ends there, too: each of its packets asks the key. */
static void a_write_ends_where_its_region_does(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    const uint32_t key = r->host[1].mr->key;
    uint32_t n_written;

    (void)state;
    rdma(r, WR_RDMA_WRITE, 1, 0, 20000, REMOTE);
    rig_run_until(r, RIG_WIRE_NS + 20 * RIG_EACH_NS);
    n_written = rig_count(r, EV_dma_write, 1, NULL, 0);
    assert_in_range(n_written, 1, 50);
    assert_int_equal(hca_mr_destroy(&r->host[1].hca, key_number(key)), REF_NONE);
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_REM_ACCESS_ERR);
    assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0), n_written);
    assert_int_equal(r->host[1].qp->state, QPS_ERR);
    rig_free(r);
}

/* Who sends more READs than its peer takes at a time gets what was taken, and then a NAK. */
static void more_reads_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    for (uint32_t room = 1; room < RD_ATOMIC_MAX; room++) {
        struct rig *r = rig_with(RD_ATOMIC_MAX, MTU_256);

        r->host[1].qp->attr.max_dest_rd_atomic = room;
        for (uint32_t i = 0; i <= room; i++)
            rdma(r, WR_RDMA_READ, i, BACK + 4000 * i, 4000, REMOTE);
        rig_run(r);
        for (uint32_t i = 0; i < room; i++)
            rig_expect(r, 0, WQ_SEND, i, i, WCS_SUCCESS);
        rig_expect(r, 0, WQ_SEND, room, room, WCS_REM_INV_REQ_ERR);
        assert_int_equal(rig_count(r, EV_rx, 1, "rule", RULE_RESP_RD_ROOM), 1);
        assert_int_equal(r->host[1].qp->state, QPS_ERR);
        rig_free(r);
    }
}

/* A WRITE with immediate writes first, then needs a receive, which it leaves as it is.  Shows
 * B37, B39, B77, B78.
 */
static void a_write_with_immediate_completes_a_receive(void **state)
{
    (void)state;
    for (uint32_t late = 0; late <= 1; late++) {
        struct rig *r = rig_with(4, MTU_256);
        struct rig_post *p;
        uint8_t before[256], after[256];

        rig_fill(r, 0, 3);
        rig_read(r, 1, 0, before, sizeof(before));
        if (!late)
            rig_recv(r, 7, 0, 256);
        p = rig_prepare_remote(r, WR_RDMA_WRITE_WITH_IMM, 1, 0, 600, REMOTE);
        memcpy(p->imm, "\1\2\3\4", 4);
        rig_post(r, 0, WQ_SEND);
        if (late) {
            rig_run_until(r, 8 * RIG_WIRE_NS);
            assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_RNR_NAK), 1);
            rig_recv(r, 7, 0, 256);
        }
        rig_run(r);
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
        rig_expect(r, 1, WQ_RECV, 0, 7, WCS_SUCCESS);
        assert_int_equal(r->host[1].wc[WQ_RECV][0].opcode, WC_RECV_RDMA_WITH_IMM);
        assert_int_equal(r->host[1].wc[WQ_RECV][0].bytes, 600);
        assert_memory_equal(r->host[1].wc[WQ_RECV][0].imm, "\1\2\3\4", 4);
        assert_true(rig_same(r, 0, REMOTE, 600));
        rig_read(r, 1, 0, after, sizeof(after));
        assert_memory_equal(before, after, sizeof(before));
        rig_free(r);
    }
}

/* Answers do not keep requests from leaving: they take turns. */
static void responses_and_requests_take_turns(void **state)
{
    struct rig *r = rig_with(4, MTU_256);
    uint32_t in_a_row = 0;

    (void)state;
    rdma(r, WR_RDMA_READ, 1, 0, 10000, REMOTE);
    for (uint32_t i = 0; i < 20; i++) {
        rig_prepare(r, 1, WQ_SEND, i, 0, 256);
        rig_post(r, 1, WQ_SEND);
        rig_prepare(r, 0, WQ_RECV, i, BACK, 256);
        rig_post(r, 0, WQ_RECV);
    }
    rig_run_until(r, RIG_WIRE_NS + 15 * RIG_EACH_NS); /* both have something to send */
    for (uint32_t i = 0; i < r->n_events; i++) {
        const struct ev *e = &r->events[i];

        if (e->kind != EV_tx || e->u.tx.host != 1 || e->at_ns <= RIG_WIRE_NS)
            continue;
        in_a_row = op_is_response(op_info((uint8_t)e->u.tx.opcode)) ? in_a_row + 1 : 0;
        assert_true(in_a_row <= 1);
    }
    rig_run(r);
    rig_expect(r, 0, WQ_SEND, 0, 1, WCS_SUCCESS);
    rig_free(r);
}

/* One packet of a WRITE of host 0 that says @announced, or does not, and has @bytes. */
static void inject_write(struct rig *r, uint8_t opcode, uint32_t psn, uint32_t announced,
                         uint32_t bytes)
{
    static const uint8_t payload[256] = {1};
    struct packet p = rig_packet(r, 1, opcode, psn);

    p.reth = (struct reth){RIG_ADDR + REMOTE, r->host[1].mr->key, announced};
    p.payload = payload;
    p.payload_bytes = bytes;
    p.bth.pad_bytes = (uint8_t)packet_pad_bytes(bytes);
    rig_inject(r, 1, &p);
}

/* Too many or too few bytes, found at the packet that shows it; its payload is not written.
 * Shows B23.
 */
static void a_write_brings_what_its_first_packet_says(void **state)
{
    static const struct {
        uint32_t announced, n_first, last; /* so many packets of 256 bytes before the last one */
        uint8_t opcode;                    /* of the last one */
        bool right;
    } rows[] = {
        {64, 0, 64, OP_RC_RDMA_WRITE_ONLY, true},
        {64, 0, 63, OP_RC_RDMA_WRITE_ONLY, false},
        {64, 0, 65, OP_RC_RDMA_WRITE_ONLY, false},
        {64, 0, 0, OP_RC_RDMA_WRITE_ONLY, false},
        {0, 0, 4, OP_RC_RDMA_WRITE_ONLY, false},
        {300, 1, 44, OP_RC_RDMA_WRITE_LAST, true},
        {300, 1, 43, OP_RC_RDMA_WRITE_LAST, false},
        {300, 1, 45, OP_RC_RDMA_WRITE_LAST, false},
        {300, 1, 256, OP_RC_RDMA_WRITE_MIDDLE, false},
        {512, 2, 1, OP_RC_RDMA_WRITE_LAST, false}, /* nothing is left for it */
        {512, 1, 256, OP_RC_RDMA_WRITE_LAST, true},
        {256, 1, 1, OP_RC_RDMA_WRITE_LAST, false},
        {513, 2, 1, OP_RC_RDMA_WRITE_LAST, true},
        {513, 1, 256, OP_RC_RDMA_WRITE_LAST, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_with(4, MTU_256);
        uint32_t psn = 100;
        const struct ev *last;

        for (uint32_t n = 0; n < rows[i].n_first; n++)
            inject_write(r, n ? OP_RC_RDMA_WRITE_MIDDLE : OP_RC_RDMA_WRITE_FIRST, psn++,
                         rows[i].announced, 256);
        inject_write(r, rows[i].opcode, psn, rows[i].announced, rows[i].last);
        rig_run(r);
        last = rig_event(r, EV_rx, 1, rows[i].n_first);
        assert_int_equal(last->u.rx.act, rows[i].right ? ACT_ACCEPT : ACT_NAK_INVALID);
        assert_int_equal(last->u.rx.rule, rows[i].right ? RULE_NONE : RULE_RESP_DMA_LENGTH);
        assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0),
                         rows[i].n_first + (rows[i].right ? 1 : 0));
        assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_INVALID_REQUEST),
                         rows[i].right ? 0 : 1);
        assert_int_equal(r->host[1].n_async[ASE_QP_ACCESS_ERR], rows[i].right ? 0 : 1);
        assert_int_equal(r->host[1].qp->state, rows[i].right ? QPS_RTS : QPS_ERR);
        rig_free(r);
    }
}

/* Every response of a READ has its one right length.  Shows B29. */
static void a_read_takes_no_response_of_another_length(void **state)
{
    static const struct {
        uint8_t opcode;
        uint32_t psn, bytes;
    } rows[] = {
        {OP_RC_RDMA_READ_RESPONSE_FIRST, 100, 252},  {OP_RC_RDMA_READ_RESPONSE_FIRST, 100, 0},
        {OP_RC_RDMA_READ_RESPONSE_ONLY, 100, 256},   {OP_RC_RDMA_READ_RESPONSE_MIDDLE, 101, 44},
        {OP_RC_RDMA_READ_RESPONSE_LAST, 102, 88},    {OP_RC_RDMA_READ_RESPONSE_LAST, 102, 84},
        {OP_RC_RDMA_READ_RESPONSE_LAST, 102, 0},     {OP_RC_RDMA_READ_RESPONSE_LAST, 102, 256},
        {OP_RC_RDMA_READ_RESPONSE_MIDDLE, 102, 256},
    };
    static const uint8_t payload[256] = {1};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig *r = rig_with(4, MTU_256);
        const uint32_t n_right = rows[i].psn - 100;
        struct packet p;

        rig_rule(r, 1, ANY, ANY, ANY, RIG_LOSE);
        rdma(r, WR_RDMA_READ, 1, BACK, 599, REMOTE);
        rig_run_until(r, RIG_EACH_NS);
        for (uint32_t n = 0; n <= n_right; n++) {
            p = rig_packet(r, 0,
                           n == n_right ? rows[i].opcode
                           : n          ? OP_RC_RDMA_READ_RESPONSE_MIDDLE
                                        : OP_RC_RDMA_READ_RESPONSE_FIRST,
                           100 + n);
            p.aeth.syndrome = 0x1f;
            p.payload = payload;
            p.payload_bytes = n == n_right ? rows[i].bytes : 256;
            rig_inject(r, 0, &p);
        }
        rig_expect(r, 0, WQ_SEND, 0, 1, WCS_BAD_RESP_ERR);
        assert_int_equal(r->host[0].wc[WQ_SEND][0].rule, RULE_COMP_READ_LENGTH);
        assert_int_equal(rig_count(r, EV_dma_write, 0, NULL, 0), n_right);
        assert_int_equal(r->host[0].qp->state, QPS_ERR);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_can_be_read_again),
        cmocka_unit_test(atomics_bring_back_what_they_found),
        cmocka_unit_test(nothing_is_done_twice_on_a_bad_link),
        cmocka_unit_test(a_read_goes_on_where_a_response_is_missing),
        cmocka_unit_test(an_acknowledge_does_not_answer_a_read),
        cmocka_unit_test(reads_wait_for_their_turn),
        cmocka_unit_test(copies_take_no_place),
        cmocka_unit_test(a_fence_waits_for_reads),
        cmocka_unit_test(each_rule_refuses_with_its_nak),
        cmocka_unit_test(a_read_ends_where_its_region_does),
        cmocka_unit_test(a_write_ends_where_its_region_does),
        cmocka_unit_test(a_read_behind_a_refused_request_brings_nothing),
        cmocka_unit_test(an_acknowledge_may_be_far_behind_the_last_one),
        cmocka_unit_test(a_replay_says_less_than_an_acknowledge_of_later_requests),
        cmocka_unit_test(more_reads_than_there_is_room_for_are_refused),
        cmocka_unit_test(a_write_with_immediate_completes_a_receive),
        cmocka_unit_test(responses_and_requests_take_turns),
        cmocka_unit_test(a_write_brings_what_its_first_packet_says),
        cmocka_unit_test(a_read_takes_no_response_of_another_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
