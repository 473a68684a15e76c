/* SPDX-License-Identifier: MIT */
/* A capture of RoCEv2 held against the rules: what its connections show, and what was found.
 *
 *	capture -> record_read() -> pairs_find() -> half_judge(), stream_judge() -> check_text()
 *										     check_json()
 */
#ifndef CAPTURE_CHECK_H
#define CAPTURE_CHECK_H

#include <stdio.h>

#include "capture/exact.h"
#include "capture/half.h"

/* What two queue pairs, or what one host and one queue pair, have to do with each other. */
struct connection {
    uint32_t flow[2];         /* of the record; the second is SEEN_NONE if there is none */
    struct half_sums sums[2]; /* of the requests in each */
    uint64_t findings;
    unsigned n_ends, n_exact; /* captured at their host; held against the rules of a host, too */
};

/* What is known beside the file. */
struct check_known {
    struct vantage at;
    struct exact_limits limits;
};

struct check {
    struct capture capture;
    struct capture_record record;
    struct found_list found;
    struct connection *v; /* owned */
    uint32_t n;
    uint32_t *of_flow; /* owned: the connection of each flow */
    bool has_hopes;    /* something is known that only says more of an end at its host */
    bool is_whole;     /* the file was read to its end; otherwise capture.wrong says why not */
};

/* Reads @f, which stays the caller's, and judges it.  False if it is no capture, and
 * c->capture.wrong says why; check_done() is called for either.
 */
bool check_file(struct check *c, FILE *f, const struct check_known *known);
void check_done(struct check *c);

/* Who asks, and who answers: the addresses of a flow. */
const struct station *check_src(const struct check *c, uint32_t flow);
const struct station *check_dst(const struct check *c, uint32_t flow);

/* The median and the worst of the times after which something that was lost was answered; false:
 * nothing was.
 */
bool check_repairs(const struct half_sums *s, uint64_t *ret_median_ns, uint64_t *ret_worst_ns);

/* Bytes of messages in a second, times 8; 0: the time is too short to tell. */
uint64_t check_goodput(const struct half_sums *s);

/* The report for people: at most @findings_max findings of each rule, 0: all. */
void check_text(FILE *out, const struct check *c, const char *name, uint32_t findings_max);

/* The whole report as one JSON object. */
void check_json(FILE *out, const struct check *c, const char *name);

#endif
