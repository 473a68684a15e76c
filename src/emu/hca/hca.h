/* SPDX-License-Identifier: MIT */
/* The objects of one RDMA device: protection domains, memory regions and windows, completion
 * queues, shared receive queues, queue pairs, and the tables of addresses (GIDs) and partitions
 * (P_Keys).
 *
 * Each kind of object is in a table indexed by its number, so the packet path never searches.
 * Objects have reference counts and cannot be destroyed while they are in use.  All memory comes
 * from the lab's arena.  Requests of a guest are answered with an enum refusal_reason.  Every value
 * of a request is checked here, whether or not the driver should have checked it.
 *
 * Left out: more than one port.
 */
#ifndef EMU_HCA_HCA_H
#define EMU_HCA_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/prng.h"
#include "emu/base/slots.h"
#include "emu/facts/refusal.h"
#include "emu/facts/roce.h"
#include "emu/hca/mcast.h"
#include "emu/mem/ram.h"
#include "emu/sim/sim.h"

#define HCA_GIDS      16u /* entries of the GID table */
#define HCA_GID_BYTES 16u
#define HCA_PKEYS_MAX 16u           /* maximum size of the P_Key table */
#define HCA_PKEY      0xffffu       /* the default partition, full member */
#define HCA_PORT      1u            /* the only port; ports are numbered from 1 */
#define HCA_QPN_USER  (QPN_GSI + 1) /* lowest QPN of user queue pairs */

/* Limits of a device.  All are at least 1, and max_qp at least 2 because it includes the QPN of the
 * GSI.  Limits of a feature that the device does not have are 0.
 */
struct hca_limits {
    uint32_t max_pd, max_mr, max_cq, max_qp; /* numbers of objects; each below SLOTS_MAX */
    uint32_t max_cqe;                        /* entries of a completion queue */
    uint32_t max_qp_wr;                      /* requests in a work queue; at most 32768 */
    uint32_t max_send_sge, max_recv_sge;
    uint32_t max_sge_rd; /* SGEs of a READ, at most max_send_sge */
    uint32_t max_inline_data;
    uint32_t max_rd_atomic;      /* outstanding READs and atomics of a QP as requester */
    uint32_t max_dest_rd_atomic; /* outstanding READs and atomics of a QP as responder */
    uint32_t max_res_rd_atom;    /* sum of max_dest_rd_atomic over all QPs */
    uint64_t max_mr_bytes;
    uint64_t page_sizes;     /* page sizes of regions, one bit each; 4096 among them */
    uint32_t max_mw;         /* max_mr + max_mw is below SLOTS_MAX; 0: no memory windows */
    uint32_t max_fast_pages; /* pages of a fast region (REG_MR); 0: none */
    /* Multicast: groups, queue pairs in one group, and sum of the queue pairs over all groups. */
    uint32_t max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
    uint32_t max_mtu; /* enum mtu: maximum path MTU, limited by the port */
    uint32_t max_srq; /* below SLOTS_MAX; 0: no shared receive queues */
};

struct pd {
    uint32_t pdn;   /* number of the protection domain, from 1 */
    uint32_t users; /* number of regions, windows, queue pairs and SRQs in it */
};

struct hca_gid {
    uint8_t raw[HCA_GID_BYTES];
    bool valid;
    uint32_t users; /* number of RC and UC queue pairs in RTR to SQE with this source address */
};

/* The P_Key table of the port. */
struct hca_pkeys {
    uint16_t v[HCA_PKEYS_MAX];
    uint32_t n; /* number of entries; 0 in struct hca_env means one entry, HCA_PKEY */
};

struct hca {
    struct arena *arena;
    struct trace *trace;
    struct sim *sim;
    struct ram *ram;
    uint32_t host;    /* index of the host in the lab, for events */
    uint32_t profile; /* enum profile */
    struct hca_limits limits;
    uint32_t first_qpn;                /* first QPN to assign, HCA_QPN_USER .. max_qp */
    struct prng keys;                  /* draws the low bytes of keys */
    struct slots pds, mkeys, cqs, qps; /* objects, see hca_pd(), key_at(), hca_cq(), hca_qp() */
    struct slots srqs;                 /* shared receive queues, see hca_srq() */
    struct qp *gsi;                    /* QPN_GSI, which is not in @qps; NULL: there is none */
    uint32_t n_mr, n_mw;               /* numbers of regions and windows in mkeys */
    uint32_t n_qp_windows;             /* number of bound windows of type 2 */
    uint32_t res_rd_atom;              /* sum of max_dest_rd_atomic over all queue pairs */
    struct refused refused;            /* reason of the last refused request */
    bool ram_is_open; /* a DMA region with local write access was created: it covers the rings */
    /* Datagrams have the GRH of RoCE version 1 in front, whatever header they came with.  Their
     * driver knows no other RoCE, and looks for the version of an IP header there.
     */
    bool grh_is_global;
    struct hca_gid gids[HCA_GIDS];
    struct mcast mcast;
    struct hca_pkeys pkeys; /* constant: no control request changes it */
};

/* The environment of a device: argument of hca_init(). */
struct hca_env {
    struct arena *arena;
    struct sim *sim; /* the trace of @sim becomes the trace of the device */
    struct ram *ram;
    uint32_t host;
    uint32_t profile; /* enum profile */
    uint32_t first_qpn;
    struct prng keys; /* random stream for keys */
    struct hca_pkeys pkeys;
};

/* Initializes @h as a device without objects.  @limits must be in range (asserted). */
void hca_init(struct hca *h, const struct hca_env *env, const struct hca_limits *limits);

/* Frees all objects and their tables.  Queue pairs must be destroyed first: xport_done(). */
void hca_done(struct hca *h);

/* Returns the protection domain @pdn, or NULL if it does not exist. */
static inline struct pd *hca_pd(const struct hca *h, uint32_t pdn)
{
    return slots_at(&h->pds, pdn - 1);
}

/* hca_gid_is_in() returns true if @gid is in the table @gids of HCA_GIDS entries, hca_gid_is_own()
 * if it is in the GID table of the device.
 */
bool hca_gid_is_in(const struct hca_gid *gids, const uint8_t gid[HCA_GID_BYTES]);
bool hca_gid_is_own(const struct hca *h, const uint8_t gid[HCA_GID_BYTES]);

/* Returns true if two P_Keys match: the low 15 bits are equal and at least one is a full member.
 * [IBTA1 10.9.1.2]
 */
bool hca_pkey_match(uint16_t a, uint16_t b);

#endif
