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

/* Two guests on two machines, and what happened from their first post on. */
static void run(bool vrnic, uint32_t device, struct seen *ret)
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
    struct testbed_side side[2] = {{.qpn = 0}, {.qpn = 0}};
    struct rdl_listener *listener;
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

        assert_int_equal(rdl_host_add(lab, &g, &side[i].host), RDL_OK);
        assert_int_equal(testbed_side_memory(lab, &side[i], &bed), RDL_OK);
        assert_int_equal(testbed_side_qp(lab, &side[i], &bed, true), RDL_OK);
    }
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(testbed_side_connect(lab, &side[i], &side[1 - i], &bed, i), RDL_OK);
    assert_int_equal(rdl_run(lab, RDL_NEVER, none), RDL_OK);
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

/* --- The pool --------------------------------------------------------------------------------- */

#define GUESTS    12u
#define FUNCTIONS 5u
#define STEPS     3000u

struct guest_model {
    rdl_host host;
    rdl_pd pd[3];
    uint32_t n;
};

/* Functions in use; each has one guest, and each guest with objects has one. */
static uint32_t check_pool(const struct rdl_lab *lab, const struct guest_model *g)
{
    const struct eswitch *s = lab->state->hosts[0]->port.sw;
    uint32_t used = 0;

    for (uint32_t i = 0; i < GUESTS; i++) {
        const struct host *h = lab->state->hosts[1 + i];
        const bool mapped = h->vrnic->vf != VRNIC_UNMAPPED;

        assert_int_equal(mapped, g[i].n > 0);
        assert_int_equal(h->guest.verbs.n_of_device, g[i].n);
        if (mapped)
            assert_ptr_equal(s->ports[h->vrnic->vf + 1].port, &h->port);
        used += mapped;
    }
    for (uint32_t i = 1; i < s->n_ports; i++)
        used -= s->ports[i].port != NULL;
    assert_int_equal(used, 0);
    assert_true(lab->state->hosts[0]->pool.size <= FUNCTIONS);
    return used;
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
        cmocka_unit_test(a_function_has_one_guest),
    };

    return cmocka_run_group_tests_name("layer", tests, NULL, NULL);
}
