/* SPDX-License-Identifier: MIT */
/* Work requests as post_send, post_recv and post_srq_recv say them. */
#ifndef CLI_CMD_REQUEST_H
#define CLI_CMD_REQUEST_H

#include "cli/session/session.h"
#include "rdmalab/srq.h"

#define POST_LIST_MAX 4096u /* requests of one list */

/* A work request that was read from a step; release it with request_done(). */
struct request {
    const struct step *st; /* post_send, bind_mw, post_recv or post_srq_recv */
    rdl_qp qp;             /* 0 of post_srq_recv, */
    rdl_srq srq;           /* and this of the others */
    union {
        struct rdl_send_wr send;
        struct rdl_recv_wr recv;
    };
    struct rdl_sge sge[RDL_SGE_MAX];
    uint8_t *inlined; /* the data that it carries itself; owned */
};

/* bind_mw posts, too: a request BIND_MW of type 1. */
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

/* Reads @st, whose names are looked up now.  False: s->diag says what is wrong; @ret needs
 * request_done() all the same.
 */
bool request_read(struct session *s, const struct step *st, struct request *ret);
void request_done(struct request *r);

#endif
