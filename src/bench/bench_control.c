/* SPDX-License-Identifier: MIT */
#include "bench/bench_control.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/bench_connection.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/trace/filter.h"
#include "rdmalab/inspect.h"
#include "rdmalab/layer.h"
#include "rdmalab/trace.h"
#include "testbed/try.h"

#define LATENCY_NS 1000u
#define TICKS_MAX  100000u

static const struct testbed_config config = {.mr_bytes = 4096, .max_wr = 16};

static const char *const step_names[CONTROL_STEP_COUNT] = {
#define STEP(name, text) text,
    CONTROL_STEPS(STEP)
#undef STEP
};

static const char *const place_names[CONTROL_PLACES] = {"host", "function", "virtual RNIC"};

/* The events that are counted, and the cost that they are. */
static const struct {
    const char *kind;
    size_t offset; /* in struct control_cost */
} counted[] = {
    {"ctrl_execute", offsetof(struct control_cost, requests)},
    {"command", offsetof(struct control_cost, requests)},
    {"vrnic_map", offsetof(struct control_cost, maps)},
    {"vrnic_unmap", offsetof(struct control_cost, maps)},
    {"centre_lookup", offsetof(struct control_cost, lookups)},
};

/* A lab while it is measured.  Side 0 is the end whose costs are counted. */
struct control_lab {
    struct connection_lab c;
    const char *end; /* name of the host at side 0 */
    enum control_place place;
    struct rdl_tally *tally[ARRAY_LEN(counted)];
    rdl_ah ah;
    struct bench_connection connection;
};

/* Starts counting the events of the end, before there are any. */
static enum rdl_status start_counting(struct control_lab *l)
{
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        const uint32_t kind = ev_kind_find(counted[i].kind);
        struct ev_condition of_end = {.field = ev_field_find(kind, "host"), .op = CMP_EQ};
        const struct ev_filter filter = {.kind = kind, .n = 1, .conditions = &of_end};
        struct text name = text_on(of_end.text, sizeof(of_end.text));

        text_add(&name, l->end);
        TRY(rdl_tally(l->c.lab, &filter, &l->tally[i], NULL));
    }
    return RDL_OK;
}

/* --- The lab ---------------------------------------------------------------------------------- */

/* Adds both hosts, or two machines with a guest each. */
static enum rdl_status add_hosts(struct control_lab *l, uint32_t device)
{
    static const char *const hosts[2] = {"h1", "h2"}, *const guests[2] = {"g1", "g2"};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = LATENCY_NS};
    const bool on_machines = l->place != PLACE_HOST;
    rdl_link made;

    for (uint32_t i = 0; i < 2; i++) {
        const struct rdl_host_config host = {.name = hosts[i],
                                             .vfs = on_machines ? 2 : 0,
                                             .device = on_machines ? DEVICE_virtio : device};

        TRY(rdl_host_add(l->c.lab, &host, &l->c.host[i].host));
    }
    TRY(rdl_link_add(l->c.lab, &link, &made));
    for (uint32_t i = 0; on_machines && i < 2; i++) {
        const struct rdl_host_config guest = {
            .name = guests[i], .on = hosts[i], .vrnic = l->place == PLACE_VRNIC, .device = device};

        TRY(rdl_host_add(l->c.lab, &guest, &l->c.host[i].host));
    }
    return RDL_OK;
}

static enum rdl_status wait(struct control_lab *l)
{
    const struct rdl_limits limits = {.ticks = TICKS_MAX};
    struct rdl_response rsp;

    return rdl_wait(l->c.lab, l->c.host[0].host, limits, &rsp);
}

/* --- The steps -------------------------------------------------------------------------------- */

static enum rdl_status alloc_pd(struct control_lab *l)
{
    struct testbed_side *s = &l->c.host[0];

    TRY(rdl_alloc_pd(l->c.lab, s->host, NULL, &s->pd));
    return wait(l);
}

static enum rdl_status reg_mr(struct control_lab *l)
{
    struct testbed_side *s = &l->c.host[0];
    uint64_t addr;

    TRY(rdl_mem_alloc(l->c.lab, s->host, config.mr_bytes, &addr));
    TRY(rdl_reg_mr(l->c.lab, s->pd, addr, config.mr_bytes, 0, NULL, &s->mr));
    TRY(wait(l));
    return rdl_mr_info(l->c.lab, s->mr, &s->mem);
}

static enum rdl_status create_cq(struct control_lab *l)
{
    struct testbed_side *s = &l->c.host[0];

    TRY(rdl_create_cq(l->c.lab, s->host, config.max_wr, NULL, &s->cq));
    return wait(l);
}

static enum rdl_status create_qp(struct control_lab *l)
{
    struct testbed_side *s = &l->c.host[0];
    const struct rdl_qp_config qp = {.type = QPT_RC,
                                     .max_send_wr = config.max_wr,
                                     .max_recv_wr = config.max_wr,
                                     .pd = s->pd,
                                     .send_cq = s->cq,
                                     .recv_cq = s->cq};

    TRY(rdl_create_qp(l->c.lab, &qp, NULL, &s->qp));
    return wait(l);
}

static enum rdl_status peer(struct control_lab *l, struct rdl_ah_attr *ret)
{
    uint8_t mac[6];

    *ret = (struct rdl_ah_attr){.port = 1, .hop_limit = 64};
    return rdl_peer_address(l->c.lab, l->c.host[0].host, l->c.host[1].host, 0, 0, ret->dgid, mac);
}

static enum rdl_status create_ah(struct control_lab *l)
{
    struct rdl_ah_attr attr;

    TRY(peer(l, &attr));
    TRY(rdl_create_ah(l->c.lab, l->c.host[0].pd, &attr, NULL, &l->ah));
    return wait(l);
}

static enum rdl_status move(struct control_lab *l, enum qp_state to)
{
    struct rdl_qp_attr attr = {.state = to,
                               .path_mtu = MTU_1024,
                               .port = 1,
                               .dest_qpn = l->connection.end[1].side.qpn + 2,
                               .max_rd_atomic = 1,
                               .max_dest_rd_atomic = 1,
                               .timeout = 14,
                               .retry_cnt = 7,
                               .rnr_retry = 7};
    struct rdl_modify_error error;

    TRY(peer(l, &attr.ah));
    TRY(rdl_modify_qp(l->c.lab, l->c.host[0].qp, &attr, QPA_STATE | qp_fsm_needs(QPT_RC, to), false,
                      &error));
    return wait(l);
}

static enum rdl_status to_init(struct control_lab *l)
{
    return move(l, QPS_INIT);
}

static enum rdl_status to_rtr(struct control_lab *l)
{
    return move(l, QPS_RTR);
}

static enum rdl_status to_rts(struct control_lab *l)
{
    return move(l, QPS_RTS);
}

static enum rdl_status connect(struct control_lab *l)
{
    TRY(connection_dial(&l->c, &l->connection, 0));
    TRY(connection_accept(&l->c, &l->connection, 1));
    TRY(connection_finish(&l->c, &l->connection));
    return connection_await(&l->c, &l->connection);
}

static enum rdl_status disconnect(struct control_lab *l)
{
    return connection_end(&l->c, &l->connection);
}

static enum rdl_status destroy(struct control_lab *l)
{
    const struct testbed_side *s = &l->c.host[0];

    TRY(rdl_destroy_ah(l->c.lab, l->ah));
    TRY(rdl_destroy_qp(l->c.lab, s->qp));
    TRY(wait(l));
    TRY(rdl_destroy_cq(l->c.lab, s->cq));
    TRY(wait(l));
    TRY(rdl_dereg_mr(l->c.lab, s->mr));
    TRY(wait(l));
    TRY(rdl_dealloc_pd(l->c.lab, s->pd));
    return wait(l);
}

static enum rdl_status (*const steps[CONTROL_STEP_COUNT])(struct control_lab *l) = {
    [CONTROL_PD] = alloc_pd,       [CONTROL_MR] = reg_mr,    [CONTROL_CQ] = create_cq,
    [CONTROL_QP] = create_qp,      [CONTROL_AH] = create_ah, [CONTROL_INIT] = to_init,
    [CONTROL_RTR] = to_rtr,        [CONTROL_RTS] = to_rts,   [CONTROL_CM] = connect,
    [CONTROL_CM_END] = disconnect, [CONTROL_END] = destroy,
};

/* --- Measuring -------------------------------------------------------------------------------- */

/* Reads the sums since the lab began. */
static enum rdl_status read_sums(const struct control_lab *l, struct control_cost *ret)
{
    const struct ev_condition *unknown;
    struct rdl_value reads, writes;
    char path[64];
    size_t at;

    *ret = (struct control_cost){.ns = rdl_now_ns(l->c.lab)};
    for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
        uint64_t n;

        TRY(rdl_tally_count(l->tally[i], &n, &unknown));
        *(uint64_t *)(void *)((uint8_t *)ret + counted[i].offset) += n;
    }
    snprintf(path, sizeof(path), "%s.driver.reads", l->end);
    TRY(rdl_inspect(l->c.lab, path, &reads, &at));
    snprintf(path, sizeof(path), "%s.driver.writes", l->end);
    TRY(rdl_inspect(l->c.lab, path, &writes, &at));
    ret->accesses = reads.number + writes.number;
    return RDL_OK;
}

/* Carries out @step, and waits until nothing is left of it. */
static enum rdl_status measure_step(struct control_lab *l, enum control_step step,
                                    struct control_cost *ret)
{
    const struct rdl_limits bounded = {.ticks = TICKS_MAX};
    struct control_cost before, after;
    uint64_t end_ns;

    TRY(read_sums(l, &before));
    TRY(steps[step](l));
    end_ns = rdl_now_ns(l->c.lab);
    TRY(rdl_run(l->c.lab, RDL_NEVER, bounded)); /* the last interrupt */
    TRY(read_sums(l, &after));
    *ret = (struct control_cost){.requests = after.requests - before.requests,
                                 .accesses = after.accesses - before.accesses,
                                 .maps = after.maps - before.maps,
                                 .lookups = after.lookups - before.lookups,
                                 .ns = end_ns - before.ns};
    return RDL_OK;
}

static enum rdl_status measure_lab(struct control_lab *l, uint32_t device,
                                   struct control_cost ret[CONTROL_STEP_COUNT])
{
    TRY(start_counting(l));
    TRY(add_hosts(l, device));
    TRY(testbed_side_memory(l->c.lab, &l->c.host[1],
                            &config)); /* so that the peer has an address */
    TRY(connection_lab_listen(&l->c));
    for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++)
        TRY(measure_step(l, (enum control_step)i, &ret[i]));
    return RDL_OK;
}

enum rdl_status control_measure(uint32_t device, enum control_place place,
                                struct control_cost ret[CONTROL_STEP_COUNT])
{
    const struct rdl_lab_config lab = {.seed = 1};
    struct control_lab l = {.end = place == PLACE_HOST ? "h1" : "g1", .place = place};
    enum rdl_status st = rdl_lab_new(&lab, &l.c.lab);

    if (st == RDL_OK)
        st = measure_lab(&l, device, ret);
    connection_lab_done(&l.c);
    return st;
}

/* --- Printing --------------------------------------------------------------------------------- */

static void print_text(uint32_t device, struct control_cost (*cost)[CONTROL_STEP_COUNT])
{
    uint64_t ns[CONTROL_PLACES] = {0};

    printf("%-18s", rdl_device_name(device));
    for (uint32_t p = 0; p < CONTROL_PLACES; p++)
        printf("%20s", place_names[p]);
    printf("\n%-18s", "");
    for (uint32_t p = 0; p < CONTROL_PLACES; p++)
        printf("  requests  accesses");
    puts("  maps  lookups");
    for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++) {
        printf("%-18s", step_names[i]);
        for (uint32_t p = 0; p < CONTROL_PLACES; p++) {
            printf("  %8" PRIu64 "  %8" PRIu64, cost[p][i].requests, cost[p][i].accesses);
            ns[p] += cost[p][i].ns;
        }
        printf("  %4" PRIu64 "  %7" PRIu64 "\n", cost[PLACE_VRNIC][i].maps,
               cost[PLACE_VRNIC][i].lookups);
    }
    printf("%-18s", "simulated time, ns");
    for (uint32_t p = 0; p < CONTROL_PLACES; p++)
        printf("%20" PRIu64, ns[p]);
    puts("");
}

static void print_json(uint32_t device, uint32_t place, const struct control_cost *cost, bool first)
{
    for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++)
        printf("%s{\"device\":\"%s\",\"place\":\"%s\",\"step\":\"%s\",\"requests\":%" PRIu64
               ",\"accesses\":%" PRIu64 ",\"maps\":%" PRIu64 ",\"lookups\":%" PRIu64
               ",\"ns\":%" PRIu64 "}",
               first && i == 0 ? "[" : ",\n ", rdl_device_name(device), place_names[place],
               step_names[i], cost[i].requests, cost[i].accesses, cost[i].maps, cost[i].lookups,
               cost[i].ns);
}

int bench_control(bool json)
{
    static const uint32_t devices[] = {DEVICE_virtio, DEVICE_pvrdma};
    struct control_cost cost[CONTROL_PLACES][CONTROL_STEP_COUNT];

    for (uint32_t d = 0; d < ARRAY_LEN(devices); d++) {
        for (uint32_t p = 0; p < CONTROL_PLACES; p++) {
            const enum rdl_status st = control_measure(devices[d], (enum control_place)p, cost[p]);

            if (st != RDL_OK) {
                fprintf(stderr, "rdmalab: bench control: %s\n", rdl_status_str(st));
                return 1;
            }
            if (json)
                print_json(devices[d], p, cost[p], d + p == 0);
        }
        if (!json)
            print_text(devices[d], cost);
    }
    if (json)
        puts("]");
    return 0;
}
