/* SPDX-License-Identifier: MIT */
/* The parts of a test, as its files see them.
 *
 *	selftest.c          requests and replies as bytes; memory descriptors; events
 *	selftest_batch.c    the tests that run at the same time
 *	selftest_client.c   a test: RPCs that this node begins
 *	selftest_server.c   RPCs that it answers
 *	selftest_data.c     the bulk data
 */
#ifndef LNET_SELFTEST_INTERNAL_H
#define LNET_SELFTEST_INTERNAL_H

#include "lnet/selftest_data.h"

#define SELFTEST_BITS          UINT64_C(0x73656c6674657374) /* match bits of requests */
#define SELFTEST_REQUEST_BYTES 64u
#define SELFTEST_REPLY_BYTES   32u
#define SELFTEST_BUF_BYTES     128u /* of a slot: its request, and its reply behind it */
#define SELFTEST_SERVER        255u /* the owner of the slots of the server */

/* The parts of an RPC: a memory descriptor each. */
enum selftest_part {
    SELFTEST_PART_REQUEST,
    SELFTEST_PART_BULK,
    SELFTEST_PART_REPLY,
    SELFTEST_PARTS
};

struct selftest_request {
    uint32_t op; /* enum selftest_op */
    uint32_t size;
    uint64_t reply_bits, bulk_bits, seed;
};

struct selftest_reply {
    int status; /* 0 or a negative errno */
    uint64_t reply_bits;
    struct selftest_bad bad;
};

/* An RPC under way, or the place for one. */
struct selftest_slot {
    bool is_busy;
    bool
        is_late; /* its time is over: it ends with the use of its memory; a server sends no reply */
    uint8_t owner;               /* number of its test, or SELFTEST_SERVER */
    uint64_t nid;                /* the other side */
    uint32_t peer;               /* of a test: its index */
    uint64_t md[SELFTEST_PARTS]; /* handles; 0: none, or it is gone */
    uint64_t buf;
    struct selftest_request request;
    struct selftest_bad bad;
    struct selftest_data data;
    uint32_t moved; /* bytes of bulk data, of a server */
    int status;
    uint64_t begun_ns;
};

struct selftest_slots {
    struct selftest_slot *slots;
    uint32_t n;
    uint64_t pages; /* of their bufs */
};

struct selftest_peer {
    uint64_t nid;
    uint32_t n_failed; /* in a row */
    struct selftest_result result;
};

/* A test of the batch. */
struct selftest_client {
    struct selftest_client_config config;
    uint32_t number;
    struct selftest_slots slots;
    struct selftest_peer peers[SELFTEST_PEERS_MAX];
    bool is_stopped;
    bool is_pumping;
};

/* Memory for bulk data that no RPC uses: as many blocks as RPCs were under way at a time. */
struct selftest_block {
    uint64_t pages, bytes;
};

struct selftest_server {
    struct selftest_server_config config;
    struct selftest_slots slots;
    struct selftest_block *blocks; /* n_blocks of slots.n */
    uint32_t n_blocks;
    struct selftest_result result;
};

struct selftest {
    const struct lnd_ops *ops;
    void *ctx;
    struct lnet_node *node;
    struct selftest_client *tests[SELFTEST_TESTS_MAX];
    uint32_t n_tests;
    uint64_t next_bits; /* of the next RPC, of whichever test */
    struct selftest_server server;
};

/* ---- selftest.c ---- */
int selftest_slots_new(struct selftest *st, struct selftest_slots *s, uint32_t n, uint8_t owner);
void selftest_slots_free(struct selftest *st, struct selftest_slots *s);
/* Makes the memory of part @part of @slot known to the node: as memory that peers reach by @match,
 * or, with @match NULL, as memory for a PUT or a GET of this node.  0 or a negative errno.
 */
int selftest_link(struct selftest *st, struct selftest_slot *slot, enum selftest_part part,
                  const struct lnet_match *match, uint32_t options);
/* Ends that for all parts.  What is in use goes with an event. */
void selftest_unlink(struct selftest *st, struct selftest_slot *slot);
/* Returns true if no part of @slot is known to the node. */
bool selftest_is_unlinked(const struct selftest_slot *slot);
bool selftest_put_request(struct selftest *st, const struct selftest_slot *slot);
bool selftest_take_request(struct selftest *st, struct selftest_slot *slot);
bool selftest_put_reply(struct selftest *st, const struct selftest_slot *slot,
                        const struct selftest_reply *r);
bool selftest_take_reply(struct selftest *st, const struct selftest_slot *slot,
                         struct selftest_reply *ret);
/* Adds the end of the RPC of @slot to @r. */
void selftest_count(const struct selftest *st, const struct selftest_slot *slot,
                    struct selftest_result *r);
/* Returns when the first RPC of @s times out, or 0. */
uint64_t selftest_first_due(const struct selftest_slots *s, uint64_t timeout_ns);

/* ---- selftest_batch.c ---- */
/* Frees all tests. */
void selftest_batch_free(struct selftest *st);

/* ---- selftest_client.c ---- */
/* Begins RPCs until no more may be under way. */
void selftest_client_pump(struct selftest *st, struct selftest_client *c);
bool selftest_client_is_done(const struct selftest_client *c);
void selftest_client_event(struct selftest *st, struct selftest_slot *slot, enum selftest_part part,
                           const struct lnet_event *e);
void selftest_client_expire(struct selftest *st, struct selftest_client *c, uint64_t now);

/* ---- selftest_server.c ---- */
void selftest_server_free(struct selftest *st);
void selftest_server_event(struct selftest *st, struct selftest_slot *slot, enum selftest_part part,
                           const struct lnet_event *e);
void selftest_server_expire(struct selftest *st, uint64_t now);

#endif
