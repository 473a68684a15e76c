/* SPDX-License-Identifier: MIT */
/* The pool of the virtual layer: it never gives a function twice.  A model follows random objects,
 * moves and ends.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/lab/lab_state.h"
#include "emu/lab/layer.h"
#include "emu/rnic/eswitch.h"
#include "emu/wire/addr.h"
#include "lab/must_end.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"

static const struct rdl_limits none;

#define MACHINES  2u
#define GUESTS    10u
#define FUNCTIONS 4u /* of each machine */
#define MOST      3u /* functions of a virtual RNIC */
#define OBJECTS   5u
#define STEPS     10000u

/* A guest as the model knows it.  Its first object is a PD or a CQ, its later ones are queue pairs,
 * which use the parts that are made behind the first object.
 */
struct guest_model {
    rdl_host host;
    rdl_pd pd;
    rdl_cq cq;
    rdl_qp qp[OBJECTS];
    uint32_t n_qps, machine;
    uint32_t instance;         /* number of its instance */
    uint32_t n_functions;      /* the most that it may have */
    uint32_t on[MOST];         /* number of queue pairs on each function */
    uint32_t vf[MOST];         /* the functions; NO_VF: none */
    uint32_t qp_on[OBJECTS];   /* function of each queue pair */
    bool has_objects, waiting; /* waiting: for its first object */
};

struct pool_model {
    struct rdl_lab *lab;
    struct guest_model g[GUESTS];
    uint32_t users[MACHINES][FUNCTIONS]; /* number of guests that have the function */
    uint32_t queue[MACHINES][GUESTS], n_queued[MACHINES];
    bool has_mac[MACHINES][FUNCTIONS]; /* the administrator has set the MAC of the function */
    bool is_trusted[MACHINES][FUNCTIONS];
    uint32_t when_full;
    uint32_t n_failed, n_waited, n_woken, n_shared, n_further, n_moved;
    uint32_t n_required; /* times that a guest was seen with the MAC of the administrator */
};

#define NO_VF UINT32_MAX

/* The first function that nobody has. */
static uint32_t free_vf(const struct pool_model *m, uint32_t machine)
{
    uint32_t vf = 0;

    while (vf < FUNCTIONS && m->users[machine][vf] > 0)
        vf++;
    return vf < FUNCTIONS ? vf : NO_VF;
}

/* Returns true if the guests at @vf have it as their first function. */
static bool is_first_there(const struct pool_model *m, uint32_t machine, uint32_t vf)
{
    for (uint32_t i = 0; i < GUESTS; i++) {
        for (uint32_t k = 1; k < MOST; k++) {
            if (m->g[i].machine == machine && m->g[i].vf[k] == vf)
                return false;
        }
    }
    return true;
}

static uint32_t vf_to_share(const struct pool_model *m, uint32_t machine)
{
    uint32_t best = NO_VF;

    for (uint32_t vf = 0; vf < FUNCTIONS; vf++) {
        if (m->users[machine][vf] > 0 && is_first_there(m, machine, vf) &&
            (best == NO_VF || m->users[machine][vf] < m->users[machine][best]))
            best = vf;
    }
    return best;
}

/* The function of another guest of the instance of guest @who; NO_VF: none has one. */
static uint32_t partner_vf(const struct pool_model *m, uint32_t who)
{
    const struct guest_model *g = &m->g[who];

    for (uint32_t i = 0; i < GUESTS; i++) {
        const struct guest_model *other = &m->g[i];

        if (i != who && other->instance == g->instance && other->machine == g->machine &&
            other->vf[0] != NO_VF)
            return other->vf[0];
    }
    return NO_VF;
}

/* The function that guest @who gets with its first object; NO_VF: none. */
static uint32_t choose_vf(struct pool_model *m, uint32_t who)
{
    const struct guest_model *g = &m->g[who];
    uint32_t vf = partner_vf(m, who);

    if (vf != NO_VF) {
        m->n_shared++;
        return vf;
    }
    vf = free_vf(m, g->machine);
    if (vf == NO_VF && m->when_full == POOL_share) {
        vf = vf_to_share(m, g->machine);
        m->n_shared += vf != NO_VF;
    }
    return vf;
}

static void take_vf(struct pool_model *m, struct guest_model *g, uint32_t k, uint32_t vf)
{
    g->vf[k] = vf;
    m->users[g->machine][vf]++;
}

/* Gives @vf to the guest at place @i of the queue of @machine. */
static void serve(struct pool_model *m, uint32_t machine, uint32_t i, uint32_t vf)
{
    struct guest_model *next = &m->g[m->queue[machine][i]];

    take_vf(m, next, 0, vf);
    next->waiting = false;
    next->has_objects = true;
    m->n_queued[machine]--;
    memmove(m->queue[machine] + i, m->queue[machine] + i + 1,
            (m->n_queued[machine] - i) * sizeof(m->queue[machine][0]));
}

/* Those in the queue share the function of another guest of their instance. */
static void serve_partners(struct pool_model *m, uint32_t machine)
{
    uint32_t i = 0;

    while (i < m->n_queued[machine]) {
        const uint32_t vf = partner_vf(m, m->queue[machine][i]);

        if (vf == NO_VF) {
            i++;
            continue;
        }
        m->n_woken++;
        serve(m, machine, i, vf);
    }
}

/* Function @k of @g goes back.  The first guest in the queue gets it. */
static void return_vf(struct pool_model *m, struct guest_model *g, uint32_t k)
{
    const uint32_t machine = g->machine;

    m->users[machine][g->vf[k]]--;
    g->vf[k] = NO_VF;
    while (m->n_queued[machine] > 0 && free_vf(m, machine) != NO_VF) {
        serve(m, machine, 0, free_vf(m, machine));
        serve_partners(m, machine);
    }
}

/* The function for a queue pair more: that with the fewest; a new one counts if one is free. */
static uint32_t place_of(struct pool_model *m, struct guest_model *g)
{
    const uint32_t spare = free_vf(m, g->machine);
    uint32_t best = 0;

    for (uint32_t k = 1; k < g->n_functions; k++) {
        if ((g->vf[k] != NO_VF || spare != NO_VF) && g->on[k] < g->on[best])
            best = k;
    }
    if (g->vf[best] == NO_VF) {
        take_vf(m, g, best, spare);
        m->n_further++;
    }
    return best;
}

/* Compares the state of the lab with the model. */
static void check_pool(const struct pool_model *m)
{
    for (uint32_t i = 0; i < GUESTS; i++) {
        const struct guest_model *g = &m->g[i];
        const struct vrnic *r = m->lab->state->hosts[MACHINES + i]->vrnic;

        assert_int_equal(r->machine->index, g->machine);
        assert_int_equal(r->is_queued, g->waiting);
        for (uint32_t k = 0; k < g->n_functions; k++) {
            const struct vrnic_function *f = &r->functions[k];

            assert_int_equal(f->vf, g->vf[k]);
            assert_int_equal(f->n_qps, g->on[k]);
            if (f->vf != NO_VF) {
                assert_ptr_equal(f->port->sw, r->machine->port.sw);
                assert_int_equal(f->port->vport, eswitch_port_of_vf(f->vf));
            }
        }
    }
    for (uint32_t k = 0; k < MACHINES; k++) {
        const struct host *h = m->lab->state->hosts[k];

        for (uint32_t vf = 0; vf < FUNCTIONS; vf++) {
            uint32_t n = 0;

            for (const struct eth_port *p = h->port.sw->ports[eswitch_port_of_vf(vf)].port; p;
                 p = p->next_tenant)
                n++;
            assert_int_equal(n, m->users[k][vf]);
        }
        assert_int_equal(h->pool.first_waiting != NULL, m->n_queued[k] > 0);
    }
}

/* The MAC that the administrator sets for @vf of @machine. */
static void administrators_mac(uint32_t machine, uint32_t vf, uint8_t ret[MAC_BYTES])
{
    memcpy(ret, (uint8_t[]){2, 0xad, 0, 0, (uint8_t)machine, (uint8_t)vf}, MAC_BYTES);
}

/* Sets or forgets the MAC of a function that nobody has. */
static void set_mac(struct pool_model *m, struct prng *r)
{
    const uint32_t machine = (uint32_t)prng_below(r, MACHINES);
    const uint32_t vf = (uint32_t)prng_below(r, FUNCTIONS);
    const uint32_t what = (uint32_t)prng_below(r, 4);
    struct rdl_vf_settings set;

    if (m->users[machine][vf] > 0)
        return;
    m->has_mac[machine][vf] = what < 3;
    m->is_trusted[machine][vf] = what == 2;
    assert_int_equal(rdl_vf_get(m->lab, (rdl_host){machine + 1}, vf, &set), RDL_OK);
    memset(set.mac, 0, MAC_BYTES);
    if (m->has_mac[machine][vf])
        administrators_mac(machine, vf, set.mac);
    set.trust = m->is_trusted[machine][vf];
    assert_int_equal(rdl_vf_set(m->lab, (rdl_host){machine + 1}, vf, &set), RDL_OK);
}

/* A guest with a function has the MAC of the administrator, if there is one and the guest is not
 * trusted.  Nobody else has such a MAC.
 */
static void check_macs(struct pool_model *m)
{
    for (uint32_t i = 0; i < GUESTS * MOST; i++) {
        const struct guest_model *g = &m->g[i / MOST];
        const struct vrnic *r = m->lab->state->hosts[MACHINES + i / MOST]->vrnic;
        const uint32_t k = i % MOST, vf = g->vf[k];
        uint8_t mac[MAC_BYTES];

        if (k >= g->n_functions)
            continue;
        administrators_mac(g->machine, vf == NO_VF ? 0 : vf, mac);
        if (vf != NO_VF && m->has_mac[g->machine][vf] && !m->is_trusted[g->machine][vf]) {
            assert_memory_equal(r->functions[k].port->mac, mac, MAC_BYTES);
            m->n_required++;
        } else if (vf != NO_VF || k == 0) {
            assert_int_not_equal(r->functions[k].port->mac[1], mac[1]);
        }
    }
}

/* No two of those that have a function have an address on the wire in common, nor a MAC, unless
 * they share the function.
 */
static void check_addresses(const struct pool_model *m)
{
    for (uint32_t i = 0; i < GUESTS * MOST; i++) {
        const struct vrnic *a = m->lab->state->hosts[MACHINES + i / MOST]->vrnic;
        const uint32_t k = i % MOST;

        for (uint32_t j = 0; j < i && m->g[i / MOST].vf[k] != NO_VF; j++) {
            const struct vrnic *b = m->lab->state->hosts[MACHINES + j / MOST]->vrnic;
            const uint32_t l = j % MOST;

            if (m->g[j / MOST].vf[l] == NO_VF)
                continue;
            for (uint32_t n = 0; n < GUEST_GIDS; n++)
                assert_memory_not_equal(a->functions[k].wire[n], b->functions[l].wire[n],
                                        GID_BYTES);
            assert_int_equal(
                memcmp(a->functions[k].port->mac, b->functions[l].port->mac, MAC_BYTES) == 0,
                a->machine == b->machine && a->functions[k].vf == b->functions[l].vf);
        }
    }
}

static void finish(struct pool_model *m, uint32_t who, enum rdl_status asked)
{
    must_end(m->lab, m->g[who].host, asked);
}

/* Makes the parts of queue pairs behind the first object. */
static void complete_parts(struct pool_model *m, uint32_t who)
{
    struct guest_model *g = &m->g[who];

    g->has_objects = true;
    finish(m, who, rdl_create_cq(m->lab, g->host, 16, NULL, &g->cq));
}

static void begin_objects(struct pool_model *m, uint32_t who)
{
    struct guest_model *g = &m->g[who];
    const uint32_t vf = choose_vf(m, who);
    const enum rdl_status st = rdl_alloc_pd(m->lab, g->host, NULL, &g->pd);

    if (vf != NO_VF) {
        take_vf(m, g, 0, vf);
        finish(m, who, st);
        complete_parts(m, who);
    } else if (m->when_full == POOL_wait) {
        assert_int_equal(st, RDL_OK);
        g->waiting = true;
        m->queue[g->machine][m->n_queued[g->machine]++] = who;
        m->n_waited++;
    } else {
        assert_int_equal(st, RDL_ERR_NO_FUNCTION);
        m->n_failed++;
    }
}

static void add_qp(struct pool_model *m, uint32_t who)
{
    struct guest_model *g = &m->g[who];
    const struct rdl_qp_config c = {
        .pd = g->pd, .type = QPT_RC, .send_cq = g->cq, .recv_cq = g->cq};
    const uint32_t k = place_of(m, g);

    g->on[k]++;
    g->qp_on[g->n_qps] = k;
    finish(m, who, rdl_create_qp(m->lab, &c, NULL, &g->qp[g->n_qps++]));
}

static void remove_qp(struct pool_model *m, uint32_t who)
{
    struct guest_model *g = &m->g[who];
    const uint32_t k = g->qp_on[--g->n_qps];

    finish(m, who, rdl_destroy_qp(m->lab, g->qp[g->n_qps]));
    if (--g->on[k] == 0 && k > 0)
        return_vf(m, g, k);
}

static void end_objects(struct pool_model *m, uint32_t who)
{
    struct guest_model *g = &m->g[who];

    finish(m, who, rdl_destroy_cq(m->lab, g->cq));
    finish(m, who, rdl_dealloc_pd(m->lab, g->pd));
    g->has_objects = false;
    return_vf(m, g, 0);
}

/* Requests that have waited are complete after some time. */
static void settle(struct pool_model *m)
{
    assert_int_equal(rdl_run(m->lab, rdl_now_ns(m->lab) + 100000, none), RDL_OK);
    for (uint32_t i = 0; i < GUESTS; i++) {
        struct rdl_response rsp;

        if (!m->g[i].has_objects || m->g[i].cq.raw)
            continue;
        assert_int_equal(rdl_answer(m->lab, m->g[i].host, &rsp), RDL_OK);
        complete_parts(m, i);
    }
}

static void pool_step(struct pool_model *m, struct prng *r)
{
    const uint32_t who = (uint32_t)prng_below(r, GUESTS);
    const uint32_t what = (uint32_t)prng_below(r, 8);
    const uint32_t to = (uint32_t)prng_below(r, MACHINES);
    struct guest_model *g = &m->g[who];

    if (prng_below(r, 4) == 0)
        set_mac(m, r);
    if (g->waiting)
        return;
    if (what == 0) {
        const enum rdl_status st = rdl_vrnic_move(m->lab, g->host, (rdl_host){to + 1});

        assert_int_equal(st, g->has_objects ? RDL_ERR_BUSY : RDL_OK);
        m->n_moved += st == RDL_OK && g->machine != to;
        if (st == RDL_OK)
            g->machine = to;
    } else if (!g->has_objects) {
        begin_objects(m, who);
    } else if (g->n_qps < OBJECTS && what < 4) {
        add_qp(m, who);
    } else if (g->n_qps > 0) {
        remove_qp(m, who);
    } else {
        end_objects(m, who);
        g->cq = (rdl_cq){0};
    }
    settle(m);
}

/* Random objects and moves of guests, some of which may have several functions, or are of one
 * instance.
 */
static void run_pool(uint32_t when_full)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    struct pool_model m = {.when_full = when_full};
    struct prng r = prng_stream(7, when_full);
    rdl_host host;

    assert_int_equal(rdl_lab_new(&config, &m.lab), RDL_OK);
    for (uint32_t i = 0; i < MACHINES; i++) {
        const struct rdl_host_config c = {.name = i ? "m2" : "m1",
                                          .vfs = FUNCTIONS,
                                          .pool = 2,
                                          .when_full = when_full,
                                          .pool_wait_ns =
                                              when_full == POOL_wait ? RDL_POOL_WAIT_MAX_NS : 0};

        assert_int_equal(rdl_host_add(m.lab, &c, &host), RDL_OK);
    }
    for (uint32_t i = 0; i < GUESTS; i++) {
        char name[8];
        const struct rdl_host_config c = {.name = name,
                                          .on = "m1",
                                          .vrnic = true,
                                          .vrnic_vfs = 1 + i % MOST,
                                          .vrnic_with = i == 1 ? "g0" : NULL};

        snprintf(name, sizeof(name), "g%u", i);
        m.g[i] = (struct guest_model){.instance = i == 1 ? 0 : i, .n_functions = 1 + i % MOST};
        memset(m.g[i].vf, 0xff, sizeof(m.g[i].vf));
        assert_int_equal(rdl_host_add(m.lab, &c, &m.g[i].host), RDL_OK);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        pool_step(&m, &r);
        check_pool(&m);
        check_addresses(&m);
        check_macs(&m);
    }
    assert_true(m.n_required > 1000);
    assert_true(m.n_further > 50 && m.n_moved > 30 && m.n_shared > 50);
    assert_true(when_full == POOL_fail ? m.n_failed > 50 : m.n_failed == 0);
    assert_true(when_full == POOL_wait ? m.n_waited > 50 && m.n_woken > 0 : m.n_waited == 0);
    rdl_lab_free(m.lab);
}

static void functions_go_round_as_the_model_says(void **state)
{
    (void)state;
    run_pool(POOL_fail);
    run_pool(POOL_wait);
    run_pool(POOL_share);
}

/* A request waits as long as its machine lets it, to the nanosecond. */
static void a_wait_ends_in_time(void **state)
{
    const struct rdl_lab_config config = {.seed = 1, .check_invariants = true};
    const struct rdl_host_config machine = {
        .name = "m1", .vfs = 1, .when_full = POOL_wait, .pool_wait_ns = 12345};
    struct rdl_host_config c = {.name = "g1", .on = "m1", .vrnic = true};
    struct rdl_response rsp;
    struct rdl_lab *lab;
    rdl_host host, g[2];
    uint64_t from;
    rdl_pd pd;
    rdl_cq cq;

    (void)state;
    assert_int_equal(rdl_lab_new(&config, &lab), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &machine, &host), RDL_OK);
    assert_int_equal(rdl_host_add(lab, &c, &g[0]), RDL_OK);
    c.name = "g2";
    assert_int_equal(rdl_host_add(lab, &c, &g[1]), RDL_OK);
    must_end(lab, g[0], rdl_alloc_pd(lab, g[0], NULL, &pd));
    from = rdl_now_ns(lab);
    assert_int_equal(rdl_create_cq(lab, g[1], 16, "cq", &cq), RDL_OK);
    assert_int_equal(rdl_alloc_pd(lab, g[1], NULL, &pd), RDL_ERR_BUSY);
    assert_int_equal(rdl_vrnic_move(lab, g[1], host), RDL_ERR_BUSY);
    assert_int_equal(rdl_wait(lab, g[1], none, &rsp), RDL_ERR_NO_FUNCTION);
    assert_int_equal(rdl_now_ns(lab), from + 12345);
    assert_int_equal(lab->state->hosts[2]->guest.verbs.n_of_device, 0);
    assert_false(lab->state->hosts[2]->vrnic->is_queued);
    /* The name is free again. */
    assert_int_equal(rdl_create_cq(lab, g[1], 16, "cq", &cq), RDL_OK);
    rdl_lab_free(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_go_round_as_the_model_says),
        cmocka_unit_test(a_wait_ends_in_time),
    };

    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
