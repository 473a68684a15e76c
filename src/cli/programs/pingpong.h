/* SPDX-License-Identifier: MIT */
/* Guest programs compatible with ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong and
 * ibv_srq_pingpong (rdma-core, libibverbs/examples).  struct pingpong_kind has their differences.
 *
 * Both ends exchange LID, QPN, PSN and GID over TCP as a line of fixed length.  They bring their
 * queue pairs to RTS and send messages back and forth.  The program is a state machine: the caller
 * calls pingpong_go() whenever something may have changed, and transfers the lines.
 *
 * At its end the program prints what the original prints.  An RC program then stays for 268 ms, and
 * again as long as its host receives frames: its last ACK may have been lost, and the peer then
 * retransmits.  (The original exits at once.)  If a message of a UC or UD program is lost, both
 * sides wait until their patience is over; the originals wait forever.
 */
#ifndef CLI_PROGRAMS_PINGPONG_H
#define CLI_PROGRAMS_PINGPONG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/programs/patience.h"
#include "cli/programs/pingpong_data.h"
#include "emu/wire/addr.h"
#include "rdmalab/srq.h"
#include "rdmalab/verbs.h"

/* "LLLL:QQQQQQ:PPPPPP:", 32 digits of the GID, and the NUL, which is transmitted too. */
#define PINGPONG_LINE_BYTES 52u
#define PINGPONG_DONE_BYTES 5u /* "done" and its NUL, which the client sends after the lines */

#define PINGPONG_QPS_MAX 256u /* maximum of -q, for srq_pingpong */

/* Properties of a kind of pingpong. */
struct pingpong_kind {
    const char *name; /* the original program is ibv_NAME */
    uint32_t qp_type; /* enum qp_type */
    uint32_t size;    /* default of -s */
    uint32_t front;   /* bytes before a received message: the GRH area */
    char before_gid;  /* separator before the GID in the printed local address */
    uint32_t n_qp;    /* default of -q */
    uint32_t n_lines; /* lines that each side sends, even if it has fewer queue pairs (-q) */
    bool has_srq;     /* its queue pairs share one receive queue; false: each has its own */
};

/* Returns the properties of @program, a value of enum program (cli/lang/words.h) that is a
 * pingpong.
 */
const struct pingpong_kind *pingpong_kind(uint32_t program);

/* The options of the program.  -s and so on are the options of the original. */
struct pingpong_config {
    const struct pingpong_kind *kind;
    rdl_host host;
    char host_name[RDL_NAME_BYTES];
    char server[64]; /* name or address of the server's machine; "": this is the server */
    char listen[ADDR_TEXT_MAX]; /* of a server: an address of this machine; "": loopback */
    uint16_t port;
    uint32_t size;      /* -s */
    uint32_t iters;     /* -n */
    uint32_t n_qp;      /* -q */
    uint32_t mtu;       /* -m, enum mtu; UD uses the port's */
    uint32_t rx_depth;  /* -r */
    bool use_events;    /* -e */
    uint32_t gid_index; /* -g */
    uint8_t sl;         /* -l */
    uint32_t psn;       /* first PSN that this side sends; the original uses a random number */
    bool check;         /* check the content of received messages, see pingpong_data.h */
    struct patience patience;
};

enum pingpong_state {
    PP_ALLOC_PD,
    PP_REG_MR,
    PP_CREATE_CQ,
    PP_CREATE_SRQ, /* only if kind->has_srq */
    PP_CREATE_QP,
    PP_INIT, /* queue pairs go to INIT; PP_RTR, PP_RTS likewise */
    PP_ARM,  /* with -e: requests a completion event */
    /* The lines of this side are ready; the last pingpong_remote() leads to the next state. */
    PP_EXCHANGE,
    PP_RTR,
    PP_RTS,
    PP_CREATE_AH, /* UD only */
    /* Ready to send; pingpong_start() leads to the next state. */
    PP_CONNECTED,
    PP_RUN,
    /* RC only: the result is printed; the device still answers retransmissions of the peer. */
    PP_LINGER,
    PP_DESTROY_QP,
    PP_DESTROY_SRQ,
    PP_DESTROY_CQ,
    PP_DEREG_MR,
    PP_DESTROY_AH, /* UD only */
    PP_DEALLOC_PD,
    PP_DONE,
    PP_FAILED
};

/* A queue pair of this side, and its peer at the other side. */
struct pingpong_end {
    rdl_qp qp;
    uint32_t qpn;                    /* of @qp */
    uint32_t remote_qpn, remote_psn; /* remote_...: of the peer */
    uint8_t remote_gid[16];
    /* Bit 0: the receive, bit 1: the send of the running round trip is not complete yet. */
    unsigned pending;
};

struct pingpong {
    struct rdl_lab *lab;
    struct pingpong_config config;
    FILE *out;
    enum pingpong_state state;
    bool asked; /* a control request of this program is pending */
    char error[160];
    enum pingpong_state failed_in; /* the state before PP_FAILED */

    rdl_pd pd;
    rdl_mr mr;
    rdl_cq cq;
    rdl_srq srq;
    rdl_ah ah;
    struct pingpong_end ends[PINGPONG_QPS_MAX];
    uint32_t at;            /* index in @ends of the queue pair that the state applies to */
    uint64_t buf;           /* address of the buffer for messages, in memory of the host */
    struct rdl_mr_info mem; /* of @mr, the region over the buffer */
    uint8_t gid[16];        /* GID of this side */

    struct pingpong_data data;
    uint32_t posted;               /* number of posted receives that are not complete */
    uint32_t n_sent, n_rcvd;       /* number of messages sent and received so far */
    uint64_t events_seen;          /* number of completion events processed, with -e */
    uint64_t started_ns, ended_ns; /* beginning and end of PP_RUN, in real time from the caller */
    uint64_t moved_ns;  /* real time of the last completion in PP_RUN, or of its beginning */
    uint64_t linger_ns; /* when PP_LINGER ends, in real time */
    /* Number of frames that the host had received when PP_LINGER began or was extended. */
    uint64_t heard;
};

/* Initializes the program, without any request to the lab.  Free with pingpong_done(). */
void pingpong_init(struct pingpong *p, struct rdl_lab *lab, const struct pingpong_config *config,
                   FILE *out);
void pingpong_done(struct pingpong *p);

/* Executes the next steps of the program, as far as possible without waiting.  @now_ns is real
 * time.  Cheap if there is nothing to do.
 */
void pingpong_go(struct pingpong *p, uint64_t now_ns);

/* Writes line @i of this side to @ret; @i is less than kind->n_lines.  The state must be
 * PP_EXCHANGE.  A line beyond the number of queue pairs has zeros.
 */
void pingpong_line(const struct pingpong *p, uint32_t i, char ret[PINGPONG_LINE_BYTES]);

/* Passes in line @i of the other side, from 0 and in order.  The state must be PP_EXCHANGE.
 * Returns false, with state PP_FAILED, if the line is invalid.
 */
bool pingpong_remote(struct pingpong *p, uint32_t i, const char line[PINGPONG_LINE_BYTES]);

/* Begins to send messages, because the other side is ready, too.  The state must be PP_CONNECTED.
 */
void pingpong_start(struct pingpong *p, uint64_t now_ns);

/* Prints to p->out the address of end @i if @local, otherwise that of its peer, for people. */
void pingpong_print_side(const struct pingpong *p, uint32_t i, bool local);

/* Ends the program: its state is PP_FAILED, and p->error is @why. */
void pingpong_fail(struct pingpong *p, const char *why);

/* Returns the name of @state for messages: "connecting", "running", "done". */
const char *pingpong_state_name(enum pingpong_state state);

static inline bool pingpong_is_server(const struct pingpong *p)
{
    return p->config.server[0] == '\0';
}

#endif
