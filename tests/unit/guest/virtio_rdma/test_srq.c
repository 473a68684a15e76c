/* SPDX-License-Identifier: MIT */
/* Shared receive queues in the driver: queues at boot, requests, and a ring whose entries complete
 * in any order.
 */
#include "guest/virtio_rdma/fake_device.h"

#define MAX_WR 3u /* in a ring of four */

static const uint32_t limits_at = offsetof(struct raw_config, reserved) + SRQ_LIMITS_AT;

/* A device that has @max_srq of them, booted with what is left of the features. */
static struct fake *boot(uint32_t max_srq, uint64_t features_off, enum rdl_status expected)
{
    const struct rfc_srq_limits limits = {max_srq, FAKE_QUEUE, RDL_SGE_MAX};
    struct fake *f = fake_new(FAKE_MAX, features_off);

    rfc_srq_limits_put((struct raw_srq_limits *)(f->dev.device_config + limits_at), &limits);
    assert_int_equal(fake_boot(f), expected);
    return f;
}

static int set_up(void **state)
{
    *state = boot(FAKE_SRQS, 0, RDL_OK);
    return 0;
}

static struct guest_srq *new_srq(struct fake *f, struct guest_pd *pd)
{
    uint64_t h = 0;

    f->number = 1;
    assert_int_equal(
        verbs_create_srq(pd, &(struct rdl_srq_attr){.max_wr = MAX_WR, .max_sge = 2}, NULL, &h),
        RDL_OK);
    return (struct guest_srq *)verbs_get(&f->verbs, OBJ_SRQ, h);
}

static bool enabled(const struct fake *f, uint32_t srqn)
{
    return f->dev.queues[queue_of_srq(FAKE_MAX, FAKE_MAX, srqn)].enabled;
}

static void their_queues_are_there_after_boot(void **state)
{
    struct fake *f = boot(FAKE_SRQS, 0, RDL_OK);

    (void)state;
    assert_true(enabled(f, 1) && enabled(f, FAKE_SRQS));
    assert_int_equal(f->verbs.limits.max_srq, FAKE_SRQS);
    fake_free(f);
    f = boot(1, VIRTIO_FEATURE(VF_EVENTQ), RDL_OK); /* which keeps its number */
    assert_true(enabled(f, 1));
    assert_false(f->dev.queues[queue_of_events(FAKE_MAX, FAKE_MAX)].enabled);
    assert_false(enabled(f, 2));
    fake_free(f);
}

/* What lies in a reserved field is nothing then. */
static void without_the_feature_there_are_none(void **state)
{
    struct fake *f = boot(FAKE_SRQS, VIRTIO_FEATURE(VF_SRQ), RDL_OK);

    (void)state;
    assert_false(enabled(f, 1));
    assert_int_equal(f->verbs.limits.max_srq, 0);
    fake_free(f);
}

static void a_device_that_promises_too_many_is_not_used(void **state)
{
    (void)state;
    fake_free(boot(DEVICE_SRQS_MAX + 1, 0, RDL_ERR_BROKEN));
    fake_free(boot(FAKE_SRQS + 1, 0, RDL_ERR_BROKEN)); /* it has no queues for them */
}

static void requests_have_their_structures(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_srq *srq = new_srq(f, pd);
    struct rfc_srq_attr attr = {.limit = 2};

    assert_int_equal(f->request[0], CMD_CREATE_SRQ);
    assert_int_equal(ld_le32(f->request + 1), pd->pdn);
    assert_int_equal(ld_le32(f->request + 5), MAX_WR);
    assert_int_equal(ld_le32(f->request + 9), 2);
    assert_int_equal(srq->srqn, 1);
    assert_int_equal(srq->rq.queue, queue_of_srq(FAKE_MAX, FAKE_MAX, 1));
    assert_int_equal(verbs_modify_srq(srq, &(struct rdl_srq_attr){.limit = MAX_WR}, RDL_SRQ_LIMIT),
                     RDL_OK);
    assert_int_equal(f->request[0], CMD_MODIFY_SRQ);
    assert_int_equal(ld_le32(f->request + 5), SRQ_LIMIT);
    assert_int_equal(ld_le32(f->request + 13), MAX_WR);
    rfc_srq_attr_put((struct raw_srq_attr *)f->response, &attr);
    assert_int_equal(verbs_query_srq(srq), RDL_OK);
    assert_int_equal(f->request[0], CMD_QUERY_SRQ);
    assert_int_equal(srq->limit, 2);
    assert_int_equal(verbs_destroy_srq(srq), RDL_OK);
    assert_int_equal(f->request[0], CMD_DESTROY_SRQ);
    assert_int_equal(ld_le32(f->request + 1), 1);
}

static void a_number_that_cannot_be_breaks_the_device(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t h = 0;

    f->number = FAKE_SRQS + 1;
    assert_int_equal(verbs_create_srq(pd, &(struct rdl_srq_attr){.max_wr = 1}, NULL, &h), RDL_OK);
    assert_true(f->verbs.broken);
    assert_null(verbs_get(&f->verbs, OBJ_SRQ, h));
}

/* The queue pair has no receive queue of its own, not even memory for one. */
static void a_queue_pair_names_it(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    struct guest_cq *cq = new_cq(&f->verbs, 4);
    struct guest_srq *srq = new_srq(f, pd);
    const struct rdl_qp_config config = {.type = QPT_RC, .srq = {srq->o.handle}};
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq, .srq = srq};
    const struct vq *before = &f->dev.queues[queue_of_receives(FAKE_MAX, 1)];
    const uint64_t ring = before->ring.desc;
    struct guest_qp *qp;
    uint64_t h = 0;

    assert_int_equal(verbs_create_qp(&f->verbs, &config, &parts, NULL, &h), RDL_OK);
    qp = (struct guest_qp *)verbs_get(&f->verbs, OBJ_QP, h);
    assert_int_equal(ld_le32(f->request + 1 + offsetof(struct raw_create_qp, srqn)), 1);
    assert_int_equal(qp->rq.queue, srq->rq.queue);
    assert_int_equal(((struct virtio_rdma_qp *)qp)->rq_mem.size, 0);
    assert_int_equal(f->dev.queues[queue_of_receives(FAKE_MAX, 1)].ring.desc, ring);
    assert_int_equal(verbs_destroy_qp(qp), RDL_OK);
    assert_true(f->dev.queues[srq->rq.queue].enabled); /* its ring stays */
}

/* Takes the next chain, whose WQE must be that of @wr_id. */
static uint16_t take(struct fake *f, const struct guest_srq *srq, uint64_t wr_id)
{
    struct vq *vq = &f->dev.queues[srq->rq.queue];
    struct raw_rq_wqe raw;
    struct rfc_rq_wqe wqe;
    struct vq_chain c;

    assert_int_equal(vq_pop(vq, &f->ram, &c), VQ_GOT);
    assert_int_equal(vq_chain_read(&f->ram, &c, 0, &raw, sizeof(raw)), sizeof(raw));
    rfc_rq_wqe_get(&wqe, &raw);
    assert_int_equal(wqe.wr_id, wr_id);
    return c.head;
}

static enum rdl_status post(struct guest_srq *srq, uint64_t wr_id)
{
    struct rdl_post_error ignored;

    return verbs_post_srq_recv_list(srq, &(struct rdl_recv_wr){.wr_id = wr_id}, 1, false, &ignored);
}

/* Whichever comes back first, its place is the next one's, and the others stay as they are. */
static void receives_come_back_in_any_order(void **state)
{
    struct fake *f = *state;
    struct guest_srq *srq = new_srq(f, new_pd(&f->verbs));
    struct vq *vq = &f->dev.queues[srq->rq.queue];
    uint64_t wr_id = 0;
    uint16_t held;

    assert_int_equal(post(srq, wr_id++), RDL_OK);
    held = take(f, srq, 0);
    for (uint32_t round = 0; round < 100; round++) {
        uint16_t heads[2];

        assert_int_equal(post(srq, wr_id), RDL_OK);
        assert_int_equal(post(srq, wr_id + 1), RDL_OK);
        assert_int_equal(post(srq, wr_id + 2), RDL_ERR_QUEUE_FULL);
        heads[0] = take(f, srq, wr_id);
        heads[1] = take(f, srq, wr_id + 1);
        assert_true(heads[0] != held && heads[1] != held && heads[0] != heads[1]);
        assert_true(vq_push(vq, &f->ram, heads[1], 0));
        assert_true(vq_push(vq, &f->ram, heads[0], 0));
        wr_id += 2;
    }
    assert_true(vq_push(vq, &f->ram, held, 0));
    for (uint32_t i = 0; i < MAX_WR; i++)
        assert_int_equal(post(srq, i), RDL_OK);
    assert_int_equal(post(srq, 9), RDL_ERR_QUEUE_FULL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(their_queues_are_there_after_boot),
        cmocka_unit_test(without_the_feature_there_are_none),
        cmocka_unit_test(a_device_that_promises_too_many_is_not_used),
        T(requests_have_their_structures),
        T(a_number_that_cannot_be_breaks_the_device),
        T(a_queue_pair_names_it),
        T(receives_come_back_in_any_order),
    };

    return cmocka_run_group_tests_name("srq", tests, NULL, NULL);
}
