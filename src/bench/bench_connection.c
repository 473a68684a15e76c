/* SPDX-License-Identifier: MIT */
#include "bench/bench_connection.h"

#include <string.h>

#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "rdmalab/trace.h"
#include "testbed/try.h"

#define BYTES      64u
#define DEPTH      4u                    /* entries of each queue */
#define RAM_EACH   ((uint64_t)256 << 10) /* one eighth of it is for rings and their buffers */
#define RAM_BYTES  ((uint64_t)64 << 20)
#define PORT       7471u
#define TIMEOUT_NS 2000000000u /* to resolve an address */
#define TICKS_MAX  100000u     /* until an event must have come */
#define LATENCY_NS 1000u

static const struct testbed_config config = {.mr_bytes = 2u * BYTES};

static enum rdl_status wait(struct connection_lab *l, unsigned side)
{
    const struct rdl_limits limits = {.ticks = TICKS_MAX};
    struct rdl_response rsp;

    return rdl_wait(l->lab, l->host[side].host, limits, &rsp);
}

/* --- Lab -------------------------------------------------------------------------------------- */

static enum rdl_status add_hosts(struct connection_lab *l, uint32_t n)
{
    static const char *const names[2] = {"h1", "h2"};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = LATENCY_NS};
    rdl_link made;

    for (unsigned side = 0; side < 2; side++) {
        /* The connection manager has a queue pair and a completion queue, too. */
        const struct rdl_host_config host = {
            .name = names[side],
            .ram_bytes = RAM_BYTES + n * RAM_EACH,
            .max_cq = n > 8 ? n + 1 : 0,
            .max_qp = n > 8 ? n + 1 : 0,
            .on_demand = true,
        };

        TRY(rdl_host_add(l->lab, &host, &l->host[side].host));
    }
    TRY(rdl_link_add(l->lab, &link, &made));
    for (unsigned side = 0; side < 2; side++)
        TRY(testbed_side_memory(l->lab, &l->host[side], &config));
    return RDL_OK;
}

enum rdl_status connection_lab_listen(struct connection_lab *l)
{
    uint8_t mac[6];
    rdl_cm_id id;
    int error;

    l->listens_at = (struct rdl_cm_addr){.version = 4, .port = PORT};
    TRY(rdl_host_address(l->lab, l->host[1].host, 0, l->listens_at.gid, mac));
    TRY(rdl_cm_create_channel(l->lab, l->host[1].host, NULL, &l->channel));
    TRY(rdl_cm_create_id(l->lab, l->channel, PORT_SPACE_TCP, "listener", &id));
    TRY(rdl_cm_bind(l->lab, id, &l->listens_at, &error));
    return rdl_cm_listen(l->lab, id, 0, &error);
}

enum rdl_status connection_lab_init(struct connection_lab *l, uint32_t n, bool record)
{
    const struct rdl_lab_config lab = {.seed = 1};

    *l = (struct connection_lab){.lab = NULL};
    TRY(rdl_lab_new(&lab, &l->lab));
    if (record)
        TRY(rdl_record(l->lab, 0, 0));
    TRY(add_hosts(l, n));
    return connection_lab_listen(l);
}

void connection_lab_done(struct connection_lab *l)
{
    rdl_lab_free(l->lab);
    l->lab = NULL;
}

/* --- Events and queue pairs ------------------------------------------------------------------- */

/* Runs until there is an event in @ch, which must be of @kind, and acknowledges it. */
static enum rdl_status take_event(struct connection_lab *l, rdl_cm_channel ch,
                                  enum rdma_cm_event kind, struct rdl_cm_event *ret)
{
    const struct rdl_limits none = {0};
    size_t n;

    for (uint32_t i = 0; i < TICKS_MAX && rdl_cm_pending(l->lab, ch) == 0; i++)
        TRY(rdl_step(l->lab, RDL_STEP_TICK, none));
    TRY(rdl_cm_get_event(l->lab, ch, NULL, ret, &n));
    if (n != 1 || ret->kind != kind)
        return RDL_ERR_DEVICE;
    return rdl_cm_ack_event(l->lab, ch);
}

static enum rdl_status move(struct connection_lab *l, struct bench_connection *c, unsigned side,
                            enum qp_state to)
{
    const struct connection_end *e = &c->end[side];
    struct rdl_modify_error error;
    struct rdl_qp_attr attr;
    uint32_t mask;
    int number;

    TRY(rdl_cm_qp_attr(l->lab, e->id, to, &attr, &mask, &number));
    TRY(rdl_modify_qp(l->lab, e->side.qp, &attr, mask, false, &error));
    return wait(l, side);
}

/* Creates the completion queue and the queue pair, as rdma_create_qp(). */
static enum rdl_status create_qp(struct connection_lab *l, struct bench_connection *c,
                                 unsigned side)
{
    struct connection_end *e = &c->end[side];
    struct rdl_qp_config qp = {
        .type = QPT_RC, .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .pd = l->host[side].pd};
    struct rdl_qp_info info;

    e->side = l->host[side];
    TRY(rdl_create_cq(l->lab, e->side.host, 2 * DEPTH, NULL, &e->side.cq));
    TRY(wait(l, side));
    qp.send_cq = qp.recv_cq = e->side.cq;
    TRY(rdl_create_qp(l->lab, &qp, NULL, &e->side.qp));
    TRY(wait(l, side));
    TRY(rdl_qp_info(l->lab, e->side.qp, &info));
    e->side.qpn = info.qpn;
    TRY(rdl_cm_set_qp(l->lab, e->id, e->side.qp));
    return move(l, c, side, QPS_INIT);
}

/* --- Connecting ------------------------------------------------------------------------------- */

static struct rdl_cm_param param_of(const struct bench_connection *c, unsigned side)
{
    return (struct rdl_cm_param){.responder_resources = 1,
                                 .initiator_depth = 1,
                                 .retry_count = 7,
                                 .rnr_retry_count = 7,
                                 .qpn = c->end[side].side.qpn};
}

enum rdl_status connection_dial(struct connection_lab *l, struct bench_connection *c,
                                uint32_t number)
{
    struct connection_end *e = &c->end[0];
    struct rdl_cm_event event;
    struct rdl_cm_param p;
    int error;

    TRY(rdl_cm_create_channel(l->lab, l->host[0].host, NULL, &e->channel));
    TRY(rdl_cm_create_id(l->lab, e->channel, PORT_SPACE_TCP, NULL, &e->id));
    TRY(rdl_cm_resolve_addr(l->lab, e->id, NULL, &l->listens_at, TIMEOUT_NS, &error));
    TRY(take_event(l, e->channel, RDMA_CM_EVENT_ADDR_RESOLVED, &event));
    TRY(rdl_cm_resolve_route(l->lab, e->id, &error));
    TRY(take_event(l, e->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, &event));
    TRY(create_qp(l, c, 0));
    p = param_of(c, 0);
    memcpy(p.private_data, &number, sizeof(number));
    p.private_bytes = sizeof(number);
    return rdl_cm_connect(l->lab, e->id, &p, &error);
}

/* The new ID moves to a channel of its own, as librdmacm does for a program without channels. */
enum rdl_status connection_accept(struct connection_lab *l, struct bench_connection *all,
                                  uint32_t n)
{
    struct connection_end *e;
    struct rdl_cm_event event;
    struct rdl_cm_param p;
    uint32_t number;
    int error;

    TRY(take_event(l, l->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
    memcpy(&number, event.param.private_data, sizeof(number));
    if (number >= n)
        return RDL_ERR_DEVICE;
    e = &all[number].end[1];
    e->id = event.id;
    TRY(rdl_cm_create_channel(l->lab, l->host[1].host, NULL, &e->channel));
    TRY(rdl_cm_migrate_id(l->lab, e->id, e->channel));
    TRY(create_qp(l, &all[number], 1));
    TRY(testbed_side_recv(l->lab, &e->side, number, BYTES, BYTES));
    TRY(move(l, &all[number], 1, QPS_RTR));
    TRY(move(l, &all[number], 1, QPS_RTS));
    p = param_of(&all[number], 1);
    return rdl_cm_accept(l->lab, e->id, &p, &error);
}

enum rdl_status connection_finish(struct connection_lab *l, struct bench_connection *c)
{
    struct rdl_cm_event event;
    int error;

    TRY(take_event(l, c->end[0].channel, RDMA_CM_EVENT_CONNECT_RESPONSE, &event));
    TRY(move(l, c, 0, QPS_RTR));
    TRY(move(l, c, 0, QPS_RTS));
    return rdl_cm_accept(l->lab, c->end[0].id, NULL, &error);
}

enum rdl_status connection_await(struct connection_lab *l, struct bench_connection *c)
{
    struct rdl_cm_event event;

    return take_event(l, c->end[1].channel, RDMA_CM_EVENT_ESTABLISHED, &event);
}

/* --- Using and ending ------------------------------------------------------------------------- */

/* Runs until @side has a completion, which must be a success. */
static enum rdl_status completed(struct connection_lab *l, struct bench_connection *c,
                                 unsigned side)
{
    const struct rdl_limits none = {0};
    struct rdl_wc wc;
    size_t n = 0;

    for (uint32_t i = 0; i < TICKS_MAX; i++) {
        TRY(rdl_poll_cq(l->lab, c->end[side].side.cq, 1, &wc, &n));
        if (n == 1)
            return wc.status == WCS_SUCCESS ? RDL_OK : RDL_ERR_DEVICE;
        TRY(rdl_step(l->lab, RDL_STEP_CQE, none));
    }
    return RDL_ERR_TIMEOUT;
}

enum rdl_status connection_message(struct connection_lab *l, struct bench_connection *c)
{
    TRY(testbed_side_send(l->lab, &c->end[0].side, 0, 0, BYTES, SF_SIGNALED));
    TRY(completed(l, c, 1));
    return completed(l, c, 0);
}

static enum rdl_status disconnect(struct connection_lab *l, struct bench_connection *c)
{
    struct rdl_cm_event event;
    int error;

    TRY(rdl_cm_disconnect(l->lab, c->end[0].id, &error));
    TRY(take_event(l, c->end[1].channel, RDMA_CM_EVENT_DISCONNECTED, &event));
    TRY(rdl_cm_disconnect(l->lab, c->end[1].id, &error));
    return take_event(l, c->end[0].channel, RDMA_CM_EVENT_DISCONNECTED, &event);
}

enum rdl_status connection_end(struct connection_lab *l, struct bench_connection *c)
{
    TRY(disconnect(l, c));
    for (unsigned side = 0; side < 2; side++) {
        const struct connection_end *e = &c->end[side];

        TRY(rdl_destroy_qp(l->lab, e->side.qp));
        TRY(wait(l, side));
        TRY(rdl_destroy_cq(l->lab, e->side.cq));
        TRY(wait(l, side));
        TRY(rdl_cm_destroy_id(l->lab, e->id));
        TRY(rdl_cm_destroy_channel(l->lab, e->channel));
    }
    return RDL_OK;
}
