/* SPDX-License-Identifier: MIT */
/* Boot, the control queue and interrupts. */
#include <errno.h>

#include "emu/facts/enum/access.h"
#include "guest/virtio_rdma/fake_device.h"

static void a_device_that_answers_at_once_is_up_after_boot(void **state)
{
    struct fake *f = *state;
    const struct virtio_rdma *d = &f->rdma;

    assert_int_equal(f->dev.status, VS_ACKNOWLEDGE | VS_DRIVER | VS_FEATURES_OK | VS_DRIVER_OK);
    assert_int_equal(d->virtio.features,
                     (VIRTIO_FEATURES_ALL | RDMA_FEATURES_OWN) &
                         ~VIRTIO_FEATURE(VF_ON_DEMAND)); /* nobody asked for it */
    assert_int_equal(d->device.max_qp, FAKE_MAX);
    assert_int_equal(d->device.max_ah, 77); /* a misaligned field */
    assert_int_equal(d->device.local_ca_ack_delay, 15);
    assert_int_equal(f->verbs.port.active_mtu, MTU_2048);
    assert_int_equal(f->n_requests, 3); /* ADD_GID twice, QUERY_PORT */
    for (uint32_t i = 0; i < d->n_queues; i++)
        assert_true(f->dev.queues[i].enabled);
    assert_int_equal(f->dev.queues[0].ring.size, GUEST_CTRL_QUEUE_SIZE);
    assert_int_equal(f->dev.queues[1].ring.size, GUEST_QUEUE_SIZE);
    assert_int_equal(sim_next_ns(&f->sim), UINT64_MAX); /* and no interrupt is on its way */
}

/* From create_pd on, struct verbs_driver_ops has only pointers to functions. */
static void every_operation_is_there(void **state)
{
    void (*op)(void);
    const char *at = (const char *)&virtio_rdma_ops;
    size_t n = 0;

    (void)state;
    for (size_t i = offsetof(struct verbs_driver_ops, create_pd); i < sizeof(virtio_rdma_ops);
         i += sizeof(op)) {
        memcpy(&op, at + i, sizeof(op));
        n++;
        if (!op)
            fail_msg("virtio_rdma_ops lacks operation %zu of struct verbs_driver_ops", n);
    }
}

static void a_device_that_answers_later_is_up_by_interrupts(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, 0);

    (void)state;
    f->late = true;
    assert_int_equal(fake_boot(f), RDL_OK);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t handle;

        assert_false(f->verbs.up);
        assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &handle), RDL_ERR_BUSY);
        assert_true(fake_answer(f));
        sim_dispatch(&f->sim);
    }
    assert_true(f->verbs.up);
    fake_free(f);
}

static void add_gid_carries_the_address(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, 0);
    struct raw_add_gid raw;
    struct rfc_add_gid cmd;

    (void)state;
    f->late = true;
    assert_int_equal(fake_boot(f), RDL_OK);
    assert_true(fake_answer(f));
    assert_int_equal(f->request[0], CMD_ADD_GID);
    memcpy(&raw, f->request + 1, sizeof(raw));
    rfc_add_gid_get(&cmd, &raw);
    assert_memory_equal(cmd.gid, f->verbs.config.gid[0], GID_BYTES);
    assert_int_equal(cmd.gid_type, 2);
    assert_int_equal(cmd.index, 0);
    assert_int_equal(cmd.port_num, 1);
    fake_free(f);
}

static void a_device_without_options_boots_too(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, UINT64_MAX);

    (void)state;
    assert_int_equal(fake_boot(f), RDL_OK);
    assert_true(f->verbs.up);
    assert_int_equal(f->rdma.virtio.features, VIRTIO_FEATURE(VF_VERSION_1));
    fake_free(f);
}

/* 49,153 queues, with smaller rings, in one tick that still has numbers for its events. */
static void the_largest_device_boots(void **state)
{
    struct fake *f = fake_new(16384, 0);

    (void)state;
    trace_sink_remove(&f->sinks, &f->sink);
    assert_int_equal(fake_boot(f), RDL_OK);
    assert_true(f->verbs.up);
    assert_int_equal(f->rdma.n_queues, 49154);
    assert_true(f->trace.row < EV_ROW_MAX);
    assert_non_null(new_cq(&f->verbs, 1000)); /* longer than the ring of boot */
    fake_free(f);
}

static void a_refused_boot_says_so(void **state)
{
    struct fake *f = fake_new(FAKE_MAX, 0);
    struct rdl_response rsp;

    (void)state;
    f->refuse = RSP_NO_RESOURCES;
    assert_int_equal(fake_boot(f), RDL_ERR_DEVICE);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.error, ENOMEM);
    assert_int_equal(rsp.code, RSP_NO_RESOURCES);
    assert_string_equal(rsp.name, "NO_RESOURCES");
    fake_free(f);
}

/* A program learns the errno, and the device's own code with its name. */
static void a_refusal_has_an_errno(void **state)
{
    static const struct {
        uint8_t code;
        int error;
        const char *name;
    } rows[] = {
        {RSP_ERR, EIO, "ERR"},
        {RSP_UNKNOWN_COMMAND, ENOSYS, "UNKNOWN_COMMAND"},
        {RSP_BAD_HANDLE, ENOENT, "BAD_HANDLE"},
        {RSP_BUSY, EBUSY, "BUSY"},
        {RSP_NO_RESOURCES, ENOMEM, "NO_RESOURCES"},
        {RSP_INVALID_ARG, EINVAL, "INVALID_ARG"},
        {RSP_NOT_SUPPORTED, EOPNOTSUPP, "NOT_SUPPORTED"},
        {77, EIO, "?"}, /* no code at all */
    };
    struct fake *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rdl_response rsp;
        uint64_t h;

        f->refuse = rows[i].code;
        assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
        assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
        assert_int_equal(rsp.error, rows[i].error);
        assert_int_equal(rsp.code, rows[i].code);
        assert_string_equal(rsp.name, rows[i].name);
    }
}

static void numbers_that_contradict_each_other_are_refused(void **state)
{
    static const struct {
        uint32_t max_cq, max_qp;
    } rows[] = {{0, 4}, {4, 0}, {5, 4}, {4, 5}, {16385, 4}, {UINT32_MAX, UINT32_MAX}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fake *f = fake_new(FAKE_MAX, VIRTIO_FEATURE(VF_SRQ));

        st_le32(f->dev.device_config + offsetof(struct raw_config, max_cq), rows[i].max_cq);
        st_le32(f->dev.device_config + offsetof(struct raw_config, max_qp), rows[i].max_qp);
        assert_int_equal(fake_boot(f), RDL_ERR_BROKEN);
        assert_int_equal(f->dev.status & VS_FAILED, VS_FAILED);
        fake_free(f);
    }
}

/* The vectors of the configuration, the control queue, the CQs and the event queue. */
static void a_device_without_room_for_a_vector_is_refused(void **state)
{
    const uint32_t needed = 1 + 1 + FAKE_MAX + 1;

    (void)state;
    for (uint32_t room = 1; room <= needed; room++) {
        struct fake *f = fake_new(FAKE_MAX, 0);

        f->room = room;
        assert_int_equal(fake_boot(f), room < needed ? RDL_ERR_BROKEN : RDL_OK);
        assert_int_equal(f->n_mapped, room < needed ? room + 1 : needed);
        fake_free(f);
    }
}

/* The queue is reset and enabled again for its CQ, which maps the vector anew. */
static void a_queue_that_loses_its_vector_breaks_the_device(void **state)
{
    struct fake *f = *state;
    uint64_t h = 0;
    struct rdl_response rsp;

    f->room = f->n_mapped;
    assert_int_equal(verbs_create_cq(&f->verbs, 4, NULL, &h), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BROKEN);
    assert_null(verbs_get(&f->verbs, OBJ_CQ, h));
    assert_true(f->verbs.broken);
}

static void one_request_at_a_time(void **state)
{
    struct fake *f = *state;
    uint64_t a = 0, b = 0;
    struct rdl_response rsp;

    f->late = true;
    assert_int_equal(verbs_alloc_pd(&f->verbs, "pd", &a), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "other", &b), RDL_ERR_BUSY);
    assert_int_equal(verbs_dealloc_pd((struct guest_pd *)verbs_get(&f->verbs, OBJ_PD, a)),
                     RDL_ERR_BUSY);
    assert_true(fake_answer(f));
    sim_dispatch(&f->sim);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "other", &b), RDL_OK);
}

static struct guest_object *object_at(struct fake *f, enum object_kind kind, uint64_t handle)
{
    return verbs_get(&f->verbs, kind, handle);
}

/* Those that create objects; each is refused for itself, and the first reason stays. */
static void requests_that_create_may_be_under_way_together(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t h[4] = {0}, other = 0;
    struct rdl_response rsp;

    f->late = true;
    f->verbs.requests_max = 4;
    assert_int_equal(verbs_alloc_pd(&f->verbs, "a", &h[0]), RDL_OK);
    assert_int_equal(verbs_create_cq(&f->verbs, 4, "b", &h[1]), RDL_OK);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "c", &h[2]), RDL_OK);
    assert_int_equal(verbs_create_cq(&f->verbs, 4, "d", &h[3]), RDL_OK);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "e", &other), RDL_ERR_BUSY);
    assert_null(verbs_find(&f->verbs, "e"));
    assert_int_equal(verbs_dealloc_pd(pd), RDL_ERR_BUSY);
    assert_int_equal(verbs_query_port(&f->verbs), RDL_ERR_BUSY);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BUSY);
        f->refuse = (uint8_t)(i == 1 ? RSP_NO_RESOURCES : i == 2 ? RSP_INVALID_ARG : RSP_OK);
        assert_true(fake_answer(f));
        sim_dispatch(&f->sim);
    }
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.code, RSP_NO_RESOURCES);
    assert_int_equal(object_at(f, OBJ_PD, h[0])->life, GUEST_LIVE);
    assert_null(object_at(f, OBJ_CQ, h[1]));
    assert_null(object_at(f, OBJ_PD, h[2]));
    assert_int_equal(object_at(f, OBJ_CQ, h[3])->life, GUEST_LIVE);
    assert_int_equal(pd->o.n_users, 0);
    /* The next one begins anew. */
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
    assert_int_equal(verbs_alloc_pd(&f->verbs, "e", &other),
                     RDL_ERR_BUSY); /* that is no creation */
    assert_true(fake_answer(f));
    sim_dispatch(&f->sim);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
}

/* A device may give requests back in any order: an answer is known by its descriptor. */
static void answers_in_another_order_find_their_objects(void **state)
{
    struct fake *f = *state;
    struct vq *vq = &f->dev.queues[0];
    struct vq_chain c[3];
    uint64_t h[3] = {0};
    struct rdl_response rsp;

    f->late = true;
    f->verbs.requests_max = RDL_REQUESTS_MAX;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h[i]), RDL_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t answer[5] = {RSP_OK, (uint8_t)(10 + i)};

        assert_int_equal(vq_pop(vq, &f->ram, &c[i]), VQ_GOT);
        vq_chain_write(&f->ram, &c[i], 0, answer, sizeof(answer));
    }
    for (uint32_t i = 3; i-- > 0;)
        assert_true(vq_push(vq, &f->ram, c[i].head, 5));
    virtio_rdma_driver.pci.interrupt(&f->rdma, GUEST_VECTOR_CTRL);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(((struct guest_pd *)object_at(f, OBJ_PD, h[i]))->pdn, 10 + i);
}

/* The driver's one list of pages is the device's until it has answered. */
static void a_region_waits_for_its_turn(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd = new_pd(&f->verbs);
    uint64_t addr = 0, h = 0, mr = 0;

    assert_int_equal(verbs_mem_alloc(&f->verbs, 4096, &addr), RDL_OK);
    f->late = true;
    f->verbs.requests_max = 2;
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    assert_int_equal(verbs_reg_mr(pd, addr, 4096, ACC_LOCAL_WRITE, "mr", &mr), RDL_ERR_BUSY);
    assert_null(verbs_find(&f->verbs, "mr"));
    assert_int_equal(pd->o.n_users, 0);
    assert_true(fake_answer(f));
    assert_false(fake_answer(f)); /* and nothing of it is in the ring */
}

static void requests_and_answers_are_events(void **state)
{
    struct fake *f = *state;
    struct guest_pd *pd;

    f->number = 9;
    pd = new_pd(&f->verbs);
    assert_int_equal(f->last[EV_ctrl_request].u.ctrl_request.cmd, CMD_CREATE_PD);
    assert_int_equal(f->last[EV_kick].cause, f->last[EV_ctrl_request].id);
    assert_int_equal(f->last[EV_ctrl_response].u.ctrl_response.rsp, RSP_OK);
    assert_int_equal(f->last[EV_ctrl_response].u.ctrl_response.number, 9);
    assert_int_equal(f->last[EV_named].cause, f->last[EV_ctrl_response].id);
    assert_string_equal(f->last[EV_named].u.named.name.s, "pd9");
    assert_int_equal(f->last[EV_named].u.named.host, FAKE_HOST);
    assert_int_equal(verbs_dealloc_pd(pd), RDL_OK);
    assert_int_equal(f->last[EV_gone].u.gone.number, 9);
}

static void a_device_that_lies_does_not_crash_the_guest(void **state)
{
    struct fake *f = *state;
    uint64_t h = 0;
    struct rdl_response rsp;

    f->used_len = 1; /* success, but no number */
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_DEVICE);
    assert_null(verbs_get(&f->verbs, OBJ_PD, h));

    f->number = FAKE_MAX + 1; /* no such CQ */
    assert_int_equal(verbs_create_cq(&f->verbs, 4, NULL, &h), RDL_OK);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BROKEN);
    assert_null(verbs_get(&f->verbs, OBJ_CQ, h));
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_ERR_BROKEN);
}

static void a_used_element_out_of_nowhere_breaks_the_control_queue(void **state)
{
    struct fake *f = *state;
    struct rdl_response rsp;

    assert_true(vq_push(&f->dev.queues[0], &f->ram, 5, 1));
    virtio_rdma_driver.pci.interrupt(&f->rdma, GUEST_VECTOR_CTRL);
    assert_int_equal(verbs_answer(&f->verbs, &rsp), RDL_ERR_BROKEN);
}

static void a_device_that_needs_a_reset_is_noticed(void **state)
{
    struct fake *f = *state;
    uint64_t h = 0;

    f->dev.queues[3].broken = VQE_LOOP;
    virtio_queue_broken(&f->dev, 3);
    sim_dispatch(&f->sim);
    assert_true(f->verbs.broken);
    assert_int_equal(verbs_alloc_pd(&f->verbs, NULL, &h), RDL_ERR_BROKEN);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_set_up, fake_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_device_that_answers_at_once_is_up_after_boot),
        cmocka_unit_test(every_operation_is_there),
        cmocka_unit_test(a_device_that_answers_later_is_up_by_interrupts),
        cmocka_unit_test(add_gid_carries_the_address),
        cmocka_unit_test(a_device_without_options_boots_too),
        cmocka_unit_test(the_largest_device_boots),
        cmocka_unit_test(a_refused_boot_says_so),
        T(a_refusal_has_an_errno),
        cmocka_unit_test(numbers_that_contradict_each_other_are_refused),
        cmocka_unit_test(a_device_without_room_for_a_vector_is_refused),
        T(a_queue_that_loses_its_vector_breaks_the_device),
        T(one_request_at_a_time),
        T(requests_that_create_may_be_under_way_together),
        T(answers_in_another_order_find_their_objects),
        T(a_region_waits_for_its_turn),
        T(requests_and_answers_are_events),
        T(a_device_that_lies_does_not_crash_the_guest),
        T(a_used_element_out_of_nowhere_breaks_the_control_queue),
        T(a_device_that_needs_a_reset_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
