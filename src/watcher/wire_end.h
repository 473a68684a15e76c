/* SPDX-License-Identifier: MIT */
/* The wire watcher: checks one end of a reliable connection, from the packets that it sent and
 * received alone.
 *
 * It must see all packets of that end, as a capture at its host does.  The expected PSN, the MSN,
 * the number of retries and the earliest time of a retransmission then follow from the packets.  A
 * broken rule is a finding.  What a device may decide freely within the rules, such as refusing a
 * message or waiting, is accepted.
 *
 * struct wire_rules has the attributes of the queue pair.  More known attributes allow stricter
 * rules.
 */
#ifndef WATCHER_WIRE_END_H
#define WATCHER_WIRE_END_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enum/mtu.h"
#include "emu/facts/findings.h"
#include "emu/wire/packet.h"

#define WIRE_ENDLESS UINT32_MAX
#define WIRE_RDS     32u /* READs and atomics in flight that are followed one by one */
/* Latest requests that are kept; an RNR NAK for one of them may wait for a busy line. */
#define WIRE_LOG     512u
#define WIRE_ATOMICS 16u /* responses of atomics that are kept */

/* Attributes of the queue pair, and what is known about the capture. */
struct wire_rules {
    uint32_t mtu_bytes;
    uint64_t timeout_ns; /* time of the ACK timer; UINT64_MAX: it never expires */
    uint64_t clock_ns;   /* unit of the times of packets; 0: they are exact */
    uint64_t late_ns;    /* maximum delay of a retransmission after the timer has expired */
    bool knows_timeout;  /* @timeout_ns is valid; false: only checks that the timer runs */
    bool learns_msn;     /* the MSN at the beginning is unknown; the first response shows it */
    uint32_t retry_cnt, rnr_retry; /* WIRE_ENDLESS: no limit */
    uint32_t max_rd_atomic;
    uint32_t sq_psn, rq_psn; /* the first PSN that it sends, and that it expects */
    /* After an RNR NAK, the responder may send one sequence NAK for the packets that follow. */
    bool rnr_is_told_twice;
    /* Responses behind a missing response to the same READ are ignored, as rxe does. */
    bool waits_in_read;
    /* An acknowledge that names the last PSN of the oldest READ or atomic ends it, as rxe does. */
    bool ack_ends_read;
    /* Packets are captured a little before or after the device handles them: the MSN is not
     * checked.
     */
    bool may_lag;
    bool may_keep_early; /* it may keep packets that arrive beyond a gap in the PSNs */
};

/* A READ or atomic in flight. */
struct wire_rd {
    struct psn psn; /* PSN of its next response */
    uint32_t left;  /* number of responses that are missing */
};

/* A request packet that arrived in sequence. */
struct wire_taken {
    uint32_t psn;
    uint32_t msn_before; /* MSN before this packet */
    uint32_t psns;       /* number of PSNs that it takes */
    bool came_again;     /* it arrived more than once */
};

/* The state of a watcher. */
struct wire_end {
    struct wire_rules rules;
    bool is_told; /* the end is judged; false: @rules is not set, and nothing is judged */

    /* The end as requester. */
    struct psn next, una; /* next: the next new PSN; una: the oldest unacknowledged one */
    struct psn last;      /* PSN after the last sent packet, or the PSN to which it must go back */
    uint64_t timer_from_ns; /* start of the ACK timer; UINT64_MAX: it does not run */
    /* PSN after the last packet that requires an answer, of those sent since the end went back. */
    struct psn asked;
    /* go_backs: number of times that the end went back since the last progress or RNR NAK.
     * rnr_naks: number of RNR NAKs since the last progress.
     */
    uint32_t go_backs, rnr_naks;
    /* Number of timeouts that may have counted as retries, although no packet shows it: a NAK made
     * the end go back when its ACK timer had just expired.
     */
    uint32_t unseen;
    bool was_implied; /* since the last progress it has retransmitted because of an implied NAK */
    uint64_t rnr_until_ns; /* it must not send before this time, because of an RNR NAK; 0: none */
    uint32_t nak;          /* enum syndrome of the NAK that ended the connection; SYN_NONE: none */
    struct psn nak_next;   /* @next when it came */
    bool has_ignored_nak;  /* a request that was sent behind it was answered */
    uint32_t n_rds;        /* number of READs and atomics in flight; @rd has the first WIRE_RDS */
    struct wire_rd rd[WIRE_RDS];

    /* The end as responder. */
    struct psn expected; /* PSN of the next request */
    uint32_t msn;        /* number of messages completed */
    uint32_t n_taken;    /* number of request packets so far; number i is at taken[i % WIRE_LOG] */
    struct wire_taken taken[WIRE_LOG];
    uint32_t early[WIRE_LOG]; /* 1 + each PSN that arrived beyond a gap, at index PSN % WIRE_LOG */
    struct psn ahead;         /* the highest PSN beyond a gap; valid if @has_ahead */
    /* has_told_gap: a sequence NAK was sent, and no request was accepted since. */
    bool has_ahead, has_told_gap;
    bool is_over;           /* it refused a request for good, or failed */
    uint64_t over_ns;       /* when it failed; 0: unknown */
    bool was_rnr;           /* an RNR NAK was sent; no request was accepted since */
    struct psn acked;       /* PSN after the last positive acknowledgment */
    bool has_acked;         /* @acked is valid */
    bool owes;              /* a request that requires an acknowledgment is not answered */
    uint64_t owes_since_ns; /* when the first such request arrived */
    struct {
        uint32_t psn;
        uint64_t found;     /* the old value in the response */
    } atomic[WIRE_ATOMICS]; /* the latest responses; number i is at i % WIRE_ATOMICS */
    uint32_t n_atomics;     /* number of responses so far */

    enum finding wrong;   /* the first broken rule; FIND_COUNT: none */
    uint64_t wrong_at_ns; /* when it was broken */
    struct psn wrong_psn; /* PSN of the packet that broke it, or that is missing */
};

/* Initializes the watcher of an end that has sent and received nothing yet. */
void wire_end_init(struct wire_end *e, const struct wire_rules *rules);

/* Checks the packet @p, which the end sent at @now_ns.  @free_ns is the time from which its line
 * was free for the packet (wire_line_free_ns()).
 */
void wire_end_sent(struct wire_end *e, const struct packet *p, uint64_t now_ns, uint64_t free_ns);

/* Processes the packet @p, which arrived undamaged at the end at @now_ns. */
void wire_end_arrived(struct wire_end *e, const struct packet *p, uint64_t now_ns);

/* Checks that the end has left no request unanswered.  Call it when no packet is in flight any
 * more.
 */
void wire_end_quiet(struct wire_end *e, uint64_t now_ns);

/* wire_ack_timeout_ns() returns the time of an ACK timeout code, UINT64_MAX for code 0: never.
 * wire_rnr_wait_ns() returns the time of an RNR timer code.
 */
uint64_t wire_ack_timeout_ns(uint32_t code);
uint64_t wire_rnr_wait_ns(uint32_t code);

/* Returns the time when a line is free again after a frame of @bytes was queued at @at_ns.  Without
 * this frame it would be free at @free_ns.  A device waits for a free line; an injected frame is
 * queued after the frames that are on it.
 */
uint64_t wire_line_free_ns(uint64_t free_ns, uint64_t at_ns, uint32_t bytes, uint64_t rate_bps);

/* Records that the queue pair moved to ERR at @now_ns.  Only the first time counts. */
void wire_end_failed(struct wire_end *e, uint64_t now_ns);

/* wire_end_is_exhausted() returns true if the end had a reason to complete a request with
 * RETRY_EXC_ERR, wire_end_is_rnr_exhausted() if it had one for RNR_RETRY_EXC_ERR.  They also return
 * true if the end is not judged (@is_told is false).
 */
bool wire_end_is_exhausted(const struct wire_end *e);
bool wire_end_is_rnr_exhausted(const struct wire_end *e);

#endif
