/* SPDX-License-Identifier: MIT */
/* One connection of a program to the lab: what ibv_open_device() has opened.
 *
 *   exec_client.c   its beginning and its end, and its calls one after the other
 *   exec_calls.c    what each call does; exec_calls_qp.c: those of queue pairs
 *   exec_objects.c  what it has
 *   exec_maker.c    how an object was made
 *   exec_work.c     posts, completions, events: what passes through shared memory and pipes
 *   exec_cm.c       connections: files of rdma_cm
 *   exec_refused.c  the last call that was refused, and exec_hint.c: other facts about a failure
 *
 * A call may have to wait for the device: a host has one control request under way, whoever makes
 * it.  So a call is begun when none is, and answered in a later turn.  When the connection ends,
 * the program's objects are destroyed one after the other in the same way.
 */
#ifndef CLI_LIVE_EXEC_CLIENT_H
#define CLI_LIVE_EXEC_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/live/live.h"
#include "program/protocol.h"
#include "rdmalab/program.h"
#include "rdmalab/verbs.h"

#define EXEC_REFUSED_BYTES 200u /* of a description of the last call that was refused */
#define EXEC_HINT_BYTES    200u /* of another hint */

/* A ring of completions, in shared memory. */
struct exec_ring {
    struct program_cq *at; /* NULL: there is none */
    size_t bytes;          /* of the mapping */
    uint32_t entries;      /* a power of two */
};

/* A completion queue of a program. */
struct exec_cq {
    uint64_t handle; /* 0: a free entry */
    uint64_t channel;
    struct exec_ring ring, next;              /* @next: from NEW_RING, for the next RESIZE_CQ */
    uint64_t written, polled;                 /* as the lab knows them: polled <= written */
    uint32_t completion_events, async_events; /* that were sent */
    bool overflowed;                          /* once at least */
};

/* A queue pair or a shared receive queue; its index is its slot in the page. */
struct exec_queue {
    uint64_t handle; /* 0: a free entry */
    bool is_srq;
    uint32_t sends, receives; /* numbers of posts so far, modulo 2^32 */
    uint32_t async_events;
};

/* The write end of a pipe of events. */
struct exec_pipe {
    int fd;
    bool waits; /* @event is still to be written */
    struct program_event event;
};

struct exec_channel {
    uint64_t handle; /* 0: a free entry */
    struct exec_pipe pipe;
};

/* Membership of a queue pair in a multicast group. */
struct exec_member {
    uint64_t qp; /* 0: a free entry */
    uint8_t gid[16];
};

/* Code of a program: the bytes of a file from @offset on are at @from .. @to - 1. */
struct exec_range {
    uint32_t module; /* exec_spot.module; 0: not known */
    uint64_t from, to, offset;
};

struct exec_made_qp;
struct exec_made_mr;

/* The account of a program, over all its connections.  The texts may be "". */
struct exec_account {
    struct exec_made_qp *qps; /* exec_maker.h: the queue pairs that it has made */
    size_t n_qps, qps_room;
    struct exec_made_mr *mrs; /* the regions that it has made */
    size_t n_mrs, mrs_room;
    struct live_exec_usage usage;     /* without its objects */
    char refused[EXEC_REFUSED_BYTES]; /* exec_refused.h: the last call that was refused */
    /* exec_hint.h: the last completion queue that overflowed; the last event of rdma_cm, if a
     * connection has failed in it; IDs without a device at the end.
     */
    char overflow[EXEC_HINT_BYTES], ending[EXEC_HINT_BYTES], placeless[EXEC_HINT_BYTES];
};

enum exec_state {
    EXEC_COMES, /* program_hello has not come yet */
    EXEC_WORKS,
    EXEC_LEAVES, /* the connection is closed; its objects are being destroyed */
    EXEC_GONE    /* nothing is left of it */
};

struct exec_client {
    struct rdl_lab *lab;
    FILE *out; /* for messages to the user */
    const struct exec_server *server;
    struct exec_client *next;
    enum exec_state state;
    bool stays;     /* EXEC_LEAVES: its objects remain, because the device needs a reset */
    int fd, memory; /* the connection, and /proc/PID/mem; -1: closed */
    int wake;       /* eventfd by which the program wakes the lab, which never reads it; -1: none */
    int pid;
    uint32_t rank; /* see exec_client_add() */
    rdl_host host;
    char host_name[PROGRAM_NAME_BYTES];
    rdl_program program;
    struct program_page *page;
    struct exec_pipe events; /* asynchronous events */
    uint64_t taken;          /* bytes of posts that were taken */

    struct program_call call;
    bool has_call;                          /* @call is not answered yet */
    uint32_t n_calls;                       /* calls that have come, modulo 2^32 */
    uint32_t n_objects[PROGRAM_KIND_COUNT]; /* that calls have made and not destroyed */
    struct live_exec_usage *usage;          /* of the program, without its objects */
    uint32_t yielded;                       /* page->yielded, when it was read last */
    bool is_over;                           /* its wait is to be answered: nothing can happen */
    uint32_t n_over;                        /* times that it was answered so */
    bool nudged;                            /* its wait is to be answered at once */
    bool stirred;  /* something has happened to it since its last wait was answered */
    bool asks;     /* its request to the device is under way */
    uint64_t made; /* what the call under way creates or changes */
    int answer_fd; /* descriptor that goes with the answer; -1: none */

    struct exec_account *account;         /* NULL: it belongs to no known program */
    struct rdl_modify_error modify_error; /* of its last ibv_modify_qp() */

    struct exec_cq *cqs;
    struct exec_queue *queues;
    struct exec_channel *channels;
    struct exec_member *members;
    struct exec_cm *cm;             /* exec_cm.h; NULL: it has not opened rdma_cm */
    struct exec_made *made_objects; /* exec_maker.h */
    struct exec_range main;         /* that of the program itself, and of no library */
    size_t n_cqs, n_queues, n_channels, n_members, n_made_objects;
};

/* All connections of one session. */
struct exec_server {
    struct rdl_lab *lab;
    FILE *out;
    int set;         /* epoll of what wakes the lab; see exec_watch() */
    bool is_virtual; /* time stands still while a program does not wait */
    bool looks;      /* all sockets are read in this turn; otherwise only those with a call */
    struct exec_client *clients;
    struct exec_makers *makers;    /* exec_maker.h */
    struct live_exec_usage others; /* of processes that are not known as programs */
};

/* The things that can be ready in the set. */
enum exec_ready { EXEC_READY_LOOP, EXEC_READY_WAKE, EXEC_READY_INPUT };

/* Adds @fd to the set of @s.  All but the loop are told once that something has come, so that
 * nothing needs to be read to wait again.  Returns false with errno on failure.
 */
bool exec_watch(const struct exec_server *s, int fd, enum exec_ready what);

/* Adds the connection @fd of process @pid, and closes it if there is no memory for that.  @account
 * is that of its program, and outlives it; NULL: the program is not known.  Connections are served
 * in the order of their ranks, and of process numbers in a rank: programs that connect at the same
 * moment come in any order.
 */
void exec_client_add(struct exec_server *s, int fd, int pid, uint32_t rank,
                     struct exec_account *account);

/* Sets the numbers of objects of @ret to those of the connections with @rank. */
void exec_count_objects(const struct exec_server *s, uint32_t rank, struct live_exec_usage *ret);

/* Serves the calls, posts and completions of all connections, as far as possible without advancing
 * the lab.  Returns true if there was something to do.
 */
bool exec_serve(struct exec_server *s);

/* Virtual time: tells one program that waits that nothing can happen any more by itself.  Returns
 * false if none waits.
 */
bool exec_tell_over(struct exec_server *s);

/* Virtual time: lets the waits of processes end of which another thread may spin until that.
 * Returns true if there is such a process.
 */
bool exec_release_spinners(struct exec_server *s);

/* exec_sleeps() is called before the process sleeps: programs that post must wake it.  Returns
 * false if there is something to do already.  exec_awake() must be called afterwards, in any case.
 */
bool exec_sleeps(struct exec_server *s);
void exec_awake(struct exec_server *s);

/* Returns true if there are programs, and all of them have given the processor away since the last
 * call, because polls found nothing: then they take turns with the lab.
 */
bool exec_yields(struct exec_server *s);

/* Returns true if a program is connected, or leaves objects behind that can be destroyed. */
bool exec_is_used(const struct exec_server *s);

/* Ends all connections and frees them.  Objects stay in the lab, which must not advance any more.
 */
void exec_server_done(struct exec_server *s);

/* --- Between the files ------------------------------------------------------------------------ */

/* Begins c->call.  Returns RDL_OK, or the reason why it is refused.  With c->asks the device has a
 * request now; exec_call_finish() follows when it has answered, and otherwise at once.  That
 * completes the answer @a, with c->answer_fd as its descriptor if that is not -1.
 */
enum rdl_status exec_call_begin(struct exec_client *c);
enum rdl_status exec_call_finish(struct exec_client *c, struct program_answer *a);

/* Returns the errno for a status; @rsp is the response of the device to RDL_ERR_DEVICE. */
int exec_error(enum rdl_status st, const struct rdl_response *rsp);

/* Returns a free entry of the array of @n entries of @bytes, which grows; the first word of a free
 * entry is 0.  NULL: there is no memory.  exec_new_queue() does so for a queue, which gets a
 * counter in the page.
 */
void *exec_entry_for(void **array, size_t *n, size_t bytes);
struct exec_queue *exec_new_queue(struct exec_client *c);

/* Returns the kind for the protocol of an object, an enum object_kind; PROGRAM_NONE: it has none.
 */
enum program_kind exec_kind_of(uint32_t object);

/* Returns the enum object_kind of objects of @kind, which is not PROGRAM_NONE. */
uint32_t exec_object_of(enum program_kind kind);

/* Asks the lab to destroy an object.  RDL_ERR_INVAL: no such kind. */
enum rdl_status exec_destroy(struct rdl_lab *lab, uint32_t kind, uint64_t raw);

/* Forgets the completion queue, queue, channel or memberships of an object that is destroyed. */
void exec_forget(struct exec_client *c, enum program_kind kind, uint64_t handle);

/* Find an object of the program by its handle; NULL if there is none. */
struct exec_cq *exec_cq_of(const struct exec_client *c, uint64_t handle);
struct exec_channel *exec_channel_of(const struct exec_client *c, uint64_t handle);

/* Finds a queue pair or shared receive queue of the program; NULL if there is none, also for other
 * kinds.  Handles are unique only within a kind.  @slot is where it may be found at once.
 */
struct exec_queue *exec_queue_of(const struct exec_client *c, enum program_kind kind,
                                 uint64_t handle, uint32_t slot);

/* Unmaps a ring, if there is one. */
void exec_ring_unmap(struct exec_ring *r);

/* Takes posts from the page, writes completions into rings and events into pipes.  Returns true if
 * there was one.
 */
bool exec_work(struct exec_client *c);

/* Takes all that the program has posted and polled so far: a call comes behind that. */
bool exec_catch_up(struct exec_client *c);

/* Maps @bytes of new shared memory that cannot shrink.  *@ret_fd is its descriptor.  Returns NULL
 * with errno on failure.
 */
void *exec_share(size_t bytes, int *ret_fd);

#endif
