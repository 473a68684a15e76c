/* SPDX-License-Identifier: MIT */
/* Commands that build the lab: switch, link, set; also what a session tells and keeps. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/link.h"
#include "cli/cmd/verb.h"
#include "cli/session/position.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* Returns true if @name is that of a future.  Then s->diag says so: other programs call `switch`
 * what is `future` here.
 */
static bool is_future(struct session *s, const struct value *name)
{
    if (!session_has_future(s, name->text))
        return false;
    session_fail(s, name->at, "\"%s\" is a future, and this makes an Ethernet switch", name->text);
    diag_remedy(&s->diag, "\"future %s\" goes there", name->text);
    return true;
}

bool run_switch(struct session *s, const struct step *st)
{
    const struct arg *names = step_arg(st, "names");

    for (size_t i = 0; i < names->n; i++) {
        enum rdl_status status;
        rdl_switch made;

        if (is_future(s, &names->v[i]))
            return false;
        status = rdl_switch_add(s->lab, names->v[i].text, &made);
        if (status != RDL_OK)
            return limit_fail(s, names->v[i].at, LIMIT_SWITCHES, names->v[i].text, status);
    }
    return true;
}

#define PPM_ALL               1000000u
#define BURST_FRAMES_STANDARD 4u

/* Reads the properties of a new link beyond those of every cable. */
static bool read_new_way(struct session *s, const struct step *st, struct rdl_way_config *ret)
{
    const uint32_t burst = (uint32_t)step_number(st, "burst");

    if (!burst && (step_has(st, "burst_frames") || step_has(st, "burst_loss"))) {
        session_fail(s, st->at, "this link would have no bursts");
        return diag_remedy(&s->diag, "burst= is the chance that one begins, like burst=1%%");
    }
    *ret = (struct rdl_way_config){
        .latency_ns = step_number(st, "latency"),
        .rate_bps = step_number(st, "rate"),
        .loss_ppm = (uint32_t)step_number(st, "loss"),
        .jitter_ns = step_number(st, "jitter"),
        .burst_ppm = burst,
        .burst_frames =
            burst ? (uint32_t)step_number_or(st, "burst_frames", BURST_FRAMES_STANDARD) : 0,
        .burst_loss_ppm = burst ? (uint32_t)step_number_or(st, "burst_loss", PPM_ALL) : 0,
    };
    return true;
}

/* Sets both directions of the new link. */
static bool set_new_ways(struct session *s, const struct step *st, rdl_link link,
                         const struct rdl_way_config *way)
{
    enum rdl_status status = RDL_OK;

    if (!way->jitter_ns && !way->burst_ppm)
        return true;
    for (uint32_t end = 0; end < 2 && status == RDL_OK; end++)
        status = rdl_link_set_way(s->lab, link, end, way);
    return status == RDL_OK || session_fail_status(s, st->at, step_text(st, "a"), status);
}

/* Fails if parameter @param of @st is a guest. */
static bool has_cable(struct session *s, const struct step *st, const char *param)
{
    const char *name = step_text(st, param);
    char port[TREE_PATH_BYTES];
    struct rdl_value machine, vf;

    if (!tree_is(s->lab, name, NODE_host) || !tree_child(s->lab, name, CHILD_host_port, port) ||
        !tree_leaf(s->lab, port, LEAF_port_machine, &machine))
        return true;
    session_fail(s, step_span(st, param, 0),
                 tree_leaf(s->lab, port, LEAF_port_vf, &vf)
                     ? "the guest %s has no cable: its port is a virtual function of %s"
                     : "the guest %s has no cable: its port is that of %s",
                 name, machine.text);
    return diag_remedy(&s->diag, "link its machine %s", machine.text);
}

/* Returns true if the host @name is a guest only because the session makes guests of hosts: it is
 * joined to the others already.
 */
static bool is_guest_of_session(const struct session *s, const char *name)
{
    char port[TREE_PATH_BYTES];
    struct rdl_value machine;

    return tree_is(s->lab, name, NODE_host) && tree_child(s->lab, name, CHILD_host_port, port) &&
           tree_leaf(s->lab, port, LEAF_port_machine, &machine) &&
           strcmp(machine.text, SESSION_MACHINE) == 0;
}

bool run_link(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const struct rdl_link_config config = {
        .a = step_text(st, "a"),
        .b = step_text(st, "b"),
        .latency_ns = step_number(st, "latency"),
        .rate_bps = step_number(st, "rate"),
        .loss_ppm = (uint32_t)step_number(st, "loss"),
    };
    struct rdl_way_config way = {0};
    struct rdl_value v;
    rdl_link made;
    size_t at;
    enum rdl_status status;

    if (!read_new_way(s, st, &way))
        return false;
    if (rdl_inspect(s->lab, config.a, &v, &at) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "a", 0), config.a, "no host or switch", &s->diag);
    if (rdl_inspect(s->lab, config.b, &v, &at) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "b", 0), config.b, "no host or switch", &s->diag);
    if (strcmp(config.a, config.b) == 0) {
        session_fail(s, step_span(st, "b", 0), "a link has two different ends");
        return diag_remedy(&s->diag, "a host reaches itself without one");
    }
    if (s->config.devices.guests &&
        (is_guest_of_session(s, config.a) || is_guest_of_session(s, config.b)))
        return true;
    if (!has_cable(s, st, "a") || !has_cable(s, st, "b"))
        return false;
    status = rdl_link_add(s->lab, &config, &made);
    if (status == RDL_ERR_BUSY) {
        session_fail(s, st->at, "a host has one port, and one of these is linked already");
        return diag_remedy(&s->diag, "put a switch between: switch s1; link %s s1", config.a);
    }
    if (status == RDL_ERR_EXISTS) {
        session_fail(s, st->at, "the link would be called %s-%s, and something else is", config.a,
                     config.b);
        return diag_remedy(&s->diag, "\"link %s %s\" makes one with another name", config.b,
                           config.a);
    }
    if (status != RDL_OK)
        return limit_fail_link(s, st, config.a, config.b, status);
    return set_new_ways(s, st, made, &way);
}

bool link_named(struct session *s, const struct step *st, rdl_link *ret)
{
    const char *text = step_text(st, "link");
    char a[2 * RDL_NAME_BYTES];

    for (const char *dash = strchr(text, '-'); dash; dash = strchr(dash + 1, '-')) {
        struct text t = text_on(a, sizeof(a));

        text_addn(&t, text, (size_t)(dash - text));
        if (rdl_link_find(s->lab, a, dash + 1, ret) == RDL_OK)
            return true;
    }
    session_fail(s, step_span(st, "link", 0), "no link is called \"%s\"", text);
    return diag_remedy(&s->diag, "\"show links\" lists them");
}

/* Returns the present value of a property of @node. */
static uint64_t now(struct session *s, const char *node, enum leaf_id leaf)
{
    return tree_number(s->lab, node, leaf);
}

/* Returns true if a key is given that is about a direction of a link. */
static bool is_about_ways(const struct step *st)
{
    static const char *const keys[] = {"from", "jitter", "burst", "burst_frames", "burst_loss"};
    bool given = false;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        given = given || step_has(st, keys[i]);
    return given;
}

/* Returns true if each direction of the link called @name has its own properties. */
static bool ways_differ(struct session *s, const char *name)
{
    static const enum leaf_id leaves[] = {LEAF_way_latency, LEAF_way_rate, LEAF_way_loss_ppm};
    char there[TREE_PATH_BYTES], back[TREE_PATH_BYTES];
    bool differ = false;

    if (!tree_child(s->lab, name, CHILD_link_there, there) ||
        !tree_child(s->lab, name, CHILD_link_back, back))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(leaves); i++)
        differ = differ || now(s, there, leaves[i]) != now(s, back, leaves[i]);
    return differ;
}

/* Reads the properties of the direction @way of the tree, changed as @st says. */
static bool read_way(struct session *s, const struct step *st, const char *way,
                     struct rdl_way_config *ret)
{
    const uint64_t frames = now(s, way, LEAF_way_burst_frames);
    const uint64_t was = now(s, way, LEAF_way_burst_ppm);
    const uint64_t loss = was ? now(s, way, LEAF_way_burst_loss_ppm) : PPM_ALL;
    const uint64_t burst = step_number_or(st, "burst", was);

    if (!burst && (step_has(st, "burst_frames") || step_has(st, "burst_loss"))) {
        session_fail(s, st->at, "there are no bursts in this direction of the link: %s", way);
        return diag_remedy(&s->diag,
                           "burst= is the chance that one begins, like burst=1%%; from= names the "
                           "direction that has them");
    }
    *ret = (struct rdl_way_config){
        .latency_ns = step_number_or(st, "latency", now(s, way, LEAF_way_latency)),
        .rate_bps = step_number_or(st, "rate", now(s, way, LEAF_way_rate)),
        .jitter_ns = step_number_or(st, "jitter", now(s, way, LEAF_way_jitter)),
        .loss_ppm = (uint32_t)step_number_or(st, "loss", now(s, way, LEAF_way_loss_ppm)),
        .burst_ppm = (uint32_t)burst,
        .burst_frames = burst ? (uint32_t)step_number_or(st, "burst_frames",
                                                         was ? frames : BURST_FRAMES_STANDARD)
                              : 0,
        .burst_loss_ppm = burst ? (uint32_t)step_number_or(st, "burst_loss", loss) : 0,
    };
    return true;
}

/* Changes both directions, or the one from the node that from= names. */
static bool set_ways(struct session *s, const struct step *st, rdl_link link)
{
    static const enum child_id children[] = {CHILD_link_there, CHILD_link_back};
    static const enum leaf_id ends[] = {LEAF_link_a, LEAF_link_b};
    const char *from = step_text(st, "from");
    char name[RDL_VALUE_BYTES], way[TREE_PATH_BYTES];
    struct rdl_way_config config[2];
    bool chosen[2] = {false, false};

    rdl_path_of(s->lab, OBJ_LINK, link.raw, name);
    for (uint32_t end = 0; end < 2; end++) {
        struct rdl_value v;

        if (from && tree_leaf(s->lab, name, ends[end], &v) && strcmp(v.text, from) != 0)
            continue;
        chosen[end] = tree_child(s->lab, name, children[end], way);
        if (chosen[end] && !read_way(s, st, way, &config[end]))
            return false; /* of both nothing has changed */
    }
    for (uint32_t end = 0; end < 2; end++) {
        const enum rdl_status status =
            chosen[end] ? rdl_link_set_way(s->lab, link, end, &config[end]) : RDL_OK;

        if (status != RDL_OK)
            return session_fail_status(s, st->at, step_text(st, "link"), status);
    }
    if (chosen[0] || chosen[1])
        return true;
    session_fail(s, step_span(st, "from", 0), "%s is no end of %s", from, name);
    return diag_remedy(&s->diag, "from= is one of the two names in %s", name);
}

static bool set_link(struct session *s, const struct step *st)
{
    struct rdl_link_config config = {0};
    const bool up = step_has(st, "up"), down = step_has(st, "down");
    enum rdl_status status = RDL_OK;
    char name[RDL_VALUE_BYTES];
    rdl_link link = {0};

    if (!link_named(s, st, &link))
        return false;
    if (up && down)
        return session_fail(s, st->at, "a link cannot be up and down at the same time");
    if ((up || down) && step_has(st, "from")) {
        session_fail(s, step_span(st, "from", 0), "a plug is pulled for both directions");
        return diag_remedy(&s->diag, "loss=100%% with from= lets nothing through one way");
    }
    if (up || down)
        status = rdl_link_raise(s->lab, link, up);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, step_text(st, "link"), status);
    if ((up || down) && !is_about_ways(st) && !step_has(st, "latency") && !step_has(st, "rate") &&
        !step_has(st, "loss"))
        return true;
    rdl_path_of(s->lab, OBJ_LINK, link.raw, name);
    if (is_about_ways(st) || ways_differ(s, name))
        return set_ways(s, st, link);
    config.latency_ns = step_number_or(st, "latency", now(s, name, LEAF_link_latency));
    config.rate_bps = step_number_or(st, "rate", now(s, name, LEAF_link_rate));
    config.loss_ppm = (uint32_t)step_number_or(st, "loss", now(s, name, LEAF_link_loss_ppm));
    status = rdl_link_set(s->lab, link, &config);
    return status == RDL_OK || session_fail_status(s, st->at, step_text(st, "link"), status);
}

static bool set_history(struct session *s, const struct step *st)
{
    if (!position_can_go_back(s, st->at))
        return false;
    session_limit_history(s, (size_t)step_number(st, "history"));
    return true;
}

/* Finds the setting: the one whose value is given, as in "set changes on", "set history=64m". */
static bool read_setting(struct session *s, const struct step *st, enum setting *ret)
{
    static const struct {
        const char *param;
        enum setting what;
    } rows[] = {{"link", SET_LINK},
                {"changes", SET_CHANGES},
                {"history", SET_HISTORY},
                {"hints", SET_HINTS},
                {"events", SET_EVENTS}};
    unsigned n = 0;

    *ret = SET_LINK;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!step_has(st, rows[i].param))
            continue;
        n++;
        *ret = rows[i].what;
    }
    if (n == 1 && step_number_or(st, "what", *ret) == *ret)
        return true;
    session_fail(s, st->at, n ? "one thing is set at a time" : "set what?");
    return diag_remedy(&s->diag, "it is one of: set link A-B ..., set changes on, set history=64m, "
                                 "set hints off, set events connections");
}

/* Prints the settings of the session. */
static void say_settings(struct session *s)
{
    char most[32], taken[32];
    struct text m = text_on(most, sizeof(most)), t = text_on(taken, sizeof(taken));
    const struct history_memory h = session_history_memory(s);

    quantity_add(&m, QUANTITY_SIZE, h.bytes_max);
    quantity_add(&t, QUANTITY_SIZE, h.bytes);
    session_say(s, "changes  %s\n",
                s->display.changes.told == CHANGES_OFF  ? "off"
                : s->display.changes.told == CHANGES_ON ? "on"
                                                        : "all");
    if (h.bytes_max)
        session_say(s, "history  %s at most; %zu snapshot%s take%s %s\n", most, h.n_snapshots,
                    plural_s(h.n_snapshots), singular_s(h.n_snapshots), taken);
    else
        session_say(s, "history  none is kept: this lab cannot go back\n");
    session_say(s, "hints    %s\n", s->prompt.hints_off ? "off" : "on");
    session_say(s, "events   %s\n", s->display.shown.connections ? "connections" : "all");
}

bool run_set(struct session *s, const struct step *st)
{
    enum setting what;

    if (step_is_bare(st)) {
        say_settings(s);
        return true;
    }

    if (!read_setting(s, st, &what))
        return false;
    switch (what) {
    case SET_CHANGES:
        changes_set(s, (enum changes_told)step_number(st, "changes"));
        return true;
    case SET_HISTORY:
        return set_history(s, st);
    case SET_HINTS:
        s->prompt.hints_off = step_number(st, "hints") == HINTS_OFF;
        return true;
    case SET_EVENTS:
        s->display.shown.connections = step_number(st, "events") == EVENTS_CONNECTIONS;
        return true;
    case SET_LINK:
        break;
    }
    return set_link(s, st);
}
