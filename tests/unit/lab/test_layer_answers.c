/* SPDX-License-Identifier: MIT */
/* The layer answers those who ask for the MAC of a further function of a virtual RNIC, and nobody
 * else.
 */
#include "lab/strangers.h"

#include "emu/base/prng.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/pci.h"
#include "emu/lab/layer.h"
#include "emu/lab/layer_answers.h"
#include "emu/wire/arp.h"
#include "emu/wire/eth.h"
#include "emu/wire/nd.h"
#include "emu/wire/parse.h"
#include "lab/must_end.h"
#include "rdmalab/machine.h"
#include "rdmalab/pci.h"
#include "testbed/testbed.h"

#define ROUNDS      4000u
#define FRAME_BYTES (ETH_BYTES + IPV6_BYTES + ND_BYTES)

static const uint8_t stranger_mac[MAC_BYTES] = {2, 0xaa, 0, 0, 0, 7};
static const uint8_t function_mac[MAC_BYTES] = {6, 0, 0, 3, 0, 2}; /* of function 1 of m1 */
static const uint8_t stranger_v4[GID_BYTES] = {[10] = 0xff, 0xff, 10, 0, 0, 77};
static const uint8_t stranger_v6[GID_BYTES] = {0xfe, 0x80, [15] = 77};
static const uint8_t further_v4[GID_BYTES] = {[10] = 0xff, 0xff, 10, 200, 3, 2};
static const uint8_t further_v6[GID_BYTES] = {0xfd, [13] = 3, 0, 2};

/* The question of a stranger. */
struct question {
    uint8_t frame[FRAME_BYTES];
    size_t n;
};

/* The lab of strangers, with the guest g of m1 that has two functions. */
struct bed {
    struct strangers *s;
    rdl_host machine;
    struct testbed_side side, second; /* @second has the queue pair on the further function */
    const struct vrnic_function *further;
};

static const struct testbed_config bed_config = {.type = QPT_RC, .mr_bytes = 4096, .max_wr = 4};

static void set_up(struct bed *b)
{
    const struct rdl_host_config m = {.name = "m1", .vfs = 2};
    const struct rdl_host_config g = {.name = "g", .on = "m1", .vrnic = true, .vrnic_vfs = 2};
    const struct rdl_link_config cable = {.a = "m1", .b = "sw", .latency_ns = 1000};
    rdl_link link;

    *b = (struct bed){.s = strangers_new(true)};
    assert_int_equal(rdl_host_add(b->s->lab, &m, &b->machine), RDL_OK);
    assert_int_equal(rdl_link_add(b->s->lab, &cable, &link), RDL_OK);
    assert_int_equal(rdl_host_add(b->s->lab, &g, &b->side.host), RDL_OK);
    assert_int_equal(testbed_side_memory(b->s->lab, &b->side, &bed_config), RDL_OK);
    assert_int_equal(testbed_side_qp(b->s->lab, &b->side, &bed_config, true), RDL_OK);
    b->second = b->side;
    assert_int_equal(testbed_side_qp(b->s->lab, &b->second, &bed_config, false), RDL_OK);
    b->further = &lab_host(b->s->lab->state, b->side.host.raw)->vrnic->functions[1];
    assert_memory_equal(b->further->wire[0], further_v4, GID_BYTES);
    assert_memory_equal(b->further->wire[1], further_v6, GID_BYTES);
    assert_memory_equal(b->further->port->mac, function_mac, MAC_BYTES);
    go(b->s);
    b->s->n_out = 0;
}

static struct question arp_question(const uint8_t target[GID_BYTES], bool reply)
{
    static const uint8_t all[MAC_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct question q;
    struct wr_cur out = wr_cur(q.frame, sizeof(q.frame));
    struct eth eth = {.ethertype = ETHERTYPE_ARP};
    struct arp arp = {.reply = reply};

    memcpy(eth.dst, all, MAC_BYTES);
    memcpy(eth.src, stranger_mac, MAC_BYTES);
    memcpy(arp.sender_mac, stranger_mac, MAC_BYTES);
    memcpy(arp.sender, stranger_v4, GID_BYTES);
    memcpy(arp.target, target, GID_BYTES);
    eth_build(&eth, &out);
    arp_build(&arp, &out);
    q.n = (size_t)(out.p - q.frame);
    return q;
}

/* A solicitation for @target, or an advertisement of it, from @src. */
static struct question nd_question(const uint8_t target[GID_BYTES], const uint8_t src[GID_BYTES],
                                   bool advert)
{
    struct question q;
    struct wr_cur out = wr_cur(q.frame, sizeof(q.frame));
    struct eth eth = {.ethertype = ETHERTYPE_IPV6};
    struct ip ip = {.version = 6,
                    .ttl = ND_HOP_LIMIT,
                    .protocol = IP_PROTOCOL_ICMPV6,
                    .payload_bytes = ND_BYTES};
    struct nd nd = {.advert = advert, .has_mac = true};

    memcpy(nd.target, target, GID_BYTES);
    memcpy(nd.mac, stranger_mac, MAC_BYTES);
    memcpy(ip.src, src, GID_BYTES);
    ipv6_solicited_group(ip.dst, target);
    mac_from_multicast(eth.dst, ip.dst);
    memcpy(eth.src, stranger_mac, MAC_BYTES);
    eth_build(&eth, &out);
    ip_build(&ip, &out);
    nd_build(&nd, &ip, &out);
    q.n = (size_t)(out.p - q.frame);
    return q;
}

/* Takes the link-layer address out of a solicitation, whose option becomes a nonce. */
static void leave_mac_out(struct question *q, const uint8_t src[GID_BYTES])
{
    const struct ip ip = {.version = 6, .protocol = IP_PROTOCOL_ICMPV6, .payload_bytes = ND_BYTES};
    struct ip with = ip;

    q->frame[ETH_BYTES + IPV6_BYTES + ND_BYTES - 8] = 14;
    memcpy(with.src, src, GID_BYTES);
    memcpy(with.dst, q->frame + ETH_BYTES + 24, GID_BYTES);
    icmp_finish(&with, q->frame + ETH_BYTES + IPV6_BYTES, ND_BYTES);
}

static void ask(const struct bed *b, const struct question *q)
{
    receive(b->s, q->frame, q->n);
    go(b->s);
}

/* The one frame that went out, to @dst: its bytes behind the Ethernet header. */
static struct rd_cur the_answer(const struct bed *b, const uint8_t dst[MAC_BYTES])
{
    const struct out_frame *f = &b->s->out[0];

    assert_int_equal(b->s->n_out, 1);
    assert_memory_equal(f->bytes, dst, MAC_BYTES);
    assert_memory_equal(f->bytes + MAC_BYTES, function_mac, MAC_BYTES);
    return rd_cur(f->bytes + ETH_BYTES, f->n - ETH_BYTES);
}

static void assert_advert(const struct bed *b, const uint8_t dst_mac[MAC_BYTES],
                          const uint8_t dst[GID_BYTES], bool solicited)
{
    struct rd_cur in = the_answer(b, dst_mac);
    struct icmp h;
    struct ip ip;
    struct nd nd;

    assert_int_equal(ip_parse(&ip, &in), DROP_NONE);
    assert_int_equal(icmp_parse(&h, &ip, &in), DROP_NONE);
    assert_int_equal(nd_parse(&nd, &h, &ip, &in), DROP_NONE);
    assert_memory_equal(ip.src, further_v6, GID_BYTES);
    assert_memory_equal(ip.dst, dst, GID_BYTES);
    assert_true(nd.advert && nd.override && nd.has_mac);
    assert_int_equal(nd.solicited, solicited);
    assert_memory_equal(nd.target, further_v6, GID_BYTES);
    assert_memory_equal(nd.mac, function_mac, MAC_BYTES);
}

static void an_arp_request_is_answered(void **state)
{
    const struct question q = arp_question(further_v4, false);
    struct rd_cur in;
    struct arp arp;
    struct bed b;

    (void)state;
    set_up(&b);
    ask(&b, &q);
    in = the_answer(&b, stranger_mac);
    assert_int_equal(arp_parse(&arp, &in), DROP_NONE);
    assert_true(arp.reply);
    assert_memory_equal(arp.sender, further_v4, GID_BYTES);
    assert_memory_equal(arp.sender_mac, function_mac, MAC_BYTES);
    assert_memory_equal(arp.target, stranger_v4, GID_BYTES);
    assert_memory_equal(arp.target_mac, stranger_mac, MAC_BYTES);
    strangers_free(b.s);
}

static void a_solicitation_is_answered(void **state)
{
    static const uint8_t nobody[GID_BYTES], all_mac[MAC_BYTES] = {0x33, 0x33, 0, 0, 0, 1};
    uint8_t all[GID_BYTES];

    (void)state;
    ipv6_all_nodes(all);
    for (uint32_t i = 0; i < 3; i++) {
        const bool is_dad = i == 2; /* duplicate address detection: everybody gets the answer */
        struct question q = nd_question(further_v6, is_dad ? nobody : stranger_v6, false);
        struct bed b;

        if (i > 0)
            leave_mac_out(&q, is_dad ? nobody : stranger_v6);
        set_up(&b);
        ask(&b, &q);
        assert_advert(&b, is_dad ? all_mac : stranger_mac, is_dad ? all : stranger_v6, !is_dad);
        strangers_free(b.s);
    }
}

/* Returns the frames that the further function has sent. */
static uint64_t answers(const struct bed *b)
{
    return b->further->port->sent_frames;
}

static void nothing_else_is_answered(void **state)
{
    static const uint8_t other_v4[GID_BYTES] = {[10] = 0xff, 0xff, 10, 200, 3, 3};
    static const uint8_t other_v6[GID_BYTES] = {0xfd, [13] = 3, 0, 3};
    const struct question none[] = {
        arp_question(other_v4, false),
        arp_question(further_v4, true),
        nd_question(other_v6, stranger_v6, false),
        nd_question(further_v6, stranger_v6, true),
    };
    struct bed b;

    (void)state;
    set_up(&b);
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        const uint64_t drops = b.further->port->drops[DROP_NO_LISTENER];

        ask(&b, &none[i]);
        assert_int_equal(answers(&b), 0);
        assert_int_equal(b.further->port->drops[DROP_NO_LISTENER], drops + 1);
    }
    strangers_free(b.s);
}

/* Damaged questions, and those that end early, harm nobody. */
static void damaged_questions_do_no_harm(void **state)
{
    const struct question whole[] = {arp_question(further_v4, false),
                                     nd_question(further_v6, stranger_v6, false)};
    struct prng p = prng_stream(1, 0);
    struct bed b;

    (void)state;
    set_up(&b);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct question q = whole[i % 2];

        if (prng_below(&p, 2))
            q.n = 1 + prng_below(&p, q.n - 1);
        if (q.n > MAC_BYTES && prng_below(&p, 2)) {
            const uint64_t at = MAC_BYTES + prng_below(&p, q.n - MAC_BYTES);

            q.frame[at] ^= (uint8_t)(1 + prng_below(&p, 255));
        }
        ask(&b, &q);
    }
    assert_true(answers(&b) > 0 && answers(&b) < ROUNDS);
    strangers_free(b.s);
}

/* Limits what the further function sends, so that a frame of 42 bytes takes a third of 1 ms. */
static void be_slow(const struct bed *b)
{
    struct rdl_vf_settings set;

    assert_int_equal(rdl_vf_get(b->s->lab, b->machine, 1, &set), RDL_OK);
    set.max_tx_bps = 1000000;
    assert_int_equal(rdl_vf_set(b->s->lab, b->machine, 1, &set), RDL_OK);
}

/* Events after which answers that wait are not sent. */
enum ending {
    ENDS_NEVER,
    ENDS_BY_GUEST, /* the guest destroys the queue pair at the further function */
    ENDS_BY_RESET, /* the machine resets the virtual function */
};

/* Lets one answer go out and as many wait as the queue has room for.  The others are dropped. */
static void fill_queue(const struct bed *b, const struct question *q)
{
    be_slow(b);
    for (uint32_t k = 0; k < 2 * LAYER_ANSWERS_MAX; k++)
        receive(b->s, q->frame, q->n);
    assert_int_equal(rdl_run(b->s->lab, rdl_now_ns(b->s->lab) + 100000, no_limits), RDL_OK);
    assert_int_equal(answers(b), 1);
    assert_int_equal(b->further->answers->n, LAYER_ANSWERS_MAX);
    assert_int_equal(b->further->port->drops[DROP_QUEUE_FULL], LAYER_ANSWERS_MAX - 1);
}

/* Resets virtual function 1 of the machine, as its administrator can. */
static void reset_function(const struct bed *b)
{
    struct rdl_pci_place control;

    assert_int_equal(
        rdl_pci_field(b->s->lab, b->machine, PCI_VF_FIRST + 1, PCI_EXPRESS_CONTROL, &control),
        RDL_OK);
    assert_int_equal(rdl_pci_write(b->s->lab, b->machine, &control, EXPRESS_CONTROL_RESET), RDL_OK);
}

/* Gives both functions of the machine, which are free, to another guest of two functions. */
static void start_another_guest(struct bed *b)
{
    const struct rdl_host_config g = {.name = "g2", .on = "m1", .vrnic = true, .vrnic_vfs = 2};

    assert_int_equal(rdl_host_add(b->s->lab, &g, &b->side.host), RDL_OK);
    assert_int_equal(testbed_side_memory(b->s->lab, &b->side, &bed_config), RDL_OK);
    assert_int_equal(testbed_side_qp(b->s->lab, &b->side, &bed_config, true), RDL_OK);
    b->second = b->side;
    assert_int_equal(testbed_side_qp(b->s->lab, &b->second, &bed_config, false), RDL_OK);
    b->further = &lab_host(b->s->lab->state, b->side.host.raw)->vrnic->functions[1];
    assert_int_equal(b->further->vf, 1);
}

/* The queue is bounded.  What waits when the function goes back or is lost is not sent, also not
 * when the place for a function is used again.
 */
static void answers_wait_for_the_line(void **state)
{
    const struct question q = arp_question(further_v4, false);

    (void)state;
    for (enum ending how = ENDS_NEVER; how <= ENDS_BY_RESET; how++) {
        struct bed b;

        set_up(&b);
        fill_queue(&b, &q);
        if (how == ENDS_BY_GUEST)
            must_end(b.s->lab, b.side.host, rdl_destroy_qp(b.s->lab, b.second.qp));
        else if (how == ENDS_BY_RESET)
            reset_function(&b);
        assert_int_equal(b.further->vf == VRNIC_UNMAPPED, how != ENDS_NEVER);
        assert_int_equal(b.further->answers->n, how == ENDS_NEVER ? LAYER_ANSWERS_MAX : 0);
        go(b.s);
        assert_int_equal(answers(&b), how == ENDS_NEVER ? 1 + LAYER_ANSWERS_MAX : 1);
        if (how == ENDS_BY_GUEST) {
            assert_int_equal(testbed_side_qp(b.s->lab, &b.second, &bed_config, false), RDL_OK);
            assert_int_not_equal(b.further->vf, VRNIC_UNMAPPED);
            ask(&b, &q);
            assert_int_equal(answers(&b), 2);
        } else if (how == ENDS_BY_RESET) {
            start_another_guest(&b);
            ask(&b, &q);
            assert_int_equal(answers(&b), 1);
        }
        strangers_free(b.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arp_request_is_answered),
        cmocka_unit_test(a_solicitation_is_answered),
        cmocka_unit_test(nothing_else_is_answered),
        cmocka_unit_test(damaged_questions_do_no_harm),
        cmocka_unit_test(answers_wait_for_the_line),
    };

    return cmocka_run_group_tests_name("layer_answers", tests, NULL, NULL);
}
