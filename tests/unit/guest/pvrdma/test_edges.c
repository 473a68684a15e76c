/* SPDX-License-Identifier: MIT */
/* The driver: page lists of more than one table, doorbells of an empty queue, raw commands. */
#include "fake_pvrdma.h"

#include <errno.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/guest/pvrdma/internal.h"
#include "rdmalab/control.h"

static int large_regions(void **state)
{
    struct fake *f = fake_new();

    f->caps.max_mr_size = 4u << 20;
    assert_int_equal(fake_boot(f), RDL_OK);
    f->n_written = 0;
    *state = f;
    return 0;
}

static uint64_t entry(const struct fake *f, uint64_t table, uint32_t i)
{
    uint8_t raw[8];

    assert_true(ram_read(&f->ram, table + 8 * (uint64_t)i, raw, sizeof(raw)));
    return ld_le64(raw);
}

/* Registers @n pages at @addr, and looks up each one in the directory of the command. */
static void registers(struct fake *f, struct guest_pd *pd, uint64_t addr, uint32_t n)
{
    struct pv_raw_create_mr raw;
    struct pv_create_mr req;
    uint64_t h;

    assert_int_equal(verbs_reg_mr(pd, addr, (uint64_t)n * PV_PAGE_BYTES, ACC_LOCAL_WRITE, NULL, &h),
                     RDL_OK);
    assert_true(
        ram_read(&f->ram, fake_region(f).command_slot + PV_HEADER_BYTES, &raw, sizeof(raw)));
    pv_create_mr_get(&req, &raw);
    assert_int_equal(req.pages, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t table = entry(f, req.pdir, i / PV_TABLE_PAGES);
        uint64_t gpa;

        assert_true(space_translate(&f->space, addr + (uint64_t)i * PV_PAGE_BYTES, &gpa));
        assert_int_not_equal(table, 0);
        assert_int_equal(entry(f, table, i % PV_TABLE_PAGES), gpa);
    }
    fake_done(f);
}

/* The directory of registrations is kept, and grows: from one table to two. */
static void one_page_more_takes_another_table(void **state)
{
    struct fake *f = *state;
    const uint64_t addr = space_alloc(&f->space, (PV_TABLE_PAGES + 1) * PV_PAGE_BYTES);
    uint64_t h;

    assert_int_not_equal(addr, 0);
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    fake_done(f);
    for (uint32_t n = PV_TABLE_PAGES; n <= PV_TABLE_PAGES + 1; n++)
        registers(f, (struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, h), addr, n);
}

static void a_poll_of_an_empty_queue_names_its_handle(void **state)
{
    struct fake *f = *state;
    struct rdl_wc wc;
    uint64_t h;
    size_t n;

    assert_int_equal(verbs_create_cq(&f->verbs, 10, NULL, &h), RDL_OK);
    fake_done(f);
    f->n_written = 0;
    assert_int_equal(verbs_poll_cq((struct guest_cq *)verbs_get(&f->verbs, OBJ_CQ, h), 1, &wc, &n),
                     RDL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(f->n_written, 1);
    assert_int_equal(f->written[0].at, PV_UAR_AT_CQ);
    assert_int_equal(f->written[0].value, PV_UAR_POLL); /* of handle 0, which is CQ 1 */
}

/* A response that refuses has a header alone; one that does not has the body of its command. */
static void a_refused_raw_command_has_no_body(void **state)
{
    struct fake *f = *state;
    const struct rdl_control modify = {.command = PV_CMD_MODIFY_QP};
    const struct rdl_control query = {.command = PV_CMD_QUERY_QP};
    struct rdl_control_answer a;
    uint32_t id;

    f->answer_err = EINVAL;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(pvd_control_ops.send(&f->driver, i ? &query : &modify, true, &id), RDL_OK);
        assert_int_equal(pvd_control_ops.answer(&f->driver, id, &a), RDL_OK);
        assert_int_equal(a.written, PV_HEADER_BYTES);
    }
    f->answer_err = 0;
    assert_int_equal(pvd_control_ops.send(&f->driver, &query, true, &id), RDL_OK);
    assert_int_equal(pvd_control_ops.answer(&f->driver, id, &a), RDL_OK);
    assert_int_equal(a.written, PV_HEADER_BYTES + PV_BYTES_qp_attr);
}

static struct pvd_qp *queue_pair(struct fake *f)
{
    const struct rdl_qp_config config = {.type = QPT_RC, .max_send_wr = 4, .max_recv_wr = 4};
    struct verbs_qp_parts parts = {.srq = NULL};
    uint64_t h;

    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    fake_done(f);
    parts.pd = (struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, h);
    assert_int_equal(verbs_create_cq(&f->verbs, 10, NULL, &h), RDL_OK);
    fake_done(f);
    parts.send_cq = parts.recv_cq = (struct guest_cq *)verbs_get(&f->verbs, OBJ_CQ, h);
    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, NULL, &h), RDL_OK);
    fake_done(f);
    return (struct pvd_qp *)verbs_get(&f->verbs, OBJ_QP, h);
}

/* A page of bytes that begin within a page touches two. */
static void a_fast_registration_counts_the_pages_it_touches(void **state)
{
    static const struct {
        uint64_t iova, bytes;
        uint32_t pages;
    } rows[] = {{0x7000000, 4096, 1}, {0x7000064, 4096, 2}, {0x7000fff, 1, 1}, {0x7000fff, 2, 2}};
    const struct rdl_send_wr wr = {.opcode = WR_REG_MR};
    struct fake *f = *state;
    struct pvd_qp *q = queue_pair(f);
    struct pv_raw_wr_fast_reg raw_reg;
    struct pv_raw_sq_wqe raw;
    struct pv_wr_fast_reg reg;
    struct pv_sq_wqe wqe;
    uint32_t slot;

    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pvd_mr mr = {.mr = {.iova = rows[i].iova, .bytes = rows[i].bytes}};

        assert_int_equal(
            pvd_post_send(&q->qp, &(struct verbs_send){.wr = &wr, .mr = &mr.mr}, &slot), RDL_OK);
        assert_true(ram_read(&f->ram,
                             pvd_page(&f->driver, &q->pages, 1) + (uint64_t)i * q->sends.slot_bytes,
                             &raw, sizeof(raw)));
        pv_sq_wqe_get(&wqe, &raw);
        memcpy(&raw_reg, wqe.wr, sizeof(raw_reg));
        pv_wr_fast_reg_get(&reg, &raw_reg);
        assert_int_equal(reg.pages, rows[i].pages);
    }
}

/* The interrupt of the event comes after that of the answer, when the number may be another's. */
static void an_event_is_passed_on_before_its_object_goes(void **state)
{
    struct fake *f = *state;
    struct pvd_qp *q = queue_pair(f);
    const struct pvd_ring *r = &f->driver.events.ring;
    const struct pv_async_event e = {.type = ASE_QP_FATAL, .info = FAKE_QPN};
    struct pv_raw_async_event raw;
    uint8_t tail[4];

    pv_async_event_put(&raw, &e);
    assert_true(
        ram_write(&f->ram, pvd_page(&f->driver, r->pages, r->first_page), &raw, sizeof(raw)));
    st_le32(tail, 1);
    assert_true(ram_write(&f->ram, r->state, tail, sizeof(tail)));
    assert_int_equal(verbs_destroy_qp(&q->qp), RDL_OK);
    fake_interrupt(f, PV_VECTOR_RESPONSE);
    fake_interrupt(f, PV_VECTOR_ASYNC);
    assert_int_equal(f->verbs.async.heard, 1);
    assert_int_equal(f->verbs.async.strays, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_page_more_takes_another_table, large_regions,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(a_poll_of_an_empty_queue_names_its_handle, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(a_fast_registration_counts_the_pages_it_touches,
                                        fake_set_up, fake_tear_down),
        cmocka_unit_test_setup_teardown(an_event_is_passed_on_before_its_object_goes, fake_set_up,
                                        fake_tear_down),
        cmocka_unit_test_setup_teardown(a_refused_raw_command_has_no_body, fake_set_up,
                                        fake_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
