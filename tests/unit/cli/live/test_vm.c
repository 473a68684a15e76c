/* SPDX-License-Identifier: MIT */
/* Tests of a host whose guest is another process.  That process is this program: "test_vm machine
 * NAME" does what QEMU does with the descriptors that it gets, or what a faulty one might do.
 */
#define _GNU_SOURCE /* memfd_create() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include "vm_rig.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/live/vm_wire.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"

/* --- The machine ------------------------------------------------------------------------------ */

#define BAR0     0xfe000000u
#define BAR1     0xfe100000u
#define MEMORY   (64u * 4096u)
#define QTEST_FD 5

static void put(int fd, uint32_t cmd, const uint8_t *body, size_t n)
{
    uint8_t out[VM_HEADER_BYTES + VM_BODY_MAX] = {0};

    st_le32(out, cmd);
    st_le64(out + 8, n);
    if (n > 0)
        memcpy(out + VM_HEADER_BYTES, body, n);
    must(write(fd, out, VM_HEADER_BYTES + n) == (ssize_t)(VM_HEADER_BYTES + n), "a socket");
}

static uint64_t get(int fd)
{
    uint8_t in[VM_RET_BYTES];
    size_t n = 0;

    while (n < sizeof(in)) {
        const ssize_t got = read(fd, in + n, sizeof(in) - n);

        must(got > 0, "an answer");
        n += (size_t)got;
    }
    must(ld_le32(in) == VM_RET && ld_le64(in + 8) == 8, "an answer that is one");
    return ld_le64(in + 16);
}

static uint64_t config(int fd, bool write, uint32_t offset, uint32_t bytes, uint32_t value)
{
    uint8_t body[12];

    st_le32(body, offset);
    st_le32(body + 4, value);
    st_le32(body + 8, bytes);
    put(fd, write ? VM_CFGWRITE : VM_CFGREAD, body, sizeof(body));
    return get(fd);
}

static uint64_t memory(int fd, bool write, uint64_t gpa, uint32_t bytes, uint64_t value)
{
    uint8_t body[24] = {0};

    st_le64(body, gpa);
    st_le64(body + 8, value);
    st_le32(body + 16, bytes);
    body[20] = 1;
    put(fd, write ? VM_BAR_WRITE : VM_BAR_READ, body, sizeof(body));
    return get(fd);
}

/* Sends the position of the memory: all of file @memory_fd, at address 0. */
static void sync_memory(int fd, int memory_fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    uint8_t out[VM_HEADER_BYTES + VM_BODY_MAX] = {VM_SYNC_SYSMEM};
    struct iovec data = {out, sizeof(out)};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};

    st_le64(out + 8, VM_BODY_MAX);
    st_le64(out + VM_HEADER_BYTES + 64, MEMORY);
    *CMSG_FIRSTHDR(&m) = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &memory_fd, sizeof(memory_fd));
    must(sendmsg(fd, &m, 0) == (ssize_t)sizeof(out), "a socket for memory");
}

/* Sends requests without answers faster than they can be handled. */
static void never_stops(int fd)
{
    static uint8_t out[4096 * VM_HEADER_BYTES];

    for (size_t i = 0; i < sizeof(out); i += VM_HEADER_BYTES)
        st_le32(out + i, VM_SET_IRQFD);
    for (;;)
        must(write(fd, out, sizeof(out)) == sizeof(out), "a socket");
}

/* Does what a kernel does first, up to a device that may raise interrupts. */
static void machine_boots(int fd)
{
    const int file = memfd_create("guest", MFD_ALLOW_SEALING);

    must(file >= 0 && ftruncate(file, MEMORY) == 0, "memory");
    sync_memory(fd, file);
    put(fd, VM_DEVICE_RESET, NULL, 0);
    (void)get(fd);
    must(config(fd, false, 0x00, 4, 0) == 0x10411af4, "virtio-net");
    must(config(4, false, 0x00, 4, 0) == 0x106a1af4, "virtio-rdma");
    (void)config(fd, true, 0x10, 4, UINT32_MAX);
    must((config(fd, false, 0x10, 4, 0) & 0xfff) == 0, "a BAR in memory");
    (void)config(fd, true, 0x10, 4, BAR0);
    (void)config(fd, true, 0x14, 4, BAR1);
    must(memory(fd, false, BAR0 + REG_NUM_QUEUES, 2, 0) == 0xffff, "a BAR that is off at first");
    (void)config(fd, true, 0x04, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    must(memory(fd, false, BAR0 + REG_NUM_QUEUES, 2, 0) == 2, "two queues");
}

/* Sets vector 0, for configuration changes, to @address and @data. */
static void machine_wants_changes(int fd, uint64_t address, uint32_t data)
{
    uint32_t cap = (uint32_t)config(fd, false, 0x34, 1, 0);

    while (cap && config(fd, false, cap, 1, 0) != PCI_CAP_ID_MSIX)
        cap = (uint32_t)config(fd, false, cap + 1, 1, 0);
    must(cap != 0, "MSI-X");
    (void)config(fd, true, cap + 2, 2, MSIX_ENABLE);
    (void)memory(fd, true, BAR1, 4, (uint32_t)address);
    (void)memory(fd, true, BAR1 + 4, 4, 0);
    (void)memory(fd, true, BAR1 + 8, 4, data);
    (void)memory(fd, true, BAR1 + 12, 4, 0);
    for (uint32_t status = 1; status <= 3; status = 2 * status + 1)
        (void)memory(fd, true, BAR0 + REG_DEVICE_STATUS, 1, status);
    (void)memory(fd, true, BAR0 + REG_DRIVER_FEATURE_SELECT, 4, 1);
    (void)memory(fd, true, BAR0 + REG_DRIVER_FEATURE, 4, 1); /* VERSION_1 */
    (void)memory(fd, true, BAR0 + REG_CONFIG_MSIX_VECTOR, 2, 0);
    (void)memory(fd, true, BAR0 + REG_DEVICE_STATUS, 1, 11);
    (void)memory(fd, true, BAR0 + REG_DEVICE_STATUS, 1, 15);
    must(memory(fd, false, BAR0 + REG_DEVICE_STATUS, 1, 0) == 15, "DRIVER_OK");
}

static int machine(const char *what)
{
    static const char expected[] = "writel 0xfee00000 0x51\n";
    char line[sizeof(expected)] = "";
    char *end = NULL;

    if (strcmp(what, "boots") == 0) {
        machine_boots(3);
        puts("the machine is through");
    } else if (strcmp(what, "is interrupted") == 0) {
        machine_boots(3);
        machine_wants_changes(3, 0xfee00000, 0x51);
        puts("ready");
        fflush(stdout);
        must(read(QTEST_FD, line, sizeof(line) - 1) == sizeof(expected) - 1, "an interrupt");
        must(strcmp(line, expected) == 0, line);
    } else if (strcmp(what, "talks nonsense") == 0) {
        must(write(3, "HTTP/1.1 200 OK\r\n\r\n", 19) == 19, "a socket");
        pause();
    } else if (strcmp(what, "is silent") == 0) {
        signal(SIGTERM, SIG_IGN);
        pause();
    } else if (strcmp(what, "lets go") == 0) {
        machine_boots(3);
        close(3);
        close(4);
        close(5);
        pause();
    } else if (strcmp(what, "never stops") == 0) {
        never_stops(3);
    } else {
        return (int)strtol(what, &end, 10);
    }
    return 0;
}

/* --- The lab ---------------------------------------------------------------------------------- */

static int set_up_proxy(void **state)
{
    const int st = set_up(state);
    struct fixture *f = *state;

    f->transport = LIVE_VM_PROXY;
    return st;
}

static void a_machine_finds_its_functions_and_ends(void **state)
{
    struct fixture *f = *state;
    struct live_error error;

    start(f, "boots");
    run(f);
    assert_false(live_ops->programs_failed(f->live, &error));
    assert_string_equal(info_of(f).line, "the machine is through");
    assert_int_equal(info_of(f).maps, 1);
    assert_true(info_of(f).accesses > 5);
    assert_string_equal(live_ops->said(f->live), "h1: the virtual machine has ended\n");
    expect_switched_off(f);
}

static void one_after_the_other_may_be_the_same_host(void **state)
{
    struct fixture *f = *state;
    struct live_error error;

    for (unsigned i = 0; i < 3; i++) {
        start(f, "boots");
        run(f);
        assert_false(live_ops->programs_failed(f->live, &error));
    }
    assert_false(live_ops->vm_at(f->live, 1, &(struct live_vm_info){.pid = 0}));
}

static void two_at_once_may_not(void **state)
{
    struct fixture *f = *state;
    char log[] = "/tmp/test_vm.XXXXXX", line[16] = "";
    struct live_vm_config c = {.transport = LIVE_VM_PROXY, .host = f->h1, .host_name = "h1"};
    struct live_error error = {.message = ""};
    const int fd = mkstemp(log);

    assert_true(fd >= 0);
    c.log = fopen(log, "a");
    assert_non_null(c.log);
    c.command = "echo kept; exec sleep 1000";
    assert_true(live_ops->vm(f->live, &c, &error));
    run_to_line(f, "kept");
    c.log = fopen(log, "a");
    assert_false(live_ops->vm(f->live, &c, &error)); /* closes it */
    assert_string_equal(error.message, "h1: its virtual machine runs already");
    assert_int_equal(read(fd, line, sizeof(line) - 1), 5); /* still the log of the first one */
    assert_string_equal(line, "kept\n");
    close(fd);
    unlink(log);
}

static void a_log_is_emptied_by_the_machine_that_starts(void **state)
{
    struct fixture *f = *state;
    char name[] = "/tmp/test_vm.XXXXXX", line[16] = "";
    struct live_vm_config c = {
        .transport = LIVE_VM_PROXY, .host = f->h1, .host_name = "h1", .command = "echo new"};
    struct live_error error = {.message = ""};
    const int fd = mkstemp(name);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "of another machine\n", 19), 19);
    c.log = fopen(name, "a");
    assert_non_null(c.log);
    assert_true(live_ops->vm(f->live, &c, &error));
    run(f);
    assert_int_equal(pread(fd, line, sizeof(line) - 1, 0), 4);
    assert_string_equal(line, "new\n");
    close(fd);
    unlink(name);
}

static void a_log_that_is_full_is_told_of(void **state)
{
    struct fixture *f = *state;
    const struct live_vm_config c = {.transport = LIVE_VM_PROXY,
                                     .host = f->h1,
                                     .host_name = "h1",
                                     .command = "echo one; echo two",
                                     .log = fopen("/dev/full", "w")};
    struct live_error error = {.message = ""};

    assert_non_null(c.log);
    assert_true(live_ops->vm(f->live, &c, &error));
    run(f);
    turn(f);
    assert_non_null(
        strstr(live_ops->said(f->live), "written into its log: No space left on device"));
    turn(f);
    assert_null(live_ops->said(f->live)); /* reported once */
    assert_string_equal(info_of(f).line, "two");
    assert_int_equal(info_of(f).log_error, ENOSPC);
    start_command(f, "true"); /* without a log nothing is missing */
    run(f);
    assert_int_equal(info_of(f).log_error, 0);
}

static void a_message_of_msix_is_a_line_of_qtest(void **state)
{
    struct fixture *f = *state;
    struct live_error error;

    start(f, "is interrupted");
    run_to_line(f, "ready");
    assert_int_equal(rdl_link_raise(f->lab, f->link, false), RDL_OK); /* a change of the status */
    run(f);
    assert_false(live_ops->programs_failed(f->live, &error));
    assert_int_equal(info_of(f).interrupts, 1);
}

static void how_it_ended_is_said_with_its_last_line(void **state)
{
    struct fixture *f = *state;

    start_command(f, "echo first; echo 'no such device' >&2; exit 3");
    run(f);
    expect_failure(f, "h1: the virtual machine ended with status 3: no such device");
}

static void a_signal_that_ended_it_is_named(void **state)
{
    struct fixture *f = *state;

    start_command(f, "kill -SEGV $$");
    run(f);
    expect_failure(f, "ended by signal 11");
}

static void who_talks_nonsense_is_ended(void **state)
{
    struct fixture *f = *state;
    int pid;

    start(f, "talks nonsense");
    pid = info_of(f).pid;
    run(f);
    expect_failure(f, "does not speak the protocol");
    expect_gone(pid);
}

/* The machine ends neither by itself nor when it is asked to. */
static void the_end_of_the_session_ends_it(void **state)
{
    struct fixture *f = *state;
    const uint64_t begun = now_ms();
    int pid;

    start(f, "is silent");
    turn(f);
    pid = info_of(f).pid;
    live_ops->close(f->live);
    f->live = NULL;
    assert_true(now_ms() - begun < 10000);
    expect_gone(pid);
}

/* Its sockets are closed, but it lives: nothing waits for it. */
static void a_machine_may_let_go_of_the_lab(void **state)
{
    struct fixture *f = *state;

    start(f, "lets go");
    for (unsigned i = 0; i < 20; i++)
        turn(f);
    assert_true(info_of(f).runs);
}

/* Another process still holds its output when it ends, so its handles close last. */
static void it_may_be_started_again_at_once(void **state)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct fixture *f = *state;
    struct live_error error;
    char command[4096];

    snprintf(command, sizeof(command),
             "(trap '' TERM; sleep 1000) & exec '%s' machine 'talks nonsense'", this_program);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t end = now_ms() + 30000;

        start_command(f, command);
        while (live_ops->programs_run(f->live)) {
            assert_true(now_ms() < end);
            (void)live_ops->begin_turn(f->live);
            nanosleep(&pause, NULL);
        }
        assert_true(live_ops->programs_failed(f->live, &error));
    }
    start(f, "boots");
    run(f);
    assert_false(live_ops->programs_failed(f->live, &error));
}

static void who_never_stops_asking_does_not_hold_up_the_lab(void **state)
{
    struct fixture *f = *state;

    start(f, "never stops");
    for (unsigned i = 0; i < 1000; i++)
        turn(f);
    assert_true(info_of(f).runs);
}

/* If rdmalab is killed, the machine ends too. */
static void it_does_not_outlive_the_lab(void **state)
{
    struct fixture *f = *state;
    int status, pipefd[2], pid = 0;
    pid_t child;

    assert_int_equal(pipe(pipefd), 0);
    child = fork();
    if (child == 0) {
        start(f, "is silent");
        turn(f);
        pid = info_of(f).pid;
        if (write(pipefd[1], &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(pipefd[0], &pid, sizeof(pid)), sizeof(pid));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    expect_gone(pid);
    close(pipefd[0]);
    close(pipefd[1]);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up_proxy, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        T(a_machine_finds_its_functions_and_ends),
        T(one_after_the_other_may_be_the_same_host),
        T(two_at_once_may_not),
        T(a_log_is_emptied_by_the_machine_that_starts),
        T(a_log_that_is_full_is_told_of),
        T(a_message_of_msix_is_a_line_of_qtest),
        T(how_it_ended_is_said_with_its_last_line),
        T(a_signal_that_ended_it_is_named),
        T(who_talks_nonsense_is_ended),
        T(the_end_of_the_session_ends_it),
        T(a_machine_may_let_go_of_the_lab),
        T(it_may_be_started_again_at_once),
        T(who_never_stops_asking_does_not_hold_up_the_lab),
        T(it_does_not_outlive_the_lab),
    };

    if (argc > 2 && strcmp(argv[1], "machine") == 0)
        return machine(argv[2]);
    this_program = argv[0];
    return cmocka_run_group_tests_name("vm", tests, NULL, NULL);
}
