/* SPDX-License-Identifier: MIT */
#include "emu/facts/async.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/async_event.h"

enum object_kind async_object(uint32_t event)
{
    static const enum object_kind objects[ASYNC_EVENTS] = {
        [ASE_CQ_ERR] = OBJ_CQ,
        [ASE_QP_FATAL] = OBJ_QP,
        [ASE_QP_REQ_ERR] = OBJ_QP,
        [ASE_QP_ACCESS_ERR] = OBJ_QP,
        [ASE_COMM_EST] = OBJ_QP,
        [ASE_SQ_DRAINED] = OBJ_QP,
        [ASE_PATH_MIG] = OBJ_QP,
        [ASE_PATH_MIG_ERR] = OBJ_QP,
        [ASE_QP_LAST_WQE_REACHED] = OBJ_QP,
        [ASE_SRQ_ERR] = OBJ_SRQ,
        [ASE_SRQ_LIMIT_REACHED] = OBJ_SRQ,
    };

    return event < ARRAY_LEN(objects) ? objects[event] : OBJ_NONE;
}
