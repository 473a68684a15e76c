/* SPDX-License-Identifier: MIT */
/* Shared declarations of the driver's files.
 *
 * driver.c the driver's table · boot.c probe, shared region, capabilities · commands.c the command
 * slot · requests.c PDs, CQs, SRQs, GIDs, port · qp.c · mr.c · work.c posts and completions ·
 * events.c interrupts, the two rings of the shared region · memory.c directories and rings
 */
#ifndef EMU_GUEST_PVRDMA_INTERNAL_H
#define EMU_GUEST_PVRDMA_INTERNAL_H

#include <string.h>

#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/guest/pvrdma/pvrdma.h"

static inline struct pvrdma_guest *driver_of(const struct guest_object *o)
{
    return o->verbs->driver;
}

/* Read and write a register, and ring a doorbell: @at is an offset in a page of doorbells. */
static inline uint32_t pvd_read(const struct pvrdma_guest *d, enum pv_reg reg)
{
    return (uint32_t)pci_read(&d->pci, d->regs + (uint32_t)reg, 4);
}

static inline void pvd_write(const struct pvrdma_guest *d, enum pv_reg reg, uint32_t value)
{
    pci_write(&d->pci, d->regs + (uint32_t)reg, 4, value);
}

static inline void pvd_doorbell(struct pvrdma_guest *d, uint32_t at, uint32_t value)
{
    d->n_doorbells++;
    pci_write(&d->pci, d->uar + at, 4, value);
}

/* memory.c: pvd_directory_take() makes a directory for @n pages, at most PV_PAGES_MAX, and
 * pvd_pages_take() one with @n zeroed pages.  Both return false if the DMA area is full.
 * pvd_directory_give() frees a directory, pvd_pages_give() also its pages; an empty one is allowed.
 */
bool pvd_directory_take(const struct pvrdma_guest *d, uint32_t n, struct pvd_directory *ret);
void pvd_directory_give(const struct pvrdma_guest *d, struct pvd_directory *dir);
bool pvd_pages_take(const struct pvrdma_guest *d, uint32_t n, struct pvd_directory *ret);
void pvd_pages_give(const struct pvrdma_guest *d, struct pvd_directory *dir);

/* memory.c: read and set entry @i. */
uint64_t pvd_page(const struct pvrdma_guest *d, const struct pvd_directory *dir, uint32_t i);
void pvd_set_page(const struct pvrdma_guest *d, const struct pvd_directory *dir, uint32_t i,
                  uint64_t gpa);

/* memory.c: makes *@r a ring of @n slots in @pages.  Its indices are tx of the state if @tx. */
void pvd_ring_init(const struct pvrdma_guest *d, struct pvd_ring *r,
                   const struct pvd_directory *pages, bool tx, uint32_t first_page, uint32_t n,
                   uint32_t slot_bytes);

/* memory.c: the ring is empty again. */
void pvd_ring_restart(const struct pvrdma_guest *d, const struct pvd_ring *r);

/* memory.c: returns the number of entries, or UINT32_MAX if the device's index is none. */
uint32_t pvd_ring_used(const struct pvrdma_guest *d, const struct pvd_ring *r);

/* memory.c: writes the entry @in of @bytes and gives it to the device.  Returns RDL_OK with its
 * slot, RDL_ERR_QUEUE_FULL if @most entries are there, RDL_ERR_RING or RDL_ERR_NOMEM.
 */
enum rdl_status pvd_ring_put(const struct pvrdma_guest *d, const struct pvd_ring *r, uint32_t most,
                             const void *in, uint32_t bytes, uint32_t *ret_slot);

/* memory.c: copies entry number @i, 0 for the oldest, or takes the oldest. */
bool pvd_ring_peek(const struct pvrdma_guest *d, const struct pvd_ring *r, uint32_t i, void *out);
bool pvd_ring_take(const struct pvrdma_guest *d, const struct pvd_ring *r, void *out);

/* commands.c: sends a command, whose body behind the header is @body.  Returns RDL_OK, and the
 * answer follows or has come; RDL_ERR_BUSY, or RDL_ERR_NOMEM.
 */
enum rdl_status pvd_send(struct pvrdma_guest *d, enum pv_command command, const void *body);

/* commands.c: handles the response to the command under way, if there is one. */
void pvd_answer(struct pvrdma_guest *d);

/* commands.c: the device has created @o with @number.  A number that the driver's objects have
 * already, or that none can have, fails the request with EIO: the device was reset behind the
 * driver's back.
 */
void pvd_created(struct pvrdma_guest *d, struct guest_object *o, uint32_t number);

/* Sends a command with the body struct pv_@name, whose initializers follow. */
#define PVD_SEND(d, command, name, ...)                                                            \
    pvd_send_##name((d), (command), &(struct pv_##name){__VA_ARGS__})

/* Defines pvd_send_NAME() for a body. */
#define PVD_BODY(name)                                                                             \
    static inline enum rdl_status pvd_send_##name(struct pvrdma_guest *d, enum pv_command command, \
                                                  const struct pv_##name *body)                    \
    {                                                                                              \
        struct pv_raw_##name raw;                                                                  \
                                                                                                   \
        pv_##name##_put(&raw, body);                                                               \
        return pvd_send(d, command, &raw);                                                         \
    }

PVD_BODY(handle)

/* Declares the variable @var of type struct pv_@name, and decodes the response @body into it. */
#define PVD_TAKE(body, name, var)                                                                  \
    struct pv_##name var;                                                                          \
    do {                                                                                           \
        struct pv_raw_##name var##_raw;                                                            \
                                                                                                   \
        memcpy(&var##_raw, (body), sizeof(var##_raw));                                             \
        pv_##name##_get(&var, &var##_raw);                                                         \
    } while (0)

/* Handlers of responses, by the command's name; @o is the object of the request. */
typedef void pvd_answered(struct pvrdma_guest *d, struct guest_object *o, const uint8_t *body);

/* requests.c */
pvd_answered pvd_port_queried, pvd_pkey_queried, pvd_pd_created, pvd_cq_created, pvd_gid_set,
    pvd_srq_created, pvd_srq_modified, pvd_srq_queried, pvd_destroyed;
enum rdl_status pvd_set_gid(struct verbs *v, uint32_t index, bool valid);
enum rdl_status pvd_query_port(struct verbs *v);

/* qp.c */
pvd_answered pvd_qp_created, pvd_qp_modified, pvd_qp_queried;
enum rdl_status pvd_create_qp(struct guest_qp *qp);
enum rdl_status pvd_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr, uint32_t mask);
enum rdl_status pvd_query_qp(struct guest_qp *qp);

/* mr.c */
pvd_answered pvd_mr_created;
enum rdl_status pvd_reg_mr(struct guest_mr *mr);
enum rdl_status pvd_map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range);

/* Frees the memory that the device shares for @o, which it does not have, or not any more. */
void pvd_give_memory(const struct pvrdma_guest *d, struct guest_object *o);

/* work.c: the operations of struct verbs_driver_ops with these names. */
enum rdl_status pvd_post_send(struct guest_qp *qp, const struct verbs_send *send,
                              uint32_t *ret_entry);
enum rdl_status pvd_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                              uint32_t *ret_entry);
enum rdl_status pvd_post_srq_recv(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                  uint32_t *ret_entry);
void pvd_kick(struct guest_qp *qp, bool send);
void pvd_kick_srq(struct guest_srq *srq);
enum rdl_status pvd_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n);
uint32_t pvd_count_unpolled(const struct guest_cq *cq);
size_t pvd_peek_cq(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret);
uint32_t pvd_count_posted(const struct guest_object *o, bool sends);

/* events.c: the two rings of the shared region, and the interrupts. */
bool pvd_events_init(const struct pvrdma_guest *d, struct pvd_shared_ring *r, uint32_t entry_bytes);
void pvd_events_poll(struct pvrdma_guest *d);
void pvd_interrupt(void *driver, uint32_t vector);
bool pvd_line(void *driver);

/* raw.c: commands as bytes. */
extern const struct rdma_control_ops pvd_control_ops;

/* boot.c */
enum rdl_status pvd_boot(void *driver, const struct pci_slot_function *found);
enum rdl_status pvd_start(void *driver);

#endif
