/* SPDX-License-Identifier: MIT */
/* A lab: hosts, switches and links on one simulated clock.
 *
 * Labs in one process are independent: there are no globals.  A lab never reads a clock, prints or
 * blocks.  It advances only inside rdl_step(), rdl_run() and rdl_wait().  Nothing here is
 * thread-safe: use a lab from one thread at a time.
 *
 * Handles name hosts, links and objects.  An object's handle packs its host, a slot in that host's
 * table and a generation, so that a handle of a destroyed object is detected (RDL_ERR_STALE).  Each
 * kind of handle has its own C type: a CQ cannot be passed as a QP.  Every object also has a name,
 * unique on its host ("h1.qp").
 */
#ifndef RDMALAB_LAB_H
#define RDMALAB_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdmalab/limits.h"
#include "rdmalab/status.h"

struct rdl_lab;

/* Handles of hosts, switches, links and ports: numbers from 1, never reused; 0 is none. */
typedef struct {
    uint32_t raw;
} rdl_host;
typedef struct {
    uint32_t raw;
} rdl_switch;
typedef struct {
    uint32_t raw;
} rdl_link;
typedef struct {
    uint32_t raw;
} rdl_port;

/* Handles of guest objects: host number from 1 (16 bits) | generation from 1 (24 bits) | slot (24
 * bits).  0 means no object.
 */
typedef struct {
    uint64_t raw;
} rdl_pd;
typedef struct {
    uint64_t raw;
} rdl_mr;
typedef struct {
    uint64_t raw;
} rdl_cq;
typedef struct {
    uint64_t raw;
} rdl_qp;
typedef struct {
    uint64_t raw;
} rdl_ah;
typedef struct {
    uint64_t raw;
} rdl_mw;
typedef struct {
    uint64_t raw;
} rdl_channel;
typedef struct {
    uint64_t raw;
} rdl_srq;

/* Handle of a fault: generation and slot.  It contains no host because faults belong to the lab. */
typedef struct {
    uint64_t raw;
} rdl_fault;

#define RDL_NAME_BYTES 24u        /* longest name, including its NUL */
#define RDL_NEVER      UINT64_MAX /* a time in ns that does not come */

/* Upper bounds of a lab.  The tables grow as they are used. */
#define RDL_HOSTS_MAX        4096u
#define RDL_SWITCHES_MAX     4096u
#define RDL_SWITCH_PORTS_MAX 4096u /* ports of one switch */
#define RDL_LINKS_MAX        65536u

#define RDL_PKEYS_MAX 16u /* entries of a P_Key table */

struct rdl_lab_config {
    uint64_t seed;          /* seed of all random events in the lab */
    size_t arena_bytes_max; /* address space to reserve for the lab; 0: see rdl_lab_new() */
    bool check_invariants;  /* check the emulator's own invariants as the lab advances */
};

/* Creates a lab.  It reserves config->arena_bytes_max of address space.  With 0 it reserves 64 GiB,
 * or less in halving steps down to 1 GiB where a resource limit requires it.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM
 *
 * rdl_lab_free() frees the lab with everything in it.  It accepts NULL.
 */
RDL_MUST_CHECK enum rdl_status rdl_lab_new(const struct rdl_lab_config *config,
                                           struct rdl_lab **ret);
void rdl_lab_free(struct rdl_lab *lab);

/* A host: RAM, an RDMA device or none, and virtio-net on one Ethernet port, their drivers, an IP
 * stack.  A field that is 0 selects the default.  By default host number k (from 1) has the MAC
 * 02:00:00:00:K:K and the addresses 10.0.K.K and fe80::EUI-64, where K.K are the two bytes of k,
 * high byte first: 10.0.0.1 for k = 1.
 */
struct rdl_host_config {
    const char *name;    /* copied; unique; a letter, then letters, digits, - and _ */
    uint8_t mac[6];      /* unicast */
    uint8_t ipv4[16];    /* as a GID, ::ffff:a.b.c.d; entry 0 of the GID table */
    uint8_t ipv6[16];    /* entry 1 of the GID table */
    uint64_t ram_bytes;  /* a multiple of 4096; default 64 MiB, sparse */
    uint32_t max_cq;     /* completion queues, 1..16384, default 16 */
    uint32_t max_qp;     /* queue pairs, 2..16384 (QPN 1 is for type GSI), default 17 */
    uint32_t device_mtu; /* largest path MTU of the device, 256..4096; default 4096 */
    /* Bytes of the longest IP packet, 1280..9000; default: enough for device_mtu, at least 1500 */
    uint32_t mtu;
    uint64_t features_off; /* device feature bits (1 << number) that are not offered */
    /* Extensions of virtio-rdma that are offered, a set of 1 << enum extension.  0: all of them if
     * @external, otherwise none.
     */
    uint64_t extensions;
    uint32_t ceqs;    /* completion event queues, 1..64, default 4; needs extension CEQ */
    uint32_t profile; /* enum profile: implementation whose behaviour is imitated */
    /* true: the host resolves the MACs of the lab's other hosts over the link.  false: it knows
     * these MACs in advance.
     */
    bool arp;
    /* P_Keys of the port: a partition number of 15 bits, not 0, and bit 15 for a full member. */
    uint16_t pkeys[RDL_PKEYS_MAX];
    uint32_t n_pkeys; /* 0: the table is the default P_Key 0xffff alone */
    uint32_t max_srq; /* shared receive queues, 1..8192, default 4 */
    bool external;    /* without guest and RAM: a virtual machine drives it, see rdmalab/vm.h */
    uint32_t ring;    /* enum ring_format of all virtqueues of both functions */
    bool indirect;    /* control requests use indirect descriptors */
    struct rdl_device_limits limits;
    bool on_demand;     /* the driver sets a queue up when an object needs it, not at boot */
    bool intx;          /* no MSI-X: both functions share the interrupt line INTx */
    uint32_t rx_buffer; /* bytes of a receive buffer of virtio-net (limits.h); 0: fits a frame */
    uint32_t device;    /* enum device_type; a host without an RDMA device cannot be @external */
    /* Of device virtio alone.  queue_size: largest size of a virtqueue, a power of two from 2 to
     * 32768; default 32768, or 1024 if @external.  It bounds max_qp_wr and max_cqe, and their
     * defaults.  page_sizes: set of 1 << enum page_size, 4k among them; default 4k, or 4k and 2m
     * if @external.
     */
    uint32_t queue_size, page_sizes;
    /* Of device pvrdma alone. */
    uint32_t version; /* newest version of its interface, 17..20, default 20 */
    uint32_t vectors; /* MSI-X: 1 for commands, 2 also for events, 3 (default) for completions */
    /* vfs: virtual functions of the adapter, 0..126; not 0: the host is a machine.  on: name of the
     * machine whose virtual function @vf is the port of this host; NULL: it has an adapter of its
     * own.  See rdmalab/machine.h.
     */
    uint32_t vfs;
    uint32_t idle_vfs; /* as many of @vfs are not enabled when the machine boots */
    const char *on;
    uint32_t vf;
    /* vrnic: in place of @vf the host has a virtual RNIC, which gets a virtual function of the pool
     * of machine @on while it has objects; @group of the control centre, from 1, default 1.  pool:
     * of a machine, as many of its functions are in the pool at first; it grows.  See
     * rdmalab/layer.h.
     */
    bool vrnic;
    uint32_t group, pool;
    /* Of a machine: enum pool_full, what happens to a virtual RNIC that needs a function when none
     * is free; longest wait, 0: RDL_POOL_WAIT_NS.
     */
    uint32_t when_full;
    uint64_t pool_wait_ns;
    /* vrnic_with: name of another virtual RNIC of @on, which is of the same instance: it shares the
     * function of that one.  NULL: none.
     */
    const char *vrnic_with;
    uint32_t vrnic_vfs; /* most functions that a virtual RNIC has at a time, 1..8, default 1 */
    /* shared: in place of a function of its own the host shares the port of machine @on itself,
     * with the machine's MAC and VLAN.  Hosts that share a port are told apart by their IP
     * addresses.
     */
    bool shared;
    /* mux: of a machine, the multiplexer (enum mux_profile) of the connection managers that share
     * its port; 0: none, and their messages go to the host with the IP destination, as other
     * frames.
     */
    uint32_t mux;
    /* shortcut: of a machine, connections between its functions copy from memory to memory, without
     * frames.  See rdmalab/machine.h.
     */
    bool shortcut;
    /* router: a guest whose work requests and completions pass a router process of its machine, as
     * those of FreeFlow do.  It must have an RDMA device and cannot be @external.
     */
    bool router;
    /* VLAN of the Ethernet port, 1 to 4094: it tags every frame that it sends, with priority @pcp
     * (0 to 7), and drops frames of other VLANs.  0: frames have no tag, and @pcp is 0.
     */
    uint32_t vlan, pcp;
};

/* Returns what people call RDMA devices of type @device (enum device_type): "virtio-rdma".  Returns
 * NULL for no device and for other values.
 */
const char *rdl_device_name(uint32_t device);

/* Returns the type of the RDMA device of @host (enum device_type), which must exist. */
uint32_t rdl_host_device(const struct rdl_lab *lab, rdl_host host);

/* Sets *@ret_vlan and *@ret_pcp to rdl_host_config.vlan and .pcp of @host, which must exist. */
void rdl_host_vlan(const struct rdl_lab *lab, rdl_host host, uint32_t *ret_vlan, uint32_t *ret_pcp);

/* Adds a host and boots it: one tick with many events.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL   a value is out of range
 *	   RDL_ERR_EXISTS  the name is in use
 *	   RDL_ERR_ADDRESS another host has one of the GIDs
 *	   RDL_ERR_LIMIT   there are RDL_HOSTS_MAX hosts
 *	   RDL_ERR_NOMEM   the arena is full, or ram_bytes too small for the device's queues
 *	   RDL_ERR_UNSUPPORTED  the device has no driver here: the host must be @external
 *	   RDL_ERR_UNSUPPORTED  a machine has no other device than virtio-rdma
 *	   RDL_ERR_NOT_FOUND    @on is no machine, or has no function @vf, or no virtual RNIC
 *	                        @vrnic_with
 *	   RDL_ERR_NO_DEVICE    the function is not enabled now
 *	   RDL_ERR_BUSY         another host has the function
 */
RDL_MUST_CHECK enum rdl_status rdl_host_add(struct rdl_lab *lab,
                                            const struct rdl_host_config *config, rdl_host *ret);

/* Adds a learning Ethernet switch.  Errors as rdl_host_add(). */
RDL_MUST_CHECK enum rdl_status rdl_switch_add(struct rdl_lab *lab, const char *name,
                                              rdl_switch *ret);

struct rdl_link_config {
    const char *a, *b;   /* names of two hosts, switches or external ports */
    uint64_t latency_ns; /* delay in each direction */
    uint64_t rate_bps;   /* bit/s; 0: 100 Gbit/s */
    uint32_t loss_ppm;   /* chance that a frame is lost, in each direction */
};

/* Adds a link with the name "a-b", from the names of its ends.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  @a or @b
 *	   RDL_ERR_BUSY       a host or external port already has a link
 *	   RDL_ERR_UNSUPPORTED  a guest of a machine has no cable of its own
 *	   RDL_ERR_EXISTS     another part of the lab has the link's name
 *	   RDL_ERR_INVAL      both ends are the same, or a value is out of range
 *	   RDL_ERR_LIMIT      there are RDL_LINKS_MAX, or RDL_SWITCH_PORTS_MAX at a switch
 *	   RDL_ERR_NOMEM      the arena is full
 */
RDL_MUST_CHECK enum rdl_status rdl_link_add(struct rdl_lab *lab,
                                            const struct rdl_link_config *config, rdl_link *ret);

/* Changes latency, rate and loss of @link, in both directions, for frames that are sent from now
 * on.  Ignores the names in @config; jitter and bursts stay as they are.  Returns RDL_OK,
 * RDL_ERR_STALE, or RDL_ERR_INVAL if a value is out of range.
 */
RDL_MUST_CHECK enum rdl_status rdl_link_set(struct rdl_lab *lab, rdl_link link,
                                            const struct rdl_link_config *config);

/* The properties of one direction of a link. */
struct rdl_way_config {
    uint64_t latency_ns, rate_bps; /* rate_bps: bit/s, not 0 */
    uint64_t jitter_ns; /* maximum extra delay of a frame, uniformly drawn; the order is kept */
    uint32_t loss_ppm;
    /* Loss bursts: the chance that a frame starts one (0: no bursts), their mean length in frames
     * (at least 1), and the chance that a frame in a burst is lost.
     */
    uint32_t burst_ppm, burst_frames, burst_loss_ppm;
};

/* Sets the properties of one direction of @link, for frames that are sent from now on.  If @end is
 * 0, it is the direction from rdl_link_config.a to b.  If @end is 1, it is the direction from b to
 * a.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  a value or @end is out of range
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_link_set_way(struct rdl_lab *lab, rdl_link link, uint32_t end,
                                                const struct rdl_way_config *config);

/* Takes @link up or down.  Frames that are on the wire when the link goes down still arrive.  Later
 * frames are dropped at the port through which they would enter it.
 *
 * Return: RDL_OK, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_link_raise(struct rdl_lab *lab, rdl_link link, bool up);

/* Finds the link between the nodes with the names @a and @b, in either order.  If two switches have
 * several links, prefers one that was added as a link from @a to @b.  Returns RDL_ERR_NOT_FOUND if
 * there is none.
 */
RDL_MUST_CHECK enum rdl_status rdl_link_find(const struct rdl_lab *lab, const char *a,
                                             const char *b, rdl_link *ret);

/* rdl_now_ns() returns the simulated time in ns.  rdl_tick() returns the number of the last tick, 0
 * before the first.  The clock stops after 146 years (2^62 ns): calls that would advance the lab
 * further return RDL_ERR_TIMEOUT.
 */
uint64_t rdl_now_ns(const struct rdl_lab *lab);
uint64_t rdl_tick(const struct rdl_lab *lab);

/* Returns the time of the last tick in ns.  rdl_now_ns() is later if a run ended between two ticks.
 */
uint64_t rdl_tick_ns(const struct rdl_lab *lab);

/* Returns the time of the next tick in ns, or RDL_NEVER if nothing is scheduled. */
uint64_t rdl_next_ns(const struct rdl_lab *lab);

/* Sets the earliest time of future ticks.  Ticks that are due before @now_ns happen at @now_ns, in
 * the order in which they are due.  A lab that follows an outside clock uses this when it is late:
 * timers that such ticks start then run their full time.  A smaller value than before has no
 * effect.  rdl_checkpoint_restore() restores the value.
 */
void rdl_not_before(struct rdl_lab *lab, uint64_t now_ns);

enum rdl_step {
    RDL_STEP_TICK,   /* one tick of any kind */
    RDL_STEP_WQE,    /* until a device has fetched a WQE */
    RDL_STEP_PACKET, /* until a frame is sent, arrives or is lost */
    RDL_STEP_TIMER,  /* until a timer expires */
    RDL_STEP_CQE,    /* until a CQE is written */
    RDL_STEP_DESC    /* until a device has taken or returned a descriptor chain */
};

/* Returns the number of times that @step has happened since the lab was created. */
uint64_t rdl_progress(const struct rdl_lab *lab, enum rdl_step step);

/* Limits of one call.  0 means no limit. */
struct rdl_limits {
    uint64_t ticks;
    uint64_t ns; /* simulated time from now */
};

/* Advances the lab until @step has happened once.
 *
 * Return: RDL_OK
 *	   RDL_ERR_IDLE       nothing is scheduled any more
 *	   RDL_ERR_TIMEOUT    a limit was reached
 *	   RDL_ERR_INVARIANT  see rdl_broken_invariant()
 *	   RDL_ERR_NOMEM      see rdl_shortage()
 */
RDL_MUST_CHECK enum rdl_status rdl_step(struct rdl_lab *lab, enum rdl_step step,
                                        struct rdl_limits limits);

/* Advances the lab until a device or the guest of @host has acted: a device did something, an
 * interrupt or timer called the guest, or a frame arrived.  Errors as rdl_step(), and RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_step_host(struct rdl_lab *lab, rdl_host host,
                                             struct rdl_limits limits);

/* Advances the lab until nothing is scheduled or until @until_ns, whichever comes first.  In the
 * second case the clock is then at @until_ns, or later because of rdl_not_before().
 *
 * Return: RDL_OK
 *	   RDL_ERR_TIMEOUT, RDL_ERR_INVARIANT, RDL_ERR_NOMEM as rdl_step()
 */
RDL_MUST_CHECK enum rdl_status rdl_run(struct rdl_lab *lab, uint64_t until_ns,
                                       struct rdl_limits limits);

/* The response with which a device refused a control request. */
struct rdl_response {
    int error;        /* errno of the verb: EBUSY, ENOMEM, EINVAL and so on */
    uint32_t code;    /* the device's own code; devices of different types have different codes */
    const char *name; /* name of @code: "BUSY"; "?" if the driver does not know it */
    const char *text; /* meaning of @code; "" if the driver does not know it */
};

/* Advances the lab until the control requests of @host are answered.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NO_ROUTE no neighbour answered for the address vector of a modify or of an
 *	                    address handle
 *	   RDL_ERR_DEVICE   the device refused; *@reterr_rsp is its response
 *	   RDL_ERR_BROKEN   the device needs a reset
 *	   RDL_ERR_TIMEOUT, RDL_ERR_IDLE and others as rdl_step()
 */
RDL_MUST_CHECK enum rdl_status rdl_wait(struct rdl_lab *lab, rdl_host host,
                                        struct rdl_limits limits, struct rdl_response *reterr_rsp);

/* Returns the result of the control requests of @host without advancing the lab: RDL_ERR_BUSY while
 * a request is under way, otherwise as rdl_wait().  For a lab that follows an outside clock and
 * must not run ahead of it.
 */
RDL_MUST_CHECK enum rdl_status rdl_answer(const struct rdl_lab *lab, rdl_host host,
                                          struct rdl_response *reterr_rsp);

/* A checkpoint is a copy of the whole lab.  Restoring it brings back every object at its address,
 * and repeating the same calls repeats the same events.  It stays valid and can be restored again.
 * After a restore the record hides the events after the checkpoint: see rdl_record_forget_ahead().
 * Restoring a later checkpoint shows its recorded events again if the record has all of them;
 * otherwise the record starts anew at that checkpoint.
 *
 * rdl_checkpoint_save() returns RDL_OK, RDL_ERR_NOMEM, or RDL_ERR_VM if a virtual machine has
 * mapped its memory.  rdl_checkpoint_free() accepts NULL.
 */
struct rdl_checkpoint;
RDL_MUST_CHECK enum rdl_status rdl_checkpoint_save(const struct rdl_lab *lab,
                                                   struct rdl_checkpoint **ret);
void rdl_checkpoint_restore(struct rdl_lab *lab, const struct rdl_checkpoint *c);
void rdl_checkpoint_free(struct rdl_checkpoint *c);

/* Returns the bytes of memory that @c uses, without the state of tallies and invariants. */
size_t rdl_checkpoint_bytes(const struct rdl_checkpoint *c);

/* Returns RDL_SHORT_OF_NOTHING, or which memory ran short:
 *
 * RDL_SHORT_LAB: the lab's own memory is full.  The last tick has wrong results, and every call
 * that advances the lab returns RDL_ERR_NOMEM.  RDL_SHORT_RECORD: events, frames or names were not
 * recorded; rdl_record_forgotten() returns the number of events.  The call reports such a shortage
 * once.
 */
enum rdl_shortage { RDL_SHORT_OF_NOTHING, RDL_SHORT_LAB, RDL_SHORT_RECORD };
enum rdl_shortage rdl_shortage(struct rdl_lab *lab);

/* Returns the bytes of memory that the lab uses, including free blocks. */
size_t rdl_used_bytes(const struct rdl_lab *lab);

/* Returns a description of the invariant that broke, or NULL if none did.  It is valid until the
 * lab advances or a checkpoint is restored.
 */
const char *rdl_broken_invariant(const struct rdl_lab *lab);

#endif
