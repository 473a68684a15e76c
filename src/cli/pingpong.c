/* SPDX-License-Identifier: MIT */
#include "cli/pingpong.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enums.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"

/* The original's work request ids, which are also the bits of what is pending. */
#define WR_ID_RECV 1u
#define WR_ID_SEND 2u

/* What the original sets, see its pp_connect_ctx(). */
#define MIN_RNR_TIMER 12u
#define TIMEOUT       14u
#define RETRIES       7u
#define HOP_LIMIT     1u

#define CHUNK_BYTES         4096u
#define ORIGINAL_PAGE_BYTES 4096u

void pingpong_init(struct pingpong *p, struct rdl_lab *lab, const struct pingpong_config *config,
                   FILE *out)
{
    *p = (struct pingpong){.lab = lab, .config = *config, .out = out, .state = PP_ALLOC_PD};
    p->config.psn &= PSN_MASK;
}

void pingpong_fail(struct pingpong *p, const char *why)
{
    struct text t = text_on(p->error, sizeof(p->error));

    text_add(&t, why);
    p->state = PP_FAILED;
}

static bool is_server(const struct pingpong *p)
{
    return p->config.server[0] == '\0';
}

static enum rdl_status modify(struct pingpong *p, uint32_t state, uint32_t mask)
{
    const struct pingpong_config *c = &p->config;
    struct rdl_modify_error err;
    struct rdl_qp_attr attr = {
        .state = state,
        .port = 1,
        .path_mtu = c->mtu,
        .dest_qpn = p->remote_qpn,
        .rq_psn = p->remote_psn,
        .sq_psn = c->psn,
        .max_rd_atomic = 1,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = MIN_RNR_TIMER,
        .timeout = TIMEOUT,
        .retry_cnt = RETRIES,
        .rnr_retry = RETRIES,
        .ah.sgid_index = (uint8_t)c->gid_index,
        .ah.hop_limit = HOP_LIMIT,
    };

    memcpy(attr.ah.dgid, p->remote_gid, sizeof(attr.ah.dgid));
    return rdl_modify_qp(p->lab, p->qp, &attr, QPA_STATE | mask, false, &err);
}

/* The request of the current state. */
static enum rdl_status ask(struct pingpong *p)
{
    const struct pingpong_config *c = &p->config;
    struct rdl_qp_config qp = {
        .pd = p->pd,
        .type = QPT_RC,
        .send_cq = p->cq,
        .recv_cq = p->cq,
        .max_send_wr = 1,
        .max_recv_wr = c->rx_depth,
        .max_send_sge = 1,
        .max_recv_sge = 1,
    };
    enum rdl_status st;

    switch (p->state) {
    case PP_ALLOC_PD:
        return rdl_alloc_pd(p->lab, c->host, NULL, &p->pd);
    case PP_REG_MR:
        /* The message to send, then the one received. */
        st = rdl_mem_alloc(p->lab, c->host, 2 * (uint64_t)c->size, &p->buf);
        return st != RDL_OK ? st
                            : rdl_reg_mr(p->lab, p->pd, p->buf, 2 * (uint64_t)c->size,
                                         ACC_LOCAL_WRITE, NULL, &p->mr);
    case PP_CREATE_CQ:
        return rdl_create_cq(p->lab, c->host, c->rx_depth + 1, NULL, &p->cq);
    case PP_CREATE_QP:
        return rdl_create_qp(p->lab, &qp, NULL, &p->qp);
    case PP_INIT:
        return modify(p, QPS_INIT, QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS);
    case PP_ARM:
        return rdl_req_notify_cq(p->lab, p->cq, false);
    case PP_RTR:
        return modify(p, QPS_RTR,
                      QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN | QPA_MAX_DEST_RD_ATOMIC |
                          QPA_MIN_RNR_TIMER);
    case PP_RTS:
        return modify(p, QPS_RTS,
                      QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY | QPA_SQ_PSN |
                          QPA_MAX_QP_RD_ATOMIC);
    default:
        return RDL_ERR_STATE;
    }
}

static uint64_t recv_buf(const struct pingpong *p)
{
    return p->buf + p->config.size;
}

/* Fills the receive queue up to its depth. */
static bool post_receives(struct pingpong *p)
{
    const struct rdl_sge sge = {recv_buf(p), p->config.size, p->mem.lkey};
    const struct rdl_recv_wr wr = {.wr_id = WR_ID_RECV, .sge = &sge, .n_sge = 1};

    while (p->posted < p->config.rx_depth) {
        if (rdl_post_recv(p->lab, p->qp, &wr, false) != RDL_OK) {
            pingpong_fail(p, "Couldn't post receive");
            return false;
        }
        p->posted++;
    }
    return true;
}

/* Byte @k of message number @i: both ends can tell it.  With -c the original wants a 0 at the start
 * of every page.
 */
static uint8_t pattern(uint32_t i, uint32_t k)
{
    if (k % ORIGINAL_PAGE_BYTES == 0)
        return 0;
    return (uint8_t)(i * 31u + k + k / 251u);
}

/* The message of the next iteration; an answer is what came. */
static bool fill_message(struct pingpong *p)
{
    uint8_t chunk[CHUNK_BYTES];

    for (uint32_t at = 0; at < p->config.size; at += CHUNK_BYTES) {
        const uint32_t left = p->config.size - at, n = left < CHUNK_BYTES ? left : CHUNK_BYTES;

        for (uint32_t k = 0; k < n; k++)
            chunk[k] = pattern(p->n_sent, at + k);
        if (rdl_mem_write(p->lab, p->config.host, p->buf + at, chunk, n) != RDL_OK)
            return false;
    }
    return true;
}

/* Is what was received what the other end must have sent?  A client gets its own message back.  A
 * server gets the pattern from a client of this program, and from the original's, which never
 * changes its buffer, the same message every time.
 */
static bool check_message(struct pingpong *p, uint32_t i)
{
    uint64_t hash = 0xcbf29ce484222325u;
    bool is_pattern = true;
    uint8_t chunk[CHUNK_BYTES];

    for (uint32_t at = 0; at < p->config.size; at += CHUNK_BYTES) {
        const uint32_t left = p->config.size - at, n = left < CHUNK_BYTES ? left : CHUNK_BYTES;

        if (rdl_mem_read(p->lab, p->config.host, recv_buf(p) + at, chunk, n) != RDL_OK)
            return false;
        for (uint32_t k = 0; k < n; k++) {
            is_pattern = is_pattern && chunk[k] == pattern(i, at + k);
            hash = (hash ^ chunk[k]) * 0x100000001b3u;
        }
    }
    if (i == 0)
        p->first_hash = hash;
    return is_pattern || (is_server(p) && hash == p->first_hash);
}

/* A client sends its message, a server what it received. */
static bool post_send(struct pingpong *p)
{
    const struct rdl_sge sge = {is_server(p) ? recv_buf(p) : p->buf, p->config.size, p->mem.lkey};
    const struct rdl_send_wr wr = {
        .wr_id = WR_ID_SEND, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &sge, .n_sge = 1};

    if ((!is_server(p) && p->config.check && !fill_message(p)) ||
        rdl_post_send(p->lab, p->qp, &wr, false) != RDL_OK) {
        pingpong_fail(p, "Couldn't post send");
        return false;
    }
    p->pending = WR_ID_RECV | WR_ID_SEND;
    return true;
}

static void on_completion(struct pingpong *p, const struct rdl_wc *wc)
{
    if (wc->status != WCS_SUCCESS) {
        struct text t = text_on(p->error, sizeof(p->error));

        text_addf(&t, "Failed status %s (%u) for wr_id %" PRIu64,
                  enum_name(&enum_wc_status, wc->status), wc->status, wc->wr_id);
        p->state = PP_FAILED;
        return;
    }
    if (wc->wr_id == WR_ID_SEND) {
        p->n_sent++;
    } else {
        if (wc->byte_len != p->config.size || (p->config.check && !check_message(p, p->n_rcvd))) {
            pingpong_fail(p, "invalid data received");
            return;
        }
        p->n_rcvd++;
        if (--p->posted <= 1 && !post_receives(p))
            return;
    }
    p->pending &= ~(unsigned)wc->wr_id;
    if (p->n_sent < p->config.iters && !p->pending)
        post_send(p);
}

static void print_side(const struct pingpong *p, const char *which, uint32_t qpn, uint32_t psn,
                       const uint8_t gid[16])
{
    char buf[ADDR_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    if (gid_is_ipv4(gid))
        text_add(&t, "::ffff:");
    addr_add(&t, gid);
    fprintf(p->out, "  %s address:  LID 0x0000, QPN 0x%06x, PSN 0x%06x, GID %s\n", which, qpn, psn,
            buf);
    fflush(p->out);
}

static void print_result(const struct pingpong *p)
{
    const uint64_t ns = p->ended_ns - p->started_ns;
    const uint64_t bytes = (uint64_t)p->config.size * p->config.iters * 2;
    const double seconds = (double)ns / 1e9;

    fprintf(p->out, "%" PRIu64 " bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, seconds,
            (double)bytes * 8.0 / 1e6 / seconds);
    fprintf(p->out, "%u iters in %.2f seconds = %.2f usec/iter\n", p->config.iters, seconds,
            seconds * 1e6 / p->config.iters);
    fflush(p->out);
}

/* Takes completions; with events, only after one was signalled, and arms the queue again. */
static void run(struct pingpong *p, uint64_t now_ns)
{
    struct rdl_wc wc[2];
    size_t n;

    do {
        if (rdl_poll_cq(p->lab, p->cq, 2, wc, &n) != RDL_OK) {
            pingpong_fail(p, "poll CQ failed");
            return;
        }
        for (size_t i = 0; i < n && p->state == PP_RUN; i++)
            on_completion(p, &wc[i]);
    } while (n > 0 && p->state == PP_RUN);
    if (p->state == PP_RUN && p->n_sent >= p->config.iters && p->n_rcvd >= p->config.iters) {
        p->ended_ns = now_ns;
        p->state = PP_DONE;
        print_result(p);
    }
}

/* The request of the state was answered with success. */
static void answered(struct pingpong *p)
{
    struct rdl_qp_info info;
    uint8_t gid[16], mac[6];

    switch (p->state) {
    case PP_CREATE_QP:
        if (rdl_qp_info(p->lab, p->qp, &info) == RDL_OK)
            p->qpn = info.qpn;
        if (rdl_mr_info(p->lab, p->mr, &p->mem) != RDL_OK)
            pingpong_fail(p, "Couldn't register MR");
        break;
    case PP_INIT:
        if (!post_receives(p))
            return;
        break;
    case PP_ARM:
        if (rdl_host_address(p->lab, p->config.host, p->config.gid_index, gid, mac) == RDL_OK)
            print_side(p, "local", p->qpn, p->config.psn, gid);
        break;
    default:
        break;
    }
    if (p->state != PP_FAILED)
        p->state++;
    /* Without -e nobody waits for events. */
    if (p->state == PP_ARM && !p->config.use_events) {
        answered(p);
        return;
    }
}

static const char *const what[] = {
    [PP_ALLOC_PD] = "Couldn't allocate PD",    [PP_REG_MR] = "Couldn't register MR",
    [PP_CREATE_CQ] = "Couldn't create CQ",     [PP_CREATE_QP] = "Couldn't create QP",
    [PP_INIT] = "Failed to modify QP to INIT", [PP_ARM] = "Couldn't request CQ notification",
    [PP_RTR] = "Failed to modify QP to RTR",   [PP_RTS] = "Failed to modify QP to RTS",
};

void pingpong_go(struct pingpong *p, uint64_t now_ns)
{
    uint32_t rsp;

    while (p->state < PP_RUN && p->state != PP_EXCHANGE && p->state != PP_CONNECTED) {
        enum rdl_status st = rdl_answer(p->lab, p->config.host, &rsp);

        if (st == RDL_ERR_BUSY)
            return;
        if (!p->asked) {
            st = ask(p);
            p->asked = st == RDL_OK;
            if (st == RDL_ERR_BUSY)
                return; /* another program's request */
            if (st == RDL_OK)
                continue;
        }
        if (st != RDL_OK) {
            struct text t = text_on(p->error, sizeof(p->error));

            text_addf(&t, "%s: %s", what[p->state], rdl_status_str(st));
            p->state = PP_FAILED;
            return;
        }
        p->asked = false;
        answered(p);
    }
    if (p->state == PP_RUN)
        run(p, now_ns);
}

void pingpong_line(const struct pingpong *p, char ret[PINGPONG_LINE_BYTES])
{
    struct text t = text_on(ret, PINGPONG_LINE_BYTES);
    uint8_t gid[16] = {0}, mac[6];

    RDL_ASSERT(rdl_host_address(p->lab, p->config.host, p->config.gid_index, gid, mac) == RDL_OK);
    text_addf(&t, "%04x:%06x:%06x:", 0u, p->qpn, p->config.psn);
    for (size_t i = 0; i < sizeof(gid); i++)
        text_addf(&t, "%02x", gid[i]);
}

/* @n hexadecimal digits at @s; false if they are none. */
static bool hex(const char *s, size_t n, uint32_t *ret)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++) {
        const char c = s[i];

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint32_t)(c - 'a' + 10);
        else
            return false;
    }
    *ret = v;
    return true;
}

bool pingpong_remote(struct pingpong *p, const char line[PINGPONG_LINE_BYTES])
{
    uint32_t lid, byte;
    bool ok = hex(line, 4, &lid) && line[4] == ':' && hex(line + 5, 6, &p->remote_qpn) &&
              line[11] == ':' && hex(line + 12, 6, &p->remote_psn) && line[18] == ':';

    for (size_t i = 0; i < sizeof(p->remote_gid) && ok; i++) {
        ok = hex(line + 19 + 2 * i, 2, &byte);
        p->remote_gid[i] = ok ? (uint8_t)byte : 0;
    }
    if (!ok) {
        pingpong_fail(p, "the other side does not speak rc_pingpong's protocol");
        return false;
    }
    print_side(p, "remote", p->remote_qpn, p->remote_psn, p->remote_gid);
    p->state = PP_RTR;
    return true;
}

void pingpong_start(struct pingpong *p, uint64_t now_ns)
{
    p->state = PP_RUN;
    p->started_ns = now_ns;
    p->pending = WR_ID_RECV;
    if (!is_server(p))
        post_send(p);
}
