/* SPDX-License-Identifier: MIT */
/* The control queue as a guest of bytes sees it: every command's answer, in the RFC's layout.
 *
 * Requests are put straight into the ring, so that none of the driver's own checks come first.
 */
#include "testing.h"

#include <string.h>

#include "cli/programs/rig.h"
#include "emu/facts/rfc.h"
#include "emu/lab/world.h"

#define ROOM 512u

struct fixture {
    struct rig rig;
    struct host *host;
    uint64_t gpa; /* requests at gpa, responses at gpa + ROOM */
    uint8_t rsp[ROOM];
    uint32_t len; /* used.len of the last answer */
};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    const struct rig_config c = {
        .seed = 1,
        .mr_bytes = 8192,
        .max_wr = 4,
        .path_mtu = MTU_1024,
        .timeout = 4,
        .retry_cnt = 2,
        .rnr_retry = 2,
    };

    assert_int_equal(rig_init(&f->rig, &c), RDL_OK);
    f->host = world_host(f->rig.lab->world, f->rig.side[0].host.raw);
    f->gpa = dma_take(&f->host->guest.dma, (uint64_t)2 * ROOM);
    assert_true(f->gpa != 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rig_done(&f->rig);
    test_free(f);
    return 0;
}

/* Sends command byte and @n bytes of data, with room for @room bytes of response.  Returns the
 * response code, -1 if not even that was written.
 */
static int ask(struct fixture *f, uint8_t cmd, const void *data, uint32_t n, uint32_t room)
{
    const struct rdl_limits none = {0};
    const struct vqd_seg segs[] = {{f->gpa, n + 1}, {f->gpa + ROOM, room}};
    struct vqd *vq = guest_vq(&f->host->guest, 0);
    uint8_t req[ROOM] = {cmd};
    uint16_t head;

    memcpy(req + 1, data, n);
    memset(f->rsp, 0xee, sizeof(f->rsp));
    assert_true(ram_write(&f->host->ram, f->gpa, req, n + 1));
    assert_true(ram_write(&f->host->ram, f->gpa + ROOM, f->rsp, ROOM));
    assert_true(vqd_add(vq, &f->host->ram, segs, 1, 1, &head));
    vqd_publish(vq, &f->host->ram);
    virtio_write(&f->host->dev.pci, BAR_NOTIFY, 2, 0);
    assert_int_equal(rdl_run(f->rig.lab, RDL_NEVER, none), RDL_OK);
    assert_int_equal(vqd_take_used(vq, &f->host->ram, &head, &f->len), VQD_GOT);
    assert_true(ram_read(&f->host->ram, f->gpa + ROOM, f->rsp, ROOM));
    for (uint32_t i = f->len; i < ROOM; i++)
        assert_int_equal(f->rsp[i], 0xee); /* used.len says all that was written */
    return f->len ? f->rsp[0] : -1;
}

static void query_pkey_gives_the_default_partition(void **state)
{
    static const uint8_t first[6] = {1, 0, 0, 0, 0, 0}, second[6] = {1, 0, 0, 0, 1, 0},
                         port2[6] = {2, 0, 0, 0, 0, 0};
    struct fixture *f = *state;

    assert_int_equal(ask(f, CMD_QUERY_PKEY, first, 6, ROOM), RSP_OK);
    assert_int_equal(f->len, 3);
    assert_int_equal(ld_le16(f->rsp + 1), 0xffff);
    assert_int_equal(ask(f, CMD_QUERY_PKEY, second, 6, ROOM), RSP_INVALID_ARG);
    assert_int_equal(ask(f, CMD_QUERY_PKEY, port2, 6, ROOM), RSP_INVALID_ARG);
}

static void query_port_tells_an_active_port(void **state)
{
    struct fixture *f = *state;
    struct rfc_port_attr a;

    assert_int_equal(ask(f, CMD_QUERY_PORT, "\1", 1, ROOM), RSP_OK);
    assert_int_equal(f->len, 162);
    rfc_port_attr_get(&a, (const struct raw_port_attr *)(f->rsp + 1));
    assert_int_equal(a.state, 4);
    assert_int_equal(a.max_mtu, MTU_4096);
    assert_int_equal(a.gid_tbl_len, 16);
    assert_int_equal(a.pkey_tbl_len, 1);
    assert_int_equal(a.max_msg_sz, 0x80000000u);
    assert_int_equal(ask(f, CMD_QUERY_PORT, "\2", 1, ROOM), RSP_INVALID_ARG);
}

static void gids_come_and_go(void **state)
{
    struct fixture *f = *state;
    struct rfc_add_gid add = {.gid = {0xfd, [15] = 9}, .gid_type = 2, .index = 3, .port_num = 1};
    const struct rfc_del_gid del = {.index = 3, .port = 1}, bad = {.index = 16, .port = 1};
    struct raw_add_gid raw_add;
    struct raw_del_gid raw_del;

    rfc_add_gid_put(&raw_add, &add);
    assert_int_equal(ask(f, CMD_ADD_GID, &raw_add, sizeof(raw_add), ROOM), RSP_OK);
    assert_true(hca_gid_is_own(&f->host->dev.hca, add.gid));
    rfc_del_gid_put(&raw_del, &del);
    assert_int_equal(ask(f, CMD_DEL_GID, &raw_del, sizeof(raw_del), ROOM), RSP_OK);
    assert_false(hca_gid_is_own(&f->host->dev.hca, add.gid));
    rfc_del_gid_put(&raw_del, &bad);
    assert_int_equal(ask(f, CMD_DEL_GID, &raw_del, sizeof(raw_del), ROOM), RSP_INVALID_ARG);
    add.gid_type = 1; /* RoCE v1 */
    rfc_add_gid_put(&raw_add, &add);
    assert_int_equal(ask(f, CMD_ADD_GID, &raw_add, sizeof(raw_add), ROOM), RSP_NOT_SUPPORTED);
}

static void objects_in_use_are_busy_and_unknown_ones_bad(void **state)
{
    static const struct {
        uint8_t cmd;
        uint32_t number;
        int rsp;
    } rows[] = {
        {CMD_DESTROY_PD, 1, RSP_BUSY},       {CMD_DESTROY_PD, 9, RSP_BAD_HANDLE},
        {CMD_DESTROY_PD, 0, RSP_BAD_HANDLE}, {CMD_DESTROY_CQ, 1, RSP_BUSY},
        {CMD_DESTROY_CQ, 0, RSP_BAD_HANDLE}, {CMD_DESTROY_CQ, 17, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, 1, RSP_BAD_HANDLE}, {CMD_DESTROY_QP, 0, RSP_BAD_HANDLE},
        {CMD_DEREG_MR, 0, RSP_BAD_HANDLE},   {CMD_DEREG_MR, 0xffffffffu, RSP_BAD_HANDLE},
        {CMD_DESTROY_QP, 2, RSP_OK},         {CMD_DESTROY_QP, 2, RSP_BAD_HANDLE},
        {CMD_DESTROY_CQ, 1, RSP_OK},         {CMD_DEREG_MR, 1, RSP_OK},
        {CMD_DESTROY_PD, 1, RSP_OK},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t le[4];

        st_le32(le, rows[i].number);
        assert_int_equal(ask(f, rows[i].cmd, le, sizeof(le), ROOM), rows[i].rsp);
    }
}

static void commands_that_are_not_offered_say_so(void **state)
{
    static const uint8_t nothing[64] = {0};
    struct fixture *f = *state;

    assert_int_equal(ask(f, CMD_GET_DMA_MR, nothing, 8, ROOM), RSP_NOT_SUPPORTED);
    assert_int_equal(ask(f, CMD_CREATE_MR, nothing, 12, ROOM), RSP_NOT_SUPPORTED);
    assert_int_equal(ask(f, CMD_MAP_MR_SG, nothing, 32, ROOM), RSP_NOT_SUPPORTED);
    assert_int_equal(ask(f, 0, nothing, 8, ROOM), RSP_UNKNOWN_COMMAND);
    assert_int_equal(ask(f, 19, nothing, 8, ROOM), RSP_UNKNOWN_COMMAND);
    assert_int_equal(ask(f, 0xff, nothing, 8, ROOM), RSP_UNKNOWN_COMMAND);
}

static void what_does_not_fit_changes_nothing(void **state)
{
    static const uint8_t pd[1] = {0};
    struct fixture *f = *state;
    const uint32_t before = f->host->dev.hca.pds.used;

    /* CREATE_PD answers with five bytes. */
    assert_int_equal(ask(f, CMD_CREATE_PD, pd, 0, 4), RSP_INVALID_ARG);
    assert_int_equal(f->len, 1);
    assert_int_equal(f->host->dev.hca.pds.used, before);
    assert_int_equal(ask(f, CMD_CREATE_PD, pd, 0, 5), RSP_OK);
    assert_int_equal(f->len, 5);
    assert_int_equal(f->host->dev.hca.pds.used, before + 1);
    /* A request that ends before its data does. */
    assert_int_equal(ask(f, CMD_DESTROY_PD, "\1\0\0", 3, ROOM), RSP_INVALID_ARG);
}

static void wrong_registrations_are_refused(void **state)
{
    struct fixture *f = *state;
    const uint64_t pages_at = f->gpa + 256;
    static const struct {
        struct rfc_reg_user_mr r;
        uint64_t page;
        int rsp;
    } rows[] = {
        {{1, ACC_LOCAL_WRITE, 0x1000, 4096, 0x1000, 0, 1}, 0x5000, RSP_OK},
        {{9, ACC_LOCAL_WRITE, 0x1000, 4096, 0x1000, 0, 1}, 0x5000, RSP_BAD_HANDLE},
        {{1, ACC_REMOTE_WRITE, 0x1000, 4096, 0x1000, 0, 1}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1000, 0, 0x1000, 0, 1}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1001, 4096, 0x1001, 0, 1}, 0x5000, RSP_INVALID_ARG}, /* needs two pages */
        {{1, 0, 0x1001, 16, 0x1002, 0, 1}, 0x5000, RSP_INVALID_ARG},   /* offsets differ */
        {{1, 0, 0x1000, 4096, 0x1000, 0, 1}, 0x5001, RSP_INVALID_ARG}, /* page not aligned */
        {{1, 0, 0x1000, 4096, 0x1000, 0, 1}, (uint64_t)1 << 40, RSP_INVALID_ARG}, /* no RAM */
        {{1, 0, 0x1000, 4096, 0x1000, 0, 0}, 0x5000, RSP_INVALID_ARG},
        {{1, 0, 0x1000, UINT64_MAX, 0x1000, 0, UINT32_MAX}, 0x5000, RSP_INVALID_ARG},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rfc_reg_user_mr r = rows[i].r;
        struct raw_reg_user_mr raw;
        uint8_t page[8];

        r.pages = pages_at;
        rfc_reg_user_mr_put(&raw, &r);
        st_le64(page, rows[i].page);
        assert_true(ram_write(&f->host->ram, pages_at, page, sizeof(page)));
        if (ask(f, CMD_REG_USER_MR, &raw, sizeof(raw), ROOM) != rows[i].rsp)
            fail_msg("row %zu: %s", i, enum_name(&enum_ctrl_rsp, f->rsp[0]));
    }
}

static void a_modify_that_is_wrong_changes_nothing(void **state)
{
    static const struct {
        uint32_t mask;
        struct rfc_qp_attr a;
        int rsp;
    } rows[] = {
        /* RTS -> RTR: no such move. */
        {QPA_STATE, {.qp_state = QPS_RTR}, RSP_INVALID_ARG},
        /* RTS -> RTS takes no destination. */
        {QPA_STATE | QPA_DEST_QPN, {.qp_state = QPS_RTS}, RSP_INVALID_ARG},
        /* Not the state it is in. */
        {QPA_STATE | QPA_CUR_STATE,
         {.qp_state = QPS_SQD, .cur_qp_state = QPS_INIT},
         RSP_INVALID_ARG},
        {QPA_STATE | QPA_MIN_RNR_TIMER,
         {.qp_state = QPS_RTS, .min_rnr_timer = 32},
         RSP_INVALID_ARG},
        {QPA_STATE, {.qp_state = 77}, RSP_INVALID_ARG},
        {QPA_STATE | QPA_ALT_PATH, {.qp_state = QPS_RTS}, RSP_NOT_SUPPORTED},
        {QPA_STATE | QPA_MIN_RNR_TIMER, {.qp_state = QPS_RTS, .min_rnr_timer = 31}, RSP_OK},
    };
    struct fixture *f = *state;
    const struct qp *qp = hca_qp(&f->host->dev.hca, f->rig.side[0].qpn);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rfc_modify_qp m = {.qpn = qp->qpn, .attr_mask = rows[i].mask};
        struct raw_modify_qp raw;

        rfc_qp_attr_put((struct raw_qp_attr *)m.attrs, &rows[i].a);
        rfc_modify_qp_put(&raw, &m);
        if (ask(f, CMD_MODIFY_QP, &raw, sizeof(raw), ROOM) != rows[i].rsp)
            fail_msg("row %zu: %s", i, enum_name(&enum_ctrl_rsp, f->rsp[0]));
        assert_int_equal(qp->state, QPS_RTS);
    }
    assert_int_equal(qp->attr.min_rnr_timer, 31);
}

static void query_qp_gives_what_was_set_and_the_state(void **state)
{
    struct fixture *f = *state;
    const struct rfc_query_qp q = {.qpn = f->rig.side[0].qpn, .attr_mask = UINT32_MAX};
    struct raw_query_qp raw;
    struct rfc_qp_attr a;

    rfc_query_qp_put(&raw, &q);
    assert_int_equal(ask(f, CMD_QUERY_QP, &raw, sizeof(raw), ROOM), RSP_OK);
    assert_int_equal(f->len, 130);
    rfc_qp_attr_get(&a, (const struct raw_qp_attr *)(f->rsp + 1));
    assert_int_equal(a.qp_state, QPS_RTS);
    assert_int_equal(a.path_mtu, MTU_1024);
    assert_int_equal(a.dest_qp_num, f->rig.side[1].qpn);
    assert_int_equal(a.timeout, 4);
    assert_int_equal(a.retry_cnt, 2);
    assert_memory_equal(a.ah_dmac, ((uint8_t[]){2, 0, 0, 0, 0, 2}), 6);
    assert_int_equal(a.ah_dgid[15], 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(query_pkey_gives_the_default_partition),
        T(query_port_tells_an_active_port),
        T(gids_come_and_go),
        T(objects_in_use_are_busy_and_unknown_ones_bad),
        T(commands_that_are_not_offered_say_so),
        T(what_does_not_fit_changes_nothing),
        T(wrong_registrations_are_refused),
        T(a_modify_that_is_wrong_changes_nothing),
        T(query_qp_gives_what_was_set_and_the_state),
    };

    return cmocka_run_group_tests_name("ctrl", tests, NULL, NULL);
}
