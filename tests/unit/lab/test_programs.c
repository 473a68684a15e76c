/* SPDX-License-Identifier: MIT */
/* Programs of hosts that are other processes: their memory, their objects, their events.  A buffer
 * of the test stands for the memory of each.
 */
#include "testing.h"

#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"
#include "rdmalab/program.h"

#define AT       0x55550000f000u /* address of the first byte of each program's memory */
#define MEMORY   12288u
#define MESSAGE  3000u
#define PROGRAMS 3u /* 0 and 2 on h1, 1 on h2 */

struct fixture;

struct program {
    rdl_host host;
    rdl_program p;
    uint8_t memory[MEMORY];
    bool unmapped;
    uint32_t n_reads, n_writes;
    rdl_pd pd;
    rdl_mr mr;
    rdl_cq cq;
    rdl_qp qp;
    struct rdl_mr_info key;
    uint32_t qpn;
};

struct fixture {
    struct rdl_lab *lab;
    rdl_host host[2];
    struct program program[PROGRAMS];
};

static const struct rdl_limits no_limits;

static uint8_t *place(struct program *p, uint64_t addr, size_t n)
{
    if (p->unmapped || addr < AT || addr - AT > MEMORY || n > MEMORY - (addr - AT))
        return NULL;
    return p->memory + (addr - AT);
}

static bool read_memory(void *ctx, uint64_t addr, void *out, size_t n)
{
    struct program *p = ctx;
    const uint8_t *at = place(p, addr, n);

    p->n_reads++;
    if (at)
        memcpy(out, at, n);
    return at != NULL;
}

static bool write_memory(void *ctx, uint64_t addr, const void *in, size_t n)
{
    struct program *p = ctx;
    uint8_t *at = place(p, addr, n);

    p->n_writes++;
    if (at)
        memcpy(at, in, n);
    return at != NULL;
}

static void done(struct fixture *f, const struct program *p, enum rdl_status st)
{
    struct rdl_response rsp;

    assert_int_equal(st, RDL_OK);
    assert_int_equal(rdl_wait(f->lab, p->host, no_limits, &rsp), RDL_OK);
}

/* Starts a program, which creates its objects. */
static void start(struct fixture *f, struct program *p, rdl_host host)
{
    const struct rdl_program_memory memory = {read_memory, write_memory, p};
    const struct rdl_mr_range range = {AT, MEMORY, AT};
    struct rdl_qp_config config = {.type = QPT_RC, .sq_sig_all = true};
    struct rdl_qp_info info;

    p->host = host;
    assert_int_equal(rdl_program_add(f->lab, host, &memory, &p->p), RDL_OK);
    rdl_program_calls(f->lab, p->p);
    done(f, p, rdl_alloc_pd(f->lab, host, NULL, &p->pd));
    done(f, p,
         rdl_reg_mr_iova(f->lab, p->pd, &range, ACC_LOCAL_WRITE | ACC_REMOTE_WRITE, NULL, &p->mr));
    assert_int_equal(rdl_mr_info(f->lab, p->mr, &p->key), RDL_OK);
    done(f, p, rdl_create_cq(f->lab, host, 16, NULL, &p->cq));
    config.pd = p->pd;
    config.send_cq = config.recv_cq = p->cq;
    done(f, p, rdl_create_qp(f->lab, &config, NULL, &p->qp));
    assert_int_equal(rdl_qp_info(f->lab, p->qp, &info), RDL_OK);
    p->qpn = info.qpn;
    rdl_program_called(f->lab, p->p);
}

static void connect(struct fixture *f, struct program *p, const struct program *to)
{
    struct rdl_qp_attr a = {.state = QPS_INIT, .port = 1, .access = ACC_REMOTE_WRITE};
    struct rdl_modify_error e;
    uint8_t mac[6];

    rdl_program_calls(f->lab, p->p);
    done(f, p,
         rdl_modify_qp(f->lab, p->qp, &a, QPA_STATE | QPA_PKEY_INDEX | QPA_PORT | QPA_ACCESS_FLAGS,
                       false, &e));
    a = (struct rdl_qp_attr){.state = QPS_RTR,
                             .path_mtu = MTU_1024,
                             .dest_qpn = to->qpn,
                             .ah = {.port = 1, .hop_limit = 64}};
    assert_int_equal(rdl_host_address(f->lab, to->host, 0, a.ah.dgid, mac), RDL_OK);
    done(f, p,
         rdl_modify_qp(f->lab, p->qp, &a,
                       QPA_STATE | QPA_AV | QPA_PATH_MTU | QPA_DEST_QPN | QPA_RQ_PSN |
                           QPA_MAX_DEST_RD_ATOMIC | QPA_MIN_RNR_TIMER,
                       false, &e));
    a = (struct rdl_qp_attr){.state = QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
    done(f, p,
         rdl_modify_qp(f->lab, p->qp, &a,
                       QPA_STATE | QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY_CNT | QPA_RNR_RETRY |
                           QPA_MAX_QP_RD_ATOMIC,
                       false, &e));
    rdl_program_called(f->lab, p->p);
}

static int set_up(void **state)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_link_config link = {.a = "h1", .b = "h2"};
    struct fixture *f = test_calloc(1, sizeof(*f));
    rdl_link ret;

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct rdl_host_config host = {.name = i ? "h2" : "h1"};

        assert_int_equal(rdl_host_add(f->lab, &host, &f->host[i]), RDL_OK);
    }
    assert_int_equal(rdl_link_add(f->lab, &link, &ret), RDL_OK);
    for (uint32_t i = 0; i < PROGRAMS; i++)
        start(f, &f->program[i], f->host[i % 2]);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rdl_lab_free(f->lab);
    test_free(f);
    return 0;
}

static void post(struct fixture *f, const struct program *p, bool send, uint64_t addr)
{
    const struct rdl_sge sge = {addr, MESSAGE, p->key.lkey};
    const struct rdl_send_wr out = {.wr_id = 5, .opcode = WR_SEND, .sge = &sge, .n_sge = 1};
    const struct rdl_recv_wr in = {.wr_id = 6, .sge = &sge, .n_sge = 1};

    assert_int_equal(send ? rdl_post_send(f->lab, p->qp, &out, false)
                          : rdl_post_recv(f->lab, p->qp, &in, false),
                     RDL_OK);
}

static void run(struct fixture *f)
{
    assert_int_equal(rdl_run(f->lab, RDL_NEVER, no_limits), RDL_OK);
}

/* Payload goes from the memory of one program to that of another, a packet at a time. */
static void a_message_goes_from_program_to_program(void **state)
{
    struct fixture *f = *state;
    struct program *a = &f->program[0], *b = &f->program[1];
    struct rdl_wc wc[2];
    size_t n;

    connect(f, a, b);
    connect(f, b, a);
    for (uint32_t i = 0; i < MESSAGE; i++)
        a->memory[100 + i] = (uint8_t)(i * 7 + 1);
    post(f, b, false, AT + 5000);
    post(f, a, true, AT + 100);
    run(f);
    assert_memory_equal(b->memory + 5000, a->memory + 100, MESSAGE);
    assert_int_equal(b->memory[4999], 0);
    assert_int_equal(b->memory[5000 + MESSAGE], 0);
    assert_int_equal(a->n_reads, 3); /* one for each packet */
    assert_int_equal(b->n_writes, 3);
    assert_int_equal(f->program[2].n_reads + f->program[2].n_writes, 0);

    assert_int_equal(rdl_peek_cq(f->lab, b->cq, 0, 2, wc, &n), RDL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(wc[0].wr_id, 6);
    assert_int_equal(rdl_peek_cq(f->lab, b->cq, 1, 2, wc, &n), RDL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(rdl_poll_cq(f->lab, b->cq, 2, wc, &n), RDL_OK); /* it was still there */
    assert_int_equal(n, 1);
}

/* The lab cannot keep a page that the program has unmapped: it reads as zero. */
static void memory_that_is_gone_reads_as_zero(void **state)
{
    struct fixture *f = *state;
    struct program *a = &f->program[0], *b = &f->program[1];
    struct rdl_wc wc;
    size_t n;

    connect(f, a, b);
    connect(f, b, a);
    memset(a->memory, 0xaa, MEMORY);
    memset(b->memory, 0xbb, MEMORY);
    a->unmapped = true;
    post(f, b, false, AT);
    post(f, a, true, AT);
    run(f);
    assert_int_equal(rdl_poll_cq(f->lab, b->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(wc.status, WCS_SUCCESS);
    for (uint32_t i = 0; i < MESSAGE; i++)
        assert_int_equal(b->memory[i], 0);
    b->unmapped = true;
    post(f, b, false, AT);
    post(f, a, true, AT);
    run(f);
    assert_int_equal(rdl_poll_cq(f->lab, b->cq, 1, &wc, &n), RDL_OK);
    assert_int_equal(wc.status, WCS_SUCCESS);
    assert_int_equal(b->memory[MESSAGE], 0xbb);
}

static void a_program_sees_its_own_objects_alone(void **state)
{
    struct fixture *f = *state;
    const struct program *a = &f->program[0], *there = &f->program[1], *other = &f->program[2];
    const struct rdl_qp_config config = {
        .pd = other->pd, .type = QPT_RC, .send_cq = a->cq, .recv_cq = a->cq};
    struct rdl_wc wc;
    rdl_qp qp;
    size_t n;

    rdl_program_calls(f->lab, a->p);
    assert_int_equal(rdl_dealloc_pd(f->lab, other->pd), RDL_ERR_STALE);
    assert_int_equal(rdl_poll_cq(f->lab, other->cq, 1, &wc, &n), RDL_ERR_STALE);
    assert_int_equal(rdl_create_qp(f->lab, &config, NULL, &qp), RDL_ERR_STALE);
    assert_int_equal(rdl_destroy_qp(f->lab, there->qp), RDL_ERR_STALE); /* of another host */
    assert_int_equal(rdl_poll_cq(f->lab, there->cq, 1, &wc, &n), RDL_ERR_STALE);
    rdl_program_called(f->lab, a->p);
    assert_int_equal(rdl_poll_cq(f->lab, other->cq, 1, &wc, &n), RDL_OK); /* the user sees all */
}

/* Objects are found in the order in which they can be destroyed, also one that the user made. */
static void what_a_program_leaves_can_be_destroyed(void **state)
{
    static const uint32_t kinds[] = {OBJ_QP, OBJ_MW, OBJ_MR, OBJ_CQ, OBJ_PD};
    struct fixture *f = *state;
    const struct program *a = &f->program[0];
    struct rdl_program_object o;
    rdl_mw mw;

    done(f, a, rdl_alloc_mw(f->lab, a->pd, 1, NULL, &mw));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        assert_int_equal(rdl_program_remove(f->lab, a->p), RDL_ERR_BUSY);
        assert_true(rdl_program_left(f->lab, a->p, &o));
        assert_int_equal(o.kind, kinds[i]);
        done(f, a,
             o.kind == OBJ_QP   ? rdl_destroy_qp(f->lab, (rdl_qp){o.raw})
             : o.kind == OBJ_MW ? rdl_dealloc_mw(f->lab, (rdl_mw){o.raw})
             : o.kind == OBJ_MR ? rdl_dereg_mr(f->lab, (rdl_mr){o.raw})
             : o.kind == OBJ_CQ ? rdl_destroy_cq(f->lab, (rdl_cq){o.raw})
                                : rdl_dealloc_pd(f->lab, (rdl_pd){o.raw}));
    }
    assert_false(rdl_program_left(f->lab, a->p, &o));
    assert_int_equal(rdl_program_remove(f->lab, a->p), RDL_OK);
    assert_int_equal(rdl_program_remove(f->lab, a->p), RDL_ERR_STALE);
    assert_true(rdl_program_left(f->lab, f->program[2].p, &o)); /* another one keeps its own */
}

/* The port's events go to every program and to the user, those of an object to its owner. */
static void an_event_goes_to_whom_it_concerns(void **state)
{
    struct fixture *f = *state;
    struct rdl_async_event e;
    size_t n;

    for (uint32_t i = 0; i < PROGRAMS; i++) {
        rdl_program_calls(f->lab, f->program[i].p);
        do {
            assert_int_equal(rdl_get_async_event(f->lab, f->program[i].host, &e, &n), RDL_OK);
        } while (n > 0);
        rdl_program_called(f->lab, f->program[i].p);
    }
    assert_int_equal(rdl_link_raise(f->lab, (rdl_link){1}, false), RDL_OK);
    run(f);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        rdl_program_calls(f->lab, f->program[i].p);
        assert_int_equal(rdl_get_async_event(f->lab, f->program[i].host, &e, &n), RDL_OK);
        assert_int_equal(n, 1);
        assert_int_equal(e.type, ASE_PORT_ERR);
        assert_int_equal(rdl_get_async_event(f->lab, f->program[i].host, &e, &n), RDL_OK);
        assert_int_equal(n, 0);
        rdl_program_called(f->lab, f->program[i].p);
    }
}

static void a_lab_with_a_program_cannot_be_copied(void **state)
{
    struct fixture *f = *state;
    struct rdl_checkpoint *c;

    assert_int_equal(rdl_checkpoint_save(f->lab, &c), RDL_ERR_PROGRAM);
}

static void there_are_so_many_programs_and_no_more(void **state)
{
    struct fixture *f = *state;
    const struct rdl_program_memory memory = {read_memory, write_memory, f};
    rdl_program p;

    for (uint32_t i = 2; i < RDL_PROGRAMS_MAX; i++)
        assert_int_equal(rdl_program_add(f->lab, f->host[0], &memory, &p), RDL_OK);
    assert_int_equal(rdl_program_add(f->lab, f->host[0], &memory, &p), RDL_ERR_LIMIT);
    assert_int_equal(rdl_program_remove(f->lab, p), RDL_OK);
    assert_int_equal(rdl_program_add(f->lab, f->host[0], &memory, &p), RDL_OK);
    assert_int_equal(rdl_program_add(f->lab, (rdl_host){9}, &memory, &p), RDL_ERR_STALE);
}

static void a_device_says_what_it_can(void **state)
{
    struct fixture *f = *state;
    struct rdl_device_attr a;
    struct rdl_port_attr port;

    assert_int_equal(rdl_device_attr(f->lab, f->host[0], &a), RDL_OK);
    assert_int_equal(a.max_sge_rd, 32);
    assert_int_equal(a.n_gids, 2);
    assert_int_equal(a.max_mr, 4096);
    assert_memory_equal(a.guid + 3, "\xff\xfe", 2);
    assert_int_equal(rdl_port_attr(f->lab, f->host[0], &port), RDL_OK);
    assert_true(port.up);
    assert_int_equal(port.max_mtu, MTU_4096);
    assert_int_equal(port.max_msg_sz, 1u << 31);
    assert_int_equal(rdl_port_attr(f->lab, (rdl_host){9}, &port), RDL_ERR_STALE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_message_goes_from_program_to_program), T(memory_that_is_gone_reads_as_zero),
        T(a_program_sees_its_own_objects_alone),   T(what_a_program_leaves_can_be_destroyed),
        T(an_event_goes_to_whom_it_concerns),      T(a_lab_with_a_program_cannot_be_copied),
        T(there_are_so_many_programs_and_no_more), T(a_device_says_what_it_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
