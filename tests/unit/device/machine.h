/* SPDX-License-Identifier: MIT */
/* A machine with both functions and their Ethernet port.  The test is the driver: it writes
 * registers, rings in a small RAM, and requests that no driver has checked.
 *
 * The link of the port leads out of the lab, into machine.out.  Frames to the port's own MAC are
 * looped back, so two queue pairs of the device can talk to each other.
 *
 * Tear-down resets the devices.  The test fails unless they have freed everything that they
 * allocated from the arena since power-on.
 */
#ifndef TESTS_UNIT_DEVICE_MACHINE_H
#define TESTS_UNIT_DEVICE_MACHINE_H

#include "emu/base/cursor.h"
#include "emu/device/rdma.h"
#include "emu/device/virtio_net.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "emu/trace/event.h"
#include "emu/virtio/function.h"
#include "emu/virtio/vq_device.h"
#include "testing.h"

#define MACHINE_RAM_BYTES (4u << 20)
#define MACHINE_MAX_CQ    3u
#define MACHINE_MAX_QP    5u /* QPNs 2 .. 5 are assigned */
#define MACHINE_MAX_SRQ   2u /* with machine_set_up_srq() */
#define MACHINE_CEQS      2u /* where the driver accepts every feature */
#define MACHINE_MTU       1500u
#define RING_SIZE         16u

/* Guest-physical addresses: rings first, then buffers of control requests; the rest is free for
 * tests.
 */
#define REQUEST_AT  0x20000u
#define RESPONSE_AT 0x22000u
#define BUFFER_AT   0x40000u
#define ROOM        512u /* of a response buffer, unless a test uses less */

/* MSI-X vectors. */
#define VECTOR_CONFIG 0u
#define VECTOR_QUEUE  1u /* of every queue */

extern const uint8_t machine_mac[MAC_BYTES];
extern const uint8_t machine_gid[GID_BYTES]; /* entry 0 of the GID table */

struct seg {
    uint64_t gpa;
    uint32_t bytes;
};

/* A virtqueue from its driver's side.  Descriptors are used in turn, chain after chain. */
struct ring {
    struct virtio_dev *dev;
    uint32_t queue;
    struct vring at;
    uint16_t next_desc, avail_idx, used_seen;
};

struct machine {
    struct arena *arena;
    size_t bare_bytes; /* allocated from the arena after power-on */
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    struct sim sim;
    struct ram ram;
    struct net net;
    struct eth_port port;
    struct progress progress;
    struct rdma rdma;
    struct vnet vnet;
    struct ring ctrl, tx, rx;
    uint32_t events[EV_COUNT];
    struct ev last[EV_COUNT];
    uint32_t n_irq;
    struct fn_irq irq; /* the last interrupt */
    uint32_t n_out;
    struct frame_note out_note; /* of the last frame sent */
    uint32_t out_bytes;
    uint8_t out[XPORT_FRAME_BYTES];
    uint8_t rsp[ROOM];
    uint32_t rsp_bytes; /* used.len of the last response */
    bool is_alone;      /* it may have no connection */
};

/* Both devices after power-on, with a link and without a driver. */
int machine_power_on(void **state);
/* The same with a device that offers all extensions. */
int machine_power_on_ceqs(void **state);
/* In addition both drivers are up with the queues ctrl, tx and rx, and GID 0 is set. */
int machine_set_up(void **state);
/* In addition the driver accepts memory windows; or the device does not offer them. */
int machine_set_up_windows(void **state);
int machine_set_up_no_windows(void **state);

/* In addition the driver accepts all extensions for real kernels, and memory windows. */
int machine_set_up_extensions(void **state);

/* In addition the driver accepts shared receive queues; there is no event queue. */
int machine_set_up_srq(void **state);

/* With these limits (0: the default), and a driver that accepts every feature. */
int machine_set_up_limits(void **state, const struct rdl_device_limits *limits);
int machine_tear_down(void **state);

/* Brings @dev to DRIVER_OK with @features and VERSION_1, and enables @queues on the way. */
void machine_start(struct machine *m, struct virtio_dev *dev, uint64_t features,
                   struct ring *const *queues, size_t n_queues);

/* Dispatches events until none is due. */
void machine_run(struct machine *m);

/* Delivers a frame of @len bytes to the port. */
void machine_arrive(struct machine *m, const uint8_t *bytes, uint32_t len);

static inline uint64_t machine_in(struct virtio_dev *dev, enum reg reg, uint32_t width)
{
    return virtio_read(dev, (uint32_t)reg, width);
}

static inline void machine_out(struct virtio_dev *dev, enum reg reg, uint32_t width, uint64_t value)
{
    virtio_write(dev, (uint32_t)reg, width, value);
}

/* Disables @queue by QUEUE_RESET. */
static inline void machine_reset_queue(struct virtio_dev *dev, uint32_t queue)
{
    machine_out(dev, REG_QUEUE_SELECT, 2, queue);
    machine_out(dev, REG_QUEUE_RESET, 2, 1);
}

void machine_poke(struct machine *m, uint64_t gpa, const void *bytes, size_t n);
void machine_peek(const struct machine *m, uint64_t gpa, void *bytes, size_t n);

/* Places @queue of @dev in RAM, clears the ring, and enables it with VECTOR_QUEUE. */
struct ring ring_enable(struct machine *m, struct virtio_dev *dev, uint32_t queue);

/* The location of a queue's ring, for a test that enables it itself. */
struct vring ring_place(const struct virtio_dev *dev, uint32_t queue);

/* Writes descriptor @i of the ring. */
void ring_desc(struct machine *m, const struct ring *r, uint32_t i, struct seg s, unsigned flags,
               uint16_t next);

/* Adds @head to the avail ring and publishes it, without a kick. */
void ring_offer(struct machine *m, struct ring *r, uint16_t head);

/* Adds a chain of @n_readable, then @n_writable buffers to the ring.  Returns its head. */
uint16_t ring_post(struct machine *m, struct ring *r, const struct seg *segs, uint32_t n_readable,
                   uint32_t n_writable);

/* Buffers for events, of the event queue or a completion event queue: buffer @i has
 * MACHINE_EVENT_AT(i) to itself.  ring_post_event() adds it to @r, with a length of @bytes.
 */
#define EVENT_BYTES         8u
#define MACHINE_EVENT_AT(i) (BUFFER_AT + 64u * (i))

void ring_post_event(struct machine *m, struct ring *r, uint32_t i, uint32_t bytes);

void ring_kick(const struct ring *r);

/* Takes the next used element.  Returns false if there is none. */
bool ring_used(const struct machine *m, struct ring *r, uint32_t *ret_head, uint32_t *ret_len);

/* Sends a control request: the command byte and @n bytes of data, with @room bytes for the
 * response.  Returns the response code, or -1 if none was written.  The response data are at m->rsp
 * + 1.
 */
int machine_ask(struct machine *m, uint8_t cmd, const void *data, uint32_t n, uint32_t room);

/* ASK(m, CMD_DESTROY_PD, pd_handle, .pdn = 1): sends a request with a structure of facts/rfc.h. */
#define ASK(m, cmd, name, ...) machine_ask_##name((m), (cmd), &(struct rfc_##name){__VA_ARGS__})

#define ASK_DECLARE(name, list)                                                                    \
    static inline int machine_ask_##name(struct machine *m, uint8_t cmd,                           \
                                         const struct rfc_##name *r)                               \
    {                                                                                              \
        struct raw_##name raw;                                                                     \
                                                                                                   \
        rfc_##name##_put(&raw, r);                                                                 \
        return machine_ask(m, cmd, &raw, sizeof(raw), ROOM);                                       \
    }

RFC_STRUCTS(ASK_DECLARE)

/* The first number of the last response: that of the created object. */
static inline uint32_t machine_number(const struct machine *m)
{
    return ld_le32(m->rsp + 1);
}

/* MODIFY_QP with the attributes in @mask. */
static inline int machine_modify(struct machine *m, uint32_t qpn, uint32_t mask,
                                 const struct rfc_qp_attr *attr)
{
    struct rfc_modify_qp r = {.qpn = qpn, .attr_mask = mask};

    rfc_qp_attr_put((struct raw_qp_attr *)r.attrs, attr);
    return machine_ask_modify_qp(m, CMD_MODIFY_QP, &r);
}

/* The attributes that an RC queue pair needs to move to attr->qp_state. */
static inline uint32_t machine_mask(const struct rfc_qp_attr *attr)
{
    return QPA_STATE | qp_fsm_needs(QPT_RC, (enum qp_state)attr->qp_state);
}

static inline int machine_move(struct machine *m, uint32_t qpn, const struct rfc_qp_attr *attr)
{
    return machine_modify(m, qpn, machine_mask(attr), attr);
}

/* Two connected queue pairs of the device: QPN 2 sends, QPN 3 receives.  Both complete into CQ 1
 * and use one region: the pages at PAIR_MEM, with iova equal to the address.
 */
#define PAIR_SENDER    2u
#define PAIR_RECEIVER  3u
#define PAIR_CQN       1u
#define PAIR_MEM       0x60000u
#define PAIR_MEM_BYTES (4u * RAM_PAGE_BYTES)
#define PAIR_PSN       100u
#define PAIR_SGES      2u
#define PAIR_INLINE    64u

struct pair {
    struct ring cq, sq, rq;
    uint32_t lkey;
    uint32_t n_posted;
};

#define PAIR_SRQN 1u

/* Creates the queue pairs and moves them to RTS.  With shared receive queues, the receiver uses one
 * of 8 entries, whose ring is rq.  If @peer_mac is not the port's own, the sender's packets leave
 * the machine.
 */
struct pair machine_pair(struct machine *m, const uint8_t peer_mac[MAC_BYTES]);

/* Adds @n buffers of @bytes bytes to the CQ; completion i is read from the i-th. */
void pair_give_cqes(struct machine *m, struct pair *p, uint32_t n, uint32_t bytes);

/* Reads completion @i since the last machine_pair().  Returns false if it was not written yet. */
bool pair_completion(const struct machine *m, const struct pair *p, uint32_t i,
                     struct rfc_cqe *ret);

/* Posts a WQE followed by @n_body bytes, without a kick. */
void pair_post_send(struct machine *m, struct pair *p, const struct rfc_sq_wqe *wqe,
                    const void *body, uint32_t n_body);

/* Posts a receive of @bytes at @gpa. */
void pair_post_recv(struct machine *m, struct pair *p, uint64_t wr_id, uint64_t gpa,
                    uint32_t bytes);

/* An SGE in the format of a WQE. */
struct raw_sge pair_sge(const struct pair *p, uint64_t gpa, uint32_t bytes);

#endif
