/* SPDX-License-Identifier: MIT */
#include "testbed/testbed.h"

#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/qp_fsm.h"
#include "rdmalab/machine.h"
#include "rdmalab/port.h"
#include "testbed/try.h"

#define TESTBED_WAIT_TICKS 100000u
#define TESTBED_RAM_BYTES  (64u << 20) /* in addition to the memory of messages */

static enum rdl_status wait(struct rdl_lab *lab, rdl_host host)
{
    const struct rdl_limits limits = {.ticks = TESTBED_WAIT_TICKS};
    struct rdl_response rsp;

    return rdl_wait(lab, host, limits, &rsp);
}

enum rdl_status testbed_wait(struct testbed *r, unsigned side)
{
    return wait(r->lab, r->side[side].host);
}

static enum qp_type type_of(const struct testbed_config *c)
{
    return c->type ? (enum qp_type)c->type : QPT_RC;
}

enum rdl_status testbed_side_memory(struct rdl_lab *lab, struct testbed_side *s,
                                    const struct testbed_config *c)
{
    uint64_t addr;

    TRY(rdl_alloc_pd(lab, s->host, "pd", &s->pd));
    TRY(wait(lab, s->host));
    TRY(rdl_mem_alloc(lab, s->host, c->mr_bytes, &addr));
    TRY(rdl_reg_mr(lab, s->pd, addr, c->mr_bytes, ACC_LOCAL_WRITE | c->mr_access, "mr", &s->mr));
    TRY(wait(lab, s->host));
    return rdl_mr_info(lab, s->mr, &s->mem);
}

enum rdl_status testbed_side_qp(struct rdl_lab *lab, struct testbed_side *s,
                                const struct testbed_config *c, bool is_first)
{
    struct rdl_qp_config qp = {.type = type_of(c),
                               .max_send_wr = c->max_wr,
                               .max_recv_wr = c->max_wr,
                               .max_inline_data = c->max_inline_data};
    struct rdl_qp_info info;

    TRY(rdl_create_cq(lab, s->host, 2 * c->max_wr, is_first ? "cq" : NULL, &s->cq));
    TRY(wait(lab, s->host));
    qp.pd = s->pd;
    qp.send_cq = qp.recv_cq = s->cq;
    TRY(rdl_create_qp(lab, &qp, is_first ? "qp" : NULL, &s->qp));
    TRY(wait(lab, s->host));
    TRY(rdl_qp_info(lab, s->qp, &info));
    s->qpn = info.qpn;
    return RDL_OK;
}

static enum rdl_status modify(struct rdl_lab *lab, const struct testbed_side *s,
                              const struct testbed_config *c, struct rdl_qp_attr *attr,
                              enum qp_state to)
{
    struct rdl_modify_error err;

    attr->state = to;
    TRY(rdl_modify_qp(lab, s->qp, attr, QPA_STATE | qp_fsm_needs(type_of(c), to), false, &err));
    return wait(lab, s->host);
}

enum rdl_status testbed_side_connect(struct rdl_lab *lab, struct testbed_side *s,
                                     const struct testbed_side *peer,
                                     const struct testbed_config *c, unsigned number)
{
    struct rdl_qp_attr attr = {
        .path_mtu = c->path_mtu,
        .access = ACC_LOCAL_WRITE | c->access[number],
        .port = 1,
        .qkey = TESTBED_QKEY,
        .dest_qpn = peer->qpn,
        .rq_psn = c->sq_psn[1 - number],
        .sq_psn = c->sq_psn[number],
        .max_rd_atomic = c->max_rd_atomic[number] ? c->max_rd_atomic[number] : 1,
        .max_dest_rd_atomic = c->max_dest_rd_atomic[number] ? c->max_dest_rd_atomic[number] : 1,
        .min_rnr_timer = c->min_rnr_timer,
        .timeout = c->timeout,
        .retry_cnt = c->retry_cnt,
        .rnr_retry = c->rnr_retry,
        .ah.sgid_index = (uint8_t)c->gid_index,
        .ah.hop_limit = 64,
    };
    uint8_t mac[6];

    TRY(rdl_host_address(lab, peer->host, c->gid_index, attr.ah.dgid, mac));
    TRY(modify(lab, s, c, &attr, QPS_INIT));
    TRY(modify(lab, s, c, &attr, QPS_RTR));
    TRY(modify(lab, s, c, &attr, QPS_RTS));
    if (type_of(c) != QPT_UD)
        return RDL_OK;
    attr.ah.port = 1;
    TRY(rdl_create_ah(lab, s->pd, &attr.ah, NULL, &s->ah));
    return wait(lab, s->host);
}

/* Adds the links, and with c->outside the switch and the port. */
static enum rdl_status link_up(struct testbed *r, const struct testbed_config *c)
{
    struct rdl_link_config link = {"h1", "h2", c->latency_ns, c->rate_bps, c->loss_ppm};
    const struct rdl_port_config out = {.name = "out"};
    rdl_switch sw;
    rdl_link other;

    if (!c->outside)
        return rdl_link_add(r->lab, &link, &r->link);
    TRY(rdl_switch_add(r->lab, "sw", &sw));
    TRY(rdl_port_add(r->lab, &out, &r->out));
    link.b = "sw";
    TRY(rdl_link_add(r->lab, &link, &r->link));
    link.a = "h2";
    TRY(rdl_link_add(r->lab, &link, &other));
    link.a = "out";
    return rdl_link_add(r->lab, &link, &other);
}

/* Adds the machine, whose functions need no cable. */
static enum rdl_status add_machine(struct testbed *r, const struct testbed_config *c)
{
    const struct rdl_host_config machine = {.name = "m1", .vfs = 2, .shortcut = c->shortcut};
    struct rdl_vf_settings set;
    rdl_host made;

    TRY(rdl_host_add(r->lab, &machine, &made));
    for (uint32_t i = 0; i < 2; i++) {
        TRY(rdl_vf_get(r->lab, made, i, &set));
        set.state = VF_enable;
        TRY(rdl_vf_set(r->lab, made, i, &set));
    }
    return RDL_OK;
}

enum rdl_status testbed_init(struct testbed *r, const struct testbed_config *c)
{
    const struct rdl_lab_config lab = {.seed = c->seed, .check_invariants = c->check_invariants};
    static const char *const names[2] = {"h1", "h2"};

    memset(r, 0, sizeof(*r));
    TRY(rdl_lab_new(&lab, &r->lab));
    if (c->record)
        TRY(rdl_record(r->lab, 0, 0));
    if (c->hash)
        TRY(rdl_hash_start(r->lab));
    if (c->machine)
        TRY(add_machine(r, c));
    for (unsigned i = 0; i < 2; i++) {
        const struct rdl_host_config host = {.name = names[i],
                                             .ram_bytes = (2 * c->mr_bytes + TESTBED_RAM_BYTES) &
                                                          ~(uint64_t)4095u,
                                             .extensions = c->extensions,
                                             .on = c->machine ? "m1" : NULL,
                                             .vf = c->machine ? i : 0,
                                             .profile = c->profile[i]};

        TRY(rdl_host_add(r->lab, &host, &r->side[i].host));
    }
    if (!c->machine)
        TRY(link_up(r, c));
    for (unsigned i = 0; i < 2; i++) {
        TRY(testbed_side_memory(r->lab, &r->side[i], c));
        TRY(testbed_side_qp(r->lab, &r->side[i], c, true));
    }
    TRY(testbed_side_connect(r->lab, &r->side[0], &r->side[1], c, 0));
    return testbed_side_connect(r->lab, &r->side[1], &r->side[0], c, 1);
}

void testbed_done(struct testbed *r)
{
    rdl_lab_free(r->lab);
    r->lab = NULL;
}

enum rdl_status testbed_side_send(struct rdl_lab *lab, const struct testbed_side *s, uint64_t wr_id,
                                  uint64_t at, uint32_t bytes, uint32_t flags)
{
    const struct rdl_sge sge = {s->mem.addr + at, bytes, s->mem.lkey};
    const struct rdl_send_wr wr = {
        .wr_id = wr_id, .opcode = WR_SEND, .flags = flags, .sge = &sge, .n_sge = 1};

    return rdl_post_send(lab, s->qp, &wr, false);
}

enum rdl_status testbed_side_recv(struct rdl_lab *lab, const struct testbed_side *s, uint64_t wr_id,
                                  uint64_t at, uint32_t bytes)
{
    const struct rdl_sge sge = {s->mem.addr + at, bytes, s->mem.lkey};
    const struct rdl_recv_wr wr = {.wr_id = wr_id, .sge = &sge, .n_sge = 1};

    return rdl_post_recv(lab, s->qp, &wr, false);
}

enum rdl_status testbed_send(struct testbed *r, unsigned side, uint64_t wr_id, uint64_t at,
                             uint32_t bytes, uint32_t flags)
{
    return testbed_side_send(r->lab, &r->side[side], wr_id, at, bytes, flags);
}

enum rdl_status testbed_recv(struct testbed *r, unsigned side, uint64_t wr_id, uint64_t at,
                             uint32_t bytes)
{
    return testbed_side_recv(r->lab, &r->side[side], wr_id, at, bytes);
}
