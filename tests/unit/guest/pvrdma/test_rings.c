/* SPDX-License-Identifier: MIT */
/* The driver's rings and page directories, as a device finds them in memory. */
#include "fake_pvrdma.h"

#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/guest/pvrdma/internal.h"

/* Page @i of the directory at @dir, by the format alone. */
static uint64_t page_of(const struct fake *f, uint64_t dir, uint32_t i)
{
    uint8_t raw[8];

    assert_true(ram_read(&f->ram, dir + 8 * (uint64_t)(i / PV_TABLE_PAGES), raw, sizeof(raw)));
    assert_true(
        ram_read(&f->ram, ld_le64(raw) + 8 * (uint64_t)(i % PV_TABLE_PAGES), raw, sizeof(raw)));
    return ld_le64(raw);
}

static void a_directory_leads_to_each_page(void **state)
{
    struct fake *f = *state;
    const uint64_t used = f->dma.used;
    struct pvd_directory dir;

    assert_true(pvd_directory_take(&f->driver, PV_TABLE_PAGES + 2, &dir));
    for (uint32_t i = 0; i < dir.n; i++)
        pvd_set_page(&f->driver, &dir, i, (uint64_t)(i + 1) * PV_PAGE_BYTES);
    for (uint32_t i = 0; i < dir.n; i++)
        assert_int_equal(page_of(f, dir.gpa, i), (uint64_t)(i + 1) * PV_PAGE_BYTES);
    pvd_directory_give(&f->driver, &dir);
    assert_int_equal(f->dma.used, used);
}

/* Nothing stays taken if memory runs out in the middle. */
static void memory_may_run_out(void **state)
{
    struct fake *f = *state;
    const uint64_t used = f->dma.used;
    struct pvd_directory dir;

    assert_false(pvd_pages_take(&f->driver, FAKE_RAM_BYTES / PV_PAGE_BYTES, &dir));
    assert_int_equal(f->dma.used, used);
    assert_true(pvd_pages_take(&f->driver, 3, &dir));
    pvd_pages_give(&f->driver, &dir);
    assert_int_equal(f->dma.used, used);
}

static void set_indices(const struct fake *f, const struct pvd_ring *r, uint32_t tail,
                        uint32_t head)
{
    uint8_t raw[8];

    st_le32(raw, tail);
    st_le32(raw + 4, head);
    assert_true(ram_write((struct ram *)&f->ram, r->state, raw, sizeof(raw)));
}

/* Indices run modulo 2n, and a ring of n slots holds n entries. */
static void entries_go_round(void **state)
{
    struct fake *f = *state;
    struct pvd_directory pages;
    struct pvd_ring r;
    uint32_t slot;
    uint8_t out[64];

    assert_true(pvd_pages_take(&f->driver, 2, &pages));
    pvd_ring_init(&f->driver, &r, &pages, false, 1, 4, sizeof(out));
    for (uint32_t i = 0; i < 20; i++) {
        const uint8_t in[64] = {(uint8_t)i, [63] = (uint8_t)(i + 1)};

        assert_int_equal(pvd_ring_put(&f->driver, &r, 4, in, sizeof(in), &slot), RDL_OK);
        assert_int_equal(slot, i % 4);
        assert_int_equal(pvd_ring_used(&f->driver, &r), i < 3 ? i + 1 : 4);
        if (i < 3)
            continue;
        assert_int_equal(pvd_ring_put(&f->driver, &r, 4, in, sizeof(in), &slot),
                         RDL_ERR_QUEUE_FULL);
        assert_true(pvd_ring_peek(&f->driver, &r, 3, out));
        assert_int_equal(out[0], i);
        assert_true(pvd_ring_take(&f->driver, &r, out));
        assert_int_equal(out[0], i - 3);
        assert_int_equal(out[63], i - 2);
    }
    pvd_ring_restart(&f->driver, &r);
    assert_false(pvd_ring_take(&f->driver, &r, out));
}

static void an_index_that_is_none_breaks_the_ring(void **state)
{
    static const struct {
        uint32_t tail, head, used;
    } rows[] = {
        {0, 0, 0},
        {7, 7, 0},
        {3, 7, 4},
        {4, 7, UINT32_MAX},
        {8, 0, UINT32_MAX},
        {0, 8, UINT32_MAX},
        {UINT32_MAX, 0, UINT32_MAX},
    };
    struct fake *f = *state;
    struct pvd_directory pages;
    struct pvd_ring r;
    uint8_t entry[64] = {0};
    uint32_t slot;

    assert_true(pvd_pages_take(&f->driver, 2, &pages));
    pvd_ring_init(&f->driver, &r, &pages, true, 1, 4, sizeof(entry));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        set_indices(f, &r, rows[i].tail, rows[i].head);
        assert_int_equal(pvd_ring_used(&f->driver, &r), rows[i].used);
        if (rows[i].used != UINT32_MAX)
            continue;
        assert_int_equal(pvd_ring_put(&f->driver, &r, 4, entry, sizeof(entry), &slot),
                         RDL_ERR_RING);
        assert_false(pvd_ring_take(&f->driver, &r, entry));
    }
}

/* The rings of the shared region use 512 and 1024 slots. */
static void the_shared_rings_are_those_of_linux(void **state)
{
    const struct fake *f = *state;

    assert_int_equal(f->driver.events.ring.n, 512);
    assert_int_equal(f->driver.notes.ring.n, 1024);
}

/* A queue pair's doorbells have its handle, and a bit for each queue. */
static void a_post_ends_with_a_doorbell(void **state)
{
    struct fake *f = *state;
    const struct rdl_recv_wr wr = {.wr_id = 1};
    struct rdl_qp_config config = {.type = QPT_RC, .max_send_wr = 3, .max_recv_wr = 3};
    struct verbs_qp_parts parts;
    struct guest_qp *qp;
    struct guest_cq *cq;
    uint64_t h;

    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    fake_done(f);
    parts.pd = (struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, h);
    assert_int_equal(verbs_create_cq(&f->verbs, 10, NULL, &h), RDL_OK);
    fake_done(f);
    cq = (struct guest_cq *)verbs_get(&f->verbs, OBJ_CQ, h);
    assert_int_equal(cq->cqe, 16);
    parts.send_cq = parts.recv_cq = cq;
    parts.srq = NULL;
    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, NULL, &h), RDL_OK);
    fake_done(f);
    qp = (struct guest_qp *)verbs_get(&f->verbs, OBJ_QP, h);
    assert_int_equal(qp->qpn, FAKE_QPN);
    qp->attr.state = QPS_INIT;
    f->n_written = 0;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(verbs_post_recv(qp, &wr, false), RDL_OK);
    assert_int_equal(verbs_post_recv(qp, &wr, false), RDL_ERR_QUEUE_FULL); /* there is a slot */
    assert_int_equal(f->n_written, 3);
    assert_int_equal(f->written[0].bar, PV_BAR_UAR);
    assert_int_equal(f->written[0].at, PV_UAR_AT_QP);
    assert_int_equal(f->written[0].value, FAKE_QPN | PV_UAR_RECV);
    assert_int_equal(verbs_req_notify_cq(cq, true), RDL_OK);
    assert_int_equal(f->written[3].at, PV_UAR_AT_CQ);
    assert_int_equal(f->written[3].value, PV_UAR_ARM_SOL);
}

static void a_completion_is_read_as_it_was_written(void **state)
{
    struct fake *f = *state;
    const struct pv_cqe from = {.wr_id = 5,
                                .qp = FAKE_QPN,
                                .opcode = 0x80,
                                .byte_len = 296,
                                .src_qp = 1,
                                .wc_flags = 1,
                                .pkey_index = 3,
                                .sl = 2};
    const struct pvd_ring *r;
    struct pv_raw_cqe raw;
    struct rdl_wc wc;
    uint32_t slot;
    uint64_t h;

    assert_int_equal(verbs_create_cq(&f->verbs, 4, NULL, &h), RDL_OK);
    fake_done(f);
    r = &((struct pvd_cq *)verbs_get(&f->verbs, OBJ_CQ, h))->ring;
    pv_cqe_put(&raw, &from);
    assert_int_equal(pvd_ring_put(&f->driver, r, r->n, &raw, sizeof(raw), &slot), RDL_OK);
    assert_int_equal(pvd_peek_cq((struct guest_cq *)verbs_get(&f->verbs, OBJ_CQ, h), 0, 1, &wc), 1);
    assert_int_equal(wc.wr_id, 5);
    assert_int_equal(wc.opcode, WC_RECV);
    assert_int_equal(wc.byte_len, 296);
    assert_int_equal(wc.src_qp, 1);
    assert_int_equal(wc.wc_flags, WCF_GRH);
    assert_int_equal(wc.pkey_index, 3);
    assert_int_equal(wc.sl, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_directory_leads_to_each_page, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out, fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(entries_go_round, fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(an_index_that_is_none_breaks_the_ring, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(the_shared_rings_are_those_of_linux, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(a_post_ends_with_a_doorbell, fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(a_completion_is_read_as_it_was_written, fake_set_up,
                                        fake_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
