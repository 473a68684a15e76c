/* SPDX-License-Identifier: MIT */
/* The pool: functions of a machine that its virtual RNICs share. */
#include <string.h>

#include "emu/lab/layer.h"
#include "emu/lab/machine.h"
#include "emu/rnic/eswitch.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/lab.h"

_Static_assert(RDL_HOSTS_MAX < 56u << 8, "10.200.0.0 to 10.255.255.255 have room for each machine");

/* They are 10.200.M.V and fd00::M:V for function V - 1 of host M, or 10.201.M.V and so on for
 * machines with a number M above 255.
 */
void pool_addresses(const struct host *m, uint32_t vf, uint8_t ret[GUEST_GIDS][GID_BYTES])
{
    const uint8_t high = (uint8_t)((m->index + 1) >> 8), low = (uint8_t)(m->index + 1),
                  function = (uint8_t)(vf + 1);

    gid_from_ipv4(ret[0], (uint8_t[]){10, 200 + high, low, function});
    memset(ret[1], 0, GID_BYTES);
    ret[1][0] = 0xfd;
    ret[1][GID_BYTES - 4] = high;
    ret[1][GID_BYTES - 3] = low;
    ret[1][GID_BYTES - 1] = function;
}

uint32_t wire_place_in(const uint8_t *gids, const uint8_t gid[GID_BYTES])
{
    uint32_t i = 0;

    while (i < GUEST_GIDS && memcmp(gids + (size_t)i * GID_BYTES, gid, GID_BYTES) != 0)
        i++;
    return i;
}

/* Returns true if VF @vf of @m has no guest, and no host was given one of its addresses. */
static bool is_free(const struct lab_state *w, const struct host *m, uint32_t vf)
{
    uint8_t wire[GUEST_GIDS][GID_BYTES];
    bool is_given = false;

    pool_addresses(m, vf, wire);
    for (uint32_t i = 0; i < GUEST_GIDS; i++) {
        const uint32_t host = lab_peer_of(w, wire[i]);

        is_given =
            is_given || (host != EV_HOST_NONE &&
                         wire_place_in(w->hosts[host]->guest.config.gid[0], wire[i]) < GUEST_GIDS);
    }
    return !is_given && !m->port.sw->ports[eswitch_port_of_vf(vf)].port;
}

bool pool_find(struct lab_state *w, struct host *m, uint32_t *ret)
{
    struct vf_pool *p = &m->pool;
    const uint32_t most = machine_enabled_vfs(m);

    for (uint32_t vf = 0; vf < most; vf++) {
        if (!is_free(w, m, vf))
            continue;
        if (vf >= p->size) {
            p->size = vf + 1;
            TRACE(&w->trace, pool_grown, .host = m->index, .vfs = p->size);
        }
        *ret = vf;
        return true;
    }
    return false;
}
