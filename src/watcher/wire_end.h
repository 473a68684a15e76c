/* SPDX-License-Identifier: MIT */
/* The watcher of the wire, for one end of a reliable connection: what it sent and what arrived at
 * it, and nothing else.
 *
 * Both are known for certain, as they are to somebody who captures at that host: so the PSN that it
 * expects, the number of messages that it has taken, how often it has sent something in vain and
 * when it may send again all follow from the packets.  A rule that is broken is a finding; what a
 * device has decided within the rules (to refuse a message, to wait) is believed.
 *
 * What is known of its attributes makes more rules exact: struct wire_rules.
 */
#ifndef WATCHER_WIRE_END_H
#define WATCHER_WIRE_END_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/findings.h"
#include "emu/wire/packet.h"

#define WIRE_ENDLESS UINT32_MAX
#define WIRE_RDS     32u /* READs and atomics under way that are followed */
#define WIRE_LOG                                                                                   \
    512u /* requests that arrived last: an RNR NAK for one of them may wait for a line */
#define WIRE_ATOMICS 16u /* whose answers are remembered */

struct wire_rules {
    uint32_t mtu_bytes;
    uint64_t timeout_ns;           /* UINT64_MAX: never */
    uint64_t late_ns;              /* by which the ACK timer may be late */
    bool knows_timeout;            /* otherwise only that it runs is asked for */
    bool learns_msn;               /* what was taken before is told by the first answer */
    uint32_t retry_cnt, rnr_retry; /* WIRE_ENDLESS */
    uint32_t max_rd_atomic;
    uint32_t sq_psn, rq_psn;
    bool rnr_is_told_twice; /* after an RNR NAK, a sequence NAK answers what follows, once */
    bool may_lag;        /* more may come before an answer leaves, and leave before one is seen */
    bool may_keep_early; /* what comes before its turn may be kept, and not asked for again */
};

struct wire_rd {
    struct psn psn; /* of its first response that has not come */
    uint32_t left;  /* responses */
};

/* A request packet that arrived in its turn. */
struct wire_taken {
    uint32_t psn;
    uint32_t msn_before;
    uint32_t psns;
    bool came_again;
};

struct wire_end {
    struct wire_rules rules;
    bool is_told; /* rules are known; otherwise nothing is judged */

    /* What it asks. */
    struct psn next, una;   /* the next new PSN; the oldest that nothing has answered */
    struct psn last;        /* behind the packet that it sent last, or where it is to begin again */
    uint64_t timer_from_ns; /* the ACK timer runs from then on; UINT64_MAX: it does not */
    struct psn asked;       /* behind the last packet that asked for an answer since */
    uint32_t go_backs,
        rnr_naks;     /* without progress; of the first, those that RNR did not ask for */
    uint32_t unseen;  /* timeouts that may have been counted, too, before it was told to go back */
    bool was_implied; /* it has begun again, as an answer is missing before another */
    uint64_t rnr_until_ns;
    uint32_t nak; /* enum syndrome of the NAK that ended it; SYN_NONE */
    uint32_t n_rds;
    struct wire_rd rd[WIRE_RDS];

    /* What it answers. */
    struct psn expected;
    uint32_t msn;
    uint32_t n_taken; /* of the log, ever */
    struct wire_taken taken[WIRE_LOG];
    uint32_t early[WIRE_LOG]; /* PSNs that came too early, each in its place, and 1 more */
    struct psn ahead;         /* the farthest of them */
    bool has_ahead, has_told_gap;
    bool is_over;     /* it refused something for good, or has failed, */
    uint64_t over_ns; /* which was then; 0: it was not seen to fail */
    bool was_rnr;
    struct psn acked; /* behind the last positive acknowledge */
    bool has_acked;
    bool owes; /* something that asked for it was not answered yet, */
    uint64_t owes_since_ns;
    struct {
        uint32_t psn;
        uint64_t found;
    } atomic[WIRE_ATOMICS];
    uint32_t n_atomics;

    enum finding wrong; /* the first; FIND_COUNT: none */
    uint64_t wrong_at_ns;
    struct psn wrong_psn;
};

/* Begins with the first PSNs of @rules. */
void wire_end_init(struct wire_end *e, const struct wire_rules *rules);

/* It sent @p at @now_ns; its line had been free since @free_ns. */
void wire_end_sent(struct wire_end *e, const struct packet *p, uint64_t now_ns, uint64_t free_ns);

/* @p arrived at it, whole. */
void wire_end_arrived(struct wire_end *e, const struct packet *p, uint64_t now_ns);

/* Nothing is under way any more. */
void wire_end_quiet(struct wire_end *e, uint64_t now_ns);

/* What an ACK timeout and an RNR NAK mean, by their codes, as the specification has them. */
uint64_t wire_ack_timeout_ns(uint32_t code);
uint64_t wire_rnr_wait_ns(uint32_t code);

/* When a line that was to be free at @free_ns will be, as a frame of @bytes was given to it at
 * @at_ns.  A device waits until it is free; what is made by hand does not, and goes behind what is
 * on it.
 */
uint64_t wire_line_free_ns(uint64_t free_ns, uint64_t at_ns, uint32_t bytes, uint64_t rate_bps);

/* It failed at @now_ns. */
void wire_end_failed(struct wire_end *e, uint64_t now_ns);

/* Was there a reason to give up with RETRY_EXC_ERR, or RNR_RETRY_EXC_ERR?  True if it is not known.
 */
bool wire_end_is_exhausted(const struct wire_end *e);
bool wire_end_is_rnr_exhausted(const struct wire_end *e);

#endif
