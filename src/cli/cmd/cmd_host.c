/* SPDX-License-Identifier: MIT */
/* The commands host, machine, guest and limit. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/verb.h"
#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/base/plural.h"
#include "emu/base/text.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/mux.h"
#include "emu/facts/enum/page_size.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/wire/addr.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "rdmalab/machine.h"
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
    char where[96] = "";
    struct text place = text_on(where, sizeof(where));
    struct text a = text_on(addr_text, sizeof(addr_text)), m = text_on(mac_text, sizeof(mac_text));

    if (rdl_host_address(s->lab, host, 0, gid, mac) != RDL_OK)
        return;
    addr_add(&a, gid);
    mac_add(&m, mac);
    if (c->vfs > 0)
        text_addf(&place, ", %u virtual function%s", c->vfs, plural_s(c->vfs));
    if (c->mux != MUX_none)
        text_addf(&place, ", multiplexer %s", enum_name(&enum_mux_profile, c->mux));
    if (c->idle_vfs > 0)
        text_addf(&place, ", %u enabled", c->vfs - c->idle_vfs);
    if (c->vrnic)
        text_addf(&place, ", virtual RNIC on %s, group %u", c->on, c->group);
    if (c->vrnic_vfs > 1)
        text_addf(&place, ", up to %u functions", c->vrnic_vfs);
    if (c->shared)
        text_addf(&place, ", shares the port of %s", c->on);
    else if (c->on && !c->vrnic)
        text_addf(&place, ", function %u of %s", c->vf, c->on);
    if (c->router)
        text_addf(&place, ", behind the router of %s", c->on);
    session_say(s, "%s  %s  %s  %s%s%s%s%s%s\n", c->name, addr_text, mac_text,
                c->external ? "waits for a virtual machine (help port)"
                : device    ? device
                            : "no RDMA device",
                device && !c->external ? " up" : "", profile ? ", profile " : "",
                profile ? profile : "", c->ring == VRING_packed ? ", packed rings" : "", where);
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

/* Returns true if a function of @machine has a guest. */
static bool has_guests(const struct session *s, const char *machine)
{
    char vf[TREE_PATH_BYTES];
    struct rdl_value guest;

    for (uint64_t i = 0; tree_element(s->lab, machine, CHILD_host_vfs, i, vf); i++) {
        if (tree_leaf(s->lab, vf, LEAF_vf_guest, &guest) && guest.text[0] != '\0')
            return true;
    }
    return false;
}

/* Fails because rdl_host_add() returned @status for the guest @name.  Returns false, without a
 * text, if the status is no matter of guests.
 */
static bool tell_guest_failed(struct session *s, const struct step *st, const struct value *name,
                              const struct rdl_host_config *c, enum rdl_status status)
{
    char mux[TREE_PATH_BYTES];

    if (status == RDL_ERR_DEVICE && c->shared && tree_child(s->lab, c->on, CHILD_host_mux, mux)) {
        session_fail(s, name->at,
                     "%s: the multiplexer of %s takes one of its addresses for that of"
                     " another guest",
                     name->text, c->on);
        diag_remedy(&s->diag, "\"show %s.gid\" lists them; give %s others by ip= or ip6=", mux,
                    name->text);
        return true;
    }
    if (status == RDL_ERR_NOT_FOUND && c->vrnic_with) {
        session_fail(s, step_span(st, "with", 0), "%s is no guest of %s with a virtual RNIC",
                     c->vrnic_with, c->on);
        diag_remedy(&s->diag, "guest g1 on %s vrnic adds one", c->on);
    } else if (status == RDL_ERR_NOT_FOUND && !step_has(st, "vf")) {
        session_fail(s, name->at, "%s: %s has no free function for it", name->text, c->on);
        diag_remedy(&s->diag, "\"show %s.vfs\" lists them; machine m1 vfs=16 has sixteen", c->on);
    } else if (status == RDL_ERR_NOT_FOUND) {
        session_fail(s, name->at, "%s: %s has no function %u", name->text, c->on, c->vf);
        diag_remedy(&s->diag, "\"show %s.vfs\" lists them; machine m1 vfs=16 has sixteen", c->on);
    } else if (status == RDL_ERR_NO_DEVICE) {
        session_fail(s, name->at, "%s: function %u of %s is not enabled", name->text, c->vf, c->on);
        if (has_guests(s, c->on))
            diag_remedy(&s->diag,
                        "the guests of %s keep their functions: \"back\" to before the first one, "
                        "then vf enable %s %u",
                        c->on, c->on, c->vf + 1);
        else
            diag_remedy(&s->diag, "vf enable %s %u", c->on, c->vf + 1);
    } else if (status == RDL_ERR_BUSY) {
        session_fail(s, name->at, "%s: function %u of %s has a guest", name->text, c->vf, c->on);
        diag_remedy(&s->diag,
                    "\"show %s.vfs\" lists them; without vf= it is the first that is free", c->on);
    } else {
        return false;
    }
    return true;
}

/* Fails because rdl_host_add() returned @status for @name with @c. */
static bool tell_host_failed(struct session *s, const struct step *st, const struct value *name,
                             const struct rdl_host_config *c, enum rdl_status status)
{
    if (status == RDL_ERR_INVAL) {
        session_fail(s, name->at, "%s: no host can be like that", name->text);
        return diag_remedy(&s->diag,
                           "mac= is a unicast address, ram= a multiple of 4k up to 1024g");
    }
    if (status == RDL_ERR_ADDRESS && !step_has(st, "ip")) {
        session_fail(s, name->at, "%s would get an address that another host was given",
                     name->text);
        return diag_remedy(&s->diag, "say which one it shall have: %s %s ip=ADDRESS", st->cmd->name,
                           name->text);
    }
    if (c->on && tell_guest_failed(s, st, name, c, status))
        return false;
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, name->at, "%s: the hosts of the lab have no driver for that device",
                     name->text);
        return diag_remedy(&s->diag, "a virtual machine may have one: %s %s vm device=%s",
                           st->cmd->name, name->text, step_text(st, "device"));
    }
    return limit_fail(s, name->at, LIMIT_HOSTS, name->text, status);
}

static bool host_failed(struct session *s, const struct step *st, const struct value *name,
                        const struct rdl_host_config *c, enum rdl_status status)
{
    tell_host_failed(s, st, name, c, status);
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
#define NONE_BIT    VIRTIO_FEATURE(EXT_NONE)

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
    if (c->extensions & NONE_BIT && c->extensions != NONE_BIT) {
        session_fail(s, step_span(st, "extensions", 0), "NONE stands beside other extensions");
        return diag_remedy(&s->diag, "leave NONE out, or say extensions=none");
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

/* Reads what @st says of new hosts, but their names. */
static bool read_host(struct session *s, const struct step *st, struct rdl_host_config *ret)
{
    *ret = (struct rdl_host_config){
        .name = step_text(st, "names"),
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
        .features_off = step_bits(st, "features_off"),
        .intx = step_number(st, "irq") == IRQ_INTX,
        .vlan = (uint32_t)step_number_or(st, "vlan", 0),
        .pcp = (uint32_t)step_number(st, "qos"),
    };

    if (step_has(st, "mac"))
        (void)mac_parse(step_text(st, "mac"), ret->mac); /* checked by the parser */
    read_address(st, "ip", ret->ipv4);
    read_address(st, "ip6", ret->ipv6);
    return verb_priority_fits(s, st, ret->vlan) && device_takes(s, st, ret->device) &&
           read_pkeys(s, st, ret) && read_dev_caps(s, st, ret) && features_are_sound(s, st, ret) &&
           sizes_are_sound(s, st, ret);
}

/* Adds the hosts that @st names; it says what each of them has. */
static bool add_hosts(struct session *s, const struct step *st, struct rdl_host_config *c,
                      enum rdl_status (*add)(struct session *s, struct rdl_host_config *c,
                                             rdl_host *ret))
{
    const struct arg *names = step_arg(st, "names");
    const bool single = step_has(st, "mac") || step_has(st, "ip") || step_has(st, "ip6");

    if (single && names->n > 1) {
        session_fail(s, step_span(st, "names", 1), "several hosts cannot share an address");
        return diag_remedy(&s->diag, "give each a line of its own");
    }
    for (size_t i = 0; i < names->n; i++) {
        rdl_host host;
        enum rdl_status status;

        c->name = names->v[i].text;
        if (c->vfs == 0)
            c->device = device_of(s, st);
        if (single && address_is_taken(s, st, c))
            return false;
        status = add(s, c, &host);
        if (status != RDL_OK)
            return host_failed(s, st, &names->v[i], c, status);
        say_host(s, st, c, host);
        c->vf += c->on && !c->vrnic && !c->shared;
    }
    return true;
}

/* Adds a guest at the first free function from c->vf on. */
static enum rdl_status add_somewhere(struct session *s, struct rdl_host_config *c, rdl_host *ret)
{
    enum rdl_status st;

    while ((st = rdl_host_add(s->lab, c, ret)) == RDL_ERR_BUSY)
        c->vf++;
    return st;
}

/* Adds the machine of session_devices.guests.  Its functions need no cable. */
static enum rdl_status add_session_machine(struct session *s)
{
    const struct rdl_host_config config = {
        .name = SESSION_MACHINE, .vfs = RDL_VFS_MAX, .shortcut = s->config.devices.shortcut};
    struct rdl_vf_settings set;
    rdl_host machine;
    enum rdl_status st = rdl_host_add(s->lab, &config, &machine);

    for (uint32_t vf = 0; vf < RDL_VFS_MAX && st == RDL_OK; vf++) {
        st = rdl_vf_get(s->lab, machine, vf, &set);
        set.state = VF_enable;
        if (st == RDL_OK)
            st = rdl_vf_set(s->lab, machine, vf, &set);
    }
    return st;
}

static enum rdl_status add_host(struct session *s, struct rdl_host_config *c, rdl_host *ret)
{
    enum rdl_status st = RDL_OK;
    rdl_host machine;

    if (!s->config.devices.guests || c->external)
        return rdl_host_add(s->lab, c, ret);
    if (rdl_find_host(s->lab, SESSION_MACHINE, &machine) != RDL_OK)
        st = add_session_machine(s);
    c->on = SESSION_MACHINE;
    return st == RDL_OK ? add_somewhere(s, c, ret) : st;
}

bool run_host(struct session *s, const struct step *st)
{
    struct rdl_host_config config;

    return read_host(s, st, &config) && add_hosts(s, st, &config, add_host);
}

/* Virtual functions belong to virtio-rdma, whatever the session gives to hosts. */
bool run_machine(struct session *s, const struct step *st)
{
    struct rdl_host_config config;

    if (!read_host(s, st, &config))
        return false;
    if (step_has(st, "device") && step_number(st, "device") != DEVICE_virtio) {
        session_fail(s, step_span(st, "device", 0), "only virtio-rdma has virtual functions here");
        return diag_remedy(&s->diag, "its guests may have another device: guest g1 on m1 device=%s",
                           step_text(st, "device"));
    }
    if (config.external) {
        session_fail(s, step_span(st, "vm", 0), "a virtual machine cannot share its adapter");
        return diag_remedy(&s->diag, "its guests may be virtual machines: guest g1 on m1 vm");
    }
    config.device = DEVICE_virtio;
    config.vfs = (uint32_t)step_number(st, "vfs");
    if (step_number_or(st, "numvfs", config.vfs) > config.vfs) {
        session_fail(s, step_span(st, "numvfs", 0), "the adapter has %u virtual function%s",
                     config.vfs, plural_s(config.vfs));
        return diag_remedy(&s->diag, "numvfs=%u enables all", config.vfs);
    }
    config.mux = (uint32_t)step_number(st, "mux");
    config.pool = (uint32_t)step_number_or(st, "pool", 0);
    if (config.pool > config.vfs) {
        session_fail(s, step_span(st, "pool", 0), "the adapter has %u virtual function%s",
                     config.vfs, plural_s(config.vfs));
        return diag_remedy(&s->diag, "leave pool= out: then all are in it");
    }
    config.when_full = (uint32_t)step_number(st, "when_full");
    if (step_has(st, "wait") && config.when_full != POOL_wait) {
        session_fail(s, step_span(st, "wait", 0), "nothing waits for a function of this machine");
        return diag_remedy(&s->diag, "when_full=wait wait=%s, or leave wait= out",
                           step_text(st, "wait"));
    }
    config.pool_wait_ns = step_number(st, "wait");
    config.idle_vfs = config.vfs - (uint32_t)step_number_or(st, "numvfs", config.vfs);
    config.shortcut = step_number_or(st, "shortcut", 0) != 0;
    return add_hosts(s, st, &config, add_host);
}

/* Checks that a guest that shares the port of its machine is given nothing that it cannot have. */
static bool sharing_is_sound(struct session *s, const struct step *st, const char *machine)
{
    static const struct {
        const char *param, *text;
    } rows[] = {
        {"vf", "the port of the machine itself is no virtual function"},
        {"vrnic", "a virtual RNIC gets its function from the pool"},
        {"mac", "hosts that share a port have one MAC"},
        {"vlan", "hosts that share a port have one VLAN"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!step_has(st, rows[i].param))
            continue;
        session_fail(s, step_span(st, rows[i].param, 0), "%s", rows[i].text);
        return diag_remedy(&s->diag, "leave it out, or leave out shared: then %s gives a function",
                           machine);
    }
    return true;
}

bool run_guest(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    struct rdl_host_config config;
    rdl_host machine;

    if (!resolve_machine(&in, st, "on", &machine, &s->diag) || !read_host(s, st, &config))
        return false;
    config.on = step_text(st, "on");
    config.vf = (uint32_t)step_number_or(st, "vf", 0);
    config.vrnic = step_has(st, "vrnic");
    config.shared = step_has(st, "shared");
    if (config.shared && !sharing_is_sound(s, st, config.on))
        return false;
    config.router = step_has(st, "router");
    config.group = (uint32_t)step_number(st, "group");
    if (config.router && config.external) {
        session_fail(s, step_span(st, "router", 0), "a virtual machine cannot be behind a router");
        return diag_remedy(&s->diag, "leave out vm, or router");
    }
    if (config.router && config.device == DEVICE_none) {
        session_fail(s, step_span(st, "router", 0), "without an RDMA device nothing can pass it");
        return diag_remedy(&s->diag, "leave out device=none, or router");
    }
    if (config.vrnic && step_has(st, "vf")) {
        session_fail(s, step_span(st, "vf", 0), "a virtual RNIC gets its function from the pool");
        return diag_remedy(&s->diag, "leave out vf=, or vrnic");
    }
    config.vrnic_with = step_text(st, "with");
    if (config.vrnic_with && !config.vrnic) {
        session_fail(s, step_span(st, "with", 0), "only guests with vrnic share a function so");
        return diag_remedy(&s->diag, "add vrnic, or leave out with=");
    }
    config.vrnic_vfs = config.vrnic ? (uint32_t)step_number(st, "vfs") : 0;
    if (step_has(st, "vfs") && !config.vrnic) {
        session_fail(s, step_span(st, "vfs", 0), "only guests with vrnic have several functions");
        return diag_remedy(&s->diag, "add vrnic, or leave out vfs=");
    }
    if (step_has(st, "group") && !config.vrnic) {
        session_fail(s, step_span(st, "group", 0), "only guests with vrnic have groups");
        return diag_remedy(&s->diag, "add vrnic, or leave out group=");
    }
    return add_hosts(s, st, &config,
                     step_has(st, "vf") || config.vrnic || config.shared ? add_host
                                                                         : add_somewhere);
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
