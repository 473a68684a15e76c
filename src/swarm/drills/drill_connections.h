/* SPDX-License-Identifier: MIT */
/* The drill of connections: the interface between its files.
 *
 * drill_connections_ids.c, _calls.c and _events.c have the programs, _qps.c their queue pairs.
 * drill_connections_kernel.c is a model of the connection managers of the hosts, and _messages.c
 * has their reaction to each message.
 *
 * The model is written from the specification and from Linux, not from the code in guest/cm.  It
 * reads each message from the frame that carried it, and expects exactly the messages and events
 * that follow.  Functions that return bool return false if the drill failed, unless their comment
 * says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_CONNECTIONS_H
#define SWARM_DRILLS_DRILL_CONNECTIONS_H

#include "emu/facts/enum/port_space.h"
#include "emu/wire/addr.h"
#include "emu/wire/mad.h"
#include "rdmalab/cm.h"
#include "swarm/drills/drill.h"
#include "swarm/drills/rig.h"

#define CONN_IDS      128u /* most IDs of all hosts */
#define CONN_CHANNELS 2u   /* of each host */
#define CONN_EVENTS   256u
#define CONN_FRAMES   1024u /* messages whose bytes are kept */
#define CONN_ARRIVED  64u
#define CONN_EXPECTED 16u
#define CONN_NOTHING  UINT32_MAX
#define CONN_BYTES    64u /* of a message between two queue pairs */
#define MS            UINT64_C(1000000)

/* The share of a host in an ID: what its kernel knows.  [cm_rules.def has names for these states;
 * the model needs fewer]
 */
enum conn_state {
    CONN_IDLE,       /* no connection, yet or any more */
    CONN_ASKED,      /* REQ sent */
    CONN_REPLIED_TO, /* REP received; the program has to establish */
    CONN_REQUESTED,  /* REQ received; the program has to accept */
    CONN_REPLIED,    /* REP sent */
    CONN_UP,
    CONN_DREQ_SENT,
    CONN_DREQ_RCVD,
    CONN_TIMEWAIT,
    CONN_SIDR_ASKED,
    CONN_SIDR_REQUESTED
};

/* The last call of a program for an ID that led on. */
enum conn_step { STEP_NEW, STEP_QUERY, STEP_ADDR, STEP_ROUTE, STEP_CONNECT, STEP_LISTEN };

/* The address of a listener: any of IPv4, of both versions, or one of the host. */
enum conn_form { CONN_ANY4, CONN_ANY6, CONN_OWN4, CONN_OWN6, CONN_FORMS };

struct conn_id {
    bool is_used, is_told; /* told: the program knows it */
    bool is_server;        /* made by a request */
    bool is_accepted;      /* server: its program has accepted it */
    unsigned host, channel;
    rdl_cm_id id;
    uint32_t number; /* of the host's IDs */
    enum port_space space;
    enum conn_step step;
    enum conn_state state;
    bool is_over;      /* rdma_cm has said DISCONNECTED */
    bool is_known;     /* messages find it by the numbers of its peer */
    bool has_ib;       /* it has sent or received a request */
    bool is_longer;    /* a MRA has come */
    uint32_t listener; /* server: index, while its request was not taken */
    uint32_t backlog, n_waiting;
    enum conn_form form;                       /* of a listener */
    uint16_t port;                             /* of a listener, or that a client asks */
    uint16_t own_port;                         /* of a client */
    uint32_t serial;                           /* names a client in its private data */
    uint32_t comm, peer_comm;                  /* 0: not known */
    uint32_t qpn, psn, remote_qpn, remote_psn; /* qpn: in messages */
    uint32_t resources, depth;                 /* that its program gave, or was told */
    uint64_t timeout_ns, wait_ns, due_ns;      /* due_ns 0: no timer runs */
    uint32_t retries, last;                    /* last: enum cm_message that waits for an answer */
    uint32_t n_posted, n_unacked;              /* events that wait, or were not acknowledged */
    bool has_qp, is_rts, is_err;
    struct rig_end end;
};

/* An event in a channel that nobody has taken. */
struct conn_event {
    uint32_t id; /* index */
    uint32_t kind;
    int status;
    size_t private_bytes;
    uint32_t serial; /* that its private data begins with; CONN_NOTHING: all bytes are 0 */
    uint32_t resources, depth, qpn;
};

struct conn_channel {
    rdl_cm_channel channel;
    struct conn_event events[CONN_EVENTS];
    uint32_t n;
    uint32_t acks[CONN_EVENTS]; /* IDs of the events that were taken, the oldest first */
    uint32_t n_acks;
};

/* A message to send or an event to tell that must come next. */
struct conn_expected {
    bool is_event;
    uint32_t what; /* enum cm_message or enum rdma_cm_event */
    int status;    /* of an event; reason of a REJ */
    uint32_t id;
    struct conn_event event;
};

struct conn_frame {
    uint64_t tx;
    uint8_t mad[MAD_BYTES];
};

struct connections {
    struct conn_event unheard; /* an event that no program is told */
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    uint32_t family; /* index of the addresses of clients: 0 is IPv4, 1 is IPv6 */
    rdl_pd pd[RIG_HOSTS];
    rdl_cq cq[RIG_HOSTS];
    uint64_t base[RIG_HOSTS];
    uint32_t lkey[RIG_HOSTS];
    struct conn_channel channels[RIG_HOSTS][CONN_CHANNELS];
    struct conn_id ids[CONN_IDS];
    uint32_t n_created[RIG_HOSTS], n_serials, n_qps;
    struct conn_frame frames[CONN_FRAMES];
    uint32_t n_frames;
    struct conn_frame arrived[RIG_HOSTS][CONN_ARRIVED]; /* and were not heard yet */
    uint32_t n_arrived[RIG_HOSTS];
    struct conn_expected expected[RIG_HOSTS][CONN_EXPECTED];
    uint32_t n_expected[RIG_HOSTS];
    uint64_t heard;                    /* events of the trace */
    uint64_t at_ns;                    /* time of the one that is being heard; 0: a program calls */
    rdl_fault faults[DRILL_STEPS_MAX]; /* at most one of each step */
    uint32_t n_faults;
    uint64_t wr_id;
};

static inline struct connections *connections_of(const struct drill *d)
{
    return d->own;
}

/* The number of a host in the drill, from its number @host in events. */
static inline uint32_t conn_host(const struct connections *s, uint32_t host)
{
    return host + 1 - (uint32_t)s->host[0].raw;
}

static inline uint32_t conn_index(const struct connections *s, const struct conn_id *id)
{
    return (uint32_t)(id - s->ids);
}

/* The number of a client or server with which its private data begins. */
static inline uint32_t conn_serial(const uint8_t *private_data)
{
    return (uint32_t)private_data[0] << 8 | private_data[1];
}

/* --- The kernels (drill_connections_kernel.c) ------------------------------------------------- */

/* Takes a free place for an ID of @host; NULL, and the drill fails: there is none. */
struct conn_id *conn_new(struct drill *d, unsigned host);

/* Expect a message, and an event, of @id next. */
void conn_expect_sent(struct drill *d, unsigned host, uint32_t message, uint32_t reason);
struct conn_event *conn_expect_event(struct drill *d, struct conn_id *id, uint32_t kind,
                                     int status);

/* Starts the timer of the message @message, which was sent now. */
void conn_await(struct drill *d, struct conn_id *id, uint32_t message, uint64_t ns);

/* Go to the states without a connection. */
void conn_end(struct conn_id *id);
void conn_enter_timewait(struct drill *d, struct conn_id *id);

/* Reads the events of the trace, and compares all that connection managers did with the model. */
bool conn_hear(struct drill *d);

/* Runs until @until_ns, tick by tick. */
bool conn_run_until(struct drill *d, uint64_t until_ns);

/* Forgets @id, whose program has destroyed it, with its events and its requests. */
void conn_forget(struct drill *d, struct conn_id *id);

/* The kernel of @host gets the message @m of its peer (drill_connections_messages.c). */
void conn_receive(struct drill *d, unsigned host, const struct mad *m);

/* --- Programs (drill_connections_ids.c, _calls.c, _events.c) ---------------------------------- */

/* Checks that a call that returned @st, with the errno *@have, had the errno @want, and what it
 * caused.
 */
bool conn_is_errno(struct drill *d, enum rdl_status st, const int *have, int want,
                   const char *what);

/* Returns true if the REP was received, and the program has to establish. */
static inline bool conn_is_replied_to(const struct conn_id *id)
{
    return id->state == CONN_REPLIED_TO;
}

/* conn_pick() draws an ID that a program knows, of which @fits is true.  conn_pick_mostly() now and
 * then draws another one, of which @else_fits is.  They return NULL if there is none.
 */
struct conn_id *conn_pick(struct drill *d, bool (*fits)(const struct conn_id *id));
struct conn_id *conn_pick_mostly(struct drill *d, bool (*fits)(const struct conn_id *id),
                                 bool (*else_fits)(const struct conn_id *id));
bool conn_is_client(const struct conn_id *id);

/* Returns NULL if there are enough IDs, or if the drill failed. */
struct conn_id *conn_create(struct drill *d);

/* Calls of the program of @id, also where the kernel must refuse them. */
bool conn_resolve(struct drill *d, struct conn_id *id, bool is_nobody);
bool conn_route(struct drill *d, struct conn_id *id);
bool conn_accept(struct drill *d, struct conn_id *id);
bool conn_establish(struct drill *d, struct conn_id *id);
bool conn_disconnect(struct drill *d, struct conn_id *id);
bool conn_destroy(struct drill *d, struct conn_id *id);

/* Takes and acknowledges all events of all channels. */
bool conn_take_all(struct drill *d);

/* Steps. */
void conn_do_listen(struct drill *d);
void conn_do_resolve(struct drill *d);
void conn_do_route(struct drill *d);
void conn_do_connect(struct drill *d);
void conn_do_dial(struct drill *d);
void conn_do_accept(struct drill *d);
void conn_do_establish(struct drill *d);
void conn_do_reject(struct drill *d);
void conn_do_disconnect(struct drill *d);
void conn_do_notify(struct drill *d);
void conn_do_destroy(struct drill *d);
void conn_do_take(struct drill *d);
void conn_do_ack(struct drill *d);

/* --- Queue pairs (drill_connections_qps.c) ---------------------------------------------------- */

bool conn_create_qp(struct drill *d, struct conn_id *id);
bool conn_destroy_qp(struct drill *d, struct conn_id *id);

/* Moves the queue pair to @state with the attributes of rdl_cm_qp_attr(), which must be right. */
bool conn_move_qp(struct drill *d, struct conn_id *id, uint32_t state);

/* Moves the queue pair to ERR, as librdmacm does when a connection ends: nothing is sent then. */
bool conn_fail_qp(struct drill *d, struct conn_id *id);

/* Sends a message from @from to @to, whose queue pairs are in RTS and connected. */
bool conn_pass_data(struct drill *d, struct conn_id *from, struct conn_id *to);

#endif
