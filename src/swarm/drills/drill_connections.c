/* SPDX-License-Identifier: MIT */
/* The drill of connections: programs of two hosts listen, connect, accept, reject, disconnect and
 * destroy in any order, while messages of their kernels are lost, doubled, delayed and overtaken.
 */
#include "swarm/drills/drill_connections.h"

#include <inttypes.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/roce.h"
#include "emu/facts/virtio/feature.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/memory.h"
#include "swarm/drills/kinds.h"

#define SLOW_NS    (5000 * MS) /* until a REP was sent again */
#define ARRIVAL_NS 20000u
#define STEPS      160u
#define CQ_ENTRIES 64u
#define MAX_QP     64u
#define MEMORY     4096u
#define ROUNDS     40u

/* --- Time, faults, data ----------------------------------------------------------------------- */

static void do_pass_time(struct drill *d)
{
    static const uint64_t spans_ns[] = {
        500,   2000,  2000,   5000,   5000,    5000,      20000,     20000,      20000,
        20000, 20000, 100000, 100000, 20 * MS, 3000 * MS, 7000 * MS, 70000 * MS, 200000 * MS};

    conn_run_until(d, rdl_now_ns(d->lab) + spans_ns[drill_below(d, ARRAY_LEN(spans_ns))]);
}

static bool add_fault(struct drill *d, const struct rdl_fault_config *how)
{
    struct connections *s = connections_of(d);
    struct rdl_fault_config c = *how;

    c.opcode = c.syndrome = c.psn = RDL_ANY;
    c.dest_qpn = QPN_GSI;
    c.hold_frames = 1;
    return drill_works(d, rdl_fault_add(d->lab, &c, &s->faults[s->n_faults++]),
                       "a fault can be added");
}

static void do_disturb(struct drill *d)
{
    static const uint32_t kinds[] = {FLT_DROP, FLT_DROP, FLT_DUPLICATE, FLT_DELAY, FLT_REORDER};
    static const uint64_t delays_ns[] = {700, 3000, 10000, 500 * MS, 3000 * MS, 7000 * MS};
    const struct rdl_fault_config c = {
        .kind = kinds[drill_below(d, ARRAY_LEN(kinds))],
        .from = connections_of(d)->host[drill_below(d, RIG_HOSTS)],
        .nth = 1 + drill_below(d, 3),
        .count = drill_one_in(d, 16) ? 40 : 1 + drill_below(d, 3),
        .delay_ns = delays_ns[drill_below(d, ARRAY_LEN(delays_ns))],
    };

    add_fault(d, &c);
}

/* A client takes its time with its RTU, which is lost, and then ends the connection. */
static void do_hang_up(struct drill *d)
{
    struct conn_id *id = conn_pick(d, conn_is_replied_to);
    struct rdl_fault_config c = {.kind = FLT_DROP, .nth = 1, .count = 1};

    if (!id || (drill_one_in(d, 2) && !conn_run_until(d, rdl_now_ns(d->lab) + SLOW_NS)) ||
        id->state != CONN_REPLIED_TO)
        return;
    c.from = connections_of(d)->host[id->host];
    if (add_fault(d, &c) && conn_establish(d, id) &&
        conn_run_until(d, rdl_now_ns(d->lab) + ARRIVAL_NS))
        conn_disconnect(d, id);
}

static bool is_client_up(const struct conn_id *id)
{
    return !id->is_server && id->is_rts && id->state == CONN_UP && id->has_qp;
}

/* The other side of @id that can exchange data with it, or NULL. */
static struct conn_id *peer_of(struct connections *s, const struct conn_id *id)
{
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *o = &s->ids[i];

        if (o->is_used && o->host != id->host && o->comm != 0 && o->comm == id->peer_comm &&
            o->peer_comm == id->comm)
            return o;
    }
    return NULL;
}

static bool exchange(struct drill *d, struct conn_id *a, struct conn_id *b)
{
    return !b || !b->is_rts || b->remote_qpn != a->qpn || a->remote_qpn != b->qpn ||
           (conn_pass_data(d, a, b) && (!a->is_rts || !b->is_rts || conn_pass_data(d, b, a)));
}

static void do_data(struct drill *d)
{
    struct conn_id *id = conn_pick(d, is_client_up);

    if (id)
        exchange(d, id, peer_of(connections_of(d), id));
}

/* The programs take their events, and do what is asked of them. */
static bool answer_all(struct drill *d)
{
    struct connections *s = connections_of(d);

    if (!conn_take_all(d))
        return false;
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (!id->is_used || !id->is_told)
            continue;
        if ((id->state == CONN_REQUESTED || id->state == CONN_SIDR_REQUESTED) &&
            !conn_accept(d, id))
            return false;
        if (id->state == CONN_REPLIED_TO && !conn_establish(d, id))
            return false;
    }
    return true;
}

static void do_answer_all(struct drill *d)
{
    answer_all(d);
}

/* --- The drill -------------------------------------------------------------------------------- */

static bool add_host_objects(struct drill *d, unsigned h)
{
    struct connections *s = connections_of(d);
    struct rdl_mr_info info;
    rdl_mr mr;

    for (unsigned i = 0; i < CONN_CHANNELS; i++) {
        if (!drill_works(
                d, rdl_cm_create_channel(d->lab, s->host[h], NULL, &s->channels[h][i].channel),
                "a channel can be created"))
            return false;
    }
    if (!drill_is_done(d, s->host[h], rdl_alloc_pd(d->lab, s->host[h], NULL, &s->pd[h]),
                       "a domain can be had") ||
        !drill_is_done(d, s->host[h],
                       rdl_create_cq(d->lab, s->host[h], CQ_ENTRIES, NULL, &s->cq[h]),
                       "a CQ can be created") ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host[h], MEMORY, &s->base[h]),
                     "memory can be had") ||
        !drill_is_done(d, s->host[h],
                       rdl_reg_mr(d->lab, s->pd[h], s->base[h], MEMORY, ACC_LOCAL_WRITE, NULL, &mr),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, mr, &info), "a region has a key"))
        return false;
    s->lkey[h] = info.lkey;
    return true;
}

static void set_up_hosts(struct drill *d, bool mux)
{
    struct connections *s = connections_of(d);
    const struct rig_config c = {.max_qp = MAX_QP, .mux = mux};

    s->family = drill_one_in(d, 3);
    d->n_unsaid = 1; /* the lines of a script do more than calls of a kernel */
    if (rig_add_hosts(d, &c, s->host, &s->link) && add_host_objects(d, 0))
        add_host_objects(d, 1);
    s->heard = drill_events(d); /* no message was sent yet */
}

static void set_up(struct drill *d)
{
    set_up_hosts(d, false);
}

static void set_up_behind_mux(struct drill *d)
{
    set_up_hosts(d, true);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        conn_do_listen,
        conn_do_listen,
        conn_do_listen,
        conn_do_dial,
        conn_do_dial,
        conn_do_dial,
        conn_do_resolve,
        conn_do_route,
        conn_do_connect,
        conn_do_accept,
        conn_do_accept,
        conn_do_accept,
        conn_do_establish,
        conn_do_establish,
        conn_do_reject,
        conn_do_disconnect,
        conn_do_disconnect,
        conn_do_disconnect,
        conn_do_notify,
        conn_do_destroy,
        conn_do_destroy,
        conn_do_take,
        conn_do_take,
        conn_do_take,
        conn_do_take,
        conn_do_take,
        conn_do_take,
        conn_do_ack,
        conn_do_ack,
        conn_do_ack,
        do_pass_time,
        do_pass_time,
        do_pass_time,
        do_pass_time,
        do_pass_time,
        do_disturb,
        do_data,
        do_data,
        do_hang_up,
        do_answer_all,
        do_answer_all,
        do_answer_all,
    };

    if (conn_hear(d))
        steps[drill_below(d, ARRAY_LEN(steps))](d);
}

/* The state of @id as its kernel calls it. */
static bool is_state(const struct conn_id *id, uint32_t have)
{
    switch (id->state) {
    case CONN_IDLE:
        return have == CMS_IDLE;
    case CONN_ASKED:
        return have == (id->is_longer ? CMS_MRA_REQ_RCVD : CMS_REQ_SENT);
    case CONN_REPLIED_TO:
        return have == CMS_MRA_REP_SENT;
    case CONN_REQUESTED:
        return have == CMS_MRA_REQ_SENT;
    case CONN_REPLIED:
        return have == (id->is_longer ? CMS_MRA_REP_RCVD : CMS_REP_SENT);
    case CONN_UP:
        return have == CMS_ESTABLISHED;
    case CONN_DREQ_SENT:
        return have == CMS_DREQ_SENT;
    case CONN_DREQ_RCVD:
        return have == CMS_DREQ_RCVD;
    case CONN_TIMEWAIT:
        return have == CMS_TIMEWAIT;
    case CONN_SIDR_ASKED:
        return have == CMS_SIDR_REQ_SENT;
    case CONN_SIDR_REQUESTED:
        return have == CMS_SIDR_REQ_RCVD;
    }
    return false;
}

static bool check_states(struct drill *d)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];
        struct rdl_cm_id_info info;

        if (!id->is_used || !id->is_told)
            continue;
        if (id->state == CONN_TIMEWAIT && !id->is_over && id->due_ns <= rdl_now_ns(d->lab))
            conn_end(id); /* nobody is told */
        if (!drill_works(d, rdl_cm_id_info(d->lab, id->id, &info), "an ID can be looked at") ||
            !drill_expect(
                d,
                is_state(id, info.ib_state) && info.unacked == id->n_unacked &&
                    (info.due_ns == id->due_ns || id->step == STEP_QUERY),
                "an ID has the state that its messages and calls lead to",
                "h%u, ID %u: %s, and not %u; %u unacknowledged, and not %u; due at %" PRIu64
                ", and not %" PRIu64,
                id->host + 1, id->number, enum_name(&enum_cm_state, info.ib_state),
                (unsigned)id->state, info.unacked, id->n_unacked, info.due_ns, id->due_ns))
            return false;
    }
    return true;
}

/* Nothing is lost any more, and the programs do what is asked of them. */
static bool make_peace(struct drill *d)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < s->n_faults; i++) {
        if (!drill_works(d, rdl_fault_remove(d->lab, s->faults[i]), "a fault can be removed"))
            return false;
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (!answer_all(d) || !conn_run_until(d, RDL_NEVER))
            return false;
    }
    return check_states(d);
}

/* Nobody waits, and both sides of a connection know that it is one. */
static bool check_agreement(struct drill *d)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i], *peer;

        if (!id->is_used)
            continue;
        if (!drill_expect(
                d, id->state == CONN_IDLE || id->state == CONN_UP || id->state == CONN_DREQ_RCVD,
                "nobody waits for ever", "h%u, ID %u: state %u", id->host + 1, id->number,
                (unsigned)id->state))
            return false;
        peer = peer_of(s, id);
        if (is_client_up(id) && peer && peer->state == CONN_UP && !exchange(d, id, peer))
            return false;
    }
    return true;
}

static bool disconnect_all(struct drill *d)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[i];

        if (!id->is_used || (id->state != CONN_UP && id->state != CONN_DREQ_RCVD))
            continue;
        if (!conn_disconnect(d, id) || !conn_run_until(d, rdl_now_ns(d->lab) + 20000))
            return false;
    }
    return conn_run_until(d, RDL_NEVER) && conn_take_all(d);
}

static bool destroy_all(struct drill *d)
{
    struct connections *s = connections_of(d);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        if (s->ids[i].is_used && !conn_destroy(d, &s->ids[i]))
            return false;
    }
    return conn_run_until(d, RDL_NEVER);
}

static bool check_nothing_left(struct drill *d, unsigned h)
{
    struct connections *s = connections_of(d);
    struct rdl_cm_counts n;
    struct rdl_wc wc;

    for (unsigned i = 0; i < CONN_CHANNELS; i++) {
        if (!drill_works(d, rdl_cm_destroy_channel(d->lab, s->channels[h][i].channel),
                         "a channel without IDs can be destroyed"))
            return false;
    }
    return drill_works(d, rdl_cm_counts(d->lab, s->host[h], &n),
                       "a host counts what its kernel has") &&
           drill_expect(d, n.ids == 0 && n.comm_ids == 0 && n.services == 0 && n.messages == 0,
                        "nothing is left of IDs that were destroyed",
                        "h%u: %u IDs, %u of ib_cm, %u services, %u messages", h + 1, n.ids,
                        n.comm_ids, n.services, n.messages) &&
           drill_expect(d, !rig_poll(d, s->cq[h], &wc), "no data comes but what was sent",
                        "h%u has a completion", h + 1);
}

static void finish(struct drill *d)
{
    (void)(conn_hear(d) && conn_run_until(d, rdl_now_ns(d->lab)) && check_states(d) &&
           make_peace(d) && check_agreement(d) && conn_take_all(d) && disconnect_all(d) &&
           check_agreement(d) && destroy_all(d) && check_nothing_left(d, 0) &&
           check_nothing_left(d, 1));
}

const struct drill_kind drill_of_connections = {.name = "connections",
                                                .bytes = sizeof(struct connections),
                                                .steps = STEPS,
                                                .set_up = set_up,
                                                .take = take,
                                                .finish = finish,
                                                .any_device = true,
                                                .extensions = RDMA_EXTENSIONS};

/* A multiplexer that passes all messages on drops none. */
static bool check_mux(struct drill *d, const char *machine)
{
    static const char *const reasons[] = {"mux_message", "mux_gid", "mux_id"};
    struct rdl_value v = {0};
    char path[64];
    size_t at;

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        snprintf(path, sizeof(path), "%s.eswitch.drops.%s", machine, reasons[i]);
        if (!drill_works(d, rdl_inspect(d->lab, path, &v, &at), "drops are counted") ||
            !drill_expect(d, v.number == 0, "a multiplexer passes all messages on",
                          "%s is %" PRIu64, path, v.number))
            return false;
    }
    return true;
}

static void finish_behind_mux(struct drill *d)
{
    if (check_mux(d, "m1") && check_mux(d, "m2"))
        finish(d);
}

/* Nothing is different behind multiplexers. */
const struct drill_kind drill_of_mux = {.name = "mux",
                                        .bytes = sizeof(struct connections),
                                        .steps = STEPS,
                                        .set_up = set_up_behind_mux,
                                        .take = take,
                                        .finish = finish_behind_mux,
                                        .any_device = true,
                                        .extensions = RDMA_EXTENSIONS};
