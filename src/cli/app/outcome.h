/* SPDX-License-Identifier: MIT */
/* Outcome of a run as programs see it: the completions of each queue pair, for its sends and for
 * its receives, the events of each ID of rdma_cm, and the content of registered memory at the end.
 * QPN 1 is the kernel's: no program sees its completions.
 *
 * Two runs of a scenario are compared by their outcomes.  The packets are recorded too, but do not
 * count as differences.
 */
#ifndef CLI_APP_OUTCOME_H
#define CLI_APP_OUTCOME_H

#include "cli/session/session.h"
#include "emu/trace/event.h"
#include "rdmalab/inspect.h"

/* A sent packet.  A fault selects it by its opcode, PSN and destination QPN, and by its number
 * @nth, from 1, among the sent packets in which these are the same.
 */
struct outcome_packet {
    struct ev tx;
    uint32_t nth;
    uint32_t at;         /* number of the host where it arrived first; EV_HOST_NONE: none */
    uint64_t arrived_ns; /* simulated time of that arrival */
};

/* The content of a memory region at the end of the run. */
struct outcome_memory {
    char path[RDL_VALUE_BYTES]; /* path of the region */
    uint32_t sum;               /* checksum of its bytes */
};

struct outcome {
    struct outcome_packet *packets;
    /* cqe events, in the order in which they were written.  outcome_end() sorts them by queue pair,
     * sends before receives.
     */
    struct ev *completions;
    struct ev *cm_events; /* cm_event events, in the same way: sorted by ID at the end */
    struct outcome_memory *memory;
    size_t n_packets;            /* number of sent packets, those not kept included */
    size_t n_kept, packets_room; /* elements of packets[]: used, and allocated */
    size_t n_completions, completions_room, n_memory, memory_room;
    size_t n_cm_events, cm_events_room;
    const char *fault;  /* set by the caller: fault whose hits are counted; NULL: none */
    uint64_t n_hit;     /* number of times that this fault hit a packet */
    size_t packets_max; /* set by the caller: packets to keep; later ones are only counted */
    bool is_idle;       /* the lab became idle in outcome_end() */
};

/* Records the packets and completions of @lab from now on, and discards what was recorded of
 * another lab.  Returns the errors of rdl_listen().
 */
enum rdl_status outcome_watch(struct outcome *o, struct rdl_lab *lab);

/* Lets the lab of @s run until it is idle, at most for a million ticks.  Then reads the memory, and
 * sorts the completions.
 */
void outcome_end(struct outcome *o, struct session *s);

void outcome_free(struct outcome *o);

/* Appends the first difference between @was, the outcome without the fault, and @is, that with the
 * fault: "h1.qp wr_id=1: RETRY_EXC_ERR; without the fault SUCCESS".  Returns false if there is
 * none.  *@ret_event is the failed completion, or the event of rdma_cm, that differs in the run
 * with the fault; 0: another thing differs.
 */
bool outcome_add_difference(struct text *t, const struct outcome *was, const struct outcome *is,
                            const struct ev_names *names, ev_id *ret_event);

/* Returns true if completions of one completion queue are in another order in @is than in @was.
 * Valid if outcome_add_difference() finds none.
 */
bool outcome_order_differs(const struct outcome *was, const struct outcome *is);

#endif
