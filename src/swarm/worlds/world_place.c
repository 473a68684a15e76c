/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/world_place.h"

#include <inttypes.h>

#include "emu/base/text.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/enum_table.h"
#include "rdmalab/inspect.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"

const char *world_place_command(const struct world_place *p)
{
    if (p->vfs)
        return "machine";
    return p->on ? "guest" : "host";
}

/* Reduced worlds may lack what was drawn: has_partner() returns true if the virtual RNIC with which
 * @p shares is still there, is_moved() if the machine is from which @p moves.
 */
static bool has_partner(const struct world *w, const struct world_place *p)
{
    const struct world_host *other = &w->host[p->with - 1];

    return !other->is_absent && other->place.has_vrnic && other->place.on == p->on;
}

static bool is_moved(const struct world *w, const struct world_place *p)
{
    return p->has_vrnic && p->from && !w->host[p->from - 1].is_absent &&
           w->host[p->from - 1].place.vfs > 0;
}

static void vrnic_config(const struct world *w, const struct world_place *p,
                         struct rdl_host_config *c, struct place_text *text, struct text *words)
{
    c->vrnic = true;
    c->vrnic_vfs = p->functions;
    text_add(words, " vrnic");
    if (p->functions > 1)
        text_addf(words, " vfs=%u", p->functions);
    c->group = p->group;
    if (p->group > 1)
        text_addf(words, " group=%u", p->group);
    if (!p->with || !has_partner(w, p))
        return;
    snprintf(text->with, RDL_NAME_BYTES, "h%u", p->with);
    c->vrnic_with = text->with;
    text_addf(words, " with=%s", text->with);
}

void world_place_config(const struct world *w, unsigned h, struct rdl_host_config *c,
                        struct place_text *text)
{
    const struct world_place *p = &w->host[h].place;
    struct text t = text_on(text->words, PLACE_BYTES);

    if (p->vfs) {
        c->vfs = p->vfs;
        c->pool = p->pool;
        c->when_full = p->when_full;
        text_addf(&t, " vfs=%u when_full=%s", p->vfs, enum_name(&enum_pool_full, p->when_full));
        if (p->pool)
            text_addf(&t, " pool=%u", p->pool);
        c->shortcut = p->shortcut;
        if (p->shortcut)
            text_add(&t, " shortcut=on");
    } else if (p->on) {
        snprintf(text->machine, RDL_NAME_BYTES, "h%u", is_moved(w, p) ? p->from : p->on);
        c->on = text->machine;
        c->shared = p->is_shared;
        c->vf = p->has_vrnic || p->is_shared ? 0 : p->vf;
        text_addf(&t, " on %s", text->machine);
        if (p->has_vrnic)
            vrnic_config(w, p, c, text, &t);
        else if (p->is_shared)
            text_add(&t, " shared");
        else
            text_addf(&t, " vf=%u", p->vf);
        c->router = p->has_router;
        if (p->has_router)
            text_add(&t, " router");
    }
}

void world_move_guest(struct world_run *r, unsigned h)
{
    const struct world_place *p = &r->w->host[h].place;

    if (!p->on || !is_moved(r->w, p))
        return;
    world_say(r, "move h%u h%u", h + 1, p->on);
    world_works(r, rdl_vrnic_move(r->lab, r->host[h].host, r->host[p->on - 1].host),
                "a virtual RNIC without objects can move");
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

static void set_rule(struct world_run *r, uint32_t a, uint32_t b, bool allow)
{
    world_say(r, "centre %s %u %u", allow ? "allow" : "forbid", a, b);
    world_works(r, rdl_centre_rule(r->lab, a, b, allow), "a rule can be made and taken back");
}

/* The group of the virtual RNIC of host @h; 0: it has none. */
static uint32_t group_of(const struct world *w, unsigned h)
{
    const struct world_place *p = &w->host[h].place;

    return !w->host[h].is_absent && p->on && p->has_vrnic ? p->group : 0;
}

static bool has_group(const struct world *w, uint32_t group)
{
    unsigned h = 0;

    while (h < w->n_hosts && group_of(w, h) != group)
        h++;
    return h < w->n_hosts;
}

void world_allow_groups(struct world_run *r)
{
    for (uint32_t a = 1; a <= WORLD_GROUPS; a++) {
        for (uint32_t b = a + 1; b <= WORLD_GROUPS && !r->wrong; b++) {
            if (has_group(r->w, a) && has_group(r->w, b))
                set_rule(r, a, b, true);
        }
    }
}

/* Returns true if the connection of @end is between the groups @a and @b. */
static bool is_between(const struct world *w, uint16_t end, uint32_t a, uint32_t b)
{
    uint32_t own, other;

    if (end >= 2 * w->n_conns || w->end[end].is_absent)
        return false;
    own = group_of(w, w->end[end].host);
    other = group_of(w, w->end[w->end[end].peer].host);
    return (own == a && other == b) || (own == b && other == a);
}

/* Checks that the device has moved the queue pair of @end to ERR. */
static void check_cut(struct world_run *r, uint16_t end)
{
    struct rdl_value state;
    char path[64];
    size_t at;

    snprintf(path, sizeof(path), "h%u.q%u.state", r->w->end[end].host + 1u, end);
    if (world_works(r, rdl_inspect(r->lab, path, &state, &at), "a queue pair has a state"))
        world_expect_end(r, state.number == QPS_ERR, end,
                         "a queue pair ends with the rule that allowed its connection");
}

void world_change_rule(struct world_run *r, uint32_t a, uint32_t b)
{
    if (!has_group(r->w, a) || !has_group(r->w, b))
        return;
    for (uint16_t i = 0; i < r->w->n_ends; i++) {
        if (is_between(r->w, i, a, b))
            world_life(r, i)->was_failed = true;
    }
    set_rule(r, a, b, false);
    for (uint16_t i = 0; i < r->w->n_ends && !r->wrong; i++) {
        if (is_between(r->w, i, a, b))
            check_cut(r, i);
    }
    set_rule(r, a, b, true);
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
