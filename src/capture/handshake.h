/* SPDX-License-Identifier: MIT */
/* The connections that the connection manager makes, as its messages (MADs of QPN 1) show them.
 *
 * REQ and REP name the queue pairs of a connection and its parameters, DREQ and DREP end it; a
 * SIDR_REQ asks for the queue pair of a datagram service.  All messages about one connection are a
 * *handshake*.  Communication IDs tell which messages belong together.  Side 0 of a handshake is
 * the active one: it sends the REQ.
 *
 * A number in a message is mostly meant for the peer.  A starting PSN is the PSN that the receiver
 * of the message begins to send with.  The RNR retry count and the responder resources limit the
 * receiver, too.  Path MTU, retry count and ACK timeout of the REQ are for both sides, but the
 * active side corrects its timeout by a value that no message has.
 *
 * A capture may begin in the middle, and may lack messages.  Members that begin with `has_` tell
 * what is known.
 */
#ifndef CAPTURE_HANDSHAKE_H
#define CAPTURE_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/seen.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/wire/mad.h"

#define HANDSHAKE_KINDS (CM_SIDR_REP - CM_REQ + 1u) /* kinds of messages that are followed */
#define HANDSHAKE_NONE  UINT32_MAX

/* A message of the connection manager. */
struct cm_seen {
    struct mad mad;
    uint32_t seen;      /* index of its packet in capture_record.v */
    uint32_t handshake; /* index of its handshake; HANDSHAKE_NONE: not known */
    uint32_t next;      /* the next message of the handshake; HANDSHAKE_NONE: none */
    uint32_t before;    /* the latest message of this kind and side; HANDSHAKE_NONE: none */
    uint32_t answer;    /* the message that had answered it before it came again, or none */
    uint32_t about;     /* MRA, REJ: the message that it answers; HANDSHAKE_NONE: not known */
    uint8_t side;       /* side that sent it */
    bool is_late;       /* the handshake was over */
    bool has_come;      /* it was captured at its destination */
};

/* The state that the captured messages show. */
#define HANDSHAKE_STATES(X)                                                                        \
    X(ASKED, "asked", "asked, and no answer in this capture")                                      \
    X(ACCEPTED, "accepted", "accepted, and no RTU in this capture")                                \
    X(ESTABLISHED, "established", "established, and no end in this capture")                       \
    X(REJECTED, "rejected", "rejected")                                                            \
    X(ENDING, "ending", "asked to end, and the last request has no answer in this capture")        \
    X(ENDED, "ended", "ended properly")                                                            \
    X(RESOLVED, "resolved", "queue pair resolved")                                                 \
    X(IN_PART, "in_part", "seen in part")

enum handshake_state {
#define HANDSHAKE_STATE(NAME, name, text) HANDSHAKE_##NAME,
    HANDSHAKE_STATES(HANDSHAKE_STATE)
#undef HANDSHAKE_STATE
};

/* All messages of one kind in a handshake. */
struct cm_messages {
    uint32_t n;           /* their number */
    uint32_t first, last; /* indexes in handshakes.messages; valid if @n is not 0 */
};

struct handshake {
    bool is_sidr;
    bool has_sides;   /* the active side is known; false: side 0 sent the first message */
    uint32_t host[2]; /* indexes in capture_record.hosts */
    bool has_id[2], has_qpn[2];
    uint32_t id[2];       /* communication ID; of a SIDR_REQ the request ID in id[0] */
    uint32_t qpn[2];      /* queue pair, from the message that gives it this connection */
    uint32_t chain[2];    /* the previous entry with the same host and ID; see handshake.c */
    uint32_t flow[2];     /* the flow that each side sends; SEEN_NONE: none */
    uint32_t first, last; /* its messages, a list */
    struct cm_messages of[HANDSHAKE_KINDS]; /* indexed by enum cm_message - CM_REQ */
};

/* A hash table of ends of handshakes: 2 * handshake + side. */
struct handshake_index {
    struct {
        uint32_t host, number, end; /* end: HANDSHAKE_NONE: empty slot */
    } * slots;
    uint32_t n_slots, n; /* a power of two; number of slots in use */
};

/* All handshakes of a capture.  handshakes_done() frees the arrays. */
struct handshakes {
    struct cm_seen *messages; /* in capture order */
    size_t n_messages, messages_cap;
    struct handshake *v;
    size_t n, cap;
    struct handshake_index by_id, by_qpn; /* the latest ones */
    uint32_t n_cut, first_cut; /* MADs that were not captured whole; packet of the first */
};

void handshakes_done(struct handshakes *h);

/* Appends a message whose packet is at index @seen.  handshakes_take() must follow in capture
 * order.
 */
void handshakes_add(struct handshakes *h, const struct mad *m, uint32_t seen);

/* Sorts message @i, sent by host @src to host @dst, into the handshakes. */
void handshakes_take(struct handshakes *h, uint32_t i, uint32_t src, uint32_t dst);

/* Returns the handshake that gave the queue pair @qpn of host @dst its latest connection, if the
 * other end is on host @src, and the side of @src; HANDSHAKE_NONE: none.
 */
uint32_t handshakes_of_qp(const struct handshakes *h, uint32_t src, uint32_t dst, uint32_t qpn,
                          unsigned *ret_side);

/* Returns the messages of @kind of handshake @k. */
const struct cm_messages *handshake_of(const struct handshake *k, enum cm_message kind);

/* Returns the first message of @kind of handshake @k; NULL: none was captured. */
const struct cm_seen *handshake_first(const struct handshakes *h, const struct handshake *k,
                                      enum cm_message kind);

/* Returns the message with which side 0 asks. */
enum cm_message handshake_question(const struct handshake *k);

/* Sets @ret to the service ID that side 0 asks for.  Returns false if no message names it. */
bool handshake_service(const struct handshakes *h, const struct handshake *k, uint64_t *ret);

/* Returns the flow of one of the sides; SEEN_NONE: neither has one. */
uint32_t handshake_flow(const struct handshake *k);

/* Sets @ret to the queue pair of @side.  Returns false if no message names it. */
bool handshake_qpn(const struct handshakes *h, const struct handshake *k, unsigned side,
                   uint32_t *ret);

enum handshake_state handshake_state(const struct handshakes *h, const struct handshake *k);
const char *handshake_state_name(enum handshake_state s);
const char *handshake_state_text(enum handshake_state s);

/* --- What was agreed on ----------------------------------------------------------------------- */

#define AGREED_UNKNOWN UINT32_MAX

/* Parameters of the queue pair on one side; AGREED_UNKNOWN: the message that has it was not
 * captured.
 */
struct agreed {
    uint32_t sq_psn, rq_psn; /* the first PSN that it sends, and that it expects */
    uint32_t mtu_bytes;
    uint32_t retry_cnt, rnr_retry;
    uint32_t timeout;       /* ACK timeout code */
    uint32_t max_rd_atomic; /* READs and atomics that its peer takes at a time */
};

/* Returns the parameters of @side of handshake @k. */
struct agreed handshake_agreed(const struct handshakes *h, const struct handshake *k,
                               unsigned side);

#endif
