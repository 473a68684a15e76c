/* SPDX-License-Identifier: MIT */
/* The node of LNet of a host, as the lab sees it. */
#ifndef EMU_LAB_LNET_H
#define EMU_LAB_LNET_H

#include "emu/guest/lnet/guest_lnet.h"
#include "emu/lab/lab_state.h"
#include "lnet/selftest.h"
#include "rdmalab/lnet.h"

struct lab_lnet {
    struct lab_state *world;
    struct host *host;
    struct guest_lnet guest;
    bool is_ending; /* it is freed when it is down */
    bool told_up, told_error;
    uint32_t n_starts;
    struct selftest *selftest; /* NULL: it neither tests nor serves */
    bool serves;
    uint32_t tests; /* set of bits 1 << i: test i of the batch is not over */
    uint64_t n_events;
    struct rdl_lnet_event events[RDL_LNET_EVENTS_MAX]; /* event i is at i % RDL_LNET_EVENTS_MAX */
};

/* Returns the node of @h, or NULL. */
static inline struct lnet_node *lab_lnet_node(const struct host *h)
{
    return h->lnet ? h->lnet->guest.node : NULL;
}

/* Returns the QPN of a connection of the node of @h; 0: it has no queue pair.  @link may be NULL.
 */
uint32_t lab_lnet_qpn(const struct host *h, const struct lnd_link *link);

/* Returns the errno in a result of LNet, where it is negative, or in an error of the connection
 * manager, where it is positive.
 */
static inline uint32_t lab_lnet_errno(int error)
{
    return error < 0 ? (uint32_t)-error : (uint32_t)error;
}

/* Handler of SIM_LNET. */
void lab_lnet_tick(struct host *h, uint64_t arg);

#endif
