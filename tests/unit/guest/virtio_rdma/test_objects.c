/* SPDX-License-Identifier: MIT */
/* Objects: the requests that the device receives, and the queues that objects use. */
#include "emu/facts/enum/access.h"
#include "guest/virtio_rdma/fake_device.h"

static void a_region_lists_its_pages(void **state)
{
    struct fake *f = *state;
    struct verbs *v = &f->verbs;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct rdl_mr_info info;
    struct rfc_reg_user_mr cmd;
    struct raw_reg_user_mr raw;
    uint64_t addr = 0;
    uint64_t h = 0;

    assert_int_equal(verbs_mem_alloc(v, 5 * RAM_PAGE_BYTES, &addr), RDL_OK);
    /* From inside the first page to one byte of the third. */
    assert_int_equal(
        verbs_reg_mr(pd, addr + 100, 2 * RAM_PAGE_BYTES - 99, ACC_LOCAL_WRITE, "mr", &h), RDL_OK);
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
        assert_true(space_translate(&f->space, addr + i * RAM_PAGE_BYTES, &gpa));
        assert_int_equal(ld_le64(entry), gpa);
    }
    verbs_mr_info((struct guest_mr *)verbs_get(&f->verbs, OBJ_MR, h), &info);
    assert_int_equal(info.lkey & 0xff, 1);
    assert_int_equal(info.rkey & 0xff, 2);
    assert_int_equal(info.bytes, 2 * RAM_PAGE_BYTES - 99);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_ERR_BUSY);
    assert_int_equal(verbs_dereg_mr((struct guest_mr *)verbs_get(&f->verbs, OBJ_MR, h)), RDL_OK);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
}

static void a_region_to_the_end_of_a_page_has_no_further_page(void **state)
{
    static const struct {
        uint64_t from, bytes;
        uint32_t pages;
    } rows[] = {{0, 4096, 1}, {0, 4097, 2}, {4095, 1, 1}, {4095, 2, 2}, {1, 8191, 2}};
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t addr = 0;

    assert_int_equal(verbs_mem_alloc(&f->verbs, 3 * RAM_PAGE_BYTES, &addr), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct raw_reg_user_mr raw;
        uint64_t h = 0;

        assert_int_equal(verbs_reg_mr(pd, addr + rows[i].from, rows[i].bytes, 0, NULL, &h), RDL_OK);
        memcpy(&raw, f->request + 1, sizeof(raw));
        assert_int_equal(ld_le32(raw.npages), rows[i].pages);
    }
}

/* The ring is the next power of two, the buffers are exactly as many as were asked for. */
static void a_cq_has_as_many_buffers_as_entries(void **state)
{
    static const struct {
        uint32_t cqe, ring;
    } rows[] = {{1, 1}, {2, 2}, {5, 8}, {256, 256}, {257, 512}, {1024, 1024}};
    struct fake *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct guest_cq *cq = new_cq(&f->verbs, rows[i].cqe);
        struct vq *vq = &f->dev.queues[cq->cqn];

        f->n_cq--; /* the number is used again */
        assert_int_equal(vq->ring.size, rows[i].ring);
        assert_int_equal(vq_avail_count(vq, &f->ram), rows[i].cqe);
        assert_int_equal(vq->vector, GUEST_VECTOR_CQ);
        assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
        assert_int_equal(vq->ring.size, GUEST_QUEUE_SIZE);
        assert_int_equal(vq_avail_count(vq, &f->ram), 0);
    }
}

/* Both its queues get rings of their own, and are reset when it is gone. */
static void a_qp_has_rings_for_its_work_requests(void **state)
{
    struct fake *f = *state;
    struct guest_cq *cq = new_cq(&f->verbs, 8);
    struct guest_qp *qp = new_qp(new_pd(&f->verbs), cq, 100);
    struct vq *const queues[] = {&f->dev.queues[qp->sq.queue], &f->dev.queues[qp->rq.queue]};

    for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
        assert_true(queues[i]->enabled);
        assert_int_equal(queues[i]->ring.size, 128);
        assert_int_equal(vq_avail_count(queues[i], &f->ram), 0);
        queues[i]->last_avail = 5; /* as if the device had taken something */
    }
    assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(queues); i++) {
        assert_int_equal(queues[i]->ring.size, GUEST_QUEUE_SIZE);
        assert_int_equal(queues[i]->last_avail, 0);
    }
}

static void queues_that_cannot_be_reset_begin_anew_in_place(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, VIRTIO_FEATURE(VF_RING_RESET));
    uint64_t h = 0;

    (void)state;
    assert_int_equal(fake_boot(f), RDL_OK);
    for (unsigned i = 0; i < 3; i++) {
        struct guest_cq *cq = new_cq(&f->verbs, 5);
        struct vq *vq = &f->dev.queues[cq->cqn];

        f->n_cq--;
        assert_int_equal(vq->ring.size, GUEST_QUEUE_SIZE);
        assert_int_equal(vq_avail_count(vq, &f->ram), 5);
        assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
        vq->last_avail = vq->used_idx = 0; /* what DESTROY does without RING_RESET */
    }
    assert_int_equal(verbs_create_cq(&f->verbs, GUEST_QUEUE_SIZE + 1, NULL, &h), RDL_ERR_LIMIT);
    fake_free(f);
}

/* Memory of destroyed objects is used again: a guest does not run dry. */
static void objects_come_and_go_for_ever(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t dma_next = 0;

    for (unsigned i = 0; i < 200; i++) {
        struct guest_cq *cq = new_cq(&f->verbs, 1000);
        struct guest_qp *qp = new_qp(pd, cq, 500);

        f->n_cq--;
        f->n_qp--;
        assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
        assert_int_equal(verbs_destroy_cq(cq), RDL_OK);
        assert_true(i == 0 || f->space.dma_next == dma_next);
        dma_next = f->space.dma_next;
    }
}

/* Bytes of the driver's memory that were given back. */
static uint64_t free_bytes(const struct fake *f)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < DMA_CLASSES; i++) {
        for (uint64_t gpa = f->dma.free[i]; gpa;) {
            uint8_t next[8];

            assert_true(ram_read(&f->ram, gpa, next, sizeof(next)));
            sum += (uint64_t)1 << i;
            gpa = ld_le64(next);
        }
    }
    return sum;
}

static const struct rdl_qp_config qp_config = {
    .type = QPT_RC, .max_send_wr = 200, .max_recv_wr = 500};

/* Asks for a queue pair, or a completion queue; what the driver was answered. */
static enum rdl_status ask(struct fake *f, bool qp, struct guest_pd *pd, struct guest_cq *cq)
{
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    uint64_t h = 0;
    struct rdl_response rsp;

    assert_int_equal(qp ? verbs_create_qp(&f->verbs, &qp_config, &parts, NULL, &h)
                        : verbs_create_cq(&f->verbs, 1000, NULL, &h),
                     RDL_OK);
    return verbs_answer(&f->verbs, &rsp);
}

/* The memory of queues comes back if the device refuses them, or gives them a number that is none.
 */
static void what_does_not_come_to_be_gives_its_memory_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const bool qp = i % 2, refused = i < 2;
        struct fake *f;
        struct guest_pd *pd;
        struct guest_cq *cq;
        uint64_t bytes, next;

        fake_set_up((void **)&f);
        pd = new_pd(&f->verbs);
        cq = new_cq(&f->verbs, 4);
        for (unsigned k = 0; k < 2; k++) { /* from the second on there are blocks to use again */
            f->refuse = RSP_NO_RESOURCES;
            assert_int_equal(ask(f, qp, pd, cq), RDL_ERR_DEVICE);
        }
        bytes = free_bytes(f);
        next = f->space.dma_next;
        assert_true(bytes > 0);
        if (refused)
            f->refuse = RSP_NO_RESOURCES;
        else
            f->number = FAKE_MAX + 1;
        assert_int_equal(ask(f, qp, pd, cq), refused ? RDL_ERR_DEVICE : RDL_ERR_BROKEN);
        assert_int_equal(free_bytes(f), bytes);
        assert_int_equal(f->space.dma_next, next);
        fake_tear_down((void **)&f);
    }
}

/* There is memory for the send queue, 256 WQEs of 256 bytes, and too little for the receive queue.
 */
static void half_of_a_queue_pair_gives_its_memory_back(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    const uint64_t before = free_bytes(f), next = f->space.dma_next, room = 100u << 10;
    uint64_t h = 0;

    f->space.dma_end = next + room;
    assert_int_equal(verbs_create_qp(&f->verbs, &qp_config, &parts, NULL, &h), RDL_ERR_NOMEM);
    assert_int_equal(f->space.dma_next, next); /* as if nothing had been taken */
    assert_int_equal(free_bytes(f), before);
}

/* A ring that is broken takes no request: nothing reaches the device. */
static void a_queue_that_was_never_asked_for_gives_its_memory_back(void **state)
{
    struct fake *f = *state;
    const uint64_t before = free_bytes(f), next = f->space.dma_next;
    const uint32_t n_requests = f->n_requests;
    uint64_t h = 0;

    virtio_rdma_vq(&f->rdma, 0)->broken = true;
    assert_int_equal(verbs_create_cq(&f->verbs, 1000, NULL, &h), RDL_ERR_BROKEN);
    assert_int_equal(f->n_requests, n_requests);
    assert_int_equal(f->space.dma_next, next);
    assert_int_equal(free_bytes(f), before);
}

/* A block begins with the address of the next free one while it is free. */
static void a_block_is_zero_whoever_had_it_before(void **state)
{
    static const uint64_t sizes[] = {1,   DMA_BLOCK_BYTES_MIN, 65,
                                     512, RAM_PAGE_BYTES,      2 * RAM_PAGE_BYTES};
    struct fake *f = *state;
    uint8_t bytes[2 * RAM_PAGE_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const uint64_t n = sizes[i], a = dma_take(&f->dma, n), b = dma_take(&f->dma, n);

        assert_true(a != 0 && b != 0 && a != b);
        memset(bytes, 0xff, sizeof(bytes));
        assert_true(ram_write(&f->ram, a, bytes, n) && ram_write(&f->ram, b, bytes, n));
        dma_give(&f->dma, a, n);
        dma_give(&f->dma, b, n);
        assert_true(dma_take(&f->dma, n) == b);
        assert_true(dma_take(&f->dma, n) == a);
        for (unsigned k = 0; k < 2; k++) {
            assert_true(ram_read(&f->ram, k ? a : b, bytes, n));
            for (uint64_t at = 0; at < n; at++)
                assert_int_equal(bytes[at], 0);
        }
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_region_lists_its_pages),
        T(a_region_to_the_end_of_a_page_has_no_further_page),
        T(a_cq_has_as_many_buffers_as_entries),
        T(a_qp_has_rings_for_its_work_requests),
        cmocka_unit_test(queues_that_cannot_be_reset_begin_anew_in_place),
        T(objects_come_and_go_for_ever),
        cmocka_unit_test(what_does_not_come_to_be_gives_its_memory_back),
        T(half_of_a_queue_pair_gives_its_memory_back),
        T(a_queue_that_was_never_asked_for_gives_its_memory_back),
        T(a_block_is_zero_whoever_had_it_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
