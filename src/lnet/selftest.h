/* SPDX-License-Identifier: MIT */
/* A test of LNet: RPCs that move bulk data, with every byte verified.  [Lustre, lnet/selftest]
 *
 *	client                                      server
 *	attaches memory for the reply, and
 *	for the bulk data, to portal 52
 *	PUT of the request to portal 50 ----------> takes it
 *	WRITE:  <---------------------- GET of the bulk data; verifies it
 *	READ:   <---------------------- PUT of the bulk data
 *	        <---------------------- PUT of the reply
 *	READ: verifies the data
 *
 * A PING has no bulk data.  Match bits of the bulk data and of the reply are in the request.
 *
 * Each byte of the data follows from a seed of its RPC and from its position.  The receiver first
 * fills its memory with the complement, so that a byte that is missing, stale or at another place
 * is noticed.  Bytes around the memory must stay as they are, too.
 *
 * The client runs a batch of up to SELFTEST_TESTS_MAX tests at the same time.  Each has its own
 * RPCs, memory, data and results, and match bits differ in the whole batch.  A test that is begun
 * while another one runs joins its batch.  When all are over, the next one begins a new batch.
 * [lst, add_batch]
 *
 * Server and client are state machines over lnet.h.  They do not block, wait or print, and use only
 * the memory and the time of struct lnd_ops.  One struct selftest can be both:
 *
 *	st = selftest_new(ops, ctx);
 *	node = lnet_new(ops, ctx, &config, selftest_listener, st);
 *	lnd_start(lnet_lnd(node));      and wait for lnd_is_up()
 *	selftest_serve(st, node, &server);      or
 *	selftest_run(st, node, &client);        for each test, until selftest_is_done()
 *	lnd_stop(lnet_lnd(node));       and wait for lnd_is_down()
 *	selftest_free(st);
 *	lnet_free(node);
 */
#ifndef LNET_SELFTEST_H
#define LNET_SELFTEST_H

#include "emu/facts/enum/lnet_test_op.h"
#include "lnet/lnet.h"

#define SELFTEST_REQUEST_PORTAL 50u
#define SELFTEST_BULK_PORTAL    52u /* of replies, too */
#define SELFTEST_PEERS_MAX      64u
#define SELFTEST_SLOTS_MAX      256u /* RPCs under way: of a test, or of a server */
#define SELFTEST_TESTS_MAX      8u   /* of a batch */

/* The form of memory for bulk data.  The data begins @offset bytes behind the beginning of a page,
 * and is cut into fragments of @frag_bytes bytes (0: one fragment) with @gap bytes between them.
 * If that were more than LNET_IOV_MAX fragments, they are longer.
 */
struct selftest_shape {
    uint32_t offset, frag_bytes, gap;
};

struct selftest_server_config {
    uint32_t slots;      /* requests at a time; 0: 64.  Further ones are dropped. */
    uint64_t timeout_ns; /* of an RPC; 0: 60 seconds */
    struct selftest_shape shape;
};

struct selftest_client_config {
    const uint64_t *nids; /* the peers, SELFTEST_PEERS_MAX at most; read by selftest_run() alone */
    uint32_t n_nids;
    enum selftest_op op;
    uint32_t size;        /* bytes of bulk data, LNET_MTU at most */
    uint32_t concurrency; /* RPCs at a time, for each peer; 0: 1 */
    uint64_t count;       /* RPCs in all, for each peer; 0: until selftest_stop() */
    uint32_t errors_max;  /* RPCs that may fail in a row before a peer is given up; 0: 1 */
    uint64_t timeout_ns;  /* of an RPC; 0: none */
    uint64_t seed;
    struct selftest_shape shape;
};

/* Results of RPCs: of a test with one peer or all peers, or of a batch; of a server with all its
 * clients.
 */
struct selftest_result {
    uint64_t started, good, failed;  /* RPCs; started >= good + failed */
    uint64_t bytes;                  /* of bulk data, of good RPCs */
    uint64_t timeouts;               /* among @failed */
    uint64_t corrupt;                /* among @failed: with wrong data */
    uint64_t bad_bytes;              /* in all of these */
    uint32_t bad_at;                 /* offset of the first wrong byte that was found */
    int error;                       /* of the first RPC that failed, a negative errno, or 0 */
    uint64_t begun_ns, ended_ns;     /* of the first RPC, and of the last one that ended */
    uint64_t min_ns, max_ns, sum_ns; /* times of good RPCs; of a client only */
};

/* A test of a batch. */
struct selftest_test {
    enum selftest_op op;
    uint32_t size, n_peers; /* size 0: of a PING */
    bool is_done;           /* no RPC is under way, and none will begin */
    struct selftest_result result;
};

struct selftest;

/* Returns NULL without memory.  @ops must outlive it. */
struct selftest *selftest_new(const struct lnd_ops *ops, void *ctx);

/* Frees it and its memory.  The driver of its node is down, and the node not yet freed. */
void selftest_free(struct selftest *st);

/* Takes the events of the node; @selftest is a struct selftest.  Ignores events of memory of
 * others.  (An lnet_listener; another one may call it.)
 */
void selftest_listener(void *selftest, const struct lnet_event *e);
/* Returns true if @e is about memory of a selftest. */
bool selftest_owns(const struct lnet_event *e);

/* Attaches the request portal.  0, or a negative errno: then nothing is attached.  -EBUSY: it
 * serves already.
 */
int selftest_serve(struct selftest *st, struct lnet_node *node,
                   const struct selftest_server_config *config);

/* Begins RPCs to all peers: a test of the batch that runs, or the first one of a new batch.  Its
 * number is selftest_tests() - 1.  0, -EINVAL, -ENOMEM, -EBUSY: the batch is full, and has not
 * ended.  A call that fails leaves the results of the batch.
 */
int selftest_run(struct selftest *st, struct lnet_node *node,
                 const struct selftest_client_config *config);

/* Begins no more RPCs of any test. */
void selftest_stop(struct selftest *st);

/* Returns true if the batch is over: no RPC is under way, and none will begin. */
bool selftest_is_done(const struct selftest *st);
/* The same of test @i of the batch. */
bool selftest_test_is_done(const struct selftest *st, uint32_t i);

/* Returns when the next RPC times out, or 0.  selftest_expire() ends those whose time is over. */
uint64_t selftest_deadline_ns(const struct selftest *st);
void selftest_expire(struct selftest *st);

/* Returns the number of tests of the batch: of the one that runs, or else of the last one. */
uint32_t selftest_tests(const struct selftest *st);

/* Results: of the whole batch; of test @test; of peer @i of test @test; of the server.  Return
 * false if there are not so many.
 */
struct selftest_result selftest_result(const struct selftest *st);
bool selftest_test_at(const struct selftest *st, uint32_t test, struct selftest_test *ret);
bool selftest_peer_result(const struct selftest *st, uint32_t test, uint32_t i, uint64_t *ret_nid,
                          struct selftest_result *ret);
struct selftest_result selftest_served(const struct selftest *st);

/* The byte at position @at of the data of @seed. */
uint8_t selftest_byte(uint64_t seed, uint32_t at);

#endif
