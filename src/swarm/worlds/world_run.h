/* SPDX-License-Identifier: MIT */
/* A world as it runs: its lab, and what the programs know.  world_lab.c sets it up, world_act.c
 * carries out deeds, and the model (model.h) judges what the programs see.
 *
 * A life is what a queue pair has between two RESETs: what was posted, and how it went. Completions
 * of a life may be polled after its end.
 *
 * All of struct world_run but what it points to is plain data: a copy is the way back to a
 * checkpoint.
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
#define LIFE_SENDS  160u
#define LIFE_RECVS  160u
#define ARMINGS_MAX 64u

#define WORLD_STATUSES 32u /* more than enum wc_status has */
#define WORLD_OPCODES  64u /* more than enum wr_opcode has */

enum item_phase {
    ITEM_IDLE, /* not posted */
    ITEM_POSTED,
    ITEM_OK,
    ITEM_FAILED, /* with a status of its own, or flushed */
    ITEM_GONE    /* its queue pair was reset: it may still complete, or not */
};

struct item_state {
    uint8_t phase;  /* enum item_phase */
    uint8_t status; /* enum wc_status */
    uint8_t key;    /* enum world_key: that it uses after all */
    uint8_t mistake;
    uint16_t life, pos; /* in the list of that life */
    uint32_t opcode;    /* enum wr_opcode: after all */
    uint32_t heard;     /* set of ends where it arrived */
    uint32_t rkey;
    uint64_t compare, found; /* of an atomic */
};

struct life {
    uint16_t end, peer; /* peer: life of the other end, WORLD_NONE: of datagrams */
    uint32_t qpn;
    bool is_closed;  /* reset: nothing new happens */
    bool was_failed; /* by its program */
    bool is_sqd, is_sqe, was_sqe, is_attacked;
    bool sends_failed, recvs_failed; /* a completion with an error was seen */
    bool saw_last_wqe;
    uint8_t drains; /* that asked for SQ_DRAINED and have not been told */
    uint16_t n_sends, n_settled, n_recvs, n_taken;
    uint16_t sqd_from;  /* position of the first request that was posted in SQD */
    uint16_t heard_pos; /* in the list of sends of its peer: behind the last that it heard of */
    uint16_t send[LIFE_SENDS], recv[LIFE_RECVS];
};

struct key_story {
    uint32_t rkey, stale; /* stale: what it was; 0: nothing */
    uint32_t users;       /* requests under way that name it */
    bool is_valid, is_changing, is_broken;
    rdl_mw mw;
    uint64_t shift; /* what its first byte is called, less its address */
};

/* An arming of a CQ: from its completion number @from on. */
struct arming {
    uint64_t from;
    bool solicited;
};

struct cq_state {
    rdl_cq cq;
    uint32_t cqe;
    uint64_t polled; /* completions */
    uint64_t events, expected_events;
    uint32_t n_armings, armed; /* armed: 0 not, 1 for solicited ones, 2 for all */
    struct arming arming[ARMINGS_MAX];
    uint32_t unacked;
    uint32_t may_lose;         /* interrupts, by faults */
    bool is_broken, is_unsure; /* is_unsure: too many armings to follow */
};

struct host_state {
    rdl_host host;
    rdl_link link;
    bool is_down;
    uint64_t base; /* of its memory */
    rdl_pd pd, other_pd;
    rdl_channel channel;
    rdl_mr mr[KEY_FAST + 1];
    uint32_t lkey[KEY_FAST + 1];
    struct key_story key[WORLD_KEYS]; /* all but KEY_WINDOW_2 */
    struct cq_state cq[WORLD_CQS];
    rdl_srq srq;
    uint32_t n_shared, limits; /* shared: receives in the SRQ; limits: events that may still come */
    rdl_ah ah[WORLD_HOSTS_MAX], group;
};

struct end_state {
    rdl_qp qp;
    uint32_t qpn;
    uint16_t life;
    uint32_t n_lives;
    struct key_story window;
    struct cq_state small; /* if its CQ is its own */
    bool is_attached;
    bool is_new; /* not connected yet */
};

/* What has happened in a world. */
struct world_tally {
    uint64_t statuses[WORLD_STATUSES], opcodes[WORLD_OPCODES];
    bool met_err, met_sqe, met_broken_cq;
};

struct wire_tap;

struct world_run {
    const struct world *w;
    struct rdl_lab *lab;
    FILE *script;         /* what is done is written there as lines; NULL: it is not */
    uint32_t n_unsaid;    /* deeds that no line can say, and that a run with a script leaves out */
    bool is_refused;      /* what is said next was refused */
    uint8_t *have, *want; /* room for a message each, for who looks at one */
    struct wire_tap *tap; /* sees every frame; NULL: nobody does */
    struct host_state host[WORLD_HOSTS_MAX];
    struct end_state end[WORLD_ENDS_MAX];
    struct item_state item[WORLD_ITEMS_MAX];
    struct life life[LIVES_MAX];
    rdl_fault fault[WORLD_FAULTS_MAX], device_fault[WORLD_FAULTS_MAX];
    uint32_t n_lives, n_deed; /* n_deed: the next one */
    uint8_t group_gid[16];
    bool is_copying;   /* frames may have come twice or late */
    bool is_faulty;    /* frames may have been lost */
    bool is_calm;      /* the network does nothing wrong any more */
    const char *wrong; /* what went wrong, NULL: nothing */
    uint16_t wrong_item, wrong_end, wrong_host;
    uint32_t wrong_psn;     /* of what the watcher of the wire found */
    uint32_t wrong_byte;    /* of the memory of wrong_host */
    enum rdl_status status; /* of the call that went wrong, if it was one */
    struct world_tally tally;
};

/* @right must hold; otherwise the run went wrong, of which the first reason is kept. */
bool world_expect(struct world_run *r, bool right, uint16_t item, const char *what);
bool world_expect_end(struct world_run *r, bool right, uint16_t end, const char *what);
bool world_works(struct world_run *r, enum rdl_status st, const char *what);

/* Writes a line of the script, if there is one. */
__attribute__((format(printf, 2, 3))) void world_say(struct world_run *r, const char *format, ...);

/* Lets the control request of @host be answered; false: the device refused. */
bool world_answered(struct world_run *r, unsigned host);

/* Sets up all that is there before the first deed. */
void world_build(struct world_run *r);
/* Resets and connects @end and its peer, the first time too. */
void world_connect(struct world_run *r, uint16_t end);
/* The first PSN that @end sends in its present life. */
uint32_t world_psn(const struct world_run *r, uint16_t end);
/* Makes the queue pair of @end. */
void world_make_end(struct world_run *r, uint16_t end);
bool world_modify(struct world_run *r, uint16_t end, struct rdl_qp_attr *a, enum qp_state to,
                  uint32_t mask);

/* Carries out the next deed, or leaves it out. */
void world_carry_out(struct world_run *r, const struct world_deed *d);
void world_post(struct world_run *r, uint16_t item, bool lazy);
void world_poll(struct world_run *r, struct cq_state *cq, unsigned host);
void world_poll_closed(struct world_run *r, uint16_t end);
void world_take_events(struct world_run *r, unsigned host);
void world_resume(struct world_run *r, uint16_t end);
void world_step(struct world_run *r, uint32_t ticks);
/* Faults end, links are up, queues are drained; then everything must complete. */
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

/* The state of @key for requests that go to @end; NULL: it never changes. */
static inline struct key_story *world_key_of(struct world_run *r, uint8_t key, uint16_t end)
{
    return key == KEY_WINDOW_2 ? &r->end[end].window : &r->host[r->w->end[end].host].key[key];
}

#endif
