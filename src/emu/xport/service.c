/* SPDX-License-Identifier: MIT */
#include "emu/xport/service.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/xport/internal.h"

static enum drop_reason reliable_receive(struct xport_qp *xqp, const struct packet *p,
                                         const struct rx_info *info)
{
    return op_is_response(p->op) ? comp_receive(xqp, p, info) : resp_receive(xqp, p, info);
}

static const struct service services[] = {
    {QPT_RC, OPS_RC, true, true, reliable_receive, xport_fail},
    {QPT_UC, OPS_UC, true, false, resp_receive_unreliable, xport_fail_sends},
    {QPT_UD, OPS_UD, false, false, resp_receive_unreliable, xport_fail_sends},
    {QPT_GSI, OPS_UD, false, false, resp_receive_unreliable, xport_fail_sends},
};

const struct service *service_of(uint32_t type)
{
    for (size_t i = 0; i < ARRAY_LEN(services); i++) {
        if ((uint32_t)services[i].type == type)
            return &services[i];
    }
    return NULL;
}
