/* SPDX-License-Identifier: MIT */
/* A lab: hosts, switches and links on one simulated clock.
 *
 * A lab is one value without globals behind it: two of them in a process know nothing of each
 * other. It never reads a clock, prints or blocks; it advances only inside rdl_step(), rdl_run()
 * and rdl_wait().  Nothing here is thread-safe: use a lab from one thread at a time.
 *
 * Hosts, links and objects are named by handles.  One of an object packs its host, a slot of that
 * host's table and a generation, so that a handle kept after its object was destroyed is detected
 * (RDL_ERR_STALE).  Their types differ: a CQ cannot be passed for a QP.  Every object also has a
 * name, unique on its host ("h1.qp").
 */
#ifndef RDMALAB_LAB_H
#define RDMALAB_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdmalab/limits.h"
#include "rdmalab/status.h"

struct rdl_lab;

/* Numbers from 1, never used twice; 0 is none. */
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

/* Objects of a guest: the host's number, from 1 (16 bits) | generation, from 1 (24) | slot (24).  0
 * is no handle.
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

/* A fault is the lab's: its handle is an object's without the host. */
typedef struct {
    uint64_t raw;
} rdl_fault;

#define RDL_NAME_BYTES 24u /* longest name, its NUL included */
#define RDL_NEVER      UINT64_MAX

/* How much a lab can have of what costs memory only by use. */
#define RDL_HOSTS_MAX        4096u
#define RDL_SWITCHES_MAX     4096u
#define RDL_SWITCH_PORTS_MAX 4096u /* of each */
#define RDL_LINKS_MAX        65536u

#define RDL_PKEYS_MAX 16u /* entries of a P_Key table */

struct rdl_lab_config {
    uint64_t seed;          /* everything random in the lab comes from it */
    size_t arena_bytes_max; /* address space reserved for the lab; 0: see rdl_lab_new() */
    bool check_invariants;  /* watch the emulator's own invariants on every tick */
};

/* Reserves 64 GiB of address space or, where a limit leaves less, half of that and so on, but at
 * least 1 GiB; @config can say how much exactly.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM.  Free with rdl_lab_free(), which takes NULL too.
 */
RDL_MUST_CHECK enum rdl_status rdl_lab_new(const struct rdl_lab_config *config,
                                           struct rdl_lab **ret);
void rdl_lab_free(struct rdl_lab *lab);

/* A host: RAM, virtio-rdma and virtio-net on one Ethernet port, their drivers, an IP stack.  Zero
 * means the default: for host number k (from 1) MAC 02:00:00:00:00:k, 10.0.0.k and fe80::EUI-64.
 */
struct rdl_host_config {
    const char *name;    /* copied; unique; a letter, then letters, digits, - and _ */
    uint8_t mac[6];      /* unicast */
    uint8_t ipv4[16];    /* as a GID, ::ffff:a.b.c.d; entry 0 of the GID table */
    uint8_t ipv6[16];    /* entry 1 of the GID table */
    uint64_t ram_bytes;  /* a multiple of 4096; default 64 MiB, sparse */
    uint32_t max_cq;     /* 1..16384, default 16 */
    uint32_t max_qp;     /* 2..16384 (QPN 1 is not handed out), default 17 */
    uint32_t device_mtu; /* largest path MTU that the device knows, 256..4096; default 4096 */
    uint32_t mtu; /* longest IP packet, 1280..9000; default: room for device_mtu, at least 1500 */
    uint64_t features_off; /* device feature bits (1 << number) that are not offered */
    uint32_t profile;      /* enum profile: whose behaviour it shows where implementations differ */
    bool arp; /* it asks for the MACs of the lab's hosts, too; by default they know each other */
    /* Partitions of its port: 15 bits of number, not 0, and bit 15 for a full member; or 0xffff. */
    uint16_t pkeys[RDL_PKEYS_MAX];
    uint32_t n_pkeys; /* 0: the default */
    uint32_t max_srq; /* shared receive queues, 1..8192, default 4 */
    bool external;    /* no guest of the lab's, and no RAM: who drives it comes by rdmalab/vm.h */
    uint32_t ring;    /* enum ring_format: of all virtqueues of both functions */
    bool indirect;    /* control requests have their descriptors in tables */
    struct rdl_device_limits limits;
    bool on_demand;     /* its driver sets queues up when an object needs them, and not at boot */
    bool intx;          /* its guest uses no MSI-X: both functions share the interrupt line INTx */
    uint32_t rx_buffer; /* of its virtio-net driver, see limits.h; 0: room for a frame */
};

/* Adds a host and boots it: one tick with many events.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL   a value is out of range
 *	   RDL_ERR_EXISTS  the name is in use
 *	   RDL_ERR_ADDRESS another host has one of its GIDs
 *	   RDL_ERR_LIMIT   there are RDL_HOSTS_MAX
 *	   RDL_ERR_NOMEM   the arena is full, or ram_bytes too few for the device's queues
 */
RDL_MUST_CHECK enum rdl_status rdl_host_add(struct rdl_lab *lab,
                                            const struct rdl_host_config *config, rdl_host *ret);

/* A learning Ethernet switch.  Errors as rdl_host_add(). */
RDL_MUST_CHECK enum rdl_status rdl_switch_add(struct rdl_lab *lab, const char *name,
                                              rdl_switch *ret);

struct rdl_link_config {
    const char *a, *b;   /* names of two hosts, switches or external ports */
    uint64_t latency_ns; /* one way */
    uint64_t rate_bps;   /* bit/s; 0: 100 Gbit/s */
    uint32_t loss_ppm;   /* chance that a frame is lost, either way, from the seed */
};

/* Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  @a or @b
 *	   RDL_ERR_BUSY       a host or external port that is linked already
 *	   RDL_ERR_EXISTS     @a-@b, which would be its name, is the name of something else
 *	   RDL_ERR_INVAL      both ends are the same, or a value is out of range
 *	   RDL_ERR_LIMIT      there are RDL_LINKS_MAX, or RDL_SWITCH_PORTS_MAX at a switch
 *	   RDL_ERR_NOMEM      the arena is full
 */
RDL_MUST_CHECK enum rdl_status rdl_link_add(struct rdl_lab *lab,
                                            const struct rdl_link_config *config, rdl_link *ret);

/* Changes latency, rate and loss from now on; the names in @config are not looked at. */
RDL_MUST_CHECK enum rdl_status rdl_link_set(struct rdl_lab *lab, rdl_link link,
                                            const struct rdl_link_config *config);

/* What one direction of a link does to frames. */
struct rdl_way_config {
    uint64_t latency_ns, rate_bps;
    uint64_t jitter_ns; /* a frame takes up to so much longer, evenly drawn; the order stays */
    uint32_t loss_ppm;
    /* Bursts of losses: the chance that one begins with a frame, 0: there are none; how many frames
     * it lasts on average, at least 1; the chance that a frame in it is lost.
     */
    uint32_t burst_ppm, burst_frames, burst_loss_ppm;
};

/* Changes all of that, from now on, for frames that leave end @end: 0, the one called a, or 1.
 * RDL_OK, RDL_ERR_STALE, RDL_ERR_INVAL
 */
RDL_MUST_CHECK enum rdl_status rdl_link_set_way(struct rdl_lab *lab, rdl_link link, uint32_t end,
                                                const struct rdl_way_config *config);

/* Takes a link down, or up again: as if its plug was pulled.  What is on its way still arrives;
 * what is to enter it then is dropped where it is.  RDL_OK, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_link_raise(struct rdl_lab *lab, rdl_link link, bool up);

/* The link between the nodes called @a and @b, in either order. */
RDL_MUST_CHECK enum rdl_status rdl_link_find(const struct rdl_lab *lab, const char *a,
                                             const char *b, rdl_link *ret);

/* Simulated time, and the number of the last tick.  The clock stops after 146 years (2^62 ns): what
 * is due later is a time limit that was reached.
 */
uint64_t rdl_now_ns(const struct rdl_lab *lab);
uint64_t rdl_tick(const struct rdl_lab *lab);

/* When the last tick was: the clock may be later, where a run has ended between two. */
uint64_t rdl_tick_ns(const struct rdl_lab *lab);

/* When the next tick is due; RDL_NEVER when nothing is scheduled. */
uint64_t rdl_next_ns(const struct rdl_lab *lab);

/* From now on nothing happens before @now_ns: what is due earlier happens then, in its order.  For
 * a lab that follows a clock of the outside and is late: what late work starts, a timer above all,
 * counts from when it was done and not from when it should have been.  A smaller time than before
 * changes nothing; rdl_checkpoint_restore() brings back that of the checkpoint.
 */
void rdl_not_before(struct rdl_lab *lab, uint64_t now_ns);

enum rdl_step {
    RDL_STEP_TICK,   /* the next dispatch, whatever it is */
    RDL_STEP_WQE,    /* until a device has fetched a WQE */
    RDL_STEP_PACKET, /* until a frame is sent, arrives or is lost */
    RDL_STEP_TIMER,  /* until a timer runs out */
    RDL_STEP_CQE,    /* until a completion is written */
    RDL_STEP_DESC    /* until a device has taken a chain of descriptors, or given one back */
};

/* How often that has happened since the lab began. */
uint64_t rdl_progress(const struct rdl_lab *lab, enum rdl_step step);

/* What a call may use before it gives up. */
struct rdl_limits {
    uint64_t ticks; /* 0: no limit */
    uint64_t ns;    /* simulated time from now; 0: no limit */
};

/* Lets the lab go on until @step has happened once.
 *
 * Return: RDL_OK
 *	   RDL_ERR_IDLE       nothing was scheduled any more before it happened
 *	   RDL_ERR_TIMEOUT    a limit was reached before it happened
 *	   RDL_ERR_INVARIANT  see rdl_broken_invariant()
 *	   RDL_ERR_NOMEM      see rdl_shortage()
 */
RDL_MUST_CHECK enum rdl_status rdl_step(struct rdl_lab *lab, enum rdl_step step,
                                        struct rdl_limits limits);

/* The same until a device of @host has done something, its guest was interrupted or called by a
 * timer, or a frame has arrived at it.  RDL_ERR_STALE, too
 */
RDL_MUST_CHECK enum rdl_status rdl_step_host(struct rdl_lab *lab, rdl_host host,
                                             struct rdl_limits limits);

/* Lets the lab go on until nothing is scheduled or until @until_ns, whichever comes first; in the
 * second case the clock stands at @until_ns, or later if rdl_not_before() says so.  Return: RDL_OK,
 * RDL_ERR_TIMEOUT, RDL_ERR_INVARIANT, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_run(struct rdl_lab *lab, uint64_t until_ns,
                                       struct rdl_limits limits);

/* Lets the lab go on until the control request of @host is answered.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NO_ROUTE no neighbour answered for the address vector of a modify, or for an
 *	                    address handle
 *	   RDL_ERR_DEVICE   the device refused; *@reterr_rsp is the response (enum ctrl_rsp)
 *	   RDL_ERR_TIMEOUT  a limit was reached, RDL_ERR_IDLE nothing is scheduled any more
 *	   RDL_ERR_BROKEN   the device needs a reset
 */
RDL_MUST_CHECK enum rdl_status rdl_wait(struct rdl_lab *lab, rdl_host host,
                                        struct rdl_limits limits, uint32_t *reterr_rsp);

/* The same without letting the lab go on: RDL_ERR_BUSY while the request is under way.  For who
 * follows a clock of the outside, and must not run ahead of it.
 */
RDL_MUST_CHECK enum rdl_status rdl_answer(const struct rdl_lab *lab, rdl_host host,
                                          uint32_t *reterr_rsp);

/* A copy of the whole lab, and the way back to it: everything is as it was, at its address, and
 * what is then done again happens again.  Recorded events of later ticks are not seen any more: see
 * rdl_record_forget_ahead().  A checkpoint of what is ahead brings back what was recorded on the
 * way, if that was kept in one piece; otherwise the record begins anew there.
 */
struct rdl_checkpoint;
RDL_MUST_CHECK enum rdl_status rdl_checkpoint_save(const struct rdl_lab *lab,
                                                   struct rdl_checkpoint **ret);
void rdl_checkpoint_restore(struct rdl_lab *lab, const struct rdl_checkpoint *c);
void rdl_checkpoint_free(struct rdl_checkpoint *c);

/* Bytes that @c takes, without what tallies and invariants need. */
size_t rdl_checkpoint_bytes(const struct rdl_checkpoint *c);

/* Was there too little memory for something?
 *
 * RDL_SHORT_LAB: the lab's own memory is full.  What happened in the last tick is not what would
 * have happened, and the lab goes on no more: all that advances it returns RDL_ERR_NOMEM.
 * RDL_SHORT_RECORD: events, frames or names were not recorded, of which rdl_record_forgotten()
 * knows the number of events.  Each shortage of this sort is told once.
 */
enum rdl_shortage { RDL_SHORT_OF_NOTHING, RDL_SHORT_LAB, RDL_SHORT_RECORD };
enum rdl_shortage rdl_shortage(struct rdl_lab *lab);

/* Bytes of memory that the lab uses, free blocks included: more than a checkpoint copies. */
size_t rdl_used_bytes(const struct rdl_lab *lab);

/* The invariant that broke, in words; NULL while all hold. */
const char *rdl_broken_invariant(const struct rdl_lab *lab);

#endif
