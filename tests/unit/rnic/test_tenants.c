/* SPDX-License-Identifier: MIT */
/* Ports of an embedded switch that several hosts share: who gets a frame, who sends next, who may
 * send.  A model of the rules follows random joins, departures and frames.
 */
#include "rnic/switch_rig.h"

#include "emu/base/prng.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/roce.h"
#include "emu/rnic/eth_port.h"
#include "wire/frames.h"
#include "wire/neighbours.h"

#define PORTS   3u /* port 0 is that of the machine */
#define HOSTS_N 8u /* host 0 is the machine, the others may be tenants of any port */
#define AWAY    0x99u
#define TAKEN   64u

struct bench;

struct user {
    struct bench *bench;
    uint32_t host;
    uint32_t to_send; /* frames */
};

struct bench {
    struct switch_rig rig; /* first: pass() gets it */
    struct eth_port port[HOSTS_N];
    struct user user[HOSTS_N];
    uint8_t addr[HOSTS_N][2][GID_BYTES]; /* 10.0.0.k and fe80::k */
    uint32_t got[HOSTS_N];
    uint32_t order[TAKEN]; /* hosts whose frames were taken */
    uint32_t n_taken;
};

static bool has_frame(const void *ctx)
{
    return ((const struct user *)ctx)->to_send > 0;
}

static struct frame *new_frame(struct bench *b, const uint8_t *bytes, size_t n, uint32_t from)
{
    struct frame *f = frame_new(b->rig.wires->arena, (uint32_t)n + VLAN_TAG_BYTES);

    assert_non_null(f);
    memcpy(f->bytes, bytes, n);
    f->len = (uint32_t)n;
    f->note.host = from;
    return f;
}

static void set_macs(uint8_t *bytes, uint8_t to, uint8_t from)
{
    memset(bytes, 0, (size_t)2 * MAC_BYTES);
    bytes[5] = to;
    bytes[11] = from;
}

/* An echo request from the host to somebody outside. */
static struct frame *take_frame(void *ctx)
{
    struct user *u = ctx;
    struct bench *b = u->bench;
    struct frame *f;

    if (u->to_send == 0)
        return NULL;
    u->to_send--;
    if (b->n_taken < TAKEN)
        b->order[b->n_taken++] = u->host;
    f = new_frame(b, echo4_request, sizeof(echo4_request), u->host);
    set_macs(f->bytes, AWAY, b->port[u->host].mac[5]);
    memcpy(f->bytes + 26, b->addr[u->host][0] + GID_IPV4_AT, 4);
    return f;
}

static void count(void *ctx, const struct frame *f)
{
    const struct user *u = ctx;

    (void)f;
    u->bench->got[u->host]++;
    u->bench->port[u->host].taken_frames++;
}

static const struct eth_user_ops network_device = {has_frame, take_frame, NULL, NULL, count};

static void pass(void *world, struct eth_port *p, const struct frame *f)
{
    (void)world;
    eth_port_deliver(p, f);
}

static void host_init(struct bench *b, uint32_t host, uint32_t number)
{
    const uint8_t mac[MAC_BYTES] = {[5] = (uint8_t)(0x10 + number)};

    eth_port_init(&b->port[host], &b->rig.wires->net, &b->rig.progress, host, mac,
                  ETHERNET_MTU_MIN);
    b->user[host] = (struct user){.bench = b, .host = host};
    (void)eth_port_use(&b->port[host], &network_device, &b->user[host]);
    gid_from_ipv4(b->addr[host][0], (uint8_t[]){10, 0, 0, (uint8_t)(host + 1)});
    memset(b->addr[host][1], 0, GID_BYTES);
    b->addr[host][1][0] = 0xfe;
    b->addr[host][1][1] = 0x80;
    b->addr[host][1][15] = (uint8_t)(host + 1);
    b->port[host].addresses = (const uint8_t(*)[GID_BYTES])b->addr[host];
    b->port[host].n_addresses = 2;
}

static void join_at(struct bench *b, uint32_t host, uint32_t number)
{
    host_init(b, host, number);
    eswitch_join(&b->rig.sw, number, &b->port[host]);
}

static int set_up_bench(void **state)
{
    struct bench *b = test_calloc(1, sizeof(*b));

    switch_rig_init(&b->rig, PORTS, pass);
    join_at(b, 0, ESWITCH_PF);
    *state = b;
    return 0;
}

static void check_switch(const struct bench *b)
{
    for (uint32_t i = 0; i < PORTS; i++) {
        if (b->rig.sw.ports[i].port)
            assert_null(eswitch_invariant(&b->rig.sw, i));
    }
}

static int tear_down_bench(void **state)
{
    struct bench *b = *state;

    run(b->rig.wires);
    switch_rig_done(&b->rig);
    test_free(b);
    return 0;
}

static void give(struct bench *b, uint32_t host, uint32_t frames)
{
    b->user[host].to_send = frames;
    eth_port_wait(&b->port[host], 0);
    eth_port_pump(&b->port[host]);
}

/* Passes @bytes to the switch as a frame from the line. */
static void deliver(struct bench *b, const uint8_t *bytes, size_t n, uint32_t from)
{
    struct frame *f = new_frame(b, bytes, n, from);

    eswitch_deliver(&b->rig.sw, f);
    frame_unref(b->rig.wires->arena, f);
}

/* --- Kinds of frames -------------------------------------------------------------------------- */

enum kind { ECHO4, ECHO6, ARP_ASKS, ARP_TELLS, SOLICIT, KINDS };

/* Writes a frame of @kind for the address of host @dst, from that of @src.  Returns its length. */
static size_t make(struct bench *b, enum kind kind, uint32_t src, uint32_t dst, uint8_t *ret)
{
    static const struct {
        const uint8_t *bytes;
        size_t n, src_at, dst_at;
        bool is_ipv6;
    } rows[KINDS] = {
        [ECHO4] = {echo4_request, sizeof(echo4_request), 26, 30, false},
        [ECHO6] = {echo6_request, sizeof(echo6_request), 22, 38, true},
        [ARP_ASKS] = {arp_request, sizeof(arp_request), 28, 38, false},
        [ARP_TELLS] = {arp_reply, sizeof(arp_reply), 28, 38, false},
        [SOLICIT] = {solicit, sizeof(solicit), 22, 62, true},
    };
    const bool v6 = rows[kind].is_ipv6;
    const size_t from = v6 ? 0 : GID_IPV4_AT, bytes = GID_BYTES - from;

    memcpy(ret, rows[kind].bytes, rows[kind].n);
    memcpy(ret + rows[kind].src_at, b->addr[src][v6] + from, bytes);
    memcpy(ret + rows[kind].dst_at, b->addr[dst][v6] + from, bytes);
    return rows[kind].n;
}

static void a_frame_goes_to_the_tenant_with_its_address(void **state)
{
    struct bench *b = *state;
    uint8_t bytes[128];

    join_at(b, 1, ESWITCH_PF);
    join_at(b, 2, ESWITCH_PF);
    for (uint32_t k = 0; k < KINDS; k++) {
        for (uint32_t dst = 0; dst < 3; dst++) {
            const size_t n = make(b, k, 7, dst, bytes);
            uint32_t before[3];

            memcpy(before, b->got, sizeof(before));
            set_macs(bytes, 0x10, AWAY);
            deliver(b, bytes, n, 7);
            for (uint32_t i = 0; i < 3; i++)
                assert_int_equal(b->got[i] - before[i], i == dst);
        }
    }
}

static void a_frame_for_no_tenant_goes_to_the_first(void **state)
{
    static const uint8_t other[64] = {[5] = 0x10, [12] = 0x88, [13] = 0xb5};
    struct bench *b = *state;
    uint8_t bytes[128];
    size_t n;

    join_at(b, 1, ESWITCH_PF);
    host_init(b, 7, 0);
    n = make(b, ECHO4, 6, 7, bytes);
    set_macs(bytes, 0x10, AWAY);
    deliver(b, bytes, n, 6);
    deliver(b, other, sizeof(other), 6);
    deliver(b, bytes, ETH_BYTES + 10, 6); /* its IP header is cut off */
    assert_int_equal(b->got[0], 3);
    assert_int_equal(b->got[1], 0);
}

static void tenants_take_turns_within_the_turn_of_their_port(void **state)
{
    static const uint32_t expected[] = {1, 2, 4, 3, 4, 1, 4, 2, 4, 3, 4};
    struct bench *b = *state;

    eswitch_leave(&b->port[0]);
    for (uint32_t i = 1; i <= 3; i++)
        join_at(b, i, 1);
    join_at(b, 4, 2);
    give(b, 1, 2);
    for (uint32_t i = 4; i >= 2; i--)
        give(b, i, i == 4 ? 5 : 2);
    run(b->rig.wires);
    assert_int_equal(b->n_taken, ARRAY_LEN(expected));
    assert_memory_equal(b->order, expected, sizeof(expected));
}

static void a_tenant_sends_from_its_own_addresses_alone(void **state)
{
    const struct rdl_vf_settings off = {0}, on = {.spoofchk = true};
    struct bench *b = *state;
    uint8_t bytes[128];

    join_at(b, 1, 1);
    join_at(b, 2, 1);
    for (uint32_t k = 0; k < KINDS; k++) {
        for (uint32_t src = 1; src < 3; src++) {
            const uint64_t dropped = b->port[1].tx_drops[DROP_FOREIGN_SOURCE];
            const size_t n = make(b, k, src, 5, bytes);

            set_macs(bytes, AWAY, 0x11);
            eswitch_send(&b->port[1], new_frame(b, bytes, n, 1));
            assert_int_equal(b->port[1].tx_drops[DROP_FOREIGN_SOURCE] - dropped, src != 1);
        }
    }
    eswitch_set(&b->rig.sw, 1, &off);
    eswitch_send(&b->port[1], new_frame(b, bytes, sizeof(solicit), 1));
    assert_int_equal(b->port[1].tx_drops[DROP_FOREIGN_SOURCE], KINDS);
    eswitch_set(&b->rig.sw, 1, &on);
    eswitch_send(&b->port[1], new_frame(b, bytes, sizeof(solicit), 1));
    assert_int_equal(b->port[1].tx_drops[DROP_FOREIGN_SOURCE], KINDS + 1);
    assert_int_equal(b->rig.sw.ports[1].counts.tx_dropped, KINDS + 1);
    eswitch_leave(&b->port[2]); /* alone it is asked for its MAC only */
    eswitch_send(&b->port[1], new_frame(b, bytes, sizeof(solicit), 1));
    assert_int_equal(b->port[1].tx_drops[DROP_FOREIGN_SOURCE], KINDS + 1);
}

/* The machine is believed; who has no address yet, asks from none. */
static void the_machine_and_the_unspecified_address_are_no_forgers(void **state)
{
    struct bench *b = *state;
    uint8_t bytes[128];
    size_t n;

    join_at(b, 1, ESWITCH_PF);
    n = make(b, ECHO4, 1, 5, bytes);
    set_macs(bytes, AWAY, 0x10);
    eswitch_send(&b->port[0], new_frame(b, bytes, n, 0));
    memset(bytes + 26, 0, 4);
    eswitch_send(&b->port[1], new_frame(b, bytes, n, 1));
    n = make(b, SOLICIT, 1, 5, bytes);
    set_macs(bytes, AWAY, 0x10);
    memset(bytes + 22, 0, GID_BYTES);
    eswitch_send(&b->port[1], new_frame(b, bytes, n, 1));
    assert_int_equal(b->port[0].tx_drops[DROP_FOREIGN_SOURCE], 0);
    assert_int_equal(b->port[1].tx_drops[DROP_FOREIGN_SOURCE], 0);
    n = make(b, ECHO4, 0, 5, bytes);
    set_macs(bytes, AWAY, 0x10);
    eswitch_send(&b->port[1], new_frame(b, bytes, n, 1));
    assert_int_equal(b->port[1].tx_drops[DROP_FOREIGN_SOURCE], 1);
}

static void tenants_have_the_vlan_of_the_first(void **state)
{
    const struct rdl_vf_settings in_5 = {.vlan = 5, .qos = 3}, in_none = {0};
    struct bench *b = *state;

    host_init(b, 1, 1);
    b->port[1].vid = 9;
    eswitch_join(&b->rig.sw, 1, &b->port[1]);
    join_at(b, 2, 1);
    assert_int_equal(b->port[2].vid, 9);
    eswitch_set(&b->rig.sw, 1, &in_5);
    assert_true(b->port[1].vid == 5 && b->port[2].vid == 5 && b->port[2].pcp == 3);
    eswitch_set(&b->rig.sw, 1, &in_none);
    assert_true(b->port[1].vid == 9 && b->port[2].vid == 9);
    eswitch_leave(&b->port[1]);
    assert_true(b->port[1].vid == 9 && b->port[2].vid == 0);
}

/* --- The model -------------------------------------------------------------------------------- */

struct model {
    struct prng rng;
    uint32_t at[HOSTS_N];     /* port of each host; PORTS: none */
    uint32_t joined[HOSTS_N]; /* when it joined */
    bool is_down[PORTS];
    uint32_t clock;
};

static uint32_t draw(struct model *m, uint32_t n)
{
    return (uint32_t)prng_below(&m->rng, n);
}

/* The first tenant of port @number, or HOSTS_N. */
static uint32_t first_of(const struct model *m, uint32_t number)
{
    uint32_t first = HOSTS_N;

    for (uint32_t i = 0; i < HOSTS_N; i++) {
        if (m->at[i] == number && (first == HOSTS_N || m->joined[i] < m->joined[first]))
            first = i;
    }
    return first;
}

static void step_join(struct bench *b, struct model *m)
{
    const uint32_t host = draw(m, HOSTS_N);
    const uint32_t number = draw(m, PORTS);

    if (host == 0)
        return;
    if (m->at[host] < PORTS) {
        eswitch_leave(&b->port[host]);
        m->at[host] = PORTS;
    } else {
        join_at(b, host, number);
        b->got[host] = 0;
        m->at[host] = number;
        m->joined[host] = ++m->clock;
    }
}

/* Delivers a frame to the MAC of a port, or to all, and compares who got it. */
static void step_deliver(struct bench *b, struct model *m)
{
    const uint32_t number = draw(m, PORTS);
    const uint32_t dst = draw(m, HOSTS_N);
    const uint32_t src = draw(m, HOSTS_N);
    const bool to_all = draw(m, 3) == 0;
    const uint32_t first = first_of(m, number), to = m->at[dst] == number ? dst : first;
    uint32_t before[HOSTS_N];
    uint8_t bytes[128];
    const size_t n = make(b, draw(m, KINDS), src, dst, bytes);

    memcpy(before, b->got, sizeof(before));
    set_macs(bytes, (uint8_t)(0x10 + number), AWAY);
    if (to_all)
        memset(bytes, 0xff, MAC_BYTES);
    deliver(b, bytes, n, src);
    for (uint32_t i = 0; i < HOSTS_N; i++) {
        const bool is_up = m->at[i] < PORTS && !m->is_down[m->at[i]];
        const bool reached = is_up || (!to_all && m->at[src] == number);
        const bool takes = reached && (to_all ? i != src : i == to);

        assert_int_equal(b->got[i] - before[i], takes);
    }
}

/* Sends a frame of one host, and compares whether it left. */
static void step_send(struct bench *b, struct model *m)
{
    const uint32_t from = draw(m, HOSTS_N);
    const uint32_t src = draw(m, HOSTS_N);
    const uint32_t number = m->at[from], left = b->rig.wires->got[1];
    bool is_alone = true, may;
    uint8_t bytes[128];
    size_t n;

    if (number == PORTS)
        return;
    for (uint32_t i = 0; i < HOSTS_N; i++)
        is_alone = is_alone && (i == from || m->at[i] != number);
    may = !m->is_down[number] && (is_alone || from == 0 || from == src);
    n = make(b, draw(m, KINDS), src, 0, bytes);
    set_macs(bytes, AWAY, (uint8_t)(0x10 + number));
    eswitch_send(&b->port[from], new_frame(b, bytes, n, from));
    run(b->rig.wires);
    assert_int_equal(b->rig.wires->got[1] - left, may);
}

static void step_set(struct bench *b, struct model *m)
{
    const uint32_t number = draw(m, PORTS);
    const struct rdl_vf_settings to = {.spoofchk = true,
                                       .state = draw(m, 4) ? VF_auto : VF_disable};

    if (number == ESWITCH_PF)
        return;
    eswitch_set(&b->rig.sw, number, &to);
    m->is_down[number] = to.state == VF_disable;
}

/* Gives two hosts frames: all leave, except those of ports that are down. */
static void step_turns(struct bench *b, struct model *m)
{
    const uint32_t left = b->rig.wires->got[1];
    uint32_t n = 0;

    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t host = draw(m, HOSTS_N);

        if (m->at[host] == PORTS || b->user[host].to_send > 0)
            continue;
        n += m->is_down[m->at[host]] ? 0 : 3;
        give(b, host, 3);
    }
    run(b->rig.wires);
    assert_int_equal(b->rig.wires->got[1] - left, n);
}

static void the_switch_does_what_the_model_says(void **state)
{
    static void (*const steps[])(struct bench * b, struct model * m) = {
        step_join,    step_join, step_deliver, step_deliver,
        step_deliver, step_send, step_set,     step_turns};
    struct bench *b = *state;
    struct model m = {.rng = prng_stream(1, 0)};

    for (uint32_t i = 1; i < HOSTS_N; i++) {
        host_init(b, i, 0);
        m.at[i] = PORTS;
    }
    for (uint32_t i = 0; i < 20000; i++) {
        steps[draw(&m, ARRAY_LEN(steps))](b, &m);
        check_switch(b);
    }
}

#undef T
#define T(f) cmocka_unit_test_setup_teardown(f, set_up_bench, tear_down_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_frame_goes_to_the_tenant_with_its_address),
        T(a_frame_for_no_tenant_goes_to_the_first),
        T(tenants_take_turns_within_the_turn_of_their_port),
        T(a_tenant_sends_from_its_own_addresses_alone),
        T(the_machine_and_the_unspecified_address_are_no_forgers),
        T(tenants_have_the_vlan_of_the_first),
        T(the_switch_does_what_the_model_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
