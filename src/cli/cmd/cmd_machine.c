/* SPDX-License-Identifier: MIT */
/* The commands vf and centre: rules for virtual functions, and for virtual RNICs. */
#include "cli/cmd/commands.h"
#include "cli/session/resolve.h"
#include "emu/wire/addr.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"
#include "rdmalab/pci.h"

#define MBIT UINT64_C(1000000)

/* Fails because the machine in @st has no such virtual function. */
static bool no_function(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "machine");

    session_fail(s, step_span(st, "vf", 0), "%s has no virtual function %s", name,
                 step_text(st, "vf"));
    return diag_remedy(&s->diag,
                       "machine m1 vfs=4 has the functions 0 to 3; \"show %s.vfs\" lists "
                       "those that there are",
                       name);
}

/* Changes in @set what @st says. */
static void read_settings(const struct step *st, struct rdl_vf_settings *set)
{
    if (step_has(st, "mac"))
        (void)mac_parse(step_text(st, "mac"), set->mac); /* checked by the parser */
    set->vlan = (uint32_t)step_number_or(st, "vlan", set->vlan);
    set->qos = set->vlan ? (uint32_t)step_number_or(st, "qos", set->qos) : 0;
    set->max_tx_bps = step_number_or(st, "max_tx_rate", set->max_tx_bps / MBIT) * MBIT;
    set->min_tx_bps = step_number_or(st, "min_tx_rate", set->min_tx_bps / MBIT) * MBIT;
    set->spoofchk = step_number_or(st, "spoofchk", set->spoofchk) != 0;
    set->trust = step_number_or(st, "trust", set->trust) != 0;
    set->state = (uint32_t)step_number_or(st, "state", set->state);
}

/* Enables functions. */
static bool enable(struct session *s, const struct step *st, rdl_host machine)
{
    const uint32_t n = (uint32_t)step_number(st, "numvfs");
    const char *name = step_text(st, "machine");
    const enum rdl_status status = rdl_vfs_set(s->lab, machine, n);

    if (status == RDL_OK)
        return true;
    session_fail(s, step_span(st, "numvfs", 0), "%s cannot enable %u virtual functions%s", name, n,
                 status == RDL_ERR_BUSY    ? " now (EBUSY)"
                 : status == RDL_ERR_LIMIT ? " (ERANGE)"
                                           : "");
    diag_reason(&s->diag, (uint32_t)status);
    if (status == RDL_ERR_BUSY)
        return diag_remedy(&s->diag,
                           "guests must be gone, and other functions: vf enable %s 0; a "
                           "change takes up to a second",
                           name);
    if (status == RDL_ERR_LIMIT)
        return diag_remedy(&s->diag, "\"show %s.vfs\" lists those that it can have", name);
    return diag_remedy(&s->diag, "a machine is added by machine m1 vfs=4");
}

bool run_vf(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    struct rdl_vf_settings set;
    enum rdl_status status;
    rdl_host machine;
    uint32_t vf;

    if (!resolve_host(&in, st, "machine", &machine, &s->diag))
        return false;
    if (step_number(st, "what") == VF_ACTION_enable)
        return enable(s, st, machine);
    vf = (uint32_t)step_number(st, "vf");
    if (rdl_vf_get(s->lab, machine, vf, &set) != RDL_OK)
        return no_function(s, st);
    read_settings(st, &set);
    if (set.max_tx_bps > 0 && set.min_tx_bps > set.max_tx_bps) {
        session_fail(s, st->at, "min_tx_rate would be above max_tx_rate");
        return diag_remedy(&s->diag, "max_tx_rate=0 sets no limit");
    }
    if (step_has(st, "qos") && set.vlan == 0) {
        session_fail(s, step_span(st, "qos", 0), "frames without a tag have no priority");
        return diag_remedy(&s->diag, "vlan=5 qos=3");
    }
    status = rdl_vf_set(s->lab, machine, vf, &set);
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "mac", 0), "%s is the address of a group",
                     step_text(st, "mac"));
        return diag_remedy(&s->diag,
                           "the lowest bit of the first byte is 0, as in 02:00:00:00:00:01");
    }
    return status == RDL_OK || session_fail_status(s, st->at, "vf", status);
}

bool run_centre(struct session *s, const struct step *st)
{
    const uint32_t a = (uint32_t)step_number(st, "a"), b = (uint32_t)step_number(st, "b");
    const bool allow = step_number(st, "what") == CENTRE_allow;
    const enum rdl_status status = rdl_centre_rule(s->lab, a, b, allow);

    if (status == RDL_OK)
        return true;
    session_fail(s, step_span(st, "b", 0), "guests of one group may always connect");
    return diag_remedy(&s->diag, "name two groups: centre %s 1 2", step_text(st, "what"));
}
