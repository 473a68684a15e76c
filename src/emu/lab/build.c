/* SPDX-License-Identifier: MIT */
/* Assembly: hosts, switches, links. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/log2.h"
#include "emu/base/name.h"
#include "emu/lab/world.h"
#include "emu/wire/addr.h"

#define RAM_BYTES_DEFAULT ((uint64_t)64 << 20)
#define RAM_BYTES_MIN     ((uint64_t)16 << RAM_PAGE_BITS)
#define RAM_BYTES_MAX     ((uint64_t)1 << 40)
#define MAX_DEFAULT       16u
#define RATE_DEFAULT_BPS  100000000000u
#define PPM               1000000u

/* The network function's MTU leaves room for all headers of a packet with the largest path MTU. */
#define ETHERNET_MTU      1500u
#define ROCE_OVERHEAD_MAX 104u

/* Streams of the lab's seed; links take the ones below. */
#define STREAM_PAGES 0x100000u

struct host *world_host_named(const struct world *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        if (host_is_there(w->hosts[i]) && strcmp(w->hosts[i]->name, name) == 0)
            return w->hosts[i];
    }
    return NULL;
}

/* The switch called @name, or UINT32_MAX. */
static uint32_t switch_named(const struct world *w, const char *name)
{
    for (uint32_t i = 0; i < w->net.n_switches; i++) {
        if (strcmp(w->net.switches[i]->name.s, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

uint32_t world_port_named(const struct world *w, const char *name)
{
    for (uint32_t i = 0; i < w->net.n_exts; i++) {
        if (strcmp(w->net.exts[i].name.s, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

bool world_has_part(const struct world *w, const char *name)
{
    return strcmp(name, EV_CHANCE) == 0 || switch_named(w, name) != UINT32_MAX ||
           world_has_fault(w, name);
}

enum rdl_status world_check_name(const struct world *w, const char *name)
{
    if (!name || !name_is_valid(name))
        return RDL_ERR_INVAL;
    if (world_host_named(w, name) || switch_named(w, name) != UINT32_MAX ||
        world_port_named(w, name) != UINT32_MAX || world_has_fault(w, name))
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

/* Host number @k of a lab, from 1, where the caller left zeros. */
static struct rdl_host_config with_defaults(const struct rdl_host_config *given, uint32_t k)
{
    struct rdl_host_config c = *given;

    if (is_zero(c.mac, sizeof(c.mac)))
        memcpy(c.mac, (uint8_t[]){2, 0, 0, 0, (uint8_t)(k >> 8), (uint8_t)k}, sizeof(c.mac));
    if (is_zero(c.ipv4, sizeof(c.ipv4)))
        gid_from_ipv4(c.ipv4, (uint8_t[]){10, 0, (uint8_t)(k >> 8), (uint8_t)k});
    if (is_zero(c.ipv6, sizeof(c.ipv6))) {
        c.ipv6[0] = 0xfe;
        c.ipv6[1] = 0x80;
        eui64_from_mac(c.ipv6 + GID_BYTES - EUI64_BYTES, c.mac);
    }
    if (c.ram_bytes == 0)
        c.ram_bytes = RAM_BYTES_DEFAULT;
    if (c.max_cq == 0)
        c.max_cq = MAX_DEFAULT;
    if (c.max_qp == 0)
        c.max_qp = MAX_DEFAULT;
    if (c.device_mtu == 0)
        c.device_mtu = mtu_bytes(MTU_4096);
    return c;
}

static bool config_is_sound(const struct rdl_host_config *c)
{
    return (c->mac[0] & 1u) == 0 && c->ram_bytes % RAM_PAGE_BYTES == 0 &&
           c->ram_bytes >= RAM_BYTES_MIN && c->ram_bytes <= RAM_BYTES_MAX &&
           c->max_cq <= DEVICE_OBJECTS_MAX && c->max_qp >= 2 && c->max_qp <= DEVICE_OBJECTS_MAX &&
           is_pow2(c->device_mtu) && c->device_mtu >= mtu_bytes(MTU_256) &&
           c->device_mtu <= mtu_bytes(MTU_4096) && enum_by_value(&enum_profile, c->profile);
}

static enum mtu mtu_of_bytes(uint32_t bytes)
{
    uint32_t m = MTU_256;

    while (mtu_bytes(m) < bytes)
        m++;
    return (enum mtu)m;
}

uint32_t world_peer_of(const struct world *w, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        for (uint32_t j = 0; host_is_there(w->hosts[i]) && j < GUEST_GIDS; j++) {
            if (memcmp(w->hosts[i]->guest.config.gid[j], gid, GID_BYTES) == 0)
                return i;
        }
    }
    return EV_HOST_NONE;
}

static uint32_t peer_of(void *ctx, const uint8_t gid[GID_BYTES])
{
    return world_peer_of(ctx, gid);
}

static uint64_t bus_read(void *ctx, uint32_t offset, uint32_t width)
{
    return virtio_read(ctx, offset, width);
}

static void bus_write(void *ctx, uint32_t offset, uint32_t width, uint64_t value)
{
    virtio_write(ctx, offset, width, value);
}

/* Of both functions: the context is the struct virtio_dev. */
static const struct guest_bus bus = {bus_read, bus_write};

static bool rdma_function_init(struct world *w, struct host *h, const struct rdl_host_config *c)
{
    const uint32_t k = h->index + 1;
    const struct rdma_env env = {w->arena, &w->sim, &h->ram, &h->port, &w->progress, peer_of, w};
    struct rdma_config dev = {
        .host = h->index,
        .max_cq = c->max_cq,
        .max_qp = c->max_qp,
        /* Host k starts at QPN k + 1, so that the two ends of a first example differ. */
        .first_qpn = 2 + (k - 1) % (c->max_qp - 1),
        .max_mtu = mtu_of_bytes(c->device_mtu),
        .features_off = c->features_off,
        .profile = (enum profile)c->profile,
        .seed = w->seed,
    };

    memcpy(dev.mac, c->mac, sizeof(dev.mac));
    return rdma_init(h->dev, &env, &dev);
}

static bool net_function_init(struct world *w, struct host *h, const struct rdl_host_config *c)
{
    const struct vnet_env env = {w->arena, &w->sim, &h->ram, &h->port};
    const uint32_t mtu = c->device_mtu + ROCE_OVERHEAD_MAX;
    struct vnet_config dev = {
        .host = h->index,
        .mtu = (uint16_t)(mtu > ETHERNET_MTU ? mtu : ETHERNET_MTU),
        .features_off = c->features_off,
    };

    memcpy(dev.mac, c->mac, sizeof(dev.mac));
    return vnet_init(h->net, &env, &dev);
}

/* RAM, the port, and the devices behind it. */
static bool hardware_init(struct world *w, struct host *h, const struct rdl_host_config *c)
{
    eth_port_init(&h->port, &w->net, &w->progress, h->index, c->mac);
    h->dev = arena_alloc(w->arena, sizeof(*h->dev));
    h->net = arena_alloc(w->arena, sizeof(*h->net));
    return h->dev && h->net && ram_init(&h->ram, w->arena, c->ram_bytes) &&
           rdma_function_init(w, h, c) && net_function_init(w, h, c);
}

/* All parts of a host, not booted. */
static bool host_init(struct world *w, struct host *h, const struct rdl_host_config *c)
{
    struct guest_config guest = {
        .host = h->index,
        .bus = &bus,
        .sim = &w->sim,
        .trace = &w->trace,
        .ram = &h->ram,
        .directory = c->arp ? NULL : &w->directory,
    };
    struct prng rng = prng_stream(w->seed, STREAM_PAGES + h->index);

    memcpy(guest.mac, c->mac, sizeof(guest.mac));
    memcpy(guest.gid[0], c->ipv4, GID_BYTES);
    memcpy(guest.gid[1], c->ipv6, GID_BYTES);
    if (!hardware_init(w, h, c))
        return false;
    guest.bus_ctx = &h->dev->pci;
    guest.net_ctx = &h->net->pci;
    guest.n_vectors = h->dev->pci.config.n_vectors;
    guest.net_vectors = h->net->pci.config.n_vectors;
    return guest_init(&h->guest, w->arena, &guest, &rng);
}

/* Everybody in the lab knows everybody, but who asks for others; strangers are always asked for. */
static enum rdl_status introduce(struct world *w, const struct host *h)
{
    if (!h->guest.config.directory)
        return RDL_OK;
    if (!directory_reserve(&w->directory, GUEST_GIDS))
        return RDL_ERR_NOMEM;
    for (uint32_t j = 0; j < GUEST_GIDS; j++)
        directory_add(&w->directory, h->guest.config.gid[j], h->dev->config.mac);
    /* Somebody may have asked for it before it was there. */
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        struct guest_net *other = &w->hosts[i]->guest.net;

        for (uint32_t j = 0; j < GUEST_GIDS && other->neighbours.n > 0; j++)
            guest_neighbour_told(other, h->guest.config.gid[j]);
    }
    return RDL_OK;
}

/* Boots in one tick: control requests of boot are answered at once. */
static enum rdl_status boot(struct world *w, struct host *h)
{
    char buf[EV_NAME_BYTES];
    struct text addr = text_on(buf, sizeof(buf));
    enum rdl_status st;

    h->dev->booting = true;
    st = guest_boot(&h->guest);
    h->dev->booting = false;
    if (st != RDL_OK)
        return st;
    RDL_ASSERT(h->guest.verbs.up);
    addr_add(&addr, h->guest.config.gid[0]);
    TRACE(&w->trace, host_up, .host = h->index, .name = ev_str(h->name),
          .mac = ld_be(h->dev->config.mac, MAC_BYTES), .addr = ev_str(buf),
          .first_qpn = h->dev->config.first_qpn);
    return RDL_OK;
}

enum rdl_status rdl_host_add(struct rdl_lab *lab, const struct rdl_host_config *config,
                             rdl_host *ret)
{
    struct world *w = lab->world;
    const struct rdl_host_config c = with_defaults(config, w->n_hosts + 1);
    enum rdl_status st = world_check_name(w, c.name);
    struct host *h;

    if (st != RDL_OK)
        return st;
    if (!config_is_sound(&c))
        return RDL_ERR_INVAL;
    if (w->n_hosts == HOSTS_MAX)
        return RDL_ERR_LIMIT;
    h = arena_alloc(w->arena, sizeof(*h));
    if (!h)
        return RDL_ERR_NOMEM;
    h->index = w->n_hosts;
    memcpy(h->name, c.name, strlen(c.name));
    if (!host_init(w, h, &c))
        return RDL_ERR_NOMEM; /* what it took stays in the arena, which is full anyway */
    w->hosts[w->n_hosts++] = h;
    tallies_meet(&lab->tallies, h->name, h->index);
    world_act(w);
    st = boot(w, h);
    if (st == RDL_OK)
        st = introduce(w, h);
    world_done(w);
    if (st != RDL_OK) {
        h->name[0] = '\0';
        tallies_meet_again(lab);
        return st;
    }
    *ret = (rdl_host){h->index + 1};
    return RDL_OK;
}

enum rdl_status rdl_switch_add(struct rdl_lab *lab, const char *name, rdl_switch *ret)
{
    struct world *w = lab->world;
    const enum rdl_status st = world_check_name(w, name);
    uint32_t index;

    if (st != RDL_OK)
        return st;
    index = net_switch_add(&w->net, name);
    if (index == UINT32_MAX)
        return RDL_ERR_LIMIT;
    tallies_meet(&lab->tallies, name, EV_HOST_NONE);
    world_act(w);
    TRACE(&w->trace, switch_up, .number = index, .name = ev_str(name));
    world_done(w);
    *ret = (rdl_switch){index + 1};
    return RDL_OK;
}

/* The end of a link at the node called @name.  RDL_ERR_BUSY: a host or an external port has but
 * one.
 */
static enum rdl_status end_of(const struct world *w, const char *name, struct net_end *ret)
{
    const struct host *h = name ? world_host_named(w, name) : NULL;
    const uint32_t s = name ? switch_named(w, name) : UINT32_MAX;
    const uint32_t x = name ? world_port_named(w, name) : UINT32_MAX;

    if (!h && s == UINT32_MAX && x == UINT32_MAX)
        return RDL_ERR_NOT_FOUND;
    if ((h && h->port.link_end != NET_NO_LINK) ||
        (x != UINT32_MAX && w->net.exts[x].link_end != NET_NO_LINK))
        return RDL_ERR_BUSY;
    if (h)
        *ret = (struct net_end){NET_HOST, h->index, 0};
    else if (x != UINT32_MAX)
        *ret = (struct net_end){NET_EXT, x, 0};
    else
        *ret = (struct net_end){NET_SWITCH, s, 0};
    return RDL_OK;
}

/* Tells the node at @e that its port is end @link_end of a link. */
static void plug_in(struct world *w, const struct net_end *e, uint32_t link_end)
{
    if (e->node == NET_EXT) {
        w->net.exts[e->index].link_end = link_end;
    } else if (e->node == NET_HOST) {
        w->hosts[e->index]->port.link_end = link_end;
        vnet_link_up(w->hosts[e->index]->net);
    }
}

static enum rdl_status check_link(const struct rdl_link_config *c)
{
    return c->loss_ppm > PPM || c->latency_ns > UINT64_MAX / 4 ? RDL_ERR_INVAL : RDL_OK;
}

enum rdl_status rdl_link_add(struct rdl_lab *lab, const struct rdl_link_config *config,
                             rdl_link *ret)
{
    struct world *w = lab->world;
    const uint64_t rate = config->rate_bps ? config->rate_bps : RATE_DEFAULT_BPS;
    struct net_end end[2];
    enum rdl_status st = end_of(w, config->a, &end[0]);
    uint32_t link;

    if (st == RDL_OK)
        st = end_of(w, config->b, &end[1]);
    if (st == RDL_OK)
        st = strcmp(config->a, config->b) == 0 ? RDL_ERR_INVAL : check_link(config);
    if (st != RDL_OK)
        return st;
    link = net_link_add(&w->net, end[0], end[1], config->latency_ns, rate, config->loss_ppm);
    if (link == UINT32_MAX)
        return RDL_ERR_LIMIT;
    world_act(w);
    for (uint32_t i = 0; i < 2; i++)
        plug_in(w, &end[i], link << 1 | i);
    TRACE(&w->trace, link_up, .link = link, .a = ev_str(config->a), .b = ev_str(config->b),
          .latency = config->latency_ns, .rate = rate);
    world_done(w);
    *ret = (rdl_link){link + 1};
    return RDL_OK;
}

enum rdl_status rdl_link_set(struct rdl_lab *lab, rdl_link link,
                             const struct rdl_link_config *config)
{
    struct world *w = lab->world;
    struct net *n = &w->net;
    struct net_link *l;

    if (link.raw == 0 || link.raw > n->n_links)
        return RDL_ERR_STALE;
    if (check_link(config) != RDL_OK)
        return RDL_ERR_INVAL;
    l = &n->links[link.raw - 1];
    l->latency_ns = config->latency_ns;
    l->rate_bps = config->rate_bps ? config->rate_bps : RATE_DEFAULT_BPS;
    l->loss_ppm = config->loss_ppm;
    world_act(w);
    TRACE(&w->trace, link_set, .link = link.raw - 1, .a = ev_str(world_end_name(w, &l->end[0])),
          .b = ev_str(world_end_name(w, &l->end[1])), .latency = l->latency_ns, .rate = l->rate_bps,
          .loss_ppm = l->loss_ppm);
    world_done(w);
    return RDL_OK;
}

const char *world_end_name(const struct world *w, const struct net_end *e)
{
    switch (e->node) {
    case NET_HOST:
        return w->hosts[e->index]->name;
    case NET_SWITCH:
        return w->net.switches[e->index]->name.s;
    case NET_EXT:
        break;
    }
    return w->net.exts[e->index].name.s;
}

enum rdl_status rdl_link_find(const struct rdl_lab *lab, const char *a, const char *b,
                              rdl_link *ret)
{
    const struct world *w = lab->world;

    for (uint32_t i = 0; i < w->net.n_links; i++) {
        const char *x = world_end_name(w, &w->net.links[i].end[0]);
        const char *y = world_end_name(w, &w->net.links[i].end[1]);

        if ((strcmp(x, a) == 0 && strcmp(y, b) == 0) || (strcmp(x, b) == 0 && strcmp(y, a) == 0)) {
            *ret = (rdl_link){i + 1};
            return RDL_OK;
        }
    }
    return RDL_ERR_NOT_FOUND;
}
