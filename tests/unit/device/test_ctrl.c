/* SPDX-License-Identifier: MIT */
/* The control queue: the answer of each command to valid requests, at the limits of its arguments
 * and beyond them.  test_requests.c tests how a request may be split into buffers.
 */
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "machine.h"

#include <string.h>

#define PAGES_AT 0x100000u /* a list of pages, for REG_USER_MR */

#define fail_row(i, m) fail_msg("row %zu: %s", (i), enum_name(&enum_ctrl_rsp, (m)->rsp[0]))

static uint32_t new_pd(struct machine *m)
{
    assert_int_equal(machine_ask(m, CMD_CREATE_PD, NULL, 0, ROOM), RSP_OK);
    assert_int_equal(m->rsp_bytes, 5);
    return machine_number(m);
}

static uint32_t new_cq(struct machine *m)
{
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 8), RSP_OK);
    assert_int_equal(m->rsp_bytes, 5);
    return machine_number(m);
}

/* A queue pair of PD 1 and CQ 1, which it makes. */
static uint32_t new_qp(struct machine *m)
{
    assert_int_equal(new_pd(m), 1);
    assert_int_equal(new_cq(m), 1);
    assert_int_equal(ASK(m, CMD_CREATE_QP, create_qp, .pdn = 1, .qp_type = QPT_RC, .send_cqn = 1,
                         .recv_cqn = 1, .max_send_wr = 4, .max_send_sge = 2, .max_recv_wr = 5,
                         .max_recv_sge = 3, .max_inline_data = 64),
                     RSP_OK);
    assert_int_equal(m->rsp_bytes, 5);
    return machine_number(m);
}

static void query_port_tells_whether_the_line_is_there(void **state)
{
    struct machine *m = *state;
    struct rfc_port_attr a;

    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 1), RSP_OK);
    assert_int_equal(m->rsp_bytes, 162);
    rfc_port_attr_get(&a, (const struct raw_port_attr *)(m->rsp + 1));
    assert_int_equal(a.state, 4); /* IBV_PORT_ACTIVE */
    assert_int_equal(a.phys_state, 5);
    assert_int_equal(a.max_mtu, MTU_1024);
    assert_int_equal(a.active_mtu, MTU_1024);
    assert_int_equal(a.phys_mtu, MACHINE_MTU);
    assert_int_equal(a.gid_tbl_len, 16);
    assert_int_equal(a.pkey_tbl_len, 1);
    assert_int_equal(a.max_msg_sz, 0x80000000u);

    m->port.link_end = NET_NO_LINK;
    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 1), RSP_OK);
    rfc_port_attr_get(&a, (const struct raw_port_attr *)(m->rsp + 1));
    assert_int_equal(a.state, 1); /* IBV_PORT_DOWN */
    assert_int_equal(a.phys_state, 3);

    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 0), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 2), RSP_INVALID_ARG);
}

/* The device's own limit, and what is left of the Ethernet's MTU. */
static void the_ethernet_bounds_the_path_mtu(void **state)
{
    static const struct {
        enum mtu device;
        uint32_t ethernet;
        enum mtu active;
    } rows[] = {
        {MTU_4096, 1280, MTU_1024}, {MTU_4096, 1500, MTU_1024}, {MTU_4096, 2143, MTU_1024},
        {MTU_4096, 2144, MTU_2048}, {MTU_4096, 4191, MTU_2048}, {MTU_4096, 4192, MTU_4096},
        {MTU_4096, 9000, MTU_4096}, {MTU_1024, 9000, MTU_1024}, {MTU_512, 1280, MTU_512},
        {MTU_256, 9000, MTU_256},
    };
    struct machine *m = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rfc_port_attr a;

        m->rdma.config.nic.max_mtu = rows[i].device;
        m->port.mtu = rows[i].ethernet;
        assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 1), RSP_OK);
        rfc_port_attr_get(&a, (const struct raw_port_attr *)(m->rsp + 1));
        assert_int_equal(a.max_mtu, rows[i].device);
        assert_int_equal(a.active_mtu, rows[i].active);
        assert_int_equal(a.phys_mtu, rows[i].ethernet);
    }
}

static void query_pkey_gives_the_default_partition(void **state)
{
    struct machine *m = *state;

    assert_int_equal(ASK(m, CMD_QUERY_PKEY, query_pkey, .port = 1), RSP_OK);
    assert_int_equal(m->rsp_bytes, 3);
    assert_int_equal(ld_le16(m->rsp + 1), 0xffff);
    assert_int_equal(ASK(m, CMD_QUERY_PKEY, query_pkey, .port = 1, .index = 1), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_QUERY_PKEY, query_pkey, .port = 2), RSP_INVALID_ARG);
}

static void query_pkey_and_query_port_know_all_partitions(void **state)
{
    struct machine *m = *state;
    struct raw_port_attr raw;
    struct rfc_port_attr a;

    m->rdma.nic.hca.pkeys = (struct hca_pkeys){{0xffff, 0x0005}, 2};
    assert_int_equal(ASK(m, CMD_QUERY_PKEY, query_pkey, .port = 1, .index = 1), RSP_OK);
    assert_int_equal(ld_le16(m->rsp + 1), 0x0005);
    assert_int_equal(ASK(m, CMD_QUERY_PKEY, query_pkey, .port = 1, .index = 2), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_QUERY_PORT, query_port, .port = 1), RSP_OK);
    memcpy(&raw, m->rsp + 1, sizeof(raw));
    rfc_port_attr_get(&a, &raw);
    assert_int_equal(a.pkey_tbl_len, 2);
}

static void gids_come_and_go(void **state)
{
    static const uint8_t gid[GID_BYTES] = {0xfd, [15] = 9};
    static const struct {
        struct rfc_add_gid r;
        int rsp;
    } rows[] = {
        {{{0xfd, [15] = 9}, GID_TYPE_ROCE_V2, 15, 1}, RSP_OK},
        {{{0xfd, [15] = 9}, GID_TYPE_ROCE_V2, 16, 1}, RSP_INVALID_ARG},
        {{{0xfd, [15] = 9}, GID_TYPE_ROCE_V2, 3, 0}, RSP_INVALID_ARG},
        {{{0xfd, [15] = 9}, GID_TYPE_ROCE_V2, 3, 2}, RSP_INVALID_ARG},
        {{{0xfd, [15] = 9}, 1 /* RoCE v1 */, 3, 1}, RSP_NOT_SUPPORTED},
        {{{0xfd, [15] = 9}, 0 /* InfiniBand */, 3, 1}, RSP_NOT_SUPPORTED},
    };
    struct machine *m = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (machine_ask_add_gid(m, CMD_ADD_GID, &rows[i].r) != rows[i].rsp)
            fail_row(i, m);
    }
    assert_true(hca_gid_is_own(&m->rdma.nic.hca, gid));
    assert_int_equal(ASK(m, CMD_DEL_GID, del_gid, .index = 15, .port = 2), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_DEL_GID, del_gid, .index = 16, .port = 1), RSP_INVALID_ARG);
    assert_true(hca_gid_is_own(&m->rdma.nic.hca, gid));
    assert_int_equal(ASK(m, CMD_DEL_GID, del_gid, .index = 15, .port = 1), RSP_OK);
    assert_false(hca_gid_is_own(&m->rdma.nic.hca, gid));
    assert_true(hca_gid_is_own(&m->rdma.nic.hca, machine_gid)); /* the others stay */
}

static void completion_queues_are_numbered_as_their_virtqueues(void **state)
{
    struct machine *m = *state;

    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 0), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = VRING_SIZE_MAX + 1), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = VRING_SIZE_MAX), RSP_OK);
    assert_int_equal(machine_number(m), 1);
    for (uint32_t cqn = 2; cqn <= MACHINE_MAX_CQ; cqn++)
        assert_int_equal(new_cq(m), cqn);
    assert_int_equal(ASK(m, CMD_CREATE_CQ, create_cq, .cqe = 1), RSP_NO_RESOURCES);
    assert_int_equal(ASK(m, CMD_DESTROY_CQ, cq_handle, .cqn = 2), RSP_OK);
    assert_int_equal(new_cq(m), 2); /* free again */
}

static void req_notify_arms_a_completion_queue(void **state)
{
    struct machine *m = *state;
    const struct cq *cq;

    assert_int_equal(ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = 2), RSP_BAD_HANDLE);
    cq = hca_cq(&m->rdma.nic.hca, new_cq(m));
    assert_int_equal(ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = 0), RSP_INVALID_ARG);
    assert_int_equal(ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = 3), RSP_INVALID_ARG);
    assert_int_equal(cq->arm, CQ_IDLE);
    assert_int_equal(ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = NOTIFY_SOLICITED),
                     RSP_OK);
    assert_int_equal(cq->arm, CQ_ARMED_SOLICITED);
    assert_int_equal(
        ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 1, .flags = NOTIFY_NEXT_COMPLETION), RSP_OK);
    assert_int_equal(cq->arm, CQ_ARMED_ANY);
    assert_int_equal(ASK(m, CMD_REQ_NOTIFY_CQ, req_notify, .cqn = 0, .flags = 2), RSP_BAD_HANDLE);
}

/* Puts a list of @n pages at PAGES_AT: @first, then the ones after it. */
static void put_pages(struct machine *m, uint64_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t le[8];

        st_le64(le, first + (uint64_t)i * RAM_PAGE_BYTES);
        machine_poke(m, PAGES_AT + 8 * i, le, sizeof(le));
    }
}

static void registrations_are_judged_by_their_pages(void **state)
{
    static const struct {
        struct rfc_reg_user_mr r;
        uint64_t page;
        int rsp;
    } rows[] = {
        {{1, ACC_LOCAL_WRITE, 0x1000, 4096, 0x1000, PAGES_AT, 1}, 0x5000, RSP_OK},
        {{1, 0, 0x1001, 4096, 0x7001, PAGES_AT, 2}, 0x5000, RSP_OK},
        {{0, ACC_LOCAL_WRITE, 0x1000, 4096, 0x1000, PAGES_AT, 1}, 0x5000, RSP_BAD_HANDLE},
        {{2, ACC_LOCAL_WRITE, 0x1000, 4096, 0x1000, PAGES_AT, 1}, 0x5000, RSP_BAD_HANDLE},
        {{1, ACC_REMOTE_WRITE, 0x1000, 4096, 0x1000, PAGES_AT, 1}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1000, 0, 0x1000, PAGES_AT, 1}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1001, 4096, 0x1001, PAGES_AT, 1}, 0x5000, RSP_INVALID_ARG}, /* needs two */
        {{1, 0, 0x1000, 4096, 0x1000, PAGES_AT, 2}, 0x5000, RSP_INVALID_ARG}, /* needs one */
        {{1, 0, 0x1001, 16, 0x1002, PAGES_AT, 1}, 0x5000, RSP_INVALID_ARG},   /* offsets differ */
        {{1, 0, 0x1000, 4096, 0x1000, PAGES_AT, 1}, 0x5001, RSP_INVALID_ARG}, /* not aligned */
        {{1, 0, 0x1000, 4096, 0x1000, PAGES_AT, 1}, MACHINE_RAM_BYTES - 4096, RSP_OK},
        {{1, 0, 0x1000, 4096, 0x1000, PAGES_AT, 1}, MACHINE_RAM_BYTES, RSP_INVALID_ARG},
        {{1, 0, 0x1000, 4096, 0x1000, MACHINE_RAM_BYTES - 7, 1}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1000, 4096, 0x1000, PAGES_AT, 0}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1000, UINT64_MAX, 0x1000, PAGES_AT, UINT32_MAX}, 0x5000, RSP_INVALID_ARG},
    };
    struct machine *m = *state;

    assert_int_equal(new_pd(m), 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        put_pages(m, rows[i].page, 2);
        if (machine_ask_reg_user_mr(m, CMD_REG_USER_MR, &rows[i].r) != rows[i].rsp)
            fail_row(i, m);
    }
}

#define LIST_PAGES 1000u
#define HELD_MAX   64u

/* Takes the free blocks of the arena that have room for a list, so that the device gets fresh
 * memory for it: zeros, which would do as pages.
 */
static uint32_t hold_free_blocks(struct machine *m, void *held[HELD_MAX])
{
    const size_t used = arena_used_bytes(m->arena);
    uint32_t n = 0;

    while (arena_used_bytes(m->arena) == used) {
        assert_true(n < HELD_MAX);
        held[n++] = arena_alloc_raw(m->arena, 8 * LIST_PAGES);
    }
    return n;
}

/* The list itself is outside of RAM, or its end is: what was not read is not taken for pages. */
static void a_page_list_that_cannot_be_read_is_refused(void **state)
{
    static const struct {
        uint64_t pages;
        int rsp;
    } rows[] = {
        {MACHINE_RAM_BYTES - 8 * LIST_PAGES + 8, RSP_INVALID_ARG},
        {MACHINE_RAM_BYTES - 8, RSP_INVALID_ARG},
        {MACHINE_RAM_BYTES, RSP_INVALID_ARG},
        {UINT64_MAX - 8 * LIST_PAGES + 1, RSP_INVALID_ARG},
        {UINT64_MAX - 7, RSP_INVALID_ARG},
        {MACHINE_RAM_BYTES - 8 * LIST_PAGES, RSP_OK},
    };
    struct machine *m = *state;
    void *held[HELD_MAX];
    const uint32_t n_held = hold_free_blocks(m, held);

    assert_int_equal(new_pd(m), 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const size_t before = arena_live_bytes(m->arena);

        if (ASK(m, CMD_REG_USER_MR, reg_user_mr, .pdn = 1, .length = LIST_PAGES * RAM_PAGE_BYTES,
                .pages = rows[i].pages, .npages = LIST_PAGES) != rows[i].rsp)
            fail_row(i, m);
        if (rows[i].rsp != RSP_OK)
            assert_int_equal(arena_live_bytes(m->arena), before);
    }
    for (uint32_t i = 0; i < n_held; i++)
        arena_release(m->arena, held[i], 8 * LIST_PAGES);
}

/* 1 GiB that begins inside a page has one page more than 1 GiB has; all of them may be the same. */
static void the_largest_region_is_a_gibibyte(void **state)
{
    const uint32_t n = (uint32_t)(RDL_USUAL_max_mr_size / RAM_PAGE_BYTES) + 1;
    struct rfc_reg_user_mr r = {1, 0, 1, RDL_USUAL_max_mr_size, 1, PAGES_AT, n};
    struct machine *m = *state;

    assert_int_equal(new_pd(m), 1);
    assert_int_equal(machine_ask_reg_user_mr(m, CMD_REG_USER_MR, &r), RSP_OK);
    r.npages++;
    r.length += RAM_PAGE_BYTES;
    assert_int_equal(machine_ask_reg_user_mr(m, CMD_REG_USER_MR, &r), RSP_INVALID_ARG);
}

static void only_a_region_with_remote_access_has_a_remote_key(void **state)
{
    static const struct {
        uint32_t access;
        bool remote;
    } rows[] = {
        {0, false},
        {ACC_LOCAL_WRITE, false},
        {ACC_REMOTE_READ, true},
        {ACC_LOCAL_WRITE | ACC_REMOTE_WRITE, true},
        {ACC_LOCAL_WRITE | ACC_REMOTE_ATOMIC, true},
    };
    struct machine *m = *state;

    assert_int_equal(new_pd(m), 1);
    put_pages(m, 0x5000, 1);
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint8_t *keys = m->rsp + 1;

        assert_int_equal(ASK(m, CMD_REG_USER_MR, reg_user_mr, .pdn = 1,
                             .access_flags = rows[i].access, .length = 1, .pages = PAGES_AT,
                             .npages = 1),
                         RSP_OK);
        assert_int_equal(m->rsp_bytes, 13);
        assert_int_equal(ld_le32(keys), i + 1);          /* mrn */
        assert_int_equal(ld_le32(keys + 4) >> 8, i + 1); /* lkey */
        assert_int_equal(ld_le32(keys + 8), rows[i].remote ? ld_le32(keys + 4) : 0);
    }
}

static void queue_pairs_keep_to_the_limits(void **state)
{
    static const struct {
        struct rfc_create_qp r;
        int rsp;
    } rows[] = {
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1}, RSP_OK},
        {{.pdn = 2, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1}, RSP_BAD_HANDLE},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 0, .recv_cqn = 1}, RSP_BAD_HANDLE},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 2}, RSP_BAD_HANDLE},
        {{.pdn = 1, .qp_type = QPT_SMI, .send_cqn = 1, .recv_cqn = 1}, RSP_NOT_SUPPORTED},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .sq_sig_type = 2},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .sq_sig_type = 7},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .sq_sig_type = 255},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = 99, .send_cqn = 1, .recv_cqn = 1}, RSP_NOT_SUPPORTED},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .max_send_wr = 4096}, RSP_OK},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .max_send_wr = 4097},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .max_recv_wr = 4097},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .max_send_sge = 33},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .max_recv_sge = 33},
         RSP_INVALID_ARG},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .max_inline_data = 257},
         RSP_INVALID_ARG},
        {{.pdn = 1,
          .qp_type = QPT_RC,
          .send_cqn = 1,
          .recv_cqn = 1,
          .max_send_wr = 1,
          .max_send_sge = 32,
          .max_recv_wr = 4096,
          .max_recv_sge = 32,
          .max_inline_data = 256},
         RSP_OK},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1, .sq_sig_type = 1}, RSP_OK},
        {{.pdn = 1, .qp_type = QPT_RC, .send_cqn = 1, .recv_cqn = 1}, RSP_NO_RESOURCES},
    };
    struct machine *m = *state;
    uint32_t qpn = 2;

    assert_int_equal(new_pd(m), 1);
    assert_int_equal(new_cq(m), 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (machine_ask_create_qp(m, CMD_CREATE_QP, &rows[i].r) != rows[i].rsp)
            fail_row(i, m);
        if (rows[i].rsp == RSP_OK)
            assert_int_equal(machine_number(m), qpn++);
    }
}

/* In this order: a queue pair uses the others, a region its protection domain.  Shows B94, I16. */
static void objects_in_use_are_busy_and_unknown_ones_bad(void **state)
{
    static const struct {
        uint8_t cmd;
        uint32_t number;
        int rsp;
    } rows[] = {
        {CMD_DESTROY_PD, 1, RSP_BUSY},
        {CMD_DESTROY_PD, 2, RSP_BAD_HANDLE},
        {CMD_DESTROY_PD, 0, RSP_BAD_HANDLE},
        {CMD_DESTROY_CQ, 1, RSP_BUSY},
        {CMD_DESTROY_CQ, 0, RSP_BAD_HANDLE},
        {CMD_DESTROY_CQ, 2, RSP_BAD_HANDLE},
        {CMD_DESTROY_CQ, UINT32_MAX, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, 0, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, QPN_GSI, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, 3, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, MACHINE_MAX_QP + 1, RSP_BAD_HANDLE},
        {CMD_DEREG_MR, 0, RSP_BAD_HANDLE},
        {CMD_DEREG_MR, 2, RSP_BAD_HANDLE},
        {CMD_DEREG_MR, UINT32_MAX, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, 2, RSP_OK},
        {CMD_DESTROY_QP, 2, RSP_BAD_HANDLE},
        {CMD_DESTROY_CQ, 1, RSP_OK},
        {CMD_DESTROY_PD, 1, RSP_BUSY},
        {CMD_DEREG_MR, 1, RSP_OK},
        {CMD_DEREG_MR, 1, RSP_BAD_HANDLE},
        {CMD_DESTROY_PD, 1, RSP_OK},
        {CMD_DESTROY_PD, 1, RSP_BAD_HANDLE},
    };
    struct machine *m = *state;

    assert_int_equal(new_qp(m), 2);
    put_pages(m, 0x5000, 1);
    assert_int_equal(
        ASK(m, CMD_REG_USER_MR, reg_user_mr, .pdn = 1, .length = 1, .pages = PAGES_AT, .npages = 1),
        RSP_OK);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t le[4];

        st_le32(le, rows[i].number);
        if (machine_ask(m, rows[i].cmd, le, sizeof(le), ROOM) != rows[i].rsp)
            fail_row(i, m);
    }
}

/* The way up, at values that are all different. */
static const struct rfc_qp_attr to_init = {
    .qp_state = QPS_INIT, .port_num = 1, .qp_access_flags = ACC_REMOTE_READ};
static const struct rfc_qp_attr to_rtr = {
    .qp_state = QPS_RTR,
    .path_mtu = MTU_512,
    .dest_qp_num = 77,
    .rq_psn = 0xffffff,
    .max_dest_rd_atomic = 9,
    .min_rnr_timer = 12,
    .ah_dgid = {[10] = 0xff, 0xff, 10, 0, 0, 2},
    .ah_flow_label = 0xfffff,
    .ah_hop_limit = 63,
    .ah_traffic_class = 0x5a,
    .ah_sl = 15,
    .ah_static_rate = 7,
    .ah_port_num = 1,
    .ah_flags = AH_FLAG_GRH,
    .ah_dmac = {2, 0, 0, 0, 0, 2},
};
static const struct rfc_qp_attr to_rts = {
    .qp_state = QPS_RTS,
    .timeout = 31,
    .retry_cnt = 7,
    .rnr_retry = 6,
    .sq_psn = 0xfffffe,
    .max_rd_atomic = 16,
};

static void bring_up(struct machine *m, uint32_t qpn)
{
    assert_int_equal(machine_move(m, qpn, &to_init), RSP_OK);
    assert_int_equal(machine_move(m, qpn, &to_rtr), RSP_OK);
    assert_int_equal(machine_move(m, qpn, &to_rts), RSP_OK);
}

/* Shows B90. */
static void query_qp_gives_what_was_set_and_the_state(void **state)
{
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m);
    struct rfc_qp_attr a;

    bring_up(m, qpn);
    assert_int_equal(ASK(m, CMD_QUERY_QP, query_qp, .qpn = qpn, .attr_mask = UINT32_MAX), RSP_OK);
    assert_int_equal(m->rsp_bytes, 130);
    rfc_qp_attr_get(&a, (const struct raw_qp_attr *)(m->rsp + 1));
    assert_int_equal(a.qp_state, QPS_RTS);
    assert_int_equal(a.cur_qp_state, QPS_RTS);
    assert_int_equal(a.path_mtu, MTU_512);
    assert_int_equal(a.dest_qp_num, 77);
    assert_int_equal(a.rq_psn, 0xffffff);
    assert_int_equal(a.sq_psn, 0xfffffe);
    assert_int_equal(a.qp_access_flags, ACC_REMOTE_READ);
    assert_int_equal(a.max_rd_atomic, 16);
    assert_int_equal(a.max_dest_rd_atomic, 9);
    assert_int_equal(a.min_rnr_timer, 12);
    assert_int_equal(a.port_num, 1);
    assert_int_equal(a.timeout, 31);
    assert_int_equal(a.retry_cnt, 7);
    assert_int_equal(a.rnr_retry, 6);
    assert_int_equal(a.max_send_wr, 4);
    assert_int_equal(a.max_recv_wr, 5);
    assert_int_equal(a.max_send_sge, 2);
    assert_int_equal(a.max_recv_sge, 3);
    assert_int_equal(a.max_inline_data, 64);
    assert_memory_equal(a.ah_dgid, to_rtr.ah_dgid, GID_BYTES);
    assert_memory_equal(a.ah_dmac, to_rtr.ah_dmac, MAC_BYTES);
    assert_int_equal(a.ah_flow_label, 0xfffff);
    assert_int_equal(a.ah_hop_limit, 63);
    assert_int_equal(a.ah_traffic_class, 0x5a);
    assert_int_equal(a.ah_sl, 15);
    assert_int_equal(a.ah_static_rate, 7);
    assert_int_equal(a.ah_port_num, 1);
    assert_int_equal(a.ah_flags, AH_FLAG_GRH);
    assert_int_equal(ASK(m, CMD_QUERY_QP, query_qp, .qpn = 3), RSP_BAD_HANDLE);
    assert_int_equal(machine_move(m, 3, &to_init), RSP_BAD_HANDLE);
}

/* The answer to QUERY_QP, its state left out. */
static void query(struct machine *m, uint32_t qpn, struct raw_qp_attr *ret)
{
    struct rfc_qp_attr a;

    assert_int_equal(ASK(m, CMD_QUERY_QP, query_qp, .qpn = qpn, .attr_mask = UINT32_MAX), RSP_OK);
    rfc_qp_attr_get(&a, (const struct raw_qp_attr *)(m->rsp + 1));
    a.qp_state = a.cur_qp_state = 0;
    rfc_qp_attr_put(ret, &a);
}

static void after_a_reset_a_queue_pair_is_as_it_was_created(void **state)
{
    static const struct rfc_qp_attr to_reset = {.qp_state = QPS_RESET},
                                    to_err = {.qp_state = QPS_ERR};
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m);
    struct raw_qp_attr fresh, a;

    query(m, qpn, &fresh);
    for (unsigned from_err = 0; from_err < 2; from_err++) {
        bring_up(m, qpn);
        query(m, qpn, &a);
        assert_memory_not_equal(&a, &fresh, sizeof(a));
        if (from_err)
            assert_int_equal(machine_modify(m, qpn, QPA_STATE, &to_err), RSP_OK);
        assert_int_equal(machine_modify(m, qpn, QPA_STATE, &to_reset), RSP_OK);
        query(m, qpn, &a);
        assert_memory_equal(&a, &fresh, sizeof(a));
    }
}

static void an_address_that_a_connection_uses_is_busy(void **state)
{
    struct rfc_add_gid same = {.gid_type = GID_TYPE_ROCE_V2, .port_num = 1}, other = same;
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m);

    memcpy(same.gid, machine_gid, GID_BYTES);
    other.gid[0] = 0xfd;
    bring_up(m, qpn); /* from entry 0 */
    assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &other), RSP_BUSY);
    assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &same), RSP_OK);
    assert_int_equal(ASK(m, CMD_DEL_GID, del_gid, .index = 0, .port = 1), RSP_BUSY);
    assert_true(hca_gid_is_own(&m->rdma.nic.hca, machine_gid));
    assert_int_equal(ASK(m, CMD_DESTROY_QP, qp_handle, .qpn = qpn), RSP_OK);
    assert_int_equal(machine_ask_add_gid(m, CMD_ADD_GID, &other), RSP_OK);
    assert_int_equal(ASK(m, CMD_DEL_GID, del_gid, .index = 0, .port = 1), RSP_OK);
}

/* Bits of ah_flags that nobody knows are kept, and mean nothing. */
static void the_address_vector_comes_back_as_it_was_set(void **state)
{
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m);
    struct rfc_qp_attr a = to_rtr, got;

    a.ah_flags = 0x81;
    assert_int_equal(machine_move(m, qpn, &to_init), RSP_OK);
    assert_int_equal(ASK(m, CMD_QUERY_QP, query_qp, .qpn = qpn), RSP_OK);
    rfc_qp_attr_get(&got, (const struct raw_qp_attr *)(m->rsp + 1));
    assert_int_equal(got.ah_flags, 0); /* none was set yet */
    assert_int_equal(got.ah_port_num, 0);
    assert_int_equal(machine_move(m, qpn, &a), RSP_OK);
    assert_int_equal(ASK(m, CMD_QUERY_QP, query_qp, .qpn = qpn), RSP_OK);
    rfc_qp_attr_get(&got, (const struct raw_qp_attr *)(m->rsp + 1));
    assert_int_equal(got.ah_flags, 0x81);
    assert_int_equal(got.ah_port_num, 1);
}

/* One attribute of a good move is changed, or one bit of its mask.  Shows B86. */
static void a_value_out_of_range_changes_nothing(void **state)
{
    static const uint8_t other_family[GID_BYTES] = {0xfd, [15] = 2};
    struct machine *m = *state;
    const uint32_t qpn = new_qp(m);
    const struct qp *qp = hca_qp(&m->rdma.nic.hca, qpn);
    struct rfc_qp_attr a;

#define REFUSED(move, flip, ...)                                                                   \
    do {                                                                                           \
        a = (move);                                                                                \
        __VA_ARGS__;                                                                               \
        assert_int_equal(machine_modify(m, qpn, machine_mask(&(move)) ^ (flip), &a),               \
                         RSP_INVALID_ARG);                                                         \
        assert_int_equal(qp->state, before);                                                       \
    } while (0)
    enum qp_state before = QPS_RESET;

    REFUSED(to_init, 0, a.qp_state = QPS_RTR);
    REFUSED(to_init, 0, a.qp_state = 77);
    REFUSED(to_init, QPA_PORT, ); /* missing */
    REFUSED(to_init, QPA_QKEY, ); /* not one of an RC queue pair */
    REFUSED(to_init, 0, a.port_num = 0);
    REFUSED(to_init, 0, a.port_num = 2);
    REFUSED(to_init, 0, a.pkey_index = 1);
    REFUSED(to_init, 0, a.qp_access_flags = ACC_MW_BIND);
    REFUSED(to_init, QPA_CUR_STATE, a.cur_qp_state = QPS_INIT);
    assert_int_equal(machine_modify(m, qpn, machine_mask(&to_init) | QPA_CUR_STATE, &to_init),
                     RSP_OK);

    before = QPS_INIT;
    REFUSED(to_rtr, 0, a.path_mtu = 0);
    REFUSED(to_rtr, 0, a.path_mtu = MTU_2048); /* more than the device has */
    REFUSED(to_rtr, 0, a.dest_qp_num = 0x1000000);
    REFUSED(to_rtr, 0, a.rq_psn = 0x1000000);
    REFUSED(to_rtr, 0, a.max_dest_rd_atomic = 17);
    REFUSED(to_rtr, 0, a.min_rnr_timer = 32);
    REFUSED(to_rtr, 0, a.ah_sgid_index = 1); /* empty */
    REFUSED(to_rtr, 0, a.ah_sgid_index = 16);
    REFUSED(to_rtr, 0, a.ah_sl = 16);
    REFUSED(to_rtr, 0, a.ah_flow_label = 0x100000);
    REFUSED(to_rtr, 0, a.ah_port_num = 0);
    REFUSED(to_rtr, 0, a.ah_port_num = 2);
    REFUSED(to_rtr, 0, a.ah_flags = 0);
    REFUSED(to_rtr, 0, a.ah_flags = (uint8_t)~AH_FLAG_GRH);
    REFUSED(to_rtr, 0, memcpy(a.ah_dgid, other_family, GID_BYTES));
    REFUSED(to_rtr, 0, a.ah_dgid[GID_IPV4_AT] = 224); /* a group */
    REFUSED(to_rtr, 0, a.ah_dgid[GID_IPV4_AT] = 239);
    assert_int_equal(machine_move(m, qpn, &to_rtr), RSP_OK);

    before = QPS_RTR;
    REFUSED(to_rts, 0, a.timeout = 32);
    REFUSED(to_rts, 0, a.retry_cnt = 8);
    REFUSED(to_rts, 0, a.rnr_retry = 8);
    REFUSED(to_rts, 0, a.sq_psn = 0x1000000);
    REFUSED(to_rts, 0, a.max_rd_atomic = 17);
    assert_int_equal(machine_modify(m, qpn, machine_mask(&to_rts) | QPA_ALT_PATH, &to_rts),
                     RSP_NOT_SUPPORTED);
    assert_int_equal(machine_move(m, qpn, &to_rts), RSP_OK);
#undef REFUSED
}

static void commands_that_are_not_offered_say_so(void **state)
{
    static const struct {
        uint8_t cmd;
        int rsp;
    } rows[] = {
        {CMD_CREATE_MR, RSP_NOT_SUPPORTED},
        {CMD_MAP_MR_SG, RSP_NOT_SUPPORTED},
        {0, RSP_UNKNOWN_COMMAND},
        {CMD_REQ_NOTIFY_CQ + 1, RSP_UNKNOWN_COMMAND},
        {0xff, RSP_UNKNOWN_COMMAND},
        {CMD_RESIZE_CQ, RSP_UNKNOWN_COMMAND}, /* its feature was not accepted */
    };
    static const uint8_t nothing[64];
    struct machine *m = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (machine_ask(m, rows[i].cmd, nothing, sizeof(nothing), ROOM) != rows[i].rsp)
            fail_row(i, m);
        assert_int_equal(m->rsp_bytes, 1);
    }
}

#define T(f) cmocka_unit_test_setup_teardown(f, machine_set_up, machine_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(query_port_tells_whether_the_line_is_there),
        T(the_ethernet_bounds_the_path_mtu),
        T(query_pkey_gives_the_default_partition),
        T(query_pkey_and_query_port_know_all_partitions),
        T(gids_come_and_go),
        T(completion_queues_are_numbered_as_their_virtqueues),
        T(req_notify_arms_a_completion_queue),
        T(registrations_are_judged_by_their_pages),
        T(a_page_list_that_cannot_be_read_is_refused),
        T(the_largest_region_is_a_gibibyte),
        T(only_a_region_with_remote_access_has_a_remote_key),
        T(queue_pairs_keep_to_the_limits),
        T(objects_in_use_are_busy_and_unknown_ones_bad),
        T(query_qp_gives_what_was_set_and_the_state),
        T(after_a_reset_a_queue_pair_is_as_it_was_created),
        T(an_address_that_a_connection_uses_is_busy),
        T(the_address_vector_comes_back_as_it_was_set),
        T(a_value_out_of_range_changes_nothing),
        cmocka_unit_test_setup_teardown(commands_that_are_not_offered_say_so,
                                        machine_set_up_no_windows, machine_tear_down),
    };

    return cmocka_run_group_tests_name("ctrl", tests, NULL, NULL);
}
