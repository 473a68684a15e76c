/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/world_place.h"

#include <inttypes.h>

#include "emu/base/text.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/enum_table.h"
#include "rdmalab/inspect.h"
#include "rdmalab/machine.h"

const char *world_place_command(const struct world_place *p)
{
    if (p->vfs)
        return "machine";
    return p->on ? "guest" : "host";
}

void world_place_config(const struct world_place *p, struct rdl_host_config *c,
                        char machine[RDL_NAME_BYTES], char words[PLACE_BYTES])
{
    struct text t = text_on(words, PLACE_BYTES);

    if (p->vfs) {
        c->vfs = p->vfs;
        c->pool = p->pool;
        text_addf(&t, " vfs=%u", p->vfs);
        if (p->pool)
            text_addf(&t, " pool=%u", p->pool);
    } else if (p->on) {
        snprintf(machine, RDL_NAME_BYTES, "h%u", p->on);
        c->on = machine;
        c->vrnic = p->has_vrnic;
        c->shared = p->is_shared;
        c->vf = p->has_vrnic || p->is_shared ? 0 : p->vf;
        text_addf(&t, " on %s", machine);
        if (p->has_vrnic)
            text_add(&t, " vrnic");
        else if (p->is_shared)
            text_add(&t, " shared");
        else
            text_addf(&t, " vf=%u", p->vf);
    }
}

void world_set_functions(struct world_run *r, unsigned h)
{
    const struct world_place *p = &r->w->host[h].place;

    for (uint32_t i = 0; i < p->vfs && !r->wrong; i++) {
        const struct world_vf *f = &p->set[i];
        const struct rdl_vf_settings to = {.state = f->is_always_up ? VF_enable : VF_auto,
                                           .max_tx_bps = f->max_tx_bps,
                                           .min_tx_bps = f->min_tx_bps,
                                           .spoofchk = f->spoofchk,
                                           .trust = f->trust};

        world_say(r,
                  "vf set h%u %u max_tx_rate=%" PRIu64 " min_tx_rate=%" PRIu64
                  " spoofchk=%s trust=%s state=%s",
                  h + 1, i, f->max_tx_bps / RDL_VF_RATE_UNIT, f->min_tx_bps / RDL_VF_RATE_UNIT,
                  f->spoofchk ? "on" : "off", f->trust ? "on" : "off",
                  enum_name(&enum_vf_state, to.state));
        world_works(r, rdl_vf_set(r->lab, r->host[h].host, i, &to), "a function can be set");
    }
}

void world_learn_function(struct world_run *r, unsigned h)
{
    const struct world_place *p = &r->w->host[h].place;
    struct rdl_value v = {.number = p->vf};
    char path[64];
    size_t at;

    if (!p->on || p->is_shared)
        return;
    snprintf(path, sizeof(path), "h%u.vrnic.vf", h + 1);
    if (p->has_vrnic)
        world_works(r, rdl_inspect(r->lab, path, &v, &at), "a virtual RNIC has a function");
    if (world_expect(r, v.number < r->w->host[p->on - 1].place.vfs, WORLD_NONE,
                     "a guest has a function of its machine"))
        r->host[h].max_tx_bps = r->w->host[p->on - 1].place.set[v.number].max_tx_bps;
}
