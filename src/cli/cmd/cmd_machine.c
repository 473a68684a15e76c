/* SPDX-License-Identifier: MIT */
/* The commands vf, centre and move: rules for virtual functions and virtual RNICs, and a new place.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/wire/addr.h"
#include "rdmalab/layer.h"
#include "rdmalab/machine.h"
#include "rdmalab/pci.h"
#include "tree/tree.h"

/* Parameters that `vf set` changes. */
static const char *const settings[] = {"mac",         "vlan",     "qos",   "max_tx_rate",
                                       "min_tx_rate", "spoofchk", "trust", "state"};

/* Returns the first setting that @st gives; NULL: it gives none. */
static const char *first_setting(const struct step *st)
{
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        if (step_has(st, settings[i]))
            return settings[i];
    }
    return NULL;
}

/* Fails because the machine in @st has no such virtual function. */
static bool no_function(struct session *s, const struct step *st)
{
    session_fail(s, step_span(st, "vf", 0), "%s has no virtual function %s",
                 step_text(st, "machine"), step_text(st, "vf"));
    return diag_remedy(&s->diag, "\"show %s.vfs\" lists those that it has",
                       step_text(st, "machine"));
}

/* Returns true if a virtual function of @machine has a guest.  @ret_enabled is true if one exists.
 */
static bool has_guests(const struct session *s, const char *machine, bool *ret_enabled)
{
    char vf[TREE_PATH_BYTES];
    struct rdl_value guest;
    bool any = false;

    *ret_enabled = false;
    for (uint64_t i = 0; tree_element(s->lab, machine, CHILD_host_vfs, i, vf); i++) {
        *ret_enabled = *ret_enabled || tree_number(s->lab, vf, LEAF_vf_enabled) != 0;
        any = any || (tree_leaf(s->lab, vf, LEAF_vf_guest, &guest) && guest.text[0] != '\0');
    }
    return any;
}

/* Names the way out after `vf enable @name @n` has failed with RDL_ERR_BUSY. */
static bool remedy_busy(struct session *s, const char *name, uint32_t n)
{
    bool is_enabled;

    if (has_guests(s, name, &is_enabled))
        return diag_remedy(&s->diag,
                           "its guests keep their functions: \"back\" to before the first one, or "
                           "add another machine with numvfs=%u",
                           n);
    if (is_enabled && n > 0)
        return diag_remedy(&s->diag, "first vf enable %s 0, then run: that takes a second", name);
    return diag_remedy(&s->diag,
                       "the last change is not complete: run, which takes up to a second");
}

/* Changes in @set what @st says. */
static void read_settings(const struct step *st, struct rdl_vf_settings *set)
{
    if (step_has(st, "mac"))
        (void)mac_parse(step_text(st, "mac"), set->mac); /* checked by the parser */
    set->vlan = (uint32_t)step_number_or(st, "vlan", set->vlan);
    set->qos = set->vlan ? (uint32_t)step_number_or(st, "qos", set->qos) : 0;
    set->max_tx_bps =
        step_number_or(st, "max_tx_rate", set->max_tx_bps / RDL_VF_RATE_UNIT) * RDL_VF_RATE_UNIT;
    set->min_tx_bps =
        step_number_or(st, "min_tx_rate", set->min_tx_bps / RDL_VF_RATE_UNIT) * RDL_VF_RATE_UNIT;
    set->spoofchk = step_number_or(st, "spoofchk", set->spoofchk) != 0;
    set->trust = step_number_or(st, "trust", set->trust) != 0;
    set->state = (uint32_t)step_number_or(st, "state", set->state);
}

/* The functions that the adapter of @machine can have. */
static uint32_t total_vfs(const struct session *s, const char *machine)
{
    char vf[TREE_PATH_BYTES];
    uint32_t n = 0;

    while (tree_element(s->lab, machine, CHILD_host_vfs, n, vf))
        n++;
    return n;
}

/* Fails because rdl_vfs_set() returned @status for @n functions. */
static bool not_enabled(struct session *s, const struct step *st, uint32_t n,
                        enum rdl_status status)
{
    const char *name = step_text(st, "machine");
    const uint32_t total = total_vfs(s, name);

    if (n > total) {
        session_fail(s, step_span(st, "numvfs", 0),
                     "the adapter of %s has %u virtual function%s "
                     "(ERANGE)",
                     name, total, plural_s(total));
        diag_reason(&s->diag, RDL_ERR_LIMIT);
        return diag_remedy(&s->diag, "machine m9 vfs=%u adds one that has so many", n);
    }
    session_fail(s, step_span(st, "numvfs", 0), "%s cannot enable %u virtual function%s%s", name, n,
                 plural_s(n), status == RDL_ERR_BUSY ? " now (EBUSY)" : "");
    diag_reason(&s->diag, (uint32_t)status);
    if (status == RDL_ERR_BUSY)
        return remedy_busy(s, name, n);
    return diag_remedy(&s->diag,
                       "its device and its driver need feature SR_IOV: add a machine without "
                       "features_off=sr_iov");
}

/* Enables functions. */
static bool enable(struct session *s, const struct step *st, rdl_host machine)
{
    const uint32_t n = (uint32_t)step_number(st, "numvfs");
    const char *setting = first_setting(st);
    enum rdl_status status;

    if (setting) {
        session_fail(s, step_span(st, setting, 0), "vf enable takes no %s", setting);
        return diag_remedy(&s->diag, "vf set %s 0 %s=%s", step_text(st, "machine"), setting,
                           step_text(st, setting));
    }
    status = rdl_vfs_set(s->lab, machine, n);
    return status == RDL_OK || not_enabled(s, st, n, status);
}

/* Checks the settings @set, which @st has changed. */
static bool settings_are_sound(struct session *s, const struct step *st,
                               const struct rdl_vf_settings *set)
{
    if (set->max_tx_bps > 0 && set->min_tx_bps > set->max_tx_bps) {
        session_fail(s, st->at, "min_tx_rate would be above max_tx_rate");
        return diag_remedy(&s->diag, "max_tx_rate=0 sets no limit");
    }
    return verb_priority_fits(s, st, set->vlan);
}

/* Fails because the cable does not carry the guarantees of all functions. */
static bool too_many_guarantees(struct session *s, const struct step *st)
{
    const char *machine = step_text(st, "machine");
    char eswitch[TREE_PATH_BYTES], vf[TREE_PATH_BYTES], buf[RDL_VALUE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_value link = {.text = ""};
    uint64_t others = 0;

    for (uint64_t i = 0; tree_element(s->lab, machine, CHILD_host_vfs, i, vf); i++)
        others += i == step_number(st, "vf") ? 0 : tree_number(s->lab, vf, LEAF_vf_min_tx_rate);
    if (tree_child(s->lab, machine, CHILD_host_eswitch, eswitch))
        (void)tree_leaf(s->lab, eswitch, LEAF_eswitch_link, &link);
    quantity_add(&t, QUANTITY_RATE, tree_number(s->lab, link.text, LEAF_link_rate));
    session_fail(s, step_span(st, "min_tx_rate", 0),
                 "the cable %s has %s, and the guarantees of other functions are %" PRIu64
                 " Mbit/s",
                 link.text, buf, others / RDL_VF_RATE_UNIT);
    diag_reason(&s->diag, (uint32_t)RDL_ERR_LIMIT);
    return diag_remedy(&s->diag, "all guarantees together must fit: \"show %s.vfs\" lists them",
                       machine);
}

/* A MAC that `vf set` has given to function @vf of @machine. */
struct given_mac {
    struct session *s;
    const char *machine;
    uint64_t vf;
    const char *mac;
};

/* Says that the host @name has @g too, or has the function and another MAC. */
static void say_host_mac(void *ctx, const char *name, const struct rdl_value *v)
{
    const struct given_mac *g = ctx;
    const struct rdl_lab *lab = g->s->lab;
    char port[TREE_PATH_BYTES];
    struct rdl_value mac, on, vf;
    bool is_here, is_same;

    if (!tree_value_is(v, NODE_host) || !tree_leaf(lab, name, LEAF_host_mac, &mac) ||
        !tree_child(lab, name, CHILD_host_port, port))
        return;
    is_here = tree_leaf(lab, port, LEAF_port_machine, &on) &&
              tree_leaf(lab, port, LEAF_port_vf, &vf) && strcmp(on.text, g->machine) == 0 &&
              vf.number == g->vf;
    is_same = strcmp(mac.text, g->mac) == 0;
    if (is_here && !is_same)
        session_say(g->s, "%s has function %" PRIu64 ", and still sends with %s\n", name, g->vf,
                    mac.text);
    else if (!is_here && is_same)
        session_say(g->s, "%s has the MAC %s, too\n", name, g->mac);
}

/* Says who has the new MAC of a function already, and who does not use it. */
static void say_mac(struct session *s, const struct step *st, const uint8_t mac[MAC_BYTES])
{
    char buf[MAC_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));
    struct given_mac g = {s, step_text(st, "machine"), step_number(st, "vf"), buf};
    size_t at;
    enum rdl_status status;

    if (!step_has(st, "mac"))
        return;
    mac_add(&t, mac);
    status = rdl_inspect_list(s->lab, "", say_host_mac, &g, &at);
    RDL_ASSERT(status == RDL_OK);
}

/* Changes the settings of a function. */
static bool change(struct session *s, const struct step *st, rdl_host machine)
{
    const uint32_t vf = (uint32_t)step_number(st, "vf");
    struct rdl_vf_settings to;
    enum rdl_status status;

    if (rdl_vf_get(s->lab, machine, vf, &to) != RDL_OK)
        return no_function(s, st);
    if (!first_setting(st)) {
        session_fail(s, st->at, "vf set without a setting changes nothing");
        return diag_remedy(&s->diag,
                           "vf set %s %u max_tx_rate=1000; \"help vf\" lists all settings",
                           step_text(st, "machine"), vf);
    }
    read_settings(st, &to);
    if (!settings_are_sound(s, st, &to))
        return false;
    status = rdl_vf_set(s->lab, machine, vf, &to);
    if (status == RDL_ERR_LIMIT)
        return too_many_guarantees(s, st);
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "mac", 0), "%s is the address of a group",
                     step_text(st, "mac"));
        return diag_remedy(&s->diag,
                           "the lowest bit of the first byte is 0, as in 02:00:00:00:00:01");
    }
    if (status != RDL_OK)
        return session_fail_status(s, st->at, "vf", status);
    say_mac(s, st, to.mac);
    return true;
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

/* Returns true if the virtual RNIC of @guest, if it has one, is on @machine. */
static bool is_on(const struct session *s, const char *guest, const char *machine)
{
    char vrnic[TREE_PATH_BYTES];
    struct rdl_value on;

    return tree_child(s->lab, guest, CHILD_host_vrnic, vrnic) &&
           tree_leaf(s->lab, vrnic, LEAF_vrnic_machine, &on) && strcmp(on.text, machine) == 0;
}

bool run_move(struct session *s, const struct step *st)
{
    const char *guest = step_text(st, "guest"), *to = step_text(st, "to");
    const struct scope in = session_scope(s);
    rdl_host g, m;

    if (!resolve_host(&in, st, "guest", &g, &s->diag) ||
        !resolve_machine(&in, st, "to", &m, &s->diag))
        return false;
    if (is_on(s, guest, to)) {
        session_fail(s, step_span(st, "to", 0), "%s is on %s already", guest, to);
        return diag_remedy(&s->diag, "\"show hosts\" lists the machines");
    }
    switch (rdl_vrnic_move(s->lab, g, m)) {
    case RDL_OK:
        session_made(s, guest, "virtual RNIC now on %s", to);
        return true;
    case RDL_ERR_INVAL:
        session_fail(s, step_span(st, "guest", 0), "%s has no virtual RNIC", guest);
        return diag_remedy(&s->diag, "guest g1 on m1 vrnic adds one; only these move");
    default:
        session_fail(s, step_span(st, "guest", 0),
                     "%s has objects: their queues and numbers belong to its function", guest);
        return diag_remedy(&s->diag, "destroy them first; \"show %s.vrnic.objects\" counts them",
                           guest);
    }
}

bool run_vf(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    rdl_host machine;

    if (!resolve_machine(&in, st, "machine", &machine, &s->diag))
        return false;
    return step_number(st, "what") == VF_ACTION_enable ? enable(s, st, machine)
                                                       : change(s, st, machine);
}
