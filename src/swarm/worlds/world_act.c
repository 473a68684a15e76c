/* SPDX-License-Identifier: MIT */
/* Executes the deeds of a world.  A deed that is impossible now is skipped. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/opcode.h"
#include "emu/facts/qp_fsm.h"
#include "rdmalab/inspect.h"
#include "swarm/worlds/model.h"
#include "swarm/worlds/world_fault.h"
#include "swarm/worlds/world_forge.h"
#include "swarm/worlds/world_place.h"
#include "swarm/worlds/world_run.h"

#define PAGE          4096u
#define POLL_MAX      4096u
#define LIVES_RESERVE 2u

/* --- Queues ----------------------------------------------------------------------------------- */

void world_poll(struct world_run *r, struct cq_state *q, unsigned host)
{
    const struct world_end *e = NULL;
    char name[RDL_NAME_BYTES];

    if (q->cq.raw == 0) /* never created */
        return;
    for (unsigned i = 0; i < r->w->n_ends && !e; i++) {
        if (q == &r->end[i].small) {
            e = &r->w->end[i];
            snprintf(name, sizeof(name), "small%u", i);
        }
    }
    if (!e)
        snprintf(name, sizeof(name), "c%u", (unsigned)(q - r->host[host].cq));
    world_say(r, "poll_cq h%u.%s max=%u", host + 1, name, POLL_MAX);
    for (size_t n = 1; n > 0 && !r->wrong;) {
        struct rdl_wc wc;

        if (world_works(r, rdl_poll_cq(r->lab, q->cq, 1, &wc, &n), "a CQ can be polled") && n > 0)
            model_completion(r, host, q, &wc);
    }
}

static void poll_all(struct world_run *r)
{
    for (unsigned h = 0; h < r->w->n_hosts; h++) {
        for (unsigned i = 0; i < WORLD_CQS && !r->wrong; i++)
            world_poll(r, &r->host[h].cq[i], h);
    }
    for (unsigned i = 0; i < r->w->n_ends && !r->wrong; i++)
        world_poll(r, &r->end[i].small, r->w->end[i].host);
}

static void kick(struct world_run *r, uint16_t end, bool sends)
{
    if (!sends && r->w->end[end].has_srq)
        return;
    world_say(r, "kick h%u.q%u.%s", r->w->end[end].host + 1u, end, sends ? "sq" : "rq");
    world_works(r, rdl_kick(r->lab, r->end[end].qp, sends), "a device can be told of work");
}

static void arm(struct world_run *r, unsigned host, uint32_t n)
{
    struct cq_state *q = &r->host[host].cq[n & 1u];
    const bool solicited = n >> 8;

    world_say(r, "req_notify_cq h%u.c%u%s", host + 1, n & 1u, solicited ? " solicited" : "");
    model_arm(r, q, solicited);
    world_works(r, rdl_req_notify_cq(r->lab, q->cq, solicited), "a CQ can be armed");
    world_expect(r, world_answered(r, host), WORLD_NONE, "a CQ can be armed");
    model_armed(r, q);
}

static struct cq_state *cq_of(struct world_run *r, unsigned host, uint64_t raw)
{
    for (unsigned i = 0; i < WORLD_CQS; i++) {
        if (r->host[host].cq[i].cq.raw == raw)
            return &r->host[host].cq[i];
    }
    for (unsigned i = 0; i < r->w->n_ends; i++) {
        if (r->end[i].small.cq.raw == raw)
            return &r->end[i].small;
    }
    return NULL;
}

static void take_completion_events(struct world_run *r, unsigned host)
{
    for (size_t n = 1; n > 0 && !r->wrong;) {
        rdl_cq cq;
        struct cq_state *q;

        world_say(r, "get_cq_event h%u.ch", host + 1);
        world_works(r, rdl_get_cq_event(r->lab, r->host[host].channel, &cq, &n),
                    "events can be taken");
        if (n == 0 || r->wrong)
            return;
        q = cq_of(r, host, cq.raw);
        if (!world_expect(r, q != NULL, WORLD_NONE, "an event names its CQ") || !q)
            return;
        q->events++;
        world_works(r, rdl_ack_cq_events(r->lab, cq, 1), "completion events can be acknowledged");
        if (q != &r->host[host].cq[0] && q != &r->host[host].cq[1])
            continue;
        world_say(r, "ack_cq_events h%u.c%u", host + 1, (unsigned)(q - r->host[host].cq));
    }
}

void world_take_events(struct world_run *r, unsigned host)
{
    for (size_t n = 1; n > 0 && !r->wrong;) {
        struct rdl_async_event e;

        world_say(r, "get_async_event h%u", host + 1);
        world_works(r, rdl_get_async_event(r->lab, r->host[host].host, &e, &n),
                    "events can be taken");
        if (n == 0 || r->wrong)
            break;
        model_event(r, host, &e);
        world_works(r, rdl_ack_async_event(r->lab, &e), "an event can be acknowledged");
        model_say_ack(r, host, &e);
    }
    take_completion_events(r, host);
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

static uint32_t state_of(struct world_run *r, uint16_t end)
{
    const unsigned host = r->w->end[end].host;
    struct rdl_qp_info info = {0};

    world_say(r, "query_qp h%u.q%u", host + 1, end);
    if (!world_works(r, rdl_query_qp(r->lab, r->end[end].qp), "a queue pair can be asked") ||
        !world_answered(r, host) ||
        !world_works(r, rdl_qp_info(r->lab, r->end[end].qp, &info), "a queue pair can be asked"))
        return QPS_ERR;
    return info.attr.state;
}

static void fail(struct world_run *r, uint16_t end)
{
    struct rdl_qp_attr a = {0};

    world_life(r, end)->was_failed = true;
    world_expect_end(r, world_modify(r, end, &a, QPS_ERR, 0), end, "ERR is allowed from anywhere");
    world_say(r, "modify_qp h%u.q%u state=ERR", r->w->end[end].host + 1u, end);
}

static void drain(struct world_run *r, uint16_t end, bool told)
{
    struct life *l = world_life(r, end);
    struct rdl_qp_attr a = {.en_sqd_async_notify = told};
    bool is_drained;

    if (state_of(r, end) != QPS_RTS || r->wrong)
        return;
    is_drained = world_modify(r, end, &a, QPS_SQD, told ? QPA_EN_SQD_ASYNC_NOTIFY : 0);
    world_say(r, "modify_qp h%u.q%u state=SQD%s", r->w->end[end].host + 1u, end,
              told ? " en_sqd_async_notify" : "");
    if (!is_drained) /* it failed meanwhile */
        return;
    l->is_sqd = true;
    l->drains = (uint8_t)(l->drains + (told || model_profile_is_rxe(r, end)));
    l->sqd_from = l->n_sends;
}

/* Runs until the router of @end's host has passed everything on: what was flushed, too. */
static void await_router(struct world_run *r, uint16_t end)
{
    const unsigned host = r->w->end[end].host;
    const struct rdl_limits none = {0};
    struct rdl_value waiting = {.number = 1};
    char path[64];
    size_t at;

    if (!r->w->host[host].place.has_router)
        return;
    snprintf(path, sizeof(path), "h%u.router.waiting", host + 1);
    world_say(r, "until %s == 0", path);
    while (rdl_inspect(r->lab, path, &waiting, &at) == RDL_OK && waiting.number > 0) {
        if (rdl_step(r->lab, RDL_STEP_TICK, none) != RDL_OK)
            break; /* it waits for its device */
    }
}

void world_resume(struct world_run *r, uint16_t end)
{
    struct life *l = world_life(r, end);
    struct rdl_qp_attr a = {0};
    bool is_up;

    if (!l->is_sqd && !l->is_sqe)
        return;
    if (l->is_sqe && state_of(r, end) != QPS_SQE)
        return;
    /* Take the completions of all that was flushed before SQE.  Nothing that was posted in SQD has
     * completed.
     */
    await_router(r, end);
    poll_all(r);
    is_up = world_modify(r, end, &a, QPS_RTS, 0);
    world_say(r, "modify_qp h%u.q%u state=RTS", r->w->end[end].host + 1u, end);
    if (is_up) {
        l->was_sqe = l->was_sqe || l->is_sqe;
        l->sends_failed = l->sends_failed && !l->is_sqe;
        l->is_sqd = l->is_sqe = false;
    } else {
        model_expect_failure(r, end);
    }
}

static void look(struct world_run *r, uint16_t end)
{
    model_state(r, end, state_of(r, end));
}

static void set_group(struct world_run *r, uint16_t end, bool attached)
{
    struct end_state *e = &r->end[end];
    const unsigned host = r->w->end[end].host;
    static const char *const groups[] = {"239.1.2.3", "ff0e::1:2:3"};

    if (r->w->end[end].type != QPT_UD || e->is_attached == attached)
        return;
    world_say(r, "%s h%u.q%u gid=%s", attached ? "attach_mcast" : "detach_mcast", host + 1, end,
              groups[r->w->gid_index]);
    if (attached)
        world_works(r, rdl_attach_mcast(r->lab, e->qp, r->group_gid), "a group can be joined");
    else
        world_works(r, rdl_detach_mcast(r->lab, e->qp, r->group_gid), "a group can be left");
    world_expect_end(r, world_answered(r, host), end, "the device knows groups");
    e->is_attached = attached;
    model_group(r, end);
}

static void destroy(struct world_run *r, uint16_t end)
{
    const unsigned host = r->w->end[end].host;

    world_take_events(r, host);
    set_group(r, end, false);
    if (r->wrong)
        return;
    world_say(r, "destroy_qp h%u.q%u", host + 1, end);
    world_works(r, rdl_destroy_qp(r->lab, r->end[end].qp), "a queue pair can be destroyed");
    world_expect_end(r, world_answered(r, host), end, "a queue pair can be destroyed");
    world_poll_closed(r, end);
    model_close(r, end);
}

/* Destroys the queue pair of @end and that of its peer, creates new ones and connects them. */
static void replace(struct world_run *r, uint16_t end)
{
    const uint16_t peer = r->w->end[end].peer;

    destroy(r, end);
    if (peer != end && !r->wrong)
        destroy(r, peer);
    if (!r->wrong)
        world_make_end(r, end);
    if (peer != end && !r->wrong)
        world_make_end(r, peer);
    if (!r->wrong)
        world_connect(r, end);
}

static bool has_lives(const struct world_run *r)
{
    return r->n_lives + 2 + LIVES_RESERVE <= LIVES_MAX;
}

static bool is_known_to_have_failed(struct world_run *r, uint16_t end)
{
    const struct life *here = world_life(r, end), *there = world_life(r, r->w->end[end].peer);

    return here->was_failed || there->was_failed || here->recvs_failed || there->recvs_failed ||
           (here->sends_failed && !here->is_sqe) || (there->sends_failed && !there->is_sqe);
}

/* --- Hosts ------------------------------------------------------------------------------------ */

static void set_limit(struct world_run *r, unsigned host, uint32_t n)
{
    const struct rdl_srq_attr a = {.limit = n};

    world_take_events(r, host);
    if (r->wrong)
        return;
    world_say(r, "modify_srq h%u.srq limit=%u", host + 1, n);
    world_works(r, rdl_modify_srq(r->lab, r->host[host].srq, &a, RDL_SRQ_LIMIT),
                "a limit can be set");
    world_expect(r, world_answered(r, host), WORLD_NONE, "a limit can be set");
    r->host[host].limits += n > 0;
}

/* Re-registers the region of KEY_ANEW: it gets a new key, and its iova may change. */
static void register_anew(struct world_run *r, unsigned host, uint32_t pages)
{
    struct host_state *h = &r->host[host];
    struct key_story *k = &h->key[KEY_ANEW];
    const uint64_t shift = (uint64_t)pages * PAGE;
    const struct rdl_mr_change change = {
        .what = RDL_REREG_TRANSLATION | RDL_REREG_ACCESS,
        .access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC,
        .range = {h->base, r->w->host[host].memory_bytes, h->base + shift}};
    struct rdl_mr_info info;

    if (k->users > 0)
        return;
    world_say(r, "rereg_mr h%u.anew access=lw,rw,rr,ra addr=h%u.open[0] len=%u iova=0x%" PRIx64,
              host + 1, host + 1, r->w->host[host].memory_bytes, h->base + shift);
    if (!world_works(r, rdl_rereg_mr(r->lab, h->mr[KEY_ANEW], &change),
                     "a region can be registered anew"))
        return;
    world_expect(r, world_answered(r, host), WORLD_NONE, "a region can be registered anew");
    k->stale = k->rkey;
    k->shift = shift;
    if (world_works(r, rdl_mr_info(r->lab, h->mr[KEY_ANEW], &info), "a region has a key"))
        k->rkey = info.rkey;
}

static void resize(struct world_run *r, unsigned host, uint32_t n)
{
    struct cq_state *q = &r->host[host].cq[n & 1u];

    q->cqe = q->cqe == 2048 ? 4096 : 2048;
    world_say(r, "resize_cq h%u.c%u cqe=%u", host + 1, n & 1u, q->cqe);
    world_works(r, rdl_resize_cq(r->lab, q->cq, q->cqe), "a CQ can be resized");
    world_expect(r, world_answered(r, host), WORLD_NONE, "a CQ can be resized");
}

static void raise_link(struct world_run *r, unsigned host, bool up)
{
    char name[RDL_NAME_BYTES];

    host = world_plug(r->w, host);
    if (r->host[host].is_down == !up)
        return;
    world_link_name(r->w, host, name);
    world_say(r, "set link %s %s", name, up ? "up" : "down");
    world_works(r, rdl_link_raise(r->lab, r->host[host].link, up), "a link can be raised");
    r->host[host].is_down = !up;
    r->is_faulty = true;
}

/* Latency and jitter stay, so that frames in flight are not overtaken. */
static void set_loss(struct world_run *r, unsigned host, uint32_t ppm, bool has_bursts)
{
    struct world_host way = r->w->host[world_plug(r->w, host)];
    char name[RDL_NAME_BYTES];

    way.loss_ppm = ppm;
    r->is_faulty = r->is_faulty || ppm > 0;
    world_link_name(r->w, host, name);
    world_set_link(r, &way, r->host[host].link, name, has_bursts);
}

/* --- Time ------------------------------------------------------------------------------------- */

void world_step(struct world_run *r, uint32_t ticks)
{
    const struct rdl_limits none = {0};
    enum rdl_status st = RDL_OK;
    uint32_t done = 0;

    for (; done < ticks && st == RDL_OK; done++) {
        st = rdl_step(r->lab, RDL_STEP_TICK, none);
        if (st != RDL_ERR_IDLE)
            world_works(r, st, "the lab goes on");
    }
    if (st == RDL_ERR_IDLE)
        done--;
    if (done > 0)
        world_say(r, "step tick %u", done);
}

static void wait_for(struct world_run *r, uint64_t ns)
{
    const struct rdl_limits bounded = {.ticks = 1000000};

    world_say(r, "run %" PRIu64 "ns", ns);
    world_works(r, rdl_run(r->lab, rdl_now_ns(r->lab) + ns, bounded), "the lab goes on");
}

/* --- Deeds ------------------------------------------------------------------------------------ */

static void do_end(struct world_run *r, const struct world_deed *d)
{
    switch (d->kind) {
    case DO_KICK:
        kick(r, d->who, d->n != 0);
        break;
    case DO_FAIL:
        fail(r, d->who);
        break;
    case DO_DRAIN:
        drain(r, d->who, d->n != 0);
        break;
    case DO_RESUME:
        world_resume(r, d->who);
        break;
    case DO_CONNECT:
        if (has_lives(r))
            world_connect(r, d->who);
        break;
    case DO_REVIVE:
        if (has_lives(r) && is_known_to_have_failed(r, d->who))
            world_connect(r, d->who);
        break;
    case DO_REPLACE:
        if (has_lives(r))
            replace(r, d->who);
        break;
    case DO_LOOK:
        look(r, d->who);
        break;
    case DO_FORGE:
        world_forge(r, d->who, d->n);
        break;
    case DO_INJECT:
        world_inject(r, d->who, d->n);
        break;
    default:
        set_group(r, d->who, d->n != 0);
        break;
    }
}

static void do_host(struct world_run *r, const struct world_deed *d)
{
    switch (d->kind) {
    case DO_POLL:
        world_poll(r, &r->host[d->who].cq[d->n], d->who);
        break;
    case DO_ARM:
        arm(r, d->who, d->n);
        break;
    case DO_EVENTS:
        world_take_events(r, d->who);
        break;
    case DO_LIMIT:
        set_limit(r, d->who, d->n);
        break;
    case DO_REREG:
        register_anew(r, d->who, d->n);
        break;
    case DO_RESIZE:
        resize(r, d->who, d->n);
        break;
    case DO_LINK:
        raise_link(r, d->who, d->n != 0);
        break;
    default:
        set_loss(r, d->who, d->n, true);
        break;
    }
}

/* Returns true if the object of @d is left out of this world. */
static bool is_absent(const struct world *w, const struct world_deed *d)
{
    const struct world_item *t;

    switch (d->kind) {
    case DO_POST:
    case DO_POST_LAZY:
        t = &w->item[d->who];
        return w->end[t->end].is_absent || w->end[t->to].is_absent;
    case DO_GO:
    case DO_WAIT:
    case DO_RULE:
        return false;
    case DO_FAULT:
        return w->host[w->fault[d->who].from].is_absent ||
               (w->fault[d->who].message && w->end[w->fault[d->who].end].is_absent);
    case DO_KICK:
    case DO_FAIL:
    case DO_DRAIN:
    case DO_RESUME:
    case DO_CONNECT:
    case DO_REVIVE:
    case DO_REPLACE:
    case DO_LOOK:
    case DO_GROUP:
    case DO_FORGE:
    case DO_INJECT:
        return w->end[d->who].is_absent;
    default:
        return w->host[d->who].is_absent;
    }
}

void world_carry_out(struct world_run *r, const struct world_deed *d)
{
    if (is_absent(r->w, d))
        return;
    switch (d->kind) {
    case DO_POST:
    case DO_POST_LAZY:
        world_post(r, d->who, d->kind == DO_POST_LAZY);
        break;
    case DO_GO:
        world_step(r, d->n);
        break;
    case DO_WAIT:
        wait_for(r, d->n);
        break;
    case DO_FAULT:
        world_add_fault(r, d->who);
        break;
    case DO_RULE:
        world_change_rule(r, d->who, d->n);
        break;
    case DO_KICK:
    case DO_FAIL:
    case DO_DRAIN:
    case DO_RESUME:
    case DO_CONNECT:
    case DO_REVIVE:
    case DO_REPLACE:
    case DO_LOOK:
    case DO_GROUP:
    case DO_FORGE:
    case DO_INJECT:
        do_end(r, d);
        break;
    default:
        do_host(r, d);
        break;
    }
}

/* --- End of a run ----------------------------------------------------------------------------- */

#define END_ROUNDS 80u
#define ROUND_NS   50000000u

static void calm_down(struct world_run *r)
{
    const struct world *w = r->w;
    const unsigned n = w->n_switches == 0 ? 1 : w->n_hosts;

    for (uint32_t i = 0; i < w->n_faults; i++) {
        if (r->fault[i].raw == 0)
            continue;
        world_say(r, "clear f%u", i);
        world_works(r, rdl_fault_remove(r->lab, r->fault[i]), "a fault can be removed");
        if (r->device_fault[i].raw == 0)
            continue;
        world_say(r, "clear d%u", i);
        world_works(r, rdl_fault_remove(r->lab, r->device_fault[i]), "a fault can be removed");
    }
    for (unsigned h = 0; h < n; h++) {
        if (w->host[h].is_absent || w->host[h].place.on)
            continue;
        raise_link(r, h, true);
        set_loss(r, h, 0, false);
    }
    for (uint16_t i = 0; i < w->n_ends && !r->wrong; i++) {
        if (w->end[i].is_absent)
            continue;
        /* Twice: if a kick was lost, the device may have suppressed the first of these. */
        for (unsigned time = 0; time < 2; time++) {
            kick(r, i, true);
            kick(r, i, false);
        }
    }
    r->is_calm = true;
}

/* Posts the last request of each queue pair.  It is signaled, so that its completion covers all
 * earlier requests.  If its queue is full, it is posted in a later round.
 */
static void post_stops(struct world_run *r)
{
    for (uint16_t i = 0; i < r->w->n_items && !r->wrong; i++) {
        const struct world_item *t = &r->w->item[i];

        if (t->is_spare && !t->is_recv && !r->w->end[t->end].is_absent &&
            r->item[i].phase == ITEM_IDLE)
            world_post(r, i, false);
    }
}

/* Posts spare receives for the messages that wait for one. */
static void feed(struct world_run *r, uint16_t end)
{
    uint32_t need = model_missing_receives(r, end);

    for (uint16_t i = 0; i < r->w->n_items && need > 0 && !r->wrong; i++) {
        const struct world_item *t = &r->w->item[i];

        if (!t->is_spare || !t->is_recv || t->end != end || r->item[i].phase != ITEM_IDLE)
            continue;
        world_post(r, i, false);
        need--;
    }
}

void world_finish(struct world_run *r)
{
    bool is_over = false;

    calm_down(r);
    for (uint32_t round = 0; round < END_ROUNDS && !r->wrong && !is_over; round++) {
        for (uint16_t i = 0; i < r->w->n_ends && !r->wrong; i++) {
            if (r->w->end[i].is_absent)
                continue;
            world_resume(r, i);
            feed(r, i);
        }
        if (round >= 1)
            post_stops(r);
        if (r->wrong)
            return;
        wait_for(r, ROUND_NS);
        for (unsigned h = 0; h < r->w->n_hosts && !r->wrong; h++) {
            if (!r->w->host[h].is_absent)
                world_take_events(r, h);
        }
        poll_all(r);
        is_over = round > 1 && model_is_over(r, false);
    }
    if (!r->wrong && !is_over)
        model_is_over(r, true);
    if (!r->wrong)
        model_end(r);
}
