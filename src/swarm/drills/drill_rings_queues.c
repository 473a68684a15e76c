/* SPDX-License-Identifier: MIT */
/* The drill of rings: how many entries work queues, completion queues and shared receive queues
 * hold, how they overflow, and which events they raise.
 */
#include <inttypes.h>
#include <stdio.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/trace/kind.h"
#include "rdmalab/control.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/srq.h"
#include "rdmalab/trace.h"
#include "swarm/drills/drill_rings.h"

#define MR_BYTES 4096u
#define WR_ID    1000u
/* Receives that an AETH credit count states exactly; it rounds larger numbers. */
#define CREDITS_MAX 4u

static struct queues *queues_of(struct drill *d)
{
    return &((struct rings *)d->own)->u.queues;
}

static bool number_at(struct drill *d, uint64_t *ret, const char *host, const char *name,
                      const char *leaf)
{
    char path[96];

    snprintf(path, sizeof(path), "%s.%s.%s", host, name, leaf);
    return drill_number(d, path, ret);
}

/* --- Queue pairs that are made to fail -------------------------------------------------------- */

static void name_object(struct drill *d, char name[RDL_NAME_BYTES], const char *kind)
{
    snprintf(name, RDL_NAME_BYTES, "%s%u", kind, queues_of(d)->serial++);
}

/* Creates the completion queue of @f with @cqe entries. */
static bool add_cq(struct drill *d, struct flusher *f, uint32_t cqe)
{
    name_object(d, f->cq_name, "cq");
    drill_say(d, "create_cq h%u cqe=%u as %s", f->end.number + 1, cqe, f->cq_name);
    return drill_is_done(d, f->end.host,
                         rdl_create_cq(d->lab, f->end.host, cqe, f->cq_name, &f->cq),
                         "a completion queue can be created");
}

/* Creates the queue pair of @f with the configuration @c, and moves it to INIT. */
static bool add_qp(struct drill *d, struct flusher *f, struct rdl_qp_config *c)
{
    struct rdl_qp_attr a = {.port = 1, .access = ACC_LOCAL_WRITE};

    name_object(d, f->end.name, "qp");
    c->pd = queues_of(d)->pd[f->end.number];
    c->type = QPT_RC;
    if (!rig_add_qp(d, &f->end, c))
        return false;
    drill_say(d, "modify_qp h%u.%s state=INIT pkey_index=0 port=1 access=lw", f->end.number + 1,
              f->end.name);
    return rig_modify(d, &f->end, &a, QPS_INIT, qp_fsm_needs(QPT_RC, QPS_INIT));
}

bool flusher_make(struct drill *d, unsigned side, uint32_t cqe, uint32_t max_recv_wr,
                  struct flusher *f)
{
    const struct queues *q = queues_of(d);
    struct rdl_qp_config c = {
        .max_send_wr = drill_one_in(d, 3) ? RDL_QP_NONE : 1, /* nothing is sent */
        .max_recv_wr = max_recv_wr ? max_recv_wr : RDL_QP_NONE,
    };

    *f = (struct flusher){.end = {.number = side, .host = q->host[side]},
                          .max_recv_wr = max_recv_wr};
    if (!add_cq(d, f, cqe) ||
        !drill_works(d, rdl_cq_info(d->lab, f->cq, &f->info), "a completion queue has a size") ||
        !drill_expect(d, f->info.cqe == rig_queue_size(q->profile, cqe),
                      "a completion queue is as long as was asked for", "%u entries, and not %u",
                      f->info.cqe, cqe))
        return false;
    c.send_cq = c.recv_cq = f->cq;
    return add_qp(d, f, &c);
}

bool flusher_post(struct drill *d, struct flusher *f, uint32_t n, uint64_t wr_id)
{
    const struct queues *q = queues_of(d);
    const unsigned side = f->end.number;
    const struct rdl_sge sge = {q->addr[side], 64, q->lkey[side]};

    for (uint32_t i = 0; i < n; i++) {
        const struct rdl_recv_wr wr = {.wr_id = wr_id + i, .sge = &sge, .n_sge = 1};
        const bool nokick = drill_one_in(d, 2);

        drill_say(d, "post_recv h%u.%s wr_id=%" PRIu64 " sge=mr[0:64]%s", side + 1, f->end.name,
                  wr.wr_id, nokick ? " nokick" : "");
        if (!drill_works(d, rdl_post_recv(d->lab, f->end.qp, &wr, nokick),
                         "a receive can be posted in INIT as long as there is room"))
            return false;
    }
    return true;
}

bool flusher_fail(struct drill *d, struct flusher *f)
{
    struct rdl_qp_attr a = {0};

    drill_say(d, "modify_qp h%u.%s state=ERR", f->end.number + 1, f->end.name);
    return rig_modify(d, &f->end, &a, QPS_ERR, 0) && drill_settle(d);
}

bool flusher_end(struct drill *d, struct flusher *f)
{
    drill_say(d, "destroy_qp h%u.%s", f->end.number + 1, f->end.name);
    drill_say(d, "destroy_cq h%u.%s", f->end.number + 1, f->cq_name);
    return drill_is_done(d, f->end.host, rdl_destroy_qp(d->lab, f->end.qp),
                         "a queue pair can be destroyed") &&
           drill_is_done(d, f->end.host, rdl_destroy_cq(d->lab, f->cq),
                         "a completion queue can be destroyed that nobody uses");
}

/* --- Events and completions ------------------------------------------------------------------- */

/* The number of events of @type about the object with the handle @raw. */
struct event_count {
    uint32_t type; /* enum async_event */
    uint64_t raw;
    uint32_t ret_n;
};

/* Takes and acknowledges all asynchronous events of the host @side, and counts them into @counts.
 */
static bool count_events(struct drill *d, unsigned side, struct event_count *counts,
                         size_t n_counts)
{
    const struct queues *q = queues_of(d);
    struct rdl_async_event e;
    size_t n = 1;

    while (n > 0) {
        if (!drill_settle(d) || !drill_works(d, rdl_get_async_event(d->lab, q->host[side], &e, &n),
                                             "a program can ask for events"))
            return false;
        if (n == 0)
            break;
        for (size_t i = 0; i < n_counts; i++)
            counts[i].ret_n += e.type == counts[i].type && e.raw == counts[i].raw;
        if (e.object != 0 && !drill_works(d, rdl_ack_async_event(d->lab, &e),
                                          "an event that was taken can be acknowledged"))
            return false;
    }
    return true;
}

bool queues_events(struct drill *d, unsigned side, uint32_t type, uint64_t raw, uint32_t *ret_n)
{
    struct event_count one = {.type = type, .raw = raw};
    const bool right = count_events(d, side, &one, 1);

    *ret_n = one.ret_n;
    return right;
}

bool queues_poll(struct drill *d, unsigned side, const char *cq_name, rdl_cq cq, struct rdl_wc *ret)
{
    const uint64_t kicks = rdl_total(d->lab, EV_kick);

    drill_say(d, "poll_cq h%u.%s", side + 1, cq_name);
    if (!rig_poll(d, cq, ret) || d->wrong)
        return false;
    return queues_of(d)->event_idx ||
           drill_expect(d, rdl_total(d->lab, EV_kick) == kicks,
                        "a driver that is asked for no notifications makes none", "there was one");
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* A work queue holds max_recv_wr requests and no more. */
static void fill_queue(struct drill *d)
{
    const uint32_t asked = drill_below(d, 41);
    const uint32_t most = rig_queue_size(queues_of(d)->profile, asked);
    const struct rdl_recv_wr one = {.wr_id = 1};
    struct flusher f;

    if (!flusher_make(d, drill_below(d, RIG_HOSTS), 64, asked, &f) ||
        !flusher_post(d, &f, most, WR_ID))
        return;
    d->n_unsaid++;
    if (drill_expect(d, rdl_post_recv(d->lab, f.end.qp, &one, false) == RDL_ERR_QUEUE_FULL,
                     "a queue holds as many requests as it was made for, and no more",
                     "%u were not all", most))
        (void)flusher_end(d, &f);
}

/* Polls the flushed receives @from .. @n - 1, in order and without a gap. */
static bool polls_all(struct drill *d, struct flusher *f, uint32_t from, uint32_t n)
{
    struct rdl_wc wc;

    for (uint32_t i = from; i < n; i++) {
        const bool any = queues_poll(d, f->end.number, f->cq_name, f->cq, &wc);

        if (!drill_expect(d, any && wc.wr_id == WR_ID + i && wc.status == WCS_WR_FLUSH_ERR,
                          "completions come in their order, and none is lost",
                          "the one of %u of %u is missing, or another", i, n))
            return false;
    }
    return drill_expect(d, !queues_poll(d, f->end.number, f->cq_name, f->cq, &wc),
                        "nothing completes twice", "there are more than %u completions", n);
}

/* Makes a queue pair beside @f that uses the completion queue of @f for its sends, its receives or
 * both.
 */
static bool neighbour_make(struct drill *d, const struct flusher *f, struct flusher *ret)
{
    const uint32_t which = 1 + drill_below(d, 3); /* 1: sends, 2: receives, 3: both */
    struct rdl_qp_config c = {.max_send_wr = 1, .max_recv_wr = 1};

    *ret =
        (struct flusher){.end = {.number = f->end.number, .host = f->end.host}, .max_recv_wr = 1};
    if (!add_cq(d, ret, 1))
        return false;
    c.send_cq = which & 1 ? f->cq : ret->cq;
    c.recv_cq = which & 2 ? f->cq : ret->cq;
    return add_qp(d, ret, &c);
}

/* Overflows a completion queue, or nearly.  Another queue pair uses it, too, and fails with it. */
static void overflow(struct drill *d)
{
    const bool is_rxe = rig_is_rxe(queues_of(d)->profile);
    const uint32_t asked = 1 + drill_below(d, 8), n = 1 + drill_below(d, 14);
    const uint32_t cqe = rig_queue_size(queues_of(d)->profile, asked);
    const uint32_t lost = n > cqe ? n - cqe : 0;
    const unsigned side = drill_below(d, RIG_HOSTS);
    struct event_count told[2] = {{.type = ASE_CQ_ERR}, {.type = ASE_QP_FATAL}};
    struct flusher f, beside;

    if (!flusher_make(d, side, asked, 14, &f) || !neighbour_make(d, &f, &beside) ||
        !flusher_post(d, &f, n, WR_ID) || !flusher_fail(d, &f))
        return;
    told[0].raw = f.cq.raw;
    told[1].raw = beside.end.qp.raw;
    if (!count_events(d, side, told, ARRAY_LEN(told)) ||
        !drill_expect(d, told[0].ret_n == (is_rxe ? lost : lost > 0),
                      "a completion queue that overflows tells so once, at rxe each time, and no "
                      "other does",
                      "%u events, %u completions in %u entries", told[0].ret_n, n, cqe) ||
        !drill_expect(d, told[1].ret_n == (!is_rxe && lost > 0),
                      "each queue pair that uses a completion queue fails with it, but at rxe",
                      "%u events, %u completions in %u entries", told[1].ret_n, n, cqe) ||
        !polls_all(d, &f, 0, n < cqe ? n : cqe) || !flusher_end(d, &beside))
        return;
    (void)flusher_end(d, &f);
}

/* Resizes a completion queue: its completions stay, and it cannot become smaller than their number.
 */
static void resize(struct drill *d)
{
    const uint32_t n = 2 + drill_below(d, 12), polled = drill_below(d, n);
    const uint32_t left = n - polled;
    const uint32_t cqe = drill_one_in(d, 2) ? left - 1 : 1 + drill_below(d, 24);
    const unsigned side = drill_below(d, RIG_HOSTS);
    struct flusher f;
    enum rdl_status st;
    struct rdl_wc wc;

    if (!flusher_make(d, side, 14, 14, &f) || !flusher_post(d, &f, n, WR_ID) ||
        !flusher_fail(d, &f))
        return;
    for (uint32_t i = 0; i < polled; i++) {
        if (!drill_expect(d, queues_poll(d, side, f.cq_name, f.cq, &wc) && wc.wr_id == WR_ID + i,
                          "completions come in their order, and none is lost", "not %u", i))
            return;
    }
    if (cqe >= left)
        drill_say(d, "resize_cq h%u.%s cqe=%u", side + 1, f.cq_name, cqe);
    else
        d->n_unsaid++;
    st = rdl_resize_cq(d->lab, f.cq, cqe);
    if (cqe < left || cqe == 0) {
        if (!drill_expect(d, st == RDL_ERR_INVAL,
                          "a completion queue is not made smaller than what is in it",
                          "%s: %u entries for %u completions", rdl_status_name(st), cqe, left))
            return;
    } else if (!drill_is_done(d, f.end.host, st, "a completion queue can be resized")) {
        return;
    }
    if (polls_all(d, &f, polled, n))
        (void)flusher_end(d, &f);
}

/* Resizes the queues of a queue pair, which has as much room as was asked for then.  A reset of its
 * queue that no request has announced makes it fail, also if one was announced before.
 */
static void resize_pair(struct drill *d)
{
    const uint32_t before = 1 + drill_below(d, 12), after = 1 + drill_below(d, 24);
    const uint32_t most = rig_queue_size(queues_of(d)->profile, after);
    const struct rdl_recv_wr one = {.wr_id = 1};
    const bool resets = drill_one_in(d, 2);
    struct flusher f;
    uint32_t told;

    if (!flusher_make(d, 0, 64, before, &f))
        return;
    drill_say(d, "resize_qp h1.%s max_recv_wr=%u", f.end.name, after);
    if (!drill_is_done(d, f.end.host, rdl_resize_qp(d->lab, f.end.qp, 0, after),
                       "the queues of a queue pair can be resized while they are empty") ||
        !flusher_post(d, &f, resets ? drill_below(d, most) : most, WR_ID))
        return;
    d->n_unsaid++;
    if (!resets &&
        !drill_expect(d, rdl_post_recv(d->lab, f.end.qp, &one, false) == RDL_ERR_QUEUE_FULL,
                      "a queue holds as many requests as it was resized for, and no more",
                      "%u were not all", most))
        return;
    if ((resets && !queues_take_away(d, f.end.qp)) ||
        !queues_events(d, 0, ASE_QP_FATAL, f.end.qp.raw, &told) ||
        !drill_expect(d, told == resets,
                      "a queue pair whose queue is reset without a request fails, and no other",
                      "%u events", told))
        return;
    (void)flusher_end(d, &f);
}

/* --- Connected pairs -------------------------------------------------------------------------- */

struct pair {
    struct rig_end end[RIG_HOSTS];
    rdl_cq cq[RIG_HOSTS];
    char cq_name[RIG_HOSTS][RDL_NAME_BYTES];
    rdl_srq srq; /* of the second queue pair; raw 0: none */
    char srq_name[RDL_NAME_BYTES];
};

static bool pair_make(struct drill *d, struct pair *p, bool credits)
{
    const struct queues *q = queues_of(d);

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        struct rig_end *e = &p->end[i];
        struct rdl_qp_config c = {
            .pd = q->pd[i], .type = QPT_RC, .max_send_wr = 32, .max_recv_wr = 32};

        *e = (struct rig_end){.number = i,
                              .host = q->host[i],
                              .sq_psn = drill_below(d, 1u << 24),
                              .access = ACC_LOCAL_WRITE,
                              .timeout = 14,
                              .retry_cnt = 7,
                              .credits = credits};
        name_object(d, p->cq_name[i], "cq");
        name_object(d, e->name, "qp");
        drill_say(d, "create_cq h%u cqe=32 as %s", i + 1, p->cq_name[i]);
        if (!drill_is_done(d, e->host, rdl_create_cq(d->lab, e->host, 32, p->cq_name[i], &p->cq[i]),
                           "a completion queue can be created"))
            return false;
        c.send_cq = c.recv_cq = p->cq[i];
        if (i == 1)
            c.srq = p->srq;
        if (!rig_add_qp(d, e, &c))
            return false;
    }
    return rig_connect(d, &p->end[0], &p->end[1]);
}

static bool pair_end(struct drill *d, struct pair *p)
{
    uint32_t n;

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        drill_say(d, "destroy_qp h%u.%s", i + 1, p->end[i].name);
        drill_say(d, "destroy_cq h%u.%s", i + 1, p->cq_name[i]);
        if (!queues_events(d, i, 0, 0, &n) ||
            !drill_is_done(d, p->end[i].host, rdl_destroy_qp(d->lab, p->end[i].qp),
                           "a queue pair can be destroyed") ||
            !drill_is_done(d, p->end[i].host, rdl_destroy_cq(d->lab, p->cq[i]),
                           "a completion queue can be destroyed that nobody uses"))
            return false;
    }
    return true;
}

/* Sends a message from the first queue pair to the second. */
static bool pair_send(struct drill *d, struct pair *p)
{
    const struct queues *q = queues_of(d);
    const struct rdl_sge sge = {q->addr[0], 1 + drill_below(d, 1500), q->lkey[0]};
    const struct rdl_send_wr wr = {
        .wr_id = 1, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &sge, .n_sge = 1};

    drill_say(d, "post_send h1.%s op=send sge=mr[0:%u] signaled", p->end[0].name, sge.length);
    if (!drill_works(d, rdl_post_send(d->lab, p->end[0].qp, &wr, false),
                     "a send can be posted in RTS") ||
        !drill_settle(d))
        return false;
    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        struct rdl_wc wc = {0};
        const bool any = queues_poll(d, i, p->cq_name[i], p->cq[i], &wc);

        if (!drill_expect(
                d, any && wc.status == WCS_SUCCESS && (i == 0 || wc.byte_len == sge.length),
                "a message that has a receive arrives, and completes at both sides",
                "h%u: %s, %u of %u bytes", i + 1,
                any ? enum_name(&enum_wc_status, wc.status) : "nothing", wc.byte_len, sge.length))
            return false;
    }
    return true;
}

/* Posts a receive to the second queue pair, or to @p->srq if there is one. */
static enum rdl_status post_receive(struct drill *d, const struct pair *p)
{
    const struct queues *q = queues_of(d);
    const struct rdl_sge sge = {q->addr[1], MR_BYTES, q->lkey[1]};
    const struct rdl_recv_wr wr = {.wr_id = 2, .sge = &sge, .n_sge = 1};

    if (p->srq.raw)
        return rdl_post_srq_recv(d->lab, p->srq, &wr, false);
    return rdl_post_recv(d->lab, p->end[1].qp, &wr, false);
}

static bool pair_receive(struct drill *d, const struct pair *p)
{
    drill_say(d, "post_%srecv h2.%s wr_id=2 sge=mr[0:4k]", p->srq.raw ? "srq_" : "",
              p->srq.raw ? p->srq_name : p->end[1].name);
    return drill_works(d, post_receive(d, p), "a receive can be posted as long as there is room");
}

/* Checks the credits that the second queue pair advertises for its receives. */
static void use_credits(struct drill *d)
{
    uint32_t waiting = 0, sent = 0;
    struct pair p = {.srq = {0}};

    if (!pair_make(d, &p, true))
        return;
    for (uint32_t i = 0; i < 10; i++) {
        uint64_t credit_ssn;

        if (waiting == 0 || (waiting < CREDITS_MAX && drill_one_in(d, 2))) {
            if (!pair_receive(d, &p) || !drill_settle(d))
                return;
            waiting++;
        } else if (pair_send(d, &p)) {
            waiting--;
            sent++;
        }
        if (d->wrong || !number_at(d, &credit_ssn, "h1", p.end[0].name, "credit_ssn") ||
            (sent > 0 &&
             !drill_expect(d, credit_ssn == sent + waiting, "with credits each new receive is told",
                           "the limit is %" PRIu64 ": %u messages, %u receives", credit_ssn, sent,
                           waiting)))
            return;
    }
    (void)pair_end(d, &p);
}

static bool set_limit(struct drill *d, const struct pair *p, uint32_t limit)
{
    const struct rdl_srq_attr a = {.limit = limit};

    d->n_unsaid++;
    return drill_is_done(d, queues_of(d)->host[1],
                         rdl_modify_srq(d->lab, p->srq, &a, RDL_SRQ_LIMIT),
                         "the limit of a shared receive queue can be set");
}

/* Consumes receives of @p->srq, which holds @left of @most, and checks its limit event. */
static bool drain_srq(struct drill *d, struct pair *p, uint32_t left, uint32_t most)
{
    uint32_t limit = 0, told;

    for (uint32_t i = 0; i < 8 && left > 0; i++) {
        bool due;

        if (limit == 0 && !drill_one_in(d, 3)) {
            limit = drill_below(d, most + 1);
            if (!set_limit(d, p, limit))
                return false;
        }
        if (!pair_send(d, p))
            return false;
        left--;
        due = left < limit;
        if (!queues_events(d, 1, ASE_SRQ_LIMIT_REACHED, p->srq.raw, &told) ||
            !drill_expect(d, told == due,
                          "a shared receive queue tells once that fewer receives than its limit "
                          "are left",
                          "%u events, %u are left, the limit is %u", told, left, limit))
            return false;
        limit = due ? 0 : limit;
    }
    return true;
}

static void use_srq(struct drill *d)
{
    const struct queues *q = queues_of(d);
    const struct rdl_srq_attr a = {.max_wr = 1 + drill_below(d, 12), .max_sge = 1};
    const uint32_t most = rig_queue_size(q->profile, a.max_wr);
    const uint32_t n = drill_one_in(d, 3) ? most : 1 + drill_below(d, most);
    struct pair p = {.srq = {0}};

    name_object(d, p.srq_name, "srq");
    drill_say(d, "create_srq h2.pd max_wr=%u max_sge=1 as %s", a.max_wr, p.srq_name);
    if (!drill_is_done(d, q->host[1], rdl_create_srq(d->lab, q->pd[1], &a, p.srq_name, &p.srq),
                       "a shared receive queue can be created") ||
        !pair_make(d, &p, false))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!pair_receive(d, &p))
            return;
    }
    if (n == most && !drill_expect(d, post_receive(d, &p) == RDL_ERR_QUEUE_FULL,
                                   "a queue holds as many requests as it was made for, and no more",
                                   "%u were not all", n))
        return;
    if (drain_srq(d, &p, n, most) && pair_end(d, &p))
        (void)drill_is_done(d, q->host[1], rdl_destroy_srq(d->lab, p.srq),
                            "a shared receive queue can be destroyed that nobody uses");
}

/* --- Setup ------------------------------------------------------------------------------------ */

static bool add_memory(struct drill *d, unsigned side)
{
    struct queues *q = queues_of(d);
    const rdl_host host = q->host[side];
    struct rdl_mr_info info;

    drill_say(d, "alloc_pd h%u as pd", side + 1);
    drill_say(d, "reg_mr h%u.pd len=4k access=lw as mr", side + 1);
    if (!drill_is_done(d, host, rdl_alloc_pd(d->lab, host, "pd", &q->pd[side]),
                       "a protection domain can be had") ||
        !drill_works(d, rdl_mem_alloc(d->lab, host, MR_BYTES, &q->addr[side]),
                     "memory can be had") ||
        !drill_is_done(d, host,
                       rdl_reg_mr(d->lab, q->pd[side], q->addr[side], MR_BYTES, ACC_LOCAL_WRITE,
                                  "mr", &q->mr[side]),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, q->mr[side], &info), "a region has keys"))
        return false;
    q->lkey[side] = info.lkey;
    return true;
}

static void set_up(struct drill *d)
{
    struct queues *q = queues_of(d);
    struct rig_config c = {.profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba};
    uint32_t n;

    q->profile = c.profile;
    c.ring = drill_one_in(d, 2) ? VRING_packed : VRING_split;
    q->event_idx = !drill_one_in(d, 3);
    if (!q->event_idx)
        c.features_off |= (uint64_t)1 << VF_EVENT_IDX;
    if (!rig_add_hosts(d, &c, q->host, &q->link))
        return;
    if (drill_one_in(d, 8))
        queues_small_buffers(d);
    else if (drill_one_in(d, 4))
        queues_storm(d);
    if (d->wrong || q->broken || !add_memory(d, 0) || !add_memory(d, 1))
        return;
    for (unsigned side = 0; side < RIG_HOSTS; side++) { /* take the PORT_ACTIVE events */
        if (d->wrong || !queues_events(d, side, 0, 0, &n))
            return;
    }
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        fill_queue, overflow, overflow,    resize,        resize,          resize_pair,
        use_srq,    use_srq,  use_credits, queues_forget, queues_forget_cq};

    if (!queues_of(d)->broken && drill_one_in(d, 4)) /* each step makes many calls */
        steps[drill_below(d, ARRAY_LEN(steps))](d);
}

const struct rings_part rings_of_queues = {set_up, take};
