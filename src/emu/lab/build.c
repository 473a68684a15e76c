/* SPDX-License-Identifier: MIT */
/* Construction of hosts and switches. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/base/name.h"
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/host_phase.h"
#include "emu/facts/enum/page_size.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"
#include "emu/lab/bus.h"
#include "emu/lab/devices.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/lab/machine.h"
#include "emu/lab/outer_net.h"
#include "emu/pci/sriov.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "emu/wire/addr.h"
#include "emu/wire/vlan.h"
#include "rdmalab/control.h"

_Static_assert(RDL_VFS_MAX == SRIOV_VFS_MAX, "a function can have as many virtual ones");
_Static_assert(RDL_PKEYS_MAX == HCA_PKEYS_MAX, "a device has room for every P_Key");

#define RAM_BYTES_DEFAULT ((uint64_t)64 << 20)
#define RAM_BYTES_MIN     ((uint64_t)16 << RAM_PAGE_BITS)
#define RAM_BYTES_MAX     ((uint64_t)1 << 40)
#define MAX_DEFAULT       16u
#define MAX_QP_DEFAULT    17u /* 16 for users, and QPN 1 */
#define MAX_SRQ_DEFAULT   4u
#define CEQS_DEFAULT      4u

/* Default Ethernet MTU above device_mtu: room for ROCE_HEADERS_MAX. */
#define MTU_HEADROOM 104u

/* First PRNG stream for the page layout of hosts; lower ones belong to links. */
#define STREAM_PAGES 0x100000u
#define STREAM_CM    0x200000u

const struct part *lab_part(const struct lab_state *w, const char *name, enum part_kind kind)
{
    const struct part *p = parts_find(&w->parts, name, strlen(name));

    return p && p->kind == kind ? p : NULL;
}

struct host *lab_host_named(const struct lab_state *w, const char *name)
{
    const struct part *p = lab_part(w, name, PART_HOST);

    return p ? w->hosts[p->index] : NULL;
}

bool host_is_broken(const struct host *h)
{
    const struct rdma_device *d = &h->device;

    return d->ops && d->ops->is_broken && d->ops->is_broken(d->dev);
}

bool host_is_open(const struct host *h)
{
    return h->is_external || h->has_stranger || (h->rnic && h->rnic->hca.ram_is_open);
}

struct virtio_dev *host_virtio(const struct host *h, uint32_t function)
{
    struct rdma *rdma = host_rdma(h);

    if (function == FN_NET)
        return h->net ? &h->net->pci : NULL;
    return rdma ? &rdma->pci : NULL;
}

struct rdma *host_rdma(const struct host *h)
{
    return rdma_of(&h->device);
}

struct guest_qp *lab_guest_qp(const struct lab_state *w, uint32_t host, uint32_t qpn)
{
    return host < w->n_hosts ? verbs_qp(&w->hosts[host]->guest.verbs, qpn) : NULL;
}

struct vqd *host_rdma_vq(const struct host *h, uint32_t queue)
{
    const struct virtio_rdma *driver = virtio_rdma_of(&h->guest.verbs);

    return driver ? virtio_rdma_vq(driver, queue) : NULL;
}

uint32_t lab_station(const struct lab_state *w, uint64_t mac)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        if (host_is_there(w->hosts[i]) &&
            (ld_be(w->hosts[i]->port.mac, MAC_BYTES) == mac || layer_has_mac(w->hosts[i], mac)))
            return i;
    }
    return EV_HOST_NONE;
}

enum rdl_status lab_check_name(const struct lab_state *w, const char *name)
{
    uint32_t link;

    if (!name || !name_is_valid(name))
        return RDL_ERR_INVAL;
    if (parts_find(&w->parts, name, strlen(name)) || lab_link_named(w, name, strlen(name), &link))
        return RDL_ERR_EXISTS;
    return RDL_OK;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

/* Bounds the default of each limit that a virtqueue of @size entries bounds. */
static void fit_into_queues(struct rdl_device_limits *l, uint32_t size)
{
#define FIT(name)                                                                                  \
    if (l->name == 0 && (uint32_t)RDL_USUAL_##name > size)                                         \
        l->name = size;
    RDL_DEVICE_LIMITS_QUEUED(FIT)
#undef FIT
}

/* Sets @id to the interface identifier of the host number @k, which shares @mac with others: the
 * number stands where one that is made from a MAC alone has ff:fe.  So does Linux for ipvlan, which
 * calls the number dev_id.
 */
static void eui64_of_tenant(uint8_t id[EUI64_BYTES], const uint8_t mac[MAC_BYTES], uint32_t k)
{
    memcpy(id, mac, 3);
    st_be16(id + 3, (uint16_t)k);
    memcpy(id + 5, mac + 3, 3);
}

/* @given with defaults, for the next host of the lab, in the fields that are zero. */
static struct rdl_host_config with_defaults(const struct lab_state *w,
                                            const struct rdl_host_config *given)
{
    struct rdl_host_config c = *given;
    const uint8_t *mac = machine_mac(w, given);
    const uint32_t k = w->n_hosts + 1;

    if (is_zero(c.mac, sizeof(c.mac)) && mac)
        memcpy(c.mac, mac, sizeof(c.mac));
    else if (is_zero(c.mac, sizeof(c.mac)))
        memcpy(c.mac, (uint8_t[]){2, 0, 0, 0, (uint8_t)(k >> 8), (uint8_t)k}, sizeof(c.mac));
    if (is_zero(c.ipv4, sizeof(c.ipv4)))
        gid_from_ipv4(c.ipv4, (uint8_t[]){10, 0, (uint8_t)(k >> 8), (uint8_t)k});
    if (is_zero(c.ipv6, sizeof(c.ipv6))) {
        c.ipv6[0] = 0xfe;
        c.ipv6[1] = 0x80;
        if (c.shared)
            eui64_of_tenant(c.ipv6 + GID_BYTES - EUI64_BYTES, c.mac, k);
        else
            eui64_from_mac(c.ipv6 + GID_BYTES - EUI64_BYTES, c.mac);
    }
    if (c.ram_bytes == 0)
        c.ram_bytes = RAM_BYTES_DEFAULT;
    if (c.max_cq == 0)
        c.max_cq = MAX_DEFAULT;
    if (c.max_qp == 0)
        c.max_qp = MAX_QP_DEFAULT;
    if (c.max_srq == 0)
        c.max_srq = MAX_SRQ_DEFAULT;
    if (c.queue_size == 0)
        c.queue_size = c.external ? RDL_QUEUE_SIZE_VM : RDL_QUEUE_SIZE_MAX;
    if (c.page_sizes == 0)
        c.page_sizes =
            c.external && c.device == DEVICE_virtio ? 1u << PAGE_4k | 1u << PAGE_2m : 1u << PAGE_4k;
    if (c.device == DEVICE_virtio)
        fit_into_queues(&c.limits, c.queue_size);
    if (c.group == 0)
        c.group = 1;
    if (c.ceqs == 0)
        c.ceqs = CEQS_DEFAULT;
    if (c.device_mtu == 0)
        c.device_mtu = mtu_bytes(MTU_4096);
    if (c.mtu == 0)
        c.mtu =
            c.device_mtu + MTU_HEADROOM > ETHERNET_MTU ? c.device_mtu + MTU_HEADROOM : ETHERNET_MTU;
    return c;
}

static bool pkeys_are_sound(const struct rdl_host_config *c)
{
    for (uint32_t i = 0; i < c->n_pkeys && i < RDL_PKEYS_MAX; i++) {
        if (!pkey_is_valid(c->pkeys[i]))
            return false;
    }
    return c->n_pkeys <= RDL_PKEYS_MAX;
}

/* Limits of 0 stand for defaults and are not checked. */
static bool limits_are_sound(const struct rdl_device_limits *l)
{
#define SOUND(name, least, most, ...)                                                              \
    if (l->name != 0 && (l->name < (least) || l->name > (most)))                                   \
        return false;
    RDL_DEVICE_LIMITS(SOUND)
    RDL_DEVICE_LIMITS_DERIVED(SOUND)
#undef SOUND
    return true;
}

static bool queues_are_sound(const struct rdl_host_config *c)
{
#define FITS(name)                                                                                 \
    if (c->limits.name > c->queue_size)                                                            \
        return false;
    if (c->device == DEVICE_virtio) {
        RDL_DEVICE_LIMITS_QUEUED(FITS)
    }
#undef FITS
    return is_pow2(c->queue_size) && c->queue_size >= RDL_QUEUE_SIZE_MIN &&
           c->queue_size <= RDL_QUEUE_SIZE_MAX && (c->page_sizes & 1u << PAGE_4k) &&
           (c->page_sizes & ~PAGE_SIZES_ALL) == 0;
}

static bool config_is_sound(const struct rdl_host_config *c)
{
    return (c->mac[0] & 1u) == 0 && c->ram_bytes % RAM_PAGE_BYTES == 0 &&
           c->ram_bytes >= RAM_BYTES_MIN && c->ram_bytes <= RAM_BYTES_MAX &&
           c->max_cq <= DEVICE_OBJECTS_MAX && c->max_qp >= 2 && c->max_qp <= DEVICE_OBJECTS_MAX &&
           c->max_srq <= DEVICE_SRQS_MAX && c->ceqs <= DEVICE_CEQS_MAX && is_pow2(c->device_mtu) &&
           c->device_mtu >= mtu_bytes(MTU_256) && c->device_mtu <= mtu_bytes(MTU_4096) &&
           c->mtu >= ETHERNET_MTU_MIN && c->mtu <= ETHERNET_MTU_MAX &&
           enum_by_value(&enum_profile, c->profile) && enum_by_value(&enum_ring_format, c->ring) &&
           enum_by_value(&enum_device_type, c->device) &&
           !(c->external && c->device == DEVICE_none) &&
           (c->version == 0 || (c->version >= PV_VERSION_LEAST && c->version <= PV_VERSION_MOST)) &&
           c->vectors <= PV_VECTORS && c->vfs <= SRIOV_VFS_MAX && (c->vfs == 0 || !c->external) &&
           c->vlan <= VLAN_VID_MAX && c->pcp <= VLAN_PCP_MAX && (c->vlan > 0 || c->pcp == 0) &&
           (c->rx_buffer == 0 ||
            (c->rx_buffer >= RDL_RX_BUFFER_MIN && c->rx_buffer <= RDL_RX_BUFFER_MAX)) &&
           pkeys_are_sound(c) && limits_are_sound(&c->limits) && queues_are_sound(c);
}

uint32_t lab_peer_of(const struct lab_state *w, const uint8_t gid[GID_BYTES])
{
    const struct directory_entry *e = directory_find(&w->addresses, gid);

    return e ? e->host : EV_HOST_NONE;
}

static uint32_t peer_of(void *ctx, const uint8_t gid[GID_BYTES])
{
    return lab_peer_of(ctx, gid);
}

static bool may_connect(void *ctx, uint32_t host, const uint8_t gid[GID_BYTES])
{
    return centre_permits(ctx, host, gid);
}

static bool rdma_function_init(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    const uint32_t k = h->index + 1;
    struct rnic_env env = {.arena = w->arena,
                           .sim = &w->sim,
                           .ram = &h->ram,
                           .port = &h->port,
                           .progress = &w->progress,
                           .peer_of = peer_of,
                           .may_connect = may_connect,
                           .world = w};
    struct rdma_device_config dev = {
        .nic = {.host = h->index,
                .max_cq = c->max_cq,
                .max_qp = c->max_qp,
                /* Host k starts at QPN k + 1, so that the two ends of a first example differ. */
                .first_qpn = 2 + (k - 1) % (c->max_qp - 1),
                .max_mtu = (enum mtu)mtu_within(c->device_mtu),
                .profile = (enum profile)c->profile,
                .seed = w->seed,
                .pkeys.n = c->n_pkeys,
                .max_srq = c->max_srq,
                .page_sizes = c->page_sizes,
                .limits = c->limits},
        .slot = {.number = pci_number_of(FN_RDMA), .multifunction = true},
        .features_off = c->features_off,
        .extensions =
            c->external && !c->extensions ? RDMA_EXTENSIONS : rdma_extensions(c->extensions),
        .ceqs = c->ceqs,
        .packed = c->ring == VRING_packed,
        .platform = c->external,
        .queue_size = c->queue_size,
        .total_vfs = c->vfs,
        .pvrdma = {.version = c->version, .vectors = c->vectors},
    };

    memcpy(dev.nic.mac, c->mac, sizeof(dev.nic.mac));
    if (c->shared)
        eui64_of_tenant(dev.nic.guid, c->mac, k);
    memcpy(dev.nic.pkeys.v, c->pkeys, sizeof(dev.nic.pkeys.v));
    if (!host_devices[c->device].init)
        return true;
    if (!machine_router(w, c, &env.router) || !host_devices[c->device].init(&h->device, &env, &dev))
        return false;
    h->rnic = h->device.nic;
    host_plug(h, h->device.fn);
    return true;
}

static bool net_function_init(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    const struct vnet_env env = {w->arena, &w->sim, &h->ram, &h->port};
    struct vnet_config dev = {
        .host = h->index,
        .slot = {.number = pci_number_of(FN_NET),
                 .multifunction = host_devices[c->device].init != NULL},
        /* low bits belong to the RDMA function */
        .features_off = c->features_off & VIRTIO_FEATURES_COMMON,
        .packed = c->ring == VRING_packed,
        .platform = c->external,
        /* other drivers have buffers for whole frames */
        .mergeable = c->external || c->rx_buffer > 0,
    };

    memcpy(dev.mac, c->mac, sizeof(dev.mac));
    h->net = arena_alloc(w->arena, sizeof(*h->net));
    if (!h->net || !vnet_init(h->net, &env, &dev))
        return false;
    host_plug(h, &h->net->pci.fn);
    return true;
}

/* Initialises the network device: a function of the lab, or of the virtual machine. */
static bool network_init(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    if (!c->external || !host_devices[h->device_type].needs_outer_net)
        return net_function_init(w, h, c);
    h->outer = arena_alloc(w->arena, sizeof(*h->outer));
    if (h->outer)
        outer_net_init(h->outer, w, h);
    return h->outer != NULL;
}

/* Initialises RAM, port and devices. */
static bool hardware_init(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    eth_port_init(&h->port, &w->net, &w->progress, h->index, c->mac, c->mtu);
    h->port.vid = c->vlan;
    h->port.pcp = c->pcp;
    return machine_join(w, h, c) &&
           (c->external ? ram_init_foreign(&h->ram, w->arena)
                        : ram_init(&h->ram, w->arena, c->ram_bytes)) &&
           rdma_function_init(w, h, c) && network_init(w, h, c);
}

/* Initialises all parts of a host without booting it. */
static bool host_init(struct lab_state *w, struct host *h, const struct rdl_host_config *c)
{
    struct guest_config guest = {
        .host = h->index,
        .profile = c->profile,
        .bus = &host_bus,
        .bus_ctx = h,
        .use_line = c->intx,
        .iov = c->vfs > 0,
        .rdma = host_devices[c->device].driver,
        .sim = &w->sim,
        .trace = &w->trace,
        .ram = &h->ram,
        .directory = c->arp ? NULL : &w->directory,
        .rx_buffer = c->rx_buffer,
        .cm_rng = prng_stream(w->seed, STREAM_CM + h->index),
    };
    struct prng rng = prng_stream(w->seed, STREAM_PAGES + h->index);
    struct virtio_rdma *driver;

    memcpy(guest.mac, c->mac, sizeof(guest.mac));
    memcpy(guest.gid[0], c->ipv4, GID_BYTES);
    memcpy(guest.gid[1], c->ipv6, GID_BYTES);
    if (!hardware_init(w, h, c))
        return false;
    if (h->vrnic && !layer_complete(h))
        return false;
    guest.layer = h->vrnic ? &layer_ops : NULL;
    guest.layer_ctx = h->vrnic;
    h->is_external = c->external;
    if (c->external) {
        guest_init_absent(&h->guest, w->arena, &guest);
        return true;
    }
    if (!guest_init(&h->guest, w->arena, &guest, &rng))
        return false;
    driver = virtio_rdma_of(&h->guest.verbs);
    if (driver) {
        driver->tables = c->indirect;
        driver->on_demand = c->on_demand;
    }
    return true;
}

/* Enters the host's addresses into the directories, which have room.  Hosts that use ARP are
 * missing in w->directory, so they are resolved over the link.  So are virtual machines, whose
 * guest may choose other addresses.
 */
static void introduce(struct lab_state *w, const struct host *h)
{
    for (uint32_t j = 0; j < GUEST_GIDS; j++) {
        const uint8_t *gid = h->guest.config.gid[j];

        if (!directory_find(&w->addresses, gid))
            directory_add(&w->addresses, gid, h->port.mac, h->index);
        if (h->guest.config.directory)
            directory_add(&w->directory, gid, h->port.mac, h->index);
    }
    /* Another host may have tried to resolve the address before the host existed. */
    for (uint32_t i = 0; w->directory.asked && h->guest.config.directory && i < w->n_hosts; i++) {
        for (uint32_t j = 0; j < GUEST_GIDS; j++)
            guest_neighbour_told(&w->hosts[i]->guest.net, h->guest.config.gid[j]);
    }
}

/* Boots the host in one tick: the device answers boot requests at once. */
static enum rdl_status boot(struct lab_state *w, struct host *h)
{
    char buf[EV_NAME_BYTES];
    struct text addr = text_on(buf, sizeof(buf));
    enum rdl_status st = RDL_OK;

    if (h->rnic)
        h->rnic->booting = true;
    if (!h->is_external)
        st = guest_boot(&h->guest);
    if (h->rnic)
        h->rnic->booting = false;
    if (st != RDL_OK)
        return st;
    if (w->has_cm)
        lab_cm_start(h);
    RDL_ASSERT(h->guest.verbs.up || h->is_external || !h->rnic);
    addr_add(&addr, h->guest.config.gid[0]);
    TRACE(&w->trace, host_up, .host = h->index, .name = ev_str(h->name),
          .mac = ld_be(h->port.mac, MAC_BYTES), .addr = ev_str(buf),
          .first_qpn = h->rnic ? h->rnic->config->first_qpn : 0,
          .state = h->is_external ? HOST_undriven
                   : h->rnic      ? HOST_up
                                  : HOST_absent);
    return RDL_OK;
}

/* Makes the next host with all its parts, not booted; its name is valid.  Returns NULL when the
 * arena is full; what was allocated stays in the arena.
 */
static struct host *host_new(struct lab_state *w, const struct rdl_host_config *c)
{
    struct host *h = arena_alloc(w->arena, sizeof(*h));

    if (!h)
        return NULL;
    h->index = w->n_hosts;
    h->device_type = c->device;
    memcpy(h->name, c->name, strlen(c->name));
    if (!directory_reserve(&w->directory, GUEST_GIDS) ||
        !directory_reserve(&w->addresses, GUEST_GIDS) || !host_init(w, h, c) ||
        !parts_add(&w->parts, c->name, PART_HOST, h->index))
        return NULL;
    w->hosts[w->n_hosts++] = h;
    return h;
}

const char *rdl_device_name(uint32_t device)
{
    return device < DEVICE_TYPES ? host_devices[device].name : NULL;
}

enum rdl_status rdl_host_add(struct rdl_lab *lab, const struct rdl_host_config *config,
                             rdl_host *ret)
{
    struct lab_state *w = lab->state;
    const struct rdl_host_config c = with_defaults(w, config);
    enum rdl_status st = lab_check_name(w, c.name);
    struct host *h;

    if (st != RDL_OK)
        return st;
    if (!config_is_sound(&c))
        return RDL_ERR_INVAL;
    st = machine_check(w, &c);
    if (st != RDL_OK)
        return st;
    if (host_devices[c.device].init && !host_devices[c.device].driver && !c.external)
        return RDL_ERR_UNSUPPORTED;
    if (lab_peer_of(w, c.ipv4) != EV_HOST_NONE || lab_peer_of(w, c.ipv6) != EV_HOST_NONE)
        return RDL_ERR_ADDRESS;
    if (w->n_hosts == RDL_HOSTS_MAX)
        return RDL_ERR_LIMIT;
    h = host_new(w, &c);
    if (!h)
        return RDL_ERR_NOMEM;
    tallies_meet(&lab->tallies, h->name, h->index);
    lab_act(w);
    st = boot(w, h);
    if (st == RDL_OK) {
        introduce(w, h);
        machine_introduce(w, h, &c);
    }
    lab_done(w);
    if (st != RDL_OK) {
        machine_leave(h);
        parts_remove(&w->parts, h->name);
        h->name[0] = '\0';
        tallies_meet_again(lab);
        return st;
    }
    *ret = (rdl_host){h->index + 1};
    return RDL_OK;
}

void rdl_host_vlan(const struct rdl_lab *lab, rdl_host host, uint32_t *ret_vlan, uint32_t *ret_pcp)
{
    const struct eth_port *p = &lab_host(lab->state, host.raw)->port;

    *ret_vlan = p->vid;
    *ret_pcp = p->pcp;
}

uint32_t rdl_host_device(const struct rdl_lab *lab, rdl_host host)
{
    const struct host *h = lab_host(lab->state, host.raw);

    RDL_ASSERT(h);
    return h->device_type;
}

enum rdl_status rdl_host_limit(struct rdl_lab *lab, rdl_host host,
                               const struct rdl_device_limits *limits)
{
    struct host *h = lab_host(lab->state, host.raw);
    bool good;

    if (!h)
        return RDL_ERR_STALE;
    if (!h->rnic)
        return RDL_ERR_NO_DEVICE;
    if (!h->device.ops->limit)
        return RDL_ERR_UNSUPPORTED;
    if (!limits_are_sound(limits))
        return RDL_ERR_INVAL;
    lab_act(lab->state);
    good = h->device.ops->limit(h->device.dev, limits);
    lab_done(lab->state);
    return good ? RDL_OK : RDL_ERR_LIMIT;
}

enum rdl_status rdl_switch_add(struct rdl_lab *lab, const char *name, rdl_switch *ret)
{
    struct lab_state *w = lab->state;
    enum rdl_status st = lab_check_name(w, name);
    uint32_t index;

    if (st == RDL_OK)
        st = net_switch_add(&w->net, name, &index);
    if (st == RDL_OK && !parts_add(&w->parts, name, PART_SWITCH, index))
        st = RDL_ERR_NOMEM; /* the arena is full: the lab ends here */
    if (st != RDL_OK)
        return st;
    tallies_meet(&lab->tallies, name, EV_HOST_NONE);
    lab_act(w);
    TRACE(&w->trace, switch_up, .number = index, .name = ev_str(name));
    lab_done(w);
    *ret = (rdl_switch){index + 1};
    return RDL_OK;
}
