/* SPDX-License-Identifier: MIT */
/* The structures and numbers of Linux's driver of virtio-rdma (linux/virtio_rdma) against the rows
 * of the device.  The structures have the same names, and the fields of each, too.
 */
#include "testing.h"

#define __packed __attribute__((packed))
#include "virtio_rdma_abi.h"

#include "emu/facts/device.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"

#define SAME_FIELD(name, field, type, text)                                                        \
    assert_int_equal(offsetof(struct raw_##name, field),                                           \
                     offsetof(struct virtio_rdma_##name, field));                                  \
    assert_int_equal(sizeof(((struct raw_##name *)0)->field),                                      \
                     sizeof(((struct virtio_rdma_##name *)0)->field));
#define SAME_STRUCT(name, list)                                                                    \
    assert_int_equal(sizeof(struct raw_##name), sizeof(struct virtio_rdma_##name));                \
    list(SAME_FIELD, name)

static void structures_are_the_same(void **state)
{
    (void)state;
    RFC_STRUCTS(SAME_STRUCT)
}

static void the_union_of_a_send_has_room_for_each_member(void **state)
{
    (void)state;
    assert_int_equal(offsetof(struct virtio_rdma_sq_wqe, wr.rdma), offsetof(struct raw_sq_wqe, wr));
    assert_int_equal(offsetof(struct virtio_rdma_sq_wqe, wr.bind), offsetof(struct raw_sq_wqe, wr));
    assert_int_equal(sizeof(struct virtio_rdma_config),
                     offsetof(struct virtio_rdma_config, reserved) + 512);
}

static void commands_are_the_same(void **state)
{
    (void)state;
#define CONTROL(NAME, ...) assert_int_equal(VIRTIO_RDMA_CMD_##NAME, CMD_##NAME);
#include "emu/facts/controls.def"
#undef CONTROL
}

static void responses_are_the_same(void **state)
{
    (void)state;
#define SAME_RSP(prefix, name, value, text) assert_int_equal(VIRTIO_RDMA_RSP_##name, value);
    ENUM_CTRL_RSP(SAME_RSP)
#undef SAME_RSP
}

/* The features of every virtio device: Linux has them in headers of its own. */
#define VIRTIO_RDMA_F_INDIRECT_DESC   28
#define VIRTIO_RDMA_F_EVENT_IDX       29
#define VIRTIO_RDMA_F_VERSION_1       32
#define VIRTIO_RDMA_F_ACCESS_PLATFORM 33
#define VIRTIO_RDMA_F_RING_PACKED     34
#define VIRTIO_RDMA_F_SR_IOV          37
#define VIRTIO_RDMA_F_RING_RESET      40

static void features_are_the_same(void **state)
{
    (void)state;
#define SAME_FEATURE(prefix, name, value, text) assert_int_equal(VIRTIO_RDMA_F_##name, value);
    ENUM_FEATURE(SAME_FEATURE)
#undef SAME_FEATURE
}

static void completions_have_the_same_numbers(void **state)
{
    (void)state;
#define SAME_OPCODE(prefix, name, value, text) assert_int_equal(VIRTIO_RDMA_WC_##name, WC_##name);
    ENUM_WC_OPCODE(SAME_OPCODE)
#undef SAME_OPCODE
#define SAME_FLAG(prefix, name, value, text) assert_int_equal(VIRTIO_RDMA_WCF_##name, WCF_##name);
    ENUM_WC_FLAG(SAME_FLAG)
#undef SAME_FLAG
}

static void constants_are_the_same(void **state)
{
    (void)state;
    assert_int_equal(VIRTIO_RDMA_GID_TYPE_ROCE_V2, GID_TYPE_ROCE_V2);
    assert_int_equal(VIRTIO_RDMA_NOTIFY_SOLICITED, NOTIFY_SOLICITED);
    assert_int_equal(VIRTIO_RDMA_NOTIFY_NEXT_COMP, NOTIFY_NEXT_COMPLETION);
    assert_int_equal(VIRTIO_RDMA_SRQ_LIMITS_AT, SRQ_LIMITS_AT);
    assert_int_equal(VIRTIO_RDMA_CEQ_LIMITS_AT, CEQ_LIMITS_AT);
    assert_int_equal(VIRTIO_RDMA_EVENTS_MISSED, ASYNC_EVENTS_MISSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structures_are_the_same),
        cmocka_unit_test(the_union_of_a_send_has_room_for_each_member),
        cmocka_unit_test(commands_are_the_same),
        cmocka_unit_test(responses_are_the_same),
        cmocka_unit_test(features_are_the_same),
        cmocka_unit_test(completions_have_the_same_numbers),
        cmocka_unit_test(constants_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
