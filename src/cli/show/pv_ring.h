/* SPDX-License-Identifier: MIT */
/* A ring of PVRDMA as it lies in guest RAM: its slots, decoded by the rows of facts/pvrdma. */
#ifndef CLI_SHOW_PV_RING_H
#define CLI_SHOW_PV_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/explain/rfc_dump.h"
#include "cli/show/show_wqe.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

#define PV_SLOT_BYTES_MAX 4096u /* a slot is in one page */

/* The state of a slot.  POSTED: the driver has filled it in, and the device has not taken it.
 * TAKEN: the device has copied it, and the request is not over.  WRITTEN: the device has filled it
 * in, and the driver has not taken it.
 */
enum pv_slot_state { PV_SLOT_FREE, PV_SLOT_POSTED, PV_SLOT_TAKEN, PV_SLOT_WRITTEN };

/* The kinds of entries. */
enum pv_entry { PV_ENTRY_SEND, PV_ENTRY_RECV, PV_ENTRY_CQE, PV_ENTRY_EVENT, PV_ENTRY_NOTE };

struct pv_ring_view {
    const struct rdl_lab *lab;
    char path[TREE_PATH_BYTES]; /* of the node of the ring */
    struct wqe_reader reader;
    const struct row_struct *entry;
    enum pv_entry kind; /* that of @entry */
    uint32_t slots, slot_bytes, first_page, n_pages;
    uint32_t tail, head, next; /* indices: of the producer, of the consumer, the device's own */
    uint32_t waiting, held;    /* slots that the other side has not taken; taken ones in use */
    bool of_device, broken;
};

/* Reads the ring at @path: that of a work queue ("h1.qp.sq"), a completion queue ("h1.cq"), a
 * shared receive queue ("h1.srq"), or the node of a ring ("h1.dsr.notes").  The caller calls
 * pv_ring_view_done().
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (@reterr_at), RDL_ERR_INVAL (it has no ring), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status pv_ring_view(const struct rdl_lab *lab, const char *path,
                                            struct pv_ring_view *ret, size_t *reterr_at);
void pv_ring_view_done(struct pv_ring_view *v);

enum pv_slot_state pv_slot_state(const struct pv_ring_view *v, uint32_t slot);
const char *pv_slot_state_text(enum pv_slot_state state);

/* Returns the guest-physical address of page @page, and of @slot. */
uint64_t pv_page_addr(const struct pv_ring_view *v, uint32_t page);
uint64_t pv_slot_addr(const struct pv_ring_view *v, uint32_t slot);

/* Appends the content of @slot as a phrase: "SEND wr_id=1 SIGNALED, 1 SGE: mr[0:64]". */
void pv_slot_add_text(struct text *t, const struct pv_ring_view *v, uint32_t slot);

/* Passes the bytes of @slot to @to, field by field.  @buf holds them, and has PV_SLOT_BYTES_MAX.
 * Returns false if they are not in guest RAM.
 */
bool pv_slot_dump(const struct rfc_sink *to, const struct pv_ring_view *v, uint32_t slot,
                  uint8_t *buf);

#endif
