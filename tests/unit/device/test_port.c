/* SPDX-License-Identifier: MIT */
/* The Ethernet port: which function receives a frame, which one may send next, and the counters. */
#include "machine.h"

#include <string.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/hca/ctrl.h"
#include "emu/wire/packet.h"
#include "emu/xport/ctrl.h"

static const uint8_t other_mac[MAC_BYTES] = {2, 0, 0, 0, 0, 2};
static const uint8_t group_mac[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* A frame of @len bytes for @mac that is no IP. */
static void arrive_other(struct machine *m, const uint8_t mac[MAC_BYTES], uint32_t len)
{
    uint8_t bytes[64] = {[ETH_BYTES - 2] = 0x88, 0xb5};

    memcpy(bytes, mac, MAC_BYTES);
    machine_arrive(m, bytes, len);
}

/* A packet to @gid, @p but for its addresses; its ICRC is wrong if @damaged. */
static void arrive_packet(struct machine *m, const uint8_t gid[GID_BYTES], struct packet p,
                          bool damaged)
{
    uint8_t bytes[256];
    const size_t n = packet_frame_bytes(&p);

    memcpy(p.eth.dst, machine_mac, MAC_BYTES);
    memcpy(p.eth.src, other_mac, MAC_BYTES);
    memcpy(p.ip.src, machine_gid, GID_BYTES);
    memcpy(p.ip.dst, gid, GID_BYTES);
    packet_build(&p, bytes);
    packet_finish(bytes, n);
    if (damaged)
        bytes[n - 1] ^= 1;
    machine_arrive(m, bytes, (uint32_t)n);
}

/* A SEND to @qpn of @gid, which is damaged after its ICRC was computed if @damaged. */
static void arrive_roce(struct machine *m, const uint8_t gid[GID_BYTES], uint32_t qpn,
                        uint16_t pkey, bool damaged)
{
    const struct packet p = {
        .ip = {.version = 4, .ttl = 64},
        .udp_src_port = 0xc000,
        .bth = {.opcode = OP_RC_SEND_ONLY, .pkey = pkey, .dest_qpn = qpn, .psn = {PAIR_PSN}},
    };

    arrive_packet(m, gid, p, damaged);
}

static void arrive_datagram(struct machine *m, uint32_t qpn, uint32_t qkey)
{
    const struct packet p = {
        .ip = {.version = 4, .ttl = 64},
        .udp_src_port = 0xc000,
        .bth = {.opcode = OP_UD_SEND_ONLY, .pkey = HCA_PKEY, .dest_qpn = qpn},
        .deth = {.qkey = qkey, .src_qpn = PAIR_SENDER},
    };

    arrive_packet(m, machine_gid, p, false);
}

static void frames_are_sorted_by_mac(void **state)
{
    struct machine *m = *state;

    arrive_other(m, machine_mac, 60); /* virtio-net's, which has no buffer */
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
    arrive_other(m, group_mac, 60); /* so is every group's */
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 2);
    arrive_other(m, other_mac, 60);
    assert_int_equal(m->port.drops[DROP_NOT_FOR_US], 1);
    arrive_other(m, machine_mac, ETH_BYTES);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 3);
    arrive_other(m, machine_mac, ETH_BYTES - 1);
    assert_int_equal(m->port.drops[DROP_SHORT], 1);
    assert_int_equal(m->port.rcvd_frames, 5);
    assert_int_equal(m->port.rcvd_bytes, 3 * 60 + 2 * ETH_BYTES - 1);
    assert_int_equal(m->port.taken_frames, 0);
    assert_int_equal(m->events[EV_drop], 5);
}

static void rocev2_goes_to_whoever_has_the_address(void **state)
{
    static const uint8_t other_gid[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 9};
    struct machine *m = *state;

    arrive_roce(m, machine_gid, 4, HCA_PKEY, false);
    assert_int_equal(m->port.drops[DROP_NO_SUCH_QP], 1);
    /* Sorting does not judge; the RDMA function does. */
    arrive_roce(m, machine_gid, 4, HCA_PKEY, true);
    assert_int_equal(m->port.drops[DROP_BAD_ICRC], 1);
    assert_int_equal(m->last[EV_drop].u.drop.reason, DROP_BAD_ICRC);
    arrive_roce(m, other_gid, 4, HCA_PKEY, false); /* not a GID of ours: virtio-net's */
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
}

/* The group 239.1.1.1, and a datagram to it at @mac: to no queue pair, which no frame reaches that
 * is virtio-net's.
 */
static const uint8_t group_gid[GID_BYTES] = {[10] = 0xff, 0xff, 239, 1, 1, 1};

static size_t datagram(uint8_t bytes[256], const uint8_t mac[MAC_BYTES])
{
    struct packet p = {
        .ip = {.version = 4, .ttl = 1},
        .udp_src_port = 0xc000,
        .bth = {.opcode = OP_UD_SEND_ONLY, .pkey = HCA_PKEY, .dest_qpn = QPN_MULTICAST},
        .deth = {.qkey = 1, .src_qpn = 9},
    };
    const size_t n = packet_frame_bytes(&p);

    memcpy(p.eth.dst, mac, MAC_BYTES);
    memcpy(p.eth.src, other_mac, MAC_BYTES);
    memcpy(p.ip.src, machine_gid, GID_BYTES);
    memcpy(p.ip.dst, group_gid, GID_BYTES);
    packet_build(&p, bytes);
    packet_finish(bytes, n);
    return n;
}

/* Puts the receiver of a pair into the group, as if it were a UD one. */
static void join(struct machine *m)
{
    struct qp *qp;

    machine_pair(m, machine_mac);
    qp = hca_qp(&m->rdma.nic.hca, PAIR_RECEIVER);
    qp->config.type = QPT_UD;
    assert_int_equal(mcast_attach(&m->rdma.nic.hca, qp, group_gid), RSP_OK);
    qp->config.type = QPT_RC;
}

static void datagrams_to_a_group_go_to_whoever_is_in_it(void **state)
{
    static const uint8_t mac[MAC_BYTES] = {0x01, 0x00, 0x5e, 1, 1, 1};
    static const uint8_t wrong[MAC_BYTES] = {0x01, 0x00, 0x5e, 1, 1, 2};
    struct machine *m = *state;
    uint8_t bytes[256];
    const uint32_t n = (uint32_t)datagram(bytes, mac);

    machine_arrive(m, bytes, n);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1); /* virtio-net's, as nobody is in it */
    join(m);
    machine_arrive(m, bytes, n);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 1);
    assert_int_equal(m->port.drops[DROP_WRONG_SERVICE], 1); /* the member is no UD queue pair */
    datagram(bytes, wrong);
    machine_arrive(m, bytes, n);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 2);
    datagram(bytes, machine_mac);
    machine_arrive(m, bytes, n);
    assert_int_equal(m->port.drops[DROP_NO_RX_BUFFER], 3);
}

/* What the guest sends to a group that its own device is in goes out, and comes back as a copy. */
static void a_member_gets_a_copy_of_what_its_host_sends(void **state)
{
    static const uint8_t mac[MAC_BYTES] = {0x01, 0x00, 0x5e, 1, 1, 1};
    struct machine *m = *state;
    uint8_t bytes[12 + 256] = {0};
    const uint32_t n = 12 + (uint32_t)datagram(bytes + 12, mac);
    const struct seg seg = {BUFFER_AT + 0x2000, n};
    const struct net_fault fault = {
        .name = ev_str("lost"),
        .kind = FLT_DROP,
        .match = {{NET_MATCH_ANY, OP_UD_SEND_ONLY, NET_MATCH_ANY, NET_MATCH_ANY, NET_MATCH_ANY}},
        .nth = 1,
        .count = 1,
    };
    uint64_t handle;

    memset(bytes, 0, 12);
    for (unsigned joined = 0; joined < 2; joined++) {
        if (joined)
            join(m);
        machine_poke(m, seg.gpa, bytes, n);
        ring_post(m, &m->tx, &seg, 1, 0);
        ring_kick(&m->tx);
        machine_run(m);
        assert_int_equal(m->n_out, joined + 1);
        assert_int_equal(m->port.rcvd_frames, joined);
    }
    assert_int_equal(m->port.drops[DROP_WRONG_SERVICE], 1);

    /* A fault meets what is on the line, and not the copy. */
    assert_int_equal(net_fault_add(&m->net, &fault, &handle), RDL_OK);
    ring_post(m, &m->tx, &seg, 1, 0);
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(m->n_out, 2);
    assert_int_equal(m->port.rcvd_frames, 2);
    net_fault_remove(&m->net, handle);
    assert_int_equal(m->net.counts.in_flight, 0);
}

static void a_wrong_partition_is_counted_twice(void **state)
{
    struct machine *m = *state;
    struct rfc_port_attr a;

    machine_pair(m, machine_mac);
    arrive_roce(m, machine_gid, PAIR_RECEIVER, 0x8001, false);
    assert_int_equal(m->port.drops[DROP_BAD_PKEY], 1);
    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 1), RSP_OK);
    rfc_port_attr_get(&a, (const struct raw_port_attr *)(m->rsp + 1));
    assert_int_equal(a.bad_pkey_cntr, 1);
}

static void a_wrong_qkey_is_counted_twice(void **state)
{
    static const struct {
        uint32_t qkey;
        enum drop_reason drop;
    } rows[] = {{0x1233, DROP_BAD_QKEY}, {0x1234, DROP_NO_RECEIVE}, {0, DROP_BAD_QKEY}};
    const struct rfc_qp_attr init = {.qp_state = QPS_INIT, .port_num = HCA_PORT, .qkey = 0x1234};
    const struct rfc_qp_attr rtr = {.qp_state = QPS_RTR};
    struct machine *m = *state;
    uint64_t before[DROP_COUNT];
    struct rfc_port_attr a;
    uint32_t qpn;

    machine_pair(m, machine_mac);
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_UD,
                         .sq_sig_type = SIG_REQ_WR, .send_cqn = PAIR_CQN, .recv_cqn = PAIR_CQN,
                         .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1),
                     RSP_OK);
    qpn = machine_number(m);
    assert_int_equal(machine_modify(m, qpn, QPA_STATE | qp_fsm_needs(QPT_UD, QPS_INIT), &init),
                     RSP_OK);
    assert_int_equal(machine_modify(m, qpn, QPA_STATE | qp_fsm_needs(QPT_UD, QPS_RTR), &rtr),
                     RSP_OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        memcpy(before, m->port.drops, sizeof(before));
        arrive_datagram(m, qpn, rows[i].qkey);
        assert_int_equal(m->port.drops[rows[i].drop], before[rows[i].drop] + 1);
    }
    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 1), RSP_OK);
    rfc_port_attr_get(&a, (const struct raw_port_attr *)(m->rsp + 1));
    assert_int_equal(a.qkey_viol_cntr, 2);
    assert_int_equal(a.bad_pkey_cntr, 0);
}

static void a_packet_that_a_queue_pair_takes_is_counted_as_taken(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    struct rfc_cqe cqe;

    pair_give_cqes(m, &p, 1, sizeof(struct raw_cqe));
    pair_post_recv(m, &p, 5, PAIR_MEM, 10);
    arrive_roce(m, machine_gid, PAIR_RECEIVER, HCA_PKEY, false);
    assert_int_equal(m->port.taken_frames, 1);
    assert_true(pair_completion(m, &p, 0, &cqe));
    assert_int_equal(cqe.wr_id, 5);
}

static void without_a_driver_nobody_takes_a_frame(void **state)
{
    struct machine *m = *state;

    arrive_other(m, machine_mac, 60);
    assert_int_equal(m->port.drops[DROP_NO_DRIVER], 1);
    arrive_roce(m, machine_gid, 4, HCA_PKEY, false); /* no GID is set: virtio-net's, too */
    assert_int_equal(m->port.drops[DROP_NO_DRIVER], 2);
    assert_int_equal(hca_gid_set(&m->rdma.nic.hca, 0, machine_gid), RSP_OK);
    arrive_roce(m, machine_gid, 4, HCA_PKEY, false);
    assert_int_equal(m->port.drops[DROP_QP_NOT_READY], 1);
}

/* Posts a frame to @mac in virtio-net's transmit queue. */
static void post_frame(struct machine *m, const uint8_t mac[MAC_BYTES], uint32_t len)
{
    const struct seg seg = {BUFFER_AT + 0x2000, 12 + len};
    uint8_t bytes[12 + 64] = {0};

    assert_true(12 + len <= sizeof(bytes));
    memcpy(bytes + 12, mac, MAC_BYTES);
    machine_poke(m, seg.gpa, bytes, seg.bytes);
    ring_post(m, &m->tx, &seg, 1, 0);
}

/* Both functions have three frames: they leave in turns, one at a time, as fast as the line is. */
static void functions_send_in_turns(void **state)
{
    static const uint32_t want[] = {false, true,  false,
                                    true,  false, true}; /* the frame is RoCEv2 */
    struct machine *m = *state;
    struct pair p = machine_pair(m, other_mac);
    uint64_t left_at = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < 3; i++) {
        post_frame(m, other_mac, 60);
        pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    }
    ring_kick(&m->tx);
    ring_kick(&p.sq);
    for (uint32_t sent = 0; n < ARRAY_LEN(want); sent = m->n_out) {
        sim_dispatch(&m->sim);
        if (m->n_out == sent)
            continue;
        assert_int_equal(m->n_out, sent + 1);
        assert_int_equal(m->out_note.opcode == OP_RC_SEND_ONLY, want[n]);
        assert_true(n == 0 || sim_now(&m->sim) >= left_at + (60 + NET_GAP_BYTES) * 8 / 100);
        left_at = sim_now(&m->sim);
        n++;
    }
    assert_int_equal(m->port.sent_frames, 6);
    assert_int_equal(m->port.looped_frames, 0);
}

static void a_frame_is_noted_for_what_it_is(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, other_mac);

    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    while (m->n_out == 0)
        sim_dispatch(&m->sim);
    assert_int_equal(m->out_note.host, 0);
    assert_int_equal(m->out_note.qpn, PAIR_SENDER);
    assert_int_equal(m->out_note.dest_qpn, PAIR_RECEIVER);
    assert_int_equal(m->out_note.opcode, OP_RC_SEND_ONLY);
    assert_int_equal(m->out_note.psn, PAIR_PSN);
    assert_int_equal(m->out_note.syndrome, SYN_NONE);
    assert_memory_equal(m->out, other_mac, MAC_BYTES);
}

/* The note that an answer has is asked by a fault on the receiver's ACK. */
static void an_acknowledge_is_noted_with_its_syndrome(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, machine_mac);
    const struct net_fault fault = {
        .name = ev_str("rnr"),
        .kind = FLT_DELAY,
        .match = {{NET_MATCH_ANY, OP_RC_ACKNOWLEDGE, SYN_RNR_NAK, PAIR_PSN, PAIR_SENDER}},
        .nth = 1,
        .count = UINT32_MAX,
    };
    const struct net_fault *made;
    uint64_t handle;

    assert_int_equal(net_fault_add(&m->net, &fault, &handle), RDL_OK);
    made = slots_get(&m->net.faults, handle);
    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    ring_kick(&p.sq);
    machine_run(m);
    assert_int_equal(made->hits, 2); /* rnr_retry is 1: no receive is posted */
    assert_int_equal(m->last[EV_fault].u.fault.qpn, PAIR_RECEIVER);
    net_fault_remove(&m->net, handle);
}

static void a_frame_to_the_own_mac_turns_round_in_the_port(void **state)
{
    const struct seg buffer = {BUFFER_AT, 200};
    struct machine *m = *state;
    uint32_t head, len;

    ring_post(m, &m->rx, &buffer, 0, 1);
    post_frame(m, machine_mac, 60);
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(m->n_out, 0);
    assert_int_equal(m->port.looped_frames, 1);
    assert_true(ring_used(m, &m->rx, &head, &len));
    assert_int_equal(len, 12 + 60);
    assert_int_equal(m->port.taken_frames, 1);
}

static void a_port_without_a_line_drops_what_is_sent(void **state)
{
    struct machine *m = *state;
    uint32_t head, len;

    m->port.link_end = NET_NO_LINK;
    post_frame(m, other_mac, 60);
    ring_kick(&m->tx);
    machine_run(m);
    assert_int_equal(m->port.tx_drops[DROP_NO_ROUTE], 1);
    assert_int_equal(m->last[EV_drop].u.drop.reason, DROP_NO_ROUTE);
    assert_int_equal(m->port.sent_frames, 1);
    assert_true(ring_used(m, &m->tx, &head, &len)); /* the driver has its buffer back */
}

/* Destroying takes a queue pair out of its turn; the port does not stumble over the number. */
static void a_queue_pair_that_is_gone_has_no_turn(void **state)
{
    struct machine *m = *state;
    struct pair p = machine_pair(m, other_mac);

    pair_post_send(m, &p, &(struct rfc_sq_wqe){.opcode = WR_SEND}, NULL, 0);
    m->port.egress_due = true; /* as if the line were busy */
    ring_kick(&p.sq);
    sim_dispatch(&m->sim); /* the doorbell */
    assert_int_equal(m->rdma.nic.way.ready.len, 1);
    assert_int_equal(xport_qp_destroy(&m->rdma.nic.xport, PAIR_SENDER), RSP_OK);
    eth_port_egress(&m->port);
    assert_int_equal(m->rdma.nic.way.ready.len, 0);
    machine_run(m);
    assert_int_equal(m->n_out, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(frames_are_sorted_by_mac),
        T(rocev2_goes_to_whoever_has_the_address),
        T(datagrams_to_a_group_go_to_whoever_is_in_it),
        T(a_member_gets_a_copy_of_what_its_host_sends),
        T(a_wrong_partition_is_counted_twice),
        T(a_wrong_qkey_is_counted_twice),
        T(a_packet_that_a_queue_pair_takes_is_counted_as_taken),
        cmocka_unit_test_setup_teardown(without_a_driver_nobody_takes_a_frame, machine_power_on,
                                        machine_tear_down),
        T(functions_send_in_turns),
        T(a_frame_is_noted_for_what_it_is),
        T(an_acknowledge_is_noted_with_its_syndrome),
        T(a_frame_to_the_own_mac_turns_round_in_the_port),
        T(a_port_without_a_line_drops_what_is_sent),
        T(a_queue_pair_that_is_gone_has_no_turn),
    };

    return cmocka_run_group_tests_name("port", tests, NULL, NULL);
}
