/* SPDX-License-Identifier: MIT */
/* The virtual layer adds nothing to work requests, and addresses are those that programs gave.  A
 * router in the data path, as a contrast, adds what it says.  Kernels and devices ask the control
 * centre.
 */
#include "testing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/prng.h"
#include "emu/base/text.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/refusal.h"
#include "emu/facts/roce.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/event.h"
#include "emu/wire/addr.h"
#include "emu/xport/ctrl.h"
#include "lab/must_end.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "rdmalab/layer.h"
#include "rdmalab/trace.h"
#include "testbed/testbed.h"

#define EVENTS_MAX 512u

static const struct rdl_limits none;

/* --- The same messages with a function and with a virtual RNIC -------------------------------- */

/* An operation whose events a test compares. */
struct operation {
    const char *name;
    enum qp_type type;
    enum wr_opcode opcode;
    uint32_t bytes, flags;
    bool takes_receive; /* the message needs a receive of the peer */
    uint32_t frames;    /* frames in both directions */
};

static const struct operation operations[] = {
    {"RC SEND", QPT_RC, WR_SEND, 3000, SF_SIGNALED, true, 4},
    {"RC SEND, solicited", QPT_RC, WR_SEND, 64, SF_SIGNALED | SF_SOLICITED, true, 2},
    {"RC SEND of inline data", QPT_RC, WR_SEND, 24, SF_SIGNALED | SF_INLINE, true, 2},
    {"RC SEND, unsignaled", QPT_RC, WR_SEND, 64, 0, true, 2},
    {"RC SEND_WITH_IMM", QPT_RC, WR_SEND_WITH_IMM, 64, SF_SIGNALED, true, 2},
    {"RC RDMA_WRITE", QPT_RC, WR_RDMA_WRITE, 2500, SF_SIGNALED, false, 4},
    {"RC RDMA_WRITE_WITH_IMM", QPT_RC, WR_RDMA_WRITE_WITH_IMM, 64, SF_SIGNALED, true, 2},
    {"RC RDMA_READ", QPT_RC, WR_RDMA_READ, 2500, SF_SIGNALED, false, 4},
    {"RC ATOMIC_CMP_AND_SWP", QPT_RC, WR_ATOMIC_CMP_AND_SWP, 8, SF_SIGNALED, false, 2},
    {"RC ATOMIC_FETCH_AND_ADD", QPT_RC, WR_ATOMIC_FETCH_AND_ADD, 8, SF_SIGNALED, false, 2},
    {"UC SEND", QPT_UC, WR_SEND, 3000, SF_SIGNALED, true, 3},
    {"UC RDMA_WRITE", QPT_UC, WR_RDMA_WRITE, 2500, SF_SIGNALED, false, 3},
    {"UC RDMA_WRITE_WITH_IMM", QPT_UC, WR_RDMA_WRITE_WITH_IMM, 64, SF_SIGNALED, true, 1},
    {"UD SEND", QPT_UD, WR_SEND, 1000, SF_SIGNALED, true, 1},
    {"UD SEND_WITH_IMM", QPT_UD, WR_SEND_WITH_IMM, 64, SF_SIGNALED, true, 1},
};

/* How guests reach the adapter. */
enum way { BY_FUNCTION, BY_VRNIC, BY_ROUTER };

/* The events of an operation as text, with their times. */
struct seen {
    char line[EVENTS_MAX][EV_TEXT_BYTES];
    uint32_t n, n_frames, n_cqes;
    /* The same without times, in the order of their text: without events of a router, and without
     * timers, whose text is a time.
     */
    char bare[EVENTS_MAX][EV_TEXT_BYTES];
    uint32_t n_bare, n_posts, n_passed;
    uint64_t cqe_ns[4];
    uint64_t from_ns, end_ns, accesses[2]; /* time: since the first post */
};

static void note(void *ctx, const struct ev *e)
{
    struct seen *s = ctx;
    struct text t;

    assert_true(s->n < EVENTS_MAX);
    t = text_on(s->line[s->n++], EV_TEXT_BYTES);
    text_addf(&t, "%" PRIu64 " ns %s ", e->at_ns - s->from_ns, ev_schema(e->kind)->name);
    ev_add_text(&t, e, NULL);
    s->n_frames += e->kind == EV_tx;
    s->n_posts += e->kind == EV_router_post;
    s->n_passed += e->kind == EV_router_completion;
    if (e->kind == EV_cqe && s->n_cqes < ARRAY_LEN(s->cqe_ns))
        s->cqe_ns[s->n_cqes++] = e->at_ns - s->from_ns;
    if (e->kind == EV_router_post || e->kind == EV_router_completion || e->kind == EV_timer)
        return;
    t = text_on(s->bare[s->n_bare++], EV_TEXT_BYTES);
    text_addf(&t, "%s ", ev_schema(e->kind)->name);
    ev_add_text(&t, e, NULL);
}

static void post(struct rdl_lab *lab, const struct testbed_side *s, const struct testbed_side *to,
                 const struct operation *o)
{
    const struct rdl_sge sge = {.addr = s->mem.addr, .length = o->bytes, .lkey = s->mem.lkey};
    const bool is_inline = (o->flags & SF_INLINE) != 0;
    const struct rdl_send_wr wr = {.wr_id = 1,
                                   .opcode = o->opcode,
                                   .flags = o->flags,
                                   .sge = is_inline ? NULL : &sge,
                                   .n_sge = is_inline ? 0 : 1,
                                   .inline_data = is_inline ? "twenty-four bytes of data" : NULL,
                                   .inline_bytes = is_inline ? o->bytes : 0,
                                   .remote_addr = to->mem.addr,
                                   .rkey = to->mem.rkey,
                                   .compare_add = 1,
                                   .ud = {s->ah, to->qpn, TESTBED_QKEY}};

    assert_int_equal(rdl_post_send(lab, s->qp, &wr, false), RDL_OK);
}

/* Makes two guests on two machines, and connects their queue pairs of @type. */
static struct rdl_lab *two_guests(enum way way, uint32_t device, enum qp_type type,
                                  struct testbed_side side[2])
{
    const uint32_t of_rc = type == QPT_RC ? ACC_REMOTE_READ | ACC_REMOTE_ATOMIC : 0;
    const uint32_t access = type == QPT_UD ? 0 : ACC_REMOTE_WRITE | of_rc;
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct testbed_config bed = {.type = type,
                                       .mr_bytes = 8192,
                                       .mr_access =
                                           ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
                                       .access = {access, access},
                                       .max_wr = 8,
                                       .max_inline_data = device == DEVICE_virtio ? 64 : 0,
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
        const struct rdl_host_config g = {.name = i ? "g2" : "g1",
                                          .on = i ? "m2" : "m1",
                                          .vrnic = way != BY_FUNCTION,
                                          .router = way == BY_ROUTER,
                                          .device = device};

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

static uint64_t accesses_of(const struct rdl_lab *lab, uint32_t guest)
{
    return lab->state->hosts[2 + guest]->n_reads + lab->state->hosts[2 + guest]->n_writes;
}

/* Everything that happens to two guests because of one operation. */
static void run(enum way way, uint32_t device, const struct operation *o, struct seen *ret)
{
    struct testbed_side side[2];
    struct rdl_lab *lab = two_guests(way, device, o->type, side);
    struct rdl_listener *listener;

    *ret = (struct seen){.from_ns = rdl_now_ns(lab)};
    for (uint32_t i = 0; i < 2; i++)
        ret->accesses[i] = accesses_of(lab, i);
    assert_int_equal(rdl_listen(lab, note, ret, &listener), RDL_OK);
    if (o->takes_receive)
        assert_int_equal(testbed_side_recv(lab, &side[1], 2, 0, 4096), RDL_OK);
    post(lab, &side[0], &side[1], o);
    assert_int_equal(rdl_run(lab, RDL_NEVER, none), RDL_OK);
    for (uint32_t i = 0; i < 2; i++)
        ret->accesses[i] = accesses_of(lab, i) - ret->accesses[i];
    ret->end_ns = rdl_now_ns(lab) - ret->from_ns;
    assert_int_equal(lab->state->hosts[2]->vrnic != NULL, way != BY_FUNCTION);
    assert_int_equal(lab->state->hosts[2]->rnic->router != NULL, way == BY_ROUTER);
    rdl_lab_free(lab);
}

/* Fails unless an operation has the same events with a function and with a virtual RNIC. */
static void compare(uint32_t device, const struct operation *o)
{
    static struct seen plain, layer;
    const uint32_t n_cqes = (o->flags & SF_SIGNALED ? 1u : 0) + o->takes_receive;

    run(BY_FUNCTION, device, o, &plain);
    run(BY_VRNIC, device, o, &layer);
    if (plain.n_frames != o->frames || plain.n_cqes != n_cqes)
        fail_msg("%s: %u frames, %u completions", o->name, plain.n_frames, plain.n_cqes);
    for (uint32_t i = 0; i < plain.n && i < layer.n; i++) {
        if (strcmp(plain.line[i], layer.line[i]) != 0)
            fail_msg("%s: function \"%s\", virtual RNIC \"%s\"", o->name, plain.line[i],
                     layer.line[i]);
    }
    assert_int_equal(layer.n, plain.n);
    assert_int_equal(layer.end_ns, plain.end_ns);
    assert_true(plain.accesses[0] > 0);
    assert_memory_equal(layer.accesses, plain.accesses, sizeof(plain.accesses));
}

/* Calls @check for each operation on each device that has it. */
static void for_all(void (*check)(uint32_t device, const struct operation *o))
{
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        const bool is_inline = (operations[i].flags & SF_INLINE) != 0;

        check(DEVICE_virtio, &operations[i]);
        if (operations[i].type != QPT_UC && !is_inline) /* PVRDMA has neither */
            check(DEVICE_pvrdma, &operations[i]);
    }
}

static void nothing_is_in_the_data_path(void **state)
{
    (void)state;
    for_all(compare);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Fails unless a router passes each message of an operation once, takes its time for it, and
 * changes nothing else.
 */
static void compare_router(uint32_t device, const struct operation *o)
{
    static struct seen plain, router;

    run(BY_FUNCTION, device, o, &plain);
    run(BY_ROUTER, device, o, &router);
    qsort(plain.bare, plain.n_bare, EV_TEXT_BYTES, by_text);
    qsort(router.bare, router.n_bare, EV_TEXT_BYTES, by_text);
    assert_int_equal(router.n_bare, plain.n_bare);
    for (uint32_t i = 0; i < plain.n_bare; i++) {
        if (strcmp(plain.bare[i], router.bare[i]) != 0)
            fail_msg("%s: function \"%s\", router \"%s\"", o->name, plain.bare[i], router.bare[i]);
    }
    assert_memory_equal(router.accesses, plain.accesses, sizeof(plain.accesses));
    assert_int_equal(router.n_posts, 1 + o->takes_receive);
    assert_int_equal(router.n_passed, plain.n_cqes);
    assert_int_equal(router.n_cqes, plain.n_cqes);
    for (uint32_t i = 0; i < plain.n_cqes; i++)
        assert_int_equal(router.cqe_ns[i], plain.cqe_ns[i] + 2 * ROUTER_MESSAGE_NS);
}

static void a_router_passes_each_message_once_and_changes_nothing_else(void **state)
{
    (void)state;
    for_all(compare_router);
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

static void a_query_has_the_address_that_the_program_gave(void **state)
{
    static const uint32_t devices[] = {DEVICE_virtio, DEVICE_pvrdma};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct testbed_side side[2];
        struct rdl_lab *lab = two_guests(BY_VRNIC, devices[i], QPT_RC, side);
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

/* --- The control centre ----------------------------------------------------------------------- */

/* Adds the guests g1 and g2 on one machine, in groups 1 and 2, with a queue pair in INIT each. */
static struct rdl_lab *two_groups(uint32_t device, struct testbed_side side[2])
{
    const struct testbed_config bed = {.type = QPT_RC, .mr_bytes = 4096, .max_wr = 4};
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config m = {.name = "m1", .vfs = 2};
    const struct rdl_qp_attr init = {.port = 1};
    const uint32_t mask = QPA_STATE | qp_fsm_needs(QPT_RC, QPS_INIT);
    struct rdl_modify_error why;
    struct rdl_qp_attr a = init;
    struct rdl_lab *lab;
    rdl_host machine;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &m, &machine), RDL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rdl_host_config g = {
            .name = i ? "g2" : "g1", .on = "m1", .vrnic = true, .group = i + 1, .device = device};

        side[i] = (struct testbed_side){.qpn = 0};
        assert_int_equal(rdl_host_add(lab, &g, &side[i].host), RDL_OK);
        assert_int_equal(testbed_side_memory(lab, &side[i], &bed), RDL_OK);
        assert_int_equal(testbed_side_qp(lab, &side[i], &bed, true), RDL_OK);
        a.state = QPS_INIT;
        must_end(lab, side[i].host, rdl_modify_qp(lab, side[i].qp, &a, mask, false, &why));
    }
    return lab;
}

/* Asks the device of g1 for a connection to address @index of g2, virtual or on the wire. */
static enum refusal_reason ask_device(const struct rdl_lab *lab, const struct testbed_side side[2],
                                      uint32_t index, bool wire)
{
    struct rnic *nic = lab->state->hosts[1]->rnic;
    struct qp_attr a = {
        .state = QPS_RTR,
        .path_mtu = MTU_1024,
        .dest_qpn = side[1].qpn,
        .max_dest_rd_atomic = 1,
        .av = {.sgid_index = (uint8_t)index, .flags = AH_FLAG_GRH, .port = 1, .hop_limit = 64}};
    uint8_t mac[MAC_BYTES];

    assert_int_equal(wire ? rdl_wire_address(lab, side[1].host, 0, index, a.av.dgid, mac)
                          : rdl_host_address(lab, side[1].host, index, a.av.dgid, mac),
                     RDL_OK);
    return xport_qp_modify(&nic->xport, hca_qp(&nic->hca, side[0].qpn),
                           QPA_STATE | qp_fsm_needs(QPT_RC, QPS_RTR), &a);
}

static void check_counts(const struct rdl_lab *lab, uint32_t host, uint64_t lookups,
                         uint64_t forbidden)
{
    const struct vrnic *r = lab->state->hosts[host]->vrnic;

    assert_int_equal(r->n_lookups, lookups);
    assert_int_equal(r->n_forbidden, forbidden);
}

/* A kernel that does not ask the centre is refused by its device, whatever address it writes. */
static void no_kernel_gets_around_the_centre(void **state)
{
    static const uint32_t devices[] = {DEVICE_virtio, DEVICE_pvrdma};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct testbed_side side[2];
        struct rdl_lab *lab = two_groups(devices[i], side);

        for (uint32_t k = 0; k < 4; k++) {
            assert_int_equal(ask_device(lab, side, k / 2, k % 2), REF_AV_FORBIDDEN);
            check_counts(lab, 1, k + 1, k + 1);
        }
        check_counts(lab, 2, 0, 0);
        assert_int_equal(rdl_centre_rule(lab, 2, 1, true), RDL_OK);
        assert_int_equal(ask_device(lab, side, 0, true), REF_NONE);
        check_counts(lab, 1, 4, 4); /* what is allowed is not counted a second time */
        rdl_lab_free(lab);
    }
}

/* The rule is taken back after the kernel has asked, and before the device executes the request. */
static void a_rule_can_end_while_a_request_is_under_way(void **state)
{
    struct testbed_side side[2];
    struct rdl_lab *lab = two_groups(DEVICE_virtio, side);
    struct rdl_qp_attr a = {.state = QPS_RTR,
                            .path_mtu = MTU_1024,
                            .dest_qpn = side[1].qpn,
                            .max_dest_rd_atomic = 1,
                            .min_rnr_timer = 1};
    const uint32_t mask = QPA_STATE | qp_fsm_needs(QPT_RC, QPS_RTR);
    struct rdl_modify_error why;
    struct rdl_refusal refusal;
    struct rdl_response rsp;

    (void)state;
    assert_int_equal(rdl_peer_address(lab, side[0].host, side[1].host, 0, 0, a.ah.dgid, a.ah.dmac),
                     RDL_OK);
    assert_int_equal(rdl_centre_rule(lab, 1, 2, true), RDL_OK);
    assert_int_equal(rdl_modify_qp(lab, side[0].qp, &a, mask, false, &why), RDL_OK);
    check_counts(lab, 1, 1, 0);
    assert_int_equal(rdl_centre_rule(lab, 1, 2, false), RDL_OK);
    assert_int_equal(rdl_wait(lab, side[0].host, none, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.error, EINVAL);
    assert_int_equal(rdl_last_refusal(lab, side[0].host, &refusal), RDL_OK);
    assert_int_equal(refusal.reason, REF_AV_FORBIDDEN);
    check_counts(lab, 1, 2, 1);
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_in_the_data_path),
        cmocka_unit_test(a_router_passes_each_message_once_and_changes_nothing_else),
        cmocka_unit_test(a_query_has_the_address_that_the_program_gave),
        cmocka_unit_test(a_machine_with_a_large_number_has_addresses_of_its_own),
        cmocka_unit_test(an_address_that_a_host_was_given_is_its_own),
        cmocka_unit_test(no_kernel_gets_around_the_centre),
        cmocka_unit_test(a_rule_can_end_while_a_request_is_under_way),
    };

    return cmocka_run_group_tests_name("layer", tests, NULL, NULL);
}
