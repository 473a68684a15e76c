/* SPDX-License-Identifier: MIT */
/* The parts of the driver of LNet, as its files see them.
 *
 *	lnd.c      life of a driver; jobs; time
 *	region.c   memory regions
 *	peer.c     peers: messages that wait for a connection, attempts to connect
 *	connect.c  the active side, and the objects of both sides
 *	accept.c   the passive side, and rejects
 *	close.c    the end of connections
 *	tx.c       messages to be sent: queues and credits
 *	rx.c       messages that have come
 *	send.c     lnd_send(), lnd_recv(), lnd_reply()
 */
#ifndef LNET_LND_INTERNAL_H
#define LNET_LND_INTERNAL_H

#include "lnet/frags.h"
#include "lnet/lnd.h"

#define LND_DEPTH_1 8u /* queue depth of version 1 */
/* With less, a NOOP of version 1, which costs a credit, would be the reason of the next NOOP. */
#define LND_DEPTH_1_MIN 3u
#define LND_NOOPS_MAX   2u  /* NOOPs of version 2 under way, which cost no credit */
#define LND_ARENAS_MAX  8u  /* regions that are kept for later messages */
#define LND_AGAIN_MAX   10u /* rejects in a row after which a node asks at once; then each second */
#define LND_AGAIN_NS    UINT64_C(1000000000)
#define LND_RESOLVE_NS  UINT64_C(5000000000)
#define LND_RACES_MAX   20u /* requests of a peer that lose a race before one is accepted */
#define LND_PEER_LISTS  64u
#define LND_PAGE_BYTES  4096u

/* The sort of a work request: the low bits of its wr_id; the rest is an index. */
enum lnd_wr_kind { LND_WR_TX, LND_WR_RDMA, LND_WR_RX, LND_WR_KIND_BITS = 2 };

/* A control operation, or several in a row.  It waits in lnd.jobs; the first one is under way. */
enum lnd_job_kind {
    LND_JOB_ESTABLISH,
    LND_JOB_START,
    LND_JOB_STOP,
    LND_JOB_SETUP,
    LND_JOB_END,
    LND_JOB_REG,
    LND_JOB_DEREG
};

struct lnd_job {
    struct lnd_job *next;
    enum lnd_job_kind kind;
    bool is_queued;
    void *of; /* struct lnd, lnd_conn or lnd_region */
};

struct lnd_region {
    struct lnd_region *next;
    struct lnd *lnd;
    struct lnd_job job;
    struct lnd_mr mr;
    uint64_t addr, bytes;
    uint32_t users;
    bool is_ready;       /* it is registered */
    bool is_kept;        /* for later messages, too; otherwise it ends with its last user */
    bool is_union;       /* of the memory of @only and an older region */
    struct lnd_tx *only; /* the message that it is made for; NULL: ready, or the message is over */
};

struct lnd_tx_list {
    struct lnd_tx *first, *last;
    uint32_t n;
};

/* A message to be sent, and what follows of it.  It is over when it is not queued, not waiting for
 * an answer, and each post of it is complete.
 */
struct lnd_tx {
    struct lnd_tx *next, *before;   /* in @in */
    struct lnd_tx_list *in;         /* NULL: none */
    struct lnd_tx *later, *earlier; /* in lnd.deadlines */
    struct lnd *lnd;
    struct lnd_conn *conn; /* NULL: it waits for one */
    struct lnd_peer *peer;
    uint32_t index; /* in lnd.txs */
    uint64_t buf;   /* the message, LNET_MSG_BYTES_MAX bytes of the pool */
    enum lnet_msg_type type;
    uint32_t nob;         /* of the message */
    uint64_t cookie;      /* its own: peers name it in answers */
    uint64_t peer_cookie; /* of the PUT_REQ or GET_REQ that it answers */
    struct lnet_hdr hdr;  /* of IMMEDIATE, PUT_REQ and GET_REQ */
    uint32_t n_sending;   /* posts that are not complete */
    uint32_t stall;       /* enum lnd_stall: why it waited when it was tried last; 0: it did not */
    bool is_waiting;      /* for the answer of the peer */
    bool has_deadline;
    int status;          /* 0, or a negative errno: the first failure */
    int32_t done_status; /* in PUT_NAK, PUT_DONE, GET_DONE */
    uint32_t bytes;      /* of payload */
    /* The payload, as descriptor with the addresses of @region; n_frags 0: there is none. */
    struct lnet_frag *frags;
    uint32_t n_frags, cap_frags;
    uint32_t lkey, rkey;
    struct lnd_region *region;
    struct lnd_wr *writes; /* RDMA WRITEs before the message; n_writes of cap_writes */
    uint32_t n_writes, cap_writes;
    struct lnet_rd *to; /* GET_DONE that waits for its mapping: where the peer wants the data */
    uint64_t deadline_ns;
    struct lnet_transfer *transfer;
};

struct lnd_rx {
    struct lnd_rx *next; /* in conn.early */
    struct lnd_conn *conn;
    uint32_t index;
    uint64_t buf;
    uint32_t bytes;
    bool is_posted;
    bool is_taken; /* lnd_recv() has been called */
    bool is_replied;
    enum lnet_msg_type type;
    struct lnet_hdr hdr; /* of IMMEDIATE, PUT_REQ, GET_REQ */
    uint64_t cookie;     /* of the request */
    struct lnet_rd *rd;  /* of GET_REQ: where the peer wants the data; freed with the receive */
    uint32_t payload;    /* bytes of IMMEDIATE */
};

/* The credit that a receive gives when it is posted again. */
enum lnd_repost { LND_CREDIT_NONE, LND_CREDIT_PEER, LND_CREDIT_RESERVED };

enum lnd_step {
    LND_STEP_MAP,
    LND_STEP_CQ,
    LND_STEP_QP,
    LND_STEP_CM,
    LND_STEP_DONE,
    LND_STEP_DISCONNECT,
    LND_STEP_DRAIN,
    LND_STEP_NO_QP,
    LND_STEP_NO_CQ,
    LND_STEP_UNMAP,
    LND_STEP_NO_ID
};

struct lnd_conn {
    struct lnd_conn *next; /* in lnd.conns */
    struct lnd *lnd;
    struct lnd_peer *peer;
    struct lnd_link link;
    struct lnd_job job;
    enum lnd_step step;
    enum lnd_state state;
    bool is_passive;
    bool is_asking;      /* an operation of its step is under way */
    bool counts;         /* in peer.n_connecting or n_accepting */
    bool was_offered;    /* connect() or accept() was called, with @offer */
    bool connects_again; /* it closes, and messages may have a new connection at once */
    uint8_t offer[LNET_CONN_BYTES];
    uint8_t answer[LNET_CONN_BYTES]; /* the private data of CONNECT_RESPONSE */
    size_t answer_bytes;
    uint16_t version;
    uint64_t stamp; /* incarnation of the peer; 0: not known */
    uint32_t queue_depth, max_frags;
    uint32_t max_sends; /* messages that are posted at a time */
    uint32_t credits, outstanding, reserved;
    uint32_t n_noops, n_sends; /* that are posted */
    uint32_t n_posted_rx;
    struct lnd_tx_list ready, wants_reserve, no_credit, noops, active;
    struct lnd_rx *rxs;
    uint32_t n_rx;
    uint64_t rx_pages;
    struct lnd_mr rx_mr;
    struct lnd_rx *early, *last_early;
    uint64_t last_send_ns;
    bool wants_keepalive;
    uint64_t drained_ns; /* in LND_STEP_DRAIN: until then it waits for completions */
    int error;
};

struct lnd_peer {
    struct lnd_peer *next, *next_of_all;
    struct lnd *lnd;
    uint64_t nid, stamp;
    uint16_t version;
    uint32_t queue_depth, max_frags; /* to ask for */
    /* An established connection, which new messages take; NULL: none.  There may be more of them:
     * both sides have asked for one, and neither knew of the other request in time.
     */
    struct lnd_conn *conn;
    uint32_t n_connecting, n_accepting, n_races;
    uint32_t n_again; /* rejects in a row that were answered by another request */
    struct lnd_tx_list waiting;
    uint64_t reconnect_ns, interval_ns; /* reconnect_ns 0: at once */
    int error;
};

/* The parts of a driver that has started, or begun to. */
enum lnd_start {
    LND_START_DEV,  /* nothing is there: it is down */
    LND_START_MAP,  /* the device */
    LND_START_DONE, /* and the memory for messages */
};

struct lnd {
    const struct lnd_ops *ops;
    void *ctx;
    struct lnd_config config;
    struct lnet_node *node;
    bool is_stopping;
    uint32_t depth; /* of lnd_enter() */
    int error;
    enum lnd_start step;
    struct lnd_mr dma, tx_mr;
    uint64_t tx_pages;
    struct lnd_tx *txs;
    struct lnd_tx_list idle, unmapped;
    struct lnd_tx *first_due, *last_due; /* by deadline */
    uint64_t wake_ns;                    /* 0: none */
    struct lnd_conn *conns;
    struct lnd_peer *peers[LND_PEER_LISTS], *first_peer, *last_peer;
    struct lnd_region *regions;
    uint32_t n_kept;
    struct lnd_job *first_job, *last_job; /* the first one may have begun, and wait for an answer */
    struct lnd_job *is_under_way;         /* in carry_out(), and in no list; NULL: none */
    struct lnd_job job;
    uint64_t next_cookie;
    struct lnd_counts counts;
    struct lnet_msg in;  /* the message that is handled */
    struct lnet_msg out; /* the message that is built */
    uint8_t bytes[LNET_MSG_BYTES_MAX];
};

/* ---- lnd.c ---- */
void *lnd_alloc(struct lnd *lnd, size_t bytes);
void lnd_release(struct lnd *lnd, void *block, size_t bytes);
uint64_t lnd_now(const struct lnd *lnd);
void lnd_job(struct lnd *lnd, struct lnd_job *job, enum lnd_job_kind kind, void *of);
void lnd_tell(struct lnd *lnd, const struct lnd_note *note);
void lnd_tell_state(struct lnd_conn *c, enum lnd_state state, int error);

/* ---- region.c ---- */
/* Gives @tx a region for its fragments.  With the region of all memory their addresses become those
 * of the region.  Returns 0, LND_LATER (lnd_tx_mapped() follows) or a negative errno.
 */
int lnd_map(struct lnd_tx *tx);
void lnd_unmap(struct lnd_tx *tx);
/* @tx, which waits for a region, goes. */
void lnd_map_forget(const struct lnd_tx *tx);
int lnd_region_job(struct lnd_region *r, enum lnd_job_kind kind);
/* The driver stops: frees what is kept.  Returns true if no region is left. */
bool lnd_regions_end(struct lnd *lnd);

/* ---- tx.c ---- */
struct lnd_tx *lnd_tx_get(struct lnd *lnd, enum lnet_msg_type type); /* NULL: none is idle */
/* @tx is over if it is idle in all respects: frees it, and tells LNet. */
void lnd_tx_end(struct lnd_tx *tx);
void lnd_tx_fail(struct lnd_tx *tx, int status); /* takes it out of its queue, and ends it */
void lnd_list_add(struct lnd_tx_list *l, struct lnd_tx *tx);
void lnd_list_remove(struct lnd_tx *tx);
/* Finds the sent message with @cookie that waits for an answer and is of @type. */
struct lnd_tx *lnd_tx_waiting(struct lnd_conn *c, enum lnet_msg_type type, uint64_t cookie);
/* Writes the body of @tx to its buffer: @rd is the descriptor in it, @payload its payload. */
int lnd_tx_build(struct lnd_tx *tx, const struct lnd_memory *payload);
void lnd_queue(struct lnd_conn *c, struct lnd_tx *tx);
/* Posts what may be posted. */
void lnd_push(struct lnd_conn *c);
void lnd_tx_completed(struct lnd_tx *tx, uint32_t status);
/* The deadline of @tx begins now; the deadline ends. */
void lnd_due_begin(struct lnd_tx *tx);
void lnd_due_end(struct lnd_tx *tx);
/* Makes the RDMA WRITEs of @tx, of @bytes from its own fragments to @to.  0 or a negative errno. */
int lnd_tx_writes(struct lnd_tx *tx, const struct lnet_rd *to, uint32_t bytes, uint32_t max);

/* ---- send.c ---- */
/* @tx has its region now, or @status says why not. */
void lnd_tx_mapped(struct lnd_tx *tx, int status);

/* ---- rx.c ---- */
void lnd_rx_came(struct lnd_rx *rx);
void lnd_rx_repost(struct lnd_rx *rx, enum lnd_repost credit);
int lnd_rx_post(struct lnd_rx *rx);

/* ---- peer.c ---- */
struct lnd_peer *lnd_peer_of(struct lnd *lnd, uint64_t nid); /* makes it; NULL: no memory */
/* Sends @tx, or lets it wait for a connection. */
void lnd_launch(struct lnd_peer *p, struct lnd_tx *tx);
/* An attempt to connect is over.  @again: connect anew for the messages that wait. */
void lnd_peer_failed(struct lnd_conn *c, int error, bool again);
void lnd_peer_established(struct lnd_conn *c);
/* @c was established, and closes.  Another connection of the peer takes its place. */
void lnd_peer_lost(struct lnd_conn *c, int error);
/* Closes connections of @p that are of another incarnation or version.  Returns true if any is. */
bool lnd_peer_close_stale(struct lnd_peer *p, uint16_t version, uint64_t stamp);
/* Returns true if a race between requests of both is won by that of @a against that of @b. */
bool lnd_wins(const struct lnd *lnd, uint64_t a, uint64_t b);
/* The time has come to reconnect.  Returns the earliest such time of a peer, or 0. */
uint64_t lnd_peers_due(struct lnd *lnd, uint64_t now_ns);

/* ---- connect.c ---- */
/* Returns the largest queue depth of a connection of @version.  Version 1 negotiates none: there it
 * is that of all requests.
 */
uint32_t lnd_depth(const struct lnd *lnd, uint16_t version);
struct lnd_conn *lnd_conn_new(struct lnd_peer *p, bool is_passive);
int lnd_setup(struct lnd_conn *c);     /* LND_JOB_SETUP */
int lnd_establish(struct lnd_conn *c); /* LND_JOB_ESTABLISH */

/* ---- accept.c ---- */
void lnd_rejected(struct lnd_conn *c, int reason, const uint8_t *data, size_t bytes);
void lnd_send_reject(struct lnd *lnd, struct lnd_link *l, uint64_t peer, uint32_t why,
                     const struct lnet_connparams *mine, uint16_t version);

/* ---- close.c ---- */
void lnd_close(struct lnd_conn *c, int error);
int lnd_end(struct lnd_conn *c); /* LND_JOB_END */
/* A device may lose completions: connections that have waited for them long enough go on to end.
 * Returns when the next one does, or 0.
 */
uint64_t lnd_drains_due(struct lnd *lnd, uint64_t now_ns);
/* A post is complete: a connection that closes may have waited for that. */
void lnd_drained(struct lnd_conn *c);

#endif
