/* SPDX-License-Identifier: MIT */
/* Work queues and completion queues: how the device decodes a WQE, and the completion that it
 * writes.  A queue pair sends to another one of the same device.
 */
#include "machine.h"

#include <string.h>

#include "emu/device/internal.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rules.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"

#define SOURCE PAIR_MEM
#define TARGET (PAIR_MEM + 2 * RAM_PAGE_BYTES)

static void fill_source(struct machine *m)
{
    uint8_t bytes[256];

    for (uint32_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i + 1);
    machine_poke(m, SOURCE, bytes, sizeof(bytes));
}

/* The next used element of @r. */
static void expect_used(struct machine *m, struct ring *r, uint32_t head)
{
    uint32_t got, len;

    assert_true(ring_used(m, r, &got, &len));
    assert_int_equal(got, head);
    assert_int_equal(len, 0); /* nothing is written into a WQE */
}

static void a_message_ends_in_a_completion_at_both_ends(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    const struct raw_sge sges[] = {pair_sge(&p, SOURCE, 60), pair_sge(&p, SOURCE + 60, 40)};
    struct rfc_cqe cqe;
    uint8_t got[101];

    fill_source(m);
    pair_give_cqes(m, &p, 2, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 71, TARGET, 200);
    pair_post_send(m, &p,
                   &(struct rfc_sq_wqe){.num_sge = 2,
                                        .send_flags = SF_SIGNALED,
                                        .opcode = WR_SEND_WITH_IMM,
                                        .wr_id = 72,
                                        .ex = {1, 2, 3, 4}},
                   sges, sizeof(sges));
    ring_kick(&p.sq);
    machine_run(m);

    assert_true(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(cqe.wr_id, 71);
    assert_int_equal(cqe.status, WCS_SUCCESS);
    assert_int_equal(cqe.opcode, WC_RECV);
    assert_int_equal(cqe.byte_len, 100);
    assert_int_equal(cqe.qp_num, PAIR_RECEIVER);
    assert_int_equal(cqe.wc_flags, WCF_WITH_IMM);
    assert_memory_equal(cqe.ex, "\1\2\3\4", 4);
    assert_int_equal(cqe.port_num, 1);
    assert_true(pair_completion(m, &p, 1, &cqe));
    assert_int_equal(cqe.wr_id, 72);
    assert_int_equal(cqe.status, WCS_SUCCESS);
    assert_int_equal(cqe.opcode, WC_SEND);
    assert_int_equal(cqe.qp_num, PAIR_SENDER);
    assert_false(pair_completion(m, &p, 2, &cqe));
    expect_used(m, &p.rq, 0);
    expect_used(m, &p.sq, 0);

    machine_peek(m, TARGET, got, sizeof(got));
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(got[i], i + 1);
    assert_int_equal(got[100], 0);
    assert_int_equal(m->progress.wqes, 2);
    assert_int_equal(m->progress.cqes, 2);
}

static void a_send_that_is_not_signaled_is_given_back_without_a_word(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 2, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 1, TARGET, 10);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(cqe.opcode, WC_RECV);
    assert_int_equal(cqe.byte_len, 0);
    assert_false(pair_completion(m, &p, 1, &cqe));
    expect_used(m, &p.sq, 0);
}

static void inline_data_travel_in_the_wqe(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    uint8_t data[PAIR_INLINE], got[PAIR_INLINE];
    struct rfc_cqe cqe;

    for (uint32_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(0xff - i);
    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 1, TARGET, sizeof(got));
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND, .send_flags = SF_INLINE}, data,
                   sizeof(data));
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(cqe.byte_len, sizeof(data));
    machine_peek(m, TARGET, got, sizeof(got));
    assert_memory_equal(got, data, sizeof(data));
}

/* What was posted to the send queue fails, and the device lives. */
static void expect_failed(struct machine *m, const struct pair *p, enum wc_status status,
                          enum rule rule)
{
    struct rfc_cqe cqe;

    ring_kick(&p->sq);
    machine_run(m);
    assert_true(pair_completion(m, p, 0, &cqe));
    assert_int_equal(cqe.status, status);
    assert_int_equal(cqe.vendor_err, rule);
    assert_false(rdma_broken(&m->rdma));
    assert_int_equal(hca_qp(&m->rdma.nic.hca, PAIR_SENDER)->state, QPS_ERR);
}

/* A WQE that the rules of the send queue refuse, on a machine that @set_up makes. */
static void expect_refused_on(int (*set_up)(void **), const struct rfc_sq_wqe *wqe, uint32_t n_body,
                              enum wc_status status, enum rule rule)
{
    static const uint8_t body[PAIR_INLINE + 1];
    struct machine *m;
    struct pair p;

    set_up((void **)&m);
    p = machine_pair(m, machine_mac);
    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    pair_post_send(m, &p, wqe, body, n_body);
    expect_failed(m, &p, status, rule);
    machine_tear_down((void **)&m);
}

/* The device passes on what it found, however little that is. */
static void expect_refused(const struct rfc_sq_wqe *wqe, uint32_t n_body, enum wc_status status,
                           enum rule rule)
{
    expect_refused_on(machine_set_up, wqe, n_body, status, rule);
}

/* [virtio-rdma RFC, Local Invalidate Operation; Fast Register Memory Region] */
static void without_the_memory_extensions_their_operations_fail(void **state)
{
    static const uint32_t opcodes[] = {WR_LOCAL_INV, WR_SEND_WITH_INV, WR_RDMA_READ_WITH_INV,
                                       WR_REG_MR};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(opcodes); i++)
        expect_refused_on(machine_set_up_no_windows, &(struct rfc_sq_wqe){.opcode = opcodes[i]}, 0,
                          WCS_LOC_QP_OP_ERR, RULE_SQ_OPCODE);
}

/* IP_CSUM is one of them: no capability says that a device knows it. */
static void send_flags_that_the_device_does_not_know_mean_nothing(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 2, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 7, PAIR_MEM, 64);
    pair_post_send(
        m, &p,
        &(struct rfc_sq_wqe){.opcode = WR_SEND, .send_flags = SF_SIGNALED | 1u << 4 | 1u << 31},
        NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(pair_completion(m, &p, i, &cqe));
        assert_int_equal(cqe.status, WCS_SUCCESS);
    }
}

static void a_wqe_is_read_as_far_as_it_goes(void **state)
{
    const uint32_t sge = sizeof(struct raw_sge);

    (void)state;
    /* One SGE is announced, and none is there, or two are, or half of one. */
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_SEND, .num_sge = 1}, 0, WCS_LOC_QP_OP_ERR,
                   RULE_SQ_SGE_COUNT);
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_SEND, .num_sge = 1}, 2 * sge,
                   WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT);
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_SEND, .num_sge = 1}, sge / 2,
                   WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT);
    /* More than the queue pair may have, in truth and as a number alone. */
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_SEND, .num_sge = PAIR_SGES + 1},
                   (PAIR_SGES + 1) * sge, WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT);
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_SEND, .num_sge = UINT32_MAX}, sge,
                   WCS_LOC_QP_OP_ERR, RULE_SQ_SGE_COUNT);
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_SEND, .send_flags = SF_INLINE},
                   PAIR_INLINE + 1, WCS_LOC_LEN_ERR, RULE_SQ_INLINE);
    expect_refused(&(struct rfc_sq_wqe){.opcode = WR_REG_MR}, 0, WCS_MW_BIND_ERR, RULE_REG_REGION);
    expect_refused(&(struct rfc_sq_wqe){.opcode = UINT32_MAX}, 0, WCS_LOC_QP_OP_ERR,
                   RULE_SQ_OPCODE);
}

/* The bytes of the union of a send WQE, as the RFC's text puts them: each is its own offset in it,
 * from 1.  Packed and little-endian, an integer at offset 8 begins with 0x09.
 */
static void numbered_union(struct rfc_sq_wqe *wqe)
{
    for (uint32_t i = 0; i < sizeof(wqe->wr); i++)
        wqe->wr[i] = (uint8_t)(i + 1);
}

/* Posts a WQE with @opcode and the numbered union to a queue pair of @type, and fetches it as the
 * transport would.
 */
static struct send_wqe fetch_numbered(struct machine *m, struct pair *p, enum qp_type type,
                                      uint32_t opcode)
{
    struct rfc_sq_wqe wqe = {.opcode = opcode, .wr_id = 5, .ex = {0x11, 0x22, 0x33, 0x44}};
    struct qp *qp = hca_qp(&m->rdma.nic.hca, PAIR_SENDER);
    struct send_wqe got = {.wr_id = 0};

    numbered_union(&wqe);
    qp->config.type = type;
    pair_post_send(m, p, &wqe, NULL, 0);
    assert_int_equal(rdma_fetch_send(&m->rdma, qp, &got), FETCH_OK);
    qp->config.type = QPT_RC;
    assert_int_equal(got.opcode, opcode);
    assert_memory_equal(got.imm, wqe.ex, sizeof(got.imm));
    return got;
}

static void the_union_is_read_as_the_operation_says(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct send_wqe w = fetch_numbered(m, &p, QPT_RC, WR_RDMA_WRITE);

    assert_true(w.remote_addr == 0x0807060504030201u);
    assert_int_equal(w.rkey, 0x0c0b0a09);
    w = fetch_numbered(m, &p, QPT_UC, WR_RDMA_WRITE_WITH_IMM);
    assert_int_equal(w.rkey, 0x0c0b0a09);
    w = fetch_numbered(m, &p, QPT_RC, WR_RDMA_READ);
    assert_int_equal(w.rkey, 0x0c0b0a09);
    w = fetch_numbered(m, &p, QPT_RC, WR_ATOMIC_CMP_AND_SWP);
    assert_true(w.remote_addr == 0x0807060504030201u);
    assert_true(w.compare_add == 0x100f0e0d0c0b0a09u);
    assert_true(w.swap == 0x1817161514131211u);
    assert_int_equal(w.rkey, 0x1c1b1a19);
    w = fetch_numbered(m, &p, QPT_RC, WR_ATOMIC_FETCH_AND_ADD);
    assert_true(w.compare_add == 0x100f0e0d0c0b0a09u);
    assert_int_equal(w.rkey, 0x1c1b1a19);
    w = fetch_numbered(m, &p, QPT_RC, WR_REG_MR);
    assert_int_equal(w.reg.mrn, 0x04030201);
    assert_int_equal(w.reg.key, 0x08070605);
    assert_int_equal(w.reg.access, 0x0c0b0a09);
    w = fetch_numbered(m, &p, QPT_RC, WR_BIND_MW);
    assert_int_equal(w.bind.mw_key, 0x04030201);
    assert_int_equal(w.bind.new_key, 0x08070605);
    assert_int_equal(w.bind.mr_key, 0x0c0b0a09);
    assert_int_equal(w.bind.access, 0x100f0e0d);
    assert_true(w.bind.addr == 0x1817161514131211u);
    assert_true(w.bind.bytes == 0x201f1e1d1c1b1a19u);
    assert_int_equal(w.bind.type, 0x21);
}

static void the_union_of_a_datagram_is_its_address(void **state)
{
    static const uint8_t dgid[GID_BYTES] = {21, 22, 23, 24, 25, 26, 27, 28,
                                            29, 30, 31, 32, 33, 34, 35, 36};
    static const uint8_t dmac[MAC_BYTES] = {40, 41, 42, 43, 44, 45};
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    const struct send_wqe w = fetch_numbered(m, &p, QPT_UD, WR_SEND);

    assert_int_equal(w.to.qpn, 0x04030201);
    assert_int_equal(w.to.qkey, 0x08070605);
    assert_int_equal(w.to.av.port, 0); /* none: it does not fit */
    assert_int_equal(w.to.av_pdn, 0x100f0e0d);
    assert_int_equal(w.to.av.sl, 0x1);
    assert_int_equal(w.to.av.tclass, 0x41);
    assert_int_equal(w.to.av.flow_label, 0x31211);
    assert_memory_equal(w.to.av.dgid, dgid, sizeof(dgid));
    assert_int_equal(w.to.av.sgid_index, 37);
    assert_int_equal(w.to.av.static_rate, 38);
    assert_int_equal(w.to.av.hop_limit, 39);
    assert_memory_equal(w.to.av.dmac, dmac, sizeof(dmac));
}

/* Immediate data are bytes in the order of the wire; a key is an integer like all others. */
static void a_key_to_invalidate_is_no_immediate_data(void **state)
{
    static const struct {
        uint32_t opcode, key;
    } rows[] = {
        {WR_SEND, 0},
        {WR_SEND_WITH_IMM, 0},
        {WR_SEND_WITH_INV, 0x44332211},
        {WR_LOCAL_INV, 0x44332211},
        {WR_RDMA_READ_WITH_INV, 0x44332211},
        {UINT32_MAX, 0},
    };
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct send_wqe w = fetch_numbered(m, &p, QPT_RC, rows[i].opcode);

        assert_int_equal(w.invalidate_rkey, rows[i].key);
        if (rows[i].opcode != WR_RDMA_READ_WITH_INV)
            assert_true(w.remote_addr == 0); /* the union is not looked at */
    }
}

/* Of a WQE that is cut off, only what is there counts: the rest is zero, and not what the WQE
 * before it had.
 */
static void what_lacks_of_a_wqe_is_zero(void **state)
{
    const struct rfc_sq_wqe whole = {.opcode = 0x11111111,
                                     .num_sge = 0x22222222,
                                     .send_flags = SF_SIGNALED | SF_SOLICITED,
                                     .wr_id = 0x3333333333333333,
                                     .ex = {0x44, 0x44, 0x44, 0x44}};
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct qp *qp = hca_qp(&m->rdma.nic.hca, PAIR_SENDER);

    for (uint32_t n = 1; n < sizeof(struct raw_sq_wqe); n += 7) {
        const struct seg seg = {BUFFER_AT, n};
        struct raw_sq_wqe raw;
        struct rfc_sq_wqe want;
        struct send_wqe got = {.wr_id = 0};

        trace_begin(&m->trace, m->trace.now_ns, 0); /* a ring has its turn once in a tick */
        pair_post_send(m, &p, &whole, NULL, 0);
        assert_int_equal(rdma_fetch_send(&m->rdma, qp, &got), FETCH_OK);
        assert_int_equal(got.wr_id, whole.wr_id);
        assert_false(got.truncated);
        rfc_sq_wqe_put(&raw, &whole);
        machine_poke(m, BUFFER_AT, &raw, sizeof(raw));
        ring_post(m, &p.sq, &seg, 1, 0);
        assert_int_equal(rdma_fetch_send(&m->rdma, qp, &got), FETCH_OK);
        memset((uint8_t *)&raw + n, 0, sizeof(raw) - n);
        rfc_sq_wqe_get(&want, &raw);
        assert_true(got.truncated);
        assert_int_equal(got.wr_id, want.wr_id);
        assert_int_equal(got.opcode, want.opcode);
        assert_int_equal(got.flags, want.send_flags);
        assert_int_equal(got.n_sge.said, want.num_sge);
        assert_int_equal(got.n_sge.found, 0);
        assert_memory_equal(got.imm, want.ex, sizeof(got.imm));
        assert_int_equal(got.inline_bytes, 0);
    }
}

/* Posts a chain of @n_readable and @n_writable of @segs to the send queue. */
static void expect_bad_form(const struct seg *segs, uint32_t n_readable, uint32_t n_writable)
{
    struct machine *m;
    struct pair p;

    machine_set_up((void **)&m);
    p = machine_pair(m, machine_mac);
    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    ring_post(m, &p.sq, segs, n_readable, n_writable);
    expect_failed(m, &p, WCS_LOC_QP_OP_ERR, RULE_SQ_FORM);
    machine_tear_down((void **)&m);
}

static void what_is_no_wqe_is_refused_by_its_form(void **state)
{
    const struct seg short_by_one = {BUFFER_AT, sizeof(struct raw_sq_wqe) - 1};
    const struct seg whole[] = {{BUFFER_AT, sizeof(struct raw_sq_wqe)}, {BUFFER_AT + 0x100, 1}};

    (void)state;
    expect_bad_form(&short_by_one, 1, 0);
    expect_bad_form(whole, 0, 1);
    expect_bad_form(whole, 1, 1); /* nothing is to be written into a WQE */
}

/* Shows B91, I5. */
static void a_completion_without_a_buffer_overflows_the_queue(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe)); /* the receive's; the send has none */
    pair_post_recv(m, &p, 1, TARGET, 10);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND, .send_flags = SF_SIGNALED}, NULL,
                   0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(m->events[EV_cq_overflow], 1);
    assert_true(hca_cq(&m->rdma.nic.hca, PAIR_CQN)->error);
    assert_int_equal(hca_qp(&m->rdma.nic.hca, PAIR_SENDER)->state, QPS_ERR);
    assert_int_equal(hca_qp(&m->rdma.nic.hca, PAIR_RECEIVER)->state, QPS_ERR);
    expect_used(m, &p.sq, 0); /* the WQE comes back all the same */
    assert_false(rdma_broken(&m->rdma));
    assert_int_equal(m->rdma.nic.n_failed_cqs, 0); /* it has failed once and for all */

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe)); /* too late */
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND, .send_flags = SF_SIGNALED}, NULL,
                   0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_false(pair_completion(m, &p, 1, &cqe));
    assert_int_equal(m->events[EV_cq_overflow], 1);
}

static void a_buffer_that_is_too_small_for_a_cqe_counts_as_none(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe) - 1);
    pair_post_recv(m, &p, 1, TARGET, 10);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_int_equal(m->events[EV_cq_overflow], 1);
    assert_int_equal(m->events[EV_cqe], 0);
}

static uint32_t irqs_of(struct machine *m, struct pair *p, uint32_t flags)
{
    m->n_irq = 0;
    pair_give_cqes(m, p, 1, sizeof(struct raw_cqe));
    pair_post_recv(m, p, 1, TARGET, 10);
    pair_post_send(m, p, &(struct rfc_sq_wqe){.opcode = WR_SEND, .send_flags = flags}, NULL, 0);
    ring_kick(&p->sq);
    machine_run(m);
    return m->n_irq;
}

/* Shows B80. */
static void only_an_armed_completion_queue_interrupts_and_once(void **state)
{
    static const uint8_t no_interrupt[2] = {VRING_AVAIL_NO_INTERRUPT, 0};
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    /* Work queues are silent, so that those of the CQ can be counted. */
    machine_poke(m, p.sq.at.avail, no_interrupt, 2);
    machine_poke(m, p.rq.at.avail, no_interrupt, 2);
    assert_int_equal(irqs_of(m, &p, 0), 0);
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = PAIR_CQN, .flags = NOTIFY_NEXT_COMPLETION),
        RSP_OK);
    assert_int_equal(irqs_of(m, &p, 0), 1);
    assert_int_equal(m->irq.queue, PAIR_CQN);
    assert_int_equal(irqs_of(m, &p, 0), 0);
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = PAIR_CQN, .flags = NOTIFY_SOLICITED), RSP_OK);
    assert_int_equal(irqs_of(m, &p, 0), 0);
    assert_int_equal(irqs_of(m, &p, SF_SOLICITED), 1);
}

static void arm(struct machine *m)
{
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = PAIR_CQN, .flags = NOTIFY_NEXT_COMPLETION),
        RSP_OK);
}

static void set_flags(struct machine *m, const struct ring *r, unsigned flags)
{
    uint8_t le[2];

    st_le16(le, (uint16_t)flags);
    machine_poke(m, r->at.avail, le, sizeof(le));
}

/* A message uses one element of each ring: whose driver wants no interrupt gets none, armed or not.
 */
static void each_ring_interrupts_only_if_its_driver_wants_it(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    const struct ring *const rings[] = {&p.sq, &p.rq, &p.cq};

    for (unsigned wanted = 0; wanted < 1u << ARRAY_LEN(rings); wanted++) {
        uint32_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(rings); i++) {
            set_flags(m, rings[i], wanted >> i & 1 ? 0 : VRING_AVAIL_NO_INTERRUPT);
            n += wanted >> i & 1;
        }
        arm(m);
        assert_int_equal(irqs_of(m, &p, 0), n);
        assert_int_equal(m->irq.vector, VECTOR_QUEUE);
    }
}

/* A completion that wakes nobody does not disarm: the interrupt is for the one that does. */
static void what_interrupts_is_the_completion_that_was_asked_for(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    set_flags(m, &p.sq, VRING_AVAIL_NO_INTERRUPT);
    set_flags(m, &p.rq, VRING_AVAIL_NO_INTERRUPT);
    set_flags(m, &p.cq, VRING_AVAIL_NO_INTERRUPT);
    arm(m);
    assert_int_equal(irqs_of(m, &p, 0), 0); /* it woke the driver, who did not want to hear */
    set_flags(m, &p.cq, 0);
    assert_int_equal(irqs_of(m, &p, 0), 0); /* and must arm again */
    arm(m);
    assert_int_equal(irqs_of(m, &p, 0), 1);
}

static void a_broken_send_queue_needs_a_reset(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    ring_offer(m, &p.sq, RING_SIZE);
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(rdma_broken(&m->rdma));
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, rdma_sq(&m->rdma, PAIR_SENDER));
    assert_false(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(m->irq.vector, VECTOR_CONFIG);
    /* From then on nothing is taken from any queue. */
    pair_post_recv(m, &p, 1, TARGET, 10);
    ring_kick(&p.rq);
    assert_int_equal(sim_next_ns(&m->sim), UINT64_MAX);
}

/* The device counts receives to tell the far side of them.  That is not the time to complain. */
static void a_receive_queue_that_was_broken_when_it_was_counted_needs_a_reset(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    uint8_t far_away[2];

    st_le16(far_away, RING_SIZE + 1);
    machine_poke(m, vring_avail_idx_at(&p.rq.at), far_away, sizeof(far_away));
    assert_int_equal(rdma_receives(&m->rdma, hca_qp(&m->rdma.nic.hca, PAIR_RECEIVER)), 0);
    assert_int_equal(m->events[EV_vq_broken], 0);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(rdma_broken(&m->rdma));
    assert_int_equal(m->events[EV_vq_broken], 1);
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, rdma_rq(&m->rdma, PAIR_RECEIVER));
}

/* The message arrives, but no buffer for its completion can be found in a ring of nonsense. */
static void a_broken_completion_queue_needs_a_reset(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);

    ring_offer(m, &p.cq, RING_SIZE);
    pair_post_recv(m, &p, 1, TARGET, 10);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_true(rdma_broken(&m->rdma));
    assert_int_equal(m->last[EV_vq_broken].u.vq_broken.queue, PAIR_CQN);
    assert_int_equal(m->events[EV_cq_overflow], 1);
}

/* Only completions of QPN 1 have an index: that of another queue pair is one of its attributes. */
static void a_completion_tells_the_partition_of_a_mad(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct rnic *n = &m->rdma.nic;
    const struct completion wc = {
        .status = WCS_SUCCESS, .opcode = WC_RECV, .qpn = QPN_GSI, .pkey_index = 3};
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    assert_true(n->ops->complete(n->ctx, hca_cq(&n->hca, 1), &wc));
    assert_true(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(cqe.pkey_index, 3);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_message_ends_in_a_completion_at_both_ends),
        T(a_send_that_is_not_signaled_is_given_back_without_a_word),
        T(inline_data_travel_in_the_wqe),
        cmocka_unit_test(without_the_memory_extensions_their_operations_fail),
        cmocka_unit_test(a_wqe_is_read_as_far_as_it_goes),
        T(send_flags_that_the_device_does_not_know_mean_nothing),
        T(the_union_is_read_as_the_operation_says),
        T(the_union_of_a_datagram_is_its_address),
        T(a_completion_tells_the_partition_of_a_mad),
        T(a_key_to_invalidate_is_no_immediate_data),
        T(what_lacks_of_a_wqe_is_zero),
        cmocka_unit_test(what_is_no_wqe_is_refused_by_its_form),
        T(a_completion_without_a_buffer_overflows_the_queue),
        T(a_buffer_that_is_too_small_for_a_cqe_counts_as_none),
        T(only_an_armed_completion_queue_interrupts_and_once),
        T(each_ring_interrupts_only_if_its_driver_wants_it),
        T(what_interrupts_is_the_completion_that_was_asked_for),
        T(a_broken_send_queue_needs_a_reset),
        T(a_receive_queue_that_was_broken_when_it_was_counted_needs_a_reset),
        T(a_broken_completion_queue_needs_a_reset),
    };

    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
