/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include <string.h>

#include "emu/hca/key.h"
#include "emu/hca/mw.h"
#include "emu/hca/srq.h"
#include "emu/xport/xport_qp.h"

const struct rdl_device_limits stage_limits = {
    .max_mr_size = 8192,
    .max_qp_wr = 16,
    .max_send_sge = 4,
    .max_recv_sge = 3,
    .max_sge_rd = 2,
    .max_cqe = 32,
    .max_mr = 3,
    .max_pd = 2,
    .max_mw = 2,
    .max_qp_rd_atom = 4,
    .max_res_rd_atom = 6,
    .max_qp_init_rd_atom = 2,
    .max_mcast_grp = 2,
    .max_mcast_qp_attach = 2,
    .max_total_mcast_qp_attach = 3,
    .max_fast_reg_page_list_len = 4,
    .max_inline_data = 64,
};

void stage_put_pages(struct machine *m, uint64_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t le[8];

        st_le64(le, first + (uint64_t)i * RAM_PAGE_BYTES);
        machine_poke(m, PAGES_AT + 8 * i, le, sizeof(le));
    }
}

int stage_new_qp(struct machine *m, uint8_t type)
{
    return ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = type, .send_cqn = 1, .recv_cqn = 1,
               .max_send_wr = 4, .max_send_sge = 2, .max_recv_wr = 5, .max_recv_sge = 3,
               .max_inline_data = 64);
}

int stage_set_up(void **state)
{
    struct machine *m;

    machine_set_up_limits(state, &stage_limits);
    m = *state;
    stage_put_pages(m, PAGE_AT, 3);
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    OK(CREATE_CQ, create_cq, .cqe = 8);
    assert_int_equal(stage_new_qp(m, QPT_RC), RSP_OK);
    assert_int_equal(machine_number(m), PAIR_SENDER);
    assert_int_equal(stage_new_qp(m, QPT_UD), RSP_OK);
    assert_int_equal(machine_number(m), UD_QPN);
    OK(CREATE_SRQ, create_srq, .pdn = 1, .max_wr = 8, .max_sge = 2);
    OK(REG_USER_MR, reg_user_mr, .pdn = 1, .access_flags = ACC_MW_BIND, .length = 4096,
       .pages = PAGES_AT, .npages = 1);
    assert_int_equal(machine_number(m), USER_MRN);
    OK(CREATE_MR, create_mr, .pdn = 1, .max_num_sg = 2);
    assert_int_equal(machine_number(m), FAST_MRN);
    OK(ALLOC_MW, alloc_mw, .pdn = 1, .type = MW_TYPE_1);
    assert_int_equal(machine_number(m), MWN);
    return 0;
}

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    const uint8_t *b = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x100000001b3u;
    return h;
}

static uint64_t mix_table(uint64_t h, const struct slots *s, size_t bytes)
{
    h = mix(h, s->v, s->len * sizeof(*s->v));
    for (uint32_t i = 0; i < s->len; i++) {
        if (slots_at(s, i))
            h = mix(h, slots_at(s, i), bytes);
    }
    return h;
}

/* The bytes between members are undefined.  A memory checker would report that they are hashed. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(p) __builtin_clear_padding(p)
#endif
#endif
#ifndef CLEAR_PADDING
#define CLEAR_PADDING(p) (void)(p)
#endif

uint64_t stage_digest(const struct machine *m)
{
    const struct rdma *d = &m->rdma;
    struct hca hca;
    uint64_t h = arena_live_bytes(m->arena);

    memcpy(&hca, &d->nic.hca, sizeof(hca));
    memset(&hca.refused, 0, sizeof(hca.refused));
    CLEAR_PADDING(&hca);
    h = mix(h, &hca, sizeof(hca));
    h = mix_table(h, &hca.pds, sizeof(struct pd));
    h = mix_table(h, &hca.cqs, sizeof(struct cq));
    h = mix_table(h, &hca.srqs, sizeof(struct srq));
    h = mix_table(h, &hca.qps, sizeof(struct xport_qp));
    if (hca.gsi)
        h = mix(h, hca.gsi, sizeof(struct xport_qp));
    h = mix_table(h, &hca.mkeys, sizeof(struct mkey));
    for (uint32_t i = 0; i < hca.mkeys.len; i++) {
        const struct mkey *k = slots_at(&hca.mkeys, i);

        if (k && k->pages.gpa)
            h = mix(h, k->pages.gpa, k->pages.n * sizeof(*k->pages.gpa));
        if (k && k->next.gpa)
            h = mix(h, k->next.gpa, k->next.n * sizeof(*k->next.gpa));
    }
    h = mix(h, d->pci.queues + 1, (d->pci.config.num_queues - 1) * sizeof(*d->pci.queues));
    h = mix(h, d->pci.device_config, d->pci.config.config_bytes);
    h = mix(h, &d->nic.events, sizeof(d->nic.events));
    h = mix(h, &d->nic.way.ready.len, sizeof(d->nic.way.ready.len));
    return mix(h, &d->pci.config_generation, sizeof(d->pci.config_generation));
}

struct rfc_qp_attr stage_attr_to(enum qp_state state)
{
    struct rfc_qp_attr a = {
        .qp_state = (uint8_t)state,
        .path_mtu = MTU_1024,
        .dest_qp_num = 7,
        .max_rd_atomic = 2,
        .max_dest_rd_atomic = 4,
        .port_num = 1,
        .ah_port_num = 1,
        .ah_flags = AH_FLAG_GRH,
    };

    memcpy(a.ah_dgid, machine_gid, GID_BYTES);
    return a;
}
