/* SPDX-License-Identifier: MIT */
/* The drill of programs: objects are made and destroyed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "rdmalab/inspect.h"
#include "swarm/drills/drill_programs.h"
#include "swarm/drills/rig.h"

#define PAGE     4096u
#define WRONG_IN 5u /* one in so many requests is wrong */

static const char *const default_names[PROGRAMS_KINDS] = {
    [OBJ_PD] = "pd", [OBJ_MR] = "mr", [OBJ_CQ] = "cq",           [OBJ_QP] = "qp",
    [OBJ_AH] = "ah", [OBJ_MW] = "mw", [OBJ_CHANNEL] = "channel", [OBJ_SRQ] = "srq",
};

static bool is_taken(const struct programs *s, const char *name)
{
    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        if (s->things[i].kind != OBJ_NONE && strcmp(s->things[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Returns the smallest number, from @first on, that no object of @kind has. */
static uint32_t lowest_free(const struct programs *s, uint32_t kind, uint32_t first)
{
    uint32_t number = first;

    for (uint32_t i = 0; i < PROGRAMS_THINGS; i++) {
        if (s->things[i].kind == kind && s->things[i].number == number) {
            number++;
            i = UINT32_MAX; /* from the start again */
        }
    }
    return number;
}

/* Returns the number that the device gives to the next object of @kind, 0 if the model does not
 * know it.  The drill's own PD has number 1.
 */
static uint32_t next_number(const struct programs *s, uint32_t kind)
{
    switch (kind) {
    case OBJ_PD:
        return lowest_free(s, kind, 2);
    case OBJ_QP:
        return s->free_qpns[0];
    case OBJ_CHANNEL:
        return s->n_channels + 1;
    case OBJ_MR:
    case OBJ_MW:
        return 0;
    default:
        return lowest_free(s, kind, 1);
    }
}

/* Draws the name of a new object, which may be empty. */
static void draw_name(struct drill *d, char name[RDL_NAME_BYTES])
{
    struct programs *s = programs_of(d);

    name[0] = '\0';
    if (drill_one_in(d, 2)) /* sometimes one that an object without a name would get */
        snprintf(name, RDL_NAME_BYTES, "%s%u", drill_one_in(d, 3) ? "cq" : "x", ++s->n_names);
    if (is_taken(s, name))
        name[0] = '\0';
}

/* Checks the number of @t, of which the tree tells. */
static bool has_number(struct drill *d, const struct program_thing *t)
{
    static const char *const leaves[PROGRAMS_KINDS] = {[OBJ_PD] = "pdn",
                                                       [OBJ_CQ] = "cqn",
                                                       [OBJ_QP] = "qpn",
                                                       [OBJ_SRQ] = "srqn",
                                                       [OBJ_CHANNEL] = "number"};
    char path[RDL_PATH_BYTES];

    if (!leaves[t->kind])
        return true;
    snprintf(path, sizeof(path), "h1.%s.%s", t->name, leaves[t->kind]);
    return drill_number_is(d, path, t->number,
                           "the lowest number is given that is free, of queue pairs the oldest");
}

/* Enters the model @t of object @raw, which was just made.  @name: what was asked for. */
static bool enter(struct drill *d, struct program_thing *t, uint64_t raw, const char *name)
{
    struct programs *s = programs_of(d);
    char path[RDL_VALUE_BYTES];
    uint32_t i = 0;

    t->raw = raw;
    t->number = next_number(s, t->kind);
    if (t->kind == OBJ_QP)
        memmove(s->free_qpns, s->free_qpns + 1, --s->n_free_qpns * sizeof(s->free_qpns[0]));
    if (t->kind == OBJ_CHANNEL)
        s->n_channels++;
    if (name[0]) {
        snprintf(t->name, sizeof(t->name), "%s", name);
    } else if (t->number == 0) { /* the model does not know it */
        rdl_path_of(d->lab, t->kind, raw, path);
        snprintf(t->name, sizeof(t->name), "%.23s", path + 3);
    } else {
        snprintf(t->name, sizeof(t->name), "%s%u", default_names[t->kind], t->number);
        for (uint32_t k = 1; is_taken(s, t->name); k++)
            snprintf(t->name, sizeof(t->name), "%s%u-%u", default_names[t->kind], t->number, k);
    }
    while (s->things[i].kind != OBJ_NONE)
        i++;
    RDL_ASSERT(i < PROGRAMS_THINGS);
    s->things[i] = *t;
    return has_number(d, t) && programs_check(d, i);
}

/* The status that a request must end with. */
struct expected {
    enum rdl_status st;
    int error; /* with RDL_ERR_DEVICE */
};

/* Returns the status that creation ends with: @why if the request is wrong, or else depending on
 * the room for it.
 */
static struct expected outcome(const struct programs *s, uint32_t kind, enum rdl_status why)
{
    if (why != RDL_OK)
        return (struct expected){why, 0};
    if (programs_count(s, kind) < s->max[kind])
        return (struct expected){RDL_OK, 0};
    return kind == OBJ_AH ? (struct expected){RDL_ERR_LIMIT, 0}
                          : (struct expected){RDL_ERR_DEVICE, ENOMEM};
}

/* Ends creation of @t.  @st: result of the call; @raw: what it set to the handle; @why: what is
 * wrong with the request.
 */
static void made(struct drill *d, struct program_thing *t, enum rdl_status st, const uint64_t *raw,
                 const char *name, enum rdl_status why)
{
    const struct expected want = outcome(programs_of(d), t->kind, why);

    if (programs_ends(d, st, want.st, want.error, "an object is made if there is room for it") &&
        want.st == RDL_OK)
        (void)enter(d, t, *raw, name);
}

static struct program_thing blank(uint32_t kind)
{
    struct program_thing t = {.kind = kind};

    for (uint32_t i = 0; i < PROGRAMS_PARTS; i++)
        t.parts[i] = PROGRAMS_NOTHING;
    return t;
}

/* Returns the size of a queue for which @n entries were asked. */
static uint32_t rounded(const struct programs *s, uint32_t n, uint32_t most)
{
    const uint32_t size = rig_queue_size(s->profile, n);

    return size < most ? size : most;
}

/* Returns a number of 1..@most, often one at an end. */
static uint32_t draw_up_to(struct drill *d, uint32_t most)
{
    return drill_one_in(d, 3) ? most : 1 + drill_below(d, most);
}

static bool is_wrong(struct drill *d)
{
    return drill_one_in(d, WRONG_IN);
}

/* --- One kind each ---------------------------------------------------------------------------- */

static void make_pd(struct drill *d, const char *name)
{
    struct program_thing t = blank(OBJ_PD);
    rdl_pd h = {0};
    const enum rdl_status st = rdl_alloc_pd(d->lab, programs_of(d)->host, name, &h);

    made(d, &t, st, &h.raw, name, RDL_OK);
}

static void make_channel(struct drill *d, const char *name)
{
    const struct programs *s = programs_of(d);
    struct program_thing t = blank(OBJ_CHANNEL);
    rdl_channel h = {0};

    if (programs_count(s, OBJ_CHANNEL) < s->max[OBJ_CHANNEL] &&
        drill_works(d, rdl_create_comp_channel(d->lab, s->host, name, &h), "a channel can be made"))
        (void)enter(d, &t, h.raw, name);
}

static void make_cq(struct drill *d, const char *name)
{
    const struct programs *s = programs_of(d);
    const uint32_t most = s->limits.max_cqe, channel = programs_pick(d, OBJ_CHANNEL);
    uint32_t cqe = draw_up_to(d, most);
    struct program_thing t = blank(OBJ_CQ);
    enum rdl_status why = RDL_OK, st;
    rdl_cq h = {0};

    if (is_wrong(d)) {
        cqe = drill_one_in(d, 2) ? 0 : most + 1;
        why = cqe == 0 ? RDL_ERR_INVAL : RDL_ERR_LIMIT;
    }
    t.size = rounded(s, cqe, most);
    if (channel != PROGRAMS_NOTHING && !drill_one_in(d, 4)) {
        t.parts[0] = channel;
        st = rdl_create_cq_on(d->lab, (rdl_channel){s->things[channel].raw}, cqe, name, &h);
    } else {
        st = rdl_create_cq(d->lab, s->host, cqe, name, &h);
    }
    made(d, &t, st, &h.raw, name, why);
}

static void make_srq(struct drill *d, const char *name)
{
    const struct programs *s = programs_of(d);
    struct rdl_srq_attr a = {.max_wr = draw_up_to(d, s->limits.max_qp_wr),
                             .max_sge = draw_up_to(d, s->limits.max_recv_sge),
                             .limit = drill_below(d, 4)};
    struct program_thing t = blank(OBJ_SRQ);
    enum rdl_status why = RDL_OK, st;
    rdl_srq h = {0};

    t.parts[0] = programs_pick(d, OBJ_PD);
    if (t.parts[0] == PROGRAMS_NOTHING)
        return;
    switch (is_wrong(d) ? drill_below(d, 3) : 3) {
    case 0:
        a.max_wr = 0;
        why = RDL_ERR_INVAL;
        break;
    case 1:
        a.max_wr = s->limits.max_qp_wr + 1;
        why = RDL_ERR_LIMIT;
        break;
    case 2:
        a.max_sge = s->limits.max_recv_sge + 1;
        why = RDL_ERR_LIMIT;
        break;
    default:
        break;
    }
    if (!s->has_srq)
        why = RDL_ERR_UNSUPPORTED;
    t.size = rounded(s, a.max_wr, s->limits.max_qp_wr);
    t.recv_sges = a.max_sge;
    st = rdl_create_srq(d->lab, (rdl_pd){s->things[t.parts[0]].raw}, &a, name, &h);
    made(d, &t, st, &h.raw, name, why);
}

/* Makes one value of @c wrong.  Returns the status. */
static enum rdl_status spoil_qp(struct drill *d, struct rdl_qp_config *c)
{
    const struct programs *s = programs_of(d);
    const bool shares = c->srq.raw != 0;

    switch (drill_below(d, 6)) {
    case 0:
        c->max_send_wr = s->limits.max_qp_wr + 1;
        return RDL_ERR_LIMIT;
    case 1:
        c->max_recv_wr = s->limits.max_qp_wr + 1;
        return shares ? RDL_OK : RDL_ERR_LIMIT;
    case 2:
        c->max_send_sge = s->limits.max_send_sge + 1;
        return RDL_ERR_LIMIT;
    case 3:
        c->max_recv_sge = s->limits.max_recv_sge + 1;
        return shares ? RDL_OK : RDL_ERR_LIMIT;
    case 4:
        c->max_inline_data = PAGE;
        return RDL_ERR_INVAL;
    default:
        c->block_self_mcast_lb = true;
        return c->type != QPT_UD                         ? RDL_ERR_INVAL
               : s->has_mcast && !rig_is_rxe(s->profile) ? RDL_OK
                                                         : RDL_ERR_UNSUPPORTED;
    }
}

static uint32_t draw_wr(struct drill *d, uint32_t most)
{
    return drill_one_in(d, 8) ? RDL_QP_NONE : draw_up_to(d, most);
}

static uint32_t asked(uint32_t n)
{
    return n == RDL_QP_NONE ? 0 : n;
}

static void make_qp(struct drill *d, const char *name)
{
    static const uint32_t types[] = {QPT_UD, QPT_UD, QPT_UD, QPT_RC, QPT_UC};
    const struct programs *s = programs_of(d);
    const struct rdl_device_limits *l = &s->limits;
    struct program_thing t = blank(OBJ_QP);
    const uint32_t pd = programs_pick(d, OBJ_PD), scq = programs_pick(d, OBJ_CQ),
                   rcq = programs_pick(d, OBJ_CQ),
                   srq = drill_one_in(d, 2) ? programs_pick(d, OBJ_SRQ) : PROGRAMS_NOTHING;
    struct rdl_qp_config c = {.type = types[drill_below(d, ARRAY_LEN(types))],
                              .max_send_wr = draw_wr(d, l->max_qp_wr),
                              .max_recv_wr = draw_wr(d, l->max_qp_wr),
                              .max_send_sge = draw_up_to(d, l->max_send_sge),
                              .max_recv_sge = draw_up_to(d, l->max_recv_sge),
                              .max_inline_data = drill_below(d, 3) * 128,
                              .sq_sig_all = drill_one_in(d, 2)};
    enum rdl_status why = RDL_OK, st;
    rdl_qp h = {0};

    if (pd == PROGRAMS_NOTHING || scq == PROGRAMS_NOTHING)
        return;
    c.pd.raw = s->things[pd].raw;
    c.send_cq.raw = s->things[scq].raw;
    c.recv_cq.raw = s->things[rcq].raw;
    if (srq != PROGRAMS_NOTHING)
        c.srq.raw = s->things[srq].raw;
    if (is_wrong(d))
        why = spoil_qp(d, &c);
    t.parts[0] = pd;
    t.parts[1] = scq;
    t.parts[2] = rcq;
    t.parts[3] = srq;
    t.type = c.type;
    t.max_sends = rounded(s, asked(c.max_send_wr), l->max_qp_wr);
    t.size = srq == PROGRAMS_NOTHING ? rounded(s, asked(c.max_recv_wr), l->max_qp_wr) : 0;
    t.sges = c.max_send_sge;
    t.recv_sges = srq == PROGRAMS_NOTHING ? c.max_recv_sge : s->things[srq].recv_sges;
    t.inline_bytes = c.max_inline_data;
    t.all_signaled = c.sq_sig_all;
    st = rdl_create_qp(d->lab, &c, name, &h);
    made(d, &t, st, &h.raw, name, why);
}

static void make_mr(struct drill *d, const char *name)
{
    const struct programs *s = programs_of(d);
    struct program_thing t = blank(OBJ_MR);
    rdl_mr h = {0};
    enum rdl_status why = RDL_OK, st;
    const uint32_t pd = programs_pick(d, OBJ_PD);
    rdl_pd p;

    if (pd == PROGRAMS_NOTHING)
        return;
    p.raw = s->things[pd].raw;
    t.parts[0] = pd;
    t.mr.access = programs_draw_access(d);
    switch (drill_below(d, 5)) {
    case 0:
        t.mr.kind = KEY_FAST_MR;
        t.max_pages = draw_up_to(d, s->limits.max_fast_reg_page_list_len);
        if (is_wrong(d)) {
            t.max_pages = drill_one_in(d, 2) ? 0 : s->limits.max_fast_reg_page_list_len + 1;
            why = t.max_pages == 0 ? RDL_ERR_INVAL : RDL_ERR_LIMIT;
        }
        if (!s->has_mw) /* such a device has no memory management extensions */
            why = RDL_ERR_UNSUPPORTED;
        st = rdl_create_mr(d->lab, p, t.mr.access, t.max_pages, name, &h);
        break;
    case 1:
        t.mr.kind = KEY_DMA_MR;
        t.mr.bytes = s->ram_bytes;
        if (is_wrong(d)) {
            t.mr.access = ACC_REMOTE_WRITE;
            why = RDL_ERR_INVAL;
        }
        st = rdl_get_dma_mr(d->lab, p, t.mr.access, name, &h);
        break;
    default:
        t.mr.kind = KEY_USER_MR;
        why = programs_draw_range(d, &t.mr, is_wrong(d));
        if (drill_one_in(d, 2)) {
            const struct rdl_mr_range r = {t.mr.addr, t.mr.bytes, t.mr.iova};

            st = rdl_reg_mr_iova(d->lab, p, &r, t.mr.access, name, &h);
        } else {
            t.mr.iova = t.mr.access & ACC_ZERO_BASED ? 0 : t.mr.addr;
            st = rdl_reg_mr(d->lab, p, t.mr.addr, t.mr.bytes, t.mr.access, name, &h);
        }
    }
    made(d, &t, st, &h.raw, name, why);
}

static void make_mw(struct drill *d, const char *name)
{
    const struct programs *s = programs_of(d);
    struct program_thing t = blank(OBJ_MW);
    enum rdl_status why = RDL_OK, st;
    rdl_mw h = {0};

    t.parts[0] = programs_pick(d, OBJ_PD);
    if (t.parts[0] == PROGRAMS_NOTHING)
        return;
    t.type = 1 + drill_below(d, 2);
    if (is_wrong(d)) {
        t.type = drill_one_in(d, 2) ? 0 : 3;
        why = RDL_ERR_INVAL;
    }
    if (!s->has_mw)
        why = RDL_ERR_UNSUPPORTED;
    st = rdl_alloc_mw(d->lab, (rdl_pd){s->things[t.parts[0]].raw}, t.type, name, &h);
    made(d, &t, st, &h.raw, name, why);
}

static void make_ah(struct drill *d, const char *name)
{
    const struct programs *s = programs_of(d);
    struct program_thing t = blank(OBJ_AH);
    enum rdl_status why, st;
    rdl_ah h = {0};

    t.parts[0] = programs_pick(d, OBJ_PD);
    if (t.parts[0] == PROGRAMS_NOTHING)
        return;
    why = programs_draw_ah(d, &t.ah, false, is_wrong(d));
    t.ah.port = 1;
    t.ah.static_rate = (uint8_t)drill_below(d, 256);
    if (why == RDL_OK && is_wrong(d)) {
        t.ah.port = drill_one_in(d, 2) ? 0 : 2;
        why = RDL_ERR_INVAL;
    }
    if (why == RDL_ERR_NO_ROUTE && programs_count(s, OBJ_AH) == s->max[OBJ_AH])
        why = RDL_OK; /* the limit is checked first */
    st = rdl_create_ah(d->lab, (rdl_pd){s->things[t.parts[0]].raw}, &t.ah, name, &h);
    programs_fill_mac(d, &t.ah);
    made(d, &t, st, &h.raw, name, why);
}

static void (*const makers[PROGRAMS_KINDS])(struct drill *d, const char *name) = {
    [OBJ_PD] = make_pd, [OBJ_MR] = make_mr, [OBJ_CQ] = make_cq,           [OBJ_QP] = make_qp,
    [OBJ_AH] = make_ah, [OBJ_MW] = make_mw, [OBJ_CHANNEL] = make_channel, [OBJ_SRQ] = make_srq,
};

/* Asks for an object with a name that it may not have. */
static void misname(struct drill *d)
{
    const struct programs *s = programs_of(d);
    static const struct {
        const char *name;
        enum rdl_status st;
    } rows[] = {{"counters", RDL_ERR_RESERVED}, {"9pd", RDL_ERR_INVAL},
                {"a.b", RDL_ERR_INVAL},         {"own", RDL_ERR_EXISTS},
                {"memory", RDL_ERR_EXISTS},     {"abcdefghijklmnopqrstuvwx", RDL_ERR_INVAL}};
    const uint32_t row = drill_below(d, ARRAY_LEN(rows)), other = drill_below(d, PROGRAMS_THINGS);
    const bool again = s->things[other].kind != OBJ_NONE;
    const char *name = again ? s->things[other].name : rows[row].name;
    rdl_pd pd;
    rdl_channel ch;
    const enum rdl_status want = again ? RDL_ERR_EXISTS : rows[row].st,
                          st = drill_one_in(d, 2)
                                   ? rdl_alloc_pd(d->lab, s->host, name, &pd)
                                   : rdl_create_comp_channel(d->lab, s->host, name, &ch);

    (void)drill_expect(d, st == want, "an object has a name of its own, which is well formed",
                       "%s: %s, and not %s", name, rdl_status_name(st), rdl_status_name(want));
}

void programs_make(struct drill *d)
{
    static const uint32_t kinds[] = {OBJ_PD, OBJ_MR, OBJ_CQ, OBJ_CQ,      OBJ_QP,
                                     OBJ_QP, OBJ_AH, OBJ_MW, OBJ_CHANNEL, OBJ_SRQ};
    const struct programs *s = programs_of(d);
    uint32_t kind = kinds[drill_below(d, ARRAY_LEN(kinds))];
    char name[RDL_NAME_BYTES];

    if (drill_one_in(d, 10)) {
        misname(d);
        return;
    }
    draw_name(d, name);
    if (programs_count(s, OBJ_PD) == 0) /* without one there is little else */
        kind = OBJ_PD;
    else if (kind == OBJ_QP && programs_count(s, OBJ_CQ) == 0)
        kind = OBJ_CQ;
    makers[kind](d, name);
}

void programs_equip(struct drill *d, uint32_t qp)
{
    const struct programs *s = programs_of(d);
    struct program_thing ah = blank(OBJ_AH), mr = blank(OBJ_MR);
    const uint32_t pd = s->things[qp].parts[0];
    const rdl_pd p = {s->things[pd].raw};
    rdl_ah a = {0};
    rdl_mr m = {0};
    enum rdl_status st;

    ah.parts[0] = mr.parts[0] = pd;
    ah.ah = (struct rdl_ah_attr){.sgid_index = (uint8_t)drill_below(d, 2), .port = 1};
    memcpy(ah.ah.dgid, s->gid[ah.ah.sgid_index], 16);
    st = rdl_create_ah(d->lab, p, &ah.ah, NULL, &a);
    programs_fill_mac(d, &ah.ah);
    made(d, &ah, st, &a.raw, "", RDL_OK);
    if (d->wrong)
        return;
    mr.mr = (struct rdl_mr_info){.addr = s->addr,
                                 .bytes = PAGE,
                                 .access = ACC_LOCAL_WRITE,
                                 .iova = s->addr,
                                 .kind = KEY_USER_MR};
    st = rdl_reg_mr(d->lab, p, s->addr, PAGE, ACC_LOCAL_WRITE, NULL, &m);
    made(d, &mr, st, &m.raw, "", RDL_OK);
}

/* --- Several at a time ------------------------------------------------------------------------ */

#define BATCH 6u

/* Asks for several PDs and CQs at a time.  Some may be refused, which the others do not notice. */
void programs_batch(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t n = 1 + drill_below(d, BATCH), kind = drill_one_in(d, 2) ? OBJ_PD : OBJ_CQ,
                   had = programs_count(s, kind), room = s->max[kind] - had,
                   allowed = 1 + drill_below(d, BATCH);
    struct program_thing t = blank(kind);
    uint64_t raw[BATCH] = {0};
    enum rdl_status st, want;
    int error;

    t.size = kind == OBJ_CQ ? rounded(s, 2, s->limits.max_cqe) : 0;
    if (!drill_works(d, rdl_requests_max(d->lab, s->host, allowed), "requests can be allowed"))
        return;
    for (uint32_t i = 0; i < n; i++) {
        rdl_pd pd = {0};
        rdl_cq cq = {0};

        st = kind == OBJ_PD ? rdl_alloc_pd(d->lab, s->host, NULL, &pd)
                            : rdl_create_cq(d->lab, s->host, 2, NULL, &cq);
        want = i < allowed ? RDL_OK : RDL_ERR_BUSY;
        if (!drill_expect(d, st == want, "so many requests are under way as are allowed",
                          "request %u of %u: %s", i, allowed, rdl_status_name(st)))
            return;
        raw[i] = pd.raw | cq.raw;
    }
    st = rdl_query_port(d->lab, s->host);
    if (!drill_expect(d, st == RDL_ERR_BUSY, "other requests wait for those under way", "%s",
                      rdl_status_name(st)))
        return;
    want = n < allowed ? n : allowed;
    st = programs_wait(d, RDL_OK, &error);
    if (!drill_expect(
            d, (st == RDL_OK) == ((uint32_t)want <= room) && (st == RDL_OK || error == ENOMEM),
            "an answer tells whether a request was refused", "%s %d", rdl_status_name(st), error))
        return;
    for (uint32_t i = 0; i < (uint32_t)want; i++) {
        struct rdl_users users;

        st = rdl_users_of(d->lab, kind, raw[i], &users);
        if (i < room) {
            if (!enter(d, &t, raw[i], ""))
                return;
        } else if (!drill_expect(d, st == RDL_ERR_STALE, "what is refused does not exist", "%s",
                                 rdl_status_name(st))) {
            return;
        }
    }
    (void)drill_works(d, rdl_requests_max(d->lab, s->host, 1), "requests can be allowed");
}
