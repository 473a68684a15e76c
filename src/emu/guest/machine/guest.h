/* SPDX-License-Identifier: MIT */
/* One guest: its memory, its two drivers, its IP stack, and the objects of its verbs.
 *
 * The driver's view is kept apart from the device's: everything here is what a kernel would know,
 * learnt from registers, rings, responses and frames.  Functions: driver.h (boot, interrupts),
 * verbs.h, net.h (IP).
 */
#ifndef EMU_GUEST_GUEST_H
#define EMU_GUEST_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/slots.h"
#include "emu/facts/enums.h"
#include "emu/facts/rfc.h"
#include "emu/guest/ip/net.h"
#include "emu/guest/pci/bus.h"
#include "emu/guest/pci/dma.h"
#include "emu/guest/pci/pci.h"
#include "emu/mem/space.h"
#include "emu/trace/trace.h"
#include "emu/virtio/vq_driver.h"
#include "emu/wire/addr.h"
#include "rdmalab/verbs.h"

struct guest;

/* Objects of one kind in one lab, all hosts together. */
#define GUEST_OBJECTS_MAX 16384u

/* The objects of all guests of a lab, by handle: an object's handle says nothing of its host, the
 * object does.
 */
struct guest_tables {
    struct slots pd, mr, cq, qp;
};

enum guest_life {
    GUEST_PENDING, /* the device has not answered the creating request */
    GUEST_LIVE,
    GUEST_LEAVING /* nor the destroying one */
};

/* What every object begins with. */
struct guest_object {
    struct guest *guest;
    struct guest_object *next_named; /* of the same hash, guest->named */
    enum object_kind kind;
    enum guest_life life;
    uint32_t handle;  /* in guest_tables */
    uint32_t n_users; /* objects that need this one */
    char name[RDL_NAME_BYTES];
};

struct guest_pd {
    struct guest_object o;
    uint32_t pdn;
};

struct guest_mr {
    struct guest_object o;
    struct guest_pd *pd;
    uint32_t mrn, lkey, rkey, access;
    uint64_t addr, bytes;
};

/* The memory of a virtqueue while an object uses it. */
struct guest_queue_mem {
    uint32_t size;       /* entries of the ring */
    uint64_t ring_gpa;   /* 0: the memory it was booted with is large enough */
    uint64_t slots_gpa;  /* buffer i belongs to descriptor i */
    uint32_t slot_bytes; /* a power of two: a slot never crosses a page */
};

struct guest_cq {
    struct guest_object o;
    uint32_t cqn; /* also the number of its virtqueue */
    uint32_t cqe;
    struct guest_queue_mem mem;
    bool armed;      /* REQ_NOTIFY_CQ was sent and no event came since */
    uint64_t polled; /* completions taken out */
    uint64_t events; /* completion events */
};

struct guest_wq {
    uint32_t queue; /* number of the virtqueue */
    uint32_t max_wr, max_sge;
    struct guest_queue_mem mem;
    uint64_t posted;    /* work requests ever */
    uint64_t reclaimed; /* given back by the device and seen */
};

struct guest_qp {
    struct guest_object o;
    struct guest_pd *pd;
    struct guest_cq *send_cq, *recv_cq;
    uint32_t qpn;
    enum qp_type type;
    bool sq_sig_all;
    uint32_t max_inline_data;
    struct rdl_qp_attr attr; /* as last set, queried, or learnt from an error completion */
    /* Completions before these are of an earlier life of the queue pair, or of its number. */
    uint64_t send_cq_from, recv_cq_from;
    struct guest_wq sq, rq;
};

/* The one control request that may be under way. */
struct guest_ctrl {
    bool busy;
    enum ctrl_cmd cmd; /* the last one, also when not busy */
    uint32_t rsp;      /* enum ctrl_rsp, its answer */
    uint32_t number;   /* of the object it is about, 0 when it has none yet */
    uint64_t request_gpa, response_gpa;
    uint32_t response_bytes;     /* room for it, the status byte included */
    struct guest_object *object; /* NULL: about the port */
    struct rdl_qp_attr attr;     /* of MODIFY_QP */
    uint32_t mask;
    bool resolving; /* MODIFY_QP waits for the MAC of its address vector and was not sent yet */
    bool no_route;  /* the last one waited in vain */
    uint64_t pages_gpa, pages_bytes; /* page list for REG_USER_MR, used again and grown */
};

struct guest_config {
    uint32_t host; /* named in events */
    uint8_t mac[MAC_BYTES];
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* entries 0 and 1 of the GID table */
    uint32_t n_vectors;                 /* MSI-X vectors of virtio-rdma, from 1 */
    const struct guest_bus *bus;        /* of both functions */
    void *bus_ctx;                      /* of virtio-rdma */
    void *net_ctx;                      /* of virtio-net; NULL: there is none */
    uint32_t net_vectors;               /* of virtio-net */
    struct sim *sim;                    /* for the timers of the IP stack; needed with net_ctx */
    struct trace *trace;
    struct ram *ram;
    struct guest_tables *tables;
};

#define GUEST_NAME_BUCKETS 64u

struct guest {
    struct guest_config config;
    struct arena *arena;
    struct space space;
    struct dma_pool dma;

    /* Driver. */
    bool up;     /* booted */
    bool broken; /* the device needs a reset, or answered nonsense */
    uint32_t boot_step;
    struct guest_pci pci;
    struct rfc_config device;
    struct rfc_port_attr port;
    uint32_t n_queues, queue_size_max; /* of the device */
    uint32_t boot_size;                /* of the rings of CQs and QPs while unused */
    struct guest_queue *queues;
    struct guest_ctrl ctrl;
    uint64_t irqs; /* interrupts taken */

    /* Verbs. */
    struct guest_object *named[GUEST_NAME_BUCKETS];
    struct guest_cq **cq_of; /* by cqn, 0 .. device.max_cq */
    struct guest_qp **qp_of; /* by QPN, 0 .. device.max_qp */

    struct guest_net net; /* the other function, and what speaks IP over it */
};

static inline struct vqd *guest_vq(const struct guest *g, uint32_t queue)
{
    return &g->queues[queue].vq;
}

/* Where buffer @i of a queue lies. */
static inline uint64_t guest_slot_gpa(const struct guest_queue_mem *m, uint32_t i)
{
    return m->slots_gpa + (uint64_t)i * m->slot_bytes;
}

#endif
