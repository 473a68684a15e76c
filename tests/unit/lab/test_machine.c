/* SPDX-License-Identifier: MIT */
/* Machines: which function gets a frame, against a model that knows the rules and no code of the
 * embedded switch; and what cannot be a machine or a guest.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/prng.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/pci.h"
#include "emu/facts/virtio/feature.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/cm_mux.h"
#include "emu/rnic/eswitch.h"
#include "emu/wire/vlan.h"
#include "rdmalab/machine.h"
#include "rdmalab/pci.h"

#define GUESTS      6u
#define FUNCTIONS   (GUESTS + 1) /* port 0 is that of the machine */
#define OUTSIDE     FUNCTIONS    /* the host behind the cable */
#define STATIONS    (FUNCTIONS + 1)
#define MACS        (STATIONS + 2) /* and an address that nobody has, and that of a group */
#define NOBODY_MAC  STATIONS
#define GROUP_MAC   (STATIONS + 1)
#define FRAME_BYTES 60u
#define STEPS       4000u

struct fixture {
    struct rdl_lab *lab;
    rdl_host host[STATIONS];
    rdl_link cable;
};

/* The model: what was set, and how many frames each station must have got. */
struct model {
    struct rdl_vf_settings set[FUNCTIONS];
    uint8_t own[MACS][6];
    bool cable;
    uint64_t got[STATIONS], spoofed, unroutable, other_vlan;
    uint64_t looped;  /* frames of a function without a link to itself */
    uint64_t refused; /* unicast frames from the cable to a function in another VLAN */
};

static rdl_host add(struct rdl_lab *lab, const struct rdl_host_config *c)
{
    rdl_host h = {0};

    assert_int_equal(rdl_host_add(lab, c, &h), RDL_OK);
    return h;
}

static void set_up(struct fixture *f, uint64_t seed)
{
    const struct rdl_lab_config config = {.seed = seed, .check_invariants = true};
    const struct rdl_host_config machine = {
        .name = "m1", .device = DEVICE_virtio, .vfs = GUESTS + 2};
    const struct rdl_host_config outside = {.name = "h1", .device = DEVICE_none};
    const struct rdl_link_config cable = {.a = "m1", .b = "h1", .latency_ns = 100};

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    f->host[0] = add(f->lab, &machine);
    for (uint32_t i = 1; i < FUNCTIONS; i++) {
        char name[8];
        struct rdl_host_config guest = {
            .name = name, .device = i % 2 ? DEVICE_virtio : DEVICE_none, .on = "m1", .vf = i - 1};

        snprintf(name, sizeof(name), "g%u", i);
        f->host[i] = add(f->lab, &guest);
    }
    f->host[OUTSIDE] = add(f->lab, &outside);
    assert_int_equal(rdl_link_add(f->lab, &cable, &f->cable), RDL_OK);
}

static void start_model(const struct fixture *f, struct model *m)
{
    uint8_t gid[GID_BYTES];

    *m = (struct model){.cable = true};
    for (uint32_t i = 0; i < STATIONS; i++)
        assert_int_equal(rdl_host_address(f->lab, f->host[i], 0, gid, m->own[i]), RDL_OK);
    memcpy(m->own[NOBODY_MAC], (const uint8_t[]){2, 9, 9, 9, 9, 9}, 6);
    memset(m->own[GROUP_MAC], 0xff, 6);
    for (uint32_t i = 1; i < FUNCTIONS; i++)
        m->set[i].spoofchk = true;
}

static bool is_up(const struct model *m, uint32_t function)
{
    const uint32_t state = m->set[function].state;

    return state == VF_enable || (state == VF_auto && m->cable);
}

static const uint8_t *mac_of(const struct model *m, uint32_t function)
{
    static const uint8_t none[6];
    const struct rdl_vf_settings *set = &m->set[function];

    return memcmp(set->mac, none, 6) == 0 || set->trust ? m->own[function] : set->mac;
}

/* The VLAN of a station; 0: none. */
static uint32_t vlan_of(const struct model *m, uint32_t station)
{
    return station == OUTSIDE ? 0 : m->set[station].vlan;
}

/* Returns true if a frame of @from to @to with the tag of VLAN @vid is to itself.  Of functions
 * with one MAC and VLAN the first has the frame.
 */
static bool is_to_self(const struct model *m, uint32_t from, const uint8_t *to, uint32_t vid)
{
    uint32_t i = 0;

    while (i < FUNCTIONS && (vlan_of(m, i) != vid || memcmp(mac_of(m, i), to, 6) != 0))
        i++;
    return i == from;
}

/* A frame from @from, with MACs @to and @source and the tag of VLAN @vid, as the rules say. */
static void expect_frame(struct model *m, uint32_t from, const uint8_t *to, const uint8_t *source,
                         uint32_t vid)
{
    const bool group = to[0] & 1;
    bool local = false;

    if (from != OUTSIDE && !is_up(m, from) && !is_to_self(m, from, to, vid)) {
        m->unroutable++;
        return;
    }
    if (from != OUTSIDE && m->set[from].spoofchk && memcmp(source, mac_of(m, from), 6) != 0) {
        m->spoofed++;
        return;
    }
    if (from != OUTSIDE && m->set[from].vlan > 0 && vid != m->set[from].vlan) {
        m->other_vlan++;
        return;
    }
    if (from == OUTSIDE && memcmp(to, m->own[OUTSIDE], 6) == 0) {
        m->got[OUTSIDE]++; /* to itself */
        return;
    }
    if (from == OUTSIDE && !m->cable)
        return;
    for (uint32_t i = 0; i < FUNCTIONS && !(local && !group); i++) {
        if (vlan_of(m, i) != vid || (!group && memcmp(mac_of(m, i), to, 6) != 0))
            continue;
        local = true;
        m->got[i] += group ? is_up(m, i) && i != from : is_up(m, i) || i == from;
        m->looped += !is_up(m, i) && !group && i == from;
    }
    if (from != OUTSIDE && (group || !local)) {
        m->unroutable += !m->cable;
        m->got[OUTSIDE] += m->cable;
    }
    for (uint32_t i = 0; from == OUTSIDE && !group && !local && i < FUNCTIONS; i++) {
        local = memcmp(mac_of(m, i), to, 6) == 0;
        m->refused += local;
    }
}

static void send(struct fixture *f, uint32_t from, const uint8_t *to, const uint8_t *source,
                 uint32_t vid)
{
    uint8_t frame[FRAME_BYTES + VLAN_TAG_BYTES] = {0};
    size_t n = FRAME_BYTES;

    memcpy(frame, to, 6);
    memcpy(frame + 6, source, 6);
    frame[12] = 0x88;
    frame[13] = 0xb5; /* for experiments [IEEE 802] */
    if (vid)
        n = vlan_push(frame, n, vlan_tci(vid, 0));
    assert_int_equal(rdl_inject_from(f->lab, f->host[from], frame, n, false), RDL_OK);
    assert_int_equal(rdl_run(f->lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
}

static const struct eth_port *port_of(const struct fixture *f, uint32_t station)
{
    return &f->lab->state->hosts[f->host[station].raw - 1]->port;
}

static void change(struct fixture *f, struct model *m, struct prng *r)
{
    const uint32_t function = 1 + (uint32_t)prng_below(r, GUESTS);
    struct rdl_vf_settings *set = &m->set[function];

    switch (prng_below(r, 6)) {
    case 0:
        m->cable = !m->cable;
        assert_int_equal(rdl_link_raise(f->lab, f->cable, m->cable), RDL_OK);
        return;
    case 1:
        set->state = (uint32_t)prng_below(r, 3);
        break;
    case 2:
        set->spoofchk = !set->spoofchk;
        break;
    case 3:
        set->trust = !set->trust;
        break;
    case 4: /* no VLAN, 5 or 6; h1 is in no VLAN */
        set->vlan = (uint32_t)prng_below(r, 4);
        set->vlan = set->vlan < 2 ? 0 : 3 + set->vlan;
        set->qos = set->vlan ? 3 : 0;
        break;
    default: /* an address of its own, or that of another function */
        memcpy(set->mac, m->own[prng_below(r, STATIONS)], 6);
        set->mac[4] = (uint8_t)(prng_below(r, 2) * 0x77);
        break;
    }
    assert_int_equal(rdl_vf_set(f->lab, f->host[0], function - 1, set), RDL_OK);
}

static void compare(const struct fixture *f, const struct model *m)
{
    uint64_t spoofed = 0, unroutable = 0, other_vlan = 0;

    for (uint32_t i = 0; i < STATIONS; i++) {
        assert_int_equal(port_of(f, i)->rcvd_frames, m->got[i]);
        spoofed += port_of(f, i)->tx_drops[DROP_SPOOFED];
        other_vlan += port_of(f, i)->tx_drops[DROP_OTHER_VLAN];
        unroutable += i == OUTSIDE ? 0 : port_of(f, i)->tx_drops[DROP_NO_ROUTE];
    }
    assert_int_equal(spoofed, m->spoofed);
    assert_int_equal(unroutable, m->unroutable);
    assert_int_equal(other_vlan, m->other_vlan);
    assert_int_equal(port_of(f, 0)->sw->drops[DROP_OTHER_VLAN], m->refused);
}

static void frames_go_where_the_rules_say(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct prng r = prng_stream(seed, 1);
        struct fixture f;
        struct model m;

        set_up(&f, seed);
        start_model(&f, &m);
        for (uint32_t i = 0; i < STEPS; i++) {
            const uint32_t from = (uint32_t)prng_below(&r, STATIONS);
            const uint32_t forged = (uint32_t)prng_below(&r, 4);
            const uint32_t to = (uint32_t)prng_below(&r, MACS);
            const uint32_t as = forged ? from : (uint32_t)prng_below(&r, STATIONS);
            uint32_t vid;
            uint8_t dst[6], src[6];

            if (prng_below(&r, 8) == 0)
                change(&f, &m, &r);
            memcpy(dst, to < FUNCTIONS && to > 0 ? mac_of(&m, to) : m.own[to], 6);
            memcpy(src, as < FUNCTIONS && as > 0 ? mac_of(&m, as) : m.own[as], 6);
            vid = (uint32_t)prng_below(&r, 6);
            vid = vid < 4 ? vlan_of(&m, from) : (vid - 4) * 5;
            expect_frame(&m, from, dst, src, vid);
            send(&f, from, dst, src, vid);
            compare(&f, &m);
        }
        assert_true(m.looped > 5);
        assert_true(m.other_vlan > 50 && m.refused > 50 && m.spoofed > 50 && m.unroutable > 50 &&
                    m.got[OUTSIDE] > 50);
        rdl_lab_free(f.lab);
    }
}

/* Frames of random bytes and any length, also shorter than an Ethernet header.  The lab checks its
 * sums after each tick.
 */
static void frames_of_any_length_end_once(void **state)
{
    struct prng r = prng_stream(5, 2);
    const uint8_t ours[6] = {2, 0, 0, 0, 0, 3};
    struct fixture f;
    struct model m;
    uint64_t n_short = 0;

    (void)state;
    set_up(&f, 5);
    start_model(&f, &m);
    for (uint32_t i = 0; i < STEPS; i++) {
        const uint32_t from = (uint32_t)prng_below(&r, STATIONS);
        const size_t n = 6 + (size_t)prng_below(&r, 40);
        uint8_t frame[64];

        if (prng_below(&r, 8) == 0)
            change(&f, &m, &r);
        for (size_t k = 0; k < sizeof(frame); k++)
            frame[k] = (uint8_t)prng_next(&r);
        if (prng_below(&r, 2))
            memcpy(frame, ours, sizeof(ours));
        if (prng_below(&r, 2))
            memcpy(frame + 6, port_of(&f, from)->mac, 6);
        if (prng_below(&r, 3) == 0)
            st_be16(frame + 12, ETHERTYPE_VLAN);
        assert_int_equal(rdl_inject_from(f.lab, f.host[from], frame, n, false), RDL_OK);
        assert_int_equal(rdl_run(f.lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        n_short += port_of(&f, i)->tx_drops[DROP_SHORT];
    assert_true(n_short > 50);
    rdl_lab_free(f.lab);
}

static enum rdl_status try(struct rdl_lab *lab, const struct rdl_host_config *c)
{
    rdl_host ignored;

    return rdl_host_add(lab, c, &ignored);
}

static void not_everything_is_a_guest(void **state)
{
    struct fixture f;
    struct rdl_vf_settings set;

    (void)state;
    set_up(&f, 1);
#define CONFIG(...) &(struct rdl_host_config){.name = "x", .device = DEVICE_virtio, __VA_ARGS__}
    assert_int_equal(try(f.lab, CONFIG(.on = "h1")), RDL_ERR_NOT_FOUND);
    assert_int_equal(try(f.lab, CONFIG(.on = "g1")), RDL_ERR_NOT_FOUND);
    assert_int_equal(try(f.lab, CONFIG(.on = "nobody")), RDL_ERR_NOT_FOUND);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .vf = GUESTS + 2)), RDL_ERR_NOT_FOUND);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .vf = 0)), RDL_ERR_BUSY);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .vf = GUESTS, .vfs = 1)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.vfs = RDL_VFS_MAX + 1)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.vf = 1)), RDL_ERR_INVAL);
    assert_int_equal(
        try(f.lab, &(struct rdl_host_config){.name = "x", .vfs = 1, .device = DEVICE_pvrdma}),
        RDL_ERR_UNSUPPORTED);
    /* A guest that cannot boot gives its function back. */
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .vf = GUESTS, .ram_bytes = 65536)),
                     RDL_ERR_NOMEM);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .vf = GUESTS)), RDL_OK);
    /* Of four functions two are enabled. */
    assert_int_equal(try(f.lab, &(struct rdl_host_config){.name = "m2", .vfs = 4, .idle_vfs = 2}),
                     RDL_OK);
    assert_int_equal(try(f.lab, &(struct rdl_host_config){.name = "y", .on = "m2", .vf = 2}),
                     RDL_ERR_NO_DEVICE);
    assert_int_equal(try(f.lab, &(struct rdl_host_config){.name = "y", .on = "m2", .vf = 1}),
                     RDL_OK);
    assert_int_equal(rdl_vf_get(f.lab, f.host[0], GUESTS + 2, &set), RDL_ERR_NOT_FOUND);
    assert_int_equal(rdl_vf_get(f.lab, f.host[1], 0, &set), RDL_ERR_NOT_FOUND);
    assert_int_equal(rdl_vf_get(f.lab, f.host[0], 0, &set), RDL_OK);
    set.min_tx_bps = 2;
    set.max_tx_bps = 1;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 0, &set), RDL_ERR_INVAL);
    set.max_tx_bps = 0;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 0, &set), RDL_OK);
    set.mac[0] = 1;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 0, &set), RDL_ERR_INVAL);
    set.mac[0] = 0;
    set.state = 3;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 0, &set), RDL_ERR_INVAL);
    rdl_lab_free(f.lab);
}

/* The GIDs at the multiplexer of host number @raw. */
static uint32_t n_gids(const struct rdl_lab *lab, uint32_t raw)
{
    return lab->state->hosts[raw - 1]->port.sw->mux->n_gids;
}

static bool has_link(const struct fixture *f, rdl_host h)
{
    const struct vnet *net = lab_host(f->lab->state, h.raw)->net;

    return net->pci.device_config[NET_CONFIG_STATUS] & NET_STATUS_LINK_UP;
}

static void a_shared_port_is_of_the_machine(void **state)
{
    const uint8_t other_mac[6] = {2, 9};
    struct rdl_host_config c = {.name = "x", .device = DEVICE_virtio, .on = "m1", .shared = true};
    struct fixture f;
    rdl_host x;

    (void)state;
    set_up(&f, 1);
    assert_int_equal(try(f.lab, CONFIG(.shared = true)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.on = "h1", .shared = true)), RDL_ERR_NOT_FOUND);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .shared = true, .vf = 1)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .shared = true, .vlan = 1)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.on = "m1", .shared = true, .vrnic = true)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.mux = MUX_full)), RDL_ERR_INVAL);
    assert_int_equal(try(f.lab, CONFIG(.vfs = 1, .mux = MUX_rdmacm_mux + 1)), RDL_ERR_INVAL);
    memcpy(c.mac, other_mac, sizeof(c.mac));
    assert_int_equal(try(f.lab, &c), RDL_ERR_ADDRESS);
    memset(c.mac, 0, sizeof(c.mac));
    x = add(f.lab, &c);
    assert_ptr_equal(lab_host(f.lab->state, x.raw)->port.sw->ports[0].port->next_tenant,
                     &lab_host(f.lab->state, x.raw)->port);
    /* All tenants learn of the link. */
    assert_true(has_link(&f, x));
    assert_int_equal(rdl_link_raise(f.lab, f.cable, false), RDL_OK);
    assert_false(has_link(&f, x));
    rdl_lab_free(f.lab);
}

/* Writes SRIOV_CONTROL of @machine, so that its virtual functions exist, or none does. */
static void enable_functions(const struct fixture *f, rdl_host machine, bool enabled)
{
    struct rdl_pci_place control;

    assert_int_equal(rdl_pci_field(f->lab, machine, 1, PCI_SRIOV_CONTROL, &control), RDL_OK);
    assert_int_equal(rdl_pci_write(f->lab, machine, &control, enabled ? SRIOV_ENABLE : 0), RDL_OK);
}

/* Machines with four functions, of which the first ones exist at the beginning. */
static void functions_that_begin_idle_have_no_link(void **state)
{
    static const struct {
        uint32_t idle, exist;
        uint64_t features_off;
    } rows[] = {{0, 4, 0}, {1, 3, 0}, {4, 0, 0}, {0, 0, VIRTIO_FEATURE(VF_SR_IOV)}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct rdl_host_config machine = {
            .name = "m2", .vfs = 4, .idle_vfs = rows[i].idle, .features_off = rows[i].features_off};
        const struct rdl_link_config wire = {.a = "m2", .b = "s1"};
        const struct eswitch *sw;
        struct fixture f;
        rdl_switch other;
        rdl_link link;

        set_up(&f, 1);
        sw = lab_host(f.lab->state, add(f.lab, &machine).raw)->port.sw;
        assert_int_equal(rdl_switch_add(f.lab, "s1", &other), RDL_OK);
        assert_int_equal(rdl_link_add(f.lab, &wire, &link), RDL_OK);
        for (uint32_t vf = 0; vf < machine.vfs; vf++)
            assert_int_equal(eswitch_is_up(sw, eswitch_port_of_vf(vf)), vf < rows[i].exist);
        rdl_lab_free(f.lab);
    }
}

/* Of four functions two exist, then none, then two again. */
static void a_function_that_does_not_exist_has_no_link(void **state)
{
    const struct rdl_host_config machine = {.name = "m2", .vfs = 4, .idle_vfs = 2};
    const struct rdl_host_config guest = {.name = "x", .on = "m2", .vf = 1};
    const struct rdl_link_config wire = {.a = "m2", .b = "s1"};
    const struct eswitch *sw;
    struct fixture f;
    rdl_switch other;
    rdl_host m, x;
    rdl_link link;

    (void)state;
    set_up(&f, 1);
    m = add(f.lab, &machine);
    assert_int_equal(rdl_switch_add(f.lab, "s1", &other), RDL_OK);
    assert_int_equal(rdl_link_add(f.lab, &wire, &link), RDL_OK);
    sw = lab_host(f.lab->state, m.raw)->port.sw;
    x = add(f.lab, &guest);
    assert_true(has_link(&f, x));
    enable_functions(&f, m, false);
    assert_false(eswitch_is_up(sw, eswitch_port_of_vf(0)));
    assert_false(has_link(&f, x));
    assert_int_equal(rdl_link_raise(f.lab, link, false), RDL_OK);
    assert_int_equal(rdl_link_raise(f.lab, link, true), RDL_OK);
    assert_false(has_link(&f, x)); /* the cable is that of functions that exist */
    enable_functions(&f, m, true);
    assert_true(has_link(&f, x));
    assert_false(eswitch_is_up(sw, eswitch_port_of_vf(2)));
    rdl_lab_free(f.lab);
}

/* Nothing is left at the port of a guest that could not boot: without memory, or because the
 * multiplexer has its second address.
 */
static void a_guest_that_cannot_boot_leaves_the_port(void **state)
{
    struct rdl_host_config m = {
        .name = "m3", .device = DEVICE_virtio, .vfs = 1, .mux = MUX_rdmacm_mux};
    struct rdl_host_config c = {.name = "a", .device = DEVICE_virtio, .on = "m3", .shared = true};
    const uint8_t half[GID_BYTES] = {0xfd, [12] = 10, [15] = 77};
    struct fixture f;
    uint32_t raw;

    (void)state;
    set_up(&f, 1);
    raw = (uint32_t)add(f.lab, &m).raw;
    gid_from_ipv4(c.ipv4, (uint8_t[]){10, 0, 0, 77});
    (void)add(f.lab, &c);
    assert_int_equal(n_gids(f.lab, raw), 2);
    c = (struct rdl_host_config){
        .name = "b", .device = DEVICE_pvrdma, .on = "m3", .shared = true, .ram_bytes = 65536};
    assert_int_equal(try(f.lab, &c), RDL_ERR_NOMEM);
    c.ram_bytes = 0;
    memcpy(c.ipv6, half, GID_BYTES);
    assert_int_equal(try(f.lab, &c), RDL_ERR_DEVICE);
    assert_int_equal(n_gids(f.lab, raw), 2);
    assert_null(f.lab->state->hosts[raw - 1]->port.next_tenant->next_tenant);
    memset(c.ipv6, 0, GID_BYTES);
    assert_int_equal(try(f.lab, &c), RDL_OK);
    assert_int_equal(n_gids(f.lab, raw), 4);
    rdl_lab_free(f.lab);
}

/* Guarantees in Mbit/s on a cable of 1 Gbit/s: function, guarantee, status. */
static void guarantees_fit_the_cable(void **state)
{
    static const struct {
        uint32_t vf, mbit;
        enum rdl_status status;
    } rows[] = {
        {0, 1001, RDL_ERR_LIMIT}, {0, 1000, RDL_OK},       {1, 1, RDL_ERR_LIMIT}, {0, 600, RDL_OK},
        {1, 400, RDL_OK},         {1, 401, RDL_ERR_LIMIT}, {4, 1, RDL_ERR_LIMIT}, {1, 100, RDL_OK},
        {4, 300, RDL_OK},         {0, 601, RDL_ERR_LIMIT},
    };
    const struct rdl_link_config slow = {.rate_bps = 1000000};
    struct rdl_vf_settings set;
    struct fixture f;

    (void)state;
    set_up(&f, 1);
    /* 100 Gbit/s, and then 1 Gbit/s. */
    assert_int_equal(rdl_vf_get(f.lab, f.host[0], 2, &set), RDL_OK);
    set.min_tx_bps = 100000 * RDL_VF_RATE_UNIT + 1;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 2, &set), RDL_ERR_LIMIT);
    assert_int_equal(
        rdl_link_set(f.lab, f.cable, &(struct rdl_link_config){.rate_bps = 1000000000}), RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(rdl_vf_get(f.lab, f.host[0], rows[i].vf, &set), RDL_OK);
        set.min_tx_bps = rows[i].mbit * RDL_VF_RATE_UNIT;
        assert_int_equal(rdl_vf_set(f.lab, f.host[0], rows[i].vf, &set), rows[i].status);
    }
    /* A slower cable changes no setting: others can be changed, and guarantees become smaller. */
    assert_int_equal(rdl_link_set(f.lab, f.cable, &slow), RDL_OK);
    assert_int_equal(rdl_vf_get(f.lab, f.host[0], 0, &set), RDL_OK);
    assert_int_equal(set.min_tx_bps, 600 * RDL_VF_RATE_UNIT);
    set.trust = true;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 0, &set), RDL_OK);
    set.min_tx_bps = 500 * RDL_VF_RATE_UNIT;
    assert_int_equal(rdl_vf_set(f.lab, f.host[0], 0, &set), RDL_OK);
    rdl_lab_free(f.lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarantees_fit_the_cable),
        cmocka_unit_test(frames_go_where_the_rules_say),
        cmocka_unit_test(frames_of_any_length_end_once),
        cmocka_unit_test(not_everything_is_a_guest),
        cmocka_unit_test(a_shared_port_is_of_the_machine),
        cmocka_unit_test(functions_that_begin_idle_have_no_link),
        cmocka_unit_test(a_function_that_does_not_exist_has_no_link),
        cmocka_unit_test(a_guest_that_cannot_boot_leaves_the_port),
    };

    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
