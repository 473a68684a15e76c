/* SPDX-License-Identifier: MIT */
/* An embedded switch on a network of wires.h, for tests of its ports. */
#ifndef TESTS_UNIT_RNIC_SWITCH_RIG_H
#define TESTS_UNIT_RNIC_SWITCH_RIG_H

#include "emu/rnic/eswitch.h"
#include "emu/rnic/eth_port.h"
#include "net/wires.h"

struct switch_rig {
    struct fixture *wires;
    struct progress progress;
    struct eswitch sw;
};

static inline void switch_rig_egress(void *ctx, struct sim_item item)
{
    (void)item;
    eswitch_egress(&((struct switch_rig *)ctx)->sw);
}

static inline void switch_rig_arrive(void *ctx, struct sim_item item)
{
    net_arrive(&((struct switch_rig *)ctx)->wires->net, item);
}

/* Initializes a switch with @n_ports ports, which nobody uses, and a line.  @pass is called with
 * @r.
 */
static inline void switch_rig_init(struct switch_rig *r, uint32_t n_ports,
                                   void (*pass)(void *world, struct eth_port *p,
                                                const struct frame *f))
{
    static sim_handler *const switch_handlers[SIM_KIND_COUNT] = {
        [SIM_ARRIVE] = switch_rig_arrive, [SIM_EGRESS] = switch_rig_egress};
    void *wires;

    (void)set_up(&wires);
    r->wires = wires;
    assert_true(sim_init(&r->wires->sim, r->wires->arena, &r->wires->trace, switch_handlers, r));
    assert_true(eswitch_init(&r->sw, r->wires->arena, &r->wires->net, 0, n_ports, pass, r));
    r->sw.link_end = join(r->wires, NET_HOST, 1, 0, 0);
}

/* Checks the invariants of all ports that somebody uses, and frees what switch_rig_init() made. */
static inline void switch_rig_done(struct switch_rig *r)
{
    void *wires = r->wires;

    for (uint32_t i = 0; i < r->sw.n_ports; i++) {
        if (r->sw.ports[i].port)
            assert_null(eswitch_invariant(&r->sw, i));
    }
    (void)tear_down(&wires);
}

#endif
