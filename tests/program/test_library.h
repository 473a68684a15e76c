/* SPDX-License-Identifier: MIT */
/* Shared by the checks of the library.  test_setup.c has main(). */
#ifndef PROGRAM_IBVERBS_TEST_H
#define PROGRAM_IBVERBS_TEST_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) check_at((x), #x, __LINE__)
#define NEED(x)                                                                                    \
    do {                                                                                           \
        const int before = n_failed;                                                               \
        CHECK(x);                                                                                  \
        if (n_failed != before) {                                                                  \
            printf("%d passed, %d failed\n", n_passed, n_failed);                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define BYTES 8192

extern int n_passed, n_failed;
extern struct ibv_context *ctx;
extern struct ibv_pd *pd;
extern struct ibv_mr *mr; /* of the BYTES of @buf, with all rights */
extern uint8_t *buf;
extern union ibv_gid gid;

/* Two queue pairs that are connected to each other, and share a CQ. */
struct pair {
    struct ibv_comp_channel *ch;
    struct ibv_cq_ex *cqx;
    struct ibv_cq *cq;
    struct ibv_qp *a, *b;
};

void check_at(bool ok, const char *text, int line);
struct ibv_qp *new_qp(struct ibv_cq *cq, enum ibv_qp_type type, struct ibv_srq *srq, uint64_t ops);
int to_init(struct ibv_qp *qp);
int to_rtr(struct ibv_qp *qp, uint32_t dest);
int to_rts(struct ibv_qp *qp);
int to_state(struct ibv_qp *qp, enum ibv_qp_state s);
void connect_pair(struct pair *p, enum ibv_qp_type type, struct ibv_srq *srq);
void done_pair(struct pair *p);
int wait_wc(struct ibv_cq *cq, struct ibv_wc *wc, int n);
int post_one(struct ibv_qp *qp, struct ibv_send_wr wr);
int recv1(struct ibv_qp *qp, uint64_t id, size_t off, uint32_t len);

/* X(NAME): the tests.  They run in this order. */
#define TESTS(X)                                                                                   \
    X(same_handles)                                                                                \
    X(queries)                                                                                     \
    X(memory)                                                                                      \
    X(posts)                                                                                       \
    X(extended)                                                                                    \
    X(events)                                                                                      \
    X(arming)                                                                                      \
    X(unread_async)                                                                                \
    X(destroy_waits)                                                                               \
    X(ud_srq)                                                                                      \
    X(fork)                                                                                        \
    X(big_ring)                                                                                    \
    X(threads)                                                                                     \
    X(race)

#define TEST(name) void test_##name(void);
TESTS(TEST)
TEST(death)
#undef TEST

#endif
