/* SPDX-License-Identifier: MIT */
/* The commands for multicast groups, and the flags of CREATE_QP. */
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

/* A queue pair of @type, of a PD and a CQ that the first call makes. */
static uint32_t new_qp(struct machine *m, enum qp_type type)
{
    if (!slots_at(&m->rdma.nic.hca.pds, 0)) {
        assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
        assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 8), RSP_OK);
    }
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = (uint8_t)type,
                         .send_cqn = 1, .recv_cqn = 1, .max_send_wr = 4, .max_recv_wr = 4),
                     RSP_OK);
    return machine_number(m);
}

/* A driver that did not accept it has no multicast: the commands are as unknown as in the RFC. */
static void multicast_commands_need_their_feature(void **state)
{
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m, QPT_UD), rc = new_qp(m, QPT_RC);
    const struct rfc_mcast r = {.gid = {0xff, 0x0e, [15] = 1}, .qpn = qpn};
    const uint32_t *qpns;
    struct raw_mcast raw;

    rfc_mcast_put(&raw, &r);
    assert_int_equal(machine_ask(m, CMD_ATTACH_MCAST, &raw, sizeof(raw), ROOM),
                     RSP_UNKNOWN_COMMAND);
    assert_int_equal(machine_ask(m, CMD_DETACH_MCAST, &raw, sizeof(raw), ROOM),
                     RSP_UNKNOWN_COMMAND);
    m->rdma.pci.accepted |= VIRTIO_FEATURE(VF_MCAST);
    assert_int_equal(ASK(m, CMD_ATTACH_MCAST, mcast, .gid = {0xff, 0x0e, [15] = 1}, .qpn = rc),
                     RSP_INVALID_ARG);
    assert_int_equal(machine_ask(m, CMD_ATTACH_MCAST, &raw, sizeof(raw), ROOM), RSP_OK);
    assert_int_equal(mcast_find(&m->rdma.nic.hca, r.gid, &qpns), 1);
    assert_int_equal(qpns[0], qpn);
    assert_int_equal(machine_ask(m, CMD_DETACH_MCAST, &raw, sizeof(raw), ROOM), RSP_OK);
    assert_int_equal(machine_ask(m, CMD_DETACH_MCAST, &raw, sizeof(raw), ROOM), RSP_INVALID_ARG);
    assert_int_equal(machine_ask(m, CMD_ATTACH_MCAST, &raw, sizeof(raw), ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = qpn), RSP_OK);
    assert_int_equal(mcast_find(&m->rdma.nic.hca, r.gid, &qpns), 0);
    assert_int_equal(machine_ask(m, CMD_ATTACH_MCAST, &raw, sizeof(raw), ROOM), RSP_BAD_HANDLE);
}

static void only_a_multicast_address_is_a_group(void **state)
{
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m, QPT_UD);

    m->rdma.pci.accepted |= VIRTIO_FEATURE(VF_MCAST);
    assert_int_equal(ASK(m, CMD_ATTACH_MCAST, mcast, .gid = {0xfe, 0x80, [15] = 1}, .qpn = qpn),
                     RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_ATTACH_MCAST, mcast, .gid = {[10] = 0xff, 0xff, 223, 1, 1, 1}, .qpn = qpn),
        RSP_INVALID_ARG);
    assert_int_equal(
        ASK(m, CMD_ATTACH_MCAST, mcast, .gid = {[10] = 0xff, 0xff, 224, 1, 1, 1}, .qpn = qpn),
        RSP_OK);
}

static void create_flags_that_are_not_known_are_refused(void **state)
{
    struct machine *m = *state;

    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 8), RSP_OK);
    for (uint32_t flag = 1; flag != 0; flag <<= 1) {
        assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC,
                             .send_cqn = 1, .recv_cqn = 1, .create_flags = flag),
                         RSP_NOT_SUPPORTED);
    }
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(multicast_commands_need_their_feature),
        T(only_a_multicast_address_is_a_group),
        T(create_flags_that_are_not_known_are_refused),
    };

    return cmocka_run_group_tests_name("mcast", tests, NULL, NULL);
}
