/* SPDX-License-Identifier: MIT */
/* The parts of a node of LNet, as its files see them.
 *
 *	lnet_memory.c   the node, its memory and portals
 *	lnet_credits.c  messages that wait for a credit of their peer or of the interface
 *	lnet.c          messages of this node, and the end of all
 *	lnet_arrive.c   messages of peers: matching
 */
#ifndef LNET_LNET_INTERNAL_H
#define LNET_LNET_INTERNAL_H

#include "lnet/frags.h"
#include "lnet/lnet.h"

#define MD_LISTS   64u
#define PEER_LISTS 64u

/* A memory descriptor, and its match entry if it is attached. */
struct lnet_memory {
    struct lnet_memory *next_of_list; /* of the same hash of @handle */
    struct lnet_memory *younger, *older;
    struct lnet_memory *next, *before; /* of the same portal */
    uint64_t handle;
    struct lnet_md md;
    struct lnet_match match;
    bool is_attached;
    uint32_t n_users;   /* transfers, and answers that are expected */
    uint32_t n_answers; /* ACKs and REPLYs that are expected, among n_users */
    uint32_t n_left;    /* operations until it is unlinked; 0: any number */
    bool is_ending;     /* it goes with its last user */
    uint32_t at;        /* offset of the next message, unless the initiator chooses it */
    uint64_t bytes;
};

/* A message under way, which the driver has or which waits for credits of LNet. */
struct lnet_transfer {
    struct lnet_transfer *next; /* in the queue of its peer, or in node.waiting */
    struct lnet_memory *memory; /* NULL: none */
    struct lnet_peer *peer;     /* its credits; NULL: it has none */
    struct lnet_hdr hdr;
    struct lnd_memory part;
    struct lnet_event event; /* when it is over; kind as below */
    bool is_mine;            /* this node has sent it; otherwise it has come */
    bool gets;               /* a GET: its SEND, and then its REPLY */
    bool has_reply;          /* the data of the GET comes with the driver's answer */
    bool wants_ack;          /* a PUT that has come */
};

struct transfer_list {
    struct lnet_transfer *first, *last;
};

struct lnet_peer {
    struct lnet_peer *next_of_list, *next;
    uint64_t nid;
    int32_t credits, min_credits;
    struct transfer_list queue;
    uint32_t n_queued;
};

struct lnet_portal {
    struct lnet_memory *first, *last;
};

struct lnet_node {
    const struct lnd_ops *ops;
    void *ctx;
    struct lnd *lnd;
    lnet_listener *listener;
    void *listener_ctx;
    struct lnet_portal portals[LNET_PORTALS];
    struct lnet_memory *memories[MD_LISTS], *oldest, *youngest;
    struct lnet_peer *peers[PEER_LISTS], *first_peer, *last_peer;
    uint64_t next_handle;
    int32_t credits;              /* of the interface */
    struct transfer_list waiting; /* for one of these */
    struct transfer_list ready;   /* to be handed over */
    bool is_handing_over;
    struct lnet_counts counts;
};

/* Returns the memory with @handle, or NULL. */
struct lnet_memory *lnet_memory_of(const struct lnet_node *n, uint64_t handle);
/* An operation on @m begins. */
void lnet_use(struct lnet_node *n, struct lnet_memory *m);
/* The operation on @m is over, as @e says.  Tells the program. */
void lnet_end_use(struct lnet_node *n, struct lnet_memory *m, struct lnet_event *e);
/* Returns the peer @nid, which is made if it is new.  NULL: no memory. */
struct lnet_peer *lnet_peer_of(struct lnet_node *n, uint64_t nid);
/* Sends @t, once the peer has a credit for it, and then the interface. */
void lnet_submit(struct lnet_node *n, struct lnet_transfer *t);
/* The message to @p is over: its credits let others go. */
void lnet_return_credits(struct lnet_node *n, struct lnet_peer *p);

#endif
