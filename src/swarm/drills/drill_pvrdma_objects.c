/* SPDX-License-Identifier: MIT */
/* The drill of pvrdma: commands that create, destroy and query objects. */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/min.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_type.h"
#include "swarm/drills/drill_pvrdma.h"

#define GID_TABLE 16u /* entries; the model has the first HOSTILE_GIDS */

/* --- Handles ---------------------------------------------------------------------------------- */

static bool is_used(struct drill *d, enum hostile_kind kind, uint32_t handle)
{
    for (uint32_t i = 0; i < HOSTILE_SLOTS; i++) {
        if (hostile_at(d, kind, i)->handle == handle && handle != HOSTILE_NOTHING)
            return true;
    }
    return false;
}

uint32_t hostile_pick(struct drill *d, enum hostile_kind kind)
{
    const uint32_t first = drill_below(d, HOSTILE_SLOTS);

    for (uint32_t k = 0; k < HOSTILE_SLOTS; k++) {
        const uint32_t i = (first + k) % HOSTILE_SLOTS;

        if (hostile_at(d, kind, i)->handle != HOSTILE_NOTHING)
            return i;
    }
    return HOSTILE_SLOTS;
}

/* Draws a handle that no object of @kind has. */
static uint32_t stranger(struct drill *d, enum hostile_kind kind)
{
    const bool large = drill_one_in(d, 3);
    uint32_t handle = drill_below(d, large ? 2 : 12);

    if (large)
        handle = UINT32_MAX - handle;
    else
        handle <<= drill_below(d, 8);
    while (is_used(d, kind, handle))
        handle++;
    return handle;
}

static uint32_t count(struct drill *d, enum hostile_kind kind)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < HOSTILE_SLOTS; i++)
        n += hostile_at(d, kind, i)->handle != HOSTILE_NOTHING;
    return n;
}

static uint32_t free_slot(struct drill *d, enum hostile_kind kind)
{
    uint32_t i = 0;

    while (i < HOSTILE_SLOTS && hostile_at(d, kind, i)->handle != HOSTILE_NOTHING)
        i++;
    return i;
}

/* An object has been made as @o says, with its place in slot @i: takes it into the model. */
static bool made(struct drill *d, enum hostile_kind kind, uint32_t i, struct hostile_object o)
{
    struct hostile_driver *s = hostile_of(d);
    const uint32_t limits[HOSTILE_KINDS] = {
        [HOSTILE_UC] = PV_UAR_PAGES, [HOSTILE_PD] = UINT32_MAX, [HOSTILE_CQ] = s->max_cq,
        [HOSTILE_SRQ] = s->max_srq,  [HOSTILE_MR] = UINT32_MAX, [HOSTILE_QP] = s->max_qp + 1};

    o.pages = hostile_at(d, kind, i)->pages;
    if (!drill_expect(d, o.handle < limits[kind] && !is_used(d, kind, o.handle),
                      "each object has a handle of its own, below the capability", "%u, of %u",
                      o.handle, limits[kind]))
        return false;
    for (uint32_t k = 0; k < HOSTILE_KINDS; k++) {
        if (o.of[k] < HOSTILE_SLOTS)
            hostile_at(d, k, o.of[k])->users++;
    }
    if (kind == HOSTILE_QP)
        hostile_at(d, HOSTILE_CQ, o.send_cq)->users++;
    *hostile_at(d, kind, i) = o;
    return true;
}

static void gone(struct drill *d, enum hostile_kind kind, uint32_t i)
{
    struct hostile_object *o = hostile_at(d, kind, i);

    for (uint32_t k = 0; k < HOSTILE_KINDS; k++) {
        if (o->of[k] < HOSTILE_SLOTS)
            hostile_at(d, k, o->of[k])->users--;
    }
    if (kind == HOSTILE_QP)
        hostile_at(d, HOSTILE_CQ, o->send_cq)->users--;
    o->handle = HOSTILE_NOTHING;
}

/* An object that refers to nothing. */
static struct hostile_object nothing(void)
{
    struct hostile_object o = {.handle = HOSTILE_NOTHING};

    for (uint32_t k = 0; k < HOSTILE_KINDS; k++)
        o.of[k] = HOSTILE_SLOTS;
    return o;
}

static struct hostile_ring ring_in(const struct hostile_directory *p, uint32_t state,
                                   uint32_t first_page, uint32_t n, uint32_t slot_bytes)
{
    return (struct hostile_ring){
        .state = p->page[0] + state, .first_page = first_page, .n = n, .slot_bytes = slot_bytes};
}

/* A wrong value of a field of a request, and the reason to refuse it.  All values are drawn before,
 * in statements of their own: C does not order the initializers of a list.
 */
struct lie {
    uint32_t *field, value, why;
};

/* Puts @lie into the request.  Returns the reason to refuse it. */
static uint32_t tell(const struct lie *lie)
{
    *lie->field = lie->value;
    return lie->why;
}

/* --- User contexts and protection domains ----------------------------------------------------- */

static bool create_uc(struct drill *d, uint32_t i, bool lie)
{
    const struct hostile_driver *s = hostile_of(d);
    struct pv_create_uc r = {.pfn = s->uar_pfn + drill_below(d, PV_UAR_PAGES)};
    struct hostile_object o = nothing();
    struct pv_raw_handle raw;
    struct pv_handle h;
    uint32_t why = REF_NONE;

    if (lie) {
        r.pfn = drill_one_in(d, 2) ? s->uar_pfn + PV_UAR_PAGES : s->uar_pfn - 1;
        why = REF_UC_PAGE;
    } else if (drill_one_in(d, 2)) { /* the high half is padding before version 19 */
        r.pfn |= (uint64_t)1 << 32;
        why = s->version < PV_VERSION_PFN_64 ? REF_NONE : REF_UC_PAGE;
    }
    if (!hostile_ask_create_uc(d, PV_CMD_CREATE_UC, &r, why, &raw, sizeof(raw)) || why)
        return !d->wrong;
    pv_handle_get(&h, &raw);
    o.handle = h.handle;
    return made(d, HOSTILE_UC, i, o);
}

static bool create_pd(struct drill *d, uint32_t i, bool lie)
{
    const uint32_t uc = hostile_pick(d, HOSTILE_UC);
    const struct pv_handle r = {.handle = lie ? stranger(d, HOSTILE_UC)
                                              : hostile_at(d, HOSTILE_UC, uc)->handle};
    const uint32_t why = count(d, HOSTILE_PD) == hostile_of(d)->max_pd ? REF_PD_LIMIT : REF_NONE;
    struct hostile_object o = nothing();
    struct pv_raw_handle raw;
    struct pv_handle h;

    if (!hostile_ask_handle(d, PV_CMD_CREATE_PD, &r, lie ? REF_UC_HANDLE : why, &raw,
                            sizeof(raw)) ||
        lie || why)
        return !d->wrong;
    pv_handle_get(&h, &raw);
    o.handle = h.handle;
    o.of[HOSTILE_UC] = uc;
    return made(d, HOSTILE_PD, i, o);
}

/* --- Queues ----------------------------------------------------------------------------------- */

static bool create_cq(struct drill *d, uint32_t i, bool lie)
{
    const struct hostile_driver *s = hostile_of(d);
    const struct hostile_directory *p = &hostile_at(d, HOSTILE_CQ, i)->pages;
    const uint32_t uc = hostile_pick(d, HOSTILE_UC), wrong = lie ? drill_below(d, 5) : 5;
    struct pv_create_cq r = {.ctx = hostile_at(d, HOSTILE_UC, uc)->handle,
                             .cqe = s->max_cqe >> drill_below(d, 2)};
    struct hostile_object o = nothing();
    struct pv_raw_cq_made raw;
    struct pv_cq_made m;
    uint32_t why;

    r.pages = 2 + drill_below(d, 3);
    if (!hostile_directory(d, p, 2, wrong == 0, &r.pdir, &why))
        return false;
    if (!lie && count(d, HOSTILE_CQ) == s->max_cq)
        why = REF_CQ_LIMIT;
    if (wrong == 1) {
        r.cqe = drill_one_in(d, 2) ? 0 : 2 * s->max_cqe;
        why = REF_CQ_ENTRIES;
    } else if (wrong == 2) {
        r.cqe -= 1;
        why = REF_RING_SLOTS;
    } else if (wrong == 3) {
        r.pages = drill_one_in(d, 2) ? drill_below(d, 2) : PV_PAGES_MAX + 1;
        why = REF_PAGE_LIST_LENGTH;
    } else if (wrong == 4) {
        r.ctx = stranger(d, HOSTILE_UC);
        why = REF_UC_HANDLE;
    }
    if (!hostile_ask_create_cq(d, PV_CMD_CREATE_CQ, &r, why, &raw, sizeof(raw)) || why)
        return !d->wrong;
    pv_cq_made_get(&m, &raw);
    o.handle = m.handle;
    o.of[HOSTILE_UC] = uc;
    o.ring[0] = ring_in(p, PV_RING_RX, 1, r.cqe, PV_BYTES_cqe);
    return made(d, HOSTILE_CQ, i, o) &&
           drill_expect(d, m.cqe == r.cqe, "a completion queue has the entries that were asked for",
                        "%u, and not %u", m.cqe, r.cqe);
}

static bool create_srq(struct drill *d, uint32_t i, bool lie)
{
    const struct hostile_driver *s = hostile_of(d);
    const struct hostile_directory *p = &hostile_at(d, HOSTILE_SRQ, i)->pages;
    const uint32_t pd = hostile_pick(d, HOSTILE_PD), wrong = lie ? drill_below(d, 7) : 7;
    struct pv_create_srq r = {.pages = 2 + drill_below(d, 3)};
    struct hostile_object o = nothing();
    struct pv_raw_handle raw;
    struct pv_handle h;
    uint32_t why;

    r.max_wr = s->max_qp_wr >> drill_below(d, 2);
    r.max_sge = drill_below(d, s->max_sge + 1);
    if (pd == HOSTILE_SLOTS)
        return true;
    r.pd = hostile_at(d, HOSTILE_PD, pd)->handle;
    r.limit = drill_below(d, r.max_wr + 1);
    if (!hostile_directory(d, p, 2, wrong == 0, &r.pdir, &why))
        return false;
    if (!lie && count(d, HOSTILE_SRQ) == s->max_srq)
        why = REF_SRQ_LIMIT;
    const uint32_t wr = drill_one_in(d, 2) ? 0 : 2 * s->max_qp_wr;
    const uint32_t pages = drill_below(d, 2);
    const uint32_t no_pd = stranger(d, HOSTILE_PD);
    const struct lie lies[] = {{&r.max_wr, wr, REF_SRQ_WR},
                               {&r.max_wr, 3, REF_RING_SLOTS},
                               {&r.max_sge, s->max_sge + 1, REF_SRQ_SGE},
                               {&r.limit, r.max_wr + 1, REF_SRQ_ARMED_LIMIT},
                               {&r.pages, pages, REF_PAGE_LIST_LENGTH},
                               {&r.pd, no_pd, REF_PD_HANDLE}};

    if (wrong == 2)
        r.limit = 0;
    if (wrong > 0 && lie)
        why = tell(&lies[wrong - 1]);
    if (!hostile_ask_create_srq(d, PV_CMD_CREATE_SRQ, &r, why, &raw, sizeof(raw)) || why)
        return !d->wrong;
    pv_handle_get(&h, &raw);
    o.handle = h.handle;
    o.of[HOSTILE_PD] = pd;
    o.max_wr = r.max_wr;
    o.max_sge = r.max_sge;
    o.limit = r.limit;
    return made(d, HOSTILE_SRQ, i, o);
}

/* --- Regions ---------------------------------------------------------------------------------- */

/* A region of @n pages of its place; byte 0 is anywhere in the first one. */
static struct pv_create_mr user_mr(struct drill *d, uint32_t n)
{
    const uint32_t offset = drill_below(d, PV_PAGE_BYTES);
    const uint64_t most = (uint64_t)n * PV_PAGE_BYTES - offset;
    const uint64_t start = (uint64_t)PV_PAGE_BYTES * (1 + drill_below(d, 1u << 20)) + offset;
    const uint64_t less = drill_below(d, n > 1 ? PV_PAGE_BYTES : (uint32_t)most);

    return (struct pv_create_mr){.start = start, .length = most - less, .pages = n};
}

static bool create_mr(struct drill *d, uint32_t i, bool lie)
{
    const struct hostile_driver *s = hostile_of(d);
    const struct hostile_directory *p = &hostile_at(d, HOSTILE_MR, i)->pages;
    const uint32_t pd = hostile_pick(d, HOSTILE_PD), wrong = lie ? drill_below(d, 6) : 6;
    const uint32_t n = 1 + drill_below(d, HOSTILE_PAGES), kind = lie ? 0 : drill_below(d, 3);
    struct pv_create_mr r = user_mr(d, n);
    struct hostile_object o = nothing();
    struct pv_raw_mr_keys raw;
    struct pv_mr_keys m;
    uint32_t why;

    if (pd == HOSTILE_SLOTS)
        return true;
    r.pd = hostile_at(d, HOSTILE_PD, pd)->handle;
    r.access = drill_one_in(d, 2) ? ACC_LOCAL_WRITE : ACC_LOCAL_WRITE | ACC_REMOTE_READ;
    r.flags = kind;
    if (!hostile_directory(d, p, n, wrong == 0, &r.pdir, &why))
        return false;
    if (!lie && count(d, HOSTILE_MR) == s->max_mr)
        why = REF_MR_LIMIT;
    const uint32_t flags = 3 + drill_below(d, 9);
    const uint32_t no_pd = stranger(d, HOSTILE_PD);
    const struct lie lies[] = {{&r.flags, flags, REF_MR_FLAGS},
                               {&r.pages, 0, REF_PAGE_LIST_LENGTH},
                               {&r.access, ACC_REMOTE_WRITE, REF_MR_LOCAL_WRITE},
                               {&r.pd, no_pd, REF_PD_HANDLE}};

    if (wrong >= 1 && wrong <= ARRAY_LEN(lies)) {
        why = tell(&lies[wrong - 1]);
    } else if (wrong == 5) {
        r.length += PV_PAGE_BYTES;
        why = REF_MR_PAGE_COUNT;
    }
    if (!hostile_ask_create_mr(d, PV_CMD_CREATE_MR, &r, why, &raw, sizeof(raw)) || why)
        return !d->wrong;
    pv_mr_keys_get(&m, &raw);
    o.handle = m.handle;
    o.of[HOSTILE_PD] = pd;
    o.lkey = m.lkey;
    o.is_dma = kind == PV_MR_DMA;
    return made(d, HOSTILE_MR, i, o) &&
           drill_expect(d,
                        m.rkey == (kind == PV_MR_FAST || r.access & ACC_REMOTE_READ ? m.lkey : 0),
                        "a region has a remote key if peers may use it", "R_Key 0x%x", m.rkey);
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

#define QP_LIES 14u /* that spoil_qp() knows */

/* Puts the lie number @wrong into @r, and returns the reason to refuse it. */
static uint32_t spoil_qp(struct drill *d, uint32_t wrong, struct pv_create_qp *r)
{
    const struct hostile_driver *s = hostile_of(d);
    const uint32_t recv_wr = drill_one_in(d, 2) ? 3 : 0;
    const uint32_t no_pd = stranger(d, HOSTILE_PD);
    const uint32_t no_send_cq = stranger(d, HOSTILE_CQ);
    const uint32_t no_recv_cq = stranger(d, HOSTILE_CQ);
    const struct lie lies[] = {{&r->max_send_wr, 2 * s->max_qp_wr, REF_QP_SEND_WR},
                               {&r->max_recv_wr, 2 * s->max_qp_wr, REF_QP_RECV_WR},
                               {&r->max_send_wr, 3, REF_RING_SLOTS},
                               {&r->max_recv_wr, recv_wr, REF_RING_SLOTS},
                               {&r->max_send_sge, s->max_sge + 1, REF_QP_SEND_SGE},
                               {&r->max_recv_sge, UINT32_MAX, REF_QP_RECV_SGE},
                               {&r->max_inline_data, 1, REF_QP_INLINE_DATA},
                               {&r->pd, no_pd, REF_PD_HANDLE},
                               {&r->send_cq, no_send_cq, REF_QP_SEND_CQ},
                               {&r->recv_cq, no_recv_cq, REF_QP_RECV_CQ}};

    _Static_assert(ARRAY_LEN(lies) + 4 == QP_LIES, "those of the switch are the others");
    if (wrong < ARRAY_LEN(lies))
        return tell(&lies[wrong]);
    switch (wrong - ARRAY_LEN(lies)) {
    case 0:
        r->type = drill_one_in(d, 2) ? QPT_UC : 5 + (uint8_t)drill_below(d, 250);
        return REF_QP_TYPE;
    case 1:
        r->send_pages = drill_one_in(d, 2) ? 0 : (uint16_t)(r->send_pages + 2);
        r->total_pages = (uint16_t)(r->total_pages + 2); /* enough for all */
        return REF_PAGE_LIST_LENGTH;
    case 2:
        r->total_pages = (uint16_t)(r->send_pages + drill_below(d, 2));
        return REF_PAGE_LIST_LENGTH;
    default:
        r->is_srq = 1;
        r->srq = stranger(d, HOSTILE_SRQ);
        return REF_QP_SRQ;
    }
}

/* Returns the reason to refuse one more queue pair of @type: there is one of type GSI, or the
 * number of the others is at its limit.
 */
static uint32_t qp_limit(struct drill *d, uint32_t type)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < HOSTILE_SLOTS; i++) {
        const struct hostile_object *o = hostile_at(d, HOSTILE_QP, i);

        n += o->handle != HOSTILE_NOTHING && (o->type == QPT_GSI) == (type == QPT_GSI);
    }
    if (type == QPT_GSI)
        return n ? REF_QP_GSI_LIMIT : REF_NONE;
    return n == hostile_of(d)->max_qp - 1 ? REF_QP_LIMIT : REF_NONE;
}

/* Reads the answer @raw to CREATE_QP.  Its form depends on the version. */
static bool qp_answer(struct drill *d, const uint8_t raw[], const struct pv_create_qp *r,
                      uint32_t *ret_handle)
{
    struct pv_raw_qp_made_v2 raw2;
    struct pv_raw_qp_made raw1;
    struct pv_qp_made_v2 v2;
    struct pv_qp_made v1;

    memcpy(&raw2, raw, sizeof(raw2));
    memcpy(&raw1, raw, sizeof(raw1));
    pv_qp_made_v2_get(&v2, &raw2);
    pv_qp_made_get(&v1, &raw1);
    if (hostile_of(d)->version < PV_VERSION_QP_HANDLE)
        v2 = (struct pv_qp_made_v2){
            v1.qpn,          v1.qpn,          v1.max_send_wr,     v1.max_recv_wr,
            v1.max_send_sge, v1.max_recv_sge, v1.max_inline_data, {0}};
    *ret_handle = v2.handle;
    return drill_expect(d,
                        v2.max_send_wr == r->max_send_wr && v2.max_send_sge == r->max_send_sge &&
                            v2.max_inline_data == 0 && v2.qpn == v2.handle &&
                            (v2.qpn == 1) == (r->type == QPT_GSI),
                        "a queue pair has the size that was asked for, and GSI has number 1",
                        "QPN %u, %u sends", v2.qpn, v2.max_send_wr);
}

/* Draws the sizes of a queue pair of @type.  Its PD and its CQs are not set. */
static struct pv_create_qp draw_qp(struct drill *d, uint32_t type)
{
    const struct hostile_driver *s = hostile_of(d);
    struct pv_create_qp r = {.type = (uint8_t)type};

    r.max_send_wr = s->max_qp_wr >> drill_below(d, 2);
    r.max_recv_wr = s->max_qp_wr >> drill_below(d, 2);
    r.max_send_sge = 1 + drill_below(d, s->max_sge);
    r.max_recv_sge = 1 + drill_below(d, s->max_sge);
    r.send_pages =
        (uint16_t)pv_pages_of(r.max_send_wr, pv_slot_bytes(PV_BYTES_sq_wqe, r.max_send_sge));
    r.send_pages = (uint16_t)(r.send_pages + drill_below(d, 2));
    r.total_pages =
        (uint16_t)(1 + r.send_pages +
                   pv_pages_of(r.max_recv_wr, pv_slot_bytes(PV_BYTES_rq_wqe, r.max_recv_sge)));
    return r;
}

static bool create_qp_of(struct drill *d, uint32_t i, uint32_t type, bool lie)
{
    const struct hostile_directory *p = &hostile_at(d, HOSTILE_QP, i)->pages;
    const uint32_t pd = hostile_pick(d, HOSTILE_PD), send = hostile_pick(d, HOSTILE_CQ);
    const uint32_t recv = hostile_pick(d, HOSTILE_CQ);
    const uint32_t wrong = lie ? drill_below(d, QP_LIES + 1) : QP_LIES + 1;
    struct pv_create_qp r = draw_qp(d, type);
    struct hostile_object o = nothing();
    uint8_t raw[sizeof(struct pv_raw_qp_made_v2)];
    uint32_t why;

    if (pd == HOSTILE_SLOTS || send == HOSTILE_SLOTS)
        return true;
    r.pd = hostile_at(d, HOSTILE_PD, pd)->handle;
    r.send_cq = hostile_at(d, HOSTILE_CQ, send)->handle;
    r.recv_cq = hostile_at(d, HOSTILE_CQ, recv)->handle;
    if (!hostile_directory(d, p, r.total_pages, wrong == QP_LIES, &r.pdir, &why))
        return false;
    if (!lie)
        why = qp_limit(d, type);
    o.ring[0] =
        ring_in(p, PV_RING_TX, 1, r.max_send_wr, pv_slot_bytes(PV_BYTES_sq_wqe, r.max_send_sge));
    o.ring[1] = ring_in(p, PV_RING_RX, 1u + r.send_pages, r.max_recv_wr,
                        pv_slot_bytes(PV_BYTES_rq_wqe, r.max_recv_sge));
    if (wrong < QP_LIES)
        why = spoil_qp(d, wrong, &r);
    if (!hostile_ask_create_qp(d, PV_CMD_CREATE_QP, &r, why, raw, sizeof(raw)) || why)
        return !d->wrong;
    o.of[HOSTILE_PD] = pd;
    o.of[HOSTILE_CQ] = recv;
    o.send_cq = send;
    o.type = type;
    o.max_send_sge = r.max_send_sge;
    o.max_recv_sge = r.max_recv_sge;
    return qp_answer(d, raw, &r, &o.handle) && made(d, HOSTILE_QP, i, o);
}

static bool create_qp(struct drill *d, uint32_t i, bool lie)
{
    static const uint32_t types[] = {QPT_RC, QPT_RC, QPT_UD, QPT_GSI};

    return create_qp_of(d, i, types[drill_below(d, ARRAY_LEN(types))], lie);
}

bool hostile_make_qp(struct drill *d, uint32_t type, uint32_t *ret)
{
    uint32_t i;

    if ((hostile_pick(d, HOSTILE_PD) == HOSTILE_SLOTS &&
         !create_pd(d, free_slot(d, HOSTILE_PD), false)) ||
        (hostile_pick(d, HOSTILE_CQ) == HOSTILE_SLOTS &&
         !create_cq(d, free_slot(d, HOSTILE_CQ), false)))
        return false;
    i = free_slot(d, HOSTILE_QP);
    *ret = i;
    if (i == HOSTILE_SLOTS || !create_qp_of(d, i, type, false))
        return !d->wrong;
    if (hostile_at(d, HOSTILE_QP, i)->handle == HOSTILE_NOTHING)
        *ret = HOSTILE_SLOTS;
    return true;
}

/* --- Steps ------------------------------------------------------------------------------------ */

/* The commands of each kind, and the reasons to refuse to destroy an object. */
static const struct {
    bool (*create)(struct drill *d, uint32_t i, bool lie);
    uint32_t destroy, unknown, in_use;
} kinds[HOSTILE_KINDS] = {
    [HOSTILE_UC] = {create_uc, PV_CMD_DESTROY_UC, REF_UC_HANDLE, REF_UC_IN_USE},
    [HOSTILE_PD] = {create_pd, PV_CMD_DESTROY_PD, REF_PD_HANDLE, REF_PD_IN_USE},
    [HOSTILE_CQ] = {create_cq, PV_CMD_DESTROY_CQ, REF_CQ_HANDLE, REF_CQ_IN_USE},
    [HOSTILE_SRQ] = {create_srq, PV_CMD_DESTROY_SRQ, REF_SRQ_HANDLE, REF_SRQ_IN_USE},
    [HOSTILE_MR] = {create_mr, PV_CMD_DESTROY_MR, REF_MR_HANDLE, REF_MR_IN_USE},
    [HOSTILE_QP] = {create_qp, PV_CMD_DESTROY_QP, REF_QP_HANDLE, REF_NONE},
};

static void destroy(struct drill *d, enum hostile_kind kind)
{
    const bool lie = drill_one_in(d, HOSTILE_LIES);
    const uint32_t i = hostile_pick(d, kind);
    struct pv_handle r = {.handle = stranger(d, kind)};
    uint32_t why = kinds[kind].unknown;
    struct pv_raw_qp_gone raw;
    struct pv_qp_gone g;

    if (!lie && i < HOSTILE_SLOTS) {
        r.handle = hostile_at(d, kind, i)->handle;
        why = hostile_at(d, kind, i)->users > 0 ? kinds[kind].in_use : REF_NONE;
        if (kind == HOSTILE_UC && r.handle == 0)
            why = REF_UC_HANDLE;
    }
    if (!hostile_ask_handle(d, kinds[kind].destroy, &r, why, kind == HOSTILE_QP ? &raw : NULL,
                            sizeof(raw)) ||
        why)
        return;
    if (kind == HOSTILE_QP) {
        pv_qp_gone_get(&g, &raw);
        if (!drill_expect(d, g.events == hostile_at(d, kind, i)->events,
                          "DESTROY_QP answers with the number of events that were reported",
                          "%u, and not %u", g.events, hostile_at(d, kind, i)->events))
            return;
    }
    gone(d, kind, i);
}

void hostile_step_object(struct drill *d)
{
    const enum hostile_kind kind = (enum hostile_kind)drill_below(d, HOSTILE_KINDS);
    const uint32_t i = free_slot(d, kind);

    if (drill_below(d, 3) > 0 && i < HOSTILE_SLOTS)
        (void)kinds[kind].create(d, i, drill_one_in(d, HOSTILE_LIES));
    else
        destroy(d, kind);
}

/* --- GIDs ------------------------------------------------------------------------------------- */

static bool bind_gid(struct drill *d, uint32_t index)
{
    const uint8_t type = hostile_gid_type(hostile_of(d));
    struct pv_create_bind r = {.index = index, .type = type, .gid = {0x20, 1}};
    const uint32_t lie = drill_below(d, 8);
    uint32_t why = REF_NONE;

    r.gid[15] = (uint8_t)drill_below(d, 256);
    if (lie == 0) {
        r.type = (uint8_t)(type ^ 3);
        why = REF_GID_TYPE;
    } else if (lie == 1) {
        memset(r.gid, 0, sizeof(r.gid));
        why = REF_GID_ADDRESS;
    } else if (lie == 2) {
        r.gid[0] = 0xff;
        why = REF_GID_ADDRESS;
    } else if (lie == 3) {
        r.index = GID_TABLE << drill_below(d, 28);
        why = REF_GID_INDEX;
    }
    if (!hostile_ask_create_bind(d, PV_CMD_CREATE_BIND, &r, why, NULL, 0) || why)
        return !d->wrong;
    hostile_of(d)->gid[index].is_set = true;
    memcpy(hostile_of(d)->gid[index].raw, r.gid, sizeof(r.gid));
    return true;
}

void hostile_step_gid(struct drill *d)
{
    const uint32_t index = drill_below(d, HOSTILE_GIDS);
    struct hostile_gid *g = &hostile_of(d)->gid[index];
    struct pv_destroy_bind r = {.index = index};
    uint32_t why = g->is_set ? REF_NONE : REF_GID_OTHER;

    if (drill_one_in(d, 2)) {
        (void)bind_gid(d, index);
        return;
    }
    memcpy(r.gid, g->raw, sizeof(r.gid));
    if (drill_one_in(d, 4)) {
        r.gid[14] ^= 1;
        why = REF_GID_OTHER;
    } else if (drill_one_in(d, 4)) {
        r.index = UINT32_MAX - drill_below(d, 2);
        why = REF_GID_INDEX;
    }
    if (hostile_ask_destroy_bind(d, PV_CMD_DESTROY_BIND, &r, why, NULL, 0) && !why)
        g->is_set = false;
}

/* --- Queries ---------------------------------------------------------------------------------- */

static void query_srq(struct drill *d)
{
    const uint32_t i = hostile_pick(d, HOSTILE_SRQ);
    struct hostile_object *o = i < HOSTILE_SLOTS ? hostile_at(d, HOSTILE_SRQ, i) : NULL;
    const struct pv_handle r = {.handle = o ? o->handle : stranger(d, HOSTILE_SRQ)};
    struct pv_modify_srq m = {.handle = r.handle, .mask = 2};
    struct pv_raw_srq_attr raw;
    struct pv_srq_attr a;
    uint32_t why = o ? REF_NONE : REF_SRQ_HANDLE;

    if (!hostile_ask_handle(d, PV_CMD_QUERY_SRQ, &r, why, &raw, sizeof(raw)))
        return;
    if (o) {
        pv_srq_attr_get(&a, &raw);
        if (!drill_expect(d,
                          a.max_wr == o->max_wr && a.max_sge == o->max_sge && a.limit == o->limit,
                          "QUERY_SRQ answers with what CREATE_SRQ and MODIFY_SRQ have set",
                          "%u receives of %u, limit %u", a.max_wr, a.max_sge, a.limit))
            return;
        m.limit = drill_below(d, o->max_wr + 1);
        if (drill_one_in(d, 4)) {
            m.mask = drill_one_in(d, 2) ? 1 : 3;
            why = REF_SRQ_ATTR_OFFERED;
        } else if (drill_one_in(d, 4)) {
            m.limit = o->max_wr + 1 + drill_below(d, 3);
            why = REF_SRQ_ARMED_LIMIT;
        }
    }
    if (hostile_ask_modify_srq(d, PV_CMD_MODIFY_SRQ, &m, why, NULL, 0) && o && !why)
        o->limit = m.limit;
}

static void query_qp(struct drill *d)
{
    const uint32_t i = hostile_pick(d, HOSTILE_QP);
    const struct hostile_object *o = i < HOSTILE_SLOTS ? hostile_at(d, HOSTILE_QP, i) : NULL;
    const struct pv_query_qp r = {.handle = o ? o->handle : stranger(d, HOSTILE_QP),
                                  .mask = UINT32_MAX};
    struct pv_raw_qp_attr raw;
    struct pv_qp_attr a;

    if (!hostile_ask_query_qp(d, PV_CMD_QUERY_QP, &r, o ? REF_NONE : REF_QP_HANDLE, &raw,
                              sizeof(raw)) ||
        !o)
        return;
    pv_qp_attr_get(&a, &raw);
    (void)drill_expect(
        d, a.state == o->state && a.max_send_wr == o->ring[0].n && a.max_recv_wr == o->ring[1].n,
        "QUERY_QP answers with the state and the sizes of the queue pair",
        "state %u, %u sends, %u receives", a.state, a.max_send_wr, a.max_recv_wr);
}

static void query_port(struct drill *d)
{
    const bool lie = drill_one_in(d, 3);
    struct pv_query_port port = {.port = HOSTILE_PORT};
    struct pv_query_pkey pkey = {.port = HOSTILE_PORT};

    if (lie)
        port.port = pkey.port = (uint8_t)(drill_one_in(d, 2) ? 0 : 2 + drill_below(d, 254));
    if (!hostile_ask_query_port(d, PV_CMD_QUERY_PORT, &port, lie ? REF_PORT_NUMBER : REF_NONE, NULL,
                                0))
        return;
    if (!lie && drill_one_in(d, 2)) {
        pkey.index = 1 + (uint8_t)drill_below(d, 255);
        (void)hostile_ask_query_pkey(d, PV_CMD_QUERY_PKEY, &pkey, REF_PKEY_INDEX, NULL, 0);
        return;
    }
    (void)hostile_ask_query_pkey(d, PV_CMD_QUERY_PKEY, &pkey, lie ? REF_PORT_NUMBER : REF_NONE,
                                 NULL, 0);
}

/* A number that is no command, or that of the one that the device does not have. */
static void unknown_command(struct drill *d)
{
    struct hostile_command c = {.number = PV_CMD_RESIZE_CQ, .why = REF_COMMAND_UNKNOWN};

    if (!drill_one_in(d, 3)) {
        c.number = PV_CMD_DESTROY_SRQ + 1 + drill_below(d, 64);
        c.number <<= drill_below(d, 25);
    }
    (void)hostile_ask(d, &c, NULL, 0);
}

void hostile_step_query(struct drill *d)
{
    static void (*const queries[])(struct drill *) = {query_srq, query_qp, query_port,
                                                      unknown_command};

    queries[drill_below(d, ARRAY_LEN(queries))](d);
}
