/* SPDX-License-Identifier: MIT */
/* The objects of one RDMA device: protection domains, memory regions and windows, completion
 * queues, shared receive queues, queue pairs, and the tables of addresses (GIDs) and partitions
 * (P_Keys).
 *
 * Each kind lives in a table that is indexed by its number, so that nothing on the way of a packet
 * searches.  Objects count who uses them, and cannot be destroyed while somebody does.  All memory
 * comes from the lab's arena.  Requests of a guest are answered with an enum ctrl_rsp; nothing here
 * trusts a value because a driver ought to have checked it.
 *
 * Left out: more than one port.
 */
#ifndef EMU_HCA_HCA_H
#define EMU_HCA_HCA_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/slots.h"
#include "emu/facts/enums.h"
#include "emu/facts/virtio_rdma/refusal.h"
#include "emu/hca/mcast.h"
#include "emu/mem/ram.h"
#include "emu/sim/sim.h"
#include "emu/trace/trace.h"

#define HCA_GIDS      16u /* entries of the GID table */
#define HCA_GID_BYTES 16u
#define HCA_PKEYS_MAX 16u     /* entries that a P_Key table can have */
#define HCA_PKEY      0xffffu /* the default partition, full member */
#define HCA_PORT      1u      /* ports are counted from 1, and there is one */
#define HCA_QPN_GSI   1u
#define HCA_QPN_USER  (HCA_QPN_GSI + 1) /* the lowest QPN that is handed out */

/* What a device can have.  All are at least 1, max_qp at least 2 (the GSI's QPN is one of them); a
 * device without multicast has 0 of it.
 */
struct hca_limits {
    uint32_t max_pd, max_mr, max_cq, max_qp; /* each below SLOTS_MAX */
    uint32_t max_cqe;                        /* entries of a completion queue */
    uint32_t max_qp_wr;                      /* work requests of a queue, at most 32768 */
    uint32_t max_send_sge, max_recv_sge;
    uint32_t max_sge_rd; /* of a READ; at most max_send_sge */
    uint32_t max_inline_data;
    uint32_t max_rd_atomic;      /* READs and atomics that a QP may have outstanding */
    uint32_t max_dest_rd_atomic; /* and that it may be the target of */
    uint32_t max_res_rd_atom;    /* the latter, of all QPs together */
    uint64_t max_mr_bytes;
    uint32_t max_mw;         /* max_mr + max_mw is below SLOTS_MAX; 0: there are no windows */
    uint32_t max_fast_pages; /* of a region for REG_MR; 0: there are none */
    uint32_t max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
    enum mtu max_mtu; /* the largest path MTU: what the port carries */
    uint32_t max_srq; /* below SLOTS_MAX; 0: there are no shared receive queues */
};

struct pd {
    uint32_t pdn;   /* from 1 */
    uint32_t users; /* regions, windows, queue pairs, shared receive queues */
};

struct hca_gid {
    uint8_t raw[HCA_GID_BYTES];
    bool valid;
    uint32_t users; /* queue pairs that are connected from this address: RTR to SQE */
};

/* The partitions that the port belongs to, by index. */
struct hca_pkeys {
    uint16_t v[HCA_PKEYS_MAX];
    uint32_t n; /* entries; of struct hca_env: 0 for one, HCA_PKEY */
};

struct hca {
    struct arena *arena;
    struct trace *trace;
    struct sim *sim;
    struct ram *ram;
    uint32_t host; /* its index in the lab, for traces */
    enum profile profile;
    struct hca_limits limits;
    uint32_t first_qpn;                /* the first that is handed out: HCA_QPN_USER .. max_qp */
    struct prng keys;                  /* low bytes of keys */
    struct slots pds, mkeys, cqs, qps; /* by number: hca_pd(), key_at(), hca_cq(), hca_qp() */
    struct slots srqs;                 /* by number: hca_srq() */
    uint32_t n_mr, n_mw;               /* regions and windows in mkeys */
    uint32_t n_qp_windows;             /* windows of type 2 that are bound */
    uint32_t res_rd_atom;              /* max_dest_rd_atomic of all queue pairs together */
    struct refused refused;            /* the reason of the last request that was refused */
    bool ram_is_open; /* there was a key with which all of guest RAM can be written, rings too */
    struct hca_gid gids[HCA_GIDS];
    struct mcast mcast;
    struct hca_pkeys pkeys; /* never changes: the RFC has no command for it */
};

/* What a device stands on. */
struct hca_env {
    struct arena *arena;
    struct sim *sim; /* its trace is the device's */
    struct ram *ram;
    uint32_t host;
    enum profile profile;
    uint32_t first_qpn;
    struct prng keys; /* a stream of its own */
    struct hca_pkeys pkeys;
};

/* Notes why a request is refused, for whoever asks for its reason, and returns the response. */
static inline enum ctrl_rsp hca_refuse(struct hca *h, enum ctrl_refusal why, struct compared values)
{
    const enum ctrl_rsp rsp = refusal_rsp(why);

    RDL_ASSERT(rsp != RSP_OK);
    h->refused = (struct refused){why, values};
    return rsp;
}

/* @table, of at most @max objects, has taken no more: it is full, which @why says, or it could not
 * grow.
 */
enum ctrl_rsp hca_refuse_full(struct hca *h, const struct slots *table, uint32_t max,
                              enum ctrl_refusal why);

/* Limits out of range are bugs. */
void hca_init(struct hca *h, const struct hca_env *env, const struct hca_limits *limits);

/* Gives back the tables and what is in them.  Queue pairs must be gone: xport_done(). */
void hca_done(struct hca *h);

/* RSP_OK, RSP_NO_RESOURCES */
enum ctrl_rsp hca_pd_create(struct hca *h, struct pd **ret);

/* RSP_OK, RSP_BAD_HANDLE, RSP_BUSY: a region or queue pair uses it */
enum ctrl_rsp hca_pd_destroy(struct hca *h, uint32_t pdn);

/* NULL: there is none with this number. */
static inline struct pd *hca_pd(const struct hca *h, uint32_t pdn)
{
    return slots_at(&h->pds, pdn - 1);
}

/* Sets or clears an entry of the GID table.  RSP_OK, RSP_INVALID_ARG: no such index, RSP_BUSY: a
 * connection uses the entry, which would get another address.  Setting what is there is fine.
 */
enum ctrl_rsp hca_gid_set(struct hca *h, uint32_t index, const uint8_t gid[HCA_GID_BYTES]);
enum ctrl_rsp hca_gid_clear(struct hca *h, uint32_t index);

/* Is @gid an address of this device? */
bool hca_gid_is_own(const struct hca *h, const uint8_t gid[HCA_GID_BYTES]);

/* Entry @index of the P_Key table.  RSP_OK, RSP_INVALID_ARG (no reason is noted: whoever only looks
 * asks, too)
 */
enum ctrl_rsp hca_pkey(const struct hca *h, uint32_t index, uint16_t *ret);

/* May a packet of partition @a reach a member of @b?  The low 15 bits must agree, and one of the
 * two must be a full member.  [IBTA1 10.9.1.2]
 */
bool hca_pkey_match(uint16_t a, uint16_t b);

#endif
