/* SPDX-License-Identifier: MIT */
/* One half of a reliable connection: the requests of one side and the answers of the other, as
 * somebody between them sees them.
 *
 * Where that is, is not known: what was lost before here was never seen, and what is lost behind
 * here shows only by what comes of it.  So a rule is an error only where no place explains what is
 * seen; everything else is a loss, and the finding says between which places.
 *
 * The requests are kept by PSN, as a list without holes: what was not seen yet is an entry that is
 * missing.  PSNs are counted on from the first one, so that they do not wrap (`at`).
 *
 *	acked <= next          all before acked is answered; next is the first that was never asked
 *	cursor <= next         what goes on comes at the cursor; what comes before it goes back
 *	v[0 .. whole)          requests that are there without a hole: their messages are counted
 *
 * A queue pair may be reset and used again: then another life begins, and nothing of before counts.
 */
#ifndef CAPTURE_HALF_H
#define CAPTURE_HALF_H

#include "capture/record.h"

#define HALF_LIFE_PSNS 65536 /* a PSN that is further away is of another life */
#define HALF_ROWS      3u    /* answers to one READ that are under way at a time */
#define HALF_RECENT    256u  /* answers that are remembered, to know which of them comes twice */

/* What one half shows in numbers, over all its lives. */
struct half_sums {
    uint64_t requests, answers; /* packets */
    uint64_t messages;          /* that are whole */
    uint64_t bytes;             /* of their payload, with what READs and atomics bring */
    uint64_t again;             /* request packets that were seen before, or filled a hole */
    uint64_t missing;           /* PSNs that were not seen when what is behind them was */
    uint64_t naks, rnrs, timeouts;
    uint64_t n_repairs;
    uint64_t *repair_ns; /* owned: from the first sight of a PSN to its answer, if it was lost */
    uint64_t first_ns, last_ns;
};

/* A request packet, or a row of PSNs that are missing. */
struct asked {
    uint64_t at, psns;
    uint32_t seen,
        first_seen;    /* of the record; @seen is SEEN_NONE: missing, and @first_seen shows it */
    uint64_t since_ns; /* of what @was_lost: when it was sent, or found to be missing */
    uint64_t messages; /* that are whole with it */
    uint64_t got;      /* a READ: behind the responses that are there without a hole, */
    uint64_t high;     /* behind the last one, */
    uint64_t rows[HALF_ROWS]; /* the next response of those that were asked for again, last first */
    uint32_t answer;          /* of the record: of an atomic; SEEN_NONE: none */
    uint32_t times;           /* that it was asked for */
    bool was_lost;            /* so its answer repairs something */
    bool hole_told;           /* that its answer is missing was told */
    bool in_parts;            /* a READ of which a part was asked for again, not up to its end */
    uint64_t behind_got;      /* bit i: the response at @got + i is there */
};

/* Something that was said, and makes a requester begin again at @at. */
struct half_reason {
    bool is_there;
    uint64_t at, at_ns, frame, wait_ns;
};

struct half {
    const struct capture_record *r;
    struct found_list *found;
    uint32_t asks, answers; /* flows */
    uint32_t mtu;           /* 0: it does not show */
    uint32_t read_mtu;      /* by which the PSNs of READs are counted */
    bool is_complete;       /* the capture says that it has lost nothing */
    struct half_sums sums;

    /* One life. */
    struct asked *v; /* owned */
    uint32_t n, cap;
    bool has_begun, is_over;
    uint64_t next, cursor, acked;
    uint64_t came;    /* everything before it is answered, and the requester has got that */
    uint32_t n_acked; /* entries before it */
    uint32_t n_told;  /* entries of which it was told that their answer is missing */
    struct half_reason nak, rnr, hole;

    /* Messages, in the order of PSNs. */
    uint32_t whole;
    const struct op_info *open; /* the packet before, of a message */
    bool is_open_known;         /* @open is true; NULL then says that none is open */
    bool is_length_known;
    uint64_t open_bytes, open_dma_bytes;
    uint64_t messages;

    /* What the MSN of the first message may have been before it. */
    bool has_base;
    uint32_t base_low, base_span; /* it is among base_low .. base_low + base_span */

    uint32_t next_answer; /* of the record: what comes next in that flow; SEEN_NONE */
    uint32_t newest_request, newest_answer; /* of the record, by when they were sent; SEEN_NONE */
    uint32_t recent[HALF_RECENT];           /* answers, of the record */
    uint32_t n_recent;                      /* ever */
    uint64_t came_again; /* requests that had come before, and may be answered once more */
};

/* Judges the requests in flow @asks and the answers in flow @answers, which may be SEEN_NONE; adds
 * to
 * @found.  @h is released with half_done().
 */
void half_judge(struct half *h, const struct capture_record *r, uint32_t asks, uint32_t answers,
                bool is_complete, struct found_list *found);
void half_done(struct half *h);

/* --- What its parts say to each other --------------------------------------------------------- */

/* Tells of @s; the flow is that of @s. */
void half_find(struct half *h, enum finding finding, uint32_t seen, struct found f);

/* @psn, counted on. */
static inline uint64_t half_at(const struct half *h, uint32_t psn)
{
    const struct psn next = {(uint32_t)h->next & PSN_MASK};

    return h->next + (uint64_t)(int64_t)psn_diff((struct psn){psn}, next);
}

/* The entry that has @at; NULL: it is of before, or was never asked. */
struct asked *half_entry(struct half *h, uint64_t at);

/* Is what @seen asks for answered by several packets, or one of its own? */
bool half_is_rd(const struct half *h, uint32_t seen);

/* The PSNs that request @s takes. */
uint64_t half_psns_of(const struct half *h, const struct seen *s);

/* The answer before; SEEN_NONE: there is none. */
uint32_t half_last_answer(const struct half *h);

/* A request packet, or an answer, @seen of the record. */
void half_takes_request(struct half *h, uint32_t seen);
void half_takes_answer(struct half *h, uint32_t seen);

/* Answer @seen has come to the requester. */
void half_answer_came(struct half *h, uint32_t seen);

/* Counts messages as far as there is no hole. */
void half_go_on(struct half *h);

/* Everything before @at is answered. */
void half_acked(struct half *h, uint64_t at, uint64_t now_ns);

#endif
