/* SPDX-License-Identifier: MIT */
/* A host whose guest is a virtual machine: the lab refuses calls that need a guest of its own. */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/ip.h"
#include "rdmalab/verbs.h"
#include "rdmalab/vm.h"

#define PAGE 4096u

struct fixture {
    struct rdl_lab *lab;
    rdl_host h1, h2; /* h1 is external */
    uint8_t memory[4 * PAGE];
};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config h1 = {.name = "h1", .external = true}, h2 = {.name = "h2"};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1000};
    rdl_link ret;

    assert_int_equal(rdl_lab_new(&config, &f->lab), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &h1, &f->h1), RDL_OK);
    assert_int_equal(rdl_host_add(f->lab, &h2, &f->h2), RDL_OK);
    assert_int_equal(rdl_link_add(f->lab, &link, &ret), RDL_OK);
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

/* Every function that a guest would carry out, by the host. */
static void what_a_guest_would_do_is_refused_by_name(void **state)
{
    const struct fixture *f = *state;
    const struct rdl_ping_config ping = {.bytes = 8};
    const struct rdl_limits none = {0};
    struct rdl_async_event event;
    struct rdl_response rsp;
    size_t n;
    uint64_t addr;
    uint16_t pkey;
    uint8_t byte = 0;
    rdl_ping_id id;
    rdl_channel ch;
    rdl_pd pd;
    rdl_cq cq;

    assert_int_equal(rdl_alloc_pd(f->lab, f->h1, "pd", &pd), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_create_cq(f->lab, f->h1, 4, "cq", &cq), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_create_comp_channel(f->lab, f->h1, "ch", &ch), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_get_async_event(f->lab, f->h1, &event, &n), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_mem_alloc(f->lab, f->h1, PAGE, &addr), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_mem_free(f->lab, f->h1, PAGE), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_mem_read(f->lab, f->h1, PAGE, &byte, 1), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_mem_write(f->lab, f->h1, PAGE, &byte, 1), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_query_port(f->lab, f->h1), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_set_gid(f->lab, f->h1, 0, true), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_query_pkey(f->lab, f->h1, 0), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_pkey(f->lab, f->h1, &pkey), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_ping(f->lab, f->h1, &ping, &id), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_wait(f->lab, f->h1, none, &rsp), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_answer(f->lab, f->h1, &rsp), RDL_ERR_NO_GUEST);
    assert_int_equal(rdl_run(f->lab, RDL_NEVER, none), RDL_OK);
}

/* It may have any address, or none: nobody knows it before it says so. */
static void the_others_ask_for_its_address(void **state)
{
    const struct fixture *f = *state;
    const struct rdl_limits none = {0};
    struct rdl_ping_config ping = {.bytes = 8, .timeout_ns = 10000000};
    struct rdl_ping_result r;
    struct rdl_value v;
    uint8_t mac[6];
    rdl_ping_id id;
    size_t at;

    assert_int_equal(rdl_host_address(f->lab, f->h1, 0, ping.address, mac), RDL_OK);
    assert_int_equal(rdl_ping(f->lab, f->h2, &ping, &id), RDL_OK);
    assert_int_equal(rdl_ping_wait(f->lab, id, none), RDL_OK);
    assert_int_not_equal(rdl_ping_result(f->lab, id, &r), RDL_OK);
    assert_int_equal(rdl_inspect(f->lab, "h1.port.drops.no_driver", &v, &at), RDL_OK);
    assert_true(v.number > 0); /* the question came, and no driver is there to take it */
}

static void its_memory_is_what_it_says(void **state)
{
    struct fixture *f = *state;
    const struct rdl_vm_region region = {PAGE, 2 * PAGE, f->memory, true};
    uint8_t byte = 0;

    assert_int_equal(rdl_ram_read(f->lab, f->h1, PAGE, &byte, 1), RDL_ERR_FAULT);
    f->memory[5] = 7;
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, &region, 1), RDL_OK);
    assert_int_equal(rdl_ram_read(f->lab, f->h1, PAGE + 5, &byte, 1), RDL_OK);
    assert_int_equal(byte, 7);
    assert_int_equal(rdl_ram_write(f->lab, f->h1, 3 * PAGE - 1, &byte, 1), RDL_OK);
    assert_int_equal(f->memory[2 * PAGE - 1], 7);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, NULL, 0), RDL_OK);
    assert_int_equal(rdl_ram_read(f->lab, f->h1, PAGE + 5, &byte, 1), RDL_ERR_FAULT);
}

static void a_map_that_cannot_be_is_refused(void **state)
{
    struct fixture *f = *state;
    uint8_t *m = f->memory;
    const struct rdl_vm_region overlap[] = {{0, 2 * PAGE, m, true}, {PAGE, PAGE, m, true}};
    const struct rdl_vm_region beyond = {RDL_VM_GPA_MAX - PAGE, 2 * PAGE, m, true};
    const struct rdl_vm_region around = {UINT64_MAX - PAGE, 2 * PAGE, m, true};
    const struct rdl_vm_region nowhere = {0, PAGE, NULL, true};
    struct rdl_vm_region many[RDL_VM_REGIONS_MAX + 1];

    for (uint32_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = (struct rdl_vm_region){(uint64_t)i * 2 * PAGE, PAGE, m, true};
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, overlap, 2), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, &beyond, 1), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, &around, 1), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, &nowhere, 1), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, many, ARRAY_LEN(many)), RDL_ERR_INVAL);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, many, RDL_VM_REGIONS_MAX), RDL_OK);
    assert_int_equal(rdl_vm_memory(f->lab, f->h2, many, 1), RDL_ERR_STATE);
    assert_int_equal(rdl_vm_memory(f->lab, (rdl_host){9}, many, 1), RDL_ERR_STALE);
}

/* Memory that goes on elsewhere cannot be put back: better no checkpoint than half a one. */
static void there_is_no_checkpoint_of_memory_that_is_not_the_labs(void **state)
{
    struct fixture *f = *state;
    const struct rdl_vm_region region = {0, PAGE, f->memory, true};
    struct rdl_checkpoint *c = NULL;

    assert_int_equal(rdl_checkpoint_save(f->lab, &c), RDL_OK);
    rdl_checkpoint_free(c);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, &region, 1), RDL_OK);
    assert_int_equal(rdl_checkpoint_save(f->lab, &c), RDL_ERR_VM);
    assert_int_equal(rdl_vm_memory(f->lab, f->h1, NULL, 0), RDL_OK);
    assert_int_equal(rdl_checkpoint_save(f->lab, &c), RDL_OK);
    rdl_checkpoint_free(c);
}

/* Counts the leaves below @path, each of which is read on the way. */
struct look {
    const struct rdl_lab *lab;
    const char *path;
    unsigned depth, *n_leaves;
};

static void look_at(void *ctx, const char *key, const struct rdl_value *v)
{
    const struct look *up = ctx;
    char path[512];
    struct look here = {up->lab, path, up->depth + 1, up->n_leaves};
    size_t at;

    ++*up->n_leaves;
    if (v->type != RDL_NODE)
        return;
    assert_true(here.depth < 16);
    assert_true(snprintf(path, sizeof(path), key[0] == '[' ? "%s%s" : "%s.%s", up->path, key) <
                (int)sizeof(path));
    assert_int_equal(rdl_inspect_list(up->lab, path, look_at, &here, &at), RDL_OK);
}

static void all_of_it_can_be_looked_at(void **state)
{
    const struct fixture *f = *state;

    unsigned n_leaves = 0;
    struct look top = {f->lab, "h1", 0, &n_leaves};
    struct rdl_value v;
    size_t at;

    assert_int_equal(rdl_inspect_list(f->lab, "h1", look_at, &top, &at), RDL_OK);
    assert_true(n_leaves > 100);
    /* What its driver knows of a queue nobody here does. */
    assert_int_equal(rdl_inspect(f->lab, "h1.net.rx.device", &v, &at), RDL_OK);
    assert_int_equal(rdl_inspect(f->lab, "h1.net.rx.driver", &v, &at), RDL_ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_guest_would_do_is_refused_by_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_others_ask_for_its_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(its_memory_is_what_it_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_map_that_cannot_be_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(there_is_no_checkpoint_of_memory_that_is_not_the_labs,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_of_it_can_be_looked_at, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
