/* SPDX-License-Identifier: MIT */
/* Functions shared between the files of PVRDMA. */
#ifndef EMU_DEVICE_PVRDMA_INTERNAL_H
#define EMU_DEVICE_PVRDMA_INTERNAL_H

#include <string.h>

#include "emu/device/pvrdma/pvrdma.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/refusal.h"
#include "emu/hca/ctrl.h"

/* function.c: raises the interrupt @vector, or holds it back while IMR has its bit.  It is for
 * @queue, a number of facts/pvrdma/ring.h: a fault may lose it.
 */
void pv_raise(struct pvrdma *d, enum pv_vector vector, uint32_t queue);

/* function.c: as device_fault_hits(), for @queue. */
struct device_fault *pv_fault_hits(struct pvrdma *d, uint32_t kind, uint32_t queue);

/* commands.c: writes the delayed response now, if there is one.  @timer: its timer has run out. */
void pv_late_response(struct pvrdma *d, bool timer);

/* region.c: reads the shared region at @gpa, writes the capabilities into it, and enters PV_SHARED.
 * Returns REF_NONE, RFK_INVALID or RFK_NO_ROOM; the device is then in PV_RESET.  Call it in
 * PV_RESET.
 */
enum refusal_reason pv_share(struct pvrdma *d, uint64_t gpa);

/* function.c: the only function that writes d->phase. */
void pv_set_phase(struct pvrdma *d, enum pv_phase to);

/* commands.c: executes the command in the slot, and sets d->err. */
void pv_command_run(struct pvrdma *d);

/* queues.c: pv_uar_write() executes a write to a page of doorbells.  pv_on_doorbell() is the
 * handler of SIM_DOORBELL; @queue is a number of facts/pvrdma/ring.h.  pv_release_held() processes
 * the work that waited for access to memory.
 */
void pv_uar_write(struct pvrdma *d, uint32_t offset, uint32_t value);
void pv_on_doorbell(void *dev, uint32_t queue);
void pv_release_held(struct pvrdma *d);

/* queues.c: implement the functions of struct rnic_ops with these names. */
enum fetch pv_fetch_send(void *ctx, struct qp *qp, struct send_wqe *out);
enum fetch pv_fetch_recv(void *ctx, struct qp *qp, struct recv_wqe *out);
uint32_t pv_receives(void *ctx, struct qp *qp);
bool pv_sends_wait(const void *ctx, const struct qp *qp);
void pv_release(void *ctx, struct qp *qp, enum wq wq, uint32_t desc);

/* notes.c: implement the functions of struct rnic_ops with these names. */
bool pv_complete(void *ctx, struct cq *cq, const struct completion *wc);
void pv_completed(void *ctx, struct cq *cq);
void pv_event(void *ctx);

/* notes.c: tells the driver what has waited for room in the rings of the shared region. */
void pv_notes_flush(struct pvrdma *d);

/* commands.c: the user context @handle, or NULL if there is none. */
struct pv_uc *pv_uc_at(struct pvrdma *d, uint32_t handle);

/* A command under execution.  req and rsp are the bodies behind the headers. */
struct pv_call {
    struct pvrdma *d;
    const uint8_t *req;
    uint8_t *rsp;
};

/* Declares the variable @var of type struct pv_@name, and decodes the request of @c into it. */
#define PV_TAKE(c, name, var)                                                                      \
    struct pv_##name var;                                                                          \
    do {                                                                                           \
        struct pv_raw_##name var##_raw;                                                            \
                                                                                                   \
        memcpy(&var##_raw, (c)->req, sizeof(var##_raw));                                           \
        pv_##name##_get(&var, &var##_raw);                                                         \
    } while (0)

/* Encodes a struct pv_@name with the given initializers as the response of @c. */
#define PV_ANSWER(c, name, ...)                                                                    \
    do {                                                                                           \
        struct pv_raw_##name rsp_raw;                                                              \
                                                                                                   \
        pv_##name##_put(&rsp_raw, &(struct pv_##name){__VA_ARGS__});                               \
        memcpy((c)->rsp, &rsp_raw, sizeof(rsp_raw));                                               \
    } while (0)

static inline enum refusal_reason pv_refuse(struct pv_call *c, enum refusal_reason why,
                                            struct compared values)
{
    return hca_refuse(&c->d->nic.hca, why, values);
}

/* Executes a command: pv_cmd_query_port() and so on, one for each row of commands.def.  Returns
 * REF_NONE, or the reason why the command is refused.  commands_qp.c has those of queue pairs,
 * commands_mem.c those of regions and rings without queue pairs, commands.c the others.
 */
#define PV_COMMAND(nm, name, ...) enum refusal_reason pv_cmd_##name(struct pv_call *c);
#include "emu/facts/pvrdma/commands.def"
#undef PV_COMMAND

#endif
