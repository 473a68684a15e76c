/* SPDX-License-Identifier: MIT */
/* The public verbs: look up the objects of handles and call the guest's verbs, each in a tick of
 * its own.
 */
#include "rdmalab/verbs.h"

#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/lab/lab_state.h"

/* The object of a handle; NULL if the handle is stale. */
static struct guest_pd *pd_of(const struct rdl_lab *lab, rdl_pd h)
{
    return (struct guest_pd *)lab_object(lab->state, OBJ_PD, h.raw);
}

static struct guest_mr *mr_of(const struct rdl_lab *lab, rdl_mr h)
{
    return (struct guest_mr *)lab_object(lab->state, OBJ_MR, h.raw);
}

static struct guest_cq *cq_of(const struct rdl_lab *lab, rdl_cq h)
{
    return (struct guest_cq *)lab_object(lab->state, OBJ_CQ, h.raw);
}

static struct guest_qp *qp_of(const struct rdl_lab *lab, rdl_qp h)
{
    return (struct guest_qp *)lab_object(lab->state, OBJ_QP, h.raw);
}

static struct guest_ah *ah_of(const struct rdl_lab *lab, rdl_ah h)
{
    return (struct guest_ah *)lab_object(lab->state, OBJ_AH, h.raw);
}

enum rdl_status rdl_requests_max(struct rdl_lab *lab, rdl_host host, uint32_t n)
{
    struct host *h;
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    if (st != RDL_OK)
        return st;
    if (n < 1 || n > RDL_REQUESTS_MAX)
        return RDL_ERR_INVAL;
    h->guest.verbs.requests_max = n;
    return RDL_OK;
}

enum rdl_status rdl_alloc_pd(struct rdl_lab *lab, rdl_host host, const char *name, rdl_pd *ret)
{
    ACT_AT(lab, host, h, verbs_alloc_pd(&h->guest.verbs, name, &ret->raw));
}

enum rdl_status rdl_dealloc_pd(struct rdl_lab *lab, rdl_pd pd)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_dealloc_pd(p));
}

enum rdl_status rdl_mem_alloc(struct rdl_lab *lab, rdl_host host, uint64_t bytes, uint64_t *ret)
{
    struct host *h;
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    return st == RDL_OK ? verbs_mem_alloc(&h->guest.verbs, bytes, ret) : st;
}

enum rdl_status rdl_mem_free(struct rdl_lab *lab, rdl_host host, uint64_t addr)
{
    struct host *h;
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    return st == RDL_OK ? verbs_mem_free(&h->guest.verbs, addr) : st;
}

enum rdl_status rdl_mem_read(const struct rdl_lab *lab, rdl_host host, uint64_t addr, void *out,
                             size_t bytes)
{
    struct host *h;
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    return st == RDL_OK ? verbs_mem_read(&h->guest.verbs, addr, out, bytes) : st;
}

enum rdl_status rdl_mem_write(struct rdl_lab *lab, rdl_host host, uint64_t addr, const void *in,
                              size_t bytes)
{
    ACT_AT(lab, host, h, verbs_mem_write(&h->guest.verbs, addr, in, bytes));
}

/* NOLINTNEXTLINE(readability-function-size): see the header */
enum rdl_status rdl_reg_mr(struct rdl_lab *lab, rdl_pd pd, uint64_t addr, uint64_t bytes,
                           uint32_t access, const char *name, rdl_mr *ret)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_reg_mr(p, addr, bytes, access, name, &ret->raw));
}

enum rdl_status rdl_dereg_mr(struct rdl_lab *lab, rdl_mr mr)
{
    struct guest_mr *m = mr_of(lab, mr);

    ACT_ON(lab, m, verbs_dereg_mr(m));
}

enum rdl_status rdl_mr_info(const struct rdl_lab *lab, rdl_mr mr, struct rdl_mr_info *ret)
{
    const struct guest_mr *m = mr_of(lab, mr);

    if (!m)
        return RDL_ERR_STALE;
    verbs_mr_info(m, ret);
    return RDL_OK;
}

enum rdl_status rdl_create_cq(struct rdl_lab *lab, rdl_host host, uint32_t cqe, const char *name,
                              rdl_cq *ret)
{
    ACT_AT(lab, host, h, verbs_create_cq(&h->guest.verbs, cqe, name, &ret->raw));
}

enum rdl_status rdl_destroy_cq(struct rdl_lab *lab, rdl_cq cq)
{
    struct guest_cq *c = cq_of(lab, cq);

    ACT_ON(lab, c, verbs_destroy_cq(c));
}

enum rdl_status rdl_resize_qp(struct rdl_lab *lab, rdl_qp qp, uint32_t max_send_wr,
                              uint32_t max_recv_wr)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_resize_qp(q, max_send_wr, max_recv_wr));
}

enum rdl_status rdl_resize_cq(struct rdl_lab *lab, rdl_cq cq, uint32_t cqe)
{
    struct guest_cq *c = cq_of(lab, cq);

    ACT_ON(lab, c, verbs_resize_cq(c, cqe));
}

enum rdl_status rdl_req_notify_cq(struct rdl_lab *lab, rdl_cq cq, bool solicited_only)
{
    struct guest_cq *c = cq_of(lab, cq);

    ACT_ON(lab, c, verbs_req_notify_cq(c, solicited_only));
}

/* Returns true if @cq has a node of LNet that would get the completions, too. */
static bool is_kept(const struct guest_cq *cq)
{
    return cq && lab_may_use(&cq->o) != RDL_OK;
}

enum rdl_status rdl_create_qp(struct rdl_lab *lab, const struct rdl_qp_config *config,
                              const char *name, rdl_qp *ret)
{
    const struct verbs_qp_parts parts = {
        .pd = pd_of(lab, config->pd),
        .send_cq = cq_of(lab, config->send_cq),
        .recv_cq = cq_of(lab, config->recv_cq),
        .srq = (struct guest_srq *)lab_object(lab->state, OBJ_SRQ, config->srq.raw),
    };

    if (is_kept(parts.send_cq) || is_kept(parts.recv_cq))
        return RDL_ERR_KERNEL;
    ACT_ON(lab, parts.pd, verbs_create_qp(parts.pd->o.verbs, config, &parts, name, &ret->raw));
}

enum rdl_status rdl_destroy_qp(struct rdl_lab *lab, rdl_qp qp)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_destroy_qp(q));
}

enum rdl_status rdl_modify_qp(struct rdl_lab *lab, rdl_qp qp, const struct rdl_qp_attr *attr,
                              uint32_t mask, bool unchecked, struct rdl_modify_error *reterr)
{
    struct guest_qp *q = qp_of(lab, qp);

    if (verbs_only_fails(attr, mask)) /* as a fault does: LNet reconnects */
        ACT(lab, q, verbs_modify_qp(q, attr, mask, unchecked, reterr));
    ACT_ON(lab, q, verbs_modify_qp(q, attr, mask, unchecked, reterr));
}

enum rdl_status rdl_attach_mcast(struct rdl_lab *lab, rdl_qp qp, const uint8_t gid[16])
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_attach_mcast(q, gid));
}

enum rdl_status rdl_detach_mcast(struct rdl_lab *lab, rdl_qp qp, const uint8_t gid[16])
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_detach_mcast(q, gid));
}

enum rdl_status rdl_create_ah(struct rdl_lab *lab, rdl_pd pd, const struct rdl_ah_attr *attr,
                              const char *name, rdl_ah *ret)
{
    struct guest_pd *p = pd_of(lab, pd);

    ACT_ON(lab, p, verbs_create_ah(p, attr, name, &ret->raw));
}

enum rdl_status rdl_destroy_ah(struct rdl_lab *lab, rdl_ah ah)
{
    struct guest_ah *a = ah_of(lab, ah);

    ACT_ON(lab, a, verbs_destroy_ah(a));
}

enum rdl_status rdl_ah_info(const struct rdl_lab *lab, rdl_ah ah, struct rdl_ah_attr *ret)
{
    const struct guest_ah *a = ah_of(lab, ah);

    if (!a)
        return RDL_ERR_STALE;
    *ret = a->attr;
    return RDL_OK;
}

enum rdl_status rdl_query_qp(struct rdl_lab *lab, rdl_qp qp)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT(lab, q, verbs_query_qp(q));
}

enum rdl_status rdl_query_port(struct rdl_lab *lab, rdl_host host)
{
    ACT_AT(lab, host, h, verbs_query_port(&h->guest.verbs));
}

enum rdl_status rdl_set_gid(struct rdl_lab *lab, rdl_host host, uint32_t index, bool valid)
{
    ACT_AT(lab, host, h, verbs_set_gid(&h->guest.verbs, index, valid));
}

enum rdl_status rdl_query_pkey(struct rdl_lab *lab, rdl_host host, uint32_t index)
{
    ACT_AT(lab, host, h, verbs_query_pkey(&h->guest.verbs, index));
}

enum rdl_status rdl_pkey(const struct rdl_lab *lab, rdl_host host, uint16_t *ret)
{
    struct host *h;
    const enum rdl_status st = lab_guest_host(lab->state, host.raw, &h);

    if (st == RDL_OK)
        *ret = h->guest.verbs.pkey;
    return st;
}

enum rdl_status rdl_qp_info(const struct rdl_lab *lab, rdl_qp qp, struct rdl_qp_info *ret)
{
    const struct guest_qp *q = qp_of(lab, qp);

    if (!q)
        return RDL_ERR_STALE;
    verbs_qp_info(q, ret);
    return RDL_OK;
}

enum rdl_status rdl_host_address(const struct rdl_lab *lab, rdl_host host, uint32_t index,
                                 uint8_t ret_gid[16], uint8_t ret_mac[6])
{
    const struct host *h = lab_host(lab->state, host.raw);

    if (!h)
        return RDL_ERR_STALE;
    if (index >= GUEST_GIDS)
        return RDL_ERR_INVAL;
    memcpy(ret_gid, h->guest.config.gid[index], GID_BYTES);
    memcpy(ret_mac, h->guest.config.mac, MAC_BYTES);
    return RDL_OK;
}

enum rdl_status rdl_post_send(struct rdl_lab *lab, rdl_qp qp, const struct rdl_send_wr *wr,
                              bool nokick)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_post_send(q, wr, nokick));
}

enum rdl_status rdl_post_recv(struct rdl_lab *lab, rdl_qp qp, const struct rdl_recv_wr *wr,
                              bool nokick)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_post_recv(q, wr, nokick));
}

enum rdl_status rdl_post_send_list(struct rdl_lab *lab, rdl_qp qp, const struct rdl_send_wr *wr,
                                   size_t n, bool nokick, struct rdl_post_error *reterr)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_post_send_list(q, wr, n, nokick, reterr));
}

enum rdl_status rdl_post_recv_list(struct rdl_lab *lab, rdl_qp qp, const struct rdl_recv_wr *wr,
                                   size_t n, bool nokick, struct rdl_post_error *reterr)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT_ON(lab, q, verbs_post_recv_list(q, wr, n, nokick, reterr));
}

enum rdl_status rdl_kick(struct rdl_lab *lab, rdl_qp qp, bool send)
{
    struct guest_qp *q = qp_of(lab, qp);

    ACT(lab, q, verbs_kick(q, send));
}

enum rdl_status rdl_poll_cq(struct rdl_lab *lab, rdl_cq cq, size_t max, struct rdl_wc *ret,
                            size_t *ret_n)
{
    struct guest_cq *c = cq_of(lab, cq);

    ACT_ON(lab, c, verbs_poll_cq(c, max, ret, ret_n));
}

enum rdl_status rdl_cq_info(const struct rdl_lab *lab, rdl_cq cq, struct rdl_cq_info *ret)
{
    const struct guest_cq *c = cq_of(lab, cq);

    return c ? verbs_cq_info(c, ret) : RDL_ERR_STALE;
}
