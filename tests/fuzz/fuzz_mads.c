/* SPDX-License-Identifier: MIT */
/* Messages of a connection manager that no correct peer sends, and calls of programs between them.
 *
 * h1 listens, and asks h2 for a connection; both have a kernel with rdma_cm.  The lab is made once;
 * each input starts at a checkpoint.  An input is a list of actions, each a byte and its operands:
 * a datagram to QPN 1 of h1 that seems to be h2's, right but for some bytes, or arbitrary; a call
 * for an ID; time.  The communication IDs of h1 are known to it.
 *
 * Checked: no invariant breaks; a message that can be read is built as it was, but for reserved
 * bits; an event is there if one was promised; when all IDs are destroyed, both kernels come to
 * rest, and nothing is left in them.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/roce.h"
#include "emu/lab/lab_state.h"
#include "emu/wire/packet.h"
#include "fuzz.h"
#include "input.h"
#include "rdmalab/cm.h"
#include "rdmalab/fault.h"
#include "swarm/outside/hostile.h"
#include "testbed/testbed.h"

#define DEEDS_MAX 48u
#define IDS_MAX   (DEEDS_MAX + 8u)
#define NS_SHORT  2000u
#define NS_ADDR   UINT64_C(2000000000)

enum deed { MESSAGE, MESSAGE_LIKE, DATAGRAM, CALL, EVENTS, WAIT, WAIT_LONG, DEED_COUNT };
enum call { ACCEPT, ESTABLISH, REJECT, DISCONNECT, NOTIFY, CONNECT, DESTROY, CALL_COUNT };

static const struct rdl_limits bounded = {.ticks = 1000000};

/* The lab, and the state of an input. */
static struct bed {
    struct testbed testbed;
    struct rdl_checkpoint *begin;
    rdl_cm_channel channel;
    struct hostile hostile; /* h2, as h1 sees it */
    rdl_cm_id ids[IDS_MAX];
    uint32_t n_ids, n_first; /* those of the checkpoint come first */
} bed;

static void go_on(uint64_t ns)
{
    const enum rdl_status st = rdl_run(bed.testbed.lab, rdl_now_ns(bed.testbed.lab) + ns, bounded);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_IDLE);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static rdl_cm_id create(uint32_t space)
{
    rdl_cm_id id;

    FUZZ_CHECK(rdl_cm_create_id(bed.testbed.lab, bed.channel, space, NULL, &id) == RDL_OK);
    bed.ids[bed.n_ids++] = id;
    return id;
}

static void listen_at(uint32_t space)
{
    const struct rdl_cm_addr any = {.version = 6, .port = HOSTILE_PORT};
    const rdl_cm_id id = create(space);
    int error;

    FUZZ_CHECK(rdl_cm_bind(bed.testbed.lab, id, &any, &error) == RDL_OK);
    FUZZ_CHECK(rdl_cm_listen(bed.testbed.lab, id, 3, &error) == RDL_OK);
}

/* A client whose route is known. */
static void add_client(uint32_t space)
{
    struct rdl_cm_addr to = {.version = 4, .port = HOSTILE_PORT};
    const rdl_cm_id id = create(space);
    int error;

    memcpy(to.gid, bed.hostile.self.gid[0], GID_BYTES);
    FUZZ_CHECK(rdl_cm_resolve_addr(bed.testbed.lab, id, NULL, &to, NS_ADDR, &error) == RDL_OK);
    go_on(NS_SHORT);
    FUZZ_CHECK(rdl_cm_resolve_route(bed.testbed.lab, id, &error) == RDL_OK);
}

static void add_station(struct hostile_station *station, unsigned side)
{
    for (uint32_t i = 0; i < 2; i++)
        FUZZ_CHECK(rdl_host_address(bed.testbed.lab, bed.testbed.side[side].host, i,
                                    station->gid[i], station->mac) == RDL_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const struct testbed_config c = {.seed = 1,
                                     .check_invariants = true,
                                     .mr_bytes = 4096,
                                     .max_wr = 4,
                                     .path_mtu = MTU_1024,
                                     .latency_ns = 1000};

    (void)argc;
    (void)argv;
    FUZZ_CHECK(testbed_init(&bed.testbed, &c) == RDL_OK);
    add_station(&bed.hostile.host[0], 0);
    add_station(&bed.hostile.host[1], 1);
    bed.hostile.self = bed.hostile.host[1];
    FUZZ_CHECK(rdl_cm_create_channel(bed.testbed.lab, bed.testbed.side[0].host, NULL,
                                     &bed.channel) == RDL_OK);
    listen_at(PORT_SPACE_TCP);
    listen_at(PORT_SPACE_UDP);
    add_client(PORT_SPACE_TCP);
    add_client(PORT_SPACE_TCP);
    add_client(PORT_SPACE_UDP);
    bed.n_first = bed.n_ids;
    FUZZ_CHECK(rdl_checkpoint_save(bed.testbed.lab, &bed.begin) == RDL_OK);
    return 0;
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Reading what was built leads to the same bytes. */
static void check_message(const uint8_t bytes[MAD_BYTES])
{
    uint8_t once[MAD_BYTES], twice[MAD_BYTES];
    struct mad m;

    if (!mad_parse(&m, bytes))
        return;
    mad_build(&m, once);
    FUZZ_CHECK(mad_parse(&m, once));
    mad_build(&m, twice);
    FUZZ_CHECK(memcmp(once, twice, MAD_BYTES) == 0);
}

static void deliver(const uint8_t *mad, uint32_t bytes)
{
    const struct hostile *h = &bed.hostile;
    struct packet p = {.ip = {.version = 4, .ttl = 64},
                       .udp_src_port = 0xc000,
                       .bth = {.opcode = OP_UD_SEND_ONLY, .pkey = 0xffff, .dest_qpn = QPN_GSI},
                       .deth = {.qkey = QKEY_GSI, .src_qpn = QPN_GSI},
                       .payload_bytes = bytes};
    uint8_t frame[1024];

    memcpy(p.eth.dst, h->host[0].mac, MAC_BYTES);
    memcpy(p.eth.src, h->self.mac, MAC_BYTES);
    memcpy(p.ip.src, h->self.gid[0], GID_BYTES);
    memcpy(p.ip.dst, h->host[0].gid[0], GID_BYTES);
    memcpy(packet_build(&p, frame), mad, bytes);
    packet_finish(frame, packet_frame_bytes(&p));
    FUZZ_CHECK(rdl_inject(bed.testbed.lab, bed.testbed.side[0].host, frame,
                          packet_frame_bytes(&p)) == RDL_OK);
}

/* A message of a peer that knows the IDs of h1; the input chooses which one it is. */
static void draw_message(struct input *in, uint8_t mad[MAD_BYTES])
{
    const struct ib_cm *cm = &bed.testbed.lab->state->hosts[0]->guest.cm.ib;
    const uint32_t from = 1 + input_u8(in) % (cm->next ? cm->next : 1);

    for (uint32_t i = 0; i < HOSTILE_COMMS; i++)
        bed.hostile.comm[i] = (from + i % 2) ^ cm->operand;
    bed.hostile.rng = prng_stream(input_u16(in), 0);
    hostile_mad(&bed.hostile, mad);
}

static void send_message(struct input *in, bool changed)
{
    uint8_t mad[MAD_BYTES];

    draw_message(in, mad);
    for (uint32_t n = changed ? input_u8(in) % 8u : 0; n > 0; n--) {
        const uint8_t at = input_u8(in);

        mad[at] = input_u8(in);
    }
    check_message(mad);
    deliver(mad, MAD_BYTES);
}

/* Any bytes, of any length. */
static void send_datagram(struct input *in)
{
    const uint32_t n = input_u8(in);
    uint8_t bytes[MAD_BYTES + UINT8_MAX] = {MAD_BASE_VERSION, MAD_CLASS_CM, MAD_CM_CLASS_VERSION,
                                            MAD_METHOD_SEND};

    for (uint32_t i = 0; i < n; i++)
        bytes[i] = input_u8(in);
    check_message(bytes);
    deliver(bytes, n % 4 == 0 ? MAD_BYTES : n + (n & 1u) * MAD_BYTES);
}

/* --- Programs --------------------------------------------------------------------------------- */

static void take_events(void)
{
    struct rdl_lab *lab = bed.testbed.lab;
    struct rdl_cm_event e;
    size_t n = 1;

    while (rdl_cm_pending(lab, bed.channel) > 0) {
        FUZZ_CHECK(rdl_cm_get_event(lab, bed.channel, NULL, &e, &n) == RDL_OK && n == 1);
        FUZZ_CHECK(rdl_cm_ack_event(lab, bed.channel) == RDL_OK);
        if (e.kind != RDMA_CM_EVENT_CONNECT_REQUEST)
            continue;
        FUZZ_CHECK(bed.n_ids < IDS_MAX);
        bed.ids[bed.n_ids++] = e.id;
    }
    FUZZ_CHECK(rdl_cm_get_event(lab, bed.channel, NULL, &e, &n) == RDL_OK && n == 0);
}

static enum rdl_status call(rdl_cm_id id, enum call which, struct input *in)
{
    struct rdl_lab *lab = bed.testbed.lab;
    struct rdl_cm_param p = {.qpn = HOSTILE_CM_QPN, .private_bytes = input_u8(in)};
    int error;

    p.private_bytes = p.private_bytes % 64;
    switch (which) {
    case ACCEPT:
        return rdl_cm_accept(lab, id, &p, &error);
    case ESTABLISH:
        return rdl_cm_accept(lab, id, NULL, &error);
    case REJECT:
        return rdl_cm_reject(lab, id, p.private_data, p.private_bytes, &error);
    case DISCONNECT:
        return rdl_cm_disconnect(lab, id, &error);
    case NOTIFY:
        return rdl_cm_notify(lab, id, &error);
    case CONNECT:
        return rdl_cm_connect(lab, id, &p, &error);
    case DESTROY:
    case CALL_COUNT:
        break;
    }
    return rdl_cm_destroy_id(lab, id);
}

static void do_call(struct input *in)
{
    const uint32_t i = input_u8(in) % bed.n_ids;
    const enum rdl_status st = call(bed.ids[i], (enum call)(input_u8(in) % CALL_COUNT), in);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_ERRNO || st == RDL_ERR_STALE);
}

static void do_one(struct input *in)
{
    switch ((enum deed)(input_u8(in) % DEED_COUNT)) {
    case MESSAGE:
        send_message(in, false);
        break;
    case MESSAGE_LIKE:
        send_message(in, true);
        break;
    case DATAGRAM:
        send_datagram(in);
        break;
    case CALL:
        do_call(in);
        break;
    case EVENTS:
        take_events();
        break;
    case WAIT:
        go_on(NS_SHORT);
        break;
    case WAIT_LONG:
        go_on((uint64_t)input_u16(in) << 21); /* up to 137 s */
        break;
    case DEED_COUNT:
        break;
    }
}

static void check_nothing_left(void)
{
    struct rdl_lab *lab = bed.testbed.lab;
    struct rdl_cm_counts n;

    take_events();
    for (uint32_t i = 0; i < bed.n_ids; i++) {
        const enum rdl_status st = rdl_cm_destroy_id(lab, bed.ids[i]);

        FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_STALE);
        FUZZ_CHECK(rdl_cm_destroy_id(lab, bed.ids[i]) == RDL_ERR_STALE);
    }
    FUZZ_CHECK(rdl_cm_pending(lab, bed.channel) == 0);
    FUZZ_CHECK(rdl_run(lab, RDL_NEVER, bounded) == RDL_OK);
    for (unsigned side = 0; side < 2; side++) {
        FUZZ_CHECK(rdl_cm_counts(lab, bed.testbed.side[side].host, &n) == RDL_OK);
        FUZZ_CHECK(n.ids == 0 && n.comm_ids == 0 && n.services == 0 && n.messages == 0);
    }
    FUZZ_CHECK(rdl_cm_destroy_channel(lab, bed.channel) == RDL_OK);
    FUZZ_CHECK(!rdl_broken_invariant(lab));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};

    rdl_checkpoint_restore(bed.testbed.lab, bed.begin);
    bed.n_ids = bed.n_first;
    for (uint32_t i = 0; i < DEEDS_MAX && in.n > 0; i++)
        do_one(&in);
    go_on(NS_SHORT);
    check_nothing_left();
    return 0;
}
