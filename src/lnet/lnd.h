/* SPDX-License-Identifier: MIT */
/* The driver of LNet for RDMA, as Lustre's o2iblnd is: peers, connections, credits, descriptors.
 *
 *	LNet (lnet.h)  lnd_send()  lnd_recv()  lnd_reply()
 *	   ^ lnet_arrived(), lnet_finalize()
 *	lnd: peers -> connections -> messages -> lnd_ops: verbs, rdma_cm
 *
 * An LNet message that fits travels as IMMEDIATE.  Otherwise the side that has the data writes it
 * by RDMA WRITE, and a DONE follows: PUT_REQ, PUT_ACK with a descriptor, WRITEs, PUT_DONE; or
 * GET_REQ with a descriptor, WRITEs, GET_DONE.  RDMA READ is never used.
 *
 * Credits bound the messages of each direction.  For each connection, and each direction, this
 * holds between any two steps:
 *
 *	credits of the sender + credits in messages on their way to it + credits that the receiver
 *	has not returned + messages that cost one, on their way or not yet handled = queue depth
 *
 * All calls come from one thread at a time.  Nothing blocks: see lnd_ops.h.
 */
#ifndef LNET_LND_H
#define LNET_LND_H

#include "emu/facts/enum/lnd_stall.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/lnet_map.h"
#include "emu/wire/lnet.h"
#include "lnet/lnd_ops.h"

#define LND_TIME_NS_MAX ((uint64_t)1 << 50) /* 13 days, of a tunable: a sum with the time fits */

struct lnd;
struct lnd_rx;
struct lnet_node;

/* Tunables; in brackets the names of the module parameters of ko2iblnd. */
struct lnd_config {
    uint64_t nid, stamp; /* stamp: the incarnation, never 0 */
    uint16_t service;
    uint16_t version;          /* LNET_VERSION_1 or LNET_VERSION_2: the newest that it speaks */
    bool rules_2007;           /* rejects have reasons 1 to 3 and 7 bytes; nothing is negotiated */
    bool race_by_hash;         /* a race is won by the larger hash, as since LU-17743 */
    bool big_endian, cksum;    /* [cksum] */
    enum lnet_map map;         /* [map_on_demand] */
    uint32_t frag_bytes;       /* fragments of descriptors have at most so many bytes; 0: any */
    uint32_t max_frags;        /* of a descriptor of a peer, and RDMA WRITEs of a transfer */
    uint32_t peer_credits;     /* [peer_credits] the queue depth, too */
    uint32_t peer_credits_hiw; /* [peer_credits_hiw] 0: half */
    uint32_t credits, ntx;     /* [credits] [ntx] */
    uint32_t concurrent_sends; /* [concurrent_sends] 0: peer_credits */
    uint64_t timeout_ns;       /* [timeout] */
    uint64_t keepalive_ns;     /* [keepalive] 0: none */
    uint64_t reconnect_min_ns, reconnect_max_ns;
};

/* Returns the tunables of Lustre's module (@of_2007: those of 2007) for a node @nid. */
struct lnd_config lnd_defaults(uint64_t nid, bool of_2007);

/* An observation: for events, counters and models. */
enum lnd_note_kind {
    LND_NOTE_SENT,     /* @msg was posted, with @n RDMA WRITEs before it; @key is in it */
    LND_NOTE_RECEIVED, /* @msg has come */
    LND_NOTE_STATE,    /* the state of a connection is @state now; @error: why it closes, or 0 */
    LND_NOTE_REJECTED, /* a request was rejected; @why, @version; @is_mine: by this node */
    LND_NOTE_REGION,   /* a region was registered (@n 1) or freed (@n 0), of @bytes at @addr */
    LND_NOTE_STALL     /* a message waits, as @state (enum lnd_stall) says */
};

struct lnd_note {
    enum lnd_note_kind kind;
    uint64_t peer;               /* NID */
    const struct lnd_link *link; /* NULL: of no connection */
    const struct lnet_msg *msg;
    uint32_t n, state, why, version, credits, outstanding, reserved, key;
    int error;
    bool is_mine;
    uint64_t addr, bytes;
    uint64_t cookie; /* the message's own, or that of the message that it answers */
};

/* Creates a driver that is down.  LNet's part is @node.  Returns NULL without memory, or if
 * @config contradicts itself.  @ops must outlive it.
 */
struct lnd *lnd_new(const struct lnd_ops *ops, void *ctx, const struct lnd_config *config,
                    struct lnet_node *node);
/* Frees a driver that is down. */
void lnd_free(struct lnd *lnd);

/* Starts, and stops: all connections are closed, and all objects destroyed.  lnd_is_up() and
 * lnd_is_down() tell when that is over.  lnd_error() is the errno why it is not up, or 0.
 */
void lnd_start(struct lnd *lnd);
void lnd_stop(struct lnd *lnd);
bool lnd_is_up(const struct lnd *lnd);
bool lnd_is_down(const struct lnd *lnd);
int lnd_error(const struct lnd *lnd);

/* ---- from the environment ---- */

/* Each entry is between these two, which the functions below call.  Entries may be nested, as LNet
 * sends when it is told of something.  The outermost one carries out control operations at its end,
 * among them those that destroy something.  An environment that must not destroy an ID or a CQ
 * while it handles an event of it enters before the event and leaves behind it.
 */
void lnd_enter(struct lnd *lnd);
void lnd_leave(struct lnd *lnd);

/* A control operation may have been answered, or the time of wake_at() has come. */
void lnd_wake(struct lnd *lnd);

/* An event of rdma_cm about @l: enum rdma_cm_event, its status and its private data. */
void lnd_cm_event(struct lnd *lnd, struct lnd_link *l, uint32_t event, int status,
                  const uint8_t *data, size_t bytes);

/* A connection request: the new ID @id, of a client at @ip. */
void lnd_cm_request(struct lnd *lnd, uint64_t id, uint32_t ip, const uint8_t *data, size_t bytes);

/* A completion of @l: its wr_id, status (enum wc_status) and, of a receive, its bytes. */
void lnd_completion(struct lnd *lnd, struct lnd_link *l, uint64_t wr_id, uint32_t status,
                    uint32_t bytes);

/* Memory of the program is about to be freed: later messages do not use a region over it, also if
 * other memory gets its addresses.
 */
void lnd_forget(struct lnd *lnd, uint64_t addr, uint64_t bytes);

/* ---- from LNet ---- */

/* A piece of memory that is to be sent or filled in: @bytes from @offset on in the fragments. */
struct lnd_memory {
    const struct lnet_frag *frags;
    uint32_t n, offset, bytes;
};

struct lnet_transfer;

/* Sends the LNet message @hdr to @nid, with the payload @m; of a GET, @m is where the reply goes.
 * lnet_finalize() follows with @t, also if it fails.
 */
void lnd_send(struct lnd *lnd, uint64_t nid, const struct lnet_hdr *hdr, const struct lnd_memory *m,
              struct lnet_transfer *t);

/* Takes the message that lnet_arrived() was called with: PUT and REPLY put m->bytes of payload, 0:
 * it is not wanted.  @t NULL: nobody waits for its end.
 */
void lnd_recv(struct lnd *lnd, struct lnd_rx *rx, const struct lnd_memory *m,
              struct lnet_transfer *t);

/* Answers a GET with the data @m.  lnd_wants_reply(): @rx is a GET that must be answered so, and
 * not with a REPLY.  lnd_recv(), with no payload, must follow for @rx, in the same lnet_arrived().
 */
bool lnd_wants_reply(const struct lnd_rx *rx);
void lnd_reply(struct lnd *lnd, struct lnd_rx *rx, const struct lnd_memory *m, int status,
               struct lnet_transfer *t);

/* ---- to look at ---- */

struct lnd_counts {
    uint64_t sent[16], received[16]; /* messages, at lnd_count_index() of their type */
    uint64_t writes, write_bytes;
    uint64_t regions, dereged, regions_now, pinned_bytes, pinned_max;
    uint64_t connects, accepts, rejects_sent, rejects_got, races, closes, timeouts, stalls;
    uint64_t bad_messages;
};

/* Returns the place of messages of @type (enum lnet_msg_type) in the counts. */
static inline uint32_t lnd_count_index(uint32_t type)
{
    return type < LNET_MSG_NOOP ? 8 + (type & 1) : type & 7;
}
const struct lnd_counts *lnd_counts(const struct lnd *lnd);
const struct lnd_config *lnd_config(const struct lnd *lnd);

struct lnd_peer_info {
    uint64_t nid, stamp;
    uint16_t version;
    uint32_t state; /* of its connection (enum lnd_state); UINT32_MAX: none */
    uint32_t queue_depth, max_frags;
    uint32_t credits, outstanding, reserved, sends_posted;
    uint32_t queued, active; /* messages that wait to be sent; that were sent and are not over */
    uint32_t waiting;        /* messages that wait for a connection */
    uint32_t n_connecting, n_accepting, n_races;
    int error;             /* why the last connection closed */
    uint64_t reconnect_ns; /* not before */
    const struct lnd_link *link;
};
/* Returns peer @i, counted from 0, or false if there are not so many. */
bool lnd_peer_at(const struct lnd *lnd, uint32_t i, struct lnd_peer_info *ret);

struct lnd_region_info {
    uint64_t addr, bytes;
    uint32_t key, users;
    bool is_current;
};
bool lnd_region_at(const struct lnd *lnd, uint32_t i, struct lnd_region_info *ret);

#endif
