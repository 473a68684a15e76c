/* SPDX-License-Identifier: MIT */
/* LNet in the kernel of a guest: the operations of lnet/lnd_ops.h by the verbs and rdma_cm of the
 * guest, in virtual time.
 *
 * Its objects are there like those of a program, with names that begin with "lnet_".  Completion
 * queues are of_kernel: polled when their event comes, and armed anew.  Everything else that
 * happens
 * - an event of rdma_cm, the answer to a control request - is looked at in a tick of its own at the
 * same time, SIM_LNET, so that a request of the lab's user and one of LNet do not meet.
 */
#ifndef EMU_GUEST_LNET_GUEST_LNET_H
#define EMU_GUEST_LNET_GUEST_LNET_H

#include "emu/guest/machine/guest.h"
#include "emu/sim/sim.h"
#include "lnet/lnet.h"

struct guest_lnet_config {
    struct guest *guest;
    struct arena *arena;
    struct sim *sim;
    struct trace *trace;
    uint32_t host;
    /* An observation.  Returns the event that is the cause of what the node does next; 0: none. */
    ev_id (*note)(void *ctx, const struct lnd_note *note);
    lnet_listener *listener;
    void *ctx; /* argument of both */
};

/* Pages that are to be freed when no region covers them. */
struct guest_lnet_pages {
    struct guest_lnet_pages *next;
    uint64_t addr;
};

/* Those that wait for a time. */
enum gl_wake { GL_WAKE_DRIVER, GL_WAKE_TEST, GL_WAKES };

struct guest_lnet {
    struct guest_lnet_config config;
    struct guest_module module;
    struct guest_lnet_pages *doomed;
    struct lnet_node *node; /* NULL: none was started */
    /* Handles of its objects; 0: none. */
    uint64_t channel, listener_id, pd;
    uint64_t asked; /* handle of the object that the request under way is about; 0: none */
    ev_id answer;   /* the event that answered it; 0: none yet */
    int refused;    /* errno of a device that was refused, until its rest is gone; 0: none */
    uint64_t wake_ns[GL_WAKES]; /* when they want to be woken; 0: never */
    uint64_t timer_ns;          /* the first of these */
    sim_ticket timer;
    bool is_due;         /* SIM_LNET is scheduled for now */
    uint32_t n_names;    /* names given so far */
    uint64_t live_bytes; /* of blocks and pages that the node has: none when it is freed */
    ev_id because;       /* the event of the message that is about to be posted; 0: none */
};

/* Starts a node on the guest, whose connection manager runs.  Returns RDL_OK; RDL_ERR_INVAL if
 * @lnd contradicts itself; RDL_ERR_EXISTS if the guest has a node; RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status guest_lnet_start(struct guest_lnet *g,
                                                const struct guest_lnet_config *config,
                                                const struct lnd_config *lnd);

/* Begins to stop the node. */
void guest_lnet_stop(struct guest_lnet *g);

/* Calls of the node from outside its ticks are between these two. */
struct guest_program *guest_lnet_begin(struct guest_lnet *g);
void guest_lnet_end(struct guest_lnet *g, struct guest_program *caller);

/* Frees the node, which is down. */
void guest_lnet_free(struct guest_lnet *g);

/* The operations, whose argument is a struct guest_lnet. */
extern const struct lnd_ops guest_lnet_ops;

/* Sets the time of the next tick for a test of the node; 0: none. */
void guest_lnet_wake_test_at(struct guest_lnet *g, uint64_t at_ns);
/* Handler of SIM_LNET. */
void guest_lnet_tick(struct guest_lnet *g, uint64_t arg);

#endif
