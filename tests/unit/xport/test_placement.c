/* SPDX-License-Identifier: MIT */
/* FLUSH and ATOMIC WRITE at a responder: what is taken, what is refused and why, duplicates.  Host
 * 1 is the responder; its requests are made by hand.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/profile.h"
#include "emu/trace/event.h"
#include "rig.h"

#define PLACE 64u /* offset of the memory in the region */

static const uint8_t word[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static struct rig *rig_like(enum profile responder, uint32_t access, uint32_t rd_atomic)
{
    struct rig_config c = rig_defaults();
    struct rig *r;

    c.profile[0] = PROFILE_rxe_7_3;
    c.profile[1] = responder;
    c.access = access;
    c.rd_atomic = rd_atomic;
    r = rig_new(&c);
    rig_fill(r, 1, 9);
    return r;
}

/* A FLUSH or ATOMIC WRITE of 8 bytes that a host that offers them carries out. */
static struct packet request(struct rig *r, uint8_t opcode, uint32_t psn)
{
    struct packet p = rig_packet(r, 1, opcode, psn);

    p.bth.pad_bytes = 0;
    p.feth = (struct feth){0};
    if (opcode == OP_RC_FLUSH)
        p.feth = (struct feth){FETH_GLOBAL, FETH_RANGE};
    p.reth = (struct reth){RIG_ADDR + PLACE, r->host[1].mr->key, ATOMIC_WORD_BYTES};
    p.payload = word;
    p.payload_bytes = opcode == OP_RC_ATOMIC_WRITE ? ATOMIC_WORD_BYTES : 0;
    return p;
}

static const uint8_t opcodes[] = {OP_RC_FLUSH, OP_RC_ATOMIC_WRITE};

#define ACCESS (ACC_REMOTE_READ | ACC_REMOTE_WRITE | ACC_FLUSH_GLOBAL)

/* Each is answered at once by a READ response of no bytes, and counts as a message.  Shows B114. */
static void a_host_that_offers_them_carries_them_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(opcodes); i++) {
        struct rig *r = rig_like(PROFILE_rxe_7_3, ACCESS, 4);
        const struct packet p = request(r, opcodes[i], 100);
        uint8_t before[8], after[8];
        const struct ev *tx;

        rig_read(r, 1, PLACE, before, sizeof(before));
        rig_inject(r, 1, &p);
        rig_run(r);
        rig_read(r, 1, PLACE, after, sizeof(after));
        assert_memory_equal(after, opcodes[i] == OP_RC_FLUSH ? before : word, sizeof(after));
        assert_int_equal(rig_count(r, EV_tx, 1, NULL, 0), 1);
        tx = rig_event(r, EV_tx, 1, 0);
        assert_int_equal(tx->u.tx.opcode, OP_RC_RDMA_READ_RESPONSE_ONLY);
        assert_int_equal(tx->u.tx.psn, 100);
        assert_int_equal(tx->u.tx.bytes, 0);
        assert_int_equal(tx->u.tx.msn, 1);
        assert_int_equal(rig_rc(r, 1)->resp.expected.v, 101);
        rig_free(r);
    }
}

/* PLACEMENT_OFFERED and RESERVED_OPCODE_IS_NAKED. */
static void other_hosts_treat_them_as_reserved_opcodes(void **state)
{
    (void)state;
    for (enum profile who = PROFILE_iba; who < PROFILE_COUNT; who++) {
        for (size_t i = 0; i < ARRAY_LEN(opcodes); i++) {
            const bool naks = profile_has(who, TRAIT_RESERVED_OPCODE_IS_NAKED);
            struct rig *r;
            struct packet p;

            if (profile_has(who, TRAIT_PLACEMENT_OFFERED))
                continue;
            r = rig_like(who, ACC_REMOTE_READ | ACC_REMOTE_WRITE, 4);
            p = request(r, opcodes[i], 100);
            rig_inject(r, 1, &p);
            rig_run(r);
            assert_int_equal(rig_count(r, EV_rx, 1, "rule", RULE_RESP_OPCODE), naks);
            assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_INVALID_REQUEST), naks);
            assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_BAD_OPCODE), !naks);
            assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0), 0);
            rig_free(r);
        }
    }
}

/* A request with one mistake, and the rule that refuses it. */
struct mistake {
    uint8_t opcode;
    uint32_t access, rd_atomic;
    uint32_t offset, bytes, payload_bytes; /* of the RETH, of the packet */
    uint8_t pad, placement, level;
    bool bad_key;
    enum rule rule; /* RULE_NONE: it is taken */
};

/* Shows B114. */
static void each_mistake_is_refused_by_its_rule(void **state)
{
    static const struct mistake rows[] = {
        /* The address must be a multiple of 8.  Length and payload are 8 bytes. */
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE + 4, 8, 8, 0, 0, 0, false, RULE_RESP_ATOMIC_ALIGNED},
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE, 8, 4, 0, 0, 0, false, RULE_RESP_LENGTH},
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE, 8, 12, 0, 0, 0, false, RULE_RESP_LENGTH},
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE, 8, 0, 0, 0, 0, false, RULE_RESP_LENGTH},
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE, 16, 8, 0, 0, 0, false, RULE_RESP_DMA_LENGTH},
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE, 8, 8, 2, 0, 0, false, RULE_RESP_PAD},
        /* Key, range, access, resources. */
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, PLACE, 8, 8, 0, 0, 0, true, RULE_MR_KEY},
        {OP_RC_ATOMIC_WRITE, ACCESS, 4, RIG_REGION, 8, 8, 0, 0, 0, false, RULE_MR_RANGE},
        {OP_RC_ATOMIC_WRITE, ACC_REMOTE_READ, 4, PLACE, 8, 8, 0, 0, 0, false, RULE_RESP_QP_ACCESS},
        {OP_RC_ATOMIC_WRITE, ACCESS, 0, PLACE, 8, 8, 0, 0, 0, false, RULE_RESP_RD_ROOM},
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 8, 0, 0, FETH_GLOBAL, 0, true, RULE_MR_KEY},
        {OP_RC_FLUSH, ACCESS, 4, RIG_REGION, 8, 0, 0, FETH_GLOBAL, 0, false, RULE_MR_RANGE},
        {OP_RC_FLUSH, ACC_REMOTE_WRITE, 4, PLACE, 8, 0, 0, FETH_GLOBAL, 0, false,
         RULE_RESP_QP_ACCESS},
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 8, 0, 0, FETH_PERSISTENT, 0, false, RULE_RESP_QP_ACCESS},
        {OP_RC_FLUSH, ACCESS, 0, PLACE, 8, 0, 0, FETH_GLOBAL, 0, false, RULE_RESP_RD_ROOM},
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 8, 4, 0, FETH_GLOBAL, 0, false, RULE_RESP_LENGTH},
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 0x80000001, 0, 0, FETH_GLOBAL, 0, false,
         RULE_RESP_DMA_LENGTH},
        /* The key of a FLUSH is looked at even if it names no bytes. */
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 0, 0, 0, FETH_GLOBAL, 0, true, RULE_MR_KEY},
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 0, 0, 0, FETH_GLOBAL, 0, false, RULE_NONE},
        /* One of a whole region may name any bytes. */
        {OP_RC_FLUSH, ACCESS, 4, RIG_REGION, 8, 0, 0, FETH_GLOBAL, 1, false, RULE_NONE},
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 8, 0, 0, FETH_GLOBAL, 1, true, RULE_MR_KEY},
        /* Reserved placement types are not looked at. */
        {OP_RC_FLUSH, ACCESS, 4, PLACE, 8, 0, 0, 0xc, 0, false, RULE_NONE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct mistake *m = &rows[i];
        struct rig *r = rig_like(PROFILE_rxe_7_3, m->access, m->rd_atomic);
        struct packet p = request(r, m->opcode, 100);

        p.reth.va = RIG_ADDR + m->offset;
        p.reth.dma_bytes = m->bytes;
        p.reth.rkey ^= m->bad_key;
        p.payload_bytes = m->payload_bytes;
        p.bth.pad_bytes = m->pad;
        p.feth = (struct feth){m->placement, m->level};
        rig_inject(r, 1, &p);
        rig_run(r);
        if (rig_count(r, EV_rx, 1, "rule", m->rule) != 1)
            fail_msg("row %zu: %u", i, rig_event(r, EV_rx, 1, 0)->u.rx.rule);
        assert_int_equal(r->host[1].qp->state == QPS_ERR, m->rule != RULE_NONE);
        assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0), 0);
        rig_free(r);
    }
}

/* A queue pair may allow a FLUSH for persistence.  No region does, as RAM is not persistent. */
static void no_memory_is_persistent(void **state)
{
    struct rig *r = rig_like(PROFILE_rxe_7_3, ACCESS, 4);
    struct packet p = request(r, OP_RC_FLUSH, 100);
    struct mr_request req = {.pdn = r->host[1].mr->pdn, .access = ACC_FLUSH_PERSISTENT};
    struct mkey *mr;

    (void)state;
    assert_int_equal(hca_mr_create(&r->host[1].hca, &req, &mr), REF_MR_ACCESS_FLAGS);
    r->host[1].qp->attr.access |= ACC_FLUSH_PERSISTENT;
    p.feth.placement = FETH_GLOBAL | FETH_PERSISTENT;
    rig_inject(r, 1, &p);
    rig_run(r);
    assert_int_equal(rig_count(r, EV_rx, 1, "rule", RULE_MR_ACCESS), 1);
    assert_int_equal(rig_count(r, EV_tx, 1, "syndrome", SYN_NAK_REMOTE_ACCESS), 1);
    rig_free(r);
}

/* A duplicate gets its response again.  The word is not written twice. */
static void a_duplicate_is_answered_and_not_carried_out_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(opcodes); i++) {
        struct rig *r = rig_like(PROFILE_rxe_7_3, ACCESS, 4);
        struct packet p = request(r, opcodes[i], 100);
        const uint32_t writes = opcodes[i] == OP_RC_ATOMIC_WRITE;

        rig_inject(r, 1, &p);
        rig_run(r);
        rig_inject(r, 1, &p);
        rig_run(r);
        assert_int_equal(rig_count(r, EV_rx, 1, "act", ACT_REPLAY), 1);
        assert_int_equal(rig_count(r, EV_tx, 1, "opcode", OP_RC_RDMA_READ_RESPONSE_ONLY), 2);
        assert_int_equal(rig_count(r, EV_dma_write, 1, NULL, 0), writes);
        p.reth.va += 8; /* another request with that PSN is not one that was taken */
        rig_inject(r, 1, &p);
        rig_run(r);
        assert_int_equal(rig_count(r, EV_drop, 1, "reason", DROP_NOT_KEPT), 1);
        rig_free(r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_that_offers_them_carries_them_out),
        cmocka_unit_test(other_hosts_treat_them_as_reserved_opcodes),
        cmocka_unit_test(each_mistake_is_refused_by_its_rule),
        cmocka_unit_test(no_memory_is_persistent),
        cmocka_unit_test(a_duplicate_is_answered_and_not_carried_out_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
