/* SPDX-License-Identifier: MIT */
/* Handles: each host has its own table, and handles of destroyed objects are stale. */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_type.h"
#include "rdmalab/inspect.h"
#include "rdmalab/verbs.h"

#define HOSTS     5u
#define MOST_QPS  16384u /* of a device; QPN 1 is for type GSI */
#define LAB_QPS   65536u
#define RAM_BYTES ((uint64_t)256 << 20)

static const struct rdl_limits no_limits;

struct end {
    rdl_host host;
    rdl_pd pd;
    rdl_cq cq;
};

static void done(struct rdl_lab *lab, rdl_host host, enum rdl_status st)
{
    struct rdl_response rsp;

    assert_int_equal(st, RDL_OK);
    assert_int_equal(rdl_wait(lab, host, no_limits, &rsp), RDL_OK);
}

/* Host number @k, from 1, with a PD and a CQ. */
static struct end end_new(struct rdl_lab *lab, unsigned k, uint32_t max_qp)
{
    const char name[] = {'h', (char)('0' + k), '\0'};
    const struct rdl_host_config config = {.name = name, .max_qp = max_qp, .ram_bytes = RAM_BYTES};
    struct end e;

    assert_int_equal(rdl_host_add(lab, &config, &e.host), RDL_OK);
    done(lab, e.host, rdl_alloc_pd(lab, e.host, "pd", &e.pd));
    done(lab, e.host, rdl_create_cq(lab, e.host, 1, "cq", &e.cq));
    return e;
}

static enum rdl_status qp_new(struct rdl_lab *lab, const struct end *e, rdl_qp *ret)
{
    const struct rdl_qp_config config = {.pd = e->pd,
                                         .type = QPT_RC,
                                         .send_cq = e->cq,
                                         .recv_cq = e->cq,
                                         .max_send_wr = 1,
                                         .max_recv_wr = 1,
                                         .max_send_sge = 1,
                                         .max_recv_sge = 1};

    return rdl_create_qp(lab, &config, NULL, ret);
}

static struct rdl_lab *lab_new(void)
{
    struct rdl_lab *lab;

    assert_int_equal(rdl_lab_new(&(struct rdl_lab_config){0}, &lab), RDL_OK);
    return lab;
}

/* The paths of all living QPs come back from their handles. */
static void a_lab_has_65536_queue_pairs(void **state)
{
    struct rdl_lab *lab = lab_new();
    rdl_qp *qps = test_calloc(LAB_QPS, sizeof(*qps));
    struct rdl_qp_info info;
    struct rdl_response rsp;
    struct end end[HOSTS];
    uint32_t n = 0;
    rdl_qp extra;

    (void)state;
    for (unsigned k = 0; k < HOSTS; k++) {
        end[k] = end_new(lab, k + 1, MOST_QPS);
        for (uint32_t i = 1; i < MOST_QPS && n < LAB_QPS; i++)
            done(lab, end[k].host, qp_new(lab, &end[k], &qps[n++]));
    }
    assert_int_equal(n, LAB_QPS);
    /* A full device refuses; the others do not mind. */
    assert_int_equal(qp_new(lab, &end[0], &extra), RDL_OK);
    assert_int_equal(rdl_wait(lab, end[0].host, no_limits, &rsp), RDL_ERR_DEVICE);
    assert_int_equal(rsp.error, ENOMEM);
    assert_int_equal(rdl_qp_info(lab, extra, &info), RDL_ERR_STALE);
    for (uint32_t i = 0; i < LAB_QPS; i++) {
        assert_int_equal(rdl_qp_info(lab, qps[i], &info), RDL_OK);
        assert_int_equal(qps[i].raw >> 48, i / (MOST_QPS - 1) + 1);
        assert_true(i == 0 || qps[i].raw > qps[i - 1].raw);
    }
    test_free(qps);
    rdl_lab_free(lab);
}

static void a_handle_of_one_host_is_not_one_of_another(void **state)
{
    struct rdl_lab *lab = lab_new();
    struct end a, b, mixed;
    char path[RDL_VALUE_BYTES];
    uint64_t raw = 0;
    rdl_qp qp;

    (void)state;
    a = end_new(lab, 1, 16);
    b = end_new(lab, 2, 16);
    assert_true(a.pd.raw != b.pd.raw);
    assert_int_equal(rdl_find(lab, "h2.pd", OBJ_PD, &raw), RDL_OK);
    assert_true(raw == b.pd.raw);
    rdl_path_of(lab, OBJ_PD, b.pd.raw, path);
    assert_string_equal(path, "h2.pd");
    rdl_path_of(lab, OBJ_PD, (uint64_t)3 << 48 | 1u << 24, path); /* there is no third host */
    assert_string_equal(path, "?");

    mixed = a, mixed.cq = b.cq;
    assert_int_equal(qp_new(lab, &mixed, &qp), RDL_ERR_INVAL);
    done(lab, b.host, rdl_destroy_cq(lab, b.cq));
    assert_int_equal(qp_new(lab, &mixed, &qp), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

static void a_stale_handle_is_found_stale_although_its_slot_is_used(void **state)
{
    struct rdl_lab *lab = lab_new();
    struct end e;
    rdl_qp old, young;

    (void)state;
    e = end_new(lab, 1, 16);
    done(lab, e.host, qp_new(lab, &e, &old));
    for (unsigned i = 0; i < 100; i++) {
        done(lab, e.host, rdl_destroy_qp(lab, old));
        done(lab, e.host, qp_new(lab, &e, &young));
        assert_int_equal(young.raw & 0xffffff, old.raw & 0xffffff); /* the same slot */
        assert_int_equal(rdl_kick(lab, old, true), RDL_ERR_STALE);
        assert_int_equal(rdl_destroy_qp(lab, old), RDL_ERR_STALE);
        old = young;
    }
    assert_int_equal(rdl_kick(lab, (rdl_qp){0}, true), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lab_has_65536_queue_pairs),
        cmocka_unit_test(a_handle_of_one_host_is_not_one_of_another),
        cmocka_unit_test(a_stale_handle_is_found_stale_although_its_slot_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
