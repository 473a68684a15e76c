/* SPDX-License-Identifier: MIT */
/* Tests of the comparison of the rogue's drill: whatever differs between the lab with the rogue and
 * its twin is noticed, unless the attack has announced it.
 */
#include <string.h>

#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "rdmalab/fault.h"
#include "swarm/drills/drill_rogue.h"
#include "testing.h"

#define SEED 5u
#define LATE 200000u /* ns: more than any bound of a step without an attack */

static void (*tamper)(struct drill *d); /* acts in the lab with the rogue */

static void set_up(struct drill *d)
{
    (void)rogue_set_up(d);
}

static void take(struct drill *d)
{
    struct rogue_drill *s = rogue_of(d);

    s->is_quiet = true;
    if (!rogue_draw_messages(d))
        return;
    tamper(d);
    if (!d->wrong && rogue_post_messages(d) && rogue_settle(d))
        (void)rogue_compare(d, true);
}

/* A step in which @act happens.  Returns the rule that it breaks, or NULL. */
static const char *rule_of(void (*act)(struct drill *d))
{
    const struct drill_kind kind = {.name = "tampered",
                                    .bytes = sizeof(struct rogue_drill),
                                    .steps = 1,
                                    .set_up = set_up,
                                    .take = take,
                                    .close = rogue_close};
    struct drill_run run = {.seed = SEED};

    tamper = act;
    (void)drill_run(&kind, &run);
    return run.ret_wrong;
}

static void do_nothing(struct drill *d)
{
    (void)d;
}

static void write_a_byte(struct drill *d)
{
    const struct rogue_host *h = &rogue_of(d)->honest[1];

    assert_int_equal(rdl_mem_write(d->lab, h->host, h->base + 77, "x", 1), RDL_OK);
}

static void announce_what_is_not(struct drill *d)
{
    rogue_differs(d, 1, "g1.port.drops.no_such_qp");
}

static void send_unannounced(struct drill *d)
{
    uint8_t f[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0xaa, 0, 0, 0, 1, 0x88, 0xb5};

    assert_int_equal(rdl_inject(d->lab, rogue_of(d)->honest[0].host, f, sizeof(f)), RDL_OK);
}

static void move_a_queue_pair(struct drill *d)
{
    struct rig_end *e = &rogue_of(d)->pair[1].end[1];
    struct rdl_qp_attr a = {0};

    assert_true(rig_modify(d, e, &a, QPS_ERR, 0));
}

static void register_a_region(struct drill *d)
{
    const struct rogue_host *h = &rogue_of(d)->honest[2];
    rdl_mr mr;

    assert_int_equal(rdl_reg_mr(d->lab, h->pd, h->base, 4096, rig_rights, "more", &mr), RDL_OK);
    assert_int_equal(drill_answer(d, h->host), RDL_OK);
}

/* The lab with the rogue is later than the twin when messages are posted. */
static void be_late(struct drill *d)
{
    assert_true(drill_run_for(d, LATE));
}

static void equal_labs_pass(void **state)
{
    (void)state;
    assert_null(rule_of(do_nothing));
}

static void each_difference_is_noticed(void **state)
{
    static const char *const changes =
        "the rogue changes of others what the model says, and nothing else";
    static const struct {
        void (*act)(struct drill *d);
        const char *rule;
    } cases[] = {
        {write_a_byte, "the rogue writes no memory of others"},
        {announce_what_is_not, changes},
        {send_unannounced, changes},
        {register_a_region, changes},
        {be_late, "the rogue delays honest messages by its turns at most"},
        /* h1 cannot post to a queue pair in ERR, or its receives are flushed. */
        {move_a_queue_pair, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *rule = rule_of(cases[i].act);

        if (!rule || (cases[i].rule && strcmp(rule, cases[i].rule) != 0))
            fail_msg("case %zu: %s", i, rule ? rule : "nothing was noticed");
    }
}

static void every_attack_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < rogue_attacks_n; i++) {
        assert_true(rogue_attacks[i].act != NULL);
        for (uint32_t k = 0; k < i; k++)
            assert_string_not_equal(rogue_attacks[i].name, rogue_attacks[k].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_labs_pass),
        cmocka_unit_test(each_difference_is_noticed),
        cmocka_unit_test(every_attack_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
