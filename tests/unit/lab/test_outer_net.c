/* SPDX-License-Identifier: MIT */
/* A virtual machine with PVRDMA: its Ethernet function is its own, and shares the port. */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/fault.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/port.h"
#include "rdmalab/vm.h"

#define FRAME_BYTES 60u
#define QUEUE       256u /* frames that wait for the line */

struct fixture {
    struct rdl_lab *lab;
    rdl_host h1, h2; /* h1 has PVRDMA, h2 virtio-rdma; both are external */
    rdl_port p1;     /* at the other end of the link of h1 */
    uint8_t frame[FRAME_BYTES];
    unsigned n_out, n_in; /* frames that came to the port, and to the machine */
    uint8_t last[FRAME_BYTES];
};

static void on_out(void *ctx, const void *frame, size_t bytes)
{
    struct fixture *f = ctx;

    assert_int_equal(bytes, FRAME_BYTES);
    memcpy(f->last, frame, bytes);
    f->n_out++;
}

static void on_in(void *ctx, const void *frame, size_t bytes)
{
    struct fixture *f = ctx;

    assert_int_equal(bytes, FRAME_BYTES);
    memcpy(f->last, frame, bytes);
    f->n_in++;
}

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config h1 = {.name = "h1", .external = true, .device = DEVICE_pvrdma};
    const struct rdl_host_config h2 = {.name = "h2", .external = true};
    const struct rdl_port_config p1 = {.name = "p1"};
    const struct rdl_link_config link = {.a = "h1", .b = "p1", .latency_ns = 1000};
    rdl_link ret;

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &h1, &f->h1), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &h2, &f->h2), RDL_OK);
    assert_int_equal(rdl_port_add(f->lab, &p1, &f->p1), RDL_OK);
    assert_int_equal(rdl_link_add(f->lab, &link, &ret), RDL_OK);
    assert_int_equal(rdl_port_read(f->lab, f->p1, on_out, f), RDL_OK);
    /* from the MAC of a stranger to that of h1, with a type that nobody knows */
    memcpy(f->frame, (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 9, 9, 9, 9, 9, 0x88, 0xb5, 7}, 15);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rdl_lab_free(f->lab);
    test_free(f);
    return 0;
}

static void go(struct fixture *f)
{
    const struct rdl_limits none = {0};

    assert_int_equal(rdl_run(f->lab, RDL_NEVER, none), RDL_OK);
}

static uint64_t number(const struct fixture *f, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(f->lab, path, &v, &at), RDL_OK);
    return v.number;
}

static void the_lab_has_one_of_the_two_functions(void **state)
{
    const struct fixture *f = *state;
    const struct rdl_vm_access ids = {.function = 0, .config = true, .bytes = 2};
    const struct rdl_device_fault_config lost = {.kind = FLT_LOST_INTERRUPT,
                                                 .host = f->h1,
                                                 .net = true,
                                                 .queue = RDL_ANY,
                                                 .nth = 1,
                                                 .count = 1,
                                                 .id = RDL_ANY};
    struct rdl_vm_function function;
    rdl_fault fault;
    uint64_t value;

    assert_int_equal(rdl_vm_function(f->lab, f->h1, 0, &function), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_function(f->lab, f->h1, 1, &function), RDL_OK);
    assert_true(function.waits_for_writes);
    assert_int_equal(rdl_vm_access(f->lab, f->h1, &ids, &value), RDL_ERR_INVAL);
    for (uint32_t i = 0; i < RDL_VM_FUNCTIONS_MAX; i++) {
        assert_int_equal(rdl_vm_function(f->lab, f->h2, i, &function), RDL_OK);
        assert_false(function.waits_for_writes);
    }
    assert_int_equal(rdl_vm_function(f->lab, f->h2, RDL_VM_FUNCTIONS_MAX, &function),
                     RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_offer(f->lab, f->h1, 0, 0), RDL_ERR_UNSUPPORTED);
    assert_int_equal(rdl_device_fault_add(f->lab, &lost, &fault), RDL_ERR_UNSUPPORTED);
}

static void frames_go_out_and_come_in_whole(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(rdl_vm_ethernet(f->lab, f->h1, on_in, f), RDL_OK);
    f->frame[5] = 9;
    assert_int_equal(rdl_vm_send(f->lab, f->h1, f->frame, FRAME_BYTES), RDL_OK);
    go(f);
    assert_int_equal(f->n_out, 1);
    assert_memory_equal(f->last, f->frame, FRAME_BYTES);
    assert_int_equal(number(f, "h1.port.sent_frames"), 1);
    f->frame[5] = 1;
    f->frame[14] = 8;
    assert_int_equal(rdl_port_receive(f->lab, f->p1, f->frame, FRAME_BYTES), RDL_OK);
    go(f);
    assert_int_equal(f->n_in, 1);
    assert_memory_equal(f->last, f->frame, FRAME_BYTES);
    assert_int_equal(number(f, "h1.port.taken_frames"), 1);
    f->frame[5] = 7; /* to another station */
    assert_int_equal(rdl_port_receive(f->lab, f->p1, f->frame, FRAME_BYTES), RDL_OK);
    go(f);
    assert_int_equal(f->n_in, 1);
}

/* A callback may be set before and after that for interrupts, and be removed alone. */
static void without_a_listener_frames_are_dropped(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(rdl_vm_ethernet(f->lab, f->h1, on_in, f), RDL_OK);
    assert_int_equal(rdl_vm_listen(f->lab, f->h1, NULL, NULL), RDL_OK);
    assert_int_equal(rdl_port_receive(f->lab, f->p1, f->frame, FRAME_BYTES), RDL_OK);
    go(f);
    assert_int_equal(f->n_in, 1);
    assert_int_equal(rdl_vm_ethernet(f->lab, f->h1, NULL, NULL), RDL_OK);
    assert_int_equal(rdl_port_receive(f->lab, f->p1, f->frame, FRAME_BYTES), RDL_OK);
    go(f);
    assert_int_equal(f->n_in, 1);
    assert_int_equal(number(f, "h1.port.drops.no_driver"), 1);
}

static void the_queue_is_bounded(void **state)
{
    struct fixture *f = *state;
    const unsigned n = QUEUE + 1; /* the first one does not wait */

    f->frame[5] = 9;
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(rdl_vm_send(f->lab, f->h1, f->frame, FRAME_BYTES), RDL_OK);
    assert_int_equal(rdl_vm_send(f->lab, f->h1, f->frame, FRAME_BYTES), RDL_ERR_QUEUE_FULL);
    go(f);
    assert_int_equal(f->n_out, n);
}

static void what_is_no_frame_of_the_host_is_refused(void **state)
{
    struct fixture *f = *state;
    static const uint8_t large[RDL_PORT_FRAME_BYTES_MAX];
    const size_t most = 14 + number(f, "h1.port.phys_mtu");

    assert_int_equal(rdl_vm_send(f->lab, f->h1, large, 13), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_send(f->lab, f->h1, large, most + 1), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_send(f->lab, f->h2, f->frame, FRAME_BYTES), RDL_ERR_UNSUPPORTED);
    assert_int_equal(rdl_vm_ethernet(f->lab, f->h2, on_in, f), RDL_ERR_UNSUPPORTED);
    assert_int_equal(rdl_vm_send(f->lab, (rdl_host){9}, f->frame, FRAME_BYTES), RDL_ERR_STALE);
    go(f);
    assert_int_equal(f->n_out, 0);
}

static void add_bytes(void *ctx, const void *frame, size_t bytes)
{
    (void)frame;
    ((struct fixture *)ctx)->n_in += (unsigned)bytes;
}

static void the_longest_frame_comes_in(void **state)
{
    struct fixture *f = *state;
    const size_t most = 14 + number(f, "h1.port.phys_mtu");
    uint8_t large[RDL_PORT_FRAME_BYTES_MAX] = {0};

    assert_true(most < sizeof(large));
    assert_int_equal(rdl_vm_ethernet(f->lab, f->h1, add_bytes, f), RDL_OK);
    memcpy(large, f->frame, FRAME_BYTES);
    for (size_t n = most; n <= most + 1; n++) {
        assert_int_equal(rdl_port_receive(f->lab, f->p1, large, n), RDL_OK);
        go(f);
    }
    assert_int_equal(f->n_in, most);
    assert_int_equal(number(f, "h1.port.drops.too_long"), 1);
}

static void look_at(void *ctx, const char *key, const struct rdl_value *v)
{
    unsigned *n = ctx;

    (void)v;
    assert_string_not_equal(key, "net"); /* it is no function of the lab */
    ++*n;
}

static void only_functions_of_the_lab_are_shown(void **state)
{
    const struct fixture *f = *state;
    unsigned n = 0;
    size_t at;

    assert_int_equal(rdl_inspect_list(f->lab, "h1", look_at, &n, &at), RDL_OK);
    assert_int_equal(rdl_inspect_list(f->lab, "h1.pci", look_at, &n, &at), RDL_OK);
    assert_true(n > 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_lab_has_one_of_the_two_functions),
        T(frames_go_out_and_come_in_whole),
        T(without_a_listener_frames_are_dropped),
        T(the_queue_is_bounded),
        T(the_longest_frame_comes_in),
        T(what_is_no_frame_of_the_host_is_refused),
        T(only_functions_of_the_lab_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
