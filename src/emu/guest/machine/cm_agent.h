/* SPDX-License-Identifier: MIT */
/* The kernel's connection manager of a guest: joins QPN 1, ib_cm, rdma_cm, timers and neighbours.
 *
 *	programs -> cma -> ib_cm -> cm_agent -> verbs: QPN 1 -> device
 *	                      ^--- messages ------ completion event
 *
 * The agent is a user of the verbs as the kernel is: it has a PD, a DMA region, a CQ and the queue
 * pair of type GSI, which cannot be destroyed.  It sends one MAD in one datagram, and keeps
 * receives posted.  Its CQ is armed by requests apart from those of programs.
 */
#ifndef EMU_GUEST_CM_AGENT_H
#define EMU_GUEST_CM_AGENT_H

#include "emu/guest/cm/cma.h"
#include "emu/guest/cm/ib_cm.h"
#include "emu/guest/ip/net.h"
#include "emu/guest/pci/dma.h"
#include "emu/guest/verbs/verbs.h"
#include "emu/sim/sim.h"

#define CM_AGENT_SENDS    64u /* the most MADs that the device has at a time */
#define CM_AGENT_RECEIVES 64u

struct cm_agent_config {
    struct verbs *verbs;
    struct guest_net *net;
    struct dma_pool *dma;
    struct ram *ram;
    struct arena *arena;
    struct sim *sim;
    struct trace *trace;
    uint32_t host;
    uint32_t profile; /* enum profile */
    struct prng rng;  /* makes its IDs, PSNs and ports */
    /* There is an event for @channel: called behind its trace.  The queue must not be read yet. */
    void (*has_event)(void *ctx, struct cma_channel *channel);
    void *ctx;
};

/* A MAD that waits for a place in the send queue, or for the MAC of its destination. */
struct cm_agent_message {
    struct cm_agent_message *next;
    struct ib_cm_path path;
    uint8_t mad[MAD_BYTES];
};

struct cm_agent {
    struct cm_agent_config config;
    bool is_up;
    enum rdl_status failed; /* why it could not start, or has stopped; RDL_OK: it has not */
    struct guest_pd *pd;
    struct guest_mr *mr;
    struct guest_cq *cq;
    struct guest_qp *gsi;
    uint64_t gpa; /* the buffers: those of sends, then those of receives */
    uint32_t n_sends, n_receives;
    uint64_t free_sends; /* set of the buffers of sends that the device does not have */
    struct cm_agent_message *first, *last;
    bool lacks_buffer;   /* one of these messages waits for a buffer, and not only for a MAC */
    ev_id lost_by;       /* why the last message was not sent; 0: it was */
    ev_id lost_for;      /* the cause of that message */
    uint32_t n_channels; /* that programs have created so far */
    struct ib_cm ib;
    struct cma cma;
};

/* Initialises @agent, which is not started. */
void cm_agent_init(struct cm_agent *agent, const struct cm_agent_config *config);

/* Creates the objects of the agent, moves the queue pair to RTS and posts the receives.  The device
 * must answer control requests at once, and no request may be under way.  Does nothing if the agent
 * is up; goes on where an earlier start has failed.
 *
 * @agent->failed tells why it could not start: RDL_ERR_DEVICE, if the device refused a request, as
 * it does while there is a queue pair with QPN 1; or another error of the verbs.
 */
void cm_agent_start(struct cm_agent *agent);

/* verbs_config.kernel_event() */
void cm_agent_event(struct cm_agent *agent, bool armed);

/* Counts what the agent has. */
void cm_agent_counts(const struct cm_agent *agent, struct rdl_cm_counts *ret);

/* Handler of SIM_CM_TIMER with argument @arg. */
void cm_agent_timer(struct cm_agent *agent, uint64_t arg);

/* The neighbour @gid is known (@mac), or has not answered (NULL). */
void cm_agent_resolved(struct cm_agent *agent, const uint8_t gid[GID_BYTES], const uint8_t *mac);

#endif
