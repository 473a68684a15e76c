/* SPDX-License-Identifier: MIT */
/* Shared between the files of the control queue: a request, and the commands outside rdma_ctrl.c.
 */
#ifndef EMU_DEVICE_CTRL_H
#define EMU_DEVICE_CTRL_H

#include <string.h>

#include "emu/device/internal.h"
#include "emu/facts/rfc.h"

/* A control request being executed.  @number is the number of its object, for the event. */
struct call {
    struct rdma *d;
    const uint8_t *req;
    uint8_t *rsp;
    uint32_t number;
};

/* Declares @var, a struct rfc_@name, and decodes the request into it. */
#define REQUEST(c, name, var)                                                                      \
    struct rfc_##name var;                                                                         \
    do {                                                                                           \
        struct raw_##name var##_raw;                                                               \
                                                                                                   \
        memcpy(&var##_raw, (c)->req, sizeof(var##_raw));                                           \
        rfc_##name##_get(&var, &var##_raw);                                                        \
    } while (0)

#define RESPOND(c, name, ...)                                                                      \
    do {                                                                                           \
        struct raw_##name rsp_raw;                                                                 \
                                                                                                   \
        rfc_##name##_put(&rsp_raw, &(struct rfc_##name){__VA_ARGS__});                             \
        memcpy((c)->rsp, &rsp_raw, sizeof(rsp_raw));                                               \
    } while (0)

/* Refuses the request with reason @why.  Returns the response code. */
static inline enum ctrl_rsp ctrl_refuse(struct call *c, enum ctrl_refusal why,
                                        struct compared values)
{
    return hca_refuse(&c->d->hca, why, values);
}

/* rdma_ctrl.c: resets the device's indexes of @queue, if RING_RESET was not negotiated.  Without it
 * the driver cannot reset a queue and starts the ring over in place.
 */
void ctrl_forget_ring(struct rdma *d, uint32_t queue);

/* rdma_ctrl_mr.c: memory regions and windows */
enum ctrl_rsp ctrl_get_dma_mr(struct call *c);
enum ctrl_rsp ctrl_create_mr(struct call *c);
enum ctrl_rsp ctrl_map_mr_sg(struct call *c);
enum ctrl_rsp ctrl_reg_user_mr(struct call *c);
enum ctrl_rsp ctrl_dereg_mr(struct call *c);
enum ctrl_rsp ctrl_rereg_mr(struct call *c);
enum ctrl_rsp ctrl_alloc_mw(struct call *c);
enum ctrl_rsp ctrl_dealloc_mw(struct call *c);

/* rdma_srq.c */
enum ctrl_rsp ctrl_create_srq(struct call *c);
enum ctrl_rsp ctrl_modify_srq(struct call *c);
enum ctrl_rsp ctrl_query_srq(struct call *c);
enum ctrl_rsp ctrl_destroy_srq(struct call *c);

#endif
