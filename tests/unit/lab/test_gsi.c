/* SPDX-License-Identifier: MIT */
/* QPN 1 of two hosts, created by the kernels of their guests: management datagrams pass through
 * drivers, rings and devices, and the lab shows, keeps and resets the queue pair like any other.
 */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/roce.h"
#include "emu/hca/hca.h"
#include "emu/lab/lab_state.h"
#include "emu/wire/mad.h"
#include "rdmalab/events.h"
#include "testbed/testbed.h"

#define HOSTS    2u
#define GRH      40u
#define BODY_AT  512u /* of a MAD that is sent; its header is at 0 */
#define RECV_AT  1024u
#define MR_BYTES 4096u

static const struct rdl_limits bounded = {.ticks = 1000000};

struct gsi_lab {
    struct testbed r;
    rdl_qp gsi[HOSTS];
};

static void answered(struct gsi_lab *l, unsigned side, enum rdl_status asked)
{
    assert_int_equal(asked, RDL_OK);
    assert_int_equal(testbed_wait(&l->r, side), RDL_OK);
}

/* As the kernel of the guest does it: no function of the public API creates this type. */
static enum rdl_status create(struct gsi_lab *l, unsigned side, const char *name)
{
    const struct testbed_side *s = &l->r.side[side];
    struct lab_state *w = l->r.lab->state;
    struct verbs *v = &lab_host(w, s->host.raw)->guest.verbs;
    struct guest_pd *pd = (struct guest_pd *)lab_object(w, OBJ_PD, s->pd.raw);
    struct guest_cq *cq = (struct guest_cq *)lab_object(w, OBJ_CQ, s->cq.raw);
    const struct verbs_qp_parts parts = {.pd = pd, .send_cq = cq, .recv_cq = cq};
    const struct rdl_qp_config c = {.type = QPT_GSI, .max_send_sge = 2, .max_recv_sge = 1};
    enum rdl_status st;

    lab_act(w);
    st = verbs_create_gsi(v, &c, &parts, name, &l->gsi[side].raw);
    lab_done(w);
    return st;
}

static void move(struct gsi_lab *l, unsigned side, enum qp_state to)
{
    const struct rdl_qp_attr a = {.state = to, .qkey = 0x1234, .sq_psn = 5};
    struct rdl_modify_error error;

    answered(l, side,
             rdl_modify_qp(l->r.lab, l->gsi[side], &a, QPA_STATE | qp_fsm_needs(QPT_GSI, to), false,
                           &error));
}

static void make(struct gsi_lab *l, unsigned side)
{
    answered(l, side, create(l, side, "gsi"));
    for (uint32_t to = QPS_INIT; to <= QPS_RTS; to++)
        move(l, side, (enum qp_state)to);
}

static int set_up(void **state)
{
    struct gsi_lab *l = test_calloc(1, sizeof(*l));
    const struct testbed_config c = {.seed = 3,
                                     .check_invariants = true,
                                     .type = QPT_UD,
                                     .mr_bytes = MR_BYTES,
                                     .max_wr = 16,
                                     .path_mtu = MTU_1024,
                                     .latency_ns = 1000};

    assert_int_equal(testbed_init(&l->r, &c), RDL_OK);
    for (unsigned side = 0; side < HOSTS; side++)
        make(l, side);
    *state = l;
    return 0;
}

static int tear_down(void **state)
{
    struct gsi_lab *l = *state;

    assert_null(rdl_broken_invariant(l->r.lab));
    testbed_done(&l->r);
    test_free(l);
    return 0;
}

static void post_recv(struct gsi_lab *l, unsigned side)
{
    const struct testbed_side *s = &l->r.side[side];
    const struct rdl_sge sge = {s->mem.addr + RECV_AT, GRH + MAD_BYTES, s->mem.lkey};
    const struct rdl_recv_wr wr = {.wr_id = 70 + side, .sge = &sge, .n_sge = 1};

    assert_int_equal(rdl_post_recv(l->r.lab, l->gsi[side], &wr, false), RDL_OK);
}

/* Sends a MAD whose bytes are @fill from @side to the other. */
static void post_mad(struct gsi_lab *l, unsigned side, uint8_t fill)
{
    const struct testbed_side *s = &l->r.side[side];
    const struct rdl_sge sge[] = {{s->mem.addr, MAD_HEADER_BYTES, s->mem.lkey},
                                  {s->mem.addr + BODY_AT, MAD_BODY_BYTES, s->mem.lkey}};
    const struct rdl_send_wr wr = {
        .wr_id = 60 + side,
        .opcode = WR_SEND,
        .flags = SF_SIGNALED,
        .sge = sge,
        .n_sge = 2,
        .ud = {.ah = s->ah, .remote_qpn = QPN_GSI, .remote_qkey = QKEY_GSI},
    };
    uint8_t bytes[MAD_BYTES];

    memset(bytes, fill, sizeof(bytes));
    assert_int_equal(rdl_mem_write(l->r.lab, s->host, s->mem.addr, bytes, MAD_HEADER_BYTES),
                     RDL_OK);
    assert_int_equal(rdl_mem_write(l->r.lab, s->host, s->mem.addr + BODY_AT, bytes, MAD_BODY_BYTES),
                     RDL_OK);
    assert_int_equal(rdl_post_send(l->r.lab, l->gsi[side], &wr, false), RDL_OK);
}

static void go(struct gsi_lab *l)
{
    assert_int_equal(rdl_run(l->r.lab, RDL_NEVER, bounded), RDL_OK);
}

/* Takes the only completion of @side. */
static struct rdl_wc completion(struct gsi_lab *l, unsigned side)
{
    struct rdl_wc wc[2];
    size_t n;

    assert_int_equal(rdl_poll_cq(l->r.lab, l->r.side[side].cq, 2, wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    return wc[0];
}

/* The MAD of post_mad() has come to @side, behind the area of the GRH. */
static void expect_mad(struct gsi_lab *l, unsigned side, uint8_t fill)
{
    const struct testbed_side *s = &l->r.side[side];
    const struct rdl_wc wc = completion(l, side);
    uint8_t bytes[GRH + MAD_BYTES];

    assert_int_equal(wc.status, WCS_SUCCESS);
    assert_int_equal(wc.wr_id, 70 + side);
    assert_int_equal(wc.byte_len, GRH + MAD_BYTES);
    assert_int_equal(wc.wc_flags, WCF_GRH);
    assert_int_equal(wc.qp_num, QPN_GSI);
    assert_int_equal(wc.src_qp, QPN_GSI);
    assert_int_equal(rdl_mem_read(l->r.lab, s->host, s->mem.addr + RECV_AT, bytes, sizeof(bytes)),
                     RDL_OK);
    assert_int_equal(bytes[20], 0x45); /* the IPv4 header */
    for (size_t i = GRH; i < sizeof(bytes); i++)
        assert_int_equal(bytes[i], fill);
}

static uint64_t number_at(const struct gsi_lab *l, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(l->r.lab, path, &v, &at), RDL_OK);
    return v.number;
}

static void mads_pass_in_both_directions(void **state)
{
    struct gsi_lab *l = *state;

    for (unsigned side = 0; side < HOSTS; side++) {
        post_recv(l, !side);
        post_mad(l, side, (uint8_t)(0xa0 + side));
        go(l);
        assert_int_equal(completion(l, side).status, WCS_SUCCESS);
        expect_mad(l, !side, (uint8_t)(0xa0 + side));
    }
}

static void the_lab_shows_it(void **state)
{
    struct gsi_lab *l = *state;

    assert_int_equal(number_at(l, "h1.gsi.qpn"), QPN_GSI);
    assert_int_equal(number_at(l, "h1.gsi.type"), QPT_GSI);
    assert_int_equal(number_at(l, "h1.gsi.state"), QPS_RTS);
    assert_int_equal(number_at(l, "h1.gsi.qkey"), QKEY_GSI); /* not that of MODIFY_QP */
    assert_int_equal(number_at(l, "h1.qp.qpn"), 2);
}

/* The next MAD arrives again after the checkpoint was restored. */
static void a_checkpoint_has_it(void **state)
{
    struct gsi_lab *l = *state;
    struct rdl_checkpoint *then;

    post_recv(l, 1);
    post_mad(l, 0, 0x11);
    assert_int_equal(rdl_checkpoint_save(l->r.lab, &then), RDL_OK);
    for (uint32_t i = 0; i < 3; i++) {
        go(l);
        expect_mad(l, 1, 0x11);
        answered(l, 1, rdl_destroy_qp(l->r.lab, l->gsi[1]));
        rdl_checkpoint_restore(l->r.lab, then);
    }
    rdl_checkpoint_free(then);
    go(l);
}

static void the_device_has_one_at_a_time(void **state)
{
    struct gsi_lab *l = *state;
    const rdl_qp old = l->gsi[0];
    struct rdl_response refused;

    assert_int_equal(create(l, 0, "second"), RDL_OK);
    assert_int_equal(rdl_wait(l->r.lab, l->r.side[0].host, bounded, &refused), RDL_ERR_DEVICE);
    assert_int_equal(refused.error, ENOMEM);
    l->gsi[0] = old;
    answered(l, 0, rdl_destroy_qp(l->r.lab, l->gsi[0]));
    make(l, 0);
    post_recv(l, 0);
    post_mad(l, 1, 0x22);
    go(l);
    expect_mad(l, 0, 0x22);
}

/* In SQD the device reports that the sends are drained, of QPN 1 as of any other. */
static void its_asynchronous_events_name_it(void **state)
{
    struct gsi_lab *l = *state;
    const struct rdl_qp_attr a = {.state = QPS_SQD, .en_sqd_async_notify = 1};
    const rdl_host host = l->r.side[1].host;
    struct rdl_modify_error error;
    struct rdl_async_event e;
    size_t n;

    do /* those of the port are older */
        assert_int_equal(rdl_get_async_event(l->r.lab, host, &e, &n), RDL_OK);
    while (n > 0);
    answered(
        l, 1,
        rdl_modify_qp(l->r.lab, l->gsi[1], &a, QPA_STATE | QPA_EN_SQD_ASYNC_NOTIFY, false, &error));
    go(l);
    assert_int_equal(rdl_get_async_event(l->r.lab, host, &e, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(e.type, ASE_SQ_DRAINED);
    assert_int_equal(e.number, QPN_GSI);
    assert_int_equal(e.raw, l->gsi[1].raw);
    assert_int_equal(rdl_ack_async_event(l->r.lab, &e), RDL_OK);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(mads_pass_in_both_directions),
        T(the_lab_shows_it),
        T(a_checkpoint_has_it),
        T(the_device_has_one_at_a_time),
        T(its_asynchronous_events_name_it),
    };

    return cmocka_run_group_tests_name("gsi", tests, NULL, NULL);
}
