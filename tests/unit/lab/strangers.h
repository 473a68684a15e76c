/* SPDX-License-Identifier: MIT */
/* Labs for tests of IP and of external ports: hosts and an external port on a switch. */
#ifndef TESTS_UNIT_LAB_STRANGERS_H
#define TESTS_UNIT_LAB_STRANGERS_H

#include "testing.h"

#include <string.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/lab/lab_state.h"
#include "emu/trace/event.h"
#include "rdmalab/events.h"
#include "rdmalab/fault.h"
#include "rdmalab/ip.h"
#include "rdmalab/verbs.h"

#define STRANGERS_HOSTS 2u
#define STRANGERS_KEPT  64u /* frames sent out that are kept */
#define STRANGERS_BYTES 4400u

static const struct rdl_limits no_limits = {0};

struct out_frame {
    size_t n;
    uint8_t bytes[STRANGERS_BYTES];
};

/* Hosts h1 (10.0.0.1, 02::01), h2 (10.0.0.2, 02::02) and the external port "out" on switch "sw". */
struct strangers {
    struct rdl_lab *lab;
    rdl_host host[STRANGERS_HOSTS];
    rdl_port port;
    uint64_t n_out; /* frames that left through the port */
    struct out_frame out[STRANGERS_KEPT];
};

static inline void on_out(void *ctx, const void *frame, size_t bytes)
{
    struct strangers *s = ctx;
    struct out_frame *f = &s->out[s->n_out++ % STRANGERS_KEPT];

    assert_in_range(bytes, 1, sizeof(f->bytes));
    f->n = bytes;
    memcpy(f->bytes, frame, bytes);
}

static inline void strangers_link(struct strangers *s, const char *a)
{
    const struct rdl_link_config c = {.a = a, .b = "sw", .latency_ns = 1000};
    rdl_link link;

    assert_int_equal(rdl_link_add(s->lab, &c, &link), RDL_OK);
}

/* Creates the lab with hosts configured like @like, except for their names. */
static inline struct strangers *strangers_like(const struct rdl_host_config *like)
{
    struct strangers *s = test_calloc(1, sizeof(*s));
    const struct rdl_lab_config lab = {.seed = 1, .check_invariants = true};
    const struct rdl_port_config port = {.name = "out"};
    static const char *const names[STRANGERS_HOSTS] = {"h1", "h2"};
    rdl_switch sw;

    assert_int_equal(rdl_lab_new(&lab, &s->lab), RDL_OK);
    assert_int_equal(rdl_record(s->lab, 1u << 20, 64u << 20), RDL_OK);
    assert_int_equal(rdl_hash_start(s->lab), RDL_OK);
    assert_int_equal(rdl_switch_add(s->lab, "sw", &sw), RDL_OK);
    for (uint32_t i = 0; i < STRANGERS_HOSTS; i++) {
        struct rdl_host_config c = *like;

        c.name = names[i];
        assert_int_equal(rdl_host_add(s->lab, &c, &s->host[i]), RDL_OK);
        strangers_link(s, names[i]);
    }
    assert_int_equal(rdl_port_add(s->lab, &port, &s->port), RDL_OK);
    strangers_link(s, "out");
    assert_int_equal(rdl_port_read(s->lab, s->port, on_out, s), RDL_OK);
    return s;
}

static inline struct strangers *strangers_new(bool arp)
{
    const struct rdl_host_config like = {.arp = arp};

    return strangers_like(&like);
}

static inline void strangers_free(struct strangers *s)
{
    assert_null(rdl_broken_invariant(s->lab));
    rdl_lab_free(s->lab);
    test_free(s);
}

static inline int with_arp(void **state)
{
    *state = strangers_new(true);
    return 0;
}

static inline int without_arp(void **state)
{
    *state = strangers_new(false);
    return 0;
}

static inline int tear_down(void **state)
{
    strangers_free(*state);
    return 0;
}

static inline struct host *lab_of(const struct strangers *s, uint32_t i)
{
    return lab_host(s->lab->state, s->host[i].raw);
}

static inline void go(const struct strangers *s)
{
    assert_int_equal(rdl_run(s->lab, RDL_NEVER, no_limits), RDL_OK);
}

/* Counts the events of @kind, with @opcode if the kind has that field. */
static inline uint32_t events_of(const struct strangers *s, enum ev_kind kind, uint32_t opcode)
{
    const struct ev_field *f = ev_field_find(kind, "opcode");
    uint32_t n = 0;

    for (size_t i = 0; i < rdl_record_count(s->lab); i++) {
        const struct ev *e = rdl_record_at(s->lab, i);

        n += e->kind == kind && (!f || opcode == RDL_ANY || ev_field_number(e, f) == opcode);
    }
    return n;
}

static inline void receive(struct strangers *s, const uint8_t *frame, size_t n)
{
    assert_int_equal(rdl_port_receive(s->lab, s->port, frame, n), RDL_OK);
}

/* Pings @address from host @i.  Returns the result; *@ret_rtt_ns is the round-trip time. */
static inline enum rdl_status ping(struct strangers *s, uint32_t i, const uint8_t address[16],
                                   uint32_t bytes, uint64_t *ret_rtt_ns)
{
    struct rdl_ping_config c = {.bytes = bytes};
    struct rdl_ping_result r;
    rdl_ping_id id;
    enum rdl_status st;

    memcpy(c.address, address, sizeof(c.address));
    assert_int_equal(rdl_ping(s->lab, s->host[i], &c, &id), RDL_OK);
    assert_int_equal(rdl_ping_result(s->lab, id, &r), RDL_ERR_BUSY);
    assert_int_equal(rdl_ping_wait(s->lab, id, no_limits), RDL_OK);
    st = rdl_ping_result(s->lab, id, &r);
    *ret_rtt_ns = r.rtt_ns;
    return st;
}

static inline uint64_t drops_of(const uint64_t drops[DROP_COUNT])
{
    uint64_t n = 0;

    for (uint32_t i = 1; i < DROP_COUNT; i++)
        n += drops[i];
    return n;
}

static inline void add_drop(struct strangers *s, uint32_t kind, rdl_port from, uint32_t opcode,
                            uint32_t psn)
{
    const struct rdl_fault_config c = {
        .kind = kind,
        .from_port = from,
        .opcode = opcode,
        .syndrome = RDL_ANY,
        .psn = psn,
        .dest_qpn = RDL_ANY,
        .nth = 1,
        .count = 1,
    };
    rdl_fault f;

    assert_int_equal(rdl_fault_add(s->lab, &c, &f), RDL_OK);
}

/* Runs the lab until the control request of host 0 is answered. */
static inline void answered(struct strangers *s)
{
    struct rdl_response rsp;

    assert_int_equal(rdl_wait(s->lab, s->host[0], no_limits, &rsp), RDL_OK);
}

/* Starts moving a queue pair of host 0 to @to, with QPN 17 at @gid as peer and GID index @index. */
static inline enum rdl_status move_qp(struct strangers *s, rdl_qp qp, enum qp_state to,
                                      const uint8_t gid[16], uint8_t index)
{
    struct rdl_qp_attr a = {.state = (uint32_t)to,
                            .port = 1,
                            .path_mtu = MTU_256,
                            .dest_qpn = 17,
                            .max_rd_atomic = 1,
                            .max_dest_rd_atomic = 1,
                            .min_rnr_timer = 12,
                            .ah.sgid_index = index};
    struct rdl_modify_error e;

    memcpy(a.ah.dgid, gid, 16);
    return rdl_modify_qp(s->lab, qp, &a, QPA_STATE | qp_fsm_needs(QPT_RC, to), false, &e);
}

/* Creates a queue pair of host 0 in INIT, and its protection domain. */
static inline rdl_qp init_qp_of(struct strangers *s, rdl_pd *ret_pd)
{
    static const uint8_t nobody[16];
    struct rdl_qp_config c = {.type = QPT_RC};
    rdl_qp qp;

    assert_int_equal(rdl_alloc_pd(s->lab, s->host[0], "pd", &c.pd), RDL_OK);
    answered(s);
    assert_int_equal(rdl_create_cq(s->lab, s->host[0], 4, "cq", &c.send_cq), RDL_OK);
    answered(s);
    c.recv_cq = c.send_cq;
    assert_int_equal(rdl_create_qp(s->lab, &c, "qp", &qp), RDL_OK);
    answered(s);
    assert_int_equal(move_qp(s, qp, QPS_INIT, nobody, 0), RDL_OK);
    answered(s);
    *ret_pd = c.pd;
    return qp;
}

static inline rdl_qp init_qp(struct strangers *s)
{
    rdl_pd pd;

    return init_qp_of(s, &pd);
}

#endif
