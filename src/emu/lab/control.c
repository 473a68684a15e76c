/* SPDX-License-Identifier: MIT */
/* The public functions of control.h. */
#include "rdmalab/control.h"

#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"

/* Returns the operations for raw requests of the driver at @h.  Returns NULL if it has none, or if
 * @h is NULL.
 */
static const struct rdma_control_ops *control_of(const struct host *h)
{
    return h && h->guest.config.rdma ? h->guest.config.rdma->control : NULL;
}

static enum rdl_status send(struct host *h, const struct rdl_control *request, bool kick,
                            uint32_t *ret_id)
{
    const struct rdma_control_ops *ops = control_of(h);

    if (!h->guest.config.rdma)
        return RDL_ERR_NO_DEVICE;
    return ops ? ops->send(h->guest.verbs.driver, request, kick, ret_id) : RDL_ERR_UNSUPPORTED;
}

enum rdl_status rdl_control_send(struct rdl_lab *lab, rdl_host host,
                                 const struct rdl_control *request, bool kick, uint32_t *ret_id)
{
    ACT_AT(lab, host, h, send(h, request, kick, ret_id));
}

enum rdl_status rdl_control_answer(const struct rdl_lab *lab, rdl_host host, uint32_t id,
                                   struct rdl_control_answer *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct rdma_control_ops *ops = control_of(h);

    if (!h)
        return RDL_ERR_STALE;
    return ops ? ops->answer(h->guest.verbs.driver, id, ret) : RDL_ERR_NOT_FOUND;
}

uint32_t rdl_control_under_way(const struct rdl_lab *lab, rdl_host host)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct rdma_control_ops *ops = control_of(h);

    return ops ? ops->under_way(h->guest.verbs.driver) : 0;
}

enum rdl_status rdl_last_refusal(const struct rdl_lab *lab, rdl_host host, struct rdl_refusal *ret)
{
    const struct host *h = lab_host(lab->state, host.raw);
    const struct refused *r;

    if (!h)
        return RDL_ERR_STALE;
    if (!h->rnic)
        return RDL_ERR_NO_DEVICE;
    r = &h->rnic->hca.refused;
    *ret = (struct rdl_refusal){(uint32_t)r->why, r->values.least, r->values.most, r->values.found};
    return RDL_OK;
}
