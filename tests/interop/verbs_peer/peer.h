/* SPDX-License-Identifier: MIT */
/* verbs_peer: one side of a connection, told by a file of lines what to do; on libibverbs.
 *
 * docs/verbs_peer.md defines the lines, what the two sides tell each other over TCP, and the
 * transcript on standard output.  A mistake in the file, or a peer that goes away, ends the program
 * at once (fail()); a call that libibverbs refuses is a line of the transcript.
 */
#ifndef VERBS_PEER_H
#define VERBS_PEER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/programs/peer_line.h"

/* 1: libibverbs has FLUSH and ATOMIC WRITE, as that of Debian 13 has. */
#ifndef PLACEMENT
#define PLACEMENT 0
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define NAME_BYTES  32
#define OBJECTS_MAX 64
#define SGE_MAX     8
#define WAIT_MS     60000 /* what was waited for so long does not come any more */

enum kind { NOTHING, PD, MR, CQ, SRQ, QP, MW, AH };

struct object {
    enum kind kind;
    char name[NAME_BYTES];
    bool news; /* the peer has to be told about it */
    union {
        struct ibv_pd *pd;
        struct ibv_mr *mr;
        struct ibv_cq *cq;
        struct ibv_srq *srq;
        struct ibv_qp *qp;
        struct ibv_mw *mw;
        struct ibv_ah *ah;
    };
    uint8_t *memory; /* MR: its memory; MW: what it is bound to */
    size_t length;
};

/* An object of the peer. */
struct remote {
    char name[NAME_BYTES]; /* empty: none */
    bool is_qp;
    uint32_t number; /* QPN or rkey */
    uint64_t addr;
};

struct peer {
    char side; /* 'a', 'b' */
    struct ibv_context *context;
    int gid_index;
    union ibv_gid gid, peer_gid;
    uint32_t psn, peer_psn;
    FILE *to, *from; /* the TCP connection */
    struct object object[OBJECTS_MAX];
    struct remote remote[OBJECTS_MAX];
    char gone[OBJECTS_MAX][NAME_BYTES]; /* destroyed since the last sync */
    size_t n_gone;
    const struct peer_line *at; /* the line that is carried out */
    unsigned line_number;       /* of the last line that was read, from 1 */
};

/* Memory of this side, or of the other one. */
struct slice {
    const struct object *mr;
    uint8_t *start;
    size_t length;
};

struct word_value {
    const char *word;
    unsigned value;
};

/* ---- main.c ---- */
void fail(const struct peer *p, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* @error is 0, or an errno: then the transcript says that the line was refused. */
bool done(const struct peer *p, int error);
uint64_t now_ms(void);

/* ---- lines.c ---- */
const char *operand(const struct peer *p, size_t i);
uint64_t to_number(const struct peer *p, const char *text);
uint64_t number_or(const struct peer *p, const char *key, uint64_t standard);
unsigned to_value(const struct peer *p, const struct word_value *of, size_t n, const char *word);
unsigned to_set(const struct peer *p, const struct word_value *of, size_t n, const char *words);
const char *to_word(const struct word_value *of, size_t n, unsigned value);
unsigned access_or(const struct peer *p, const char *standard);
union ibv_gid to_gid(const struct peer *p, const char *text);
bool is_ipv4(const union ibv_gid *gid);

/* ---- objects.c ---- */
struct object *object_named(struct peer *p, const char *name, enum kind kind);
struct object *object_of(struct peer *p, const char *key, enum kind kind);
const struct object *qp_of_number(const struct peer *p, uint32_t qpn);
const struct remote *remote_named(const struct peer *p, const char *name);
struct slice to_slice(struct peer *p, const char *text, const char **ret_rest);
void do_alloc_pd(struct peer *p);
void do_reg_mr(struct peer *p);
void do_create_cq(struct peer *p);
void do_create_srq(struct peer *p);
void do_create_qp(struct peer *p);
void do_alloc_mw(struct peer *p);
void do_create_ah(struct peer *p);
void do_attach_mcast(struct peer *p);
void do_destroy(struct peer *p);

/* ---- connect.c ---- */
void do_connect(struct peer *p);
void do_modify_qp(struct peer *p);

/* ---- exchange.c ---- */
void exchange_open(struct peer *p, const char *host, const char *port);
void do_sync(struct peer *p);

/* ---- work.c ---- */
void do_post_recv(struct peer *p);
void do_post_send(struct peer *p);
void do_bind_mw(struct peer *p);

/* ---- complete.c ---- */
void do_poll_cq(struct peer *p);
void do_drain(struct peer *p);

/* ---- memory.c ---- */
bool is_pattern(const uint8_t *bytes, size_t n, uint64_t seed, size_t *reterr_at);
void do_write(struct peer *p);
void do_check(struct peer *p);
void do_digest(struct peer *p);
void do_await(struct peer *p);
void do_sleep(struct peer *p);

#endif
