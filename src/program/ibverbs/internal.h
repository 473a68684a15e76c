/* SPDX-License-Identifier: MIT */
/* Shared declarations of libibverbs.so.1, whose device is a host of a lab.
 *
 * connection.c  the socket, the page and the calls
 * device.c      the list of devices; open and close · query.c what does not need an object
 * object.c      handles, events of objects, freed memory
 * memory.c      PDs, MRs, MWs · cq.c · channel.c · qp.c · qp_attr.c · srq.c · ah.c
 * post.c        work requests · extended.c ibv_wr_* · poll.c completions · events.c
 * random.c random numbers in virtual time · text.c names of values · kernel.c structures of the
 * kernel, sysfs · stubs.c the rest
 * redirect.c, rdma_cm.c  the device rdma_cm for librdmacm
 *
 * Locks, in the order in which they are taken: files_lock of rdma_cm.c; that of an extended queue
 * pair, that of a CQ, post_lock, call_lock, objects_lock.  A public mutex of an object is only
 * taken alone.
 */
#ifndef PROGRAM_IBVERBS_INTERNAL_H
#define PROGRAM_IBVERBS_INTERNAL_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/protocol.h"

/* verbs.h replaces these by macros, for programs. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define CONTAINER(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* --- Connections ------------------------------------------------------------------------------ */

struct lab_connection {
    int fd, wake, async_fd;
    struct program_page *page;
    /* 1 in the process that made the connection.  The kernel clears it in a child of fork(), which
     * must not use the connection.
     */
    volatile uint8_t *alive;
    struct program_device device;
    pthread_mutex_t call_lock;
    uint32_t serial;
    _Atomic uint32_t n_callers; /* threads that want call_lock for a call, or have it */
    _Atomic uint32_t waits;     /* 1: the thread with call_lock makes time advance */
    _Atomic uint32_t n_waits;   /* times that time has advanced for a thread */
    pthread_mutex_t post_lock;
    uint64_t posted;       /* bytes of posts, as in the page */
    _Atomic uint32_t over; /* 1: the lab has ended */
    _Atomic uint32_t idle; /* empty polls and waits for room */
};

/* Connects to the lab.  Returns 0 or an errno value, and then writes the reason to @why. */
int connection_open(struct lab_connection *c, char why[PROGRAM_WHY_BYTES]);

/* Ends the connection.  A child of fork() only closes its descriptors. */
void connection_close(struct lab_connection *c);

/* Frees what is left of a closed connection.  Until then connection_state() returns an error. */
void connection_free(struct lab_connection *c);

/* Clears @call and sets its operation. */
void call_init(struct program_call *call, enum program_op op);

/* The function of libibverbs that makes an object, and where the program has called it. */
struct maker {
    uint32_t function; /* enum program_maker */
    uint64_t callers[PROGRAM_CALLERS];
};

/* MAKER() is the struct maker in a function that the program calls itself, MAKER_INLINE() in one
 * that an inline function of verbs.h calls: then it also has the caller of that function.
 */
#define MAKER(NAME)        ((struct maker){PROGRAM_BY_##NAME, {(uintptr_t)__builtin_return_address(0)}})
#define MAKER_INLINE(NAME) maker_inline(PROGRAM_BY_##NAME, __builtin_return_address(0))
struct maker maker_inline(uint32_t function, void *caller);

/* Clears @call and sets its operation and its maker. */
void call_init_by(struct program_call *call, enum program_op op, const struct maker *m);

/* Makes a call.  *@ret_fd is the descriptor that came with the answer, or -1; @ret_fd may be NULL.
 * Returns 0 or an errno value: EIO if the lab has ended, EINVAL in a child of fork(), or the
 * lab's error.
 */
int connection_call(struct lab_connection *c, struct program_call *call, struct program_answer *ret,
                    int *ret_fd);

/* Makes a call that has no effect.  After it the lab has taken all posts and polls before it. */
int connection_sync(struct lab_connection *c);

/* Makes time advance until something happens to the program, if time is virtual.  @seen is the
 * result of connection_seen() before the caller found that nothing has happened: if time has
 * advanced for another thread since then, it must look again.  Returns 0, ETIME if nothing can
 * happen, EINTR if a signal came that @mask does not block, or another errno value.  @mask may be
 * NULL: then it is that of the thread.
 */
int connection_wait(struct lab_connection *c, uint32_t seen, const sigset_t *mask);
static inline uint32_t connection_seen(const struct lab_connection *c)
{
    return atomic_load(&c->n_waits);
}

/* If time is virtual and @fd blocks, makes it advance until @fd can be read.  Returns 0, or -1 and
 * sets errno to EINTR.
 */
int events_wait(struct lab_connection *c, int fd);

/* Lets the lab see new posts: wakes it if it sleeps. */
void connection_wake(struct lab_connection *c);

/* Yields the processor now and then, and looks whether the lab has ended. */
void connection_idle(struct lab_connection *c);

/* Returns 0, EINVAL in a child of fork(), or EIO if the lab has ended. */
static inline int connection_state(const struct lab_connection *c)
{
    if (!*c->alive)
        return EINVAL;
    return atomic_load_explicit(&c->over, memory_order_relaxed) ? EIO : 0;
}

/* --- Objects ---------------------------------------------------------------------------------- */

#define OBJECT_BUCKETS 256u
#define OBJECT_GRAVES  64u

struct context;

/* The part of an object that the library trusts.  Objects are freed late: their memory stays valid
 * for the OBJECT_GRAVES objects that are destroyed next, so that a pointer to a destroyed object is
 * recognised.
 */
struct object {
    struct context *context;
    uint64_t handle;                          /* 0: destroyed */
    uint32_t kind;                            /* enum program_kind */
    uint32_t completion_events, async_events; /* events that the program has got */
    uint32_t own_events; /* completion events that the library has sent, not the lab */
    struct object *next; /* in its bucket */
};

struct context {
    struct verbs_context v;
    struct lab_connection c;
    pthread_mutex_t objects_lock;
    uint32_t n_objects;
    struct object *buckets[OBJECT_BUCKETS];
    void *graves[OBJECT_GRAVES];
    uint32_t n_graves;
    bool arms_unpolled; /* PROGRAM_ARM_UNPOLLED */
    uint32_t told_end;  /* 1: the program got IBV_EVENT_DEVICE_FATAL because the lab has ended */
};

struct lib_pd {
    struct ibv_pd pub;
    struct object o;
    struct lib_pd *parent; /* of a parent domain; else NULL */
    _Atomic uint32_t n_children;
};

struct lib_td {
    struct ibv_td pub;
};

struct lib_mr {
    struct ibv_mr pub;
    struct object o;
    uint32_t access;
};

struct lib_mw {
    struct ibv_mw pub;
    struct object o;
};

struct lib_channel {
    struct ibv_comp_channel pub;
    struct object o;
};

struct lib_cq {
    struct ibv_cq_ex pub; /* begins as struct ibv_cq */
    struct object o;
    pthread_mutex_t lock; /* of polling */
    bool single_threaded; /* @lock is not needed */
    struct program_cq *ring;
    size_t ring_bytes;
    uint32_t entries; /* of the ring, a power of two */
    _Atomic uint64_t polled;
    struct program_wc now; /* between start_poll() and end_poll() */
};

struct lib_srq {
    struct ibv_srq pub;
    struct object o;
    uint32_t srqn, max_wr, max_sge;
    uint32_t posted; /* receives ever, modulo 2^32 */
    struct program_queue *queue;
};

struct staged; /* extended.c */

struct lib_qp {
    struct ibv_qp_ex pub; /* begins as struct ibv_qp */
    struct object o;
    bool is_extended;
    uint32_t sq_sig_all;
    struct ibv_qp_cap cap;
    _Atomic uint32_t state;   /* enum ibv_qp_state, as the program can know it */
    uint32_t sends, receives; /* posted ever, modulo 2^32 */
    struct program_queue *queue;
    /* Completions of the two CQs before these numbers are from before the last reset. */
    uint64_t send_cq_from, recv_cq_from;
    struct staged *staged; /* NULL unless extended */
};

struct lib_ah {
    struct ibv_ah pub;
    struct object o;
};

static inline struct context *context_of(struct ibv_context *c)
{
    return CONTAINER(c, struct context, v.context);
}

static inline bool object_is(const struct object *o, enum program_kind kind)
{
    return o->handle != 0 && o->kind == (uint32_t)kind;
}

/* x_of() returns the object that a program passed, or NULL if it is NULL or destroyed. */
#define OBJECT_OF(type, public_type, KIND)                                                         \
    static inline struct lib_##type *type##_of(const struct public_type *p)                        \
    {                                                                                              \
        struct lib_##type *x = (struct lib_##type *)(uintptr_t)p;                                  \
                                                                                                   \
        return x && object_is(&x->o, PROGRAM_##KIND) ? x : NULL;                                   \
    }
OBJECT_OF(pd, ibv_pd, PD)
OBJECT_OF(mr, ibv_mr, MR)
OBJECT_OF(mw, ibv_mw, MW)
OBJECT_OF(channel, ibv_comp_channel, CHANNEL)
OBJECT_OF(cq, ibv_cq, CQ)
OBJECT_OF(srq, ibv_srq, SRQ)
OBJECT_OF(qp, ibv_qp, QP)
OBJECT_OF(ah, ibv_ah, AH)

/* Makes @o an object with @handle. */
void object_live(struct context *x, struct object *o, enum program_kind kind, uint64_t handle);

/* Destroys @o in the lab, and forgets its handle.  Returns 0 or an errno value.  @ret_async_fd of
 * the events that no one has read is x's; those of a CQ are in @channel_fd, -1: none.
 */
int object_destroy(struct object *o, int channel_fd);

/* Sends a completion event of the CQ @o to itself, through its channel's descriptor @fd. */
void object_send_completion(struct object *o, int fd);

/* Destroys what the lab has created when the library cannot use it. */
void object_undo(struct context *x, enum program_kind kind, uint64_t handle);

/* Frees @memory of an object of @x, later. */
void object_bury(struct context *x, void *memory);

/* Finds the live object of @kind with @handle and counts one event that is delivered to it, or
 * returns NULL.
 */
struct object *object_event(struct context *x, enum program_kind kind, uint64_t handle,
                            bool is_async);

/* Finds the queue pair with number @qpn, or returns NULL. */
struct lib_qp *object_qp_of(struct context *x, uint32_t qpn);

/* Waits until *@completed of the public mutex @lock is @events. */
void object_wait_acknowledged(pthread_mutex_t *lock, pthread_cond_t *cond,
                              const uint32_t *completed, uint32_t events);

/* Sets errno to @error and returns NULL or -1. */
static inline void *null_because(int error)
{
    errno = error;
    return NULL;
}

static inline int minus_1_because(int error)
{
    errno = error;
    return -1;
}

/* --- Functions of the tables of operations ---------------------------------------------------- */

int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t bytes);
int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                    struct ibv_device_attr_ex *attr, size_t bytes);

struct ibv_td *memory_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int memory_dealloc_td(struct ibv_td *td);
struct ibv_pd *memory_alloc_parent_domain(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr);
struct ibv_mw *memory_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int memory_dealloc_mw(struct ibv_mw *mw);

struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int cq_req_notify(struct ibv_cq *cq, int solicited_only);
int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
void poll_init_ex(struct ibv_cq_ex *cq);

struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int srq_number(struct ibv_srq *srq, uint32_t *ret);

struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int post_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* Posts the whole list, or nothing.  Returns 0 or an errno value. */
int post_all(struct lib_qp *qp, struct ibv_send_wr *wr);

/* Prepares @qp for ibv_wr_*().  Returns 0 or an errno value.  extended_done() frees its memory. */
int extended_init(struct lib_qp *qp);
void extended_done(struct lib_qp *qp);

/* Address vectors. */
void av_from(struct program_av *to, const struct ibv_ah_attr *from);
void av_to(struct ibv_ah_attr *to, const struct program_av *from);

#endif
