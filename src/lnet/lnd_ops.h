/* SPDX-License-Identifier: MIT */
/* The needs of the driver of LNet from its environment: memory, time, verbs and rdma_cm.
 *
 * The driver (lnd.h) is one state machine for two environments: a guest of a lab, whose requests
 * are answered in virtual time, and a program on libibverbs and librdmacm.  In brackets are the
 * names that "O2iblnd to userland" has given the functions in 2007.
 *
 * Operations of the control path return 0, a negative errno, or LND_LATER: the environment calls
 * lnd_wake() when there is news, and the driver calls the same operation with the same arguments
 * again.  One such operation is under way at a time.  Results are stored before 0 is returned.
 */
#ifndef LNET_LND_OPS_H
#define LNET_LND_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LND_LATER 1

/* Parameters of all connections. */
#define LND_RETRY_COUNT     5u
#define LND_RNR_RETRY_COUNT 6u

/* A memory region. */
struct lnd_mr {
    uint64_t handle; /* of the environment; 0: none */
    uint32_t lkey, rkey;
};

/* A connection, as the environment knows it.  The driver zeroes it and keeps it. */
struct lnd_link {
    uint64_t id, cq, qp; /* handles of the environment; 0: none */
    uint32_t step;       /* of the operation that is under way */
    void *owner;         /* of the driver: struct lnd_conn */
};

/* A work request: an RDMA WRITE, which is not signaled, or a SEND, which is. */
struct lnd_wr {
    uint64_t wr_id;
    uint64_t addr;
    uint32_t bytes, lkey;
    bool is_write;
    uint32_t rkey;
    uint64_t remote_addr;
};

struct lnd_note;

struct lnd_ops {
    /* Memory of the driver, zeroed.  alloc() returns NULL if there is none. */
    void *(*alloc)(void *ctx, size_t bytes);
    void (*free)(void *ctx, void *block, size_t bytes);

    /* Memory that the adapter can reach: pages() returns the address of whole pages, or 0.
     * pages_free() calls lnd_forget() first if it takes them away.  read(),
     * write() and copy() return false, without an effect, if part of the range is not mapped.
     */
    uint64_t (*pages)(void *ctx, uint64_t bytes);
    void (*pages_free)(void *ctx, uint64_t addr, uint64_t bytes);
    bool (*read)(void *ctx, uint64_t addr, void *ret, size_t n);
    bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t n);
    bool (*copy)(void *ctx, uint64_t to, uint64_t from, size_t n);

    /* Time, in nanoseconds.  At @at_ns lnd_wake() is called, in place of an earlier wish; 0: never.
     */
    uint64_t (*now_ns)(void *ctx);
    void (*wake_at)(void *ctx, uint64_t at_ns);

    /* [kiblnd_create_dev, kiblnd_destroy_dev]  The protection domain, and the ID that listens at
     * port @service.  With @dma also a region that covers all memory: *@ret_dma, whose addresses
     * are those of dma_addr().
     */
    int (*create_dev)(void *ctx, uint16_t service, bool dma, struct lnd_mr *ret_dma);
    int (*destroy_dev)(void *ctx, struct lnd_mr *dma);
    /* Returns the address in the region of all memory of @addr, which holds for its page; 0: it is
     * not mapped.  NULL: there is no such region, and @dma is not set.
     */
    uint64_t (*dma_addr)(void *ctx, uint64_t addr);

    /* [kiblnd_msg_map, kiblnd_rd_setup; kiblnd_msg_unmap, kiblnd_rd_clean]  Registers memory for
     * LOCAL_WRITE and REMOTE_WRITE.
     */
    int (*reg_mr)(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret);
    int (*dereg_mr)(void *ctx, struct lnd_mr *mr);

    /* [kiblnd_create_cq, kiblnd_destroy_cq] */
    int (*create_cq)(void *ctx, struct lnd_link *l, uint32_t cqe);
    int (*destroy_cq)(void *ctx, struct lnd_link *l);
    /* The queue pair of l->id, of type RC, and both of its queues on l->cq.  -EINVAL or -ENOMEM if
     * the adapter has no such long queues.
     */
    int (*create_qp)(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr);
    int (*destroy_qp)(void *ctx, struct lnd_link *l);

    /* The connection manager.  resolve() creates l->id and resolves the IPv4 address @ip and its
     * route: ROUTE_RESOLVED or an error follows.  accept() and disconnect() move the queue pair.
     */
    int (*resolve)(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service,
                   uint64_t timeout_ns);
    int (*connect)(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
    /* The ID of a request has got its place @l. */
    void (*adopt)(void *ctx, struct lnd_link *l);
    int (*accept)(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
    /* Behind CONNECT_RESPONSE: moves the queue pair, and tells the peer.  An environment that tells
     * ESTABLISHED at once has no such event.
     */
    int (*establish)(void *ctx, struct lnd_link *l);
    int (*reject)(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
    int (*disconnect)(void *ctx, struct lnd_link *l);
    int (*destroy_id)(void *ctx, struct lnd_link *l);

    /* The data path: 0 or a negative errno.  The requests of post_send() are posted together. */
    int (*post_recv)(void *ctx, struct lnd_link *l, const struct lnd_wr *wr);
    int (*post_send)(void *ctx, struct lnd_link *l, const struct lnd_wr *wr, uint32_t n);

    /* Something has happened that an observer may want to know.  NULL: nobody does. */
    void (*note)(void *ctx, const struct lnd_note *note);
};

#endif
