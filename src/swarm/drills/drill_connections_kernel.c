/* SPDX-License-Identifier: MIT */
/* The drill of connections: a model of the connection managers of the hosts.  Each message that a
 * host sends, and each event that it tells, must be what the model expects next; a timer must not
 * be early or late.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/roce.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"
#include "swarm/drills/drill_connections.h"

#define MAD_AT      62u /* behind Ethernet, IPv4, UDP, BTH and DETH */
#define MAD_AT_IPV6 82u
#define RETRIES     15u
#define TIMEWAIT_NS (2048 * MS) /* ACK timeout code 19 */

/* --- IDs -------------------------------------------------------------------------------------- */

struct conn_id *conn_new(struct drill *d, unsigned host)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        if (!s->ids[i].is_used) {
            s->ids[i] = (struct conn_id){.is_used = true,
                                         .host = host,
                                         .number = ++s->n_created[host],
                                         .listener = CONN_NOTHING};
            return &s->ids[i];
        }
    }
    drill_expect(d, false, "a drill has places for its IDs", "%u are too few", CONN_IDS);
    return NULL;
}

/* The time of what happens. */
static uint64_t now_ns(struct drill *d)
{
    const uint64_t at_ns = connections_of(d)->at_ns;

    return at_ns ? at_ns : rdl_now_ns(d->lab);
}

void conn_end(struct conn_id *id)
{
    id->state = CONN_IDLE;
    id->is_known = false;
    id->due_ns = 0;
}

void conn_enter_timewait(struct drill *d, struct conn_id *id)
{
    id->state = CONN_TIMEWAIT;
    id->is_known = false; /* the peer's numbers are free again */
    id->due_ns = now_ns(d) + TIMEWAIT_NS;
}

void conn_await(struct drill *d, struct conn_id *id, uint32_t message, uint64_t ns)
{
    id->last = message;
    id->wait_ns = ns;
    id->retries = RETRIES;
    id->due_ns = now_ns(d) + ns;
}

/* Removes the events of ID @index from the channel. */
static void forget_events(struct conn_channel *ch, uint32_t index)
{
    const uint32_t n = ch->n;

    ch->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (ch->events[i].id != index)
            ch->events[ch->n++] = ch->events[i];
    }
}

void conn_forget(struct drill *d, struct conn_id *id)
{
    struct connections *s = connections_of(d);
    const uint32_t index = conn_index(s, id);

    forget_events(&s->channels[id->host][id->channel], index);
    if (id->listener != CONN_NOTHING)
        s->ids[id->listener].n_waiting--;
    id->is_used = false;
}

/* --- Expectations ----------------------------------------------------------------------------- */

static struct conn_expected *expect_next(struct drill *d, unsigned host)
{
    struct connections *s = connections_of(d);

    RDL_ASSERT(s->n_expected[host] < CONN_EXPECTED);
    s->expected[host][s->n_expected[host]] = (struct conn_expected){.id = CONN_NOTHING};
    return &s->expected[host][s->n_expected[host]++];
}

void conn_expect_sent(struct drill *d, unsigned host, uint32_t message, uint32_t reason)
{
    struct conn_expected *x = expect_next(d, host);

    x->what = message;
    x->status = (int)reason;
}

/* A program is told nothing of a request between its CONNECT_REQUEST and its accept.  [Linux,
 * ucma_event_handler()]
 */
struct conn_event *conn_expect_event(struct drill *d, struct conn_id *id, uint32_t kind, int status)
{
    struct conn_expected *x;

    if (id->is_server && !id->is_accepted && kind != RDMA_CM_EVENT_CONNECT_REQUEST)
        return &connections_of(d)->unheard;
    x = expect_next(d, id->host);

    x->is_event = true;
    x->what = kind;
    x->status = status;
    x->id = conn_index(connections_of(d), id);
    x->event =
        (struct conn_event){.id = x->id, .kind = kind, .status = status, .serial = CONN_NOTHING};
    return &x->event;
}

static const char *name_of(bool is_event, uint32_t what)
{
    return is_event ? enum_name(&enum_rdma_cm_event, what) : enum_name(&enum_cm_message, what);
}

/* Checks that nothing is left that a host had to do. */
static bool check_done(struct drill *d, unsigned host)
{
    struct connections *s = connections_of(d);
    const struct conn_expected *x = &s->expected[host][0];

    return drill_expect(d, s->n_expected[host] == 0,
                        "a kernel sends each message and tells each event that it must",
                        "h%u: no %s", host + 1, name_of(x->is_event, x->what));
}

static bool is_right(const struct connections *s, const struct conn_expected *x, bool is_event,
                     const struct ev *e)
{
    const bool is_rej = !is_event && x->what == CM_REJ;

    if (x->is_event != is_event)
        return false;
    if (!is_event)
        return e->u.cm_sent.message == x->what &&
               (!is_rej || e->u.cm_sent.reason == (uint32_t)x->status);
    return e->u.cm_event.event == x->what && e->u.cm_event.number == s->ids[x->id].number &&
           (x->what == RDMA_CM_EVENT_REJECTED
                ? e->u.cm_event.reason == (uint32_t)x->status
                : e->u.cm_event.error == (x->status < 0 ? (uint32_t)-x->status : 0));
}

/* Compares what @host did with the first expectation, and removes that. */
static bool meet(struct drill *d, unsigned host, bool is_event, const struct ev *e)
{
    struct connections *s = connections_of(d);
    struct conn_expected x = s->expected[host][0];
    const uint32_t what = is_event ? e->u.cm_event.event : (uint32_t)e->u.cm_sent.message;
    struct conn_channel *ch;

    if (!drill_expect(d, s->n_expected[host] > 0 && is_right(s, &x, is_event, e),
                      "a kernel sends only the messages and tells only the events that it must",
                      "h%u: %s, where %s%s (%d) follows", host + 1, name_of(is_event, what),
                      s->n_expected[host] > 0 ? "" : "nothing, but not ",
                      name_of(x.is_event, x.what), x.status))
        return false;
    s->n_expected[host]--;
    memmove(&s->expected[host][0], &s->expected[host][1], s->n_expected[host] * sizeof(x));
    if (!is_event)
        return true;
    ch = &s->channels[host][s->ids[x.id].channel];
    if (!drill_expect(d, ch->n < CONN_EVENTS, "a channel of the drill has room", "%u events",
                      ch->n))
        return false;
    ch->events[ch->n++] = x.event;
    return true;
}

/* --- Timers ----------------------------------------------------------------------------------- */

/* The last retry is over. */
static void give_up(struct drill *d, struct conn_id *id)
{
    if (id->state != CONN_DREQ_SENT) {
        conn_end(id);
        conn_expect_event(d, id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
        return;
    }
    conn_enter_timewait(d, id);
    id->is_over = true;
    conn_expect_event(d, id, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
}

/* The timer of @id is due. */
static void run_timer(struct drill *d, struct conn_id *id)
{
    if (id->step == STEP_QUERY) {
        id->due_ns = 0;
        id->step = STEP_NEW;
        conn_expect_event(d, id, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
    } else if (id->state == CONN_TIMEWAIT) {
        conn_end(id);
        if (id->is_over)
            conn_expect_event(d, id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    } else if (id->retries == 0) {
        give_up(d, id);
    } else {
        id->retries--;
        id->due_ns += id->wait_ns;
        conn_expect_sent(d, id->host, id->last, 0);
    }
}

/* Returns the ID of @host whose timer is due at @at_ns and causes that, or NULL. */
static struct conn_id *due_id(struct drill *d, unsigned host, uint64_t at_ns, bool is_event,
                              const struct ev *e)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];
        const bool tells = id->retries == 0 || id->state == CONN_TIMEWAIT || id->step == STEP_QUERY;

        if (!id->is_used || id->host != host || id->due_ns != at_ns || tells != is_event ||
            (id->state == CONN_TIMEWAIT && !id->is_over))
            continue;
        if (is_event ? e->u.cm_event.number == id->number : e->u.cm_sent.message == id->last)
            return id;
    }
    return NULL;
}

/* A timer of TIMEWAIT may end without a trace; others may not be late. */
static bool check_timers(struct drill *d, uint64_t now_ns)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (!id->is_used || id->due_ns == 0 || id->due_ns >= now_ns)
            continue;
        if (id->state == CONN_TIMEWAIT && !id->is_over)
            conn_end(id);
        else
            return drill_expect(d, false, "a timer is not missed",
                                "h%u, ID %u: due at %" PRIu64 " ns, it is %" PRIu64, id->host + 1,
                                id->number, id->due_ns, now_ns);
    }
    return true;
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* Learns the communication ID of the sender from its message. */
static void learn_comm(struct connections *s, unsigned host, const uint8_t *bytes)
{
    struct mad m;

    if (!mad_parse(&m, bytes))
        return;
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (!id->is_used || id->host != host || id->comm != 0)
            continue;
        if (m.head.attr_id == CM_REQ && !id->is_server && id->psn == m.u.req.starting_psn &&
            id->qpn == m.u.req.local_qpn)
            id->comm = m.u.req.local_comm_id;
        if (m.head.attr_id == CM_REP && id->is_server && id->qpn == m.u.rep.local_qpn)
            id->comm = m.u.rep.local_comm_id;
        if (m.head.attr_id == CM_SIDR_REQ && id->state == CONN_SIDR_ASKED &&
            id->serial == conn_serial(m.u.sidr_req.private_data + RDMA_CM_BYTES))
            id->comm = m.u.sidr_req.request_id;
    }
}

static bool keep_sent(struct drill *d, const struct ev *e)
{
    struct connections *s = connections_of(d);
    struct conn_frame *f = &s->frames[s->n_frames % CONN_FRAMES];
    const size_t at = s->family ? MAD_AT_IPV6 : MAD_AT;
    const uint8_t *frame;
    size_t bytes;

    if (e->u.tx.qpn != QPN_GSI)
        return true;
    frame = rdl_record_frame(d->lab, e->id, &bytes);
    if (!drill_expect(d, frame && bytes >= at + MAD_BYTES, "a message is a datagram",
                      "it has %zu bytes", frame ? bytes : 0))
        return false;
    f->tx = e->id;
    memcpy(f->mad, frame + at, MAD_BYTES);
    s->n_frames++;
    learn_comm(s, conn_host(s, e->u.tx.host), f->mad);
    return true;
}

static bool keep_received(struct drill *d, const struct ev *e)
{
    struct connections *s = connections_of(d);
    const uint32_t host = conn_host(s, e->u.rx.host);

    if (e->u.rx.qpn != QPN_GSI || e->u.rx.act != ACT_ACCEPT)
        return true;
    for (uint32_t i = 0; i < CONN_FRAMES; i++) {
        if (s->frames[i].tx == e->u.rx.tx && s->n_arrived[host] < CONN_ARRIVED) {
            s->arrived[host][s->n_arrived[host]++] = s->frames[i];
            return true;
        }
    }
    return drill_expect(d, false, "the drill keeps each message", "one is unknown");
}

/* --- Hearing ---------------------------------------------------------------------------------- */

static bool hear_received(struct drill *d, const struct ev *e)
{
    struct connections *s = connections_of(d);
    const uint32_t host = conn_host(s, e->u.cm_received.host);
    struct conn_frame f = s->arrived[host][0];
    struct mad m;

    if (!check_done(d, host) ||
        !drill_expect(d, s->n_arrived[host] > 0 && mad_parse(&m, f.mad),
                      "a message that is heard has arrived", "h%u hears another", host + 1))
        return false;
    s->n_arrived[host]--;
    memmove(&s->arrived[host][0], &s->arrived[host][1], s->n_arrived[host] * sizeof(f));
    conn_receive(d, host, &m);
    return !d->wrong;
}

/* Something that a message, a call or a timer caused. */
static bool hear_done(struct drill *d, bool is_event, const struct ev *e)
{
    struct connections *s = connections_of(d);
    const uint32_t host = conn_host(s, is_event ? e->u.cm_event.host : e->u.cm_sent.host);

    if (s->n_expected[host] == 0) {
        struct conn_id *id = due_id(d, host, e->at_ns, is_event, e);

        if (id)
            run_timer(d, id);
    }
    return meet(d, host, is_event, e);
}

static bool hear_event(struct drill *d, const struct ev *e)
{
    switch (e->kind) {
    case EV_tx:
        return keep_sent(d, e);
    case EV_rx:
        return keep_received(d, e);
    case EV_cm_received:
        return hear_received(d, e);
    case EV_cm_sent:
        return hear_done(d, false, e);
    case EV_cm_event:
        return hear_done(d, true, e);
    default:
        return true;
    }
}

bool conn_hear(struct drill *d)
{
    struct connections *s = connections_of(d);
    const uint64_t forgotten = rdl_record_forgotten(d->lab);

    if (!drill_expect(d, s->heard >= forgotten, "the drill hears each event", "%" PRIu64 " missed",
                      forgotten - s->heard))
        return false;
    while (s->heard < drill_events(d)) {
        const struct ev *e = rdl_record_at(d->lab, (size_t)(s->heard++ - forgotten));

        s->at_ns = e->at_ns;
        if (!check_timers(d, e->at_ns) || !hear_event(d, e))
            return false;
    }
    s->at_ns = 0;
    return check_done(d, 0) && check_done(d, 1) && check_timers(d, rdl_tick_ns(d->lab));
}

bool conn_run_until(struct drill *d, uint64_t until_ns)
{
    const struct rdl_limits limits = {.ticks = 1000000};

    while (rdl_next_ns(d->lab) <= until_ns && rdl_next_ns(d->lab) != RDL_NEVER) {
        if (!drill_works(d, rdl_step(d->lab, RDL_STEP_TICK, limits), "a lab can be stepped") ||
            !conn_hear(d))
            return false;
    }
    return until_ns == RDL_NEVER || drill_run_until(d, until_ns);
}
