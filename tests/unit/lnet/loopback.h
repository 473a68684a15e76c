/* SPDX-License-Identifier: MIT */
/* Nodes of LNet in one process, for tests: an environment of the driver without devices.
 *
 * Each node has an address space, memory regions with keys, and queue pairs.  Everything that
 * happens later is an item of a queue: a work request on the wire, a completion, an event of
 * rdma_cm, the answer to a control operation.  Items of one queue stay in order; a seed chooses the
 * queue whose first item is next.  loop_step() handles one, and then checks that no credit was lost
 * and none was made.
 */
#ifndef UNIT_LNET_LOOPBACK_H
#define UNIT_LNET_LOOPBACK_H

#include "emu/base/prng.h"
#include "lnet/lnet.h"

#define LOOP_NODES   6u
#define LOOP_IDS     64u
#define LOOP_MRS     2048u
#define LOOP_BLOCKS  1024u
#define LOOP_ITEMS   8192u
#define LOOP_EVENTS  512u
#define LOOP_RECVS   600u
#define LOOP_NOTES   8u
#define LOOP_PRIVATE 196u

struct loop;

/* Operations that can fail or be late. */
enum loop_op {
    LOOP_CREATE_DEV,
    LOOP_DESTROY_DEV,
    LOOP_REG_MR,
    LOOP_DEREG_MR,
    LOOP_CREATE_CQ,
    LOOP_DESTROY_CQ,
    LOOP_CREATE_QP,
    LOOP_DESTROY_QP,
    LOOP_RESOLVE,
    LOOP_CONNECT,
    LOOP_ACCEPT,
    LOOP_ESTABLISH,
    LOOP_DISCONNECT,
    LOOP_DESTROY_ID,
    LOOP_POST_SEND,
    LOOP_POST_RECV,
    LOOP_ALLOC, /* these have no errno */
    LOOP_PAGES,
    LOOP_READ,
    LOOP_WRITE,
    LOOP_COPY,
    LOOP_OPS
};

struct loop_block {
    uint64_t addr, bytes;
    uint8_t *memory;
};

struct loop_mr {
    uint32_t key;
    uint64_t addr, bytes;
};

struct loop_node {
    struct loop *loop;
    uint32_t ip;
    struct lnet_node *node;
    struct lnd *lnd;
    struct loop_block blocks[LOOP_BLOCKS];
    uint32_t n_blocks;
    struct loop_mr mrs[LOOP_MRS];
    uint32_t n_mrs;
    uint64_t next_addr, gap; /* addresses between two blocks of pages that are not mapped */
    uint32_t next_key;
    uint64_t wake_ns;
    bool has_dev, is_unreachable;
    /* The control operation that is late: 0 none, else its number + 1; is_ready: it may end. */
    uint32_t late;
    bool is_ready;
    uint32_t fail_in[LOOP_OPS]; /* the n-th call from now fails; 0: none */
    int fail_with[LOOP_OPS];
    uint32_t max_send_wr; /* more is -EINVAL; 0: any number */
    uint64_t n_allocs;    /* blocks of the driver that are not free */
    struct lnet_event events[LOOP_EVENTS];
    uint32_t n_events;
    bool counts_events;      /* and does not keep them */
    lnet_listener *listener; /* in addition */
    void *listener_ctx;
    uint64_t notes[LOOP_NOTES];
    uint32_t last_why;            /* of LND_NOTE_REJECTED */
    uint8_t reject[LOOP_PRIVATE]; /* the last one of this node, n_reject bytes */
    uint32_t n_reject;
    uint64_t stalls[LND_STALL_SENDS + 1]; /* by enum lnd_stall */
    uint64_t mapped_dma;                  /* offset of addresses in the region of all memory */
};

/* An ID of rdma_cm with its queue pair. */
struct loop_id {
    struct loop_node *node;
    struct lnd_link *link; /* NULL: none yet, or destroyed */
    bool is_used, has_cq, has_qp, is_error, is_connected, was_disconnected;
    struct loop_id *peer; /* NULL: none */
    uint32_t peer_ip;
    uint32_t cqe, max_send, max_recv, n_send;
    struct lnd_wr recvs[LOOP_RECVS];
    uint32_t first_recv, n_recvs;
};

enum loop_item_kind { LOOP_WIRE, LOOP_COMPLETION, LOOP_CM_EVENT, LOOP_CM_REQUEST, LOOP_WAKE };

struct loop_item {
    enum loop_item_kind kind;
    uint32_t queue;
    struct loop_id *id;
    struct loop_node *node;
    struct lnd_wr wr; /* LOOP_WIRE */
    uint64_t wr_id;   /* LOOP_COMPLETION */
    uint32_t status, bytes, event;
    uint8_t data[LOOP_PRIVATE];
    uint32_t n;
};

/* Bytes that can be changed under way. */
enum loop_bytes { LOOP_NOTHING, LOOP_MESSAGE, LOOP_REQ, LOOP_REP };

struct loop {
    struct prng r;
    bool is_random; /* items of different queues in any order; otherwise in the order of posting */
    bool is_late;   /* control operations are answered later */
    bool asks;      /* active sides get CONNECT_RESPONSE, and establish themselves */
    uint64_t now_ns;
    struct loop_node *nodes[LOOP_NODES];
    uint32_t n_nodes;
    struct loop_id ids[LOOP_IDS];
    struct loop_item items[LOOP_ITEMS];
    uint32_t n_items;
    uint64_t n_steps, n_checked; /* pairs of connections whose credits were compared */
    /* Chance in 1024 that a message is damaged before it arrives. */
    uint32_t damage;
    /* Byte @tamper_at of the next such message becomes another one, by XOR. */
    enum loop_bytes tamper;
    uint32_t tamper_at;
    uint8_t tamper_xor;
    struct loop_id *hold; /* its completions and WRITEs stay where they are */
};

struct loop *loop_new(uint64_t seed);
/* Frees it.  All nodes are down.  Asserts that nothing is left. */
void loop_free(struct loop *l);

/* Adds a node, starts it, and waits until it is up.  Its address is 10.0.0.N, counted from 1. */
struct loop_node *loop_add(struct loop *l, const struct lnd_config *config);
/* Adds a node that is not started. */
struct loop_node *loop_add_down(struct loop *l, const struct lnd_config *config);
uint64_t loop_nid(uint32_t n);
void loop_stop_all(struct loop *l);

/* Handles one item.  Returns false if there is none. */
bool loop_step(struct loop *l);
/* Handles items until there is none. */
void loop_run(struct loop *l);
/* The same, and lets time go on up to @ns later, with wakes at their times. */
void loop_run_for(struct loop *l, uint64_t ns);

/* Makes the @nth call of @op from now fail with @error. */
void loop_fail(struct loop_node *n, enum loop_op op, uint32_t nth, int error);
/* Moves the queue pairs of @n to ERR. */
void loop_break(struct loop_node *n);

/* Stops @n, and starts it anew with @config: another node at the same address. */
void loop_restart(struct loop_node *n, const struct lnd_config *config);
/* A request with any bytes comes to @n.  Returns true if @n has not rejected it. */
bool loop_raw_request(struct loop_node *n, const void *data, uint32_t bytes);
/* If @what is to be changed, changes the bytes. */
void loop_tamper(struct loop *l, enum loop_bytes what, uint8_t *bytes);

/* Memory of programs. */
uint64_t loop_pages(struct loop_node *n, uint64_t bytes);
uint8_t *loop_at(struct loop_node *n, uint64_t addr, uint64_t bytes);

extern const struct lnd_ops loop_ops;

/* ---- loopback.c, for loopback_ops.c ---- */
bool loop_copy(struct loop_node *to, uint64_t to_addr, struct loop_node *from, uint64_t from_addr,
               uint64_t bytes);
void loop_post(struct loop_id *id, const struct lnd_wr *wr);
void loop_flush(struct loop_id *id, uint64_t wr_id);
void loop_to_error(struct loop_id *id);
void loop_event(struct loop_id *id, uint32_t event, int status, const void *data, uint32_t n);
void loop_request(struct loop_id *id, const void *data, uint32_t n);
/* The active side @id is established: its RTU goes to the peer, or a REJ if that has given up. */
void loop_establish(struct loop_id *id);
/* The control operation of @n, which is late, may end later. */
void loop_late(struct loop_node *n);
/* Removes items of @id: all of them, or its completions. */
void loop_forget(struct loop_id *id, bool only_completions);

/* ---- loopback_nodes.c ---- */
/* Asserts the invariants of credits between all connections. */
void loop_check(struct loop *l);

#endif
