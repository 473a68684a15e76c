/* SPDX-License-Identifier: MIT */
/* The virtual layer: it adds nothing to work requests, and its pool never gives a function twice.
 */
#include "testing.h"

#include <stdio.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/event.h"
#include "emu/wire/addr.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "testbed/testbed.h"

#define EVENTS_MAX 512u

static const struct rdl_limits none;

/* --- The same messages with a function and with a virtual RNIC -------------------------------- */

/* Events without what the layer may change: addresses and ticks. */
struct seen {
    struct {
        uint64_t kind, time; /* time: since the first post */
    } v[EVENTS_MAX];
    uint32_t n;
    uint64_t from_ns, accesses[2];
};

static void note(void *ctx, const struct ev *e)
{
    struct seen *s = ctx;

    assert_true(s->n < EVENTS_MAX);
    s->v[s->n].kind = e->kind;
    s->v[s->n++].time = e->at_ns - s->from_ns;
}

static void post(struct rdl_lab *lab, const struct testbed_side *s, const struct testbed_side *to,
                 enum wr_opcode opcode, uint32_t bytes)
{
    const struct rdl_sge sge = {.addr = s->mem.addr, .length = bytes, .lkey = s->mem.lkey};
    const struct rdl_send_wr wr = {.wr_id = 1,
                                   .opcode = opcode,
                                   .flags = SF_SIGNALED,
                                   .sge = &sge,
                                   .n_sge = 1,
                                   .remote_addr = to->mem.addr,
                                   .rkey = to->mem.rkey,
                                   .compare_add = 1};

    assert_int_equal(rdl_post_send(lab, s->qp, &wr, false), RDL_OK);
}

static void messages(struct rdl_lab *lab, const struct testbed_side side[2])
{
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(testbed_side_recv(lab, &side[1], i, 0, 4096), RDL_OK);
    assert_int_equal(testbed_side_send(lab, &side[0], 1, 0, 3000, SF_SIGNALED), RDL_OK);
    post(lab, &side[0], &side[1], WR_RDMA_WRITE, 2500);
    post(lab, &side[0], &side[1], WR_RDMA_READ, 2500);
    post(lab, &side[0], &side[1], WR_ATOMIC_FETCH_AND_ADD, 8);
    assert_int_equal(rdl_run(lab, RDL_NEVER, none), RDL_OK);
}

/* Makes two guests on two machines, and connects them. */
static struct rdl_lab *two_guests(bool vrnic, uint32_t device, struct testbed_side side[2])
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct testbed_config bed = {
        .mr_bytes = 8192,
        .mr_access = ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
        .access = {ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
                   ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC},
        .max_wr = 8,
        .path_mtu = MTU_1024,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7};
    const struct rdl_link_config cable = {.a = "m1", .b = "m2", .latency_ns = 500};
    struct rdl_lab *lab;
    rdl_host machine;
    rdl_link link;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rdl_host_config m = {.name = i ? "m2" : "m1", .vfs = 4};

        assert_int_equal(rdl_host_add(lab, &m, &machine), RDL_OK);
    }
    assert_int_equal(rdl_link_add(lab, &cable, &link), RDL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rdl_host_config g = {
            .name = i ? "g2" : "g1", .on = i ? "m2" : "m1", .vrnic = vrnic, .device = device};

        side[i] = (struct testbed_side){.qpn = 0};
        assert_int_equal(rdl_host_add(lab, &g, &side[i].host), RDL_OK);
        assert_int_equal(testbed_side_memory(lab, &side[i], &bed), RDL_OK);
        assert_int_equal(testbed_side_qp(lab, &side[i], &bed, true), RDL_OK);
    }
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(testbed_side_connect(lab, &side[i], &side[1 - i], &bed, i), RDL_OK);
    assert_int_equal(rdl_run(lab, RDL_NEVER, none), RDL_OK);
    return lab;
}

/* What happens to two guests from their first post on. */
static void run(bool vrnic, uint32_t device, struct seen *ret)
{
    struct testbed_side side[2];
    struct rdl_lab *lab = two_guests(vrnic, device, side);
    struct rdl_listener *listener;

    *ret = (struct seen){.from_ns = rdl_now_ns(lab)};
    for (uint32_t i = 0; i < 2; i++)
        ret->accesses[i] = lab->state->hosts[2 + i]->n_reads + lab->state->hosts[2 + i]->n_writes;
    assert_int_equal(rdl_listen(lab, note, ret, &listener), RDL_OK);
    messages(lab, side);
    for (uint32_t i = 0; i < 2; i++)
        ret->accesses[i] = lab->state->hosts[2 + i]->n_reads + lab->state->hosts[2 + i]->n_writes -
                           ret->accesses[i];
    assert_int_equal(lab->state->hosts[2]->vrnic != NULL, vrnic);
    rdl_lab_free(lab);
}

static void nothing_is_in_the_data_path(void **state)
{
    static const uint32_t devices[] = {DEVICE_virtio, DEVICE_pvrdma};
    static struct seen plain, layer;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        run(false, devices[i], &plain);
        run(true, devices[i], &layer);
        assert_true(plain.n > 60);
        assert_int_equal(layer.n, plain.n);
        assert_memory_equal(layer.v, plain.v, plain.n * sizeof(plain.v[0]));
        assert_memory_equal(layer.accesses, plain.accesses, sizeof(plain.accesses));
    }
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* Fails unless the device's answer about the queue pair of @of has the virtual address of @peer. */
static void check_query(struct rdl_lab *lab, const struct testbed_side *of,
                        const struct testbed_side *peer)
{
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    struct rdl_response rsp;
    struct rdl_qp_info info;

    assert_int_equal(rdl_query_qp(lab, of->qp), RDL_OK);
    assert_int_equal(rdl_wait(lab, of->host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_qp_info(lab, of->qp, &info), RDL_OK);
    assert_int_equal(rdl_host_address(lab, peer->host, 0, gid, mac), RDL_OK);
    assert_memory_equal(info.attr.ah.dgid, gid, GID_BYTES);
}

static void must_end(struct rdl_lab *lab, rdl_host host, enum rdl_status asked)
{
    struct rdl_response rsp;

    assert_int_equal(asked, RDL_OK);
    assert_int_equal(rdl_wait(lab, host, none, &rsp), RDL_OK);
}

static void a_query_has_the_address_that_the_program_gave(void **state)
{
    static const uint32_t devices[] = {DEVICE_virtio, DEVICE_pvrdma};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct testbed_side side[2];
        struct rdl_lab *lab = two_guests(true, devices[i], side);
        const rdl_host g2 = side[1].host;

        check_query(lab, &side[0], &side[1]);
        must_end(lab, g2, rdl_destroy_qp(lab, side[1].qp));
        must_end(lab, g2, rdl_destroy_cq(lab, side[1].cq));
        must_end(lab, g2, rdl_dereg_mr(lab, side[1].mr));
        must_end(lab, g2, rdl_dealloc_pd(lab, side[1].pd));
        assert_int_equal(lab->state->hosts[3]->vrnic->functions[0].vf, VRNIC_UNMAPPED);
        check_query(lab, &side[0], &side[1]);
        rdl_lab_free(lab);
    }
}

/* Adds machine @name with two functions, and the guest "g" on it with an object. */
static void add_guest(struct rdl_lab *lab, const char *name)
{
    const struct rdl_host_config m = {.name = name, .vfs = 2};
    const struct rdl_host_config g = {.name = "g", .on = name, .vrnic = true};
    rdl_host host;
    rdl_pd pd;

    assert_int_equal(rdl_host_add(lab, &m, &host), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &g, &host), RDL_OK);
    must_end(lab, host, rdl_alloc_pd(lab, host, NULL, &pd));
}

static void check_text(const struct rdl_lab *lab, const char *path, const char *text)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(lab, path, &v, &at), RDL_OK);
    assert_string_equal(v.text, text);
}

static void a_machine_with_a_large_number_has_addresses_of_its_own(void **state)
{
    const struct rdl_lab_config config = {.seed = 1};
    struct rdl_lab *lab;
    rdl_host host;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    for (uint32_t i = 0; i < 260; i++) {
        char name[8];
        const struct rdl_host_config c = {.name = name, .device = DEVICE_none};

        snprintf(name, sizeof(name), "h%u", i);
        assert_int_equal(rdl_host_add(lab, &c, &host), RDL_OK);
    }
    add_guest(lab, "m");
    check_text(lab, "g.vrnic.wire[0]", "10.201.5.1");
    check_text(lab, "g.vrnic.wire[1]", "fd00::105:1");
    rdl_lab_free(lab);
}

/* Whoever is given an address on the wire of VF 0 keeps it: VF 0 is not used. */
static void an_address_that_a_host_was_given_is_its_own(void **state)
{
    static const char *const given[] = {"10.200.2.1", "fd00::2:1"};
    const struct rdl_lab_config config = {.seed = 1};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rdl_host_config c = {.name = "h1"};
        struct rdl_lab *lab;
        rdl_host host;

        assert_true(addr_parse(given[i], i ? c.ipv6 : c.ipv4));
        assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
        assert_int_equal(rdl_host_add(lab, &c, &host), RDL_OK);
        add_guest(lab, "m");
        check_text(lab, "g.vrnic.wire[0]", "10.200.2.2");
        rdl_lab_free(lab);
    }
}

/* --- The pool --------------------------------------------------------------------------------- */

#define GUESTS    12u
#define FUNCTIONS 5u
#define STEPS     3000u

struct guest_model {
    rdl_host host;
    rdl_pd pd[3];
    uint32_t n;
};

/* Fails unless each function in use has one guest, and exactly the guests with objects have one. */
static void check_pool(const struct rdl_lab *lab, const struct guest_model *g)
{
    const struct eswitch *s = lab->state->hosts[0]->port.sw;
    uint32_t used = 0;

    for (uint32_t i = 0; i < GUESTS; i++) {
        const struct host *h = lab->state->hosts[1 + i];
        const bool mapped = h->vrnic->functions[0].vf != VRNIC_UNMAPPED;

        assert_int_equal(mapped, g[i].n > 0);
        assert_int_equal(h->guest.verbs.n_of_device, g[i].n);
        if (mapped)
            assert_ptr_equal(s->ports[eswitch_port_of_vf(h->vrnic->functions[0].vf)].port,
                             &h->port);
        used += mapped;
    }
    for (uint32_t i = 1; i < s->n_ports; i++)
        used -= s->ports[i].port != NULL;
    assert_int_equal(used, 0);
    assert_true(lab->state->hosts[0]->pool.size <= FUNCTIONS);
}

static void a_function_has_one_guest(void **state)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config machine = {.name = "m1", .vfs = FUNCTIONS, .pool = 2};
    struct guest_model g[GUESTS] = {{.n = 0}};
    struct prng r = prng_stream(7, 1);
    struct rdl_response rsp;
    struct rdl_lab *lab;
    uint32_t refused = 0, in_use = 0;
    rdl_host host;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &machine, &host), RDL_OK);
    for (uint32_t i = 0; i < GUESTS; i++) {
        char name[8];
        const struct rdl_host_config c = {.name = name, .on = "m1", .vrnic = true};

        snprintf(name, sizeof(name), "g%u", i);
        assert_int_equal(rdl_host_add(lab, &c, &g[i].host), RDL_OK);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        struct guest_model *m = &g[prng_below(&r, GUESTS)];
        const bool more = m->n == 0 || (m->n < 3 && prng_below(&r, 2));

        if (!more) {
            assert_int_equal(rdl_dealloc_pd(lab, m->pd[--m->n]), RDL_OK);
            in_use -= m->n == 0;
        } else if (m->n == 0 && in_use == FUNCTIONS) {
            assert_int_equal(rdl_alloc_pd(lab, m->host, NULL, &m->pd[0]), RDL_ERR_NO_FUNCTION);
            refused++;
            continue;
        } else {
            assert_int_equal(rdl_alloc_pd(lab, m->host, NULL, &m->pd[m->n]), RDL_OK);
            in_use += m->n++ == 0;
        }
        assert_int_equal(rdl_wait(lab, m->host, none, &rsp), RDL_OK);
        check_pool(lab, g);
    }
    assert_true(refused > 100);
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_in_the_data_path),
        cmocka_unit_test(a_query_has_the_address_that_the_program_gave),
        cmocka_unit_test(a_machine_with_a_large_number_has_addresses_of_its_own),
        cmocka_unit_test(an_address_that_a_host_was_given_is_its_own),
        cmocka_unit_test(a_function_has_one_guest),
    };

    return cmocka_run_group_tests_name("layer", tests, NULL, NULL);
}
