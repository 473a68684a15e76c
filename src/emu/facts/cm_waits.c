/* SPDX-License-Identifier: MIT */
#include "emu/facts/cm_waits.h"

#include <stddef.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/rdma_cm_event.h"

static const struct cm_wait waits[] = {
    {CMS_REQ_SENT, CM_REQ, "a REP, a REJ or a MRA", RDMA_CM_EVENT_UNREACHABLE},
    {CMS_MRA_REQ_RCVD, CM_REQ, "a REP or a REJ: a MRA has asked for time",
     RDMA_CM_EVENT_UNREACHABLE},
    {CMS_REP_SENT, CM_REP, "a RTU", RDMA_CM_EVENT_UNREACHABLE},
    {CMS_MRA_REP_RCVD, CM_REP, "a RTU: a MRA has asked for time", RDMA_CM_EVENT_UNREACHABLE},
    {CMS_DREQ_SENT, CM_DREQ, "a DREP", RDMA_CM_EVENT_DISCONNECTED},
    {CMS_SIDR_REQ_SENT, CM_SIDR_REQ, "a SIDR_REP", RDMA_CM_EVENT_UNREACHABLE},
};

const struct cm_wait *cm_wait(uint32_t state)
{
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        if (waits[i].state == state)
            return &waits[i];
    }
    return NULL;
}
