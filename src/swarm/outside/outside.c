/* SPDX-License-Identifier: MIT */
/* Runs with a stranger.  h1 and h2 exchange messages.  h1 also has a queue pair of each service for
 * the stranger, who sends hostile frames through an external port.  Some batches of frames are a
 * flood of READs.
 *
 * After each batch of frames the run checks that
 *   - no invariant of the emulator is broken, and the counters that "show counters" prints add up:
 *     every received frame was taken or dropped, and every drop has a reason;
 *   - all work that was posted for the stranger has completed, on RC perhaps with an error, and no
 *     frame has ended a queue pair of another service;
 *   - the stranger has written only to the memory that h1 opened for it;
 *   - the messages between h1 and h2 arrived unchanged;
 *   - h2 can connect to h1 by rdma_cm, and the kernel of h1 has kept nothing of the stranger's
 *     messages;
 *   - h1 and h2 answer each other's pings and those of the stranger.
 * At the end it checks that the second half of the run needed no more memory than the first, except
 * for SLACK_BYTES.
 */
#include "swarm/outside/outside.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/qp_fsm.h"
#include "emu/wire/arp.h"
#include "emu/wire/eth.h"
#include "emu/wire/icmp.h"
#include "emu/wire/parse.h"
#include "rdmalab/inspect.h"
#include "rdmalab/ip.h"
#include "rdmalab/port.h"
#include "swarm/outside/outside_run.h"
#include "testbed/testbed.h"
#include "tree/tree.h"

#define BATCHES 200u
/* Memory that the second half of a run may need in addition: peaks of buffered frames, and logs of
 * completions, which are full after a thousand entries.
 */
#define SLACK_BYTES (1u << 20)

#define END_ROUNDS 20u /* rounds of waiting for the messages */
#define ROUND_NS   1000000000u

#define READS_ONE_IN 16u /* one batch in so many is a flood of READs */

#define ECHO_ID    0x6f75u /* of the stranger's pings */
#define ECHO_BYTES 32u

/* Memory that only the stranger writes, of which the middle is open to it. */
#define GUARD_BYTES 12288u
#define OPEN_AT     4097u
#define OPEN_BYTES  6000u

static const struct rdl_limits bounded = {.ticks = 1000000};

bool outside_expect(struct outside *o, bool right, const char *what)
{
    if (!right && !o->wrong)
        o->wrong = what;
    return right;
}

bool outside_works(struct outside *o, enum rdl_status st, const char *what)
{
    if (st == RDL_ERR_INVARIANT)
        what = rdl_broken_invariant(o->testbed.lab);
    return outside_expect(o, st == RDL_OK, what);
}

void outside_go_on(struct outside *o, uint64_t ns)
{
    outside_works(o, rdl_run(o->testbed.lab, rdl_now_ns(o->testbed.lab) + ns, bounded),
                  "the lab goes on");
}

void outside_receive(struct outside *o, const uint8_t *frame, size_t n)
{
    outside_works(o, rdl_port_receive(o->testbed.lab, o->testbed.out, frame, n),
                  "a port takes any frame");
    o->frames++;
}

/* --- Messages between h1 and h2 --------------------------------------------------------------- */

/* Offset of message @i that a host sends; received messages follow those that are sent. */
static uint64_t send_at(uint32_t i)
{
    return (uint64_t)i * MESSAGE_BYTES;
}

static uint64_t recv_at(uint32_t i)
{
    return send_at(MESSAGES + i);
}

static void make_message(const struct outside *o, unsigned side, uint32_t i,
                         uint8_t out[MESSAGE_BYTES])
{
    struct prng rng = prng_stream(o->seed + o->batch, 1000u + side * MESSAGES + i);

    for (uint32_t k = 0; k < MESSAGE_BYTES; k++)
        out[k] = (uint8_t)prng_next(&rng);
}

/* Posts all messages of a batch, before its frames arrive. */
static void post_messages(struct outside *o)
{
    uint8_t bytes[MESSAGE_BYTES];

    for (unsigned side = 0; side < 2; side++) {
        const struct testbed_side *s = &o->testbed.side[side];

        for (uint32_t i = 0; i < MESSAGES; i++) {
            make_message(o, side, i, bytes);
            outside_works(o,
                          testbed_recv(&o->testbed, side, MESSAGES + i, recv_at(i), MESSAGE_BYTES),
                          "a receive can be posted");
            outside_works(o,
                          rdl_mem_write(o->testbed.lab, s->host, s->mem.addr + send_at(i), bytes,
                                        MESSAGE_BYTES),
                          "memory can be written");
            outside_works(
                o, testbed_send(&o->testbed, side, i, send_at(i), MESSAGE_BYTES, SF_SIGNALED),
                "a send can be posted");
        }
    }
}

/* Polls the completions of @side.  Returns how many there were. */
static uint32_t poll_side(struct outside *o, unsigned side)
{
    struct rdl_wc wc[2 * MESSAGES];
    size_t n = 0;

    outside_works(o, rdl_poll_cq(o->testbed.lab, o->testbed.side[side].cq, ARRAY_LEN(wc), wc, &n),
                  "a CQ can be polled");
    for (size_t i = 0; i < n; i++)
        outside_expect(o, wc[i].status == WCS_SUCCESS,
                       "a stranger does not end others' connections");
    return (uint32_t)n;
}

static void check_messages(struct outside *o)
{
    uint8_t want[MESSAGE_BYTES], have[MESSAGE_BYTES];

    for (unsigned side = 0; side < 2; side++) {
        const struct testbed_side *s = &o->testbed.side[side];

        for (uint32_t i = 0; i < MESSAGES; i++) {
            make_message(o, 1 - side, i, want);
            outside_works(o,
                          rdl_mem_read(o->testbed.lab, s->host, s->mem.addr + recv_at(i), have,
                                       MESSAGE_BYTES),
                          "memory can be read");
            outside_expect(o, memcmp(want, have, MESSAGE_BYTES) == 0,
                           "what is received is what was sent");
            make_message(o, side, i, want);
            outside_works(o,
                          rdl_mem_read(o->testbed.lab, s->host, s->mem.addr + send_at(i), have,
                                       MESSAGE_BYTES),
                          "memory can be read");
            outside_expect(o, memcmp(want, have, MESSAGE_BYTES) == 0,
                           "what is sent stays as it is");
        }
    }
}

/* Checks that the memory around the open part is still zero. */
static void check_guard(struct outside *o)
{
    uint8_t have[GUARD_BYTES];

    outside_works(
        o, rdl_mem_read(o->testbed.lab, o->testbed.side[0].host, o->guard_at, have, sizeof(have)),
        "memory can be read");
    memset(have + OPEN_AT, 0, OPEN_BYTES);
    for (uint32_t i = 0; i < GUARD_BYTES; i++)
        outside_expect(o, have[i] == 0, "a stranger writes nothing but what it may");
}

static void finish_messages(struct outside *o)
{
    uint32_t n = 0;

    for (uint32_t round = 0; round < END_ROUNDS && !o->wrong && n < 4 * MESSAGES; round++) {
        outside_go_on(o, ROUND_NS);
        n += poll_side(o, 0) + poll_side(o, 1);
    }
    outside_expect(o, n == 4 * MESSAGES, "the traffic of the lab goes on");
}

/* --- Pings ------------------------------------------------------------------------------------ */

/* Pings the other host from @side.  Returns true if it was answered. */
static bool ping_other(struct outside *o, unsigned side)
{
    struct rdl_ping_config c = {.bytes = ECHO_BYTES};
    struct rdl_ping_result r;
    rdl_ping_id ping;

    memcpy(c.address, o->hostile.host[1 - side].gid[prng_below(&o->rng, 2)], GID_BYTES);
    return outside_works(o, rdl_ping(o->testbed.lab, o->testbed.side[side].host, &c, &ping),
                         "a host can ping") &&
           outside_works(o, rdl_ping_wait(o->testbed.lab, ping, bounded), "a ping ends") &&
           rdl_ping_result(o->testbed.lab, ping, &r) == RDL_OK;
}

/* A stranger that uses a host's MAC misleads the switch until that host sends again.  The first
 * pings may therefore be lost.
 */
static void ping_each_other(struct outside *o)
{
    (void)ping_other(o, 0);
    (void)ping_other(o, 1);
    for (unsigned side = 0; side < 2; side++)
        outside_expect(o, ping_other(o, side), "the hosts of a lab answer each other");
}

/* Counts the frame if it is the reply to the stranger's ping, and reads messages. */
static void on_frame(void *ctx, const void *bytes, size_t n)
{
    struct outside *o = ctx;
    struct rd_cur in = rd_cur(bytes, n);
    struct eth eth;
    struct ip ip;
    struct icmp icmp;
    struct icmp_echo echo;

    if (eth_parse(&eth, &in) == DROP_NONE && eth.ethertype == ETHERTYPE_IPV4 &&
        ip_parse(&ip, &in) == DROP_NONE && icmp_parse(&icmp, &ip, &in) == DROP_NONE &&
        icmp_echo_parse(&echo, &icmp, &in) == DROP_NONE && echo.reply && echo.id == ECHO_ID &&
        echo.seq == o->echo_seq)
        o->echo_replies++;
    hostile_hear(&o->hostile, bytes, n);
}

/* Sends an ARP request to host @i, from which it learns the stranger's real MAC, and then a ping.
 */
static void ping_from_outside(struct outside *o, size_t i)
{
    const struct hostile_station *self = &o->hostile.self, *host = &o->hostile.host[i];
    static const uint8_t data[ECHO_BYTES];
    const struct icmp_echo echo = {
        .id = ECHO_ID, .seq = ++o->echo_seq, .data = data, .data_bytes = ECHO_BYTES};
    struct ip ip = {.version = 4,
                    .ttl = 64,
                    .protocol = IP_PROTOCOL_ICMP,
                    .payload_bytes = ICMP_ECHO_BYTES + ECHO_BYTES};
    struct eth eth = {.ethertype = ETHERTYPE_ARP};
    struct arp arp = {.reply = false};
    uint8_t frame[ETH_BYTES + IPV4_BYTES + ICMP_ECHO_BYTES + ECHO_BYTES];
    struct wr_cur out = wr_cur(frame, sizeof(frame));

    o->echo_replies = 0;
    memcpy(eth.dst, host->mac, MAC_BYTES);
    memcpy(eth.src, self->mac, MAC_BYTES);
    memcpy(arp.sender_mac, self->mac, MAC_BYTES);
    memcpy(arp.sender, self->gid[0], GID_BYTES);
    memcpy(arp.target, host->gid[0], GID_BYTES);
    eth_build(&eth, &out);
    arp_build(&arp, &out);
    outside_receive(o, frame, ETH_BYTES + ARP_BYTES);

    out = wr_cur(frame, sizeof(frame));
    eth.ethertype = ETHERTYPE_IPV4;
    memcpy(ip.src, self->gid[0], GID_BYTES);
    memcpy(ip.dst, host->gid[0], GID_BYTES);
    eth_build(&eth, &out);
    ip_build(&ip, &out);
    icmp_echo_build(&echo, &ip, &out);
    outside_receive(o, frame, sizeof(frame));
    outside_go_on(o, GAP_NS);
    outside_expect(o, o->echo_replies == 1, "the hosts of the lab answer the outside");
}

/* --- Counters --------------------------------------------------------------------------------- */

static void add_leaf(void *ctx, const char *key, const struct rdl_value *v)
{
    (void)key;
    *(uint64_t *)ctx += v->number;
}

/* The places that count received frames. */
static const struct frame_place {
    enum child_id place, drops;
    enum leaf_id rcvd, taken;
} places[] = {
    {CHILD_host_port, CHILD_port_drops, LEAF_port_rcvd_frames, LEAF_port_taken_frames},
    {CHILD_host_ip, CHILD_ip_drops, LEAF_ip_rcvd_frames, LEAF_ip_taken_frames},
};

/* Checks that every frame received at @p of @host was taken, or dropped with a reason. */
static void check_place(struct outside *o, const char *host, const struct frame_place *p)
{
    const struct rdl_lab *lab = o->testbed.lab;
    char place[TREE_PATH_BYTES], reasons[TREE_PATH_BYTES];
    uint64_t drops = 0;
    size_t at;

    (void)tree_child(lab, host, p->place, place);
    (void)tree_child(lab, place, p->drops, reasons);
    outside_works(o, rdl_inspect_list(lab, reasons, add_leaf, &drops, &at), "drops have names");
    outside_expect(o, tree_number(lab, place, p->rcvd) == tree_number(lab, place, p->taken) + drops,
                   "what is received is taken, or dropped under a name");
}

static void check_sums(struct outside *o)
{
    static const char *const hosts[] = {"h1", "h2"};
    const struct rdl_lab *lab = o->testbed.lab;
    char device[TREE_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        for (size_t k = 0; k < ARRAY_LEN(places); k++)
            check_place(o, hosts[i], &places[k]);
        (void)tree_child(lab, hosts[i], CHILD_host_device, device);
        outside_expect(o, !tree_number(lab, device, LEAF_device_needs_reset),
                       "no frame breaks a device");
    }
    outside_expect(o, tree_number(lab, "out", LEAF_external_port_in_frames) == o->frames,
                   "every frame that comes in is counted");
}

/* --- A run ------------------------------------------------------------------------------------ */

static void run_batch(struct outside *o)
{
    stranger_connect(o);
    post_messages(o);
    if (o->batch == 0)
        stranger_overfill(o);
    if (prng_below(&o->rng, READS_ONE_IN) == 0)
        stranger_flood_reads(o);
    else
        stranger_flood(o);
    if (o->wrong)
        return;
    stranger_disconnect(o);
    ping_each_other(o);
    finish_messages(o);
    check_messages(o);
    check_guard(o);
    outside_cm_check(o);
    for (size_t i = 0; i < HOSTILE_HOSTS; i++)
        ping_from_outside(o, i);
    check_sums(o);
}

/* Allocates memory on h1 and opens its middle to the stranger. */
static enum rdl_status open_memory(struct outside *o)
{
    const struct testbed_side *s = &o->testbed.side[0];
    struct hostile *h = &o->hostile;
    struct rdl_mr_info info;
    rdl_mr mr;
    enum rdl_status st = rdl_mem_alloc(o->testbed.lab, s->host, GUARD_BYTES, &o->guard_at);

    if (st == RDL_OK)
        st = rdl_reg_mr(o->testbed.lab, s->pd, o->guard_at + OPEN_AT, OPEN_BYTES,
                        ACC_LOCAL_WRITE | REMOTE_RIGHTS, "open", &mr);
    if (st == RDL_OK)
        st = testbed_wait(&o->testbed, 0);
    if (st == RDL_OK)
        st = rdl_mr_info(o->testbed.lab, mr, &info);
    if (st != RDL_OK)
        return st;
    h->open_at = info.addr;
    h->open_bytes = OPEN_BYTES;
    h->open_rkey = info.rkey;
    return RDL_OK;
}

/* Creates the stranger's queue pairs and sets all addresses. */
static enum rdl_status make_stranger(struct outside *o)
{
    struct testbed *r = &o->testbed;
    struct hostile *h = &o->hostile;
    enum rdl_status st = stranger_make(o);

    if (st != RDL_OK)
        return st;
    memcpy(h->self.mac, "\x02\0\0\0\0\x77", MAC_BYTES);
    (void)addr_parse("10.0.0.77", h->self.gid[0]);
    (void)addr_parse("fe80::ff:fe00:77", h->self.gid[1]);
    for (uint32_t i = 0; i < HOSTILE_HOSTS && st == RDL_OK; i++) {
        for (uint32_t k = 0; k < 2 && st == RDL_OK; k++)
            st = rdl_host_address(r->lab, r->side[i].host, k, h->host[i].gid[k], h->host[i].mac);
    }
    return st == RDL_OK ? rdl_port_read(r->lab, r->out, on_frame, o) : st;
}

static enum rdl_status build(struct outside *o, bool named)
{
    const struct testbed_config c = {
        .seed = o->seed,
        .check_invariants = true,
        .outside = true,
        .mr_bytes = STRANGER_AT + MESSAGE_BYTES,
        .hash = named, /* a listener to all events gets the names of objects, too */
        .max_wr = MESSAGES,
        .path_mtu = MTU_1024,
        .timeout = 17, /* seven timeouts last longer than the time in which pings may be lost */
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
        .latency_ns = 1000,
    };
    enum rdl_status st = testbed_init(&o->testbed, &c);

    if (st == RDL_OK)
        st = open_memory(o);
    if (st == RDL_OK)
        st = make_stranger(o);
    return st == RDL_OK ? outside_cm_make(o) : st;
}

bool swarm_outside(struct swarm_outside_run *run)
{
    const uint64_t seed = run->seed;
    struct outside o = {
        .seed = seed, .rng = prng_stream(seed, 0), .hostile.rng = prng_stream(seed, 1)};
    struct rdl_listener *listener = NULL;
    size_t half_bytes = 0;

    outside_works(&o, build(&o, run->print || run->hashed), "the hosts and the port can be set up");
    if (run->print && !o.wrong)
        outside_works(&o, rdl_listen(o.testbed.lab, run->print, o.testbed.lab, &listener),
                      "the lab can be listened to");
    for (; o.batch < BATCHES && !o.wrong; o.batch++) {
        if (o.batch == BATCHES / 2)
            half_bytes = rdl_used_bytes(o.testbed.lab);
        run_batch(&o);
    }
    if (!o.wrong)
        outside_expect(&o, rdl_used_bytes(o.testbed.lab) <= half_bytes + SLACK_BYTES,
                       "the memory of a lab does not grow with the frames that it has seen");
    run->ret_invariant = o.testbed.lab && rdl_broken_invariant(o.testbed.lab);
    run->ret_hash = o.testbed.lab && run->hashed ? rdl_hash(o.testbed.lab) : 0;
    rdl_unlisten(o.testbed.lab, listener);
    if (o.wrong)
        printf("seed %llu: %s\n  again: rdmalab swarm --outside --seed %llu --events\n",
               (unsigned long long)seed, o.wrong, (unsigned long long)seed);
    testbed_done(&o.testbed);
    return !o.wrong;
}
