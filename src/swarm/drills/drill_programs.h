/* SPDX-License-Identifier: MIT */
/* The drill of programs: the interface between its files.
 *
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_PROGRAMS_H
#define SWARM_DRILLS_DRILL_PROGRAMS_H

#include "emu/facts/enum/object.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/drill.h"

#define PROGRAMS_THINGS    48u /* most objects of the host, of all kinds */
#define PROGRAMS_PARTS     4u  /* most objects that one object depends on */
#define PROGRAMS_WAITING   64u /* most completions in one queue, and receives in one queue */
#define PROGRAMS_PAGES     8u  /* of the memory that regions lie in */
#define PROGRAMS_BYTES     (PROGRAMS_PAGES * 4096u)
#define PROGRAMS_NOTHING   UINT32_MAX /* in place of the index of an object */
#define PROGRAMS_QPS       8u         /* most queue pairs */
#define PROGRAMS_CQ_EVENTS 256u       /* most events in one channel */
#define PROGRAMS_KINDS     (OBJ_CHANNEL + 1u)
#define PROGRAMS_GROUPS    3u
#define PROGRAMS_PKEYS     4u

/* A completion that waits in a CQ, or a receive that waits in its queue. */
struct program_entry {
    uint64_t wr_id;
    uint32_t qpn;     /* completion: of its queue pair */
    uint32_t src_qpn; /* completion of a receive: who sent; of a send: 0 */
    uint32_t lkey;    /* receive: of its memory, which begins at @iova */
    uint64_t iova;
};

/* The model of an object.  Fields that its kind does not have are 0. */
struct program_thing {
    uint32_t kind; /* enum object_kind, OBJ_NONE: a free place */
    uint64_t raw;
    uint32_t number;
    char name[RDL_NAME_BYTES];
    uint32_t parts[PROGRAMS_PARTS]; /* indices; unused ones are PROGRAMS_NOTHING */
    uint32_t n_async;               /* asynchronous events that wait for a program */
    uint32_t async_unacked;         /* those that it took and did not acknowledge */

    /* CQ: its completions.  SRQ, and QP without SRQ: its receives. */
    struct program_entry waiting[PROGRAMS_WAITING];
    uint32_t n_waiting;
    uint32_t size; /* CQ: entries.  SRQ, QP: receives */
    uint64_t completions, polled, events;
    bool armed;         /* CQ: the next interrupt for it may be an event */
    uint32_t arm;       /* CQ, as the device knows it: 0, 1 (solicited) or 2 (any) */
    bool again, unsure; /* CQ: it was armed when it was armed last, in this step or in any */
    bool woken;         /* CQ: a completion of this step must have been an event */
    uint32_t unacked;   /* CQ: events that were taken from its channel */

    uint32_t max_sends; /* QP */
    uint32_t type;      /* QP: enum qp_type.  MW: 1 or 2 */
    uint32_t sges, recv_sges, inline_bytes;
    bool all_signaled;
    struct rdl_qp_attr attr;        /* QP */
    bool in_group[PROGRAMS_GROUPS]; /* QP */
    uint32_t limit;                 /* SRQ */
    struct rdl_mr_info mr;          /* MR; the keys are not known before */
    uint32_t max_pages;             /* MR: of a region for fast registration */
    struct rdl_ah_attr ah;          /* AH */

    /* Channel: events that wait, as indices of CQs, the oldest first. */
    uint32_t cq_events[PROGRAMS_CQ_EVENTS], n_cq_events;
};

/* State of the drill. */
struct programs {
    rdl_host host, other;
    rdl_link link;
    bool is_up; /* the link */
    bool arp;   /* the hosts ask for MACs */
    uint64_t ram_bytes;
    bool is_tight;    /* queues are long, so that memory can be short */
    bool on_demand;   /* queues are disabled while no object has them */
    uint32_t profile; /* of both hosts */
    bool resizes, has_mw, has_srq, has_mcast, has_events;
    struct rdl_device_limits limits;
    uint32_t max[PROGRAMS_KINDS];                  /* most objects of each kind */
    uint32_t free_qpns[PROGRAMS_QPS], n_free_qpns; /* in the order in which they are used */
    uint32_t n_channels;                           /* so far */
    uint16_t pkeys[PROGRAMS_PKEYS];
    uint32_t n_pkeys;
    uint8_t gid[2][16], mac[6]; /* of @host: IPv4, IPv6 */
    uint8_t other_gid[2][16], other_mac[6];
    uint64_t addr; /* of PROGRAMS_BYTES of memory */
    rdl_pd pd;     /* exists throughout, with the region @mr; no object of the model */
    rdl_mr mr;
    uint32_t lkey;
    uint64_t wr_id;
    uint64_t n_heard; /* trace events that programs_hear() knows */
    bool had_many;    /* programs_many() was taken */
    uint32_t n_names; /* names that were given so far */
    struct program_thing things[PROGRAMS_THINGS];
};

static inline struct programs *programs_of(struct drill *d)
{
    return d->own;
}

/* --- The model (drill_programs.c) ------------------------------------------------------------- */

/* Returns the index of a random object of @kind, or PROGRAMS_NOTHING if there is none. */
uint32_t programs_pick(struct drill *d, uint32_t kind);

/* Returns the number of objects of @kind. */
uint32_t programs_count(const struct programs *s, uint32_t kind);

/* Returns true if @t depends on object @part. */
bool programs_needs(const struct program_thing *t, uint32_t part);

/* Returns true if an object depends on object @i, or it is in a multicast group, or an event about
 * it is not acknowledged.
 */
bool programs_in_use(const struct programs *s, uint32_t i);

/* Forgets object @i, which exists no longer. */
void programs_forget(struct drill *d, uint32_t i);

/* The status of a request after its answer: if @st, the result of the call, is RDL_OK, that of
 * rdl_wait(), and *@ret_error is the errno of a refusal.
 */
enum rdl_status programs_wait(struct drill *d, enum rdl_status st, int *ret_error);

/* Checks that @st, and then the answer, are as expected: @want, or for RDL_ERR_DEVICE the errno
 * @error.
 */
bool programs_ends(struct drill *d, enum rdl_status st, enum rdl_status want, int error,
                   const char *what);

/* Takes over the completion events since the last call. */
bool programs_hear(struct drill *d);

/* Checks all that can be read about object @i. */
bool programs_check(struct drill *d, uint32_t i);

/* --- Memory (drill_programs_memory.c) --------------------------------------------------------- */

/* Makes the memory, PD and region that exist throughout. */
bool programs_own_memory(struct drill *d);

/* Returns true if @t is a region of @pd into which a device can write @bytes. */
bool programs_takes_data(const struct program_thing *t, uint32_t pd, uint32_t bytes);

/* --- Draws (drill_programs_memory.c, drill_programs_change.c) --------------------------------- */

/* Draws access flags of a region. */
uint32_t programs_draw_access(struct drill *d);

/* Draws the address, length and iova of a region with the flags mr->access.  Returns RDL_OK, or if
 * @is_wrong the status of a request with them.
 */
enum rdl_status programs_draw_range(struct drill *d, struct rdl_mr_info *mr, bool is_wrong);

/* Draws an address vector; that of a connected queue pair is not of a group.  Returns RDL_OK,
 * RDL_ERR_NO_ROUTE, or if @is_wrong the status of a request with it.
 */
enum rdl_status programs_draw_ah(struct drill *d, struct rdl_ah_attr *ah, bool is_connected,
                                 bool is_wrong);

/* Fills in the MAC of @ah as the guest must find it. */
void programs_fill_mac(struct drill *d, struct rdl_ah_attr *ah);

/* --- Steps ------------------------------------------------------------------------------------ */

/* drill_programs_make.c */
void programs_make(struct drill *d);
void programs_batch(struct drill *d);

/* Makes what datagrams of queue pair @qp to its own host need: an address handle and memory. */
void programs_equip(struct drill *d, uint32_t qp);

/* drill_programs_destroy.c */
void programs_destroy(struct drill *d);
void programs_retire(struct drill *d);

/* drill_programs_change.c */
void programs_resize_cq(struct drill *d);
void programs_resize_qp(struct drill *d);
void programs_move_qp(struct drill *d);
void programs_launch(struct drill *d);
void programs_change_srq(struct drill *d);
void programs_group(struct drill *d);
void programs_query(struct drill *d);

/* drill_programs_memory.c */
void programs_change_mr(struct drill *d);
void programs_borrow_memory(struct drill *d);

/* drill_programs_work.c */
void programs_send(struct drill *d);
void programs_post_recv(struct drill *d);
void programs_poll(struct drill *d);
void programs_arm(struct drill *d);
void programs_take_events(struct drill *d);
void programs_ack(struct drill *d);
void programs_burst(struct drill *d);
void programs_link(struct drill *d);

/* drill_programs_rare.c */
void programs_many(struct drill *d);
void programs_refuse(struct drill *d);
void programs_late(struct drill *d);

/* drill_programs_net.c */
void programs_neighbours(struct drill *d);
void programs_master(struct drill *d);
void programs_timeouts(struct drill *d);

#endif
