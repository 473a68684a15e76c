/* SPDX-License-Identifier: MIT */
/* The cost of many machines, virtual functions and virtual RNICs.  The sources that know them are
 * compiled for this test so that each of their basic blocks counts itself
 * (-fsanitize-coverage=trace-pc): the sum is the same in each run, and on each computer.
 */
#include "testing.h"

#include <stdio.h>

#include "rdmalab/ip.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"
#include "rdmalab/verbs.h"

#define TIMES      4u /* many is so many times few */
#define MACHINES   16u
#define FUNCTIONS  30u
#define ROUNDS     50u
#define SEARCH_MAX 3u /* of mapping: the search for a free function looks at each one */
#define RAM_BYTES  (1u << 20)
#define BLOCKS_MIN 20u /* of one unit of work: less would mean that nothing is counted */

static uint64_t n_blocks;

/* The compiler calls this in each basic block. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    n_blocks++;
}

/* Basic blocks, and bytes that the lab uses more than before. */
struct cost {
    uint64_t blocks;
    size_t bytes;
};

static struct rdl_lab *lab_new(void)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    struct rdl_lab *lab;

    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    return lab;
}

static struct cost begin(const struct rdl_lab *lab)
{
    return (struct cost){n_blocks, rdl_used_bytes(lab)};
}

static struct cost since(const struct rdl_lab *lab, struct cost from)
{
    return (struct cost){n_blocks - from.blocks, rdl_used_bytes(lab) - from.bytes};
}

static rdl_host machine(struct rdl_lab *lab, const char *name, uint32_t vfs)
{
    const struct rdl_host_config c = {.name = name, .vfs = vfs, .pool = 1, .ram_bytes = RAM_BYTES};
    rdl_host h = {0};

    assert_int_equal(rdl_host_add(lab, &c, &h), RDL_OK);
    return h;
}

/* Adds guest @number of @on, with a virtual RNIC or with the function @vf. */
static rdl_host guest(struct rdl_lab *lab, const char *on, uint32_t number, bool vrnic, uint32_t vf)
{
    char name[RDL_NAME_BYTES];
    const struct rdl_host_config c = {
        .name = name, .on = on, .vrnic = vrnic, .vf = vf, .ram_bytes = RAM_BYTES};
    rdl_host h = {0};

    snprintf(name, sizeof(name), "%s_%u", on, number);
    assert_int_equal(rdl_host_add(lab, &c, &h), RDL_OK);
    return h;
}

static void must_end(struct rdl_lab *lab, rdl_host host, enum rdl_status asked)
{
    struct rdl_response rsp;

    assert_int_equal(asked, RDL_OK);
    assert_int_equal(rdl_wait(lab, host, (struct rdl_limits){0}, &rsp), RDL_OK);
}

/* The first object of a guest: the virtual RNIC gets a function. */
static rdl_pd map(struct rdl_lab *lab, rdl_host host)
{
    rdl_pd pd = {0};

    must_end(lab, host, rdl_alloc_pd(lab, host, NULL, &pd));
    return pd;
}

static void unmap(struct rdl_lab *lab, rdl_host host, rdl_pd pd)
{
    must_end(lab, host, rdl_dealloc_pd(lab, pd));
}

/* Fails if each of the @n_many costs more than @factor times as much as each of the @n_few, and a
 * quarter more: hash tables double.
 */
static void assert_alike(struct cost few, uint32_t n_few, struct cost many, uint32_t n_many,
                         uint32_t factor)
{
    const uint64_t blocks[2] = {few.blocks / n_few, many.blocks / n_many};
    const size_t bytes[2] = {few.bytes / n_few, many.bytes / n_many};

    print_message("%llu blocks and %zu bytes each of few, %llu and %zu of many\n",
                  (unsigned long long)blocks[0], bytes[0], (unsigned long long)blocks[1], bytes[1]);
    assert_true(blocks[0] >= BLOCKS_MIN);
    assert_true(4 * blocks[1] <= 5 * factor * blocks[0]);
    assert_true(4 * bytes[1] <= 5 * bytes[0]);
}

/* --- Machines --------------------------------------------------------------------------------- */

/* Machines at one switch, each with an ordinary guest and a virtual RNIC that has a function. */
static struct cost add_machines(uint32_t n)
{
    struct rdl_lab *lab = lab_new();
    struct cost c = begin(lab);
    rdl_switch sw;

    assert_int_equal(rdl_switch_add(lab, "s1", &sw), RDL_OK);
    for (uint32_t i = 0; i < n; i++) {
        char name[RDL_NAME_BYTES];
        const struct rdl_link_config cable = {.a = name, .b = "s1", .latency_ns = 100};
        rdl_link link;

        snprintf(name, sizeof(name), "m%u", i);
        machine(lab, name, 2);
        assert_int_equal(rdl_link_add(lab, &cable, &link), RDL_OK);
        guest(lab, name, 0, false, 0);
        map(lab, guest(lab, name, 1, true, 0));
    }
    c = since(lab, c);
    rdl_lab_free(lab);
    return c;
}

static void many_machines_cost_as_much_each_as_few(void **state)
{
    (void)state;
    assert_alike(add_machines(MACHINES), MACHINES, add_machines(MACHINES * TIMES), MACHINES * TIMES,
                 1);
}

/* --- Functions -------------------------------------------------------------------------------- */

struct functions {
    struct rdl_lab *lab;
    rdl_host guest[FUNCTIONS * TIMES];
    rdl_pd pd[FUNCTIONS * TIMES];
    struct cost add, map;
};

/* A machine with a cable and @n functions, all of which virtual RNICs have. */
static void open_functions(struct functions *f, uint32_t n)
{
    const struct rdl_host_config outside = {.name = "h1"};
    const struct rdl_link_config cable = {.a = "m1", .b = "h1", .latency_ns = 100};
    rdl_host host;
    rdl_link link;

    f->lab = lab_new();
    assert_int_equal(rdl_host_add(f->lab, &outside, &host), RDL_OK);
    f->add = begin(f->lab);
    machine(f->lab, "m1", n);
    assert_int_equal(rdl_link_add(f->lab, &cable, &link), RDL_OK);
    for (uint32_t i = 0; i < n; i++)
        f->guest[i] = guest(f->lab, "m1", i, true, 0);
    f->add = since(f->lab, f->add);
    f->map = begin(f->lab);
    for (uint32_t i = 0; i < n; i++)
        f->pd[i] = map(f->lab, f->guest[i]);
    f->map = since(f->lab, f->map);
}

static void many_functions_cost_as_much_each_as_few(void **state)
{
    struct functions few, many;

    (void)state;
    open_functions(&few, FUNCTIONS);
    open_functions(&many, FUNCTIONS * TIMES);
    assert_alike(few.add, FUNCTIONS, many.add, FUNCTIONS * TIMES, 1);
    assert_alike(few.map, FUNCTIONS, many.map, FUNCTIONS * TIMES, SEARCH_MAX);
    rdl_lab_free(few.lab);
    rdl_lab_free(many.lab);
}

/* One virtual RNIC after the other takes the last function of @f, and gives it back. */
static struct cost take_turns(struct functions *f, uint32_t n)
{
    const struct cost c = begin(f->lab);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        unmap(f->lab, f->guest[n - 1 - i % 2], f->pd[n - 1 - i % 2]);
        f->pd[n - 1 - i % 2] = map(f->lab, f->guest[n - 1 - i % 2]);
    }
    return since(f->lab, c);
}

static void a_function_that_comes_and_goes_leaves_nothing(void **state)
{
    struct functions few, many;
    struct cost of_few, of_many;

    (void)state;
    open_functions(&few, FUNCTIONS);
    open_functions(&many, FUNCTIONS * TIMES);
    (void)take_turns(&few, FUNCTIONS); /* what is allocated once */
    (void)take_turns(&many, FUNCTIONS * TIMES);
    of_few = take_turns(&few, FUNCTIONS);
    of_many = take_turns(&many, FUNCTIONS * TIMES);
    assert_int_equal(of_few.bytes, 0);
    assert_int_equal(of_many.bytes, 0);
    assert_alike(of_few, ROUNDS, of_many, ROUNDS, SEARCH_MAX);
    rdl_lab_free(few.lab);
    rdl_lab_free(many.lab);
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* Pings from the first to the last function. */
static struct cost ping(const struct functions *f, uint32_t n)
{
    struct rdl_ping_config to = {.bytes = 56};
    struct rdl_ping_result result;
    struct cost c;
    uint8_t mac[6];

    assert_int_equal(rdl_peer_address(f->lab, f->guest[0], f->guest[n - 1], 0, 0, to.address, mac),
                     RDL_OK);
    c = begin(f->lab);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        rdl_ping_id id;

        assert_int_equal(rdl_ping(f->lab, f->guest[0], &to, &id), RDL_OK);
        assert_int_equal(rdl_run(f->lab, RDL_NEVER, (struct rdl_limits){0}), RDL_OK);
        assert_int_equal(rdl_ping_result(f->lab, id, &result), RDL_OK);
    }
    return since(f->lab, c);
}

static void a_frame_costs_the_same_among_many_functions(void **state)
{
    struct functions few, many;
    struct cost of_few, of_many;

    (void)state;
    open_functions(&few, FUNCTIONS);
    open_functions(&many, FUNCTIONS * TIMES);
    (void)ping(&few, FUNCTIONS); /* all invariants are checked once */
    (void)ping(&many, FUNCTIONS * TIMES);
    of_few = ping(&few, FUNCTIONS);
    of_many = ping(&many, FUNCTIONS * TIMES);
    assert_alike(of_few, ROUNDS, of_many, ROUNDS, 1);
    rdl_lab_free(few.lab);
    rdl_lab_free(many.lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_machines_cost_as_much_each_as_few),
        cmocka_unit_test(many_functions_cost_as_much_each_as_few),
        cmocka_unit_test(a_function_that_comes_and_goes_leaves_nothing),
        cmocka_unit_test(a_frame_costs_the_same_among_many_functions),
    };

    return cmocka_run_group_tests_name("machine_scale", tests, NULL, NULL);
}
