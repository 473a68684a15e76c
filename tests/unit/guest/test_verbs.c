/* SPDX-License-Identifier: MIT */
/* Objects, their lives, and what reaches the device. */
#include "fake_device.h"

static void names_are_unique_and_sound(void **state)
{
    static const char *const bad[] = {"a.b",      "a b", "#1", "x[0]", "a-name-of-24-characters-",
                                      "h\xc3\xa9"};
    struct fake *f = *state;
    struct guest *g = &f->guest;
    uint32_t h = 0;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(guest_alloc_pd(g, bad[i], &h), RDL_ERR_INVAL);
    assert_int_equal(guest_alloc_pd(g, "a-name_of-23-characters", &h), RDL_OK);
    assert_int_equal(guest_alloc_pd(g, "cq1", &h), RDL_OK);
    assert_int_equal(guest_create_cq(g, 4, "cq1", &h), RDL_ERR_EXISTS);
    assert_int_equal(guest_create_cq(g, 4, "counters", &h), RDL_ERR_RESERVED);
    assert_string_equal(fake_cq(f, 4)->o.name, "cq1-1"); /* the default is taken */
    assert_ptr_equal(guest_find(g, "cq1-1"), slots_at(&f->tables.cq, 0));
    assert_null(guest_find(g, "cq"));
}

static void a_refused_object_goes_stale_and_its_name_is_free(void **state)
{
    struct fake *f = *state;
    uint32_t a = 0, b = 0, rsp = 0;

    f->late = true;
    assert_int_equal(guest_alloc_pd(&f->guest, "pd", &a), RDL_OK);
    assert_int_equal(((struct guest_pd *)slots_get(&f->tables.pd, a))->o.life, GUEST_PENDING);
    f->refuse = RSP_NO_RESOURCES;
    assert_true(fake_answer(f));
    sim_dispatch(&f->sim);
    assert_int_equal(guest_answer(&f->guest, &rsp), RDL_ERR_DEVICE);
    assert_null(slots_get(&f->tables.pd, a));
    assert_int_equal(f->events[EV_named], 0);
    f->late = false;
    assert_int_equal(guest_alloc_pd(&f->guest, "pd", &b), RDL_OK);
    assert_int_not_equal(a, b);
}

static void an_object_in_use_is_not_destroyed(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = fake_pd(f);
    struct guest_cq *cq = fake_cq(f, 4);
    struct guest_qp *qp = fake_qp(f, pd, cq, 4);
    uint32_t rsp = 0;

    assert_int_equal(guest_dealloc_pd(pd), RDL_ERR_BUSY);
    assert_int_equal(guest_destroy_cq(cq), RDL_ERR_BUSY);
    f->refuse = RSP_BUSY;
    assert_int_equal(guest_destroy_qp(qp), RDL_OK);
    assert_int_equal(guest_answer(&f->guest, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(qp->o.life, GUEST_LIVE); /* the device kept it */
    assert_int_equal(guest_destroy_qp(qp), RDL_OK);
    assert_int_equal(guest_destroy_cq(cq), RDL_OK);
    assert_int_equal(guest_dealloc_pd(pd), RDL_OK);
    assert_int_equal(f->events[EV_gone], 3);
    assert_int_equal(f->tables.pd.used + f->tables.cq.used + f->tables.qp.used, 0);
}

static void a_region_lists_its_pages(void **state)
{
    struct fake *f = *state;
    struct guest *g = &f->guest;
    struct guest_pd *pd = fake_pd(f);
    struct rdl_mr_info info;
    struct rfc_reg_user_mr cmd;
    struct raw_reg_user_mr raw;
    uint64_t addr = 0;
    uint32_t h = 0;

    assert_int_equal(guest_mem_alloc(g, 5 * RAM_PAGE_BYTES, &addr), RDL_OK);
    /* From inside the first page to one byte of the third. */
    assert_int_equal(
        guest_reg_mr(pd, addr + 100, 2 * RAM_PAGE_BYTES - 99, ACC_LOCAL_WRITE, "mr", &h), RDL_OK);
    memcpy(&raw, f->request + 1, sizeof(raw));
    rfc_reg_user_mr_get(&cmd, &raw);
    assert_int_equal(cmd.start, addr + 100);
    assert_int_equal(cmd.virt_addr, addr + 100);
    assert_int_equal(cmd.length, 2 * RAM_PAGE_BYTES - 99);
    assert_int_equal(cmd.npages, 3);
    for (uint32_t i = 0; i < cmd.npages; i++) {
        uint8_t entry[8];
        uint64_t gpa = 0;

        assert_true(ram_read(&f->ram, cmd.pages + 8 * i, entry, sizeof(entry)));
        assert_true(space_translate(&g->space, addr + i * RAM_PAGE_BYTES, &gpa));
        assert_int_equal(ld_le64(entry), gpa);
    }
    guest_mr_info(slots_get(&f->tables.mr, h), &info);
    assert_int_equal(info.lkey & 0xff, 1);
    assert_int_equal(info.rkey & 0xff, 2);
    assert_int_equal(info.bytes, 2 * RAM_PAGE_BYTES - 99);
    assert_int_equal(guest_dealloc_pd(pd), RDL_ERR_BUSY);
    assert_int_equal(guest_dereg_mr(slots_get(&f->tables.mr, h)), RDL_OK);
    assert_int_equal(guest_dealloc_pd(pd), RDL_OK);
}

static void a_region_to_the_end_of_a_page_has_no_further_page(void **state)
{
    static const struct {
        uint64_t from, bytes;
        uint32_t pages;
    } rows[] = {{0, 4096, 1}, {0, 4097, 2}, {4095, 1, 1}, {4095, 2, 2}, {1, 8191, 2}};
    struct fake *f = *state;
    struct guest_pd *pd = fake_pd(f);
    uint64_t addr = 0;

    assert_int_equal(guest_mem_alloc(&f->guest, 3 * RAM_PAGE_BYTES, &addr), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct raw_reg_user_mr raw;
        uint32_t h = 0;

        assert_int_equal(guest_reg_mr(pd, addr + rows[i].from, rows[i].bytes, 0, NULL, &h), RDL_OK);
        memcpy(&raw, f->request + 1, sizeof(raw));
        assert_int_equal(ld_le32(raw.npages), rows[i].pages);
    }
}

static void a_region_that_cannot_be_is_refused(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = fake_pd(f);
    const uint32_t requests = f->n_requests;
    uint64_t addr = 0;
    uint32_t h = 0;

    assert_int_equal(guest_mem_alloc(&f->guest, RAM_PAGE_BYTES, &addr), RDL_OK);
    assert_int_equal(guest_reg_mr(pd, addr, 0, 0, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(guest_reg_mr(pd, addr, 1, 1u << 20, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(guest_reg_mr(pd, addr, 1, ACC_REMOTE_WRITE, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(guest_reg_mr(pd, addr, 1, ACC_REMOTE_ATOMIC, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(guest_reg_mr(pd, addr, RAM_PAGE_BYTES + 1, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(guest_reg_mr(pd, 0, 1, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(guest_reg_mr(pd, UINT64_MAX, 2, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(guest_reg_mr(pd, addr, FAKE_RAM_BYTES + 1, 0, NULL, &h), RDL_ERR_FAULT);
    assert_int_equal(guest_reg_mr(pd, addr, UINT64_MAX, 0, NULL, &h), RDL_ERR_LIMIT);
    assert_int_equal(f->n_requests, requests);
    assert_int_equal(f->tables.mr.used, 0);
}

/* The ring is the next power of two, the buffers are exactly as many as were asked for. */
static void a_cq_has_as_many_buffers_as_entries(void **state)
{
    static const struct {
        uint32_t cqe, ring;
    } rows[] = {{1, 1}, {2, 2}, {5, 8}, {256, 256}, {257, 512}, {1024, 1024}};
    struct fake *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct guest_cq *cq = fake_cq(f, rows[i].cqe);
        struct vq *vq = &f->dev.queues[cq->cqn];

        f->n_cq--; /* the number is used again */
        assert_int_equal(vq->ring.size, rows[i].ring);
        assert_int_equal(vq_avail_count(vq, &f->ram), rows[i].cqe);
        assert_int_equal(vq->vector, GUEST_VECTOR_CQ);
        assert_int_equal(guest_destroy_cq(cq), RDL_OK);
        assert_int_equal(vq->ring.size, GUEST_QUEUE_SIZE);
        assert_int_equal(vq_avail_count(vq, &f->ram), 0);
    }
}

static void queues_that_cannot_be_reset_begin_anew_in_place(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, VIRTIO_FEATURE(VF_RING_RESET));
    uint32_t h = 0;

    (void)state;
    assert_int_equal(guest_boot(&f->guest), RDL_OK);
    for (unsigned i = 0; i < 3; i++) {
        struct guest_cq *cq = fake_cq(f, 5);
        struct vq *vq = &f->dev.queues[cq->cqn];

        f->n_cq--;
        assert_int_equal(vq->ring.size, GUEST_QUEUE_SIZE);
        assert_int_equal(vq_avail_count(vq, &f->ram), 5);
        assert_int_equal(guest_destroy_cq(cq), RDL_OK);
        vq->last_avail = vq->used_idx = 0; /* what DESTROY does without RING_RESET */
    }
    assert_int_equal(guest_create_cq(&f->guest, GUEST_QUEUE_SIZE + 1, NULL, &h), RDL_ERR_LIMIT);
    fake_free(f);
}

static void limits_of_the_device_are_kept(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = fake_pd(f);
    struct guest_cq *cq = fake_cq(f, 4);
    const struct rdl_qp_config good = {.pd.raw = pd->o.handle,
                                       .type = QPT_RC,
                                       .send_cq.raw = cq->o.handle,
                                       .recv_cq.raw = cq->o.handle};
    struct rdl_qp_config c;
    uint32_t h = 0;

    assert_int_equal(guest_create_cq(&f->guest, 0, NULL, &h), RDL_ERR_INVAL);
    assert_int_equal(guest_create_cq(&f->guest, FAKE_QUEUE + 1, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_send_wr = FAKE_QUEUE + 1;
    assert_int_equal(guest_create_qp(&f->guest, &c, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_recv_sge = RDL_SGE_MAX + 1;
    assert_int_equal(guest_create_qp(&f->guest, &c, NULL, &h), RDL_ERR_LIMIT);
    c = good, c.max_inline_data = 4096;
    assert_int_equal(guest_create_qp(&f->guest, &c, NULL, &h), RDL_ERR_INVAL);
    c = good, c.type = 17;
    assert_int_equal(guest_create_qp(&f->guest, &c, NULL, &h), RDL_ERR_INVAL);
    c = good, c.type = QPT_UD;
    assert_int_equal(guest_create_qp(&f->guest, &c, NULL, &h), RDL_ERR_UNSUPPORTED);
    c = good, c.pd.raw = 0;
    assert_int_equal(guest_create_qp(&f->guest, &c, NULL, &h), RDL_ERR_STALE);
    assert_int_equal(pd->o.n_users + cq->o.n_users, 0);
    assert_int_equal(guest_create_qp(&f->guest, &good, NULL, &h), RDL_OK);
    assert_int_equal(pd->o.n_users, 1);
    assert_int_equal(cq->o.n_users, 2);
}

/* Memory of destroyed objects is used again: a guest does not run dry. */
static void objects_come_and_go_for_ever(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = fake_pd(f);
    uint64_t dma_next = 0;

    for (unsigned i = 0; i < 200; i++) {
        struct guest_cq *cq = fake_cq(f, 1000);
        struct guest_qp *qp = fake_qp(f, pd, cq, 500);

        f->n_cq--;
        f->n_qp--;
        assert_int_equal(guest_destroy_qp(qp), RDL_OK);
        assert_int_equal(guest_destroy_cq(cq), RDL_OK);
        assert_true(i == 0 || f->guest.space.dma_next == dma_next);
        dma_next = f->guest.space.dma_next;
    }
}

static void guest_memory_is_read_and_written(void **state)
{
    struct fake *f = *state;
    struct guest *g = &f->guest;
    uint64_t addr = 0;
    char out[6] = "";

    assert_int_equal(guest_mem_alloc(g, 100, &addr), RDL_OK);
    assert_int_equal(guest_mem_write(g, addr + 10, "hello", 5), RDL_OK);
    assert_int_equal(f->last[EV_mem_write].u.mem_write.addr, addr + 10);
    assert_int_equal(f->last[EV_mem_write].u.mem_write.bytes, 5);
    assert_int_equal(guest_mem_read(g, addr + 10, out, 5), RDL_OK);
    assert_string_equal(out, "hello");
    assert_int_equal(guest_mem_write(g, addr + RAM_PAGE_BYTES - 2, "hello", 5), RDL_ERR_FAULT);
    assert_int_equal(guest_mem_read(g, 16, out, 5), RDL_ERR_FAULT);
    assert_int_equal(guest_mem_alloc(g, FAKE_RAM_BYTES, &addr), RDL_ERR_NOMEM);
    assert_int_equal(guest_mem_alloc(g, UINT64_MAX, &addr), RDL_ERR_NOMEM);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(names_are_unique_and_sound),
        T(a_refused_object_goes_stale_and_its_name_is_free),
        T(an_object_in_use_is_not_destroyed),
        T(a_region_lists_its_pages),
        T(a_region_to_the_end_of_a_page_has_no_further_page),
        T(a_region_that_cannot_be_is_refused),
        T(a_cq_has_as_many_buffers_as_entries),
        cmocka_unit_test(queues_that_cannot_be_reset_begin_anew_in_place),
        T(limits_of_the_device_are_kept),
        T(objects_come_and_go_for_ever),
        T(guest_memory_is_read_and_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
