/* SPDX-License-Identifier: MIT */
/* A virtual machine with PVRDMA: QEMU's options for it, and its Ethernet frames.  The machine is
 * this program: "test_vm_net machine NAME $LAB".
 */
#include "vm_rig.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/facts/enum/device_type.h"
#include "rdmalab/port.h"

#define FRAME_BYTES 60u
#define NET_FD      3
#define ANSWER_MS   20000

/* A frame from h1's MAC to a stranger's, and the answer. */
static const uint8_t question[FRAME_BYTES] = {2, 9, 9, 9, 9, 9, 2, 0, 0, 0, 0, 1, 0x88, 0xb5, 1};
static const uint8_t answer[FRAME_BYTES] = {2, 0, 0, 0, 0, 1, 2, 9, 9, 9, 9, 9, 0x88, 0xb5, 2};

/* --- The machine ------------------------------------------------------------------------------ */

static const char *word_with(int argc, char **argv, const char *part)
{
    for (int i = 0; i < argc; i++) {
        if (strstr(argv[i], part))
            return argv[i];
    }
    return "";
}

/* Function 0 is QEMU's vmxnet3, with the host's MAC; function 1 comes by vfio-user, and waits. */
static void checks_options(int argc, char **argv)
{
    const char *net = word_with(argc, argv, "vmxnet3"), *rdma = word_with(argc, argv, "vfio-user");

    must(strcmp(word_with(argc, argv, "dgram"), "dgram,id=labnet,local.type=fd,local.str=3") == 0,
         "frames at descriptor 3");
    must(strstr(net, "netdev=labnet,mac=02:00:00:00:00:01,bus=pcie.0,addr=5.0,multifunction=on"),
         "function 0");
    must(strstr(rdma, "\"addr\":\"5.1\"") && strstr(rdma, "\"x-no-posted-writes\":true"),
         "function 1");
    must(!word_with(argc, argv, "\"addr\":\"5.0\"")[0], "no other function 0");
}

static int machine(int argc, char **argv)
{
    struct pollfd p = {.fd = NET_FD, .events = POLLIN};
    uint8_t frame[2 * FRAME_BYTES];

    checks_options(argc, argv);
    must(write(NET_FD, question, 13) == 13, "a socket"); /* no frame: the lab ignores it */
    must(write(NET_FD, question, FRAME_BYTES) == FRAME_BYTES, "a socket");
    must(poll(&p, 1, ANSWER_MS) == 1, "an answer in time");
    must(read(NET_FD, frame, sizeof(frame)) == FRAME_BYTES &&
             memcmp(frame, answer, FRAME_BYTES) == 0,
         "the answer");
    puts("the machine is through");
    return 0;
}

/* --- The lab ---------------------------------------------------------------------------------- */

struct stranger {
    unsigned n;
    bool good;
};

static void on_frame(void *ctx, const void *frame, size_t bytes)
{
    struct stranger *s = ctx;

    s->n++;
    s->good = bytes == FRAME_BYTES && memcmp(frame, question, bytes) == 0;
}

static void set_up_pvrdma(struct fixture *f, rdl_port *ret)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config host = {.name = "h1", .external = true, .device = DEVICE_pvrdma};
    const struct rdl_port_config port = {.name = "p1"};
    const struct rdl_link_config link = {.a = "h1", .b = "p1"};

    memset(f, 0, sizeof(*f));
    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &host, &f->h1), RDL_OK);
    assert_int_equal(rdl_port_add(f->lab, &port, ret), RDL_OK);
    assert_int_equal(rdl_link_add(f->lab, &link, &f->link), RDL_OK);
    f->transport = LIVE_VM_VFIO_USER;
    f->live = live_ops->open(f->lab, false);
    assert_non_null(f->live);
}

static void frames_of_the_machine_are_in_the_lab(void **state)
{
    struct live_error error = {.message = ""};
    struct stranger s = {.n = 0};
    struct fixture f;
    rdl_port p1;

    (void)state;
    set_up_pvrdma(&f, &p1);
    assert_int_equal(rdl_port_read(f.lab, p1, on_frame, &s), RDL_OK);
    for (unsigned i = 0; i < 2; i++) { /* a machine can be started again */
        const uint64_t end = now_ms() + 30000;

        s.n = 0;
        start(&f, "asks");
        while (s.n == 0) {
            assert_true(now_ms() < end && live_ops->programs_run(f.live));
            turn(&f);
        }
        assert_int_equal(rdl_port_receive(f.lab, p1, answer, FRAME_BYTES), RDL_OK);
        run(&f);
        if (live_ops->programs_failed(f.live, &error))
            fail_msg("%s", error.message);
        assert_string_equal(info_of(&f).line, "the machine is through");
        assert_true(s.n == 1 && s.good);
        assert_true(info_of(&f).has_ethernet);
        assert_int_equal(info_of(&f).in_frames, 1);
        assert_int_equal(info_of(&f).in_dropped, 1);
        assert_int_equal(info_of(&f).out_frames, 1);
    }
    live_ops->close(f.live);
    rdl_lab_free(f.lab);
}

/* The proxy has no place for the function of QEMU's own. */
static void it_cannot_come_by_the_proxy(void **state)
{
    const struct live_vm_config c = {
        .transport = LIVE_VM_PROXY, .host_name = "h1", .command = "exec true"};
    struct live_vm_config config = c;
    struct live_error error = {.message = ""};
    struct fixture f;
    rdl_port p1;

    (void)state;
    set_up_pvrdma(&f, &p1);
    config.host = f.h1;
    assert_false(live_ops->vm(f.live, &config, &error));
    assert_non_null(strstr(error.message, "vfio-user"));
    live_ops->close(f.live);
    rdl_lab_free(f.lab);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_machine_are_in_the_lab),
        cmocka_unit_test(it_cannot_come_by_the_proxy),
    };

    if (argc > 2 && strcmp(argv[1], "machine") == 0)
        return machine(argc, argv);
    this_program = argv[0];
    return cmocka_run_group_tests_name("vm_net", tests, NULL, NULL);
}
