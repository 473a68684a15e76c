/* SPDX-License-Identifier: MIT */
/* Creates, finds and destroys objects by name.  They have the same names in the lab. */
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/facts/enum_table.h"

#define CQE_STANDARD 16u
#define PORT         1u
#define HOP_LIMIT    64u
#define WR_STANDARD  16u
#define SGE_STANDARD 4u

struct vp_object *vp_find(struct verbs_peer *p, const char *name)
{
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        if (p->object[i].kind != VP_NOTHING && strcmp(p->object[i].name, name) == 0)
            return &p->object[i];
    }
    return NULL;
}

/* Fails, and returns NULL, if there is no such object. */
struct vp_object *vp_named(struct verbs_peer *p, const char *name, enum vp_kind kind)
{
    struct vp_object *o = vp_find(p, name);

    if (o && o->kind == kind)
        return o;
    vp_fail(p, "%s is %s", name, o ? "of another kind" : "unknown");
    return NULL;
}

/* Returns the object that "KEY=" names. */
struct vp_object *vp_object(struct verbs_peer *p, const char *key, enum vp_kind kind)
{
    const char *name = vp_value(p, key);

    if (name)
        return vp_named(p, name, kind);
    vp_fail(p, "%s= is missing", key);
    return NULL;
}

const struct vp_object *vp_qp_of_number(const struct verbs_peer *p, uint32_t qpn)
{
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        if (p->object[i].kind == VP_QP && p->object[i].number == qpn)
            return &p->object[i];
    }
    return NULL;
}

/* @name is without "peer.". */
const struct vp_remote *vp_remote(struct verbs_peer *p, const char *name)
{
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        if (name[0] && strcmp(p->remote[i].name, name) == 0)
            return &p->remote[i];
    }
    vp_fail(p, "the other side has told nothing about %s", name);
    return NULL;
}

/* Parses NAME[FROM:TO] of this side; @ret_rest is the text after it.  The range may go beyond the
 * region, for requests that do so on purpose.
 */
struct vp_slice vp_slice(struct verbs_peer *p, const char *text, const char **ret_rest)
{
    const struct vp_slice none = {.length = 0};
    char name[VP_NAME_BYTES];
    uint64_t from = 0, to = 0;
    const char *rest = vp_place(text, name, &from);
    const struct vp_object *o;

    *ret_rest = "";
    if (!rest || *rest != ':' || !peer_line_read_number(rest + 1, &to, &rest) || *rest != ']' ||
        from > to) {
        vp_fail(p, "%s is no slice like mr[0:64]", text);
        return none;
    }
    o = vp_named(p, name, VP_MR);
    if (!o)
        return none;
    *ret_rest = rest + 1;
    return (struct vp_slice){o, o->addr + from, to - from};
}

/* Allocates an object with the name after "as".  It counts as existing only after the device has
 * answered.
 */
static struct vp_object *new_object(struct verbs_peer *p, enum vp_kind kind)
{
    const char *name = p->line.as;

    if (!name || strlen(name) >= RDL_NAME_BYTES || vp_find(p, name)) {
        vp_fail(p, "it needs a new, short name");
        return NULL;
    }
    for (size_t i = 0; i < VP_OBJECTS_MAX; i++) {
        struct vp_object *o = &p->object[i];
        struct text t;

        if (o->kind != VP_NOTHING)
            continue;
        *o = (struct vp_object){.kind = kind};
        t = text_on(o->name, sizeof(o->name));
        text_add(&t, name);
        p->fresh = o;
        return o;
    }
    vp_fail(p, "there are too many objects");
    return NULL;
}

enum rdl_status vp_look_at_window(struct verbs_peer *p, struct vp_object *mw)
{
    struct rdl_mw_info info;
    enum rdl_status st = rdl_mw_info(p->lab, mw->mw, &info);

    mw->number = st == RDL_OK ? info.rkey : 0;
    mw->news = true;
    return st;
}

/* Returns true if the peer is told about objects of this kind. */
static bool is_told(enum vp_kind kind)
{
    return kind == VP_QP || kind == VP_MR || kind == VP_MW;
}

/* Reads the numbers of a new object, and marks it for the peer. */
static enum rdl_status look_at(struct verbs_peer *p, struct vp_object *o)
{
    struct rdl_qp_info qp;
    struct rdl_mr_info mr;
    enum rdl_status st = RDL_OK;

    if (o->kind == VP_QP) {
        st = rdl_qp_info(p->lab, o->qp, &qp);
        o->number = st == RDL_OK ? qp.qpn : 0;
    } else if (o->kind == VP_MR) {
        st = rdl_mr_info(p->lab, o->mr, &mr);
        o->number = st == RDL_OK ? mr.rkey : 0;
        o->lkey = st == RDL_OK ? mr.lkey : 0;
    } else if (o->kind == VP_MW) {
        st = vp_look_at_window(p, o);
    }
    o->news = is_told(o->kind);
    return st;
}

void vp_created(struct verbs_peer *p, bool ok)
{
    struct vp_object *o = p->fresh;

    if (!o)
        return;
    if (ok)
        (void)vp_done(p, look_at(p, o));
    else
        o->kind = VP_NOTHING;
    if (!ok && o->addr && rdl_mem_free(p->lab, p->config.host, o->addr) != RDL_OK)
        vp_fail(p, "its memory cannot be given back");
}

enum rdl_status vp_alloc_pd(struct verbs_peer *p)
{
    struct vp_object *o = new_object(p, VP_PD);

    return o ? rdl_alloc_pd(p->lab, p->config.host, o->name, &o->pd) : RDL_OK;
}

enum rdl_status vp_reg_mr(struct verbs_peer *p)
{
    const struct vp_object *pd = vp_named(p, vp_operand(p, 0), VP_PD);
    const uint32_t access = vp_access(p, "lw");
    const uint64_t bytes = vp_number(p, "len", 0);
    struct vp_object *o = new_object(p, VP_MR);
    enum rdl_status st;

    if (vp_failed(p))
        return RDL_OK;
    o->length = bytes;
    /* A region without bytes has memory too, like malloc(0). */
    st = rdl_mem_alloc(p->lab, p->config.host, bytes ? bytes : 1, &o->addr);
    return st == RDL_OK ? rdl_reg_mr(p->lab, pd->pd, o->addr, bytes, access, o->name, &o->mr) : st;
}

enum rdl_status vp_create_cq(struct verbs_peer *p)
{
    const uint32_t cqe = (uint32_t)vp_number(p, "cqe", CQE_STANDARD);
    struct vp_object *o = new_object(p, VP_CQ);

    return vp_failed(p) ? RDL_OK : rdl_create_cq(p->lab, p->config.host, cqe, o->name, &o->cq);
}

enum rdl_status vp_create_srq(struct verbs_peer *p)
{
    const struct vp_object *pd = vp_named(p, vp_operand(p, 0), VP_PD);
    const struct rdl_srq_attr attr = {.max_wr = (uint32_t)vp_number(p, "max_wr", WR_STANDARD),
                                      .max_sge = (uint32_t)vp_number(p, "max_sge", SGE_STANDARD)};
    struct vp_object *o = new_object(p, VP_SRQ);

    return vp_failed(p) ? RDL_OK : rdl_create_srq(p->lab, pd->pd, &attr, o->name, &o->srq);
}

enum rdl_status vp_alloc_mw(struct verbs_peer *p)
{
    const struct vp_object *pd = vp_named(p, vp_operand(p, 0), VP_PD);
    const uint32_t type = (uint32_t)vp_number(p, "type", 2);
    struct vp_object *o = new_object(p, VP_MW);

    return vp_failed(p) ? RDL_OK : rdl_alloc_mw(p->lab, pd->pd, type, o->name, &o->mw);
}

/* Returns @name as a member of struct rdl_qp_config, where 0 means the standard value. */
static uint32_t qp_number(struct verbs_peer *p, const char *name, uint64_t standard)
{
    const uint32_t n = (uint32_t)vp_number(p, name, standard);

    return n ? n : RDL_QP_NONE;
}

enum rdl_status vp_create_qp(struct verbs_peer *p)
{
    const struct vp_object *pd = vp_named(p, vp_operand(p, 0), VP_PD);
    const struct vp_object *send_cq = vp_object(p, "send_cq", VP_CQ);
    const struct vp_object *recv_cq = vp_object(p, "recv_cq", VP_CQ);
    const struct vp_object *srq = vp_value(p, "srq") ? vp_object(p, "srq", VP_SRQ) : NULL;
    const char *type = vp_value(p, "type");
    struct rdl_qp_config config = {
        .type = vp_word(p, &enum_qp_type, type ? type : "rc"),
        .max_send_wr = qp_number(p, "max_send_wr", WR_STANDARD),
        .max_recv_wr = qp_number(p, "max_recv_wr", WR_STANDARD),
        .max_send_sge = qp_number(p, "max_send_sge", SGE_STANDARD),
        .max_recv_sge = qp_number(p, "max_recv_sge", SGE_STANDARD),
        .max_inline_data = (uint32_t)vp_number(p, "max_inline_data", 0),
        .sq_sig_all = vp_flag(p, "sq_sig_all"),
    };
    struct vp_object *o = new_object(p, VP_QP);

    if (vp_failed(p))
        return RDL_OK;
    if (srq)
        config.srq = srq->srq;
    config.pd = pd->pd;
    config.send_cq = send_cq->cq;
    config.recv_cq = recv_cq->cq;
    o->type = config.type;
    return rdl_create_qp(p->lab, &config, o->name, &o->qp);
}

enum rdl_status vp_create_ah(struct verbs_peer *p)
{
    const struct vp_object *pd = vp_named(p, vp_operand(p, 0), VP_PD);
    const char *dgid = vp_value(p, "dgid");
    struct rdl_ah_attr attr = {
        .sgid_index = (uint8_t)p->config.gid_index, .hop_limit = HOP_LIMIT, .port = PORT};
    struct vp_object *o = new_object(p, VP_AH);

    vp_gid(p, dgid ? dgid : "peer.gid", attr.dgid);
    return vp_failed(p) ? RDL_OK : rdl_create_ah(p->lab, pd->pd, &attr, o->name, &o->ah);
}

enum rdl_status vp_destroy(struct verbs_peer *p)
{
    const char *name = vp_operand(p, 0);
    const struct vp_object *o = vp_find(p, name);

    switch (o ? o->kind : VP_NOTHING) {
    case VP_PD:
        return rdl_dealloc_pd(p->lab, o->pd);
    case VP_MR:
        return rdl_dereg_mr(p->lab, o->mr);
    case VP_CQ:
        return rdl_destroy_cq(p->lab, o->cq);
    case VP_SRQ:
        return rdl_destroy_srq(p->lab, o->srq);
    case VP_QP:
        return rdl_destroy_qp(p->lab, o->qp);
    case VP_MW:
        return rdl_dealloc_mw(p->lab, o->mw);
    case VP_AH:
        return rdl_destroy_ah(p->lab, o->ah);
    default:
        vp_fail(p, "%s is unknown", name);
        return RDL_OK;
    }
}

void vp_destroyed(struct verbs_peer *p, bool ok)
{
    struct vp_object *o = vp_find(p, vp_operand(p, 0));

    if (!ok || !o)
        return;
    if (o->kind == VP_MR && rdl_mem_free(p->lab, p->config.host, o->addr) != RDL_OK)
        vp_fail(p, "its memory cannot be given back");
    if (is_told(o->kind) && !o->news) {
        if (p->n_gone == VP_OBJECTS_MAX)
            vp_fail(p, "too much was destroyed without a sync");
        else
            memcpy(p->gone[p->n_gone++], o->name, VP_NAME_BYTES);
    }
    o->kind = VP_NOTHING;
}
