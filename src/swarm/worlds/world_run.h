/* SPDX-License-Identifier: MIT */
/* A running world: its lab and the state of its programs.  world_lab.c sets it up, world_act.c
 * executes deeds, and the model (model.h) judges what the programs see.
 *
 * A *life* of a queue pair is the time between two RESETs.  It lists what was posted and how far it
 * completed.  Completions of a life may be polled after its end.
 *
 * struct world_run is plain data, except for what its pointers refer to.  A checkpoint therefore
 * saves it by a copy.
 */
#ifndef SWARM_WORLDS_WORLD_RUN_H
#define SWARM_WORLDS_WORLD_RUN_H

#include <stdio.h>

#include "rdmalab/events.h"
#include "rdmalab/fault.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"
#include "swarm/worlds/world.h"

#define LIVES_MAX   160u
#define LIFE_SENDS  160u /* most requests of one life */
#define LIFE_RECVS  160u
#define ARMINGS_MAX 64u

#define WORLD_STATUSES 32u /* more than enum wc_status has */
#define WORLD_OPCODES  64u /* more than enum wr_opcode has */

/* The progress of an item. */
enum item_phase {
    ITEM_IDLE,   /* not posted */
    ITEM_POSTED, /* posted, and not complete */
    ITEM_OK,     /* completed with SUCCESS */
    ITEM_FAILED, /* completed with another status */
    ITEM_GONE    /* its queue pair was reset before it completed; it may still complete */
};

/* The state of an item. */
struct item_state {
    uint8_t phase;           /* enum item_phase */
    uint8_t status;          /* enum wc_status */
    uint8_t key;             /* enum world_key: the key that was chosen when it was posted */
    uint8_t mistake;         /* enum world_mistake: the one that it was posted with */
    uint16_t life;           /* index of the life that it was posted in */
    uint16_t pos;            /* index in send[] or recv[] of that life */
    uint32_t opcode;         /* enum wr_opcode: the operation that was posted */
    uint32_t heard;          /* set of ends that received it: bit i is end number i */
    uint32_t rkey;           /* the remote key that it was posted with */
    uint64_t compare, found; /* atomic: the compare value, and the old value that it returned */
};

/* A life of a queue pair. */
struct life {
    uint16_t end, peer; /* peer: index of the life of the other end; WORLD_NONE: UD */
    uint32_t qpn;       /* of its queue pair */
    bool is_closed;     /* it has ended: its queue pair was reset or destroyed */
    bool was_failed;    /* its program moved it to ERR */
    /* is_sqd, is_sqe: in this state.  was_sqe: moved from SQE to RTS.  is_attacked: may fail at any
     * time, because its CQ may overflow.
     */
    bool is_sqd, is_sqe, was_sqe, is_attacked;
    bool sends_failed, recvs_failed; /* a send, a receive completed with an error status */
    bool saw_last_wqe;               /* the event QP_LAST_WQE_REACHED came */
    uint8_t drains;                  /* number of requested SQ_DRAINED events that have not come */
    /* n_sends, n_recvs: numbers of requests and receives posted.  n_settled: number of requests
     * that have ended.  n_taken: number of receives that have completed.
     */
    uint16_t n_sends, n_settled, n_recvs, n_taken;
    uint16_t sqd_from;  /* index in send[] of the first request that was posted in SQD */
    uint16_t heard_pos; /* index in the peer's send[] after the last message that it received */
    uint16_t send[LIFE_SENDS], recv[LIFE_RECVS]; /* the posted items, in order */
};

/* The state of a key that changes. */
struct key_story {
    uint32_t rkey, stale; /* the key now, and before its last change (0: none) */
    uint32_t users;       /* number of pending requests that use it */
    /* is_changing: a posted request that changes the key has not ended.  is_broken: such a request
     * failed, so the state of the key is unknown.
     */
    bool is_valid, is_changing, is_broken;
    rdl_mw mw;      /* of a window */
    uint64_t shift; /* address that requests give for its first byte, minus its virtual address */
};

/* One request for a completion event. */
struct arming {
    uint64_t from;  /* number of completions that the CQ had had before the request */
    bool solicited; /* only for a solicited completion */
};

/* The state of a CQ; @cqe is its size. */
struct cq_state {
    rdl_cq cq;
    uint32_t cqe;
    uint64_t polled;                  /* number of completions polled */
    uint64_t events, expected_events; /* completion events: taken, and predicted by the model */
    uint32_t n_armings, armed; /* armed: 0: not armed, 1: for solicited completions, 2: for all */
    struct arming arming[ARMINGS_MAX];
    uint32_t unacked;
    uint32_t may_lose; /* number of completion events that lost interrupts may have suppressed */
    /* is_broken: it has overflowed.  is_unsure: its number of events cannot be predicted. */
    bool is_broken, is_unsure;
};

/* The objects of a host. */
struct host_state {
    rdl_host host;
    rdl_link link;
    bool is_down;        /* its link is down; of a guest that of its machine counts */
    uint64_t max_tx_bps; /* of a guest: the maximum of its function; 0: none */
    uint64_t base;       /* address of its memory */
    rdl_pd pd, other_pd; /* other_pd: of KEY_ALIEN */
    rdl_channel channel;
    rdl_mr mr[KEY_FAST + 1]; /* the regions, by enum world_key */
    uint32_t lkey[KEY_FAST + 1];
    struct key_story key[WORLD_KEYS]; /* all but KEY_WINDOW_2 */
    struct cq_state cq[WORLD_CQS];
    rdl_srq srq;
    /* n_shared: number of receives in the SRQ.  limits: number of limit events that may still come.
     */
    uint32_t n_shared, limits;
    rdl_ah ah[WORLD_HOSTS_MAX], group; /* address handles for each host, and for the group */
};

/* The queue pair of an end; @life is its present life. */
struct end_state {
    rdl_qp qp;
    uint32_t qpn;
    uint16_t life;           /* index in world_run.life[] */
    uint32_t n_lives;        /* number of its lives so far */
    struct key_story window; /* its KEY_WINDOW_2 */
    struct cq_state small;   /* the end's own CQ, if is_small */
    bool is_attached;        /* to the multicast group */
    bool is_new;             /* not connected yet */
};

/* Statistics of a run. */
struct world_tally {
    uint64_t statuses[WORLD_STATUSES]; /* number of completions with each enum wc_status */
    uint64_t opcodes[WORLD_OPCODES];   /* number of posted requests with each enum wr_opcode */
    bool met_err, met_sqe;             /* a queue pair was in ERR, in SQE */
    bool met_broken_cq;                /* a CQ has overflowed */
};

struct wire_tap;

/* The state of a run. */
struct world_run {
    const struct world *w;
    struct rdl_lab *lab;
    FILE *script;      /* receives the calls as script lines; NULL: no script */
    uint32_t n_unsaid; /* number of deeds that a run with a script skips: no line expresses them */
    /* The next script line is written as `refused reason=... { }`, with this reason; NULL: it is
     * not.
     */
    const char *refused;
    uint8_t *have, *want; /* buffers for the received and the expected bytes of one message */
    struct wire_tap *tap; /* sees every frame; NULL: none */
    struct host_state host[WORLD_HOSTS_MAX];
    struct end_state end[WORLD_ENDS_MAX];
    struct item_state item[WORLD_ITEMS_MAX];
    struct life life[LIVES_MAX];
    rdl_fault fault[WORLD_FAULTS_MAX], device_fault[WORLD_FAULTS_MAX];
    uint32_t n_lives, n_deed; /* n_lives: used elements of life[]; n_deed: index of the next deed */
    uint8_t group_gid[16];    /* of the multicast group */
    bool is_copying;          /* frames may have been duplicated or delayed */
    bool is_faulty;           /* frames may have been lost */
    bool is_calm;             /* all faults have been cleared */
    const char *wrong;        /* the rule that was broken; NULL: none */
    /* The place where it was broken: an item, or else an end (WORLD_NONE: none), or else the memory
     * of a host.
     */
    uint16_t wrong_item, wrong_end, wrong_host;
    uint32_t wrong_psn;     /* PSN of what the wire watcher found */
    uint32_t wrong_byte;    /* offset in the memory of wrong_host */
    enum rdl_status status; /* status of the call that failed; RDL_OK: none */
    struct world_tally tally;
};

/* Check a rule, and return true if it holds.  world_expect() and world_expect_end() check that
 * @right is true, world_works() that @st is RDL_OK.  Otherwise the run fails: @what, a sentence
 * that states the rule, is stored in r->wrong, with @item or @end in r->wrong_item or r->wrong_end.
 * Only the first failure is kept.  @item: WORLD_NONE if the rule is about no item.
 */
bool world_expect(struct world_run *r, bool right, uint16_t item, const char *what);
bool world_expect_end(struct world_run *r, bool right, uint16_t end, const char *what);
bool world_works(struct world_run *r, enum rdl_status st, const char *what);

/* Writes a line to the script, if there is one. */
__attribute__((format(printf, 2, 3))) void world_say(struct world_run *r, const char *format, ...);

/* Runs the lab until the device of @host has answered the pending control request.  Returns true if
 * the device accepted it.  Returns false if the device refused it; the run goes on.  Also returns
 * false if there is no answer; then the run fails.
 */
bool world_answered(struct world_run *r, unsigned host);

/* Builds the lab: everything that exists before the first deed. */
void world_build(struct world_run *r);
/* Resets and connects @end and its peer, and starts their lives. */
void world_connect(struct world_run *r, uint16_t end);
/* Returns the first PSN that @end sends in its present life. */
uint32_t world_psn(const struct world_run *r, uint16_t end);
/* world_make_end() creates the queue pair of @end.  world_modify() modifies it to state @to (enum
 * qp_state), with the attributes of @a in @mask (set of enum qp_attr_bit), and returns false if
 * that was refused.
 */
void world_make_end(struct world_run *r, uint16_t end);
bool world_modify(struct world_run *r, uint16_t end, struct rdl_qp_attr *a, uint32_t to,
                  uint32_t mask);

/* world_carry_out() executes a deed, or skips it if it is impossible.  The functions after it are
 * single actions of deeds: post an item (@lazy: without a kick); poll a CQ until it is empty; take
 * the events, and the completions of shared receives, of a life of @end that ends; take all events
 * of @host; move a queue pair from SQD or SQE to RTS; run @ticks ticks.
 */
void world_carry_out(struct world_run *r, const struct world_deed *d);
void world_post(struct world_run *r, uint16_t item, bool lazy);
void world_poll(struct world_run *r, struct cq_state *cq, unsigned host);
void world_poll_closed(struct world_run *r, uint16_t end);
void world_take_events(struct world_run *r, unsigned host);
void world_resume(struct world_run *r, uint16_t end);
void world_step(struct world_run *r, uint32_t ticks);
/* Ends the run: clears faults, takes links up and posts spare items.  Then everything must
 * complete.
 */
void world_finish(struct world_run *r);

static inline struct life *world_life(struct world_run *r, uint16_t end)
{
    return &r->life[r->end[end].life];
}

static inline struct cq_state *world_cq(struct world_run *r, uint16_t end, bool of_sends)
{
    const struct world_end *e = &r->w->end[end];

    if (e->is_small)
        return &r->end[end].small;
    return &r->host[e->host].cq[of_sends ? e->send_cq : e->recv_cq];
}

/* Returns the state of @key for requests that go to @end. */
static inline struct key_story *world_key_of(struct world_run *r, uint8_t key, uint16_t end)
{
    return key == KEY_WINDOW_2 ? &r->end[end].window : &r->host[r->w->end[end].host].key[key];
}

#endif
