/* SPDX-License-Identifier: MIT */
/* The state of a lab.
 *
 * struct lab_state and everything that it points to is in the lab's arena, which a checkpoint
 * copies. struct rdl_lab, the shell around it, is outside: listeners, record, hash.
 */
#ifndef EMU_LAB_LAB_STATE_H
#define EMU_LAB_LAB_STATE_H

#include "emu/facts/enum/pci_function.h"
#include "emu/guest/machine/guest.h"
#include "emu/lab/changed.h"
#include "emu/lab/parts.h"
#include "emu/lab/record.h"
#include "emu/lab/tally.h"
#include "emu/lab/watch.h"
#include "emu/net/net.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/eth_port.h"
#include "emu/rnic/rdma_device.h"
#include "emu/sim/sim.h"
#include "rdmalab/events.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/ip.h"
#include "rdmalab/lab.h"
#include "rdmalab/layer.h"
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
_Static_assert(RDL_NAME_BYTES == EV_NAME_BYTES, "an event has room for every name");

struct cm_calls;
struct outer_net;
struct rdma;
struct virtio_dev;
struct vnet;

struct lab_lnet;
struct vrnic;

/* The functions of a machine that virtual RNICs share.  If virtual RNICs wait, no function is free.
 */
struct vf_pool {
    uint32_t size;      /* functions in it, from VF 0 on */
    uint64_t exhausted; /* times that no function was free */
    uint32_t when_full; /* enum pool_full */
    uint64_t wait_ns;   /* longest wait */
    struct vrnic *first_waiting, *last_waiting;
};

struct centre {
    uint64_t allowed[RDL_GROUPS_MAX + 1]; /* bit b of entry a: guests of a and b may connect */
};

struct router_process;

struct host {
    uint32_t index;
    char name[RDL_NAME_BYTES]; /* "" if it could not boot, see host_is_there() */
    struct ram ram;
    struct eth_port port;
    uint32_t device_type;      /* enum device_type */
    struct rdma_device device; /* function 1 of its slot; ops NULL: there is none */
    struct rnic *rnic;         /* device.nic; NULL: no RDMA device */
    struct vnet *net;          /* function 0; NULL: @outer is there instead */
    struct outer_net *outer;   /* the Ethernet function that a virtual machine brings; NULL: none */
    struct pci_fn *functions[FN_NUMBERS]; /* indexed by number in the slot; NULL: none */
    uint32_t n_functions;                 /* the largest number in the slot, and 1 */
    uint64_t n_reads, n_writes;           /* accesses to BARs of the RDMA device */
    struct guest guest;  /* if the host is external, only the addresses are valid */
    bool is_external;    /* a virtual machine drives its functions, see lab/vm.c */
    uint64_t n_ticks;    /* number of dispatches for this host; calls of its program do not count */
    struct vrnic *vrnic; /* its virtual RNIC; NULL: it has none */
    struct lab_lnet *lnet;         /* its node of LNet; NULL: there was never one */
    struct vf_pool pool;           /* of a machine */
    struct router_process *router; /* of a machine: it stands before some guests; NULL: of none */
    bool has_stranger; /* something other than the lab's drivers wrote to RAM or registers */
};

/* Returns false for a host that could not boot.  Such a host cannot be used, but its number stays
 * taken so that no other host's events have it.
 */
static inline bool host_is_there(const struct host *h)
{
    return h->name[0] != '\0';
}

/* Returns true if @h is a machine, and if @h is a guest on one.  A guest on port 0 shares the port
 * of the machine itself.
 */
static inline bool host_is_machine(const struct host *h)
{
    return h->port.sw && h->port.sw->host == h->index;
}
static inline bool host_is_guest(const struct host *h)
{
    return h->port.sw && h->port.sw->host != h->index;
}

/* Tells the drivers of @h that its port has come up or gone down. */
void host_link_changed(struct host *h, bool up);

/* The same for all hosts at the switch of the machine @m that follow its cable. */
void machine_link_changed(struct lab_state *w, const struct host *m, bool up);

/* Returns true if the RDMA device of the host has failed and must be reset. */
bool host_is_broken(const struct host *h);

/* Returns true if something other than the lab's drivers may have written to the host's rings. */
bool host_is_open(const struct host *h);

/* Returns the driver's side of virtqueue @queue of the RDMA function.  Returns NULL if the guest of
 * the host has no driver of virtio-rdma, or is a virtual machine.
 */
struct vqd *host_rdma_vq(const struct host *h, uint32_t queue);

/* Puts @f into the slot of the host, at f->config.slot.number, which is free. */
void host_plug(struct host *h, struct pci_fn *f);

/* Returns the virtio device of PCI function @function of the host, or NULL if the function is
 * another device or does not exist.
 */
struct virtio_dev *host_virtio(const struct host *h, uint32_t function);

/* Returns the virtio-rdma device of the host, or NULL if it has another device or none. */
struct rdma *host_rdma(const struct host *h);

struct lab_state {
    struct arena *arena;
    struct rdl_lab *lab; /* the shell around this state */
    uint64_t seed;
    struct trace trace;
    struct sim sim;
    struct net net;
    struct progress progress; /* counters for step() */
    struct host *hosts[RDL_HOSTS_MAX];
    uint32_t n_hosts;
    struct directory directory; /* addresses of hosts that need not be resolved over the link */
    struct directory addresses; /* addresses of all hosts */
    struct parts parts;
    struct centre centre;
    const struct verbs *caller; /* of the host whose program calls; NULL: the lab's user */
    uint64_t last_tick_ns;      /* time of the tick before the last lab_act() */
    struct cm_calls *cm_calls;  /* of programs; NULL: none yet, or memory was short */
    bool has_cm; /* a program has used rdma_cm: the connection managers of all hosts run */
};

struct rdl_listener {
    struct trace_sink sink;
};

/* The reader of an external port. */
struct port_reader {
    void (*frame)(void *ctx, const void *frame, size_t bytes);
    void *ctx;
    uint64_t unread; /* number of frames that left while there was no reader */
};

/* The callbacks for a host that a virtual machine drives.  Without any the entry is free. */
struct vm_listener {
    uint32_t host;
    rdl_vm_interrupt *interrupt; /* NULL: nobody listens */
    void *ctx;
    rdl_vm_frame *frame; /* NULL: nobody listens */
    void *frame_ctx;
};

struct rdl_lab {
    struct arena *arena;
    struct lab_state *state;
    struct trace_sinks sinks;
    struct record *record;   /* NULL: not recording */
    struct ev_names *names;  /* NULL until the first listener is added */
    struct watch *watch;     /* NULL: invariants are not checked */
    struct changed *changed; /* NULL if @watch is NULL */
    struct tallies tallies;
    struct trace_sink names_sink, record_sink, hash_sink, watch_sink, changed_sink, sent_sink;
    struct ev *sent; /* the last tx event, once a fault needs it; NULL before */
    bool hashing;
    struct trace_hash hash;
    struct port_reader readers[NET_EXTS_MAX];
    struct vm_listener vms[RDL_VMS_MAX];
    uint64_t summed_at;           /* tick of the last check of the sums over all parts */
    char broken[RDL_VALUE_BYTES]; /* the violated invariant; "" if all hold */
};

struct rdl_checkpoint {
    struct arena_checkpoint *arena;
    uint64_t tick;
    struct trace_hash hash;
    struct tally_saved *tallies;
    size_t n_tallies;
    struct watch *watch; /* NULL: invariants were not checked */
};

/* Returns the tx event of @f, which is about to leave its host.  @ctx is the struct lab_state.
 * Returns NULL if the last tx event is not that of @f, or if no fault has needed tx events so far.
 */
const struct ev *lab_sent(void *ctx, const struct frame *f);

/* Sets the name and the description of @f.  If @name is NULL or "", the fault is named by its
 * number.  If @about is NULL, the description does not change.
 */
void lab_fault_called(const struct lab_state *w, struct net_fault *f, const char *name,
                      const char *about);

/* Adds a copy of @f to the lab's faults and its name to the lab's parts.  *@ret is its handle.
 * Returns RDL_OK, RDL_ERR_LIMIT or RDL_ERR_NOMEM.
 */
enum rdl_status lab_fault_keep(struct rdl_lab *lab, const struct net_fault *f, rdl_fault *ret);

/* Detaches the device fault @f, which is about to be removed, from its device.  Does nothing for
 * other faults.
 */
void lab_device_fault_gone(struct lab_state *w, struct net_fault *f);

/* lab_handlers: the handlers of the simulation's kinds of items.  lab_net_ops: the callbacks of the
 * network.
 */
extern sim_handler *const lab_handlers[SIM_KIND_COUNT];
extern const struct net_ops lab_net_ops;

/* lab_act() starts a tick for an action of the user or a script.  lab_done() ends it, and takes
 * number and time of the tick back if no event happened.
 */
static inline void lab_act(struct lab_state *w)
{
    const uint64_t now = w->trace.now_ns, floor = w->sim.floor_ns;

    w->last_tick_ns = w->trace.tick_ns;
    trace_begin(&w->trace, now < floor ? floor : now, 0);
}

static inline void lab_done(struct lab_state *w)
{
    w->trace.cause = 0;
    if (w->trace.row == 0) {
        w->trace.tick--;
        w->trace.tick_ns = w->last_tick_ns;
    }
}

/* Finds the host with handle @raw for a call that its guest carries out.  Returns RDL_OK with the
 * host in *@ret, RDL_ERR_STALE, or RDL_ERR_NO_GUEST if the host is external.
 */
static inline enum rdl_status lab_guest_host(const struct lab_state *w, uint32_t raw,
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

/* Returns the queue pair that the guest of host number @host has under @qpn, or NULL if there is
 * none.
 */
struct guest_qp *lab_guest_qp(const struct lab_state *w, uint32_t host, uint32_t qpn);

/* ACT(lab, object, call) is the body of a function: executes the call in a tick of its own, or
 * returns RDL_ERR_STALE if the object is NULL.
 */
#define ACT(lab, object, call)                                                                     \
    do {                                                                                           \
        enum rdl_status act_st;                                                                    \
                                                                                                   \
        if (!(object))                                                                             \
            return RDL_ERR_STALE;                                                                  \
        lab_act((lab)->state);                                                                     \
        act_st = (call);                                                                           \
        lab_done((lab)->state);                                                                    \
        return act_st;                                                                             \
    } while (0)

/* Returns RDL_OK if a program or the lab's user may use @o.  Returns RDL_ERR_STALE if it is NULL,
 * RDL_ERR_KERNEL if a node of LNet has it: its next call would find it changed, or the node could
 * not stop.  The objects of the connection manager may be used, but not destroyed (object.c).
 */
static inline enum rdl_status lab_may_use(const struct guest_object *o)
{
    if (!o)
        return RDL_ERR_STALE;
    return o->kept_by == RDL_KERNEL_LNET ? RDL_ERR_KERNEL : RDL_OK;
}

/* Like ACT() for a call that uses @object, which begins with a struct guest_object @o. */
#define ACT_ON(lab, object, call)                                                                  \
    do {                                                                                           \
        const enum rdl_status on_st = lab_may_use((object) ? &(object)->o : NULL);                 \
                                                                                                   \
        if (on_st != RDL_OK)                                                                       \
            return on_st;                                                                          \
        ACT(lab, object, call);                                                                    \
    } while (0)

/* Like ACT() for a call to the guest of the host with handle @at; @call uses @h for that host. */
#define ACT_AT(lab, at, h, call)                                                                   \
    do {                                                                                           \
        struct host *h = NULL;                                                                     \
        const enum rdl_status at_st = lab_guest_host((lab)->state, (at).raw, &h);                  \
                                                                                                   \
        if (at_st != RDL_OK)                                                                       \
            return at_st;                                                                          \
        ACT(lab, h, call);                                                                         \
    } while (0)

/* Limits of a call that advances the lab, as a number of a tick and a simulated time. */
struct bounds {
    uint64_t last_tick, last_ns;
};

/* Returns the absolute limits for a call that starts now with @limits, where 0 means no limit. */
struct bounds bounds_of(const struct rdl_lab *lab, struct rdl_limits limits);

/* Executes one tick.
 *
 * Return: RDL_OK
 *	   RDL_ERR_IDLE       nothing is scheduled
 *	   RDL_ERR_TIMEOUT    @b is reached
 *	   RDL_ERR_INVARIANT  an invariant is violated: lab->broken
 *	   RDL_ERR_NOMEM      the arena is full
 */
enum rdl_status lab_tick(struct rdl_lab *lab, const struct bounds *b);

struct glance;

/* Creates a frame with a copy of the @n bytes at @bytes.  It counts as sent by @sender: the number
 * of a host or an external port in events, or EV_HOST_NONE.  *@ret describes its headers.  Returns
 * NULL if the arena is full.
 */
struct frame *lab_frame(struct lab_state *w, uint32_t sender, const void *bytes, size_t n,
                        struct glance *ret);

struct ev_addr lab_addr_of(const struct glance *g);

/* Emits the event with which a device of @host sends a frame with headers @g and @bytes bytes. */
ev_id lab_announce(struct lab_state *w, uint32_t host, const struct glance *g, uint32_t bytes);

/* Emits port_out for frame @f, which leaves through external port @ext, and passes it to the reader
 * of the port.  Counts it as unread if there is no reader.  @ctx is the struct lab_state.
 */
void port_leave(void *ctx, uint32_t ext, const struct frame *f);

/* Returns the index of the host that has @gid, for events, or EV_HOST_NONE if none has. */
uint32_t lab_peer_of(const struct lab_state *w, const uint8_t gid[GID_BYTES]);

/* Returns the host with handle @raw, or NULL if there is none. */
static inline struct host *lab_host(const struct lab_state *w, uint32_t raw)
{
    return raw >= 1 && raw <= w->n_hosts ? w->hosts[raw - 1] : NULL;
}

/* Starts the connection managers of all hosts, if they are not started.  Returns RDL_OK if that of
 * @h can be used; otherwise why not.
 */
enum rdl_status lab_cm_usable(struct lab_state *w, const struct host *h);

/* Starts the connection manager of @h, if the host can have one and it does not run yet. */
void lab_cm_start(struct host *h);

/* Returns the verbs object of @kind with handle @raw, or NULL if the handle is stale.  To a
 * program, handles of other hosts are.
 */
static inline struct guest_object *lab_object(const struct lab_state *w, uint32_t kind,
                                              uint64_t raw)
{
    const struct host *h = lab_host(w, verbs_host_of(raw));

    if (!h || (w->caller && w->caller != &h->guest.verbs))
        return NULL;
    return verbs_get(&h->guest.verbs, kind, raw);
}

/* Returns the part called @name if it is of @kind, otherwise NULL. */
const struct part *lab_part(const struct lab_state *w, const char *name, enum part_kind kind);

/* Returns the host called @name, or NULL if there is none. */
struct host *lab_host_named(const struct lab_state *w, const char *name);

/* Returns the index of the host with the Ethernet address @mac, or EV_HOST_NONE if there is none.
 */
uint32_t lab_station(const struct lab_state *w, uint64_t mac);

/* Checks that a new part can be called @name.  Returns RDL_OK, RDL_ERR_INVAL if @name is not valid,
 * or RDL_ERR_EXISTS if a part or a link has it.
 */
enum rdl_status lab_check_name(const struct lab_state *w, const char *name);

/* Returns the name of the host, switch or port at an end of a link. */
const char *lab_end_name(const struct lab_state *w, const struct net_end *e);

#define LINK_NAME_BYTES ((size_t)2 * RDL_NAME_BYTES) /* name of a link with its NUL: "h1-s1" */

/* Finds the link whose name is the @len bytes at @name.  Returns true with its index in *@ret, or
 * false if there is none.
 */
bool lab_link_named(const struct lab_state *w, const char *name, size_t len, uint32_t *ret);

/* Checks the invariants of a lab that has a watch.  Without @changed it checks only the cheap ones.
 * With @changed it also checks those of everything that changed since the last such check.  Returns
 * true if all hold.  Otherwise fills in lab->broken and returns false.
 */
bool lab_check(struct rdl_lab *lab, bool changed);

#endif
