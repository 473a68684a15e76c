/* SPDX-License-Identifier: MIT */
/* The drill of programs: one host with small limits, and a program that makes, changes and destroys
 * objects of all kinds in any order, also where it must be refused.  The model knows each object
 * with all its attributes, its users, its number and its name.
 */
#include "swarm/drills/drill_programs.h"

#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/virtio/feature.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/kinds.h"
#include "swarm/drills/rig.h"

#define STEPS       160u
#define TIGHT_BYTES ((uint64_t)24 << 20) /* RAM in which refusals must not leave anything */

/* --- The model -------------------------------------------------------------------------------- */

uint32_t programs_count(const struct programs *s, uint32_t kind)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++)
        n += s->things[i].kind == kind;
    return n;
}

uint32_t programs_pick(struct drill *d, uint32_t kind)
{
    const struct programs *s = programs_of(d);
    const uint32_t n = programs_count(s, kind);
    uint32_t left = n > 0 ? drill_below(d, n) : 0;

    for (uint32_t i = 0; i < PROGRAMS_THINGS && n > 0; i++) {
        if (s->things[i].kind == kind && left-- == 0)
            return i;
    }
    return PROGRAMS_NOTHING;
}

bool programs_needs(const struct program_thing *t, uint32_t part)
{
    for (uint32_t i = 0; i < PROGRAMS_PARTS; i++) {
        if (t->kind != OBJ_NONE && t->parts[i] == part)
            return true;
    }
    return false;
}

/* Number of objects that depend on object @i; *@ret_kind is the kind of the last one. */
static uint32_t users_of(const struct programs *s, uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < PROGRAMS_THINGS; k++)
        n += programs_needs(&s->things[k], i);
    return n;
}

static uint32_t groups_of(const struct program_thing *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < PROGRAMS_GROUPS; i++)
        n += t->in_group[i];
    return n;
}

bool programs_in_use(const struct programs *s, uint32_t i)
{
    const struct program_thing *t = &s->things[i];

    return users_of(s, i) > 0 || groups_of(t) > 0 || t->async_unacked > 0 || t->unacked > 0;
}

void programs_forget(struct drill *d, uint32_t i)
{
    struct programs *s = programs_of(d);
    struct program_thing *t = &s->things[i];

    if (t->kind == OBJ_QP)
        s->free_qpns[s->n_free_qpns++] = t->number;
    if (t->kind == OBJ_CQ && t->parts[0] != PROGRAMS_NOTHING) {
        struct program_thing *ch = &s->things[t->parts[0]];
        const uint32_t n = ch->n_cq_events;

        ch->n_cq_events = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (ch->cq_events[k] != i)
                ch->cq_events[ch->n_cq_events++] = ch->cq_events[k];
        }
    }
    t->kind = OBJ_NONE;
}

enum rdl_status programs_wait(struct drill *d, enum rdl_status st, int *ret_error)
{
    const struct rdl_limits limits = {.ticks = 1000000};
    struct rdl_response rsp = {0};

    if (st == RDL_OK)
        st = rdl_wait(d->lab, programs_of(d)->host, limits, &rsp);
    *ret_error = st == RDL_ERR_DEVICE ? rsp.error : 0;
    return st;
}

bool programs_ends(struct drill *d, enum rdl_status st, enum rdl_status want, int error,
                   const char *what)
{
    int have;

    st = programs_wait(d, st, &have);
    if (st == RDL_ERR_INVARIANT)
        return drill_works(d, st, what);
    return drill_expect(d, st == want && have == error, what, "%s %d, and not %s %d",
                        rdl_status_name(st), have, rdl_status_name(want), error);
}

/* --- Checks ----------------------------------------------------------------------------------- */

static bool leaf_is(struct drill *d, const struct program_thing *t, const char *leaf, uint64_t want)
{
    char path[RDL_PATH_BYTES];

    snprintf(path, sizeof(path), "h1.%s.%s", t->name, leaf);
    return drill_number_is(d, path, want, "the tree has what the program made");
}

/* Checks that the tree names object @part of @t, or nothing if that is PROGRAMS_NOTHING. */
static bool leaf_names(struct drill *d, const struct program_thing *t, const char *leaf,
                       uint32_t part)
{
    const struct programs *s = programs_of(d);
    const char *want = part == PROGRAMS_NOTHING ? "" : s->things[part].name;
    char path[RDL_PATH_BYTES];
    struct rdl_value v = {0};
    const char *have;
    size_t at;

    snprintf(path, sizeof(path), "h1.%s.%s", t->name, leaf);
    if (!drill_works(d, rdl_inspect(d->lab, path, &v, &at), "what a lab has can be inspected"))
        return false;
    have = strrchr(v.text, '.') ? strrchr(v.text, '.') + 1 : v.text;
    return drill_expect(d, strcmp(have, want) == 0, "the tree names the parts of an object",
                        "%s: \"%s\", and not \"%s\"", path, have, want);
}

static bool check_users(struct drill *d, uint32_t i)
{
    const struct programs *s = programs_of(d);
    const struct program_thing *t = &s->things[i];
    const uint32_t n = users_of(s, i);
    struct rdl_users have;
    bool is_user = n == 0;

    if (!drill_works(d, rdl_users_of(d->lab, t->kind, t->raw, &have), "an object has users"))
        return false;
    for (uint32_t k = 0; k < PROGRAMS_THINGS && n > 0; k++)
        is_user |= programs_needs(&s->things[k], i) && s->things[k].raw == have.raw &&
                   s->things[k].kind == have.kind;
    return drill_expect(d,
                        have.n == n && is_user && have.async_events == t->async_unacked &&
                            have.completion_events == t->unacked && have.groups == groups_of(t),
                        "the users of an object are counted",
                        "%s: %u users, not %u; %u and %u events, not %u and %u; %u groups, not %u",
                        t->name, have.n, n, have.async_events, have.completion_events,
                        t->async_unacked, t->unacked, have.groups, groups_of(t));
}

static bool check_mr(struct drill *d, const struct program_thing *t)
{
    struct rdl_mr_info i = {0};
    const struct rdl_mr_info *w = &t->mr;

    return drill_works(d, rdl_mr_info(d->lab, (rdl_mr){t->raw}, &i), "a region has keys") &&
           drill_expect(d,
                        i.addr == w->addr && i.bytes == w->bytes && i.access == w->access &&
                            i.iova == w->iova && i.kind == w->kind,
                        "a region is what it was asked to be",
                        "0x%" PRIx64 " %" PRIu64 " bytes 0x%x iova 0x%" PRIx64 " kind %u", i.addr,
                        i.bytes, i.access, i.iova, i.kind) &&
           leaf_names(d, t, "pd", t->parts[0]);
}

static bool check_cq(struct drill *d, struct program_thing *t)
{
    struct rdl_cq_info i = {0};

    return drill_works(d, rdl_cq_info(d->lab, (rdl_cq){t->raw}, &i), "a CQ can be looked at") &&
           drill_expect(d,
                        i.cqe == t->size && i.completions == t->completions &&
                            i.polled == t->polled && i.events == t->events,
                        "a CQ has its size, and counts completions and events",
                        "%s: cqe %u, not %u; %" PRIu64 ", %" PRIu64 ", %" PRIu64
                        ", and not %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                        t->name, i.cqe, t->size, i.completions, i.polled, i.events, t->completions,
                        t->polled, t->events) &&
           leaf_names(d, t, "channel", t->parts[0]) && leaf_is(d, t, "count", t->completions) &&
           leaf_is(d, t, "unacked", t->unacked);
}

static bool same_ah(const struct rdl_ah_attr *a, const struct rdl_ah_attr *b)
{
    return memcmp(a->dgid, b->dgid, sizeof(a->dgid)) == 0 &&
           memcmp(a->dmac, b->dmac, sizeof(a->dmac)) == 0 && a->sgid_index == b->sgid_index &&
           a->hop_limit == b->hop_limit && a->traffic_class == b->traffic_class && a->sl == b->sl &&
           a->flow_label == b->flow_label && a->static_rate == b->static_rate && a->port == b->port;
}

static bool check_ah(struct drill *d, const struct program_thing *t)
{
    struct rdl_ah_attr a = {0};

    return drill_works(d, rdl_ah_info(d->lab, (rdl_ah){t->raw}, &a), "a handle can be looked at") &&
           drill_expect(
               d, same_ah(&a, &t->ah), "an address handle is what it was asked to be, with a MAC",
               "%s: mac %02x:..:%02x, not %02x:..:%02x; port %u, sl %u, flow 0x%x", t->name,
               a.dmac[0], a.dmac[5], t->ah.dmac[0], t->ah.dmac[5], a.port, a.sl, a.flow_label) &&
           leaf_names(d, t, "pd", t->parts[0]);
}

static bool check_attr(struct drill *d, const char *name, const struct rdl_qp_attr *a,
                       const struct rdl_qp_attr *b)
{
#define SAME(field)                                                                                \
    drill_expect(d, a->field == b->field, "a queue pair has the attributes that it was given",     \
                 "%s: " #field " is %u, and not %u", name, a->field, b->field)
    return SAME(state) && SAME(path_mtu) && SAME(access) && SAME(pkey_index) && SAME(port) &&
           SAME(qkey) && SAME(dest_qpn) && SAME(rq_psn) && SAME(sq_psn) && SAME(max_rd_atomic) &&
           SAME(max_dest_rd_atomic) && SAME(min_rnr_timer) && SAME(timeout) && SAME(retry_cnt) &&
           SAME(rnr_retry) && SAME(en_sqd_async_notify) && SAME(sq_draining) &&
           drill_expect(d, same_ah(&a->ah, &b->ah),
                        "a queue pair has the address vector that it was given",
                        "%s: index %u, hop limit %u, class %u, sl %u, flow 0x%x, rate %u, port %u",
                        name, a->ah.sgid_index, a->ah.hop_limit, a->ah.traffic_class, a->ah.sl,
                        a->ah.flow_label, a->ah.static_rate, a->ah.port);
#undef SAME
}

static bool check_qp(struct drill *d, const struct program_thing *t)
{
    const struct programs *s = programs_of(d);
    struct rdl_qp_info i = {0};
    const bool shares = t->parts[3] != PROGRAMS_NOTHING;
    const uint32_t max_cq = s->max[OBJ_CQ], max_qp = s->max[OBJ_QP] + 1;
    const uint32_t rq = shares ? queue_of_srq(max_cq, max_qp, s->things[t->parts[3]].number)
                               : queue_of_receives(max_cq, t->number);

    return drill_works(d, rdl_qp_info(d->lab, (rdl_qp){t->raw}, &i),
                       "a queue pair can be looked at") &&
           drill_expect(d,
                        i.qpn == t->number && i.type == t->type &&
                            i.sq_queue == queue_of_sends(max_cq, t->number) && i.rq_queue == rq &&
                            i.max_send_sge == t->sges && i.max_recv_sge == t->recv_sges &&
                            i.max_inline_data == t->inline_bytes,
                        "a queue pair is what it was asked to be",
                        "%s: QPN %u, queues %u and %u, %u and %u elements, %u bytes", t->name,
                        i.qpn, i.sq_queue, i.rq_queue, i.max_send_sge, i.max_recv_sge,
                        i.max_inline_data) &&
           check_attr(d, t->name, &i.attr, &t->attr) && leaf_is(d, t, "state", t->attr.state) &&
           leaf_is(d, t, "max_send_wr", t->max_sends) &&
           leaf_is(d, t, "max_recv_wr", shares ? 0 : t->size) &&
           leaf_is(d, t, "sq_sig_all", t->all_signaled) && leaf_names(d, t, "pd", t->parts[0]) &&
           leaf_names(d, t, "send_cq", t->parts[1]) && leaf_names(d, t, "recv_cq", t->parts[2]) &&
           leaf_names(d, t, "srq", t->parts[3]);
}

static bool check_srq(struct drill *d, const struct program_thing *t)
{
    const struct programs *s = programs_of(d);
    struct rdl_srq_info i = {0};

    return drill_works(d, rdl_srq_info(d->lab, (rdl_srq){t->raw}, &i),
                       "a shared receive queue can be looked at") &&
           drill_expect(d,
                        i.srqn == t->number && i.attr.max_wr == t->size &&
                            i.attr.max_sge == t->recv_sges &&
                            i.queue == queue_of_srq(s->max[OBJ_CQ], s->max[OBJ_QP] + 1, t->number),
                        "a shared receive queue is what it was asked to be",
                        "%s: number %u, queue %u, %u receives of %u elements", t->name, i.srqn,
                        i.queue, i.attr.max_wr, i.attr.max_sge) &&
           leaf_is(d, t, "limit", t->limit) && leaf_is(d, t, "posted", t->n_waiting) &&
           leaf_names(d, t, "pd", t->parts[0]);
}

static bool check_channel(struct drill *d, const struct program_thing *t)
{
    return leaf_is(d, t, "number", t->number) && leaf_is(d, t, "pending", t->n_cq_events) &&
           leaf_names(d, t, "next", t->n_cq_events > 0 ? t->cq_events[0] : PROGRAMS_NOTHING);
}

static bool check_mw(struct drill *d, const struct program_thing *t)
{
    struct rdl_mw_info i = {0};

    return drill_works(d, rdl_mw_info(d->lab, (rdl_mw){t->raw}, &i), "a window has a key") &&
           drill_expect(d, i.type == t->type, "a window is of its type", "%u, and not %u", i.type,
                        t->type) &&
           leaf_names(d, t, "pd", t->parts[0]);
}

static bool check_kind(struct drill *d, uint32_t i)
{
    struct program_thing *t = &programs_of(d)->things[i];

    switch (t->kind) {
    case OBJ_PD:
        return leaf_is(d, t, "pdn", t->number) &&
               leaf_is(d, t, "users", users_of(programs_of(d), i));
    case OBJ_MR:
        return check_mr(d, t);
    case OBJ_CQ:
        return leaf_is(d, t, "cqn", t->number) && check_cq(d, t);
    case OBJ_QP:
        return check_qp(d, t);
    case OBJ_AH:
        return check_ah(d, t);
    case OBJ_MW:
        return check_mw(d, t);
    case OBJ_SRQ:
        return check_srq(d, t);
    default:
        return check_channel(d, t);
    }
}

bool programs_check(struct drill *d, uint32_t i)
{
    const struct program_thing *t = &programs_of(d)->things[i];
    char path[RDL_VALUE_BYTES], want[RDL_VALUE_BYTES];
    uint64_t raw = 0;

    snprintf(want, sizeof(want), "h1.%s", t->name);
    rdl_path_of(d->lab, t->kind, t->raw, path);
    if (t->number > 0 && !drill_is_named(d, programs_of(d)->host, t->kind, t->number, t->name))
        return false;
    return drill_expect(d, strcmp(path, want) == 0, "an object has its name", "%s, and not %s",
                        path, want) &&
           drill_works(d, rdl_find(d->lab, want, t->kind, &raw),
                       "an object is found by its name") &&
           drill_expect(d, raw == t->raw, "an object is found by its name", "another one") &&
           check_users(d, i) && check_kind(d, i);
}

/* --- Setup and steps -------------------------------------------------------------------------- */

/* Returns true if queues can be so long that memory can be short. */
static bool has_long_queues(const struct programs *s)
{
    return s->limits.max_cqe > PROGRAMS_WAITING;
}

/* Without RING_RESET a driver cannot use long queues. */
static uint64_t draw_features_off(struct drill *d)
{
    const struct programs *s = programs_of(d);
    static const struct {
        uint32_t feature, one_in;
    } rows[] = {{VF_RING_RESET, 6}, {VF_RESIZE, 8},    {VF_MW, 8},     {VF_SRQ, 8},
                {VF_MCAST, 8},      {VF_EVENT_IDX, 4}, {VF_EVENTQ, 6}, {VF_INDIRECT_DESC, 5}};
    uint64_t off = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (drill_one_in(d, rows[i].one_in) &&
            !(rows[i].feature == VF_RING_RESET && has_long_queues(s)))
            off |= VIRTIO_FEATURE(rows[i].feature);
    }
    return off;
}

/* Draws small limits, so that each is soon reached. */
static void draw_limits(struct drill *d)
{
    struct programs *s = programs_of(d);
    const bool is_tight = drill_one_in(d, 4);

    s->limits = (struct rdl_device_limits){
        .max_mr_size = drill_one_in(d, 2) ? 4096 : 4096 + drill_below(d, 12288),
        .max_qp_wr = is_tight && drill_one_in(d, 2) ? 512 : 2 + drill_below(d, 30),
        .max_send_sge = 1 + drill_below(d, 8),
        .max_recv_sge = 1 + drill_below(d, 8),
        .max_cqe = is_tight ? 1024 : 6 + drill_below(d, 56),
        .max_mr = 2 + drill_below(d, 4),
        .max_pd = 2 + drill_below(d, 3),
        .max_mw = 1 + drill_below(d, 3),
        .max_qp_rd_atom = 1 + drill_below(d, 16),
        .max_qp_init_rd_atom = 1 + drill_below(d, 16),
        .max_mcast_grp = 1 + drill_below(d, 3),
        .max_mcast_qp_attach = 1 + drill_below(d, 3),
        .max_total_mcast_qp_attach = 1 + drill_below(d, 5),
        .max_ah = 1 + drill_below(d, 5),
        .max_fast_reg_page_list_len = 1 + drill_below(d, 4),
    };
    s->max[OBJ_PD] = s->limits.max_pd - 1;
    s->max[OBJ_MR] = s->limits.max_mr - 1;
    s->max[OBJ_MW] = s->limits.max_mw;
    s->max[OBJ_AH] = s->limits.max_ah;
    s->max[OBJ_CQ] = 1 + drill_below(d, 5);
    s->max[OBJ_QP] = 1 + drill_below(d, 5);
    s->max[OBJ_SRQ] = 1 + drill_below(d, 3);
    s->max[OBJ_CHANNEL] = 3; /* a channel has no limit; the program makes no more */
    for (uint32_t i = 0; i < s->max[OBJ_QP]; i++)
        s->free_qpns[s->n_free_qpns++] = 2 + i;
}

static bool add_hosts(struct drill *d)
{
    struct programs *s = programs_of(d);
    struct rdl_host_config c = {.name = "h1", .features_off = draw_features_off(d)};
    const struct rdl_host_config other = {.name = "h2", .arp = drill_one_in(d, 2)};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1000};
    char words[EXTEND_WORDS_BYTES];

    s->is_tight = has_long_queues(s);
    if (s->is_tight) {
        c.ram_bytes = TIGHT_BYTES;
        c.rx_buffer = 256;
    }
    s->ram_bytes = c.ram_bytes ? c.ram_bytes : (uint64_t)64 << 20;
    c.max_cq = s->max[OBJ_CQ];
    c.max_qp = s->max[OBJ_QP] + 1;
    c.max_srq = s->max[OBJ_SRQ];
    c.limits = s->limits;
    c.profile = s->profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba;
    c.ring = drill_below(d, 2);
    c.indirect = drill_one_in(d, 2);
    c.on_demand = drill_one_in(d, 2);
    s->on_demand = c.on_demand && !(c.features_off & VIRTIO_FEATURE(VF_RING_RESET));
    c.intx = drill_one_in(d, 4);
    c.arp = s->arp = other.arp;
    s->n_pkeys = c.n_pkeys = 1 + drill_below(d, PROGRAMS_PKEYS);
    for (uint32_t i = 0; i < s->n_pkeys; i++)
        c.pkeys[i] = s->pkeys[i] = (uint16_t)(0x8001 + 16 * i + drill_below(d, 16));
    s->resizes = !(c.features_off & (VIRTIO_FEATURE(VF_RESIZE) | VIRTIO_FEATURE(VF_RING_RESET)));
    s->has_mw = !(c.features_off & VIRTIO_FEATURE(VF_MW));
    s->has_srq = !(c.features_off & VIRTIO_FEATURE(VF_SRQ));
    s->has_mcast = !(c.features_off & VIRTIO_FEATURE(VF_MCAST));
    s->has_events = !(c.features_off & VIRTIO_FEATURE(VF_EVENTQ));
    s->is_up = true;
    (void)drill_extend(d, 0, &c, words);
    return drill_works(d, rdl_host_add(d->lab, &c, &s->host), "a host can be added") &&
           drill_works(d, rdl_host_add(d->lab, &other, &s->other), "a host can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &s->link), "a link can be added");
}

static void set_up(struct drill *d)
{
    struct programs *s = programs_of(d);
    const char *what = "a host can be used";

    d->n_unsaid++;
    draw_limits(d);
    if (!add_hosts(d))
        return;
    for (uint32_t i = 0; i < 2; i++) {
        if (!drill_works(d, rdl_host_address(d->lab, s->host, i, s->gid[i], s->mac), what) ||
            !drill_works(d, rdl_host_address(d->lab, s->other, i, s->other_gid[i], s->other_mac),
                         what))
            return;
    }
    (void)programs_own_memory(d);
}

static void take(struct drill *d)
{
    static const struct {
        void (*take)(struct drill *d);
        uint32_t weight;
    } steps[] = {
        {programs_make, 14},     {programs_destroy, 5},     {programs_batch, 1},
        {programs_resize_cq, 4}, {programs_resize_qp, 2},   {programs_move_qp, 8},
        {programs_launch, 5},    {programs_change_srq, 2},  {programs_change_mr, 4},
        {programs_group, 3},     {programs_query, 3},       {programs_send, 12},
        {programs_burst, 3},     {programs_post_recv, 8},   {programs_poll, 4},
        {programs_arm, 4},       {programs_take_events, 4}, {programs_ack, 2},
        {programs_link, 1},      {programs_neighbours, 1},  {programs_master, 1},
        {programs_timeouts, 1},  {programs_many, 1},        {programs_refuse, 2},
        {programs_retire, 1},    {programs_late, 1},
    };
    const struct programs *s = programs_of(d);
    uint32_t all = 0, pick;

    d->n_unsaid++;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        all += steps[i].weight;
    pick = drill_below(d, all);
    for (size_t i = 0; i < ARRAY_LEN(steps); pick -= steps[i++].weight) {
        if (pick < steps[i].weight) {
            steps[i].take(d);
            break;
        }
    }
    if (d->wrong || !drill_settle(d) || !programs_hear(d))
        return;
    for (uint32_t i = 0; i < PROGRAMS_THINGS && !d->wrong; i++) {
        if (s->things[i].kind != OBJ_NONE && drill_one_in(d, 3))
            (void)programs_check(d, i);
    }
}

static void finish(struct drill *d)
{
    const struct programs *s = programs_of(d);

    for (uint32_t i = 0; i < PROGRAMS_THINGS && !d->wrong; i++) {
        if (s->things[i].kind != OBJ_NONE)
            (void)programs_check(d, i);
    }
}

const struct drill_kind drill_of_programs = {.name = "programs",
                                             .bytes = sizeof(struct programs),
                                             .steps = STEPS,
                                             .set_up = set_up,
                                             .take = take,
                                             .finish = finish,
                                             .extensions = EXTEND_UNSEEN};
