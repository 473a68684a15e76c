/* SPDX-License-Identifier: MIT */
/* LNet on a host: a node of Lustre's network, whose messages travel by RDMA as those of o2iblnd.
 *
 * A node is software in the guest's kernel.  It uses the verbs and the connection manager of
 * its host in virtual time.  Its objects have names that begin with "lnet_".  Its NID is the IPv4
 * address of the host in the network o2ib: 10.0.0.1@o2ib.
 *
 *	rdl_lnet_start(lab, h1, &config);    rdl_lnet_start(lab, h2, &config);
 *	                                     rdl_lnet_attach(lab, h2, &match, &md, &sink);
 *	rdl_lnet_bind(lab, h1, &md, &source);
 *	rdl_lnet_put(lab, h1, &call);        run the lab: PUT_REQ, PUT_ACK, WRITEs, PUT_DONE
 *	rdl_lnet_event_at(lab, h1, ...);     rdl_lnet_event_at(lab, h2, ...);
 *
 * Calls return at once.  Errors of LNet are errnos: RDL_ERR_ERRNO, and *@reterr.
 */
#ifndef RDMALAB_LNET_H
#define RDMALAB_LNET_H

#include "rdmalab/lab.h"

/* Tunables.  In brackets: the name of the parameter of ko2iblnd. */
struct rdl_lnet_config {
    uint32_t net;              /* number of the network: 0 is o2ib, 3 is o2ib3 */
    uint32_t stamp;            /* incarnation; 0: another one with each start */
    uint16_t service;          /* port of rdma_cm */
    uint16_t version;          /* newest version of the protocol: 0x11 or 0x12 */
    bool rules_2007;           /* rejects with reasons 1 to 3 and 7 bytes; nothing is negotiated */
    bool race_by_hash;         /* a race of two requests is won by the larger hash of the NIDs */
    bool big_endian;           /* it sends in this byte order */
    bool cksum;                /* [cksum] */
    uint32_t map;              /* enum lnet_map [map_on_demand] */
    uint32_t frag_bytes;       /* most bytes of a fragment; 0: any */
    uint32_t max_frags;        /* most fragments of a descriptor, and RDMA WRITEs of a transfer */
    uint32_t peer_credits;     /* [peer_credits] */
    uint32_t peer_credits_hiw; /* [peer_credits_hiw] */
    uint32_t credits, ntx;     /* [credits] [ntx] */
    uint32_t concurrent_sends; /* [concurrent_sends] 0: peer_credits */
    uint64_t timeout_ns;       /* [timeout] */
    uint64_t keepalive_ns;     /* [keepalive] 0: none */
    uint64_t reconnect_min_ns, reconnect_max_ns;
};

/* The defaults: those of Lustre, but without keepalive, so that a lab comes to rest; @of_2007:
 * those of 2007.
 */
struct rdl_lnet_config rdl_lnet_defaults(bool of_2007);

/* Starts a node, and stops it.  A node is up, or down, when the lab has run.
 *
 * Return: RDL_OK
 *	   RDL_ERR_EXISTS     start: the host has a node
 *	   RDL_ERR_BUSY       start: its node is stopping; run the lab
 *	   RDL_ERR_NOT_FOUND  stop: it has none
 *	   RDL_ERR_INVAL      a tunable is out of range
 *	   RDL_ERR_UNSUPPORTED start: entry 0 of the GID table of the host is no IPv4 address
 *	   RDL_ERR_STALE, RDL_ERR_NO_GUEST, RDL_ERR_NO_DEVICE, RDL_ERR_NOMEM
 *	   an error as of rdl_cm_create_channel()
 */
RDL_MUST_CHECK enum rdl_status rdl_lnet_start(struct rdl_lab *lab, rdl_host host,
                                              const struct rdl_lnet_config *config);
RDL_MUST_CHECK enum rdl_status rdl_lnet_stop(struct rdl_lab *lab, rdl_host host);

/* A piece of memory of the host. */
struct rdl_lnet_piece {
    uint64_t addr, bytes;
};

#define RDL_LNET_PIECES_MAX 256u

/* Options of memory. */
#define RDL_LNET_PUT           1u  /* PUTs may write to it */
#define RDL_LNET_GET           2u  /* GETs may read it */
#define RDL_LNET_TRUNCATE      4u  /* longer messages are cut; otherwise they are dropped */
#define RDL_LNET_MANAGE_REMOTE 8u  /* the initiator chooses the offset */
#define RDL_LNET_NO_ACK        16u /* PUTs are not acknowledged */

/* A memory descriptor. */
struct rdl_lnet_md {
    const struct rdl_lnet_piece *pieces;
    size_t n;
    uint32_t options;   /* set of RDL_LNET_... */
    uint32_t threshold; /* operations until it goes; 0: any number */
    uint64_t user;      /* returned in events */
};

struct rdl_lnet_match {
    uint32_t portal; /* 0 to 63 */
    rdl_host from;   /* raw 0: any peer */
    uint64_t bits, ignore;
};

/* Attach memory to a portal; make memory known without that; forget it.  *@ret is its handle, which
 * counts from 1 on each node.
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (no node), RDL_ERR_BUSY (it is stopping), RDL_ERR_STALE,
 * RDL_ERR_ERRNO
 */
RDL_MUST_CHECK enum rdl_status rdl_lnet_attach(struct rdl_lab *lab, rdl_host host,
                                               const struct rdl_lnet_match *match,
                                               const struct rdl_lnet_md *md, uint64_t *ret,
                                               int *reterr);
RDL_MUST_CHECK enum rdl_status rdl_lnet_bind(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_lnet_md *md, uint64_t *ret,
                                             int *reterr);
RDL_MUST_CHECK enum rdl_status rdl_lnet_unlink(struct rdl_lab *lab, rdl_host host, uint64_t md,
                                               int *reterr);

/* A PUT or a GET of the memory @md, to or from a peer.  Returns as rdl_lnet_attach(); EINVAL also
 * if the peer is the node itself, which has no loopback.
 */
struct rdl_lnet_call {
    uint64_t md;
    rdl_host peer;
    uint32_t portal;
    uint64_t bits, hdr_data;
    uint32_t offset;
    bool wants_ack; /* PUT */
};
RDL_MUST_CHECK enum rdl_status rdl_lnet_put(struct rdl_lab *lab, rdl_host host,
                                            const struct rdl_lnet_call *c, int *reterr);
RDL_MUST_CHECK enum rdl_status rdl_lnet_get(struct rdl_lab *lab, rdl_host host,
                                            const struct rdl_lnet_call *c, int *reterr);

/* An event of LNet. */
struct rdl_lnet_event {
    uint64_t at_ns;
    uint32_t kind; /* enum lnet_event_kind */
    uint64_t md, user, initiator, bits, hdr_data;
    uint32_t portal, offset, mlength, rlength;
    int status; /* 0 or a negative errno */
    bool unlinked;
};

/* rdl_lnet_event_count() returns the number of events since the latest start of a node on @host,
 * also when that has stopped; 0 if none was started.
 * rdl_lnet_event_at() returns event @i, counted from 0, or false if it is not remembered: the last
 * RDL_LNET_EVENTS_MAX are.
 */
#define RDL_LNET_EVENTS_MAX 256u
uint64_t rdl_lnet_event_count(const struct rdl_lab *lab, rdl_host host);
bool rdl_lnet_event_at(const struct rdl_lab *lab, rdl_host host, uint64_t i,
                       struct rdl_lnet_event *ret);

/* A test of the network, as Lustre's lnet_selftest has it: RPCs with bulk data, of which every byte
 * is verified.  Each peer must serve: rdl_lnet_serve(), once for each start of its node.
 *
 *	PING   a request and a reply
 *	READ   the server puts @size bytes; WRITE: it gets them
 *
 * Tests of one node that run at the same time are a batch, of RDL_LNET_TESTS_MAX tests at most,
 * which are numbered from 0 in the order of the calls.  A test that is begun while another one runs
 * joins its batch; when all are over, the next one begins a new batch.
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (no node), RDL_ERR_BUSY (it is stopping), RDL_ERR_STALE,
 * RDL_ERR_ERRNO: EBUSY if the batch is full, or the node serves already; EINVAL if a number is too
 * large, or a peer is the node itself, which has no loopback
 */
struct rdl_lnet_test {
    const rdl_host *peers;
    size_t n_peers;       /* RDL_LNET_PEERS_MAX at most */
    uint32_t op;          /* enum selftest_op */
    uint32_t size;        /* bytes of bulk data, 1 MiB at most */
    uint32_t concurrency; /* RPCs at a time with each peer, RDL_LNET_RPCS_MAX with all */
    uint64_t count;       /* RPCs with each peer */
    uint64_t timeout_ns;  /* of an RPC; 0: none */
    uint64_t seed;
    /* The bulk data begins @offset bytes behind the beginning of a page, and is cut into fragments
     * of @frag_bytes with @gap bytes between them; frag_bytes 0: one fragment.
     */
    uint32_t offset, frag_bytes, gap;
};
#define RDL_LNET_PEERS_MAX 64u
#define RDL_LNET_RPCS_MAX  256u
#define RDL_LNET_TESTS_MAX 8
RDL_MUST_CHECK enum rdl_status rdl_lnet_serve(struct rdl_lab *lab, rdl_host host, uint32_t offset,
                                              uint32_t frag_bytes, uint32_t gap, int *reterr);
RDL_MUST_CHECK enum rdl_status rdl_lnet_test(struct rdl_lab *lab, rdl_host host,
                                             const struct rdl_lnet_test *test, int *reterr);

/* Returns true if the node of @host is up. */
bool rdl_lnet_is_up(const struct rdl_lab *lab, rdl_host host);

#endif
