/* SPDX-License-Identifier: MIT */
/* The inspect tree against its schema.  A lab with every kind of node reports every row of
 * emu/facts/leaves.def and nothing else, and every listed path can be looked up.
 */
#include "testing.h"

#include <string.h>

#include "emu/base/text.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/lnet_test_op.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/leaf.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/cm_mux.h"
#include "rdmalab/cm.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/lnet.h"
#include "rdmalab/memory.h"
#include "rdmalab/pci.h"
#include "rdmalab/srq.h"
#include "testbed/testbed.h"

/* Two hosts and a port to the outside on a switch, a completion, and faults of both kinds. */
static void make(struct testbed *r)
{
    const struct testbed_config c = {
        .seed = 1,
        .outside = true,
        .mr_bytes = 65536,
        .max_wr = 16,
        .path_mtu = MTU_1024,
        .timeout = 4,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 12,
        .latency_ns = 1000,
    };
    const struct rdl_fault_config fault = {
        .name = "never",
        .kind = FLT_DROP,
        .opcode = RDL_ANY,
        .syndrome = SYN_ACK,
        .psn = RDL_ANY,
        .dest_qpn = RDL_ANY,
        .nth = 1000,
        .count = 1,
    };
    const struct rdl_limits none = {0};
    const struct rdl_ah_attr group = {.dgid = {0xff, 0x02, [15] = 1}, .sgid_index = 1, .port = 1};
    const struct rdl_srq_attr shared = {.max_wr = 4};
    rdl_fault ignored;
    static struct guest_membership member = {NULL, {0xff, 0x02, [15] = 1}};
    rdl_srq srq;
    rdl_ah ah;

    assert_int_equal(testbed_init(r, &c), RDL_OK);
    assert_int_equal(rdl_fault_add(r->lab, &fault, &ignored), RDL_OK);
    assert_int_equal(rdl_device_fault_add(r->lab,
                                          &(struct rdl_device_fault_config){
                                              .kind = FLT_LOST_KICK,
                                              .host = r->side[0].host,
                                              .queue = RDL_ANY,
                                              .nth = 1000,
                                              .count = 1,
                                              .id = RDL_ANY,
                                          },
                                          &ignored),
                     RDL_OK);
    assert_int_equal(rdl_create_ah(r->lab, r->side[0].pd, &group, "ah", &ah), RDL_OK);
    ((struct guest_qp *)lab_object(r->lab->state, OBJ_QP, r->side[0].qp.raw))->groups = &member;
    guest_group_join(&r->lab->state->hosts[0]->guest.net, group.dgid);
    assert_int_equal(rdl_create_srq(r->lab, r->side[1].pd, &shared, "srq", &srq), RDL_OK);
    assert_int_equal(testbed_recv(r, 1, 7, 0, 1024), RDL_OK);
    assert_int_equal(testbed_send(r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(rdl_run(r->lab, RDL_NEVER, none), RDL_OK);
}

/* Runs until there is an event at @ch, and takes it. */
static void take_event(struct rdl_lab *lab, rdl_cm_channel ch)
{
    const struct rdl_limits none = {0};
    struct rdl_cm_event e;
    size_t n;

    while (rdl_cm_pending(lab, ch) == 0)
        assert_int_equal(rdl_step(lab, RDL_STEP_TICK, none), RDL_OK);
    assert_int_equal(rdl_cm_get_event(lab, ch, NULL, &e, &n), RDL_OK);
}

/* An event channel with an event; an ID whose request waits for an answer. */
static void add_connection(struct testbed *r)
{
    const struct rdl_cm_param param = {.qpn = r->side[0].qpn};
    struct rdl_cm_addr to = {.version = 4, .port = 7471};
    uint8_t mac[6];
    rdl_cm_channel ch, other;
    rdl_cm_id id, more;
    int error;

    assert_int_equal(rdl_host_address(r->lab, r->side[1].host, 0, to.gid, mac), RDL_OK);
    assert_int_equal(rdl_cm_create_channel(r->lab, r->side[0].host, NULL, &ch), RDL_OK);
    assert_int_equal(rdl_cm_create_channel(r->lab, r->side[0].host, NULL, &other), RDL_OK);
    assert_int_equal(rdl_cm_create_id(r->lab, ch, PORT_SPACE_TCP, NULL, &id), RDL_OK);
    assert_int_equal(rdl_cm_create_id(r->lab, other, PORT_SPACE_TCP, NULL, &more), RDL_OK);
    assert_int_equal(rdl_cm_resolve_addr(r->lab, more, NULL, &to, 1000000, &error), RDL_OK);
    assert_int_equal(rdl_cm_resolve_addr(r->lab, id, NULL, &to, 1000000, &error), RDL_OK);
    take_event(r->lab, ch);
    assert_int_equal(rdl_cm_resolve_route(r->lab, id, &error), RDL_OK);
    take_event(r->lab, ch);
    assert_int_equal(rdl_cm_connect(r->lab, id, &param, &error), RDL_OK);
}

/* A host in a VLAN whose device has windows and all extensions; a window, and a completion queue.
 */
static void add_window(struct rdl_lab *lab)
{
    const struct rdl_host_config config = {
        .name = "w", .ring = VRING_packed, .extensions = RDMA_EXTENSIONS, .vlan = 5};
    const struct rdl_limits none = {0};
    struct rdl_response rsp;
    rdl_host host;
    rdl_cq cq;
    rdl_pd pd;
    rdl_mw mw;

    assert_int_equal(rdl_host_add(lab, &config, &host), RDL_OK);
    assert_int_equal(rdl_create_cq(lab, host, 16, NULL, &cq), RDL_OK);
    assert_int_equal(rdl_wait(lab, host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_alloc_pd(lab, host, NULL, &pd), RDL_OK);
    assert_int_equal(rdl_wait(lab, host, none, &rsp), RDL_OK);
    assert_int_equal(rdl_alloc_mw(lab, pd, 1, NULL, &mw), RDL_OK);
    assert_int_equal(rdl_wait(lab, host, none, &rsp), RDL_OK);
}

static void wait_for(struct rdl_lab *lab, rdl_host host)
{
    struct rdl_response rsp;

    assert_int_equal(rdl_wait(lab, host, (struct rdl_limits){0}, &rsp), RDL_OK);
}

/* A host with PVRDMA, and an object with a ring of each kind. */
static void add_pvrdma(struct rdl_lab *lab)
{
    const struct rdl_host_config config = {.name = "p", .device = DEVICE_pvrdma};
    const struct rdl_srq_attr shared = {.max_wr = 4};
    struct rdl_qp_config qp = {.type = QPT_RC, .max_send_wr = 4, .max_recv_wr = 4};
    rdl_host host;
    rdl_qp made;

    assert_int_equal(rdl_host_add(lab, &config, &host), RDL_OK);
    assert_int_equal(rdl_alloc_pd(lab, host, NULL, &qp.pd), RDL_OK);
    wait_for(lab, host);
    assert_int_equal(rdl_create_cq(lab, host, 16, NULL, &qp.send_cq), RDL_OK);
    wait_for(lab, host);
    qp.recv_cq = qp.send_cq;
    assert_int_equal(rdl_create_qp(lab, &qp, NULL, &made), RDL_OK);
    wait_for(lab, host);
    assert_int_equal(rdl_create_srq(lab, qp.pd, &shared, NULL, &qp.srq), RDL_OK);
    wait_for(lab, host);
}

/* A host whose objects and rings are looked at as those of a virtual machine. */
static void add_vm(struct rdl_lab *lab)
{
    const struct rdl_host_config config = {.name = "m"};
    const struct rdl_srq_attr shared = {.max_wr = 4};
    struct rdl_qp_config qp = {.type = QPT_UD, .max_send_wr = 4, .max_recv_wr = 4};
    rdl_host host;
    rdl_srq srq;
    rdl_qp made;

    assert_int_equal(rdl_host_add(lab, &config, &host), RDL_OK);
    assert_int_equal(rdl_alloc_pd(lab, host, "pd", &qp.pd), RDL_OK);
    wait_for(lab, host);
    assert_int_equal(rdl_create_cq(lab, host, 16, "cq", &qp.send_cq), RDL_OK);
    wait_for(lab, host);
    qp.recv_cq = qp.send_cq;
    assert_int_equal(rdl_create_qp(lab, &qp, "qp", &made), RDL_OK);
    wait_for(lab, host);
    assert_int_equal(rdl_create_srq(lab, qp.pd, &shared, "srq", &srq), RDL_OK);
    wait_for(lab, host);
    qp.srq = srq;
    assert_int_equal(rdl_create_qp(lab, &qp, "shares", &made), RDL_OK);
    wait_for(lab, host);
    lab->state->hosts[host.raw - 1]->is_external = true;
}

struct walk {
    const struct rdl_lab *lab;
    char path[256];
    enum node_kind kind; /* of the node at @path */
    enum child_id list;  /* if it is one */
    bool *leaf_said, *child_said;
    unsigned *n_leaves;
};

/* The row of a child called @key; CHILD_none: it has none. */
static enum child_id child_row(const struct walk *w, const char *key, const struct rdl_value *v)
{
    const enum child_id fixed = child_find(w->kind, key, strlen(key));

    for (unsigned i = fixed + 1; i < CHILD_COUNT && fixed != CHILD_none; i++) {
        if (child_rows[i].node == w->kind && child_rows[i].key &&
            strcmp(child_rows[i].key, key) == 0 && child_rows[i].below == v->row)
            return (enum child_id)i; /* a row EITHER */
    }
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT && fixed == CHILD_none; i++) {
        if (child_rows[i].node == w->kind && !child_rows[i].key && child_rows[i].below == v->row)
            return (enum child_id)i;
    }
    return fixed;
}

/* The row of a leaf called @key. */
static enum leaf_id leaf_row(const struct walk *w, const char *key)
{
    if (w->kind == NODE_list)
        return child_rows[w->list].element;
    return leaf_find(w->kind, key, strlen(key));
}

static void check_leaf(struct walk *w, const char *path, const char *key, const struct rdl_value *v)
{
    const enum leaf_id id = leaf_row(w, key);
    const struct leaf_row *row = &leaf_rows[id];

    if (id == LEAF_none || v->row != id)
        fail_msg("%s has no row", path);
    if (v->type != leaf_types[row->type].type &&
        !(row->flags & LEAF_ANY && v->type == RDL_TEXT && strcmp(v->text, "any") == 0))
        fail_msg("%s has not the type of its row", path);
    w->leaf_said[id] = true;
    ++*w->n_leaves;
}

static void check_lookup(const struct walk *w, const char *path, const struct rdl_value *v)
{
    struct rdl_value again;
    size_t at;

    assert_int_equal(rdl_inspect(w->lab, path, &again, &at), RDL_OK);
    assert_int_equal(again.type, v->type);
    assert_true(again.number == v->number);
    assert_string_equal(again.text, v->text);
}

static void visit(void *ctx, const char *key, const struct rdl_value *v)
{
    struct walk *w = ctx, next = *w;
    struct text t = {next.path, strlen(next.path), sizeof(next.path), false};
    struct leaf_places ignored;
    size_t at;

    text_addf(&t, "%s%s", t.len > 0 && key[0] != '[' ? "." : "", key);
    assert_false(t.cut);
    check_lookup(w, next.path, v);
    if (!leaf_path_leads(next.path, &ignored, &at))
        fail_msg("the rows do not lead to %s", next.path);
    if (v->type != RDL_NODE) {
        check_leaf(w, next.path, key, v);
        return;
    }
    next.kind = (enum node_kind)v->row;
    next.list = CHILD_none;
    if (w->kind == NODE_list) {
        assert_int_equal(v->row, child_rows[w->list].below);
    } else {
        const enum child_id id = child_row(w, key, v);

        if (id == CHILD_none)
            fail_msg("%s has no row", next.path);
        next.list = child_rows[id].is_list ? id : CHILD_none;
        assert_int_equal(v->row, next.list ? NODE_list : child_rows[id].below);
        w->child_said[id] = true;
    }
    assert_string_equal(v->text, node_rows[v->row].title);
    assert_int_equal(rdl_inspect_list(w->lab, next.path, visit, &next, &at), RDL_OK);
}

/* Gives a virtual RNIC a function, by the objects of which it shows the numbers. */
static void add_mapped_objects(struct rdl_lab *lab, rdl_host host)
{
    struct rdl_qp_config qp = {.type = QPT_RC};
    uint64_t addr;
    rdl_mr mr;
    rdl_qp made;

    assert_int_equal(rdl_alloc_pd(lab, host, NULL, &qp.pd), RDL_OK);
    wait_for(lab, host);
    assert_int_equal(rdl_mem_alloc(lab, host, 64, &addr), RDL_OK);
    assert_int_equal(rdl_reg_mr(lab, qp.pd, addr, 64, 0, NULL, &mr), RDL_OK);
    wait_for(lab, host);
    assert_int_equal(rdl_create_cq(lab, host, 16, NULL, &qp.send_cq), RDL_OK);
    wait_for(lab, host);
    qp.recv_cq = qp.send_cq;
    assert_int_equal(rdl_create_qp(lab, &qp, NULL, &made), RDL_OK);
    wait_for(lab, host);
}

/* A machine with a guest, and a function that nobody uses. */
static void add_machine(struct rdl_lab *lab)
{
    const struct rdl_host_config machine = {
        .name = "m1", .device = DEVICE_virtio, .vfs = 2, .shortcut = true};
    const struct rdl_host_config guest = {.name = "g", .device = DEVICE_none, .on = "m1"};
    const struct rdl_host_config virtual = {.name = "v1",
                                            .device = DEVICE_virtio,
                                            .on = "m1",
                                            .vrnic = true,
                                            .vrnic_vfs = 2,
                                            .router = true};
    rdl_host host;

    assert_int_equal(rdl_host_add(lab, &machine, &host), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &guest, &host), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &virtual, &host), RDL_OK);
    add_mapped_objects(lab, host);
}

/* A machine with the multiplexer @profile, which knows an ID of a guest that shares the port. */
static void add_shared_port(struct rdl_lab *lab, const char *name, const char *guest_name,
                            uint32_t profile)
{
    const struct rdl_host_config machine = {
        .name = name, .device = DEVICE_virtio, .vfs = 1, .mux = profile};
    const struct rdl_host_config guest = {
        .name = guest_name, .device = DEVICE_virtio, .on = name, .shared = true};
    const struct mux_message message = {.message = CM_REQ, .local_id = 7};
    rdl_host host;

    assert_int_equal(rdl_host_add(lab, &machine, &host), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &guest, &host), RDL_OK);
    cm_mux_sent(lab_host(lab->state, host.raw)->port.sw->mux, host.raw - 1, &message,
                rdl_now_ns(lab));
}

/* Two nodes of LNet after a test and a PUT to memory that stays attached. */
static void add_lnet(struct rdl_lab *lab)
{
    const struct rdl_limits none = {0};
    const struct rdl_lnet_config config = rdl_lnet_defaults(false);
    const struct rdl_lnet_match match = {.portal = 4};
    const struct rdl_link_config cable = {.a = "l0", .b = "l1"};
    struct rdl_lnet_piece piece = {.bytes = 64};
    struct rdl_lnet_md md = {.pieces = &piece, .n = 1, .options = RDL_LNET_PUT};
    struct rdl_lnet_test test = {
        .n_peers = 1, .op = SELFTEST_READ, .size = 65536, .concurrency = 1, .count = 1};
    struct rdl_lnet_call call = {.portal = 4};
    rdl_host host[2];
    rdl_link link;
    uint64_t attached;
    int error;

    for (unsigned i = 0; i < 2; i++) {
        const struct rdl_host_config c = {.name = i == 0 ? "l0" : "l1"};

        assert_int_equal(rdl_host_add(lab, &c, &host[i]), RDL_OK);
        assert_int_equal(rdl_lnet_start(lab, host[i], &config), RDL_OK);
    }
    assert_int_equal(rdl_link_add(lab, &cable, &link), RDL_OK);
    assert_int_equal(rdl_run(lab, RDL_NEVER, none), RDL_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(rdl_lnet_serve(lab, host[i], 0, 0, 0, &error), RDL_OK);
    test.peers = &host[1];
    assert_int_equal(rdl_lnet_test(lab, host[0], &test, &error), RDL_OK);
    assert_int_equal(rdl_mem_alloc(lab, host[1], 64, &piece.addr), RDL_OK);
    assert_int_equal(rdl_lnet_attach(lab, host[1], &match, &md, &attached, &error), RDL_OK);
    assert_int_equal(rdl_mem_alloc(lab, host[0], 64, &piece.addr), RDL_OK);
    assert_int_equal(rdl_lnet_bind(lab, host[0], &md, &call.md, &error), RDL_OK);
    call.peer = host[1];
    assert_int_equal(rdl_lnet_put(lab, host[0], &call, &error), RDL_OK);
    assert_int_equal(rdl_run(lab, RDL_NEVER, none), RDL_OK);
}

static void every_row_is_said_and_everything_said_has_a_row_and_a_path(void **state)
{
    bool leaf_said[LEAF_COUNT] = {false}, child_said[CHILD_COUNT] = {false};
    unsigned n_leaves = 0;
    struct walk w = {
        .kind = NODE_lab, .leaf_said = leaf_said, .child_said = child_said, .n_leaves = &n_leaves};
    struct testbed r;
    rdl_pd late;
    rdl_channel ch;
    size_t at;

    (void)state;
    make(&r);
    add_lnet(r.lab);
    add_window(r.lab);
    add_pvrdma(r.lab);
    add_vm(r.lab);
    add_machine(r.lab);
    add_shared_port(r.lab, "m2", "g2", MUX_full);
    add_shared_port(r.lab, "m3", "g3", MUX_rdmacm_mux);
    add_connection(&r);
    assert_int_equal(rdl_alloc_pd(r.lab, r.side[0].host, NULL, &late), RDL_OK); /* no name yet */
    assert_int_equal(rdl_create_comp_channel(r.lab, r.side[1].host, NULL, &ch), RDL_OK);
    w.lab = r.lab;
    assert_int_equal(rdl_inspect_list(r.lab, "", visit, &w, &at), RDL_OK);
    assert_true(n_leaves > 400);
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        if (!leaf_said[i])
            fail_msg("nothing says the leaf %s of %s", leaf_rows[i].key,
                     node_rows[leaf_rows[i].node].title);
    }
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        if (!child_said[i])
            fail_msg("nothing says the child %s of %s",
                     child_rows[i].key ? child_rows[i].key : node_rows[child_rows[i].below].title,
                     node_rows[child_rows[i].node].title);
    }
    testbed_done(&r);
}

static uint64_t number_at(const struct rdl_lab *lab, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(lab, path, &v, &at), RDL_OK);
    return v.number;
}

/* Writes the path of @leaf of element @i of the list m.device.@list to a buffer that it returns. */
static const char *ring_path(const char *list, uint64_t i, const char *leaf)
{
    static char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));

    text_addf(&t, "m.device.%s[%llu].%s", list, (unsigned long long)i, leaf);
    return path;
}

static void rings_of_a_machine_are_found_by_the_numbers_of_their_objects(void **state)
{
    static const struct {
        const char *object, *queue, *list; /* leaves of the host m */
    } rows[] = {
        {"m.qp.qpn", "m.qp.sq.number", "sq"},         {"m.qp.qpn", "m.qp.rq.number", "rq"},
        {"m.shares.qpn", "m.shares.sq.number", "sq"}, {"m.cq.cqn", "m.cq.queue.number", "cq"},
        {"m.srq.srqn", "m.srq.rq.number", "srq"},
    };
    static const char *const lists[] = {"sq", "rq", "cq", "srq"};
    struct testbed r;
    struct rdl_value v;
    uint64_t qpn;
    size_t at;

    (void)state;
    make(&r);
    add_vm(r.lab);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(
            number_at(r.lab, ring_path(rows[i].list, number_at(r.lab, rows[i].object), "number")),
            number_at(r.lab, rows[i].queue));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        assert_int_equal(rdl_inspect(r.lab, ring_path(lists[i], 0, "number"), &v, &at),
                         RDL_ERR_NOT_FOUND);
        assert_int_equal(rdl_inspect(r.lab, ring_path(lists[i], 9999, "number"), &v, &at),
                         RDL_ERR_NOT_FOUND);
    }
    qpn = number_at(r.lab, "m.qp.qpn");
    assert_int_equal(number_at(r.lab, ring_path("rq", qpn, "qp_type")), QPT_UD);
    assert_int_equal(rdl_inspect(r.lab, ring_path("sq", qpn, "driver"), &v, &at),
                     RDL_ERR_NOT_FOUND);
    qpn = number_at(r.lab, "m.shares.qpn"); /* whose receives are those of m.srq */
    assert_int_equal(rdl_inspect(r.lab, ring_path("rq", qpn, "number"), &v, &at),
                     RDL_ERR_NOT_FOUND);
    /* A guest of the lab has its queues at its objects. */
    assert_int_equal(rdl_inspect(r.lab, "h1.device.sq", &v, &at), RDL_ERR_NOT_FOUND);
    testbed_done(&r);
}

struct list {
    char *bytes;
    size_t len, cap;
    const struct rdl_lab *lab;
};

static void note(void *ctx, const char *path, const struct rdl_value *v)
{
    struct list *l = ctx;
    struct text t = {l->bytes, l->len, l->cap, false};

    text_addf(&t, "%s %u %u %llu %s\n", path, v->type, v->row, (unsigned long long)v->number,
              v->text);
    assert_false(t.cut);
    l->len = t.len;
}

struct level {
    struct list *to;
    char path[RDL_PATH_BYTES];
};

static void note_level(void *ctx, const char *key, const struct rdl_value *v)
{
    const struct level *above = ctx;
    struct level here = {.to = above->to};
    struct text t = text_on(here.path, sizeof(here.path));
    size_t at;

    text_addf(&t, "%s%s%s", above->path, above->path[0] && key[0] != '[' ? "." : "", key);
    note(here.to, here.path, v);
    if (v->type == RDL_NODE)
        assert_int_equal(rdl_inspect_list(here.to->lab, here.path, note_level, &here, &at), RDL_OK);
}

static void what_is_below_is_what_the_lists_say_level_by_level(void **state)
{
    const char *const from[] = {"", "h1", "h1.pci", "h2.qp.sq", "h1.gid", "h1.gid[0]"};
    static char once[1u << 20], by_level[1u << 20];
    struct testbed r;
    size_t at;

    (void)state;
    make(&r);
    for (size_t i = 0; i < ARRAY_LEN(from); i++) {
        struct list a = {once, 0, sizeof(once), r.lab};
        struct list b = {by_level, 0, sizeof(by_level), r.lab};
        struct level top = {.to = &b};
        struct text t = text_on(top.path, sizeof(top.path));

        once[0] = by_level[0] = '\0';
        text_add(&t, from[i]);
        assert_int_equal(rdl_inspect_below(r.lab, from[i], note, &a, &at), RDL_OK);
        assert_int_equal(rdl_inspect_list(r.lab, from[i], note_level, &top, &at), RDL_OK);
        assert_string_equal(once, by_level);
    }
    assert_int_equal(once[0], '\0'); /* a leaf has nothing below it */
    assert_int_equal(rdl_inspect_below(r.lab, "h1.nothing", note, NULL, &at), RDL_ERR_NOT_FOUND);
    assert_int_equal(at, 3);
    testbed_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_said_and_everything_said_has_a_row_and_a_path),
        cmocka_unit_test(rings_of_a_machine_are_found_by_the_numbers_of_their_objects),
        cmocka_unit_test(what_is_below_is_what_the_lists_say_level_by_level),
    };

    return cmocka_run_group_tests_name("inspect_rows", tests, NULL, NULL);
}
