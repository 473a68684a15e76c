/* SPDX-License-Identifier: MIT */
/* PVRDMA: events of its interface, and their causes. */
#include "pv_rig.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/facts/refusal.h"

#define SEND     2u
#define SIGNALED 2u

static const struct ev *last(const struct pv_rig *g, enum ev_kind kind)
{
    assert_true(g->events[kind] > 0);
    return &g->last[kind];
}

static void forget(struct pv_rig *g)
{
    memset(g->events, 0, sizeof(g->events));
}

static struct pv_sge part(const struct pv_pair *p, uint32_t at)
{
    return (struct pv_sge){.addr = p->mem + at, .length = 64, .lkey = p->lkey};
}

/* Posts a receive and a send, and runs. */
static void message(struct pv_rig *g, struct pv_pair *p)
{
    const struct pv_sge from = part(p, 0);

    pvrig_post_recv(g, p, 1, 7, part(p, PV_PAGE_BYTES));
    pvrig_kick(g, p, 1, PV_UAR_RECV);
    pvrig_post_send(
        g, p, 0,
        (struct pv_sq_wqe){.wr_id = 8, .opcode = SEND, .num_sge = 1, .send_flags = SIGNALED},
        &from);
    pvrig_kick(g, p, 0, PV_UAR_SEND);
    pvrig_run(g);
}

static void a_doorbell_is_the_cause_of_the_fetch(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct ev *bell, *fetch;

    pvrig_post_recv(g, &p, 1, 7, part(&p, PV_PAGE_BYTES));
    forget(g);
    message(g, &p);
    bell = last(g, EV_doorbell);
    assert_int_equal(g->events[EV_doorbell], 2);
    assert_int_equal(bell->u.doorbell.rings, PVB_SEND);
    assert_int_equal(bell->u.doorbell.qpn, p.qp[0]);
    assert_int_equal(bell->u.doorbell.value, p.qp[0] | PV_UAR_SEND);
    for (uint32_t i = 0; i < g->n_fetches; i++) {
        fetch = &g->fetches[i];
        if (fetch->u.fetch.qpn == p.qp[0])
            assert_int_equal(fetch->cause, bell->id);
    }
    assert_int_equal(g->events[EV_fetch], 2);
    assert_int_equal(g->events[EV_slot_free], 2);
    assert_int_equal(last(g, EV_slot_free)->u.slot_free.qpn, p.qp[0]);
    assert_int_equal(last(g, EV_slot_free)->u.slot_free.head, 1);
    assert_int_equal(last(g, EV_slot_free)->u.slot_free.queue, bell->u.doorbell.queue);
}

static void each_doorbell_says_its_meaning(void **state)
{
    struct pv_rig *g = *state;
    const struct pv_pair p = pvrig_pair(g, QPT_RC, true);
    const struct {
        uint32_t at, value;
        enum pv_doorbell rings;
    } rows[] = {
        {PV_UAR_AT_QP, p.qp[0] | PV_UAR_RECV, PVB_RECV},
        {PV_UAR_AT_QP, p.qp[0] | PV_UAR_SEND | PV_UAR_RECV, PVB_SEND_AND_RECV},
        {PV_UAR_AT_QP, p.qp[0], PVB_NOTHING},
        {PV_UAR_AT_QP, 5000 | PV_UAR_SEND, PVB_NOTHING},
        {PV_UAR_AT_CQ, p.cq | PV_UAR_ARM, PVB_ARM},
        {PV_UAR_AT_CQ, p.cq | PV_UAR_ARM_SOL, PVB_ARM_SOLICITED},
        {PV_UAR_AT_CQ, p.cq | PV_UAR_ARM | PV_UAR_ARM_SOL, PVB_ARM},
        {PV_UAR_AT_CQ, 5000 | PV_UAR_ARM, PVB_NOTHING},
        {PV_UAR_AT_SRQ, p.srq | PV_UAR_SRQ_RECV, PVB_SRQ_RECV},
        {PV_UAR_AT_SRQ, 5000 | PV_UAR_SRQ_RECV, PVB_NOTHING},
        {PV_UAR_AT_SRQ + 4, 0, PVB_NOTHING},
        {3 * PV_UAR_BYTES, p.qp[0] | PV_UAR_SEND, PVB_SEND},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint64_t bad = g->d->count.uar_bad;

        forget(g);
        pvrig_doorbell(g, rows[i].at, rows[i].value);
        assert_int_equal(g->events[EV_doorbell], 1);
        assert_int_equal(last(g, EV_doorbell)->u.doorbell.rings, rows[i].rings);
        assert_int_equal(last(g, EV_doorbell)->u.doorbell.page, rows[i].at / PV_UAR_BYTES);
        assert_int_equal(g->d->count.uar_bad - bad, rows[i].rings == PVB_NOTHING);
    }
    forget(g);
    pvrig_doorbell(g, PV_UAR_AT_CQ, p.cq | PV_UAR_POLL); /* counted, not traced */
    assert_int_equal(g->events[EV_doorbell], 0);
}

static void a_command_follows_from_the_write_of_request(void **state)
{
    struct pv_rig *g = *state;
    const struct ev *write, *command;

    forget(g);
    assert_int_equal(pvrig_ask(g, CREATE_PD, handle, .handle = 0), 0);
    pvrig_run(g);
    write = last(g, EV_pv_write);
    command = last(g, EV_command);
    assert_int_equal(write->u.pv_write.reg, PVR_REQUEST);
    assert_int_equal(last(g, EV_pv_read)->u.pv_read.reg, PVR_ERR);
    assert_int_equal(command->cause, write->id);
    assert_int_equal(command->u.command.cmd, PV_CMD_CREATE_PD);
    assert_int_equal(command->u.command.handle, pvrig_handle(g));
    assert_int_equal(command->u.command.error, 0);
    assert_int_equal(pvrig_ask(g, DESTROY_CQ, handle, .handle = 77), ENOENT);
    command = last(g, EV_command);
    assert_int_equal(command->u.command.handle, 77);
    assert_int_equal(command->u.command.error, ENOENT);
    assert_int_equal(command->u.command.refusal, REF_CQ_HANDLE);
    assert_int_equal(command->u.command.found, g->d->nic.hca.refused.values.found);
}

static void a_region_is_taken_or_refused_with_a_reason(void **state)
{
    struct pv_rig *g = pvrig_new(0, 0);

    *state = g;
    pvrig_start(g, PV_VERSION_PFN_64);
    assert_int_equal(last(g, EV_region)->u.region.addr, DSR_AT);
    assert_int_equal(last(g, EV_region)->u.region.driver, PV_VERSION_PFN_64);
    assert_int_equal(last(g, EV_region)->u.region.version, PV_VERSION_PFN_64);
    assert_int_equal(last(g, EV_region)->u.region.refusal, REF_NONE);
    assert_int_equal(g->events[EV_pv_phase], 2);
    assert_int_equal(last(g, EV_pv_phase)->u.pv_phase.to, PV_ACTIVE);
    pvrig_out(g, PVR_DSRHIGH, 1); /* outside of RAM */
    assert_int_equal(last(g, EV_region)->u.region.refusal, REF_PAGE_MEMORY);
    assert_int_equal(last(g, EV_region)->u.region.found, (uint64_t)1 << 32 | DSR_AT);
    assert_int_equal(last(g, EV_pv_phase)->u.pv_phase.to, PV_RESET);
    pvrig_tear_down(state);
}

static void a_notification_follows_the_completion_of_an_armed_cq(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);

    pvrig_doorbell(g, PV_UAR_AT_CQ, p.cq | PV_UAR_ARM);
    forget(g);
    message(g, &p);
    assert_int_equal(g->events[EV_cqe], 2);
    assert_int_equal(g->events[EV_cq_note], 1);
    assert_int_equal(last(g, EV_cq_note)->u.cq_note.cqn, p.cq + 1);
    assert_int_equal(last(g, EV_cq_note)->u.cq_note.tail, 1);
}

static void a_broken_ring_says_its_indices(void **state)
{
    struct pv_rig *g = *state;
    struct pv_pair p = pvrig_pair(g, QPT_RC, false);
    const struct ev *e;

    message(g, &p);
    forget(g);
    pvrig_poke32(g, p.qp_ring[0].pages, 2 * PAIR_WR); /* no index */
    pvrig_kick(g, &p, 0, PV_UAR_SEND);
    pvrig_run(g);
    assert_int_equal(g->events[EV_ring_broken], 1);
    e = last(g, EV_ring_broken);
    assert_int_equal(e->u.ring_broken.qpn, p.qp[0]);
    assert_int_equal(e->u.ring_broken.tail, 2 * PAIR_WR);
    assert_int_equal(e->u.ring_broken.head, 1);
    assert_int_equal(e->u.ring_broken.slots, PAIR_WR);
    assert_int_equal(last(g, EV_event_note)->u.event_note.object, OBJ_QP);
    assert_int_equal(last(g, EV_event_note)->u.event_note.number, p.qp[0]);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, pvrig_set_up, pvrig_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(a_doorbell_is_the_cause_of_the_fetch),
        WITH_RIG(each_doorbell_says_its_meaning),
        WITH_RIG(a_command_follows_from_the_write_of_request),
        cmocka_unit_test(a_region_is_taken_or_refused_with_a_reason),
        WITH_RIG(a_notification_follows_the_completion_of_an_armed_cq),
        WITH_RIG(a_broken_ring_says_its_indices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
