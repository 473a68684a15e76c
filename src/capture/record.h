/* SPDX-License-Identifier: MIT */
/* All RoCEv2 packets of a capture, by flow: what one host sends to one queue pair of another one.
 *
 * A packet names the queue pair that it is for, and not the one that it is from: a reliable
 * connection is two flows, and which two belong together is told by the answers alone (pairs.h).
 *
 * A packet with a wrong ICRC is nobody's, as what it says of itself may be wrong; unless a host has
 * never written a right one, and then nothing follows from it.
 */
#ifndef CAPTURE_RECORD_H
#define CAPTURE_RECORD_H

#include "capture/found.h"
#include "capture/seen.h"

#define RECORD_MTUS 5u /* 256 to 4096 */

struct station {
    uint8_t gid[GID_BYTES];
    uint64_t n_sent;      /* frames whose ICRC was looked at, */
    uint64_t n_wrong;     /* and was wrong, */
    uint64_t n_no_icrc;   /* or even 0 */
    uint64_t first_wrong; /* frame */
    bool never_right;
};

struct flow {
    uint32_t src, dst; /* hosts */
    uint32_t dest_qpn;
    uint8_t service;         /* enum op_service */
    uint32_t first, last, n; /* packets */
    uint32_t n_requests, n_answers, n_sent, n_came, n_ce;
    uint32_t n_cnps;     /* to its source, about what is sent in it */
    uint32_t id_changes; /* from one packet to the next: if most, an IP identification is a name */
    uint64_t payload_bytes;
    uint64_t full[RECORD_MTUS]; /* packets that carry a whole path MTU, if it is 256 << i */
    uint32_t only_max;          /* the longest payload of the others */
    uint32_t read_mtu;          /* the least by which its READs take as few PSNs as they do */
    uint32_t peer;              /* the flow that answers; SEEN_NONE: none is known */
    bool is_unsure;             /* others fit as well */
};

struct lookup {
    uint32_t *slots; /* of a power of two; SEEN_NONE: empty */
    uint32_t n_slots, n;
};

struct capture_record {
    struct seen *v;
    uint32_t n, cap;
    struct station *hosts;
    uint32_t n_hosts, hosts_cap;
    struct flow *flows;
    uint32_t n_flows, flows_cap;
    struct lookup by_gid, by_key;

    uint64_t n_frames, n_other, n_roce; /* in the file; of something else; of RoCEv2 */
    uint64_t n_cut;
    uint64_t first_ns, last_ns;
    uint64_t
        n_back; /* frames that were before the last one, by their times, which are not believed */
    uint32_t n_cnps; /* that are about no flow of the capture */
};

/* Where packets were seen, which the capture may not say. */
struct vantage {
    uint8_t at[2][GID_BYTES]; /* hosts whose frames were captured there, */
    unsigned n_at;            /* so many */
};

/* Reads all of @c, and finds what single frames show.  False: c->wrong says why it ended early;
 * what was read before is there.
 */
bool record_read(struct capture_record *r, struct capture *c, const struct vantage *at,
                 struct found_list *found);
void record_done(struct capture_record *r);

/* Is it to be looked at?  Where a host's own frames are captured as it sends them, the others that
 * see them on their way tell nothing more.
 */
bool record_counts(const struct flow *f, const struct seen *s);

/* The flow of each packet, SEEN_NONE if it has none; the caller frees it. */
uint32_t *record_flows(const struct capture_record *r);

/* Is it a packet of a request? */
bool record_is_request(const struct seen *s);

/* The path MTU that packets of @f and its peer show; 0: none is as long as one. */
uint32_t record_mtu(const struct capture_record *r, const struct flow *f);

/* The path MTU by which the PSNs of READs of @f are counted: as far as that shows. */
uint32_t record_read_mtu(const struct capture_record *r, const struct flow *f);

/* Does each packet of the flow have an identification of its own? */
bool record_has_ids(const struct flow *f);

#endif
