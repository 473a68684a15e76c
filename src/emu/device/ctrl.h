/* SPDX-License-Identifier: MIT */
/* Between the files of the control queue: a request, and the commands that are not in rdma_ctrl.c.
 */
#ifndef EMU_DEVICE_CTRL_H
#define EMU_DEVICE_CTRL_H

#include <string.h>

#include "emu/device/internal.h"
#include "emu/facts/rfc.h"

/* A request being executed.  @number is what the trace shows: the object's number. */
struct call {
    struct rdma *d;
    const uint8_t *req;
    uint8_t *rsp;
    uint32_t number;
};

/* Decodes the request into a variable of the structure's type. */
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

/* Refuses the request because of REF_@why. */
static inline enum ctrl_rsp ctrl_refuse(struct call *c, enum ctrl_refusal why,
                                        struct compared values)
{
    return hca_refuse(&c->d->hca, why, values);
}

/* rdma_ctrl.c: without RING_RESET a driver has no way to empty a queue: the device forgets where it
 * was, and the driver starts the ring again in place.
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
