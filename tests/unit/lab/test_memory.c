/* SPDX-License-Identifier: MIT */
/* A lab frees what it allocated: its size depends on what it contains, not on what it contained
 * before.
 */
#include "testing.h"

#include <stdio.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/lab/lab_state.h"
#include "rdmalab/fault.h"
#include "rdmalab/verbs.h"

#define HOST_BYTES_MAX ((size_t)256 << 10) /* of a host as its drivers leave it after boot */
#define PAIRS          20000u

static const struct rdl_limits none = {0};

static struct rdl_lab *lab_new(void)
{
    const struct rdl_lab_config config = {.seed = 1};
    struct rdl_lab *lab;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    return lab;
}

static rdl_host host_new(struct rdl_lab *lab, const char *name)
{
    const struct rdl_host_config config = {.name = name};
    rdl_host host;

    assert_int_equal(rdl_host_add(lab, &config, &host), RDL_OK);
    return host;
}

static void wait(struct rdl_lab *lab, rdl_host host, enum rdl_status asked)
{
    struct rdl_response rsp;

    assert_int_equal(asked, RDL_OK);
    assert_int_equal(rdl_wait(lab, host, none, &rsp), RDL_OK);
}

static void a_host_takes_little(void **state)
{
    struct rdl_lab *lab = lab_new();
    size_t before;

    (void)state;
    host_new(lab, "h0");
    before = rdl_used_bytes(lab);
    for (uint32_t i = 1; i <= 32; i++) {
        char name[8];

        snprintf(name, sizeof(name), "h%u", i);
        host_new(lab, name);
    }
    assert_in_range((rdl_used_bytes(lab) - before) / 32, 1, HOST_BYTES_MAX);
    rdl_lab_free(lab);
}

/* What a queue pair and its completion queue take while nobody uses them, of a device with so many
 * that their rings were made at boot: device, driver, and guest memory that was written.
 */
static void an_idle_queue_pair_takes_little(void **state)
{
    static const char *const rings[] = {"split", "packed"};
    enum { N = 512, IDLE_BYTES_MAX = 8192 };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(rings); k++) {
        const struct rdl_host_config host_config = {.name = "h1",
                                                    .ram_bytes = (uint64_t)256 << 20,
                                                    .max_cq = N,
                                                    .max_qp = N + 1,
                                                    .ring = k == 1 ? VRING_packed : VRING_split};
        struct rdl_lab *lab = lab_new();
        size_t before;
        rdl_host host;
        rdl_pd pd;

        assert_int_equal(rdl_host_add(lab, &host_config, &host), RDL_OK);
        wait(lab, host, rdl_alloc_pd(lab, host, "pd", &pd));
        before = rdl_used_bytes(lab);
        for (uint32_t i = 0; i < N; i++) {
            struct rdl_qp_config config = {.type = QPT_RC, .pd = pd};
            rdl_cq cq;
            rdl_qp qp;

            wait(lab, host, rdl_create_cq(lab, host, 32, NULL, &cq));
            config.send_cq = config.recv_cq = cq;
            config.max_send_wr = config.max_recv_wr = 16;
            config.max_send_sge = config.max_recv_sge = 1;
            wait(lab, host, rdl_create_qp(lab, &config, NULL, &qp));
        }
        if ((rdl_used_bytes(lab) - before) / N > IDLE_BYTES_MAX)
            fail_msg("%s: %zu bytes", rings[k], (rdl_used_bytes(lab) - before) / N);
        rdl_lab_free(lab);
    }
}

/* A region over fresh memory, again and again. */
static void regions_come_and_go(void **state)
{
    struct rdl_lab *lab = lab_new();
    const rdl_host host = host_new(lab, "h1");
    const uint64_t bytes = (uint64_t)64 << 10;
    size_t before = 0;
    uint64_t addr;
    rdl_pd pd;
    rdl_mr mr;

    (void)state;
    wait(lab, host, rdl_alloc_pd(lab, host, "pd", &pd));
    for (uint32_t i = 0; i < PAIRS; i++) {
        assert_int_equal(rdl_mem_alloc(lab, host, bytes, &addr), RDL_OK);
        wait(lab, host, rdl_reg_mr(lab, pd, addr, bytes, ACC_LOCAL_WRITE, "mr", &mr));
        assert_int_equal(rdl_mem_write(lab, host, addr + 5000, "x", 1), RDL_OK);
        assert_int_equal(rdl_mem_free(lab, host, addr + 1), RDL_ERR_BUSY);
        wait(lab, host, rdl_dereg_mr(lab, mr));
        assert_int_equal(rdl_mem_free(lab, host, addr + 1), RDL_OK);
        assert_int_equal(rdl_mem_free(lab, host, addr + 1), RDL_ERR_FAULT);
        if (i == 0)
            before = rdl_used_bytes(lab);
    }
    assert_int_equal(rdl_used_bytes(lab), before);
    rdl_lab_free(lab);
}

static void faults_come_and_go(void **state)
{
    const struct rdl_fault_config config = {.kind = FLT_DROP,
                                            .opcode = RDL_ANY,
                                            .syndrome = RDL_ANY,
                                            .psn = 5,
                                            .dest_qpn = RDL_ANY,
                                            .nth = 1,
                                            .count = 1};
    struct rdl_lab *lab = lab_new();
    size_t before = 0;
    rdl_fault fault;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(rdl_fault_add(lab, &config, &fault), RDL_OK);
        assert_int_equal(rdl_fault_remove(lab, fault), RDL_OK);
        if (i == 0)
            before = rdl_used_bytes(lab);
    }
    assert_int_equal(rdl_used_bytes(lab), before);
    rdl_lab_free(lab);
}

static void faults_are_limited(void **state)
{
    struct rdl_fault_config config = {.kind = FLT_DROP,
                                      .opcode = RDL_ANY,
                                      .syndrome = RDL_ANY,
                                      .dest_qpn = RDL_ANY,
                                      .nth = 1,
                                      .count = 1};
    struct rdl_lab *lab = lab_new();
    rdl_fault fault, last = {0};

    (void)state;
    for (; config.psn < RDL_FAULTS_MAX; config.psn++) {
        assert_int_equal(rdl_fault_add(lab, &config, &fault), RDL_OK);
        last = fault;
    }
    assert_int_equal(rdl_fault_add(lab, &config, &fault), RDL_ERR_LIMIT);
    assert_int_equal(rdl_fault_remove(lab, last), RDL_OK);
    assert_int_equal(rdl_fault_add(lab, &config, &fault), RDL_OK);
    rdl_lab_free(lab);
}

/* Each name leads to its part, and to nothing when that is gone; however many there are. */
static void names_are_found(void **state)
{
    struct arena *a = arena_new((size_t)1 << 26);
    char name[RDL_NAME_BYTES];
    struct parts p;

    (void)state;
    assert_non_null(a);
    parts_init(&p, a);
    assert_null(parts_find(&p, "n0", 2));
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        assert_true(parts_add(&p, name, i % 4, i));
    }
    for (uint32_t i = 0; i < 5000; i += 3) {
        snprintf(name, sizeof(name), "n%u", i);
        parts_remove(&p, name);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        const int len = snprintf(name, sizeof(name), "n%u.qp", i) - 3;
        const struct part *part = parts_find(&p, name, (size_t)len);

        assert_int_equal(part != NULL, i % 3 != 0);
        assert_true(!part || (part->index == i && part->kind == (enum part_kind)(i % 4)));
    }
    assert_null(parts_find(&p, "n1", 1));
    assert_null(parts_find(&p, "a-name-that-is-longer-than-any", 30));
    arena_free(a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_takes_little), cmocka_unit_test(regions_come_and_go),
        cmocka_unit_test(faults_come_and_go),  cmocka_unit_test(faults_are_limited),
        cmocka_unit_test(names_are_found),     cmocka_unit_test(an_idle_queue_pair_takes_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
