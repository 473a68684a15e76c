/* SPDX-License-Identifier: MIT */
/* The public functions of srq.h: look up the objects of handles and call the verbs. */
#include "rdmalab/srq.h"

#include "emu/facts/enum/object.h"
#include "emu/lab/lab_state.h"

static struct guest_srq *srq_of(const struct rdl_lab *lab, rdl_srq h)
{
    return (struct guest_srq *)lab_object(lab->state, OBJ_SRQ, h.raw);
}

enum rdl_status rdl_create_srq(struct rdl_lab *lab, rdl_pd pd, const struct rdl_srq_attr *attr,
                               const char *name, rdl_srq *ret)
{
    struct guest_pd *p = (struct guest_pd *)lab_object(lab->state, OBJ_PD, pd.raw);

    ACT_ON(lab, p, verbs_create_srq(p, attr, name, &ret->raw));
}

enum rdl_status rdl_destroy_srq(struct rdl_lab *lab, rdl_srq srq)
{
    struct guest_srq *s = srq_of(lab, srq);

    ACT_ON(lab, s, verbs_destroy_srq(s));
}

enum rdl_status rdl_modify_srq(struct rdl_lab *lab, rdl_srq srq, const struct rdl_srq_attr *attr,
                               uint32_t mask)
{
    struct guest_srq *s = srq_of(lab, srq);

    ACT_ON(lab, s, verbs_modify_srq(s, attr, mask));
}

enum rdl_status rdl_query_srq(struct rdl_lab *lab, rdl_srq srq)
{
    struct guest_srq *s = srq_of(lab, srq);

    ACT_ON(lab, s, verbs_query_srq(s));
}

enum rdl_status rdl_srq_info(const struct rdl_lab *lab, rdl_srq srq, struct rdl_srq_info *ret)
{
    const struct guest_srq *s = srq_of(lab, srq);

    if (!s)
        return RDL_ERR_STALE;
    verbs_srq_info(s, ret);
    return RDL_OK;
}

enum rdl_status rdl_post_srq_recv_list(struct rdl_lab *lab, rdl_srq srq,
                                       const struct rdl_recv_wr *wr, size_t n, bool nokick,
                                       struct rdl_post_error *reterr)
{
    struct guest_srq *s = srq_of(lab, srq);

    ACT_ON(lab, s, verbs_post_srq_recv_list(s, wr, n, nokick, reterr));
}

enum rdl_status rdl_post_srq_recv(struct rdl_lab *lab, rdl_srq srq, const struct rdl_recv_wr *wr,
                                  bool nokick)
{
    struct rdl_post_error ignored;

    return rdl_post_srq_recv_list(lab, srq, wr, 1, nokick, &ignored);
}
