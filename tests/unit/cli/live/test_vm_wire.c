/* SPDX-License-Identifier: MIT */
/* Tests of the messages of QEMU's proxy device, byte by byte, and of its interrupts, line by line.
 */
#define _GNU_SOURCE /* memfd_create() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/vm_memory.h"
#include "cli/live/vm_qtest.h"
#include "cli/live/vm_socket.h"
#include "cli/live/vm_wire.h"
#include "emu/base/cursor.h"
#include "rdmalab/inspect.h"

static void headers_are_of_known_kinds_and_lengths(void **state)
{
    static const struct {
        uint32_t cmd;
        uint64_t body;
        bool good;
    } rows[] = {
        {VM_SYNC_SYSMEM, 192, true}, {VM_SYNC_SYSMEM, 191, false}, {VM_SYNC_SYSMEM, 0, false},
        {VM_RET, 8, false}, /* only rdmalab answers */
        {VM_CFGWRITE, 12, true},     {VM_CFGREAD, 12, true},       {VM_CFGREAD, 13, false},
        {VM_BAR_WRITE, 24, true},    {VM_BAR_READ, 24, true},      {VM_BAR_READ, 20, false},
        {VM_SET_IRQFD, 0, true},     {VM_DEVICE_RESET, 0, true},   {VM_DEVICE_RESET, 1, false},
        {VM_CMDS, 0, false},         {UINT32_MAX, 0, false},       {VM_CFGREAD, UINT64_MAX, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t h[VM_HEADER_BYTES] = {0};
        enum vm_cmd cmd = VM_CMDS;
        size_t body = 999;

        st_le32(h, rows[i].cmd);
        st_le32(h + 4, 0xdeadbeef); /* padding */
        st_le64(h + 8, rows[i].body);
        assert_int_equal(vm_header_read(h, &cmd, &body), rows[i].good);
        assert_int_equal(cmd, rows[i].good ? rows[i].cmd : VM_CMDS);
        assert_int_equal(body, rows[i].good ? rows[i].body : 999);
    }
}

static void accesses_have_the_widths_that_there_are(void **state)
{
    uint8_t body[VM_BODY_MAX] = {0};
    struct vm_request r;

    (void)state;
    for (uint32_t n = 0; n < 20; n++) {
        const bool power = n == 1 || n == 2 || n == 4 || n == 8;

        st_le32(body + 8, n);
        assert_int_equal(vm_body_read(VM_CFGREAD, body, &r), power && n <= 4);
        st_le32(body + 16, n);
        assert_int_equal(vm_body_read(VM_BAR_WRITE, body, &r), power);
    }
    st_le64(body, 0xfeba0014);
    st_le64(body + 8, 0x1122334455667788);
    st_le32(body + 16, 8);
    assert_true(vm_body_read(VM_BAR_WRITE, body, &r));
    assert_int_equal(r.addr, 0xfeba0014);
    assert_int_equal(r.value, 0x1122334455667788);
    assert_int_equal(r.bytes, 8);
}

static void memory_is_three_columns(void **state)
{
    uint8_t body[VM_BODY_MAX];
    struct vm_request r;

    (void)state;
    for (uint32_t i = 0; i < 24; i++)
        st_le64(body + (size_t)8 * i, i);
    assert_true(vm_body_read(VM_SYNC_SYSMEM, body, &r));
    assert_int_equal(r.parts[3].gpa, 3);
    assert_int_equal(r.parts[3].bytes, 11);
    assert_int_equal(r.parts[3].offset, 19);
}

static void an_answer_is_a_header_and_a_value(void **state)
{
    static const uint8_t expected[VM_RET_BYTES] = {1, 0, 0, 0, 0,    0,    0,    0,    8, 0, 0, 0,
                                                   0, 0, 0, 0, 0xf4, 0x1a, 0x41, 0x10, 0, 0, 0, 0};
    uint8_t out[VM_RET_BYTES];

    (void)state;
    vm_answer_write(0x10411af4, out);
    assert_memory_equal(out, expected, sizeof(out));
    assert_true(vm_wants_answer(VM_DEVICE_RESET));
    assert_false(vm_wants_answer(VM_SYNC_SYSMEM));
    assert_false(vm_wants_answer(VM_SET_IRQFD));
}

/* Sends @n bytes with descriptor @fd; -1: none. */
static void send_with(int to, const uint8_t *bytes, size_t n, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    struct iovec data = {(void *)(uintptr_t)bytes, n};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

    if (fd >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof(control.bytes);
        *CMSG_FIRSTHDR(&m) = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof(fd));
    }
    assert_int_equal(sendmsg(to, &m, 0), n);
}

/* Two requests with a descriptor each, as one stream that is split at any place. */
static void requests_are_whole_however_they_come(void **state)
{
    uint8_t sync[VM_HEADER_BYTES + VM_BODY_MAX] = {0}, reset[VM_HEADER_BYTES] = {VM_DEVICE_RESET};
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)state;
    st_le64(sync + 8, VM_BODY_MAX);
    sync[VM_HEADER_BYTES + 1] = 0x77;
    for (size_t step = 1; step <= sizeof(sync); step += 13) {
        struct vm_request r;
        struct vm_socket s;
        int pair[2], kept;

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        vm_socket_init(&s, pair[0], vm_wire_size);
        for (size_t at = 0; at < sizeof(sync); at += step) {
            assert_int_equal(vm_socket_read(&s), VM_NOTHING);
            send_with(pair[1], sync + at, step < sizeof(sync) - at ? step : sizeof(sync) - at,
                      at == 0 ? null : -1);
        }
        send_with(pair[1], reset, sizeof(reset), null);
        while (vm_socket_read(&s) == VM_NOTHING)
            ;
        assert_true(vm_request_read(s.in, &r));
        assert_int_equal(r.cmd, VM_SYNC_SYSMEM);
        assert_int_equal(r.parts[0].gpa, 0x7700);
        assert_int_equal(s.n_fds, 1);
        kept = s.fds[0];
        assert_true(fcntl(kept, F_GETFD) & FD_CLOEXEC);
        assert_int_equal(vm_socket_read(&s), VM_MESSAGE);
        assert_true(vm_request_read(s.in, &r));
        assert_int_equal(r.cmd, VM_DEVICE_RESET);
        assert_int_equal(s.n_fds, 1); /* that of the second request; the first was closed */
        close(pair[1]);
        assert_int_equal(vm_socket_read(&s), VM_CLOSED);
        vm_socket_done(&s);
        assert_int_equal(fcntl(kept, F_GETFD), -1);
    }
    close(null);
}

static void nonsense_is_said_to_be_so(void **state)
{
    uint8_t h[VM_HEADER_BYTES] = {99};
    struct vm_socket s;
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    vm_socket_init(&s, pair[0], vm_wire_size);
    send_with(pair[1], h, sizeof(h), -1);
    assert_int_equal(vm_socket_read(&s), VM_NONSENSE);
    vm_socket_done(&s);
    close(pair[1]);
}

static void expect_lines(int fd, const char *expected)
{
    char got[512] = "";
    const ssize_t n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);

    got[n > 0 ? n : 0] = '\0';
    assert_string_equal(got, expected);
}

static void interrupts_are_lines_and_wait_for_answers(void **state)
{
    struct vm_qtest q;
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    vm_qtest_init(&q, pair[0]);
    vm_qtest_send(&q, 0xfee00000, 0x41);
    expect_lines(pair[1], "writel 0xfee00000 0x41\n");
    for (uint32_t i = 1; i < VM_QTEST_UNANSWERED_MAX; i++)
        vm_qtest_send(&q, 0xfee00000, i);
    vm_qtest_send(&q, 0xfee00000, 0x99); /* the maximum of unanswered interrupts */
    vm_qtest_send(&q, 0xfee00000, 0x9a);
    vm_qtest_send(&q, 0xfee00000, 0x99); /* it is pending already */
    assert_int_equal(q.unanswered, VM_QTEST_UNANSWERED_MAX);
    assert_int_equal(q.n_waiting, 2);
    assert_int_equal(q.merged, 1);
    expect_lines(pair[1], "writel 0xfee00000 0x1\nwritel 0xfee00000 0x2\nwritel 0xfee00000 0x3\n"
                          "writel 0xfee00000 0x4\nwritel 0xfee00000 0x5\nwritel 0xfee00000 0x6\n"
                          "writel 0xfee00000 0x7\n");
    assert_null(vm_qtest_go(&q));
    expect_lines(pair[1], "");
    assert_int_equal(send(pair[1], "OK\nO", 4, 0), 4);
    assert_null(vm_qtest_go(&q));
    expect_lines(pair[1], "writel 0xfee00000 0x99\n");
    assert_int_equal(send(pair[1], "K\n", 2, 0), 2);
    assert_null(vm_qtest_go(&q));
    expect_lines(pair[1], "writel 0xfee00000 0x9a\n");
    assert_int_equal(send(pair[1], "FAIL Unknown command\n", 21, 0), 21);
    assert_non_null(vm_qtest_go(&q));
    close(pair[1]);
    vm_qtest_done(&q);
    vm_qtest_send(&q, 1, 1); /* not connected */
}

/* A machine that misses an interrupt would wait forever, so this is reported. */
static void interrupts_for_which_there_is_no_room_are_missed(void **state)
{
    struct vm_qtest q;
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    vm_qtest_init(&q, pair[0]);
    for (uint32_t i = 0; i < VM_QTEST_UNANSWERED_MAX + VM_QTEST_WAITING_MAX; i++)
        vm_qtest_send(&q, 0xfee00000, i);
    assert_int_equal(q.n_waiting, VM_QTEST_WAITING_MAX);
    assert_null(vm_qtest_go(&q));
    vm_qtest_send(&q, 0xfee00000, VM_QTEST_UNANSWERED_MAX); /* pending already */
    assert_null(vm_qtest_go(&q));
    vm_qtest_send(&q, 0xfee00000, UINT32_MAX);
    assert_non_null(vm_qtest_go(&q));
    vm_qtest_done(&q);
    close(pair[1]);
}

/* A peer is not read for longer than the expected answer needs. */
static void who_never_stops_answering_is_not_read_to_the_end(void **state)
{
    char answers[3000], rest;
    struct vm_qtest q;
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    vm_qtest_init(&q, pair[0]);
    for (size_t i = 0; i < sizeof(answers); i += 3)
        memcpy(answers + i, "OK\n", 3);
    assert_int_equal(send(pair[1], answers, sizeof(answers), 0), sizeof(answers));
    assert_null(vm_qtest_go(&q));
    assert_int_equal(recv(pair[0], &rest, 1, MSG_DONTWAIT | MSG_PEEK), 1);
    vm_qtest_done(&q);
    close(pair[1]);
}

static int a_file(uint64_t bytes)
{
    const int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    return fd;
}

static void the_same_file_stays_mapped(void **state)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config host = {.name = "h1", .external = true};
    const int one = a_file(8 * 4096), again = dup(one), other = a_file(4096), empty = a_file(0);
    const struct vm_part low = {0, 4 * 4096, 4096}, high = {1 << 20, 4096, 0};
    const struct vm_part both[] = {low, high}, too_long = {0, 8 * 4096, 4096};
    struct vm_memory m = {.n_files = 0};
    struct rdl_lab *lab;
    uint8_t byte = 0;
    rdl_host h;
    void *at;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &host, &h), RDL_OK);
    assert_null(vm_memory_set(&m, lab, h, both, (int[]){one, other}, 2));
    assert_int_equal(m.n_files, 2);
    at = m.files[0].at;
    assert_int_equal(pwrite(one, "x", 1, 4096 + 5), 1); /* by the machine, at its address 5 */
    assert_int_equal(rdl_ram_read(lab, h, 5, &byte, 1), RDL_OK);
    assert_int_equal(byte, 'x');
    /* The same memory through another descriptor. */
    assert_null(vm_memory_set(&m, lab, h, &low, &again, 1));
    assert_int_equal(m.n_files, 1);
    assert_ptr_equal(m.files[0].at, at);
    assert_int_equal(rdl_ram_read(lab, h, 1 << 20, &byte, 1), RDL_ERR_FAULT);
    assert_non_null(vm_memory_set(&m, lab, h, &too_long, &one, 1));
    assert_int_equal(m.n_files, 0);
    assert_int_equal(rdl_ram_read(lab, h, 5, &byte, 1), RDL_ERR_FAULT);
    assert_non_null(vm_memory_set(&m, lab, h, &low, &empty, 1));
    assert_non_null(vm_memory_set(&m, lab, h, &low, (int[]){-1}, 1));
    assert_non_null(vm_memory_set(&m, lab, h, (struct vm_part[]){low, low}, (int[]){one, one}, 2));
    vm_memory_done(&m, lab, h);
    rdl_lab_free(lab);
    close(one);
    close(again);
    close(other);
    close(empty);
}

/* If a machine could shorten its memory, the lab's next access of it would end the lab. */
static void memory_never_becomes_shorter(void **state)
{
    const int open_one = a_file(2 * 4096), closed = memfd_create("guest", MFD_CLOEXEC),
              qemus = a_file(4096);
    struct vm_memory m = {.n_files = 0};

    (void)state;
    assert_non_null(vm_memory_file(&m, open_one));
    assert_int_equal(ftruncate(open_one, 4096), -1);
    assert_int_equal(errno, EPERM);
    /* QEMU seals its memory, and takes no more seals. */
    assert_int_equal(fcntl(qemus, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    assert_non_null(vm_memory_file(&m, qemus));
    assert_int_equal(ftruncate(closed, 4096), 0);
    assert_null(vm_memory_file(&m, closed)); /* without MFD_ALLOW_SEALING */
    assert_int_equal(errno, EPERM);
    assert_int_equal(m.n_files, 2);
    vm_memory_unmap_unused(&m);
    assert_int_equal(m.n_files, 0);
    close(open_one);
    close(closed);
    close(qemus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_of_known_kinds_and_lengths),
        cmocka_unit_test(accesses_have_the_widths_that_there_are),
        cmocka_unit_test(memory_is_three_columns),
        cmocka_unit_test(an_answer_is_a_header_and_a_value),
        cmocka_unit_test(requests_are_whole_however_they_come),
        cmocka_unit_test(nonsense_is_said_to_be_so),
        cmocka_unit_test(interrupts_are_lines_and_wait_for_answers),
        cmocka_unit_test(interrupts_for_which_there_is_no_room_are_missed),
        cmocka_unit_test(who_never_stops_answering_is_not_read_to_the_end),
        cmocka_unit_test(the_same_file_stays_mapped),
        cmocka_unit_test(memory_never_becomes_shorter),
    };

    return cmocka_run_group_tests_name("vm_wire", tests, NULL, NULL);
}
