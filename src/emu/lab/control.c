/* SPDX-License-Identifier: MIT */
/* The public functions of control.h. */
#include "rdmalab/control.h"

#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"

enum rdl_status rdl_control_send(struct rdl_lab *lab, rdl_host host,
                                 const struct rdl_control *request, bool kick, uint32_t *ret_id)
{
    ACT_AT(lab, host, h, raw_send(&h->guest.rdma, request, kick, ret_id));
}

enum rdl_status rdl_control_answer(const struct rdl_lab *lab, rdl_host host, uint32_t id,
                                   struct rdl_control_answer *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);

    return h ? raw_answer(&h->guest.rdma, id, ret) : RDL_ERR_STALE;
}

uint32_t rdl_control_under_way(const struct rdl_lab *lab, rdl_host host)
{
    const struct host *h = lab_host(lab->state, host.raw);

    return h ? h->guest.rdma.raw.n_under_way : 0;
}

enum rdl_status rdl_last_refusal(const struct rdl_lab *lab, rdl_host host, struct rdl_refusal *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct refused *r;

    if (!h)
        return RDL_ERR_STALE;
    r = &h->rnic->hca.refused;
    *ret = (struct rdl_refusal){(uint32_t)r->why, r->values.least, r->values.most, r->values.found};
    return RDL_OK;
}
