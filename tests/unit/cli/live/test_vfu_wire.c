/* SPDX-License-Identifier: MIT */
/* Tests of the messages of vfio-user, byte by byte, and of the choice of a transport. */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "cli/live/vfu_wire.h"
#include "cli/live/vm_find.h"
#include "emu/base/cursor.h"

/* A message in its own allocation, so that a read beyond its end is found by a sanitizer. */
struct message {
    uint8_t *bytes;
};

static struct message message_of(uint16_t command, uint32_t flags, const uint8_t *body, size_t n)
{
    const struct message m = {test_malloc(VM_HEADER_BYTES + n)};

    memset(m.bytes, 0, VM_HEADER_BYTES);
    st_le16(m.bytes, 0x1234);
    st_le16(m.bytes + 2, command);
    st_le32(m.bytes + 4, (uint32_t)(VM_HEADER_BYTES + n));
    st_le32(m.bytes + 8, flags);
    if (n > 0)
        memcpy(m.bytes + VM_HEADER_BYTES, body, n);
    return m;
}

static int parse(uint16_t command, uint32_t flags, const uint8_t *body, size_t n,
                 struct vfu_request *ret)
{
    const struct message m = message_of(command, flags, body, n);
    size_t size = 0;
    int error;

    assert_true(vfu_message_size(m.bytes, &size));
    assert_int_equal(size, VM_HEADER_BYTES + n);
    error = vfu_request_read(m.bytes, ret);
    ret->data = NULL;
    assert_int_equal(ret->id, 0x1234);
    assert_int_equal(ret->posted, (flags & VFU_NO_REPLY) != 0);
    test_free(m.bytes);
    return error;
}

static void a_header_is_that_of_a_request_and_bounds_its_message(void **state)
{
    static const struct {
        uint32_t size, flags;
        bool good;
    } rows[] = {
        {16, 0, true},
        {VM_MESSAGE_MAX, 0, true},
        {15, 0, false},
        {0, 0, false},
        {4353, 0, false},
        {UINT32_MAX, 0, false},
        {16, VFU_NO_REPLY, true},
        {16, VFU_REPLY, false}, /* to a request that the server never makes */
        {16, VFU_ERROR, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t h[VM_HEADER_BYTES] = {0};
        size_t size = 999;

        st_le32(h + 4, rows[i].size);
        st_le32(h + 8, rows[i].flags);
        assert_int_equal(vfu_message_size(h, &size), rows[i].good);
        assert_int_equal(size, rows[i].good ? rows[i].size : 999);
    }
}

/* For each command a body that is right, as QEMU sends it. */
static const struct row {
    uint16_t command;
    size_t n;
    uint8_t body[48];
} good[] = {
    {VFU_VERSION, 7, {0, 0, 0, 0, '{', '}', 0}},
    {VFU_DMA_MAP, 32, {32, 0, 0,    0, 3, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0,
                       0,  0, 0x0a, 0, 0, 0, 0, 0, 0, 0,    2, 0, 0, 0, 0, 0}},
    {VFU_DMA_UNMAP, 24, {24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0,
                         0,  0, 0, 0, 0, 0, 2, 0, 0, 0, 0,    0}},
    {VFU_DEVICE_GET_INFO, 16, {16}},
    {VFU_GET_REGION_INFO, 32, {32, 0, 0, 0, 0, 0, 0, 0, 7}},
    {VFU_GET_IRQ_INFO, 16, {16, 0, 0, 0, 0, 0, 0, 0, 2}},
    {VFU_SET_IRQS, 20, {20, 0, 0, 0, 0x24, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}},
    {VFU_REGION_READ, 16, {4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0}},
    {VFU_REGION_WRITE, 20, {4, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4}},
    {VFU_DEVICE_RESET, 0, {0}},
};

static void every_message_of_qemu_is_understood(void **state)
{
    struct vfu_request r[VFU_COMMANDS];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        assert_int_equal(parse(good[i].command, 0, good[i].body, good[i].n, &r[good[i].command]),
                         0);
        assert_int_equal(r[good[i].command].command, good[i].command);
    }
    assert_int_equal(r[VFU_DMA_MAP].flags, VFU_MAP_READ | VFU_MAP_WRITE);
    assert_int_equal(r[VFU_DMA_MAP].offset, 0x1000);
    assert_int_equal(r[VFU_DMA_MAP].address, 0xa0000);
    assert_int_equal(r[VFU_DMA_MAP].bytes, 0x20000);
    assert_int_equal(r[VFU_DMA_UNMAP].address, 0xa0000);
    assert_int_equal(r[VFU_DMA_UNMAP].bytes, 0x20000);
    assert_int_equal(r[VFU_GET_REGION_INFO].index, VFU_REGION_CONFIG);
    assert_int_equal(r[VFU_GET_IRQ_INFO].index, VFU_IRQ_MSIX);
    assert_int_equal(r[VFU_SET_IRQS].flags, VFU_SET_EVENTFD | VFU_SET_TRIGGER);
    assert_int_equal(r[VFU_SET_IRQS].index, VFU_IRQ_MSIX);
    assert_int_equal(r[VFU_SET_IRQS].start, 1);
    assert_int_equal(r[VFU_SET_IRQS].count, 3);
    assert_int_equal(r[VFU_REGION_READ].offset, 4);
    assert_int_equal(r[VFU_REGION_READ].index, 1);
    assert_int_equal(r[VFU_REGION_READ].count, 8);
    assert_int_equal(r[VFU_REGION_WRITE].count, 4);
}

static void data_of_a_write_are_behind_its_head(void **state)
{
    const struct row *w = &good[8];
    const struct message m = message_of(w->command, VFU_NO_REPLY, w->body, w->n);
    struct vfu_request r;

    (void)state;
    assert_int_equal(vfu_request_read(m.bytes, &r), 0);
    assert_ptr_equal(r.data, m.bytes + VM_HEADER_BYTES + 16);
    assert_int_equal(ld_le32(r.data), 0x04030201);
    assert_true(r.posted);
    test_free(m.bytes);
}

static void every_other_length_is_refused(void **state)
{
    struct vfu_request r;
    uint8_t body[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        memset(body, 0, sizeof(body));
        memcpy(body, good[i].body, good[i].n);
        for (size_t n = 0; n < sizeof(body); n++) {
            const int error = parse(good[i].command, 0, body, n, &r);

            if (n == good[i].n || (good[i].command == VFU_VERSION && n >= 7))
                assert_int_equal(error, 0);
            else if (good[i].command == VFU_VERSION && n == 4)
                assert_int_equal(error, 0); /* no capabilities */
            else
                assert_int_equal(error, EINVAL);
        }
    }
}

static void capabilities_end_with_a_nul(void **state)
{
    struct vfu_request r;

    (void)state;
    assert_int_equal(parse(VFU_VERSION, 0, (const uint8_t *)"\0\0\0\0{}", 6, &r), EINVAL);
    assert_int_equal(parse(VFU_VERSION, 0, (const uint8_t *)"\2\0\0\0{}", 7, &r), 0);
    assert_int_equal(r.major, 2);
}

static void what_is_not_a_command_is_told_apart_from_a_wrong_one(void **state)
{
    static const uint8_t body[16] = {16};
    struct vfu_request r;

    (void)state;
    for (uint32_t command = 0; command <= UINT16_MAX; command++) {
        bool known = false;

        for (size_t i = 0; i < ARRAY_LEN(good); i++)
            known |= good[i].command == command;
        if (!known)
            assert_int_equal(parse((uint16_t)command, 0, body, sizeof(body), &r), ENOTSUP);
    }
}

/* Rows change one byte of a message that is right. */
static void fields_that_contradict_each_other_are_refused(void **state)
{
    static const struct {
        size_t row, at;
        uint8_t value;
    } rows[] = {
        {1, 0, 31},    /* DMA_MAP: argsz */
        {2, 0, 40},    /* DMA_UNMAP: argsz, of one with a bitmap */
        {6, 4, 0x20},  /* SET_IRQS: no kind of data */
        {6, 4, 0x26},  /* two kinds */
        {6, 4, 0x22},  /* three bytes of data that are not there */
        {7, 12, 0},    /* REGION_READ of nothing */
        {7, 13, 0x11}, /* of 4,360 bytes */
        {8, 12, 3},    /* REGION_WRITE of fewer bytes than there are */
        {8, 12, 5},    /* of more */
        {8, 15, 0xff},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *g = &good[rows[i].row];
        struct vfu_request r;
        uint8_t body[48];

        memcpy(body, g->body, sizeof(body));
        body[rows[i].at] = rows[i].value;
        assert_int_equal(parse(g->command, 0, body, g->n, &r), EINVAL);
    }
}

static void masks_are_a_byte_for_each_interrupt(void **state)
{
    uint8_t body[23] = {23, 0, 0, 0, VFU_SET_BOOL | VFU_SET_MASK};
    struct vfu_request r;

    (void)state;
    st_le32(body + 16, 3);
    assert_int_equal(parse(VFU_SET_IRQS, 0, body, 23, &r), 0);
    assert_int_equal(parse(VFU_SET_IRQS, 0, body, 22, &r), EINVAL);
    st_le32(body + 16, UINT32_MAX);
    assert_int_equal(parse(VFU_SET_IRQS, 0, body, 23, &r), EINVAL);
}

/* --- Replies ---------------------------------------------------------------------------------- */

static void expect_header(const struct vfu_reply *reply, size_t n_body, uint32_t flags,
                          uint32_t error)
{
    assert_int_equal(reply->n, VM_HEADER_BYTES + n_body);
    assert_int_equal(ld_le16(reply->bytes), 0x77);
    assert_int_equal(ld_le32(reply->bytes + 4), VM_HEADER_BYTES + n_body);
    assert_int_equal(ld_le32(reply->bytes + 8), flags);
    assert_int_equal(ld_le32(reply->bytes + 12), error);
}

static void replies_have_the_number_of_their_request(void **state)
{
    const struct vfu_request read = {
        .id = 0x77, .command = VFU_REGION_READ, .index = 7, .offset = 2, .count = 4};
    const struct vfu_request irqs = {.id = 0x77, .command = VFU_GET_IRQ_INFO, .index = 2};
    struct vfu_reply r;

    (void)state;
    memset(&r, 0xee, sizeof(r));
    vfu_reply_empty(&read, &r);
    expect_header(&r, 0, VFU_REPLY, 0);
    assert_int_equal(ld_le16(r.bytes + 2), VFU_REGION_READ);
    vfu_reply_error(&read, EINVAL, &r);
    expect_header(&r, 0, VFU_REPLY | VFU_ERROR, EINVAL);
    vfu_reply_read(&read, (const uint8_t *)"abcd", &r);
    expect_header(&r, 20, VFU_REPLY, 0);
    assert_memory_equal(r.bytes + 16, "\2\0\0\0\0\0\0\0\7\0\0\0\4\0\0\0abcd", 20);
    vfu_reply_written(&read, &r);
    expect_header(&r, 16, VFU_REPLY, 0);
    assert_memory_equal(r.bytes + 16, "\2\0\0\0\0\0\0\0\7\0\0\0\4\0\0\0", 16);
    vfu_reply_version(&read, &r);
    assert_int_equal(ld_le32(r.bytes + 16), 0); /* 0.0 */
    assert_int_equal(r.bytes[20], '{');
    assert_int_equal(r.bytes[r.n - 1], '\0');
    assert_non_null(strstr((const char *)r.bytes + 20, "\"max_msg_fds\":16,"));
    vfu_reply_device(&read, &r);
    expect_header(&r, 16, VFU_REPLY, 0);
    assert_memory_equal(r.bytes + 16, "\20\0\0\0\3\0\0\0\11\0\0\0\5\0\0\0", 16);
    vfu_reply_region(&read, 0x1000, &r);
    expect_header(&r, 32, VFU_REPLY, 0);
    assert_memory_equal(r.bytes + 16, " \0\0\0\3\0\0\0\7\0\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0\0\0", 27);
    vfu_reply_region(&read, 0, &r);
    assert_int_equal(ld_le32(r.bytes + 20), 0);
    vfu_reply_irqs(&irqs, 9, 57, &r);
    expect_header(&r, 16, VFU_REPLY, 0);
    assert_memory_equal(r.bytes + 16, "\20\0\0\0\11\0\0\0\2\0\0\0009\0\0\0", 16);
}

static void nothing_is_said_to_who_wants_no_reply(void **state)
{
    const struct vfu_request r = {.command = VFU_REGION_WRITE, .posted = true, .count = 4};
    struct vfu_reply reply = {.n = 9};

    (void)state;
    vfu_reply_written(&r, &reply);
    assert_int_equal(reply.n, 0);
    reply.n = 9;
    vfu_reply_error(&r, EINVAL, &reply);
    assert_int_equal(reply.n, 0);
}

/* --- The choice of a transport ---------------------------------------------------------------- */

static void qemu_is_taken_by_what_it_can(void **state)
{
    static const char has[] = "vfio-user-pci options:\n  acpi-index=...\n",
                      warns[] = "qemu: warning: x\nvfio-user-pci options:\n  acpi-index=...\n",
                      lacks[] = "qemu: -device vfio-user-pci,help: Device not found\n",
                      no_device[] = "it has no device vfio-user-pci";
    static const struct {
        const char *version, *help;
        enum live_vm_transport wanted;
        const char *text;             /* of the choice, or of the error */
        enum live_vm_transport taken; /* LIVE_VM_EITHER: refused */
    } rows[] = {
        {"QEMU emulator version 11.1.3 (Debian 1:11.1.3)\n", has, LIVE_VM_EITHER,
         "QEMU 11.1.3 by vfio-user", LIVE_VM_VFIO_USER},
        {"QEMU emulator version 7.2.22 (Debian)\n", lacks, LIVE_VM_EITHER,
         "QEMU 7.2.22 by x-pci-proxy, for it has no device vfio-user-pci", LIVE_VM_PROXY},
        {"QEMU emulator version 7.2.22\n", lacks, LIVE_VM_PROXY,
         "QEMU 7.2.22 by x-pci-proxy, for it has no device vfio-user-pci", LIVE_VM_PROXY},
        {"qemu: warning: x\nQEMU emulator version 11.1.3\n", warns, LIVE_VM_EITHER,
         "QEMU 11.1.3 by vfio-user", LIVE_VM_VFIO_USER},
        {"QEMU emulator version 7.2.22\n", lacks, LIVE_VM_VFIO_USER, no_device, LIVE_VM_EITHER},
        {"QEMU emulator version 10.0.13\n", lacks, LIVE_VM_EITHER, no_device, LIVE_VM_EITHER},
        {"QEMU emulator version 11.1.3\n", has, LIVE_VM_PROXY,
         "only that of QEMU 7.2 works with x-pci-proxy", LIVE_VM_EITHER},
        {"QEMU emulator version 17.2.1\n", lacks, LIVE_VM_EITHER, no_device, LIVE_VM_EITHER},
        {"no version", lacks, LIVE_VM_EITHER, "it does not tell its version", LIVE_VM_EITHER},
        {"", "", LIVE_VM_EITHER, "it does not tell its version", LIVE_VM_EITHER},
        {NULL, "", LIVE_VM_EITHER, "there is no such program", LIVE_VM_EITHER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct live_vm_choice choice;
        struct live_error error = {.message = ""};
        const bool good_one =
            vm_find_decide(rows[i].wanted, rows[i].version, rows[i].help, &choice, &error);

        assert_int_equal(good_one, rows[i].taken != LIVE_VM_EITHER);
        if (good_one) {
            assert_string_equal(choice.text, rows[i].text);
            assert_int_equal(choice.transport, rows[i].taken);
        } else {
            assert_non_null(strstr(error.message, rows[i].text));
            assert_true(error.remedy[0] != '\0');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_that_of_a_request_and_bounds_its_message),
        cmocka_unit_test(every_message_of_qemu_is_understood),
        cmocka_unit_test(data_of_a_write_are_behind_its_head),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(capabilities_end_with_a_nul),
        cmocka_unit_test(what_is_not_a_command_is_told_apart_from_a_wrong_one),
        cmocka_unit_test(fields_that_contradict_each_other_are_refused),
        cmocka_unit_test(masks_are_a_byte_for_each_interrupt),
        cmocka_unit_test(replies_have_the_number_of_their_request),
        cmocka_unit_test(nothing_is_said_to_who_wants_no_reply),
        cmocka_unit_test(qemu_is_taken_by_what_it_can),
    };

    return cmocka_run_group_tests_name("vfu_wire", tests, NULL, NULL);
}
