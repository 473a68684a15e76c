/* SPDX-License-Identifier: MIT */
/* Internal interface of the files of `why not`: the state of an answer, and the state of a queue
 * pair.
 */
#ifndef CLI_WHY_WHY_NOT_ANSWER_H
#define CLI_WHY_WHY_NOT_ANSWER_H

#include "cli/why/fate_text.h"
#include "cli/why/why_not.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/qp_state.h"
#include "print/show_text.h"
#include "tree/advice.h"
#include "tree/tree.h"

#define WHY_NOT_TRIES_MAX 3u
#define WHY_NOT_END       UINT64_MAX /* an event id later than that of every event */

struct why_not {
    FILE *out;
    const struct rdl_lab *lab; /* NULL: a saved trace */
    const struct past *past;
    struct past_index *index;
    unsigned indent;                                /* number of blanks before each printed line */
    char tries[WHY_NOT_TRIES_MAX][SHOW_LINE_BYTES]; /* the commands to try */
    size_t n_tries;
    bool for_program; /* why_not_for_program() */
    bool never;       /* why_not_end() does not print when the next event in the lab is due */
};

/* State of a queue pair that the device has created. */
struct why_not_qp {
    char path[TREE_PATH_BYTES];
    uint32_t host, qpn;
    uint32_t type; /* enum qp_type */
    enum qp_state state;
    bool sig_all;             /* created with sq_sig_all */
    char sq[TREE_PATH_BYTES]; /* path of its send queue */
    uint32_t queue;           /* number of the virtqueue that is its send queue */
    uint32_t avail_idx;       /* avail index of that queue, where the next send is posted */
    uint32_t unfetched;       /* number of sends that the device has not fetched */
    uint32_t outstanding;     /* number of sends that it has fetched and not completed */
};

/* Prints @advice if it applies to the object @path, and returns true then. */
bool why_not_advise(struct why_not *w, const char *path,
                    bool (*advice)(struct text *, const struct rdl_lab *, const char *));

/* Returns true if the kernel of its host polls the completion queue @path, or that of the queue
 * pair
 * @path: for connections, or for LNet.  A user leaves these objects alone.
 */
bool why_not_of_kernel(const struct why_not *w, const char *path);

/* Reads the state of the queue pair @path.  Returns false if the device has not created it, or has
 * no virtqueues.  In the second case why_not_says_unread() says so and returns true.
 */
bool why_not_read_qp(const struct why_not *w, const char *path, struct why_not_qp *ret);
bool why_not_says_unread(struct why_not *w, const char *path);

/* Returns the number of sends that are posted and not complete. */
static inline uint32_t why_not_pending(const struct why_not_qp *q)
{
    return q->unfetched + q->outstanding;
}

/* Finds the path of the peer queue pair ("h2.qp").  Returns false if the lab has none. */
bool why_not_peer(const struct why_not *w, const struct why_not_qp *q, char ret[TREE_PATH_BYTES]);

/* Returns the number of posted receives that no message has consumed.  They belong to the queue
 * pair @qp or to its shared receive queue; the path of that object is written to @ret_queue.
 */
uint64_t why_not_receives_posted(const struct why_not *w, const char *qp,
                                 char ret_queue[TREE_PATH_BYTES]);

/* Adds to the commands to try a receive at @queue, a queue pair or shared receive queue, with
 * memory that it may use.
 */
void why_not_try_receive(struct why_not *w, const char *queue);

/* Appends such a receive: "post_recv h2.qp sge=mr[0:1k]". */
void why_not_add_receive(struct text *t, const struct why_not *w, const char *queue);

/* Says which fault lost the last interrupt of the completion queue @cq.  Returns false if none did.
 */
bool why_not_say_lost_interrupt(struct why_not *w, const char *cq);

/* Says that the device keeps a completion event of @cq.  Returns false if it does not. */
bool why_not_say_event_waits(struct why_not *w, const char *cq);

/* Returns true if events since @since (0: since the beginning) may be missing from the record. */
bool why_not_forgot(const struct why_not *w, ev_id since);

/* Prints a sentence about events that the record has forgotten.  Prints nothing if it has them all.
 */
void why_not_say_forgotten(struct why_not *w);

/* Appends "SEND wr_id=2, posted in #49.1". */
void why_not_add_post(struct text *t, const struct ev *post);

/* Explains what the oldest pending send of @q waits for, or that no send is pending. */
void why_not_sends(struct why_not *w, const struct why_not_qp *q);

/* Returns the post of the last request of @q's peer if it is done and gave @q no completion: a
 * WRITE, a READ or an atomic.  Returns NULL if @q has posted a send after it, or the last request
 * is another one.
 */
const struct ev *why_not_silent(const struct why_not *w, const struct why_not_qp *q);

/* Explains that @post, from why_not_silent(), completes nothing at @q. */
void why_not_say_silent(struct why_not *w, const struct why_not_qp *q, const struct ev *post);

/* Prints when @q, which waits for an answer, will retransmit, or that its timeout is 0 (never).
 * Prints nothing if the timeout is not 0, but the ACK timer is not armed.
 */
void why_not_timer(struct why_not *w, const struct why_not_qp *q);

/* Returns true if a datagram to @q is recorded that @q has not accepted, sent after the last one
 * that it did accept.
 */
bool why_not_missed_datagrams(const struct why_not *w, const struct why_not_qp *q);

/* Prints the fates of the last datagrams to @q that it has not accepted. */
void why_not_datagrams(struct why_not *w, const struct why_not_qp *q);

/* Explains what is missing for a message to be received by @q. */
void why_not_message(struct why_not *w, const struct why_not_qp *q);

#endif
