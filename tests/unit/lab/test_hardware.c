/* SPDX-License-Identifier: MIT */
/* RAM and registers of a host as somebody writes and reads them who is no driver of its guest. */
#include "testing.h"

#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enums.h"
#include "emu/facts/regs.h"
#include "rdmalab/inspect.h"
#include "rdmalab/verbs.h"

#define RAM_BYTES ((uint64_t)64 << 20)

static struct rdl_lab *lab_with_host(rdl_host *ret)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config host = {.name = "h1"};
    struct rdl_lab *lab;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &host, ret), RDL_OK);
    return lab;
}

static uint64_t number(const struct rdl_lab *lab, const char *path)
{
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect(lab, path, &v, &at), RDL_OK);
    return v.number;
}

static void ram_is_written_as_a_whole_or_not_at_all(void **state)
{
    uint8_t in[8192], out[8192];
    rdl_host h;
    struct rdl_lab *lab = lab_with_host(&h);

    (void)state;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7);
    assert_int_equal(rdl_ram_write(lab, h, RAM_BYTES - sizeof(in), in, sizeof(in)), RDL_OK);
    assert_int_equal(rdl_ram_read(lab, h, RAM_BYTES - sizeof(in), out, sizeof(out)), RDL_OK);
    assert_memory_equal(in, out, sizeof(in));
    assert_int_equal(rdl_ram_write(lab, h, RAM_BYTES - sizeof(in) + 1, in, sizeof(in)),
                     RDL_ERR_FAULT);
    assert_int_equal(rdl_ram_read(lab, h, RAM_BYTES - sizeof(in), out, sizeof(out)), RDL_OK);
    assert_memory_equal(in, out, sizeof(in));
    assert_int_equal(rdl_ram_write(lab, (rdl_host){9}, 0, in, 1), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

static void registers_are_those_of_the_function(void **state)
{
    uint64_t v = 0;
    rdl_host h;
    struct rdl_lab *lab = lab_with_host(&h);

    (void)state;
    assert_int_equal(rdl_reg_read(lab, h, FN_NET, REG_NUM_QUEUES, 2, &v), RDL_OK);
    assert_int_equal(v, 2);
    assert_int_equal(rdl_reg_read(lab, h, FN_RDMA, REG_NUM_QUEUES, 2, &v), RDL_OK);
    assert_int_equal(v, number(lab, "h1.device.num_queues"));
    assert_int_equal(rdl_reg_read(lab, h, 2, REG_NUM_QUEUES, 2, &v), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_read(lab, h, FN_NET, REG_NUM_QUEUES, 3, &v), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_write(lab, h, 2, REG_DEVICE_STATUS, 1, 0), RDL_ERR_INVAL);
    assert_int_equal(rdl_reg_write(lab, (rdl_host){9}, FN_NET, 0, 1, 0), RDL_ERR_STALE);
    rdl_lab_free(lab);
}

/* A device that somebody reset under its driver is no broken invariant. */
static void who_writes_takes_the_device_from_its_driver(void **state)
{
    const struct rdl_limits bounded = {.ticks = 1000};
    uint64_t v = 1;
    uint32_t rsp;
    rdl_host h;
    rdl_pd pd;
    struct rdl_lab *lab = lab_with_host(&h);

    (void)state;
    assert_int_equal(rdl_reg_write(lab, h, FN_RDMA, REG_DEVICE_STATUS, 1, 0), RDL_OK);
    assert_int_equal(rdl_reg_read(lab, h, FN_RDMA, REG_DEVICE_STATUS, 1, &v), RDL_OK);
    assert_int_equal(v, 0);
    assert_int_equal(number(lab, "h1.ctrl.enabled"), 0);
    assert_int_equal(rdl_alloc_pd(lab, h, NULL, &pd), RDL_OK);
    assert_int_equal(rdl_wait(lab, h, bounded, &rsp), RDL_ERR_IDLE); /* nobody is there */
    assert_null(rdl_broken_invariant(lab));
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ram_is_written_as_a_whole_or_not_at_all),
        cmocka_unit_test(registers_are_those_of_the_function),
        cmocka_unit_test(who_writes_takes_the_device_from_its_driver),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
