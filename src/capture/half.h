/* SPDX-License-Identifier: MIT */
/* One half of a reliable connection: the requests of one side and the responses of the other, as an
 * observer at an unknown place between them sees them.
 *
 * A packet lost before that place was never captured.  A packet lost after it shows only by its
 * consequences.  A deviation is an error only if no place of the observer explains it.  Otherwise
 * it is a loss, and the finding names the side of the observer on which it happened.
 *
 * Requests are kept in a list ordered by PSN, without gaps: PSNs that were not captured have an
 * entry too, which is called missing.  A position (`at`) is a PSN extended to 64 bits, so that it
 * never wraps.
 *
 *	acked <= next          all before acked is answered; next follows the highest requested PSN
 *	cursor <= next         where the next new packet belongs; a packet before it is a repetition
 *	v[0 .. whole)          entries without a missing one: their messages are counted
 *
 * A queue pair may be reset and used again.  Then a new *life* begins, and earlier packets do not
 * count.
 */
#ifndef CAPTURE_HALF_H
#define CAPTURE_HALF_H

#include "capture/record.h"

#define HALF_LIFE_PSNS 65536 /* a PSN at a greater distance belongs to another life */
#define HALF_ROWS      3u    /* maximum of repetitions of one READ that are followed at a time */
#define HALF_RECENT    256u  /* number of responses kept to recognise copies */

/* Statistics of one half over all its lives. */
struct half_sums {
    uint64_t requests, answers; /* number of request packets; number of response packets */
    uint64_t messages;          /* number of complete messages */
    uint64_t bytes;             /* of payload, including those of READs and atomics */
    uint64_t again;             /* number of requests that were repeated or came late into a gap */
    uint64_t missing;           /* number of PSNs that were not captured when later ones were */
    /* Numbers of NAKs other than RNR NAKs, of RNR NAKs, and of retransmissions after a timeout. */
    uint64_t naks, rnrs, timeouts;
    uint64_t n_repairs;
    /* Owned: for each request that was lost, or whose response was lost, the time from when it was
     * first seen or missed to its acknowledgment.
     */
    uint64_t *repair_ns;
    uint64_t first_ns, last_ns; /* times of the first request and of the last packet */
};

/* A request packet, or a range of missing PSNs. */
struct asked {
    uint64_t at, psns; /* position of its first PSN; number of PSNs */
    /* Indexes into the record of its latest and its first copy.  If the entry is missing, @seen is
     * SEEN_NONE and @first_seen is the packet that revealed it.
     */
    uint32_t seen, first_seen;
    uint64_t since_ns; /* if @was_lost: time at which it was sent, or found to be missing */
    uint64_t messages; /* number of complete messages up to this entry */
    uint32_t n_rds;    /* READ or atomic: number of those under way when it was requested */
    uint64_t got;      /* READ: position of the first response that was not captured */
    uint64_t high;     /* READ: position after the highest response that was captured */
    /* READ: responses to its repetitions, the latest one first; one may ask for a part only. */
    struct half_row {
        uint64_t next, end; /* positions: of the next response, behind the last one */
    } rows[HALF_ROWS];
    uint32_t answer; /* atomic: index of the response in the record; SEEN_NONE: none */
    /* READ or atomic: an acknowledge took the place of its last response.  It is over for some
     * requesters, as rxe; others ask again.
     */
    bool may_be_over;
    uint32_t times;      /* number of times it was captured */
    bool was_lost;       /* it or its response was lost; its acknowledgment ends the repair */
    bool hole_told;      /* a finding has reported that its response is missing */
    bool in_parts;       /* a READ of which a part, not up to its end, was requested again */
    uint64_t behind_got; /* bit i: the response at @got + i was captured */
};

/* A reason for the requester to send again from position @at on: a NAK, or a missing response. */
struct half_reason {
    bool is_there; /* false: there is none, and the other members are not valid */
    /* at_ns, frame: time and number of the frame that shows the reason.  wait_ns: time that an RNR
     * NAK demands to wait; otherwise 0.
     */
    uint64_t at, at_ns, frame, wait_ns;
    bool has_come; /* it was captured at the requester's host */
};

/* The state of judging one half. */
struct half {
    const struct capture_record *r;
    struct found_list *found;
    uint32_t asks, answers; /* flow of the requests; flow of the responses, or SEEN_NONE */
    uint32_t mtu;           /* path MTU; 0: unknown */
    uint32_t read_mtu;      /* path MTU that determines the number of PSNs of a READ */
    /* READs and atomics that may be under way by the messages of the connection manager, and
     * whether a finding has reported that there were more.
     */
    uint32_t max_rds;
    bool told_rds;
    /* The requester began with another PSN than its peer expects: answers, which repeat what the
     * peer has acknowledged before, are not about these requests.
     */
    bool disagrees;
    bool is_complete; /* the capture reports that it lost nothing */
    struct half_sums sums;

    /* State of the current life. */
    struct asked *v; /* owned */
    uint32_t n, cap;
    bool has_begun; /* a request was captured */
    /* is_over: a NAK has ended the connection; over_seen, over_at: its index and position.
     * has_gone_on: the responder answers later requests; told_going_on: so does the requester.
     */
    bool is_over, has_gone_on, told_going_on;
    uint32_t over_seen;
    uint64_t over_at;
    uint64_t next, cursor, acked;
    /* All before this position is answered, and the answer was captured at the requester's host. */
    uint64_t came;
    uint32_t n_acked; /* number of entries before @acked */
    uint32_t n_told;  /* number of entries that were examined for missing responses */
    /* The latest sequence NAK, RNR NAK and missing response, until a retransmission follows. */
    struct half_reason nak, rnr, hole;

    /* Messages, in PSN order. */
    uint32_t whole;             /* entries v[0 .. whole) are counted; see the head of the file */
    const struct op_info *open; /* the previous packet of the message; NULL: between messages */
    bool is_open_known;         /* @open is valid */
    bool is_length_known;       /* @open_dma_bytes is valid */
    uint64_t open_bytes;        /* payload of the message so far */
    uint64_t open_dma_bytes;    /* WRITE: the length of the message, from its RETH */
    uint64_t messages;          /* number of complete messages in this life */

    /* The possible MSN of the responder before the first message of this life. */
    bool has_base;                /* the next two members are valid */
    uint32_t base_low, base_span; /* the MSN is in base_low .. base_low + base_span */

    uint32_t next_answer; /* index of the next packet in the response flow; SEEN_NONE: none */
    /* Indexes of the latest request and response in sending order; SEEN_NONE: none. */
    uint32_t newest_request, newest_answer;
    uint32_t recent[HALF_RECENT]; /* indexes of the latest responses; number i at i % HALF_RECENT */
    uint32_t n_recent;            /* number of responses so far */
    uint64_t came_again; /* number of repeated requests that may be acknowledged once more */
};

/* Judges the requests in flow @asks with the responses in flow @answers, which may be SEEN_NONE.
 * @is_complete is true if the capture lost no frames.  Adds findings to @found.  half_done() frees
 * the arrays of @h.
 */
void half_judge(struct half *h, const struct capture_record *r, uint32_t asks, uint32_t answers,
                bool is_complete, struct found_list *found);
void half_done(struct half *h);

/* --- Between the files ------------------------------------------------------------------------ */

/* Adds the finding @f about packet @seen, and sets its frame, flow and opcode from the packet.
 * Does nothing if it is an error in a response that may belong to another connection.
 */
void half_find(struct half *h, enum finding finding, uint32_t seen, struct found f);

/* Returns the position of @psn. */
static inline uint64_t half_at(const struct half *h, uint32_t psn)
{
    const struct psn next = {(uint32_t)h->next & PSN_MASK};

    return h->next + (uint64_t)(int64_t)psn_diff((struct psn){psn}, next);
}

/* Returns the entry that covers position @at, or NULL if the position is before the list or was
 * never requested.
 */
struct asked *half_entry(struct half *h, uint64_t at);

/* Returns true if packet @seen is a READ or an atomic, which have responses of their own. */
bool half_is_rd(const struct half *h, uint32_t seen);

/* Returns true if READ or atomic @e is completely answered. */
bool half_is_answered(const struct half *h, const struct asked *e);

/* Returns the number of PSNs that the request @s takes. */
uint64_t half_psns_of(const struct half *h, const struct seen *s);

/* Returns the index of the response that was processed last, or SEEN_NONE if there is none. */
uint32_t half_last_answer(const struct half *h);

/* half_takes_request() processes a request packet, half_takes_answer() a response.  @seen is the
 * index of the packet in the record.
 */
void half_takes_request(struct half *h, uint32_t seen);
void half_takes_answer(struct half *h, uint32_t seen);

/* Processes response @seen, which was captured at the requester's host: a positive acknowledgment
 * advances h->came, an RNR NAK is known to have come.
 */
void half_answer_came(struct half *h, uint32_t seen);

/* Counts the messages of further entries: advances h->whole to the first entry that is missing and
 * not acknowledged.
 */
void half_go_on(struct half *h);

/* Records that everything before position @at was answered at @now_ns. */
void half_acked(struct half *h, uint64_t at, uint64_t now_ns);

#endif
