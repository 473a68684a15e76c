/* SPDX-License-Identifier: MIT */
/* Two queue pairs and a wire between them: the transport in an environment of arrays.  Rings are
 * arrays of work requests.  The wire takes a microsecond and can lose, copy or delay frames.  The
 * invariants of both ends are checked after every tick.  In the end the transport must have freed
 * everything that it allocated from the arena.
 */
#ifndef TESTS_UNIT_XPORT_RIG_H
#define TESTS_UNIT_XPORT_RIG_H

#include "emu/base/prng.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/hca/mr.h"
#include "emu/trace/kind.h"
#include "emu/xport/whole.h"
#include "emu/xport/xport_qp.h"

#define RIG_RING    1024u
#define RIG_SGES    4u
#define RIG_INLINE  640u /* more than two packets of 256 bytes */
#define RIG_MEMORY  (256u * 1024u)
#define RIG_ADDR    0x7f0000000200u /* of the region: deliberately not page aligned */
#define RIG_REGION  (RIG_MEMORY - 4096u)
#define RIG_FRAMES  8192u
#define RIG_EVENTS  65536u
#define RIG_RULES   8u
#define RIG_WIRE_NS 1000u
#define RIG_DUE_MAX 4096u /* events scheduled at a time */
#define RIG_EACH_NS 100u  /* time for which a frame occupies the port */
#define RIG_QKEY    0x1234u
#define ANY         0xffffffffu

/* A posted request, as a ring would hold it. */
struct rig_post {
    uint64_t wr_id;
    uint32_t opcode, flags;
    uint8_t imm[4];
    uint32_t n_sge; /* as in the request; at most RIG_SGES are present */
    uint32_t body_bytes;
    bool truncated;
    uint64_t remote_addr, compare_add, swap;
    uint32_t rkey;
    struct datagram_to to;
    uint32_t invalidate_rkey;
    struct bind_request bind; /* of BIND_MW */
    struct reg_request reg;   /* of REG_MR */
    struct sge sge[RIG_SGES];
    uint8_t inline_data[RIG_INLINE];
};

struct rig_queue {
    struct rig_post posts[RIG_RING];
    uint32_t posted, taken, returned;
    bool broken;
};

struct rig_host {
    struct rig *rig;
    uint32_t number;
    struct ram ram;
    struct hca hca;
    struct xport x;
    struct qp *qp;
    struct mkey *mr;
    struct srq *srq;           /* NULL: none */
    struct rig_queue queue[2]; /* by enum wq */
    struct completion wc[2][RIG_RING];
    uint32_t n_wc[2];
    uint32_t n_async[ASYNC_EVENTS]; /* asynchronous events raised, by enum async_event */
    bool egress_due;
    bool cq_failed; /* completions are lost */
    bool is_alone;  /* it may have no connection */
};

enum rig_fate { RIG_PASS, RIG_LOSE, RIG_COPY, RIG_DELAY };

/* The @nth frame (from 1) from @from with this opcode and PSN (or ANY) meets @fate. */
struct rig_rule {
    uint32_t from, opcode, psn, nth;
    enum rig_fate fate;
    uint32_t seen;
};

struct rig_frame {
    uint8_t bytes[XPORT_FRAME_BYTES];
    uint32_t len;
    struct whole *whole; /* in place of @bytes: a message that goes whole */
    ev_id tx;
};

struct rig_config {
    enum qp_type type; /* of both queue pairs */
    uint32_t mtu;      /* enum mtu */
    uint32_t sq_psn;
    uint32_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
    uint32_t max_send_wr;
    bool sig_all, ipv6;
    enum profile profile[2]; /* of each host */
    uint32_t peer_mtu;       /* of host 1 if it differs from @mtu; else 0 */
    bool credits[2];         /* of each host */
    uint32_t rd_atomic;      /* READs and atomics that may be outstanding */
    uint32_t access;         /* of region and queue pair on each host: set of enum access_bit */
    bool srq;                /* host 1 uses a shared receive queue of another protection domain */
};

struct rig {
    struct arena *arena;
    size_t bare_bytes; /* allocated from the arena without the devices */
    struct trace trace;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct sim sim;
    struct rig_host host[2];
    struct rig_frame *frames[RIG_FRAMES];
    uint32_t n_frames;
    struct rig_rule rules[RIG_RULES];
    uint32_t n_rules;
    struct prng chance;
    uint32_t loss, copy, delay; /* per mille */
    uint32_t shortcut;          /* per mille of times that there is a shortcut to the peer */
    uint32_t copy_ns;           /* additional delay of a copy */
    struct ev *events;
    uint32_t n_events;
    uint32_t n_ticks;
    uint32_t n_solicited; /* frames with the SE bit */
};

/* Returns the other one of the two hosts. */
static inline struct rig_host *rig_other(struct rig_host *h)
{
    return &h->rig->host[1 - h->number];
}

/* rig_device.c: what the transport asks of the device of a struct rig_host. */
extern const struct xport_ops rig_device_ops;

/* MTU 256, PSN 100, timeout 4 (65.536 us), 3 retries, 2 RNR retries, RNR timer 1 (10 us). */
struct rig_config rig_defaults(void);

/* Two connected hosts in RTS. */
struct rig *rig_new(const struct rig_config *c);
void rig_free(struct rig *r);

/* Fills the region of @host with bytes that depend on offset and @seed. */
void rig_fill(struct rig *r, uint32_t host, uint8_t seed);
void rig_read(struct rig *r, uint32_t host, uint32_t offset, void *out, uint32_t bytes);

/* Returns true if @bytes at the two offsets of hosts 0 and 1 are equal. */
bool rig_same(struct rig *r, uint32_t offset0, uint32_t offset1, uint32_t bytes);

/* The next free entry of a queue, filled in with one SGE at @offset of the region. */
struct rig_post *rig_prepare(struct rig *r, uint32_t host, enum wq wq, uint64_t wr_id,
                             uint32_t offset, uint32_t bytes);

/* The same for an RDMA WRITE, READ or atomic of host 0 to @remote in the region of host 1. */
struct rig_post *rig_prepare_remote(struct rig *r, enum wr_opcode opcode, uint64_t wr_id,
                                    uint32_t offset, uint32_t bytes, uint32_t remote);

/* Posts the entry of rig_prepare() and kicks. */
void rig_post(struct rig *r, uint32_t host, enum wq wq);

/* rig_prepare() and rig_post() for a signaled SEND, and for a receive. */
void rig_send(struct rig *r, uint64_t wr_id, uint32_t offset, uint32_t bytes);
void rig_recv(struct rig *r, uint64_t wr_id, uint32_t offset, uint32_t bytes);

void rig_rule(struct rig *r, uint32_t from, uint32_t opcode, uint32_t psn, uint32_t nth,
              enum rig_fate fate);

/* Delivers a packet to @to as if the other host had sent it. */
void rig_inject(struct rig *r, uint32_t to, const struct packet *p);

/* A packet from the peer of @to's connection. */
struct packet rig_packet(struct rig *r, uint32_t to, uint8_t opcode, uint32_t psn);

/* Dispatches events until none is due, or until @until_ns. */
void rig_run(struct rig *r);
void rig_run_until(struct rig *r, uint64_t until_ns);

/* Modifies the queue pair of @host to ERR or RESET. */
void rig_move(struct rig *r, uint32_t host, enum qp_state to);

/* Counts the events of a kind on @host (or ANY); if @field is not NULL, only those with this value.
 */
uint32_t rig_count(const struct rig *r, enum ev_kind kind, uint32_t host, const char *field,
                   uint64_t value);

/* The @n-th (from 0) event of a kind on @host; it must exist. */
const struct ev *rig_event(const struct rig *r, enum ev_kind kind, uint32_t host, uint32_t n);

/* Asserts that completion @n of a queue has this wr_id and status. */
void rig_expect(const struct rig *r, uint32_t host, enum wq wq, uint32_t n, uint64_t wr_id,
                enum wc_status status);

static inline const struct xport_qp *rig_rc(const struct rig *r, uint32_t host)
{
    return xport_of_const(r->host[host].qp);
}

#endif
