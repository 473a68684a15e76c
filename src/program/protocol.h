/* SPDX-License-Identifier: MIT */
/* The protocol between a program on a host of a lab and the lab.
 *
 * The program is linked to our libibverbs.so.1 (src/program/ibverbs), which only marshals: the lab
 * has the driver, the device and all objects.  They share
 *
 *	a socket   SOCK_SEQPACKET, for calls: one program_call, then one program_answer
 *	a page     struct program_page: posted work goes to the lab, and counters come back
 *	CQ rings   struct program_cq: completions come to the program, which says what it has polled
 *	pipes      one for each completion channel, and one for asynchronous events
 *
 * Each ibv_open_device() makes a connection.  The program sends program_hello with a descriptor of
 * its own /proc/self/mem, through which the lab reads and writes registered memory.  The lab
 * answers with program_welcome and PROGRAM_WELCOME_FDS descriptors.  When the connection ends, for
 * whatever reason, all objects of the program are destroyed.
 *
 * A call sees all posts and polls before it.  Posts of several programs are taken before the lab
 * advances, so that an order on which they have agreed by other means holds.
 *
 * Nothing that a program writes is trusted.  The lab reads each shared word once and checks it;
 * shared memory is sealed, so that it cannot shrink.  Both sides are programs of one machine:
 * numbers have its byte order, and what is not used in a message is 0.
 */
#ifndef PROGRAM_PROTOCOL_H
#define PROGRAM_PROTOCOL_H

#include <stdatomic.h>
#include <stdint.h>

#define PROGRAM_MAGIC   0x504c4452u /* "RDLP" */
#define PROGRAM_VERSION 4u

/* Environment of a program: the path of the socket, and the name of its host. */
#define PROGRAM_ENV_SOCKET "RDMALAB_SOCKET"
#define PROGRAM_ENV_HOST   "RDMALAB_HOST"
/* Of the user: with this value, arming a CQ raises an event if it has completions that the program
 * has not polled, as at ConnectX.
 */
#define PROGRAM_ENV_ARM      "RDMALAB_ARM"
#define PROGRAM_ARM_UNPOLLED "unpolled"

/* In virtual time also a seed for the random numbers of the program, in hexadecimal, behind the
 * process number of the lab and a blank.  It is for the process alone that the lab has started.
 */
#define PROGRAM_ENV_SEED "RDMALAB_SEED"

/* Files in the directory of a lab: the socket, and the hosts.  The latter has a line "10.0.0.1 h1
 * 127.77.0.1" for each address of a host: the address, the name of the host, and the address of
 * this machine that stands for it.
 */
#define PROGRAM_SOCKET_FILE "socket"
#define PROGRAM_HOSTS_FILE  "hosts"

#define PROGRAM_NAME_BYTES 24u
#define PROGRAM_WHY_BYTES  104u

struct program_hello {
    uint32_t magic, version;
    char host[PROGRAM_NAME_BYTES];
};

/* The limits of the device, which do not change.  [libibverbs, struct ibv_device_attr] */
struct program_device {
    uint64_t max_mr_size;
    uint8_t guid[8];
    uint32_t vendor_id, vendor_part_id, hw_ver;
    uint32_t max_qp, max_qp_wr, max_send_sge, max_recv_sge, max_sge_rd, max_inline_data;
    uint32_t max_cq, max_cqe, max_mr, max_pd, max_mw, max_ah;
    uint32_t max_rd_atomic, max_dest_rd_atomic, max_res_rd_atomic;
    uint32_t max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
    uint32_t max_srq, max_srq_wr, max_srq_sge;
    uint32_t max_pkeys, n_gids, n_ports, ack_delay, max_fast_pages;
    uint32_t blocks_mcast_lb, can_rereg; /* 0 or 1 */
    uint32_t comp_vectors;               /* of ibv_create_cq() */
    uint32_t is_virtual; /* 1: time stands still while the program does not wait: PROGRAM_WAIT */
};

/* The answer to program_hello.  If @error is 0, descriptors come with it: the page, an eventfd that
 * wakes the lab, and the read end of the pipe of asynchronous events.
 */
#define PROGRAM_WELCOME_FDS 3u
struct program_welcome {
    uint32_t magic;
    int32_t error;               /* errno */
    char why[PROGRAM_WHY_BYTES]; /* what is wrong, for people; "" if @error is 0 */
    struct program_device device;
};

/* --- Calls ------------------------------------------------------------------------------------ */

/* X(NAME): the calls.  The members of the two unions with the name in small letters are arguments
 * and results; a call without such a member has none.
 */
#define PROGRAM_OPS(X)                                                                             \
    X(QUERY_PORT)                                                                                  \
    X(QUERY_GID)                                                                                   \
    X(QUERY_PKEY)                                                                                  \
    X(ALLOC_PD)                                                                                    \
    X(REG_MR)                                                                                      \
    X(REREG_MR)                                                                                    \
    X(ALLOC_MW)                                                                                    \
    X(CREATE_CHANNEL)                                                                              \
    X(CREATE_CQ)                                                                                   \
    X(RESIZE_CQ)                                                                                   \
    X(ARM_CQ)                                                                                      \
    X(CREATE_SRQ)                                                                                  \
    X(MODIFY_SRQ)                                                                                  \
    X(QUERY_SRQ)                                                                                   \
    X(CREATE_QP)                                                                                   \
    X(MODIFY_QP)                                                                                   \
    X(QUERY_QP)                                                                                    \
    X(CREATE_AH)                                                                                   \
    X(ATTACH_MCAST)                                                                                \
    X(DETACH_MCAST)                                                                                \
    X(DESTROY)                                                                                     \
    X(WAIT)                                                                                        \
    X(NUDGE)                                                                                       \
    X(NEW_RING)                                                                                    \
    X(CM_OPEN)                                                                                     \
    X(CM_CLOSE)                                                                                    \
    X(CM_WRITE)

enum program_op {
#define PROGRAM_OP(NAME) PROGRAM_##NAME,
    PROGRAM_OPS(PROGRAM_OP)
#undef PROGRAM_OP
        PROGRAM_OP_COUNT
};

/* Handles are numbers of the lab; 0 is none.  The kinds of objects, for DESTROY and events. */
enum program_kind {
    PROGRAM_NONE, /* events: the device or its port */
    PROGRAM_PD,
    PROGRAM_MR,
    PROGRAM_MW,
    PROGRAM_CHANNEL,
    PROGRAM_CQ,
    PROGRAM_SRQ,
    PROGRAM_QP,
    PROGRAM_AH,
    PROGRAM_KIND_COUNT
};

/* An address vector.  [libibverbs, struct ibv_ah_attr] */
struct program_av {
    uint8_t dgid[16];
    uint32_t flow_label;
    uint8_t sgid_index, hop_limit, traffic_class, sl, static_rate, port, is_global, zero;
};

/* Attributes of a queue pair: those of struct ibv_qp_attr with the same meaning. */
struct program_qp_attr {
    uint32_t state, cur_state, path_mtu, access, pkey_index, port, qkey;
    uint32_t dest_qpn, rq_psn, sq_psn, max_rd_atomic, max_dest_rd_atomic;
    uint32_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
    uint32_t en_sqd_async_notify, sq_draining;
    struct program_av av;
};

/* Sizes of a queue pair.  [libibverbs, struct ibv_qp_cap] */
struct program_cap {
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

/* X(NAME, CALL, KIND, function): the functions of libibverbs that make an object, the call that
 * each becomes, and the kind of the object.
 */
#define PROGRAM_MAKERS(X)                                                                          \
    X(ALLOC_PD, ALLOC_PD, PD, "ibv_alloc_pd")                                                      \
    X(REG_MR, REG_MR, MR, "ibv_reg_mr")                                                            \
    X(REG_MR_IOVA, REG_MR, MR, "ibv_reg_mr_iova")                                                  \
    X(ALLOC_MW, ALLOC_MW, MW, "ibv_alloc_mw")                                                      \
    X(CREATE_CHANNEL, CREATE_CHANNEL, CHANNEL, "ibv_create_comp_channel")                          \
    X(CREATE_CQ, CREATE_CQ, CQ, "ibv_create_cq")                                                   \
    X(CREATE_CQ_EX, CREATE_CQ, CQ, "ibv_create_cq_ex")                                             \
    X(CREATE_SRQ, CREATE_SRQ, SRQ, "ibv_create_srq")                                               \
    X(CREATE_SRQ_EX, CREATE_SRQ, SRQ, "ibv_create_srq_ex")                                         \
    X(CREATE_QP, CREATE_QP, QP, "ibv_create_qp")                                                   \
    X(CREATE_QP_EX, CREATE_QP, QP, "ibv_create_qp_ex")                                             \
    X(CREATE_AH, CREATE_AH, AH, "ibv_create_ah")                                                   \
    X(CREATE_AH_FROM_WC, CREATE_AH, AH, "ibv_create_ah_from_wc")

enum program_maker {
    PROGRAM_BY_NONE,
#define PROGRAM_MAKER(NAME, CALL, KIND, function) PROGRAM_BY_##NAME,
    PROGRAM_MAKERS(PROGRAM_MAKER)
#undef PROGRAM_MAKER
        PROGRAM_MAKER_COUNT
};

/* Addresses in the program from which it has called the function of libibverbs: return addresses,
 * the innermost first, 0: unknown.  Some functions are inline in infiniband/verbs.h, so that the
 * innermost can be in such a function.  The lab shows them to people, and uses them for nothing
 * else.
 */
#define PROGRAM_CALLERS 2u

struct program_call {
    uint32_t op, serial; /* enum program_op; the answer has the same serial */
    union {
        struct {
            uint32_t port, zero;
        } query_port;
        struct {
            uint32_t index, zero;
        } query_gid, query_pkey;
        struct {
            uint64_t pd, addr, length, iova;
            uint32_t access, zero; /* set of enum ibv_access_flags */
        } reg_mr;
        struct {
            uint64_t mr, pd, addr, length;
            uint32_t flags, access; /* flags: set of enum ibv_rereg_mr_flags */
        } rereg_mr;
        struct {
            uint64_t pd;
            uint32_t type, zero;
        } alloc_mw;
        struct {
            uint64_t channel; /* 0: none */
            uint32_t cqe, vector;
        } create_cq;
        struct {
            uint64_t cq;
            uint32_t cqe, zero;
        } resize_cq, new_ring;
        struct {
            uint64_t cq;
            uint32_t solicited_only, zero;
        } arm_cq;
        struct {
            uint64_t pd;
            uint32_t max_wr, max_sge, limit, zero;
        } create_srq;
        struct {
            uint64_t srq;
            uint32_t max_wr, limit, mask, zero; /* mask: set of enum ibv_srq_attr_mask */
        } modify_srq;
        struct {
            uint64_t srq;
        } query_srq;
        struct {
            uint64_t pd, send_cq, recv_cq, srq; /* srq 0: none */
            struct program_cap cap;
            uint32_t type, sq_sig_all, block_self_mcast_lb; /* type: enum ibv_qp_type */
        } create_qp;
        struct {
            uint64_t qp;
            uint32_t mask, zero; /* set of enum ibv_qp_attr_mask */
            struct program_qp_attr attr;
        } modify_qp;
        struct {
            uint64_t qp;
        } query_qp;
        struct {
            uint64_t pd;
            struct program_av av;
        } create_ah;
        struct {
            uint64_t qp;
            uint8_t gid[16];
        } attach_mcast, detach_mcast;
        struct {
            uint64_t handle;
            uint32_t kind, zero; /* enum program_kind */
        } destroy;
        struct {
            uint64_t file;
        } cm_close;
        struct {
            uint64_t file, from_file; /* from_file: of the descriptor in MIGRATE_ID; 0: none */
            uint64_t addr, bytes;     /* the command, in the program's memory */
        } cm_write;
    } u;
    uint32_t maker, zero; /* enum program_maker; PROGRAM_BY_NONE for calls that make no object */
    uint64_t callers[PROGRAM_CALLERS];
};

/* Each answer about a new object begins with its handle.
 *
 * Some answers come with a descriptor: CREATE_CHANNEL the read end of its pipe, CREATE_CQ and
 * NEW_RING the memory of the ring, CM_OPEN the file.
 */
struct program_answer {
    uint32_t serial;
    int32_t error; /* errno; not 0: there is no result */
    union {
        struct {
            uint32_t up, active_mtu, max_mtu, max_msg_sz; /* up: 0 or 1; enum ibv_mtu */
        } query_port;
        struct {
            uint8_t gid[16];
        } query_gid;
        struct {
            uint32_t pkey, zero;
        } query_pkey;
        struct {
            uint64_t handle;
        } alloc_pd, create_channel;
        struct {
            uint64_t handle;
            uint32_t lkey, rkey;
        } reg_mr, rereg_mr; /* rereg_mr: handle 0 */
        struct {
            uint64_t handle;
            uint32_t rkey, zero;
        } alloc_mw;
        struct {
            uint64_t handle;
            uint32_t cqe, entries; /* what a program gets; entries of the ring, a power of two */
        } create_cq, resize_cq, new_ring; /* the last two: handle 0; new_ring: cqe 0 */
        struct {
            uint64_t handle;
            uint32_t max_wr, max_sge, srqn, slot; /* slot: index of program_page.queues */
        } create_srq;
        struct {
            uint32_t max_wr, max_sge, limit, zero;
        } query_srq;
        struct {
            uint64_t handle;
            struct program_cap cap; /* what a program gets */
            uint32_t qpn, slot, zero;
        } create_qp;
        struct {
            struct program_qp_attr attr;
            struct program_cap cap;
            uint32_t zero;
        } query_qp;
        struct {
            uint64_t handle;
        } create_ah;
        /* Events that were sent for the object: a program takes and acknowledges them all before it
         * forgets the object.
         */
        struct {
            uint32_t completion_events, async_events;
        } destroy;
        struct {
            uint64_t handle;
        } cm_open;
        struct {
            int32_t error; /* errno of the command: the call itself has succeeded */
            uint32_t zero;
        } cm_write;
    } u;
};

/* CM_OPEN, CM_CLOSE and CM_WRITE are open(), close() and write() of /dev/infiniband/rdma_cm.
 * CM_OPEN comes with the descriptor of the file, which can be read while it has events.  The lab
 * reads a command in the memory of the program, and writes the response there.  GET_EVENT is
 * answered with EAGAIN while there is none.
 */

/* A ring has more entries than its queue.  A queue that grows beyond its ring needs another one,
 * which can fail on both sides.  So NEW_RING comes first, and changes nothing.  RESIZE_CQ then
 * resizes the queue and puts its completions into the new ring, whose numbers they keep.
 * program_ring_entries() returns the entries that a queue of @cqe needs; 0: there is no such queue.
 */
static inline uint32_t program_ring_entries(uint32_t cqe)
{
    uint32_t n = 1;

    while (n && n <= cqe)
        n *= 2;
    return n;
}

/* WAIT, only if time is virtual: the lab answers when something has happened to the program: a
 * completion, an event; or when nothing can happen any more (error ETIME).
 *
 * NUDGE, which has no answer itself: the lab answers a WAIT at once, if there is one.  Another
 * thread of the program has a call to make.  It is the only call that may come before the answer to
 * another.
 */

/* --- The page --------------------------------------------------------------------------------- */

#define PROGRAM_QUEUES     32768u /* a device has at most 16384 of each of the two kinds */
#define PROGRAM_POST_BYTES (1u << 20)

/* Counters of a queue pair, or of a shared receive queue, which has receives alone: the numbers of
 * work requests, modulo 2^32, whose places in the queue are free again.
 */
struct program_queue {
    _Atomic uint32_t sends_over, receives_over;
};

struct program_page {
    _Atomic uint32_t lab_sleeps; /* 1: after posting, the program writes 1 to the eventfd */
    /* Calls that the program was about to send, ever: while the lab is awake, it reads the socket
     * only if there are more than it has read, and now and then.
     */
    _Atomic uint32_t called;
    _Atomic uint32_t yielded; /* times that a poll found nothing and gave the processor away */
    uint32_t zero[13];
    /* Bytes of posts that the program has written, and that the lab has taken, ever.  Byte number n
     * is posts[n % PROGRAM_POST_BYTES].
     */
    _Atomic uint64_t posted;
    uint64_t zero2[7];
    _Atomic uint64_t taken;
    uint64_t zero3[7];
    struct program_queue queues[PROGRAM_QUEUES];
    uint8_t posts[PROGRAM_POST_BYTES];
};

enum program_post_kind {
    PROGRAM_POST_PAD, /* nothing: the bytes up to the end of the ring.  Only @bytes and @kind count
                       */
    PROGRAM_POST_SEND,
    PROGRAM_POST_RECV,
    PROGRAM_POST_SRQ_RECV
};

/* A work request.  It is followed by its elements, or with IBV_SEND_INLINE by its data.  @bytes
 * counts all of it, and is a multiple of PROGRAM_POST_ALIGN.  A post does not wrap: before one that
 * would, there is PROGRAM_POST_PAD.  More posts of the same list follow if @more is 1.
 */
#define PROGRAM_POST_ALIGN 16u
struct program_post {
    uint32_t bytes;
    uint16_t kind, more; /* enum program_post_kind */
    uint64_t queue;      /* handle of the queue pair or shared receive queue */
    uint64_t wr_id;
    uint32_t n_sge, inline_bytes; /* one of them is 0 */
    /* Sends alone, as in struct ibv_send_wr. */
    uint32_t opcode, flags;
    uint8_t imm[4]; /* as on the wire */
    uint32_t invalidate_rkey;
    uint64_t remote_addr, compare_add, swap;
    uint32_t rkey, remote_qpn, remote_qkey;
    uint32_t slot;   /* that of the queue, which saves a search; a wrong one does no harm */
    uint64_t ah;     /* handle */
    uint64_t mw, mr; /* handles: IBV_WR_BIND_MW */
    uint64_t bind_addr, bind_length;
    uint32_t bind_access, bind_rkey; /* bind_rkey: the new R_Key, windows of type 2 */
    uint32_t type_1, zero2;          /* 1: ibv_bind_mw() of a window of type 1 */
};

struct program_sge {
    uint64_t addr;
    uint32_t length, lkey;
};

/* --- Completions ------------------------------------------------------------------------------ */

/* [libibverbs, struct ibv_wc] */
struct program_wc {
    uint64_t wr_id;
    uint64_t time_ns; /* when the device wrote it, on the clock of the lab */
    uint32_t status, opcode, vendor_err, byte_len;
    uint8_t imm[4];
    uint32_t invalidated_rkey, qpn, src_qpn, wc_flags, sl;
};

struct program_cq {
    _Atomic uint64_t written; /* completions ever; number n is ring[n % entries] */
    uint64_t zero[7];
    _Atomic uint64_t polled; /* what the program has polled of them */
    uint64_t zero2[7];
    struct program_wc ring[];
};

/* --- Events ----------------------------------------------------------------------------------- */

/* An event in a pipe.  On a channel it is a completion event of the CQ @handle, without kind and
 * type.
 */
struct program_event {
    uint64_t handle;
    uint32_t kind, type; /* enum program_kind; enum ibv_event_type */
};

#define PROGRAM_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has no padding")
PROGRAM_IS(struct program_hello, 32);
PROGRAM_IS(struct program_call, 152);
PROGRAM_IS(struct program_av, 28);
PROGRAM_IS(struct program_qp_attr, 100);
PROGRAM_IS(struct program_post, 144);
PROGRAM_IS(struct program_wc, 56);
PROGRAM_IS(struct program_event, 16);

#endif
