/* SPDX-License-Identifier: MIT */
/* A machine with PVRDMA and its Ethernet port.  The test is the driver: it writes registers and
 * doorbells, and puts page directories, rings and requests into a small RAM.
 *
 * Frames to the port's own MAC are looped back, so two queue pairs of the device can talk to each
 * other.  Tear-down resets the device and fails unless it has freed all that it allocated.
 */
#ifndef TESTS_UNIT_DEVICE_PV_RIG_H
#define TESTS_UNIT_DEVICE_PV_RIG_H

#include "emu/base/cursor.h"
#include "emu/device/pvrdma/pvrdma.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/roce.h"
#include "emu/trace/event.h"
#include "testing.h"

#define PVRIG_RAM     (8u << 20)
#define PVRIG_MAX_QP  6u
#define PVRIG_MAX_CQ  3u
#define PVRIG_MAX_SRQ 2u
#define PVRIG_UAR     0xe0000000u /* address of BAR 2 */

/* Guest-physical pages that are always there. */
#define DSR_AT      0x1000u
#define COMMAND_AT  0x2000u
#define RESPONSE_AT 0x3000u
#define FREE_AT     0x10000u /* pages from here on are handed out */

/* A ring from the driver's side: its pages lie one behind the other. */
struct pv_drv_ring {
    uint64_t pdir, pages; /* addresses of directory and first page */
    uint32_t n_pages;
};

/* A command that was executed. */
struct pv_sent {
    uint32_t cmd, n;
    uint8_t body[PV_REQUEST_BYTES_MAX];
};

#define SENT_MAX    32u
#define FETCHES_MAX 8u

struct pv_rig {
    struct arena *arena;
    size_t bare_bytes;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    struct sim sim;
    struct ram ram;
    struct net net;
    struct progress progress;
    struct eth_port port;
    struct rdma_device device;
    struct pvrdma *d;
    uint64_t next_page;
    uint32_t events[EV_COUNT];
    struct ev last[EV_COUNT];       /* of each kind */
    struct ev fetches[FETCHES_MAX]; /* the first ones */
    uint32_t n_fetches;
    uint32_t irqs[PV_VECTORS]; /* by vector, since the last rig_clear() */
    uint32_t lines;            /* edges of INTx */
    struct pv_drv_ring async, notes;
    uint8_t rsp[PV_PAGE_BYTES];
    struct pv_sent sent[SENT_MAX]; /* the first commands */
    uint32_t n_sent;
};

extern const uint8_t pvrig_mac[MAC_BYTES];
extern const uint8_t pvrig_gid[GID_BYTES];

/* After power-on, with memory space, bus mastering and MSI-X enabled.  0: the latest version, three
 * vectors.
 */
struct pv_rig *pvrig_new(uint32_t version, uint32_t vectors);

/* In addition the region is shared by a driver of @driver_version, and the device active. */
void pvrig_start(struct pv_rig *g, uint32_t driver_version);

/* cmocka: a rig with the latest version, started, with GID 0. */
int pvrig_set_up(void **state);
int pvrig_tear_down(void **state);

void pvrig_run(struct pv_rig *g);
uint32_t pvrig_in(struct pv_rig *g, enum pv_reg reg);
void pvrig_out(struct pv_rig *g, enum pv_reg reg, uint32_t value);
void pvrig_doorbell(struct pv_rig *g, uint32_t offset, uint32_t value);

void pvrig_poke(struct pv_rig *g, uint64_t gpa, const void *in, size_t n);
void pvrig_peek(const struct pv_rig *g, uint64_t gpa, void *out, size_t n);
uint32_t pvrig_peek32(const struct pv_rig *g, uint64_t gpa);
void pvrig_poke32(struct pv_rig *g, uint64_t gpa, uint32_t v);

/* Makes a ring of @n_pages with zeros, and its directory. */
struct pv_drv_ring pvrig_pages(struct pv_rig *g, uint32_t n_pages);

/* Fills in a shared region as Linux does, without telling the device. */
void pvrig_write_region(struct pv_rig *g, uint32_t driver_version);

/* Executes command @cmd with the body @req of @n bytes.  Returns ERR.  The response is in g->rsp.
 */
uint32_t pvrig_command(struct pv_rig *g, uint32_t cmd, const void *req, size_t n);

/* pvrig_ask(g, CMD, name, initializers): a command whose request is a struct pv_name. */
#define pvrig_ask(g, cmd, name, ...)                                                               \
    pvrig_ask_##name(g, PV_CMD_##cmd, &(struct pv_##name){__VA_ARGS__})

#define PVRIG_ASK(name, list)                                                                      \
    static inline uint32_t pvrig_ask_##name(struct pv_rig *g, uint32_t cmd,                        \
                                            const struct pv_##name *r)                             \
    {                                                                                              \
        struct pv_raw_##name raw;                                                                  \
                                                                                                   \
        pv_##name##_put(&raw, r);                                                                  \
        return pvrig_command(g, cmd, &raw, sizeof(raw));                                           \
    }

PV_STRUCTS(PVRIG_ASK)

/* The first number of the body of the last response. */
static inline uint32_t pvrig_handle(const struct pv_rig *g)
{
    return ld_le32(g->rsp + PV_HEADER_BYTES);
}

/* The fields `ack` and `err` of the last response. */
static inline uint32_t pvrig_ack(const struct pv_rig *g)
{
    return ld_le32(g->rsp + 8);
}

/* Two connected queue pairs of type @type.  Each has PAIR_WR requests of PAIR_SGE elements. */
#define PAIR_WR  4u
#define PAIR_SGE 2u
#define PAIR_CQE 16u

struct pv_pair {
    uint32_t pd, cq, srq, qp[2]; /* handles */
    struct pv_drv_ring cq_ring, srq_ring, qp_ring[2];
    uint32_t recv_page; /* of the receive queues */
    uint32_t lkey, rkey;
    uint64_t mem;                                  /* region of 4 pages; its iova is the address */
    uint32_t sent[2], received[2], shared, polled; /* indices */
    bool has_srq;
};

/* Creates the objects; @shared: the second queue pair takes shared receives. */
struct pv_pair pvrig_pair(struct pv_rig *g, uint32_t type, bool shared);

/* Moves queue pair @handle with the attributes in @mask.  Returns the error of the response. */
uint32_t pvrig_modify(struct pv_rig *g, uint32_t handle, uint32_t mask, const struct pv_qp_attr *a);

/* Connects queue pair @handle of type @type to @peer, and moves it to RTS. */
void pvrig_connect(struct pv_rig *g, uint32_t handle, uint32_t type, uint32_t peer);

/* Posts without a doorbell: a send of queue pair @i with SGEs @sges, and a receive. */
void pvrig_post_send(struct pv_rig *g, struct pv_pair *p, uint32_t i, struct pv_sq_wqe wqe,
                     const struct pv_sge *sges);
void pvrig_post_recv(struct pv_rig *g, struct pv_pair *p, uint32_t i, uint64_t wr_id,
                     struct pv_sge sge);
void pvrig_kick(struct pv_rig *g, const struct pv_pair *p, uint32_t i, uint32_t bits);

/* Takes the next completion.  Returns false if there is none. */
bool pvrig_poll(struct pv_rig *g, struct pv_pair *p, struct pv_cqe *ret);

#endif
