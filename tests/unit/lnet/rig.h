/* SPDX-License-Identifier: MIT */
/* Nodes of the loopback that run the test of bulk transfers. */
#ifndef UNIT_LNET_RIG_H
#define UNIT_LNET_RIG_H

#include "lnet/selftest.h"
#include "loopback.h"

#define SECOND UINT64_C(1000000000)

struct rig {
    struct loop *l;
    struct loop_node *n[LOOP_NODES];
    struct selftest *st[LOOP_NODES];
};

struct rig rig_new(uint64_t seed);
/* Adds a node that is up, and serves. */
struct loop_node *rig_add(struct rig *r, const struct lnd_config *c,
                          const struct selftest_server_config *server);
/* Lets time go on, also that of RPCs. */
void rig_run_for(struct rig *r, uint64_t ns);
/* Returns true if no client is at work. */
bool rig_is_done(const struct rig *r);
/* Begins RPCs of node @from with node @to, both counted from 0. */
void rig_begin(struct rig *r, uint32_t from, uint32_t to, enum selftest_op op, uint32_t size,
               uint32_t count);
/* Does @rounds rounds of @one, whose seeds count from 1, or those of the variable LNET_SEED: 17
 * or 1..500. */
void rig_rounds(unsigned rounds, void (*one)(uint64_t seed));
/* Stops all nodes, and frees everything. */
void rig_free(struct rig *r);

#endif
