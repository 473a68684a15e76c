/* SPDX-License-Identifier: MIT */
/* The drill of LNet: the interface between its files.
 *
 * drill_lnet.c has the labs and the steps, _calls.c the calls of programs.  _rules.c is a model of
 * the rules: which memory takes a message, which transfers fail and why.  _events.c compares the
 * events of LNet with it, _conns.c the messages of the driver: credits, descriptors, regions.
 *
 * The model is written from the descriptions of LNet and o2iblnd, not from the code in src/lnet.
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_LNET_H
#define SWARM_DRILLS_DRILL_LNET_H

#include "rdmalab/lnet.h"
#include "swarm/drills/drill.h"

struct ev;
struct rdl_listener;

#define LN_VERSION_1     0x11u
#define LN_HOSTS         4u
#define LN_CHUNKS        2u /* pieces of memory of each host, with an unmapped page behind each */
#define LN_MDS           2048u
#define LN_OPS           1024u
#define LN_CONNS         256u
#define LN_GRANTS        128u
#define LN_PIECES        48u /* of a memory descriptor */
#define LN_PORTALS       3u  /* that are used */
#define LN_ANY           LN_HOSTS
#define LN_NONE          UINT32_MAX
#define LN_IMMEDIATE     3976u      /* payload that fits in a message */
#define LN_FRAGS         256u       /* of a descriptor */
#define LN_MTU           (1u << 20) /* longest payload */
#define LN_CUTS          4096u      /* fragments of memory that is cut as finely as possible */
#define LN_NOOP_RECEIVES 2u         /* of version 2, for messages without a credit */
#define LN_MS            UINT64_C(1000000)

/* Troubles of a drill. */
enum ln_mood {
    LN_CALM,  /* nothing */
    LN_LOSSY, /* some frames are lost, doubled, late or damaged: no program may notice */
    LN_ROUGH  /* nodes stop, links go down, devices lose interrupts */
};

struct ln_piece {
    uint32_t chunk;
    uint32_t at, bytes; /* at: may be behind the end of the chunk, which is not mapped */
};

/* A contiguous part of memory, by guest address. */
struct ln_frag {
    uint64_t addr;
    uint32_t bytes;
};

struct ln_frags {
    uint32_t n; /* LN_CUTS + 1: too many */
    struct ln_frag v[LN_CUTS];
};

/* A memory descriptor of a node. */
struct ln_md {
    bool is_live;   /* the node knows it */
    bool is_listed; /* a match list has it */
    bool is_ending; /* it goes with its last user */
    bool is_sink;   /* messages write to it */
    unsigned host;
    uint64_t handle;
    uint32_t op; /* that it was bound for; LN_NONE: it was attached, or is for several */
    uint32_t portal;
    unsigned from; /* LN_ANY: any */
    uint64_t bits, ignore;
    uint32_t options, threshold, left, users, answers, at, bytes;
    uint32_t n;
    struct ln_piece *pieces;
};

/* A PUT or a GET. */
struct ln_op {
    bool is_get, wants_ack;
    unsigned from, to;
    uint32_t md; /* of the initiator */
    uint32_t portal, offset, bytes;
    uint64_t bits, hdr_data;
    int local_error;  /* with which it must fail before it is sent, or 0 */
    bool is_received; /* by the target, which judged it then */
    uint32_t match;   /* memory of the target; LN_NONE: none */
    uint32_t at, mlength;
    int target_error;       /* with which the target must end it, or 0 */
    int initiator_error;    /* the same of the initiator, of a transfer by RDMA */
    bool is_mixed;          /* another message writes to the same bytes */
    uint64_t cookie;        /* of its PUT_REQ or GET_REQ; 0: it has none, or is not received */
    bool is_sent;           /* SEND has come */
    bool is_answered;       /* ACK or REPLY has come */
    bool is_over;           /* PUT or GET has come to the target */
    bool was_unlinked;      /* the initiator gave up its answer */
    int status, told, done; /* of SEND; of ACK or REPLY; of PUT or GET */
};

/* One end of a connection, by its messages. */
struct ln_conn {
    bool is_open;
    unsigned host, peer;
    uint32_t qpn, depth;
    uint32_t credits, reserved; /* of this end */
    uint32_t posted;            /* sends that are not complete */
    uint32_t costly, returned; /* messages that came and cost a credit; credits returned for them */
    uint32_t noops_sent, noops_heard;
    bool was_flooded; /* more NOOPs were sent than the peer has receives for */
};

/* A descriptor that a peer has got. */
struct ln_grant {
    bool is_valid;
    unsigned host, peer;
    uint32_t key, op; /* op LN_NONE: not known yet */
    uint64_t cookie;
};

struct ln_host {
    rdl_host host;
    uint32_t device, ip;
    struct rdl_lnet_config config;
    bool is_up; /* it was started, and not stopped */
    uint64_t base[LN_CHUNKS];
    uint8_t *sink[LN_CHUNKS];  /* content of the part that messages write to */
    uint8_t *owner[LN_CHUNKS]; /* 1: a memory descriptor has the byte */
    uint64_t n_heard;          /* events of LNet */
    uint32_t list[LN_MDS];     /* match entries, the oldest first */
    uint32_t n_list;
    uint32_t shared;              /* memory that was bound for several PUTs */
    uint32_t last[LN_HOSTS][2];   /* the last call that each peer has got, small and large ones */
    uint32_t n_settled[LN_HOSTS]; /* rejects of each peer because of what is negotiated */
    uint64_t pinned;              /* bytes of its regions */
    uint32_t n_regions;
};

struct lnets {
    enum ln_mood mood;
    bool is_large;    /* messages up to 1 MiB */
    bool is_hampered; /* a device fault was there: something may never end */
    bool was_stuck;   /* a queue was: its receives may have come too late */
    bool is_ending;   /* all nodes stop */
    unsigned n_hosts;
    uint32_t source_bytes[LN_CHUNKS], sink_bytes[LN_CHUNKS]; /* of each chunk, in this order */
    struct ln_host host[LN_HOSTS];
    rdl_link link[LN_HOSTS];
    unsigned n_links;
    struct ln_md mds[LN_MDS];
    uint32_t n_mds;
    struct ln_op ops[LN_OPS];
    uint32_t n_ops, n_checked; /* n_checked: those that were found to be over */
    struct ln_conn conns[LN_CONNS];
    struct ln_grant grants[LN_GRANTS];
    rdl_fault fault;
    bool has_fault;
    struct rdl_listener *listener;
    struct ln_frags cut[2]; /* of the rules */
    uint8_t *have, *want;   /* for a comparison: LN_MTU bytes each */
};

static inline struct lnets *lnets_of(const struct drill *d)
{
    return d->own;
}

/* --- Rules (drill_lnet_rules.c) --------------------------------------------------------------- */

uint32_t ln_chunk_bytes(const struct lnets *s, uint32_t chunk);
uint64_t ln_nid(const struct lnets *s, unsigned host);
uint32_t ln_version(const struct lnets *s, unsigned a, unsigned b);

/* Returns true if a connection with @depth between @a and @b is right, whoever has asked. */
bool ln_is_depth(const struct lnets *s, unsigned a, unsigned b, uint32_t depth);

/* Returns true if @host rejects a request of @peer while it asks itself. */
bool ln_wins(const struct lnets *s, unsigned host, unsigned peer);

/* Returns true if @a may ask @b for a connection; otherwise b has to ask. */
bool ln_can_ask(const struct lnets *s, unsigned a, unsigned b);

/* Returns the sends that a connection of @host may have posted. */
uint32_t ln_sends(const struct lnets *s, unsigned host);

/* Returns the credits that a NOOP of @host to a peer must return at least. */
uint32_t ln_high_water(const struct lnets *s, const struct ln_conn *c);

/* Cuts @bytes from @offset on of @md into fragments, none over a multiple of @most; 0: as its
 * pieces are.
 */
void ln_cut(const struct lnets *s, const struct ln_md *md, uint32_t offset, uint32_t bytes,
            uint32_t most, struct ln_frags *ret);

/* Returns the errno with which @op fails before it is sent, or 0. */
int ln_local_error(struct lnets *s, const struct ln_op *op);

/* Returns true if one of the first @bytes of @md from @offset on is not mapped. */
bool ln_is_torn(struct lnets *s, const struct ln_md *md, uint32_t offset, uint32_t bytes);

/* The target has got @op: chooses its memory, and predicts its end. */
void ln_arrive(struct lnets *s, uint32_t op);

/* Takes @md out of its match list. */
void ln_unlist(struct lnets *s, uint32_t md);

/* --- Events (drill_lnet_events.c, drill_lnet_conns.c) ----------------------------------------- */

/* @md is gone. */
void ln_forget(struct lnets *s, uint32_t md);

/* Hears an event of the trace. */
void ln_hear(void *ctx, const struct ev *e);

/* Reads the events of LNet that the nodes have told since the last call. */
void ln_drain(struct drill *d);

/* A message or a state of the driver. */
void ln_hear_sent(struct drill *d, const struct ev *e);
void ln_hear_completion(struct drill *d, const struct ev *e);

/* Returns true if the answer @e may say that a message of this end has found no receive.
 * In version 2 two NOOPs without a credit may be posted at a time, and each side has two receives
 * for them.  But a send is complete when the adapter of the peer has taken it, so that a third one
 * may come before the software of the peer has posted again the receive of the first.
 */
bool ln_may_lack_receives(struct lnets *s, const struct ev *e);
void ln_hear_received(struct drill *d, const struct ev *e);
void ln_hear_state(struct drill *d, const struct ev *e);
void ln_hear_region(struct drill *d, const struct ev *e);
void ln_hear_reject(struct drill *d, const struct ev *e);

/* Returns the number of the host with @nid as text; LN_ANY: none. */
unsigned ln_host_of(const struct lnets *s, const char *nid);

/* The descriptors of @op are not used any more. */
void ln_end_grants(struct lnets *s, uint32_t op, unsigned host);

/* Compares the credits and regions in the tree with those of the messages. */
bool ln_check_tree(struct drill *d, bool is_quiet);

/* All that must be over is over. */
bool ln_check_ends(struct drill *d);

/* The messages of @host, which has gone, are over. */
bool ln_check_host(struct drill *d, unsigned host);

/* The memory that messages write to has the right bytes. */
bool ln_check_sinks(struct drill *d);

/* Byte @at of the sources of @chunk of @host. */
static inline uint8_t ln_byte(unsigned host, uint32_t chunk, uint32_t at)
{
    const uint32_t x = at * 0x9e3779b1u + (host * LN_CHUNKS + chunk + 1) * 0x85ebca77u;

    return (uint8_t)(x >> 24 ^ x >> 11);
}

/* --- Calls (drill_lnet_calls.c) --------------------------------------------------------------- */

void ln_do_attach(struct drill *d);
void ln_do_burst(struct drill *d);
void ln_do_unlink(struct drill *d);
void ln_do_wrong(struct drill *d);

#endif
