/* SPDX-License-Identifier: MIT */
/* The drill of the shortcut: two labs that differ in nothing but that the machine of the second has
 * a shortcut between its functions.  Both take the same steps, and programs must see the same in
 * both: results of calls, completions, asynchronous events, memory, and all that the tree says of
 * the guests and does not count frames or times.
 *
 * Two things are not compared, because no program may rely on them: the bytes of a buffer whose
 * message failed, and the order in which completions of different queue pairs come.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/machine.h"
#include "rdmalab/srq.h"
#include "rdmalab/trace.h"
#include "swarm/drills/drill_shortcut.h"
#include "swarm/drills/kinds.h"

#define STEPS      24u
#define INLINE     128u
#define READ_BYTES 256u /* at most, of ends with different MTUs: one response */
#define CQ_ENTRIES 256u
#define DISTANT    (ROOM + 4096u) /* from the start of the memory of a guest: behind its end */

/* The service of @pair: RC, and of the second UC if both devices have it. */
static uint32_t type_of(uint32_t pair, bool is_virtio)
{
    return pair == 1 && is_virtio ? QPT_UC : QPT_RC;
}

/* --- Setting up ------------------------------------------------------------------------------- */

static bool add_machine(struct drill *d, bool shortcut)
{
    const struct rdl_host_config machine = {.name = "m1", .vfs = SIDES, .shortcut = shortcut};
    struct rdl_vf_settings set;
    rdl_host made;

    if (!drill_works(d, rdl_host_add(d->lab, &machine, &made), "a machine can be added"))
        return false;
    for (uint32_t i = 0; i < SIDES; i++) {
        if (!drill_works(d, rdl_vf_get(d->lab, made, i, &set), "a function has settings"))
            return false;
        set.state = VF_enable;
        if (!drill_works(d, rdl_vf_set(d->lab, made, i, &set), "a function can be set"))
            return false;
    }
    return true;
}

/* The configuration of both labs, drawn once. */
struct twin_config {
    uint32_t device[SIDES], profile[SIDES];
    struct rig_end like[SIDES][PAIRS]; /* attributes of the queue pairs */
    bool has_srq, sig_all;
    bool is_sound;  /* the ends of each pair fit each other, and allow all */
    bool is_virtio; /* both devices are: they have UC and inline data */
};

static void draw_all(struct drill *d, struct twin_config *w)
{
    static const uint32_t mtus[] = {MTU_256, MTU_1024, MTU_1024, MTU_4096};
    const uint32_t mtu = mtus[drill_below(d, ARRAY_LEN(mtus))];
    uint32_t gid_index;

    w->has_srq = drill_one_in(d, 3);
    w->sig_all = drill_one_in(d, 4);
    w->is_sound = !drill_one_in(d, 3);
    w->is_virtio = true;
    gid_index = drill_below(d, 2);
    for (unsigned side = 0; side < SIDES; side++) {
        w->device[side] = drill_device(d, side);
        w->is_virtio &= w->device[side] == DEVICE_virtio;
        w->profile[side] = drill_one_in(d, 3) ? rig_draw_rxe(d) : (uint32_t)PROFILE_iba;
        for (unsigned p = 0; p < PAIRS; p++) {
            struct rig_end *e = &w->like[side][p];

            e->sq_psn = drill_one_in(d, 3) ? 0xffffffu - drill_below(d, 8) : drill_below(d, 5000);
            e->access = ACC_LOCAL_WRITE | (drill_one_in(d, 8) && !w->is_sound ? 0 : rig_rights);
            e->timeout = 8 + drill_below(d, 4);
            e->retry_cnt = drill_below(d, 3);
            e->path_mtu = w->is_sound ? mtu : mtus[drill_below(d, ARRAY_LEN(mtus))];
            e->min_rnr_timer = 1 + drill_below(d, 6);
            e->max_rd_atomic = 1 + drill_below(d, 4);
            e->max_dest_rd_atomic = 4;
            e->gid_index = gid_index;
        }
    }
}

static bool add_memory(struct twin_lab *l, unsigned side)
{
    struct drill *d = l->d;
    rdl_mr mr;

    return drill_is_done(d, l->host[side], rdl_alloc_pd(d->lab, l->host[side], NULL, &l->pd[side]),
                         "a domain can be had") &&
           drill_works(d, rdl_mem_alloc(d->lab, l->host[side], ROOM, &l->base[side]),
                       "memory can be had") &&
           drill_is_done(
               d, l->host[side],
               rdl_reg_mr(d->lab, l->pd[side], l->base[side], ROOM, rig_rights, NULL, &mr),
               "memory can be registered") &&
           drill_works(d, rdl_mr_info(d->lab, mr, &l->open[side]), "a region has a key") &&
           drill_is_done(
               d, l->host[side],
               rdl_reg_mr(d->lab, l->pd[side], l->base[side], ROOM, ACC_LOCAL_WRITE, NULL, &mr),
               "memory can be registered") &&
           drill_works(d, rdl_mr_info(d->lab, mr, &l->closed[side]), "a region has a key");
}

static bool add_queues(struct twin_lab *l, unsigned side, const struct twin_config *w)
{
    const struct rdl_srq_attr srq = {.max_wr = DEPTH, .max_sge = 2};
    struct drill *d = l->d;

    if (w->has_srq && !drill_is_done(d, l->host[side],
                                     rdl_create_srq(d->lab, l->pd[side], &srq, NULL, &l->srq[side]),
                                     "a shared queue can be created"))
        return false;
    for (unsigned p = 0; p < PAIRS; p++) {
        struct rdl_qp_config c = {.pd = l->pd[side],
                                  .type = type_of(p, w->is_virtio),
                                  .max_send_wr = DEPTH,
                                  .max_recv_wr = DEPTH,
                                  .max_inline_data = w->is_virtio ? INLINE : 0,
                                  .sq_sig_all = w->sig_all};

        for (unsigned q = 0; q < 2; q++) {
            if (!drill_is_done(
                    d, l->host[side],
                    rdl_create_cq(d->lab, l->host[side], CQ_ENTRIES, NULL, &l->cq[side][p][q]),
                    "a CQ can be created"))
                return false;
        }
        c.send_cq = l->cq[side][p][0];
        c.recv_cq = l->cq[side][p][1];
        if (w->has_srq && p == 0)
            c.srq = l->srq[side];
        l->end[side][p] = w->like[side][p];
        l->end[side][p].number = side;
        l->end[side][p].host = l->host[side];
        snprintf(l->end[side][p].name, RDL_NAME_BYTES, "q%u", p);
        if (!rig_add_qp(d, &l->end[side][p], &c))
            return false;
    }
    return true;
}

static bool connect(struct twin_lab *l, uint32_t pair, bool is_virtio)
{
    const uint32_t type = type_of(pair, is_virtio);

    return rig_raise(l->d, &l->end[0][pair], &l->end[1][pair], type) &&
           rig_raise(l->d, &l->end[1][pair], &l->end[0][pair], type);
}

static bool build(struct twin_lab *l, const struct twin_config *w, bool shortcut)
{
    static const char *const names[SIDES] = {"h1", "h2"};
    struct drill *d = l->d;

    if (!add_machine(d, shortcut))
        return false;
    for (unsigned side = 0; side < SIDES; side++) {
        const struct rdl_host_config host = {.name = names[side],
                                             .on = "m1",
                                             .vf = side,
                                             .device = w->device[side],
                                             .profile = w->profile[side]};

        if (!drill_works(d, rdl_host_add(d->lab, &host, &l->host[side]), "a guest can be added") ||
            !add_memory(l, side) || !add_queues(l, side, w))
            return false;
    }
    return connect(l, 0, w->is_virtio) && connect(l, 1, w->is_virtio);
}

/* Fills the memory of both labs with the same bytes. */
static bool fill(struct drill *d, struct twins *t)
{
    uint8_t *bytes = malloc(ROOM);
    bool ok = bytes != NULL;

    for (uint32_t i = 0; bytes && i < ROOM; i++)
        bytes[i] = (uint8_t)drill_below(d, 256);
    for (unsigned side = 0; side < SIDES && ok; side++) {
        for (unsigned i = 0; i < LANES && ok; i++)
            ok = drill_works(d,
                             rdl_mem_write(t->lane[i].d->lab, t->lane[i].host[side],
                                           t->lane[i].base[side], bytes, ROOM),
                             "memory can be written");
    }
    free(bytes);
    return ok;
}

static void set_up(struct drill *d)
{
    const struct rdl_lab_config config = {.seed = d->seed, .check_invariants = true};
    struct twins *t = d->own;
    struct twin_config w = {0};

    draw_all(d, &w);
    t->has_srq = w.has_srq;
    t->is_sound = w.is_sound;
    t->is_virtio = w.is_virtio;
    t->any_rxe = rig_is_rxe(w.profile[0]) || rig_is_rxe(w.profile[1]);
    t->other = (struct drill){.kind = d->kind, .seed = d->seed};
    t->lane[0].d = &t->other;
    t->lane[1].d = d;
    d->n_unsaid++; /* a script has one lab */
    if (!drill_works(d, rdl_lab_new(&config, &t->other.lab), "a lab can be made") ||
        !drill_works(d, rdl_record(t->other.lab, 64, 4096), "events can be recorded"))
        return;
    for (unsigned i = 0; i < LANES; i++) {
        if (!build(&t->lane[i], &w, i == 1))
            break;
    }
    if (t->other.wrong)
        drill_expect(d, false, t->other.wrong, "%s", t->other.have);
    if (!d->wrong)
        (void)fill(d, t);
}

static void done(struct drill *d)
{
    struct twins *t = d->own;

    for (unsigned i = 0; i < LANES; i++)
        free(t->lane[i].values);
    rdl_lab_free(t->other.lab);
}

/* --- Drawing requests ------------------------------------------------------------------------- */

/* Returns true if the pair of this step has shared receives. */
static bool is_shared(const struct twins *t)
{
    return t->has_srq && t->pair == 0;
}

static struct twin_piece take_piece(struct drill *d, unsigned side, uint32_t bytes, uint32_t align)
{
    struct twins *t = d->own;
    const uint32_t at = (t->used[side] + drill_below(d, 40) + align - 1) / align * align;

    t->used[side] = at + bytes;
    RDL_ASSERT(t->used[side] <= SHARED_AT);
    return (struct twin_piece){side, at, bytes};
}

static bool fetches(const struct twin_request *q)
{
    return q->opcode == WR_RDMA_READ || q->opcode == WR_ATOMIC_FETCH_AND_ADD ||
           q->opcode == WR_ATOMIC_CMP_AND_SWP;
}

static bool is_atomic(const struct twin_request *q)
{
    return fetches(q) && q->opcode != WR_RDMA_READ;
}

static bool takes_receive(const struct twin_request *q)
{
    return q->opcode == WR_SEND || q->opcode == WR_SEND_WITH_IMM ||
           q->opcode == WR_RDMA_WRITE_WITH_IMM;
}

static bool is_send(const struct twin_request *q)
{
    return q->opcode == WR_SEND || q->opcode == WR_SEND_WITH_IMM;
}

static uint32_t draw_opcode(struct drill *d, uint32_t type)
{
    static const uint32_t rc[] = {
        WR_SEND,      WR_SEND_WITH_IMM,        WR_RDMA_WRITE,        WR_RDMA_WRITE_WITH_IMM,
        WR_RDMA_READ, WR_ATOMIC_FETCH_AND_ADD, WR_ATOMIC_CMP_AND_SWP};

    return rc[drill_below(d, type == QPT_RC ? ARRAY_LEN(rc) : 4)];
}

static uint32_t draw_bytes(struct drill *d, uint32_t mtu)
{
    const uint32_t edges[] = {0, 1, 4, mtu - 1, mtu, mtu + 1, 2 * mtu, 4 * mtu + 1};

    return drill_one_in(d, 2) ? edges[drill_below(d, ARRAY_LEN(edges))] : drill_below(d, 3000);
}

/* Returns true if @q can be wrong in this way. */
static bool may_be(const struct twin_request *q, bool is_shared, enum twin_wrong wrong)
{
    const bool is_remote = !is_send(q);

    switch (wrong) {
    case WRONG_LKEY:
    case WRONG_LOCAL:
        return q->bytes > 0 && !(q->flags & SF_INLINE);
    case WRONG_RKEY:
    case WRONG_RIGHT:
    case WRONG_RANGE:
        return is_remote && q->bytes > 0;
    case WRONG_RECEIVE:
        return is_send(q) && q->bytes > 0 && !is_shared;
    case WRONG_NO_RECEIVE:
        return takes_receive(q);
    case WRONG_ALIGNMENT:
        return is_atomic(q);
    default:
        return false;
    }
}

static void draw_request(struct drill *d, unsigned side, bool may_be_wrong, struct twin_request *q)
{
    struct twins *t = d->own;
    const uint32_t mtu = mtu_bytes(t->lane[0].end[side][t->pair].path_mtu);
    uint32_t left;
    enum twin_wrong wrong;

    *q = (struct twin_request){.opcode = draw_opcode(d, type_of(t->pair, t->is_virtio))};
    q->bytes = is_atomic(q) ? 8 : draw_bytes(d, mtu);
    if (q->opcode == WR_RDMA_READ && !t->is_sound && q->bytes > READ_BYTES)
        q->bytes = READ_BYTES;
    q->flags = drill_one_in(d, 4) ? 0 : SF_SIGNALED;
    if (takes_receive(q) && drill_one_in(d, 3))
        q->flags |= SF_SOLICITED;
    if (type_of(t->pair, t->is_virtio) == QPT_RC && drill_one_in(d, 6))
        q->flags |= SF_FENCE;
    if (t->is_virtio && !fetches(q) && q->bytes <= INLINE && drill_one_in(d, 2))
        q->flags |= SF_INLINE;
    wrong = (enum twin_wrong)(1 + drill_below(d, WRONG_KINDS - 1));
    if (may_be_wrong && may_be(q, is_shared(t), wrong))
        q->wrong = wrong;
    q->n_from = q->flags & SF_INLINE || is_atomic(q) ? 1 : 1 + drill_below(d, PIECES);
    left = q->bytes;
    for (uint32_t i = 0; i < q->n_from; i++) {
        const uint32_t n = i + 1 == q->n_from ? left : drill_below(d, left + 1);

        q->from[i] = take_piece(d, side, n, 1);
        left -= n;
    }
    q->to = take_piece(d, !side, q->bytes, is_atomic(q) ? 8 : 1);
    q->compare_add = drill_below(d, 1000);
    q->swap = drill_below(d, 1000);
    q->same_word = drill_one_in(d, 2);
}

/* --- Posting ---------------------------------------------------------------------------------- */

/* The bytes of a receive for @q: sometimes more than needed. */
static uint32_t receive_bytes(const struct twin_request *q)
{
    if (q->wrong == WRONG_RECEIVE)
        return q->bytes - 1;
    return q->opcode == WR_RDMA_WRITE_WITH_IMM ? 0 : q->bytes;
}

static enum rdl_status post_receive(const struct twin_lab *l, const struct twins *t, unsigned side,
                                    const struct twin_request *q)
{
    const uint32_t bytes = is_shared(t) ? SHARED_BYTES : receive_bytes(q), head = bytes / 3;
    const uint64_t at = l->base[side] + (is_shared(t) ? SHARED_AT : q->to.at);
    const struct rdl_sge sge[] = {{at, head, l->open[side].lkey},
                                  {at + head, bytes - head, l->closed[side].lkey}};
    const struct rdl_recv_wr wr = {.wr_id = t->n_wr, .sge = sge, .n_sge = bytes > 0 ? 2 : 0};

    if (is_shared(t))
        return rdl_post_srq_recv(l->d->lab, l->srq[side], &wr, false);
    return rdl_post_recv(l->d->lab, l->end[side][t->pair].qp, &wr, false);
}

static enum rdl_status post_send(const struct twin_lab *l, const struct twins *t, unsigned side,
                                 const struct twin_request *q)
{
    const unsigned peer = !side;
    uint8_t data[INLINE];
    struct rdl_sge sge[PIECES];
    struct rdl_send_wr wr = {.wr_id = t->n_wr,
                             .opcode = q->opcode,
                             .flags = q->flags,
                             .imm = {1, 2, 3, (uint8_t)t->n_wr},
                             .sge = sge,
                             .n_sge = q->n_from,
                             .remote_addr = l->base[peer] + q->to.at,
                             .rkey = l->open[peer].rkey,
                             .compare_add = q->compare_add,
                             .swap = q->swap};

    for (uint32_t i = 0; i < q->n_from; i++) {
        sge[i] =
            (struct rdl_sge){l->base[side] + q->from[i].at, q->from[i].bytes, l->open[side].lkey};
        if (q->wrong == WRONG_LKEY)
            sge[i].lkey ^= 0x5a;
        if (q->wrong == WRONG_LOCAL)
            sge[i].addr += DISTANT;
    }
    if (q->flags & SF_INLINE) {
        wr.n_sge = 0;
        wr.inline_data = data;
        wr.inline_bytes = q->bytes;
        if (rdl_mem_read(l->d->lab, l->host[side], sge[0].addr, data, q->bytes) != RDL_OK)
            return RDL_ERR_FAULT;
    }
    if (q->opcode == WR_ATOMIC_CMP_AND_SWP && q->same_word)
        (void)!rdl_mem_read(l->d->lab, l->host[peer], wr.remote_addr, &wr.compare_add, 8);
    if (q->wrong == WRONG_RKEY)
        wr.rkey ^= 0x5a;
    if (q->wrong == WRONG_RIGHT)
        wr.rkey = l->closed[peer].rkey;
    if (q->wrong == WRONG_RANGE)
        wr.remote_addr += DISTANT;
    if (q->wrong == WRONG_ALIGNMENT)
        wr.remote_addr += 1;
    return rdl_post_send(l->d->lab, l->end[side][t->pair].qp, &wr, false);
}

static bool same_status(struct drill *d, const enum rdl_status st[LANES], const char *what)
{
    return drill_expect(d, st[0] == st[1], what, "%s, and by the shortcut %s",
                        rdl_status_name(st[0]), rdl_status_name(st[1]));
}

static void tear(struct twins *t, const struct twin_piece *p)
{
    if (p->bytes > 0)
        t->torn[t->n_torn++] = *p;
}

/* Posts @n requests of @side in both labs, and the receives for them at its peer. */
static bool post(struct drill *d, unsigned side, const struct twin_request *q, uint32_t n)
{
    struct twins *t = d->own;
    enum rdl_status st[LANES];

    for (uint32_t i = 0; i < n; i++) {
        if (!takes_receive(&q[i]) || q[i].wrong == WRONG_NO_RECEIVE)
            continue;
        t->n_wr++;
        for (unsigned k = 0; k < LANES; k++)
            st[k] = post_receive(&t->lane[k], t, !side, &q[i]);
        if (!same_status(d, st, "a receive is posted in both labs or in none"))
            return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        t->n_wr++;
        for (unsigned k = 0; k < LANES; k++)
            st[k] = post_send(&t->lane[k], t, side, &q[i]);
        if (!same_status(d, st, "a request is posted in both labs or in none"))
            return false;
    }
    return true;
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* Resets the queue pairs of the step in both labs and connects them again, after a failure. */
static bool revive(struct drill *d)
{
    struct twins *t = d->own;
    struct rdl_qp_attr reset = {0};

    for (unsigned k = 0; k < LANES; k++) {
        struct twin_lab *l = &t->lane[k];

        for (unsigned side = 0; side < SIDES; side++) {
            if (!rig_modify(l->d, &l->end[side][t->pair], &reset, QPS_RESET, 0))
                return drill_expect(d, false, "a queue pair can be reset", "h%u", side + 1);
        }
        if (!connect(l, t->pair, t->is_virtio))
            return drill_expect(d, false, "a queue pair can be connected again", "in lab %u", k);
    }
    return true;
}

static void take(struct drill *d)
{
    struct twins *t = d->own;
    struct twin_request q[SIDES][BATCH_MAX];
    uint32_t n[SIDES];
    const unsigned first = drill_below(d, SIDES);
    const bool may_be_wrong = drill_one_in(d, 2);
    bool is_wrong = !t->is_sound;

    t->pair = drill_below(d, PAIRS);
    t->used[0] = t->used[1] = 0;
    t->n_torn = 0;
    t->failed = false;
    /* With ends that do not fit, and of a wrong request of a host like rxe, requests that are on
     * their way fail or not as a matter of time.
     */
    n[first] = t->is_sound && !(may_be_wrong && t->any_rxe) ? 1 + drill_below(d, BATCH_MAX) : 1;
    /* When one side fails, it is a matter of time which requests of the other come through. */
    n[!first] = may_be_wrong || !t->is_sound ? 0 : drill_below(d, BATCH_MAX + 1);
    for (unsigned side = 0; side < SIDES; side++) {
        for (uint32_t i = 0; i < n[side]; i++) {
            draw_request(d, side, may_be_wrong && i + 1 == n[side], &q[side][i]);
            is_wrong |= q[side][i].wrong != WRONG_NONE;
        }
    }
    if (!post(d, first, q[first], n[first]) || !post(d, !first, q[!first], n[!first]))
        return;
    for (unsigned k = 0; k < LANES; k++) {
        if (!drill_settle(t->lane[k].d)) {
            drill_expect(d, false, "both labs come to rest", "lab %u: %s", k, t->lane[k].d->have);
            return;
        }
    }
    if (!twins_same_completions(d) || !twins_same_events(d, 0) || !twins_same_events(d, 1))
        return;
    for (unsigned side = 0; side < SIDES && (is_wrong || t->failed); side++) {
        for (uint32_t i = 0; i < n[side]; i++) {
            tear(t, &q[side][i].to);
            for (uint32_t k = 0; k < q[side][i].n_from; k++)
                tear(t, &q[side][i].from[k]);
        }
        if (is_shared(t))
            tear(t, &(struct twin_piece){!side, SHARED_AT, SHARED_BYTES});
    }
    if (!twins_mend(d) || !twins_same_memory(d, 0) || !twins_same_memory(d, 1) ||
        !twins_same_tree(d, 0) || !twins_same_tree(d, 1))
        return;
    if ((is_wrong || t->failed) && revive(d))
        (void)twins_same_completions(d);
}

const struct drill_kind drill_of_shortcut = {.name = "shortcut",
                                             .bytes = sizeof(struct twins),
                                             .steps = STEPS,
                                             .set_up = set_up,
                                             .take = take,
                                             .done = done,
                                             .any_device = true};
