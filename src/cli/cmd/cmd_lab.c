/* SPDX-License-Identifier: MIT */
/* Commands that build the lab: host, switch, link, set; also what a session tells and keeps. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/link.h"
#include "cli/cmd/verb.h"
#include "cli/lang/words.h"
#include "cli/session/position.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/page_size.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/wire/addr.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

static void read_address(const struct step *st, const char *param, uint8_t ret[GID_BYTES])
{
    const char *text = step_text(st, param);

    /* The parser has checked it. */
    if (text)
        (void)addr_parse(text, ret);
}

static void say_host(struct session *s, const struct step *st, const struct rdl_host_config *c,
                     rdl_host host)
{
    const char *profile = step_text(st, "profile"), *device = rdl_device_name(c->device);
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    char addr_text[ADDR_TEXT_MAX], mac_text[MAC_TEXT_MAX];
    struct text a = text_on(addr_text, sizeof(addr_text)), m = text_on(mac_text, sizeof(mac_text));

    if (rdl_host_address(s->lab, host, 0, gid, mac) != RDL_OK)
        return;
    addr_add(&a, gid);
    mac_add(&m, mac);
    session_say(s, "%s  %s  %s  %s%s%s%s%s\n", c->name, addr_text, mac_text,
                c->external ? "waits for a virtual machine (help port)"
                : device    ? device
                            : "no RDMA device",
                device && !c->external ? " up" : "", profile ? ", profile " : "",
                profile ? profile : "", c->ring == VRING_packed ? ", packed rings" : "");
}

/* Returns the parameter whose address @host already has; NULL: none. */
static const char *shared_address(const struct session *s, rdl_host host,
                                  const struct rdl_host_config *c)
{
    static const uint8_t none[GID_BYTES];
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];

    for (uint32_t i = 0; rdl_host_address(s->lab, host, i, gid, mac) == RDL_OK; i++) {
        if (memcmp(gid, none, GID_BYTES) == 0)
            continue;
        if (memcmp(c->ipv4, gid, GID_BYTES) == 0)
            return "ip";
        if (memcmp(c->ipv6, gid, GID_BYTES) == 0)
            return "ip6";
        if (memcmp(c->mac, mac, MAC_BYTES) == 0)
            return "mac";
    }
    return NULL;
}

/* Returns true if an address for a new host is that of another host. */
static bool address_is_taken(struct session *s, const struct step *st,
                             const struct rdl_host_config *c)
{
    const char *param = NULL;
    struct tree_list nodes;
    rdl_host host;
    size_t at;

    if (tree_children(s->lab, "", &nodes, &at) != RDL_OK)
        nodes.n = 0;
    for (size_t i = 0; i < nodes.n && !param; i++) {
        if (rdl_find_host(s->lab, nodes.v[i].key, &host) != RDL_OK)
            continue;
        param = shared_address(s, host, c);
        if (!param)
            continue;
        session_fail(s, step_span(st, param, 0), "%s has the address %s", nodes.v[i].key,
                     step_text(st, param));
        diag_remedy(&s->diag, "give %s another one; \"show hosts\" lists those that are taken",
                    c->name);
    }
    tree_done(&nodes);
    return param != NULL;
}

/* Fails because rdl_host_add() returned @status for @name. */
static bool tell_host_failed(struct session *s, const struct step *st, const struct value *name,
                             enum rdl_status status)
{
    if (status == RDL_ERR_INVAL) {
        session_fail(s, name->at, "%s: no host can be like that", name->text);
        return diag_remedy(&s->diag,
                           "mac= is a unicast address, ram= a multiple of 4k up to 1024g");
    }
    if (status == RDL_ERR_ADDRESS && !step_has(st, "ip")) {
        session_fail(s, name->at, "%s would get an address that another host was given",
                     name->text);
        return diag_remedy(&s->diag, "say which one it shall have: host %s ip=ADDRESS", name->text);
    }
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, name->at, "%s: the hosts of the lab have no driver for that device",
                     name->text);
        return diag_remedy(&s->diag, "a virtual machine may have one: host %s vm device=%s",
                           name->text, step_text(st, "device"));
    }
    return limit_fail(s, name->at, LIMIT_HOSTS, name->text, status);
}

static bool host_failed(struct session *s, const struct step *st, const struct value *name,
                        enum rdl_status status)
{
    tell_host_failed(s, st, name, status);
    return diag_reason(&s->diag, (uint32_t)status);
}

/* Reads the P_Key table, if it is given. */
static bool read_pkeys(struct session *s, const struct step *st, struct rdl_host_config *c)
{
    const struct arg *pkeys = step_arg(st, "pkeys");

    if (pkeys->n > RDL_PKEYS_MAX) {
        session_fail(s, step_span(st, "pkeys", RDL_PKEYS_MAX), "a P_Key table has %u entries",
                     RDL_PKEYS_MAX);
        return diag_remedy(&s->diag, "leave out what is too much");
    }
    for (size_t i = 0; i < pkeys->n; i++) {
        c->pkeys[i] = (uint16_t)value_number(step_param(st, "pkeys"), pkeys->v[i].text);
        if (pkey_is_valid(c->pkeys[i]))
            continue;
        session_fail(s, pkeys->v[i].at, "no partition has number 0");
        return diag_remedy(&s->diag,
                           "0x8001 is a full member of partition 1, 0x0001 a limited one");
    }
    c->n_pkeys = (uint32_t)pkeys->n;
    return true;
}

#define CEQ_BIT     VIRTIO_FEATURE(VF_CEQ)
#define ARM_MEM_BIT VIRTIO_FEATURE(VF_ARM_MEM)

static bool features_are_sound(struct session *s, const struct step *st,
                               const struct rdl_host_config *c)
{
    if (c->features_off & UINT64_C(1) << VF_VERSION_1) {
        session_fail(s, step_span(st, "features_off", 0), "VERSION_1 is always offered");
        return diag_remedy(&s->diag, "there is no device here from before virtio 1.0");
    }
    if (c->ring == VRING_packed && c->features_off & UINT64_C(1) << VF_RING_PACKED) {
        session_fail(s, step_span(st, "ring", 0),
                     "a device without RING_PACKED has no packed rings");
        return diag_remedy(&s->diag, "leave one of the two out");
    }
    if (c->indirect && c->features_off & UINT64_C(1) << VF_INDIRECT_DESC) {
        session_fail(s, step_span(st, "indirect", 0),
                     "a device without INDIRECT_DESC looks into no table of descriptors");
        return diag_remedy(&s->diag, "leave one of the two out");
    }
    if ((rdma_extensions(c->extensions) & (ARM_MEM_BIT | CEQ_BIT)) == ARM_MEM_BIT) {
        session_fail(s, step_span(st, "extensions", 0), "ARM_MEM needs CEQ");
        return diag_remedy(&s->diag, "extensions=ceq,arm_mem");
    }
    return true;
}

/* Checks what is said of the sizes of virtqueues and pages. */
static bool sizes_are_sound(struct session *s, const struct step *st,
                            const struct rdl_host_config *c)
{
    const uint32_t size = c->queue_size ? c->queue_size
                          : c->external ? RDL_QUEUE_SIZE_VM
                                        : RDL_QUEUE_SIZE_MAX;

    if (!is_pow2(size)) {
        session_fail(s, step_span(st, "queue_size", 0), "%u is no power of two", size);
        return diag_remedy(&s->diag, "queue_size=%u is the next smaller one", 1u << ilog2(size));
    }
    if (c->page_sizes != 0 && !(c->page_sizes & 1u << PAGE_4k)) {
        session_fail(s, step_span(st, "page_sizes", 0), "every device takes pages of 4k");
        return diag_remedy(&s->diag, "add 4k to page_sizes=");
    }
#define FITS(limit)                                                                                \
    if (c->device == DEVICE_virtio && c->limits.limit > size) {                                    \
        session_fail(s, step_span(st, #limit, 0), "a virtqueue has at most %u entries", size);     \
        return diag_remedy(&s->diag, "queue_size=%u has room for it",                              \
                           (uint32_t)pow2_ceil(c->limits.limit));                                  \
    }
    RDL_DEVICE_LIMITS_QUEUED(FITS)
#undef FITS
    return true;
}

/* Reads the limits of the device; 0 if @st does not have one: then the device decides. */
static struct rdl_device_limits read_limits(const struct step *st)
{
    struct rdl_device_limits l = {0};

#define READ(name, ...) l.name = (uint32_t)step_number_or(st, #name, 0);
    RDL_DEVICE_LIMITS(READ)
    RDL_DEVICE_LIMITS_DERIVED(READ)
#undef READ
    return l;
}

/* Takes pvrdma's dev-caps-NAME as NAME.  Returns false if both were given. */
static bool read_dev_caps(struct session *s, const struct step *st, struct rdl_host_config *c)
{
    const struct {
        const char *param, *name;
        uint32_t *value;
    } rows[] = {
        {"dev_caps_max_mr_size", "max_mr_size", &c->limits.max_mr_size},
        {"dev_caps_max_qp", "max_qp", &c->max_qp},
        {"dev_caps_max_cq", "max_cq", &c->max_cq},
        {"dev_caps_max_mr", "max_mr", &c->limits.max_mr},
        {"dev_caps_max_pd", "max_pd", &c->limits.max_pd},
        {"dev_caps_max_ah", "max_ah", &c->limits.max_ah},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!step_has(st, rows[i].param))
            continue;
        if (step_has(st, rows[i].name)) {
            session_fail(s, step_span(st, rows[i].param, 0), "%s and %s are the same limit",
                         rows[i].param, rows[i].name);
            return diag_remedy(&s->diag, "give one of them");
        }
        *rows[i].value = (uint32_t)step_number(st, rows[i].param);
    }
    return true;
}

/* Checks that nothing is said about an RDMA device that the host does not have. */
static bool device_takes(struct session *s, const struct step *st, uint32_t device)
{
    const struct {
        unsigned flag;
        bool has;
        const char *needs, *remedy;
    } rows[] = {
        {P_RDMA, device != DEVICE_none, "an RDMA device", "leave it out, or leave out device=none"},
        {P_VIRTIO, device == DEVICE_virtio, "virtio-rdma", "leave it out, or say device=virtio"},
        {P_PVRDMA, device == DEVICE_pvrdma, "PVRDMA", "leave it out, or say device=pvrdma"},
    };

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];

        for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
            if (rows[r].has || !(p->flags & rows[r].flag) || !step_has(st, p->name))
                continue;
            session_fail(s, step_span(st, p->name, 0), "%s needs %s", p->name, rows[r].needs);
            diag_reason(&s->diag, RDL_ERR_NO_DEVICE);
            return diag_remedy(&s->diag, "%s", rows[r].remedy);
        }
    }
    return true;
}

/* Returns the number of hosts in the lab. */
static uint32_t count_hosts(const struct session *s)
{
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    uint32_t n = 0;

    while (rdl_host_address(s->lab, (rdl_host){n + 1}, 0, gid, mac) == RDL_OK)
        n++;
    return n;
}

/* The device of the next host.  A virtual machine brings a driver for the usual one. */
static uint32_t device_of(const struct session *s, const struct step *st)
{
    const struct session_devices *d = &s->config.devices;

    if (step_has(st, "device") || step_has(st, "vm") || (d->mixed && count_hosts(s) % 2 == 0))
        return (uint32_t)step_number(st, "device");
    return d->device;
}

/* The extensions of the next host's device. */
static uint64_t extensions_of(const struct session *s, const struct step *st)
{
    return step_has(st, "extensions") ? step_bits(st, "extensions") : s->config.devices.extensions;
}

bool run_host(struct session *s, const struct step *st)
{
    const struct arg *names = step_arg(st, "names");
    const bool single = step_has(st, "mac") || step_has(st, "ip") || step_has(st, "ip6");
    struct rdl_host_config config = {
        .device = device_of(s, st),
        .version = (uint32_t)step_number(st, "version"),
        .vectors = (uint32_t)step_number(st, "vectors"),
        .ram_bytes = step_number(st, "ram"),
        .max_cq = (uint32_t)step_number(st, "max_cq"),
        .max_qp = (uint32_t)step_number(st, "max_qp"),
        .max_srq = (uint32_t)step_number(st, "max_srq"),
        .extensions = extensions_of(s, st),
        .ceqs = (uint32_t)step_number(st, "ceqs"),
        .device_mtu = mtu_bytes((uint32_t)step_number(st, "device_mtu")),
        .mtu = (uint32_t)step_number_or(st, "mtu", 0),
        .profile = (uint32_t)step_number(st, "profile"),
        .ring = (uint32_t)step_number(st, "ring"),
        .indirect = step_has(st, "indirect"),
        .arp = step_has(st, "arp"),
        .external = step_has(st, "vm"),
        .on_demand = step_has(st, "on_demand"),
        .rx_buffer = (uint32_t)step_number_or(st, "rx_buffer", 0),
        .limits = read_limits(st),
        .queue_size = (uint32_t)step_number_or(st, "queue_size", 0),
        .page_sizes = (uint32_t)step_bits(st, "page_sizes"),
        .intx = step_number(st, "irq") == IRQ_INTX,
    };

    if (single && names->n > 1) {
        session_fail(s, step_span(st, "names", 1), "several hosts cannot share an address");
        return diag_remedy(&s->diag, "give each a line of its own");
    }
    if (step_has(st, "mac"))
        (void)mac_parse(step_text(st, "mac"), config.mac); /* checked by the parser */
    if (!device_takes(s, st, config.device))
        return false;
    if (!read_pkeys(s, st, &config) || !read_dev_caps(s, st, &config))
        return false;
    read_address(st, "ip", config.ipv4);
    read_address(st, "ip6", config.ipv6);
    config.features_off = step_bits(st, "features_off");
    config.name = names->v[0].text;
    if (!features_are_sound(s, st, &config) || !sizes_are_sound(s, st, &config))
        return false;
    for (size_t i = 0; i < names->n; i++) {
        rdl_host host;
        enum rdl_status status;

        config.name = names->v[i].text;
        config.device = device_of(s, st);
        if (single && address_is_taken(s, st, &config))
            return false;
        status = rdl_host_add(s->lab, &config, &host);
        if (status != RDL_OK)
            return host_failed(s, st, &names->v[i], status);
        say_host(s, st, &config, host);
    }
    return true;
}

bool run_limit(struct session *s, const struct step *st)
{
    struct rdl_device_limits l = {0};
    enum rdl_status status;
    struct home home;
    bool any = false;

    if (!verb_home(s, st, &home))
        return false;
#define READ(name)                                                                                 \
    any = any || step_has(st, #name);                                                              \
    l.name = (uint32_t)step_number_or(st, #name, 0);
    RDL_DEVICE_LIMITS_LIVE(READ)
#undef READ
    if (!any) {
        session_fail(s, st->at, "which limit of %s?", home.name);
        return diag_remedy(&s->diag, "\"show device %s\" lists them", home.name);
    }
    status = rdl_host_limit(s->lab, home.host, &l);
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, st->at, "the limits of %s do not change", home.name);
        return verb_absent(s, &home, PV_NO_LIMIT, "give them when the host is added");
    }
    if (status != RDL_ERR_LIMIT)
        return status == RDL_OK || session_fail_status(s, st->at, "limit", status);
    session_fail(s, st->at, "%s was added with less", home.name);
    diag_reason(&s->diag, RDL_ERR_LIMIT);
    return diag_remedy(&s->diag, "its device has taken its tables by that");
}

/* Returns true if @name is that of a future.  Then s->diag says so: other programs call `switch`
 * what is `future` here.
 */
static bool is_future(struct session *s, const struct value *name)
{
    if (!session_has_future(s, name->text))
        return false;
    session_fail(s, name->at, "\"%s\" is a future, and this makes an Ethernet switch", name->text);
    diag_remedy(&s->diag, "\"future %s\" goes there", name->text);
    return true;
}

bool run_switch(struct session *s, const struct step *st)
{
    const struct arg *names = step_arg(st, "names");

    for (size_t i = 0; i < names->n; i++) {
        enum rdl_status status;
        rdl_switch made;

        if (is_future(s, &names->v[i]))
            return false;
        status = rdl_switch_add(s->lab, names->v[i].text, &made);
        if (status != RDL_OK)
            return limit_fail(s, names->v[i].at, LIMIT_SWITCHES, names->v[i].text, status);
    }
    return true;
}

#define PPM_ALL               1000000u
#define BURST_FRAMES_STANDARD 4u

/* Reads the properties of a new link beyond those of every cable. */
static bool read_new_way(struct session *s, const struct step *st, struct rdl_way_config *ret)
{
    const uint32_t burst = (uint32_t)step_number(st, "burst");

    if (!burst && (step_has(st, "burst_frames") || step_has(st, "burst_loss"))) {
        session_fail(s, st->at, "this link would have no bursts");
        return diag_remedy(&s->diag, "burst= is the chance that one begins, like burst=1%%");
    }
    *ret = (struct rdl_way_config){
        .latency_ns = step_number(st, "latency"),
        .rate_bps = step_number(st, "rate"),
        .loss_ppm = (uint32_t)step_number(st, "loss"),
        .jitter_ns = step_number(st, "jitter"),
        .burst_ppm = burst,
        .burst_frames =
            burst ? (uint32_t)step_number_or(st, "burst_frames", BURST_FRAMES_STANDARD) : 0,
        .burst_loss_ppm = burst ? (uint32_t)step_number_or(st, "burst_loss", PPM_ALL) : 0,
    };
    return true;
}

/* Sets both directions of the new link. */
static bool set_new_ways(struct session *s, const struct step *st, rdl_link link,
                         const struct rdl_way_config *way)
{
    enum rdl_status status = RDL_OK;

    if (!way->jitter_ns && !way->burst_ppm)
        return true;
    for (uint32_t end = 0; end < 2 && status == RDL_OK; end++)
        status = rdl_link_set_way(s->lab, link, end, way);
    return status == RDL_OK || session_fail_status(s, st->at, step_text(st, "a"), status);
}

bool run_link(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const struct rdl_link_config config = {
        .a = step_text(st, "a"),
        .b = step_text(st, "b"),
        .latency_ns = step_number(st, "latency"),
        .rate_bps = step_number(st, "rate"),
        .loss_ppm = (uint32_t)step_number(st, "loss"),
    };
    struct rdl_way_config way = {0};
    struct rdl_value v;
    rdl_link made;
    size_t at;
    enum rdl_status status;

    if (!read_new_way(s, st, &way))
        return false;
    if (rdl_inspect(s->lab, config.a, &v, &at) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "a", 0), config.a, "no host or switch", &s->diag);
    if (rdl_inspect(s->lab, config.b, &v, &at) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "b", 0), config.b, "no host or switch", &s->diag);
    if (strcmp(config.a, config.b) == 0) {
        session_fail(s, step_span(st, "b", 0), "a link has two different ends");
        return diag_remedy(&s->diag, "a host reaches itself without one");
    }
    status = rdl_link_add(s->lab, &config, &made);
    if (status == RDL_ERR_BUSY) {
        session_fail(s, st->at, "a host has one port, and one of these is linked already");
        return diag_remedy(&s->diag, "put a switch between: switch s1; link %s s1", config.a);
    }
    if (status == RDL_ERR_EXISTS) {
        session_fail(s, st->at, "the link would be called %s-%s, and something else is", config.a,
                     config.b);
        return diag_remedy(&s->diag, "\"link %s %s\" makes one with another name", config.b,
                           config.a);
    }
    if (status != RDL_OK)
        return limit_fail_link(s, st, config.a, config.b, status);
    return set_new_ways(s, st, made, &way);
}

bool link_named(struct session *s, const struct step *st, rdl_link *ret)
{
    const char *text = step_text(st, "link");
    char a[2 * RDL_NAME_BYTES];

    for (const char *dash = strchr(text, '-'); dash; dash = strchr(dash + 1, '-')) {
        struct text t = text_on(a, sizeof(a));

        text_addn(&t, text, (size_t)(dash - text));
        if (rdl_link_find(s->lab, a, dash + 1, ret) == RDL_OK)
            return true;
    }
    session_fail(s, step_span(st, "link", 0), "no link is called \"%s\"", text);
    return diag_remedy(&s->diag, "\"show links\" lists them");
}

/* Returns the present value of a property of @node. */
static uint64_t now(struct session *s, const char *node, enum leaf_id leaf)
{
    return tree_number(s->lab, node, leaf);
}

/* Returns true if a key is given that is about a direction of a link. */
static bool is_about_ways(const struct step *st)
{
    static const char *const keys[] = {"from", "jitter", "burst", "burst_frames", "burst_loss"};
    bool given = false;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        given = given || step_has(st, keys[i]);
    return given;
}

/* Returns true if each direction of the link called @name has its own properties. */
static bool ways_differ(struct session *s, const char *name)
{
    static const enum leaf_id leaves[] = {LEAF_way_latency, LEAF_way_rate, LEAF_way_loss_ppm};
    char there[TREE_PATH_BYTES], back[TREE_PATH_BYTES];
    bool differ = false;

    if (!tree_child(s->lab, name, CHILD_link_there, there) ||
        !tree_child(s->lab, name, CHILD_link_back, back))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(leaves); i++)
        differ = differ || now(s, there, leaves[i]) != now(s, back, leaves[i]);
    return differ;
}

/* Reads the properties of the direction @way of the tree, changed as @st says. */
static bool read_way(struct session *s, const struct step *st, const char *way,
                     struct rdl_way_config *ret)
{
    const uint64_t frames = now(s, way, LEAF_way_burst_frames);
    const uint64_t was = now(s, way, LEAF_way_burst_ppm);
    const uint64_t loss = was ? now(s, way, LEAF_way_burst_loss_ppm) : PPM_ALL;
    const uint64_t burst = step_number_or(st, "burst", was);

    if (!burst && (step_has(st, "burst_frames") || step_has(st, "burst_loss"))) {
        session_fail(s, st->at, "there are no bursts in this direction of the link: %s", way);
        return diag_remedy(&s->diag,
                           "burst= is the chance that one begins, like burst=1%%; from= names the "
                           "direction that has them");
    }
    *ret = (struct rdl_way_config){
        .latency_ns = step_number_or(st, "latency", now(s, way, LEAF_way_latency)),
        .rate_bps = step_number_or(st, "rate", now(s, way, LEAF_way_rate)),
        .jitter_ns = step_number_or(st, "jitter", now(s, way, LEAF_way_jitter)),
        .loss_ppm = (uint32_t)step_number_or(st, "loss", now(s, way, LEAF_way_loss_ppm)),
        .burst_ppm = (uint32_t)burst,
        .burst_frames = burst ? (uint32_t)step_number_or(st, "burst_frames",
                                                         was ? frames : BURST_FRAMES_STANDARD)
                              : 0,
        .burst_loss_ppm = burst ? (uint32_t)step_number_or(st, "burst_loss", loss) : 0,
    };
    return true;
}

/* Changes both directions, or the one from the node that from= names. */
static bool set_ways(struct session *s, const struct step *st, rdl_link link)
{
    static const enum child_id children[] = {CHILD_link_there, CHILD_link_back};
    static const enum leaf_id ends[] = {LEAF_link_a, LEAF_link_b};
    const char *from = step_text(st, "from");
    char name[RDL_VALUE_BYTES], way[TREE_PATH_BYTES];
    struct rdl_way_config config[2];
    bool chosen[2] = {false, false};

    rdl_path_of(s->lab, OBJ_LINK, link.raw, name);
    for (uint32_t end = 0; end < 2; end++) {
        struct rdl_value v;

        if (from && tree_leaf(s->lab, name, ends[end], &v) && strcmp(v.text, from) != 0)
            continue;
        chosen[end] = tree_child(s->lab, name, children[end], way);
        if (chosen[end] && !read_way(s, st, way, &config[end]))
            return false; /* of both nothing has changed */
    }
    for (uint32_t end = 0; end < 2; end++) {
        const enum rdl_status status =
            chosen[end] ? rdl_link_set_way(s->lab, link, end, &config[end]) : RDL_OK;

        if (status != RDL_OK)
            return session_fail_status(s, st->at, step_text(st, "link"), status);
    }
    if (chosen[0] || chosen[1])
        return true;
    session_fail(s, step_span(st, "from", 0), "%s is no end of %s", from, name);
    return diag_remedy(&s->diag, "from= is one of the two names in %s", name);
}

static bool set_link(struct session *s, const struct step *st)
{
    struct rdl_link_config config = {0};
    const bool up = step_has(st, "up"), down = step_has(st, "down");
    enum rdl_status status = RDL_OK;
    char name[RDL_VALUE_BYTES];
    rdl_link link = {0};

    if (!link_named(s, st, &link))
        return false;
    if (up && down)
        return session_fail(s, st->at, "a link cannot be up and down at the same time");
    if ((up || down) && step_has(st, "from")) {
        session_fail(s, step_span(st, "from", 0), "a plug is pulled for both directions");
        return diag_remedy(&s->diag, "loss=100%% with from= lets nothing through one way");
    }
    if (up || down)
        status = rdl_link_raise(s->lab, link, up);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, step_text(st, "link"), status);
    if ((up || down) && !is_about_ways(st) && !step_has(st, "latency") && !step_has(st, "rate") &&
        !step_has(st, "loss"))
        return true;
    rdl_path_of(s->lab, OBJ_LINK, link.raw, name);
    if (is_about_ways(st) || ways_differ(s, name))
        return set_ways(s, st, link);
    config.latency_ns = step_number_or(st, "latency", now(s, name, LEAF_link_latency));
    config.rate_bps = step_number_or(st, "rate", now(s, name, LEAF_link_rate));
    config.loss_ppm = (uint32_t)step_number_or(st, "loss", now(s, name, LEAF_link_loss_ppm));
    status = rdl_link_set(s->lab, link, &config);
    return status == RDL_OK || session_fail_status(s, st->at, step_text(st, "link"), status);
}

static bool set_history(struct session *s, const struct step *st)
{
    if (!position_can_go_back(s, st->at))
        return false;
    session_limit_history(s, (size_t)step_number(st, "history"));
    return true;
}

/* Finds the setting: the one whose value is given, as in "set changes on", "set history=64m". */
static bool read_setting(struct session *s, const struct step *st, enum setting *ret)
{
    static const struct {
        const char *param;
        enum setting what;
    } rows[] = {{"link", SET_LINK},
                {"changes", SET_CHANGES},
                {"history", SET_HISTORY},
                {"hints", SET_HINTS},
                {"events", SET_EVENTS}};
    unsigned n = 0;

    *ret = SET_LINK;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!step_has(st, rows[i].param))
            continue;
        n++;
        *ret = rows[i].what;
    }
    if (n == 1 && step_number_or(st, "what", *ret) == *ret)
        return true;
    session_fail(s, st->at, n ? "one thing is set at a time" : "set what?");
    return diag_remedy(&s->diag, "it is one of: set link A-B ..., set changes on, set history=64m, "
                                 "set hints off, set events connections");
}

/* Prints the settings of the session. */
static void say_settings(struct session *s)
{
    char most[32], taken[32];
    struct text m = text_on(most, sizeof(most)), t = text_on(taken, sizeof(taken));
    const struct history_memory h = session_history_memory(s);

    quantity_add(&m, QUANTITY_SIZE, h.bytes_max);
    quantity_add(&t, QUANTITY_SIZE, h.bytes);
    session_say(s, "changes  %s\n",
                s->display.changes.told == CHANGES_OFF  ? "off"
                : s->display.changes.told == CHANGES_ON ? "on"
                                                        : "all");
    if (h.bytes_max)
        session_say(s, "history  %s at most; %zu snapshot%s take%s %s\n", most, h.n_snapshots,
                    h.n_snapshots == 1 ? "" : "s", h.n_snapshots == 1 ? "s" : "", taken);
    else
        session_say(s, "history  none is kept: this lab cannot go back\n");
    session_say(s, "hints    %s\n", s->prompt.hints_off ? "off" : "on");
    session_say(s, "events   %s\n", s->display.shown.connections ? "connections" : "all");
}

bool run_set(struct session *s, const struct step *st)
{
    enum setting what;

    if (step_is_bare(st)) {
        say_settings(s);
        return true;
    }

    if (!read_setting(s, st, &what))
        return false;
    switch (what) {
    case SET_CHANGES:
        changes_set(s, (enum changes_told)step_number(st, "changes"));
        return true;
    case SET_HISTORY:
        return set_history(s, st);
    case SET_HINTS:
        s->prompt.hints_off = step_number(st, "hints") == HINTS_OFF;
        return true;
    case SET_EVENTS:
        s->display.shown.connections = step_number(st, "events") == EVENTS_CONNECTIONS;
        return true;
    case SET_LINK:
        break;
    }
    return set_link(s, st);
}
