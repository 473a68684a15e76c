/* SPDX-License-Identifier: MIT */
#include "bench/bench_scale.h"

#include <stdlib.h>

#include "emu/base/text.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "rdmalab/ip.h"
#include "testbed/testbed.h"
#include "testbed/try.h"

#define BYTES       64u
#define DEPTH       4u /* outstanding messages per queue pair */
#define MR_BYTES    ((uint64_t)2 * DEPTH * BYTES)
#define WC_MAX      ((size_t)2 * DEPTH) /* completions of a round at one queue pair */
#define MIN_SECONDS 0.3                 /* duration of the measurement of messages */
#define RAM_BYTES   (64u << 20)

struct stand {
    struct rdl_lab *lab;
    struct testbed_side *sides; /* the queue pairs of one host follow each other */
    uint32_t n;
};

/* Adds host @i, with RAM for the rings of all its queue pairs, and its link. */
static enum rdl_status add_host(struct stand *s, const struct bench_scale *scale, uint32_t i)
{
    char name[RDL_NAME_BYTES];
    struct text t = text_on(name, sizeof(name));
    const struct rdl_host_config host = {
        .name = name,
        .ram_bytes = RAM_BYTES + (uint64_t)scale->qps * (1u << 18),
        .max_cq = scale->qps > 1 ? scale->qps : 0,
        .max_qp = scale->qps > 1 ? scale->qps + 1 : 0,
    };
    const struct rdl_link_config link = {.a = name, .b = "s1", .latency_ns = 1000};
    rdl_host added;
    rdl_link made;

    text_addf(&t, "h%u", i + 1);
    TRY(rdl_host_add(s->lab, &host, &added));
    TRY(rdl_link_add(s->lab, &link, &made));
    for (uint32_t q = 0; q < scale->qps; q++)
        s->sides[(size_t)i * scale->qps + q].host = added;
    return RDL_OK;
}

static enum rdl_status ping(struct stand *s, rdl_host from, rdl_host to)
{
    const struct rdl_limits none = {0};
    struct rdl_ping_config config = {.bytes = BYTES};
    uint8_t mac[6];
    rdl_ping_id id;

    TRY(rdl_host_address(s->lab, to, 0, config.address, mac));
    TRY(rdl_ping(s->lab, from, &config, &id));
    return rdl_ping_wait(s->lab, id, none);
}

/* Lets the switch learn all MACs, so that it does not flood frames to unknown ones later. */
static enum rdl_status meet(struct stand *s, const struct bench_scale *scale)
{
    const rdl_host first = s->sides[0].host;

    TRY(ping(s, first, s->sides[scale->qps].host));
    for (uint32_t i = 1; i < scale->hosts; i++)
        TRY(ping(s, s->sides[(size_t)i * scale->qps].host, first));
    return RDL_OK;
}

/* Returns the index of the peer of @i: the same queue pair of the other host of the pair. */
static uint32_t peer_of(const struct bench_scale *scale, uint32_t i)
{
    const uint32_t host = i / scale->qps;

    return (host ^ 1u) * scale->qps + i % scale->qps;
}

static enum rdl_status connect_all(struct stand *s, const struct bench_scale *scale)
{
    const struct testbed_config config = {.mr_bytes = MR_BYTES,
                                          .max_wr = DEPTH,
                                          .path_mtu = MTU_4096,
                                          .timeout = 14,
                                          .retry_cnt = 7,
                                          .rnr_retry = 7,
                                          .min_rnr_timer = 12};

    for (uint32_t i = 0; i < s->n; i++) {
        struct testbed_side *side = &s->sides[i];
        const bool is_first = i % scale->qps == 0;

        if (is_first)
            TRY(testbed_side_memory(s->lab, side, &config));
        else
            *side = (struct testbed_side){
                .host = side->host, .pd = side[-1].pd, .mr = side[-1].mr, .mem = side[-1].mem};
        TRY(testbed_side_qp(s->lab, side, &config, is_first));
    }
    for (uint32_t i = 0; i < s->n; i++)
        TRY(testbed_side_connect(s->lab, &s->sides[i], &s->sides[peer_of(scale, i)], &config, 0));
    return RDL_OK;
}

static enum rdl_status poll(struct stand *s, const struct testbed_side *side)
{
    struct rdl_wc wc[WC_MAX];
    size_t n;

    TRY(rdl_poll_cq(s->lab, side->cq, WC_MAX, wc, &n));
    if (n != WC_MAX)
        return RDL_ERR_IDLE;
    for (size_t i = 0; i < n; i++) {
        if (wc[i].status != WCS_SUCCESS)
            return RDL_ERR_INVAL;
    }
    return RDL_OK;
}

/* Queue pairs @first .. @end - 1 of each host send to their peers.  Polls all completions. */
static enum rdl_status messages(struct stand *s, const struct bench_scale *scale, uint32_t first,
                                uint32_t end)
{
    const struct rdl_limits none = {0};

    for (uint32_t i = 0; i < s->n; i += scale->qps) {
        for (uint32_t k = first * DEPTH; k < end * DEPTH; k++)
            TRY(testbed_side_recv(s->lab, &s->sides[i + k / DEPTH], k % DEPTH,
                                  (uint64_t)(DEPTH + k % DEPTH) * BYTES, BYTES));
    }
    for (uint32_t i = 0; i < s->n; i += scale->qps) {
        for (uint32_t k = first * DEPTH; k < end * DEPTH; k++)
            TRY(testbed_side_send(s->lab, &s->sides[i + k / DEPTH], k % DEPTH,
                                  (uint64_t)(k % DEPTH) * BYTES, BYTES, SF_SIGNALED));
    }
    TRY(rdl_run(s->lab, RDL_NEVER, none));
    for (uint32_t i = 0; i < s->n; i += scale->qps) {
        for (uint32_t q = first; q < end; q++)
            TRY(poll(s, &s->sides[i + q]));
    }
    return RDL_OK;
}

static enum rdl_status round_of_messages(struct stand *s, const struct bench_scale *scale)
{
    const uint32_t at_once = scale->in_turn ? 1 : scale->active;

    for (uint32_t q = 0; q < scale->active; q += at_once)
        TRY(messages(s, scale, q, q + at_once));
    return RDL_OK;
}

static enum rdl_status measure(struct stand *s, const struct bench_scale *scale,
                               double (*now_s)(void), struct bench_scaled *ret)
{
    const struct rdl_lab_config config = {.seed = 1};
    uint64_t sent = 0;
    size_t before;
    double start = now_s();
    rdl_switch sw;

    TRY(rdl_lab_new(&config, &s->lab));
    TRY(rdl_switch_add(s->lab, "s1", &sw));
    before = rdl_used_bytes(s->lab);
    for (uint32_t i = 0; i < scale->hosts; i++)
        TRY(add_host(s, scale, i));
    ret->build_s = now_s() - start;
    ret->host_bytes = (double)(rdl_used_bytes(s->lab) - before) / scale->hosts;
    start = now_s();
    TRY(connect_all(s, scale));
    ret->connect_s = (now_s() - start) / s->n;
    TRY(meet(s, scale));
    TRY(round_of_messages(s, scale)); /* warm up */
    start = now_s();
    do {
        TRY(round_of_messages(s, scale));
        sent += (uint64_t)scale->hosts * scale->active * DEPTH;
        ret->message_s = (now_s() - start) / (double)sent;
    } while (ret->message_s * (double)sent < MIN_SECONDS);
    return RDL_OK;
}

enum rdl_status bench_scale(const struct bench_scale *scale, double (*now_s)(void),
                            struct bench_scaled *ret)
{
    struct stand s = {.n = scale->hosts * scale->qps};
    enum rdl_status st;

    s.sides = calloc(s.n, sizeof(*s.sides));
    if (!s.sides)
        return RDL_ERR_NOMEM;
    st = measure(&s, scale, now_s, ret);
    rdl_lab_free(s.lab);
    free(s.sides);
    return st;
}
