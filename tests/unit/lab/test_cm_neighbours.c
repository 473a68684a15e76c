/* SPDX-License-Identifier: MIT */
/* Messages of a connection manager to hosts whose MAC is not known yet. */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/roce.h"
#include "emu/trace/event.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "rdmalab/cm.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

#define MS       UINT64_C(1000000)
#define BUFFERS  64u /* messages that the device can have at a time */
#define MORE     5u
#define REQUESTS 50u
#define SOON_NS  50u /* several messages are sent and arrive in the time of all requests */
#define NOBODY   99u /* the last byte of an address that no host has */

#define EVERYTHING 1000000u /* of a million */

static const struct rdl_limits bounded = {.ticks = 1000000};

struct neighbours {
    struct rdl_lab *lab;
    rdl_host host[2];
    rdl_link link;
    uint8_t gid[2][GID_BYTES], mac[2][MAC_BYTES];
};

static int set_up(void **state)
{
    struct neighbours *n = test_calloc(1, sizeof(*n));
    const struct rdl_lab_config lab = {.seed = 1, .check_invariants = true};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1000};
    rdl_cm_channel channel;

    assert_int_equal(rdl_lab_new(&lab, &n->lab), RDL_OK);
    assert_int_equal(rdl_record(n->lab, 0, 0), RDL_OK);
    for (unsigned i = 0; i < 2; i++) {
        const struct rdl_host_config c = {.name = i == 0 ? "h1" : "h2", .arp = true};

        assert_int_equal(rdl_host_add(n->lab, &c, &n->host[i]), RDL_OK);
        assert_int_equal(rdl_host_address(n->lab, n->host[i], 0, n->gid[i], n->mac[i]), RDL_OK);
    }
    assert_int_equal(rdl_link_add(n->lab, &link, &n->link), RDL_OK);
    assert_int_equal(rdl_cm_create_channel(n->lab, n->host[0], NULL, &channel), RDL_OK);
    *state = n;
    return 0;
}

static int tear_down(void **state)
{
    struct neighbours *n = *state;

    rdl_lab_free(n->lab);
    test_free(n);
    return 0;
}

static void go_on(struct neighbours *n, uint64_t ms)
{
    const enum rdl_status st = rdl_run(n->lab, rdl_now_ns(n->lab) + ms * MS, bounded);

    assert_true(st == RDL_OK || st == RDL_ERR_IDLE);
}

static void lose(struct neighbours *n, uint32_t ppm)
{
    const struct rdl_link_config c = {.latency_ns = 1000, .loss_ppm = ppm};

    assert_int_equal(rdl_link_set(n->lab, n->link, &c), RDL_OK);
}

/* Sends h1 a REQ that says that it comes from @gid. */
static void inject_from(struct neighbours *n, const uint8_t gid[GID_BYTES], uint32_t comm)
{
    struct mad m = {.head = {.base_version = MAD_BASE_VERSION,
                             .mgmt_class = MAD_CLASS_CM,
                             .class_version = MAD_CM_CLASS_VERSION,
                             .method = MAD_METHOD_SEND,
                             .attr_id = CM_REQ},
                    .u.req = {.local_comm_id = comm, .local_ca_guid = comm, .local_qpn = comm}};
    struct packet p = {.ip = {.version = 4, .ttl = 64},
                       .udp_src_port = 0xc000,
                       .bth = {.opcode = OP_UD_SEND_ONLY, .pkey = 0xffff, .dest_qpn = QPN_GSI},
                       .deth = {.qkey = QKEY_GSI, .src_qpn = QPN_GSI},
                       .payload_bytes = MAD_BYTES};
    uint8_t frame[512];

    memcpy(p.eth.dst, n->mac[0], MAC_BYTES);
    memcpy(p.ip.dst, n->gid[0], GID_BYTES);
    memcpy(p.ip.src, gid, GID_BYTES);
    mad_build(&m, packet_build(&p, frame));
    packet_finish(frame, packet_frame_bytes(&p));
    assert_int_equal(rdl_inject(n->lab, n->host[0], frame, packet_frame_bytes(&p)), RDL_OK);
}

static void ask_from(struct neighbours *n, const uint8_t gid[GID_BYTES], uint32_t comm)
{
    inject_from(n, gid, comm);
    go_on(n, 1);
}

/* From now on each frame is lost.  @ret is an address that no host has. */
static void cut_off(struct neighbours *n, uint8_t ret[GID_BYTES])
{
    memcpy(ret, n->gid[1], GID_BYTES);
    ret[15] = NOBODY;
    lose(n, EVERYTHING);
}

/* So many messages of h1 wait. */
static void assert_waiting(const struct neighbours *n, uint32_t messages)
{
    struct rdl_cm_counts c;

    assert_int_equal(rdl_cm_counts(n->lab, n->host[0], &c), RDL_OK);
    assert_int_equal(c.messages, messages);
}

/* While nobody answers for one address, the message to another host waits, and is sent later. */
static void a_message_waits_for_its_own_neighbour(void **state)
{
    struct neighbours *n = *state;
    uint8_t nobody[GID_BYTES];

    cut_off(n, nobody);
    ask_from(n, nobody, 7);
    go_on(n, 1500);
    ask_from(n, n->gid[1], 8);
    assert_waiting(n, 2);
    go_on(n, 1600);
    assert_waiting(n, 1); /* the other one is lost */
    assert_int_equal(rdl_total(n->lab, EV_cm_sent), 0);
    lose(n, 0);
    go_on(n, 1000);
    assert_int_equal(rdl_total(n->lab, EV_cm_sent), 1);
    assert_int_equal(rdl_total(n->lab, EV_cm_received), 3); /* h2 hears the REJ */
    assert_waiting(n, 0);
}

/* The last message goes with its neighbour; those before it, and those that come later, stay. */
static void a_message_behind_others_is_lost_alone(void **state)
{
    struct neighbours *n = *state;
    uint8_t nobody[GID_BYTES];

    cut_off(n, nobody);
    ask_from(n, nobody, 1);
    go_on(n, 1500);
    ask_from(n, n->gid[1], 2);
    ask_from(n, n->gid[1], 3);
    ask_from(n, nobody, 4);
    assert_waiting(n, 4);
    go_on(n, 1600);
    assert_waiting(n, 2);
    ask_from(n, n->gid[1], 5);
    lose(n, 0);
    go_on(n, 1000);
    assert_int_equal(rdl_total(n->lab, EV_cm_sent), 3);
    assert_waiting(n, 0);
}

/* All buffers are at the device, which does not take them: further messages wait for a completion.
 */
static void messages_wait_for_a_free_buffer(void **state)
{
    struct neighbours *n = *state;
    struct rdl_device_fault_config c = {
        .kind = FLT_STUCK_QUEUE, .host = n->host[0], .nth = 1, .count = RDL_ANY};
    struct rdl_value queue;
    rdl_fault fault;
    size_t at;

    ask_from(n, n->gid[1], 1); /* h1 learns the MAC of h2 */
    assert_int_equal(rdl_inspect(n->lab, "h1.cm_gsi.sq.number", &queue, &at), RDL_OK);
    c.queue = (uint32_t)queue.number;
    assert_int_equal(rdl_device_fault_add(n->lab, &c, &fault), RDL_OK);
    for (uint32_t i = 0; i < BUFFERS + MORE; i++)
        ask_from(n, n->gid[1], 2 + i);
    assert_waiting(n, MORE);
    assert_int_equal(rdl_fault_remove(n->lab, fault), RDL_OK);
    go_on(n, 1);
    assert_waiting(n, 0);
    assert_int_equal(rdl_total(n->lab, EV_cm_sent), 1 + BUFFERS + MORE);
    assert_int_equal(rdl_total(n->lab, EV_cm_received), 2 * (1 + BUFFERS + MORE));
}

/* Sends a REQ from h1 to h2, for queue pair @qpn. */
static void dial(struct neighbours *n, rdl_cm_channel channel, uint32_t qpn)
{
    const struct rdl_cm_param p = {.qpn = qpn};
    struct rdl_cm_addr to = {.version = 4, .port = 7471};
    rdl_cm_id id;
    int error;

    memcpy(to.gid, n->gid[1], GID_BYTES);
    assert_int_equal(rdl_cm_create_id(n->lab, channel, PORT_SPACE_TCP, NULL, &id), RDL_OK);
    assert_int_equal(rdl_cm_resolve_addr(n->lab, id, NULL, &to, MS, &error), RDL_OK);
    assert_int_equal(rdl_cm_resolve_route(n->lab, id, &error), RDL_OK);
    assert_int_equal(rdl_cm_connect(n->lab, id, &p, &error), RDL_OK);
}

/* Returns the number of messages @message that h1 sent behind its first REJ, of the events from
 * number @first on.
 */
static uint32_t sent_behind_rej(const struct neighbours *n, size_t first, uint32_t message)
{
    uint32_t count = 0;
    bool rejected = false;

    for (size_t i = first; i < rdl_record_count(n->lab); i++) {
        const struct ev *e = rdl_record_at(n->lab, i);

        if (e->kind != EV_cm_sent || e->u.cm_sent.host != 0)
            continue;
        count += rejected && e->u.cm_sent.message == message;
        rejected = rejected || e->u.cm_sent.message == CM_REJ;
    }
    return count;
}

/* Buffers become free while h1 answers requests that came later. */
static void no_message_overtakes_one_that_waits_for_a_buffer(void **state)
{
    struct neighbours *n = *state;
    struct rdl_device_fault_config c = {
        .kind = FLT_STUCK_QUEUE, .host = n->host[0], .nth = 1, .count = RDL_ANY};
    rdl_cm_channel channel;
    struct rdl_value queue;
    rdl_fault fault;
    size_t at, first;

    ask_from(n, n->gid[1], 1); /* h1 learns the MAC of h2 */
    first = rdl_record_count(n->lab);
    assert_int_equal(rdl_cm_create_channel(n->lab, n->host[0], NULL, &channel), RDL_OK);
    assert_int_equal(rdl_inspect(n->lab, "h1.cm_gsi.sq.number", &queue, &at), RDL_OK);
    c.queue = (uint32_t)queue.number;
    assert_int_equal(rdl_device_fault_add(n->lab, &c, &fault), RDL_OK);
    for (uint32_t i = 0; i < 2 * BUFFERS; i++)
        dial(n, channel, 2 + i);
    assert_int_equal(rdl_fault_remove(n->lab, fault), RDL_OK);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        inject_from(n, n->gid[1], 100 + i);
        assert_int_equal(rdl_run(n->lab, rdl_now_ns(n->lab) + SOON_NS, bounded), RDL_OK);
    }
    go_on(n, 1);
    assert_true(sent_behind_rej(n, first, CM_REJ) > 0);
    assert_int_equal(sent_behind_rej(n, first, CM_REQ), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_message_waits_for_its_own_neighbour, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_message_behind_others_is_lost_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_wait_for_a_free_buffer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_message_overtakes_one_that_waits_for_a_buffer, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests_name("cm_neighbours", tests, NULL, NULL);
}
