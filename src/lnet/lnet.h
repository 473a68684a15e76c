/* SPDX-License-Identifier: MIT */
/* LNet, the network of Lustre, for one node: portals, match entries, memory descriptors, events.
 *
 *	program: lnet_attach()   lnet_put() lnet_get()     events
 *	             |                |                       ^
 *	         portals, match bits  |  lnd_send()           |  lnet_arrived(), lnet_finalize()
 *	             +----------------+---- lnd.h ------------+
 *
 * A node has one network, o2ib, and no routes.  [Lustre, lnet/lib-move.c, lib-ptl.c: the rules]
 */
#ifndef LNET_LNET_H
#define LNET_LNET_H

#include "emu/facts/enum/lnet_event_kind.h"
#include "lnet/lnd.h"

#define LNET_PORTALS     64u
#define LNET_IOV_MAX     256u
#define LNET_NID_ANY     UINT64_MAX
#define LNET_HANDLE_NONE UINT64_MAX

/* Options of a memory descriptor. */
enum lnet_md_option {
    LNET_MD_PUT = 1,      /* PUTs may write to it */
    LNET_MD_GET = 2,      /* GETs may read it */
    LNET_MD_TRUNCATE = 4, /* longer messages are cut; otherwise they are dropped */
    LNET_MD_MANAGE_REMOTE =
        8,              /* the initiator chooses the offset; otherwise one follows the other */
    LNET_MD_NO_ACK = 16 /* PUTs are not acknowledged */
};

struct lnet_event {
    uint32_t kind; /* enum lnet_event_kind */
    uint64_t md;   /* handle of the memory descriptor */
    uint64_t user; /* lnet_md.user */
    uint64_t initiator;
    uint64_t match_bits, hdr_data;
    uint32_t portal;
    uint32_t offset, mlength; /* in the descriptor: bytes that were moved */
    uint32_t rlength;         /* bytes that were asked for */
    int status;               /* 0 or a negative errno */
    bool unlinked;            /* the descriptor is gone with this event */
};

struct lnet_md {
    struct lnet_frag frags[LNET_IOV_MAX];
    uint32_t n;
    uint32_t options;   /* set of enum lnet_md_option */
    uint32_t threshold; /* operations until it is unlinked; 0: any number */
    uint64_t user;
};

struct lnet_match {
    uint32_t portal;
    uint64_t nid; /* LNET_NID_ANY: of any peer */
    uint64_t bits, ignore;
};

/* Called with each event.  It may call the functions below, but not lnet_free(). */
typedef void lnet_listener(void *ctx, const struct lnet_event *e);

/* Creates a node.  Errors as lnd_new(). */
struct lnet_node *lnet_new(const struct lnd_ops *ops, void *ctx, const struct lnd_config *config,
                           lnet_listener *listener, void *listener_ctx);
void lnet_free(struct lnet_node *n);
struct lnd *lnet_lnd(const struct lnet_node *n);

/* Attaches memory to a portal.  *@ret is its handle.  0, -EINVAL or -ENOMEM. */
int lnet_attach(struct lnet_node *n, const struct lnet_match *match, const struct lnet_md *md,
                uint64_t *ret);
/* Memory that is not attached: for lnet_put() and lnet_get(). */
int lnet_bind(struct lnet_node *n, const struct lnet_md *md, uint64_t *ret);
/* Removes memory.  -ENOENT: there is none; -EBUSY: messages use it; it goes with the last one.
 * Answers that have not begun to come (ACK, REPLY) are not waited for, as they may never come.
 */
int lnet_unlink(struct lnet_node *n, uint64_t md);

/* A PUT or a GET of the memory @md, whole.  0, -ENOENT, -EINVAL, -ENOMEM, -EMSGSIZE (more than
 * LNET_MTU).  Events follow: SEND, when the message is over at this node, and ACK, if it is wanted,
 * or REPLY, which tell how much was moved.
 */
struct lnet_call {
    uint64_t md, nid;
    uint32_t portal;
    uint64_t bits, hdr_data;
    uint32_t offset;
    bool wants_ack;
};
int lnet_put(struct lnet_node *n, const struct lnet_call *c);
int lnet_get(struct lnet_node *n, const struct lnet_call *c);

struct lnet_counts {
    uint64_t sent[4], received[4]; /* ACK, PUT, GET, REPLY */
    uint64_t dropped, drop_bytes;
    uint64_t errors;
};
const struct lnet_counts *lnet_counts(const struct lnet_node *n);

/* The queue of LNet for a peer: `lnetctl peer show -v`. */
struct lnet_peer_info {
    uint64_t nid;
    int32_t max_tx_credits, tx_credits, min_tx_credits; /* negative: so many messages wait */
    uint32_t tx_queued;
};
bool lnet_peer_at(const struct lnet_node *n, uint32_t i, struct lnet_peer_info *ret);

/* Memory @i of those that are known, the oldest first. */
struct lnet_memory_info {
    uint64_t handle, bytes;
    struct lnet_match match;
    bool is_attached;
    uint32_t pieces, offset, users;
};
bool lnet_memory_at(const struct lnet_node *n, uint32_t i, struct lnet_memory_info *ret);

/* ---- from the driver ---- */

/* The LNet message @hdr has come from @from.  0, or a negative errno if it breaks a rule: then the
 * connection closes.  lnd_recv() was called, or is called later.
 */
int lnet_arrived(struct lnet_node *n, const struct lnet_hdr *hdr, uint64_t from, struct lnd_rx *rx);

/* @t is over, with @status 0 or a negative errno; @bytes were moved. */
void lnet_finalize(struct lnet_node *n, struct lnet_transfer *t, int status, uint32_t bytes);

#endif
