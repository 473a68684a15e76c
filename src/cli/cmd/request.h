/* SPDX-License-Identifier: MIT */
/* Work requests, read from the parameters of post_send, bind_mw, post_recv and post_srq_recv. */
#ifndef CLI_CMD_REQUEST_H
#define CLI_CMD_REQUEST_H

#include "cli/session/session.h"
#include "rdmalab/srq.h"

#define POST_LIST_MAX 4096u /* most requests that one command posts as a list */

/* A work request, read from a step by request_read().  Free it with request_done(). */
struct request {
    const struct step *st; /* the command that it was read from */
    rdl_qp qp;             /* queue pair; 0 for post_srq_recv */
    rdl_srq srq;           /* shared receive queue; 0 for the other commands */
    union {
        struct rdl_send_wr send;
        struct rdl_recv_wr recv;
    };
    struct rdl_sge sge[RDL_SGE_MAX];
    uint8_t *inlined; /* payload of an inline send; owned; NULL: none */
};

/* request_is_bind_mw() returns true if @st is bind_mw.  request_sends() returns true if @st posts
 * to a send queue: bind_mw, too, posts a BIND_MW for a window of type 1 there.  request_is_shared()
 * returns true if @st posts to a shared receive queue.
 */
static inline bool request_is_bind_mw(const struct step *st)
{
    return st->cmd == &cmd_table[CMD_bind_mw];
}

static inline bool request_sends(const struct step *st)
{
    return st->cmd == &cmd_table[CMD_post_send] || request_is_bind_mw(st);
}

static inline bool request_is_shared(const struct step *st)
{
    return st->cmd == &cmd_table[CMD_post_srq_recv];
}

/* Builds the work request @ret from the step @st.  Object names are resolved in the lab as it is
 * now.  Returns false, with the error in s->diag, if a name or a value is wrong.  Call
 * request_done() in both cases.
 */
bool request_read(struct session *s, const struct step *st, struct request *ret);
void request_done(struct request *r);

#endif
