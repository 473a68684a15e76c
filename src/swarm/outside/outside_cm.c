/* SPDX-License-Identifier: MIT */
/* The connection managers of a run: a server of h1 takes what the stranger's messages lead to, and
 * between two batches h2 connects to it.
 */
#include <string.h>

#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "rdmalab/cm.h"
#include "rdmalab/inspect.h"
#include "swarm/outside/outside_run.h"

#define LISTENERS  2u /* of TCP and UDP */
#define TRIES      10u
#define STEP_NS    1000000u
#define WAIT_NS    UINT64_C(100000000000) /* all retries of a REQ */
#define ADDR_NS    UINT64_C(2000000000)
#define LEFT_NS    UINT64_C(10000000000) /* messages to addresses that nobody has are given up */
#define CLIENT_QPN 0x4321u

static const uint32_t spaces[LISTENERS] = {PORT_SPACE_TCP, PORT_SPACE_UDP};

enum rdl_status outside_cm_make(struct outside *o)
{
    const struct rdl_cm_addr any = {.version = 6, .port = HOSTILE_PORT};
    struct rdl_lab *lab = o->testbed.lab;
    enum rdl_status st = RDL_OK;
    int error;

    for (uint32_t i = 0; i < 2 && st == RDL_OK; i++)
        st = rdl_cm_create_channel(lab, o->testbed.side[i].host, "events", &o->events[i]);
    for (uint32_t i = 0; i < LISTENERS && st == RDL_OK; i++) {
        rdl_cm_id id;

        st = rdl_cm_create_id(lab, o->events[0], spaces[i], NULL, &id);
        if (st == RDL_OK)
            st = rdl_cm_bind(lab, id, &any, &error);
        if (st == RDL_OK)
            st = rdl_cm_listen(lab, id, 0, &error);
    }
    return st;
}

/* --- The server ------------------------------------------------------------------------------- */

static void destroy(struct outside *o, uint32_t i)
{
    outside_works(o, rdl_cm_destroy_id(o->testbed.lab, o->served[i]),
                  "an ID without events can be destroyed");
    o->served[i] = o->served[--o->n_served];
}

/* Keeps the ID of a request, in the place of another one if there are many. */
static void serve(struct outside *o, rdl_cm_id id)
{
    if (o->n_served == OUTSIDE_SERVED)
        destroy(o, (uint32_t)prng_below(&o->rng, OUTSIDE_SERVED));
    o->served[o->n_served++] = id;
}

/* The server accepts, rejects, or leaves the peer alone. */
static void answer(struct outside *o, rdl_cm_id id)
{
    const struct rdl_cm_param p = {.qpn = HOSTILE_CM_QPN, .rnr_retry_count = 7};
    enum rdl_status st = RDL_OK;
    int error;

    serve(o, id);
    switch (prng_below(&o->rng, 4)) {
    case 0:
        st = rdl_cm_reject(o->testbed.lab, id, "no", 2, &error);
        break;
    case 1:
        break;
    default:
        st = rdl_cm_accept(o->testbed.lab, id, &p, &error);
        break;
    }
    outside_expect(o, st == RDL_OK || st == RDL_ERR_ERRNO, "a request can be answered");
}

/* Takes an event of @side.  Returns false if there is none. */
static bool take(struct outside *o, unsigned side, struct rdl_cm_event *ret)
{
    struct rdl_lab *lab = o->testbed.lab;
    size_t n = 0;

    return outside_works(o, rdl_cm_get_event(lab, o->events[side], NULL, ret, &n),
                         "an event can be taken") &&
           n == 1 &&
           outside_works(o, rdl_cm_ack_event(lab, o->events[side]), "an event can be acknowledged");
}

void outside_cm_serve(struct outside *o)
{
    struct rdl_cm_event e;
    int error;

    while (!o->wrong && take(o, 0, &e)) {
        if (e.kind == RDMA_CM_EVENT_CONNECT_REQUEST)
            answer(o, e.id);
        else if (e.kind == RDMA_CM_EVENT_DISCONNECTED)
            outside_works(o, rdl_cm_disconnect(o->testbed.lab, e.id, &error),
                          "an ID can be disconnected");
    }
    if (o->n_served > 0 && prng_below(&o->rng, 4) == 0)
        destroy(o, (uint32_t)prng_below(&o->rng, o->n_served));
}

/* --- Between two batches ---------------------------------------------------------------------- */

/* Runs until there is an event at @side, for at most @ns.  Returns false if none came. */
static bool wait_for(struct outside *o, unsigned side, uint64_t ns, struct rdl_cm_event *ret)
{
    for (uint64_t waited = 0; waited < ns && !o->wrong; waited += STEP_NS) {
        const uint64_t next = rdl_next_ns(o->testbed.lab), now = rdl_now_ns(o->testbed.lab);

        if (take(o, side, ret))
            return true;
        if (next == RDL_NEVER)
            return false;
        if (next > now + STEP_NS)
            waited += next - now;
        outside_go_on(o, next > now + STEP_NS ? next - now : STEP_NS);
    }
    return false;
}

/* Calls of h2 up to its REQ.  Returns false if its address was not resolved this time. */
static bool dial(struct outside *o, rdl_cm_id id)
{
    const struct rdl_cm_param p = {.qpn = CLIENT_QPN, .retry_count = 7, .rnr_retry_count = 7};
    struct rdl_cm_addr to = {.version = 4, .port = HOSTILE_PORT};
    struct rdl_lab *lab = o->testbed.lab;
    struct rdl_cm_event e;
    int error;

    memcpy(to.gid, o->hostile.host[0].gid[0], GID_BYTES);
    return outside_works(o, rdl_cm_resolve_addr(lab, id, NULL, &to, ADDR_NS, &error),
                         "an address can be resolved") &&
           wait_for(o, 1, WAIT_NS, &e) && e.kind == RDMA_CM_EVENT_ADDR_RESOLVED &&
           outside_works(o, rdl_cm_resolve_route(lab, id, &error), "a route can be resolved") &&
           wait_for(o, 1, WAIT_NS, &e) &&
           outside_works(o, rdl_cm_connect(lab, id, &p, &error), "a host can ask");
}

/* Takes the request of h2, and that both sides are connected. */
static bool meet(struct outside *o, rdl_cm_id id)
{
    const struct rdl_cm_param p = {.qpn = HOSTILE_CM_QPN, .rnr_retry_count = 7};
    struct rdl_lab *lab = o->testbed.lab;
    struct rdl_cm_event e;
    rdl_cm_id server;
    int error;
    bool right;

    if (!wait_for(o, 0, WAIT_NS, &e) || e.kind != RDMA_CM_EVENT_CONNECT_REQUEST)
        return false;
    server = e.id;
    right = e.param.qpn == CLIENT_QPN &&
            outside_works(o, rdl_cm_accept(lab, server, &p, &error), "a request is accepted") &&
            wait_for(o, 1, WAIT_NS, &e) && e.kind == RDMA_CM_EVENT_CONNECT_RESPONSE &&
            outside_works(o, rdl_cm_accept(lab, id, NULL, &error), "a reply is taken") &&
            wait_for(o, 0, WAIT_NS, &e) && e.kind == RDMA_CM_EVENT_ESTABLISHED;
    serve(o, server);
    return right;
}

static bool connect_once(struct outside *o)
{
    struct rdl_lab *lab = o->testbed.lab;
    bool right;
    rdl_cm_id id;

    if (!outside_works(o, rdl_cm_create_id(lab, o->events[1], PORT_SPACE_TCP, NULL, &id),
                       "an ID can be created"))
        return false;
    right = dial(o, id) && meet(o, id);
    outside_works(o, rdl_cm_destroy_id(lab, id), "an ID can be destroyed");
    return right;
}

void outside_cm_check(struct outside *o)
{
    struct rdl_cm_counts n;
    uint32_t tries = 0;

    do {
        outside_cm_serve(o);
        while (o->n_served > 0 && !o->wrong)
            destroy(o, 0);
    } while (!o->wrong && rdl_cm_pending(o->testbed.lab, o->events[0]) > 0);
    while (tries < TRIES && !o->wrong && !connect_once(o))
        tries++;
    outside_expect(o, tries < TRIES, "h2 connects to h1 behind the stranger's frames");
    while (o->n_served > 0 && !o->wrong)
        destroy(o, 0);
    outside_go_on(o, LEFT_NS);
    if (outside_works(o, rdl_cm_counts(o->testbed.lab, o->testbed.side[0].host, &n),
                      "a host counts what its kernel has"))
        outside_expect(o, n.ids == LISTENERS && n.comm_ids == LISTENERS && n.messages == 0,
                       "the kernel forgets the connections of the stranger with their IDs");
}
