/* SPDX-License-Identifier: MIT */
/* The drill of peers: the interface between its files.
 *
 * Host h1 has a reliable connection to a queue pair that does not exist: the drill plays the remote
 * peer.  It sees each packet that h1 sends, and injects arbitrary packets with correct addresses,
 * PSNs and ICRC.  It sends requests, duplicates, PSN gaps, wrong lengths, wrong keys, packets out
 * of order, and responses of every kind.  The model predicts how h1 answers each packet, which
 * requests it completes and which memory it writes; nothing else may happen.  The ACK timer is off
 * (timeout 0).
 *
 * Functions that return bool return false if the drill failed.
 */
#ifndef SWARM_DRILLS_DRILL_PEERS_H
#define SWARM_DRILLS_DRILL_PEERS_H

#include "emu/facts/psn.h"
#include "emu/wire/packet.h"
#include "rdmalab/fault.h"
#include "rdmalab/trace.h"
#include "swarm/drills/rig.h"

#define PEER_ROOM    16384u /* bytes of memory of h1 */
#define PEER_MTU     256u
#define PEER_QPN     0x4321u /* QPN of the peer; no queue pair of the lab has it */
#define PEER_RECVS   8u      /* most posted receives of h1 */
#define PEER_TAKEN   4u      /* executed requests that are kept, so that they can be repeated */
#define PEER_ASKED   4u      /* most posted requests of h1 */
#define PEER_PAGES   8u
#define PEER_SEEN    64u             /* most packets of h1 that are kept */
#define PEER_MESSAGE (4u * PEER_MTU) /* bytes of the longest message of h1 */
#define PEER_WORD    8u              /* bytes that an atomic changes */
/* All rights but to bind windows: set of enum access_bit. */
#define PEER_ACCESS 15u
#define PEER_RDS    4u /* most READs and atomics that h1 accepts, or has outstanding, at a time */

/* A posted receive of h1: @bytes at offset @at of its memory. */
struct peer_recv {
    uint64_t wr_id;
    uint32_t at, bytes;
};

/* A request of the peer that h1 has executed. */
struct peer_taken {
    struct packet p;
    uint32_t n_psns; /* number of PSNs that it takes */
    uint64_t found;  /* atomic: the old value that h1 returned */
};

/* A request that h1 has posted. */
struct peer_asked {
    uint32_t opcode; /* enum wr_opcode */
    uint64_t wr_id;
    uint32_t psn, n_psns; /* its first PSN, and number of PSNs that it takes */
    uint32_t bytes, at;   /* length of its buffer, and offset in the memory of h1 */
    uint64_t remote;      /* address at the peer; the drill draws any number */
    uint32_t lkey;        /* of its buffer */
    uint32_t n_answered;  /* responses sent so far to a READ or an atomic */
    uint32_t ssn;         /* send sequence number: its number among all requests with packets */
    bool is_fenced;
    uint8_t data[PEER_MESSAGE]; /* the bytes that it sends, or that the peer answers */
};

/* A packet that h1 sent: the id of its trace event, and its time. */
struct peer_seen {
    uint64_t id, at_ns;
};

/* State of the drill: the objects of h1, and the model of its queue pair. */
struct peers {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd;
    rdl_cq cq;
    uint64_t base; /* address of the PEER_ROOM bytes of h1 */
    uint32_t key;  /* lkey and rkey of the region over them */
    struct rig_end end, peer;
    struct packet like; /* the header fields that all packets to h1 share */
    struct rdl_listener *listener;
    struct peer_seen seen[PEER_SEEN]; /* packets that h1 has sent since the last one was injected */
    uint32_t n_seen;
    uint64_t wr_id;       /* the last wr_id that was given */
    uint64_t injected_ns; /* time when the last packet was injected */
    uint32_t cut;         /* bytes to cut off the end of the next packet; 0: none */

    /* h1 as the responder: the PSN that it expects, and the MSN of its answers. */
    uint32_t expected, msn;
    /* PSN of the last SEND or WRITE packet that h1 accepted.  An ACK of a repeated packet has it.
     */
    uint32_t acked;
    enum op_kind open; /* the unfinished SEND or WRITE; OPK_NONE: there is none */
    uint32_t got;      /* bytes of @open received so far */
    uint32_t to, left; /* WRITE: offset of its next bytes, and number of missing bytes */
    /* h1 has sent a PSN sequence error NAK, or an RNR NAK, since the last request in sequence.  It
     * sends no further NAK for a PSN gap then.
     */
    bool has_told_gap, has_told_rnr;
    bool is_taking;    /* the packet that h1 answers has consumed the first of the receives */
    uint32_t room_for; /* receives that its queue can hold */
    uint32_t keeps;    /* READs and atomics that it keeps for copies of them; 0: many */
    uint32_t n_recvs;
    struct peer_recv recv[PEER_RECVS];   /* the @n_recvs receives that no message has consumed */
    uint32_t n_taken;                    /* number of executed requests so far */
    struct peer_taken taken[PEER_TAKEN]; /* number i is at index i % PEER_TAKEN */

    /* h1 as the requester. */
    /* PSNs: @next follows all posted requests, @sent follows all sent ones, @una is the oldest
     * unanswered one.
     */
    uint32_t next, sent, una;
    uint32_t go_backs; /* retransmissions without progress; the drill keeps them below retry_cnt */
    bool is_paused;    /* in SQD: requests that have not started wait */
    bool was_implied;  /* h1 retransmitted already because a response was missing */
    /* Credits, if the connection has them (end.credits): the SSN of the last message that has a
     * receive at the peer, the last SSN that was given, and whether the peer limits h1 at all.
     */
    uint32_t limit, ssn;
    bool is_limited;
    bool grants_all;              /* the peer's next answers allow all that h1 has posted */
    uint32_t told_msn, told_code; /* MSN and credits of the peer's last answer */
    uint32_t n_asked;
    struct peer_asked asked[PEER_ASKED];

    uint8_t room[PEER_ROOM]; /* the expected content of the memory of h1 */
    uint8_t have[PEER_ROOM]; /* scratch memory, for reading it */
};

/* Returns the number of packets of a message of @bytes; an empty message takes one. */
static inline uint32_t peer_packets(uint32_t bytes)
{
    return bytes == 0 ? 1 : (bytes + PEER_MTU - 1) / PEER_MTU;
}

/* Returns @psn modulo 2^24. */
static inline uint32_t peer_psn(uint32_t psn)
{
    return psn & PSN_MASK;
}

/* Injects @p with @payload at h1 and runs the lab until it is idle.  Afterwards seen[] contains the
 * packets that h1 has sent.
 */
bool peer_send(struct drill *d, struct packet *p, const uint8_t *payload);

/* Like peer_send(), but does not run the lab, so that further packets can arrive at the same time.
 */
bool peer_send_on(struct drill *d, struct packet *p, const uint8_t *payload);

/* Parses packet @i of seen[] to @ret.  The drill fails if the packet is not valid. */
bool peer_seen(struct drill *d, uint32_t i, struct packet *ret);

/* Polls the next completion of h1 to @ret.  The drill fails unless it has @wr_id and @status (enum
 * wc_status).
 */
bool peer_completes(struct drill *d, uint64_t wr_id, uint32_t status, struct rdl_wc *ret);

/* Checks that h1 has no further completion and that its memory equals the model. */
bool peer_is_calm(struct drill *d);

/* Moves the queue pair of h1 to RESET, draws new attributes for it, and sets the model to the
 * initial state.
 */
bool peer_resets(struct drill *d);

/* Checks that the queue pair of h1 is in ERR and that its work requests complete as flushed, except
 * the first @recvs_done receives and the first @asked_done requests, which have completed already.
 * Then connects the queue pair again.
 */
bool peer_failed(struct drill *d, uint32_t recvs_done, uint32_t asked_done);

/* Takes and acknowledges the next asynchronous event of h1, which must be of type @type (enum
 * async_event).  If @is_told is false, there must be no event, and @type is not used.
 */
bool peer_event(struct drill *d, bool is_told, uint32_t type);

/* --- Requests of the peer (drill_peers_requests.c) -------------------------------------------- */

/* Keeps the executed request @p, of @n_psns PSNs, for repetition.  Returns its entry. */
struct peer_taken *peer_remember(struct peers *s, const struct packet *p, uint32_t n_psns);

/* Updates the model: a request in sequence was executed, and used @n_psns PSNs. */
void peer_advance(struct peers *s, uint32_t n_psns, bool ends);

/* Executes the READ or atomic @p in the model.  Returns its entry, as peer_remember() does. */
struct peer_taken *peer_takes_fetch(struct drill *d, const struct packet *p);

/* Checks the responses to the READ or atomic @t, which begin with packet *@i of those that h1 has
 * sent, and moves *@i behind them.
 */
bool peer_was_answered(struct drill *d, const struct peer_taken *t, uint32_t *i);

/* Fills @p with a WRITE of the random @word to an address from offset @from on, without a PSN. */
void peer_draw_word(struct drill *d, struct packet *p, uint32_t from, uint8_t word[PEER_WORD]);

/* Sets the opcode of @p, enum opcode. */
void peer_set_code(struct packet *p, uint8_t code);

/* Checks the credits in @p, a response of h1 that acknowledges. */
bool peer_has_credits(struct drill *d, const struct packet *p);

/* Sends READs and atomics at once, sometimes one more than h1 accepts at a time
 * (drill_peers_burst.c).
 */
void peer_sends_burst(struct drill *d);

/* Repeats a READ, and sends others while it is answered again (drill_peers_burst.c). */
void peer_sends_replay(struct drill *d);

/* The region of a READ of the peer, or of a SEND of h1, ends while it is under way
 * (drill_peers_ends.c).
 */
void peer_region_ends(struct drill *d);

/* h1 resizes its receive queue, which is refused unless that is empty (drill_peers_ends.c). */
void peer_resizes(struct drill *d);

/* Sends a packet before the one in front of it, while h1 is busy (drill_peers_burst.c). */
void peer_sends_late_packet(struct drill *d);

/* --- Answers to h1's requests (drill_peers_answers.c) ----------------------------------------- */

#define PEER_LATE_NS     2000u /* how late h1 may retransmit */
#define PEER_CREDITS_OFF 0x1fu /* syndrome of an ACK without credits */

/* Sends an acknowledgment for @psn and runs the lab until it is idle.  On a connection with credits
 * an ACK with the syndrome PEER_CREDITS_OFF has random credits instead, unless grants_all is set.
 */
bool peer_ack(struct drill *d, uint8_t syndrome, uint32_t psn);

/* Sends an acknowledgment for @psn, and does not run the lab. */
bool peer_ack_on(struct drill *d, uint8_t syndrome, uint32_t psn);

/* Returns how many PSNs an ACK may cover: those before the first unanswered READ or atomic. */
uint32_t peer_plain_psns(struct peers *s);

/* Records the credits of the peer's last answer, which h1 accepts.  Returns true. */
bool peer_learns(struct peers *s);

/* Records that all requests before @psn are answered, and checks their completions. */
bool peer_progress(struct drill *d, uint32_t psn);

/* peer_sends_what_is_due() checks that h1 has sent only requests that were not allowed to start
 * before; peer_sends_again() that it has sent everything again that is not answered.
 */
bool peer_sends_what_is_due(struct drill *d);
bool peer_sends_again(struct drill *d);

/* Returns the time that RNR NAK timer code @code stands for, in ns. */
uint64_t peer_rnr_ns(uint8_t code);

/* Returns the first READ or atomic if it was sent and is not fully answered, or NULL. */
struct peer_asked *peer_first_fetch(struct peers *s);

/* Sends a response to the first READ or atomic that breaks a rule (drill_peers_wrong.c). */
void peer_answers_wrong(struct drill *d);

/* Sends an RNR NAK, and another answer while h1 waits (drill_peers_waits.c). */
void peer_answers_in_wait(struct drill *d);

/* The steps.  peer_posts_receive(): h1 posts a receive.  peer_requests(): the peer sends a request,
 * which may break a rule, or repeats one.  peer_comes_early(): it sends requests while the queue
 * pair of h1 is in RESET, INIT and RTR.  peer_answers(): h1 posts requests, and the peer answers
 * them.
 */
void peer_posts_receive(struct drill *d);
void peer_requests(struct drill *d);
void peer_comes_early(struct drill *d);
void peer_answers(struct drill *d);

#endif
