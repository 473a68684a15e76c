/* SPDX-License-Identifier: MIT */
/* What a lab is made of.
 *
 * struct world and everything that it points to is in the lab's arena: a checkpoint copies it.
 * struct rdl_lab, the shell around it, is outside: listeners, the recorder, the hash.
 */
#ifndef EMU_LAB_WORLD_H
#define EMU_LAB_WORLD_H

#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/guest/machine/guest.h"
#include "emu/lab/changed.h"
#include "emu/lab/parts.h"
#include "emu/lab/record.h"
#include "emu/lab/tally.h"
#include "emu/lab/watch.h"
#include "emu/net/net.h"
#include "emu/sim/sim.h"
#include "emu/virtio/fault.h"
#include "emu/virtio/function.h"
#include "rdmalab/events.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/ip.h"
#include "rdmalab/lab.h"
#include "rdmalab/port.h"
#include "rdmalab/trace.h"
#include "rdmalab/vm.h"

_Static_assert(RDL_HOSTS_MAX <= EV_PORT_FIRST, "an event has room for every host");
_Static_assert(RDL_HOSTS_MAX < 1u << (64 - VERBS_NAME_BITS), "a handle has room for every host");
_Static_assert(RDL_SWITCHES_MAX == NET_SWITCHES_MAX, "the network has room for every switch");
_Static_assert(RDL_SWITCH_PORTS_MAX == NET_SWITCH_PORTS_MAX, "... for every port");
_Static_assert(RDL_LINKS_MAX == NET_LINKS_MAX, "... for every link");
_Static_assert(RDL_FAULTS_MAX == NET_FAULTS_MAX, "... for every fault");
_Static_assert(RDL_FAULT_ABOUT_BYTES == NET_ABOUT_BYTES, "... for what people call it");
_Static_assert(RDL_FAULT_ABOUT_BYTES == RDL_VALUE_BYTES, "... which a value can have");
_Static_assert(RDL_PINGS_MAX == GUEST_PINGS_MAX, "a guest remembers every ping");
_Static_assert(RDL_PKEYS_MAX == HCA_PKEYS_MAX, "a device has room for every P_Key");
_Static_assert(RDL_NAME_BYTES == EV_NAME_BYTES, "an event has room for every name");

#define HOST_FUNCTIONS 2u /* by enum pci_function */

struct host {
    uint32_t index;
    char name[RDL_NAME_BYTES]; /* "" of one that could not boot, see host_is_there() */
    struct ram ram;
    struct eth_port port;
    struct rdma *dev;                        /* function 1 of its slot */
    struct vnet *net;                        /* function 0 */
    struct pci_fn functions[HOST_FUNCTIONS]; /* around them */
    struct guest guest; /* of a host that is external: never booted, it has its addresses alone */
    bool is_external;   /* a virtual machine drives its functions, see lab/vm.c */
    uint64_t n_ticks;   /* that something was done in here, by its devices or for its guest */
    bool has_stranger;  /* somebody beside the drivers has written to RAM or registers */
};

/* A host that could not boot is not there for anybody, but its number stays taken: events of its
 * boot are not another host's.
 */
static inline bool host_is_there(const struct host *h)
{
    return h->name[0] != '\0';
}

/* May what is in the rings of the host be of somebody who is no driver of the lab's? */
static inline bool host_is_open(const struct host *h)
{
    return h->is_external || h->has_stranger || (h->dev && h->dev->hca.ram_is_open);
}

/* The device in one of its functions. */
static inline struct virtio_dev *host_virtio(struct host *h, enum pci_function function)
{
    return h->functions[function].dev;
}

struct world {
    struct arena *arena;
    struct rdl_lab *lab; /* the shell: where the bytes of frames are kept */
    uint64_t seed;
    struct trace trace;
    struct sim sim;
    struct net net;
    struct progress progress; /* what step() counts */
    struct host *hosts[RDL_HOSTS_MAX];
    uint32_t n_hosts;
    struct directory directory; /* of the hosts that need not ask for each other */
    struct directory addresses; /* of all hosts */
    struct parts parts;
};

struct rdl_listener {
    struct trace_sink sink;
};

/* Who reads an external port. */
struct port_reader {
    void (*frame)(void *ctx, const void *frame, size_t bytes);
    void *ctx;
    uint64_t unread; /* frames that left while nobody read */
};

/* Who is told of the interrupts of a host that a virtual machine drives. */
struct vm_listener {
    uint32_t host;
    rdl_vm_interrupt *interrupt; /* NULL: nobody */
    void *ctx;
};

struct rdl_lab {
    struct arena *arena;
    struct world *world;
    struct trace_sinks sinks;
    struct record *record;   /* NULL: nothing is recorded */
    struct ev_names *names;  /* NULL until somebody listens */
    struct watch *watch;     /* NULL: invariants are not checked */
    struct changed *changed; /* as long as there is a watch */
    struct tallies tallies;
    struct trace_sink names_sink, record_sink, hash_sink, watch_sink, changed_sink, sent_sink;
    struct ev sent; /* the last tx, once a fault has asked for it */
    bool hashing;
    struct trace_hash hash;
    struct port_reader readers[NET_EXTS_MAX];
    struct vm_listener vms[RDL_VMS_MAX];
    uint64_t summed_at;           /* the tick in which the counts of all parts were added up last */
    char broken[RDL_VALUE_BYTES]; /* the invariant that broke, "" while all hold */
};

struct rdl_checkpoint {
    struct arena_checkpoint *arena;
    uint64_t tick;
    struct trace_hash hash;
    struct tally_saved *tallies;
    size_t n_tallies;
    struct watch *watch; /* NULL: invariants were not checked */
};

/* The event with which @f, which is about to leave its host, was sent; NULL: nobody knows it. */
const struct ev *world_sent(void *ctx, const struct frame *f);

/* What every fault has: a name, of its own if @name is NULL or "", and what people call it. */
void world_fault_called(const struct world *w, struct net_fault *f, const char *name,
                        const char *about);

/* Takes a copy of @f among the faults of the lab.  RDL_OK, RDL_ERR_LIMIT, RDL_ERR_NOMEM. */
enum rdl_status world_fault_keep(struct rdl_lab *lab, const struct net_fault *f, rdl_fault *ret);

/* @f is about to be forgotten: if it is about a device, that is as it was. */
void world_device_fault_gone(struct world *w, struct net_fault *f);

/* The table of the simulation's kinds. */
extern sim_handler *const world_handlers[SIM_KIND_COUNT];
extern const struct net_ops world_net_ops;

/* Starts the tick of something that a person or script does.  world_done() ends it, and takes the
 * number back if nothing happened after all.
 */
static inline void world_act(struct world *w)
{
    const uint64_t now = w->trace.now_ns, floor = w->sim.floor_ns;

    trace_begin(&w->trace, now < floor ? floor : now, 0);
}

static inline void world_done(struct world *w)
{
    w->trace.cause = 0;
    if (w->trace.row == 0)
        w->trace.tick--;
}

/* The host of a handle, for a call that its guest carries out: RDL_OK, RDL_ERR_STALE,
 * RDL_ERR_NO_GUEST.
 */
static inline enum rdl_status world_guest_host(const struct world *w, uint32_t raw,
                                               struct host **ret)
{
    struct host *h = raw >= 1 && raw <= w->n_hosts ? w->hosts[raw - 1] : NULL;

    if (!h)
        return RDL_ERR_STALE;
    if (h->is_external)
        return RDL_ERR_NO_GUEST;
    *ret = h;
    return RDL_OK;
}

/* The queue pair that the guest of host number @host has under @qpn, or NULL: there is none. */
static inline struct guest_qp *world_guest_qp(const struct world *w, uint32_t host, uint32_t qpn)
{
    const struct host *h = host < w->n_hosts ? w->hosts[host] : NULL;

    if (!h || h->is_external || qpn > h->dev->config.max_qp)
        return NULL;
    return h->guest.verbs.qp_of[qpn];
}

/* ACT(lab, object or NULL if stale, call): a function whose body is the call in a tick of its
 * own, or RDL_ERR_STALE.
 */
#define ACT(lab, object, call)                                                                     \
    do {                                                                                           \
        enum rdl_status act_st;                                                                    \
                                                                                                   \
        if (!(object))                                                                             \
            return RDL_ERR_STALE;                                                                  \
        world_act((lab)->world);                                                                   \
        act_st = (call);                                                                           \
        world_done((lab)->world);                                                                  \
        return act_st;                                                                             \
    } while (0)

/* The same for what the guest of the host of handle @at does: @h is that host in @call. */
#define ACT_AT(lab, at, h, call)                                                                   \
    do {                                                                                           \
        struct host *h = NULL;                                                                     \
        const enum rdl_status at_st = world_guest_host((lab)->world, (at).raw, &h);                \
                                                                                                   \
        if (at_st != RDL_OK)                                                                       \
            return at_st;                                                                          \
        ACT(lab, h, call);                                                                         \
    } while (0)

/* Where a call that lets the lab go on must stop. */
struct bounds {
    uint64_t last_tick, last_ns;
};

struct bounds bounds_of(const struct rdl_lab *lab, struct rdl_limits limits);

/* One tick, if there is one within @b.  RDL_ERR_IDLE, RDL_ERR_TIMEOUT, RDL_ERR_INVARIANT. */
enum rdl_status world_tick(struct rdl_lab *lab, const struct bounds *b);

struct glance;

/* A frame of the lab with these bytes, which came from outside, as one that @sender sends: a host,
 * a port or EV_HOST_NONE.  @ret: what a glance says of it.  NULL: the arena is full.
 */
struct frame *world_frame(struct world *w, uint32_t sender, const void *bytes, size_t n,
                          struct glance *ret);

/* A frame leaves the lab through external port @ext. */
void port_leave(void *ctx, uint32_t ext, const struct frame *f);

/* The host that has @gid, for traces, or EV_HOST_NONE. */
uint32_t world_peer_of(const struct world *w, const uint8_t gid[GID_BYTES]);

/* The host of a handle, or NULL. */
static inline struct host *world_host(const struct world *w, uint32_t raw)
{
    return raw >= 1 && raw <= w->n_hosts ? w->hosts[raw - 1] : NULL;
}

/* The object of @kind, one of the verbs', that has handle @raw, or NULL when it is stale. */
static inline struct guest_object *world_object(const struct world *w, enum object_kind kind,
                                                uint64_t raw)
{
    const struct host *h = world_host(w, verbs_host_of(raw));

    return h ? verbs_get(&h->guest.verbs, kind, raw) : NULL;
}

/* The part called @name if it is of @kind, or NULL. */
const struct part *world_part(const struct world *w, const char *name, enum part_kind kind);

/* The host called @name, or NULL. */
struct host *world_host_named(const struct world *w, const char *name);

/* The index of the host whose Ethernet address is @mac, or EV_HOST_NONE. */
uint32_t world_station(const struct world *w, uint64_t mac);

/* May something new be called @name?  RDL_ERR_INVAL, RDL_ERR_EXISTS. */
enum rdl_status world_check_name(const struct world *w, const char *name);

/* The name of what is at an end of a link. */
const char *world_end_name(const struct world *w, const struct net_end *e);

#define LINK_NAME_BYTES ((size_t)2 * RDL_NAME_BYTES) /* "h1-s1" */

/* The link whose name is the @len bytes at @name.  False: there is none. */
bool world_link_named(const struct world *w, const char *name, size_t len, uint32_t *ret);

/* Looks for a broken invariant of a lab that is watched: what is cheap, and if @changed also in
 * everything that has changed since that was last asked.  Fills lab->broken and returns false when
 * there is one.
 */
bool world_check(struct rdl_lab *lab, bool changed);

#endif
