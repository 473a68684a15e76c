/* SPDX-License-Identifier: MIT */
/* Shared declarations of the control queue's files: a request under execution, and the commands. */
#ifndef EMU_DEVICE_CTRL_H
#define EMU_DEVICE_CTRL_H

#include <string.h>

#include "emu/device/internal.h"
#include "emu/facts/rfc.h"
#include "emu/hca/ctrl.h"

/* A control request under execution.  req is the raw request after the command byte.  rsp is the
 * room for the raw response after the status byte.  The command sets number to the number of the
 * object that it concerns, for the event of the request; 0: none.
 */
struct call {
    struct rdma *d;
    const uint8_t *req;
    uint8_t *rsp;
    uint32_t number;
};

/* Declares the variable @var of type struct rfc_@name, and decodes the request of @c into it. */
#define REQUEST(c, name, var)                                                                      \
    struct rfc_##name var;                                                                         \
    do {                                                                                           \
        struct raw_##name var##_raw;                                                               \
                                                                                                   \
        memcpy(&var##_raw, (c)->req, sizeof(var##_raw));                                           \
        rfc_##name##_get(&var, &var##_raw);                                                        \
    } while (0)

/* Encodes a struct rfc_@name with the given initializers as the response of @c. */
#define RESPOND(c, name, ...)                                                                      \
    do {                                                                                           \
        struct raw_##name rsp_raw;                                                                 \
                                                                                                   \
        rfc_##name##_put(&rsp_raw, &(struct rfc_##name){__VA_ARGS__});                             \
        memcpy((c)->rsp, &rsp_raw, sizeof(rsp_raw));                                               \
    } while (0)

/* Refuses the request with reason @why and the @values that were compared.  Returns @why. */
static inline enum refusal_reason ctrl_refuse(struct call *c, enum refusal_reason why,
                                              struct compared values)
{
    return hca_refuse(&c->d->nic.hca, why, values);
}

/* rdma_ctrl.c: resets the device's indexes of @queue after its object was destroyed, if RING_RESET
 * was not negotiated.  Without RING_RESET the driver cannot reset a queue and starts over with the
 * same ring.
 */
void ctrl_forget_ring(struct rdma *d, uint32_t queue);

/* Executes a command: ctrl_query_port() and so on, one for each row of controls.def.  Returns
 * REF_NONE, or the reason why the command is refused.  rdma_ctrl_mr.c contains the commands of
 * memory regions and windows, rdma_srq.c those of shared receive queues, rdma_ceq.c
 * CREATE_CQ_EX, rdma_ctrl.c the others.
 */
#define CONTROL(nm, name, number, feature, request, response, text)                                \
    enum refusal_reason ctrl_##name(struct call *c);
#include "emu/facts/controls.def"
#undef CONTROL

#endif
