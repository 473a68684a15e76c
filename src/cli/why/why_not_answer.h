/* SPDX-License-Identifier: MIT */
/* What the files of `why not` share: an answer while it is given, and a queue pair as it looks from
 * there.
 */
#ifndef CLI_WHY_WHY_NOT_ANSWER_H
#define CLI_WHY_WHY_NOT_ANSWER_H

#include "cli/why/fate_text.h"
#include "cli/why/why_not.h"
#include "emu/base/quantity.h"
#include "print/show_text.h"
#include "tree/tree.h"

#define WHY_NOT_TRIES_MAX 3u
#define WHY_NOT_END       UINT64_MAX /* behind every event */

struct why_not {
    FILE *out;
    const struct rdl_lab *lab; /* NULL: a saved trace */
    const struct past *past;
    struct past_index *index;
    unsigned indent; /* of what is told */
    char tries[WHY_NOT_TRIES_MAX][SHOW_LINE_BYTES];
    size_t n_tries;
    bool never; /* nothing makes it happen */
};

/* A queue pair that the device has. */
struct why_not_qp {
    char path[TREE_PATH_BYTES];
    uint32_t host, qpn;
    enum qp_type type;
    enum qp_state state;
    bool sig_all;
    char sq[TREE_PATH_BYTES];
    uint32_t queue;       /* number of that */
    uint32_t avail_idx;   /* of it: where the next send is posted */
    uint32_t unfetched;   /* sends that the device has not taken */
    uint32_t outstanding; /* sends that it took, and has not finished */
};

/* False: the device has no queue pair at @path yet. */
bool why_not_read_qp(const struct why_not *w, const char *path, struct why_not_qp *ret);

/* Sends that are posted and not complete. */
static inline uint32_t why_not_pending(const struct why_not_qp *q)
{
    return q->unfetched + q->outstanding;
}

/* The queue pair at the other end, "h2.qp"; false if it is none of the lab. */
bool why_not_peer(const struct why_not *w, const struct why_not_qp *q, char ret[TREE_PATH_BYTES]);

/* Receives that nobody has taken yet, of @qp or its shared receive queue; @ret_queue is which. */
uint64_t why_not_receives_posted(const struct why_not *w, const char *qp,
                                 char ret_queue[TREE_PATH_BYTES]);

/* May the record lack events that happened since @since (0: ever)? */
bool why_not_forgot(const struct why_not *w, ev_id since);

/* "; the record has forgotten what was before #51" or nothing, as a sentence of its own. */
void why_not_say_forgotten(struct why_not *w);

/* "SEND wr_id=2, posted in #49.1" */
void why_not_add_post(struct text *t, const struct ev *post);

/* What holds the sends of @q; nothing more is posted than is done, or it waits for something. */
void why_not_sends(struct why_not *w, const struct why_not_qp *q);

/* When @q, which waits for an answer, sends again by itself. */
void why_not_timer(struct why_not *w, const struct why_not_qp *q);

/* What a message for @q has to come. */
void why_not_message(struct why_not *w, const struct why_not_qp *q);

#endif
