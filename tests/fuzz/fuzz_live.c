/* SPDX-License-Identifier: MIT */
/* Frames from a stranger behind an external port of a running lab.
 *
 * The lab is that of `rdmalab swarm --outside`: h1 and h2 send each other messages, and h1 has a
 * queue pair of each service for the stranger, with work posted.  The lab is made once; each input
 * starts at a checkpoint.  An input is a list of records:
 *
 *	byte 0		set of enum record_bit
 *	byte 1-2	number of bytes that follow, big endian
 *	...		the frame
 *
 * With RECORD_PSN and none of the stranger's queue pairs as destination, a frame is sent to the
 * queue pair between h1 and h2, which must detect that it comes from another host.  The stranger
 * sends no RoCEv2 packets from an address of the lab: forging those can end connections, which is
 * no finding.
 *
 * Checked: every frame is counted; no invariant breaks; no queue pair of an unreliable service
 * ends; everything posted completes once; only memory that h1 lets the stranger write is written;
 * the messages between h1 and h2 arrive whole; both answer each other's pings; memory is bounded.
 */
#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/wire/packet.h"
#include "frame_repair.h"
#include "fuzz.h"
#include "rdmalab/ip.h"
#include "rdmalab/port.h"
#include "swarm/outside/outside_run.h"
#include "testbed/testbed.h"
#include "tree/tree.h"

/* How a frame is changed before it comes in, and what happens before that. */
enum record_bit {
    RECORD_REPAIR = REPAIR_LENGTHS | REPAIR_SUMS | REPAIR_ICRC, /* a mask: these as they are */
    RECORD_PSN = 1u << 3,      /* its PSN is near the one that is expected */
    RECORD_WAIT = 1u << 4,     /* what came before it arrives first */
    RECORD_WAIT_LONG = 1u << 5 /* timers run out before it */
};
#define RECORD_QP_SHIFT   6u /* two bits: 1 + enum hostile_qp that it goes to; 0: whom it says */
#define RECORD_HEAD_BYTES 3u

#define PSN_NEAR   8u /* with RECORD_PSN, it is one of so many, */
#define PSN_BEHIND 2u /* which begin so far behind the expected one */

#define FRAMES_MAX  48u
#define WAIT_NS     10000u
#define WAIT_LONG   2000000u
#define ROUNDS      20u /* of waiting for messages */
#define ROUND_NS    1000000000u
#define GUARD_BYTES 12288u
#define OPEN_AT     4097u
#define OPEN_BYTES  6000u
/* A port may hold 4 MiB, which is there twice on the way. */
#define GROWTH_MAX (UINT64_C(12) << 20)

static const struct rdl_limits bounded = {.ticks = 1000000};

/* The one thing that outlives an input: the lab, and how it was. */
static struct bed {
    struct outside o, begin;
    struct rdl_checkpoint *start;
    size_t used_bytes;
} bed;

static struct outside *const o = &bed.o;

/* --- The lab ---------------------------------------------------------------------------------- */

static void open_memory(void)
{
    const struct testbed_side *s = &o->testbed.side[0];
    struct rdl_mr_info info;
    rdl_mr mr;

    must(rdl_mem_alloc(o->testbed.lab, s->host, GUARD_BYTES, &o->guard_at));
    must(rdl_reg_mr(o->testbed.lab, s->pd, o->guard_at + OPEN_AT, OPEN_BYTES,
                    ACC_LOCAL_WRITE | REMOTE_RIGHTS, "open", &mr));
    must(testbed_wait(&o->testbed, 0));
    must(rdl_mr_info(o->testbed.lab, mr, &info));
    o->hostile.open_at = info.addr;
    o->hostile.open_bytes = OPEN_BYTES;
    o->hostile.open_rkey = info.rkey;
}

static void name_everybody(void)
{
    struct hostile *h = &o->hostile;

    memcpy(h->self.mac, "\x02\0\0\0\0\x77", MAC_BYTES);
    (void)addr_parse("10.0.0.77", h->self.gid[0]);
    (void)addr_parse("fe80::ff:fe00:77", h->self.gid[1]);
    for (uint32_t i = 0; i < HOSTILE_HOSTS; i++) {
        for (uint32_t k = 0; k < 2; k++)
            must(rdl_host_address(o->testbed.lab, o->testbed.side[i].host, k, h->host[i].gid[k],
                                  h->host[i].mac));
    }
}

/* Message @i of @side is at i * MESSAGE_BYTES; those that it receives follow. */
static uint8_t message_byte(unsigned side, uint32_t i, uint32_t k)
{
    return (uint8_t)(1u + (side * 101u + i * 31u + k * 7u) % 255u);
}

static void post_messages(void)
{
    uint8_t bytes[MESSAGE_BYTES];

    for (unsigned side = 0; side < 2; side++) {
        const struct testbed_side *s = &o->testbed.side[side];

        for (uint32_t i = 0; i < MESSAGES; i++) {
            const uint64_t at = (uint64_t)i * MESSAGE_BYTES;

            for (uint32_t k = 0; k < MESSAGE_BYTES; k++)
                bytes[k] = message_byte(side, i, k);
            must(rdl_mem_write(o->testbed.lab, s->host, s->mem.addr + at, bytes, MESSAGE_BYTES));
            must(testbed_recv(&o->testbed, side, i, at + (uint64_t)MESSAGES * MESSAGE_BYTES,
                              MESSAGE_BYTES));
            must(testbed_send(&o->testbed, side, i, at, MESSAGE_BYTES, SF_SIGNALED));
        }
    }
}

/* Reads the PSNs that would be right now. */
static void look(void)
{
    static const char *const paths[HOSTILE_QPS] = {"h1.stranger", "h1.stranger_uc",
                                                   "h1.stranger_ud"};

    for (unsigned i = 0; i < HOSTILE_QPS; i++)
        o->hostile.expected[i].v =
            (uint32_t)tree_number(o->testbed.lab, paths[i], LEAF_qp_rq_psn) & PSN_MASK;
    o->hostile.acked.v =
        (uint32_t)tree_number(o->testbed.lab, paths[HOSTILE_RC], LEAF_qp_acked_psn) & PSN_MASK;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const struct testbed_config c = {
        .seed = 1,
        .check_invariants = true,
        .outside = true,
        .mr_bytes = STRANGER_AT + MESSAGE_BYTES,
        .max_wr = MESSAGES,
        .path_mtu = MTU_1024,
        .timeout = 17, /* times 7: longer than the pings that go astray */
        .retry_cnt = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
        .latency_ns = 1000,
    };

    (void)argc;
    (void)argv;
    bed.o = (struct outside){.seed = 1, .rng = prng_stream(1, 0)};
    must(testbed_init(&o->testbed, &c));
    open_memory();
    must(stranger_make(o));
    name_everybody();
    stranger_connect(o);
    post_messages();
    look();
    FUZZ_CHECK(!o->wrong);
    must(rdl_checkpoint_save(o->testbed.lab, &bed.start));
    bed.begin = bed.o;
    bed.used_bytes = rdl_used_bytes(o->testbed.lab);
    return 0;
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* Where the headers of a frame are that may be RoCEv2's. */
struct roce {
    uint8_t *src, *bth;
    size_t gid_at, gid_bytes; /* what @src has of a GID */
    unsigned gid_index;
};

static bool find_roce(uint8_t *frame, size_t n, struct roce *ret)
{
    const unsigned ethertype = n >= ETH_BYTES ? ld_be16(frame + ETH_ETHERTYPE_AT) : 0;
    const bool v6 = ethertype == ETHERTYPE_IPV6;
    uint8_t *ip = frame + ETH_BYTES;

    if ((!v6 && ethertype != ETHERTYPE_IPV4) ||
        n < ETH_BYTES + ip_header_bytes(v6 ? 6 : 4) + UDP_BYTES + BTH_BYTES)
        return false;
    if (ip[v6 ? 6 : 9] != IP_PROTOCOL_UDP)
        return false;
    *ret = (struct roce){.src = ip + (v6 ? 8 : 12),
                         .bth = ip + ip_header_bytes(v6 ? 6 : 4) + UDP_BYTES,
                         .gid_at = v6 ? 0 : GID_IPV4_AT,
                         .gid_bytes = v6 ? GID_BYTES : GID_BYTES - GID_IPV4_AT,
                         .gid_index = v6};
    return true;
}

static void disown(const struct roce *r)
{
    for (size_t i = 0; i < HOSTILE_HOSTS; i++) {
        const uint8_t *theirs = o->hostile.host[i].gid[r->gid_index] + r->gid_at;

        if (memcmp(r->src, theirs, r->gid_bytes) == 0)
            memcpy(r->src, o->hostile.self.gid[r->gid_index] + r->gid_at, r->gid_bytes);
    }
}

static void set_low24(uint8_t word[4], uint32_t v)
{
    st_be32(word, (ld_be32(word) & ~BTH_LOW24) | (v & BTH_LOW24));
}

/* Sets the number of the queue pair, and the PSN, as the flags of its record ask for. */
static void aim(const struct roce *r, unsigned flags)
{
    const unsigned which = flags >> RECORD_QP_SHIFT;
    struct bth bth;
    uint32_t from;

    bth_read(&bth, r->bth);
    if (which > 0)
        set_low24(r->bth + 4, o->hostile.qpn[which - 1]);
    if (!(flags & RECORD_PSN))
        return;
    if (which == 0) {
        set_low24(r->bth + 4, o->testbed.side[0].qpn);
        from = (uint32_t)tree_number(o->testbed.lab, "h1.qp", LEAF_qp_rq_psn);
    } else {
        look();
        from = o->hostile.expected[which - 1].v;
        if (bth.opcode >= OP_RC_RDMA_READ_RESPONSE_FIRST && bth.opcode <= OP_RC_ATOMIC_ACKNOWLEDGE)
            from = o->hostile.acked.v;
    }
    set_low24(r->bth + 8, from + bth.psn.v % PSN_NEAR - PSN_BEHIND);
}

static void send_frame(unsigned flags, const uint8_t *bytes, size_t n)
{
    struct roce r;

    if (flags & RECORD_WAIT_LONG)
        outside_go_on(o, WAIT_LONG);
    else if (flags & RECORD_WAIT)
        outside_go_on(o, WAIT_NS);
    memcpy(o->frame, bytes, n);
    if (find_roce(o->frame, n, &r)) {
        disown(&r);
        aim(&r, flags);
    }
    frame_repair(o->frame, n, flags & RECORD_REPAIR);
    outside_receive(o, o->frame, n);
}

static void send_records(const uint8_t *data, size_t n)
{
    for (unsigned i = 0; i < FRAMES_MAX && n > RECORD_HEAD_BYTES && !o->wrong; i++) {
        const size_t rest = n - RECORD_HEAD_BYTES, said = ld_be16(data + 1);
        const size_t bytes = said < rest ? said : rest;

        if (bytes > 0)
            send_frame(data[0], data + RECORD_HEAD_BYTES, bytes);
        data += RECORD_HEAD_BYTES + bytes;
        n -= RECORD_HEAD_BYTES + bytes;
    }
}

/* --- What must have come of it ---------------------------------------------------------------- */

/* False: it was not answered, as the switch was misled. */
static bool ping_other(unsigned side, unsigned family)
{
    struct rdl_ping_config c = {.bytes = 8};
    struct rdl_ping_result result;
    rdl_ping_id ping;

    memcpy(c.address, o->hostile.host[1 - side].gid[family], GID_BYTES);
    return outside_works(o, rdl_ping(o->testbed.lab, o->testbed.side[side].host, &c, &ping),
                         "a host can ping") &&
           outside_works(o, rdl_ping_wait(o->testbed.lab, ping, bounded), "a ping ends") &&
           rdl_ping_result(o->testbed.lab, ping, &result) == RDL_OK;
}

static void finish_messages(void)
{
    struct rdl_wc wc[2 * MESSAGES];
    uint32_t done = 0;
    size_t n;

    for (uint32_t round = 0; round < ROUNDS && !o->wrong && done < 4 * MESSAGES; round++) {
        outside_go_on(o, ROUND_NS);
        for (unsigned side = 0; side < 2; side++) {
            n = 0;
            must(rdl_poll_cq(o->testbed.lab, o->testbed.side[side].cq, ARRAY_LEN(wc), wc, &n));
            for (size_t i = 0; i < n; i++)
                outside_expect(o, wc[i].status == WCS_SUCCESS,
                               "a stranger does not end others' connections");
            done += (uint32_t)n;
        }
    }
    outside_expect(o, done == 4 * MESSAGES, "the traffic of the lab goes on");
}

static void check_messages(void)
{
    uint8_t have[2 * MESSAGES * MESSAGE_BYTES];

    for (unsigned side = 0; side < 2; side++) {
        must(rdl_mem_read(o->testbed.lab, o->testbed.side[side].host,
                          o->testbed.side[side].mem.addr, have, sizeof(have)));
        for (uint32_t i = 0; i < 2 * MESSAGES; i++) {
            for (uint32_t k = 0; k < MESSAGE_BYTES; k++)
                outside_expect(o,
                               have[i * MESSAGE_BYTES + k] ==
                                   message_byte(i < MESSAGES ? side : 1 - side, i % MESSAGES, k),
                               "what is sent stays, and is received, as it is");
        }
    }
}

static void check_guard(void)
{
    uint8_t have[GUARD_BYTES];

    must(rdl_mem_read(o->testbed.lab, o->testbed.side[0].host, o->guard_at, have, sizeof(have)));
    for (uint32_t i = 0; i < GUARD_BYTES; i++)
        outside_expect(o, have[i] == 0 || (i >= OPEN_AT && i < OPEN_AT + OPEN_BYTES),
                       "a stranger writes nothing but what it may");
}

static void check_sums(void)
{
    struct rdl_port_info info;

    must(rdl_port_info(o->testbed.lab, o->testbed.out, &info));
    outside_expect(o, info.in_frames == o->frames, "every frame that comes in is counted");
    outside_expect(o, rdl_used_bytes(o->testbed.lab) <= bed.used_bytes + GROWTH_MAX,
                   "memory is bounded");
    outside_expect(o, !rdl_broken_invariant(o->testbed.lab), "the invariants hold");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    bed.o = bed.begin;
    rdl_checkpoint_restore(o->testbed.lab, bed.start);
    send_records(data, n);
    stranger_disconnect(o);
    /* A stranger who borrows MACs misleads the switch until their owners have spoken. */
    (void)ping_other(0, 0);
    (void)ping_other(1, 0);
    for (unsigned side = 0; side < 2; side++)
        outside_expect(o, ping_other(side, n & 1), "the hosts of a lab answer each other");
    finish_messages();
    check_messages();
    check_guard();
    check_sums();
    if (o->wrong)
        assert_fail(o->wrong, __FILE__, __LINE__);
    return 0;
}

/* One input in some gets a frame of a stranger who knows the protocol. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
    struct hostile h = bed.begin.hostile;
    uint8_t frame[HOSTILE_BYTES];
    size_t bytes;

    if (seed % 4 != 0)
        return LLVMFuzzerMutate(data, n, max);
    h.rng = prng_stream(seed, 2);
    bytes = hostile_frame(&h, frame);
    if (n + RECORD_HEAD_BYTES + bytes > max)
        return LLVMFuzzerMutate(data, n, max);
    data[n] = seed & 4 ? (uint8_t)(seed >> 8) : 0;
    st_be16(data + n + 1, (uint16_t)bytes);
    memcpy(data + n + RECORD_HEAD_BYTES, frame, bytes);
    return n + RECORD_HEAD_BYTES + bytes;
}
