/* SPDX-License-Identifier: MIT */
/* Guest programs that speak the protocols of ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong and
 * ibv_srq_pingpong (rdma-core, libibverbs/examples).  They differ in what struct pingpong_kind
 * says.
 *
 * Both ends tell each other LID, QPN, PSN and GID over TCP as one line of fixed length, bring their
 * queue pairs to RTS, and then send a message to and fro.  The program is a state machine that is
 * asked to go on whenever something may have changed; the line travels outside it.
 *
 * At its end it prints what the original prints.  A reliable one then stays for a while: its last
 * acknowledge may have been lost, and whoever misses it asks again.  (The original leaves at once.)
 * An unreliable one whose message is lost waits for ever, as the original does.
 */
#ifndef CLI_PROGRAMS_PINGPONG_H
#define CLI_PROGRAMS_PINGPONG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/programs/pingpong_data.h"
#include "emu/wire/addr.h"
#include "rdmalab/srq.h"
#include "rdmalab/verbs.h"

/* "LLLL:QQQQQQ:PPPPPP:" and 32 digits of the GID, with the NUL that goes over the wire too. */
#define PINGPONG_LINE_BYTES 52u
#define PINGPONG_DONE_BYTES 5u /* "done" and its NUL: the client is ready */

#define PINGPONG_QPS_MAX 256u /* of srq_pingpong */

/* What is particular to a kind. */
struct pingpong_kind {
    const char *name; /* the original's is ibv_NAME */
    uint32_t qp_type; /* enum qp_type */
    uint32_t size;    /* -s, if it is not given */
    uint32_t front;   /* bytes in front of a message that was received: the GRH area */
    char before_gid;  /* what stands there in the line of the local address */
    uint32_t n_qp;    /* -q, if it is not given */
    uint32_t n_lines; /* that each side tells the other, however many queue pairs it has */
    bool has_srq;     /* all queue pairs take their receives from one queue */
};

/* @program: one of enum program (cli/lang/words.h) that is a pingpong. */
const struct pingpong_kind *pingpong_kind(uint32_t program);

struct pingpong_config {
    const struct pingpong_kind *kind;
    rdl_host host;
    char host_name[RDL_NAME_BYTES];
    char server[64];            /* name or address of the server's machine; "": be the server */
    char listen[ADDR_TEXT_MAX]; /* of a server: an address of this machine; "": its loopback */
    uint16_t port;
    uint32_t size;      /* -s */
    uint32_t iters;     /* -n */
    uint32_t n_qp;      /* -q */
    uint32_t mtu;       /* -m, enum mtu; UD has the port's */
    uint32_t rx_depth;  /* -r */
    bool use_events;    /* -e */
    uint32_t gid_index; /* -g */
    uint8_t sl;         /* -l */
    uint32_t psn;       /* of its first packet; the original draws it at random */
    bool check;         /* look at every byte received */
};

enum pingpong_state {
    PP_ALLOC_PD,
    PP_REG_MR,
    PP_CREATE_CQ,
    PP_CREATE_SRQ, /* with one */
    PP_CREATE_QP,
    PP_INIT,
    PP_ARM,      /* with -e */
    PP_EXCHANGE, /* the line of this side is ready; pingpong_remote() goes on */
    PP_RTR,
    PP_RTS,
    PP_CREATE_AH, /* of UD */
    PP_CONNECTED, /* all is there; pingpong_start() goes on, when the other side is there too */
    PP_RUN,
    PP_LINGER, /* of RC: has printed its result, and answers what the peer repeats */
    PP_DESTROY_QP,
    PP_DESTROY_SRQ,
    PP_DESTROY_CQ,
    PP_DEREG_MR,
    PP_DESTROY_AH, /* of UD */
    PP_DEALLOC_PD,
    PP_DONE,
    PP_FAILED
};

/* A queue pair and its peer. */
struct pingpong_end {
    rdl_qp qp;
    uint32_t qpn;
    uint32_t remote_qpn, remote_psn;
    uint8_t remote_gid[16];
    unsigned pending; /* bits: a receive, a send of this round is outstanding */
};

struct pingpong {
    struct rdl_lab *lab;
    struct pingpong_config config;
    FILE *out;
    enum pingpong_state state;
    bool asked; /* a control request of this program is under way */
    char error[160];
    enum pingpong_state failed_in;

    rdl_pd pd;
    rdl_mr mr;
    rdl_cq cq;
    rdl_srq srq;
    rdl_ah ah;
    struct pingpong_end ends[PINGPONG_QPS_MAX];
    uint32_t at; /* the one that the state is about */
    uint64_t buf;
    struct rdl_mr_info mem;
    uint8_t gid[16]; /* of this side */

    struct pingpong_data data;
    uint32_t posted; /* receives in the queue */
    uint32_t n_sent, n_rcvd;
    uint64_t events_seen;          /* completion events, with -e */
    uint64_t started_ns, ended_ns; /* real time, by the caller's clock */
    uint64_t linger_ns;            /* until then */
    uint64_t heard;                /* frames of the host when lingering began or went on */
};

/* Begins; nothing has been asked of the lab yet.  Free with pingpong_done(). */
void pingpong_init(struct pingpong *p, struct rdl_lab *lab, const struct pingpong_config *config,
                   FILE *out);
void pingpong_done(struct pingpong *p);

/* Goes on as far as it can.  @now_ns is real time.  Cheap when nothing can be done. */
void pingpong_go(struct pingpong *p, uint64_t now_ns);

/* Has the state PP_EXCHANGE: line @i of this side, of kind->n_lines, for the other. */
void pingpong_line(const struct pingpong *p, uint32_t i, char ret[PINGPONG_LINE_BYTES]);

/* Line @i of the other side, in their order; false, and the state is PP_FAILED, if it is none. */
bool pingpong_remote(struct pingpong *p, uint32_t i, const char line[PINGPONG_LINE_BYTES]);

/* Has the state PP_CONNECTED: the other side is ready as well. */
void pingpong_start(struct pingpong *p, uint64_t now_ns);

/* The line that people see of the address of end @i, or of its peer. */
void pingpong_print_side(const struct pingpong *p, uint32_t i, bool local);

/* Ends it with an error. */
void pingpong_fail(struct pingpong *p, const char *why);

/* "connecting", "running", "done", ...: where it is, for people. */
const char *pingpong_state_name(enum pingpong_state state);

static inline bool pingpong_is_server(const struct pingpong *p)
{
    return p->config.server[0] == '\0';
}

#endif
