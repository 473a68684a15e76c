/* SPDX-License-Identifier: MIT */
/* All RoCEv2 packets of a capture, sorted into *flows*: the packets from one host to one queue pair
 * of another host.
 *
 * A packet names its destination queue pair and not its source.  A reliable connection is two
 * flows; only the responses show which two belong together (pairs.h).
 *
 * If the capture has the messages of the connection manager, each connection of a queue pair has
 * flows of its own, and these show which two belong together (handshake.h).
 *
 * A packet with a wrong ICRC belongs to no flow, because its headers may be damaged.  But if all
 * ICRCs of a host are wrong, the host does not compute them, and its packets are used.
 */
#ifndef CAPTURE_RECORD_H
#define CAPTURE_RECORD_H

#include "capture/found.h"
#include "capture/handshake.h"
#include "capture/lnet.h"
#include "capture/seen.h"

#define RECORD_MTUS  5u  /* number of path MTUs: 256, 512 ... 4096 bytes */
#define RECORD_LINKS 16u /* number of link types that are not read and are counted apart */

/* A host, identified by its address. */
struct station {
    uint8_t gid[GID_BYTES];
    uint64_t n_sent;      /* number of its frames whose ICRC was checked */
    uint64_t n_wrong;     /* number of these with a wrong ICRC */
    uint64_t n_no_icrc;   /* number of these whose ICRC was wrong, and 0 */
    uint64_t first_wrong; /* number of the first frame with a wrong ICRC */
    bool never_right;     /* all its ICRCs are wrong: the host does not compute them */
};

/* One direction from a host to a queue pair of another host. */
struct flow {
    uint32_t src, dst; /* indexes in capture_record.hosts of its hosts */
    uint32_t dest_qpn;
    uint8_t service;         /* enum op_service */
    uint8_t side;            /* the side of @src in its handshake */
    uint32_t handshake;      /* index in capture_record.handshakes; HANDSHAKE_NONE: not known */
    uint32_t first, last, n; /* first, last: indexes in capture_record.v; n: number of packets */
    uint32_t first_lnet;     /* index in lnet.v of its first message of o2iblnd; SEEN_NONE: none */
    /* Numbers of requests, of responses, of packets captured at the sending host, of those captured
     * at the receiving host, and of packets with the mark SEEN_CE.
     */
    uint32_t n_requests, n_answers, n_sent, n_came, n_ce;
    /* Number of CNPs to its queue pair.  They are about data in the opposite direction: the host at
     * @dst sent too much.
     */
    uint32_t n_cnps;
    /* Number of packets whose IP identification differs from that of their predecessor. */
    uint32_t id_changes;
    uint64_t payload_bytes;
    /* full[i]: number of FIRST and MIDDLE packets with a payload of 256 << i bytes. */
    uint64_t full[RECORD_MTUS];
    uint32_t only_max; /* longest payload of LAST and ONLY packets, in bytes */
    /* Smallest path MTU that explains the PSNs that its READs take; 0: unknown. */
    uint32_t read_mtu;
    uint32_t peer;  /* index of the opposite flow; SEEN_NONE: not known */
    bool is_unsure; /* other flows match as well as @peer */
};

/* A hash table that finds the index of a host or a flow. */
struct lookup {
    uint32_t *slots;     /* hash table, size a power of two; SEEN_NONE: empty slot */
    uint32_t n_slots, n; /* numbers of slots, and of those in use */
};

/* Frames of a link type that is not read. */
struct unread {
    uint32_t link;
    uint64_t n, first; /* number of frames; number of the first one */
};

/* A PFC frame. */
struct pause {
    uint64_t at_ns;
    struct link_pause what;
};

/* All packets of a capture.  record_done() frees the arrays. */
struct capture_record {
    struct seen *v;
    uint32_t n, cap;
    struct station *hosts;
    uint32_t n_hosts, hosts_cap;
    struct flow *flows;
    uint32_t n_flows, flows_cap;
    struct lookup by_gid, by_key; /* hosts by address; flows by all that distinguishes them */
    struct handshakes handshakes;
    struct lnet_messages lnet;

    /* Number of frames in the file; number of RoCEv2 packets, each transmission once. */
    uint64_t n_frames, n_roce;
    uint64_t n_lost;         /* number of RoCEv2 packets that the file names as lost */
    uint64_t n_copies;       /* number of RoCEv2 packets captured at another place before */
    uint64_t n_cut;          /* number of packets that the capture truncated */
    uint64_t n_v1, first_v1; /* number of packets of RoCE v1; number of the first frame */
    struct unread unread[RECORD_LINKS]; /* the last one has all further link types */
    uint32_t n_unread;
    struct pause *pauses; /* the @n_pauses PFC frames; owned */
    size_t n_pauses, pauses_cap;
    uint64_t first_ns, last_ns; /* times of the first and the last RoCEv2 packet */
    uint64_t n_back; /* number of packets dated before the previous one; they get its time */
    uint32_t n_cnps; /* number of CNPs that match no flow */
    /* The file has what comes to the hosts where it was captured, and what these send. */
    bool has_arrivals, has_departures;
    uint64_t clock_ns; /* the largest unit of times in the file; 0: a nanosecond or less */
};

/* Hosts at which frames were captured, as stated by the user. */
struct vantage {
    uint8_t at[2][GID_BYTES]; /* their addresses */
    unsigned n_at;            /* their number */
};

/* Reads all frames of @c into @r, and adds findings about single frames to @found.  Returns false,
 * with the reason in c->wrong, if reading failed; the frames before the error are kept.
 */
bool record_read(struct capture_record *r, struct capture *c, const struct vantage *at,
                 struct found_list *found);
void record_done(struct capture_record *r);

/* Returns the host with address @gid; SEEN_NONE: no packet comes from or goes to it. */
uint32_t record_host(const struct capture_record *r, const uint8_t gid[GID_BYTES]);

/* Returns true if packet @s of flow @f must be judged.  If the flow was captured at its sending
 * host, copies captured elsewhere are ignored.
 */
bool record_counts(const struct flow *f, const struct seen *s);

/* Returns true if an opposite flow of @flow would have been captured: it was captured at its own
 * host, where answers come, or at the other one, which sends them.
 */
bool record_knows_silence(const struct capture_record *r, uint32_t flow);

/* Returns a flow that is opposite to the lonely flow @flow and lonely, too.  It has responses, or
 * requests if @flow has only responses; SEEN_NONE: none.
 */
uint32_t record_other_lonely(const struct capture_record *r, uint32_t flow);

/* Returns true if no path MTU allows the payload of @s. */
bool record_fits_no_mtu(const struct seen *s);

/* Returns an array with the index of each packet's flow; SEEN_NONE: no flow.  The caller frees it.
 */
uint32_t *record_flows(const struct capture_record *r);

/* Returns true if the messages of the connection manager show that @f and @g are not the two
 * directions of one connection.
 */
bool record_differ(const struct capture_record *r, const struct flow *f, const struct flow *g);

/* Returns the parameters of the queue pair that sends flow @f, as the connection manager's messages
 * have them.
 */
struct agreed record_agreed(const struct capture_record *r, const struct flow *f);

/* Returns true if the packet is part of a request: a SEND, a WRITE, or the request of a READ or
 * atomic.
 */
bool record_is_request(const struct seen *s);

/* Returns the path MTU in bytes that the FIRST and MIDDLE packets of @f and its peer flow show, but
 * not more than the connection manager's REQ says.  Returns 0 if it is not known.
 */
uint32_t record_mtu(const struct capture_record *r, const struct flow *f);

/* Returns the path MTU in bytes from which the number of PSNs of a READ of @f follows:
 * record_mtu(), or else a guess.
 */
uint32_t record_read_mtu(const struct capture_record *r, const struct flow *f);

/* Returns true if the sender gives each packet another IPv4 identification, so that copies which
 * the network made can be recognised.
 */
bool record_has_ids(const struct flow *f);

#endif
