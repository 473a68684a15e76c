/* SPDX-License-Identifier: MIT */
#include "traces.h"

#include <stdlib.h>
#include <string.h>

#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/rules.h"
#include "testing.h"

#define LATENCY  1000u
#define PACKET   87u     /* a full packet at 100 Gbit/s */
#define RTO      65536u  /* local ACK timeout 4 */
#define RNR_WAIT 640000u /* RNR timer 12 */

/* Until trace_build() numbers them, events have their place in the array + 1 as id, and events
 * that refer to a tx do so by that.
 */
static ev_id add(struct trace_of *t, uint64_t at, struct ev e)
{
    assert_true(t->n < TRACE_EVENTS_MAX);
    e.at_ns = at;
    e.id = t->n + 1;
    t->e[t->n++] = e;
    return e.id;
}

#define ADD(t, at, event, ...)                                                                     \
    add((t), (at), (struct ev){.kind = EV_##event, .u.event = {__VA_ARGS__}})

static void hosts(struct trace_of *t, uint32_t n)
{
    for (uint32_t h = 0; h < n; h++) {
        const char name[] = {'h', (char)('1' + h), '\0'};
        const char addr[] = {'1', '0', '.', '0', '.', '0', '.', (char)('1' + h), '\0'};

        ADD(t, 0, host_up, .host = h, .name = ev_str(name), .addr = ev_str(addr),
            .first_qpn = h + 2);
        ADD(t, 0, named, .host = h, .object = OBJ_QP, .number = h + 2, .name = ev_str("qp"));
        ADD(t, 0, named, .host = h, .object = OBJ_CQ, .number = 1, .name = ev_str("cq"));
    }
}

static void connect(struct trace_of *t, uint64_t at, uint32_t host)
{
    static const uint32_t states[] = {QPS_RESET, QPS_INIT, QPS_RTR, QPS_RTS};

    for (uint32_t i = 0; i < 3; i++)
        ADD(t, at + i * 2000, qp_state, .host = host, .qpn = host + 2, .from = states[i],
            .to = states[i + 1]);
}

static void pair(struct trace_of *t)
{
    hosts(t, 2);
    connect(t, 8000, 0);
    connect(t, 14000, 1);
}

static void post_recv(struct trace_of *t, uint64_t at, uint32_t host, uint64_t wr_id)
{
    ADD(t, at, post_recv, .host = host, .qpn = host + 2, .queue = 20 + 2 * host, .wr_id = wr_id,
        .bytes = 1024);
    ADD(t, at, kick, .host = host, .queue = 20 + 2 * host, .avail_idx = 1);
}

static void post_send(struct trace_of *t, uint64_t at, uint32_t host, uint64_t wr_id, uint32_t size)
{
    ADD(t, at, post_send, .host = host, .qpn = host + 2, .queue = 19 + 2 * host, .wr_id = wr_id,
        .op = WR_SEND, .bytes = size);
    ADD(t, at, kick, .host = host, .queue = 19 + 2 * host, .avail_idx = 1);
    ADD(t, at, fetch, .host = host, .qpn = host + 2, .wr_id = wr_id, .op = WR_SEND, .bytes = 91);
}

/* Where a packet goes and what it is. */
struct flow {
    uint32_t from, to, opcode, psn, attempt;
    bool ackreq;
};

static ev_id send(struct trace_of *t, uint64_t at, struct flow f)
{
    const ev_id id = ADD(t, at, tx, .host = f.from, .qpn = f.from + 2, .opcode = f.opcode,
                         .psn = f.psn, .ackreq = f.ackreq, .dest_qpn = f.to + 2,
                         .attempt = f.attempt > 1 ? f.attempt : 0, .peer = f.to);

    if (f.ackreq)
        ADD(t, at, timer, .host = f.from, .qpn = f.from + 2, .timer = TMR_ACK, .due = at + RTO);
    return id;
}

static void arrive(struct trace_of *t, uint64_t at, struct flow f, ev_id tx, enum pkt_act act)
{
    ADD(t, at, rx, .host = f.to, .qpn = f.to + 2, .opcode = f.opcode, .psn = f.psn,
        .act = (uint32_t)act, .tx = tx);
}

/* A packet that arrives as expected. */
static void pass(struct trace_of *t, uint64_t at, struct flow f)
{
    const ev_id tx = send(t, at, f);

    arrive(t, at + LATENCY + PACKET, f, tx, ACT_ACCEPT);
}

static void lose(struct trace_of *t, uint64_t at, struct flow f)
{
    const ev_id tx = send(t, at, f);

    ADD(t, at, lost, .host = f.from, .qpn = f.from + 2, .opcode = f.opcode, .psn = f.psn,
        .by = FLT_DROP, .fault = 1, .name = ev_str("f1"), .tx = tx);
}

struct answer {
    uint32_t from, to, psn, msn, syndrome;
};

/* An ACK or NAK that arrives; returns when. */
static uint64_t answer(struct trace_of *t, uint64_t at, struct answer a, enum pkt_act act)
{
    const ev_id tx = ADD(t, at, tx, .host = a.from, .qpn = a.from + 2, .opcode = OP_RC_ACKNOWLEDGE,
                         .psn = a.psn, .dest_qpn = a.to + 2, .syndrome = a.syndrome, .msn = a.msn,
                         .rnr_timer = 12, .peer = a.to);

    at += LATENCY + 6;
    ADD(t, at, rx, .host = a.to, .qpn = a.to + 2, .opcode = OP_RC_ACKNOWLEDGE, .psn = a.psn,
        .syndrome = a.syndrome, .msn = a.msn, .act = (uint32_t)act, .tx = tx);
    if (act == ACT_ACKS)
        ADD(t, at, timer_off, .host = a.to, .qpn = a.to + 2, .timer = TMR_ACK);
    return at;
}

static void complete(struct trace_of *t, uint64_t at, uint32_t host, uint64_t wr_id, bool recv,
                     enum wc_status status)
{
    ADD(t, at, cqe, .host = host, .cqn = 1, .qpn = host + 2, .wr_id = wr_id,
        .status = (uint32_t)status, .op = recv ? WC_RECV : WC_SEND, .bytes = recv ? 64 : 0);
    ADD(t, at, irq, .host = host, .vector = 1, .queue = 1);
}

#define FLIGHT (LATENCY + PACKET)

static const struct flow only100 = {0, 1, OP_RC_SEND_ONLY, 100, 1, true};

/* The rest of a message of one packet that was sent at @at. */
static void finish(struct trace_of *t, uint64_t at)
{
    complete(t, at + FLIGHT, 1, 7, true, WCS_SUCCESS);
    at = answer(t, at + FLIGHT, (struct answer){1, 0, 100, 1, SYN_ACK}, ACT_ACKS);
    complete(t, at, 0, 1, false, WCS_SUCCESS);
}

static void first_send(struct trace_of *t)
{
    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, 64);
    pass(t, 20087, only100);
    finish(t, 20087);
}

/* Posted with nokick: the device looks only after the kick. */
static void kick_later(struct trace_of *t)
{
    pair(t);
    post_recv(t, 20000, 1, 7);
    ADD(t, 20000, post_send, .host = 0, .qpn = 2, .queue = 19, .wr_id = 1, .op = WR_SEND,
        .bytes = 64);
    ADD(t, 20000, kick, .host = 0, .queue = 1); /* of a completion queue */
    ADD(t, 21000, kick, .host = 0, .queue = 19, .avail_idx = 1);
    pass(t, 21087, only100);
    finish(t, 21087);
}

static uint64_t time_out(struct trace_of *t, uint64_t armed, uint32_t psn, uint32_t retry)
{
    ADD(t, armed + RTO, timeout, .host = 0, .qpn = 2, .timer = TMR_ACK, .psn = psn, .retry = retry,
        .limit = 7);
    ADD(t, armed + RTO, retry, .host = 0, .qpn = 2, .psn = psn, .retry = retry, .limit = 7);
    return armed + RTO;
}

static void lost_request(struct trace_of *t)
{
    uint64_t at;

    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, 64);
    lose(t, 20087, only100);
    at = time_out(t, 20087, 100, 1);
    pass(t, at, (struct flow){0, 1, OP_RC_SEND_ONLY, 100, 2, true});
    finish(t, at);
}

static void lost_ack(struct trace_of *t)
{
    const struct flow again = {0, 1, OP_RC_SEND_ONLY, 100, 2, true};
    uint64_t at;
    ev_id tx;

    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, 64);
    pass(t, 20087, only100);
    complete(t, 20087 + FLIGHT, 1, 7, true, WCS_SUCCESS);
    tx = ADD(t, 20087 + FLIGHT, tx, .host = 1, .qpn = 3, .opcode = OP_RC_ACKNOWLEDGE, .psn = 100,
             .dest_qpn = 2, .syndrome = SYN_ACK, .msn = 1, .peer = 0);
    ADD(t, 20087 + FLIGHT, lost, .host = 1, .qpn = 3, .psn = 100, .by = FLT_CHANCE, .tx = tx);
    at = time_out(t, 20087, 100, 1);
    tx = send(t, at, again);
    arrive(t, at + FLIGHT, again, tx, ACT_DUPLICATE);
    at = answer(t, at + FLIGHT, (struct answer){1, 0, 100, 1, SYN_ACK}, ACT_ACKS);
    complete(t, at, 0, 1, false, WCS_SUCCESS);
}

/* Three packets, the middle one lost: NAK, go-back-N. */
static void lost_middle(struct trace_of *t)
{
    const struct flow last = {0, 1, OP_RC_SEND_LAST, 102, 1, true};
    uint64_t at = 20087;
    ev_id tx;

    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, 3000);
    pass(t, at, (struct flow){0, 1, OP_RC_SEND_FIRST, 100, 1, false});
    lose(t, at + PACKET, (struct flow){0, 1, OP_RC_SEND_MIDDLE, 101, 1, false});
    tx = send(t, at + 2 * PACKET, last);
    at += 2 * PACKET + FLIGHT;
    arrive(t, at, last, tx, ACT_NAK_SEQUENCE);
    at = answer(t, at, (struct answer){1, 0, 101, 0, SYN_NAK_PSN_SEQUENCE}, ACT_GO_BACK);
    ADD(t, at, retry, .host = 0, .qpn = 2, .psn = 101, .retry = 1, .limit = 7);
    pass(t, at, (struct flow){0, 1, OP_RC_SEND_MIDDLE, 101, 2, false});
    pass(t, at + PACKET, (struct flow){0, 1, OP_RC_SEND_LAST, 102, 2, true});
    at += PACKET + FLIGHT;
    complete(t, at, 1, 7, true, WCS_SUCCESS);
    at = answer(t, at, (struct answer){1, 0, 102, 1, SYN_ACK}, ACT_ACKS);
    complete(t, at, 0, 1, false, WCS_SUCCESS);
}

static void receiver_not_ready(struct trace_of *t)
{
    uint64_t at = 20087;
    ev_id tx;

    pair(t);
    post_send(t, 20000, 0, 1, 64);
    tx = send(t, at, only100);
    arrive(t, at + FLIGHT, only100, tx, ACT_RNR);
    at = answer(t, at + FLIGHT, (struct answer){1, 0, 100, 0, SYN_RNR_NAK}, ACT_WAIT_RNR);
    ADD(t, at, timer_off, .host = 0, .qpn = 2, .timer = TMR_ACK);
    ADD(t, at, timer, .host = 0, .qpn = 2, .timer = TMR_RNR, .due = at + RNR_WAIT);
    post_recv(t, at + 100000, 1, 7);
    at += RNR_WAIT;
    ADD(t, at, timeout, .host = 0, .qpn = 2, .timer = TMR_RNR, .psn = 100, .retry = 1);
    pass(t, at, (struct flow){0, 1, OP_RC_SEND_ONLY, 100, 2, true});
    finish(t, at);
}

static void duplicate(struct trace_of *t)
{
    const uint64_t at = 20087;
    ev_id tx;

    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, 64);
    tx = send(t, at, only100);
    ADD(t, at, fault, .host = 0, .qpn = 2, .opcode = OP_RC_SEND_ONLY, .psn = 100,
        .by = FLT_DUPLICATE, .fault = 1, .name = ev_str("f1"), .tx = tx);
    arrive(t, at + FLIGHT, only100, tx, ACT_ACCEPT);
    finish(t, at);
    arrive(t, at + FLIGHT + 500, only100, tx, ACT_DUPLICATE);
    answer(t, at + FLIGHT + 500, (struct answer){1, 0, 100, 1, SYN_ACK}, ACT_DROP);
}

static void one_message(struct trace_of *t, uint32_t n)
{
    uint64_t at = 20087;

    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, n * 1024);
    for (uint32_t i = 0; i < n; i++) {
        const bool asks = i % 8 == 7 || i + 1 == n;
        const uint32_t op = i == 0       ? OP_RC_SEND_FIRST
                            : i + 1 == n ? OP_RC_SEND_LAST
                                         : OP_RC_SEND_MIDDLE;
        const uint64_t sent = at + i * PACKET;

        pass(t, sent, (struct flow){0, 1, op, 100 + i, 1, asks});
        if (asks)
            answer(t, sent + FLIGHT, (struct answer){1, 0, 100 + i, i + 1 == n, SYN_ACK}, ACT_ACKS);
    }
    at += (n - 1) * PACKET + FLIGHT;
    complete(t, at, 1, 7, true, WCS_SUCCESS);
    complete(t, at + LATENCY + 6, 0, 1, false, WCS_SUCCESS);
}

static void thirty_packets(struct trace_of *t)
{
    one_message(t, 30);
}

static void sixty_packets(struct trace_of *t)
{
    one_message(t, 60);
}

static void three_hosts(struct trace_of *t)
{
    uint64_t at;

    hosts(t, 3);
    for (uint32_t h = 0; h < 3; h++)
        connect(t, 8000 + h * 6000, h);
    post_recv(t, 30000, 1, 7);
    post_recv(t, 30000, 2, 8);
    post_send(t, 30000, 0, 1, 64);
    pass(t, 30087, (struct flow){0, 2, OP_RC_SEND_ONLY, 100, 1, true});
    post_send(t, 30200, 2, 2, 64);
    pass(t, 30200, (struct flow){2, 1, OP_RC_SEND_ONLY, 500, 1, true});
    complete(t, 30087 + FLIGHT, 2, 8, true, WCS_SUCCESS);
    at = answer(t, 30087 + FLIGHT, (struct answer){2, 0, 100, 1, SYN_ACK}, ACT_ACKS);
    complete(t, at, 0, 1, false, WCS_SUCCESS);
    complete(t, 30200 + FLIGHT, 1, 7, true, WCS_SUCCESS);
    at = answer(t, 30200 + FLIGHT, (struct answer){1, 2, 500, 1, SYN_ACK}, ACT_ACKS);
    complete(t, at, 2, 2, false, WCS_SUCCESS);
    lose(t, at + 3000, (struct flow){1, 0, OP_RC_SEND_ONLY, 900, 1, false});
}

/* Both hosts send at the same time: every packet crosses several others. */
static void crossing(struct trace_of *t)
{
    pair(t);
    for (uint32_t h = 0; h < 2; h++) {
        for (uint32_t i = 0; i < 6; i++)
            post_recv(t, 20000, h, 70 + i);
    }
    for (uint32_t i = 0; i < 6; i++) {
        const uint64_t at = 21000 + i * 300;

        for (uint32_t h = 0; h < 2; h++) {
            post_send(t, at + h * 40, h, i + 1, 64);
            pass(t, at + h * 40, (struct flow){h, !h, OP_RC_SEND_ONLY, 100 + h * 400 + i, 1, true});
            complete(t, at + h * 40 + FLIGHT, !h, 70 + i, true, WCS_SUCCESS);
            answer(t, at + h * 40 + FLIGHT,
                   (struct answer){!h, h, 100 + h * 400 + i, i + 1, SYN_ACK}, ACT_ACKS);
            complete(t, at + h * 40 + FLIGHT + LATENCY + 6, h, i + 1, false, WCS_SUCCESS);
        }
    }
}

/* One packet is overtaken, another is damaged. */
static void faults(struct trace_of *t)
{
    const struct flow first = {0, 1, OP_RC_SEND_FIRST, 100, 1, false};
    const struct flow last = {0, 1, OP_RC_SEND_LAST, 101, 1, true};
    uint64_t at = 20087;
    ev_id tx, fault;

    pair(t);
    post_recv(t, 20000, 1, 7);
    post_send(t, 20000, 0, 1, 2000);
    tx = send(t, at, first);
    ADD(t, at, fault, .host = 0, .psn = 100, .opcode = first.opcode, .by = FLT_DELAY, .fault = 1,
        .name = ev_str("f1"), .delay = 20000, .tx = tx);
    arrive(t, at + FLIGHT + 20000, first, tx, ACT_ACCEPT);
    tx = send(t, at + PACKET, last);
    fault = ADD(t, at + PACKET, fault, .host = 0, .psn = 101, .opcode = last.opcode,
                .by = FLT_CORRUPT, .fault = 2, .name = ev_str("f2"), .tx = tx);
    ADD(t, at + PACKET + FLIGHT, drop, .host = 1, .qpn = 3, .opcode = last.opcode, .psn = 101,
        .reason = DROP_BAD_ICRC, .tx = fault);
    at = time_out(t, at + PACKET, 100, 1);
    pass(t, at, (struct flow){0, 1, OP_RC_SEND_FIRST, 100, 2, false});
    pass(t, at + PACKET, (struct flow){0, 1, OP_RC_SEND_LAST, 101, 2, true});
    at = answer(t, at + PACKET + FLIGHT, (struct answer){1, 0, 101, 1, SYN_ACK}, ACT_ACKS);
    complete(t, at, 0, 1, false, WCS_SUCCESS);
}

/* Nobody answers: retries run out, the QP fails, what was posted is flushed. */
static void retries_exceeded(struct trace_of *t)
{
    uint64_t at = 20087;

    pair(t);
    for (uint32_t i = 1; i <= 4; i++)
        post_send(t, 20000, 0, i, 64);
    for (uint32_t i = 1; i <= 3; i++) {
        lose(t, at, (struct flow){0, 1, OP_RC_SEND_ONLY, 100, i, true});
        lose(t, at, (struct flow){0, 1, OP_RC_SEND_ONLY, 101, i, true});
        ADD(t, at + RTO, timeout, .host = 0, .qpn = 2, .timer = TMR_ACK, .psn = 100, .retry = i,
            .limit = 2);
        at += RTO;
    }
    complete(t, at, 0, 1, false, WCS_RETRY_EXC_ERR);
    ADD(t, at, qp_state, .host = 0, .qpn = 2, .from = QPS_RTS, .to = QPS_ERR);
    for (uint32_t i = 2; i <= 4; i++)
        complete(t, at, 0, i, false, WCS_WR_FLUSH_ERR);
}

/* A wrong lkey, and a name that must be escaped. */
static void refused(struct trace_of *t)
{
    hosts(t, 1);
    ADD(t, 0, named, .host = 0, .object = OBJ_QP, .number = 2, .name = ev_str("<q&\">"));
    connect(t, 8000, 0);
    ADD(t, 9000, qp_state, .host = 0, .qpn = 9, .from = QPS_RESET, .to = QPS_INIT);
    post_send(t, 20000, 0, 1, 64);
    ADD(t, 20050, key, .host = 0, .qpn = 2, .key = 0x1a4, .bytes = 64, .rule = RULE_MR_KEY);
    complete(t, 20050, 0, 1, false, WCS_LOC_PROT_ERR);
}

/* What work requests make of keys, and one of which nothing leaves. */
static void keys_of_requests(struct trace_of *t)
{
    hosts(t, 1);
    connect(t, 8000, 0);
    ADD(t, 8500, post_send, .host = 0, .qpn = 2, .wr_id = 4, .op = WR_BIND_MW);
    ADD(t, 9000, bind, .host = 0, .qpn = 2, .key = 0x249, .new_key = 0x24a, .bytes = 64);
    ADD(t, 10000, bind, .host = 0, .qpn = 2, .key = 0x24a, .new_key = 0x24b);
    ADD(t, 11000, reg_mr, .host = 0, .qpn = 2, .key = 0x377, .bytes = 4096);
    ADD(t, 12000, invalidate, .host = 0, .qpn = 2, .key = 0x377, .bytes = 4096);
    ADD(t, 13000, bind, .host = 0, .qpn = 2, .key = 0x249, .bytes = 64, .rule = RULE_BIND_MW);
    ADD(t, 14000, reg_mr, .host = 0, .qpn = 2, .key = 0x378, .rule = RULE_REG_STATE);
    ADD(t, 15000, invalidate, .host = 0, .qpn = 2, .key = 0x14a, .rule = RULE_INV_KIND);
    ADD(t, 16000, not_sent, .host = 0, .qpn = 2, .wr_id = 9, .rule = RULE_SQ_DATAGRAM_LENGTH);
}

/* News of credits says what it says in an event of its own. */
static void credits_told(struct trace_of *t)
{
    pair(t);
    answer(t, 20087, (struct answer){1, 0, 99, 0, SYN_ACK}, ACT_CREDITS);
    ADD(t, 20087 + LATENCY + 6, credits, .host = 0, .qpn = 2, .limit = 2);
}

/* A packet to the own host, one that is lost there, one under way when the picture ends. */
static void own_host(struct trace_of *t)
{
    const struct flow self = {0, 0, OP_RC_SEND_ONLY, 100, 1, true};

    pair(t);
    pass(t, 20087, self);
    answer(t, 20087 + FLIGHT, (struct answer){0, 0, 100, 1, SYN_ACK}, ACT_ACKS);
    lose(t, 30000, (struct flow){0, 0, OP_RC_SEND_ONLY, 101, 1, false});
    pass(t, 35000, (struct flow){1, 1, OP_RC_SEND_ONLY, 300, 1, false});
    send(t, 40000, (struct flow){1, 0, OP_RC_SEND_ONLY, 200, 1, false});
}

/* A host outside of the lab, behind a live port. */
static void from_outside(struct trace_of *t)
{
    hosts(t, 1);
    arrive(t, 5000, (struct flow){9, 0, OP_RC_SEND_ONLY, 100, 1, true}, 0, ACT_ACCEPT);
    ADD(t, 5000, tx, .host = 0, .qpn = 2, .opcode = OP_RC_ACKNOWLEDGE, .psn = 100, .dest_qpn = 17,
        .syndrome = SYN_ACK, .msn = 1, .peer = EV_HOST_NONE);
    ADD(t, 9000, drop, .host = 0, .qpn = 2, .opcode = OP_RC_SEND_ONLY, .psn = 3,
        .reason = DROP_WRONG_SOURCE);
}

/* Injects a packet at host @f.from.  Returns its tx event. */
static ev_id inject(struct trace_of *t, uint64_t at, struct flow f, bool bad_icrc)
{
    const ev_id made = ADD(t, at, inject, .host = f.from, .opcode = f.opcode, .psn = f.psn,
                           .dest_qpn = f.to + 2, .peer = f.to, .bad_icrc = bad_icrc);
    const ev_id tx = ADD(t, at, tx, .host = f.from, .opcode = f.opcode, .psn = f.psn,
                         .ackreq = f.ackreq, .dest_qpn = f.to + 2, .peer = f.to);

    t->e[tx - 1].cause = made;
    return tx;
}

/* Packets that no queue pair has sent: one arrives twice, one is damaged, one is lost, one goes to
 * its own host, one is under way at the end.  Then the same packet, sent by the queue pair.
 */
static void injected(struct trace_of *t)
{
    struct flow f = only100;
    ev_id tx;

    pair(t);
    post_recv(t, 20000, 1, 7);
    tx = inject(t, 20087, f, false);
    ADD(t, 20087, fault, .host = 0, .opcode = f.opcode, .psn = f.psn, .by = FLT_DUPLICATE,
        .fault = 1, .name = ev_str("f1"), .tx = tx);
    arrive(t, 20087 + FLIGHT, f, tx, ACT_ACCEPT);
    arrive(t, 20487 + FLIGHT, f, tx, ACT_DUPLICATE);
    tx = inject(t, 30000, f, true);
    ADD(t, 30000 + FLIGHT, drop, .host = 1, .opcode = f.opcode, .psn = f.psn,
        .reason = DROP_BAD_ICRC, .tx = tx);
    f = (struct flow){1, 0, OP_RC_ACKNOWLEDGE, 77, 1, false};
    tx = inject(t, 40000, f, false);
    ADD(t, 40000, lost, .host = 1, .opcode = f.opcode, .psn = f.psn, .by = FLT_DROP, .fault = 2,
        .name = ev_str("f2"), .tx = tx);
    f.to = 1;
    arrive(t, 51000, f, inject(t, 50000, f, false), ACT_ACCEPT);
    pass(t, 60000, only100);
    f.to = 0;
    inject(t, 70000, f, false);
}

static void nothing(struct trace_of *t)
{
    hosts(t, 2);
}

const struct trace_case trace_cases[] = {
    {"first_send", first_send},
    {"kick_later", kick_later},
    {"lost_request", lost_request},
    {"lost_ack", lost_ack},
    {"lost_middle", lost_middle},
    {"receiver_not_ready", receiver_not_ready},
    {"duplicate", duplicate},
    {"thirty_packets", thirty_packets},
    {"sixty_packets", sixty_packets},
    {"three_hosts", three_hosts},
    {"crossing", crossing},
    {"faults", faults},
    {"retries_exceeded", retries_exceeded},
    {"refused", refused},
    {"keys", keys_of_requests},
    {"credits_told", credits_told},
    {"own_host", own_host},
    {"from_outside", from_outside},
    {"injected", injected},
    {"nothing", nothing},
};
const size_t n_trace_cases = ARRAY_LEN(trace_cases);

static int by_time(const void *a, const void *b)
{
    const struct ev *x = a;
    const struct ev *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static ev_id *tx_of(struct ev *e)
{
    switch (e->kind) {
    case EV_rx:
        return &e->u.rx.tx;
    case EV_lost:
        return &e->u.lost.tx;
    case EV_drop:
        return &e->u.drop.tx;
    case EV_fault:
        return &e->u.fault.tx;
    default:
        return NULL;
    }
}

/* Puts events in the order of time and gives those of one moment one tick. */
static void number(struct trace_of *t)
{
    ev_id *ids = calloc(t->n + 1, sizeof(*ids));
    uint64_t tick = 1;
    uint32_t row = 0;

    assert_non_null(ids);
    qsort(t->e, t->n, sizeof(t->e[0]), by_time);
    for (size_t i = 0; i < t->n; i++) {
        if (i > 0 && t->e[i].at_ns != t->e[i - 1].at_ns) {
            tick++;
            row = 0;
        }
        row++;
        ids[t->e[i].id] = ev_id_of(tick, row);
        t->e[i].id = ev_id_of(tick, row);
    }
    for (size_t i = 0; i < t->n; i++) {
        ev_id *tx = tx_of(&t->e[i]);

        if (tx)
            *tx = ids[*tx];
        t->e[i].cause = ids[t->e[i].cause];
    }
    free(ids);
}

void trace_build(struct trace_of *t, const char *name)
{
    memset(t, 0, sizeof(*t));
    for (size_t i = 0; i < n_trace_cases; i++) {
        if (strcmp(trace_cases[i].name, name) == 0)
            trace_cases[i].build(t);
    }
    assert_true(t->n > 0);
    number(t);
}

/* What is left of a trace. */
struct rest {
    const struct trace_of *t;
    size_t first;
};

static const struct ev *event_at(const void *ctx, size_t i)
{
    const struct rest *rest = ctx;

    assert_true(rest->first + i < rest->t->n);
    return &rest->t->e[rest->first + i];
}

struct ladder *trace_draw(const struct trace_of *t, size_t forgotten,
                          const struct picture_options *options)
{
    const struct rest rest = {t, forgotten};
    struct ev_names *names = ev_names_new();
    const struct past past = {.at = event_at,
                              .ctx = &rest,
                              .n = t->n - forgotten,
                              .forgotten = forgotten,
                              .names = names,
                              .gap_from = t->gap_from,
                              .gap_to = t->gap_to};
    struct ladder *l = NULL;

    assert_non_null(names);
    assert_true(forgotten <= t->n);
    for (size_t i = 0; i < t->n; i++)
        ev_names_learn(names, &t->e[i]);
    assert_int_equal(ladder_new(&past, options, &l), RDL_OK);
    ev_names_free(names);
    return l;
}

struct ladder *trace_ladder(const char *name, const struct picture_options *options)
{
    struct trace_of *t = calloc(1, sizeof(*t));
    const struct picture_options none = {.title = name};
    struct ladder *l;

    assert_non_null(t);
    trace_build(t, name);
    l = trace_draw(t, 0, options ? options : &none);
    free(t);
    return l;
}
