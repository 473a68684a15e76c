/* SPDX-License-Identifier: MIT */
/* The drill of the device: the interface between its files.
 *
 * The drill sends control requests to h1's device byte by byte, in place of the guest's verbs,
 * which would check them first.  The device has small limits, so that each is often reached.  A
 * request has at most one mistake, or none.  The model knows all objects, their numbers of users
 * and their attributes.  It predicts the reason of each refusal and each field of each response.
 *
 * Functions that return bool return false if the drill failed.
 */
#ifndef SWARM_DRILLS_DRILL_DEVICE_H
#define SWARM_DRILLS_DRILL_DEVICE_H

#include "emu/facts/enum/mtu.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "rdmalab/limits.h"
#include "swarm/drills/rig.h"

#define DEVICE_SLOTS    8u /* objects of each kind; no limit of the drill is larger */
#define DEVICE_GIDS     16u
#define DEVICE_GID      16u /* bytes of a GID */
#define DEVICE_PKEYS    4u
#define DEVICE_GROUPS   4u /* addresses of multicast groups that the drill uses */
#define DEVICE_NOTHING  0u /* no object has this number */
#define DEVICE_GSI      1u /* QPN of the queue pair of type GSI */
#define DEVICE_FIRST_QP 2u /* lowest QPN of all others */

/* A protection domain, completion queue or shared receive queue. */
struct device_object {
    uint32_t number;                 /* DEVICE_NOTHING: the slot is free */
    uint32_t users;                  /* objects that refer to it */
    uint32_t pd;                     /* SRQ: slot of its protection domain */
    uint32_t max_wr, max_sge, limit; /* SRQ */
    bool arms_in_memory;             /* CQ */
};

/* A memory region or window. */
struct device_key {
    uint32_t number; /* DEVICE_NOTHING: the slot is free */
    uint32_t pd;     /* slot of its protection domain */
    bool is_window;
    bool is_user; /* a region that the guest's verbs have registered, which REREG_MR can change */
    uint32_t access; /* of such a region */
};

struct device_qp {
    uint32_t number;               /* DEVICE_NOTHING: the slot is free */
    uint32_t type;                 /* enum qp_type */
    uint32_t pd, send_cq, recv_cq; /* slots */
    uint32_t srq;                  /* slot, or DEVICE_SLOTS: none */
    struct rfc_qp_attr attr;       /* the answer to QUERY_QP */
    bool is_in[DEVICE_GROUPS];     /* attached to the group */
};

struct device_gid {
    bool is_valid;
    uint8_t raw[DEVICE_GID];
};

/* State of the drill: the host, and the model of its device. */
struct drill_device {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    bool is_up;       /* the link */
    uint32_t profile; /* of h1, enum profile */
    /* The extensions that h1's device offers, which its driver accepts (set of VIRTIO_FEATURE()),
     * and its completion event queues.
     */
    uint64_t extensions;
    uint32_t ceqs;
    /* The limits of the device: those that h1 was added with, and those that are in force. */
    struct rdl_device_limits built, now;
    uint32_t max_cq, max_qp, max_srq; /* fixed; max_qp counts QPN 1, too */
    uint32_t mtu;                     /* bytes of the longest IP packet */
    uint32_t device_mtu;              /* largest path MTU of the device, enum mtu */
    uint16_t pkeys[DEVICE_PKEYS];
    uint32_t n_pkeys;

    struct device_object pd[DEVICE_SLOTS], cq[DEVICE_SLOTS], srq[DEVICE_SLOTS];
    struct device_key key[2 * DEVICE_SLOTS];
    struct device_qp qp[DEVICE_SLOTS];
    struct device_gid gid[DEVICE_GIDS];
};

struct device_request {
    uint32_t command; /* enum ctrl_cmd, or an unknown number */
    const void *data; /* a raw structure */
    size_t bytes;
};

/* Sends @request and runs the lab until it is answered.  The device must answer with the response
 * code of @why (enum refusal_reason) and name that reason; REF_NONE: it must carry out the request.
 * Then @ret gets the response of @ret_bytes.
 */
bool device_ask(struct drill *d, const struct device_request *request, uint32_t why, void *ret,
                size_t ret_bytes);

/* ask_NAME(): device_ask() with the structure rfc_NAME. */
#define DEVICE_REQUEST(name)                                                                       \
    static inline bool ask_##name(struct drill *d, uint32_t command, const struct rfc_##name *in,  \
                                  uint32_t why, void *ret, size_t ret_bytes)                       \
    {                                                                                              \
        struct raw_##name raw;                                                                     \
        const struct device_request request = {command, &raw, sizeof(raw)};                        \
                                                                                                   \
        rfc_##name##_put(&raw, in);                                                                \
        return device_ask(d, &request, why, ret, ret_bytes);                                       \
    }

DEVICE_REQUEST(pd_handle)
DEVICE_REQUEST(create_cq)
DEVICE_REQUEST(create_cq_ex)
DEVICE_REQUEST(cq_handle)
DEVICE_REQUEST(req_notify)
DEVICE_REQUEST(create_srq)
DEVICE_REQUEST(modify_srq)
DEVICE_REQUEST(srq_handle)
DEVICE_REQUEST(get_dma_mr)
DEVICE_REQUEST(create_mr)
DEVICE_REQUEST(mr_handle)
DEVICE_REQUEST(rereg_mr)
DEVICE_REQUEST(alloc_mw)
DEVICE_REQUEST(mw_handle)
DEVICE_REQUEST(create_qp)
DEVICE_REQUEST(modify_qp)
DEVICE_REQUEST(query_qp)
DEVICE_REQUEST(qp_handle)
DEVICE_REQUEST(mcast)
DEVICE_REQUEST(query_port)
DEVICE_REQUEST(query_pkey)
DEVICE_REQUEST(add_gid)
DEVICE_REQUEST(del_gid)

/* Returns true if h1's device has the extension @f. */
static inline bool device_has(const struct drill_device *s, enum feature_number f)
{
    return (s->extensions & VIRTIO_FEATURE(f)) != 0;
}

/* Draws a number from @least to @most.  Often it is one of the two. */
uint32_t device_draw(struct drill *d, uint32_t least, uint32_t most);

/* Draws a number that is too large for @most. */
uint32_t device_draw_above(struct drill *d, uint32_t most);

/* Returns the slot of an object that exists, drawn from the @n in @slots, or @n if there is none.
 */
uint32_t device_pick(struct drill *d, const struct device_object *slots, uint32_t n);

/* Returns a free slot of @slots; there must be one. */
uint32_t device_free_slot(const struct device_object *slots);

/* Draws a number that no object in @slots has. */
uint32_t device_draw_stranger(struct drill *d, const struct device_object *slots);

/* Checks that @number, of a new object, is 1..@most and belongs to no other object in @slots. */
bool device_is_new(struct drill *d, const struct device_object *slots, uint32_t number,
                   uint32_t most);

/* Returns the number of objects in @slots. */
uint32_t device_count(const struct device_object *slots);

/* Returns the largest path MTU that the port carries, enum mtu. */
uint32_t device_active_mtu(const struct drill_device *s);

/* Returns true if a connection has the GID of @index as its source. */
bool device_gid_is_source(const struct drill_device *s, uint32_t index);

/* Checks that the device raised exactly one event if @is_told, of the type @type (enum
 * async_event), and otherwise none.
 */
bool device_event(struct drill *d, bool is_told, uint32_t type);

/* The steps: of domains, completion queues, shared receive queues, regions and windows
 * (drill_device_objects.c), of queue pairs and multicast groups (drill_device_qps.c), and of the
 * port, its tables and the limits (drill_device_port.c).
 */
void device_step_pd(struct drill *d);
void device_step_cq(struct drill *d);
void device_step_srq(struct drill *d);
void device_step_region(struct drill *d);
void device_step_window(struct drill *d);
void device_step_rereg(struct drill *d);
void device_step_qp(struct drill *d);
void device_step_modify(struct drill *d);
void device_step_query(struct drill *d);
void device_step_group(struct drill *d);
void device_step_port(struct drill *d);
void device_step_gid(struct drill *d);
void device_step_pkey(struct drill *d);
void device_step_limits(struct drill *d);
void device_step_malformed(struct drill *d);

#endif
